"""The network reading of a derivation of one's own, with two layers: every prompt, and what it asks for."""

from typing import Any

import flint
import pytest
import sympy as sp
import torch

from bridge.readings.network import Bounded, MatrixNorms, NormsAtHand, bound_network, bounds_of, stops
from symbolic.calculus import Approximated, Norm, add, apply_function, given, linear_map, softmax
from symbolic.words.errors import UsageError

eps, c = sp.symbols("eps c", positive=True)
t = sp.Symbol("t", real=True)
EPS = 2.0**-6
GENERATOR = torch.Generator().manual_seed(0)
V = torch.randn(4, 3, generator=GENERATOR, dtype=torch.float64) / 2
W = torch.randn(2, 4, generator=GENERATOR, dtype=torch.float64) / 2


def layer(x: Approximated, name: str, width: int) -> Approximated:
    product = linear_map(x, f"{name} x", operator_norm=2, dim=width, matrix=name)
    return apply_function(product, f"r({name} x)", eps=eps, lipschitz=1, size=1, function="r")


def network() -> Approximated:
    return layer(layer(given("x", dim=3, size=1), "V", 4), "W", 2)


def operands(**changes: Any) -> dict[str, Any]:
    found = {
        "x": Bounded.exact(Norm.INF, 3, flint.arb(1)),
        "V": MatrixNorms.of(V, 128),
        "W": MatrixNorms.of(W, 128),
        "r": bounds_of(sp.tanh(t), t, eps=EPS),
    }
    return {name: each for name, each in {**found, **changes}.items() if each is not None}


def errors() -> dict[str, float]:
    found = bound_network(network().derivation, NormsAtHand(operands()))
    return {name: float(each.error) for name, each in found.items()}


def test_each_layer_has_the_norm_of_its_own_matrix() -> None:
    rows = [float(matrix.abs().sum(-1).max()) for matrix in (V, W)]
    found = errors()
    assert list(found) == ["x", "V x", "r(V x)", "W x", "r(W x)"]
    assert found["x"] == found["V x"] == 0
    assert found["r(V x)"] == EPS
    assert found["W x"] == pytest.approx(rows[1] * EPS)
    assert found["r(W x)"] == pytest.approx(EPS + rows[1] * EPS, rel=1e-3)  # a certified supremum


def test_no_prompt_exceeds_them_and_some_come_close() -> None:
    """r_hat = tanh + eps sign(row of W), the worst of all approximants for the second layer."""
    x = 2 * torch.rand(2000, 3, generator=GENERATOR, dtype=torch.float64) - 1
    x = torch.cat([x, 0 * x[:1]])
    worst = W[W.abs().sum(-1).argmax()].sign()
    exact = torch.tanh(x @ V.mT)
    near = exact + EPS * worst
    second, second_near = torch.tanh(exact @ W.mT), torch.tanh(near @ W.mT) + EPS
    found = errors()
    moved = (near - exact) @ W.mT
    assert float(moved.abs().max()) == pytest.approx(found["W x"])
    ratio = float((second_near - second).abs().max()) / found["r(W x)"]
    assert 0.9 < ratio <= 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"V": None},
            "step 'V x' needs 'V', which nothing binds; give MatrixNorms.of.matrix, bits.; bound are: W, r, x",
        ),
        ({"V": V}, "step 'V x': 'V' is bound to Tensor; give MatrixNorms.of"),
        ({"V": MatrixNorms.of(W, 64)}, "step 'V x': 'V' has 4 columns, and 'x' 3 coordinates"),
        ({"x": 1.0}, "step 'x': 'x' is bound to float; give a Bounded"),
        (
            {"x": Bounded.exact(Norm.INF, 1, flint.arb(1))},
            "step 'x' has 3 coordinates, and the Bounded for it 1",
        ),
        ({"r": 2.0}, r"step 'r\(V x\)': 'r' is bound to float; give bounds_of\(f, t, eps=...\), or a function of R"),
        (
            {"W": MatrixNorms(2, 4, {})},
            "step 'W x': the norm of a matrix from the inf-norm to the inf-norm is not known",
        ),
    ],
    ids=str,
)
def test_an_operand_that_does_not_fit_is_named_with_its_step(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        bound_network(network().derivation, NormsAtHand(operands(**changes)))


def test_a_letter_without_a_value_is_named_with_its_step() -> None:
    out = network()
    twice = add(out, out, name="c r + r", coefficients=(c, 1))
    with pytest.raises(UsageError, match=r"step 'c r \+ r' needs the letter c, which nothing binds"):
        bound_network(twice.derivation, NormsAtHand(operands()))
    found = bound_network(twice.derivation, NormsAtHand(operands(), {c: 3}))
    assert float(found["c r + r"].error) == pytest.approx(4 * errors()["r(W x)"])


def test_a_step_that_is_not_bounded_says_what_stops_it() -> None:
    weights = softmax(network(), "weights")
    scaled = linear_map(weights, "2 weights", operator_norm=2, dim=2, matrix="W").derivation
    assert "weights" not in bound_network(scaled, NormsAtHand(operands()))
    softmax_stops = "step 'weights' (softmax) has no bound for all prompts"
    assert stops(scaled, NormsAtHand(operands())) == {"weights": softmax_stops, "2 weights": softmax_stops}
    unbound = stops(scaled, NormsAtHand(operands(x=None)), ["V x"])
    assert unbound == dict.fromkeys(["x", "V x"], "step 'x' (given) has no bound for all prompts")
