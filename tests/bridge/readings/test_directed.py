"""Enclosures at operands chosen by hand; a case that is wrong in any way is noticed."""

from dataclasses import replace
from typing import Any

import pytest

from tests.bridge.readings.directed import CASES
from tests.bridge.readings.directed.case import Directed

BY_NAME = {case.name: case for case in CASES}
PLAIN = BY_NAME["softmax of equal scores"]


@pytest.mark.parametrize("name", BY_NAME)
def test_an_enclosure_holds_what_it_may_and_no_more_than_is_said(name: str) -> None:
    BY_NAME[name].check()


def test_each_case_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(CASES)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"moves": ({"s": [0.8, -0.8]},)}, "'s', 'radius'"),
        ({"moves": ({"s": [0.7, -0.7]},)}, "'radius', 0."),
        ({"attained": {"one": 0.99}}, "'one', 1.0"),
        ({"emulated": ([1.0, 1.0], [1.0, 1.0])}, "softmax of equal scores"),
        ({"beyond": ("w",)}, "softmax of equal scores"),
        ({"stopped": "'w' names no operands"}, "softmax of equal scores"),
        ({"refused": "the largest score"}, "nothing is refused"),
    ],
    ids=str,
)
def test_a_case_that_does_not_hold_is_noticed(changes: dict[str, Any], words: str) -> None:
    wrong: Directed = replace(PLAIN, **changes)
    with pytest.raises(AssertionError, match=words):
        wrong.check()
