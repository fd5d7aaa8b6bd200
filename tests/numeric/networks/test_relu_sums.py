"""Sums of ReLUs: look-up, literal sum and exact sum are one function, in every dtype."""

from fractions import Fraction

import flint
import numpy as np
import pytest
import torch

from numeric.networks.hinges import ReluSumError, uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.relu_sums import ReluSum, points_at_kinks

CASES = [(radius, cells) for radius in (0.3, 1.0, 7.7) for cells in (2, 3, 8, 257)]


def through(function: object, radius: float, cells: int, spread: float = 1.0) -> ReluSum:
    return ReluSum(radius, function(uniform_knots(radius, cells)), spread)


def wave(x: np.ndarray) -> np.ndarray:
    return np.sin(2 * x) + 0.25 * x + 0.5


def in_fractions(relu_sum: ReluSum, t: float | Fraction) -> Fraction:
    """The literal sum in rational arithmetic: the definition."""
    rows = zip(relu_sum.weights.tolist(), relu_sum.directions.tolist(), strict=True)
    return sum(
        (Fraction(c) * max(Fraction(0), Fraction(a[0]) * Fraction(t) + Fraction(a[1])) for c, a in rows), Fraction(0)
    )


def as_ball(number: Fraction) -> flint.arb:
    with flint.ctx.workprec(400):
        return flint.arb(flint.fmpq(number.numerator, number.denominator))


@pytest.mark.parametrize(("radius", "cells"), CASES)
def test_three_ways_to_the_same_number(radius: float, cells: int) -> None:
    relu_sum = through(wave, radius, cells)
    points = torch.cat(
        [
            torch.linspace(-2 * radius, 2 * radius, 61, dtype=torch.float64),
            torch.tensor(relu_sum.knots, dtype=torch.float64),
        ]
    )
    found, literal = relu_sum(points), relu_sum.heads(points)
    size = np.abs(relu_sum.values).max() + relu_sum.one_norm / 10
    torch.testing.assert_close(found, literal, rtol=0, atol=2e-15 * float(size) * (1 + radius))
    for point, value in zip(points.tolist(), found.tolist(), strict=True):
        exact = relu_sum.exact(flint.arb(point))
        assert exact.contains(as_ball(in_fractions(relu_sum, point)))
        assert exact.rad() < 1e-12
        assert float(exact) == pytest.approx(value, abs=1e-14 * float(size) * (1 + radius))


@pytest.mark.parametrize(("radius", "cells"), CASES)
def test_it_interpolates_and_its_directions_have_one_norm_at_most_1(radius: float, cells: int) -> None:
    for spread in (1.0, 2.0):
        relu_sum = through(wave, radius, cells, spread)
        np.testing.assert_allclose(
            relu_sum(torch.tensor(relu_sum.knots, dtype=torch.float64)).numpy(), relu_sum.values, atol=1e-13
        )
        for slope, offset in relu_sum.directions.tolist():
            assert Fraction(spread) * abs(Fraction(slope)) + abs(Fraction(offset)) <= 1
        assert relu_sum.relus == len(relu_sum.weights) == cells + 1


def test_exact_encloses_the_range_over_wide_balls_and_tightly() -> None:
    relu_sum = through(wave, 2.0, 40)
    rng = np.random.default_rng(0)
    for _ in range(100):
        low, high = sorted(rng.uniform(-3, 3, 2))
        ball = relu_sum.exact(flint.arb(low).union(flint.arb(high)))
        points = np.concatenate([np.linspace(low, high, 50), [k for k in relu_sum.knots if low <= k <= high]])
        values = relu_sum(torch.tensor(points, dtype=torch.float64)).numpy()
        assert float(ball.lower()) - 1e-12 <= values.min()
        assert values.max() <= float(ball.upper()) + 1e-12
        assert float(ball.upper() - ball.lower()) <= np.ptp(values) * (1 + 1e-6) + 1e-6


def test_exact_holds_next_to_every_kink() -> None:
    relu_sum = through(wave, 7.7, 33)
    for knot in relu_sum.knots.tolist():
        for point in (knot, np.nextafter(knot, 9), np.nextafter(knot, -9), knot + 1e-13):
            assert relu_sum.exact(flint.arb(float(point))).contains(as_ball(in_fractions(relu_sum, float(point))))
            slope = relu_sum.exact_slope(flint.arb(float(point)))
            beside = [float(relu_sum.slope(torch.tensor(point + side, dtype=torch.float64))) for side in (-1e-9, 1e-9)]
            # one of the two neighbouring cells, or both where the kink cannot be told from the point
            assert float(slope.lower()) >= min(beside) - 1e-6
            assert float(slope.upper()) <= max(beside) + 1e-6
            assert min(abs(float(end) - one) for end in (slope.lower(), slope.upper()) for one in beside) < 1e-6


