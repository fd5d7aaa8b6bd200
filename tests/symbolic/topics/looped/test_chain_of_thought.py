"""The bound on the next state: gradient descent as the weights become exact, its rate, and the printed counts."""

import pytest
import sympy as sp

from symbolic.topics.looped import chain_of_thought as theory

AT = {
    theory.N: 6, theory.L: 4, theory.step: 2, theory.d: 2, theory.leak: sp.Rational(1, 10),
    theory.low: sp.Rational(1, 4), theory.high: 1, theory.B: 1, theory.eta: 1, theory.tau: 40,
}  # fmt: skip


SMALL = sp.Rational(1, 10**9)


def bound(name: str, T: int, c: sp.Expr = SMALL, C: int = 60) -> float:
    formula = theory.CHAIN_OF_THOUGHT.quantity(name).derived()
    return float(formula.xreplace({**AT, theory.T: T, theory.c: c, theory.C: C}).evalf())


def test_exact_steps_contract_by_one_less_eta_times_the_least_eigenvalue() -> None:
    assert bound("steps", 8) / bound("steps", 7) == pytest.approx(3 / 4)
    assert bound("steps", 7) == pytest.approx((3 / 4) ** 7 * 6**0.5 / (6 / 4) ** 0.5)


def test_loops_of_exact_weights_are_steps() -> None:
    for T in (1, 10, 40):
        assert bound("next", T) == pytest.approx(bound("steps", T), rel=1e-6, abs=1e-12)


def test_truncation_adds_by_its_order_and_with_each_loop() -> None:
    added = {(T, k): bound("next", T, sp.Rational(1, k)) - bound("steps", T) for T in (10, 20) for k in (1000, 2000)}
    assert added[10, 1000] / added[10, 2000] == pytest.approx(4, rel=1e-2)
    assert 1.5 < added[20, 1000] / added[10, 1000] < 4


def test_a_filter_of_low_temperature_is_exact_and_the_inverse_of_sigma_stretches_what_it_leaves() -> None:
    of = theory.CHAIN_OF_THOUGHT.quantity("filter").derived()
    errors = [float(of.xreplace({**AT, theory.leak: leak}).evalf()) for leak in (sp.Rational(1, 10), sp.Integer(1))]
    assert errors[0] == pytest.approx(10 * errors[1])
    assert errors[0] < 1e-30


def test_loops_that_add_more_than_the_state_are_an_open_obligation() -> None:
    owed = theory.derive_next().derivation.steps[-1].obligations[-1]
    known = owed.condition.xreplace({**theory.MADE, **theory.SIZES}).xreplace({**AT, theory.T: 10})
    assert known.xreplace({theory.c: sp.Rational(1, 1000), theory.C: 60}) == sp.true
    assert known.xreplace({theory.c: sp.Integer(3), theory.C: sp.Integer(1)}) == sp.false
