"""Comparison against integrated differential equations: equality, both directions, and constants too small by 0.001."""

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.provenance import Provenance
from symbolic.dynamics import Flow, LinearComparison, Passage, decayed, held_back, past_saddle

t, s = sp.symbols("t s", nonnegative=True)
x, y = sp.symbols("x y", real=True)
start, source = sp.symbols("u0 b", real=True)
RATES = (sp.Rational(-3, 2), sp.Integer(0), sp.Rational(2, 3))
TOO_SMALL = 0.999
ACCURATE = {"rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}


def comparison(start: object, rate: object, source: object, *more: object) -> LinearComparison:
    return LinearComparison(*map(sp.sympify, (start, rate, source)), *more)


def run(speed: Callable[[float, float], float], begin: float, end: float) -> float:
    return float(solve_ivp(lambda now, u: [speed(now, u[0])], (0.0, end), [begin], **ACCURATE).y[0, -1])


def arrival(speed: Callable[[float, float], float], begin: float, level: float) -> float:
    """When the solution crosses the level."""

    def crossed(_: float, u: np.ndarray) -> float:
        return float(u[0] - level)

    crossed.terminal = True  # type: ignore[attr-defined]
    return float(solve_ivp(lambda now, u: [speed(now, u[0])], (0.0, 100.0), [begin], events=crossed, **ACCURATE).t[-1])


@pytest.mark.parametrize("rate", [*RATES, sp.Symbol("a", positive=True), sp.Symbol("a", negative=True)], ids=repr)
@pytest.mark.parametrize("forced", [source, source * sp.exp(-s), 1 + source * s], ids=str)
def test_the_comparison_solves_its_equation(rate: sp.Expr, forced: sp.Expr) -> None:
    found = comparison(start, rate, forced, s).after(t)
    left = sp.diff(found, t) - rate * found - forced.subs(s, t)
    for at in {rate} if rate.is_Rational else {1, 2} if rate.is_positive else {-1, -2}:  # -1 resonates with e^-s
        assert sp.simplify(left.subs(rate, at)) == 0
    assert sp.simplify(found.subs(t, 0) - start) == 0


def test_a_rate_of_unknown_sign_covers_zero() -> None:
    a = sp.Symbol("a", real=True)
    compared = comparison(start, a, source)
    assert compared.after(t).subs(a, 0) == start + source * t
    assert compared.passage(x).time.subs(a, 0) == (x - start) / source
    for at in (sp.Rational(-1, 3), sp.Integer(2)):
        known = comparison(start, at, source)
        assert sp.simplify(compared.after(t).subs(a, at) - known.after(t)) == 0
        assert sp.simplify(sp.diff(compared.passage(x).time.subs(a, at) - known.passage(x).time, x)) == 0


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_groenwall_bounds_from_both_sides_and_no_smaller_constant_does(rate: sp.Rational) -> None:
    a, b = float(rate), 0.7
    bound = float(comparison(1, rate, sp.Rational(7, 10)).after(3))
    equal = run(lambda _, u: a * u + b, 1.0, 3.0)
    assert bound == pytest.approx(equal, rel=1e-9)
    assert equal > TOO_SMALL * bound
    assert run(lambda now, u: a * u + b - 0.3 * np.cos(now) ** 2, 1.0, 3.0) < bound
    assert run(lambda now, u: a * u + b + 0.3 * np.cos(now) ** 2, 1.0, 3.0) > bound


@pytest.mark.parametrize(("rate", "begin", "level"), [(-1, 0, 1), (0, 1, 3), (2, 1, 4), (-1, 5, 3), (1, -4, -9)])
def test_a_passage_is_a_time_from_both_sides_and_no_smaller_one(rate: int, begin: int, level: int) -> None:
    found = comparison(begin, rate, sp.Rational(3, 2)).passage(level)
    assert found.condition == sp.true
    exact = arrival(lambda _, u: rate * u + 1.5, begin, level)
    assert float(found.time) == pytest.approx(exact, rel=1e-9)
    assert exact > TOO_SMALL * float(found.time)
    towards = np.sign(level - begin)
    faster = arrival(lambda _, u: rate * u + 1.5 + 0.1 * towards, begin, level)
    slower = arrival(lambda _, u: rate * u + 1.5 - 0.1 * towards, begin, level)
    assert faster < float(found.time) < slower


@pytest.mark.parametrize(
    ("rate", "begin", "level"),
    [(-1, 0, 2), (-1, 0, sp.Rational(3, 2)), (0, 1, 0), (1, 0, -1), (1, -4, 0)],
    ids=["beyond the rest", "the rest", "behind, at a constant speed", "behind", "past the source"],
)
def test_what_is_never_reached_has_no_passage(rate: int, begin: int, level: sp.Expr) -> None:
    with pytest.raises(DerivationError, match="never reaches"):
        comparison(begin, rate, sp.Rational(3, 2)).passage(level)


def test_a_passage_says_under_which_condition_it_holds() -> None:
    found = comparison(start, sp.Integer(-1), source).passage(1)
    at = {start: sp.Rational(1, 2), source: sp.Integer(2)}
    assert found.condition.subs(at) == sp.true
    assert found.condition.subs({**at, source: sp.Rational(3, 4)}) == sp.false  # rests below 1
    assert found.condition.subs({**at, start: sp.Rational(3, 2)}) == sp.false  # starts above 1 and rises


def test_the_lag_is_the_area_between_a_solution_and_its_rest() -> None:
    compared = comparison(sp.Rational(1, 3), sp.Rational(-5, 2), sp.Integer(4))
    assert compared.lag() == sp.integrate(compared.rest - compared.after(t), (t, 0, sp.oo))
    with pytest.raises(DerivationError, match="no limit"):
        comparison(1, sp.Symbol("a", real=True), 1).lag()


@pytest.mark.parametrize("bend", [sp.Rational(-1, 4), sp.Rational(1, 3)], ids=str)
@pytest.mark.parametrize("power", [1, 2])
def test_the_way_past_a_saddle_is_bounded_from_both_sides(bend: sp.Rational, power: int) -> None:
    begin, end, rate = 1e-6, 1.2, 0.8
    found = float(past_saddle(sp.Rational(1, 10**6), 1.2, rate=0.8, bend=bend, power=power).time)
    c = float(bend)
    exact = arrival(lambda _, z: z * (rate + c * z**power), begin, end)
    assert found == pytest.approx(exact, rel=1e-8)
    assert exact > TOO_SMALL * found
    plain = float(past_saddle(sp.Rational(1, 10**6), 1.2, rate=0.8).time)
    assert (found < plain) == (c > 0)
    # A direction that bends by no more than this, whatever it does in between.
    within = arrival(lambda now, z: z * (rate + abs(c) * np.sin(now) * z**power), begin, end)
    low, high = (float(past_saddle(begin, end, rate=rate, bend=b, power=power).time) for b in (abs(bend), -abs(bend)))
    assert low < within < high


def test_a_linear_saddle_takes_the_logarithm_over_the_rate() -> None:
    x_0, x_1, rate = sp.symbols("x_0 x_1 lambda", positive=True)
    assert past_saddle(x_0, x_1, rate=rate) == Passage(sp.log(x_1 / x_0) / rate, x_1 >= x_0)
    for wrong in ({"rate": 0}, {"rate": -1}, {"rate": 1, "power": 0}):
        with pytest.raises(DerivationError, match="give it > 0"):
            past_saddle(x_0, x_1, **wrong)
    with pytest.raises(DerivationError, match="the start is 0"):
        past_saddle(0, x_1, rate=rate)


def test_a_growth_that_sets_in_late_is_held_back_by_its_lag() -> None:
    """x' = rate (1 - e^-t) x: the lag is 1 in the end, and 1 - e^-T at T."""
    linear = past_saddle(sp.Rational(1, 1000), 1, rate=2)
    exact = arrival(lambda now, z: 2 * (1 - np.exp(-now)) * z, 1e-3, 1.0)
    assert float(linear.time) < exact < float(held_back(linear, 1).time)
    assert exact == pytest.approx(float(held_back(linear, 1 - np.exp(-exact)).time), rel=1e-9)
    assert exact > TOO_SMALL * float(held_back(linear, 1 - np.exp(-exact)).time)


@pytest.mark.parametrize("power", [1, 2, 3, sp.Rational(3, 2)], ids=str)
def test_a_power_decays_as_it_says_and_no_faster(power: sp.Expr) -> None:
    k, bound = float(power), float(decayed(2, sp.Rational(1, 2), power, 4))
    exact = run(lambda _, u: -0.5 * u**k, 2.0, 4.0)
    assert bound == pytest.approx(exact, rel=1e-9)
    assert exact > TOO_SMALL * bound
    assert run(lambda now, u: -(0.5 + 0.2 * np.sin(now) ** 2) * u**k, 2.0, 4.0) < bound


def test_a_power_above_one_forgets_its_start() -> None:
    c = sp.Symbol("c", positive=True)
    assert sp.simplify(decayed(sp.oo, c, 3, t) ** 2 - 1 / (2 * c * t)) == 0
    assert decayed(10**9, 1, 2, 1) < decayed(sp.oo, 1, 2, 1) == 1
    for begin, power in ((sp.oo, 1), (1, sp.Rational(1, 2))):
        with pytest.raises(DerivationError, match="gives no bound"):
            decayed(begin, c, power, t)


def test_a_coordinate_of_a_flow_is_compared_with_itself() -> None:
    flow = Flow((x, y), (2 - 3 * x, x - y))
    found = LinearComparison.along(flow, x, 1)
    assert (found.rate, found.source, found.start) == (-3, 2, 1)
    assert found.provenance is Provenance.ALGEBRA
    with pytest.raises(DerivationError, match="depends on x"):
        LinearComparison.along(flow, y, 1)
    with pytest.raises(DerivationError, match="not affine in x"):
        LinearComparison.along(Flow((x,), (x - x**2,)), x, 1)


def test_an_inequality_that_is_stated_is_by_hand() -> None:
    assert comparison(1, 1, 1).provenance is Provenance.HAND
    assert comparison(1, 1, 1, None, Provenance.RULES).provenance is Provenance.RULES


def test_a_time_in_the_wrong_place_is_refused() -> None:
    with pytest.raises(DerivationError, match="may not depend on the time"):
        comparison(1, s, 1, s)
    with pytest.raises(DerivationError, match="depends on the time"):
        comparison(1, 1, s, s).passage(2)
    with pytest.raises(DerivationError, match="before the start nothing is known"):
        comparison(1, 1, 1).after(-1)
    with pytest.raises(DerivationError, match="no value is at rest"):
        _ = comparison(1, 0, 1).rest
