"""No call hangs, swells or crashes: the quick part of the list. `python -m benchmarks.hostile` makes all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.calls import Call, calls
from tests.hostile.judging import PRECIOUS, asked_of, complaints, contents, make_folder
from tests.hostile.server import Answer, Server

LEAST_CALLS, LEAST_QUICK = 1500, 300
GROUPS = 12  # each is one test: a few long ones, so that the process with everything loaded is not made too often


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    make_folder(made)
    return made


def quick_calls() -> list[Call]:
    return [call for call in calls() if call.quick]


@pytest.mark.long
@pytest.mark.parametrize("group", range(GROUPS))
def test_no_call_hangs_swells_or_crashes(group: int, server: Server, folder: Path) -> None:
    found = []
    for call in quick_calls()[group::GROUPS]:
        before = contents(folder)
        answer = server.ask(asked_of(call, folder))
        wrong = complaints(call, answer, before, folder)
        found += [f"{call.name}: {', '.join(wrong)}: {answer.err[-300:]!r}"] if wrong else []
    assert not found, "\n".join(found)


def test_there_are_calls_of_every_kind() -> None:
    assert len(calls()) >= LEAST_CALLS
    assert len(quick_calls()) >= LEAST_QUICK
    assert {call.kind for call in calls()} - {call.kind for call in quick_calls()} <= {"plot"}
    assert len({(call.arguments, call.output, call.event, call.room) for call in calls()}) == len(calls())


GOOD = Answer(2, "", "boundsmith: error: a sentence.\n", 300.0, 0.1, 0.1, None, hung=False)
CALL = Call("test", ("show", "x"), says="a sentence")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"code": 1}, "exit code 1"),
        ({"code": -9, "hung": True}, "it hung"),
        ({"mebibytes": 2049.0}, "2049 MiB"),
        ({"err": "Traceback (most recent call last): a sentence\n"}, "a traceback"),
        ({"err": "a sentence \x1b[31m\n"}, "a character that a terminal obeys"),
        ({"err": f"a sentence {'x' * 5000}\n"}, "characters"),
        ({"err": "another\n"}, "nothing like"),
        ({"err": "a sentence\nin two lines\n"}, "several lines"),
    ],
)
def test_the_judge_notices_each_breach(change: dict[str, object], complaint: str, tmp_path: Path) -> None:
    assert not complaints(CALL, GOOD, {}, tmp_path)
    wrong = complaints(CALL, Answer(**{**GOOD.__dict__, **change}), {}, tmp_path)  # type: ignore[arg-type]
    assert any(complaint in each for each in wrong)


def test_the_judge_notices_files(tmp_path: Path) -> None:
    (tmp_path / "precious.tex").write_text(PRECIOUS)
    before = contents(tmp_path)
    (tmp_path / ".a.part").write_text("half")
    (tmp_path / "precious.tex").write_text("half")
    wrong = complaints(CALL, GOOD, before, tmp_path)
    assert wrong == [".a.part was left behind", "precious.tex is not as it was"]
