"""Inequalities on boxes are plain data that is consistent: every statement that makes no sense is refused."""

import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.inequalities import Inequality, written_out

x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
q = sp.Symbol("q", nonpositive=True)
k = sp.Symbol("k", integer=True)
z = sp.Symbol("z")  # may be complex, for all that is known
i = sp.Symbol("i", imaginary=True)
HALF = sp.Rational(1, 2)


def on(box: dict, expression: sp.Basic, **more: object) -> Inequality:
    return Inequality("claim", expression, box, **more)


def test_ends_are_exact_rationals() -> None:
    made = on({x: (0, 0.5), y: ("1/3", 2)}, x + y)
    assert made.box == {x: (0, HALF), y: (sp.Rational(1, 3), 2)}
    assert all(isinstance(end, sp.Rational) for ends in made.box.values() for end in ends)


def test_an_end_of_text_is_a_fraction_and_is_not_run() -> None:
    with pytest.raises(DerivationError, match="the range of x is not bounded"):
        on({x: (0, "abs(1)")}, x)


def test_what_is_said_by_default() -> None:
    made = on({x: (0, 1)}, x)
    assert (made.where, made.strict, made.vanishing, made.form, made.meaning) == ((), False, (), None, "")


@pytest.mark.parametrize("relation", [sp.Ge(x, 0), sp.true])
def test_a_relation_is_no_expression(relation: sp.Basic) -> None:
    with pytest.raises(DerivationError, match=r"inequality 'claim': got .*; give the expression that is to be >= 0"):
        on({x: (0, 1)}, relation)
    with pytest.raises(DerivationError, match=r"inequality 'claim': got .*; give the expression that is to be >= 0"):
        on({x: (0, 1)}, x, where=(x + 1, relation))


@pytest.mark.parametrize("ends", [(0, sp.oo), (-sp.oo, 0), (-sp.oo, sp.oo), (0, sp.nan)])
def test_a_range_is_bounded_at_both_ends(ends: tuple) -> None:
    with pytest.raises(DerivationError, match="the range of x is not bounded; replace it by a bounded coordinate"):
        on({x: ends, y: (0, 1)}, x + y)


def test_every_symbol_has_a_range() -> None:
    with pytest.raises(DerivationError, match=r"no range is given for x, z$"):
        on({y: (0, 1)}, x + y + z)
    with pytest.raises(DerivationError, match=r"no range is given for x$"):
        on({y: (0, 1)}, y, where=(x - y,))
    assert on({x: (0, 1), y: (0, 1)}, y, where=(y,)).where == (y,)  # a range that nothing needs does no harm


@pytest.mark.parametrize(
    ("symbol", "ends"),
    [(p, (-1, 1)), (p, (-HALF, 0)), (q, (-1, 1)), (q, (0, HALF)), (k, (0, 1)), (i, (0, 0))],
    ids=str,
)
def test_a_range_that_the_assumptions_rule_out_is_refused(symbol: sp.Symbol, ends: tuple) -> None:
    with pytest.raises(DerivationError, match=f"the range of {symbol} contains numbers that its assumptions exclude"):
        on({symbol: ends, y: (0, 1)}, symbol + y)


@pytest.mark.parametrize(
    ("symbol", "ends"),
    [(p, (0, 1)), (p, (0, 0)), (q, (-1, 0)), (q, (0, 0)), (k, (2, 2)), (z, (-1, 1)), (x, (-1, 1)), (x, (1, 1))],
    ids=str,
)
def test_a_range_that_the_assumptions_allow_is_taken(symbol: sp.Symbol, ends: tuple) -> None:
    assert on({symbol: ends}, symbol).box == {symbol: ends}


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(DerivationError, match="the range of x is empty"):
        on({x: (1, HALF), y: (0, 1)}, x + y)


FORM = ((x, y), ((sp.Integer(2), HALF), (HALF, p)))


def test_a_quadratic_form_is_written_out_entry_by_entry() -> None:
    assert sp.expand(written_out(FORM) - (2 * x**2 + x * y + p * y**2)) == 0
    assert written_out(((x,), ((sp.Integer(3),),))) == 3 * x**2
    for rows in (((sp.Integer(3), HALF),), ((sp.Integer(3),), (HALF,))):
        with pytest.raises(ValueError, match="zip"):
            written_out(((x,), rows))


def test_a_form_is_symmetric_and_is_the_expression() -> None:
    box = {x: (-1, 1), y: (-1, 1), p: (0, 1)}
    square = 2 * x**2 + x * y + p * y**2
    assert on(box, square, form=FORM).form == FORM
    with pytest.raises(DerivationError, match="the matrix of the quadratic form is not symmetric"):
        on(box, square, form=((x, y), ((sp.Integer(2), sp.Integer(1)), (sp.Integer(0), p))))
    for other in (square + x * y, square / 2, -square):
        with pytest.raises(DerivationError, match="the expression differs from the given quadratic form"):
            on(box, other, form=FORM)
    with pytest.raises(DerivationError, match="the matrix of the quadratic form needs 1 rows and columns"):
        on(box, 2 * x**2, form=((x,), FORM[1]))  # a matrix for more coordinates than there are
    quotient = (x**2 - y**2) / (1 + p)  # equal once the fraction is written out
    by = 1 / (1 + p)
    assert on(box, quotient, form=((x, y), ((by, sp.Integer(0)), (sp.Integer(0), -by)))).form is not None


@pytest.mark.parametrize("wrong", [sp.nan, sp.I * sp.Symbol("y"), sp.oo + sp.Symbol("y"), sp.zoo])
def test_an_inequality_is_between_finite_real_numbers(wrong: sp.Expr) -> None:
    with pytest.raises(DerivationError, match="is not a finite real expression"):
        Inequality("odd", wrong, {sp.Symbol("y"): (0, 1)})


def test_a_whole_number_is_not_one_half() -> None:
    k = sp.Symbol("k", integer=True)
    with pytest.raises(DerivationError, match="the range of k contains numbers that its assumptions exclude"):
        Inequality("half", k, {k: (sp.Rational(1, 2), sp.Rational(1, 2))})


def test_the_matrix_of_a_form_has_the_size_of_its_vector() -> None:
    z = sp.Symbol("z")
    with pytest.raises(DerivationError, match="the matrix of the quadratic form needs 1 rows and columns"):
        Inequality("form", z**2, {z: (0, 1)}, form=((z,), ((sp.Integer(1), sp.Integer(0)),)))
