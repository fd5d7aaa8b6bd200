"""The bounds on spectral norms: never below the largest singular value, and above it by no more than they say."""

import pytest
import torch

from bridge.readings.arrays import EXACT_SIDE, ROOT, spectral, spectral_of_scaled

SHAPES = [(2, 5), (8, 40), (9, 9), (16, 10), (40, 64), (64, 64), (130, 150)]


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rotation(m: int) -> torch.Tensor:
    return torch.linalg.qr(random(m, m))[0]


def most(m: int) -> float:
    """The largest ratio to the largest singular value."""
    return 1.0 if m <= EXACT_SIDE else m ** (ROOT / 2) * (1 + m**2 * 2.0**-23)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_a_bound_is_at_least_the_norm_and_not_far_above(shape: tuple[int, int], scale: float) -> None:
    tokens = scale * random(5, *shape)
    ratios = spectral(tokens) / torch.linalg.matrix_norm(tokens, 2)
    assert ratios.min() >= 1 - 1e-12
    assert ratios.max() <= most(min(shape)) * (1 + 1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scaled_rows_are_those_of_the_product(shape: tuple[int, int]) -> None:
    rows, matrix = random(5, shape[0], seed=1), random(*shape)
    rows[0], rows[1, 1:] = 0, 0  # a zero matrix, and one row
    exact = torch.linalg.matrix_norm(rows.unsqueeze(-1) * matrix, 2)
    found = spectral_of_scaled(rows, matrix)
    assert found[0] == 0
    assert ((found / exact)[1:] >= 1 - 1e-12).all()
    assert ((found / exact)[1:] <= most(min(shape)) * (1 + 1e-12)).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_neither_small_nor_large_matrices_leave_the_range_of_the_floats(shape: tuple[int, int], scale: float) -> None:
    rows, matrix = random(5, shape[0], seed=1), random(*shape)
    ratios = spectral_of_scaled(rows, scale * matrix) / spectral_of_scaled(rows, matrix) / scale
    torch.testing.assert_close(ratios, torch.ones_like(ratios), rtol=1e-3, atol=0)


@pytest.mark.parametrize("m", [9, 64, 128])
def test_equal_singular_values_are_the_worst_case(m: int) -> None:
    ratio = spectral(rotation(m)).item()
    assert ratio == pytest.approx(most(m), rel=m**2 * 2.0**-23)
    assert ratio >= m ** (ROOT / 2)


@pytest.mark.parametrize("m", [4, 32])
def test_gradients_are_those_of_the_norm_and_finite_at_0(m: int) -> None:
    left, right = random(m), random(m, seed=1)
    led = random(m, m) / m + torch.outer(left, right) / m
    a = torch.stack([led, torch.zeros(m, m)]).requires_grad_()
    (gradient,) = torch.autograd.grad(torch.vmap(spectral)(a).sum(), a)
    assert gradient.isfinite().all()
    u, s, vh = torch.linalg.svd(led)
    assert s[1] < 0.9 * s[0]
    torch.testing.assert_close(gradient[0], torch.outer(u[:, 0], vh[0]), rtol=0, atol=2e-3)
