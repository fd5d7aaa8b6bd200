"""What training finds beside what a theorem builds: one step of gradient descent as a linear attention layer."""

import math
from typing import Any

import pytest
import torch

from numeric.training.baselines import descent, least_squares
from numeric.training.comparing import (
    descent_fit,
    descent_layer,
    loss_along_segment,
    matrix_distances,
    output_distance,
    worst_prompt,
)
from numeric.training.errors import TrainingError
from numeric.training.models import Architecture, LinearArchitecture, LinearAttentionLayer, StandardTransformer, seeded
from numeric.training.sequences import ChainOfStates
from numeric.training.tasks import HELD_OUT, LinearRegression, NetworkRegression, RegressionWithRepresentation

TASK = LinearRegression(d=3, examples=6, joined=True)
ETA = 0.6


def moved(seed: int = 0) -> LinearAttentionLayer:
    """The step, scaled by 3, with noise where it has no effect."""
    layer, m = descent_layer(TASK, ETA), 1
    noise = seeded(lambda: LinearAttentionLayer(LinearArchitecture(spread=1.0), TASK.form), seed)
    with torch.no_grad():
        layer.value *= -3
        layer.key_query /= -3
        layer.value[:-m] = noise.value[:-m]  # type: ignore[attr-defined]
        layer.key_query[:, -m:] = noise.key_query[:, -m:]  # type: ignore[attr-defined]
    return layer


@pytest.mark.parametrize("layer", [descent_layer(TASK, ETA), moved()])
def test_a_step_of_descent_is_found_at_any_scale(layer: LinearAttentionLayer) -> None:
    fit = descent_fit(layer)
    assert fit.step_size == pytest.approx(ETA, rel=1e-6)
    assert max(fit.value, fit.key_query) < 1e-6
    assert output_distance(layer, lambda x, y: descent(x, y, ETA, 1), TASK, 64) < 1e-6
    losses = loss_along_segment(layer, descent_layer(TASK, fit.step_size, fit.scale), TASK, points=3, prompts=64)
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)  # the same function all the way


def test_a_model_answers_prompts_of_another_length() -> None:
    layer, longer = descent_layer(TASK, ETA), LinearRegression(d=3, examples=9, joined=True)
    assert output_distance(layer, lambda x, y: descent(x, y, ETA, 1), longer, 16) < 1e-6


def test_models_of_two_number_formats_are_compared_at_the_same_prompts() -> None:
    single, double = descent_layer(TASK, ETA), descent_layer(TASK, ETA).double()
    for pair in ((single, double), (double, single)):
        assert output_distance(*pair, TASK, 16) < 1e-6
        losses = loss_along_segment(*pair, TASK, points=2, prompts=16)
        assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_distances_of_a_fit_are_those_of_the_best_scaling() -> None:
    layer = descent_layer(TASK, ETA)
    with torch.no_grad():
        layer.value[-1, 0] = 0.75  # of (0, 1): the best scaling leaves the sine 0.6
        layer.key_query[0, 1] = 0.3
    fit = descent_fit(layer)
    assert fit.value == pytest.approx(0.6, rel=1e-6)
    assert fit.step_size == pytest.approx(ETA / 0.64, rel=1e-6)
    assert fit.key_query == pytest.approx(0.3 / (ETA * math.sqrt(3)), rel=1e-6)
    with torch.no_grad():
        layer.value[-1, -1] = 0
    with pytest.raises(TrainingError, match="no share in the labels; train it longer"):
        descent_fit(layer)


def test_the_distance_of_outputs_is_that_of_the_prompts() -> None:
    batch = TASK.batch(32, 0, 0, HELD_OUT, torch.float64)
    assert batch.x is not None
    assert batch.y is not None
    one, two = descent(batch.x, batch.y, 0.1, 2), least_squares(batch.x, batch.y)
    found = output_distance(lambda x, y: descent(x, y, 0.1, 2), least_squares, TASK, 32)
    assert found == pytest.approx(float(((one - two) ** 2).mean().sqrt()), rel=1e-12)


def test_distances_of_matrices_are_sines() -> None:
    one, two = moved(), moved(1)
    found = matrix_distances(one, two)
    W, aim = one.value.detach().double(), two.value.detach().double()
    s = torch.linspace(-3, 3, 60_001, dtype=torch.float64, device="cpu")
    least = ((s[:, None, None] * W - aim).flatten(1).norm(dim=1) / aim.norm()).min()
    assert found["value"] == pytest.approx(float(least), rel=1e-6)
    assert matrix_distances(one, one) == pytest.approx({"value": 0, "key_query": 0}, abs=1e-12)
    assert matrix_distances(descent_layer(TASK, 0.0), descent_layer(TASK, 1.0))["key_query"] == 1


