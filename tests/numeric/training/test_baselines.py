"""Baselines beside their definitions, prompt by prompt."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from numeric.training import baselines
from numeric.training.errors import TrainingError
from numeric.training.sequences import AutoregressiveSeries, ChainOfStates
from numeric.training.tasks import LinearRegression, NetworkRegression, RegressionWithRepresentation

BATCH = LinearRegression(d=3, examples=8, noise=0.3).batch(6, 0, 0, dtype=torch.float64)
X: Any = BATCH.x
Y: Any = BATCH.y


def test_each_is_its_definition() -> None:
    for x, y, solved, moved, inverted in zip(
        X.numpy(),
        Y.numpy(),
        baselines.least_squares(X, Y),
        baselines.descent(X, Y, 0.2, 3),
        baselines.newton(X, Y, 4),
        strict=True,
    ):
        A, b, query = x[:-1], y[:-1, 0], x[-1]
        assert float(solved) == pytest.approx(query @ np.linalg.lstsq(A, b, rcond=None)[0], rel=1e-9)
        w = np.zeros(3)
        for _ in range(3):
            w = w - 0.2 * A.T @ (A @ w - b) / 8
        assert float(moved) == pytest.approx(query @ w, rel=1e-9)
        S = A.T @ A
        M = S / np.linalg.norm(S) ** 2
        for _ in range(4):
            M = M @ (2 * np.eye(3) - S @ M)
        assert float(inverted) == pytest.approx(query @ M @ A.T @ b, rel=1e-9)
    assert not baselines.zero(X, Y).any()


def test_many_steps_of_both_are_least_squares() -> None:
    solved = baselines.least_squares(X, Y)
    torch.testing.assert_close(baselines.newton(X, Y, 40), solved)
    torch.testing.assert_close(baselines.descent(X, Y, 0.3, 3000), solved)


@pytest.mark.parametrize("k", [60, 200, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_many_steps_of_newton_on_few_examples_have_the_least_norm(k: int, dtype: torch.dtype) -> None:
    batch = LinearRegression(d=5, examples=2).batch(64, 0, 0, dtype=dtype)
    assert batch.x is not None
    assert batch.y is not None
    found = baselines.newton(batch.x, batch.y, k)
    norm_least = baselines.least_squares(batch.x, batch.y)
    torch.testing.assert_close(found, norm_least, rtol=1e-3, atol=1e-3 if dtype == torch.float32 else 1e-9)
    assert not baselines.newton(batch.x[:, -1:], batch.y[:, -1:], k).any()  # without an example


def test_inputs_that_are_all_0_have_no_best_step() -> None:
    with pytest.raises(TrainingError, match="a prompt whose inputs are all 0; leave it out"):
        baselines.best_step_size(torch.zeros_like(X), Y, 2)


def test_no_prediction_reads_the_answer() -> None:
    other = Y.clone()
    other[:, -1] = 77
    assert torch.equal(baselines.least_squares(X, other), baselines.least_squares(X, Y))
    assert torch.equal(baselines.descent(X, other, 0.2, 2), baselines.descent(X, Y, 0.2, 2))
    assert torch.equal(baselines.newton(X, other, 2), baselines.newton(X, Y, 2))
    assert torch.equal(baselines.trained_on_prompt(X, other, epochs=2), baselines.trained_on_prompt(X, Y, epochs=2))


@pytest.mark.parametrize("k", [1, 4])
def test_no_step_size_of_a_grid_is_better_than_the_best(k: int) -> None:
    batch = LinearRegression(d=3, examples=6).batch(500, 0, 0, dtype=torch.float64)
    x, y = batch.x, batch.y
    assert x is not None
    assert y is not None

    def error(eta: float) -> float:
        return float(((baselines.descent(x, y, eta, k) - y[:, -1]) ** 2).mean())

    best = baselines.best_step_size(x, y, k)
    assert error(best) <= min(error(float(eta)) for eta in np.linspace(0.01, 2.5, 100)) + 1e-12
    if k == 1:  # a parabola
        g = baselines.descent(x, y, 1.0, 1)
        assert best == pytest.approx(float((g * y[:, -1]).sum() / (g * g).sum()), abs=1e-6)


def test_the_best_step_has_the_loss_that_is_known() -> None:
    curve = baselines.error_curve(
        LinearRegression(d=5, examples=20), lambda x, y: baselines.descent(x, y, 10 / 13, 1), prompts=20_000
    )
    assert curve[-1] == pytest.approx(3 / 13, rel=0.04)


def test_networks_learn_their_prompt_and_each_by_itself() -> None:
    batch = NetworkRegression(d=2, examples=10, hidden=6).batch(5, 0, 0, dtype=torch.float64)
    x, y = batch.x, batch.y
    assert x is not None
    assert y is not None
    at_first = torch.cat([x[:, :-1], x[:, :1]], 1)  # the query is the first example
    found = baselines.trained_on_prompt(at_first, y, hidden=16, epochs=400)
    assert found.shape == (400, 5, 1)
    missed = ((found - y[:, 0]) ** 2).mean((1, 2))
    assert missed[-1] < 0.05 * missed[0]
    spoilt = y.clone()
    spoilt[1] = 9
    torch.testing.assert_close(baselines.trained_on_prompt(at_first, spoilt, hidden=16, epochs=20)[:, 0], found[:20, 0])


@pytest.mark.parametrize(
    "task",
    [LinearRegression(2, 4), RegressionWithRepresentation(2, 4), NetworkRegression(2, 3), AutoregressiveSeries(2)],
)
def test_curves_have_a_point_for_each_number_of_examples(task: Any) -> None:
    for predict in baselines.named_baselines(task, 2).values():
        curve = baselines.error_curve(task, predict, prompts=20)
        assert len(curve) == task.batch(1, 0, 0).y.shape[1]
        assert all(math.isfinite(each) for each in curve)


def test_least_squares_is_exact_behind_d_examples_and_zero_has_the_variance() -> None:
    task = LinearRegression(d=3, examples=5)
    assert baselines.error_curve(task, baselines.least_squares)[3:] == pytest.approx([0, 0, 0], abs=1e-9)
    assert baselines.error_curve(task, baselines.zero) == pytest.approx([1] * 6, abs=0.2)


def test_refusals() -> None:
    with pytest.raises(TrainingError, match="ChainOfStates has no examples of a regression, so no baseline; choose"):
        baselines.error_curve(ChainOfStates(), baselines.zero)
    with pytest.raises(TrainingError, match="0 examples and k = 1; give one of each at least"):
        baselines.best_step_size(X[:, :1], Y[:, :1], 1)