def zigzag(x: np.ndarray) -> np.ndarray:
    return 0.3 * (-1.0) ** np.arange(len(x))


def kinks_of(relu_sum: ReluSum) -> list[tuple[float, Fraction]]:
    """Every hinge's kink, which rounding moves off the knot next to it."""
    kinks = [-Fraction(b) / Fraction(a) for a, b in relu_sum.directions.tolist() if a]
    return [(min(relu_sum.knots.tolist(), key=lambda knot: abs(knot - float(kink))), kink) for kink in kinks]


@pytest.mark.parametrize("radius", [0.3, 7.7])
def test_exact_holds_the_extreme_value_at_a_kink_that_is_not_a_float(radius: float) -> None:
    """Each kink of a zigzag is a local extremum, and no end of a ball around it has its value."""
    relu_sum = through(zigzag, radius, 33)
    beside = Fraction(1, 2**44)
    moved = 0
    for knot, kink in kinks_of(relu_sum):
        extreme, shift = as_ball(in_fractions(relu_sum, kink)), abs(kink - Fraction(knot))
        moved += shift > 0
        for middle, reach in (
            (kink, Fraction(radius) / 50),
            (kink + beside, beside + shift / 2),  # an end between the knot and its kink
            (kink - beside, beside + shift / 2),
        ):
            with flint.ctx.workprec(400):
                ball = as_ball(middle) + flint.arb(0, 1) * as_ball(reach)
                assert relu_sum.exact(ball).contains(extreme)
    assert moved > 20


def test_exact_of_what_is_not_finite_says_nothing() -> None:
    assert through(wave, 1.0, 4).exact(flint.arb("inf")).is_nan()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_nothing_is_promoted_and_low_precision_is_as_close_as_it_can_be(dtype: torch.dtype) -> None:
    relu_sum = through(np.tanh, 4.0, 64)
    points = torch.linspace(-5, 5, 101, dtype=torch.float64).to(dtype)
    for found in (relu_sum(points), relu_sum.slope(points), relu_sum.heads(points)):
        assert found.dtype == dtype
    distance = (relu_sum(points).double() - relu_sum(points.double())).abs().max()
    assert float(distance) <= 4 * torch.finfo(dtype).eps


def test_the_gradient_is_the_slope_of_the_cell() -> None:
    relu_sum = through(wave, 2.0, 10)
    points = torch.linspace(-2.9, 2.9, 47, requires_grad=True, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(relu_sum(points).sum(), points)
    assert torch.equal(gradient, relu_sum.slope(points.detach()))
    (literal,) = torch.autograd.grad(relu_sum.heads(points).sum(), points)
    torch.testing.assert_close(gradient, literal, rtol=0, atol=1e-13)


def test_shapes_nan_and_extreme_arguments() -> None:
    relu_sum = through(np.tanh, 1.0, 4)
    assert relu_sum(torch.zeros(3, 0, 2, dtype=torch.float64)).shape == (3, 0, 2)
    assert relu_sum(torch.tensor(0.5, dtype=torch.float64)).shape == ()
    far = relu_sum(torch.tensor([float("nan"), 1e300, -1e300], dtype=torch.float64))
    assert bool(far[0].isnan())
    slopes = relu_sum.slopes
    np.testing.assert_allclose(far[1:].numpy(), [slopes[-1] * 1e300, -slopes[0] * 1e300], rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "relus"),
    [(lambda x: np.maximum(x, 0), 1), (np.abs, 2), (lambda x: np.clip(x, -1, 1), 4), (lambda x: 2 * x, 2)],
)
def test_piecewise_linear_functions_are_exact_with_few_relus(function: object, relus: int) -> None:
    relu_sum = through(function, 4.0, 16)
    assert relu_sum.relus == relus
    for point in np.linspace(-4, 4, 33).tolist():
        assert relu_sum.exact(flint.arb(point)).contains(flint.arb(float(function(np.array(point)))))
    assert float(relu_sum.deviation(map(flint.arb, relu_sum.values.tolist()))) < 1e-15


def test_deviation_notices_a_wrong_value() -> None:
    relu_sum = through(np.tanh, 4.0, 16)
    values = relu_sum.values.copy()
    assert relu_sum.deviation(map(flint.arb, values.tolist())) < 1e-14
    values[3] += 1e-9
    assert relu_sum.deviation(map(flint.arb, values.tolist())) > 0.9e-9


