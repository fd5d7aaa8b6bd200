"""Checks of printed statements that exact rationals decide (symbolic/statements/exact_claims.py)."""

import math
from collections.abc import Mapping

import sympy as sp
from torch import Tensor

from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain_apart
from symbolic.statements.exact_claims import ExactClaim, Point
from symbolic.statements.result import Kind, Quantity
from symbolic.words.errors import UsageError

WHOLE = 2.0**53  # below it a float64 holds every whole number
STATED_AS = {  # kind of the quantity, and whether its printed bound is strict
    "=": (Kind.EXACT, False),
    "<=": (Kind.UPPER, False),
    "<": (Kind.UPPER, True),
    ">=": (Kind.LOWER, False),
    ">": (Kind.LOWER, True),
}
LONGEST_FRACTION = 40  # bits of a denominator that is printed as it is


def exact_check(quantity: Quantity, claim: ExactClaim) -> Check:
    """The left side of the claim against the right one as printed, at the first point of its grid that refutes it.

    At the first point of all where none does: the row is then `kept` there. A witness has that point.

    Raises UsageError where the quantity does not state the relation of the claim (`STATED_AS`), and as
    `refuting_point`.
    """
    if not isinstance(quantity, Quantity) or not isinstance(claim, ExactClaim):
        raise UsageError(f"exact_check: got {quantity!r:.60} and {claim!r:.60}; give a Quantity and an ExactClaim")
    strict = quantity.printed is not None and quantity.printed.strict
    if (quantity.kind, strict) != STATED_AS[claim.relation]:
        kind, needed = STATED_AS[claim.relation]
        raise UsageError(
            f"exact_check: '{claim.name}' states left {claim.relation} right, '{quantity.name}' is of the kind "
            f"{quantity.kind.value}{', strict' if strict else ''}; make it {kind.value}{', strict' if needed else ''}"
        )

    def sides(inputs: Mapping[str, Tensor]) -> Sides:
        return sides_of_claim(claim, inputs)

    return Check(quantity, sides, refuting_point(claim))


def refuting_point(claim: ExactClaim) -> dict[str, list[float]]:
    """The inputs of the claim's check, as floats: the first point of its grid that refutes it, else the first of all.

    Raises UsageError where no float beside such a point meets the premises and shows the same.
    """
    refuted = claim.refutation() is not None
    for point in claim.points():
        rounded = {letter: [float(value) for value in values] for letter, values in point.items()}
        if claim.holds(point) is not refuted and _shows(claim, rounded, refuted):
            return rounded
    raise UsageError(f"'{claim.name}': no float is near enough to a point of the grid; add numbers that floats hold")


def _shows(claim: ExactClaim, rounded: Mapping[str, list[float]], refuted: bool) -> bool:
    """Whether the premises hold at these floats, and the claim or not."""
    if not all(math.isfinite(value) for values in rounded.values() for value in values):
        return False
    point = {letter: tuple(map(exact_number, values)) for letter, values in rounded.items()}
    return not claim.missed(point) and claim.holds(point) is not refuted


def sides_of_claim(claim: ExactClaim, inputs: Mapping[str, Tensor]) -> Sides:
    """The two sides of the claim at these numbers, exactly. Raises UsageError for numbers that miss its premises."""
    point = {letter: tuple(map(exact_number, values.flatten().tolist())) for letter, values in inputs.items()}
    wrong = claim.missed(point)
    if wrong:
        raise UsageError(f"'{claim.name}' is not judged at {point_words(point)}: {'; '.join(wrong)}")
    left, right = claim.both(point)
    return Sides(left, printed=right, remark=_sides_in_words(claim, point, left, right))


def exact_number(value: float) -> sp.Rational:
    """The rational number that a float is. Raises UsageError for what is not finite."""
    try:
        return sp.Rational(*float(value).as_integer_ratio())
    except (OverflowError, ValueError):
        raise UsageError(f"witness: {value} is not a finite number") from None


# A rational that no float is, as an input of a check.


def pair_of_rational(value: sp.Rational) -> list[float]:
    """Numerator and denominator, the input of a check that `rational_of_pair` reads. Exact below 2^53."""
    return [float(value.p), float(value.q)]


def rational_of_pair(call: str, name: str, pair: Tensor) -> sp.Rational:
    """The rational number of a numerator and a denominator, (2,).

    Raises UsageError, in the name of the call, for what is not a pair of whole numbers below 2^53, and for a
    denominator of 0.
    """
    whole = [int(v) if bool(v == v.round()) and abs(float(v)) < WHOLE else None for v in pair]
    if None in whole or whole[1] == 0:
        raise UsageError(f"{call}: {name} has to be two whole numbers, numerator and denominator (not 0)")
    return sp.Rational(*whole)


def point_words(point: Point) -> str:
    return ", ".join(f"{letter} = {_vector_words(values)}" for letter, values in point.items())


def _vector_words(values: tuple[sp.Rational, ...]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def _sides_in_words(claim: ExactClaim, point: Point, left: sp.Rational, right: sp.Rational) -> str:
    where = ", ".join(filter(None, [claim.setting, point_words(point)]))
    short = max(int(number.q).bit_length() for number in (left, right)) <= LONGEST_FRACTION
    words = (str(left), str(right)) if short else plain_apart(float(left), float(right))
    return f"at {where}: left side {words[0]}, right side {words[1]}, stated as left {claim.relation} right"
