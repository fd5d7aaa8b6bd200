"""Appendix G of wu2024 as checks over seeds: pretrained transformers, and networks that are trained on the prompt."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trainings import TrainingPlan, Trainings
from numeric.training.baselines import trained_on_prompt
from numeric.training.tasks import NetworkRegression
from symbolic.topics.icgd import pretraining as theory
from symbolic.words.errors import UsageError

ATTENTIONS = "relu", "softmax"
DEPTHS = "depths"
MOST_LAYERS = 1000


def plan(at: Mapping[str, Any], attention: str, layers: int) -> TrainingPlan:
    """The pretraining of that transformer, with learnt positions for the longest prompt of the test."""
    task = {"d": at["d"], "examples": at["n"], "depth": at["N"], "hidden": at["K"], "w1": theory.MIXTURES[0]}
    model = {"width": at["width"], "heads": at["heads"], "layers": layers, "attention": attention}
    how = {name: at[name] for name in ("steps", "batch", "rate")}
    return TrainingPlan.of("network", "standard", {**task, **model, "context": 2 * longer(at["n"]) + 1, **how})


def longer(n: int) -> int:
    """The examples of the longest prompt."""
    return int(theory.LONGER * n)


def task_at(experiment: Experiment, examples: int, w1: float = theory.MIXTURES[0]) -> NetworkRegression:
    """The task of a test: with so many examples and that mixture."""
    made = plan(experiment.at, "softmax", 1).learning_task
    assert isinstance(made, NetworkRegression)
    return replace(made, examples=examples, w1=w1)


def r_squared(error: float, y: Tensor) -> float:
    """Of a mean squared error at the answers y (B, 1). Raises UsageError where they are all equal."""
    variance = float(y.var(correction=0))
    if not variance > 0:  # the units of every network are at zero there
        raise UsageError(
            f"{theory.PRETRAINING.id}: the answers of all {len(y)} prompts are equal, and R^2 divides by their "
            "variance; give more prompts, or a larger K"
        )
    return 1 - error / variance


def of_model(experiment: Experiment, seed: int, made: TrainingPlan, task: NetworkRegression, n: int) -> float:
    """The R^2 of a transformer behind n examples of the task."""
    _, y = experiment.examples(task, torch.float32)
    return r_squared(experiment.errors(made, seed, task)[n], y[:, n])


@lru_cache(maxsize=64)
def of_prompt(task: NetworkRegression, prompts: int, seed: int) -> float:
    """The R^2 of networks that are trained on all examples of their prompt: the best of any epoch."""
    x, y = Experiment({"prompts": prompts}, Trainings(), {}).examples(task, torch.float32)
    found = trained_on_prompt(x, y, depth=task.depth, hidden=task.hidden, seed=seed)  # (E, B, 1)
    return max(r_squared(float(each), y[:, -1]) for each in ((found - y[:, -1]) ** 2).mean((1, 2)))


# The claims, of one attention.


def comparable(experiment: Experiment, seed: int, attention: str, beyond: bool) -> tuple[float, float]:
    at = experiment.at
    n = longer(at["n"]) if beyond else at["n"]
    task = task_at(experiment, n)
    made = plan(at, attention, at["layers"])
    return of_prompt(task, at["prompts"], seed), of_model(experiment, seed, made, task, n)


def along_mixtures(experiment: Experiment, seed: int, attention: str) -> list[float]:
    at = experiment.at
    made, tasks = plan(at, attention, at["layers"]), [task_at(experiment, at["n"], w1) for w1 in theory.MIXTURES]
    return [of_model(experiment, seed, made, task, at["n"]) for task in tasks]


def beyond_length(experiment: Experiment, seed: int, attention: str) -> list[float]:
    """On one set of prompts, behind more examples and behind fewer."""
    at = experiment.at
    most, made = longer(at["n"]), plan(at, attention, at["layers"])
    return [of_model(experiment, seed, made, task_at(experiment, most), n) for n in (most, at["n"])]


def along_depths(experiment: Experiment, seed: int, attention: str, tenths: int) -> list[float]:
    at = experiment.at
    task = task_at(experiment, at["n"])
    plans = depth_plans(experiment, attention)
    return [of_model(experiment, seed, made, task, tenths * at["n"] // 10) for made in plans]


def main_plan(experiment: Experiment, attention: str) -> list[TrainingPlan]:
    return [plan(experiment.at, attention, experiment.at["layers"])]


def depth_plans(experiment: Experiment, attention: str) -> list[TrainingPlan]:
    return [plan(experiment.at, attention, layers) for layers in experiment.at[DEPTHS]]


def read_depths(depths: str) -> tuple[int, ...]:
    """Raises UsageError for what is no row of two or more numbers of layers, each above the one before."""
    words = [each.strip() for each in depths.split(",")]
    found = tuple(int(each) for each in words if each.isascii() and each.isdigit() and len(each) < 5)
    rising = all(a < b for a, b in pairwise(found))
    if len(found) < 2 or len(found) < len(words) or not rising or not 1 <= found[0] <= found[-1] <= MOST_LAYERS:
        raise UsageError(
            f"{theory.PRETRAINING.id}: depths = {depths!r:.80}; give two or more numbers of layers, each above the one "
            f"before and at most {MOST_LAYERS}, such as 4, 6, 8, 10"
        )
    return found
