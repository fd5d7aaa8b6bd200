"""Best-first branch and bound: what is cut, in which order, and what is left when it ends."""

from collections.abc import Iterator

import pytest

from bridge.lowering.branch_and_bound import best_first, cut_across

Range = tuple[float, float]


def halves(part: Range) -> Iterator[tuple[float, Range]]:
    """Of a range, each with the least value of x on it as its bound; those above 3/4 are settled."""
    middle = sum(part) / 2
    return ((low, (low, high)) for low, high in ((part[0], middle), (middle, part[1])) if low < 0.75)


def test_the_least_bound_is_cut_first_until_it_is_enough() -> None:
    seen = []

    def enough(bound: float, part: Range) -> bool:
        seen.append(part)
        return part[1] - part[0] <= 1 / 8

    left = best_first([(0.0, (0.0, 1.0))], halves, enough)
    assert seen == [(0.0, 1.0), (0.0, 0.5), (0.0, 0.25), (0.0, 0.125)]
    assert left.least(9.0) == 0.0
    assert sorted(part for _, part in left.parts) == [(0.0, 0.125), (0.125, 0.25), (0.25, 0.5), (0.5, 1.0)]
    assert left.seen == 7


def test_of_equal_bounds_the_oldest_is_cut_first() -> None:
    seen = []

    def never(bound: float, name: str) -> bool:
        seen.append(name)
        return False

    best_first([(0.0, "a"), (0.0, "b")], lambda name: [(0.0, name * 2)], never, most=6)
    assert seen == ["a", "b", "aa", "bb", "aaaa"]


def test_settled_parts_are_never_cut_and_none_may_be_left() -> None:
    left = best_first([(0.0, (0.5, 1.0))], halves, lambda bound, part: part[1] <= 0.75)
    assert [part for _, part in left.parts] == [(0.5, 0.75)]
    none = best_first([(0.0, (0.8, 1.0))], halves, lambda bound, part: False)
    assert (none.parts, none.least(9.0), none.seen) == ([], 9.0, 1)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_a_budget_of_parts_ends_it(most: int) -> None:
    left = best_first([(0.0, (0.0, 0.5))], halves, lambda bound, part: False, most=most)
    assert most <= left.seen <= most + 1
    assert min(part[0] for _, part in left.parts) == 0.0


def test_a_check_that_raises_ends_it() -> None:
    def late() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        best_first([(0.0, (0.0, 1.0))], halves, lambda bound, part: False, check=late)


def test_a_box_is_cut_across_one_coordinate() -> None:
    box = ((0, 4), (1, 3))
    assert cut_across(box, 1, 2) == (((0, 4), (1, 2)), ((0, 4), (2, 3)))


def test_parts_that_come_in_no_order_are_cut_by_their_bounds() -> None:
    seen = []

    def never(bound: float, part: str) -> bool:
        seen.append(part)
        return False

    best_first([(3.0, "d"), (2.0, "c"), (0.0, "a"), (1.0, "b")], lambda part: [], never)
    assert seen == ["a", "b", "c", "d"]
