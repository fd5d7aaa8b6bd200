"""Attention beside a sink: each theorem against numpy, and the cases of equality."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.expression import Expression
from tests.bridge.expressions.test_blocks import KEPT, compared, ran
from tests.bridge.expressions.test_theorems import bound_of

g, w, r, delta = sp.symbols("g w r delta", positive=True)
n, d, N = sp.symbols("n d N", integer=True, positive=True)
s, v, V = bs.vector("s", n, size=r), bs.vector("v", d, size=1), bs.tokens("V", n, d, size=1)


def beside(value: Any = v, lead: Any = g) -> bs.Theorem:
    output = bs.attend(bs.softmax(s), V).with_sink(value, lead=lead)
    return bs.theorem("sink", output, parameters={g: 1.5, r: 0.5, n: 4, d: 2})


def by_hand(s: np.ndarray, V: np.ndarray, v: np.ndarray, lead: float) -> np.ndarray:
    weights = np.exp(np.append(s, -lead))
    return weights @ np.vstack([V, v]) / weights.sum()


def test_a_sink_is_one_more_key_and_its_bound_is_attained() -> None:
    theorem, rng = beside(), np.random.default_rng(0)
    bound = bound_of(theorem, g=1.5, r=0.5, n=4)
    assert bound == pytest.approx(2 / (1 + 4 * np.exp(1.5 - 0.5)))
    for _ in range(50):
        at = {"s": rng.uniform(-0.5, 0.5, 4), "V": rng.uniform(-1, 1, (4, 2)), "v": rng.uniform(-1, 1, 2)}
        exact, near = ran(theorem, **at, g=1.5, r=0.5, n=4, d=2)
        assert np.allclose(exact, np.exp(at["s"]) @ at["V"] / np.exp(at["s"]).sum())
        assert np.allclose(near, by_hand(**at, lead=1.5))
    exact, near = ran(theorem, s=np.full(4, -0.5), V=np.ones((4, 2)), v=-np.ones(2), g=1.5, r=0.5, n=4, d=2)
    assert abs(near - exact).max() == pytest.approx(bound)
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "network"].ratio < 1.01
    assert rows["output", "prompt"].ratio == pytest.approx(1)
    assert ("faithful", None) in rows


def test_a_sink_of_zeros_counts_with_the_size_of_the_average() -> None:
    theorem = beside(0, 0)
    assert bound_of(theorem, r=0.5, n=4) == pytest.approx(1 / (1 + 4 * np.exp(-0.5)))
    exact, near = ran(theorem, s=np.full(4, -0.5), V=np.ones((4, 2)), r=0.5, n=4, d=2)
    assert abs(near - exact).max() == pytest.approx(bound_of(theorem, r=0.5, n=4))
    objects = theorem.statement.objects
    assert objects[r"\mathrm{output}"] == "softmax(s) V"
    assert objects[r"\widehat{\mathrm{output}}"] == "softmax(s, 0) (V; 0)"


def layers() -> bs.Theorem:
    W = bs.matrix("W", d, d, total=w).rounded(delta)

    def layer(h: Expression) -> Expression:
        q = bs.blocks.rms_norm(h, shift=1)
        return h + bs.attend(bs.softmax(q @ (W @ q)), q).with_sink(0, lead=g)

    parameters = {g: 4, w: 0.5, delta: 0.01, N: 2, n: 3, d: 2}
    return bs.theorem("sinks", bs.repeat(layer, bs.tokens("x", n, d, size=1), N), parameters=parameters)


def test_sinks_in_layers_are_those_of_numpy_and_are_read_layer_by_layer() -> None:
    theorem, rng = layers(), np.random.default_rng(1)
    bound = bound_of(theorem, g=4, w=0.5, delta=0.01, N=2, n=3, d=2)
    for _ in range(20):
        x, W = rng.uniform(-1, 1, (3, 2)), rng.normal(size=(2, 2))
        W *= 0.5 / abs(W).sum()
        rounded = 0.01 * np.floor(W / 0.01 + 0.5)
        exact, near = ran(theorem, x=x, W=W, W_hat=rounded, g=4.0, w=0.5, delta=0.01, N=2, n=3, d=2)
        one, other = x, x
        for _ in range(2):
            q, p = (h / np.sqrt((h * h).mean(-1, keepdims=True) + 1) for h in (one, other))
            one = one + np.array([row @ q / row.sum() for row in np.exp(_scores(q, W))])
            other = other + np.array([by_hand(row, p, np.zeros(2), 4.0) for row in _scores(p, rounded)])
        assert np.allclose(exact, one)
        assert np.allclose(near, other)
        assert abs(near - exact).max() <= bound
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.1


def _scores(q: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Of each query, here W q, with the keys q."""
    return (q @ W.T) @ q.T