def test_no_change_of_basis_brings_matrices_nearer_than_any_basis() -> None:
    one, two = moved(), moved(1)
    found = matrix_distances(one, two, any_basis=True)["value"]
    W, aim = one.value.detach().double(), two.value.detach().double()
    U, _, V = torch.linalg.svd(W)
    P, _, Q = torch.linalg.svd(aim)
    turned = P @ U.mT @ W @ V.mT @ Q  # the singular vectors of the other
    sines = [math.sqrt(1 - float((each * aim).sum() / each.norm() / aim.norm()) ** 2) for each in (turned, W)]
    assert found == pytest.approx(sines[0], rel=1e-6)
    assert found < sines[1]
    with torch.no_grad():
        two.value.copy_(-5 * torch.linalg.qr(torch.randn(4, 4)).Q @ one.value @ torch.linalg.qr(torch.randn(4, 4)).Q)
    assert matrix_distances(one, two, any_basis=True)["value"] == pytest.approx(0, abs=1e-5)
    assert matrix_distances(SMALL, SMALL, any_basis=True).keys() == {
        name for name, each in SMALL.named_parameters() if each.ndim == 2
    }


def test_the_ends_of_a_segment_are_the_models() -> None:
    one, two = descent_layer(TASK, 0.0), descent_layer(TASK, 2 * ETA)
    losses = loss_along_segment(one, two, TASK, points=5, prompts=64)
    batch = TASK.batch(64, 0, 0, HELD_OUT)
    expected = [TASK.loss(descent_layer(TASK, eta * ETA / 2)(batch.tokens), batch) for eta in range(5)]
    assert losses == pytest.approx([each.item() for each in expected], rel=1e-5)


@pytest.mark.parametrize("task", [TASK, RegressionWithRepresentation(d=3, examples=6, joined=True)])
def test_the_worst_prompt_is_one_of_the_task_and_worse_than_random_ones(task: Any) -> None:
    layer = descent_layer(task, ETA)
    found = worst_prompt(layer, least_squares, task, radius=2.0, steps=30, restarts=8)
    assert found.x.abs().max() <= 2
    w = torch.linalg.pinv(task.prompts(found.x[None], found.y[None]).x[0]) @ found.y if task is TASK else None
    assert w is None or (float(w.abs().max()) <= 2 / math.sqrt(3) + 1e-9 and torch.allclose(found.x @ w, found.y))
    own = (descent(found.x[None], found.y[None], ETA, 1) - found.y[-1]) ** 2
    assert found.error == pytest.approx(float(own), rel=1e-4)
    start = worst_prompt(layer, least_squares, task, radius=2.0, steps=1, restarts=8)
    assert found.error - found.beside > 1.5 * (start.error - start.beside)


CHAIN = ChainOfStates(d=3)
SMALL, OTHER = (StandardTransformer(Architecture(width=4, heads=1, layers=n), CHAIN.form) for n in (1, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: output_distance(least_squares, SMALL, CHAIN), "no examples of a regression for a predictor"),
        (lambda: matrix_distances(SMALL, OTHER), "other weights; give two of one architecture"),
        (lambda: loss_along_segment(SMALL, OTHER, CHAIN), "other weights; give two of one architecture"),
        (lambda: loss_along_segment(SMALL, SMALL, CHAIN, points=1), "points = 1; give 2 at least"),
        (
            lambda: output_distance(SMALL, SMALL, LinearRegression(d=2)),
            "a model of another task: outputs 3 in the model and 1 in the task; give a model of this one",
        ),
        (lambda: loss_along_segment(SMALL, SMALL, ChainOfStates(d=2)), "inputs 3 in the model and 2 in the task, outp"),
        (
            lambda: output_distance(descent_layer(TASK, ETA), least_squares, LinearRegression(d=3, examples=6)),
            "joined True in the model and False in the task",
        ),
        (lambda: worst_prompt(SMALL, least_squares, NetworkRegression()), "on NetworkRegression; give a linear"),
        (lambda: worst_prompt(SMALL, least_squares, TASK, radius=0), "radius = 0; give a number > 0"),
        (lambda: worst_prompt(SMALL, least_squares, TASK, restarts=0), "restarts = 0; give a number > 0"),
        (lambda: descent_layer(TASK, 1.0, 0.0), "scale = 0; give another number"),
        (lambda: descent_layer(LinearRegression(), 1.0), "without joined tokens; train it on linear regression"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        call()
