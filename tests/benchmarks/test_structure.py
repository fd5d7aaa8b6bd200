"""The house: no circle of imports, no class that a reader cannot hold, and a measure that notices what it measures."""

import pytest

from benchmarks import structure

MOST_NAMES = 20  # of a class, public ones, inherited ones counted
MOST_ARROWS = {"symbolic": 26, "numeric": 11, "bridge": 46}  # between rooms
MOST_FILES, MOST_OF_ENGINE = 33, 23  # that a comparison passes, of named rooms, and of instances and judging
MOST_CALLS = 600  # of bridge, until a function of the theorem runs; those that check types in tests too


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


@pytest.mark.parametrize("floor", structure.FLOORS)
def test_rooms_stand_on_one_another(floor: str) -> None:
    assert structure.circles_of_rooms(floor) == []
    assert 0 < len(structure.arrows(floor)) <= MOST_ARROWS[floor]


def test_no_file_stands_beside_the_rooms() -> None:
    assert structure.loose_files() == []


def test_a_row_is_followed_through_its_files_and_passes_few() -> None:
    walk = structure.walked(N=2)
    assert walk.has_run
    assert 0 < walk.calls <= MOST_CALLS
    assert len(walk.named) <= MOST_FILES
    assert walk.within("bridge/instances", "bridge/judging")[0] <= MOST_OF_ENGINE
    assert walk.named.keys() >= {"bridge/instances/runs.py", "bridge/judging/judge.py"}
    assert "Instance" in walk.classes
