"""Singular functions of a kernel: known ones, their slopes, their Barron norms, ReLUs in their place."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.tools.singular_functions import SingularFunctions


def of(g: Any, count: int) -> SingularFunctions:
    return SingularFunctions.of(g, -2.0, 2.0, count)


def test_the_singular_function_of_a_product_is_the_line() -> None:
    found = of(lambda u, v: u * v, 2)
    assert found.sizes == pytest.approx([16 / 3])  # the integral of u^2; floats see no second one
    assert found.steepness == pytest.approx(np.sqrt(3 / 16))
    assert found.barron == pytest.approx((0, 2 * found.steepness), abs=1e-6)


# cos(pi k (u + 2)/4), normalised, is the eigenfunction of a sum of such products.
@pytest.mark.parametrize("count", [1, 3, 8])
def test_cosines_are_found_with_their_slopes(count: int) -> None:
    def g(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return sum(2.0**-k * np.cos(np.pi * k * (u + 2) / 4) * np.cos(np.pi * k * (v + 2) / 4) for k in range(1, 9))

    found = of(g, count)
    assert np.allclose(found.sizes, 2 * 2.0 ** -np.arange(1, count + 1))
    assert found.steepness == pytest.approx(np.sqrt(1 / 2) * np.pi * count / 4, rel=1e-4)


def test_a_kernel_that_is_not_finite_has_none() -> None:
    found = of(lambda u, v: np.where(u > 1.9, np.inf, u * v), 3)
    assert (len(found.sizes), found.phi.shape[1], found.steepness) == (0, 0, 0)


def test_both_families_count() -> None:
    """psi(v) is sin(3 v), normalised, steeper than phi."""
    found = of(lambda u, v: np.exp(u / 4) * np.sin(3 * v), 1)
    points = np.linspace(-2, 2, 20_001)
    norm = np.sqrt(np.trapezoid(np.sin(3 * points) ** 2, points))
    assert found.steepness == pytest.approx(3 / norm, rel=1e-5)


# The least sum of |a| (|b| + |c|) over ReLUs with kinks on a grid that give the values of f there: a linear program.
@pytest.mark.parametrize("g", [lambda u, v: np.exp(-((u - v) ** 2) / 2), lambda u, v: np.exp(-abs(u - v))])
def test_the_barron_norm_is_between_its_bounds(g: Any) -> None:
    found = of(g, 3)
    knots = np.linspace(-2, 2, 81)
    lines = [(sign, -sign * t) for t in np.linspace(-2, 2, 81) for sign in (1.0, -1.0)] + [(0.0, 1.0)]
    cost = np.array([abs(b) + abs(c) for b, c in lines])
    relus = np.stack([np.maximum(b * knots + c, 0) for b, c in lines], axis=1)
    norms = []
    for each in found.both.T:
        values = np.interp(knots, found.points, each)
        norms.append(linprog(np.r_[cost, cost], A_eq=np.hstack([relus, -relus]), b_eq=values).fun)
    low, high = found.barron
    assert low * 0.97 <= max(norms) <= high * 1.01  # the grid cuts the ends
    assert high < 1.6 * low


# The derivatives of exp(-|u - v|) give phi'' = (1 - 2/sigma) phi.
def test_curvatures_are_those_of_the_differential_equation() -> None:
    for count in (1, 4, 12):
        found = of(lambda u, v: np.exp(-abs(u - v)), count)
        integrals = np.trapezoid((1 + abs(found.points))[:, None] * abs(found.both), found.points, axis=0)
        assert np.allclose(found.curvatures[0], np.tile(2 / found.sizes - 1, 2) * integrals, rtol=1e-2)


def test_neurons_are_the_interpolation_and_its_error_is_that_of_chords() -> None:
    found = of(lambda u, v: np.exp(-((u - v) ** 2) / 2), 3)
    for cells in (1, 2, 5, 16):
        a, b, c = found.neurons(cells)
        assert len(a) == cells + 2
        knots = np.linspace(-2, 2, cells + 1)
        chords = np.interp(found.points, knots, np.interp(knots, found.points, found.phi[:, 0]))
        built = np.maximum(found.points[:, None] * b + c, 0) @ a
        assert np.allclose(built, chords, atol=1e-12)
        errors = [
            abs(each - np.interp(found.points, knots, np.interp(knots, found.points, each))) for each in found.both.T
        ]
        assert found.interpolation_error(cells) == pytest.approx(np.max(errors))
        assert found.interpolation_error(cells) <= found.barron[1] / cells


# Kinks between the nodes of the quadrature, at 0 and +-1/100: all functions are a multiple of this peak, or |u|.
@pytest.mark.parametrize(
    ("of_u", "norm"),
    [(lambda u: np.maximum(1 - 100 * abs(u), 0), 2.0 * 100 * (1 + 1.01)), (abs, 2.0)],
    ids=["a narrow peak", "a kink at 0"],
)
def test_kinks_between_the_nodes_count(of_u: Any, norm: float) -> None:
    found = of(lambda u, v: 1 + 5 * of_u(u) + 0 * v if norm > 2 else of_u(u) * of_u(v), 1)
    values = found.phi[:, 0]
    slope = (values.max() - values.min()) / (of_u(found.points).max() - of_u(found.points).min())
    assert found.curvatures[1, 0] == pytest.approx(slope * norm, rel=1e-3)
    for cells in (1, 3, 64, 1000):
        assert found.interpolation_error(cells) <= found.barron[1] / cells
