"""Decays of candidates along flows, and quadratic candidates from a linear part."""

import numpy as np
import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics import Flow
from symbolic.dynamics.lyapunov import Decay, lyapunov_matrix, metric_matrix, modal_matrix, quadratic

x, y = sp.symbols("x y", real=True)
t, start = sp.symbols("t G_0", positive=True)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_integrated_decay_solves_the_equation_of_comparison(power):
    decay = Decay(Flow((x,), (-x,)), x**2 / 2, scale=sp.Integer(3), power=power)
    G = decay.integrated(sp.Rational(1, 5), start, t)
    assert sp.simplify(sp.diff(G, t) + sp.Rational(3, 5) * G**power) == 0
    assert sp.simplify(G.subs(t, 0) - start) == 0


def test_the_gap_vanishes_at_the_largest_constant():
    decay = Decay(Flow((x, y), (-2 * x, -3 * y)), (x**2 + y**2) / 2)
    assert sp.simplify(decay.gap(decay.largest_constant)) == 0
    assert sp.simplify(decay.largest_constant.subs(y, 0)) == 4


def test_a_scale_that_moves_with_the_state_is_refused():
    with pytest.raises(DerivationError, match="depends on the state"):
        Decay(Flow((x,), (-x,)), x**2, scale=x**2)


def test_the_lyapunov_equation_is_solved_in_closed_form():
    a, b = sp.symbols("a b", positive=True)
    A = sp.Matrix([[-a, 1], [0, -b]])
    P = lyapunov_matrix(A, sp.eye(2))
    assert sp.simplify(A.T * P + P * A + sp.eye(2)) == sp.zeros(2, 2)
    with pytest.raises(DerivationError, match="no unique solution"):
        lyapunov_matrix(sp.Matrix([[1, 0], [0, -1]]), sp.eye(2))


@pytest.mark.parametrize("matrix_of", [lambda A: modal_matrix(A)[0], metric_matrix], ids=["modal", "metric"])
def test_candidates_decay_at_the_slowest_rate_and_no_slower(matrix_of):
    A = sp.Matrix([[-1, -sp.Rational(1, 2)], [-sp.Rational(1, 3), -2]])
    P = np.array(matrix_of(A), dtype=float)
    numbers = np.array(A, dtype=float)
    slowest = 2 * min(-np.linalg.eigvals(numbers).real)
    assert float(modal_matrix(A)[1]) == pytest.approx(slowest)
    decrease = -(numbers.T @ P + P @ numbers)
    rates = np.linalg.eigvals(np.linalg.solve(P, decrease)).real
    assert min(rates) == pytest.approx(slowest)
    plain = np.linalg.eigvalsh(-(numbers + numbers.T))
    assert min(plain) < slowest  # the plain square decays more slowly, here


def test_a_quadratic_is_half_of_its_form():
    assert quadratic(sp.Matrix([[2, 1], [1, 4]]), sp.Matrix([x, y])) == x**2 + x * y + 2 * y**2


def test_flows_that_no_metric_makes_self_adjoint_are_refused():
    with pytest.raises(DerivationError, match="A_12 A_21 > 0"):
        metric_matrix(sp.Matrix([[-1, 1], [-1, -1]]))
