"""The inclusion property of the Arb backend: every point of the input balls has its value in the output ball."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from flint import arb, arb_mat, ctx

from bridge.lowering import lower
from tests.bridge.lowering.lowering_cases import CASES, MATRIX_CASES, A, Case, x, y
from tests.bridge.lowering.test_lowering_values import encloses, exactly

BALLS_A_CASE = 60


def random_ball(rng: np.random.Generator, ends: tuple[float, float]) -> arb:
    """A ball with its middle in the interval; small, wide or poking out of it."""
    radius = float(rng.choice([1e-9, 1e-2, 0.3, 2.0])) * float(rng.uniform())
    return arb(float(rng.uniform(*ends)), radius)


def points_of(rng: np.random.Generator, ball: arb) -> list[object]:
    """Both ends and three points between, exact."""
    low, high = (exactly(ball.mid()) + sign * exactly(ball.rad()) for sign in (-1, 1))
    return [low, high, *(low + (high - low) * mp.mpf(float(t)) for t in rng.uniform(size=3))]


def real_value(case: Case, point: dict[str, object]) -> object | None:
    """None where the function is not defined."""
    try:
        with mp.workdps(60):
            value = case.reference(**point)
    except (ZeroDivisionError, ValueError):
        return None
    return value if isinstance(value, mp.mpf) and mp.isfinite(value) else None


@pytest.mark.parametrize("case", [case for case in CASES if case.digits <= 100], ids=str)
def test_values_at_points_of_a_wide_ball_are_enclosed(case: Case) -> None:
    rng = np.random.default_rng(11)
    function = lower(case.expr, "arb", bits=80)
    informative = 0
    for _ in range(BALLS_A_CASE):
        balls = {name: random_ball(rng, ends) for name, ends in case.domain.items()}
        whole = {name: int(rng.integers(low, high + 1)) for name, (low, high) in case.whole.items()}
        result = function(**balls, **whole)
        if result.is_nan():
            continue
        informative += result.is_finite()
        with mp.workdps(60):
            for values in zip(*(points_of(rng, ball) for ball in balls.values()), strict=True):
                point = dict(zip(balls, values, strict=True)) | {name: mp.mpf(value) for name, value in whole.items()}
                exact = real_value(case, point)
                assert exact is None or encloses(result, exact), (balls, whole, point)
    assert informative >= BALLS_A_CASE // 5


@pytest.mark.parametrize("case", [case for case in MATRIX_CASES if not case.whole and case.name != "inverse"], ids=str)
def test_wide_matrices_are_enclosed(case: Case) -> None:
    rng = np.random.default_rng(12)
    function = lower(case.expr, "arb", bits=80)
    for _ in range(10):
        middles = {name: rng.uniform(-2, 2, shape) for name, shape in case.matrices.items()}
        scalars = {name: random_ball(rng, ends) for name, ends in case.domain.items()}
        balls = {name: arb_mat([[arb(t, 0.25) for t in row] for row in middle]) for name, middle in middles.items()}
        result = function(**balls, **scalars)
        entries = result.entries() if isinstance(result, arb_mat) else [result]
        point = {name: mp.matrix((m + rng.uniform(-0.25, 0.25, m.shape)).tolist()) for name, m in middles.items()}
        with mp.workdps(60):
            point |= {name: points_of(rng, ball)[2] for name, ball in scalars.items()}
            exact = case.reference(**point)
            exact = exact if isinstance(exact, mp.matrix) else [exact]
            assert all(encloses(entry, value) for entry, value in zip(entries, exact, strict=True))


def ends(expr: sp.Basic, **balls: arb) -> tuple[float, float]:
    result = lower(expr, "arb")(**balls)
    return float(result.lower()), float(result.upper())


def test_balls_at_the_edge_of_a_domain_or_a_switch() -> None:
    across = arb(1.5, 2.5)  # [-1, 4]
    assert ends(sp.sqrt(x), x=across) == pytest.approx((0, 2), abs=1e-6)
    assert ends(x ** sp.Rational(3, 2), x=across) == pytest.approx((0, 8), abs=1e-6)
    assert ends(x**2, x=across) == pytest.approx((0, 16), abs=1e-6)
    assert ends(x**3, x=across) == pytest.approx((-1, 64), abs=1e-6)
    assert ends(x**y, x=across, y=arb(2.5)) == pytest.approx((0, 32), abs=1e-6)
    assert ends(sp.Abs(x), x=across) == pytest.approx((0, 4), abs=1e-6)
    assert ends(sp.sign(x), x=across) == pytest.approx((-1, 1))
    assert ends(sp.Heaviside(x), x=across) == pytest.approx((0, 1), abs=1e-6)
    assert ends(sp.Heaviside(x), x=arb(0)) == (0.5, 0.5)
    assert ends(sp.Heaviside(x, 7), x=across) == pytest.approx((0, 7), abs=1e-6)
    assert ends(sp.Max(x, 0), x=across) == pytest.approx((0, 4), abs=1e-6)
    assert ends(sp.Min(x, 0), x=across) == pytest.approx((-1, 0), abs=1e-6)
    assert ends(sp.Piecewise((x, x < 2), (10, True)), x=across) == pytest.approx((-1, 10), abs=1e-6)
    assert ends(sp.Piecewise((5, x > 7), (sp.exp(x), True)), x=arb(0)) == (1, 1)


def test_what_cannot_be_bounded_is_nan() -> None:
    assert lower(sp.sqrt(x), "arb")(arb(-3, 1)).is_nan()
    assert lower(1 / x, "arb")(arb(0, 1)).is_nan()
    assert lower(x**y, "arb")(arb(-3, 1), arb(2, 1)).is_nan()  # (-3)**2 is real
    assert all(entry.is_nan() for entry in lower(A.I, "arb")([[1, 1], [1, 1]]).entries())
    assert lower(sp.Piecewise((1, x > 0)), "arb")(arb(0, 1)).is_nan()  # no value for x <= 0


def test_geometric_sums_of_balls_around_one_stay_narrow() -> None:
    low, high = ends((1 - x**8) / (1 - x), x=arb(1, 1e-3))
    assert 7.97 < low < 8 < high < 8.03


def test_conditions_on_balls_may_stay_open() -> None:
    function = lower(sp.And(x > 0, y > 0), "arb")
    assert function(arb(1), arb(2)) is True
    assert function(arb(-1), arb(0, 1)) is False
    assert function(arb(1), arb(0, 1)) is None


def test_the_precision_of_flint_is_restored_also_after_an_error() -> None:
    before = ctx.prec
    function = lower(sp.Sum(x, (sp.Symbol("k"), 0, y)), "arb", bits=333)
    function(x=arb(1), y=3)
    with pytest.raises(ValueError, match="exact integers"):
        function(x=arb(1), y=arb(3, 1))
    assert ctx.prec == before
