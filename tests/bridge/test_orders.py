"""Orders read off several sizes: which stated order they support, and what is refused."""

import pytest

import boundsmith as bs
from bridge.orders import order_sides
from symbolic.statements import UsageError


@pytest.mark.parametrize(
    ("order", "measured", "supported"),
    [(2, 1.8, True), (2, 1.5, False), (2, 1.1, False), (1, 0.2, False), (1, 2.0, False)],
    ids=["near", "between", "order-lower", "constant", "faster"],
)
def test_an_order_is_supported_near_the_stated_one(order: int, measured: float, *, supported: bool) -> None:
    gaps = {8: 1.0, 16: 0.5, 32: 4.0**-measured}
    assert bool(order_sides(order, gaps, seen=True).computed) is supported
    assert bool(order_sides(order, gaps, proved=True).proved) is supported
    assert not order_sides(order, gaps).computed  # noise


def test_the_order_is_that_between_the_smallest_and_the_largest_size() -> None:
    found = bs.order_sides(2, {10: 3e-2, 20: 1.0, 100: 3e-4}, seen=True)
    assert found.measured == pytest.approx(2.0)
    assert (found.derived, found.computed) == (2, ("derived",))
    assert found.remark.startswith("0.03 at n = 10, 1 at n = 20")
    faster = bs.order_sides(2, {10: 3e-2, 100: 3e-5}, words=lambda n: f"N = {n}", seen=True)
    assert (faster.computed, faster.remark) == ((), "0.03 at N = 10, 3.000e-05 at N = 100")


def test_without_a_difference_there_is_no_order() -> None:
    found = bs.order_sides(1, {10: 0.1, 20: 0.0}, seen=True)
    assert (found.measured, found.computed, found.remark) == (None, (), "no order: a difference is 0")
    for gaps in ({}, {10: 0.1}, {0: 0.1, 10: 0.2}):
        with pytest.raises(UsageError, match=r"order_sides: got the sizes .* give differences at two or more sizes"):
            order_sides(1, gaps)
