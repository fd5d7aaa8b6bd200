"""Blocks of transformers: each theorem against numpy, at vectors that attain its bound and at random ones."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.limits.arguments import called_with
from tests.bridge.expressions.test_theorems import FEW, bound_of

K, R, G, B, c, delta, eta, m, M = sp.symbols("K R G B c delta eta m M", positive=True)
N, d, n = sp.symbols("N d n", integer=True, positive=True)
KEPT = {bs.Verdict.KEPT}


def compared(theorem: bs.Theorem, **more: Any) -> dict[Any, Any]:
    return {(row.quantity, row.scope): row for row in bs.compare(theorem, **{**FEW, **more}).rows}


def ran(theorem: bs.Theorem, **known: Any) -> tuple[np.ndarray, np.ndarray]:
    """The exact output and the approximate one; arrays are those of numpy."""
    given = {name: torch.tensor(each) if isinstance(each, np.ndarray) else each for name, each in known.items()}
    return tuple(called_with(each, given)["output"].numpy() for each in (theorem.reference, theorem.network))


def layer_norm(x: np.ndarray, shift: float) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + shift)


# --- layer norm ------------------------------------------------------------------------------------------------------


def normalised(**more: Any) -> bs.Theorem:
    A, x = bs.matrix("A", d, d, spectral=K).within(eta), bs.tokens("x", n, d, norm=R)
    gain, bias = bs.vector("g", d, size=G, weight=True), bs.vector("b", d, size=B, weight=True)
    output = bs.blocks.layer_norm(A @ x, shift=c, gain=gain, bias=bias)
    values = {K: 1.5, eta: 0.01, R: 2.0, G: 3.0, B: 0.5, c: 0.1, d: 4, n: 3, **more}
    return bs.theorem("layer norm", output, norm=2, parameters=values)


def test_a_layer_norm_is_that_of_numpy_and_its_bound_holds() -> None:
    theorem, rng = normalised(), np.random.default_rng(0)
    bound = bound_of(theorem, eta=0.01, R=2.0, G=3.0, c=0.1, K=1.5)
    assert bound == pytest.approx(3 * 0.01 * 2 / 0.1**0.5)
    largest = 0.0
    for _ in range(300):
        A, change, x = (
            rng.normal(size=(4, 4)) * rng.choice([1e-3, 0.3]),
            rng.normal(size=(4, 4)),
            rng.normal(size=(3, 4)),
        )
        change *= 0.01 / np.linalg.norm(change, 2)
        x *= 2 / np.linalg.norm(x, axis=-1, keepdims=True)
        g, bias = rng.choice([-3.0, 3.0], 4), rng.uniform(-0.5, 0.5, 4)
        exact, near = (g * layer_norm(x @ W.T, 0.1) + bias for W in (A, A + change))
        found = ran(theorem, A=A, A_hat=A + change, dA=change, x=x, g=g, b=bias, c=0.1)
        assert np.allclose(found, (exact, near), rtol=1e-12, atol=1e-13)
        largest = max(largest, float(np.linalg.norm(near - exact, axis=-1).max()))
    assert 0.7 * bound < largest <= bound


def test_the_bound_of_a_layer_norm_is_attained_by_errors_that_add_up_to_0() -> None:
    flat = np.array([1.0, -1.0, 1.0, -1.0]) / 2
    exact, near = (3.0 * layer_norm(size * flat, 0.1) for size in (0.0, 1e-4 * 2))
    bound = bound_of(normalised(), eta=1e-4, R=2.0, G=3.0, c=0.1, K=1.5)
    assert np.linalg.norm(near - exact) == pytest.approx(bound, rel=1e-6)


def test_a_layer_norm_is_kept_and_attained_at_prompts() -> None:
    rows = compared(normalised())
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.01
    assert ("faithful", None) in rows
    exact, near = (normalised().statement.objects[side] for side in (r"\mathrm{output}", r"\widehat{\mathrm{output}}"))
    assert exact == (
        "g * (centred(A x)/sqrt(||centred(A x)||_2^2/d + c)) + b, where centred(v) is v with the mean of its "
        "coordinates taken from each of them and matrices act on each token"
    )
    assert near.startswith("g * (centred(A_hat x)/sqrt(||centred(A_hat x)||_2^2/d + c)) + b, where A_hat is any")


# The error of the gain, one vector for all tokens, counts with the size sqrt(d) of what it multiplies.
def test_a_gain_on_a_grid_errs_at_every_token() -> None:
    g, x = bs.vector("g", d, size=2, weight=True), bs.tokens("x", n, d, norm=1)
    output = bs.blocks.rms_norm(x, shift=c, gain=bs.quantised(g, delta))
    theorem = bs.theorem("gain", output, norm=2, parameters={delta: 0.1, c: 1e-4, d: 4, n: 3})
    assert theorem.statement.quantity("output").derived() == sp.sqrt(d) * delta / 2
    gain, point = np.full(4, 1.05 - 1e-9), np.ones((3, 4)) / 2  # moved by half a step
    exact, near = ran(theorem, g=gain, x=point, c=1e-4, delta=0.1)
    normalised = point / np.sqrt((point**2).mean(-1, keepdims=True) + 1e-4)
    assert np.allclose(exact, gain * normalised, rtol=1e-12)
    assert np.linalg.norm(near - exact, axis=-1) == pytest.approx(4**0.5 * 0.05, rel=1e-3)
    assert all(set(row.verdict.values()) == KEPT for row in compared(theorem).values())


# What is long itself need not be long without its mean: the premise is about the latter.
def test_a_least_length_of_a_layer_norm_is_that_of_the_centred_argument() -> None:
    W = bs.matrix("W", d, d, spectral=K, varies=True).rounded(delta)
    x = bs.vector("x", d, norm=1, domain=bs.domains.Sphere(d))
    output = bs.blocks.layer_norm(x + W @ x, least=m, exact_least=M)
    values = {K: 0.5, delta: 0.001, m: 0.05, M: 0.06, d: 3}
    theorem = bs.theorem("own", output, norm=2, parameters=values)
    words = "the argument of output, less the mean of its coordinates, has a 2-norm of at least M"
    assert theorem.statement.assumptions == (words,)
    assert bound_of(theorem, delta=0.001, d=3, m=0.05) == pytest.approx(3 * 0.0005 * 3**0.5 / 0.05)
    flat, bent = torch.ones(3, dtype=torch.float64) / 3**0.5, torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    W_at = 0.1 * torch.eye(3, dtype=torch.float64)
    assert bs.steps(theorem, {"x": bent, "W": W_at})["output"].bound is not None
    with pytest.raises(
        bs.UsageError, match=r"the 2-norm of the exact argument, centred, is .*, below the 0.06 that rule"
    ):
        bs.steps(theorem, {"x": flat, "W": W_at})


# --- embeddings ------------------------------------------------------------------------------------------------------

words = sp.Symbol("w", integer=True, positive=True)


def embedded(**more: Any) -> bs.Theorem:
    table = bs.matrix("E", words, d, row_norms=R).rounded(delta)
    x = bs.tokens("x", n, words, sums=1, domain=bs.domains.Simplex(words))
    output = bs.blocks.embedding(table, x)
    return bs.theorem("embedding", output, norm=2, parameters={R: 1.0, delta: 0.1, words: 7, d: 3, n: 2})


def test_the_error_of_an_embedding_is_that_of_one_row() -> None:
    theorem, rng = embedded(), np.random.default_rng(0)
    assert theorem.statement.quantity("output").derived() == delta * sp.sqrt(d) / 2
    E, largest = rng.uniform(-0.5, 0.5, (7, 3)), 0.0
    E[4] = [0.05 - 1e-9, -0.15 + 1e-9, 0.25 - 1e-9]  # nearly the middles of cells
    rounded = np.round(E * 10) / 10
    for _ in range(100):
        x = np.eye(7)[rng.integers(7, size=2)] if rng.random() < 0.5 else rng.dirichlet(np.ones(7), 2)
        exact, near = ran(theorem, E=E, E_hat=rounded, x=x)
        assert np.allclose(exact, [sum(share * row for share, row in zip(each, E, strict=True)) for each in x])
        assert np.allclose(near, [sum(share * row for share, row in zip(each, rounded, strict=True)) for each in x])
        largest = max(largest, float(np.linalg.norm(near - exact, axis=-1).max()))
    assert largest <= 0.05 * 3**0.5
    assert largest == pytest.approx(0.05 * 3**0.5, rel=1e-6)  # the word of that row


def test_an_embedding_is_kept_and_attained_at_prompts_and_its_table_gives_logits() -> None:
    rows = compared(embedded())
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.01
    table = bs.matrix("E", words, d, spectral=K).rounded(delta)
    x = bs.tokens("x", n, words, sums=1, domain=bs.domains.Simplex(words))
    theorem = bs.theorem(
        "tied", table @ bs.blocks.embedding(table, x), parameters={K: 1, delta: 0.01, words: 5, d: 3, n: 2}
    )
    assert theorem.statement.objects[r"\mathrm{output}"] == "E E^T x, where matrices act on each token"
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.01


# --- rotary positions ------------------------------------------------------------------------------------------------


def rotated(x: np.ndarray, base: float) -> np.ndarray:
    """Pairs of coordinates as complex numbers."""
    tokens, dim = x.shape
    angles = np.arange(tokens)[:, None] / base ** (2 * np.arange(dim // 2) / dim)
    pairs = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def turned(norm: Any, **more: Any) -> bs.Theorem:
    A, x = bs.matrix("A", d, d, spectral=K, varies=True).within(eta), bs.tokens("x", n, d, norm=R)
    output = bs.blocks.rotary(A @ x, **{"base": M, **more})
    return bs.theorem("rotary", output, norm=norm, parameters={K: 1, eta: 0.01, R: 2.0, M: 100.0, d: 4, n: 3})


def test_rotary_positions_are_those_of_complex_numbers_and_keep_lengths() -> None:
    theorem, rng = turned(2), np.random.default_rng(0)
    assert theorem.statement.quantity("output").derived() == eta * R
    A, change, x = rng.normal(size=(4, 4)), 0.01 * np.linalg.qr(rng.normal(size=(4, 4)))[0], rng.normal(size=(3, 4))
    angles = theorem.built["angles"](d=4, n=3, M=100.0)
    exact, near = ran(theorem, A=A, dA=change, x=x, angles=angles, d=4, n=3, M=100.0)
    assert np.allclose(exact, rotated(x @ A.T, 100.0), rtol=1e-12, atol=1e-14)
    assert np.allclose(near, rotated(x @ (A + change).T, 100.0), rtol=1e-12, atol=1e-14)
    errors = np.linalg.norm(near - exact, axis=-1)
    assert np.allclose(errors, 0.01 * np.linalg.norm(x, axis=-1), rtol=1e-10)  # each attains its own bound
    rows = compared(theorem)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert all(row.ratio < 1.01 for row in rows.values() if row.scope)


# (1, 1) and pi/4: the sum of both coordinates comes to one of them.
def test_an_angle_of_pi_over_4_attains_the_bounds_of_the_other_norms() -> None:
    assert bound_of(turned("inf"), eta=0.01, R=2.0, d=4) == pytest.approx(0.02)  # in the 2-norm all along
    x, D = bs.tokens("x", n, 2, size=1), bs.matrix("D", 2, 2, row_sums=1, varies=True).within(eta, "row_sums")
    output = bs.blocks.rotary(D @ x, angles=lambda n: torch.full((n, 1), torch.pi / 4, dtype=torch.float64))
    theorem = bs.theorem("rotary", output, norm="inf", parameters={eta: 0.01, n: 2})
    assert theorem.statement.quantity("output").derived() == sp.sqrt(2) * eta
    change, eighth = 0.01 * np.array([[1.0, 0.0], [1.0, 0.0]]), np.exp(0.25j * np.pi)
    exact, near = (((D @ np.ones(2)) @ [1, 1j]) * eighth for D in (np.eye(2), np.eye(2) + change))
    assert abs((near - exact).imag) == pytest.approx(2**0.5 * 0.01, rel=1e-12)
    row = compared(theorem)["output", "prompt"]
    assert row.verdict == {"instance": bs.Verdict.KEPT}
    assert row.ratio < 1.01


def test_the_letters_of_a_definition_are_not_those_of_its_positions() -> None:
    k, j = sp.symbols("k j", integer=True, positive=True)
    theorem = bs.theorem("own", bs.blocks.rotary(bs.tokens("x", j, k, size=1)), parameters={k: 2, j: 3})
    assert theorem.statement.objects[r"\mathrm{output}"] == (
        "rotary(x), where rotary(v) turns the coordinates 2 i and 2 i + 1 of token h of v by the angle "
        "10000^(-2 i/k) h, i and h from 0 on"
    )


def test_the_arguments_of_definitions_are_no_letters_of_the_theorem() -> None:
    s, S = sp.symbols("s S", positive=True)
    x, v, w = bs.tokens("x", n, d, size=S), bs.tokens("v", n, d, size=S), bs.vector("w", d, size=s)
    cuts = [bs.softmax(keys @ w).keeping(lambda n: torch.ones(n), lost=1) for keys in (x, v)]
    linear = bs.softmax(x @ w).in_place_of_linear()
    output = bs.attend(cuts[0], v) + bs.attend(cuts[1], x) + bs.attend(linear, v)
    theorem = bs.theorem("own", output, parameters={s: 1, S: 1, n: 3, d: 2})
    exact, near = (theorem.statement.objects[side] for side in (r"\mathrm{output}", r"\widehat{\mathrm{output}}"))
    assert exact.endswith("where avg(z) is the mean of the scores z of a query")
    assert near.endswith("softmax_(J_1) is softmax over the keys J_1 and softmax_(J_2) is softmax over the keys J_2")


# --- experts ---------------------------------------------------------------------------------------------------------


def experts(weights: Any = None, *, norm: Any = 2, **more: Any) -> bs.Theorem:
    """Two linear experts of rounded weights, and one that is exact, under a gate that is off by eta."""
    x = bs.tokens("x", n, d, norm=1)
    E, F = (bs.matrix(name, d, d, spectral=K).rounded(step) for name, step in (("E", delta), ("F", delta / 4)))
    scores = bs.matrix("gate", 3, d, row_norms=2, varies=True).within(eta, "row_norms") @ x
    gate = bs.hard_max(scores, margin=m) if weights is None else weights(scores)
    values = {K: 0.5, delta: 2**-6, eta: 2**-8, m: 0.05, d: 3, n: 2, **more}
    return bs.theorem("experts", bs.blocks.mixture(gate, [E @ x, F @ x, x]), norm=norm, parameters=values)


def test_the_winner_of_a_gate_stays_while_its_margin_survives() -> None:
    theorem, rng = experts(), np.random.default_rng(0)
    bound = bound_of(theorem, d=3, delta=2**-6, eta=2**-8)
    assert bound == pytest.approx(3 * 2**-7)  # of the expert with the largest error
    (owed,) = theorem.statement.quantity("output").derivation.obligations
    assert owed.condition == sp.Gt(m, 2 * eta)
    stayed = 0
    for _ in range(300):
        E, F, gate = (rng.normal(size=(3, 3)) / 4 for _ in range(3))
        x = rng.normal(size=(2, 3))
        x /= np.linalg.norm(x, axis=-1, keepdims=True)
        near = {"E": np.round(E * 2**6) / 2**6, "F": np.round(F * 2**8) / 2**8}
        change = rng.normal(size=(3, 3))
        change *= 2**-8 / np.linalg.norm(change, axis=-1, keepdims=True)
        sides = []
        for first, second, scores in ((E, F, x @ gate.T), (near["E"], near["F"], x @ (gate + change).T)):
            values = np.stack([x @ first.T, x @ second.T, x], 1)
            sides.append(values[np.arange(2), scores.argmax(-1)])
        known = {"E": E, "F": F, "gate": gate, "dgate": change, "E_hat": near["E"], "F_hat": near["F"], "x": x}
        assert np.allclose(ran(theorem, **known), sides, rtol=1e-12, atol=1e-14)
        ordered = np.sort(x @ gate.T, -1)
        kept = ordered[:, 2] - ordered[:, 1] > 2 * 2**-8
        stayed += int(kept.sum())
        assert np.all(np.linalg.norm(sides[1] - sides[0], axis=-1)[kept] <= bound)
    assert 500 < stayed < 600


def test_the_error_of_a_mixture_is_that_of_the_winning_expert_at_prompts() -> None:
    theorem = experts()
    assert theorem.statement.assumptions == ("the largest score leads every other one by at least m",)
    rows = compared(theorem)
    assert {scope for _, scope in rows} == {"prompt, every", "prompt", None}
    assert rows["output", "prompt"].verdict == {"instance": bs.Verdict.KEPT}
    x = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], dtype=torch.float64)
    for winner, exact in ((0, False), (2, True)):  # the third expert does not err
        gate = torch.zeros(3, 3, dtype=torch.float64)
        gate[winner] = 1.0
        found = bs.steps(theorem, {"x": x, "gate": gate, "dgate": 0 * gate})["output"]
        assert found.bound == pytest.approx(found.error, rel=1e-9)
        assert (found.bound == 0) is exact
    assert theorem.statement.objects[r"\mathrm{output}"] == (
        "hardmax(gate x) rows(E x, F x, x), where rows(a, b, ...) are the tokens a, b, ... and matrices act on each "
        "token"
    )


# All that is known of the errors of experts: any within eps in each coordinate, of which the largest counts.
def test_the_bound_of_a_mixture_is_attained_by_the_worst_expert() -> None:
    x = bs.vector("x", d, size=1)
    coarse, fine = (
        bs.quantised(bs.matrix(name, d, d, row_sums=1) @ x, step) for name, step in (("A", delta), ("C", eta))
    )
    output = bs.blocks.mixture(bs.softmax(bs.vector("s", 2, size=40)), [coarse, fine])
    theorem = bs.theorem("experts", output, norm="inf", parameters={delta: 0.1, eta: 0.01, d: 2})
    assert bound_of(theorem, delta=0.1, eta=0.01) == pytest.approx(0.05)
    rows = compared(theorem, attack=100)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    exact, half = np.array([0.05, -0.35 - 1e-9]), np.array([0.1, -0.4])
    weights = np.exp([40.0, -40.0]) / np.exp([40.0, -40.0]).sum()
    known = {
        "A": np.diag(exact),
        "C": np.eye(2),
        "x": np.ones(2),
        "s": np.array([40.0, -40.0]),
        "delta": 0.1,
        "eta": 0.01,
    }
    found = ran(theorem, **known)
    assert np.allclose(found[1], weights @ [half, np.ones(2)])
    assert abs(found[1] - found[0]).max() == pytest.approx(0.05, rel=1e-6)


def test_a_mixture_of_the_best_experts_by_softmax_knows_the_weight_that_it_loses() -> None:
    rows = compared(experts(lambda scores: bs.softmax(scores).largest(2)), attack=60)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.5


# --- losses ----------------------------------------------------------------------------------------------------------

APART = {"inf": 2.0, 2: 2**0.5, 1: 1.0}
V = sp.Symbol("V", integer=True, positive=True)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))


def moved_scores(kind: str) -> Any:
    """s, and in the network s + dE u for any dE of a norm of at most eta; u is at most 1."""
    E, size = bs.matrix("E", V, V, **{kind: 0}).within(eta, kind), {"row_sums": "size", "spectral": "norm"}[kind]
    return bs.vector("s", V, size=5) + E @ bs.vector("u", V, **{size: 1})


KINDS_OF = {"inf": "row_sums", 2: "spectral"}


@pytest.mark.parametrize("norm", ["inf", 2])
def test_a_log_softmax_attains_its_bound_where_a_score_far_behind_falls(norm: Any) -> None:
    theorem = bs.theorem("loss", bs.blocks.log_softmax(moved_scores(KINDS_OF[norm])), parameters={eta: 0.1, V: 3})
    bound, rng, largest = bound_of(theorem, eta=0.1, V=3), np.random.default_rng(0), 0.0
    assert bound == pytest.approx(APART[norm] * 0.1)
    order = np.inf if norm == "inf" else 2
    for _ in range(500):
        scores, move = rng.uniform(-5, 5, 3), rng.choice([-1.0, 0.0, 1.0], 3) + 1e-3
        move *= 0.1 / np.linalg.norm(move, order)
        largest = max(largest, float(abs(log_softmax(scores + move) - log_softmax(scores)).max()))
    assert 0.99 * bound < largest <= bound


def labelled(label: Any, **more: Any) -> bs.Theorem:
    W = bs.matrix("W", V, d, row_sums=K).rounded(delta)
    output = bs.blocks.cross_entropy(W @ bs.tokens("x", n, d, size=1), label, **more)
    return bs.theorem("loss", output, parameters={K: 2.0, delta: 0.1, d: 3, V: 4, n: 2})


def weights_over_classes() -> Any:
    return bs.vector("y", V, sums=1, domain=bs.domains.Simplex(V))


# At each prompt the bound of the rule knows the weight nu of the other classes at the exact scores.
@pytest.mark.parametrize("kind", ["class", "weights"])
def test_a_cross_entropy_is_that_of_numpy_and_its_bound_knows_the_weight_of_the_other_classes(kind: str) -> None:
    theorem, rng = labelled(2 if kind == "class" else weights_over_classes()), np.random.default_rng(0)
    assert bound_of(theorem, d=3, delta=0.1) == pytest.approx(2 * 3 * 0.05)
    quantity, nu = theorem.statement.quantity("output"), sp.Symbol("nu", nonnegative=True)
    assert quantity.derivation.step("output").local.free_symbols >= {nu}
    handle, largest = "label" if kind == "class" else "y", 0.0
    for _ in range(300):
        W, x = rng.uniform(-1, 1, (4, 3)) * rng.choice([0.1, 1.0]), rng.choice([-1.0, 1.0], (2, 3))
        y = np.eye(4)[2] if kind == "class" or rng.random() < 0.5 else rng.dirichlet(np.ones(4))
        W_hat = np.round(W * 10) / 10
        sides = [-(log_softmax(x @ each.T) @ y)[:, None] for each in (W, W_hat)]
        known = {"W": W, "W_hat": W_hat, "x": x, handle: y}
        assert np.allclose(ran(theorem, **known), sides, rtol=1e-12, atol=1e-13)
        others = 1 - np.exp(log_softmax(x @ W.T)) @ y
        tensors = {name: torch.tensor(each) for name, each in known.items()}
        assert float(called_with(theorem.knows[nu][-1], tensors)) == pytest.approx(others.max(), rel=1e-12)
        moved = abs(x @ (W_hat - W).T).max(-1)
        bounds = np.log(1 + others * (np.exp(2 * moved) - 1))
        errors = abs(sides[1] - sides[0])[:, 0]
        assert np.all(errors <= bounds * (1 + 1e-12))
        largest = max(largest, float((errors / bounds).max()))
    assert largest > 0.8


def test_the_bound_of_a_cross_entropy_is_attained_by_a_label_that_falls() -> None:
    theorem = labelled(0)
    local = theorem.statement.quantity("output").derivation.step("output").local
    (error,) = local.free_symbols - {sp.Symbol("nu", nonnegative=True)}
    scores, move = np.array([0.3, -0.2, 0.7]), np.array([-0.1, 0.1, 0.1])
    p = np.exp(log_softmax(scores))[0]
    found = -(log_softmax(scores + move) - log_softmax(scores))[0]
    assert float(local.subs({error: 0.1, sp.Symbol("nu", nonnegative=True): 1 - p})) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("label", [1, "weights"])
def test_losses_are_kept_and_attained_at_prompts(label: Any) -> None:
    theorem = labelled(weights_over_classes() if label == "weights" else label)
    rows = compared(theorem, attack=100)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "prompt"].ratio < 1.01
    exact = theorem.statement.objects[r"\mathrm{output}"]
    assert exact == (
        "-y^T log(softmax(W x)), where matrices act on each token"
        if label == "weights"
        else "-log(softmax(W x)_1), where matrices act on each token"
    )


def test_a_weight_of_other_classes_that_is_too_small_is_outside_or_violated() -> None:
    rows = compared(labelled(1, others=0.01))
    assert bs.Verdict.VIOLATED in rows["output", "network"].verdict.values()


def test_two_losses_of_one_theorem_have_letters_of_their_own() -> None:
    W, x = bs.matrix("W", V, d, row_sums=K).rounded(delta), bs.vector("x", d, size=1)
    losses = [bs.blocks.cross_entropy(W @ x, label).named(f"loss_{label}") for label in (0, 1)]
    theorem = bs.theorem("losses", *losses, parameters={K: 2.0, delta: 0.1, d: 3, V: 4})
    assert {letter.name for letter in theorem.knows} >= {"nu_1", "nu_2"}
    rows = bs.compare(theorem, **FEW).rows
    assert all(set(row.verdict.values()) == KEPT for row in rows)


def test_a_theorem_keeps_its_letters_where_another_one_shares_its_nodes() -> None:
    W, x = bs.matrix("W", V, d, row_sums=K).rounded(delta), bs.vector("x", d, size=1)
    loss, other = (bs.blocks.cross_entropy(W @ x, label) for label in (0, 1))
    first, second, both = (
        bs.theorem("loss", output, parameters={K: 2.0, delta: 0.1, d: 3, V: 4})
        for output in (2 * loss, 2 * other, loss + other)
    )
    assert {letter.name for letter in both.knows} > {"nu_1", "nu_2"}
    for theorem in (first, second, both):
        assert all(set(row.verdict.values()) == KEPT for row in bs.compare(theorem, **FEW).rows)


# --- a transformer ---------------------------------------------------------------------------------------------------


def pre_norm(x: Any) -> Any:
    """Layer norm, attention with rotary positions, and a residual sum."""
    Q, P, V, W = (bs.matrix(name, d, d, spectral=K).rounded(delta) for name in "QPVW")
    gain, bias = bs.vector("g", d, size=G, weight=True), bs.vector("b", d, size=B, weight=True)

    def block(x: Any) -> Any:
        y = bs.blocks.layer_norm(x, shift=c, gain=gain, bias=bias)
        scores = bs.blocks.rotary(P @ y) @ bs.blocks.rotary(Q @ y) / sp.sqrt(d)
        return x + W @ bs.attend(bs.softmax(scores), V @ y)

    return bs.repeat(block, x, N)


def test_blocks_of_layer_norm_and_rotary_attention_are_those_of_numpy_and_their_bounds_hold_at_prompts() -> None:
    values = {K: 0.5, delta: 2**-8, G: 1.5, B: 0.5, c: 0.1, d: 4, n: 3, N: (1, 3)}
    theorem = bs.theorem("pre-norm", pre_norm(bs.tokens("x", n, d, norm=1)), norm=2, parameters=values)
    rng = np.random.default_rng(0)
    exact = {name: rng.normal(size=(4, 4)) / 5 for name in "QPVW"}
    rounded = {name: np.round(each * 2**8) / 2**8 for name, each in exact.items()}
    x, g, b = rng.normal(size=(3, 4)), rng.uniform(-1.5, 1.5, 4), rng.uniform(-0.5, 0.5, 4)

    def transformer(w: Any) -> np.ndarray:
        state = x
        for _ in range(3):
            y = g * layer_norm(state, 0.1) + b
            scores = rotated(y @ w["Q"].T, 1e4) @ rotated(y @ w["P"].T, 1e4).T / 2
            shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
            state = state + shares @ y @ w["V"].T @ w["W"].T
        return state

    angles = {name: theorem.built[name](d=4, n=3) for name in ("angles_1", "angles_2")}
    known = {**exact, **{f"{name}_hat": each for name, each in rounded.items()}, **angles}
    found = ran(theorem, x=x, g=g, b=b, **known, N=3, c=0.1, d=4, n=3)
    assert np.allclose(found, (transformer(exact), transformer(rounded)), rtol=1e-12, atol=1e-14)
    rows = [row for row in bs.compare(theorem, **FEW).rows if row.scope]
    assert all(set(row.verdict.values()) == KEPT for row in rows)
    assert all(row.ratio < 1.5 for row in rows if row.scope == "prompt")
