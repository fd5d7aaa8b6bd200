"""Gradients of expressions: equal to automatic and to numeric differentiation; balls enclose them."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.backward import FormulasAtPrompt
from bridge.expressions.cotangents import formula, is_leaf
from bridge.expressions.running import GraphRun
from tests.bridge.expressions.gradient_cases import (
    CASES,
    NUMBERS,
    RUN,
    A,
    N,
    W,
    X,
    as_dict,
    b,
    by_autograd,
    drawn,
    every_case,
    first,
    gain,
    labels,
    made,
    moved,
    numbers,
    post_norm,
    rounded,
    shapes,
    squares,
    tanh,
    x,
    y,
)


@every_case
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_what_automatic_differentiation_gives(case: str, seed: int) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, seed)
    found, expected = as_dict(gradient, gradient(**arrays, **numbers(gradient))), by_autograd(gradient, arrays)
    assert list(found) == [each.name for each in by]
    assert max(float(abs(each).max()) for each in expected.values()) > 1e-3
    for name, each in expected.items():
        assert found[name].shape == each.shape
        assert float(abs(found[name] - each).max()) <= 1e-10 * (1 + float(abs(each).max()))


@every_case
def test_one_parameter_alone_has_the_same_gradient(case: str) -> None:
    loss, by = CASES[case]
    together = bs.gradient(loss, *by)
    arrays = drawn(together, 3)
    expected = as_dict(together, together(**arrays, **numbers(together)))
    for each in by:
        alone = bs.gradient(loss, each)
        assert torch.allclose(alone(**arrays, **numbers(alone)), expected[each.name], rtol=1e-12, atol=1e-13)


# The formulas that are printed forward are not those that are run there: the nodes run themselves.
@every_case
def test_the_formulas_forward_are_what_the_nodes_compute(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    run = GraphRun({**NUMBERS, **made(gradient), **drawn(gradient)}, approximate=False)
    checked = 0
    for node in gradient.flows.within(None):
        if not is_leaf(node) and not node.inner:
            found = FormulasAtPrompt(run).array(formula(node, approximate=False))
            assert torch.allclose(found, run.value(node), rtol=1e-12, atol=1e-13)
            checked += 1
    assert checked >= 2


# Batches, balls, differences.


@pytest.mark.parametrize(
    "case", ["shared layers", "attention", "tokens of layers", "pre-norm blocks with a gated unit"]
)
def test_a_batch_of_prompts_gives_a_batch_of_gradients(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays, of_prompt = drawn(gradient, 5), {"x", "y", "X", "S"} & set(shapes(gradient))
    batches = {name: torch.stack([arrays[name], -arrays[name], arrays[name] / 2]) for name in of_prompt}
    found = as_dict(gradient, gradient(**{**arrays, **batches}, **numbers(gradient)))
    for place in range(3):
        prompt = {**arrays, **{name: batch[place] for name, batch in batches.items()}}
        for name, each in as_dict(gradient, gradient(**prompt, **numbers(gradient))).items():
            assert torch.allclose(found[name][place], each, rtol=1e-12, atol=1e-13)


@every_case
def test_balls_enclose_the_gradient(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, 6)
    wide, fine = (as_dict(gradient, gradient.enclosed(bits, **arrays, **numbers(gradient))) for bits in (80, 200))
    for name, each in by_autograd(gradient, arrays).items():
        assert float(wide[name].radius().max()) < 1e-7
        assert float(fine[name].radius().max()) < 1e-40
        assert wide[name].entries.shape == tuple(each.shape)
        assert all(a.contains(b.mid()) for a, b in zip(wide[name].entries.flat, fine[name].entries.flat, strict=True))
        assert abs(fine[name].midpoint() - each.numpy()).max() <= 1e-10 * (1 + float(abs(each).max()))


def test_balls_of_a_batch() -> None:
    gradient = bs.gradient(*CASES["shared layers"][:1], W)
    arrays = drawn(gradient, 7)
    pair = torch.stack([arrays["x"], -arrays["x"]])
    found = gradient.enclosed(**{**arrays, "x": pair}, N=3)
    assert found.shape == (2, 3, 3)
    one = gradient.enclosed(**{**arrays, "x": pair[1]}, N=3)
    assert abs(found[1].midpoint() - one.midpoint()).max() == 0


def by_differences(loss: Callable[[mpmath.matrix], Any], at: mpmath.matrix) -> mpmath.matrix:
    """Central differences of step 1e-15 in 50 digits, each within 1e-28 of the derivative."""
    found, step = mpmath.matrix(at.rows, at.cols), mpmath.mpf(10) ** -15
    for i in range(at.rows):
        for j in range(at.cols):
            ends = []
            for sign in (1, -1):
                moved = at.copy()
                moved[i, j] += sign * step
                ends.append(loss(moved))
            found[i, j] = (ends[0] - ends[1]) / (2 * step)
    return found


def deep_loss(w: mpmath.matrix, x: mpmath.matrix, y: mpmath.matrix) -> Any:
    """|| p_3 - y ||^2 for p_l = p_(l-1) + c tanh(W p_(l-1)), written by hand."""
    for _ in range(3):
        x = x + mpmath.mpf(0.3) * (w * x).apply(mpmath.tanh)
    return sum(entry**2 for entry in x - y)


def attention_loss(w: mpmath.matrix, prompt: mpmath.matrix, keys: mpmath.matrix, x: mpmath.matrix) -> Any:
    """The squared length of softmax attention of one query x, the queries by W."""
    scores = prompt * keys.T * (w * x)
    weights = [mpmath.exp(score) for score in scores]
    total = sum(weights)
    output = [sum(a * prompt[i, j] for i, a in enumerate(weights)) / total for j in range(prompt.cols)]
    return sum(entry**2 for entry in output)


def test_balls_enclose_differences_of_fifty_digits() -> None:
    residual = bs.gradient(CASES["residual layers"][0], W)
    o = bs.attend(bs.softmax((A @ X) @ (W @ x)), X)
    attending = bs.gradient(o @ o, W)
    arrays = {**drawn(residual, 8), **drawn(attending, 8)}
    with mpmath.workdps(50):
        w, keys, prompt = (mpmath.matrix(arrays[name].tolist()) for name in ("W", "A", "X"))
        x_, y_ = (mpmath.matrix(arrays[name].tolist()) for name in ("x", "y"))
        expected = {
            residual: by_differences(lambda w: deep_loss(w, x_, y_), w),
            attending: by_differences(lambda w: attention_loss(w, prompt, keys, x_), w),
        }
        for gradient, differences in expected.items():
            own = {name: arrays[name] for name in shapes(gradient)}
            found = gradient.enclosed(200, **own, **numbers(gradient))
            for i in range(3):
                for j in range(3):
                    assert abs(mpmath.mpf(found.entries[i, j].mid().str(50, radius=False)) - differences[i, j]) < 1e-24


# The network that runs.


@pytest.mark.parametrize("case", RUN)
def test_the_gradient_of_the_network_that_runs(case: str) -> None:
    loss, by = RUN[case]
    gradient = bs.gradient(loss, by, approximate=True)
    arrays = drawn(gradient, 9)
    hat = {"W_hat": torch.round(arrays["W"] / 0.1) * 0.1 if by is rounded else arrays["W"] + arrays.get("dW", 0)}
    run = {**NUMBERS, **arrays, **hat, "kept": first(2)}
    name = "W_hat" if by in (rounded, moved) else by.name
    at = run[name].clone().requires_grad_()
    value = GraphRun({**run, name: at}, approximate=True).value(loss)
    (expected,) = torch.autograd.grad(value.sum(), at)
    found = gradient(**arrays, **numbers(gradient))
    assert float(abs(expected).max()) > 1e-4
    assert torch.allclose(found, expected, rtol=1e-10, atol=1e-12)
    balls = gradient.enclosed(**arrays, **numbers(gradient))
    assert float(balls.radius().max()) < 1e-20
    assert abs(balls.midpoint() - expected.numpy()).max() <= 1e-10
    if "hard max" not in case:
        exact = bs.gradient(loss, by)
        of_exact = exact(**{name: arrays[name] for name in shapes(exact)}, **numbers(exact))
        assert not torch.allclose(found, of_exact, rtol=1e-3)


def test_a_kink_has_the_mean_of_both_sides() -> None:
    relu = bs.function(lambda t: sp.Max(t, 0), name="relu")
    for function, at_zero in ((relu, 0.5), (bs.function(sp.Abs), 0.0)):
        gradient = bs.gradient(y @ function(x), x)
        arrays = {"x": torch.tensor([0.0, 2.0, -2.0]).double(), "y": torch.ones(3).double()}
        assert gradient(**arrays).tolist() == [at_zero, 1.0, 0.0 if function is relu else -1.0]


def test_without_layers_the_gradient_is_that_of_the_start() -> None:
    gradient = bs.gradient(squares(bs.repeat(lambda p: tanh(W @ p), A @ x, N)), W, A)
    arrays = drawn(gradient, 10)
    found = gradient(**arrays, N=0)
    assert not found["W"].any()
    assert torch.allclose(found["A"], 2 * torch.outer(arrays["A"] @ arrays["x"] - arrays["y"], arrays["x"]))


def test_norms_and_losses_are_those_of_torch() -> None:
    """Layers with a norm behind them under the mean cross-entropy of tokens, by torch's own functions."""
    classes = torch.tensor([2, 0, 1, 1, 2])
    loss = bs.mean(bs.blocks.cross_entropy(A @ bs.repeat(post_norm, X, N), labels))
    gradient = bs.gradient(loss, W, A, gain, b)
    arrays = {**drawn(gradient, 8), "labels": torch.nn.functional.one_hot(classes, 3).double()}
    moving = {name: arrays[name].clone().requires_grad_() for name in ("W", "A", "gain", "b")}
    p = arrays["X"]
    for _ in range(NUMBERS["N"]):
        z = p + torch.tanh(p @ moving["A"].mT) @ moving["W"].mT
        p = torch.nn.functional.layer_norm(z, (3,), moving["gain"], moving["b"], eps=NUMBERS["c"])
    torch.nn.functional.cross_entropy(p @ moving["A"].mT, classes).backward()
    for name, found in gradient(**arrays, **numbers(gradient)).items():
        assert torch.allclose(found, moving[name].grad, rtol=1e-12, atol=1e-14)
