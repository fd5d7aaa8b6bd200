"""Where Corollary 1.1 and Lemma 14 fail as printed: rows of exact runs of one linear neuron, witnesses of rationals."""

from collections.abc import Callable
from dataclasses import replace

import flint
import sympy as sp
import torch

from bridge.measure import Found
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Case, Inputs
from bridge.verdicts import Bound, Evidence
from numeric.balls import working_precision
from symbolic.icgd import exact_runs as theory
from symbolic.statements import Quantity, UsageError

BITS = 192
CHECKS = {theory.refuted_quantity(check).name: check for check in theory.WITNESSES}


def refuted_row(case: Case, check: Callable[..., theory.Witness], witness: theory.Witness) -> Row:
    """The printed statement against the run that refutes it, at no point of the grid."""
    found = [Found(_numbers(witness), _evidence(witness.attained))]
    return _row(case, theory.refuted_quantity(check), {"printed": Bound(_exact(witness.printed))}, found)


def repaired_row(case: Case, check: Callable[..., theory.Witness], witness: theory.Witness) -> Row:
    """The repaired statement against the run in which it is closest."""
    stated = theory.refuted_quantity(check)
    quantity = replace(
        stated, name=f"{stated.name}.repaired", remark="the repaired statement, in a run of its own", erratum=None
    )
    found = [Found(_numbers(witness), _evidence(witness.repaired_attained))]
    return _row(case, quantity, {"derived": Bound(_exact(witness.repaired))}, found)


def _row(case: Case, quantity: Quantity, tiers: dict[str, Bound | None], found: list[Found]) -> Row:
    return judged_row(case, quantity, None, tiers, found, ONE_INPUT).model_copy(update={"params": {}})


def _numbers(witness: theory.Witness) -> Inputs:
    return {name: torch.tensor([float(v.p), float(v.q)]) for name, v in witness.run.numbers.items()}


def _exact(number: sp.Rational) -> flint.arb:
    with working_precision(BITS):
        return flint.arb(flint.fmpq(int(number.p), int(number.q)))


def _evidence(number: sp.Rational) -> Evidence:
    return Evidence(float(number), exact=_exact(number), rounding=0.0)


def run_of(inputs: Inputs) -> theory.Run:
    """The run whose rational numbers a witness holds as pairs of whole numbers. Raises UsageError for anything else."""
    numbers = {}
    for name, pair in inputs.items():
        whole = [int(v) if bool(v == v.round()) and abs(float(v)) < 2.0**53 else None for v in pair.flatten()]
        if tuple(pair.shape) != (2,) or None in whole or whole[1] == 0:
            raise UsageError(f"icgd.trajectory: {name} has to be two whole numbers, numerator and denominator (not 0)")
        numbers[name] = sp.Rational(*whole)
    return theory.run_of(numbers)
