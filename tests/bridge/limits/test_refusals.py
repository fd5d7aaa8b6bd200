"""A refused call shows a script its own frames and not ours."""

import traceback
from pathlib import Path

import pytest
import torch

import boundsmith as bs
from tests.bridge.theorems.theorem.theorems import BUDGET, scaled

HERE = Path(__file__).name


def frames(error: BaseException) -> list[str]:
    return [Path(each.filename).name for each in traceback.extract_tb(error.__traceback__)]


def test_a_refused_call_shows_the_call_and_the_sentence() -> None:
    theorem = scaled(network=lambda x: x[:2], reference=lambda x: x[:2])
    with pytest.raises(bs.UsageError) as refusal:
        bs.compare(theorem, **BUDGET)
    own = [name for name in frames(refusal.value) if not name.startswith("<")]  # wrappers of the type checker
    assert own == [HERE, "refusals.py"]


def test_a_function_of_the_callers_is_shown_where_it_fails() -> None:
    def network(x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(7, dtype=torch.float64)

    with pytest.raises(bs.UsageError) as refusal:
        bs.compare(scaled(network=network), **BUDGET)
    cause = refusal.value.__cause__
    assert isinstance(cause, RuntimeError)
    assert [name for name in frames(cause) if not name.startswith("<")] == [HERE]


def test_a_bug_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("bridge.questions.checked_call.grid_of", broken)
    with pytest.raises(RuntimeError) as bug:
        bs.compare(scaled())
    assert "compare.py" in frames(bug.value)
