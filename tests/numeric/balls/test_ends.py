"""Intervals with two ends: every value lies between them, and exact ends stay exact."""

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb, fmpq

from numeric.balls import Ends, working_precision

INTERVALS = [(Fraction(a, 4), Fraction(b, 4)) for a, b in itertools.combinations_with_replacement(range(-6, 7, 3), 2)]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "of a number": lambda a, b: 2 - 3 * a + 1 / (b * b + 1),
}


def ball(number: Fraction) -> Any:
    return arb(fmpq(number.numerator, number.denominator))


def holds(found: Ends, value: Any) -> bool:
    return not found.is_finite() or bool(found.low <= value and found.high >= value)


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_value_lies_between_the_ends(name: str) -> None:
    rng, function = random.Random(0), OPERATIONS[name]
    for (a, b), (c, d) in itertools.product(INTERVALS, repeat=2):
        found = function(Ends.around(a, b), Ends.around(c, d))
        for _ in range(4):
            x, y = a + (b - a) * Fraction(rng.randrange(5), 4), c + (d - c) * Fraction(rng.randrange(5), 4)
            if name != "quotient" or y:
                assert holds(found, ball(function(x, y)))


@pytest.mark.parametrize(
    ("p", "q"), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (-1, 1), (-2, 1), (1, 2), (3, 2), (-1, 3)]
)
def test_each_power_lies_between_the_ends(p: int, q: int) -> None:
    for a, b in INTERVALS:
        found = Ends.around(a, b).power(p, q)
        for k in range(5):
            x = a + (b - a) * Fraction(k, 4)
            if (q == 1 or x >= 0) and (p >= 0 or x != 0):
                with mpmath.workdps(40):
                    exact = mpmath.mpf(x.numerator) / x.denominator
                    value = mpmath.power(mpmath.root(exact, q) if q > 1 else exact, p)
                    assert not found.is_finite() or float(found.low) - 1e-15 <= value <= float(found.high) + 1e-15


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sinh", "cosh", "atan", "erf", "asinh", "sin", "cos", "gamma"])
def test_each_value_of_a_function_lies_between_the_ends(name: str) -> None:
    for a, b in INTERVALS:
        found = Ends.around(a, b).apply(name)
        for k in range(5):
            x = a + (b - a) * Fraction(k, 4)
            if found.is_finite():
                with mpmath.workdps(40):
                    value = getattr(mpmath, name)(mpmath.mpf(x.numerator) / x.denominator)
                    assert float(found.low) - 1e-15 <= value <= float(found.high) + 1e-15


def test_ends_stay_where_a_ball_loses_them() -> None:
    with working_precision(64):
        side = Ends.around(Fraction(1, 128), 1)
        product = side * side * side
        assert (product.low, product.high) == (arb(2) ** -21, 1)
        assert (abs(Ends.around(-2, 1)).low, Ends.around(-2, 1).power(2, 1).low) == (0, 0)
        assert Ends.around(0, 4).power(1, 2).high == 2
        assert Ends.around(0, 4).power(1, 2).low == 0


def test_what_is_undefined_has_no_ends() -> None:
    for found in (Ends.around(-1, 1).inverse(), Ends.around(-1, 1).power(1, 2)):
        assert not found.is_finite()
        assert not any((found >= 0, found <= 0, found > 0, found < 0))
    assert not Ends.around(0, 1).apply("log").is_finite()
    assert not (Ends.around(-1, 1).inverse() * Ends.around(0, 0)).is_finite()
    assert not Ends.around(0, 1).max(Ends.around(-1, 1).inverse()).is_finite()


def test_maxima_minima_and_unions_go_end_by_end() -> None:
    a, b = Ends.around(-1, 2), Ends.around(0, 1)
    assert [(e.low, e.high) for e in (a.max(b), a.min(b), a.union(b))] == [(0, 2), (-1, 1), (-1, 2)]
    assert a.ball.contains(2)
    assert a.ball.contains(-1)


def exactly(end: Any) -> Fraction:
    """The end, which is a number m 2^e."""
    m, e = end.man_exp()
    return Fraction(int(m)) * Fraction(2) ** int(e)


def test_each_end_is_rounded_outwards() -> None:
    with working_precision(24):
        for k in range(3, 40):
            part = Ends.around(Fraction(1, k), Fraction(1, k))
            wide = Ends.around(Fraction(-1, k), Fraction(1, k))
            assert exactly(part.low) <= Fraction(1, k) <= exactly(part.high)
            assert exactly((part * part).low) <= exactly(part.low) ** 2
            assert exactly((part * part).high) >= exactly(part.high) ** 2
            assert exactly((wide * part).high) >= exactly(wide.high) * exactly(part.high)
            assert exactly((wide * part).low) <= exactly(wide.low) * exactly(part.high)
            found = Ends.around(1, k).apply("log")
            with mpmath.workdps(60):
                assert mpmath.mpf(exactly(found.high).numerator) / exactly(found.high).denominator >= mpmath.log(k)


def test_a_relation_holds_for_all_numbers_of_the_interval() -> None:
    inside = Ends.around(-1, 1)
    assert not any((inside >= 0, inside > 0, inside <= 0, inside < 0))
    assert all((inside >= -1, inside > -2, inside <= 1, inside < 2))
    assert not any((inside > -1, inside < 1))
    assert not Ends.around(-1, 4).power(1, 2).is_finite()
    assert (Ends.around(-1, 2).apply("cosh").low, Ends.around(-1, 0).apply("cosh").low) == (1, 1)
