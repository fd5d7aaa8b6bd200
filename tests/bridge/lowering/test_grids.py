"""Functions of two variables on a grid: certified errors beside brute force, low rank, refusals."""

import numpy as np
import pytest
import sympy as sp
import torch

from boundsmith import UsageError
from bridge.lowering.formula import ArrayFunction
from bridge.lowering.grids import MOST_CELLS, CertifiedKernel, cheapest_grid, kernel_grid
from numeric.balls import BallArray
from numeric.networks.hats import hats
from symbolic.calculus.bilinear_interpolation import kink_of_slopes, secant_range

u, v = sp.symbols("u v", real=True)
# A kernel, its radius, cells, rank, and how many times the largest error found the bound is at most.
KERNELS = {
    "Gaussian": (sp.exp(-((u - v) ** 2) / 2), 1.0, 256, 8, 1.001),
    "Gaussian of small rank": (sp.exp(-((u - v) ** 2) / 2), 2.0, 32, 4, 1.2),
    "exponential": (sp.exp(-abs(u - v)), 1.0, 128, 129, 1.001),
    "exponential of small rank": (sp.exp(-abs(u - v)), 1.0, 64, 16, 1.05),
    "polynomial": ((1 + u * v) ** 3, 1.0, 40, 4, 1.2),
    "squares": (u**2 + v**2, 1.5, 8, 2, 1.0001),
    "asymmetric": (sp.exp(u - 2 * v) + u * sp.sin(3 * v), 1.0, 64, 2, 1.6),
    "two kinks": (abs(u - v / 2) - 2 * sp.Max(u, v), 1.0, 11, 12, 2.1),
    "a curved kink": (abs(u**2 - v), 1.0, 24, 10, 3.0),
}


def errors(kernel: CertifiedKernel, cells: int, rank: int) -> np.ndarray:
    """At knots, at centres of cells and at random points."""
    rng, knots = np.random.default_rng(0), np.linspace(-kernel.radius, kernel.radius, 2 * cells + 1)
    points = torch.tensor(np.concatenate([knots, rng.uniform(-kernel.radius, kernel.radius, 400)]))
    exact = ArrayFunction(kernel.function, *kernel.variables)(points.unsqueeze(-1), points)
    grid = kernel_grid(kernel, cells, rank).grid
    return (grid(points.unsqueeze(-1), points.unsqueeze(-1)) - exact).numpy()


@pytest.mark.parametrize("name", KERNELS)
def test_the_certified_error_of_a_grid_is_kept_and_nearly_attained(name: str) -> None:
    function, radius, cells, rank, ratio = KERNELS[name]
    kernel = CertifiedKernel(function, (u, v), radius)
    bound = float(kernel.interpolation_error(cells)) + kernel_grid(kernel, cells, rank).residual
    found = abs(errors(kernel, cells, rank)).max()
    assert found <= bound * (1 + 1e-12) + 1e-13
    assert bound <= ratio * found


@pytest.mark.parametrize("name", KERNELS)
def test_certified_ranges_hold_differences_of_the_function(name: str) -> None:
    function, radius, *_ = KERNELS[name]
    kernel = CertifiedKernel(function, (u, v), radius)
    points = np.linspace(-radius, radius, 301)
    values = ArrayFunction(function, u, v)(torch.tensor(points)[:, None], torch.tensor(points)).numpy()
    assert 0.999 * float(kernel.size) <= abs(values).max() <= float(kernel.size)
    for axis, (low, high) in enumerate(kernel.slopes):
        slopes = np.diff(values, axis=axis) / (points[1] - points[0])
        assert float(low) - 1e-9 <= slopes.min()
        assert slopes.max() <= float(high) + 1e-9
        assert float(high - low) <= 1.05 * np.ptp(slopes) + 1e-4


def test_jumps_of_both_slopes_are_those_of_the_function() -> None:
    assert float(CertifiedKernel(abs(u - v / 2), (u, v), 1.0).kinks) == pytest.approx(2 + 1, rel=1e-2)


def test_a_kink_with_the_extreme_slopes_at_the_middle_of_a_cell_attains_the_bound_by_slopes() -> None:
    """max(-u, 2 u) on [-h/2, h/2]: the line between its ends is 3 h/4 above it at 0."""
    width = sp.Rational(1, 2)
    assert secant_range(width, (0, 0), kink_of_slopes((-1, 2)))[1] == (width / 2 + width) / 2


