"""Lemma 3 in letters: the printed step in the derived one, the bounds of the paper's order."""

import sympy as sp

from symbolic.topics.universal import proximal as theory


def test_the_repaired_decrease_is_the_printed_one_and_a_square() -> None:
    assert sp.simplify(theory.repaired_decrease() - theory.n * (theory.old - theory.new) - theory.moved) == 0
    assert sp.simplify(theory.repaired_descent() + (theory.n - 1) * theory.moved) == 0


def test_without_errors_the_gap_falls_like_the_features_over_the_layers() -> None:
    exact = {theory.eps: 0, theory.eps_threshold: 0, theory.eta: 1 / (2 * (theory.n + 1))}
    gap = theory.PROXIMAL.quantity("gap").derived().subs(exact).doit()
    assert sp.simplify(gap - 2 * (theory.n + 1) * theory.C**2 / (theory.L - 1)) == 0
    norm = theory.PROXIMAL.quantity("iterates").derived().subs(exact).doit()
    assert sp.simplify(norm - theory.B_y**2 / theory.lam) == 0


def test_a_step_errs_by_its_gradient_and_its_threshold() -> None:
    update = theory.derive_update().error
    assert sp.simplify(update - theory.e - (theory.n + 1) * theory.e_threshold) == 0


def test_no_premise_is_left_open() -> None:
    for name in ("gap", "iterates"):
        assert not theory.PROXIMAL.quantity(name).derivation.conditional
