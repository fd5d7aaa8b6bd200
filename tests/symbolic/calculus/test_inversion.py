"""Closed solutions, directions and poles: right where they answer, silent where they do not know."""

import pytest
import sympy as sp

from symbolic.calculus.inversion import Tamed, limit_at_infinity, monotonicity, poles, solutions

x = sp.Symbol("x", positive=True)
real = sp.Symbol("x", real=True)
a, b, v = sp.symbols("a b v", positive=True)
AT = {a: sp.Rational(3, 2), b: sp.Rational(5, 7)}

SOLVED = [
    a * x + b,
    a / x,
    a / sp.sqrt(x),
    a * sp.exp(-b * x),
    b**x,
    sp.log(a * x),
    sp.tanh(x / a),
    sp.atan(b * x),
    sp.sinh(x),
    sp.asinh(a * x),
    (a + x) ** 3,
    x / (1 + x),
    a * sp.exp(-x) / (1 + a * sp.exp(-x)),
    x**2 + b * x,
    sp.sqrt(x) + b * x,
    sp.exp(-2 * x) + b * sp.exp(-x),
    x ** sp.Rational(1, 3) + x ** sp.Rational(2, 3),
    sp.sqrt(a + b * x),
]


@pytest.mark.parametrize("formula", SOLVED, ids=str)
def test_a_solution_solves_and_the_positive_one_is_found(formula: sp.Expr) -> None:
    truth = sp.Rational(4, 5)
    value = formula.subs(AT).subs(x, truth)
    found = [s.subs(AT).subs(v, value) for s in solutions(formula, x, v) or ()]
    assert any(abs(sp.N(s - truth, 30)) < 1e-25 for s in found)
    kept = [s for s in found if sp.N(s, 30).is_real and sp.N(s, 30) > 0]
    assert all(abs(sp.N(formula.subs(AT).subs(x, s) - value, 30)) < 1e-25 for s in kept)


def test_an_even_power_of_a_real_number_has_two_branches() -> None:
    assert set(solutions((real - 1) ** 2, real, sp.Integer(4)) or ()) == {3, -1}
    assert set(solutions((real - 1) ** 3, real, sp.Integer(8)) or ()) == {3}


@pytest.mark.parametrize("formula", [x + sp.exp(x), x**3 + x, sp.sin(x), sp.gamma(x), x**x], ids=str)
def test_what_has_no_short_solution_is_left(formula: sp.Expr) -> None:
    assert solutions(formula, x, v) is None


@pytest.mark.parametrize(
    ("formula", "direction"),
    [
        (a * x + b, 1),
        (a / x, -1),
        (sp.exp(-a * x), -1),
        (sp.tanh(x), 1),
        (x / (1 + x), 1),
        (a * sp.exp(-x) / (1 + a * sp.exp(-x)), -1),
        (x + 1 / x, None),
        (1 / (x - 1), None),
        (sp.tan(x), None),
        (sp.floor(x), None),
        (sp.log(x - 1), None),
        (sp.sin(x), None),
        ((x - 1) ** 2, None),
    ],
    ids=str,
)
def test_a_direction_is_shown_or_not_known(formula: sp.Expr, direction: int | None) -> None:
    assert monotonicity(formula, x) == direction


@pytest.mark.parametrize(
    ("formula", "where"),
    [
        (1 / (1 + x), ()),
        (1 / (x - 1), (1,)),
        (1 / (x + sp.Symbol("r", real=True)) ** 2, (-sp.Symbol("r", real=True),)),
        (1 / (x**2 + 1), ()),
        (x**2 - 1, ()),
        (sp.sqrt(x), ()),
        (sp.sqrt(x - 1), None),
        (sp.log(x), ()),
        (sp.gamma(x), None),
        (1 / sp.sin(x), None),
    ],
    ids=str,
)
def test_poles_are_found_excluded_or_not_known(formula: sp.Expr, where: tuple[sp.Expr, ...] | None) -> None:
    assert poles(formula, x) == where


def test_numbers_that_are_not_small_are_letters_while_a_formula_is_worked_on() -> None:
    formula = 5 * sp.exp(-sp.Rational(1237, 1000) * x) + sp.Float("0.25") - sp.Rational(1, 3)
    tamed = Tamed.of(formula)
    assert tamed.back(tamed.expression) == formula
    assert {abs(n) for n in tamed.expression.atoms(sp.Number)} <= {1, 5, sp.Rational(1, 3)}
    assert monotonicity(tamed.expression, x) == -1


def test_a_limit_is_known_or_not() -> None:
    assert limit_at_infinity(a + 1 / x, x) == a
    assert limit_at_infinity(sp.sin(x), x) is None
    assert limit_at_infinity(a * x, x) == sp.oo
