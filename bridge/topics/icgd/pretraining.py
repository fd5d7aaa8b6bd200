"""Appendix G of wu2024 as checks over seeds: pretrained transformers, and networks that are trained on the prompt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from bridge.judging.seeds import DIFFERENCE, LARGEST_STEP, SMALLEST_STEP
from bridge.limits.cost import Cost, Count, Work
from bridge.questions.train import AT_ONCE
from bridge.theorems.check import Check
from bridge.theorems.record import Record
from bridge.topics.tools.trained_claims import Experiment, trained_claim, trained_theorem
from bridge.topics.tools.trainings import TrainingPlan, Trainings, training_memory
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
    """Of a mean squared error at the answers y (B, 1)."""
    return 1 - error / float(y.var(correction=0))


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


def checks() -> list[Check]:
    """Each claim for both attentions; that beyond the trained length is made of softmax alone."""
    found = []
    for kind in ATTENTIONS:
        measures: dict[str, tuple[str, Callable[..., Any]]] = {
            "comparable": (DIFFERENCE, partial(comparable, attention=kind, beyond=False)),
            "longer": (DIFFERENCE, partial(comparable, attention=kind, beyond=True)),
            "shift": (LARGEST_STEP, partial(along_mixtures, attention=kind)),
            **({"length": (DIFFERENCE, partial(beyond_length, attention=kind))} if kind == "softmax" else {}),
        }
        found += [_of(f"{kind}.{name}", *each, partial(main_plan, attention=kind)) for name, each in measures.items()]
        for tenths in theory.TENTHS:
            measure, plans = partial(along_depths, attention=kind, tenths=tenths), partial(depth_plans, attention=kind)
            found.append(_of(f"{kind}.depth.{tenths}", SMALLEST_STEP, measure, plans))
    return found


def _of(name: str, statistic: str, measure: Any, plans: Any) -> Check:
    return trained_claim(theory.PRETRAINING.quantity(name), statistic, measure, plans)


def all_plans(experiment: Experiment) -> Sequence[TrainingPlan]:
    return [made for kind in ATTENTIONS for each in (main_plan, depth_plans) for made in each(experiment, kind)]


def work(
    N: Count, K: Count, d: Count, n: Count, width: Count, heads: Count, layers: Count, batch: Count, prompts: Count
) -> Work:
    """The largest training, and the networks that answer its prompts and are trained on them."""
    at_once = max(batch, min(prompts, AT_ONCE))
    model = training_memory(3 * n + 1, width, heads, layers, layers, at_once)
    networks = 16 * max(at_once, prompts) * (N * K**2 + d * K + n * (d + N * K))
    return Work(before=Cost(model + networks))


def figure(comparison: Record) -> Any:
    """The curves that the claims are about, of one point; None for several."""
    from bridge.topics.icgd.pretraining_plot import panels
    from bridge.topics.tools.trained_plots import draw_panels

    return draw_panels(comparison, PRETRAINING, panels)


PRETRAINING = trained_theorem(
    theory.PRETRAINING,
    theory.PRINTED,
    checks(),
    main="relu.comparable",
    plans=all_plans,
    figure=figure,
    readers={DEPTHS: read_depths},
    work=work,
)
