"""Enclosures in words: rounded outward, with as many digits as the ends agree on."""

import math

import pytest

from bridge.topics.machines.intervals import interval_words


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (0.47145671, 0.47189999, "[0.4714, 0.4719]"),
        (0.471404520791, 0.471404521, "[0.4714045207, 0.471404521]"),
        (0.5, 0.5, "[0.5, 0.5]"),
        (1.0, math.inf, "[1, inf]"),
        (0.0, 0.3, "[0, 0.3]"),
        (1 / 3, 1 / 3, "[0.333333333333, 0.333333333334]"),
    ],
    ids=str,
)
def test_intervals_are_rounded_outward(lower: float, upper: float, words: str) -> None:
    assert interval_words(lower, upper) == words
