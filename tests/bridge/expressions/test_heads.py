"""Heads that see positions, and sums of tokens with any weights: each theorem against numpy."""

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.theorems.registry import find_theorem
from tests.bridge.expressions.test_blocks import KEPT, compared, ran
from tests.bridge.expressions.test_theorems import FEW, bound_of

OF_THE_PAPER = find_theorem("induction.vanilla").statement.quantity("output").derived()
p, w, eta = sp.symbols("p w eta", positive=True)
L, d = sp.symbols("L d", integer=True, positive=True)


def induction_head() -> bs.Theorem:
    x, W = bs.tokens("x", L, d, size=1), bs.matrix("W", d, d, total=w)
    y = bs.blocks.recent(x[:-2], slope=p)
    output = bs.attend(bs.softmax(y @ (W @ x[-1])), x[1:-1])
    return bs.theorem("head", output, parameters={p: (1, 4), L: (8, 16), d: 3, w: 0.5}, hypotheses=[L >= 3])


def by_hand(x: np.ndarray, W: np.ndarray, slope: float | None) -> np.ndarray:
    """Token by token; without a slope, the token before is taken itself."""
    scores = []
    for s in range(1, len(x) - 1):
        weights = np.exp(-(slope or 0) * np.arange(s)[::-1])
        y = x[s - 1] if slope is None else weights @ x[:s] / weights.sum()
        scores.append(x[-1] @ W.T @ y)
    weights = np.exp(np.array(scores) - max(scores))
    return weights @ x[1:-1] / weights.sum()


def test_an_induction_head_is_that_of_numpy_and_has_the_bound_of_its_paper() -> None:
    theorem, rng = induction_head(), np.random.default_rng(0)
    slope, total = 1.0, 0.5
    lost = 2 * sum(np.exp(-slope * k) for k in range(1, 6)) / sum(np.exp(-slope * k) for k in range(6))
    bound = bound_of(theorem, p=slope, L=8, d=3, w=total)
    assert bound == pytest.approx(2 * np.tanh(total * lost / 2))
    W_norm = next(each for each in OF_THE_PAPER.free_symbols if each.name == "W_norm")
    assert theorem.statement.quantity("output").derived() == OF_THE_PAPER.subs(W_norm, w)
    largest = 0.0
    for _ in range(300):
        x = rng.choice([-1.0, 1.0], size=(8, 3))
        W = rng.normal(size=(3, 3))
        W *= total / abs(W).sum()
        places = np.arange(6)
        lags = np.where(places[:, None] >= places, -slope * (places[:, None] - places), -np.inf)
        exact, near = ran(theorem, x=x, W=W, lags=lags, p=slope, L=8, d=3)
        assert np.allclose(exact, by_hand(x, W, None))
        assert np.allclose(near, by_hand(x, W, slope))
        largest = max(largest, abs(near - exact).max())
    assert 0.1 * bound < largest < bound
    assert all(set(row.verdict.values()) == KEPT for row in compared(theorem).values())


def test_a_head_on_tokens_writes_which_weights_it_has() -> None:
    exact, near = (
        induction_head().statement.objects[side] for side in (r"\mathrm{output}", r"\widehat{\mathrm{output}}")
    )
    assert exact == "softmax((x_1, ..., x_(L-2)) (W x_L)) (x_2, ..., x_(L-1))"
    assert near == (
        "softmax(recent(x_1, ..., x_(L-2)) (W x_L)) (x_2, ..., x_(L-1)), where recent(v)_j is the sum of v_i over "
        "i <= j with the weights softmax of -p (j - i)"
    )


def test_the_proof_of_a_head_names_its_tokens_and_says_that_they_are_there() -> None:
    x = bs.tokens("x", L, d, size=1)
    output = bs.attend(bs.softmax(bs.blocks.recent(x[:-2], slope=p) @ x[-1]), x[1:-1])
    text = bs.theorem("head", output, parameters={p: 4, L: 8, d: 3}).latex()
    for token in ("x_{L}", "x_{1:L-2}", "x_{2:L-1}"):
        assert f"e_{{{token}" in text
    assert r"This holds provided that there are enough tokens for $x_{1:L-2}$: $1 \leq L - 2$." in text
    assert r"As in (5), this needs that there are enough tokens for $x_{2:L-1}$." in text
    assert text.count("there are enough tokens") == 2


def test_tokens_of_what_is_no_letter_have_words() -> None:
    centred, u, x_1 = (
        bs.tokens("y", 8, d, size=1).centred(),
        bs.tokens("u", 2 * L, d, size=1),
        bs.tokens("x_1", L, d, size=1),
    )
    found = [each.label for each in (centred[0], centred[2:], u[-1], u[0], x_1[-1])]
    words = ["token 1 of y.centred", "tokens 3:8 of y.centred", "token 2*L of u", "u_1", "token L of x_1"]
    assert found == words


def test_what_is_not_tokens_has_no_recent_ones() -> None:
    with pytest.raises(bs.UsageError, match=r"recent: tokens are needed, which have places: x is in R\^d"):
        bs.blocks.recent(bs.vector("x", d, size=1), slope=p)
    with pytest.raises(bs.UsageError, match="recent: expected an expression, got Symbol"):
        bs.blocks.recent(p, slope=p)


