"""The Lasso: scikit-learn's solution, a duality gap that is one, means against loops."""

import pytest
import torch

from numeric.topics.universal import lasso
from numeric.topics.universal.proximal import objective

sklearn = pytest.importorskip("sklearn.linear_model")
GENERATOR = torch.Generator().manual_seed(7)


@pytest.mark.parametrize("lam", [0.3, 0.03, 0.003])
def test_the_solution_is_scikit_learns(lam: float) -> None:
    phi = torch.cat(
        [torch.rand(60, 12, generator=GENERATOR, dtype=torch.float64), torch.ones(60, 1, dtype=torch.float64)], 1
    )
    y = torch.sin(4 * phi[:, 0]) + 0.1 * torch.randn(60, generator=GENERATOR, dtype=torch.float64)
    found = lasso.solve(phi, y, lam, 1e-12, 500)  # plain steps take more
    model = sklearn.Lasso(alpha=lam / 2, fit_intercept=False, tol=1e-13, max_iter=1_000_000)
    known = torch.tensor(model.fit(phi.numpy(), y.numpy()).coef_)
    assert torch.allclose(found, known, atol=1e-5)
    values = [float(objective(phi, y, each, lam)) for each in (found, known)]
    assert abs(values[0] - values[1]) < 1e-10
    rough = lasso.solve(phi, y, lam, 1e-3)
    gap = lasso.duality_gap(phi, y, rough, lam)
    assert float(objective(phi, y, rough, lam)) - values[1] <= gap <= 1e-3


def test_a_duality_gap_is_never_below_the_true_one() -> None:
    phi, y = (
        torch.rand(20, 5, generator=GENERATOR, dtype=torch.float64),
        torch.randn(20, generator=GENERATOR, dtype=torch.float64),
    )
    best = float(objective(phi, y, lasso.solve(phi, y, 0.1, 1e-13), 0.1))
    for _ in range(50):
        rho = torch.randn(5, generator=GENERATOR, dtype=torch.float64)
        assert float(objective(phi, y, rho, 0.1)) - best <= lasso.duality_gap(phi, y, rho, 0.1) + 1e-12


def test_directions_have_the_norm_one() -> None:
    assert torch.allclose(lasso.directions(6).abs().sum(1), torch.ones(12 + 64, dtype=torch.float64))


def test_mean_squares_are_those_of_the_definition() -> None:
    phi, rho, z = (
        torch.rand(9, 4, generator=GENERATOR, dtype=torch.float64),
        torch.randn(4, dtype=torch.float64),
        0.1 * torch.randn(9, dtype=torch.float64),
    )
    f = torch.sin(phi[:, 0])
    moves = torch.randn(3, 4, generator=GENERATOR, dtype=torch.float64)
    expected = [((f + z - phi @ (rho + move)) ** 2 - z**2).mean() for move in moves]
    assert torch.allclose(lasso.mean_squares(phi, f - phi @ rho, z, moves), torch.stack(expected))
    assert torch.allclose(lasso.noise(phi, z), 2 * (z[:, None] * phi).mean(0))


def test_a_pool_knows_its_norms() -> None:
    phi, rho = (
        torch.rand(9, 4, generator=GENERATOR, dtype=torch.float64),
        torch.tensor([1.0, -2.0, 0.0, 0.5], dtype=torch.float64),
    )
    pool = lasso.Pool.of(phi, phi @ rho + 0.25, rho)
    assert (pool.norm, pool.eps_dis) == (3.5, pytest.approx(0.25))
    assert float(pool.risk(rho)) == pytest.approx(0.0625)