def test_the_lead_of_a_sink_may_be_a_number_that_the_theorem_makes() -> None:
    gate = sp.Symbol("gate", nonnegative=True)
    output = bs.attend(bs.softmax(s), V).with_sink(v, lead=gate)
    theorem = bs.theorem(
        "gated", output, parameters={g: 1.5, r: 0.5, n: 4, d: 2}, built={"gate": lambda g: 2 * g}, worst={gate: 2 * g}
    )
    assert bound_of(theorem, g=1.5, r=0.5, n=4) == pytest.approx(2 / (1 + 4 * np.exp(3 - 0.5)))
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio == pytest.approx(1)


def test_a_lead_that_only_a_bound_knows_is_refused() -> None:
    gate = sp.Symbol("gate", nonnegative=True)
    output = bs.attend(bs.softmax(s), V).with_sink(v, lead=gate)
    theorem = bs.theorem("gated", output, parameters={r: 0.5, n: 4, d: 2}, worst={gate: 1})
    with pytest.raises(bs.UsageError, match=r"nothing gives gate a number where the network runs; make it a parameter"):
        compared(theorem)


def test_what_has_no_sink_is_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"with_sink: hard_max\(s\) is no softmax; attend\(bs.softmax\(scores\)"):
        bs.attend(bs.hard_max(s, margin=g), V).with_sink(v)
    with pytest.raises(bs.UsageError, match="with_sink: expected an expression, or 0, got int"):
        bs.attend(bs.softmax(s), V).with_sink(3)
    with pytest.raises(bs.UsageError, match="with_sink: expected an expression, or 0, got Tensor"):
        bs.attend(bs.softmax(s), V).with_sink(torch.zeros(2))
    with pytest.raises(bs.UsageError, match=r"softmax\(s\).with_sink: a sink has a value too; write bs.attend"):
        bs.softmax(s).with_sink(0)
    with pytest.raises(bs.UsageError, match="its value is a vector like the others: V is in n tokens in R\\^d, V is"):
        bs.attend(bs.softmax(s), V).with_sink(V)
    with pytest.raises(bs.UsageError, match="expected a number or a SymPy expression as a lead, got str"):
        bs.attend(bs.softmax(s), V).with_sink(v, lead="g")


def test_a_sink_in_layers_within_layers_is_refused() -> None:
    def layer(h: Expression) -> Expression:
        return bs.attend(bs.softmax(s), V).with_sink(h)

    twice = bs.repeat(lambda h: bs.repeat(layer, h, 2), v, 2)
    with pytest.raises(
        bs.UsageError, match="own: attention beside a sink stands in layers within layers, or in layers"
    ):
        bs.theorem("own", twice, parameters={r: 0.5, n: 4, d: 2})


def test_a_sink_beside_an_unknown_error_is_refused() -> None:
    scores = bs.value("t", lambda s: s, dim=n, size=1, error=0.1, inputs={"s": bs.domains.Box(n)})
    output = bs.attend(bs.softmax(scores), V).with_sink(v)
    with pytest.raises(bs.UsageError, match="own: t errs by a bound alone, beside a sink; give approximate= where"):
        bs.theorem("own", output, parameters={n: 4, d: 2}, network=lambda s, V, v: v)


def test_names_of_a_sink_are_not_those_of_others() -> None:
    output = bs.attend(bs.softmax(s), V).with_sink(bs.vector("leads", d, size=1))
    with pytest.raises(bs.UsageError, match="own: 'leads' is the name of an array that the graph makes"):
        bs.theorem("own", output, parameters={r: 0.5, n: 4, d: 2})
