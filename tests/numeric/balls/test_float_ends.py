"""Arrays of intervals with float ends: what is computed from points of the intervals lies between the ends."""

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.balls import FloatEnds, working_precision

GRID = [0.0, 0.1, 1 / 3, 1.0, 7.3, 1e-9, 3e7]
NUMBERS = sorted({sign * x for x in GRID for sign in (1, -1)})
PAIRS = list(itertools.combinations_with_replacement(NUMBERS, 2))
X = FloatEnds(*map(np.array, zip(*PAIRS, strict=True)))
POINTS = [(a, a + (b - a) / 3, b) for a, b in PAIRS]


def lie_between(found: FloatEnds, of: Callable[[Fraction], Any], defined: Callable[[float], bool]) -> None:
    known = 0
    for low, high, points in zip(found.low, found.high, POINTS, strict=True):
        if np.isfinite(low) and np.isfinite(high):
            known += 1
            for x in filter(defined, points):
                value = of(Fraction(x))
                assert low <= value <= high
    assert known > 20


@pytest.mark.parametrize("other", [(0.1, 0.7), (-2.3, -1 / 3), (-0.1, 5.7), (0.0, 0.0)])
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_sums_products_and_quotients_lie_between_the_ends(operation: Any, other: tuple[float, float]) -> None:
    if operation is operator.truediv and other[0] <= 0 <= other[1]:
        with np.errstate(all="ignore"):
            assert np.isnan((X / FloatEnds(*map(np.float64, other))).low).all()
        return
    for y in other:
        lie_between(operation(X, FloatEnds(*map(np.float64, other))), lambda x, y=y: operation(x, Fraction(y)), bool)


def test_numbers_and_balls_are_taken_as_they_are() -> None:
    with working_precision(64), np.errstate(all="ignore"):
        third = arb(1) / 3
        lie_between(2 - third * X + 1, lambda x: 3 - x / 3, bool)
        lie_between(1 / (1 + X * X), lambda x: 1 / (1 + x * x), bool)
        lie_between((-X).max(X).min(abs(X)), abs, bool)


@pytest.mark.parametrize(("p", "q"), [(0, 1), (1, 1), (2, 1), (3, 1), (6, 1), (7, 1), (-1, 1), (-2, 1), (1, 2), (5, 3)])
def test_powers_lie_between_the_ends(p: int, q: int) -> None:
    def of(x: Fraction) -> Any:
        with mpmath.workdps(60):
            exact = mpmath.mpf(x.numerator) / x.denominator
            return x**p if q == 1 else mpmath.power(mpmath.root(exact, q), p)

    with np.errstate(all="ignore"):
        lie_between(X.power(p, q), of, lambda x: (q == 1 or x >= 0) and (p >= 0 or x != 0))
        assert q == 1 or np.isnan(X.power(p, q).low[X.low < 0]).all()


@pytest.mark.parametrize("q", [3, 5, 7])
def test_roots_of_extreme_numbers_lie_between_the_ends(q: int) -> None:
    """The exponent 1/q is a rounded one, which shows where |log x| is large."""
    numbers = np.array([5e-324, 1e-300, 1.5, 1e300, np.finfo(float).max])
    found = FloatEnds(numbers, numbers).power(1, q)
    for x, low, high in zip(numbers, found.low, found.high, strict=True):
        assert Fraction(low) ** q < Fraction(x) < Fraction(high) ** q < Fraction(x) * (1 + Fraction(1, 2**39))


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sinh", "cosh", "atan", "asinh"])
def test_functions_lie_between_the_ends(name: str) -> None:
    def of(x: Fraction) -> Any:
        with mpmath.workdps(60):
            return getattr(mpmath, name)(mpmath.mpf(x.numerator) / x.denominator)

    with np.errstate(all="ignore"):
        lie_between(X.apply(name), of, lambda x: abs(x) < 700 and (name != "log" or x > 0))


def test_what_is_not_known_is_nan() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan([X.apply("gamma").low, X.apply("sin").high]).all()
        assert np.isnan(X.inverse().low[(X.low <= 0) & (X.high >= 0)]).all()
        assert np.isnan((X.apply("sin") * 0 + 1).low).all()


def test_steps_are_open_where_the_interval_holds_0() -> None:
    for below in (0, -1):
        found = X.step(below, 1)
        assert (found.low == np.where(X.low > 0, 1, below)).all()
        assert (found.high == np.where(X.high < 0, below, 1)).all()
