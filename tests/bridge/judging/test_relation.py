"""The one judge of two numbers: against exact rationals, at both ends of a ball, and where an error counts as 0."""

import random
from fractions import Fraction
from itertools import product

import flint
import pytest

from bridge.judging.judge import EQUAL_BITS, equals, relation
from bridge.theorems.record import Verdict
from numeric.balls import working_precision
from symbolic.statements.result import Kind

KEPT, VIOLATED, UNDECIDED = Verdict.KEPT, Verdict.VIOLATED, Verdict.UNDECIDED


def ball(middle: Fraction, radius: Fraction = Fraction(0)) -> flint.arb:
    return flint.arb(flint.fmpq(middle.numerator, middle.denominator), float(radius))


def holds(kind: Kind, found: Fraction, bound: Fraction, strict: bool) -> bool:
    if kind is Kind.EXACT:
        return found == bound
    low, high = (found, bound) if kind is Kind.UPPER else (bound, found)
    return low < high if strict else low <= high


@pytest.mark.parametrize("kind", [Kind.UPPER, Kind.LOWER, Kind.EXACT])
@pytest.mark.parametrize("unit", [0, 1])
def test_a_verdict_is_that_of_every_pair_of_numbers_in_the_balls(kind: Kind, unit: int) -> None:
    rng = random.Random(7)
    for _ in range(20_000):
        numbers = [Fraction(rng.randint(-9, 9), 16) for _ in range(2)]
        radii = [Fraction(rng.choice([0, 0, 5, 11]), 100) for _ in range(2)]  # never as far as two numbers are apart
        strict = kind is not Kind.EXACT and rng.random() < 0.3
        found = relation(kind, *(ball(*pair) for pair in zip(numbers, radii, strict=True)), strict=strict, unit=unit)
        ends = product(*((x - r, x, x + r) for x, r in zip(numbers, radii, strict=True)))
        truths = {holds(kind, *pair, strict) for pair in ends}
        if kind is Kind.EXACT and sum(radii) > abs(numbers[0] - numbers[1]):
            truths = {True, False}
        expected = UNDECIDED if len(truths) == 2 else KEPT if truths == {True} else VIOLATED
        assert found is expected, (numbers, radii, strict)


def test_numbers_that_agree_to_sixty_bits_are_equal() -> None:
    with working_precision(200):
        agree_to_sixty_bits()


def agree_to_sixty_bits() -> None:
    third, width = Fraction(1, 3), Fraction(1, 2 ** (EQUAL_BITS + 1))
    assert equals(ball(third, width / 3), ball(third))
    assert not equals(ball(third, 3 * width), ball(third))
    assert not equals(ball(third), ball(third + Fraction(1, 10**30)))
    assert equals(ball(Fraction(10**6), width), ball(Fraction(10**6)))
    assert relation(Kind.UPPER, ball(third, width / 3), ball(third)) is KEPT
    assert relation(Kind.UPPER, ball(third, width / 3), ball(third), strict=True) is UNDECIDED
    assert relation(Kind.RATE, ball(third, width / 3), ball(third)) is Verdict.CONSISTENT
    assert relation(Kind.RATE, ball(third + 1), ball(third)) is UNDECIDED


@pytest.mark.parametrize(("unit", "verdict"), [(0, UNDECIDED), (1, KEPT)])
def test_beside_a_bound_of_0_an_error_below_the_last_place_of_its_outputs_is_0(unit: int, verdict: Verdict) -> None:
    nothing = flint.arb(0, 2.0**-70)
    for kind in (Kind.UPPER, Kind.EXACT):
        assert relation(kind, nothing, flint.arb(0), unit=unit) is (
            verdict if unit else relation(kind, nothing, flint.arb(0))
        )
        assert relation(kind, flint.arb(0, 2.0**-50), flint.arb(0), unit=unit) is UNDECIDED
    assert relation(Kind.UPPER, flint.arb(2.0**-70), flint.arb(0), unit=unit) is VIOLATED
    assert equals(nothing, flint.arb(0), unit) is bool(unit) or equals(nothing, flint.arb(0))


def test_an_estimate_decides_nothing_where_it_meets_the_bound() -> None:
    one = flint.arb(1)
    for strict in (False, True):
        estimate = {"strict": strict, "is_estimate": True}
        assert relation(Kind.UPPER, flint.arb(0.9, 0.05), one, **estimate) is KEPT
        assert relation(Kind.UPPER, flint.arb(1.1, 0.05), one, **estimate) is VIOLATED
        assert relation(Kind.UPPER, flint.arb(1.0), one, **estimate) is UNDECIDED
        assert relation(Kind.UPPER, flint.arb(0.9, 0.2), one, **estimate) is UNDECIDED
