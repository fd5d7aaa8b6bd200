"""Figures 1 to 3 of wu2024, Appendix G, drawn again, of the trainings of icgd.pretraining."""

from collections.abc import Sequence

from bridge.topics.icgd import pretraining_measures as rows
from bridge.topics.tools.trained_claims import Experiment
from bridge.topics.tools.trained_plots import DASHED, ClaimPanel, Curves
from bridge.topics.tools.trainings import TrainingPlan
from symbolic.topics.icgd.pretraining import MIXTURES, TENTHS

LEAST = -1.0  # R^2 below are drawn there
WORDS = {"relu": "ReLU attention", "softmax": "softmax attention"}


def panels(experiment: Experiment) -> Sequence[ClaimPanel]:
    """The score behind examples and along the depth, for both attentions."""
    return [
        panel for kind in rows.ATTENTIONS for panel in (along_examples(kind, experiment.at["n"]), along_depth(kind))
    ]


def along_examples(kind: str, n: int) -> ClaimPanel:
    """At four mixtures, and networks trained on as many examples of the prompt."""

    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return rows.main_plan(experiment, kind)

    def curves(experiment: Experiment, seed: int) -> Curves:
        found: dict[str, tuple[Sequence[int], list[float]]] = {}
        ends = [max(1, n // 2), n, rows.longer(n)]
        for w1 in MIXTURES:
            label = f"w1 = {w1:g}"
            found[label] = range(ends[-1] + 1), scores(experiment, seed, plans(experiment)[0], ends[-1], w1)
            tasks = [rows.task_at(experiment, each, w1) for each in ends]
            found[label + DASHED] = ends, [rows.of_prompt(each, experiment.at["prompts"], seed) for each in tasks]
        return found

    claims = ["comparable", "longer", "shift", *(["length"] if kind == "softmax" else [])]
    return ClaimPanel(
        *(WORDS[kind], "examples in the prompt", [f"{kind}.{each}" for each in claims], plans, curves),
        along="R squared",
        marked={"n": n},
        least=LEAST,
    )


def scores(experiment: Experiment, seed: int, made: TrainingPlan, examples: int, w1: float) -> list[float]:
    """The R^2 behind 0, 1, ... examples."""
    task = rows.task_at(experiment, examples, w1)
    _, y = experiment.examples(task, experiment.trainings.get(made, seed).trainer.number_format)
    errors = experiment.errors(made, seed, task)
    return [rows.r_squared(error, y[:, place]) for place, error in enumerate(errors)]


def along_depth(kind: str) -> ClaimPanel:
    def plans(experiment: Experiment) -> list[TrainingPlan]:
        return rows.depth_plans(experiment, kind)

    def curves(experiment: Experiment, seed: int) -> Curves:
        n, depths = experiment.at["n"], experiment.at[rows.DEPTHS]
        found = [scores(experiment, seed, made, n, MIXTURES[0]) for made in plans(experiment)]
        places = [tenths * n // 10 for tenths in TENTHS]
        return {f"{place} examples": (depths, [each[place] for each in found]) for place in places}

    claims = [f"{kind}.depth.{tenths}" for tenths in TENTHS]
    return ClaimPanel(f"{WORDS[kind]}, depth", "layers", claims, plans, curves, along="R squared", least=LEAST)
