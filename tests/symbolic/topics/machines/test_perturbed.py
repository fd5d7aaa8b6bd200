"""The moves of layers and scores: attained in the smallest case, never exceeded in others."""

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

from numeric.topics.machines.circuit import rounding_matrices
from symbolic.topics.machines import perturbed_attention as attention
from symbolic.topics.machines import perturbed_layers as layers
from symbolic.topics.machines import turing_margin as theory

MUTANT = 0.999


def slope(error: sp.Expr, values: dict[sp.Symbol, object]) -> float:
    """The bound per unit of a very small move."""
    return float((error / layers.rho).subs(layers.rho, 0).subs(values))


def as_function(error: sp.Expr) -> tuple[tuple[sp.Symbol, ...], Callable[..., float]]:
    """The bound as a function of floats, and the order of its symbols."""
    symbols = tuple(sorted(error.free_symbols, key=str))
    return symbols, sp.lambdify(symbols, error, "math")


def rounded(g: np.ndarray, xi: dict[str, np.ndarray]) -> np.ndarray:
    return np.maximum(xi["W2"] @ np.maximum(xi["W1"] @ g + xi["b1"], 0) + xi["b2"], 0)


def moved(parameters: dict[str, np.ndarray], rng: np.random.Generator, total: float) -> dict[str, np.ndarray]:
    """All of them moved together by `total` in the 2-norm."""
    moves = {name: rng.normal(size=value.shape) for name, value in parameters.items()}
    norm = np.sqrt(sum((move**2).sum() for move in moves.values()))
    return {name: value + total / norm * moves[name] for name, value in parameters.items()}


def test_the_bound_of_one_gate_is_attained() -> None:
    # h = 1 through f = phi(w2 phi(w1 h + b1) + b2), w1 = w2 = 1: the gradient in (w1, b1, w2, b2) is (1, 1, 1, 1), and
    # in the rounding before it (3, -3) for its first weights and biases, (2/3, 1/3) and 1 for its last.
    gradient = np.array([1, 1, 1, 1, 3, -3, 3, -3, 2 / 3, 1 / 3, 1])
    one = dict.fromkeys((layers.size, layers.hidden, layers.norm_1, layers.norm_2), 1)
    bound = slope(layers.two_relu_layers().error, {**one, layers.sigma_zeta: 0})
    assert bound == pytest.approx(np.linalg.norm(gradient), rel=1e-12)
    assert bound * MUTANT < np.linalg.norm(gradient)
    alone = slope(layers.two_relu_layers(corrected=False).error, {**one, layers.sigma_zeta: 0})
    assert alone == pytest.approx(2.0, rel=1e-12)
    answered = slope(layers.two_relu_layers(corrected=False, readout=sp.Integer(2)).error, {**one, layers.output: 1})
    assert answered == pytest.approx(np.linalg.norm([2, 2, 2, 2, 1, 1]), rel=1e-12)


def test_no_move_of_a_layer_exceeds_its_bound() -> None:
    rng = np.random.default_rng(0)
    symbols, bound_at = as_function(layers.two_relu_layers().error)
    largest = 0.0
    for _ in range(300):
        n, total = int(rng.integers(1, 4)), float(rng.choice([1e-3, 0.05, 0.3]))
        h = rng.integers(0, 2, n).astype(float)
        theta = {name: rng.normal(size=(n, n) if name[0] == "W" else n) for name in ("W1", "b1", "W2", "b2")}
        every = {**{f"f.{k}": v for k, v in theta.items()}, **{f"z.{k}": v for k, v in rounding_matrices(n).items()}}
        near = moved(every, rng, total)
        error = rng.normal(size=n)
        g = h + error / np.linalg.norm(error) / 3 * rng.uniform()  # within 1/3 of the bits
        corrected = rounded(g, {k[2:]: v for k, v in near.items() if k.startswith("z.")})
        exact_hidden = np.maximum(theta["W1"] @ h + theta["b1"], 0)
        exact = np.maximum(theta["W2"] @ exact_hidden + theta["b2"], 0)
        inner = np.maximum(near["f.W1"] @ corrected + near["f.b1"], 0)
        change = np.linalg.norm(np.maximum(near["f.W2"] @ inner + near["f.b2"], 0) - exact)
        values = {
            layers.rho: total,
            layers.sigma_zeta: 1 / 3,
            layers.size: float(np.linalg.norm(h)),
            layers.hidden: float(np.linalg.norm(exact_hidden)),
            layers.norm_1: float(np.linalg.norm(theta["W1"], 2)),
            layers.norm_2: float(np.linalg.norm(theta["W2"], 2)),
        }
        bound = bound_at(*(values[symbol] for symbol in symbols))
        assert change <= bound * (1 + 1e-12)
        largest = max(largest, change / bound)
    assert largest > 0.2  # random moves in up to 60 dimensions; the case above is exact


