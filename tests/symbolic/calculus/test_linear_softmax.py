"""Softmax in place of linear attention: the constant of the remainder, its ratio to the error, a gradient step."""

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    Norm,
    attend,
    change_norm,
    given,
    largest_safe,
    linear_map,
    softmax,
    softmax_as_linear,
)
from tests.symbolic.fuzzing.softmax_moves import linear_weights
from tests.symbolic.fuzzing.vectors import softmax_weights

SPREAD = 1 / (3 * np.sqrt(3))  # of |(x - m)^2 - V|, in units of the squared range
MUTANT = 0.999
Half = sp.Rational(1, 2)


def deviation(scores: np.ndarray, weights: np.ndarray) -> float:
    """E|(x - m)^2 - V|."""
    squares = (scores - weights @ scores) ** 2
    return float(weights @ np.abs(squares - weights @ squares))


def test_the_squared_deviation_spreads_as_the_proof_states_and_the_mutant_fails() -> None:
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(3000):
        scores, weights = rng.uniform(0, 1, 5), rng.dirichlet(np.full(5, 0.3))
        worst = max(worst, deviation(scores, weights) / np.ptp(scores) ** 2)
    ahead = (3 - np.sqrt(3)) / 6
    attained = deviation(np.array([1.0, 0.0]), np.array([ahead, 1 - ahead]))
    assert worst <= SPREAD * (1 + 1e-12)
    assert MUTANT * SPREAD < attained <= SPREAD * (1 + 1e-12)


def largest_distance(r: float, e: float) -> float:
    """Over all shares of keys: p at one end and q at the other err upwards by e, the other 1 - p - q downwards."""
    p, q = (share.ravel() for share in np.meshgrid(*[np.linspace(0, 1, 401)] * 2))
    p, q, s = p[p + q <= 1], q[p + q <= 1], np.array([[r], [-r]])
    up, down = (p * np.exp(s) + q * np.exp(-s)) * np.exp(2 * e), (1 - p - q) * np.exp(-s)
    linear = p + q + 2 * s * p * (1 - p - q)
    return float(2 * (up / (up + down) - linear).max())


def ratio(r: float, e: float) -> float:
    return float(softmax_as_linear(given("s", dim=9, size=r, error=e), "q").error) / largest_distance(r, e)


@pytest.mark.parametrize("r", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("e", [0.0, 0.01, 0.05, 0.3, 1.0, 5.0])
def test_the_known_ratio_is_not_exceeded_for_small_scores(r: float, e: float) -> None:
    assert 1 - 1e-9 <= ratio(r, e) <= 1.1401
    assert ratio(r, 0.0) <= 1.1


def test_the_known_ratio_is_reached() -> None:
    assert ratio(1e-4, 0.355e-8) == pytest.approx(1.14, rel=1e-4)
    assert ratio(1.0, 0.0) > 1.09


def test_a_shift_of_the_scores_costs_nothing_where_the_half_range_is_known() -> None:
    shifted = given("s", dim=4, size=100, error=0)
    assert softmax_as_linear(shifted, "q", half_range=0).error == 0


@pytest.mark.parametrize("norm", Norm)
def test_weights_in_another_norm_are_averaged_once_they_are_in_the_1_norm(norm: Norm) -> None:
    scores, values = given("s", dim=4, size=1, error=Half), given("v", dim=1, size=1, radius=1)
    weights = change_norm(softmax(scores, "q", target=norm), Norm.ONE, "w")
    linear = change_norm(softmax_as_linear(scores, "l"), norm, "l'")
    assert linear.affine
    assert not linear.probabilities
    factor = {Norm.INF: 4, Norm.TWO: 2 * sp.sqrt(2), Norm.ONE: 2}[norm]
    assert sp.simplify(attend(weights, values, "out").error - factor * sp.tanh(Half / 2)) == 0


# --- one step of gradient descent in context -------------------------------------------------------------------------

beta, eta, rho, Y = sp.symbols("beta eta rho Y", positive=True)
n = sp.Symbol("n", integer=True, positive=True)


# Tokens (x_j, y_j), j <= n, with |<x_j, x>| <= rho, |y_j| <= Y and sum y_j = 0, and the query (x, 0), |x|^2 <= rho:
# the linear weights of the n + 1 keys give 1 / (n + 1) sum beta <x_j, x> y_j, and the head's output matrix is
# eta (n + 1) / (n beta).
def gradient_step() -> Approximated:
    scores = given("scores", dim=n + 1, size=beta * rho)
    weights = softmax_as_linear(scores, "weights")
    labels = given("labels", dim=1, size=Y, radius=Y)
    average = attend(weights, labels, "average")
    return linear_map(average, "step", operator_norm=eta * (n + 1) / (n * beta), dim=1)


def step_error(x: np.ndarray, y: np.ndarray, query: float, at: dict[sp.Symbol, float]) -> float:
    """What the head adds to the query, against eta / n sum_j y_j x_j x."""
    keys, values = np.append(x, query), np.append(y, 0.0)
    weights = softmax_weights(at[beta] * keys * query)
    moved = at[eta] * len(keys) / (len(x) * at[beta]) * (weights @ values)
    return float(abs(moved - at[eta] * np.mean(y * x * query)))


@pytest.mark.parametrize("temperature", [0.003, 0.03, 0.3, 1.0])
def test_a_gradient_step_keeps_its_bound_and_comes_within_a_factor_of_two(temperature: float) -> None:
    at = {beta: temperature, eta: 0.5, rho: 1.0, Y: 1.0, n: 400}
    bound, rng = float(gradient_step().error.subs(at)), np.random.default_rng(1)
    for _ in range(50):
        y = rng.permutation(np.repeat([-1.0, 1.0], 200))
        assert step_error(rng.uniform(-1, 1, 400), y, rng.choice([-1.0, 1.0]), at) <= bound
    x = np.repeat([0.0, 1.0, -1.0], [200, 100, 100])
    witness = step_error(x, np.where(x == 0, -1.0, 1.0), 1.0, at)
    assert bound / 2 < witness <= bound


def test_the_temperature_of_a_gradient_step_follows_from_its_accuracy() -> None:
    step = gradient_step()
    assert not step.derivation.conditional
    accuracy = sp.Rational(1, 100)
    knob = largest_safe(step.error, beta, accuracy)
    assert sp.simplify(knob.value - 3 * sp.sqrt(3) * n * accuracy / (2 * Y * eta * rho**2 * (n + 1))) == 0


def test_linear_weights_may_be_negative_and_attention_counts_their_size() -> None:
    scores = np.array([1.5, 1.5, -1.5])
    weights = softmax_as_linear(given("s", dim=3, size=sp.Rational(3, 2)), "q")
    assert linear_weights(scores).min() < 0
    assert (weights.norm, weights.size) == (Norm.ONE, sp.Rational(5, 3))
    assert attend(weights, given("v", dim=1, size=3), "out").size == 5
