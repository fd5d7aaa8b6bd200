"""Appendix G of wu2024: scores by hand, worlds in which every claim holds and fails, refusals."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

import boundsmith as bs
from bridge.topics.icgd import pretraining
from bridge.topics.icgd import pretraining_measures as measures
from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trainings import TrainingPlan, Trainings
from numeric.training.baselines import trained_on_prompt
from numeric.training.tasks import HELD_OUT, NetworkRegression
from symbolic.topics.icgd import pretraining as theory

TINY = {"width": 4, "heads": 1, "layers": 1, "steps": 1, "batch": 2, "prompts": 24, "n": 5}
ID = "icgd.pretraining"


def experiment() -> Experiment:
    parameters = {each.name: each.default for each in theory.PRETRAINING.parameters}
    return Experiment({**parameters, **TINY, "depths": (1, 2, 3)}, Trainings(), theory.PRINTED)


def score(predicted: Any, y: Any) -> float:
    predicted, y = np.asarray(predicted).ravel(), np.asarray(y).ravel()
    return float(1 - ((predicted - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def test_scores_are_those_of_the_definition() -> None:
    known, plan = experiment(), measures.plan(experiment().at, "relu", 1)
    task = measures.task_at(known, measures.longer(TINY["n"]), 0.7)
    assert (task.examples, task.w1) == (7, 0.7)
    batch = task.batch(TINY["prompts"], 0, 0, HELD_OUT)
    assert batch.y is not None
    with torch.no_grad():
        predicted = known.trainings.get(plan, 0).model(batch.tokens)[-1, :, task.places]  # (B, n + 1, 1)
    for n in (2, 7):
        expected = score(predicted[:, n], batch.y[:, n])
        assert measures.of_model(known, 0, plan, task, n) == pytest.approx(expected, rel=1e-5)
    x, y = known.examples(task, torch.float32)
    epochs = trained_on_prompt(x, y, depth=3, hidden=4, seed=1)
    expected = max(score(each, y[:, -1]) for each in epochs)
    assert measures.of_prompt(task, TINY["prompts"], 1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("holds", [True, False])
def test_every_claim_tells_the_papers_world_from_the_opposite(holds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sign = 1 if holds else -1

    def of_model(known: Experiment, seed: int, made: TrainingPlan, task: NetworkRegression, n: int) -> float:
        at = dict(made.settings)
        return 0.5 + sign * 0.1 * (at["layers"] + task.w1 - (n > TINY["n"])) + seed / 1000

    monkeypatch.setattr(measures, "of_model", of_model)
    monkeypatch.setattr(measures, "of_prompt", lambda *_: 0.65)
    known = experiment()
    for kind in measures.ATTENTIONS:
        for beyond in (False, True):
            prompt, own = measures.comparable(known, 0, kind, beyond)
            assert (prompt - own <= theory.COMPARABLE) == holds
        assert all((b < a) == holds for a, b in pairwise(measures.along_mixtures(known, 0, kind)))
        more, fewer = measures.beyond_length(known, 0, kind)
        assert (more < fewer) == holds
        assert all((b > a) == holds for a, b in pairwise(measures.along_depths(known, 0, kind, 6)))


def test_rows_of_a_short_run() -> None:
    record = bs.compare(ID, depths="1, 2", **TINY)
    assert [row.quantity for row in record] == [check.quantity.name for check in pretraining.checks()]
    assert {each.name for each in theory.QUANTITIES} == {row.quantity for row in record}
    assert "violated" not in {str(verdict) for row in record for verdict in row.verdict.values()}


@pytest.mark.parametrize("depths", ["1", "2, 1", "1, x", "0, 1", "", "1,,2", "1, 1001", "1 2"])
def test_depths_that_are_refused(depths: str) -> None:
    with pytest.raises(bs.UsageError, match=r"depths = .*; give two or more numbers of layers, each above the one"):
        bs.compare(ID, depths=depths, **TINY)


@pytest.mark.parametrize(("name", "other"), [("N", 5), ("prompts", 64), ("depths", (1, 2)), ("layers", 10)])
def test_the_papers_size_is_that_of_its_test_and_of_figure_3_too(name: str, other: Any) -> None:
    paper = {**experiment().at, **theory.PRINTED, "depths": measures.read_depths("4, 6, 8, 10"), "N": 4}
    assert [Experiment({**paper, "N": N}, Trainings(), theory.PRINTED).excuse for N in (3, 4, 6)] == [""] * 3
    assert Experiment({**paper, name: other}, Trainings(), theory.PRINTED).unlike == [name]


def test_at_the_papers_size_a_claim_about_narrower_mlps_is_never_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "of_model", lambda *_: 0.5)
    monkeypatch.setattr(measures, "of_prompt", lambda *_: 0.9)
    paper = {**experiment().at, **theory.PRINTED, "depths": (4, 6, 8, 10), "N": 4}
    known = {"seeds": np.arange(3), "seed": 0, "experiment": Experiment(paper, Trainings(), theory.PRINTED)}
    excuses = {check.sides(**known).excuse for check in pretraining.checks()}
    assert excuses == {"the figure is of MLPs as wide as the model, and here they are four times as wide"}


def test_answers_that_are_all_equal_have_no_score() -> None:
    sizes = {**TINY, "N": 2, "K": 1, "d": 1, "n": 4, "prompts": 2}  # the unit of both networks is at zero
    with pytest.raises(
        bs.UsageError, match=r"answers of all 2 prompts are equal, and R\^2 .*; give more prompts, or a"
    ):
        bs.compare(ID, depths="1, 2", **sizes)
