"""Rows of printed statements that an exact point refutes, and the replay of their witnesses."""

from typing import Any

import flint
import sympy as sp
from torch import Tensor

from bridge.check import Sides
from bridge.export.numbers import digits_apart, plain
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs
from numeric.balls import float_below
from symbolic.induction.claims import Claim, Point
from symbolic.statements import Quantity, UsageError

LONGEST_FRACTION = 40  # bits of a denominator that is printed as it is
PREFIX = "erratum."  # a witness names the check so: its inputs are those of the claim, and of no network


def claim_row(case: DirectCase, claim: Claim, point: Point | None = None, **more: Any) -> Row:
    """The row of the claim's quantity, judged at `point`, or at the first point of the claim's grid that refutes it."""
    quantity = case.result.quantity(claim.name)
    at = claim.refutation() if point is None else point
    verdict, found, witness = Verdict.UNDECIDED, "no small rationals refute it", None
    if at is not None:
        left, right = claim.sides(at)
        holds, found = claim.holds(at), _sides(claim, at, left, right)
        verdict = Verdict.KEPT if holds else Verdict.VIOLATED
        witness = None if holds else _witness(case, quantity, at, left, right)
    verdicts = {"printed": verdict, **more.pop("verdict", {})}
    remark = "; ".join(filter(None, [more.pop("remark", ""), found]))
    return direct_row(case, quantity, verdicts, remark=remark, witness=witness, **more)


def replayed_claim(case: DirectCase, claims: dict[str, Claim], name: str, inputs: Inputs) -> Row:
    """The row of one claim again, at the witness's numbers, by exact arithmetic.

    Raises UsageError for a name without a claim, and for numbers that miss the claim's premises.
    """
    claim = claims.get(name.removeprefix(PREFIX))
    if claim is None:
        raise UsageError(
            f"{case.result.id} has no check '{name}'. It has: {', '.join(PREFIX + each for each in claims)}"
        )
    missing = sorted(set(claim.grid) ^ set(inputs))
    if missing:
        raise UsageError(f"{case.result.id}: '{name}' takes the numbers {', '.join(claim.grid)}; {_differ(missing)}")
    point = {letter: tuple(map(exact_number, values.flatten().tolist())) for letter, values in inputs.items()}
    _check_lengths(case, claim, name, point)
    wrong = claim.premises(point)
    if wrong:
        raise UsageError(f"{case.result.id}: '{name}' is not judged at these numbers: {'; '.join(wrong)}")
    return claim_row(case, claim, point)


def refuting_point(claim: Claim) -> dict[str, list[float]]:
    """The inputs of the claim's check: the first point of its grid that refutes it, else the first of all."""
    point = claim.refutation() or next(claim.points())
    return {letter: [float(value) for value in values] for letter, values in point.items()}


def sides_of_claim(claim: Claim, **letters: Tensor) -> Sides:
    """The two sides of the claim at these numbers, exactly. Raises UsageError for numbers that miss its premises."""
    point = {letter: tuple(map(exact_number, values.flatten().tolist())) for letter, values in letters.items()}
    wrong = claim.premises(point)
    if wrong:
        raise UsageError(f"'{claim.name}' is not judged at {point_words(point)}: {'; '.join(wrong)}")
    left, right = claim.sides(point)
    return Sides(left, printed=right, remark=_sides(claim, point, left, right))


def _differ(missing: list[str]) -> str:
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing or not used"


def _check_lengths(case: DirectCase, claim: Claim, name: str, point: Point) -> None:
    wrong = [letter for letter, values in point.items() if len(values) not in {len(v) for v in claim.grid[letter]}]
    if wrong:
        raise UsageError(f"{case.result.id}: '{name}' does not take as many values of {', '.join(wrong)} as came")


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


def _sides(claim: Claim, point: Point, left: sp.Rational, right: sp.Rational) -> str:
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


def _witness(case: DirectCase, quantity: Quantity, point: Point, left: sp.Rational, right: sp.Rational) -> Witness:
    gap = abs(left - right)
    return Witness(
        result=case.result.id,
        quantity=PREFIX + quantity.name,
        params=case.full_params,
        inputs={letter: [float(v) for v in values] for letter, values in point.items()},
        error_lower=float_below(flint.arb(flint.fmpq(int(gap.p), int(gap.q)))),
        bounds={"left": float(left), "right": float(right)},
    )
