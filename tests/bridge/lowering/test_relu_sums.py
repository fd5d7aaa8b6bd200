"""Certified interpolants: the certificate is above every sample, and hardly above the worst; refusals."""

import flint
import numpy as np
import pytest
import sympy as sp
import torch

from bridge.lowering import lower
from bridge.lowering.relu_sums import (
    MOST_RELUS,
    Interpolant,
    cells_for,
    interpolate,
    interpolate_covering,
    loss_interpolants,
)
from numeric.networks.relu_sums import ReluSum
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS, LOSSES, Loss, activation, loss, t, y

SMOOTH = [(name, order) for name in ACTIVATIONS for order in (0, 1) if name != "relu"]


def worst(found: Interpolant, per_cell: int = 41) -> tuple[float, float]:
    """The largest distance of values and of slopes by dense sampling, in float64."""
    edges = torch.tensor(found.relu_sum.knots, dtype=torch.float64)
    share = torch.linspace(1e-9, 1 - 1e-9, per_cell, dtype=torch.float64)
    points = (edges[:-1, None] + torch.diff(edges)[:, None] * share).flatten()
    exact, slope = (
        lower(expr, "torch", args=(found.symbol,))(points)
        for expr in (found.function, sp.diff(found.function, found.symbol))
    )
    values = (found.relu_sum.heads(points) - exact).abs().max()
    return float(values), float((found.relu_sum.slope(points) - slope).abs().max())


@pytest.mark.parametrize(("name", "order"), SMOOTH)
def test_certified_errors_are_above_dense_samples_and_close(name: str, order: int) -> None:
    chosen = ACTIVATIONS[name]
    found = interpolate(chosen.derivative(order), chosen.t, 8.0, cells=256)
    value, slope = worst(found)
    assert value <= float(found.error) <= 1.02 * value
    assert slope <= float(found.slope_error) <= 1.05 * slope


@pytest.mark.parametrize(("name", "order"), SMOOTH)
@pytest.mark.parametrize("cells", [2, 3, 10, 37])
def test_certified_errors_hold_for_few_cells(name: str, order: int, cells: int) -> None:
    chosen = ACTIVATIONS[name]
    found = interpolate(chosen.derivative(order), chosen.t, 2.7, cells=cells)
    value, slope = worst(found)
    assert value <= float(found.error) * (1 + 1e-12)
    assert slope <= float(found.slope_error) * (1 + 1e-12)


def test_the_certificate_is_of_the_coefficients_as_they_are() -> None:
    """In exact arithmetic, at knots, middles and random points: |F(t) - f(t)| is at most the certificate."""
    found = interpolate(sp.tanh(t), t, 3.3, cells=20_000)
    rng = np.random.default_rng(1)
    knots = found.relu_sum.knots
    points = [*rng.uniform(-3.3, 3.3, 200), *rng.choice(knots, 100), *rng.choice((knots[1:] + knots[:-1]) / 2, 400)]
    with flint.ctx.workprec(128):
        distances = [abs(found.relu_sum.exact(flint.arb(float(p))) - flint.arb(float(p)).tanh()) for p in points]
    assert all(distance <= found.error for distance in distances)
    assert float(found.error) < 1.1e-8


@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", ["tanh", "gelu", "sin"])
def test_the_accuracy_asked_for_is_certified_with_the_fewest_cells(name: str, eps: float) -> None:
    chosen = ACTIVATIONS[name]
    found = interpolate(chosen.expr, chosen.t, 2.0, eps=eps)
    cells = found.relu_sum.cells
    assert found.error <= eps
    assert cells == cells_for(chosen.expr, chosen.t, 2.0, eps)
    assert cells % 2 == 0
    if cells > 4:  # two cells fewer miss it, or the share of it that is kept for rounding
        assert interpolate(chosen.expr, chosen.t, 2.0, cells=cells - 2).error > eps * 0.998


