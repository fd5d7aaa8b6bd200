"""Numbers are shown so that what is shown stays true."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.export.numbers import latex, plain, shown

magnitudes = st.floats(min_value=1e-300, max_value=1e300)


@given(magnitudes)
def test_a_bound_is_rounded_to_its_safe_side(value: float) -> None:
    assert shown(value, "derived", "upper") >= value
    assert shown(value, "derived", "lower") <= value
    assert shown(value, "exact", "lower") >= value
    assert shown(value, "derived", "upper") <= value * (1 + 1.01e-3)


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
        (1.2e-3, r"$1.20\cdot 10^{-3}$"),
        (1234.5, r"$1.24\cdot 10^{3}$"),
        (float("inf"), r"$\infty$"),
        (float("-inf"), r"$-\infty$"),
    ],
)
def test_latex(value: float | None, text: str) -> None:
    assert latex(value, "printed", "upper") == text
