"""Bisection: how near the turn it ends, on which side, and what it evaluates."""

import math

import pytest

from numeric.search.bisection import last_that_holds


@pytest.mark.parametrize("turn", [0.1, 1 / 3, 0.9999])
@pytest.mark.parametrize("steps", [1, 10, 60])
def test_the_last_point_is_within_the_promised_distance(turn: float, steps: int) -> None:
    found = last_that_holds(lambda x: x <= turn, 0.0, 1.0, steps=steps)
    assert found <= turn <= found + 2.0**-steps


def test_it_is_the_square_root() -> None:
    assert last_that_holds(lambda x: x * x <= 2, 1.0, 2.0) == pytest.approx(math.sqrt(2), abs=1e-15)


def test_the_ends_are_not_evaluated() -> None:
    seen: list[float] = []

    def holds(x: float) -> bool:
        seen.append(x)
        return x < 3.5

    last_that_holds(holds, 2.0, 4.0, steps=3)
    assert seen == [3.0, 3.5, 3.25]
