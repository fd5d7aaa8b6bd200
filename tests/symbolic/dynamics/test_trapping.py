"""Strips that a flow does not leave, and some that it does; signs with roots against many points."""

import itertools

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Flow, Strip, sign_with_roots

x, y = sp.symbols("x y", positive=True)
a, b, c = sp.symbols("a b c", positive=True)
ZERO, ONE, TWO = map(sp.Integer, (0, 1, 2))
BETWEEN = {x: a / (1 + a)}  # 0 < x < 1
# x = 0 is invariant, and (1, 1), where the walls y = 1 and y = 3 - 2 x meet, is at rest; x = 1 is not invariant.
FLOW = Flow((x, y), (x * (y - x) / 8, (2 - x) - y))


def strip(low: sp.Expr = ONE, high: sp.Expr = 3 - 2 * x, flow: Flow = FLOW, end: sp.Expr = ONE) -> Strip:
    return Strip(flow, x, (ZERO, end), y, low, high, BETWEEN)


def test_orbits_from_inside_stay_inside_and_follow_the_trend() -> None:
    trapped = strip()
    assert trapped.trend(x) == trapped.trend(x**2) == -trapped.trend(1 / x) == 1
    high, speed = (sp.lambdify(symbols, form) for symbols, form in ((x, trapped.high), ((x, y), FLOW.field)))
    for start, share in itertools.product((0.01, 0.5, 0.95), (0.02, 0.5, 0.98)):
        begin = [start, 1 + share * (high(start) - 1)]
        path = solve_ivp(lambda _, at: list(speed(*at)), (0, 30), begin, rtol=1e-9, atol=1e-11).y
        assert np.all(np.diff(path[0]) > 0)
        inside = path[:, path[0] < 1 - 1e-6]
        assert np.all((inside[1] > 1) & (inside[1] < high(inside[0])))


@pytest.mark.parametrize(
    ("low", "high", "wall"),
    [
        (TWO, 3 + x, "y = 2"),
        (ONE, TWO - x, "y = 2 - x"),
    ],
)
def test_a_wall_that_the_flow_crosses_is_named(low: sp.Expr, high: sp.Expr, wall: str) -> None:
    with pytest.raises(DerivationError, match=f"leaves it through {wall}"):
        strip(low, high)


def test_an_end_that_is_neither_invariant_nor_at_rest_is_named() -> None:
    with pytest.raises(DerivationError, match="may leave it at x = 1/2"):
        Strip(FLOW, x, (ZERO, ONE / 2), y, ONE, 3 - 2 * x, {x: a / (2 * (1 + a))})
    with pytest.raises(DerivationError, match="may leave it at x = 1"):
        strip(high=3 - x)


def test_a_wall_along_which_the_flow_runs_is_not_taken_for_one_that_it_enters() -> None:
    """y' = 0 on y = 1: the strip is invariant, but the sign does not show it."""
    with pytest.raises(DerivationError, match="leaves it through y = 1"):
        strip(flow=Flow((x, y), (x * (1 - x), 1 - y)))


def test_a_trend_of_no_sign_is_refused() -> None:
    with pytest.raises(DerivationError, match="not shown"):
        strip().trend(y)


def test_a_strip_needs_its_coordinates() -> None:
    with pytest.raises(DerivationError, match="the flow has the state"):
        Strip(FLOW, x, (ZERO, ONE), c, ONE, TWO, BETWEEN)


ROOTS = [
    (sp.sqrt(1 + 2 * a) - sp.sqrt(1 + a), 1),
    ((1 + a) ** sp.Rational(-3, 2) - (1 + a + b) ** sp.Rational(-3, 2), 1),
    (a / sp.sqrt(1 + a**2) - 1, -1),
    (sp.sqrt(a) * (sp.sqrt(b) + sp.sqrt(a)) - a, 1),
    (-sp.sqrt(a + b) - sp.sqrt(b), -1),
    (sp.sqrt(a) * b - sp.sqrt(a * b**2), 0),
]


@pytest.mark.parametrize(("expression", "sign"), ROOTS, ids=lambda each: str(each))
def test_a_sign_with_roots_is_that_at_every_point(expression: sp.Expr, sign: int) -> None:
    assert sign_with_roots(expression, {}) == sign
    for at in itertools.product((0.01, 1.0, 50.0), repeat=2):
        assert np.sign(round(float(expression.subs(dict(zip((a, b), at, strict=True)))), 12)) == sign


@pytest.mark.parametrize(
    "expression", [sp.sqrt(a) - sp.sqrt(b), sp.sqrt(a) - 1, sp.sqrt(1 + a) - sp.sqrt(a) - sp.sqrt(b)]
)
def test_a_sign_that_changes_is_refused(expression: sp.Expr) -> None:
    with pytest.raises(DerivationError, match="not shown"):
        sign_with_roots(expression, {})


def test_a_root_of_what_may_be_negative_is_refused() -> None:
    with pytest.raises(DerivationError, match="not shown"):
        sign_with_roots(1 + sp.sqrt(1 - a), {})
