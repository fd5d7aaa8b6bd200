"""Singular values: enclosures against mpmath, and the projection against other elements."""

import math

import flint
import mpmath
import pytest
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import SingularValues
from bridge.domains.spectra import singular_values
from symbolic.derivations.derivation import Norm
from tests.bridge.domains.kinds import generator


def random_matrix(rows: int, columns: int) -> Tensor:
    return torch.randn(rows, columns, generator=generator(), dtype=torch.float64)


MATRICES = {
    "tall": random_matrix(5, 2),
    "wide": random_matrix(3, 6),
    "of rank 1": torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64).double()[:, None]
    * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64).double(),
    "zero": torch.zeros(2, 3, dtype=torch.float64),
    "nearly orthogonal": torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64),
    "tiny": random_matrix(3, 3) * 1e-300,
    "huge": random_matrix(3, 3) * 1e300,
    "of mixed sizes": torch.tensor([[1e300, 0.0], [0.0, 1e-320]], dtype=torch.float64),
    "in bfloat16": random_matrix(3, 3).bfloat16(),
}


def by_mpmath(x: Tensor) -> list[mpmath.mpf]:
    return list(mpmath.svd_r(mpmath.matrix(x.double().tolist()), compute_uv=False))


@pytest.mark.parametrize("name", MATRICES)
def test_enclosures_contain_the_singular_values_and_are_narrow(name: str) -> None:
    x = MATRICES[name]
    with mpmath.workdps(700), flint.ctx.workprec(256):
        found = singular_values(x)
        truth = by_mpmath(x)
        wide = mpmath.mpf(1e-14) * truth[0]
        for ball, value in zip(found, truth, strict=True):
            middle, radius = (mpmath.mpmathify(str(each.mid().str(80, radius=False))) for each in (ball, ball.rad()))
            assert abs(middle - value) <= radius + wide * mpmath.mpf(10) ** -40
            assert radius <= wide


def test_a_factor_that_is_not_orthogonal_widens_the_enclosure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The enclosure is a proof whatever the approximate decomposition is."""
    x, exact = random_matrix(4, 3), torch.linalg.svd

    def sheared(matrix: Tensor, full_matrices: bool) -> object:
        factors = exact(matrix, full_matrices=full_matrices)
        return type(factors)((factors.U * (1 + 1e-3), factors.S * (1 + 1e-2), factors.Vh))

    narrow = singular_values(x)
    monkeypatch.setattr(torch.linalg, "svd", sheared)
    for wide, ball in zip(singular_values(x), narrow, strict=True):
        assert wide.contains(ball)
        assert wide.rad() > 1e-3


@pytest.mark.parametrize(
    "domain",
    [SingularValues(3, 2, low=0.5, high=1), SingularValues(2, 2, low=1, high=1), SingularValues(1, 4, low=2, high=3)],
    ids=str,
)
@pytest.mark.parametrize("size", [0.1, 1.0, 5.0])
def test_no_element_that_is_drawn_is_nearer_than_the_projection(domain: SingularValues, size: float) -> None:
    x = size * torch.randn(20, *domain.dims, generator=generator(), dtype=torch.float64)
    y = domain.project(x)
    distances = torch.linalg.matrix_norm(x - y)
    for spread in (1.0, 0.1, 0.01, 1e-4):
        near = y[:, None] + spread * torch.randn(20, 50, *domain.dims, generator=generator(1), dtype=torch.float64)
        others = domain.project(near.flatten(0, 1)).view(near.shape)
        assert bool((torch.linalg.matrix_norm(x[:, None] - others).amin(1) >= distances - 1e-12).all())


def test_the_projection_clamps_a_diagonal_matrix() -> None:
    x = torch.diag(torch.tensor([5.0, 0.3, -1.5], dtype=torch.float64))
    y = SingularValues(3, 3, low=1, high=2).project(x[None])[0]
    assert torch.allclose(y, torch.diag(torch.tensor([2.0, 1.0, -1.5], dtype=torch.float64)), rtol=0, atol=1e-13)


def test_samples_spread_over_the_interval() -> None:
    drawn = SingularValues(6, 4, low=1, high=2).sample(500, generator())
    values = torch.linalg.svdvals(drawn)
    assert float(values.min()) < 1.01
    assert float(values.max()) > 1.99
    assert float(values.mean()) == pytest.approx(1.5, abs=0.03)


def test_corners_are_all_high_twice_then_all_low_then_mixed() -> None:
    values = torch.linalg.svdvals(SingularValues(8, 4, low=1, high=2).corners(80, generator())).round(decimals=10)
    kinds = [values[place::4] for place in range(4)]
    assert all(bool((kind == end).all()) for kind, end in zip(kinds, (2, 2, 1), strict=False))
    assert sorted(set(kinds[3].flatten().tolist())) == [1.0, 2.0]
    assert bool((kinds[3].amax(1) > kinds[3].amin(1)).any())


def test_the_entries_of_an_orthogonal_matrix_of_three_rows_add_up_to_five_at_most() -> None:
    """The bound in the 1-norm is sqrt(27) = 5.196; the reflection I - 2/3 J has 5."""
    domain = SingularValues(3, 3, low=1, high=1)
    reflection = torch.eye(3, dtype=torch.float64) - 2 / 3 * torch.ones(3, 3, dtype=torch.float64)
    assert domain.complaint(reflection) is None
    assert float(reflection.abs().sum()) == pytest.approx(5)
    assert float(domain.sample(2000, generator()).abs().sum((1, 2)).max()) < 5 + 1e-12
    assert domain.bound(Norm.ONE) == sp.sqrt(27)


@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (7, 1), (2, 6), (4, 12), (3, 4), (8, 5)])
def test_the_one_norm_is_attained_where_sign_vectors_are_orthogonal(rows: int, columns: int) -> None:
    domain = SingularValues(rows, columns)
    largest = float(domain.corners(12, generator()).abs().sum((1, 2)).max())
    assert largest == pytest.approx(math.sqrt(rows * columns * min(rows, columns)), rel=1e-12)
