"""Figures 2 to 5 of algoformer: worlds in which every claim holds, and fails; loops and algorithms by hand."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch

import boundsmith as bs
from bridge.topics.looped import training
from bridge.topics.looped import training_measures as measures
from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trainings import TrainingPlan, Trainings
from numeric.training.baselines import newton
from numeric.training.tasks import HELD_OUT
from symbolic.topics.looped import training as theory

TINY = {"width": 4, "heads": 1, "layers": 1, "T": 2, "delta_T": 1, "steps": 1, "batch": 2, "prompts": 16}
ORDER = ("algoformer", "standard", "looped")  # from the best to the worst, in the paper


def planted(sign: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Errors of models, and after loops, as the paper has them (1) or the other way round (-1)."""

    def errors(self: Experiment, plan: TrainingPlan, seed: int, task: Any = None) -> list[float]:
        at = dict(plan.settings)
        small = ORDER.index(plan.model) - 0.1 * (at["heads"] + at["layers"] * (plan.model == "algoformer"))
        return [5 + sign * (small - 0.1 * n) + seed / 1000 for n in range(20)]

    def at_loops(experiment: Experiment, plan: TrainingPlan, seed: int, loops: Any) -> list[float]:
        at = dict(plan.settings)
        if plan.task == "representation":
            return [1 + (count - at["T"]) * (2 - at["delta_T"] * sign / at["T"]) + seed / 1000 for count in loops]
        return [1 + seed / 1000 if sign < 0 else 1e-3 + seed * 1e-6 for _ in loops]

    return errors, at_loops


def algorithm(error: float) -> Callable[[int], Callable[..., Any]]:
    return lambda steps: lambda x, y: y[:, -1] + error


def experiment() -> Experiment:
    parameters = {each.name: each.default for each in theory.TRAINING.parameters}
    return Experiment({**parameters, **TINY}, Trainings(), theory.PRINTED)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_claim_tells_the_papers_world_from_the_opposite(sign: float, monkeypatch: pytest.MonkeyPatch) -> None:
    errors, at_loops = planted(sign)
    monkeypatch.setattr(Experiment, "errors", errors)
    monkeypatch.setattr(measures, "at_loops", at_loops)
    monkeypatch.setattr(measures, "by_newton", algorithm(0.0 if sign > 0 else 10.0))
    worse = algorithm(10.0 if sign > 0 else 0.0)
    beside = {name: {"algorithm": worse} for name in measures.MEASURES if name.startswith(("first", "noise"))}
    for name, (statistic, measure, plans) in measures.MEASURES.items():
        found = measure(experiment(), 0, **beside.get(name, {}))
        falls = statistic == "largest step"  # along a path; of a pair the first is the smaller
        holds = all(b < a for a, b in pairwise(found)) if falls else found[0] < found[1]
        assert holds == (sign > 0), name
        assert plans(experiment())


def test_at_the_papers_size_a_claim_about_other_series_is_never_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Experiment, "errors", planted(-1.0)[0])
    at = {**experiment().at, **theory.PRINTED}
    excuses = {
        check.quantity.name: check.sides(
            seeds=torch.arange(3), seed=0, experiment=Experiment(at, Trainings(), theory.PRINTED)
        ).excuse
        for check in training.TRAINING.checks
        if check.quantity.name.startswith(("series", "chain", "representation"))
    }
    for name, excuse in excuses.items():
        assert excuse == ("the figure is of series with A ~ N(0, I)" if name.startswith("series") else ""), name
    assert Experiment({**at, "rate": 3e-3}, Trainings(), theory.PRINTED).unlike == ["rate"]


def test_loops_and_algorithms_are_those_of_one_set_of_prompts() -> None:
    known, plan = experiment(), measures.linear_plan(experiment(), 0.0)
    trained = known.trainings.get(plan, 0)
    batch = trained.task.batch(TINY["prompts"], 0, 0, HELD_OUT)
    assert batch.x is not None
    assert batch.y is not None
    model, state = trained.model, None
    with torch.no_grad():
        for _ in range(4):  # None to the first state, then three loops
            state = model.start(batch.tokens)(state)
        error = ((model.predict(state)[:, -1] - batch.y[:, -1]) ** 2).mean()
    x, y = batch.x.double(), batch.y.double()
    by_hand = ((newton(x, y, 2) - y[:, -1]) ** 2).mean()
    found = measures.beside_algorithm(known, 0, 0.0, 3, measures.by_newton(2))
    assert found == pytest.approx((float(error), float(by_hand)), rel=1e-6)
    assert known.errors(plan, 0)[-1] == pytest.approx(measures.at_loops(known, plan, 0, [TINY["T"]])[0], rel=1e-6)


def test_the_defaults_say_how_short_they_are() -> None:
    record = bs.compare("looped.training", **TINY)
    assert [row.quantity for row in record] == list(measures.MEASURES)
    assert all("after 1 steps at width 4, d = 2; the paper trains for 500000 steps" in row.remark for row in record)
    assert "violated" not in {str(verdict) for row in record for verdict in row.verdict.values()}
