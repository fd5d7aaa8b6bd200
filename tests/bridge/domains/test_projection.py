"""Projections against solvers that share nothing with them: SciPy's, and enumeration."""

import math

import numpy as np
import pytest
import sympy as sp
import torch
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from bridge.domains import Ball, Box, Domain, Integers, Signs, Simplex, Sphere
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError
from tests.bridge.domains.kinds import DTYPES, elements, generator

POINTS = 6


def distance_by_scipy(constraints: list[object], bounds: list[tuple[float, float]], x: np.ndarray) -> float:
    """The distance from x to the set of z = M v, v feasible, where M v = v[:N] - v[N:] if v has twice the length."""
    size = len(x)

    def residual(v: np.ndarray) -> np.ndarray:
        return (v if len(v) == size else v[:size] - v[size:]) - x

    def slope(v: np.ndarray) -> np.ndarray:
        return 2 * (residual(v) if len(v) == size else np.concatenate([residual(v), -residual(v)]))

    start = np.full(len(bounds), 1e-2)
    found = minimize(
        lambda v: float(residual(v) @ residual(v)),
        start,
        jac=slope,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )  # whether it stops by its own rule or by lack of progress: the distance is compared on both sides
    return math.sqrt(found.fun)


def euclidean(radius: float, size: int) -> tuple[list[object], list[tuple[float, float]]]:
    inside = NonlinearConstraint(lambda v: v @ v, -np.inf, radius**2, jac=lambda v: 2 * v[None])
    return [inside], [(-np.inf, np.inf)] * size


def one_norm(radius: float, size: int) -> tuple[list[object], list[tuple[float, float]]]:
    """z = v[:N] - v[N:] with v >= 0: a quadratic problem without a kink."""
    return [LinearConstraint(np.ones((1, 2 * size)), -np.inf, radius)], [(0.0, np.inf)] * (2 * size)


def simplex(size: int) -> tuple[list[object], list[tuple[float, float]]]:
    return [LinearConstraint(np.ones((1, size)), 1.0, 1.0)], [(0.0, np.inf)] * size


PROBLEMS = [
    (Box(3, low=-0.3, high=0.1), ([], [(-0.3, 0.1)] * 3)),
    (Ball(2, radius=0.5), euclidean(0.5, 2)),
    (Ball(4), euclidean(1.0, 4)),
    (Ball(2, norm=1), one_norm(1.0, 2)),
    (Ball(5, radius=2, norm=1), one_norm(2.0, 5)),
    (Ball(3, radius=0.2, norm=Norm.INF), ([], [(-0.2, 0.2)] * 3)),
    (Simplex(2), simplex(2)),
    (Simplex(5), simplex(5)),
]


@pytest.mark.parametrize(("domain", "problem"), PROBLEMS, ids=[str(domain) for domain, _ in PROBLEMS])
@pytest.mark.parametrize("size", [0.1, 1.0, 5.0])
def test_no_point_that_scipy_finds_is_nearer(domain: Domain, problem: tuple[list, list], size: float) -> None:
    x = size * torch.randn(POINTS, *domain.dims, generator=generator(), dtype=torch.float64)
    distances = torch.linalg.vector_norm(domain.project(x) - x, dim=1)
    found = [distance_by_scipy(*problem, each) for each in x.numpy()]
    assert distances.tolist() == pytest.approx(found, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "domain",
    [Signs(3), Signs(2, size=0.25), Integers(2, low=-2, high=3), Integers(1, low=5, high=7), Sphere(2, radius=3)],
    ids=str,
)
def test_no_element_is_nearer_among_all(domain: Domain) -> None:
    x = 4 * torch.randn(40, *domain.dims, generator=generator(), dtype=torch.float64)
    distances = torch.linalg.vector_norm(domain.project(x) - x, dim=1)
    nearest = torch.cdist(x, elements(domain)).amin(1)
    assert bool((distances <= nearest + 1e-12).all())


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
@pytest.mark.parametrize("radius", [5e-324, 1e-320, 1e-308, 1e-200, 1e150, 1e300])
def test_balls_of_extreme_radii_neither_over_nor_underflow(norm: Norm, radius: float) -> None:
    ball = Ball(4, radius=radius, norm=norm)
    x = torch.randn(50, 4, generator=generator(), dtype=torch.float64) * torch.tensor(
        [[1e-320], [1e-160], [1.0], [1e160], [1e307]], dtype=torch.float64
    ).repeat(10, 1)
    projected = ball.project(x)
    assert [ball.complaint(each) for each in projected] == [None] * 50
    outside = torch.tensor([ball.complaint(each) is not None for each in x])
    sizes = torch.linalg.vector_norm(projected[outside] / radius, float(norm), dim=1)
    if radius >= 1e-308:
        assert sizes.tolist() == pytest.approx([1.0] * len(sizes), rel=1e-13)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [(Ball(2, radius=5), [5.0, 0.0]), (Ball(2, norm=1), [1.0, 0.0]), (Box(2), [1.0, -1.0]), (Sphere(2), [1.0, 0.0])],
    ids=str,
)
def test_infinite_entries_go_to_the_end(domain: Domain, expected: list[float]) -> None:
    second = -math.inf if isinstance(domain, Box) else 0.0
    assert domain.project(torch.tensor([[math.inf, second]], dtype=torch.float64))[0].tolist() == pytest.approx(
        expected, rel=1e-13
    )


