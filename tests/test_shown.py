"""What calls return shows itself: a line for repr, at most a screen for print, no raw dataclass and no raw address."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from boundsmith import training
from bridge.theorems.registry import find_theorem

LINES, LINE = 40, 300
d, N = sp.symbols("d N", integer=True, positive=True)
K, eps, t = sp.symbols("K eps t", positive=True)
RESULTS = ("icgd.gradient", "universal.sigmoid")


def expressions() -> Iterator[Any]:
    W, x = bs.matrix("W", d, d, row_sums=K), bs.vector("x", d, size=1)
    keys, queries = (bs.tokens(name, N, d, size=1) for name in ("k", "q"))
    analog = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
    similarity = bs.blocks.similarity(lambda u, v: sp.cos(u - v), radius=1)
    layers = bs.matrix("V", d, d, layers=N, spectral=1)
    inside: list[Any] = []

    def layer(h: Any, index: Any) -> Any:
        inside.extend([h, layers @ h, keys[index]])
        return analog(layers @ h) + keys[index]

    weights = bs.softmax(keys @ queries)
    yield from (W, W.rounded(eps), x, analog, similarity, bs.repeat(layer, x, N).named("state"), *inside)
    yield from (weights, bs.attend(weights, keys), weights.largest(2), bs.hard_max(keys @ queries, margin=1))
    yield from (bs.draws("z", N, d, size=1).sample_mean(eps), similarity(queries, keys), bs.quantised(x, eps))
    yield from (bs.blocks.rms_norm(x, shift=eps), bs.blocks.rotary(keys, base=10), bs.blocks.preceding(keys, lags=2))
    yield from (bs.gradient(x @ (W @ x), W), bs.concatenate(x, x), bs.mean(keys), bs.value("v", abs, dim=d, size=1))


def answers() -> Iterator[Any]:
    W, x = bs.matrix("W", d, d, row_sums=K), bs.vector("x", d, size=1)
    analog = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
    output = bs.repeat(lambda p: analog(W @ p), x, N)
    own = bs.theorem("own", output, parameters={eps: 0.01, K: 1.5, N: 2, d: 3}, printed={"output": eps * N * K**N})
    comparison = bs.compare(own, samples=2, attack=2, restarts=1)
    yield from (own, own.statement, comparison, comparison[0], comparison["output"], comparison.table())
    steps = bs.steps(own, {"x": torch.ones(3)})
    yield from (steps, steps["output"], bs.solve(own, for_="eps", error=1e-3))
    square = bs.statements.Inequality("square", t**2 + 1, {t: (0, 1)})
    yield from (square, bs.checks.prove(square), bs.checks.supremum(t * (1 - t), {t: (0, 1)}))
    owed = bs.rules.given("h", dim=d, size=K - 1)
    yield from (owed, *bs.discharge(owed.derivation, {K: (0, 2), d: 2}))
    yield from (bs.rules.minimise(t + 1 / t, t), bs.dynamics.gradient_flow((t - 1) ** 2, (t,)))
    yield bs.formulas.lower(sp.exp(t), "numpy")
    yield training.train("linear", d=2, examples=3, steps=2)


def data_of_results() -> Iterator[Any]:
    """The statement, the theorem, and all that they consist of."""
    for id in RESULTS:
        theorem = find_theorem(id)
        result = theorem.statement
        yield from (result, theorem, *result.parameters, *result.hypotheses, *result.formulas, result.citation)
        yield from (*theorem.checks, theorem.knobs, theorem.at_point, theorem.search, theorem.refuting, theorem.network)
        yield from (*theorem.sources, *(() if callable(theorem.inequalities) else theorem.inequalities))
        for quantity in result.quantities:
            yield from filter(None, (quantity, quantity.printed, quantity.erratum, quantity.derivation))
            yield from () if quantity.derivation is None else quantity.derivation.steps


def networks() -> Iterator[Any]:
    stream = bs.networks.Stream(bs.networks.Block(f"x[{number}]", 2) for number in range(50))
    same = bs.networks.BlockMap(stream, stream, {(name, name): 1.0 for name in stream.names})
    heads = tuple(bs.networks.Head(f"h{number}", same, same, same) for number in range(9))
    attention = bs.networks.SoftmaxAttention(heads, residual=True)
    layers = (attention, bs.networks.FeedForward(same, {}, same, residual=True))
    embedding = bs.networks.Embedding(same)
    yield from (stream, same, *heads, *layers, embedding, bs.networks.Construction.of("own", stream, *layers))
    yield bs.networks.Looped("loop", stream, embedding, readout=same, loop=layers, T=50)
    yield bs.networks.LowRank(np.ones((90, 2)), np.ones((2, 90)))


@cache
def returned() -> list[Any]:
    return [*expressions(), *answers(), *data_of_results(), *networks()]


def raw(shown: object) -> str:
    """What is wrong with its repr; "" for nothing."""
    line = repr(shown)
    if len(line.splitlines()) > LINES or len(line) > 4000:
        return f"{len(line.splitlines())} lines, {len(line)} characters"
    if re.match(rf"{type(shown).__name__}\(\w+=", line) and len(line) > LINE:
        return f"a raw dataclass of {len(line)} characters"
    return "an address" if re.match(r"<[\w.]+ object at 0x", line) else ""


def test_no_repr_is_raw_and_print_takes_at_most_a_screen() -> None:
    wrong = {type(each).__name__: fault for each in returned() if (fault := raw(each))}
    assert not wrong
    long = {type(each).__name__ for each in returned() if len(str(each).splitlines()) > LINES}
    assert long <= {"Comparison"}  # its legend, as the command prints it
    assert len(returned()) > 150


def test_notebooks_show_what_is_long_in_a_box_that_scrolls() -> None:
    for each in returned():
        latex = getattr(each, "_repr_latex_", lambda: "")()
        assert latex.count(r"\\" + "\n") < LINES, repr(each)
        html = getattr(each, "_repr_html_", lambda: "")()
        assert html.count("<tr>") < LINES or "overflow: auto" in html


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (bs.rules.given("x", dim=d, size=K, error=eps), "<Approximated x in R^d: inf-norm at most K>"),
        (bs.rules.given("x", dim=d, size=K, error=eps).derivation, "<Derivation of x: 1 step>"),
        (bs.vector("x", d, size=1) + bs.vector("y", d, size=1), "<x + y, vector in R^d>"),
        (bs.matrix("W", d, N, spectral=K).rounded(eps), "<W, d x N matrix: spectral at most K; W_hat is W with each"),
        (bs.function(sp.tanh), "<tanh(t) = tanh(t)>"),
    ],
)
def test_a_line_says_what_it_is(shown: object, words: str) -> None:
    assert repr(shown).startswith(words)
