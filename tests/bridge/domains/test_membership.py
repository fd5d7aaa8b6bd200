"""What is inside, exactly; and what is said of the rest."""

import math

import pytest
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Ball, Box, Domain, Integers, Rows, Shell, Signs, Simplex, SingularValues, Sphere
from bridge.domains.vectors import tolerance
from symbolic.derivations.derivation import Norm
from tests.bridge.domains.kinds import DTYPES

ABOVE, BELOW = math.nextafter(1, 2), math.nextafter(1, 0)


def vector(*entries: float, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.tensor(entries, dtype=dtype)


INSIDE = [
    (Box(2), vector(1, -1)),
    (Box(1, size=sp.Rational(1, 10)), vector(math.nextafter(0.1, 0))),
    (Box(1, size=0.1), vector(0.1)),
    (Ball(2, radius=5), vector(3, 4)),
    (Ball(2, radius=sp.sqrt(2)), vector(1, 1)),  # the root, rounded down, is below the norm
    (Ball(2, radius=sp.sqrt(2), norm=1), vector(1, 0.41421356237309503)),
    (Ball(2, norm=1), vector(0.25, -0.75)),
    (Ball(1, radius=sp.pi), vector(math.pi)),  # below pi
    (Box(1, size=sp.E), vector(-math.e)),
    (Ball(2, norm=Norm.INF), vector(1, -1)),
    (Ball(2, radius=0), vector(0.0, -0.0)),
    (Ball(2), vector(1, 0)),
    (Signs(2), vector(-1, 1)),
    (Integers(2, low=-1, high=2), vector(-1, 2)),
    (Simplex(2), vector(0.1, 0.9)),
    (Simplex(2), vector(0.1, 0.9 + 9e-13)),
    (Sphere(2), vector(0.6, 0.8)),
    (Sphere(2, radius=7), vector(0, 7 + 6.9e-12)),
    (Shell(2, low=5, high=7), vector(3, 4.0001)),
    (Shell(2, low=5, high=5), vector(3, 4)),
    (Rows(2, Ball(1)), torch.tensor([[1.0], [-1.0]], dtype=torch.float64)),
    (SingularValues(2, 2, low=1, high=7), torch.tensor([[0.0, 1.25], [-6.5, 0.0]], dtype=torch.float64)),
    (SingularValues(2, 2), torch.zeros(2, 2, dtype=torch.float64)),
    (SingularValues(2, 2), torch.tensor([[5e-324, 0.0], [0.5, 1e-300]], dtype=torch.float64)),
    (SingularValues(1, 2, low=5, high=5), torch.tensor([[3.0, 4.0]], dtype=torch.float64)),
    (SingularValues(1, 2, low=sp.sqrt(2), high=2), vector(1, 1 + 1e-14)[None]),
    (SingularValues(2, 2, low=1, high=1), torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)),
]

OUTSIDE = [
    (Box(2), vector(1, -ABOVE), "entry (1,) = -1.0000000000000002 is outside [-1, 1] by 2.22045e-16"),
    (Box(1, size=sp.Rational(1, 10)), vector(0.1), "entry (0,) = 0.1 is outside [-1/10, 1/10] by 1.38778e-17"),
    (Box(2, low=-0.5, high=2), vector(-3, 4), "entry (0,) = -3.0 is outside [-0.5, 2] by 2.5"),
    (Ball(2), vector(1, 1e-9), "||x||_2 = 1.0 exceeds 1 by 5e-19"),  # 1 in float64
    (Ball(2), vector(BELOW, 1.5e-8), "||x||_2 = 1.0 exceeds 1 by 1.4777e-18"),
    (Ball(2, norm=1), vector(1, 1e-20), "||x||_1 = 1.0 exceeds 1 by 1e-20"),
    (Ball(2, radius=sp.sqrt(2)), vector(1, ABOVE), "exceeds sqrt(2) by 1.57009e-16"),
    (Ball(1, radius=sp.pi), vector(math.nextafter(math.pi, 4)), "exceeds pi by 3.21625e-16"),
    (Ball(2, norm=Norm.INF), vector(1, ABOVE), "entry (1,) = 1.0000000000000002 is outside [-1, 1] by 2.22045e-16"),
    (Ball(2, radius=0), vector(0.0, 5e-324), "||x||_2 = 5e-324 exceeds 0 by 4.94066e-324"),
    (Signs(2), vector(1, BELOW), "entry (1,) = 0.9999999999999999 is neither -1 nor 1"),
    (Integers(2, low=-1, high=2), vector(0.5, 9), "entry (0,) = 0.5 is not an integer"),
    (Integers(2, low=-1, high=2), vector(0, 9), "entry (1,) = 9.0 is outside [-1, 2] by 7"),
    (Simplex(2), vector(1 + 5e-324, -5e-324), "entry (1,) = -5e-324 is negative"),
    (Simplex(2), vector(0.5, 0.25), "the entries add up to 0.75, expected 1 within 1e-12 in float64"),
    (Simplex(2), vector(0.1, 0.9 + 2e-12), "expected 1 within 1e-12 in float64"),
    (Sphere(2, radius=7), vector(0, 7 + 8e-12), "expected 7 within 7e-12 in float64"),
    (Sphere(2), vector(0.5, 0, dtype=torch.float32), "||x||_2 = 0.5, expected 1 within 2.38419e-07 in float32"),
    (Shell(2, low=5, high=7), vector(3, 3.99), "||x||_2 = 4.992003605767929 is outside [5, 7]"),
    (Shell(2, low=1, high=1), vector(3, 4), "||x||_2 = 5.0 is outside [1, 1] within 4.88498e-15 in float64"),
    (Box(2), vector(0, math.nan), "entry (1,) is nan; expected finite numbers"),
    (Ball(2), vector(math.inf, math.nan), "entry (0,) is inf (1 more not finite); expected finite numbers"),
    (Box(2), vector(1), "expected shape (2,), got (1,)"),
    (Box(8, 4), torch.zeros(8, dtype=torch.float64), "expected shape (8, 4), got (8,)"),
    (Box(2), torch.zeros(2, dtype=torch.int64), "expected floating-point entries, got torch.int64"),
    (Rows(2, Ball(1)), torch.tensor([[1.0], [-2.0]], dtype=torch.float64), "row 1: ||x||_2 = 2.0 exceeds 1 by 1"),
    (
        Rows(3, Ball(1)),
        torch.tensor([[1.0], [-2.0], [3.0]], dtype=torch.float64),
        "row 1: ||x||_2 = 2.0 exceeds 1 by 1 (and 1 more of 3 rows)",
    ),
    (
        Rows(1, Rows(2, Box(1))),
        torch.tensor([[[0.0], [2.0]]], dtype=torch.float64),
        "row 0: row 1: entry (0,) = 2.0 is outside [-1, 1] by 1",
    ),
    (
        SingularValues(2, 2, low=1, high=2),
        torch.tensor([[0.0, 0.5], [-4.0, 0.0]], dtype=torch.float64),
        "the singular value 4.0 is outside [1, 2] (1 more of 2 outside)",
    ),
    (
        SingularValues(2, 2, low=1, high=2),
        torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float64),
        "is outside [1, 2] (1 more of 2 outside)",
    ),
    (SingularValues(1, 2, low=sp.sqrt(2), high=2), vector(1, 1)[None], "is outside [sqrt(2), 2]"),  # undecided
    (SingularValues(2, 1, high=1), vector(1, 1e-9)[:, None], "the singular value 1.0 is outside [0, 1]"),
    (
        SingularValues(1, 2, low=5, high=5),
        vector(3, 4 + 1e-13)[None],
        "is outside [5, 5] within 2.44249e-14 in float64",
    ),
]


