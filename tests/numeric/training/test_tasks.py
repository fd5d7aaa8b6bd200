"""Tasks: streams, arrangement of prompts, and the laws that they draw from."""

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from numeric.training.errors import TrainingError
from numeric.training.sequences import AutoregressiveSeries, ChainOfStates, InductionHeadTask, LettersOfText
from numeric.training.tasks import (
    HELD_OUT,
    LearningTask,
    LinearRegression,
    NetworkRegression,
    RegressionWithRepresentation,
)

TEXT = "the cat sat on the mat and the dog sat on the log. "
EVERY = [
    LinearRegression(d=3, examples=4),
    LinearRegression(d=3, examples=4, joined=True),
    RegressionWithRepresentation(d=3, examples=4),
    NetworkRegression(examples=4, w1=0.5),
    AutoregressiveSeries(d=2, q=3, length=9),
    ChainOfStates(d=2, depth=3, examples=2),
    InductionHeadTask(d=2, length=7),
    LettersOfText(TEXT, n=3, length=8),
    LettersOfText(TEXT, n=1, length=8),
]
named = pytest.mark.parametrize("task", EVERY, ids=lambda task: type(task).__name__)


@named
def test_a_batch_depends_on_seed_stream_and_number_alone_and_fits_the_form(task: LearningTask) -> None:
    batch = task.batch(5, seed=3, number=7)
    task.batch(5, seed=3, number=8)
    torch.manual_seed(9)
    fresh = dataclasses.replace(task).batch(5, seed=3, number=7)
    assert torch.equal(batch.tokens, fresh.tokens)
    assert torch.equal(batch.targets, fresh.targets)
    for other in (task.batch(5, 3, 8), task.batch(5, 4, 7), task.batch(5, 3, 7, HELD_OUT)):
        assert not torch.equal(batch.tokens, other.tokens)
    form = task.form
    assert batch.tokens.shape == ((5, form.length) if form.symbols else (5, form.length, form.inputs))
    predicted = torch.zeros(2, 5, 1 if form.joined else form.length, form.outputs, dtype=torch.float32)
    errors = task.errors(predicted, batch)
    assert errors.shape[:2] == (2, 5)
    assert task.loss(predicted, batch) == errors.mean() > 0


def test_prompts_of_regressions_take_turns_or_are_joined() -> None:
    turns, joined = (LinearRegression(d=2, examples=3, joined=each).batch(4, 0, 0) for each in (False, True))
    x, y = turns.x, turns.y
    assert x is not None
    assert y is not None
    assert torch.equal(turns.tokens[:, 0::2, :2], x)
    assert torch.equal(turns.tokens[:, 1::2, 2:], y[:, :-1])
    assert not turns.tokens[:, 0::2, 2:].any()
    assert not turns.tokens[:, 1::2, :2].any()
    assert torch.equal(turns.targets, y)
    assert torch.equal(joined.tokens[:, :-1], torch.cat([x, y], -1)[:, :-1])
    assert torch.equal(joined.tokens[:, -1, :2], x[:, -1])
    assert not joined.tokens[:, -1, 2:].any()


def test_a_linear_regression_without_noise_has_one_w() -> None:
    batch = LinearRegression(d=3, examples=6).batch(50, 0, 0, dtype=torch.float64)
    assert batch.x is not None
    assert batch.y is not None
    assert (batch.x @ (torch.linalg.pinv(batch.x) @ batch.y) - batch.y).abs().max() < 1e-10
    noisy = LinearRegression(d=3, examples=400, noise=0.5).batch(50, 0, 0, dtype=torch.float64)
    assert noisy.x is not None
    left = ((noisy.x @ (torch.linalg.pinv(noisy.x) @ noisy.y) - noisy.y) ** 2).mean() * 401 / 398
    assert float(left) == pytest.approx(0.25, rel=0.05)


def test_inputs_of_networks_are_the_mixture() -> None:
    batch = NetworkRegression(d=2, examples=999, w1=0.9).batch(20, 0, 0)
    assert batch.x is not None
    low = (batch.x.sum(-1) < 0).double().mean()
    assert float(low) == pytest.approx(0.9 * 0.9977 + 0.1 * 0.0023, abs=0.01)
    assert float(batch.x[batch.x.sum(-1) < 0].mean()) == pytest.approx(-2, abs=0.05)


def test_a_network_of_one_unit_a_layer_is_a_ramp() -> None:
    batch = NetworkRegression(d=1, examples=40, depth=4, hidden=1, w1=0.5).batch(60, 0, 0, dtype=torch.float64)
    assert batch.x is not None
    assert batch.y is not None
    slopes = (batch.y / batch.x)[..., 0]
    rising = 0
    for x, slope in zip(batch.x[..., 0], slopes, strict=True):
        sides = [slope[x > 0], slope[x < 0]]
        assert all(float(side.max() - side.min()) < 1e-9 for side in sides)
        assert min(float(side.abs().max()) for side in sides) == 0
        rising += max(float(side.abs().max()) for side in sides) > 0
    assert 0 < rising < 60  # else a unit behind the first one is never positive


