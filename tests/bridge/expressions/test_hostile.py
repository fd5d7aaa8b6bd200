"""What a hostile reader found: names of the graph's own arrays, suprema without end, what was promised unsaid."""

import re
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs

K, delta, eps, lam = sp.symbols("K delta eps lam", positive=True)
N, n, d, k = sp.symbols("N n d k", integer=True, positive=True)
FEW = {"samples": 8, "attack": 4, "restarts": 2}


# asinh grows without end: to 692 over all floats.
@pytest.mark.parametrize(
    "f", [lambda t: t * sp.asinh(t), lambda t: t * sp.log(1 + t**2), lambda t: t * (1 + t**2) ** sp.Rational(1, 8)]
)
def test_a_slope_that_grows_slowly_has_no_supremum(f: Any) -> None:
    with pytest.raises(bs.UsageError, match="no Lipschitz constant"):
        bs.function(f)


def test_a_difference_that_grows_slowly_has_no_supremum() -> None:
    lossy = bs.function(sp.tanh).approximated(lambda t: sp.tanh(t) + eps * sp.asinh(t))
    with pytest.raises(bs.UsageError, match="has no finite bound"):
        bs.theorem("own", lossy(bs.vector("x", d, size=1)), parameters={eps: 0.01, d: 2})


@pytest.mark.parametrize(
    ("f", "least"),
    [(lambda t: t / (1 + sp.exp(-t)), 1.0998), (lambda t: t * sp.exp(-((t - 10**10) ** 2)), 0.8 * 10**10),
     (sp.atan, 1.0), (lambda t: t / sp.sqrt(1 + t**2), 1.0)],
)  # fmt: skip
def test_a_slope_with_a_bound_has_a_supremum(f: Any, least: float) -> None:
    assert float(bs.function(f).constants.lipschitz) >= least


def largest() -> bs.Theorem:
    x, W = bs.tokens("x", n, d, size=1), bs.matrix("W", d, d, row_sums=K).rounded(delta)
    output = bs.attend(bs.softmax(x @ (W @ x)).largest(k), x)
    return bs.theorem("largest", output, parameters={K: 1.0, delta: 0.125, n: 4, d: 2, k: 3})


def test_no_more_keys_are_kept_than_there_are() -> None:
    assert "k \\le n" in largest().latex(part="theorem")
    with pytest.raises(bs.UsageError, match=r"there are as many keys as 'cut softmax.*' keeps: k <= n"):
        bs.compare(largest(), **FEW, n=2)


# What the author alone knows is an assumption of the theorem.
def test_what_is_vouched_for_is_said() -> None:
    x, W = bs.tokens("x", n, d, size=1), bs.matrix("W", d, d, row_sums=K).rounded(delta)
    scores, values = x @ (W @ x), {K: 1.0, delta: 0.125, n: 3, d: 2, lam: 0.1}
    first = lambda n: torch.arange(n) < 2  # noqa: E731
    kept = bs.softmax(scores).keeping(first, lost=lam, meaning="the first two")
    own = bs.theorem("kept", bs.attend(kept, x), parameters=values)
    assert any("leaves out have a weight of at most lam" in each for each in own.statement.assumptions)
    assert "the keys S, the first two" in own.statement.objects[r"\widehat{\mathrm{output}}"]
    loss = bs.theorem("loss", bs.blocks.cross_entropy(scores, 1, others=lam), parameters=values)
    assert any("the other classes of" in each for each in loss.statement.assumptions)
    grid = bs.theorem("grid", bs.quantised(W @ x, delta, error=lam), parameters=values)
    assert any("moves no coordinate by more than lam" in each for each in grid.statement.assumptions)
    plain = bs.theorem("plain", bs.attend(bs.softmax(scores).keeping(first), x), parameters=values)
    assert plain.statement.assumptions == ()


W, x = bs.matrix("W", d, d, row_sums=1).rounded(delta), bs.vector("x", d, size=1)
tanh = bs.function(sp.tanh)


@pytest.mark.parametrize(
    ("output", "name"),
    [
        (lambda: W @ x + bs.matrix("W_hat", d, d, row_sums=1) @ x, "W_hat"),
        (lambda: W.within(delta) @ x if W.change is None else bs.matrix("V", d, d, spectral=1).within(delta) @ x
         + bs.matrix("dV", d, d, row_sums=1) @ x, "dV"),
        (lambda: bs.blocks.cross_entropy(W @ bs.vector("label", d, size=1), 0), "label"),
        (lambda: W @ (x + bs.vector("norm_W", d, size=1)), "norm_W"),
        (lambda: tanh(W @ (x + bs.vector("f_tanh", d, size=1))), "f_tanh"),
        (lambda: bs.blocks.rotary(bs.tokens("angles", 2, 2, size=1)), "angles"),
    ],
)  # fmt: skip
def test_names_of_arrays_that_the_graph_makes_are_its_own(output: Any, name: str) -> None:
    with pytest.raises(
        bs.UsageError, match=f"'{name}' is the name of an array that the graph makes; take another name"
    ):
        bs.theorem("own", output(), parameters={delta: 0.125, d: 3})


