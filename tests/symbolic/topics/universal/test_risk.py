"""Theorem 1 in letters: its budget, its parts, the order of (24), the best weight."""

import mpmath
import pytest
import sympy as sp

from symbolic.derivations.events import total_failure
from symbolic.topics.universal import lasso, transformer_derivation
from symbolic.topics.universal import risk_derivation as theory
from symbolic.topics.universal.features import DRAW, at_zero, d, eps, mass, members, tau
from symbolic.topics.universal.lasso import EXAMPLES, F, lam, sigma
from symbolic.topics.universal.risk import RISK
from symbolic.topics.universal.transformer_derivation import L, N, n, tau_1, tau_2

CLASS = {mass: 1.25, at_zero: 1, members: 1, F: 1, d: 2}
AT = {N: 10**6, n: 10**4, L: 10**7 + 1, lam: 0.05, sigma: 0.1, theory.delta: 0.05, tau: 64, eps: 1e-4}
AT |= {tau_1: 2.0**40, tau_2: 2.0**40, **CLASS}


def value(bound: sp.Expr, at: dict[sp.Symbol, float]) -> float:
    known = {letter: number for letter, number in at.items() if letter in bound.free_symbols}
    return float(sp.lambdify(list(known), bound, "mpmath")(*map(mpmath.mpf, known.values())))


def derived(name: str, **more: float) -> float:
    letters = {getattr(transformer_derivation, letter): x for letter, x in more.items()}
    return value(RISK.quantity(name).derived(), {**AT, **letters})


@pytest.mark.parametrize(
    ("name", "share", "over"),
    [
        ("risk", 1.0, (DRAW, EXAMPLES)),
        ("risk.iterate", 0.75, (DRAW, EXAMPLES)),
        ("emulation", 0.25, (EXAMPLES,)),
        ("prompt", 1.0, (EXAMPLES,)),
    ],
)
def test_every_bound_fails_with_the_stated_probability(name: str, share: float, over: tuple[str, ...]) -> None:
    quantity = RISK.quantity(name)
    failure = total_failure(quantity.events).subs({theory.delta: 0.05, **CLASS})
    assert float(failure.subs({N: 100, theory.rivals: 3, eps: 0.01})) == pytest.approx(0.05 * share)
    assert set(quantity.over) == set(over)


def test_the_parts_are_those_of_the_lemmas() -> None:
    step = theory.derive_risk().derivation
    assert sp.simplify(step.bound("gap") - theory.U**2 * 2 * n / (L - 1)) == 0
    features = 3 * mass * sp.sqrt(2 * sp.log(4 * members * (1 + 2 / eps) ** d / theory.delta) / (n - 1))
    rest = eps * (3 * tau + 1) * mass + mass / (4 * tau)
    assert value(step.bound("features"), AT) == pytest.approx(value(features + rest, AT), rel=1e-12)
    labels = sigma * sp.sqrt(2 * sp.log(8 * N / theory.delta))
    assert value(theory.LARGEST_LABEL, AT) == pytest.approx(value(F + labels, AT), rel=1e-12)
    assert step.bound("emulation") == transformer_derivation.derive_y_hat().error


# Lemma 2 at the numbers of the steps, and Minkowski's inequality.
def test_the_risk_is_that_of_lemma_2_and_the_emulation() -> None:
    bounds = theory.derive_risk().derivation
    at = {**AT, **{letter: value(worst, AT) for letter, worst in theory.WORST.items()}}
    of = {name: value(bounds.bound(name), at) for name in ("features", "gap", "noise", "norm", "emulation")}
    letters = {lasso.eps_dis: of["features"], lasso.eps_opt: of["gap"], theory.nu: of["noise"]}
    assert of["norm"] == pytest.approx(value(lasso.norm_bound(theory.nu), {**at, **letters}))
    moments = {e.error_symbol: value(e.error, AT) for e in lasso.derive_moments("f", F, theory.delta / 4)}
    ends = [{**at, **letters, **moments, theory.A: norm} for norm in (0, of["norm"])]
    iterate = max(value(lasso.risk_at(theory.A, theory.nu), each) for each in ends)
    assert derived("risk.iterate") == pytest.approx(iterate)
    assert derived("risk") == pytest.approx((iterate**0.5 + of["emulation"]) ** 2)
    assert derived("risk") < 1


@pytest.mark.parametrize(("letter", "more"), [("N", 16 * 10**6 + 1), ("L", 16 * 10**7 + 1)])
def test_more_examples_and_layers_lower_the_bound(letter: str, more: int) -> None:
    assert derived("risk.iterate", **{letter: more}) < derived("risk.iterate")


def test_the_best_weight_minimises_the_derived_bound() -> None:
    at = {lasso.eps_dis: 0.1, lasso.eps_opt: 0.02, theory.U: 2, n: 64, N: 10**5, theory.delta: 0.05}
    at |= {F: 1, theory.sigma: 0.1}
    moments = {e.error_symbol: value(e.error, at) for e in lasso.derive_moments("f", F, theory.delta / 4)}
    noise, best = value(theory.NOISE, at), value(theory.best_weight(), at)

    def bound(weight: float) -> float:
        letters = {**at, **moments, lam: weight, theory.nu: noise}
        norm = value(lasso.norm_bound(theory.nu), letters)
        return max(value(lasso.risk_at(theory.A, theory.nu), {**letters, theory.A: each}) for each in (0, norm))

    assert noise < best
    assert bound(best) < min(bound(0.99 * best), bound(1.01 * best))


def test_a_prompt_of_rho_star_itself_is_bounded_by_its_residual_and_the_gap() -> None:
    at = {theory.moved: 0, theory.nu: 0.1, theory.A: 2, theory.U: 2, lasso.eps_dis: 0.1, lasso.eps_opt: 0.02}
    at |= {theory.e_y: 0, lam: 0.1, theory.rivals: 1, N: 10**12, n: 8, theory.delta: 0.05}
    assert value(theory.derive_at_prompt().error, at) == pytest.approx(0.03, rel=1e-3)
