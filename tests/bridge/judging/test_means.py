"""Root mean squares by sampling, against their known values."""

import math

import pytest
import torch

from bridge.judging.means import root_mean_square, uniform


@pytest.mark.parametrize(("power", "exact"), [(1, 1 / 3), (4, 1 / 9), (0, 1)])
def test_the_interval_has_the_root_of_the_mean_square(power: int, exact: float) -> None:
    for seed in range(200):
        found = root_mean_square(uniform(400, seed) ** power, 1.0)
        assert found.found.contains(math.sqrt(exact))
        assert found.found.contains(found.measured)
        assert found.samples == 400


def test_the_interval_narrows_with_the_samples_and_scales_with_the_errors() -> None:
    errors = uniform(100_000, 0)
    few, many = (float(root_mean_square(errors[:count], 1.0).found.rad()) for count in (1000, 100_000))
    assert many < few / 5
    large, small = root_mean_square(errors, 1.0), root_mean_square(errors * 1e-6, 1e-6)
    assert small.measured == pytest.approx(large.measured * 1e-6)
    assert float(small.found.rad()) == pytest.approx(float(large.found.rad()) * 1e-6)
    assert "between 0.57" in large.remark
    assert large.remark.endswith("at a confidence of 1 - 1e-06, as no error is above 1")


def test_one_error_says_that_the_mean_is_at_most_the_largest_one() -> None:
    found = root_mean_square(torch.tensor([0.5], dtype=torch.float64), 2.0).found
    assert found.contains(0)
    assert found.contains(2)
    assert found.rad() < 1.001


def test_uniform_numbers_are_reproducible_and_within_their_range() -> None:
    x = uniform(1000, 3, 2, 5)
    assert x.shape == (1000, 2, 5)
    assert torch.equal(x, uniform(1000, 3, 2, 5))
    assert not torch.equal(x, uniform(1000, 4, 2, 5))
    assert 0 <= float(x.min()) < 0.01 < 0.99 < float(x.max()) <= 1