def test_a_parameter_is_not_named_like_an_object_or_an_error() -> None:
    with pytest.raises(bs.UsageError, match="'W' names a parameter and an"):
        bs.theorem("own", tanh(W @ x), parameters={delta: 0.1, d: 2, sp.Symbol("W", positive=True): 1})
    e_x = sp.Symbol("e_x", positive=True)
    with pytest.raises(bs.UsageError, match="'e_x' is the error of a step in the proof; rename the parameter"):
        bs.theorem("own", bs.matrix("V", d, d, row_sums=1).rounded(e_x) @ x, parameters={e_x: 0.1, d: 2})


# Arrays that nodes make once are there when the range of a function is looked for.
@pytest.mark.parametrize(
    "output",
    [
        lambda tokens: tanh(bs.blocks.rotary(tokens)),
        lambda tokens: tanh(bs.attend(bs.softmax(tokens @ tokens).keeping(lambda n: torch.arange(n) < 2), tokens)),
        lambda tokens: bs.blocks.cross_entropy(tanh(tokens), 1),
    ],
)
def test_functions_beside_nodes_that_make_arrays(output: Any) -> None:
    tokens = bs.matrix("V", 4, 4, spectral=1).rounded(delta) @ bs.tokens("z", n, 4, norm=1)
    rows = bs.compare(bs.theorem("own", output(tokens), parameters={delta: 0.125, n: 3}), **FEW).rows
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}


def test_two_grids_in_like_places_have_names_of_their_own() -> None:
    layer = lambda p: bs.quantised(W @ p, delta)  # noqa: E731
    output = bs.repeat(layer, x, N) + bs.repeat(lambda p: bs.quantised(W @ p, delta), x, N)
    rows = bs.compare(bs.theorem("own", output, parameters={delta: 0.125, d: 3, N: 2}), **FEW).rows
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}


# Names with what stands below them, in layers too; no letter of the author's is a sign of multiplication.
@pytest.mark.parametrize(
    ("name", "shown"),
    [("W_G", r"\hat{W}_{G, l}"), ("W1", r"\hat{W}_{1, l}"), ("Wq", r"\hat{Wq}_{l}"), ("A", r"\hat{A}_{l}")],
)
def test_names_of_matrices_of_layers_are_letters(name: str, shown: str) -> None:
    V = bs.matrix(name, d, d, row_sums=K, layers=N).rounded(delta)
    own = bs.theorem("own", bs.repeat(lambda p: V @ p, x, N), parameters={K: 1, delta: 0.1, d: 3, N: 2})
    assert shown in own.latex(part="theorem")


def test_a_vector_called_x_is_no_product() -> None:
    tokens, query = bs.tokens("x", n, d, size=1), bs.vector("w", d, size=1)
    relu = bs.function(lambda t: sp.Max(t, 0), name="relu")
    own = bs.theorem("own", bs.quantised(relu(tokens @ query), delta), parameters={delta: 0.1, n: 2, d: 3})
    assert r"\times" not in own.latex(part="theorem").partition("Notation")[2].partition("For $")[0]


def test_a_layer_without_a_recursion_says_what_helps() -> None:
    tokens = bs.tokens("X", n, d, norm=1)
    Q, V = (bs.matrix(name, d, d, spectral=K).rounded(delta) for name in "QV")
    with pytest.raises(bs.UsageError) as refused:
        bs.theorem(
            "own", bs.repeat(lambda p: p + bs.attend(bs.softmax(p @ (Q @ p)), V @ p), tokens, N),
            parameters={K: 0.5, delta: 0.01, n: 3, d: 2, N: 2},
        )  # fmt: skip
    assert "normalise what enters attention, by bs.blocks.rms_norm(x, shift=)" in str(refused.value)
    assert not re.search(r"\d{9}", str(refused.value))


def test_two_values_of_one_name_are_refused_by_that_name() -> None:
    hidden = (bs.matrix("W", d, d, spectral=K).rounded(delta) @ x).named("h")
    with pytest.raises(bs.UsageError, match="own: two values are called 'h'; name one of them otherwise"):
        bs.theorem("own", (2 * hidden).named("h"), parameters={K: 1, delta: 0.1, d: 3})
