"""What the handles of a theorem bind, as one prompt shows it: what is read, and how far."""

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from bridge.instances.letters import EVERY, LOCAL, PROMPT, Letters
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.readings import AtHand, Emulated, Operands, Reading, Smooth, enclose, read
from bridge.readings.operands import as_operand, handles_of
from bridge.readings.steps import require_hypotheses
from bridge.readings.values import emulates
from symbolic.derivations.derivation import Step
from symbolic.derivations.operations import letters_in
from symbolic.derivations.worst_cases import closed
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

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
    What a run of this network knows at the prompt is not known of `every` one.
    """

    def __init__(
        self,
        letters: Letters,
        quantity: Quantity,
        use: Use,
        bits: int | None = None,
        *,
        scope_is_given: bool = False,
        every: bool = False,
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
        self.at_prompt = {s: each for s, each in letters.of_prompt.items() if s in read and not every}
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


@runtime_checkable
class AtOnePrompt(Protocol):
    """What `use` makes of the operands of a quantity there."""

    def __call__(self, quantity: Quantity, use: Use) -> Any: ...


@dataclass(frozen=True)
class Bindings:
    """What the handles of a theorem bind, as one prompt shows it.

    `read` has the quantities whose handles are bound, `every` those with a matrix that is one of many, `local` those
    with a function that is known at each argument, `valued` those whose exact value is known and `emulated` those whose
    emulated value is. `stops` says for a quantity at which step its reading stops, and why.
    """

    read: tuple[str, ...] = ()
    every: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    valued: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    stops: Mapping[str, str] = field(default_factory=dict)

    def scopes(self, quantity: Quantity) -> tuple[str, ...]:
        """The scopes of the quantity, with those that its reading adds."""
        known = {EVERY: self.every, PROMPT: self.read, LOCAL: self.local}
        added = [scope for scope, names in known.items() if quantity.name in names]
        return tuple(sorted(dict.fromkeys((*quantity.scopes, *added)), key=_width))

    def remark(self, quantity: Quantity) -> str:
        stopped = self.stops.get(quantity.name)
        return (
            f"the reading of the derivation stops at {stopped}; from there on the rules bound the error"
            if stopped
            else ""
        )


def bindings(theorem_id: str, quantities: Iterable[Quantity], at: AtOnePrompt) -> Bindings:
    """From one prompt. Raises UsageError for handles that do not fit the derivations."""
    wanted = {each.name: handles_of(steps_of(each)) for each in quantities}
    handled = [each for each in quantities if wanted[each.name]]
    bound = at(handled[0], lambda operands: operands.bound) if handled else {}
    derivations = {id(each.derivation): each.derivation for each in quantities if each.derivation is not None}
    named = {h: step for each in derivations.values() for h, step in handles_of(each.steps).items()}
    _require_named(theorem_id, wanted, named, bound)
    found = [each for each in handled if set(wanted[each.name]) & set(bound)]
    probed: dict[str, _Probed] = {}
    for group in in_groups(found):
        probed |= at(group[0], _all_of(group))
    return Bindings(
        tuple(each.name for each in found),
        tuple(each.name for each in found if any(_is_one_of_many(bound[handle]) for handle in wanted[each.name])),
        tuple(each.name for each in found if any(_is_local(bound[handle]) for handle in wanted[each.name])),
        tuple(each.name for each in found if probed[each.name].valued),
        tuple(each.name for each in found if probed[each.name].emulated),
        {each.name: probed[each.name].stops for each in found},
    )


def _require_named(
    theorem_id: str, wanted: Mapping[str, Mapping[str, str]], named: Mapping[str, str], bound: Mapping[str, Any]
) -> None:
    """Raises UsageError unless a step names each bound handle, and each quantity has all of its handles or none."""
    unknown = [f"'{name}'" for name in bound if name not in named]
    started = [each for each in wanted.values() if set(each) & set(bound)] or list(wanted.values())
    missing = {name: step for each in started for name, step in each.items() if name not in bound}
    if not wanted:
        raise UsageError(
            f"{theorem_id}: the handles: no bound is judged at a prompt (one with probability, or in expectation, is "
            f"judged over draws); leave out handles"
        )
    complaints = [
        *([f"no step names {', '.join(unknown)}"] if unknown else []),
        *([f"nothing binds {_wanted(missing)}"] if missing else []),
        *(["no step of a derivation names an operand; give matrix=, function=, ... to its rules"] if not named else []),
    ]
    if complaints:
        known = f"; the handles are {', '.join(sorted(named))}" if named else ""
        raise UsageError(f"{theorem_id}: the handles: {'; '.join(complaints)}{known}")


def _wanted(handles: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}', which step '{step}' wants" for name, step in handles.items())


@dataclass(frozen=True)
class _Probed:
    """Whether the exact and the emulated value of a quantity are known, and where its reading stops."""

    valued: bool
    emulated: bool
    stops: str


def _all_of(quantities: Sequence[Quantity]) -> Use:
    """Values, enclosures and bounds of quantities that share a reading: whatever does not fit is found."""

    def use(operands: Operands) -> dict[str, _Probed]:
        derivation, wanted = quantities[0].derivation, [each.concluded_by for each in quantities]
        assert derivation is not None  # it has handles
        values = read(derivation, operands, wanted)
        for step in derivation.leading_to(*wanted):
            require_hypotheses(step, values.get(step.name), operands)
        reading = enclose(derivation, AtHand(operands), wanted)
        return {each.name: probed(each, reading, values.get(each.concluded_by), operands) for each in quantities}

    def probed(quantity: Quantity, reading: Reading, value: Emulated | None, operands: Operands) -> _Probed:
        reading.bound(quantity.concluded_by)
        valued = value is not None
        return _Probed(valued, valued and emulates(steps_of(quantity), operands), _stops(quantity, reading))

    return use


def _width(scope: str) -> int:
    """The order of scopes, from those that say something of more networks or prompts to those of fewer."""
    return [EVERY, PROMPT, LOCAL].index(scope) if scope in (EVERY, PROMPT, LOCAL) else -1


def _is_one_of_many(operand: Any) -> bool:
    if isinstance(operand, tuple):
        return any(map(_is_one_of_many, operand))
    return isinstance(operand, Emulated) and operand.within is not None


def _is_local(operand: Any) -> bool:
    if isinstance(operand, tuple):
        return any(map(_is_local, operand))
    return isinstance(operand, Smooth) and operand.slope_error is not None


def _stops(quantity: Quantity, reading: Reading) -> str:
    """The steps that others follow from, first of all."""
    own = {step.name for step in steps_of(quantity)}
    stops = {step: why for step, why in reading.stops.items() if step in own and not why.startswith("after ")}
    return "; ".join(f"'{step}' ({why})" for step, why in stops.items())
