"""Numbers are shown so that what is shown stays true."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.theorems.numbers import ULPS, latex, plain, shown

magnitudes = st.floats(min_value=1e-300, max_value=1e300)


@given(magnitudes)
def test_a_bound_is_rounded_to_its_safe_side(value: float) -> None:
    slip = ULPS * math.ulp(value)
    assert shown(value, "derived", "upper") >= value - slip
    assert shown(value, "derived", "lower") <= value + slip
    assert shown(value, "exact", "lower") >= value - slip
    assert shown(value, "derived", "upper") <= value * (1 + 1.01e-3)


@given(st.integers(1000, 9999), st.integers(-200, 200), st.integers(-9, 9))
def test_what_float_operations_leave_of_a_round_number_is_shown_round(digits: int, exponent: int, steps: int) -> None:
    round_number = float(f"{digits}e{exponent}")
    value = round_number + steps * math.ulp(round_number)
    bounds = {kind: shown(value, "derived", kind) for kind in ("upper", "lower")}
    if abs(steps) <= ULPS - 1:  # below a power of two the unit of `value` is half of that of the round number
        assert set(bounds.values()) == {round_number} or math.ulp(value) < math.ulp(round_number)
    elif abs(steps) > 2 * ULPS:
        assert bounds["lower"] <= value <= bounds["upper"]
        assert bounds["lower"] < bounds["upper"]


@given(magnitudes, magnitudes)
def test_rounding_keeps_the_order_of_error_and_bound(one: float, other: float) -> None:
    error, bound = sorted((one, other))
    assert shown(error, "measured", "upper") <= shown(bound, "derived", "upper")
    assert shown(error, "derived", "lower") <= shown(bound, "measured", "lower")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (0.25, "0.25"),
        (0.12341, "0.1235"),
        (1.0, "1"),
        (0.1 * 0.1, "0.01"),
        (2.6000000000000005, "2.6"),
        (2.600000000001, "2.601"),
        (2e-16, "2.000e-16"),
        (123456789.0, "1.235e+08"),
        (float("inf"), "inf"),
    ],
)
def test_plain(value: float | None, text: str) -> None:
    assert plain(value, "derived", "upper") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "--"),
        (0.0, "$0$"),
        (0.25, "$0.25$"),
        (1.2e-3, r"$1.200\cdot 10^{-3}$"),
        (1234.5, r"$1.235\cdot 10^{3}$"),
        (float("inf"), r"$\infty$"),
        (float("-inf"), r"$-\infty$"),
    ],
)
def test_latex(value: float | None, text: str) -> None:
    assert latex(value, "printed", "upper") == text


def test_the_ends_of_an_interval_over_seeds_move_outwards() -> None:
    for value in (0.123456, 0.123444, -0.123456):
        assert shown(value, "at_least", "upper") < value < shown(value, "at_most", "lower")
