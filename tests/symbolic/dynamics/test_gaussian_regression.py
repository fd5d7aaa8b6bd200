"""The loss of one step beside the printed one and beside drawn prompts."""

import numpy as np
import pytest
import sympy as sp

from symbolic.dynamics.gaussian_regression import BEST_STEP, LEAST_STEP_LOSS, STEP_LOSS, N, d, eta, sigma


def test_without_noise_it_is_the_fraction_that_is_known() -> None:
    assert sp.simplify(BEST_STEP.subs(sigma, 0) - N / (N + d + 1)) == 0
    assert sp.simplify(LEAST_STEP_LOSS.subs(sigma, 0) - (d + 1) / (N + d + 1)) == 0
    assert LEAST_STEP_LOSS.subs({sigma: 0, d: 5, N: 20}) == sp.Rational(3, 13)


def test_the_least_is_at_the_best_step() -> None:
    at = {d: 4, N: 7, sigma: sp.Rational(1, 2)}
    best = BEST_STEP.subs(at)
    least = STEP_LOSS.subs(at).subs(eta, best)
    assert least == LEAST_STEP_LOSS.subs(at)
    for away in (sp.Rational(-1, 100), sp.Rational(1, 100)):
        assert STEP_LOSS.subs(at).subs(eta, best + away) > least


@pytest.mark.parametrize(("at_d", "at_N", "at_eta", "noise"), [(3, 5, 0.6, 0.0), (2, 9, 1.1, 0.7), (1, 1, 0.3, 0.5)])
def test_drawn_prompts_have_that_loss(at_d: int, at_N: int, at_eta: float, noise: float) -> None:
    drawn, prompts = np.random.default_rng(1), 200_000
    x = drawn.standard_normal((prompts, at_N + 1, at_d))
    w = drawn.standard_normal((prompts, at_d)) / np.sqrt(at_d)
    y = np.einsum("bnd,bd->bn", x, w) + noise * drawn.standard_normal((prompts, at_N + 1))
    predicted = at_eta / at_N * np.einsum("bn,bnd,bd->b", y[:, :-1], x[:, :-1], x[:, -1])
    losses = (predicted - y[:, -1]) ** 2
    exact = float(STEP_LOSS.subs({d: at_d, N: at_N, eta: at_eta, sigma: noise}))
    assert losses.mean() == pytest.approx(exact, abs=5 * losses.std() / np.sqrt(prompts))
