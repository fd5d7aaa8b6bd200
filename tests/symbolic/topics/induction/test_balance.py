"""Balance of w_Q and w_K, and the factor 2 in the printed rate of w."""

import sympy as sp

from symbolic.dynamics import gradient_flow, is_conserved
from symbolic.topics.induction import balance
from symbolic.topics.induction.training import HEAD_FLOW, LOSS_HEAD, h, v, w, w_K, w_Q


def test_the_balance_is_found_and_nothing_else() -> None:
    (found,) = balance.found_balance()
    assert sp.expand(found - balance.BALANCE_OF) == 0


def test_any_loss_of_the_product_has_it_and_another_one_not() -> None:
    assert balance.balance_of_any_loss()
    other = sp.Function("loss")(w_Q + w_K, h)
    assert not is_conserved(gradient_flow(other, (w_Q, w_K, h)), balance.BALANCE_OF)


def test_equal_weights_stay_equal() -> None:
    assert balance.diagonal_is_invariant()


def test_the_printed_rate_is_twice_the_true_one() -> None:
    assert balance.rate_ratio() == 2
    # By hand at one point: the chain rule on v = w_Q w_K gives w dL/dv for w_Q.
    at = {v: sp.Rational(1, 9), w: sp.Rational(1, 3)}
    assert sp.simplify(HEAD_FLOW.rate(w).subs(at) + (w * sp.diff(LOSS_HEAD, v)).subs(at)) == 0
