"""Bounds of T loops: sizes of exact states against matrices, and letters against what they stand for."""

import math

import numpy as np
import pytest
import sympy as sp

from symbolic.looped import gradient_descent as theory
from symbolic.looped.gradient_descent_statement import GRADIENT_DESCENT, quantities
from symbolic.operations import Second

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


@pytest.mark.parametrize("second", [Second.CONSTANT, Second.OPPOSITE])
def test_bounds_have_parameters_alone_and_grow_with_the_loops(second: Second) -> None:
    parameters = {p.symbol for p in GRADIENT_DESCENT.parameters}
    for quantity in quantities(second)[:2]:
        bound = quantity.derived()
        assert bound.free_symbols <= parameters
        c = 2.0**-20 if second is Second.CONSTANT else 2.0**-10
        few, many = (number(bound, T=T, c=c) for T in (2, 16))
        assert 0 < few < many < 1e-3
        assert number(bound, T=2, eta=0.5, c=c) < few


def test_the_opposite_head_is_better_at_its_own_c() -> None:
    constant, opposite = (
        min(number(quantities(second)[0].derived(), c=2.0**-k) for k in range(9, 28, 3))
        for second in (Second.CONSTANT, Second.OPPOSITE)
    )
    assert opposite < constant / 100


def test_the_closed_form_is_the_sum_over_the_loops() -> None:
    """The bound of the prediction: a start, T times what a loop adds, and the reading."""
    bound = theory.derive_prediction().error
    letters = {theory.R: 2.0, theory.H: 0.5, theory.rho: 1e-12, theory.q: 1e-9, theory.E: 1e-6, theory.F_p: 1e-8}
    one, many = (float(bound.subs({**POINT, **letters, theory.T: T})) for T in (1, 11))
    state = 2.0 * math.sqrt(1.25) + 1e-6
    a_loop = 1e-9 * 1e-6 + state * (1e-12 * 3 * (1 + math.sqrt(8) / 2) + 4 * 1.5 * 2.0**-53)
    assert many - one == pytest.approx(10 * a_loop, rel=1e-6)
    assert one - float(bound.subs({**POINT, **letters, theory.T: 1, theory.F_p: 0})) == pytest.approx(1e-8)


def test_errors_that_double_the_state_are_not_bounded() -> None:
    (owed,) = [o for o in theory.derive_residuals().derivation.obligations if "loops add" in o.statement]
    assert owed.condition.rhs == 1
    large = {theory.a: 1.0, theory.q: 1.0, theory.rho: 1e-12, theory.H: 0.5}
    assert owed.condition.subs({**POINT, **large}) == sp.false
    assert owed.condition.subs({**POINT, **large, theory.a: 1e-3, theory.q: 1e-3}) == sp.true
