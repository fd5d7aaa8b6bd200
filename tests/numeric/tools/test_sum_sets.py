"""B_h sets by brute force: all sums of h are told apart, and the marks stay below the bound."""

from itertools import combinations_with_replacement

import pytest

from numeric.networks.stream import StreamError
from numeric.tools.sum_sets import next_prime_power, sum_set


@pytest.mark.parametrize(("count", "h"), [(8, 1), (2, 2), (8, 2), (10, 2), (64, 2), (2, 3), (5, 3), (9, 3), (4, 4)])
def test_sums_of_h_marks_tell_which_they_are(count: int, h: int) -> None:
    marks = sum_set(count, h)
    sums = [sum(chosen) for chosen in combinations_with_replacement(marks, h)]
    assert len(set(sums)) == len(sums)
    assert len(marks) == count
    assert list(marks) == sorted(set(marks))
    assert marks[0] == 0
    prime, power = next_prime_power(count)
    assert marks[-1] <= (count - 1 if h == 1 else prime ** (power * h) - 2)


def test_marks_of_one_order_too_few_are_not_told_apart() -> None:
    sums = [sum(chosen) for chosen in combinations_with_replacement(sum_set(8, 2), 4)]
    assert len(set(sums)) < len(sums)


def test_prime_powers() -> None:
    found = [prime**power for prime, power in map(next_prime_power, range(1, 18))]
    assert found == [2, 2, 3, 4, 5, 7, 7, 8, 9, 11, 11, 13, 13, 16, 16, 16, 17]


@pytest.mark.parametrize(
    ("count", "h", "message"),
    [
        (0, 2, r"sum_set\(0, 2\): a number below 1. Give at least one mark"),
        (256, 3, r"sum_set\(256, 3\): a field of 16777216 elements. Give numbers with count\^h below"),
    ],
)
def test_refusals(count: int, h: int, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        sum_set(count, h)
