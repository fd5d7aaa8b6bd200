"""The figures of trained models: what is asked of a number, trainings that are read again, the bound of descent."""

from pathlib import Path

import pytest
import torch

from benchmarks import trained_models
from benchmarks.trained_models import Recipe, Stored
from benchmarks.training import descent_bound
from benchmarks.training_runs import Line
from numeric.training.baselines import descent

TINY = {"d": 2, "examples": 3, "width": 4, "heads": 2, "layers": 1, "batch": 4}


def test_a_line_is_kept_if_each_seed_keeps_both_bounds() -> None:
    assert Line("x", [1.0, 2.0], most=2.0, least=1.0).kept
    assert not Line("x", [1.0, 2.1], most=2.0).kept
    assert not Line("x", [0.9, 2.0], least=1.0).kept
    assert not Line("x", [float("nan")], most=1.0).kept
    assert str(Line("x", [0.5, 3.0], most=2.0)) == "x: 0.5 3 (at most 2: NOT KEPT)"


def test_a_stored_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or is read, where its steps or its time are over."""
    recipes = {
        "steps": Recipe("linear", "standard", {**TINY, "steps": 20}, seeds=(3,)),
        "timed": Recipe("linear", "standard", {**TINY, "steps": 20}, seconds=1e-9),
    }
    monkeypatch.setattr(trained_models, "RECIPES", recipes)
    (first,) = Stored(tmp_path).seeds("steps")
    again = Stored(tmp_path).get("steps", 3)
    assert (first.trainer.how.seed, first.trainer.step, again.trainer.step) == (3, 20, 20)
    assert all(torch.equal(a, b) for a, b in zip(first.trainer.parameters, again.trainer.parameters, strict=True))
    assert Stored(tmp_path).get("timed", 0).trainer.step == Stored(tmp_path).get("timed", 0).trainer.step == 1
    monkeypatch.setitem(recipes, "timed", Recipe("linear", "standard", {**TINY, "steps": 20}, seconds=1e9))
    assert Stored(tmp_path).get("timed", 0).trainer.step == 20


def test_the_bound_holds_for_descent_and_is_reached_in_one_dimension() -> None:
    draw = torch.Generator().manual_seed(0)
    for d in (1, 3):
        x = 2 * torch.randn(200, 8, d, generator=draw, dtype=torch.float64)
        y = x @ torch.randn(200, d, 1, generator=draw, dtype=torch.float64)
        missed = (descent(x, y, 0.4, 3) - y[:, -1]).abs()[:, 0]
        bound = descent_bound(x, y, 0.4, 3)
        assert bool((missed <= bound * (1 + 1e-9) + 1e-12).all())
        assert d > 1 or torch.allclose(missed, bound)
