"""Runs a command in this process, and stands in for the engines, which have tests of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bridge.cli import main
from bridge.export.comparison import Comparison
from tests.bridge.export.cases import comparison


@dataclass(frozen=True)
class Run:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    def run_command(*arguments: object) -> Run:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Puts a fake in the place of `compare`; the list holds what it was called with."""
    recorded: list[dict[str, Any]] = []

    def compare(result_id: str, *, progress: Callable[[int, int, str], None], **arguments: Any) -> Comparison:
        recorded.append({"id": result_id, **arguments})
        progress(1, 2, "p = 1")
        return comparison()

    monkeypatch.setattr("bridge.cli.running.compare", compare)
    return recorded


def refused(outcome: Run) -> str:
    """The one sentence of a refusal; checks that it is all there is."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("boundsmith: error: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    return outcome.err.removeprefix("boundsmith: error: ").strip()