def test_the_centre_of_a_sphere_goes_to_the_first_coordinate_vector() -> None:
    assert Sphere(3, radius=2).project(torch.zeros(1, 3, dtype=torch.float64)).tolist() == [[2.0, 0.0, 0.0]]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_box_ends_at_the_last_number_of_the_dtype_inside(dtype: torch.dtype) -> None:
    end = Box(1, size=sp.Rational(1, 3)).project(torch.ones(1, 1, dtype=dtype))
    above = torch.nextafter(end, torch.full_like(end, math.inf))
    assert 3 * sp.Rational(float(end)) < 1 < 3 * sp.Rational(float(above))


@pytest.mark.parametrize(
    ("domain", "dtype"),
    [
        (Box(2, low=0.1, high=0.1), torch.float32),
        (Box(2, low=1e5, high=1e6), torch.float16),
        (Signs(2, size=1e5), torch.float16),
        (Signs(2, size=1e-9), torch.float16),
        (Sphere(2, radius=1e39), torch.bfloat16),
    ],
    ids=str,
)
def test_a_dtype_without_elements_is_refused(domain: Domain, dtype: torch.dtype) -> None:
    name = str(dtype).removeprefix("torch.")
    with pytest.raises(UsageError, match=name):
        domain.project(torch.zeros(1, 2, dtype=dtype))


@pytest.mark.parametrize("shape", [(4,), (3, 5), (4, 3, 1), ()])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    for domain in (Box(4, 3), Ball(4, 3), Signs(4, 3), Integers(4, 3, low=0, high=1)):
        with pytest.raises(UsageError, match=r"expected shape \(batch, 4, 3\), got \("):
            domain.project(torch.zeros(shape, dtype=torch.float64))


def test_integer_tensors_are_refused() -> None:
    with pytest.raises(UsageError, match=r"expected floating-point entries, got torch\.int64"):
        Ball(2).project(torch.zeros(1, 2, dtype=torch.int64))


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_points_that_were_projected_need_no_exact_arithmetic(
    norm: Norm, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ball = Ball(size, radius=0.3, norm=norm)
    projected = ball.project(torch.randn(100, size, generator=generator(), dtype=torch.float64).sign())
    monkeypatch.setattr("bridge.domains.spheres.exceeds", lambda found, limit: pytest.fail("decided exactly"))
    assert torch.equal(ball.project(projected), projected)


@pytest.mark.parametrize("domain", [Sphere(1, radius=1e-6), Simplex(450_000)], ids=str)
def test_subnormal_entries_are_within_the_tolerance(domain: Domain) -> None:
    """In float16 1e-6 is 16.8 spacings of the subnormal numbers, 1 / 450000 is 37.3."""
    projected = domain.project(torch.ones(1, *domain.dims, dtype=torch.float16))
    assert domain.complaint(projected[0]) is None
    assert torch.equal(domain.project(projected), projected)
