"""A folder of finished parts: whose it is, who is at work in it, and what it gives back."""

import json
import math
from pathlib import Path

import pytest
import torch

from bridge.questions.kept import differences, is_kept, kept_in
from bridge.questions.point_rows import PointRows, points_of_text, points_text
from bridge.theorems.record import NamedTable, Row
from symbolic.words.errors import UsageError

CALL = {"params": {"p": [1, 2], "L": 3}, "seed": 0}


def test_parts_stay_until_they_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "F"
    folder.parent.mkdir()
    with kept_in(folder, CALL, "compare x"):
        pass
    assert not folder.exists()  # nothing was kept
    with kept_in(folder, CALL, "compare x") as kept:
        kept.keep("a", "1")
    assert is_kept(folder)
    with kept_in(folder, CALL, "compare x") as kept:
        assert (kept.names(), kept.read("a"), kept.read("b")) == (["a"], "1", None)
    (folder / "note.txt").touch()
    kept.remove()
    assert [path.name for path in folder.iterdir()] == ["note.txt"]  # not ours, so it stays


def test_a_folder_of_another_call_is_refused_with_what_differs(tmp_path: Path) -> None:
    with kept_in(tmp_path / "F", CALL, "compare x") as kept:
        kept.keep("a", "1")
    other = {"params": {"p": [1], "L": 3, "d": 2}, "seed": 0}
    message = (
        r"compare x: '.*F' belongs to another call: params.p is \[1, 2\] there and \[1\] here; params.d is nothing"
    )
    with pytest.raises(UsageError, match=message), kept_in(tmp_path / "F", other, "compare x"):
        pass
    kept.drop("a")
    with kept_in(tmp_path / "F", other, "compare x") as kept:  # a folder without parts is nobody's
        kept.keep("b", "2")


def test_two_processes_in_one_folder_are_refused(tmp_path: Path) -> None:
    with (
        kept_in(tmp_path / "F", CALL, "sweep"),
        pytest.raises(UsageError, match=r"sweep: another process is at work in '.*F'; wait for it, stop it, or"),
        kept_in(tmp_path / "F", CALL, "sweep"),
    ):
        pass


def test_a_folder_with_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"holds other files \(thesis.tex\); choose"), kept_in(tmp_path, CALL, "sweep"):
        pass
    with pytest.raises(UsageError, match="is a file where a folder is wanted"):
        kept_in(tmp_path / "thesis.tex", CALL, "sweep").__enter__()
    (tmp_path / "F" / "parts").mkdir(parents=True)
    (tmp_path / "F" / "parts" / "a.json").touch()
    (tmp_path / "F" / "call.json").write_text("[]")
    with pytest.raises(UsageError, match=r"call.json' is not one that boundsmith wrote"):
        kept_in(tmp_path / "F", CALL, "sweep").__enter__()


def test_differences_name_the_place() -> None:
    assert list(differences({"a": {"b": 1}, "c": "x" * 99}, {"a": {"b": 1}, "c": "y"})) == [
        f'c is "{"x" * 76}... there and "y" here'
    ]


def test_rows_come_back_to_the_last_bit_with_their_mathematics() -> None:
    row = Row(
        quantity="y", kind="upper", quantifier="all", params={"b": math.inf, "c": 0.1}, norm="`x^2` in ``norm``"
    )  # fmt: skip
    table = NamedTable(title="of `x`", columns=["a"], rows=[[math.pi], [None], ["w"], [2]])
    read = PointRows.of_text(PointRows([row], [table]).text())
    assert read == PointRows([row], [table])
    assert read.rows[0].norm.marked == row.norm.marked == "`x^2` in ``norm``"  # type: ignore[attr-defined]
    assert json.loads(row.model_dump_json())["norm"] == "x^2 in norm"  # as before, in a record


def test_points_come_back_to_the_last_bit() -> None:
    found = {3: {("y", None): {"x": torch.tensor([[0.1, -math.inf]], dtype=torch.float64), "n": torch.tensor(7)}}}
    read = points_of_text(points_text(found))
    assert list(read) == [3]
    for name, tensor in found[3]["y", None].items():
        assert torch.equal(read[3]["y", None][name], tensor)
        assert read[3]["y", None][name].dtype == tensor.dtype


@pytest.mark.parametrize("text", ["", "[]", '{"rows": [{}], "tables": []}', '{"rows": []}'])
def test_edited_rows_are_refused(text: str) -> None:
    with pytest.raises(
        UsageError, match="finished parts: a file with rows is not one that boundsmith wrote; remove it"
    ):
        PointRows.of_text(text)


@pytest.mark.parametrize("text", ["{", '[{"place": 1}]', '[{"place": 1, "goal": ["y", null], "inputs": {"x": 3}}]'])
def test_edited_points_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a file with points of an attack is not one that boundsmith wrote"):
        points_of_text(text)
