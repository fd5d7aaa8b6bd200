"""Row `faithful`: the network computes the emulated value of its derivation, and the reference the exact one.

Without it a bound that is kept may be about another network, and one that is violated may be right. On balls two
values that are equal overlap, and narrow balls that are disjoint are different, without any tolerance.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flint
import torch
from torch import Tensor

from bridge.balls import BASE_BITS
from bridge.check import Check, Sides, within
from bridge.check_rows import check_rows, replayed_check
from bridge.judging.relation import EQUAL_BITS
from bridge.limits.run import ONE_INPUT, Run
from bridge.readings import Emulated, Operands
from bridge.record import Row
from bridge.rounded import WITHIN_ROUNDING
from bridge.study import Case
from bridge.theorem_readings import AtPrompt, Use, at_prompt_on_balls, in_groups, values_of
from numeric.balls import BallArray, BallsError, ball_maximum, working_precision
from numeric.exact_cost import TooLargeForExact
from numeric.stream import StreamError
from symbolic.statements import Kind, Quantifier, Quantity, UsageError

if TYPE_CHECKING:
    import bridge.theorem_case

NAME = "faithful"
PROMPTS = 32  # random ones, of which the one with the largest distance is looked at exactly
MARGIN = 16  # where rounding is larger than the difference of a float64 and a float32 run says
IN_FLOATS = "too large for exact arithmetic: judged on floats, beside the rounding measured at this input"
Inputs = dict[str, Tensor]
WRONG = {
    "network": "the network of '{name}' does not compute the emulated value of its derivation: they are {apart} apart",
    "reference": "the reference of '{name}' is not the exact value of its derivation: they are {apart} apart",
}


@dataclass(frozen=True)
class Side:
    """The network or the reference of a quantity, and the value of the derivation that it has to equal."""

    name: str
    role: str  # network or reference

    def of(self, values: Emulated) -> Any:
        return values.emulated if self.role == "network" else values.exact


def faithful_rows(case: "bridge.theorem_case.TheoremCase", run: Run) -> list[Row]:
    """One row for all quantities; none where no value is known."""
    sides = list(_sides(case))
    if not sides:
        return []
    prompts = case.sample(min(run.samples, PROMPTS), run.seed)
    worst = int(torch.stack(list(_distances(case, sides, prompts).values())).amax(0).argmax())
    one = {name: value[worst] for name, value in prompts.items()}
    return judged(case, _check(case, sides, one))


def replayed_faithful(case: "bridge.theorem_case.TheoremCase", inputs: Inputs) -> Row:
    """The row at the input of a witness."""
    case.check_inputs({name: value.unsqueeze(0) for name, value in inputs.items()})
    return judged_again(case, _check(case, list(_sides(case)), inputs), inputs)


def judged(case: Case, check: Check) -> list[Row]:
    """The rows of such a check: the derived distance is 0, so that they have no ratio."""
    return [_without_ratio(row) for row in check_rows(case, check, ONE_INPUT)]


def judged_again(case: Case, check: Check, inputs: Inputs) -> Row:
    """The row at the input of a witness."""
    return _without_ratio(replayed_check(case, check, inputs))


def _without_ratio(row: Row) -> Row:
    row.ratio = None
    return row


def _sides(case: "bridge.theorem_case.TheoremCase") -> Iterator[Side]:
    for name in case.bindings.valued:
        if name in case.bindings.emulated:
            yield Side(name, "network")
        yield Side(name, "reference")


def _check(case: "bridge.theorem_case.TheoremCase", sides: list[Side], inputs: Inputs) -> Check:
    named = list(dict.fromkeys(side.name for side in sides))
    only = [name for name in named if name not in case.bindings.emulated]
    quantity = Quantity(
        name=NAME,
        latex_symbol=r"\text{faithful}",
        meaning=f"distance of network and reference from the values in the derivation of {', '.join(named)}"
        + (f" (of {', '.join(only)} the reference alone: not all approximations are bound)" if only else ""),
        norm="sup norm",
        domain=case.quantity(named[0]).domain,
        kind=Kind.EXACT,
        quantifier=Quantifier.FOR_ALL,
        scopes=(),
    )
    return Check(quantity, _Judged(case, sides, list(inputs)), inputs)


class _Judged:
    """The sides of the check, as a function of one prompt."""

    def __init__(self, case: "bridge.theorem_case.TheoremCase", sides: list[Side], inputs: list[str]) -> None:
        self.case, self.sides = case, sides
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in inputs])

    def __call__(self, **inputs: Tensor) -> Sides:
        one = {name: value.unsqueeze(0) for name, value in self.case.format.place(inputs).items()}
        try:
            return self._on_balls(one)
        except TooLargeForExact:
            return self._in_floats(one)

    def _on_balls(self, inputs: Inputs) -> Sides:
        found = _exactly_apart(self.case, self.sides, inputs)
        rounded = [side for side, apart in found.items() if apart > 0 and _may_be_rounding(self.case, side, inputs)]
        found |= {side: flint.arb(0).union(found[side]) for side in rounded}
        return _judged(found, [WITHIN_ROUNDING] if rounded else [])

    def _in_floats(self, inputs: Inputs) -> Sides:
        found = {side: _apart_in_floats(self.case, side, inputs) for side in self.sides}
        return _judged({side: beyond_rounding(apart) for side, apart in found.items()}, [IN_FLOATS])


def beyond_rounding(apart: flint.arb) -> flint.arb:
    """0 for a distance that rounding explains; nothing is known where the rounding is not finite (an overflow)."""
    return flint.arb(0) if apart.is_finite() and not apart > 0 else apart


def _judged(found: Mapping[Side, flint.arb], remarks: list[str]) -> Sides:
    wrong = [
        WRONG[side.role].format(name=side.name, apart=f"{float(apart):.2g}")
        for side, apart in found.items()
        if apart > 0
    ]
    largest = max(found.values(), key=lambda apart: (bool(apart > 0), float(apart.upper())))
    return Sides(found=largest, derived=0, remark="; ".join([*wrong, *remarks]))


def _may_be_rounding(case: "bridge.theorem_case.TheoremCase", side: Side, inputs: Inputs) -> bool:
    """Whether they meet once floats that Python computed stand for all numbers near them."""
    try:
        return not _exactly_apart(case.floats_enclosed, [side], inputs)[side] > 0
    except (UsageError, BallsError, StreamError):
        return True  # they do not run on the wider balls


# Distances.


def _distances(case: "bridge.theorem_case.TheoremCase", sides: list[Side], inputs: Inputs) -> dict[Side, Tensor]:
    """In float64, (B) each. Raises UsageError for values of another number of entries."""
    names = list(dict.fromkeys(side.name for side in sides))
    with torch.no_grad():
        runs = {
            "network": case.networks.network(inputs, names, torch.float64),
            "reference": case.networks.reference(inputs, names),
        }
        values = _values(case, names, inputs)
    found = {}
    for side in sides:
        run, value = runs[side.role][side.name].flatten(1), side.of(values[side.name])  # (B, m)
        _require_entries(case, side, run.shape[1], value.shape[1])
        found[side] = torch.nan_to_num((run - value).abs().amax(1), nan=torch.inf)
    return found


def _values(case: "bridge.theorem_case.TheoremCase", names: list[str], inputs: Inputs) -> dict[str, Emulated]:
    """Of the derivations at each prompt, (B, m) each."""
    like = next(iter(inputs.values())).double()
    values: dict[str, Emulated] = {}
    for group in in_groups(case.quantity(name) for name in names):
        function = AtPrompt(case, group[0], _by_side(values_of(group)))
        numbers = {n: like.new_full((len(like),), case.number(letter)) for n, letter in function.letters.items()}
        found = case.known.batched(function, {**inputs, **numbers})
        values |= {name: Emulated(each["exact"], each["emulated"]) for name, each in found.items()}
    return values


def _by_side(use: Use) -> Use:
    def flat(operands: Operands) -> dict[str, dict[str, Tensor]]:
        values = use(operands)
        return {n: {"exact": x.exact.flatten(), "emulated": x.emulated.flatten()} for n, x in values.items()}

    return flat


def _require_entries(case: "bridge.theorem_case.TheoremCase", side: Side, found: int, expected: int) -> None:
    if found != expected:
        raise UsageError(
            f"{case.result.id}: the {side.role} of '{side.name}' has {found} entries, and the handles give its "
            f"derivation {expected}; make them agree"
        )


def _exactly_apart(case: "bridge.theorem_case.TheoremCase", sides: list[Side], inputs: Inputs) -> dict[Side, flint.arb]:
    """Encloses each distance; 0 where the balls overlap and are narrow."""
    bits = BASE_BITS + case.extra_bits
    one = case.members(inputs, bits)
    values: dict[str, Emulated] = {}
    for group in in_groups(case.quantity(name) for name in dict.fromkeys(side.name for side in sides)):
        values |= at_prompt_on_balls(case, group[0], values_of(group), inputs, bits)
    runs = {"network": case.networks.exact_network, "reference": case.networks.exact_reference}
    names = {role: [side.name for side in sides if side.role == role] for role in runs}
    found = {role: run(one, names[role], bits) if names[role] else {} for role, run in runs.items()}
    apart = {}
    for side in sides:
        run, value = found[side.role][side.name].flatten(), side.of(values[side.name]).flatten()
        _require_entries(case, side, run.numel(), value.numel())
        apart[side] = _apart(run, value)
    return apart


def _apart(found: BallArray, value: BallArray) -> flint.arb:
    """Encloses the distance in the sup norm; 0 where the balls overlap and are narrow."""
    with working_precision(found.bits):
        apart, size = (found - value).sup_norm(), found.sup_norm().max(flint.arb(1))
        narrow = bool(ball_maximum([each.rad() for each in (found - value).balls]) < size * flint.arb(2) ** -EQUAL_BITS)
    return flint.arb(0) if narrow and found.overlaps(value).all() else apart


# A float64 run and a float32 run differ by the rounding of float32; see `TheoremCase.rounding_estimate`.
def _apart_in_floats(case: "bridge.theorem_case.TheoremCase", side: Side, inputs: Inputs) -> flint.arb:
    (apart,) = _distances(case, [side], inputs)[side].tolist()
    with torch.no_grad():
        runs = [
            case.networks.network(inputs, [side.name], dtype)[side.name] for dtype in (torch.float64, torch.float32)
        ]
    ratio = torch.finfo(torch.float64).eps / torch.finfo(torch.float32).eps
    rounding = MARGIN * ratio * float((runs[0] - runs[1].double()).abs().max())
    return within(apart, rounding)
