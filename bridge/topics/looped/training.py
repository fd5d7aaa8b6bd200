"""Figures 2 to 5 of algoformer as checks over seeds."""

from typing import Any

from bridge.limits.cost import Cost, Count, Work
from bridge.questions.train import AT_ONCE
from bridge.theorems.record import Record
from bridge.topics.looped.training_measures import MEASURES, SERIES
from bridge.topics.tools.trained_claims import trained_claim, trained_theorem
from bridge.topics.tools.trainings import training_memory
from symbolic.topics.looped import training as theory


def work(
    d: Count,
    N: Count,
    q: Count,
    states: Count,
    width: Count,
    heads: Count,
    layers: Count,
    T: Count,
    batch: Count,
    prompts: Count,
) -> Work:
    """The largest training, and the representation."""
    tokens, at_once = max(2 * N + 1, (N + 1) * (states + 1)), max(batch, min(prompts, AT_ONCE))
    model = training_memory(tokens, width, 2 * heads, max(layers, 6), max(layers, 2 * (T + 2)), at_once)
    return Work(before=Cost(model + 8 * (q + 3) * d**2 + 8 * at_once * (d**2 + tokens * d * q)))


def figure(comparison: Record) -> Any:
    """The curves that the claims are about, of one point; None for several."""
    from bridge.topics.looped.training_plot import panels
    from bridge.topics.tools.trained_plots import draw_panels

    return draw_panels(comparison, TRAINING, panels)


def other_series(name: str) -> str:
    """In what the task of that claim is not the paper's."""
    return "the figure is of series with A ~ N(0, I)" if name.startswith(SERIES) else ""


TRAINING = trained_theorem(
    theory.TRAINING,
    theory.PRINTED,
    [trained_claim(theory.TRAINING.quantity(name), *each, other_series(name)) for name, each in MEASURES.items()],
    main="representation.standard",
    plans=lambda experiment: [made for _, _, plans in MEASURES.values() for made in plans(experiment)],
    figure=figure,
    work=work,
)
