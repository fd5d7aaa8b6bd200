"""Proximal gradient steps: soft thresholds, planted errors of the stated norm, exact steps on constant features."""

from fractions import Fraction

import pytest
import torch
from torch import Tensor

from numeric.topics.universal import proximal

GENERATOR = torch.Generator().manual_seed(5)
PHI = torch.rand(12, 4, generator=GENERATOR, dtype=torch.float64)
Y = torch.randn(12, generator=GENERATOR, dtype=torch.float64)


def test_a_soft_threshold_minimises_its_objective() -> None:
    x, grid = torch.linspace(-2, 2, 9, dtype=torch.float64), torch.linspace(-3, 3, 6001, dtype=torch.float64)
    costs = (x[:, None] - grid) ** 2 / 2 + 0.7 * grid.abs()
    assert torch.allclose(proximal.soft(x, 0.7), grid[costs.argmin(1)], atol=1e-3)


def test_the_gradient_is_autograds() -> None:
    rho = torch.tensor([0.3, -0.2, 0.0, 1.0], requires_grad=True, dtype=torch.float64)
    ((Y - PHI @ rho) ** 2).mean().backward()
    assert torch.allclose(proximal.gradient(PHI, Y, rho.detach()), rho.grad)


@pytest.mark.parametrize("push", [proximal.steepest, proximal.at_random(GENERATOR)], ids=["steepest", "random"])
def test_a_planted_error_has_its_norm(push: proximal.Push) -> None:
    eta, lam, error = 0.1, 0.05, 0.01
    found = proximal.path(PHI, Y, lam, eta, error, 30, push)
    before = torch.cat([torch.zeros(1, 4, dtype=torch.float64), found[:-1]])
    exact = [proximal.soft(rho - eta * proximal.gradient(PHI, Y, rho), eta * lam) for rho in before]
    assert torch.allclose((found - torch.stack(exact)).abs().sum(1), torch.full((30,), error, dtype=torch.float64))


def test_the_steepest_error_costs_more_than_any_coordinate() -> None:
    exact = torch.tensor([0.3, -0.2, 0.1, 0.4], dtype=torch.float64)
    slope = proximal.gradient(PHI, Y, exact) + 0.1 * exact.sign()
    away = proximal.steepest(exact, slope)

    def cost(error: Tensor) -> float:
        return float(proximal.objective(PHI, Y, exact + 1e-6 * error, 0.1))

    assert (
        cost(away) >= max(cost(sign * axis) for sign in (1, -1) for axis in torch.eye(4, dtype=torch.float64)) - 1e-12
    )


def test_errors_before_the_threshold_are_added_there() -> None:
    errors, thresholds = (
        0.01 * torch.randn(3, 4, generator=GENERATOR, dtype=torch.float64),
        torch.tensor([0.0, 0.01, -0.03], dtype=torch.float64),
    )
    rho = torch.zeros(4, dtype=torch.float64)
    for error, threshold in zip(errors, thresholds, strict=True):
        rho = proximal.soft(rho - 0.2 * proximal.gradient(PHI, Y, rho) + error, 0.2 * 0.1 + threshold)
    assert torch.equal(proximal.inexact(PHI, Y, 0.1, 0.2, errors, thresholds), rho)


def test_constant_features_are_the_general_case() -> None:
    n, lam = 3, Fraction(1, 4)
    entries = proximal.constant_steps(n, lam, 5)
    none = torch.zeros(5, n + 1, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
    found = proximal.inexact(
        torch.ones(2, n + 1, dtype=torch.float64), torch.ones(2, dtype=torch.float64), 0.25, 1 / (2 * n), *none
    )
    assert torch.allclose(found, torch.full((n + 1,), float(entries[-1]), dtype=torch.float64))
    value = proximal.objective(
        torch.ones(2, n + 1, dtype=torch.float64), torch.ones(2, dtype=torch.float64), found, 0.25
    )
    assert float(value) == pytest.approx(float(proximal.constant_objective(n, lam, entries[-1])))
    assert proximal.constant_objective(n, lam, Fraction(-1, 2)) == 9 + Fraction(1, 2)


def test_one_feature_that_is_one_alternates_for_ever_with_the_printed_step() -> None:
    entries = proximal.constant_steps(1, Fraction(1, 4), 1001)
    assert entries[::2] == [Fraction(0)] * 501
    assert set(entries[1::2]) == {Fraction(7, 8)}
    gap = proximal.constant_objective(1, Fraction(1, 4), entries[1000]) - Fraction(1, 4)
    assert gap == Fraction(3, 4)  # above n ||rho*||^2 / t of (99), for every even t >= 2
