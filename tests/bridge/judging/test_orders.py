"""Orders read off several sizes: which stated order they support, and what is refused."""

import math

import pytest

import boundsmith as bs
from bridge.judging.orders import order_sides
from symbolic.words.errors import UsageError


@pytest.mark.parametrize(
    ("order", "measured", "supported"),
    [(2, 1.8, True), (2, 1.5, False), (2, 1.1, False), (1, 0.2, False), (1, 2.0, False)],
    ids=["near", "between", "order-lower", "constant", "faster"],
)
def test_an_order_is_supported_near_the_stated_one(order: int, measured: float, *, supported: bool) -> None:
    gaps = {n: (n / 8) ** -measured for n in (8, 16, 32)}
    assert bool(order_sides(order, gaps, seen=True).computed) is supported
    assert bool(order_sides(order, gaps, proved=True).proved) is supported
    assert not order_sides(order, gaps).computed  # noise


@pytest.mark.parametrize(
    ("middle", "measured", "supported"), [(1.0, 2.535, False), (7.5e-3, 2.0, True), (1e-4, 1.527, False)]
)
def test_all_sizes_count(middle: float, measured: float, *, supported: bool) -> None:
    found = bs.checks.order_sides(2, {10: 3e-2, 20: middle, 100: 3e-4}, seen=True)
    assert found.measured == pytest.approx(measured, abs=0.01)
    assert (found.derived, bool(found.computed)) == (2, supported)
    assert found.remark.startswith("0.03 at n = 10, ")


def test_the_order_that_is_shown_is_near_what_it_supports() -> None:
    factor = (2048 / 8) ** -0.399  # at half of the sizes: no more than two sizes may differ by
    found = bs.checks.order_sides(
        2, {n: n**-2.0 * (1 if n < 100 else factor) for n in (8, 9, 10, 100, 110, 2048)}, seen=True
    )
    assert found.measured == pytest.approx(2.48, abs=0.01)
    assert found.computed == ()


def test_the_words_name_the_sizes() -> None:
    faster = bs.checks.order_sides(2, {10: 3e-2, 100: 3e-5}, words=lambda n: f"N = {n}", seen=True)
    assert (faster.computed, faster.remark) == ((), "0.03 at N = 10, 3.000e-05 at N = 100")


def test_without_a_difference_there_is_no_order() -> None:
    found = bs.checks.order_sides(1, {10: 0.1, 20: 0.0}, seen=True)
    assert (found.measured, found.computed, found.remark) == (None, (), "no order: a difference is 0")
    wild = bs.checks.order_sides(1, {10: 0.1, 20: math.nan}, seen=True)
    assert (wild.measured, wild.computed, wild.remark) == (None, (), "no order: the difference at n = 20 is not finite")


@pytest.mark.parametrize(
    ("gaps", "words"),
    [
        ({}, r"got the sizes \[\]; give differences at two or more sizes"),
        ({10: 0.1}, r"got the sizes \[10\]; give differences at two or more sizes"),
        ({0: 0.1, 10: 0.2}, "a size = 0; give a whole number, at least 1"),
    ],
)
def test_sizes_that_give_no_order_are_refused(gaps: dict[int, float], words: str) -> None:
    with pytest.raises(UsageError, match=f"order_sides: {words}"):
        order_sides(1, gaps)
