"""Appendix G of wu2024 as checks over seeds: pretrained transformers, and networks that are trained on the prompt."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bridge.judging.seeds import DIFFERENCE, LARGEST_STEP, SMALLEST_STEP
from bridge.limits.cost import Cost, Count, Work
from bridge.questions.train import AT_ONCE
from bridge.theorems.check import Check
from bridge.theorems.record import Record
from bridge.topics.icgd.pretraining_measures import (
    ATTENTIONS,
    DEPTHS,
    along_depths,
    along_mixtures,
    beyond_length,
    comparable,
    depth_plans,
    main_plan,
    read_depths,
)
from bridge.topics.tools.trained_claims import Experiment, trained_claim, trained_theorem
from bridge.topics.tools.trainings import TrainingPlan, training_memory
from symbolic.topics.icgd import pretraining as theory

OTHER_MLPS = "the figure is of MLPs as wide as the model, and here they are four times as wide"


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
    return trained_claim(theory.PRETRAINING.quantity(name), statistic, measure, plans, OTHER_MLPS)


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
