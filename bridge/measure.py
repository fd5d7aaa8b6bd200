"""Measuring a case: the errors on random inputs, and on those that an attack finds, float and exact."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import flint
import torch

from bridge.balls import MOST_BITS, bits_for
from bridge.budget import BLOCK, Budget
from bridge.study import Case, Inputs
from bridge.verdicts import Evidence
from numeric.attack import attack
from numeric.exact_cost import TooLargeForExact
from symbolic.statements import Quantity


@dataclass(frozen=True)
class Found:
    """The worst input of one search for one quantity, and what is known of the error there."""

    inputs: Inputs
    evidence: Evidence


@dataclass(frozen=True)
class Measurement:
    """Per quantity: the worst random (or real) input and the worst attacked one; the same by ratio to prompt bounds."""

    random: dict[str, Found]
    attacked: dict[str, Found]
    random_by_ratio: dict[str, Found]
    attacked_by_ratio: dict[str, Found]


def measure(case: Case, quantities: list[Quantity], budget: Budget) -> Measurement:
    """Sample, attack and re-run the worst inputs in exact arithmetic."""
    names = [q.name for q in quantities]
    sample = case.sample(budget.samples, budget.seed)
    errors = _in_blocks(lambda part: case.errors(part, names), sample)
    random: dict[str, Found] = {}
    by_ratio: dict[str, Found] = {}
    for q in quantities:
        random[q.name] = _worst(case, q, sample, errors[q.name], errors[q.name])
        if "prompt" in q.scopes:
            bounds = _in_blocks(partial(_prompt_bounds, case, q), sample)["bound"]
            by_ratio[q.name] = _worst(case, q, sample, errors[q.name], _ratio(errors[q.name], bounds))
    attacked: dict[str, Found] = {}
    attacked_by_ratio: dict[str, Found] = {}
    if budget.attack:
        for q in quantities:
            attacked[q.name] = _attack(case, q, budget, by_ratio=False)
            if "prompt" in q.scopes:
                attacked_by_ratio[q.name] = _attack(case, q, budget, by_ratio=True)
    return Measurement(random, attacked, by_ratio, attacked_by_ratio)


def _prompt_bounds(case: Case, quantity: Quantity, inputs: Inputs) -> dict[str, torch.Tensor]:
    return {"bound": case.prompt_bounds(quantity, inputs)}


def _attack(case: Case, quantity: Quantity, budget: Budget, *, by_ratio: bool) -> Found:
    def objective(inputs: Inputs) -> torch.Tensor:
        error = case.errors(inputs, [quantity.name], attack=True)[quantity.name]
        return _ratio(error, case.prompt_bounds(quantity, inputs)) if by_ratio else error

    starts = case.starts(budget.restarts, budget.seed)
    found = attack(objective, starts, case.project, steps=budget.attack, seed=budget.seed).witness
    assert isinstance(found, dict)  # the attack keeps the structure of its starts
    inputs = {name: value.unsqueeze(0) for name, value in found.items()}
    return evidence_at(case, quantity, case.admit(inputs))


def _ratio(errors: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
    """error / bound; where the bound is 0 (the error is too, up to rounding) the ratio counts as 0."""
    positive = bounds > 0
    return torch.where(positive, errors / torch.where(positive, bounds, torch.ones_like(bounds)), 0.0)


def _worst(case: Case, quantity: Quantity, inputs: Inputs, errors: torch.Tensor, by: torch.Tensor) -> Found:
    index = int(torch.nan_to_num(by, nan=torch.inf).argmax())
    return evidence_at(case, quantity, {name: value[index : index + 1] for name, value in inputs.items()})


def evidence_at(case: Case, quantity: Quantity, inputs: Inputs) -> Found:
    """The error at one input, measured in the case's dtype and, where it is not too large, exactly."""
    with torch.no_grad():
        measured = float(case.errors(inputs, [quantity.name])[quantity.name][0])
    bits = _bits(case, quantity)
    try:
        if bits > MOST_BITS:
            return Found(inputs, Evidence(measured, rounding=case.rounding_estimate()))
        exact, rounding = case.exact(inputs, [quantity.name], bits)[quantity.name]
    except TooLargeForExact:
        return Found(inputs, Evidence(measured, rounding=case.rounding_estimate()))
    return Found(inputs, Evidence(measured, exact, rounding if math.isfinite(rounding) else None))


def _bits(case: Case, quantity: Quantity) -> int:
    """Enough bits to tell errors of the size of the derived bound apart."""
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
