"""Whole numbers inside a function on balls: what Python computes with them is exact, or is not an integer any more."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numeric.balls import BallArray, working_precision
from numeric.balls.integers import ExactInteger
from numeric.balls.running import run_on_balls

WHOLE: list[Callable[..., Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.lshift,
    operator.rshift,
    operator.pow,
]
ONE: list[Callable[..., Any]] = [operator.neg, operator.pos, abs, round, lambda n: round(n, -1), lambda n: pow(n, 3, 7)]


def contains(ball: BallArray, exact: Fraction) -> bool:
    return bool(ball.balls[0].contains(flint.fmpq(exact.numerator, exact.denominator)))


@pytest.mark.parametrize("operation", WHOLE, ids=lambda each: each.__name__)
@given(left=st.integers(0, 50), right=st.integers(1, 20))
def test_whole_results_stay_exact_whole_numbers(operation: Callable[..., Any], left: int, right: int) -> None:
    for pair in ((ExactInteger(left), right), (left, ExactInteger(right))):
        found = operation(*pair)
        assert type(found) is ExactInteger
        assert int(found) == operation(left, right)


@pytest.mark.parametrize("operation", ONE)
@given(number=st.integers(-50, 50))
def test_functions_of_one_whole_number_stay_exact(operation: Callable[..., Any], number: int) -> None:
    found = operation(ExactInteger(number))
    assert type(found) is ExactInteger
    assert int(found) == operation(number)


@given(left=st.integers(-50, 50), right=st.integers(1, 20))
def test_quotient_and_remainder_stay_exact(left: int, right: int) -> None:
    for found in (divmod(ExactInteger(left), right), divmod(left, ExactInteger(right))):
        assert found == divmod(left, right)
        assert {type(each) for each in found} == {ExactInteger}


@given(left=st.integers(-50, 50), right=st.integers(-20, 20).filter(bool))
def test_quotients_contain_the_exact_number(left: int, right: int) -> None:
    for found in (ExactInteger(left) / right, left / ExactInteger(right)):
        assert contains(found, Fraction(left, right))
        assert found.radius() < 1e-14


@given(base=st.integers(-9, 9).filter(bool), exponent=st.integers(-9, -1))
def test_negative_powers_contain_the_exact_number(base: int, exponent: int) -> None:
    for found in (ExactInteger(base) ** exponent, base ** ExactInteger(exponent)):
        assert contains(found, Fraction(base) ** exponent)


def test_roots_of_whole_numbers_are_balls() -> None:
    with working_precision(128):
        (ball,) = (ExactInteger(2) ** 0.5).balls
        assert (ball * ball).contains(2)
        assert ball.rad() < 1e-30


def test_they_compare_hash_and_index_as_integers() -> None:
    five = ExactInteger(5)
    assert five == 5
    assert four_to_six(five)
    assert {five: 1}[5] == 1
    assert "abcdefg"[five] == "f"
    assert len(range(five)) == 5
    assert f"{five:03d}" == "005"


def four_to_six(number: int) -> bool:
    return 4 < number <= 5 and 6 > number >= 5 and number != 4


SHAPES: dict[str, Callable[[Any], Any]] = {
    "1 / shape[0]": lambda x: x.sum() * (1 / x.shape[0]),
    "shape[-1] ** -1": lambda x: x.sum() * x.shape[-1] ** -1,
    "1 / size(0)": lambda x: x.sum() * (1 / x.size(0)),
    "1 / numel()": lambda x: x.sum() * (1 / x.numel()),
    "unpacked": lambda x: x.sum() * (1 / (lambda n: n)(*x.shape)),
    "1 / (2 * shape[0] - 3)": lambda x: x.sum() * (1 / (2 * x.shape[0] - 3)),
}


@pytest.mark.parametrize("mean", SHAPES.values(), ids=list(SHAPES))
def test_sizes_of_arrays_divide_exactly(mean: Callable[[Any], Any]) -> None:
    found = run_on_balls(mean, {"x": torch.ones(3, dtype=torch.float64)})
    assert (found - 1).contains(torch.zeros((), dtype=torch.float64).numpy())
    assert found.radius() < 1e-30
