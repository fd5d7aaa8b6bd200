"""Measuring a case: the errors on random inputs and on attacked ones, in floats and exactly."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import flint
import torch

from bridge.balls import BASE_BITS, MOST_BITS, bits_for
from bridge.goals import Goal, prompt_scopes, ratio, stated_goals
from bridge.limits.run import BLOCK, Run
from bridge.searches import Points, searched
from bridge.study import Case, Inputs
from bridge.verdicts import Evidence
from numeric.exact_cost import TooLargeForExact
from symbolic.statements import Quantity


@dataclass(frozen=True)
class Found:
    """The worst input of one search for one quantity, and the evidence for the error there."""

    inputs: Inputs
    evidence: Evidence


@dataclass(frozen=True)
class Measurement:
    """The worst random (or real) input first, then the worst attacked one if there was an attack.

    Per quantity by the error; per quantity and scope of a prompt (and each bound that is stated in its letters) by the
    ratio of the error to the bound.
    """

    by_error: dict[str, list[Found]]
    by_ratio: dict[tuple[str, str | None], list[Found]]


def measure(case: Case, quantities: list[Quantity], run: Run, points: Points | None = None) -> Measurement:
    """Sample, attack and re-run the worst inputs in exact arithmetic.

    `points` are those that an attack has found; None: it is still to be made.
    """
    if not quantities:
        return Measurement({}, {})
    sample = case.sample(run.samples, run.seed)
    names = [q.name for q in quantities]
    errors = _in_blocks(lambda part: case.errors(part, names), sample)
    by_error: dict[str, list[Found]] = {}
    by_ratio: dict[tuple[str, str | None], list[Found]] = {}
    bounds = _sample_bounds(case, quantities, sample)
    for q in quantities:
        by_error[q.name] = [_worst(case, q, sample, errors[q.name])]
        for scope in prompt_scopes(q):
            by_ratio[q.name, scope] = [_worst(case, q, sample, ratio(errors[q.name], bounds[scope][q.name]))]
        for goal in stated_goals(q, case.prompt_tiers(q)):
            stated = _in_blocks(functools.partial(_stated_of_part, case, goal), sample)[goal.tier]
            by_ratio[goal.key] = [_worst(case, q, sample, ratio(errors[q.name], stated))]
    if run.attack:
        (attacked,) = searched([case], quantities, run) if points is None else [points]
        for q in quantities:
            by_error[q.name].append(_at_point(case, q, attacked[q.name, None]))
            for key in (key for key in by_ratio if key[0] == q.name):
                by_ratio[key].append(_at_point(case, q, attacked[key]))
    return Measurement(by_error, by_ratio)


def _sample_bounds(case: Case, quantities: list[Quantity], inputs: Inputs) -> dict[str, dict[str, torch.Tensor]]:
    """The bounds at each input, by scope and quantity."""
    bounded: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        for scope in prompt_scopes(quantity):
            bounded.setdefault(scope, []).append(quantity)
    return {
        scope: _in_blocks(functools.partial(_bounds_of_part, case, those, scope), inputs)
        for scope, those in bounded.items()
    }


def _bounds_of_part(case: Case, quantities: list[Quantity], scope: str, part: Inputs) -> dict[str, torch.Tensor]:
    return case.sample_bounds(quantities, part, scope)


def _stated_of_part(case: Case, goal: Goal, part: Inputs) -> dict[str, torch.Tensor]:
    return {goal.tier: case.stated_bounds(goal.quantity, goal.tier, part)}


def _at_point(case: Case, quantity: Quantity, found: Inputs) -> Found:
    return evidence_at(case, quantity, case.admit({name: value.unsqueeze(0) for name, value in found.items()}))


def _worst(case: Case, quantity: Quantity, inputs: Inputs, by: torch.Tensor) -> Found:
    index = int(torch.nan_to_num(by, nan=torch.inf).argmax())
    return evidence_at(case, quantity, {name: value[index : index + 1] for name, value in inputs.items()})


def evidence_at(case: Case, quantity: Quantity, inputs: Inputs) -> Found:
    """The error at one input, measured in the case's dtype and, where it is not too large, exactly.

    Below a bound that no run resolves the exact run encloses the error as well as it can: it may refute, and keep only
    what is exactly 0.
    """
    with torch.no_grad():
        measured = float(case.errors(inputs, [quantity.name])[quantity.name][0])
    bits = _bits(case, quantity)
    bits = bits if bits <= MOST_BITS else BASE_BITS
    try:
        exact, rounding = case.exact(inputs, [quantity.name], bits)[quantity.name]
    except TooLargeForExact:
        return Found(inputs, Evidence(measured, rounding=case.rounding_estimate()))
    return Found(inputs, Evidence(measured, exact, rounding if math.isfinite(rounding) else None))


def _bits(case: Case, quantity: Quantity) -> int:
    """Enough bits to distinguish errors of the size of the derived bound."""
    bound = case.derived(quantity)
    return bits_for(bound.ball if bound else flint.arb(1))


def _in_blocks(function: Callable[[Inputs], dict[str, torch.Tensor]], inputs: Inputs) -> dict[str, torch.Tensor]:
    count = len(next(iter(inputs.values())))
    with torch.no_grad():
        parts = [
            function({name: value[start : start + BLOCK] for name, value in inputs.items()})
            for start in range(0, count, BLOCK)
        ]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
