"""Losses of every kind of layer, arrays for their gradients, and the gradient by automatic differentiation."""

from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.inputs import Value
from bridge.expressions.losses import CrossEntropyOf
from bridge.expressions.running import GraphRun
from bridge.limits.arguments import called_with

N, d, h, n, k = sp.symbols("N d h n k", integer=True, positive=True)
c, eps = sp.symbols("c eps", positive=True)
NUMBERS = {"N": 3, "d": 3, "h": 4, "n": 5, "k": 2, "c": 0.3, "eps": 0.1}

W, A, B = (bs.matrix(name, d, d, row_sums=1) for name in ("W", "A", "B"))
U, D = bs.matrix("U", h, d, row_sums=1), bs.matrix("D", d, h, row_sums=1)
L = bs.matrix("L", d, d, row_sums=1, layers=N)
row = bs.matrix("row", 1, d, row_sums=1)
x, y, b, q = (bs.vector(name, d, size=1) for name in ("x", "y", "b", "q"))
bias = bs.vector("bias", h, size=1, weight=True)
X, Y, S = bs.tokens("X", n, d, size=1), bs.tokens("Y", n, d, size=1), bs.tokens("S", N, d, size=1)
Z = bs.tokens("Z", n, h, size=1)
one = bs.value("one", lambda d: torch.ones(d, dtype=torch.float64, device="cpu"), dim=d, size=1, inputs={})
tanh = bs.function(sp.tanh)
gelu = bs.function(lambda t: t * (1 + sp.erf(t / sp.sqrt(2))) / 2, name="gelu", lipschitz=2)
logistic = bs.function(lambda t: sp.log(1 + sp.exp(-t)), name="logistic")


def squares(output: Any) -> Any:
    r = output - y
    return r @ r


def block(p: Any) -> Any:
    """Pre-norm, with a gated unit."""
    z = bs.blocks.rms_norm(p, shift=c)
    return p + D @ (gelu(U @ z) * (U @ z + bias))


def attention(tokens: Any) -> Any:
    return bs.attend(bs.softmax((A @ tokens) @ (B @ tokens)), W @ tokens)


PAIR = bs.matrix("PAIR", d, 2 * d, row_sums=1)
W_1, W_2 = bs.matrix("W_1", h, d, row_sums=1, layers=N), bs.matrix("W_2", d, h, row_sums=1, layers=N)
W_Q, W_K, W_V = (bs.matrix(f"W_{name}", d, d, row_sums=1, layers=N) for name in "QKV")


def transformer(tokens: Any) -> Any:
    """A pre-norm block with attention and a hidden layer, each layer with its own matrices."""
    z = bs.blocks.rms_norm(tokens, shift=c)
    tokens = tokens + bs.attend(bs.softmax((W_K @ z) @ (W_Q @ z) / sp.sqrt(d)), W_V @ z)
    return tokens + W_2 @ gelu(W_1 @ bs.blocks.rms_norm(tokens, shift=c))


def nested() -> Any:
    """Layers within layers, the inner ones with matrices of their own; x enters each of the outer ones."""
    return bs.repeat(lambda p: bs.repeat(lambda g: tanh(L @ g + W @ x), p, N) + A @ p, x, k)


def around() -> Any:
    """Layers within layers, the inner ones from x, each beside the argument of the outer one."""
    return bs.repeat(lambda p: p + bs.repeat(lambda g: tanh(W @ g + A @ p), x, N), B @ x, k)


def twice() -> Any:
    """Two repetitions with one matrix; what is between them counts twice."""
    middle = bs.repeat(lambda p: tanh(W @ p), x, N)
    return middle + bs.repeat(lambda p: p + c * tanh(W @ p), A @ middle, k)


def post_norm(p: Any) -> Any:
    """A layer with a gain and a bias, which all tokens share."""
    return bs.blocks.layer_norm(p + W @ tanh(A @ p), shift=c, gain=gain, bias=b)


