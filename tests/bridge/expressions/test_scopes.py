"""Bounds at one prompt for every matrix within its distance, not only for the one that the network has."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.bindings import AtPrompt
from bridge.instances.instance import Instance
from bridge.questions.compare import grid_of

delta, eta, K = sp.symbols("delta eta K", positive=True)
n, d = sp.symbols("n d", integer=True, positive=True)
MANY = 2000


def bound_at(theorem: bs.Theorem, scope: str, prompt: dict[str, Any]) -> float:
    """On balls, rounded up."""
    instance = Instance.of(theorem, grid_of(theorem, {})[0])
    one = {name: torch.as_tensor(value, dtype=torch.float64)[None] for name, value in prompt.items()}
    bound = instance.bounds.instance(instance.bounds.quantities["output"], scope, one)
    assert bound is not None
    return float(bound.ball.upper())


def weights(theorem: bs.Theorem) -> dict[str, np.ndarray]:
    known = Instance.of(theorem, grid_of(theorem, {})[0]).known
    return {name: known[name].numpy() for name in theorem.weights}


def rounded_product() -> bs.Theorem:
    W = bs.matrix("W", n, d, spectral=K).rounded(delta)
    return bs.theorem("product", W @ bs.vector("x", d, norm=1), norm=2, parameters={K: 1.0, delta: 0.25, n: 3, d: 4})


# In each coordinate a matrix with entries within h moves W x by at most h ||x||_1, attained by W + h sign(x).
def test_every_rounding_of_a_matrix_errs_by_half_a_step_times_the_sum_of_entries() -> None:
    x = np.array([0.5, -0.25, 0.125, -0.0625])
    found = bound_at(rounded_product(), "prompt, every", {"x": x})
    assert found == pytest.approx(np.sqrt(3) * 0.125 * abs(x).sum(), rel=1e-12)
    of_this = bound_at(rounded_product(), "prompt", {"x": x})
    W = weights(rounded_product())["W"]
    assert of_this == pytest.approx(np.linalg.norm((np.round(4 * W) / 4 - W) @ x), rel=1e-12)


def attention() -> bs.Theorem:
    Q, V = (bs.matrix(name, d, d, spectral=K).rounded(delta) for name in "QV")
    X = bs.tokens("X", n, d, norm=1)
    silu = bs.function(lambda t: t / (1 + sp.exp(-t)), name="silu")
    output = silu(V @ (X + bs.attend(bs.softmax(X @ (Q @ X)), V @ X)))
    return bs.theorem("attention", output, norm=2, parameters={K: 0.5, delta: 2**-4, n: 3, d: 4})


def silu_attention(Q: np.ndarray, V: np.ndarray, X: np.ndarray) -> np.ndarray:
    scores = (X @ Q.T) @ X.T
    each = np.exp(scores - scores.max(1, keepdims=True))
    z = (X + each / each.sum(1, keepdims=True) @ (X @ V.T)) @ V.T
    return z / (1 + np.exp(-z))


def test_no_matrix_within_the_distance_errs_by_more_and_a_random_one_comes_near() -> None:
    theorem, generator = attention(), np.random.default_rng(0)
    known, X = weights(theorem), generator.standard_normal((3, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * 1.5
    bound = bound_at(theorem, "prompt, every", {"X": X})
    exact = silu_attention(known["Q"], known["V"], X)
    largest = 0.0
    for _ in range(MANY):
        Q, V = (known[name] + 2.0**-5 * generator.choice([-1.0, 1.0], (4, 4)) for name in "QV")
        largest = max(largest, np.linalg.norm(silu_attention(Q, V, X) - exact, axis=1).max())
    assert largest <= bound <= 4 * largest
    assert bound_at(theorem, "prompt", {"X": X}) < largest < bound_at(theorem, "network", {"X": X})


# The distance in the spectral norm alone: eta ||x||_2, attained by eta u x^T/||x||_2.
def test_every_matrix_within_a_spectral_distance() -> None:
    W = bs.matrix("W", n, d, spectral=K).within(eta)
    theorem = bs.theorem("within", W @ bs.vector("x", d, norm=1), parameters={K: 1.0, eta: 0.25, n: 3, d: 4})
    x = np.array([0.5, -0.25, 0.125, -0.0625])
    assert bound_at(theorem, "prompt, every", {"x": x}) == pytest.approx(0.25 * np.linalg.norm(x), rel=1e-12)


# What a run of this network shows at a prompt says nothing of another matrix: the largest |g| there stays at its worst.
def test_letters_that_this_network_knows_at_a_prompt_are_not_used_for_every_matrix() -> None:
    lossy = bs.function(sp.tanh).approximated(lambda t: (1 - delta) * sp.tanh(t))
    W = bs.matrix("W", d, d, spectral=K).within(eta)
    output = lossy(W @ bs.vector("x", d, norm=1))
    theorem = bs.theorem("lossy", output, parameters={K: 1.0, eta: 0.25, delta: 0.125, d: 4}, norm="inf")
    instance = Instance.of(theorem, grid_of(theorem, {})[0])
    one = {"x": torch.tensor([[0.5, -0.25, 0.125, -0.0625]], dtype=torch.float64)}
    (rho,) = (letter for letter in instance.letters.of_prompt if letter.name == "rho_tanh")
    at_prompt, of_every = (instance.letters.at(scope, one)[rho] for scope in ("prompt", "prompt, every"))
    assert float(at_prompt) < 0.5 < float(of_every)
    quantity = instance.bounds.quantities["output"]
    read = [AtPrompt(instance.letters, quantity, lambda operands: operands, every=each) for each in (False, True)]
    assert [rho in each.at_prompt for each in read] == [True, False]


def test_the_rows_stand_from_the_widest_scope_to_the_narrowest() -> None:
    rows = bs.compare(rounded_product(), samples=4, attack=2, restarts=2).rows
    assert [row.scope for row in rows if row.quantity == "output"] == ["network", "prompt, every", "prompt"]
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}
