"""Every operation on balls against torch in float64, and a wrong implementation of each one that must be noticed."""

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.balls import BallArray, Truth, dispatch
from numeric.balls.conversion import boxed
from numeric.balls.running import run_on_balls
from tests.numeric.balls.operations import IN_THE_UNIT_INTERVAL, OPERATIONS, POSITIVE, arguments

ROUNDING = 1e-12  # of torch in float64, relative, at these sizes and conditions

sizes = st.integers(1, 4)


def agrees(name: str, k: int, m: int, n: int, seed: int) -> bool:
    function, values = prepared(name, k, m, n, seed)
    expected = function(**values)
    found = run_on_balls(function, values)
    return tuple(found.shape) == tuple(expected.shape) and near(found, expected)


def near(found: BallArray | Truth, expected: torch.Tensor) -> bool:
    if isinstance(found, Truth):
        return bool(np.array_equal(found.decided("test"), expected.numpy()))
    values = expected.double().numpy()
    error = np.abs(values - found.midpoint())
    return bool((error <= found.radius() + ROUNDING * (1 + np.abs(values))).all())


def prepared(name: str, k: int, m: int, n: int, seed: int) -> tuple:
    function, values = OPERATIONS[name], arguments(k, m, n, seed)
    if inspect.isfunction(function) and function.__name__ == "<lambda>":
        return function, {each: values[each] for each in inspect.signature(function).parameters}
    pairwise = {"maximum": "xy", "minimum": "xy", "lerp": "xyp"}.get(name)
    letters = pairwise or ("p" if name in POSITIVE else "u" if name in IN_THE_UNIT_INTERVAL else "x")
    return lambda **given: function(*given.values()), {letter: values[letter] for letter in letters}


def test_the_table_lists_each_operation_once():
    assert set(OPERATIONS) == set(dispatch.FUNCTIONS)


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=3)
@given(k=sizes, m=sizes, n=sizes, seed=st.integers(0, 1000))
def test_balls_agree_with_torch(name, k, m, n, seed):
    assert agrees(name, k, m, n, seed)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_wrong_implementation_is_noticed(name, monkeypatch):
    right = dispatch.FUNCTIONS[name]

    def wrong(*args, **kwargs):
        monkeypatch.setitem(dispatch.FUNCTIONS, name, right)  # else the wrong entries would be computed by itself
        result = right(*args, **kwargs)
        monkeypatch.setitem(dispatch.FUNCTIONS, name, wrong)
        return tuple(map(spoilt, result)) if isinstance(result, tuple) else spoilt(result)

    assert agrees(name, 3, 3, 3, 7)
    monkeypatch.setitem(dispatch.FUNCTIONS, name, signed(wrong, right))
    assert not agrees(name, 3, 3, 3, 7)


def signed(wrong, right):
    wrong.__signature__ = inspect.signature(right)
    return wrong


def spoilt(result):
    """Off by 2^-20, or the negation."""
    if isinstance(result, Truth):
        return Truth.of_entries(boxed([not truth for truth in result.entries.flat], result.shape))
    return BallArray([ball + 2.0**-20 for ball in result.balls], tuple(result.shape), result.bits)