def test_a_wrong_coefficient_shows_in_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    good = ReluSum._hinges

    def bad(self: ReluSum, jumps: np.ndarray, knots: np.ndarray, *, opening: float) -> object:
        return good(self, jumps * np.where(np.arange(len(jumps)) == 2, 1.001, 1.0), knots, opening=opening)

    right = interpolate(sp.tanh(t), t, 2.125, cells=50)
    monkeypatch.setattr(ReluSum, "_hinges", bad)
    wrong = interpolate(sp.tanh(t) + 0 * t, t, 2.1250001, cells=50)
    assert wrong.error > 1.02 * right.error
    assert worst(wrong)[0] <= float(wrong.error)


@pytest.mark.parametrize(
    ("f", "radius", "relus"),
    [
        (sp.Max(t, 0), 3.3, 1),
        (sp.Abs(t), 7.0, 2),
        (sp.Max(-1, sp.Min(1, t)), 4.0, 4),
        (2 * t, 0.7, 2),
        (t * 0 + 1, 1.0, 1),
    ],
)
def test_piecewise_linear_functions_are_exact(f: sp.Expr, radius: float, relus: int) -> None:
    found = interpolate(f, t, radius, eps=1e-3)
    assert found.error < 1e-15
    assert found.relu_sum.relus <= relus
    points = torch.linspace(-radius, radius, 1001, dtype=torch.float64)
    exact = lower(f, "torch", args=(t,))(points) + 0 * points
    torch.testing.assert_close(found.relu_sum(points), exact, rtol=0, atol=1e-15)


def test_a_kink_between_knots_is_refused_with_the_grid_that_has_it() -> None:
    f = sp.Abs(t - 1)
    with pytest.raises(
        UsageError, match=r"kink at 1, which is not a knot of 7 cells on \[-4, 4\]; take a multiple of 8"
    ):
        interpolate(f, t, 4, cells=7)
    assert interpolate(f, t, 4, cells=8).error < 1e-15


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_certified_in_two_variables(name: str) -> None:
    found = loss_interpolants(loss(name), 2.0, 1.5, eps=1e-3)
    points, labels = (
        torch.linspace(-2, 2, 401, dtype=torch.float64),
        torch.linspace(-1.5, 1.5, 61, dtype=torch.float64).unsqueeze(-1),
    )
    u = lower(found.loss.gradient, "torch", args=(t, y))(points, labels)
    measured = float((found.loss_sum.heads(points, labels) - u).abs().max())
    assert measured <= float(found.error) + 1e-14 <= 1e-3 + 1e-14
    slope = lower(sp.diff(found.loss.gradient, t), "torch", args=(t, y))(points, labels)
    shifted = found.loss_sum.slope(points, labels)
    assert float((shifted - slope).abs().max()) <= float(found.slope_error) + 1e-12
    assert bool((np.abs(found.loss_sum.directions).sum(1) <= 1 + 1e-15).all())


def test_the_square_loss_is_exact_with_two_relus() -> None:
    found = loss_interpolants(loss("square"), 2.0, 1.0, cells=4)
    assert (found.loss_sum.relus, found.error, found.slope_error) == (2, 0, 0)
    assert sorted(map(tuple, found.loss_sum.directions.tolist())) == [(-0.5, 0.5, 0.0), (0.5, -0.5, 0.0)]


