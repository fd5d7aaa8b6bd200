"""Newton's iteration by two heads: the derivation at numbers, its depth, what sets the floor."""

import math
from collections.abc import Mapping

import pytest
import sympy as sp

from symbolic.calculus import accumulate, given
from symbolic.calculus.heads import Second
from symbolic.topics.looped import newton_derivation as theory
from symbolic.topics.looped import newton_floor as floors
from symbolic.topics.looped.newton import KNOWN, SECONDS, largest_error

AT = {
    theory.N: 8,
    theory.d: 3,
    theory.T: 6,
    theory.alpha: 1,
    theory.C: 40,
    theory.kappa: 4,
    theory.B: 1,
    theory.tau: 32,
}
IDS = [str(second) for second in SECONDS]


def numbers(second: Second, at: Mapping[sp.Symbol, float]) -> dict[sp.Symbol, sp.Expr]:
    """Of all letters, at the worst case."""
    known = {letter: sp.sympify(value) for letter, value in {**AT, **at}.items()}
    worst = {**KNOWN, theory.E: largest_error(second)}
    return {**known, **{letter: sp.N(value.xreplace(known), 40) for letter, value in worst.items()}}


def number(formula: sp.Expr, second: Second, at: Mapping[sp.Symbol, float]) -> float:
    return float(sp.N(formula.xreplace(numbers(second, at)), 30))


def state(second: Second, at: Mapping[sp.Symbol, float]) -> float:
    return number(theory.derive_state(second).error, second, at)


@pytest.mark.parametrize(("second", "order"), [*zip(SECONDS, (1, 2), strict=True)], ids=IDS)
def test_the_order_in_c(second: Second, order: int) -> None:
    fine = {theory.C: 90}  # no leak
    ratio = state(second, {theory.c: 2e-6, **fine}) / state(second, {theory.c: 1e-6, **fine})
    assert ratio == pytest.approx(2**order, rel=1e-3)


# By hand for c -> 0: sqrt(d) times c/2 (c^2/6), of TF_pre times kappa^(3/2), and of each loop times sqrt(kappa).
@pytest.mark.parametrize(("second", "leading"), [*zip(SECONDS, (0.5, 1 / 6), strict=True)], ids=IDS)
@pytest.mark.parametrize("kappa", [1.0, 9.0])
def test_the_leading_term_of_a_state_that_has_converged(second: Second, leading: float, kappa: float) -> None:
    c, T = 1e-7, 12
    found = state(second, {theory.c: c, theory.C: 120, theory.kappa: kappa, theory.T: T})
    expected = leading * c ** floors.order(second) * math.sqrt(3) * (kappa**1.5 + T * kappa**0.5)
    assert found == pytest.approx(expected, rel=1e-2)


def test_beyond_alpha_1_the_first_loop_costs_a_factor() -> None:
    at = {theory.c: 1e-7, theory.C: 120, theory.kappa: 1, theory.T: 6}
    one, more = (state(Second.CONSTANT, {**at, theory.alpha: alpha}) for alpha in (1, sp.Rational(3, 2)))
    # gamma = 3; scores of loops are up to 3/2: their second order counts (3/2)^2
    assert more / one == pytest.approx(3 * (1 + 6 * 1.5**2) / 7, rel=1e-2)


def test_early_loops_have_small_states() -> None:
    at = {theory.c: 1e-7, theory.kappa: 472}
    first, last = (state(Second.CONSTANT, {**at, theory.T: T}) for T in (1, 30))
    assert 1e3 < last / first < 1e4


@pytest.mark.parametrize("second", SECONDS, ids=IDS)
def test_the_ceiling_holds_and_is_needed(second: Second) -> None:
    (held,) = {o.condition for o in theory.derive_state(second).derivation.obligations if o.open}
    for c, holds in ((1e-6, True), (0.5, False)):
        sides = (number(side, second, {theory.c: c}) for side in (held.lhs, held.rhs))
        assert (next(sides) <= next(sides)) is holds


# What sets the floor.


@pytest.mark.parametrize("second", SECONDS, ids=IDS)
def test_the_best_c_is_a_minimum(second: Second) -> None:
    at = {**AT, floors.unit: 2.0**-53, theory.T: 30, theory.kappa: 472}
    best = float(floors.in_condition(floors.best_c(second), second).subs(at))
    floor = floors.in_condition(floors.floor(second), second)
    around = [float(floor.subs({**at, theory.c: best * factor})) for factor in (0.9, 1.0, 1.1)]
    assert around[1] == min(around)


@pytest.mark.parametrize("second", SECONDS, ids=IDS)
def test_the_floor_grows_with_the_condition_as_stated(second: Second) -> None:
    """Truncation as kappa, rounding as kappa^(3/2), for large kappa."""
    at = {**AT, floors.unit: 2.0**-53, theory.c: 1e-5}
    for part, power in ((floors.truncation(second), 1), (floors.rounding(second), 1.5)):
        in_condition = floors.in_condition(part, second)
        large, larger = (float(in_condition.subs({**at, theory.kappa: kappa})) for kappa in (1e8, 1e10))
        assert math.log(larger / large, 100) == pytest.approx(power, abs=0.01)


def test_enough_C_leaves_a_unit_to_the_sink() -> None:
    C = int(floors.enough_C().subs({theory.N: 8, floors.unit: 2.0**-53}))
    assert 17 * math.exp(-C) <= 2.0**-53 < 17 * math.exp(1 - C)


# The rules.


def test_products_of_squares_telescope() -> None:
    l, r = sp.Symbol("l", integer=True, nonnegative=True), sp.Symbol("r", positive=True)  # noqa: E741 - a letter
    n = sp.Symbol("n", integer=True, positive=True)
    found = accumulate(
        given("x", dim=1, size=1, error=1), "y", factor=1 + r ** (2**l), offset=0, index=l, depth=n, size=1
    )
    assert not found.error.has(sp.Product, sp.Sum)
    for ratio in (sp.Rational(1, 3), sp.Integer(1)):
        assert found.error.subs({r: ratio, n: 5}) == sp.prod([1 + ratio ** (2**k) for k in range(5)])


def test_a_floor_of_additive_errors_is_at_most_as_stated() -> None:
    """b (T + 1/(1 - rho)), by 1/(1 - rho^m) <= 1 + 1/(m (1 - rho))."""
    l = sp.Symbol("l", integer=True, nonnegative=True)  # noqa: E741 - a letter
    rho = sp.Float(0.999, 40)
    found = accumulate(given("x", dim=1, size=1), "y", factor=1 + rho ** (2**l), offset=1, index=l, depth=20, size=1)
    assert 20 + 500 < float(found.error.doit()) <= 20 + 1000
