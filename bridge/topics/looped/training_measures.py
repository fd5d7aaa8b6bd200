"""What figures 2 to 5 of algoformer measure of trained models, and the trainings that they need."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from bridge.judging.seeds import DIFFERENCE, LARGEST_STEP, RATIO
from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trainings import TrainingPlan
from numeric.training.baselines import Predictor, best_step_size, descent, newton
from numeric.training.models import LoopedModel
from symbolic.topics.looped import training as theory

LONGER = 4  # times T loops, in Figure 3
STANDARD, LOOPED, ALGOFORMER = "standard", "looped", "algoformer"
REPRESENTATION, SERIES, CHAIN, LINEAR = "representation", "series", "chain", "linear"


def plan(at: Mapping[str, Any], task: str, model: str, **changed: Any) -> TrainingPlan:
    """The training of that model on that task, at the sizes of the row."""
    sizes = {"d": at["d"], "examples": at["N"], "q": at["q"], "length": at["N"], "depth": at["states"]}
    looped = {"layers": at["layers"]} if model == STANDARD else {"layers": 1, "T": at["T"], "delta_T": at["delta_T"]}
    how = {name: at[name] for name in ("width", "heads", "steps", "batch", "rate")}
    noise = {"noise": 1.0} if task == SERIES else {}  # eps_t ~ N(0, I)
    return TrainingPlan.of(task, model, {**sizes, **noise, **how, **looped, **changed})


def paired(task: str, one: str, other: str, **changed: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The errors of two models at the query: of a chain at its last states."""

    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return [plan(experiment.at, task, one), plan(experiment.at, task, other, **changed)]

    def measure(experiment: Experiment, seed: int) -> list[float]:
        last = experiment.at["states"] if task == CHAIN else 1
        return [sum(experiment.errors(each, seed)[-last:]) / last for each in plans(experiment)]

    return measure, plans


def along_plans(changes: Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]) -> tuple[Any, Any]:
    """The errors of AlgoFormers along a path of settings."""

    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return [plan(experiment.at, REPRESENTATION, ALGOFORMER, **each) for each in changes(experiment.at)]

    def measure(experiment: Experiment, seed: int) -> list[float]:
        return [experiment.errors(each, seed)[-1] for each in plans(experiment)]

    return measure, plans


