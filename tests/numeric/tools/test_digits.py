"""Two numbers in a sentence: six digits, or as many as tell them apart."""

import math

import pytest

from numeric.balls.digits import apart


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (2.0, 0.5, ("2", "0.5")),
        (1 / 3, 0.25, ("0.333333", "0.25")),
        (1.48192004, 1.48192, ("1.48192004", "1.48192")),
        (1.379168068020037, 1.379168068020035, ("1.379168068020037", "1.379168068020035")),
        (math.nextafter(1.0, 2.0), 1.0, ("1.0000000000000002", "1")),
        (0.1, 0.1, ("0.1", "0.1")),
        (math.inf, 1e300, ("inf", "1e+300")),
    ],
)
def test_numbers_that_differ_look_different(first: float, second: float, expected: tuple[str, str]) -> None:
    assert apart(first, second) == expected
    assert apart(second, first) == expected[::-1]