# The interpolant is that of numpy, in each variable.
def test_a_grid_of_full_rank_interpolates() -> None:
    kernel = CertifiedKernel(sp.exp(u - 2 * v) + u * sp.sin(3 * v), (u, v), 1.0)
    found = kernel_grid(kernel, 7, 2).grid
    knots, rng = np.linspace(-1, 1, 8), np.random.default_rng(0)
    values = np.exp(knots[:, None] - 2 * knots) + knots[:, None] * np.sin(3 * knots)
    for x, y in rng.uniform(-1.3, 1.3, (50, 2)):
        columns = [np.interp(x, knots, column) for column in values.T]  # beyond the ends it is that of the end
        expected = np.interp(y, knots, columns) + found.offset
        here = found(torch.tensor([x], dtype=torch.float64), torch.tensor([[y]], dtype=torch.float64))
        assert float(here) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_hats_are_sums_of_relus_as_many_as_knots(cells: int) -> None:
    points = torch.linspace(-3, 3, 201, dtype=torch.float64)
    knots, width = torch.linspace(-2, 2, cells + 1, dtype=torch.float64), 4 / cells
    relus = torch.relu(points[:, None] - knots) / width
    padded = torch.nn.functional.pad(relus, (1, 1))
    sums = padded[:, :-2] - 2 * padded[:, 1:-1] + padded[:, 2:]
    sums[:, 0] = 1 - (relus[:, 0] - relus[:, 1])
    sums[:, -1] = relus[:, -2] - relus[:, -1]
    assert torch.allclose(hats(points, 2.0, cells), sums, atol=1e-14)


def test_a_grid_on_balls_encloses_the_one_on_floats() -> None:
    grid = kernel_grid(CertifiedKernel(sp.exp(-abs(u - v)), (u, v), 1.0), 9, 5).grid
    queries, keys = (torch.tensor(each, dtype=torch.float64) for each in ([0.3, -1.7], [[0.1, 0.9], [1.2, -0.5]]))
    on_balls = grid(BallArray.exactly(queries, 128), BallArray.exactly(keys, 128))
    assert on_balls.radius().max() < 1e-30
    assert np.allclose(on_balls.midpoint(), grid(queries, keys), rtol=0, atol=1e-15)
    each = [grid(queries[[place]], keys[:, [place]]) for place in (0, 1)]  # coordinates add up
    assert np.allclose(sum(each), grid(queries, keys), rtol=0, atol=1e-15)


REFUSED = {
    "a pole": (1 / (u - v), "1/(u - v) is not known to be finite on [-1, 1]^2; give a smaller radius or another"),
    "no real value": (sp.sqrt(u + v), "sqrt(u + v) is not known to be finite on [-1, 1]^2"),
    "a jump": (v * sp.floor(u), "v*floor(u) may jump on [-1, 1]^2; give a smaller radius or another function"),
    "a root": (sp.sqrt(abs(u - v)), "has no Lipschitz constant that is found on [-1, 1]^2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_that_cannot_be_certified_is_refused(name: str) -> None:
    function, words = REFUSED[name]
    with pytest.raises(UsageError) as error:
        CertifiedKernel(function, (u, v), 1.0)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("cells", "rank", "words"),
    [
        (16, 5, "(u*v + 1)**3: rank 5; its values at 17 knots have the numerical rank 4: give 1 to 4"),
        (16, 0, "rank 0; its values at 17 knots have the numerical rank 4: give 1 to 4"),
        (0, 1, f"(u*v + 1)**3: 0 cells; give 1 to {MOST_CELLS}"),
        (MOST_CELLS + 1, 1, f"{MOST_CELLS + 1} cells; give 1 to {MOST_CELLS}"),
    ],
)
def test_a_grid_that_cannot_be_built_is_refused(cells: int, rank: int, words: str) -> None:
    with pytest.raises(UsageError) as error:
        kernel_grid(CertifiedKernel((1 + u * v) ** 3, (u, v), 1.0), cells, rank)
    assert words in str(error.value)


@pytest.mark.parametrize(("name", "error"), [("Gaussian", 1e-2), ("Gaussian", 1e-4), ("polynomial", 1e-3)])
def test_the_cheapest_grid_of_an_error_meets_it_and_neither_fewer_cells_nor_a_smaller_rank_would(
    name: str, error: float
) -> None:
    kernel = CertifiedKernel(KERNELS[name][0], (u, v), 1.0)
    cells, rank = cheapest_grid(kernel, error)

    def certified(cells: int, rank: int) -> float:
        return float(kernel.interpolation_error(cells)) + kernel_grid(kernel, cells, rank).residual

    assert certified(cells, rank) <= error
    assert certified(cells, rank - 1) > error
    assert certified(int(cells / 1.1), rank) > error
    assert rank * (cells + 1) <= min(  # no other split of those that are halfway costs less
        (r * (m + 1) for m in (int(1.05 * cells), 2 * cells) for r in range(1, rank) if certified(m, r) <= error),
        default=rank * (cells + 1),
    )


def test_an_error_that_no_grid_meets_is_refused() -> None:
    kernel = CertifiedKernel(sp.exp(-abs(u - v)), (u, v), 1.0)
    with pytest.raises(UsageError, match=r"exp\(-Abs\(u - v\)\): error=0.0; give a positive number"):
        cheapest_grid(kernel, 0.0)
    with pytest.raises(UsageError, match=f"error=1e-09 takes more than {MOST_CELLS} cells; give a larger one"):
        cheapest_grid(kernel, 1e-9)
