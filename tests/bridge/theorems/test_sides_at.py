"""A number of inputs as a check shows it: the float beside the exact one, or the float alone where that is too much."""

from fractions import Fraction

import torch

from bridge.theorems.check import sides_at
from numeric.balls import BallArray
from numeric.balls.limits import ExactCost, TooLargeForExact

THIRDS = torch.tensor([0.1, 0.2, 0.4], dtype=torch.float64)


def test_the_exact_number_is_that_of_the_floats_given_and_rounding_is_their_distance() -> None:
    found = sides_at(lambda x: x.sum() / 3, THIRDS)
    exact = sum(map(Fraction, THIRDS.tolist()), Fraction(0)) / 3
    assert found.found is not None
    assert found.rounding is not None
    assert abs(Fraction(float(found.found.mid())) - exact) <= Fraction(2) ** -54
    assert found.measured == float(THIRDS.sum() / 3)
    assert abs(Fraction(found.measured) - exact) <= Fraction(found.rounding) < Fraction(2) ** -50


def test_a_number_that_is_too_much_for_balls_is_the_float_alone() -> None:
    def number(x: torch.Tensor | BallArray) -> torch.Tensor:
        if isinstance(x, BallArray):
            raise TooLargeForExact("a number", 8, ExactCost(10, 10), 1)
        return x.sum()

    found = sides_at(number, THIRDS)
    assert (found.found, found.rounding) == (None, None)
    assert found.measured == float(THIRDS.sum())
    assert found.remark == "too large for exact arithmetic"
