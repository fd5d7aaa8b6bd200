"""Vectors for positions: gaps by definition, and a search that draws the same from the same seed."""

from fractions import Fraction

import pytest
import torch

from numeric.topics.looped import positions


def gap(vectors: torch.Tensor) -> float:
    """1 - <p_i, p_j> of vectors scaled to norm 1, pair by pair."""
    units = vectors.double() / torch.linalg.vector_norm(vectors.double(), dim=1, keepdim=True)
    pairs = [(i, j) for i in range(len(units)) for j in range(i)]
    return min(float(1 - units[i] @ units[j]) for i, j in pairs)


@pytest.mark.parametrize("count", [3, 4, 17, 32])
def test_digits_differ_in_one_place_at_least(count: int) -> None:
    signs = positions.digits(count)
    assert signs.shape == (count, (count - 1).bit_length())
    assert positions.gap_of_signs(signs) == Fraction(2, signs.shape[1])
    assert gap(signs) == pytest.approx(2 / signs.shape[1])


@pytest.mark.parametrize("count", [3, 8, 50])
def test_points_of_a_circle_are_equally_far(count: int) -> None:
    points = positions.on_circle(count)
    assert gap(points) == pytest.approx(1 - float(positions.largest_product(points)))
    assert gap(points) == pytest.approx(float(1 - torch.cos(torch.tensor(2 * torch.pi / count, dtype=torch.float64))))


def test_a_search_ends_in_signs_with_the_gap_and_repeats_itself() -> None:
    first, again = (positions.least_signs(20, 40, Fraction(1, 2), seed=3) for _ in range(2))
    assert first is not None
    assert again is not None
    assert torch.equal(first, again)
    assert gap(first) > 0.5
    assert first.shape[1] < 40


def test_a_search_where_no_draw_will_do_finds_nothing() -> None:
    assert positions.least_signs(64, 5, Fraction(1, 2), seed=0) is None
    assert positions.found_signs(2, 1, Fraction(2), seed=0) is None  # 1 and -1: a gap of 2, not above it
