"""Row `faithful`: the network computes the emulated value of its derivation, and the reference the exact one.

Without it a bound that is kept may be about another network, and one that is violated may be right. On balls two
values that are equal overlap, and narrow balls that are disjoint are different, without any tolerance.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.instances.bindings import steps_of
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.readings import steps_of_derivation
from bridge.judging.judge import EQUAL_BITS
from bridge.judging.rows import NOT_RUN, WITHIN_ROUNDING
from bridge.judging.stated import Stated
from bridge.limits.run import ONE_INPUT, Run
from bridge.lowering.ball_values import BASE_BITS
from bridge.readings import Emulated
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.record import Row, Witness
from numeric.balls import BallArray, ball_maximum, working_precision
from numeric.balls.limits import TooLargeForExact
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError

NAME = "faithful"
PROMPTS = 32  # random ones, of which the one with the largest distance is looked at exactly
MARGIN = 16  # where rounding is larger than the difference of a float64 and a float32 run says
IN_FLOATS = "too large for exact arithmetic: judged on floats, beside the rounding measured at this input"
WRONG = {
    "network": "the network of '{name}' does not compute the emulated value of its derivation: they are {apart} apart",
    "reference": "the reference of '{name}' is not the exact value of its derivation: they are {apart} apart",
}

FIRST = "; of the steps that it returns by name, '{step}' is the first that differs"


@dataclass(frozen=True)
class Side:
    """The network or the reference of a quantity, and the value of the derivation that it has to equal."""

    name: str
    role: str  # network or reference

    def of(self, values: Emulated) -> Any:
        return values.emulated if self.role == "network" else values.exact


@dataclass(frozen=True)
class Faithful:
    """Of all quantities of one instance whose values are known: one row, and none where no value is."""

    instance: Instance

    @property
    def names(self) -> list[str]:
        return [NAME] if self.sides else []

    @property
    def settings(self) -> frozenset[str]:
        return frozenset({"samples", "seed", "dtype"})

    @cached_property
    def sides(self) -> list[Side]:
        bound = self.instance.readings.bindings
        roles = {name: ("network", "reference") if name in bound.emulated else ("reference",) for name in bound.valued}
        return [Side(name, role) for name, of_name in roles.items() for role in of_name]

    def rows(self, run: Run) -> Iterator[Row]:
        if self.sides:
            yield from _without_ratio(self.stated(self.farthest(run)).rows(ONE_INPUT))

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        """The row at the input of a witness. Raises UsageError for one outside the domains."""
        self.instance.inputs.require({name: value.unsqueeze(0) for name, value in one.items()})
        (row,) = _without_ratio([self.stated(one).again(witness, one, ONE_INPUT)])
        return row

    def farthest(self, run: Run) -> Batch:
        """Of some random prompts the one with the largest distance, without the first dimension."""
        prompts = self.instance.inputs.sample(min(run.samples, PROMPTS), run.seed)
        apart = torch.stack(list(Distances(self.instance, self.sides).in_floats(prompts).values())).amax(0)
        return {name: value[int(apart.argmax())] for name, value in prompts.items()}

    def stated(self, one: Batch) -> Stated:
        """The check at one prompt."""
        known, emulated = self.instance.readings.quantities, self.instance.readings.bindings.emulated
        named = list(dict.fromkeys(side.name for side in self.sides))
        only = [name for name in named if name not in emulated]
        quantity = Quantity(
            name=NAME,
            latex_symbol=r"\text{faithful}",
            meaning=f"distance of network and reference from the values in the derivation of {', '.join(named)}"
            + (f" (of {', '.join(only)} the reference alone: not all approximations are bound)" if only else ""),
            norm="sup norm",
            domain=known[named[0]].domain,
            kind=Kind.EXACT,
            quantifier=Quantifier.FOR_ALL,
            scopes=(),
        )
        return Stated(self.instance, Check(quantity, FaithfulSides(self.instance, self.sides, list(one)), one))


def _without_ratio(rows: Any) -> Iterator[Row]:
    """The derived distance is 0."""
    for row in rows:
        row.ratio = None
        yield row


class FaithfulSides:
    """The sides of the check, as a function of one prompt."""

    def __init__(self, instance: Instance, sides: Sequence[Side], inputs: Sequence[str]) -> None:
        self.instance, self.sides = instance, sides
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in inputs])

    def __call__(self, **inputs: Tensor) -> Sides:
        one = {name: value.unsqueeze(0) for name, value in self.instance.known.format.place(inputs).items()}
        try:
            return self._on_balls(one)
        except TooLargeForExact:
            return self._in_floats(one)

    def _on_balls(self, one: Batch) -> Sides:
        found = Distances(self.instance, self.sides).on_balls(one)
        rounded = [side for side, apart in found.items() if apart > 0 and self._may_be_rounding(side, one)]
        found |= {side: flint.arb(0).union(found[side]) for side in rounded}
        wrong = {side: Distances(self.instance, [side]).first_apart(side, one) for side in found if found[side] > 0}
        return _judged(found, [WITHIN_ROUNDING] if rounded else [], wrong)

    def _may_be_rounding(self, side: Side, one: Batch) -> bool:
        """Whether they meet once floats that Python computed stand for all numbers near them."""
        try:
            return not Distances(self.instance.nearby, [side]).on_balls(one)[side] > 0
        except NOT_RUN:
            return True  # they do not run on the wider balls

    def _in_floats(self, one: Batch) -> Sides:
        distances = Distances(self.instance, self.sides)
        found = {side: distances.beside_rounding(side, one) for side in self.sides}
        return _judged({side: beyond_rounding(apart) for side, apart in found.items()}, [IN_FLOATS])


def beyond_rounding(apart: flint.arb) -> flint.arb:
    """0 for a distance that rounding explains; nothing is known where the rounding is not finite (an overflow)."""
    return flint.arb(0) if apart.is_finite() and not apart > 0 else apart


def _judged(
    found: Mapping[Side, flint.arb], remarks: list[str], first: Mapping[Side, str] = MappingProxyType({})
) -> Sides:
    wrong = [
        WRONG[side.role].format(name=side.name, apart=f"{float(apart):.2g}")
        + (FIRST.format(step=first[side]) if first.get(side) else "")
        for side, apart in found.items()
        if apart > 0
    ]
    largest = max(found.values(), key=lambda apart: (bool(apart > 0), float(apart.upper())))
    return Sides(found=largest, derived=0, remark="; ".join([*wrong, *remarks]))


@dataclass(frozen=True)
class Distances:
    """Of these sides from the values of their derivations, in the sup norm. Raises UsageError for other shapes."""

    instance: Instance
    sides: Sequence[Side]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(side.name for side in self.sides))

    def in_floats(self, batch: Batch) -> dict[Side, Tensor]:
        """In float64, (B) each."""
        networks, names = self.instance.networks, self.names
        with torch.no_grad():
            runs = {"network": networks.network(batch, names, torch.float64)}
            runs["reference"] = networks.reference(batch, names)
            values = self.instance.readings.values(names, batch)
        found = {}
        for side in self.sides:
            run, value = runs[side.role][side.name].flatten(1), side.of(values[side.name])  # (B, m)
            self._require_entries(side, run.shape[1], value.shape[1])
            found[side] = torch.nan_to_num((run - value).abs().amax(1), nan=torch.inf)
        return found

    def on_balls(self, one: Batch) -> dict[Side, flint.arb]:
        """Enclosed; 0 where the balls overlap and are narrow. Raises TooLargeForExact."""
        bits = BASE_BITS + self.instance.bounds.extra_bits
        at = self.instance.inputs.members(one, bits)
        values = self.instance.readings.values_on_balls(self.names, one, bits)
        networks = self.instance.networks
        runs = {"network": networks.exact_network, "reference": networks.exact_reference}
        names = {role: [side.name for side in self.sides if side.role == role] for role in runs}
        found = {role: run(at, names[role], bits) if names[role] else {} for role, run in runs.items()}
        apart = {}
        for side in self.sides:
            run, value = found[side.role][side.name].flatten(), side.of(values[side.name]).flatten()
            self._require_entries(side, run.numel(), value.numel())
            apart[side] = _apart(run, value)
        return apart

    def first_apart(self, side: Side, one: Batch) -> str:
        """The first step of the derivation, of those returned by name, that is computed otherwise; "" for none."""
        bits, quantity = BASE_BITS + self.instance.bounds.extra_bits, self.instance.readings.quantities[side.name]
        names = [step.name for step in steps_of(quantity) if step.name != quantity.concluded_by]
        at = self.instance.inputs.members(one, bits)
        run = self.instance.networks.steps_on_balls(side.role, side.name, names, at, bits)
        values = self.instance.readings.on_balls(quantity, steps_of_derivation(quantity, list(run)), one, bits)
        pairs = ((name, run[name].flatten(), side.of(values[name]).flatten()) for name in run if name in values)
        return next((name for name, x, y in pairs if x.numel() != y.numel() or _apart(x, y) > 0), "")

    # A float64 run and a float32 run differ by the rounding of float32; see `Runs.estimated_rounding`.
    def beside_rounding(self, side: Side, one: Batch) -> flint.arb:
        """In float64 with the rounding that was measured at this prompt."""
        (apart,) = Distances(self.instance, [side]).in_floats(one)[side].tolist()
        with torch.no_grad():
            network = self.instance.networks.network
            runs = [network(one, [side.name], dtype)[side.name] for dtype in (torch.float64, torch.float32)]
        ratio = torch.finfo(torch.float64).eps / torch.finfo(torch.float32).eps
        return within(apart, MARGIN * ratio * float((runs[0] - runs[1].double()).abs().max()))

    def _require_entries(self, side: Side, found: int, expected: int) -> None:
        if found != expected:
            raise UsageError(
                f"{self.instance.theorem.id}: the {side.role} of '{side.name}' has {found} entries, and the handles "
                f"give its derivation {expected}; make them agree"
            )


def _apart(found: BallArray, value: BallArray) -> flint.arb:
    """Encloses the distance in the sup norm; 0 where the balls overlap and are narrow."""
    with working_precision(found.bits):
        apart, size = (found - value).sup_norm(), found.sup_norm().max(flint.arb(1))
        narrow = bool(ball_maximum([each.rad() for each in (found - value).balls]) < size * flint.arb(2) ** -EQUAL_BITS)
    return flint.arb(0) if narrow and found.overlaps(value).all() else apart