REFUSED = [
    ({"radius": 0.0, "cells": 4}, "radius = 0.0 must be a positive finite number"),
    ({"radius": float("inf"), "cells": 4}, "radius = inf must be"),
    ({"radius": 1.0, "eps": 0.0}, "eps = 0.0 must be a positive finite number"),
    ({"radius": 1.0, "eps": float("nan")}, "eps = nan must be"),
    ({"radius": 1.0, "cells": 0}, "cells = 0 must be a whole number of at least 2"),
    ({"radius": 1.0}, "give either cells or eps"),
    ({"radius": 1.0, "cells": 2, "eps": 0.1}, "give either cells or eps"),
    ({"radius": 8.0, "eps": 1e-13}, r"tanh\(t\) needs \d{8} ReLUs, more than 1000000; give a larger eps"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[str(call) for call, _ in REFUSED])
def test_calls_that_cannot_be_answered_say_why(call: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        interpolate(sp.tanh(t), t, **call)


def test_an_accuracy_below_the_rounding_of_the_coefficients_is_refused() -> None:
    with pytest.raises(UsageError, match=r"eps = 1e-11 is too small for float64 coefficients .* rounding is"):
        interpolate(sp.tanh(t) + 10**6, t, 0.01, eps=1e-11)


def test_how_many_are_needed_is_told_even_beyond_the_limit() -> None:
    assert cells_for(sp.tanh(t), t, 8.0, 1e-13) > MOST_RELUS


@pytest.mark.parametrize(
    ("f", "where"), [(sp.Heaviside(t), "Heaviside"), (sp.sqrt(sp.Abs(t)), "sqrt"), (1 / t, "1/t"), (sp.log(t), "log")]
)
def test_functions_that_are_not_smooth_are_refused(f: sp.Expr, where: str) -> None:
    with pytest.raises(UsageError, match=rf"{where}.*(twice continuously differentiable|undefined)"):
        interpolate(f, t, 1.0, cells=8)


def test_a_loss_without_structure_and_an_accuracy_of_0_are_refused() -> None:
    with pytest.raises(UsageError, match="is not a sum of functions"):
        loss_interpolants(Loss("mine", t, y, (t * y) ** 2), 1.0, 1.0, eps=0.1)
    with pytest.raises(UsageError, match="eps = 0 must be"):
        loss_interpolants(loss("huber"), 1.0, 1.0, eps=0)
    with pytest.raises(UsageError, match="give either cells or eps"):
        loss_interpolants(loss("square"), 1.0, 1.0)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus"])
@pytest.mark.parametrize("order", [0, 1])
def test_errors_beyond_the_range_are_covered(name: str, order: int) -> None:
    r = activation(name)
    found = interpolate(r.derivative(order), r.t, 0.3, cells=4)
    reach = 2.0
    grid = torch.linspace(-reach, reach, 20_001, dtype=torch.float64)
    exact = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "softplus": torch.nn.functional.softplus}[name]
    truth = exact(grid)
    if order:
        moving = grid.clone().requires_grad_(True)
        (truth,) = torch.autograd.grad(exact(moving).sum(), moving)
    sampled = float((found.relu_sum(grid) - truth).abs().max())
    certified = float(found.error_within(reach))
    assert sampled <= certified <= 1.01 * sampled
    assert found.error_within(0.2) == found.error


def test_a_range_covers_what_the_error_on_it_adds() -> None:
    found = interpolate_covering(sp.sin(t), t, lambda error: 3 + 5 * error, cells=12)
    assert 3 + 5 * float(found.error) <= found.radius <= 3 + 5.2 * float(found.error)
    assert interpolate_covering(sp.sin(t), t, lambda error: 3.0, cells=12).radius == 3.0


def test_a_range_that_its_error_outgrows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"relus = 4: the range that sin\(t\) has to cover grows.*give more ReLUs"):
        interpolate_covering(sp.sin(t), t, lambda error: 3 + 6 * error**0.5, cells=3)


def test_an_interpolant_knows_the_bend_and_the_kinks_of_its_function() -> None:
    assert interpolate(sp.sin(t), t, 3.0, cells=12).bend == pytest.approx(1.0, rel=1e-3)
    kinked = interpolate(sp.Max(t, 1) + t**2, t, 3.0, cells=12)
    assert kinked.grid == 6  # the kink at 1 is 2/3 of the way from -3 to 3
    assert kinked.bend == pytest.approx(2.0, rel=1e-3)
