"""The errors of an instance: on random (or real) inputs and on attacked ones, in floats and exactly."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import flint
import torch
from torch import Tensor

from bridge.instances.goals import Goal, prompt_scopes, ratio, stated_goals
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search import Points, searched
from bridge.judging.judge import Evidence
from bridge.limits.run import BLOCK, Run
from bridge.lowering.ball_values import BASE_BITS, MOST_BITS, bits_for
from numeric.balls import float_above
from numeric.balls.limits import TooLargeForExact
from symbolic.statements.result import Kind, Quantity
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Place:
    """One input, and what was found there."""

    inputs: Batch
    evidence: Evidence


@dataclass(frozen=True)
class Measurement:
    """The worst random (or real) input first, then the worst attacked one if there was an attack.

    Per quantity by the error; per quantity and scope of a prompt (and each bound that is stated in its letters) by the
    ratio of the error to the bound.
    """

    by_error: dict[str, list[Place]]
    by_ratio: dict[tuple[str, str | None], list[Place]]

    def largest(self, quantity: Quantity) -> list[Place]:
        """The largest errors over all inputs of all searches."""
        found = [self.by_error[quantity.name], *(self.by_ratio[quantity.name, s] for s in prompt_scopes(quantity))]
        return [max(each, key=lambda place: place.evidence.measured or 0.0) for each in zip(*found, strict=True)]


def measure(instance: Instance, run: Run, points: Points | None = None) -> Measurement:
    """Sample, attack and re-run the worst inputs in exact arithmetic.

    `points` are those that an attack has found; None: it is still to be made.
    """
    quantities = instance.bounds.measured
    if not quantities:
        return Measurement({}, {})
    names = [q.name for q in quantities]
    for name in names:
        instance.networks.network_key(name)  # raises UsageError for one without a network
    if not instance.inputs.domain.domains:
        raise UsageError(f"{instance.theorem.id} has no inputs at which an error is measured; give inputs=")
    sample = instance.inputs.sample(run.samples, run.seed)
    errors = _in_blocks(lambda part: instance.runs.errors(part, names), sample)
    by_error: dict[str, list[Place]] = {}
    by_ratio: dict[tuple[str, str | None], list[Place]] = {}
    bounds = _bounds(instance, quantities, sample)
    for q in quantities:
        by_error[q.name] = [_worst(instance, q, sample, errors[q.name])]
        for scope in prompt_scopes(q):
            by_ratio[q.name, scope] = [_worst(instance, q, sample, ratio(errors[q.name], bounds[scope][q.name]))]
        for goal in stated_goals(q, instance.bounds.prompt_tiers(q)):
            stated = _in_blocks(functools.partial(_stated_of_part, instance, goal), sample)[goal.tier]
            by_ratio[goal.key] = [_worst(instance, q, sample, ratio(errors[q.name], stated))]
    if run.attack:
        (attacked,) = searched([instance], run) if points is None else [points]
        for q in quantities:
            by_error[q.name].append(_at_point(instance, q, attacked[q.name, None]))
            for key in (key for key in by_ratio if key[0] == q.name):
                by_ratio[key].append(_at_point(instance, q, attacked[key]))
    return Measurement(by_error, by_ratio)


def _bounds(instance: Instance, quantities: Sequence[Quantity], sample: Batch) -> dict[str, dict[str, Tensor]]:
    """The bounds at each input, by scope and quantity; of one real input nothing is chosen by them."""
    bounded: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        for scope in prompt_scopes(quantity):
            bounded.setdefault(scope, []).append(quantity)
    if instance.inputs.covers_rounding and len(next(iter(sample.values()))) == 1:
        one = torch.ones(1, dtype=torch.float64, device=instance.known.format.device)
        return {scope: {each.name: one for each in those} for scope, those in bounded.items()}
    return {
        scope: _in_blocks(functools.partial(_bounds_of_part, instance, those, scope), sample)
        for scope, those in bounded.items()
    }


def _bounds_of_part(instance: Instance, quantities: list[Quantity], scope: str, part: Batch) -> dict[str, Tensor]:
    return instance.on_tensors.at(quantities, part, scope)


def _stated_of_part(instance: Instance, goal: Goal, part: Batch) -> dict[str, Tensor]:
    return {goal.tier: instance.on_tensors.stated(goal.quantity, goal.tier, part)}


def _at_point(instance: Instance, quantity: Quantity, found: Batch) -> Place:
    one = instance.inputs.admit({name: value.unsqueeze(0) for name, value in found.items()})
    return Place(one, evidence_at(instance, quantity, one))


def _worst(instance: Instance, quantity: Quantity, batch: Batch, by: Tensor) -> Place:
    index = int(torch.nan_to_num(by, nan=torch.inf).argmax())
    one = {name: value[index : index + 1] for name, value in batch.items()}
    return Place(one, evidence_at(instance, quantity, one))


def evidence_at(instance: Instance, quantity: Quantity, one: Batch) -> Evidence:
    """The error at one input, in the format of the run and, where it is not too large, exactly.

    Below a bound that no run resolves the exact run encloses the error as well as it can: it may refute, and keep only
    what is exactly 0.
    """
    with torch.no_grad():
        measured = float(instance.runs.errors(one, [quantity.name])[quantity.name][0])
    bound = instance.bounds.derived(quantity)
    bits = bits_for(bound.ball if bound else flint.arb(1))
    try:
        exact, rounding = instance.runs.exact(one, [quantity.name], bits if bits <= MOST_BITS else BASE_BITS)[
            quantity.name
        ]
    except TooLargeForExact:
        return Evidence(measured, rounding=rounding_estimate(instance))
    return Evidence(measured, exact, rounding if math.isfinite(rounding) else None)


# An estimate refutes no identity: where its two sides cancel, rounding is as large as an error can be.
def rounding_estimate(instance: Instance) -> float:
    """An upper estimate of the rounding of a float run, for sizes at which no exact run can measure it."""
    if not instance.runs.is_exact:
        return 0.0
    identities = [each for each in instance.bounds.quantities.values() if each.kind is Kind.EXACT and each.scopes]
    sizes = [instance.bounds.trivial(each) for each in identities]
    largest = [math.inf if size is None else float_above(size) for size in sizes]
    return max(largest) if largest else instance.runs.estimated_rounding


def _in_blocks(function: Callable[[Batch], dict[str, Tensor]], batch: Batch) -> dict[str, Tensor]:
    count = len(next(iter(batch.values())))
    with torch.no_grad():
        parts = [
            function({name: value[start : start + BLOCK] for name, value in batch.items()})
            for start in range(0, count, BLOCK)
        ]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
