"""Constants of Landau symbols: of numbers, of Theta on both sides, in words (more: machines/test_turing.py)."""

import pytest
import sympy as sp

from symbolic.statements.landau import largest_ratio, order_constant
from symbolic.statements.result import Order

a, b = sp.symbols("a b", positive=True, integer=True)


@pytest.mark.parametrize(
    ("order", "count", "inside", "value"),
    [
        (Order.THETA, 4 * a - 6, a, 4),  # from below a <= 4 a - 6 from a = 2 on
        (Order.THETA, a, 3 * a, 3),
        (Order.O, a, 3 * a, sp.Rational(1, 3)),
        (Order.THETA, a, a * b, sp.oo),
        (Order.O, sp.Integer(0), a, 0),
        (Order.O, sp.Integer(5), sp.Integer(2), sp.Rational(5, 2)),
    ],
)
def test_a_constant_of_theta_holds_on_both_sides(order: Order, count: sp.Expr, inside: sp.Expr, value: sp.Expr) -> None:
    assert order_constant(order, count, inside, {a: 2, b: 1}).value == value


def test_numbers_need_no_letter_and_words_name_the_range() -> None:
    assert largest_ratio(sp.Integer(5), sp.Integer(1), {}).words == "the least constant is 5"
    assert largest_ratio(a, a, {a: 2}).words == "the least constant for all a >= 2 is 1"
    assert largest_ratio(a * b, a + b, {a: 1, b: 1}).words == "no constant suffices"


def test_a_missing_constant_is_no_proof_that_there_is_none() -> None:
    """x y <= (x^2 + y^2) / 2, which coefficients alone do not show."""
    constant = largest_ratio(a * b, a**2 + b**2, {a: 0, b: 0})
    assert constant.words == "no constant was found"
    assert not constant.sharp