gain = bs.vector("gain", d, size=1, weight=True)
label, labels = (
    bs.vector("label", d, sums=1, domain=bs.domains.Simplex(d)),
    bs.tokens("labels", n, d, sums=1, domain=bs.domains.Simplex(d)),
)
unit = bs.value("unit", lambda: torch.ones(1, dtype=torch.float64, device="cpu"), dim=1, size=1, inputs={})


def averaged(losses: Any) -> Any:
    """One number, of those of tokens."""
    return bs.mean(losses) @ unit


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "shared layers": (squares(bs.repeat(lambda p: tanh(W @ p), x, N)), (W, x, y)),
    "a matrix of each layer": (squares(bs.repeat(lambda p: tanh(L @ p + b), x, N)), (L, b)),
    "widths and a bias": (squares(D @ tanh(U @ x + bias)), (U, D, bias)),
    "residual layers": (squares(bs.repeat(lambda p: p + c * tanh(W @ p), x, N)), (W,)),
    "pre-norm blocks with a gated unit": (squares(bs.repeat(block, x, N)), (U, D, bias)),
    "attention": (squares(bs.mean(attention(X))), (A, B, W, X)),
    "attention of one query": (squares(bs.attend(bs.softmax((A @ X) @ (B @ q)), W @ X)), (A, B, W, q)),
    "blocks of attention": (
        squares(bs.mean(bs.repeat(lambda p: bs.blocks.rms_norm(p + attention(p), shift=c), X, N))),
        (A, B, W, X),
    ),
    "tokens of layers": (squares(bs.repeat(lambda p, layer: tanh(A @ p + B @ S[layer]), x, N)), (A, B, S)),
    "an input to each layer": (squares(bs.repeat(lambda p: tanh(W @ p + A @ x), x, N)), (W, A, x)),
    "layers within layers": (squares(nested()), (L, W, A, x)),
    "a transformer": (
        logistic(y @ bs.mean(bs.repeat(transformer, X, N))).named("loss"),
        (W_Q, W_K, W_V, W_1, W_2, X),
    ),
    "layers around layers": (squares(around()), (W, A, B, x)),
    "two repetitions": (squares(twice()), (W, A)),
    "a loss that is a repetition": (
        bs.repeat(lambda p: tanh(bs.matrix("small", 1, 1, row_sums=1) @ p + c * (row @ x)), row @ x, N),
        (row, x),
    ),
    "one layer's end is its argument": (squares(bs.repeat(lambda p: p, W @ x, N)), (W,)),
    "layers that forget": (squares(bs.repeat(lambda p: A @ x, W @ x, N)), (W, A)),
    "a concatenation": (bs.concatenate(W @ x, tanh(U @ x)) @ bs.concatenate(y, bias), (W, U, bias)),
    "a concatenation of tokens": (
        squares(bs.mean(A @ (bs.matrix("J", d, d + h, row_sums=1) @ bs.concatenate(X, gelu(Z))))),
        (A, X, Z),
    ),
    "a loss over tokens": (bs.mean((attention(X) - Y) * (attention(X) - Y)) @ one, (A, W, Y)),
    "a product of tokens": (squares(bs.mean((A @ X) * gelu(B @ X))), (A, B, X)),
    "a loss of a function": (logistic(row @ tanh(W @ x)), (row, W)),
    "a linear loss": (3 * (y @ (W @ x)) / 4, (W, x)),
    "a hard max of what is fixed": (squares(bs.attend(bs.hard_max(X @ q, margin=c), W @ X)), (W,)),
    "a grid, exactly": (squares(bs.quantised(W @ x, eps)), (W,)),
    "a sink, exactly": (
        squares(bs.attend(bs.softmax((A @ X) @ (B @ q)), W @ X).with_sink(y, lead=c)),
        (A, B, W, X, q),
    ),
    "layer norm": (squares(bs.repeat(lambda p: bs.blocks.layer_norm(p + tanh(W @ p), shift=c), x, N)), (W, x)),
    "layer norm with a gain and a bias": (squares(bs.repeat(post_norm, x, N)), (W, A, gain, b)),
    "layer norm of tokens": (squares(bs.mean(bs.repeat(post_norm, X, N))), (W, A, gain, b, X)),
    "rms norm of tokens with a gain": (squares(bs.mean(bs.blocks.rms_norm(W @ X, shift=c, gain=gain))), (W, gain, X)),
    "log-softmax": (y @ bs.blocks.log_softmax(tanh(W @ x)), (W, x, y)),
    "log-softmax of tokens": (squares(bs.mean(bs.blocks.log_softmax(tanh(W @ X)))), (W, X)),
    "cross-entropy at a class": (bs.blocks.cross_entropy(A @ bs.repeat(lambda p: tanh(W @ p), x, N), 2), (W, A, x)),
    "cross-entropy at weights": (c * bs.blocks.cross_entropy(W @ tanh(A @ x), label), (W, A, label)),
    "cross-entropy of tokens": (averaged(bs.blocks.cross_entropy(attention(X), labels)), (A, W, X, labels)),
    "cross-entropy of tokens at one weight": (averaged(bs.blocks.cross_entropy(W @ X, label)), (W, X, label)),
    "cross-entropy of tokens at a class": (
        averaged(bs.blocks.cross_entropy(bs.repeat(post_norm, X, N), 0) + c * bs.blocks.cross_entropy(W @ X, 1)),
        (W, A, gain, b, X),
    ),
    "the largest keys, exactly": (squares(bs.attend(bs.softmax((A @ X) @ q).largest(2), W @ X)), (A, W)),
}
every_case = pytest.mark.parametrize("case", CASES, ids=list(CASES))