def along_examples(experiment: Experiment, seed: int) -> list[float]:
    N = experiment.at["N"]
    errors = experiment.errors(plan(experiment.at, REPRESENTATION, ALGOFORMER), seed)
    return [errors[0], errors[max(1, N // 2)], errors[N]]


# Figure 3: loops beyond those that were trained.


def widths_of_average(experiment: Experiment) -> list[TrainingPlan]:
    """The largest average first, and the smallest that averages."""
    T = experiment.at["T"]
    return [plan(experiment.at, REPRESENTATION, ALGOFORMER, delta_T=each) for each in (T, 1)]


def at_loops(experiment: Experiment, made: TrainingPlan, seed: int, loops: Sequence[int]) -> list[float]:
    """The error at the query after so many loops."""
    trained, sums = experiment.trainings.get(made, seed), [0.0 for _ in loops]
    model, task = trained.model, trained.task
    assert isinstance(model, LoopedModel)
    with torch.no_grad():
        for batch in experiment.batches(task, trained.trainer.number_format):
            errors = task.errors(model(batch.tokens, min(loops), max(loops)), batch)[:, :, -1]  # (S, B)
            for place, count in enumerate(loops):
                sums[place] += float(errors[count - min(loops)].double().sum())
    return [each / experiment.at["prompts"] for each in sums]


def growth(experiment: Experiment, seed: int) -> list[float]:
    T, found = experiment.at["T"], []
    for each in widths_of_average(experiment):
        trained, longer = at_loops(experiment, each, seed, (T, LONGER * T))
        found.append(longer / trained)
    return found


# Figure 5: beside algorithms, on the same prompts.


def linear_plan(experiment: Experiment, noise: float) -> TrainingPlan:
    return plan(experiment.at, LINEAR, ALGOFORMER, noise=noise)


def descended(steps: int) -> Predictor:
    return lambda x, y: descent(x, y, best_step_size(x, y, steps), steps)


def by_newton(steps: int) -> Predictor:
    return lambda x, y: newton(x, y, steps)


def beside_algorithm(
    experiment: Experiment, seed: int, noise: float, loops: int, algorithm: Predictor
) -> tuple[float, float]:
    """The error of the AlgoFormer after so many loops, and that of the algorithm."""
    made = linear_plan(experiment, noise)
    x, y = experiment.examples(made.learning_task, experiment.trainings.get(made, seed).trainer.number_format)
    missed = algorithm(x, y) - y[:, -1]  # (B, m)
    return at_loops(experiment, made, seed, [loops])[0], float((missed**2).sum(-1).mean())


def first(experiment: Experiment, seed: int, algorithm: Callable[[int], Predictor]) -> tuple[float, float]:
    """At the first iterate that (6) averages; after one loop at least."""
    loops = max(1, experiment.at["T"] - experiment.at["delta_T"])
    return beside_algorithm(experiment, seed, 0.0, loops, algorithm(loops))


def overtaken(experiment: Experiment, seed: int) -> tuple[float, float]:
    own, newton = beside_algorithm(experiment, seed, 0.0, experiment.at["T"], by_newton(theory.NEWTON_STEPS))
    return newton, own


def noisy(experiment: Experiment, seed: int, algorithm: Callable[[int], Predictor]) -> tuple[float, float]:
    T = experiment.at["T"]
    return beside_algorithm(experiment, seed, 1.0, T, algorithm(T))


def of_linear(noise: float) -> Callable[[Experiment], list[TrainingPlan]]:
    return lambda experiment: [linear_plan(experiment, noise)]


# All of them.

MEASURES: Mapping[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "examples": (LARGEST_STEP, along_examples, lambda known: [plan(known.at, REPRESENTATION, ALGOFORMER)]),
    "representation.standard": (DIFFERENCE, *paired(REPRESENTATION, ALGOFORMER, STANDARD)),
    "representation.looped": (DIFFERENCE, *paired(REPRESENTATION, ALGOFORMER, LOOPED)),
    "series.standard": (DIFFERENCE, *paired(SERIES, ALGOFORMER, STANDARD)),
    "series.looped": (DIFFERENCE, *paired(SERIES, ALGOFORMER, LOOPED)),
    "chain.standard": (DIFFERENCE, *paired(CHAIN, ALGOFORMER, STANDARD)),
    "chain.looped": (DIFFERENCE, *paired(CHAIN, ALGOFORMER, LOOPED)),
    "chain.standard.looped": (DIFFERENCE, *paired(CHAIN, STANDARD, LOOPED)),
    "loops": (RATIO, growth, widths_of_average),
    "heads": (LARGEST_STEP, *along_plans(lambda at: [{"heads": at["heads"]}, {"heads": 2 * at["heads"]}])),
    "layers": (LARGEST_STEP, *along_plans(lambda at: [{"layers": 1}, {"layers": 2}])),
    "same.layers": (DIFFERENCE, *paired(REPRESENTATION, ALGOFORMER, STANDARD, layers=3)),
    "first.newton": (DIFFERENCE, partial(first, algorithm=by_newton), of_linear(0.0)),
    "first.descent": (DIFFERENCE, partial(first, algorithm=descended), of_linear(0.0)),
    "newton.overtakes": (DIFFERENCE, overtaken, of_linear(0.0)),
    "noise.newton": (DIFFERENCE, partial(noisy, algorithm=by_newton), of_linear(1.0)),
    "noise.descent": (DIFFERENCE, partial(noisy, algorithm=descended), of_linear(1.0)),
}
