"""The house: no circle of imports, no class that a reader cannot hold, and a measure that notices what it measures."""

import pytest

from benchmarks import structure

MOST_NAMES = 20  # of a class, public ones, inherited ones counted


def test_no_file_stands_in_a_circle() -> None:
    assert structure.circles_of_modules() == []


def test_no_class_of_the_engine_has_more_names_than_a_reader_holds() -> None:
    found = structure.public_names(["bridge.instances", "bridge.judging"])
    assert len(found) > 30
    assert {name: count for name, count in found.items() if count > MOST_NAMES} == {}


@pytest.mark.parametrize(
    ("arrows", "expected"),
    [
        ({"a": ["b"], "b": []}, []),
        ({"a": ["b"], "b": ["a"]}, [["a", "b"]]),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, [["b", "c"]]),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["e"], "e": ["c"]}, [["c", "d", "e"], ["a", "b"]]),
    ],
)
def test_circles_are_found(arrows: dict[str, list[str]], expected: list[list[str]]) -> None:
    assert structure.circles(arrows) == expected


def test_imports_count_wherever_they_stand() -> None:
    known = structure.imports()
    assert "bridge.instances.point" in known["bridge.instances.instance"]
    assert "bridge.theorems.registry" in known["bridge.export.theorem_of_record"]  # inside a function
    assert "bridge.judging.errors" not in known["bridge.instances.instance"]


def test_a_row_is_followed_through_its_files() -> None:
    walk = structure.walked(N=2)
    assert walk.has_run
    assert walk.calls > 0
    assert walk.named.keys() >= {"bridge/instances/runs.py", "bridge/judging/judge.py"}
    assert "Instance" in walk.classes
