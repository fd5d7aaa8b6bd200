"""The benchmark of corners: its points are stored one by one, taken up again, and run anew where they failed."""

import signal
from pathlib import Path

import pytest

from benchmarks import corners
from tests.corners.judging import Complaint
from tests.corners.points import Point

IDS = ("induction.balance", "looped.positions")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """Which points were run; the third of each result has a complaint."""
    calls: list[tuple[str, int, int]] = []

    def run(source: str, seed: int, index: int) -> Point:
        calls.append((source, seed, index))
        found = (Complaint("below", "error", "1 < 2"),) if index == 2 else ()
        return Point(source, seed, index, {"N": index}, {"samples": 8}, rows=3, complaints=found)

    monkeypatch.setattr(corners, "run_point", run)
    return calls


def arguments(points: int, *more: str) -> list[str]:
    return ["--points", str(points), "--seed", "7", *(word for id in IDS for word in ("--result", id)), *more]


def test_results_come_in_turn_and_complaints_give_the_exit_code(
    ran: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert corners.main(arguments(4)) == 0
    assert ran == [(id, 7, index) for index in (0, 1) for id in IDS]
    assert corners.main(arguments(5)) == 1
    printed = capsys.readouterr().out
    assert "induction.balance 7:2: N=2 samples=8\n  below: error: 1 < 2" in printed
    assert printed.count("below, a bound of ours on the wrong side of the error beside it: 1") == 1


def test_stored_points_are_not_run_again_but_for_those_with_complaints(ran: list[object], tmp_path: Path) -> None:
    file = tmp_path / "corners.jsonl"
    corners.main(arguments(6, "--resume", str(file)))
    with file.open("a") as torn:
        torn.write('{"source": "looped.pos')
    ran.clear()
    assert corners.main(arguments(8, "--resume", str(file))) == 1
    assert ran == [(id, 7, 3) for id in IDS]
    ran.clear()
    corners.main(arguments(8, "--resume", str(file), "--again"))
    assert ran == [(id, 7, 2) for id in IDS]


def test_interrupted_it_ends_after_its_point_and_interrupted_twice_at_once(
    ran: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, signals, file = corners.run_point, [1], tmp_path / "corners.jsonl"

    def interrupted(*which: object) -> Point:
        for _ in range(signals[0]):
            signal.raise_signal(signal.SIGINT)
        return run(*which)  # type: ignore[arg-type]

    monkeypatch.setattr(corners, "run_point", interrupted)
    assert corners.main(arguments(6, "--resume", str(file))) == 0
    assert len(corners.stored(file)) == len(ran) == 1
    signals[0] = 2
    assert corners.main(arguments(6, "--resume", str(file))) == 0
    assert len(corners.stored(file)) == len(ran) == 1


def test_one_point_is_run_alone(ran: list[object]) -> None:
    assert corners.main(arguments(1, "--point", "5")) == 0
    assert ran == [(id, 7, 5) for id in IDS]


def test_no_points_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        corners.main(["--points", "0"])
    assert "--points must be at least 1" in capsys.readouterr().err
