"""Every law on every kind of domain, in every dtype; and domains with a fault, which the laws notice."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import sympy as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from bridge.domains import Ball, Box, Concatenated, Domain, Product, Rows, Simplex, SingularValues, Sphere
from bridge.domains.vectors import onto_sphere
from numeric.balls import BallArray
from symbolic.derivations.derivation import Norm
from tests.bridge.domains import laws
from tests.bridge.domains.kinds import ALL, CONVEX, DTYPES, OTHERS, TOLERANT, defects, generator

every_domain = pytest.mark.parametrize("domain", ALL, ids=str)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def batches(domain: Domain) -> st.SearchStrategy[np.ndarray]:
    """Three elements of any finite or infinite float64 numbers, with many near the size of the domain."""
    scale = float(domain.bound(Norm.INF)) or 1.0
    near = st.floats(-2, 2).map(lambda t: t * scale)
    entries = st.one_of(near, st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, scale, -scale]))
    return arrays(np.float64, (3, *domain.dims), elements=entries)


def scattered(domain: Domain, count: int = 200) -> Tensor:
    """Points in and around the domain, of many sizes."""
    scale = float(domain.bound(Norm.INF)) or 1.0
    sizes = 10 ** (3 * torch.rand(count, *[1] * len(domain.dims), generator=generator(), dtype=torch.float64) - 1)
    return sizes * scale * torch.randn(count, *domain.dims, generator=generator(1), dtype=torch.float64)


@every_domain
@every_dtype
def test_samples_corners_and_starts_are_inside(domain: Domain, dtype: torch.dtype) -> None:
    laws.drawn_points_are_inside(domain, dtype)


@every_domain
@settings(max_examples=40)
@given(data=st.data())
def test_any_point_is_projected_inside_for_good(domain: Domain, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    laws.projection_ends_inside_and_stays(
        domain, torch.tensor(data.draw(batches(domain)), dtype=torch.float64).to(dtype)
    )


@every_domain
@every_dtype
def test_scattered_points_are_projected_inside_for_good(domain: Domain, dtype: torch.dtype) -> None:
    laws.projection_ends_inside_and_stays(domain, scattered(domain).to(dtype))


@every_domain
@every_dtype
def test_points_inside_are_left_alone(domain: Domain, dtype: torch.dtype) -> None:
    if domain.entries:
        points = torch.cat([scattered(domain), domain.sample(50, generator()), domain.corners(50, generator())])
        laws.inside_points_stay(domain, points.to(dtype))


@pytest.mark.parametrize("domain", CONVEX, ids=str)
def test_the_projection_is_the_nearest_point(domain: Domain) -> None:
    laws.projection_is_nearest_by_support(domain, scattered(domain))


@every_domain
@pytest.mark.parametrize("norm", list(Norm))
def test_corners_attain_the_bound_and_nothing_exceeds_it(domain: Domain, norm: Norm) -> None:
    if domain.entries:
        laws.bound_is_attained_and_never_exceeded(domain, norm)


@pytest.mark.parametrize("domain", TOLERANT, ids=str)
@every_dtype
def test_members_are_elements_nearby(domain: Domain, dtype: torch.dtype) -> None:
    laws.members_are_elements_nearby(domain, dtype)


EXACT = [each for each in CONVEX + OTHERS if not isinstance(each, Simplex | Sphere) and each not in TOLERANT]


@pytest.mark.parametrize("domain", EXACT, ids=str)
def test_members_of_what_floats_meet_are_the_elements_themselves(domain: Domain) -> None:
    laws.members_are_the_elements_themselves(domain, torch.float64)


def test_members_of_rows_parts_and_products_are_members_of_each() -> None:
    part = Sphere(3)
    rows, joined = Rows(2, part), Concatenated(Box(2), part)
    x, y = rows.sample(1, generator())[0], joined.sample(1, generator())[0]
    members = Product({"x": rows, "y": joined}).members({"x": x, "y": y}, 128)
    for member, row in zip(members["x"], x, strict=True):
        assert member.overlaps(part.member(row, 128)).all()
    assert members["y"][2:].overlaps(part.member(y[2:], 128)).all()
    assert members["y"][:2].radius().sum() == 0


def test_members_of_a_narrow_interval_have_singular_values_inside() -> None:
    high = 5 + sp.Rational(1, 10**15)
    narrow = SingularValues(3, 1, low=5, high=high)
    for length in (5 - 1e-15, 5, 5 + 5e-15):
        member = narrow.member(torch.tensor([[length], [0.0], [0.0]], dtype=torch.float64), 128)
        norm = torch.linalg.vector_norm(member)
        assert not (norm < BallArray.exactly(5)).entries.item()
        assert not (norm * 10**15 > BallArray.exactly(5 * 10**15 + 1)).entries.item()
        assert float(norm.radius()) < 1e-30


def test_the_member_next_to_0_on_a_tiny_sphere() -> None:
    tiny = Sphere(3, radius=sp.Rational(1, 2**1074))
    assert tiny.complaint(torch.zeros(3, dtype=torch.float64)) is None
    assert all(abs(each) < 2.0**-1074 for each in defects(tiny, tiny.member(torch.zeros(3, dtype=torch.float64), 128)))
    assert tiny.member(torch.zeros(3, dtype=torch.float64), 128).midpoint().tolist() == [2.0**-1074, 0, 0]


@every_domain
def test_a_seed_gives_the_same_tensors_and_another_seed_others(domain: Domain) -> None:
    for draw in (domain.sample, domain.corners, domain.starts):
        assert torch.equal(draw(9, generator(3)), draw(9, generator(3)))
    several = domain.entries and not (domain.bound(Norm.INF) == 0 or domain == Simplex(1))
    assert torch.equal(domain.sample(9, generator(3)), domain.sample(9, generator(4))) != bool(several)


@every_domain
@every_dtype
def test_nan_stays_nan_and_is_complained_about(domain: Domain, dtype: torch.dtype) -> None:
    if not domain.entries:
        return
    points = domain.project(domain.sample(2, generator()).to(dtype))
    broken = points.clone()
    broken[1].view(-1)[-1] = math.nan
    projected = domain.project(broken)
    assert bool(projected[1].flatten()[-1].isnan())
    assert torch.equal(projected[0], points[0])
    assert "is nan; expected finite numbers" in str(domain.complaint(projected[1]))


@every_domain
def test_an_empty_batch_has_no_points(domain: Domain) -> None:
    for empty in (domain.sample(0, generator()), domain.corners(0, generator()), domain.starts(0, generator())):
        assert domain.project(empty).shape == (0, *domain.shape)


@every_domain
def test_a_domain_is_what_its_text_says_and_equal_to_its_copy(domain: Domain) -> None:
    kinds = {kind.__name__: kind for kind in {type(each) for each in ALL}}
    names = {**kinds, "sqrt": sp.sqrt, "inf": math.inf}
    text = str(domain).replace("1/3", "sp.Rational(1, 3)")
    assert eval(text, {**names, "sp": sp}) == domain.at({})  # noqa: S307 - texts of the table above
    assert hash(domain) == hash(domain.at({}))


def test_starts_are_corners_samples_and_points_between() -> None:
    starts = Box(50).starts(24, generator())
    at_corners = (starts.abs() == 1).all(1)
    assert at_corners.tolist() == [index % 2 == 0 for index in range(24)]
    assert float(starts[1::2].abs().max()) < 1


# --- faults -----------------------------------------------------------------------------------------------------------


class UnroundedBall(Ball):
    """Lands on the sphere itself: rounding leaves the ball."""

    def _landed(self, points: Tensor) -> Tensor:
        return onto_sphere(points, float(self.radius))


class RestlessBall(Ball):
    """Scales every point by its size over the radius, those on the sphere too."""

    def _are_outside(self, points: Tensor) -> Tensor:
        return torch.linalg.vector_norm(points, dim=1) > float(self.radius) * (1 - 1e-6)


class TimidBall(Ball):
    """Lands a thousandth inside."""

    def _landed(self, points: Tensor) -> Tensor:
        return super()._landed(points) * 0.999


class NearlyCompleteBall(Ball):
    def bound(self, norm: Norm) -> sp.Expr:
        return super().bound(norm) * sp.Rational(999, 1000)


class GenerousBall(Ball):
    def bound(self, norm: Norm) -> sp.Expr:
        return super().bound(norm) * sp.Rational(1001, 1000)


class RoundedBox(Box):
    """Clamps at the ends as the dtype rounds them."""

    def project(self, x: Tensor) -> Tensor:
        return x.clamp(float(self.low), float(self.high))


class NormalisingSimplex(Simplex):
    """Clips and divides by the sum: inside, but not the nearest point."""

    def project(self, x: Tensor) -> Tensor:
        clipped = x.clamp(min=0) + 1e-3
        return clipped / clipped.sum(1, keepdim=True)


class LopsidedCorners(Rows):
    """Corners row by row, of different kinds."""

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        return self.row.corners(count * self.dims[0], generator).view(count, *self.dims)


class TrustingSingularValues(SingularValues):
    """Lands on the ends themselves: rounding leaves the interval."""

    def rounding(self, dtype: torch.dtype) -> float:
        return 0.0


class CarelessSphere(Sphere):
    """Takes the floats for an element, as a box may."""

    def member(self, x: Tensor, bits: int) -> BallArray:
        return Domain.member(self, x, bits)


class DistantSphere(Sphere):
    """An element, but another one."""

    def member(self, x: Tensor, bits: int) -> BallArray:
        return -super().member(x, bits)


FAULTS: list[tuple[Domain, Callable[[Domain], None]]] = [
    (UnroundedBall(3), lambda domain: laws.projection_ends_inside_and_stays(domain, scattered(domain))),
    (RestlessBall(3), lambda domain: laws.inside_points_stay(domain, domain.corners(20, generator()))),
    (TimidBall(3), lambda domain: laws.projection_is_nearest_by_support(domain, scattered(domain))),
    (NearlyCompleteBall(3), lambda domain: laws.bound_is_attained_and_never_exceeded(domain, Norm.ONE)),
    (GenerousBall(3), lambda domain: laws.bound_is_attained_and_never_exceeded(domain, Norm.ONE)),
    (RoundedBox(3, size=0.1), lambda domain: laws.projection_ends_inside_and_stays(domain, scattered(domain).float())),
    (NormalisingSimplex(3), lambda domain: laws.projection_is_nearest_by_support(domain, scattered(domain))),
    (
        TrustingSingularValues(4, 3, low=1, high=2),
        lambda domain: laws.projection_ends_inside_and_stays(domain, scattered(domain)),
    ),
    (CarelessSphere(3), lambda domain: laws.members_are_elements_nearby(domain, torch.float64)),
    (DistantSphere(3), lambda domain: laws.members_are_elements_nearby(domain, torch.float64)),
    (LopsidedCorners(4, Ball(3)), lambda domain: laws.bound_is_attained_and_never_exceeded(domain, Norm.ONE)),
]


@pytest.mark.parametrize(("domain", "law"), FAULTS, ids=[type(domain).__name__ for domain, _ in FAULTS])
def test_a_fault_is_noticed(domain: Domain, law: Callable[[Domain], None]) -> None:
    with pytest.raises(AssertionError):
        law(domain)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_projection_on_a_gpu_ends_inside() -> None:
    for domain, dtype in product(ALL, DTYPES):
        x = scattered(domain).to("cuda", dtype)
        assert domain.project(x).device == x.device
        laws.projection_ends_inside_and_stays(domain, x)
