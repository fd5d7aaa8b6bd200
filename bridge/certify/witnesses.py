"""The point at which an inequality is refuted, as a witness of exact numbers that a second run checks from scratch."""

from fractions import Fraction

import torch

from bridge.certify.forms import Enclosures
from bridge.certify.proving import Outcome
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs
from numeric.balls import float_above
from symbolic.inequalities import Inequality
from symbolic.statements import Quantity, UsageError

BITS = 192
LARGEST = 2**40  # of a witness's denominators: JSON's numbers hold them exactly


def refutation(case: DirectCase, name: str, outcome: Outcome) -> Witness | None:
    """Each coordinate as numerator and denominator; None where no point of short numbers refutes."""
    short = [x.limit_denominator(LARGEST) for x in outcome.point.values()]
    enclosures = Enclosures(outcome.inequality, BITS)
    value = enclosures.value_at(short)
    if not (value < 0 and enclosures.inside(short)) or any(abs(x.numerator) >= 2**53 for x in short):
        return None
    point = {str(s): [float(x.numerator), float(x.denominator)] for s, x in zip(outcome.point, short, strict=True)}
    return Witness(
        result=case.result.id,
        quantity=name,
        params=case.full_params,
        inputs=point,
        error_lower=-float_above(value),
        bounds={"printed": 0.0},
    )


def replayed(case: DirectCase, quantity: Quantity, name: str, inequality: Inequality, inputs: Inputs) -> Row:
    """The row of one inequality at one point, by balls. Raises UsageError for a point that is not in the region."""
    enclosures = Enclosures(inequality, BITS)
    point = [_coordinate(case, str(symbol), inputs) for symbol in enclosures.coordinates]
    if set(inputs) != {str(symbol) for symbol in enclosures.coordinates} or not enclosures.inside(point):
        letters = ", ".join(map(str, enclosures.coordinates))
        raise UsageError(
            f"{case.result.id}: '{name}' takes a point ({letters}) of its region; the given point is not one"
        )
    value = enclosures.value_at(point)
    fails = value <= 0 if inequality.strict else value < 0
    verdict = Verdict.VIOLATED if fails else Verdict.KEPT if value >= 0 else Verdict.UNDECIDED
    remark = f"{inequality.meaning}: the difference of the sides is {float(value.mid()):.6g} at this point"
    return direct_row(case, quantity, {"printed": verdict}, measured=float_above(value), remark=remark)


def _coordinate(case: DirectCase, letter: str, inputs: Inputs) -> Fraction:
    pair = inputs.get(letter, torch.zeros(0)).flatten().tolist()
    whole = [int(x) for x in pair if x == x and abs(x) < 2.0**63 and x == int(x)]
    if len(whole) != 2 or len(pair) != 2 or whole[1] == 0:
        raise UsageError(f"{case.result.id}: {letter} must be two whole numbers, numerator and denominator (not 0)")
    return Fraction(*whole)
