"""What a float that Python computes may stand for: every number that it may have been rounded from."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numeric.balls import BallArray
from numeric.balls.floats import REACH, ball_of_operand, floats_enclosed
from numeric.balls.running import run_on_balls

HALF = 0.5
WRITTEN = {
    "a half": lambda x: x * 0.5,
    "minus a half": lambda x: x * -0.5,
    "a folded quotient": lambda x: x * (3 / 4),
    "in a list": lambda x: x * torch.tensor([0.5, 0.25, 2.0], dtype=torch.float64)[1],
    "given to a helper": lambda x: scaled(x, 0.5),
    "an infinite mask": lambda x: torch.softmax(torch.stack([x, x * 0 - math.inf]), 0)[0],
    "whole": lambda x: x * 3,
}
COMPUTED: dict[str, Callable[[Any], Any]] = {
    "1 minus almost nothing": lambda x: x * (1 - math.exp(-40)),
    "a quotient of floats": lambda x: x * (1.0 / float("3")),
    "the root of a whole number": lambda x: x * math.sqrt(2),
    "a root that Python gives as 2.0": lambda x: x * math.sqrt(4),
    "a constant of the module": lambda x: x * HALF,
    "in a list": lambda x: x * torch.tensor([math.sqrt(2), 1.0], dtype=torch.float64)[0],
    "as an exponent": lambda x: (x + 2) ** (1 / float("3")),
}
DECIMALS: dict[str, Callable[[Any], Any]] = {
    "a tenth": lambda x: x * 0.1,
    "a third": lambda x: x * (1 / 3),
    "tiny": lambda x: x * 1e-30,
}


def scaled(x: Any, factor: float) -> Any:
    return x * factor


def radius(function: Callable[[Any], Any]) -> float:
    """Of the value at 1, with floats enclosed."""
    return float(run_on_balls(function, {"x": torch.ones((), dtype=torch.float64)}, enclose_floats=True).radius())


@pytest.mark.parametrize("function", WRITTEN.values(), ids=list(WRITTEN))
def test_what_the_code_writes_out_is_exact(function: Callable[[Any], Any]) -> None:
    assert radius(function) < 1e-30


@pytest.mark.parametrize("function", COMPUTED.values(), ids=list(COMPUTED))
def test_what_python_computes_stands_for_its_neighbours(function: Callable[[Any], Any]) -> None:
    assert radius(function) > REACH / 4
    assert float(run_on_balls(function, {"x": torch.ones((), dtype=torch.float64)}).radius()) < 1e-30


@pytest.mark.parametrize("function", DECIMALS.values(), ids=list(DECIMALS))
def test_decimals_stand_for_numbers_relatively_near(function: Callable[[Any], Any]) -> None:
    value = float(run_on_balls(function, {"x": torch.ones((), dtype=torch.float64)}).midpoint())
    assert REACH / 2 < radius(function) / value < 2 * REACH


def test_arguments_are_the_floats_that_they_are() -> None:
    assert float(run_on_balls(lambda x: x, {"x": 0.1}, enclose_floats=True).radius()) == 0


def test_entries_of_arrays_are_exact_if_they_equal_their_decimals() -> None:
    table = torch.tensor([0.0, 1.0, -0.5, 0.1], dtype=torch.float64)
    radii = run_on_balls(lambda x: x * table, {"x": torch.ones(4, dtype=torch.float64)}, enclose_floats=True).radius()
    assert (radii > 0).tolist() == [False, False, False, True]


def test_what_a_function_returns_may_be_rounded_too() -> None:
    assert float(run_on_balls(lambda n: 1.0 / n, {"n": 3}, enclose_floats=True).radius()) > REACH / 4


def test_outside_every_float_is_itself_again() -> None:
    with floats_enclosed():
        assert ball_of_operand(float("0.1")).rad() > 0
        assert BallArray.exactly(0.1).radius() == 0
    assert ball_of_operand(float("0.1")).rad() == 0


def test_what_cancels_keeps_the_roundings_of_its_terms() -> None:
    """0.1 + 0.2 - 0.3 is 2^-54 in floats: its terms are of size 1, and so are their roundings."""
    with floats_enclosed():
        left = ball_of_operand(float("0.1") + float("0.2") - float("0.3"))
        right = ball_of_operand(float("-300.3") / float("3"))
    assert left.contains(0)
    assert not left.is_exact()
    assert float(right.rad()) > 99 * REACH


TERMS = st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 1000)), min_size=1, max_size=16)


@given(terms=TERMS)
def test_the_ball_holds_what_up_to_32_roundings_of_numbers_up_to_1_hid(terms: list[tuple[str, int]]) -> None:
    rounded, meant = 1.0, Fraction(1)
    for sign, size in terms:
        step, exactly = 1.0 / size, Fraction(1, size)
        if sign == "*" or abs(meant) + exactly > 1:
            rounded, meant = rounded * step, meant * exactly
        elif sign == "/":
            rounded, meant = rounded / size, meant / size
        else:
            rounded, meant = (rounded + step, meant + exactly) if sign == "+" else (rounded - step, meant - exactly)
    with floats_enclosed():
        assert ball_of_operand(rounded).contains(flint.fmpq(meant.numerator, meant.denominator))
