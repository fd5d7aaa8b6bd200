"""The errors of a derivation at a prompt: an enclosure of each step, and a bound on each error."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from bridge.readings.arrays import Array, bounding, flat_at_zero
from bridge.readings.enclosed import LEFT, AtHand, Enclosed, NoEnclosure, beyond, enclosed, is_of_the_step
from bridge.readings.operands import Emulated, Operands
from symbolic.derivations.derivation import Derivation, Step
from symbolic.derivations.operations import (
    Given,
    Operation,
)
from symbolic.words.names import error_symbol


@dataclass
class Reading:
    """What is known of the steps; those without an enclosure, and why, are in `stops`.

    `coarser`: another reading at the same prompt, whose bounds hold as well.
    """

    derivation: Derivation
    at: AtHand
    steps: dict[str, Enclosed]
    stops: dict[str, str] = field(default_factory=dict)
    coarser: "Reading | None" = None
    _bounds: dict[str, Array] = field(default_factory=dict)
    _made: dict[Any, Enclosed] = field(default_factory=dict)

    def enclose(self, *wanted: str) -> None:
        """Encloses the steps that lead to the `wanted` ones, or all, as far as that was not done."""
        for step in self.derivation.leading_to(*wanted):
            if step.name not in self.steps and step.name not in self.stops:
                self._enclose(step)

    def _enclose(self, step: Step) -> None:
        unknown = [name for name in step.premises if name not in self.steps]
        if step.operation is None or unknown:
            self.stops[step.name] = f"after {', '.join(unknown)}" if unknown else f"'{step.rule}' names no operands"
            return
        try:
            found = self._after(step, step.operation, [self.steps[name] for name in step.premises])
        except NoEnclosure as error:
            self.stops[step.name] = str(error)
            return
        if found.holds is False:
            self.stops[step.name] = beyond(step.operation)
            return
        holds = _all_hold([found, *(self.steps[name] for name in step.premises)])
        self.steps[step.name] = found if holds is found.holds else replace(found, holds=holds)

    @property
    def beyond(self) -> list[str]:
        """The steps at which an argument may leave the range on which its function is known, on tensors or balls."""
        return [step.name for step in self.derivation.steps if self._leaves(step)]

    def _leaves(self, step: Step) -> bool:
        if step.name not in self.steps:
            return LEFT in self.stops.get(step.name, "")
        return not _holds(self.steps[step.name]) and all(_holds(self.steps[name]) for name in step.premises)

    @property
    def stopped(self) -> str:
        """The steps without an enclosure that others follow from, and why they have none."""
        return "; ".join(f"'{step}' ({why})" for step, why in self.stops.items() if not why.startswith("after "))

    # Two steps may do the same to the same value, for bounds in two norms: it is enclosed once.
    def _after(self, step: Step, operation: Operation, premises: list[Enclosed]) -> Enclosed:
        at = self.at.within(step)
        if is_of_the_step(operation):
            return enclosed(operation, step, premises, at)
        key = operation, *map(id, premises)
        if key not in self._made:
            self._made[key] = enclosed(operation, step, premises, at)
        return self._made[key]

    # The bound of a step is the least of its enclosure, of the rule's own bound at the errors of its premises here, and
    # of that in the coarser reading: what is sharper at one step need not be so at all that follow.
    def bound(self, name: str) -> Array | None:
        """A bound on the error of the step, in its norm, of the largest token; None where nothing is known."""
        self.enclose(name)
        wanted = self.derivation.leading_to(name) if self.at.by_rules else (self.derivation.step(name),)
        for step in wanted:
            if step.name not in self._bounds:
                self._bound(step)
        return self._bounds.get(name)

    def _bound(self, step: Step) -> None:
        coarser = None if self.coarser is None else self.coarser.bound(step.name)
        known = [each for each in (self.by_enclosure(step), self.by_rule(step), coarser) if each is not None]
        if known:
            self._bounds[step.name] = bounding(functools.reduce(torch.minimum, known))

    def by_enclosure(self, step: Step) -> Array | None:
        if step.name not in self.steps:
            return None
        known = self.steps[step.name]
        bound = torch.amax(known.error.norm(step.norm).reshape(-1), 0)
        return bound if known.holds is True else torch.where(known.holds, bound, torch.inf)

    def by_rule(self, step: Step) -> Array | None:
        """The bound of the step's rule, at the bounds of its premises and the letters of the instance."""
        if isinstance(step.operation, Given) and isinstance(self.at.operands.bound.get(step.operation.name), Emulated):
            return None  # the pair is the error, up to rounding of the number that was declared
        if not self.at.by_rules:
            return None
        local = step.local
        known = {name: self._bounds[name] for name in step.premises if name in self._bounds}
        if step.pooled:  # the errors at hand may come from a smaller perturbation, which the step does not know
            local, known = self.derivation.bound(step.name), {}
        errors = {error_symbol(name): flat_at_zero(bound) for name, bound in known.items()}
        if local.free_symbols - set(errors) - set(self.at.operands.letters):
            return None
        return self.at.within(step).operands.scalar(local, errors)


def enclose(
    derivation: Derivation,
    at: AtHand,
    wanted: Iterable[str] = (),
    *,
    known: Mapping[str, Enclosed] | None = None,
    coarser: Reading | None = None,
) -> Reading:
    """The errors at a prompt of all steps, or of those that lead to the `wanted` ones.

    `known` has steps of which more is known than the derivation says; `coarser` is a reading whose bounds hold as well.
    """
    reading = Reading(derivation, at, dict(known or {}), coarser=coarser)
    reading.enclose(*wanted)
    return reading


def read_errors(
    derivation: Derivation, operands: Operands, wanted: Iterable[str] = (), *, local: bool = True, every: bool = False
) -> Reading:
    """The sharpest reading: approximants at each argument and by their suprema, whichever gives less at each step."""
    by_suprema = enclose(derivation, AtHand(operands, local=False, every=every), wanted)
    return enclose(derivation, AtHand(operands, every=every), wanted, coarser=by_suprema) if local else by_suprema


def _holds(known: Enclosed) -> bool:
    return known.holds is True or bool(known.holds)


def _all_hold(values: Iterable[Enclosed]) -> Any:
    """Whether all arguments so far lie where the functions are known."""
    doubtful = [each.holds for each in values if each.holds is not True]
    return torch.stack(doubtful).all(0) if doubtful else True
