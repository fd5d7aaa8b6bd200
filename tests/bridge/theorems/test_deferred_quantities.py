"""Quantities of a statement that are derived when they are shown."""

import subprocess
import sys

import pytest

from symbolic.statements.deferred import Deferred

# In a process of its own: type checks look at the entries of a sequence.
COMPARED = """
from dataclasses import replace

from bridge.questions.compare import compare
from bridge.export.violations import reasons
from bridge.topics.icgd.step import theorem_of
from symbolic.statements.deferred import Deferred

def refused():
    raise RuntimeError("the quantities of any depth were derived")

ours = theorem_of("FORWARD")
statement = replace(ours.statement, id="own.forward", quantities=Deferred(refused))
comparison = compare(replace(ours, statement=statement), N=1, samples=2, attack=0)
assert {row.quantity for row in comparison} >= {"p[1]", "range_r", "norm[forward]"}
assert not reasons(comparison)
"""


def test_a_deferred_sequence_is_made_once_and_on_first_use() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(0)
        return [1, 2]

    numbers = Deferred(make)
    assert not made
    assert (list(numbers), len(numbers), numbers[1], numbers[:1], 2 in numbers) == ([1, 2], 2, 2, (1,), True)
    assert made == [0]


@pytest.mark.long
def test_a_comparison_derives_nothing_for_any_depth_where_each_point_has_quantities_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", COMPARED], check=True)
