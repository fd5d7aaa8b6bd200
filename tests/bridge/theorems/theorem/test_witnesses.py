"""Witnesses of a theorem in a file: saved with the file's hash, replayed only with that file, edited ones refused."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import boundsmith as bs
from bridge.theorems.record import Verdict, Witness
from bridge.theorems.theorem_files import read_theorem
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.theorems.theorem.theorems import BUDGET, OWN, compared, own_file, product, row_of, scaled

FEW = ["--samples", "4", "--attack", "3", "--restarts", "2"]


@pytest.fixture
def own(tmp_path: Path) -> str:
    return own_file(tmp_path)


@pytest.fixture
def witness(own: str, tmp_path: Path) -> Path:
    """The file of the witness against the printed bound."""
    comparison = bs.compare(own, **BUDGET)
    (row,) = comparison.violated()
    assert row.verdict == {"printed": "violated", "derived": "kept", "instance": "kept"}
    assert row.witness is not None
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_dump_json())
    return path


def edited(witness: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    record = json.loads(witness.read_text())
    change(record)
    path = witness.with_name("edited.json")
    path.write_text(json.dumps(record))
    return path


def test_a_witness_is_replayed_with_the_file(own: str, witness: Path, run: Command) -> None:
    saved = Witness.model_validate_json(witness.read_text())
    assert saved.sha256 == hashlib.sha256(Path(own).read_bytes()).hexdigest()
    row = bs.replay(str(witness), own)
    assert row.verdict == {"printed": "violated", "derived": "kept", "instance": "kept"}
    assert row.exact is not None
    assert saved.error_lower <= row.exact <= saved.error_lower * (1 + 1e-12)
    outcome = run("compare", own, "--witness", witness)
    assert outcome.code == 0
    assert "own-scaled: the witness in" in outcome.out
    assert "printed: violated" in outcome.out
    shown = json.loads(run("compare", own, "--witness", witness, "--json").out)
    assert shown["exact"] == row.exact


def test_the_command_saves_a_witness_that_it_replays(own: str, tmp_path: Path, run: Command) -> None:
    folder = tmp_path / "witnesses"
    assert run("compare", own, *FEW, "--save-witnesses", folder).code == 0
    (path,) = folder.glob("*.json")
    assert "printed: violated" in run("compare", own, "--witness", path).out


def test_the_error_of_a_replay_is_computed_anew_from_the_inputs(own: str, witness: Path) -> None:
    """What the file claims is not believed: another error, other bounds, other inputs."""
    path = edited(witness, lambda record: record.update(error_lower=7.0, bounds={"printed": 0.0}))
    assert bs.replay(str(path), own) == bs.replay(str(witness), own)
    small = edited(witness, lambda record: record.update(inputs={"x": [[0.25, 0.25]]}))
    row = bs.replay(str(small), own)
    assert row.exact == 0.0625
    assert row.verdict["printed"] is Verdict.KEPT


def test_a_changed_file_is_refused(own: str, witness: Path, run: Command) -> None:
    Path(own).write_text(OWN + "\n# the same theorem, in another file\n")
    assert "was found with another version of the file of own-scaled" in refused(
        run("compare", own, "--witness", witness)
    )


READING = OWN.replace("import boundsmith", "from pathlib import Path\n\nimport boundsmith", 1).replace(
    "eps / 2", "eps / int((Path(__file__).parent / 'data' / 'share.txt').read_text())"
)


def test_a_changed_data_file_is_refused(tmp_path: Path) -> None:
    """Only what was read counts: neither another file beside it nor what the theorem writes."""
    (tmp_path / "data").mkdir()
    share = tmp_path / "data" / "share.txt"
    share.write_text("2")
    (tmp_path / "other.txt").write_text("1")
    own = own_file(tmp_path, READING + "(Path(__file__).parent / 'log.txt').write_text('compared')\n")
    (row,) = bs.compare(own, **BUDGET).violated()
    assert row.witness is not None
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_dump_json())
    (tmp_path / "other.txt").write_text("2")
    (tmp_path / "log.txt").unlink()
    assert bs.replay(str(path), own).verdict["printed"] is Verdict.VIOLATED
    share.write_text("1")
    with pytest.raises(bs.UsageError, match=r"of own-scaled, or of a module or data file that it reads; compare again"):
        bs.replay(str(path), own)


HIDDEN = {
    "a folder of libraries": "lib/site-packages/pkg/data.json",
    "a hidden folder": ".cache/data.json",
    "code": "code.py",
}


@pytest.mark.parametrize("name", HIDDEN.values(), ids=list(HIDDEN))
def test_what_is_no_data_of_the_theorem_does_not_count(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1")
    own = own_file(tmp_path, OWN + f"open({str(path)!r}).close()\n")
    assert read_theorem(own).sha256 == hashlib.sha256(Path(own).read_bytes()).hexdigest()


def test_files_elsewhere_gone_or_written_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere.txt"
    folder.mkdir()
    monkeypatch.chdir(folder)
    elsewhere.write_text("1")
    lines = f"open({str(elsewhere)!r}).close()\nopen('passing', 'w').close()\nopen('passing').close()\n"
    own = own_file(folder, OWN + f"import os\n{lines}os.remove('passing')\n")
    assert read_theorem(own).sha256 == hashlib.sha256(Path(own).read_bytes()).hexdigest()


def test_another_theorem_is_refused(witness: Path, run: Command, tmp_path: Path) -> None:
    other = own_file(tmp_path, OWN.replace("own-scaled", "another"), "another.py")
    assert "is for own-scaled, not for another" in refused(run("compare", other, "--witness", witness))
    assert "is for own-scaled, not for induction" in refused(run("compare", "induction.vanilla", "--witness", witness))


def test_without_its_file_a_witness_says_which_to_give(witness: Path) -> None:
    with pytest.raises(
        bs.UsageError, match=r"is about own-scaled, a theorem from a file; give that file: boundsmith com"
    ):
        bs.replay(str(witness))


def test_a_witness_that_names_a_path_imports_nothing(own: str, witness: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n" + OWN)
    for place in ("result", "file", "quantity", "scope"):
        path = edited(witness, lambda record, place=place: record.update({place: str(trap), "sha256": None}))  # type: ignore[misc]
        for source in (None, own):
            with pytest.raises(bs.UsageError):
                bs.replay(str(path), source)
    assert not (tmp_path / "ran").exists()


def update(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda record: record.update(fields)


def with_params(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda record: record["params"].update(values)


def without(name: str, part: str = "params") -> Callable[[dict[str, Any]], None]:
    return lambda record: record[part].pop(name)


EDITED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "outside the domain": (update(inputs={"x": [[3.0, 0.0]]}), "x: entry (0,) = 3.0 is outside [-1, 1] by 2"),
    "not finite": (update(inputs={"x": [[float("nan"), 0.0]]}), "expected finite numbers"),
    "another shape": (update(inputs={"x": [[0.5]]}), "x: expected shape (2,), got (1,)"),
    "two prompts": (update(inputs={"x": [[0.5, 0.5], [0.5, 0.5]]}), "expected one prompt"),
    "no batch": (update(inputs={"x": 0.5}), "expected one prompt"),
    "no input": (update(inputs={}), "expected x; got nothing"),
    "another input": (update(inputs={"z": [[0.5, 0.5]]}), "expected x; got z"),
    "ragged inputs": (update(inputs={"x": [[0.5], [0.5, 0.5]]}), "is not a complete witness file"),
    "words for inputs": (update(inputs={"x": "half"}), "is not a complete witness file"),
    "a weight outside its domain": (with_params(b=[3.0, 0.0]), "the weight b: entry (0,) = 3.0 is outside [-1, 1]"),
    "a weight of another shape": (with_params(b=[0.5]), "the weight b: expected shape (2,), got (1,)"),
    "a weight of words": (with_params(b=["half", "half"]), "the weight b is not an array of numbers"),
    "no weight": (without("b"), "does not give b"),
    "no parameter": (without("eps"), "does not give eps"),
    "an unknown parameter": (with_params(K=1), "own-scaled has no parameter 'K'"),
    "a parameter outside": (with_params(eps=-1.0), "eps = -1.0 does not meet eps > 0"),
    "a parameter that is not a number": (with_params(eps="small"), "eps = 'small' is not a number"),
    "another dimension": (with_params(d=3), "the weight b: expected shape (3,), got (2,)"),
    "an unknown quantity": (update(quantity="in"), "own-scaled has no quantity"),
    "an unknown scope": (update(scope="prompt"), "'out' has no scope 'prompt'; its scopes: network"),
    "a missing field": (lambda record: record.pop("inputs"), "is not a complete witness file"),
    "an unknown field": (update(code="import os"), "is not a complete witness file"),
    "no hash": (update(sha256=None), "was found with another version of the file"),
    "another hash": (update(sha256="0" * 64), "was found with another version of the file"),
}


@pytest.mark.parametrize(("change", "message"), EDITED.values(), ids=list(EDITED))
def test_an_edited_witness_is_refused(
    change: Callable[[dict[str, Any]], None], message: str, own: str, witness: Path, run: Command
) -> None:
    assert message in refused(run("compare", own, "--witness", edited(witness, change)))


def test_what_is_no_witness_is_refused(own: str, tmp_path: Path, run: Command) -> None:
    for text in ("", "[]", "{", "null", '{"result": 1}'):
        path = tmp_path / "w.json"
        path.write_text(text)
        assert "is not a complete witness file of boundsmith" in refused(run("compare", own, "--witness", path))
    assert "there is no file" in refused(run("compare", own, "--witness", tmp_path / "none.json"))


def test_a_theorem_that_is_a_value_replays_its_witness_with_the_value(tmp_path: Path) -> None:
    theorem = scaled(printed={"out": 0.005})
    (row,) = compared(theorem).violated()
    assert row.witness is not None
    assert row.witness.sha256 is None
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_dump_json())
    assert bs.replay(str(path), theorem).verdict["printed"] is Verdict.VIOLATED
    with pytest.raises(bs.UsageError, match="scaled"):
        bs.replay(str(path))


def test_a_witness_rebuilds_drawn_weights_whatever_the_seed(tmp_path: Path) -> None:
    """The weights are in the witness; a replay draws none."""
    theorem = product(printed={"out": 1e-6})
    for seed in (0, 1):
        row = row_of(compared(theorem, seed=seed), "out")
        assert row.witness is not None
        assert {"W", "b"} <= set(row.witness.params)
        path = tmp_path / f"{seed}.json"
        path.write_text(row.witness.model_dump_json())
        again = bs.replay(str(path), theorem)
        assert again.verdict["printed"] is Verdict.VIOLATED
        assert again.exact is not None
        assert again.exact == pytest.approx(row.witness.error_lower, rel=1e-12)