@pytest.mark.parametrize(("domain", "x"), INSIDE, ids=str)
def test_inside(domain: Domain, x: Tensor) -> None:
    assert domain.complaint(x) is None


@pytest.mark.parametrize(("domain", "x", "message"), OUTSIDE, ids=str)
def test_outside_says_why_and_by_how_much(domain: Domain, x: Tensor, message: str) -> None:
    complaint = domain.complaint(x)
    assert complaint is not None
    assert complaint.endswith(message)


def test_a_norm_in_floating_point_would_admit_points_outside() -> None:
    x = vector(1, 1e-9)
    assert float(torch.linalg.vector_norm(x)) == 1.0
    assert Ball(2).complaint(x) is not None
    assert Ball(2).complaint(Ball(2).project(x[None])[0]) is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("factor", [1, -1])
def test_the_tolerance_is_sharp_on_both_sides(dtype: torch.dtype, factor: int) -> None:
    sphere = Sphere(2)
    allowed = tolerance(dtype, 2)
    steps = [1 + factor * share * allowed for share in (0.9, 1.6)]
    complaints = [sphere.complaint(vector(step, 0).to(dtype)) for step in steps]
    assert [complaint is None for complaint in complaints] == [True, False]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rounding_to_the_dtype_costs_at_most_a_quarter_of_the_tolerance(dtype: torch.dtype) -> None:
    normal = torch.randn(500, 64, dtype=torch.float64)
    units = (normal / torch.linalg.vector_norm(normal, dim=1, keepdim=True)).to(dtype).double()
    assert float((torch.linalg.vector_norm(units, dim=1) - 1).abs().max()) <= tolerance(dtype, 64) / 4


def test_signs_are_the_size_as_the_dtype_rounds_it() -> None:
    signs = Signs(1, size=0.1)
    projected = signs.project(torch.ones(1, 1, dtype=torch.bfloat16))[0]
    assert float(projected) == 0.099609375  # 51 / 512
    assert signs.complaint(projected) is None
    assert signs.complaint(projected.double()) == "entry (0,) = 0.099609375 is neither -0.1 nor 0.1"


def test_gradients_do_not_hinder_the_check() -> None:
    assert Ball(2).complaint(torch.zeros(2, requires_grad=True, dtype=torch.float64)) is None


def moved_are_those_outside(ball: Ball) -> None:
    """The projection decides as the check does, also for points that no float64 norm can decide."""
    normal = torch.randn(300, *ball.dims, dtype=torch.float64)
    units = normal / torch.linalg.vector_norm(normal, float(ball.norm), dim=1, keepdim=True)
    moved = (ball.project(units) != units).any(1).tolist()
    outside = [ball.complaint(unit) is not None for unit in units]
    assert moved == outside
    assert 50 < sum(outside) < 250


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
def test_points_on_the_sphere_up_to_rounding_are_decided_exactly(norm: Norm) -> None:
    moved_are_those_outside(Ball(3, norm=norm))


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
def test_a_projection_that_trusts_the_float64_norm_is_noticed(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.domains.spheres.band", lambda entries: 0.0)
    with pytest.raises(AssertionError):
        moved_are_those_outside(Ball(3, norm=norm))
