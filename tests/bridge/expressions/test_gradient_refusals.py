"""Gradients that there are not: each refusal says what came and what to do."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from tests.bridge.expressions.gradient_cases import A, L, N, W, X, d, drawn, eps, q, row, shapes, squares, x, y

step = bs.function(lambda t: sp.floor(t), name="step", lipschitz=1, largest=1)
vague = bs.value("vague", lambda x: x, dim=d, size=1, inputs={"x": bs.domains.Box(d)})
other = bs.matrix("W", d, d, row_sums=2)
good = bs.gradient(squares(W @ x), W)
ARRAYS = {name: torch.ones(shape, dtype=torch.float64, device="cpu") for name, shape in shapes(good).items()}
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a loss that is a number": (
        lambda: bs.gradient(3, W),
        "gradient: the loss is int; give an expression in R^1, such as r @ r",
    ),
    "a vector": (
        lambda: bs.gradient(W @ x, W),
        "gradient: the loss W x is in R^d; give a number, an expression in R^1",
    ),
    "tokens": (lambda: bs.gradient(row @ X, X), "is in n tokens in R^1; give a number"),
    "no parameter": (
        lambda: bs.gradient(y @ x),
        "nothing to differentiate by; give a matrix or an input, gradient(loss, W)",
    ),
    "a matrix elsewhere": (
        lambda: bs.gradient(squares(W @ x), A),
        "gradient: A does not occur in the loss <W x + -1*y, W x + -1*y>, which has W, x, y",
    ),
    "another matrix of that name": (
        lambda: bs.gradient(squares(W @ x), other),
        "gradient: the loss has another W; give the one that it is made of",
    ),
    "an intermediate value": (
        lambda: bs.gradient(squares(W @ x), W @ x),
        "gradient: W x is a MatrixImage; give a matrix or an input: W, x, y",
    ),
    "a name": (lambda: bs.gradient(squares(W @ x), "W"), "gradient: W is a str; give a matrix or an input: W, x, y"),
    "two objects of a name": (lambda: bs.gradient(squares(W @ (other @ x)), W), "gradient: two objects are called 'W'"),
    "a hard max": (
        lambda: bs.gradient(squares(bs.attend(bs.hard_max((A @ X) @ q, margin=1), X)), A),
        "is a hard max, which has no derivative by its scores; write bs.softmax(beta * scores) in its place, or take "
        "hard_max(...).by_softmax(beta) and gradient(..., approximate=True)",
    ),
    "a grid": (
        lambda: bs.gradient(squares(bs.quantised(W @ x, eps)), W, approximate=True),
        "grid(W x) is on a grid, which has no derivative; leave approximate=True out",
    ),
    "a sink": (
        lambda: bs.gradient(squares(bs.attend(bs.softmax((A @ X) @ q), X).with_sink(0)), A, approximate=True),
        "attention beside a sink has no formula in the network; leave approximate=True out, for the gradient of",
    ),
    "a floor": (
        lambda: bs.gradient(squares(step(W @ x)), W),
        "gradient: step has no derivative, a part of floor(t) jumps; write a continuous function by Max, Min and Abs",
    ),
    "no matrix of a layer": (
        lambda: bs.gradient(squares(L @ x), L),
        "L is one matrix for each layer, and stands in no",
    ),
    "an array too few": (lambda: good(W=ARRAYS["W"], x=ARRAYS["x"]), "gradient: there is no y; give y=, a tensor"),
    "an unknown array": (
        lambda: good(**ARRAYS, V=ARRAYS["W"]),
        "gradient: V is no input, matrix or parameter of the loss; it has W, d, x, y",
    ),
    "a list": (lambda: good(**{**ARRAYS, "x": [1.0]}), "gradient: x is of the type list; give a tensor of floats"),
    "whole numbers": (
        lambda: good(**{**ARRAYS, "x": ARRAYS["x"].long()}),
        "gradient: x is of the type torch.int64; give a tensor of floats",
    ),
    "an array of another shape": (
        lambda: good(**{**ARRAYS, "W": ARRAYS["W"][:2]}),
        "gradient: W is 2 x 3; it is d x d with d = 3",
    ),
    "a size that is another": (lambda: good(**ARRAYS, d=3.5), "gradient: x is 3; it is d with d = 3.5"),
    "too many axes": (
        lambda: good(**{**ARRAYS, "x": ARRAYS["W"][None]}),
        "gradient: x has 3 axes; give d, or a batch of them",
    ),
    "batches of different sizes": (
        lambda: good(W=ARRAYS["W"], x=ARRAYS["W"], y=ARRAYS["W"][:2]),
        "gradient: batches of 2 and 3 prompts; make them equal",
    ),
    "no depth": (
        lambda: bs.gradient(squares(bs.repeat(lambda p: W @ p, x, N)), W)(**ARRAYS),
        "gradient: N does not follow from the shapes; give N=",
    ),
    "a depth that is text": (
        lambda: bs.gradient(squares(bs.repeat(lambda p: W @ p, x, N)), W)(**ARRAYS, N="3"),
        "gradient: N is of the type str; give an int or a float",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_refusal_says_what_came_and_what_to_do(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(bs.UsageError, match=re.escape(words)):
        call()


def test_what_has_no_derivative_is_refused_only_where_the_parameter_passes_through_it() -> None:
    fixed = bs.attend(bs.hard_max((A @ X) @ q, margin=1), W @ X)
    assert bs.gradient(squares(fixed), W)
    with pytest.raises(bs.UsageError, match="hard max"):
        bs.gradient(squares(fixed), W, A)


def test_a_value_of_a_program_is_a_constant() -> None:
    gradient = bs.gradient(vague @ (W @ q), W)
    arrays = drawn(gradient, 11)
    at = torch.arange(3, dtype=torch.float64, device="cpu")
    assert torch.equal(gradient(**arrays, x=at), torch.outer(at, arrays["q"]))
    assert "vague is given" in str(gradient)
