"""Lemmas 2 and 6 in letters: budgets, the orders of the paper, the noise level."""

import pytest
import sympy as sp

from symbolic.derivations.events import total_failure
from symbolic.topics.universal import lasso as theory

AT = {theory.n: 64, theory.N: 4096, theory.lam: 0.05, theory.sigma: 0.1, theory.delta: 0.05, theory.B: 1}
AT |= {theory.eps_opt: 0.01, theory.eps_dis: 0.2, theory.U: 3, theory.F: 1}


@pytest.mark.parametrize("name", ["noise", "deviation", "excess", "norm", "risk"])
def test_every_bound_fails_with_at_most_the_stated_probability(name: str) -> None:
    quantity = theory.LASSO.quantity(name)
    failure = float(total_failure(quantity.events).subs(theory.delta, 0.05))
    assert 0.02 < failure <= 0.05 * (1 + 1e-12)
    assert quantity.over == (theory.EXAMPLES,)
    assert not quantity.derivation.conditional


def test_the_noise_level_is_hoeffdings() -> None:
    expected = 2 * theory.sigma * sp.sqrt(2 * sp.log(4 * (theory.n + 1) / theory.delta) / theory.N)
    assert sp.simplify(theory.NOISE - expected) == 0


def test_twice_the_noise_level_gives_the_norm_with_small_constants() -> None:
    norm = theory.norm_bound(theory.lam / 2)
    assert sp.simplify(norm - 3 * theory.U - 2 * (theory.eps_opt + theory.eps_dis**2) / theory.lam) == 0
    lam = theory.sufficient_constant() * theory.sigma * sp.sqrt(sp.log(theory.N) / theory.N)
    assert sp.simplify((lam - 2 * theory.NOISE).subs(AT)) == pytest.approx(0, abs=1e-12)


def test_the_risk_is_convex_in_the_norm_and_largest_at_an_end() -> None:
    risk, nu = theory.LASSO.quantity("risk").derived(), float(theory.NOISE.subs(AT))
    errors = {each.error_symbol: each.error for each in theory.MOMENTS}
    at = theory.risk_at(theory.A, sp.Float(nu)).xreplace(errors).subs(AT)
    largest = float(theory.norm_bound(sp.Float(nu)).subs(AT))
    inside = [float(at.subs(theory.A, largest * share / 20)) for share in range(21)]
    assert float(risk.subs(AT)) == pytest.approx(max(inside))
    assert max(inside) in (inside[0], inside[-1])
