"""Figures 2 to 5 of algoformer drawn again, of the trainings of looped.training."""

from collections.abc import Sequence
from typing import Any

from bridge.topics.looped import training_measures as rows
from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trained_plots import ClaimPanel, Curves
from bridge.topics.tools.trainings import TrainingPlan
from symbolic.topics.looped.training import NEWTON_STEPS

MODELS = rows.STANDARD, rows.LOOPED, rows.ALGOFORMER
EXAMPLES = "examples in the prompt"


def panels(experiment: Experiment) -> Sequence[ClaimPanel]:
    """One for each of Figures 2a, 2b, 2c, 3 and 4, and two for Figure 5."""
    T = experiment.at["T"]
    return (
        side_by_side(
            rows.REPRESENTATION, "regression with representation", EXAMPLES, extra=("examples", "same.layers")
        ),
        side_by_side(rows.SERIES, "autoregression with representation", "states in the prompt"),
        side_by_side(rows.CHAIN, "chain of thought", "chains in the prompt", extra=("chain.standard.looped",)),
        ClaimPanel(
            *("more loops than trained", "loops", ("loops",), rows.widths_of_average, along_loops),
            marked={"T": T},
        ),
        ClaimPanel("heads and layers", EXAMPLES, ("heads", "layers"), sizes, along_sizes),
        beside_algorithms(0.0, ("first.newton", "first.descent", "newton.overtakes"), T),
        beside_algorithms(1.0, ("noise.newton", "noise.descent"), T),
    )


def side_by_side(task: str, title: str, across: str, extra: Sequence[str] = ()) -> ClaimPanel:
    """The three models along a prompt."""

    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return [rows.plan(experiment.at, task, each) for each in MODELS]

    def curves(experiment: Experiment, seed: int) -> Curves:
        found = {}
        for model, made in zip(MODELS, plans(experiment), strict=True):
            errors, chain = experiment.errors(made, seed), experiment.at["states"] if task == rows.CHAIN else 1
            means = [sum(errors[at : at + chain]) / chain for at in range(0, len(errors), chain)]
            first = experiment.at["q"] if task == rows.SERIES else 0
            found[model] = range(first, first + len(means)), means
        return found

    return ClaimPanel(title, across, [f"{task}.{rows.STANDARD}", f"{task}.{rows.LOOPED}", *extra], plans, curves)


def along_loops(experiment: Experiment, seed: int) -> Curves:
    """The error at the query after one loop to four times as many as were trained."""
    loops = range(1, rows.LONGER * experiment.at["T"] + 1)
    plans = rows.widths_of_average(experiment)
    names = [f"loss (6) over {dict(each.settings)['delta_T'] + 1} iterates" for each in plans]
    return {
        name: (loops, rows.at_loops(experiment, made, seed, loops)) for name, made in zip(names, plans, strict=True)
    }


def by_size(experiment: Experiment) -> dict[str, TrainingPlan]:
    at: dict[str, Any] = dict(experiment.at)
    changed = ({"heads": at["heads"], "layers": 1}, {"heads": 2 * at["heads"], "layers": 1}, {"layers": 2})
    named = [{"heads": at["heads"], **each} for each in changed]
    return {
        f"heads = {each['heads']}, layers = {each['layers']}": rows.plan(
            at, rows.REPRESENTATION, rows.ALGOFORMER, **each
        )
        for each in named
    }


def sizes(experiment: Experiment) -> list[TrainingPlan]:
    return list(by_size(experiment).values())


def along_sizes(experiment: Experiment, seed: int) -> Curves:
    N = experiment.at["N"]
    return {name: (range(N + 1), experiment.errors(made, seed)) for name, made in by_size(experiment).items()}


def beside_algorithms(noise: float, claims: Sequence[str], T: int) -> ClaimPanel:
    """The error at the query after each loop, and after as many steps of the algorithms."""

    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return [rows.linear_plan(experiment, noise)]

    def curves(experiment: Experiment, seed: int) -> Curves:
        steps = range(1, max(T, NEWTON_STEPS) + 1)
        made = rows.linear_plan(experiment, noise)
        own = rows.at_loops(experiment, made, seed, steps)
        x, y = experiment.examples(made.learning_task, experiment.trainings.get(made, seed).trainer.number_format)
        found: dict[str, Any] = {rows.ALGOFORMER: (steps, own)}
        for name, algorithm in (("Newton", rows.by_newton), ("gradient descent", rows.descended)):
            missed = [algorithm(count)(x, y) - y[:, -1] for count in steps]  # each (B, m)
            found[name] = steps, [float((each**2).sum(-1).mean()) for each in missed]
        return found

    words = f"with noise of variance {noise:g}" if noise else "without noise"
    return ClaimPanel(f"linear regression {words}", "loops, or steps", claims, plans, curves, marked={"T": T})
