"""`boundsmith report`: what it prints, its exit codes, and what it refuses before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from bridge.questions.report import Report
from tests.bridge.cli.conftest import Command, refused


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Puts a fake in the place of the engine; the dict has what it was asked, and the problems that it is to report."""
    seen: dict[str, Any] = {"problems": {}}

    def fake(asked: Any, folder: Path, *, jobs: int | None, progress: Any) -> Report:
        seen.update(asked=[(each.command, dict(each.parameters)) for each in asked], jobs=jobs)
        if seen.get("stops"):
            raise KeyboardInterrupt
        return Report(folder, len(asked), seen["problems"])

    monkeypatch.setattr("bridge.questions.report.report", fake)
    return seen


def test_what_it_writes(run: Command, written: dict[str, Any], tmp_path: Path) -> None:
    one = run("report", "induction.vanilla", "--set", "L=8", "--grid", "p=1,2", "--jobs", 2, "-o", tmp_path / "r")
    assert (one.code, one.err) == (0, "")
    assert f"written: {tmp_path / 'r' / 'index.html'} (1 page)" in one.out.replace("\n", "")
    command = "boundsmith compare induction.vanilla --set L=8 --grid p=1,2"
    assert written["asked"] == [(command, {"L": 8, "p": (1, 2)})]
    assert written["jobs"] == 2
    assert run("report", "--all", "-o", tmp_path / "r").code == 0
    assert len(written["asked"]) > 40


def test_a_page_that_fails_is_an_exit_code(run: Command, written: dict[str, Any], tmp_path: Path) -> None:
    written["problems"] = {"icgd.step": "compare: no memory"}
    outcome = run("report", "icgd.step", "icgd.forward", "-o", tmp_path / "r")
    assert outcome.code == 1
    assert "icgd.step: compare: no memory" in outcome.out
    assert "1 of 2 pages could not be made in full; the same command tries again" in outcome.out
    written["stops"] = True
    assert run("report", "icgd.step", "-o", tmp_path / "r").err.endswith("no partial file is left behind\n")
    (tmp_path / "r.unfinished").mkdir()
    stopped = run("report", "icgd.step", "-o", tmp_path / "r")
    assert stopped.code == 130
    assert ".unfinished'; the same command goes on" in stopped.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "report takes results, as `boundsmith report induction.vanilla -o FOLDER`, or --all."),
        (["icgd.step", "--all", "-o", "r"], "report takes results, as `boundsmith report "),
        (["icgd.step"], "report: name a folder by -o FOLDER."),
        (["icgd.stpe", "-o", "r"], "there is no result 'icgd.stpe'. Nearest: icgd.step"),
        (["icgd.step", "icgd.forward", "--set", "N=1", "-o", "r"], "report: --set and --grid are for one result; "),
        (["icgd.step", "--set", "N", "-o", "r"], "--set N is not of the form name=value."),
        (["absent.py", "-o", "r"], "there is no file 'absent.py'"),
    ],
)
def test_refusals(run: Command, written: dict[str, Any], arguments: list[str], message: str) -> None:
    assert message in refused(run("report", *arguments))
    assert "asked" not in written


def test_a_planned_result_is_refused(run: Command, planned: str) -> None:
    assert "is planned and cannot be run yet" in refused(run("report", planned, "-o", "r"))