def test_a_series_follows_one_matrix_behind_its_representation() -> None:
    task = AutoregressiveSeries(d=2, q=2, length=12, noise=0.0, gain=1.5)
    batch = task.batch(3, 0, 0, dtype=torch.float64)
    x = batch.tokens
    for prompt in range(3):
        past = torch.stack([torch.cat([x[prompt, t - 1], x[prompt, t]]) for t in range(1, 11)])
        for W in task.Phi:
            passed = past @ W.T
            past = torch.where(passed > 0, passed, 0.01 * passed)
        solved = torch.linalg.lstsq(past, batch.targets[prompt])
        torch.testing.assert_close(past @ solved.solution, batch.targets[prompt])
    assert batch.x is not None
    torch.testing.assert_close(batch.x[:, 0], x[:, :2].flatten(1))


def test_chains_pass_one_layer_after_another_and_the_last_state_predicts_nothing() -> None:
    task = ChainOfStates(d=2, depth=2, examples=5)
    batch = task.batch(3, 0, 0, dtype=torch.float64)
    states = batch.tokens.unflatten(1, (6, 3))  # (B, chains, states, d)
    torch.testing.assert_close(batch.targets.unflatten(1, (6, 2)), states[:, :, 1:])
    before = torch.where(states[..., 1, :] > 0, states[..., 1, :], states[..., 1, :] / 0.01)
    solved = torch.linalg.lstsq(states[..., 0, :], before).solution
    torch.testing.assert_close(states[..., 0, :] @ solved, before)
    known = torch.zeros(1, 3, 18, 2, dtype=torch.float64)
    known[0].unflatten(1, (6, 3))[:, :, :2] = states[:, :, 1:]
    assert task.loss(known, batch) == 0


def test_the_target_of_an_induction_head_is_its_definition() -> None:
    batch = InductionHeadTask(d=2, length=6, w=3.0).batch(4, 0, 0, dtype=torch.float64)
    for x, target in zip(batch.tokens, batch.targets, strict=True):
        weights = {s: math.exp(3 * float(x[5] @ x[s - 2])) for s in range(2, 6)}  # x[s - 1] is the paper's x_s
        wanted = sum(w * x[s - 1] for s, w in weights.items()) / sum(weights.values())
        torch.testing.assert_close(target[0], wanted)


def test_letters_have_the_frequencies_of_the_text() -> None:
    task = LettersOfText(TEXT, n=3, length=30)
    batch = task.batch(2000, 0, 0)
    assert torch.equal(batch.tokens[:, 1:], batch.targets[:, :-1])
    circle = TEXT + TEXT[:2]
    expected = Counter(circle[i : i + 3] for i in range(len(TEXT)))
    drawn = Counter("".join(task.letters[c] for c in row[:3]) for row in batch.tokens.tolist())
    late = Counter("".join(task.letters[c] for c in row[-3:]) for row in batch.tokens.tolist())
    for seen in (drawn, late):
        assert seen.keys() == expected.keys()
        gaps = [abs(seen[key] / 2000 - count / len(TEXT)) for key, count in expected.items()]
        assert max(gaps) < 0.02
    pairs = Counter(circle[i : i + 2] for i in range(len(TEXT)))
    entropy = -sum(c / len(TEXT) * math.log(c / pairs[key[:2]]) for key, c in expected.items())
    assert task.entropy == pytest.approx(entropy, rel=1e-12)


def test_the_loss_of_the_law_is_its_entropy() -> None:
    task = LettersOfText(TEXT, n=1, length=200)
    batch = task.batch(400, 0, 0)
    counts = np.array([TEXT.count(letter) for letter in task.letters])
    logits = torch.from_numpy(np.log(counts / counts.sum())).expand(1, 400, 200, -1)
    assert float(task.loss(logits, batch)) == pytest.approx(task.entropy, abs=0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearRegression(d=0), "d = 0; give a whole number >= 1"),
        (lambda: NetworkRegression(depth=1), "depth = 1; a network has two layers at least"),
        (lambda: NetworkRegression(w1=1.5), "w1 = 1.5; give the weight of N(-2, I), from 0 to 1"),
        (lambda: AutoregressiveSeries(q=20, length=20), "q = 20 states before the next in a prompt of length = 20"),
        (lambda: ChainOfStates(depth=0), "depth = 0; give a whole number >= 1"),
        (lambda: InductionHeadTask(length=2), "length = 2; an induction head reads three tokens at least"),
        (lambda: LettersOfText(TEXT, n=9, length=8), "n = 9 for prompts of 8 letters; give n <= length"),
        (lambda: LettersOfText("a", n=2), "a text of 1 letters for n = 2; give a longer one"),
    ],
)
def test_refusals(make: Any, message: str) -> None:
    with pytest.raises(TrainingError) as refused:
        make()
    assert str(refused.value).startswith(message)
