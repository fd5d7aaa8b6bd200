"""A function of one prompt that reads a derivation there: its handles bound, its letters known, in floats or balls."""

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import sympy as sp

from bridge.instances.letters import Letters
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.readings import Operands
from bridge.readings.operands import as_operand
from symbolic.derivations.derivation import Step
from symbolic.derivations.operations import letters_in
from symbolic.derivations.worst_cases import closed
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

PROMPT, LOCAL = "prompt", "prompt, local"
KINDS = (
    "an array, a number, a function, bs.Smooth, bs.Emulated(exact, emulated), or a tuple of these, one for each layer"
)
IS_LOCAL = "scope_is_local"  # an argument, where the prompts of a batch differ in that
Use = Callable[..., Any]  # of the operands


def steps_of(quantity: Quantity) -> tuple[Step, ...]:
    """The steps that lead to it; none without a derivation."""
    return () if quantity.derivation is None else quantity.derivation.leading_to(quantity.concluded_by)


def shared_reading(quantity: Quantity) -> Hashable:
    """Equal for quantities of one derivation that take the same worst cases: one reading gives all of their bounds."""
    return id(quantity.derivation), frozenset((quantity.worst_case or {}).items())


def in_groups(quantities: Iterable[Quantity]) -> list[list[Quantity]]:
    """Those that share a reading."""
    groups: dict[Hashable, list[Quantity]] = {}
    for quantity in quantities:
        groups.setdefault(shared_reading(quantity), []).append(quantity)
    return list(groups.values())


class AtPrompt:
    """What `use` makes of the operands of one quantity: a function of what the functions of the theorem take, by name.

    On tensors if `bits` is None. Letters that the network knows better are arguments too, by the names in `letters`: a
    batch may hold prompts of several networks. So is `IS_LOCAL` where the scope is given, which `use` takes second.
    """

    def __init__(
        self,
        letters: Letters,
        quantity: Quantity,
        use: Use,
        bits: int | None = None,
        *,
        scope_is_given: bool = False,
    ) -> None:
        known = letters.known
        assert known.theorem.handles is not None  # asked of theorems with handles
        self.handles: Function = known.theorem.handles
        self.role = f"{known.theorem.id}: the handles"
        self.use, self.bits, self.scope_is_given = use, bits, scope_is_given
        self.letters = {f"letter_{place}": letter for place, letter in enumerate(letters.of_network)}
        self.worst = dict(quantity.worst_case or {})
        assert quantity.derivation is not None  # it has handles
        read = quantity.derivation.letters | letters_in(self.worst.values())
        self.at_prompt = {letter: each for letter, each in letters.of_prompt.items() if letter in read}
        params = {p.symbol: p.name for p in known.theorem.statement.parameters if p.symbol is not None}
        self.whole = {s: x for s, name in params.items() if isinstance(x := known.params.get(name), int)}
        self.real = {s: name for s, name in params.items() if isinstance(known.params.get(name), float)}
        taken = [name for each in (self.handles, *self.at_prompt.values()) for name in arguments_of(each)]
        given = [IS_LOCAL] if scope_is_given else []
        names = dict.fromkeys([*taken, *self.real.values(), *self.letters, *given])
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in names])

    def __call__(self, **known: Any) -> Any:
        with called_for(self.role, self.handles):
            bound = _called(self.handles, known)
        if not isinstance(bound, Mapping):
            raise UsageError(
                f"{self.role} return {type(bound).__name__}; return a dict with an operand for each handle"
            )
        operands = {name: self._operand(name, each) for name, each in bound.items()}
        more = [known[IS_LOCAL].bool()] if self.scope_is_given else []
        return self.use(Operands(operands, self._letters(known), self.bits), *more)

    def _operand(self, name: str, given: Any) -> Any:
        try:
            return as_operand(given, self.bits)
        except (TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"{self.role} bind '{name}' to {type(given).__name__}; give {KINDS}") from error

    # The prompt knows a letter best, then the network, then the hypotheses.
    def _letters(self, known: Mapping[str, Any]) -> dict[sp.Symbol, Any]:
        found = {**self.whole, **{letter: known[name] for letter, name in self.real.items()}}
        found |= {letter: known[name] for name, letter in self.letters.items()}
        found |= {letter: _called(function, known) for letter, function in self.at_prompt.items()}
        better = {*self.letters.values(), *self.at_prompt}
        left = closed({s: x for s, x in self.worst.items() if s not in better})
        worst = {s: x for s, x in left.items() if x.free_symbols <= set(found)}
        return found | {s: Operands({}, found, self.bits).number(bound) for s, bound in worst.items()}


def _called(function: Function, known: Mapping[str, Any]) -> Any:
    return function(**{name: known[name] for name in arguments_of(function)})
