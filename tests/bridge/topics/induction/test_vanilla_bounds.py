"""The derivation of Theorem 4.1: against a brute force of its steps, and below the printed chain."""

import itertools

import numpy as np
import pytest
import sympy as sp
import torch

from bridge.instances.instance import Instance
from bridge.topics.induction.vanilla import GATE, VANILLA, L, W_norm, gate, leak, omega, p

RESULT = VANILLA.statement


def at(expression: sp.Expr, **values: float) -> float:
    symbols = {s: values[s.name] for s in expression.free_symbols}
    return float(sp.N(expression.subs(symbols), 30))


@pytest.mark.parametrize("length", [3, 4, 5, 6])
@pytest.mark.parametrize("slope", [0.3, 1.0, 4.0])
def test_the_first_layers_bound_is_attained_by_the_worst_signs(length: int, slope: float) -> None:
    worst = 0.0
    for tokens in itertools.product((-1.0, 1.0), repeat=length - 2):
        for s in range(2, length):  # y_s averages x_1 .. x_{s-1}
            past = np.array(tokens[: s - 1])
            weights = np.exp(-slope * np.arange(s - 2, -1, -1))
            worst = max(worst, abs(float(weights @ past / weights.sum() - past[-1])))
    bound = at(RESULT.quantity("y").derived(), p=slope, L=length)
    assert worst == pytest.approx(bound, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", ["y", "scores", "attention", "output"])
def test_derived_is_at_most_printed_and_at_most_2_W_exp_minus_p(name: str) -> None:
    quantity = RESULT.quantity(name)
    for slope, length, size in itertools.product((0.01, 0.5, 1, 4, 32), (3, 4, 8, 512), (0.01, 1, 20)):
        derived = at(quantity.derived(), p=slope, L=length, W_norm=size)
        printed = at(quantity.printed.bound, p=slope, L=length, W_norm=size)
        assert derived <= printed
        assert derived <= 2 * max(1.0, size) * np.exp(-slope) * (1 + 1e-12)


def test_the_gate_keeps_the_leak_within_its_share() -> None:
    gated, masked = (RESULT.quantity(name).derived() for name in ("output.gated", "output"))
    for slope, length, size, share in itertools.product((1, 8), (3, 64), (0.1, 3), (0.01, 0.5)):
        values = {"p": slope, "L": length, "W_norm": size, "leak": share}
        extra = at(gated, **values) - at(masked, **values)
        assert 0 < extra <= share * 2 * size * np.exp(-slope)


def test_the_gate_undoes_the_lead_symbolically() -> None:
    lead = sp.simplify(sp.exp(-(gate - omega)).subs({gate: GATE, omega: W_norm}))
    assert sp.simplify(lead - leak * W_norm * sp.exp(-p)) == 0


def test_error_vanishes_at_the_shortest_length() -> None:
    assert RESULT.quantity("output").derived().subs(L, 3) == 0


def test_slack_names_the_loose_step() -> None:
    derivation = RESULT.quantity("output").derivation
    values = {p: 1, L: 8, omega: 1}
    tight = {step.name: float(sp.N(derivation.bound(step.name).subs(values))) for step in derivation.steps}
    assert derivation.slacks(tight, values) == pytest.approx({k: 1.0 for k, v in tight.items() if v > 0})
    loose = derivation.slacks({**tight, "attention": tight["attention"] / 10}, values)
    assert loose["attention"] == pytest.approx(10)
    assert loose["output"] == pytest.approx(0.1)


def test_at_a_prompt_scores_err_by_the_norm_of_its_own_last_token() -> None:
    """The last token meets W* before the errors do: ||W*^T x_L||_1 times the error of y, not a product of norms."""
    instance = Instance.of(VANILLA, {"p": 4, "L": 8, "d": 4, "W_star": "signs:8"})
    x = np.random.default_rng(0).uniform(-1, 1, (8, 4))
    one = {"x": torch.tensor(x)[None]}
    y, scores = (
        float(instance.bounds.instance(instance.quantity(name), "prompt", one).ball) for name in ("y", "scores")
    )
    assert scores <= abs(x[-1] @ instance.known.weights["W_star"].numpy()).sum() * y * (1 + 1e-9)
