"""Models that start at a construction: its outputs, its loss, and what training makes of them."""

from typing import Any

import pytest
import torch

from bridge.instances.inputs import Drawn
from bridge.instances.known import Known
from bridge.instances.networks import Networks
from bridge.instances.point import Point
from bridge.limits.run import Format
from bridge.questions.constructed import constructed
from bridge.questions.train import load, set_up, train
from bridge.theorems.registry import registered_theorem
from numeric.training.baselines import descent, error_curve, zero
from numeric.training.tasks import LinearRegression
from numeric.training.trainer import Trainer
from symbolic.words.errors import UsageError

SCALE = 10**0.5 + 2**0.5 + 2
SIZES: dict[str, Any] = {"d": 2, "examples": 10, "batch": 128, "dtype": "float64"}


def started(model: str, **settings: Any) -> tuple[Trainer, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The trainer, joined tokens, and x (B, N + 1, d), y (B, N + 1, m) of a batch."""
    trainer = set_up("linear", model, "cpu", {**SIZES, **settings})
    batch = trainer.task.batch(64, 0, 0, dtype=torch.float64)
    assert batch.x is not None
    assert batch.y is not None
    return trainer, batch.tokens, batch.x, batch.y


AT: dict[str, tuple[dict[str, Any], Any]] = {
    "looped.gradient_descent": (
        {"N": 10, "d": 2, "m": 1, "L": 0, "T": 3, "eta": 0.5, "c": 2.0**-4, "C": 12.0, "B_x": 8.0, "B_y": 16.0,
         "high": 2.0},
        lambda x, y: {"x": x, "y": y},
    ),
    "looped.newton": (
        {"N": 10, "d": 2, "T": 8, "kappa": 64.0},
        lambda x, y: {"X": x[:, :-1] / SCALE, "y": y[..., 0], "x": x[:, -1] / SCALE},
    ),
}  # fmt: skip


@pytest.mark.parametrize("model", AT)
def test_before_training_it_is_the_theorem_s_network(model: str) -> None:
    """Which runs block by block, with the weights as numbers."""
    trainer, tokens, x, y = started(model)
    parameters, inputs = AT[model]
    theorem = registered_theorem(model)
    point = Point.at(theorem, parameters)
    known = Known(point, Format())
    networks = Networks(known, Drawn(known, point.numbers).domain)
    wanted = networks.network(inputs(x, y[:, :-1]), [theorem.main], torch.float64)[theorem.main]
    torch.testing.assert_close(trainer.model(tokens)[0, :, 0], wanted.reshape(64, 1), atol=1e-9, rtol=1e-9)


def test_the_induction_head_is_near_its_target_for_a_large_slope_and_trains() -> None:
    how: dict[str, Any] = {"model": "induction.vanilla", "dtype": "float64", "d": 2, "length": 9, "p": 1.0}
    trainer = set_up("induction", how["model"], "cpu", {key: how[key] for key in how if key != "model"})
    batch = trainer.task.batch(200, 0, 0, dtype=torch.float64)
    far = (trainer.model(batch.tokens)[0] - batch.targets).abs().max()
    assert 1e-3 < float(far.detach()) < 2
    near = set_up("induction", "induction.vanilla", "cpu", {"dtype": "float64", "d": 2, "length": 9, "p": 30.0})
    assert torch.allclose(near.model(batch.tokens)[0], batch.targets, atol=1e-9)
    before = train("induction", **how, steps=1, rate=1e-30).errors(512)
    assert train("induction", **how, steps=40, rate=1e-2).errors(512)[0] < 0.95 * before[0]


def test_its_loss_before_training_is_that_of_gradient_descent() -> None:
    trainer, tokens, x, y = started("looped.gradient_descent", c=2.0**-14, C=30.0)
    assert torch.allclose(trainer.model(tokens)[0, :, 0], descent(x, y, 0.5, 3), atol=1e-6)


def test_a_construction_is_a_baseline_behind_any_number_of_examples() -> None:
    task = LinearRegression(d=2, examples=4)
    exact = error_curve(task, lambda x, y: descent(x, y, 0.5, 3), 50)
    found = error_curve(task, constructed("looped.gradient_descent", c=2.0**-14, C=30.0), 50)
    assert found[2:] == pytest.approx(exact[2:], abs=1e-5)
    assert found[:2] == error_curve(task, zero, 50)[:2]
    with pytest.raises(UsageError, match="constructed: there is no construction of a regression 'standard'"):
        constructed("standard")


def test_newton_s_is_its_iteration() -> None:
    trainer, tokens, x, y = started("looped.newton", T=8)
    x = x / SCALE
    known = x[:, :-1]
    S = known.mT @ known
    M = S
    for _ in range(8):
        M = 2 * M - M @ S @ M
    wanted = (x[:, -1:] @ M @ known.mT @ y[:, :-1])[:, 0]
    missed = (trainer.model(tokens)[0, :, 0] - wanted).abs().detach()
    assert float(missed.quantile(0.9)) < 1e-4


def test_training_goes_below_the_construction_and_is_read_again(tmp_path: Any) -> None:
    """Its two loops have the same weights, which a checkpoint holds once."""
    folder = tmp_path / "run"
    how = {**SIZES, "model": "looped.gradient_descent", "T": 2, "c": 2.0**-4, "C": 12.0, "rate": 1e-4}
    before = train("linear", **{**how, "steps": 1, "rate": 1e-12}).errors(512)
    train("linear", **how, steps=12, folder=folder)
    trained = train("linear", **how, steps=30, folder=folder, resume=True)
    assert trained.errors(512)[0] < 0.99 * before[0]
    assert trained.errors(512) == train("linear", **how, steps=30).errors(512)
    assert load(folder).errors(512) == trained.errors(512)


@pytest.mark.parametrize(
    ("task", "named", "message"),
    [
        ("chain", {"d": 2}, "train: looped.gradient_descent without joined tokens; train it on linear regression"),
        ("linear", {"d": 2, "model": "induction.vanilla"}, "train: induction.vanilla on another task; train it on"),
        ("linear", {"d": 2, "T": 0}, "looped.gradient_descent: T = 0"),
        (
            "linear",
            {"d": 2, "delta_T": 3},
            "train: the task linear and the model looped.gradient_descent have no setting",
        ),
    ],
)
def test_refusals(task: str, named: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        train(task, **{"model": "looped.gradient_descent", **named})
    assert str(refused.value).startswith(message)
