"""Tokens less their mean, appended tokens and single ones: by the rules, and by brute force in plain numpy."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.lowering.formula import evaluate

B, R, s, L = sp.symbols("B R s L", positive=True)
n, d, k = sp.symbols("n d k", integer=True, positive=True)
FEW = {"samples": 16, "attack": 30, "restarts": 2}


def bound_of(theorem: bs.Theorem, **numbers: float) -> float:
    derived = theorem.statement.quantity(theorem.main).derived()
    return float(evaluate(derived, {letter: numbers[letter.name] for letter in derived.free_symbols}))


def all_kept(theorem: bs.Theorem) -> dict[str | None, Any]:
    rows = bs.compare(theorem, **FEW).rows
    assert all(set(row.verdict.values()) == {bs.Verdict.KEPT} for row in rows)
    assert rows[-1].quantity == "faithful"
    return {row.scope: row for row in rows}


def rounded(x: np.ndarray, step: float) -> np.ndarray:
    return step * np.floor(x / step + 0.5)


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


# One token is rounded up by s/2, all others down by as much.
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_bound_of_centred_tokens_is_attained_by_opposite_errors(count: int) -> None:
    x = bs.quantised(bs.tokens("x", n, d, size=1), s).centred()
    theorem = bs.theorem("centred", x, norm="inf", parameters={s: 0.25, n: count, d: 2})
    bound = bound_of(theorem, s=0.25, n=count, d=2)
    tokens = np.full((count, 2), 0.125 - 1e-12)
    tokens[0] = 0.125  # rounds up
    change = rounded(tokens, 0.25) - tokens
    errors = change - change.mean(0)
    assert np.abs(errors).max() == pytest.approx(bound, abs=1e-10)
    assert bound == pytest.approx(0.25 * (1 - 1 / count))
    all_kept(theorem)


# Attention of a query over examples (examples/gradient_step.py): labels are centred, the query's is 0.
def query_over_examples() -> bs.Theorem:
    X, x, y = bs.tokens("X", n, d, norm=R), bs.vector("x", d, norm=R), bs.tokens("y", n, 1, size=B)
    Q = bs.matrix("Q", d, d, spectral=1).rounded(s)
    keys, labels = X.append(x), y.centred().append(0)
    output = bs.attend(bs.softmax(keys @ (Q @ keys[-1])), labels)
    return bs.theorem("query", output, norm="inf", parameters={B: 1.0, R: 1.5, n: 5, d: 3, s: 0.01})


def test_labels_count_with_their_radius_beside_the_query() -> None:
    scores = bs.rules.given("scores", dim=n + 1, size=R**2, error=R**2 * s * d / 2)
    labels = bs.rules.given("labels", dim=1, size=2 * B, radius=B)
    by_hand = bs.rules.attend(bs.rules.softmax(scores, "weights"), labels, "output")
    assert sp.simplify(query_over_examples().statement.quantity("output").derived() - by_hand.error) == 0
    rows = all_kept(query_over_examples())
    assert rows["prompt"].ratio < 1.01


def test_attention_of_a_query_keeps_its_bound_in_numpy() -> None:
    generator, bound = np.random.default_rng(0), bound_of(query_over_examples(), B=1.0, R=1.5, n=5, d=3, s=0.01)
    for _ in range(200):
        Q, tokens = generator.normal(size=(3, 3)), generator.normal(size=(6, 3))
        Q /= np.linalg.norm(Q, 2)
        tokens *= 1.5 / np.linalg.norm(tokens, axis=-1, keepdims=True)
        y = generator.choice([-1.0, 1.0], 5)
        labels = np.append(y - y.mean(), 0)
        near, exact = (softmax(tokens @ (matrix @ tokens[-1])) @ labels for matrix in (rounded(Q, 0.01), Q))
        assert abs(near - exact) <= bound


# Scores +-s/2 are both rounded to 0, labels +-B are at both ends of their ball, and the query has hardly a weight.
def test_the_bound_with_a_radius_is_attained_where_labels_are_opposite() -> None:
    scores, y = bs.quantised(bs.vector("t", 3, size=L), s), bs.tokens("y", 2, 1, size=B)
    output = bs.attend(bs.softmax(scores), y.centred().append(0))
    theorem = bs.theorem("opposite", output, norm="inf", parameters={s: 0.01, L: 40.0, B: 2.0})
    t = np.array([0.005 - 1e-12, -0.005 + 1e-12, -40.0])
    labels = np.array([2.0, -2.0, 0.0])
    error = abs(softmax(rounded(t, 0.01)) @ labels - softmax(t) @ labels)
    assert error == pytest.approx(bound_of(theorem, s=0.01, L=40.0, B=2.0), rel=1e-4)


def test_tokens_are_taken_and_appended_as_numpy_does() -> None:
    x, start = bs.tokens("x", n, d, size=1), bs.vector("start", d, size=2, weight=True)
    sequence = bs.quantised(start.append(x), s)
    output = sequence[0] - 2 * sequence[-1]
    theorem = bs.theorem("ends", output, norm="inf", parameters={s: 0.25, n: 4, d: 2})
    assert bound_of(theorem, s=0.25) == pytest.approx(3 * 0.125)
    all_kept(theorem)
    x_near, start_near = np.full((4, 2), 0.1), np.array([1.3, -1.3])
    found = theorem.network(x=as_tensor(x_near), start=as_tensor(start_near), s=0.25)["output"]
    np.testing.assert_allclose(found.numpy(), rounded(start_near, 0.25) - 2 * rounded(x_near[-1], 0.25))


def as_tensor(x: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(x, dtype=torch.float64, device="cpu")


def test_tokens_of_tokens_are_those_of_both() -> None:
    x, y = bs.tokens("x", n, d, size=1), bs.tokens("y", k, d, size=2)
    both = bs.quantised(x, s).append(y).append(bs.quantised(y, 2 * s))
    assert (both.count, both.dim) == (n + 2 * k, d)
    theorem = bs.theorem("both", both, norm="inf", parameters={s: 0.25, n: 4, d: 2, k: 3})
    assert bound_of(theorem, s=0.25) == pytest.approx(0.25)
    all_kept(theorem)


def test_a_place_that_may_be_beyond_the_last_token_is_owed() -> None:
    x = bs.tokens("x", n, d, size=1)
    free = bs.theorem("free", bs.quantised(x, s)[2], parameters={s: 0.25, n: 4, d: 2})
    given = bs.theorem("given", bs.quantised(x, s)[2], parameters={s: 0.25, n: 4, d: 2}, hypotheses=[n >= 3])
    owed = [
        [o.condition for o in each.statement.quantity("output").derivation.obligations if o.open]
        for each in (free, given)
    ]
    assert owed[0] == [sp.Le(3, n)]
    assert bs.solve(given, for_="s", error=0.05).value == pytest.approx(0.1)
    with pytest.raises(bs.UsageError, match="n >= 3"):
        bs.compare(given, n=2, **FEW)


def test_expressions_are_no_sequences() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(bs.tokens("x", n, d, size=1))  # type: ignore[call-overload]


def test_they_are_defined_in_formulas() -> None:
    words = query_over_examples().statement.objects
    assert words[r"\mathrm{output}"] == ("softmax(p (Q p_(n+1))) (q; 0), where p = (X; x) and q = y - mean(y)")
    x = bs.tokens("x", n, d, size=1)
    first = bs.theorem("first", bs.quantised(x + x, s)[0] - x[-2], parameters={s: 0.25, n: 4, d: 2})
    assert first.statement.objects[r"\mathrm{output}"] == "(x + x)_1 - x_(n-1)"