near = tanh.approximated(lambda t: (1 - eps) * sp.tanh(t))
rounded, moved = W.rounded(eps), W.within(eps)
RUN: dict[str, tuple[Any, Any]] = {
    "a function and a rounded matrix": (squares(bs.repeat(lambda p: near(rounded @ p), x, N)), rounded),
    "a matrix nearby": (squares(tanh(moved @ x)), moved),
    "the largest keys": (squares(bs.attend(bs.softmax((A @ X) @ q).largest(k), W @ X)), A),
    "the keys of a mask": (squares(bs.attend(bs.softmax((A @ X) @ q).keeping(lambda k: first(k)), W @ X)), A),
    "softmax in the place of a hard max": (
        squares(bs.attend(bs.hard_max((A @ X) @ q, margin=c).by_softmax(eps), W @ X)),
        A,
    ),
}


def first(kept: int) -> torch.Tensor:
    """A mask of the first keys."""
    places = torch.arange(NUMBERS["n"], dtype=torch.int64, device="cpu")
    return (places < kept).to(torch.float64)


def shapes(gradient: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(int(s.subs({each: NUMBERS[each.name] for each in s.free_symbols})) for s in shape)
            for name, shape in gradient._shapes.items()}  # fmt: skip


def drawn(gradient: Any, seed: int = 0, *batch: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(*batch, *shape, generator=generator, dtype=torch.float64, device="cpu")
            for name, shape in shapes(gradient).items()}  # fmt: skip


def numbers(gradient: Any) -> dict[str, float]:
    return {name: NUMBERS[name] for name in gradient._letters}


def as_dict(gradient: Any, found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {gradient.flows.by[0].name: found}


def made(gradient: Any) -> dict[str, Any]:
    """The arrays of labels that are numbers, and of values that take nothing."""
    fixed = [each for each in gradient.flows.nodes if isinstance(each, CrossEntropyOf | Value)]
    return {name: called_with(program, NUMBERS) for each in fixed for name, program in each.made.items()}


def by_autograd(gradient: Any, known: dict[str, Any], *, approximate: bool = False) -> dict[str, torch.Tensor]:
    """Of the program of the network, which is not derived from the formulas."""
    names = [each.name for each in gradient.flows.by]
    moving = {name: known[name].clone().requires_grad_() for name in names}
    run = GraphRun({**NUMBERS, **made(gradient), **known, **moving}, approximate=approximate)
    found = torch.autograd.grad(run.value(gradient.flows.loss).sum(), list(moving.values()), materialize_grads=True)
    return dict(zip(names, found, strict=True))
