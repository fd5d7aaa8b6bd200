"""The best c and C of two heads beside a sink: no scan finds better ones, and errors are of the order u^(p/(p+1))."""

import math
from collections.abc import Callable

import pytest
import sympy as sp

from symbolic.calculus import DerivationError
from symbolic.calculus.head_knobs import HeadPair

KINDS = ("constant", "opposite")
SIZES = [(1, 1.0), (441, 0.3), (10**4, 5.0)]


def pair(second: str, keys: int = 4, size: float = 1.0, bits: int = 53, inner: int | None = None) -> HeadPair:
    unit, sums = (sp.Rational(1, 2**each) for each in (bits, inner or bits))
    return HeadPair.of(second, keys=keys, size=sp.Rational(size), width=3, unit=unit, inner=sums)


def error_of(of: HeadPair) -> Callable[[float, float], float]:
    c, C = sp.symbols("c C", positive=True)
    return sp.lambdify((c, C), of.error(c, C), "math")


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize(("keys", "size"), SIZES)
@pytest.mark.parametrize("bits", [53, 24])
def test_no_scan_finds_a_pair_better_by_a_tenth(second: str, keys: int, size: float, bits: int) -> None:
    of = pair(second, keys, size, bits)
    c, C = (float(knob.evalf()) for knob in (of.best.c, of.best.C))
    error = error_of(of)
    scanned = min(error(c * 2 ** (i / 8), C + j / 4) for i in range(-16, 17) for j in range(-16, 17))
    assert error(c, C) == pytest.approx(float(of.best.error.evalf()), rel=0.05)
    assert scanned >= 0.9 * error(c, C)


@pytest.mark.parametrize("second", KINDS)
def test_the_best_pair_is_stationary(second: str) -> None:
    c, C = sp.symbols("c C", positive=True)
    of = pair(second)
    p, k = of.leading
    formula = k * c**p + 2 * sp.exp(-C) * of.keys * of.size + of.inner * (of.standing + C) / c
    for knob, unit in ((c, of.best.c), (C, 1)):
        slope = sp.diff(formula, knob).subs({c: of.best.c, C: of.best.C}) * unit / of.best.error
        assert abs(slope.evalf(30)) < 1e-20


@pytest.mark.parametrize(("second", "order"), [("constant", 1), ("opposite", 2)])
def test_theleading_order_is_that_of_the_truncation(second: str, order: int) -> None:
    of = pair(second, size=0.7)
    p, k = of.leading
    assert p == order
    assert float(of.truncation(sp.Float(1e-4), 60) / sp.Float(1e-4) ** p / k) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize(("second", "power"), [("constant", 1 / 2), ("opposite", 2 / 3)])
def test_the_best_error_follows_the_unit(second: str, power: float) -> None:
    errors = [float(pair(second, bits=bits).best.error.evalf()) for bits in (100, 200)]
    slope = -math.log2(errors[1] / errors[0]) / 100
    assert slope == pytest.approx(power, abs=0.02)  # up to the growth of C


def test_half_formats_round_what_they_store_and_add_up_more_finely() -> None:
    coarse, mixed, fine = (pair("constant", bits=bits, inner=inner) for bits, inner in ((8, 8), (8, 24), (24, 24)))
    errors = [float(each.rounding(sp.Rational(1, 10), 8).evalf()) for each in (coarse, mixed, fine)]
    assert errors[0] > 3 * errors[1] > 1000 * errors[2]


def test_one_head_is_no_pair() -> None:
    with pytest.raises(DerivationError, match="leaves its weights about 1; give 'constant' or 'opposite'"):
        pair("none")


@pytest.mark.parametrize("second", KINDS)
def test_the_best_pair_stands_in_letters(second: str) -> None:
    n, K = sp.symbols("n K", integer=True, positive=True)
    X, u = sp.symbols("X u", positive=True)
    letters = HeadPair.of(second, keys=n, size=X, width=K, unit=u).best
    numbers = pair(second, keys=7, size=0.5).best
    at = {n: 7, X: sp.Rational(1, 2), u: sp.Rational(1, 2**53)}
    assert float(letters.c.subs(at).evalf()) == pytest.approx(float(numbers.c.evalf()), rel=1e-12)
    assert float(letters.C.subs(at).evalf()) == pytest.approx(float(numbers.C.evalf()), rel=1e-12)