def test_a_million_cells_are_looked_up() -> None:
    relu_sum = through(np.sin, 8.0, 10**6)
    points = torch.linspace(-8, 8, 1001, dtype=torch.float64)
    assert float((relu_sum(points) - torch.sin(points)).abs().max()) < 1e-10


@pytest.fixture
def loss_sum() -> LossSum:
    return LossSum(
        (
            (1, -1, through(np.tanh, 4.0, 30, spread=2.0)),
            (0, 1, through(lambda x: -x, 2.0, 2)),
            (-1, 0, through(np.sin, 2.0, 9)),
        )
    )


def test_a_loss_sum_is_one_sum_of_relus_in_two_variables(loss_sum: LossSum) -> None:
    t, y = torch.linspace(-2, 2, 41, dtype=torch.float64), torch.linspace(-2, 2, 11, dtype=torch.float64).unsqueeze(-1)
    wanted = torch.tanh(t - y) - y - torch.sin(t)
    assert float((loss_sum(t, y) - wanted).abs().max()) < 0.05
    torch.testing.assert_close(loss_sum(t, y), loss_sum.heads(t, y), rtol=0, atol=1e-13)
    assert loss_sum.directions.shape == (loss_sum.relus, 3) == (len(loss_sum.weights), 3)
    assert all(sum(map(abs, map(Fraction, row))) <= 1 for row in loss_sum.directions.tolist())
    assert loss_sum.one_norm == pytest.approx(sum(piece.one_norm for _, _, piece in loss_sum.pieces))
    for a, b in ((0.3, -1.2), (2.0, 2.0), (-1.7, 0.4)):
        ball = loss_sum.exact(flint.arb(a), flint.arb(b))
        assert float(ball) == pytest.approx(
            float(loss_sum(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64))), abs=1e-13
        )


def test_the_coefficients_of_a_loss_sum_are_kept_for_each_dtype(loss_sum: LossSum) -> None:
    for dtype in (torch.float32, torch.float64, torch.float32):
        weights, directions = loss_sum.tensors(dtype, "cpu")
        assert torch.equal(weights, torch.tensor(loss_sum.weights, dtype=dtype))
        assert torch.equal(directions, torch.tensor(loss_sum.directions, dtype=dtype))
        assert loss_sum.tensors(dtype, "cpu")[0] is weights


def test_a_loss_sum_is_differentiable_and_knows_its_slope(loss_sum: LossSum) -> None:
    t, y = (
        torch.linspace(-1.9, 1.9, 7, requires_grad=True, dtype=torch.float64),
        torch.linspace(-1, 1, 7, dtype=torch.float64),
    )
    (gradient,) = torch.autograd.grad(loss_sum(t, y).sum(), t)
    torch.testing.assert_close(gradient, loss_sum.slope(t.detach(), y))
    assert loss_sum(t.half(), y.half()).dtype == torch.float16


def test_an_empty_loss_sum_is_0() -> None:
    assert (
        LossSum(())(torch.ones(2, dtype=torch.float64), torch.ones(3, 1, dtype=torch.float64)).tolist() == [[0, 0]] * 3
    )
    assert LossSum(()).exact(flint.arb(1), flint.arb(1)) == 0


@pytest.mark.parametrize(
    ("radius", "values", "spread"),
    [
        (0.0, [0.0, 1.0, 2.0], 1.0),
        (1.0, [1.0, 2.0], 1.0),
        (1.0, [0.0, float("nan"), 0.0], 1.0),
        (1.0, [0.0, 1.0, 2.0], 0.5),
    ],
)
def test_what_is_no_interpolant_is_refused(radius: float, values: list[float], spread: float) -> None:
    with pytest.raises(ReluSumError, match="Give a radius > 0, a spread >= 1 and at least 3 finite values"):
        ReluSum(radius, np.array(values), spread)


def test_a_piece_whose_directions_would_be_too_long_is_refused() -> None:
    with pytest.raises(ReluSumError, match="a spread of at least the sum of their absolute values"):
        LossSum(((1, -1, through(np.tanh, 1.0, 4)),))


def test_points_at_kinks_find_the_cell_where_a_secant_errs_most() -> None:
    knots = np.linspace(-2, 2, 41)
    sums = ReluSum(2.0, np.maximum(knots - 1.0, 0) * 3)
    points = points_at_kinks(sums, 8, torch.Generator().manual_seed(0))
    assert points.shape == (8,)
    assert points.dtype == torch.float64
    assert bool((points.abs() <= 2).all())
    assert float((points[::4] - 1.05).abs().min()) < 1e-12  # the middle of the cell on the right of the kink at 1
