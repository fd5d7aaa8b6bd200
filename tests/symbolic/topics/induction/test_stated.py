"""What the theorems of this topic state, at the points at which a sentence without its hypothesis is false."""

import pytest
import sympy as sp

from symbolic.latex.paper_text import Conclusion, conclusions, theorem_latex
from symbolic.statements.catalogue import find_result
from symbolic.statements.result import Result
from symbolic.topics.induction.first_stage import FIRST_STAGE, START_FLOOR, START_LIMIT, gamma
from symbolic.topics.induction.losses import LOSSES
from symbolic.topics.induction.phases import KAPPAS, PHASES
from symbolic.topics.induction.signs import SIGMA_STAR, speed
from symbolic.topics.induction.training import L, alpha, g_star, h, h_star, psi, sigma_init, v_star, w, w_star
from symbolic.topics.induction.trends import TRENDS


def asserted(result: Result) -> dict[str, Conclusion]:
    return {each.quantity.name: each for each in conclusions(result) if each.asserted}


def test_a_start_at_which_the_slope_falls_meets_no_hypothesis_of_stage_one() -> None:
    """L = 1000, alpha = 0.05, sigma_init = 0.01: dp~/dt = -1.5e-6."""
    stated = asserted(FIRST_STAGE)
    assert "start.long" not in stated
    at = {L: 1000, g_star: sp.Rational(1, 21)}
    assert START_LIMIT.subs(at) < 0.01
    assert START_FLOOR.subs({**at, gamma: sp.Rational(21, 100)}) < 0
    assert "sigma_init < g*/(2n (1 + log n))" in stated["start"].quantity.domain
    limit = g_star / (2 * (L - 2) * (1 + sp.log(L - 2)))
    assert sp.simplify(START_LIMIT - limit) == 0
    assert sp.simplify(START_FLOOR.subs(gamma, limit / g_star)) == 0


def test_a_start_near_half_of_w_star_is_none_of_the_trends() -> None:
    """w* = 0.5, alpha = 1, sigma_init = 0.2499: T_1/2^w is 0.0107 (L-2), the second bound of (28) 1.387 (L-2)."""
    stated = asserted(TRENDS)
    assert "T_half.simple" not in stated
    at = {w_star: sp.Rational(1, 2), alpha: 1, sigma_init: sp.Rational(2499, 10_000), L: 1000}
    largest = [float(SIGMA_STAR.subs({**at, speed: number})) for number in (1, 2)]
    assert max(largest) < 0.2499
    assert all(each.quantity.derive is not None for each in stated.values())
    of_any_start = {name for name, each in stated.items() if "sigma_init <= sigma_star" not in each.quantity.domain}
    assert of_any_start == {"h.ramp.repaired"}
    text = theorem_latex(TRENDS)
    assert r"\[ \sigma^\star = \min" in text
    assert "for some" not in text


def test_the_rate_of_vanilla_is_one_of_the_bound_above_it() -> None:
    """At one prompt the slope in p can be anything (L = 5, p = 0.5: -1.45); 0 at L = 3 has no logarithm."""
    stated = asserted(find_result("induction.vanilla"))
    bound = stated["output"].quantity.derived()
    p, L, W_norm = (next(s for s in bound.free_symbols if s.name == name) for name in ("p", "L", "W_norm"))
    for length in (4, 5, 12):
        decay = -sp.log(bound.subs({L: length, W_norm: 2})) / p
        assert float(decay.subs(p, 200)) == pytest.approx(1, abs=0.01)
    symbol = stated["output.rate"].quantity.latex_symbol
    assert symbol.startswith(r"\liminf_{p \to \infty}")
    assert r"\sup_X" in symbol


def test_the_loss_at_the_optimum_has_no_weights() -> None:
    quantity = LOSSES.quantity("head.optimum")
    lacking = h_star**2 * psi(2 * v_star) / (2 * (L - 2) ** 2)
    expected = lacking.subs({h_star: 1 / (1 + alpha), v_star: w_star**2})
    assert sp.simplify(quantity.closed_form - expected) == 0
    assert quantity.printed is not None
    assert not {w, h} & (quantity.closed_form.free_symbols | quantity.printed.bound.free_symbols)
    assert sp.simplify(quantity.printed.bound) == 0


def test_each_time_of_the_phases_has_a_constant_of_its_own() -> None:
    for name, constant in KAPPAS.items():
        assert PHASES.quantity(name).closed_form.free_symbols & set(KAPPAS.values()) == {constant}


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("lyapunov_gram", r"$t_1$: "),
        ("lyapunov_gram", r"$\xi_i$: "),
        ("lyapunov_head", r"$\phi$: "),
        ("lyapunov_head", r"$\psi$: "),
        ("first_stage", r"$M$: "),
        ("first_stage", r"$m$: "),
        ("first_stage", r"$q$: "),
        ("vanilla", r"\log (\lambda \|W^{\star}\|_{1,1})$ to the scores"),
        ("trends", r"$\psi$: "),
        ("phases", r"\[ \mu = "),
    ],
)
def test_letters_of_the_sentences_are_defined(id: str, words: str) -> None:
    assert words in theorem_latex(find_result(f"induction.{id}"))
