"""The curves behind claims about trained models: every claim has a panel, lines are means, bands hold all seeds."""

import numpy as np
import pytest

import boundsmith as bs
from bridge.export.plots import draw
from bridge.instances.known import Known
from bridge.instances.point import Point
from bridge.limits.run import Format
from bridge.theorems.registry import find_theorem
from bridge.topics.icgd import pretraining_plot
from bridge.topics.looped import training_plot
from bridge.topics.tools.trained_claims import SEEDS, Experiment
from bridge.topics.tools.trainings import Trainings
from numeric.training.baselines import newton

TINY = {"width": 4, "heads": 1, "layers": 1, "steps": 1, "batch": 2, "prompts": 8}
LOOPED = {**TINY, "T": 2, "delta_T": 1}
PRETRAINED = {**TINY, "n": 4, "K": 2}


def experiment(id: str, **at: int) -> Experiment:
    found = Known(Point.at(find_theorem(id), at), Format())["experiment"]
    assert isinstance(found, Experiment)
    return found


@pytest.mark.parametrize(
    ("id", "panels", "at"),
    [("looped.training", training_plot.panels, LOOPED), ("icgd.pretraining", pretraining_plot.panels, PRETRAINED)],
)
def test_every_claim_stands_below_a_panel(id: str, panels: object, at: dict[str, int]) -> None:
    shown = [name for panel in panels(experiment(id, **at)) for name in panel.claims]  # type: ignore[operator]
    assert sorted(shown) == sorted(each.name for each in find_theorem(id).statement.quantities)


def test_lines_are_means_over_seeds_and_bands_reach_over_them() -> None:
    comparison = bs.compare("looped.training", seed=4, **LOOPED)
    figure, known = draw(comparison), experiment("looped.training", **LOOPED)
    axes = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title() for axis in axes] == [each.title for each in training_plot.panels(known)]
    made = training_plot.rows.plan(known.at, "representation", "looped")
    errors = np.array([known.errors(made, seed) for seed in range(4, 4 + SEEDS)])
    line, band = axes[0].lines[1], axes[0].collections[1].get_paths()[0].vertices
    assert line.get_label() == "looped"
    assert list(line.get_xdata()) == list(range(7))
    assert np.allclose(line.get_ydata(), errors.mean(0))
    for place in range(7):
        of_band = band[band[:, 0] == place, 1]
        assert np.allclose([of_band.min(), of_band.max()], [errors[:, place].min(), errors[:, place].max()])
    verdict = next(row.verdict["printed"] for row in comparison if row.quantity == "examples")
    (caption,) = [each.get_text() for each in axes[0].texts]
    assert "Figure 2a: 'showcasing a decrease with an increasing\nnumber of in-context samples'" in caption
    assert f"\nexamples: {verdict}" in caption
    x, y = known.examples(
        training_plot.rows.linear_plan(known, 1.0).learning_task, known.trainings.get(made, 4).trainer.number_format
    )
    by_hand = ((newton(x, y, 3) - y[:, -1]) ** 2).mean()
    assert axes[6].lines[1].get_ydata()[2] == pytest.approx(float(by_hand))


def test_loops_are_drawn_from_the_first_to_four_times_the_trained_ones() -> None:
    known = experiment("looped.training", **LOOPED)
    largest, smallest = training_plot.along_loops(known, 0).values()
    plans = training_plot.rows.widths_of_average(known)
    for (loops, errors), made in zip((largest, smallest), plans, strict=True):
        assert list(loops) == list(range(1, 9))
        assert errors[1] == pytest.approx(known.errors(made, 0)[-1], rel=1e-6)  # T = 2
        assert errors[6] == pytest.approx(training_plot.rows.at_loops(known, made, 0, [7])[0], rel=1e-6)


def test_scores_of_the_pretraining_behind_examples_are_those_of_its_rows() -> None:
    known = experiment("icgd.pretraining", **PRETRAINED)
    rows = pretraining_plot.rows
    panel = pretraining_plot.panels(known)[0]
    curves = panel.curves(known, 0)
    at, found = curves["w1 = 0.7"]
    assert list(at) == list(range(7))
    (made,) = rows.main_plan(known, "relu")
    task = rows.task_at(known, 6, 0.7)
    assert found[6] == pytest.approx(rows.of_model(known, 0, made, task, 6))
    ends, beside = curves["w1 = 0.7, trained on the prompt"]
    assert list(ends) == [2, 4, 6]
    assert beside[2] == rows.of_prompt(task, 8, 0)


def test_several_points_are_curves_along_the_parameter() -> None:
    twice = bs.compare("looped.training", **{**LOOPED, "prompts": (8, 9)})
    assert len(draw(twice).axes) == 1  # of the main quantity
    below = next(row.quantity for row in twice if row.measured is not None and row.measured < 0)
    measured = {row.params["prompts"]: row.measured for row in twice if row.quantity == below}
    (axis,) = draw(twice, below).axes
    assert "prompts" in axis.get_xlabel()
    assert axis.get_yscale() == "linear"
    (line,) = [each for each in axis.lines if each.get_label() == "measured"]
    assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) == measured


def test_a_panel_without_its_trainings_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = bs.compare("looped.training", **LOOPED)
    monkeypatch.setattr(Trainings, "missing", lambda self, plans, seeds: "" if len(list(plans)) == 2 else "absent")
    some = [axis.get_title() for axis in draw(comparison).axes if axis.get_visible()]
    assert some == ["more loops than trained"]
    monkeypatch.setattr(Trainings, "missing", lambda self, plans, seeds: "absent")
    with pytest.raises(bs.UsageError, match="no panel of the figure has its trainings; the rows name what makes them"):
        draw(comparison)
