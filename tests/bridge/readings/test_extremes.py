"""Norms and extremes at what no random program has: wide balls, ties, norms of 0, infinity times 0."""

import flint
import numpy as np
import pytest
import torch

from bridge.readings.arrays import bounding, flat_at_zero, spectral, unit_vector
from bridge.readings.enclosed import Enclosed, Image, gain
from bridge.readings.errors import Error
from bridge.readings.numbers import norm_below
from numeric.balls import BallArray, BallsError
from symbolic.derivations.derivation import Norm


def between(low: float, high: float) -> flint.arb:
    return flint.arb((low + high) / 2, (high - low) / 2)


def test_the_spectral_norm_of_wide_balls_holds_for_all_matrices_in_them() -> None:
    wide = BallArray([between(0.5, 1.5), between(-1.0, 1.0), between(-1.0, 1.0), between(0.5, 1.5)], (2, 2), 128)
    assert float(spectral(wide).entries.item().upper()) >= 2.5  # of [[1.5, 1], [1, 1.5]]
    narrow = BallArray.exactly(np.array([[1.5, 1.0], [1.0, 1.5]]))
    assert float(spectral(narrow).midpoint()) == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("entry", [torch.inf, -torch.inf, torch.nan])
def test_a_matrix_beyond_floats_has_an_infinite_norm_and_none_is_known_from_below(entry: float) -> None:
    wide = torch.eye(3).expand(2, 3, 3).clone().double()
    wide[1, 0, 2] = entry
    assert spectral(wide).tolist() == [1.0, torch.inf]
    assert float(norm_below(wide[1], Norm.TWO, Norm.TWO)) == 0.0
    ball = BallArray([flint.arb(each) for each in wide[1].flatten().tolist()], (3, 3), 128)
    assert norm_below(ball, Norm.TWO, Norm.TWO).entries.item() == 0


def test_a_norm_of_0_has_no_slope() -> None:
    norm = torch.tensor([0.0, 2.0], requires_grad=True, dtype=torch.float64)
    root = torch.sqrt(flat_at_zero(norm) ** 2 + torch.tensor([1.0, 0.0], dtype=torch.float64))
    (slopes,) = torch.autograd.grad((flat_at_zero(norm) + root).sum(), norm)
    assert slopes.tolist() == [0.0, 2.0]


def test_what_is_no_number_bounds_nothing() -> None:
    assert bounding(torch.tensor([torch.nan, 1.0], dtype=torch.float64)).tolist() == [torch.inf, 1.0]


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([(1, 1), (1, 1)], 0),
        ([(0, 0), (1, 1), (1, 1)], 1),
        ([(0, 0.5), (0.75, 1), (0, 0.5)], 1),
        ([(0.75, 1), (0, 0.5)], 0),
    ],
)
def test_the_first_of_the_largest_scores_wins(scores: list[tuple[float, float]], winner: int) -> None:
    found = unit_vector(BallArray([between(*each) for each in scores], (len(scores),), 128)).midpoint()
    assert found.tolist() == [float(place == winner) for place in range(len(scores))]


@pytest.mark.parametrize(
    "scores",
    [[(0, 2), (1, 1.5)], [(1, 1), (0, 2)], [(0, 1), (1, 2)], [(0, 0.5), (1, 2), (0, 1.5)]],
    ids=["wider before", "wider behind", "a tie or not", "one of three"],
)
def test_scores_that_balls_do_not_tell_apart_have_no_winner(scores: list[tuple[float, float]]) -> None:
    with pytest.raises(BallsError, match="the largest score"):
        unit_vector(BallArray([between(*each) for each in scores], (len(scores),), 128))


def test_the_gain_of_slopes_that_differ_is_that_of_the_scaled_matrix() -> None:
    """Token by token, and of one value without tokens."""
    matrix = torch.tensor([[3.0, 0.0], [4.0, 0.0]], dtype=torch.float64)
    slopes = torch.tensor([[0.5, 1.0], [1.0, 0.5], [0.25, -2.0]], dtype=torch.float64)
    for slope, expected in ((slopes, [18.25**0.5, 13**0.5, 64.5625**0.5]), (slopes[2], 64.5625**0.5)):
        error = Error(torch.zeros_like(slope), torch.full_like(slope, 9.0))
        image = Image(matrix, lambda shape=slope.shape[:-1]: torch.ones(shape, dtype=torch.float64))
        assert gain(slope, Enclosed(slope, error, image)).tolist() == pytest.approx(expected)
