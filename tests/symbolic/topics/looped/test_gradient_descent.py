"""Bounds of T loops: sizes of exact states against matrices, and letters against what they stand for."""

import math

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus.heads import Second
from symbolic.topics.looped import gradient_descent_derivation as theory
from symbolic.topics.looped.gradient_descent import GRADIENT_DESCENT

POINT = {
    theory.N: 8, theory.d: 2, theory.T: 4, theory.eta: 1.0, theory.B_x: 1.0, theory.B_y: 1.0, theory.c: 2.0**-10,
    theory.C: 30.0, theory.tau: 24.0, theory.bits: 53,
}  # fmt: skip


def number(expression: sp.Expr, **changes: float) -> float:
    at = {**POINT, **{getattr(theory, name): value for name, value in changes.items()}}
    return float(expression.subs(at).evalf())


@pytest.mark.parametrize("eta", [0.1, 1.0, 1.99])
@pytest.mark.parametrize("T", [1, 5, 40])
def test_the_influence_of_labels_is_within_its_bound(T: int, eta: float) -> None:
    """e_p^T B^j by products of matrices; the norm of the features is 1."""
    rng = np.random.default_rng(T)
    phi = rng.normal(size=(9, 2))
    phi /= np.linalg.norm(phi, axis=1).max()
    G = np.zeros((9, 9))
    G[:, :8] = phi @ phi[:8].T / 8
    B = np.eye(9) - eta * G
    row = np.linalg.matrix_power(B, T)[-1]
    assert row[-1] == pytest.approx(1)
    assert 0 < np.linalg.norm(row[:-1]) <= number(theory.INFLUENCE, T=T, eta=eta)
    assert np.linalg.norm(np.linalg.matrix_power(B, T)[:8, :8], 2) <= 1 + 1e-12


def bound_of(name: str, second: Second, **changes: float) -> float:
    heads = theory.pair(second)
    of_weights = {theory.rho: heads.rounding(theory.c, theory.C), theory.delta: heads.truncation(theory.c, theory.C)}
    return number(GRADIENT_DESCENT.quantity(name).derived().xreplace(of_weights), **changes)


@pytest.mark.parametrize("second", [Second.CONSTANT, Second.OPPOSITE])
@pytest.mark.parametrize("name", ["prediction", "residuals"])
def test_bounds_grow_with_the_loops_and_with_the_step(name: str, second: Second) -> None:
    c = 2.0**-20 if second is Second.CONSTANT else 2.0**-10
    few, many = (bound_of(name, second, T=T, c=c) for T in (2, 16))
    assert 0 < few < many < 1e-3
    assert bound_of(name, second, T=2, eta=0.5, c=c) < few


@pytest.mark.long
def test_the_opposite_head_is_better_at_its_own_c() -> None:
    constant, opposite = (
        min(bound_of("prediction", second, c=2.0**-k) for k in range(9, 28, 3))
        for second in (Second.CONSTANT, Second.OPPOSITE)
    )
    assert opposite < constant / 100


def test_the_closed_form_is_the_sum_over_the_loops() -> None:
    """The bound of the prediction: a start, T times what a loop adds, and the reading."""
    bound = theory.derive_prediction().error
    letters = {
        theory.R: 2.0,
        theory.H: 0.5,
        theory.rho: 1e-12,
        theory.q: 1e-9,
        theory.E: 1e-6,
        theory.F_p: 1e-8,
        theory.S: 2.5,
    }
    one, many = (float(bound.subs({**POINT, **letters, theory.T: T})) for T in (1, 11))
    a_loop = 1e-9 * 1e-6 + 2.5 * (1e-12 * 3 * (1 + math.sqrt(8) / 2) + 4 * 1.5 * 2.0**-53)
    assert many - one == pytest.approx(10 * a_loop, rel=1e-6)
    assert one - float(bound.subs({**POINT, **letters, theory.T: 1, theory.F_p: 0})) == pytest.approx(1e-8)


def test_errors_that_double_the_state_are_not_bounded() -> None:
    (owed,) = [o for o in theory.derive_residuals().derivation.obligations if "loops add" in o.statement]
    assert owed.condition.rhs == 1
    large = {theory.a: 1.0, theory.q: 1.0, theory.rho: 1e-12, theory.H: 0.5}
    assert owed.condition.subs({**POINT, **large}) == sp.false
    assert owed.condition.subs({**POINT, **large, theory.a: 1e-3, theory.q: 1e-3}) == sp.true
