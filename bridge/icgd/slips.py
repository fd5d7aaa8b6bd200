"""What Corollary 1.1 and Lemma 14 print and an exact run on a line refutes: rows, with witnesses of rationals."""

from collections.abc import Callable

import flint
import sympy as sp
import torch

from bridge.measure import Found
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Case, Inputs
from bridge.verdicts import Bound, Evidence, judge
from numeric.balls import working_precision
from symbolic.icgd import trajectory as theory
from symbolic.statements import UsageError

BITS = 192
SLIPS = {theory.finding_quantity(check).name: check for check in theory.WITNESSES}


def slip_row(case: Case, check: Callable[..., theory.Witness], witness: theory.Witness) -> Row:
    """The printed statement against the run that refutes it; `derived` is the repaired one, judged on its own."""
    quantity = theory.finding_quantity(check)
    inputs = {name: torch.tensor([float(v.p), float(v.q)]) for name, v in witness.run.numbers.items()}
    printed, repaired = (Bound(_exact(number)) for number in (witness.printed, witness.repaired))
    found = [Found(inputs, _evidence(witness.attained))]
    row = judged_row(case, quantity, None, {"printed": printed}, found, ONE_INPUT)
    row.derived = repaired.number()
    row.verdict["derived"] = judge(repaired, [_evidence(witness.repaired_attained)])
    row.remark += f" Derived: the repaired statement, whose own run attains {float(witness.repaired_attained):.4g}."
    return row


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
