"""The sides of printed statements that exact rationals decide, for their checks."""

import sympy as sp
from torch import Tensor

from bridge.check import Sides
from bridge.export.numbers import digits_apart, plain
from symbolic.induction.claims import ExactClaim, Point
from symbolic.statements import UsageError

LONGEST_FRACTION = 40  # bits of a denominator that is printed as it is


def refuting_point(claim: ExactClaim) -> dict[str, list[float]]:
    """The inputs of the claim's check: the first point of its grid that refutes it, else the first of all."""
    point = claim.refutation() or next(claim.points())
    return {letter: [float(value) for value in values] for letter, values in point.items()}


def sides_of_claim(claim: ExactClaim, **letters: Tensor) -> Sides:
    """The two sides of the claim at these numbers, exactly. Raises UsageError for numbers that miss its premises."""
    point = {letter: tuple(map(exact_number, values.flatten().tolist())) for letter, values in letters.items()}
    wrong = claim.premises(point)
    if wrong:
        raise UsageError(f"'{claim.name}' is not judged at {point_words(point)}: {'; '.join(wrong)}")
    left, right = claim.sides(point)
    return Sides(left, printed=right, remark=_sides(claim, point, left, right))


def exact_number(value: float) -> sp.Rational:
    """The rational number that a float is. Raises UsageError for what is not finite."""
    try:
        return sp.Rational(*float(value).as_integer_ratio())
    except (OverflowError, ValueError):
        raise UsageError(f"witness: {value} is not a finite number") from None


def point_words(point: Point) -> str:
    return ", ".join(f"{letter} = {_vector_words(values)}" for letter, values in point.items())


def _vector_words(values: tuple[sp.Rational, ...]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def _sides(claim: ExactClaim, point: Point, left: sp.Rational, right: sp.Rational) -> str:
    where = ", ".join(filter(None, [claim.setting, point_words(point)]))
    short = max(int(number.q).bit_length() for number in (left, right)) <= LONGEST_FRACTION
    words = (str(left), str(right)) if short else apart(float(left), float(right))
    return f"at {where}: left side {words[0]}, right side {words[1]}, stated as left {claim.relation} right"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two numbers as a table shows them, with as many digits as tell them apart."""
    digits = digits_apart(first, "", "", second)
    return plain(first, digits=digits), plain(second, digits=digits)


def boxes(count: int) -> str:
    return f"{count} box" if count == 1 else f"{count} boxes"
