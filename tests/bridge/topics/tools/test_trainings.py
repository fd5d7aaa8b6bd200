"""Trainings of claims: from a folder, and made here; what is missing; at the paper's size and below."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import boundsmith as bs
from boundsmith.training import train
from bridge.cli import main
from bridge.questions.train import RECORD
from bridge.theorems.record import Verdict
from bridge.topics.looped.training_measures import linear_plan
from bridge.topics.tools.trained_claims import PAPERS, SEEDS, Experiment, trained_claim
from bridge.topics.tools.trainings import TrainingPlan, Trainings, read_trainings
from symbolic.topics.looped import training as theory

TINY = {"width": 4, "heads": 1, "layers": 1, "T": 1, "delta_T": 1, "steps": 2, "batch": 2, "prompts": 8}
OF_NOISE = ["noise.newton", "noise.descent"]
ID = "looped.training"


def noisy_plan(at: dict[str, int]) -> TrainingPlan:
    parameters = {each.name: each.default for each in theory.TRAINING.parameters}
    return linear_plan(Experiment({**parameters, **at}, Trainings(), {}), 1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the printed command makes, job by job; and a training that is not finished."""
    root = tmp_path_factory.mktemp("trained")
    _, _, words = noisy_plan(TINY).command(range(SEEDS)).partition(" train ")
    for seed in range(SEEDS):
        place = str(root / "jobs" / f"job-{seed}")
        (root / "jobs").mkdir(exist_ok=True)
        assert main(["train", *shlex.split(words.replace("{folder}", place)), "--seed", str(seed), "--json"]) == 0
    plan = noisy_plan({**TINY, "width": 8})
    train(plan.task, model=plan.model, seed=0, folder=root / "begun", seconds=1e-9, **dict(plan.settings))
    return root


def test_rows_read_what_the_printed_command_makes_and_name_what_is_missing(folder: Path) -> None:
    here, stored = (bs.compare(ID, trained=each, **TINY) for each in ("", str(folder)))
    told = {row.quantity: row for row in stored}
    for row in here:
        if row.quantity in OF_NOISE:
            assert told[row.quantity].values == row.values
            assert len(row.values or ()) == SEEDS
    others = [row for row in stored if row.quantity not in OF_NOISE]
    assert {row.verdict["printed"] for row in others} == {Verdict.OUTSIDE}
    assert all("no finished training of" in row.remark and " -o {folder}" in row.remark for row in others)
    assert (
        "algoformer on linear for the seeds 0, 1, 2; this makes them: boundsmith sweep" in told["first.newton"].remark
    )


def test_what_is_not_finished_is_missing(folder: Path) -> None:
    found = read_trainings(ID, str(folder))
    assert found.missing([noisy_plan(TINY)], range(SEEDS)) == ""
    assert "for the seeds 3;" in found.missing([noisy_plan(TINY)], [2, 3])
    assert "width=8" in found.missing([noisy_plan({**TINY, "width": 8})], [0])
    assert Trainings().missing([noisy_plan(TINY)], [0]) == ""


def no_training(path: Path) -> str:
    return str(path)


def no_record(path: Path) -> str:
    (path / "checkpoint.safetensors").write_bytes(b"")
    (path / RECORD).write_text(json.dumps([]))
    return str(path)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (no_training, "has no finished training; `boundsmith train ... -o FOLDER` makes one"),
        (no_record, "is no record of a training; train it again"),
        (lambda path: str(path / "none"), "is no folder; name one that holds trainings"),
        (lambda path: "a\x00b", "is no folder; name one that holds trainings"),
    ],
)
def test_folders_that_are_refused(folder: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(bs.UsageError, match=ID) as caught:
        bs.compare(ID, trained=folder(tmp_path), **TINY)
    assert message in str(caught.value).replace("'boundsmith", "`boundsmith")


def test_a_long_training_is_refused_before_it_starts() -> None:
    with pytest.raises(bs.UsageError, match=r"would take .* name a folder of stored trainings as trained"):
        bs.compare(ID, **{**TINY, "steps": 10**10})


def test_a_claim_that_fails_is_violated_at_the_papers_size_alone() -> None:
    quantity = theory.TRAINING.quantity("representation.standard")
    check = trained_claim(quantity, "difference", lambda experiment, seed: (2.0 + seed / 100, 1.0), lambda _: [])
    assert callable(check.inputs)
    points = check.inputs(seed=0)
    paper = dict(theory.PRINTED)
    found = [
        check.sides(**points, seed=0, experiment=Experiment(at, Trainings(), theory.PRINTED))
        for at in (paper, {**paper, "steps": 30}, {**paper, "T": 5, "layers": 2})
    ]
    assert [each.excuse for each in found] == ["", PAPERS, PAPERS]
    asked = "the paper trains for 500000 steps at width 256, d = 20"
    assert [each.remark for each in found] == [
        "at the paper's size",
        f"after 30 steps at width 256, d = 20; {asked}",
        "after 500000 steps at width 256, d = 20, as in the paper; not the paper's: layers, T",
    ]
    assert all(each.over_seeds is not None and each.over_seeds.low > 0 for each in found)
