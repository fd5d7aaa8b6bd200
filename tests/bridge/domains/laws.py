"""The laws of a domain, as assertions that a domain which breaks them does not pass."""

import torch
from torch import Tensor

from bridge.domains import Domain
from symbolic.derivations.derivation import Norm
from tests.bridge.domains.kinds import attained, defects, generator, slack, support

INTEGERS = {8: torch.int64, 4: torch.int32, 2: torch.int16}


def same_bits(one: Tensor, other: Tensor) -> bool:
    return torch.equal(one.view(INTEGERS[one.itemsize]), other.view(INTEGERS[other.itemsize]))


def vectors(domain: Domain, batch: Tensor) -> Tensor:
    return batch.reshape(len(batch), domain.entries)


def all_inside(domain: Domain, batch: Tensor) -> None:
    complaints = [complaint for each in batch if (complaint := domain.complaint(each))]
    assert not complaints, complaints


def drawn_points_are_inside(domain: Domain, dtype: torch.dtype, count: int = 30) -> None:
    for draw in (domain.sample, domain.corners, domain.starts):
        points = draw(count, generator())
        assert points.shape == (count, *domain.shape)
        assert points.dtype == torch.float64
        all_inside(domain, points)
        all_inside(domain, domain.project(points.to(dtype)))


def projection_ends_inside_and_stays(domain: Domain, x: Tensor) -> None:
    y = domain.project(x)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    all_inside(domain, y)
    assert same_bits(domain.project(y), y)


def inside_points_stay(domain: Domain, x: Tensor) -> None:
    y = domain.project(x)
    for before, after in zip(x, y, strict=True):
        if domain.complaint(before) is None:
            assert float((after.double() - before.double()).abs().max()) <= slack(domain, x.dtype)


def projection_is_nearest_by_support(domain: Domain, x: Tensor) -> None:
    """y is the nearest point of a convex set exactly if <x - y, z - y> <= 0 for all its z."""
    y = vectors(domain, domain.project(x))
    g = vectors(domain, x) - y
    gap = support(domain, g) - (g * y).sum(1)
    size = torch.linalg.vector_norm(g, dim=1) * (1 + torch.linalg.vector_norm(y, dim=1))
    assert bool((gap <= 1e-11 * size).all()), (gap / size).max()


def members_are_elements_nearby(domain: Domain, dtype: torch.dtype) -> None:
    """The enclosure is narrow, meets the equation of the domain, and is as near as the tolerance allows."""
    scale = float(domain.bound(Norm.INF))
    for draw in (domain.sample, domain.corners):
        for x in domain.project(draw(6, generator()).to(dtype)):
            member = domain.member(x, 128)
            assert member.radius().max() <= 2.0**-110 * scale
            assert all(abs(each) < 2.0**-100 * max(1, scale**2) for each in defects(domain, member))
            apart = torch.as_tensor(member.midpoint()) - x.double()
            reach = 2 * torch.finfo(dtype).eps * scale + slack(domain, dtype) + 1e-15 * scale
            assert float(apart.abs().max()) <= reach


def members_are_the_elements_themselves(domain: Domain, dtype: torch.dtype) -> None:
    for x in domain.project(domain.starts(6, generator()).to(dtype)):
        member = domain.member(x, 128)
        assert tuple(member.shape) == tuple(x.shape)
        assert member.radius().sum() == 0
        assert torch.equal(torch.as_tensor(member.midpoint()), x.double())


def bound_is_attained_and_never_exceeded(domain: Domain, norm: Norm) -> None:
    bound = float(domain.bound(norm))
    points = torch.cat([domain.sample(200, generator()), domain.corners(24, generator())])
    norms = torch.linalg.vector_norm(vectors(domain, points), float(norm), dim=1)
    assert float(norms.max()) <= bound * (1 + 1e-11)
    assert not attained(domain, norm) or float(norms[-24:].max()) >= bound * (1 - 1e-9)
