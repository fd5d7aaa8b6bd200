"""`boundsmith train`: what is printed, and what is refused before anything runs."""

import json
import os
import signal
from pathlib import Path

import pytest

from bridge.questions.train import load
from tests.bridge.cli.conftest import Command, refused

TINY = [f"--set={each}" for each in ("d=2", "examples=3", "width=4", "heads=2", "layers=1", "batch=4", "rate=1")]


def test_it_trains_resumes_and_says_what_came_of_it(run: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = run("train", "linear", *TINY, "--steps", 3, "-o", folder)
    assert first.code == 0
    assert first.out.startswith("standard on linear, ")
    assert "step 3 of 3" in first.out
    assert f"written: {folder}" in first.out.replace("\n", "")
    more = run("train", "linear", *TINY, "--steps", 5, "-o", folder, "--resume", "--json")
    record = json.loads(more.out)
    assert (record["task"], record["model"], record["step"], record["rate"]) == ("linear", "standard", 5, 1.0)
    assert record["errors"] == pytest.approx(load(folder).errors())
    assert len(record["errors"]) == 4


def test_an_interrupt_is_saved_and_exits_so(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numeric.training.trainer import Trainer

    step = Trainer.take_step

    def interrupted(self: Trainer) -> None:
        step(self)
        if self.step == 7:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Trainer, "take_step", interrupted)
    stopped = run("train", "linear", *TINY, "-o", tmp_path / "run")
    assert stopped.code == 130
    assert "saved: step 7 of 1000 in " in stopped.out
    assert load(tmp_path / "run").trainer.step == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "seed=3"], "train: seed is no setting; give --seed"),
        (["--set", "folder=x"], "train: folder is no setting; leave it out"),
        (["--set", "width"], "--set width is not of the form name=value."),
        (["--set", "depth=4"], "train: the task linear and the model standard have no setting 'depth'. "),
        (["--steps", "0"], "train: steps = 0; give a whole number >= 1"),
        (["--seconds", "-1"], "train: seconds = -1.0; give a number > 0"),
        (["--resume"], "train: resume: there is no file "),
        (["--model", "gpt"], "train: there is no model 'gpt'. "),
    ],
)
def test_refusals(run: Command, tmp_path: Path, options: list[str], message: str) -> None:
    assert refused(run("train", "linear", "-o", tmp_path / "run", *options)).startswith(message)
    assert not (tmp_path / "run").exists()
