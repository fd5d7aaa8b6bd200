"""Spectra by quadrature: transforms that are known, and masses."""

import math

import pytest
import torch

from numeric.topics.universal.spectra import line_transform, product_mass, radial_mass, ridge_mass


def gaussian(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(-(x**2) / 2)


def test_the_transform_of_a_gaussian_and_of_the_logistic_slope() -> None:
    omega = torch.linspace(0.1, 6, 7, dtype=torch.float64)
    assert torch.allclose(line_transform(gaussian, omega, 1.0), gaussian(omega) / math.sqrt(2 * math.pi), atol=1e-14)
    found = line_transform(lambda x: torch.sigmoid(x) * torch.sigmoid(-x), omega, 1.0)
    assert torch.allclose(found, omega / (2 * torch.sinh(torch.pi * omega)), atol=1e-14)  # (134)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_three_routes_to_one_mass(d: int) -> None:
    mean_norm = math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    assert abs(product_mass(gaussian, d, 1.0) - mean_norm) < 1e-11
    density = (2 * math.pi) ** (-d / 2)
    assert abs(radial_mass(lambda r: density * math.exp(-(r**2) / 2), d, 1.0) - mean_norm) < 1e-11


def test_a_ridge() -> None:
    assert abs(ridge_mass(lambda x: 3 / torch.cosh(3 * x) ** 2, 1 / 6) - 3) < 1e-12
