"""The derivations of a theorem, read at a prompt: its handles bound, its letters known, on tensors and on balls."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.arguments import Function, arguments_of, called_for
from bridge.readings import Emulated, Instance, Operands, Reading, Smooth, enclose, read
from bridge.readings.operands import as_operand, handles_of
from bridge.readings.reading import read_errors
from bridge.readings.steps import require_hypotheses
from bridge.readings.values import emulates
from numeric.balls import BallsError
from numeric.exact_cost import TooLargeForExact
from symbolic.derivation import Step
from symbolic.statements import Quantity, UsageError

if TYPE_CHECKING:
    import bridge.theorem_case

PROMPT, LOCAL = "prompt", "prompt, local"
KINDS = (
    "an array, a number, a function, bs.Smooth, bs.Emulated(exact, emulated), or a tuple of these, one for each layer"
)
Use = Callable[[Operands], Any]
Inputs = dict[str, Tensor]


def step_of(quantity: Quantity) -> str:
    return quantity.step or quantity.name


def steps_of(quantity: Quantity) -> tuple[Step, ...]:
    """The steps that lead to it; none without a derivation."""
    return () if quantity.derivation is None else quantity.derivation.leading_to(step_of(quantity))


# Functions of a prompt.


class AtPrompt:
    """What `use` makes of the operands of each quantity: a function of what the functions of the theorem take, by name.

    On tensors if `bits` is None. Letters that the network knows better are arguments too, by the names in `letters`: a
    batch may hold prompts of several networks.
    """

    def __init__(
        self,
        case: "bridge.theorem_case.TheoremCase",
        quantities: Sequence[Quantity],
        use: Callable[..., Any],
        bits: int | None = None,
    ) -> None:
        assert case.theorem.handles is not None  # asked of theorems with handles
        self.handles: Function = case.theorem.handles
        self.role = f"{case.theorem.id}: the handles"
        self.use, self.bits = use, bits
        self.letters = {f"letter_{place}": letter for place, letter in enumerate(case.network_letters)}
        self.at_prompt, self.worst = case.prompt_functions, [dict(each.worst_case or {}) for each in quantities]
        params = {p.symbol: p.name for p in case.result.parameters if p.symbol is not None}
        self.whole = {s: x for s, name in params.items() if isinstance(x := case.runner.params.get(name), int)}
        self.real = {s: name for s, name in params.items() if isinstance(case.runner.params.get(name), float)}
        taken = [name for each in (self.handles, *self.at_prompt.values()) for name in arguments_of(each)]
        names = dict.fromkeys([*taken, *self.real.values(), *self.letters])
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
        letters = self._letters(known)
        return self.use(*(Operands(operands, {**letters, **worst}, self.bits) for worst in self._at_worst(letters)))

    def _operand(self, name: str, given: Any) -> Any:
        try:
            return as_operand(given, self.bits)
        except (TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"{self.role} bind '{name}' to {type(given).__name__}; give {KINDS}") from error

    # The prompt knows a letter best, then the network, then the hypotheses.
    def _letters(self, known: Mapping[str, Any]) -> dict[sp.Symbol, Any]:
        found = {**self.whole, **{letter: known[name] for letter, name in self.real.items()}}
        found |= {letter: known[name] for name, letter in self.letters.items()}
        return found | {letter: _called(function, known) for letter, function in self.at_prompt.items()}

    def _at_worst(self, letters: Mapping[sp.Symbol, Any]) -> Iterator[dict[sp.Symbol, Any]]:
        """For each quantity the letters that nothing but the hypotheses bound."""
        better, number = {*self.letters.values(), *self.at_prompt}, Operands({}, letters, self.bits).number
        for worst in self.worst:
            bounds = {s: x for s, x in worst.items() if s not in better and x.free_symbols <= set(letters)}
            yield {s: number(x) for s, x in bounds.items()}


def _called(function: Function, known: Mapping[str, Any]) -> Any:
    return function(**{name: known[name] for name in arguments_of(function)})


def at_prompt(case: "bridge.theorem_case.TheoremCase", quantity: Quantity, use: Use, inputs: Inputs) -> Any:
    """On tensors, at the one prompt of a batch of one."""
    function = AtPrompt(case, [quantity], use)
    numbers = {name: torch.tensor(case.number(letter)).double() for name, letter in function.letters.items()}
    return case.runner.at_one(function, {**{name: value[0].double() for name, value in inputs.items()}, **numbers})


def at_prompt_on_balls(
    case: "bridge.theorem_case.TheoremCase", quantity: Quantity, use: Use, inputs: Inputs, bits: int
) -> Any:
    """The same on balls. Raises TooLargeForExact."""
    function, letters = AtPrompt(case, [quantity], use, bits), case.network_letters
    numbers = {name: letters[letter] for name, letter in function.letters.items()}
    return case.runner.exactly(function, {**case.members(inputs, bits), **numbers}, bits)


# What the handles bind.


@dataclass(frozen=True)
class Bindings:
    """What the handles of a theorem bind, as one prompt shows it.

    `read` has the quantities whose handles are bound, `local` those with a function that is known at each argument,
    `valued` those whose exact value is known and `emulated` those whose emulated value is. `stops` says for a quantity
    at which step its reading stops, and why.
    """

    read: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    valued: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    stops: Mapping[str, str] = field(default_factory=dict)

    def scopes(self, quantity: Quantity) -> tuple[str, ...]:
        """The scopes of the quantity, with those that its reading adds."""
        added = [PROMPT] * (quantity.name in self.read) + [LOCAL] * (quantity.name in self.local)
        return tuple(dict.fromkeys((*quantity.scopes, *added)))

    def remark(self, quantity: Quantity) -> str:
        stopped = self.stops.get(quantity.name)
        return (
            f"the reading of the derivation stops at {stopped}; from there on the rules bound the error"
            if stopped
            else ""
        )


def bindings(case: "bridge.theorem_case.TheoremCase", quantities: Iterable[Quantity], inputs: Inputs) -> Bindings:
    """From one prompt. Raises UsageError for handles that do not fit the derivations."""
    wanted = {each.name: handles_of(steps_of(each)) for each in quantities}
    handled = [each for each in quantities if wanted[each.name]]
    bound = at_prompt(case, handled[0], lambda operands: operands.bound, inputs) if handled else {}
    _require_named(case, wanted, bound)
    found = [each for each in handled if set(wanted[each.name]) & set(bound)]
    readings = {each.name: at_prompt(case, each, _all_of(each), inputs) for each in found}
    valued = [each for each in found if at_prompt(case, each, values_of(each), inputs) is not None]
    return Bindings(
        tuple(readings),
        tuple(name for name in readings if any(_is_local(bound[handle]) for handle in wanted[name])),
        tuple(each.name for each in valued),
        tuple(each.name for each in valued if at_prompt(case, each, _emulates(each), inputs)),
        {name: _stops(reading) for name, reading in readings.items()},
    )


def _require_named(
    case: "bridge.theorem_case.TheoremCase", wanted: Mapping[str, Mapping[str, str]], bound: Mapping[str, Any]
) -> None:
    """Raises UsageError unless a step names each bound handle, and each quantity has all of its handles or none."""
    named = {handle: step for each in wanted.values() for handle, step in each.items()}
    unknown = [f"'{name}'" for name in bound if name not in named]
    started = [each for each in wanted.values() if set(each) & set(bound)] or list(wanted.values())
    missing = {name: step for each in started for name, step in each.items() if name not in bound}
    complaints = [
        *([f"no step names {', '.join(unknown)}"] if unknown else []),
        *([f"nothing binds {_wanted(missing)}"] if missing else []),
        *(["no step of a derivation names an operand; give matrix=, function=, ... to its rules"] if not named else []),
    ]
    if complaints:
        known = f"; the handles are {', '.join(sorted(named))}" if named else ""
        raise UsageError(f"{case.theorem.id}: the handles: {'; '.join(complaints)}{known}")


def _wanted(handles: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}', which step '{step}' wants" for name, step in handles.items())


def _all_of(quantity: Quantity) -> Use:
    """Values, enclosures and bound: whatever does not fit is found."""

    def use(operands: Operands) -> Reading:
        assert quantity.derivation is not None  # it has handles
        values = read(quantity.derivation, operands, [step_of(quantity)])
        for step in steps_of(quantity):
            require_hypotheses(step, values.get(step.name), operands)
        reading = enclose(quantity.derivation, Instance(operands), [step_of(quantity)])
        reading.bound(step_of(quantity))
        return reading

    return use


def _emulates(quantity: Quantity) -> Use:
    return lambda operands: emulates(steps_of(quantity), operands)


def _is_local(operand: Any) -> bool:
    if isinstance(operand, tuple):
        return any(map(_is_local, operand))
    return isinstance(operand, Smooth) and operand.slope_error is not None


def _stops(reading: Reading) -> str:
    """The steps that others follow from, first of all."""
    return "; ".join(f"'{step}' ({why})" for step, why in reading.stops.items() if not why.startswith("after "))


# Bounds.


def bound_of(quantity: Quantity, scope: str) -> Use:
    """The bound of the quantity's step, an array without axes; infinite on tensors where nothing is known.

    On tensors, of one reading alone: there an attack asks for it at each of its steps.
    """

    def use(operands: Operands) -> Any:
        assert quantity.derivation is not None  # it has handles
        derivation, step, local = quantity.derivation, step_of(quantity), scope == LOCAL
        if operands.bits is not None:
            return read_errors(derivation, operands, [step], local=local).bound(step)
        found = enclose(derivation, Instance(operands, local), [step]).bound(step)
        return torch.tensor(torch.inf) if found is None else found

    return use


def bounds_of(quantities: Sequence[Quantity], scope: str) -> Callable[..., Tensor]:
    """The bounds of these quantities on tensors, (Q), from one reading of the steps that they share."""
    families = _families(quantities)
    shared = [[shared_steps(each, before) for before in families[:place]] for place, each in enumerate(families)]
    first = [quantities.index(family[0]) for family in families]

    def use(*operands: Operands) -> Tensor:
        found: dict[str, Tensor] = {}
        readings: list[Reading] = []
        for family, names, place in zip(families, shared, first, strict=True):
            assert family[0].derivation is not None  # it has handles
            reading = Reading(family[0].derivation, Instance(operands[place], scope == LOCAL), {})
            for before, same in zip(readings, names, strict=True):
                reading.take_over(before, same)
            readings.append(reading)
            found |= {each.name: _finite(reading.bound(step_of(each))) for each in family}
        return torch.stack([found[each.name] for each in quantities])

    return use


def _finite(bound: Tensor | None) -> Tensor:
    return torch.tensor(torch.inf, dtype=torch.float64) if bound is None else bound


def _families(quantities: Sequence[Quantity]) -> list[list[Quantity]]:
    """Those that one reading serves: of one derivation, at one worst case."""
    found: list[list[Quantity]] = []
    for each in quantities:
        for family in found:
            if family[0].derivation is each.derivation and family[0].worst_case == each.worst_case:
                family.append(each)
                break
        else:
            found.append([each])
    return found


def shared_steps(one: Sequence[Quantity], other: Sequence[Quantity]) -> frozenset[str]:
    """The steps that say the same on the way to both: equal ones, from premises that do, in letters of one value."""
    worst = [each[0].worst_case or {} for each in (one, other)]
    differing = {s for each in worst for s in each if worst[0].get(s) != worst[1].get(s)}
    steps, shared = {step for each in other for step in steps_of(each)}, set[str]()
    for step in dict.fromkeys(step for each in one for step in steps_of(each)):
        if step in steps and shared.issuperset(step.premises) and not step.letters & differing:
            shared.add(step.name)
    return frozenset(shared)


def bound_on_balls(
    case: "bridge.theorem_case.TheoremCase", quantity: Quantity, scope: str, inputs: Inputs, bits: int
) -> tuple[flint.arb | None, str]:
    """The bound, and a remark; None where the reading proves nothing at this prompt."""
    try:
        found = at_prompt_on_balls(case, quantity, bound_of(quantity, scope), inputs, bits)
    except TooLargeForExact:
        return None, "the reading of the derivation is too large for exact arithmetic; the bound is that of the rules"
    except BallsError as error:
        return None, f"the reading of the derivation proves nothing at this prompt: {error}"
    ball = None if found is None else found.balls[0]
    return (ball if ball is not None and ball.is_finite() else None), case.bindings.remark(quantity)


# Values.


def values_of(quantity: Quantity) -> Use:
    """The exact and the emulated value of the quantity's step; None where they are not known."""

    def use(operands: Operands) -> Emulated | None:
        assert quantity.derivation is not None  # it has handles
        return read(quantity.derivation, operands, [step_of(quantity)]).get(step_of(quantity))

    return use
