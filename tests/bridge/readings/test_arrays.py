"""The bounds on spectral norms: never below the largest singular value, and above it by no more than they say."""

from typing import Any

import pytest
import torch

from bridge.readings.arrays import EXACT_SIDE, ROOT, at_each, spectral, spectral_of_scaled
from numeric.balls import BallArray

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


# Entries are divided by what has to be of the size of the largest, or else their squares leave the range of float32.
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_negative_entries_and_tiny_ones_leave_the_scale_as_it_is(scale: float) -> None:
    rows, matrix = -abs(random(5, 16, seed=1)), -scale * abs(random(16, 40))
    rows[:, 0], matrix[:, 0] = -1e-60, -1e-60 * scale
    exact = torch.linalg.matrix_norm(rows.unsqueeze(-1) * matrix, 2)
    for found in (spectral(-rows.unsqueeze(-1) * matrix), spectral_of_scaled(rows, matrix)):
        assert ((found / exact) >= 1 - 1e-12).all()
        assert ((found / exact) <= most(16) * (1 + 1e-12)).all()


def test_the_margin_for_rounding_is_that_of_the_shorter_side() -> None:
    tall = torch.linalg.qr(random(2, 3, 128, 10))[0]
    for isometry in (tall, tall[0, 0], tall.mT):
        assert (spectral(isometry) >= 1).all()
        assert (spectral(isometry) <= most(10) * (1 + 1e-5)).all()  # 2e-3 of the longer side


# Of rank 1, all norms of powers are one: the bound is the norm, and in float32 the margin that the proof asks for.
@pytest.mark.parametrize(("m", "precision", "margin"), [
    (9, "highest", 81 * 2.0**-23), (128, "highest", 2.0**-9), (128, "medium", 0.0), (150, "highest", 0.0),
])  # fmt: skip
def test_the_bound_on_a_matrix_of_rank_1_is_its_norm_and_a_margin_for_rounding(
    m: int, precision: str, margin: float
) -> None:
    left, right = (torch.nn.functional.normalize(random(2, 3, m, seed=seed), dim=-1) for seed in (0, 1))
    former = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        found = spectral(left.unsqueeze(-1) * right.unsqueeze(-2))
    finally:
        torch.set_float32_matmul_precision(former)
    torch.testing.assert_close(
        found, torch.full((2, 3), 1 + margin, dtype=torch.float64), rtol=0, atol=1e-6 if margin else 1e-12
    )


def test_rows_of_a_value_without_tokens_are_scaled_as_those_of_a_token() -> None:
    rows, matrix = random(3, 16, seed=1), random(16, 40)
    alone = torch.stack([spectral_of_scaled(each, matrix) for each in rows])
    torch.testing.assert_close(alone, spectral_of_scaled(rows, matrix), rtol=1e-6, atol=0)
    tokens = spectral_of_scaled(rows.expand(2, 3, 16), matrix)
    torch.testing.assert_close(tokens, alone.expand(2, 3), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    "of", [torch.tensor, lambda x: BallArray.exactly(torch.tensor(x, dtype=torch.float64))], ids=["tensors", "balls"]
)
def test_a_function_at_each_point_is_that_at_one_after_another(of: Any) -> None:
    points, others = [of([1.0, 2.0]), of([3.0, 4.0])], [of([10.0, 20.0]), of([30.0, 40.0])]
    found = at_each(lambda x, y: (x * y).sum(-1), points, others)
    assert all(bool(each == value) for each, value in zip(found, [50.0, 250.0], strict=True))


@pytest.mark.parametrize("m", [9, 64, 128])
def test_equal_singular_values_are_the_worst_case(m: int) -> None:
    ratio = spectral(rotation(m)).item()
    assert ratio == pytest.approx(most(m), rel=m**2 * 2.0**-23)
    assert ratio >= m ** (ROOT / 2)


@pytest.mark.parametrize("m", [4, 32])
def test_gradients_are_those_of_the_norm_and_finite_at_0(m: int) -> None:
    left, right = random(m), random(m, seed=1)
    led = random(m, m) / m + torch.outer(left, right) / m
    a = torch.stack([led, torch.zeros(m, m, dtype=torch.float64)]).requires_grad_()
    (gradient,) = torch.autograd.grad(torch.vmap(spectral)(a).sum(), a)
    assert gradient.isfinite().all()
    u, s, vh = torch.linalg.svd(led)
    assert s[1] < 0.9 * s[0]
    torch.testing.assert_close(gradient[0], torch.outer(u[:, 0], vh[0]), rtol=0, atol=2e-3)