# --- sums with weights of any sign ----------------------------------------------------------------------------------


def smoothed() -> bs.Theorem:
    def weights(L: int) -> torch.Tensor:
        ones = torch.ones(L, L, dtype=torch.float64, device="cpu")
        return torch.tril(torch.triu(ones, -1)) * torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(L)[:L]

    def near(L: int, eta: float) -> torch.Tensor:
        return weights(L) + eta * torch.eye(L, dtype=torch.float64, device="cpu")

    lag = bs.value("D", weights, count=L, dim=L, norm=1, size=2, error=eta, approximate=near, meaning="differences")
    output = bs.attend(lag, bs.quantised(bs.tokens("x", L, d, size=1), eta))
    return bs.theorem("differences", output, parameters={eta: 0.25, L: 5, d: 3})


def test_a_sum_with_weights_of_any_sign_is_that_of_numpy() -> None:
    theorem, rng = smoothed(), np.random.default_rng(1)
    assert sp.expand(theorem.statement.quantity("output").derived()) == sp.expand(eta + 2 * (eta / 2) + eta * (eta / 2))
    weights = np.array([[0.0 if j not in (i, i - 1) else (-1.0) ** j for j in range(5)] for i in range(5)])
    bound, largest = 0.25 + 0.25 + 0.25**2 / 2, 0.0
    for _ in range(200):
        x = rng.uniform(-1, 1, (5, 3))
        rounded = 0.25 * np.floor(x / 0.25 + 0.5)
        exact, near = ran(theorem, x=x, D=weights, D_hat=weights + 0.25 * np.eye(5), L=5, eta=0.25, d=3)
        assert np.allclose(exact, weights @ x)
        assert np.allclose(near, (weights + 0.25 * np.eye(5)) @ rounded)
        largest = max(largest, abs(near - exact).max())
    assert 0.7 * bound < largest <= bound
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.2


# The arrays are made once: what is measured of them is that of the arrays that run, in each format.
def test_the_error_of_a_value_of_parameters_alone_is_measured() -> None:
    def near(L: int, p: float) -> torch.Tensor:
        places = torch.arange(L, dtype=torch.float64, device="cpu")
        weights = torch.exp(-p * (places[:, None] - places).abs())
        return weights / weights.sum(-1, keepdim=True)

    unit = bs.value("I", lambda L: torch.eye(L, dtype=torch.float64, device="cpu"), count=L, dim=L, norm=1, size=1,
                    error=eta, approximate=near)  # fmt: skip
    output = bs.attend(unit, bs.tokens("x", L, d, size=1))
    theorem = bs.theorem("near", output, parameters={eta: 0.9, p: 3.0, L: 5, d: 2})
    away = near(5, 3.0).numpy() - np.eye(5)
    for settings in ({}, {"dtype": "float32"}):
        rows = compared(theorem, **settings)
        assert rows["output", "network"].instance == pytest.approx(abs(away).sum(1).max(), rel=1e-6)
        assert rows["output", "prompt"].ratio < 1.01


# --- slices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "count", "shown"),
    [
        (slice(1, -1), L - 2, "2:L-1"),
        (slice(None, -2), L - 2, "1:L-2"),
        (slice(-3, None), 3, "L-2:L"),
        (slice(1, 4), 3, "2:4"),
    ],
)
def test_a_slice_knows_how_many_tokens_it_has(place: slice, count: sp.Expr, shown: str) -> None:
    found = bs.tokens("x", L, d, size=1)[place]
    assert sp.simplify(found.count - count) == 0
    assert found.label == f"x_{{{shown}}}"
    theorem = bs.theorem("slice", bs.quantised(found, eta), parameters={eta: 0.25, L: 6, d: 2})
    x = np.linspace(-1, 1, 12).reshape(6, 2)
    exact, _ = ran(theorem, x=x, L=6, d=2, eta=0.25)
    assert np.array_equal(exact, x[place])


def test_a_slice_without_tokens_or_with_steps_is_refused() -> None:
    x = bs.tokens("x", 4, d, size=1)
    with pytest.raises(bs.UsageError, match=r"x\[2:-2\]: x is in 4 tokens in R\^d; no token is left"):
        _ = x[2:-2]
    with pytest.raises(bs.UsageError, match="a slice of tokens goes from one whole number to another, step by step"):
        _ = x[::2]
    with pytest.raises(bs.UsageError, match="is in R\\^d; a token has a whole number"):
        _ = bs.vector("v", d, size=1)[1:]


def test_a_slice_owes_that_its_tokens_are_there() -> None:
    x = bs.tokens("x", L, d, size=1)
    theorem = bs.theorem("slice", bs.quantised(x, eta)[2:-1], parameters={eta: 0.25, L: 4, d: 2})
    rows = bs.compare(theorem, **FEW).rows
    assert all(set(row.verdict.values()) == KEPT for row in rows)
    with pytest.raises(bs.UsageError, match="no tokens in an array of shape \\(0, 2\\)"):
        bs.compare(theorem, **FEW, L=3)