def test_no_move_of_scores_exceeds_the_bound_on_gaps() -> None:
    # One key of +-1 signs that matches the query, against the null key: their gap is 1. All parameters move at once.
    rng = np.random.default_rng(1)
    symbols, bound_at = as_function(attention.gap_change(attention.SELF).error)
    for _ in range(200):
        signs, total = int(rng.integers(2, 6)), float(rng.choice([1e-3, 0.02]))
        h = rng.integers(0, 2, signs).astype(float)  # the key's token holds the same bits as the query's
        W = np.vstack([2 * np.eye(signs), np.zeros(signs)])
        parameters = {
            "WQ": W, "bQ": np.append(-np.ones(signs), 1.0), "WK": W, "bK": np.append(-np.ones(signs), 0.0),
            "K0": np.append(np.zeros(signs), signs - 1.0), **rounding_matrices(signs),
        }  # fmt: skip
        near = moved(parameters, rng, total)
        asking, asked = (h + 0.3 / np.sqrt(signs) * rng.uniform(-1, 1, signs) for _ in range(2))
        query = near["WQ"] @ rounded(asking, near) + near["bQ"]
        key = near["WK"] @ rounded(asked, near) + near["bK"]
        gap = query @ (key - near["K0"])
        ones = float(h.sum())
        values = {
            layers.rho: total, layers.sigma_zeta: 1 / 3, layers.size: np.sqrt(ones),
            attention.query_norm: 2, attention.key_norm: 2, attention.query_size: np.sqrt(signs + 1),
            attention.key_size: np.sqrt(signs), attention.null_size: signs - 1,
        }  # fmt: skip
        assert abs(gap - 1) <= bound_at(*(values[symbol] for symbol in symbols)) * (1 + 1e-12)


@pytest.mark.long
def test_the_null_key_decides_the_exponent() -> None:
    assert theory.exponent() == sp.Rational(-3, 2)
    assert theory.leading_margin() == theory.w ** sp.Rational(-3, 2) / 4
    # Against the numbers: the smallest limit over slope at a large w_pos.
    far = {theory.w: 10**8, theory.Z: 10, theory.A: 4}
    least = min(
        float(limit) / slope(bound, {s: v.subs(far) for s, v in kind.values.items()})
        for kind in theory.KINDS
        for bound, limit in kind.conditions.values()
    )
    assert least == pytest.approx(float(theory.leading_margin().subs(far)), rel=1e-3)


def test_a_moved_start_is_no_worse_than_a_moved_rounding() -> None:
    # The first layer's input at step 1 is moved by t_init; everywhere else it is moved by c t_zeta, c >= 1.
    symbols, c = as_function(layers.rounding_move().error / layers.move_zeta)
    rng = np.random.default_rng(0)
    sizes = {layers.size: (0.0, 1.0, 5.0), layers.rho: (1e-9, 0.1, 1.0), layers.sigma_zeta: (1e-9, 1 / 3)}
    for _ in range(50):
        at = {symbol: float(rng.choice(values)) for symbol, values in sizes.items()}
        assert c(*(at.get(symbol, 1.0) for symbol in symbols)) >= 1
    # In a layer with no attention at work, t_zeta enters the stream as c (1 + rho) t_zeta, and nothing else does.
    stream = layers.corrected_input(layers.sigma_zeta)
    idle = attention.idle_output(stream, "idle", attention.idle_self)
    of_zeta = sp.diff(stream.error + idle.error, layers.move_zeta)
    assert sp.simplify(of_zeta - (1 + layers.rho) * sp.diff(stream.error, layers.move_zeta)) == 0
    assert theory.KINDS[0].works == attention.NONE


def test_groups_of_moves_are_named() -> None:
    assert set(attention.gap_change(attention.ENCODER).groups) - set(attention.gap_change(attention.SELF).groups) == {
        attention.move_embedding,
        attention.idle_self,
    }
    assert attention.idle_encoder in attention.layer_output(attention.SELF).groups
