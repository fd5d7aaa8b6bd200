"""LaTeX of one expression: geometric sums as sums, positive terms first, and nothing else changed."""

import pytest
import sympy as sp

from symbolic.calculus.recursions import geometric_sum
from symbolic.typesetting import latex, with_sums

q, i = sp.symbols("q i", nonnegative=True)
n = sp.Symbol("n", integer=True, nonnegative=True)


@pytest.mark.parametrize("ratio", [q, 2 * q, q * sp.sqrt(i), q + i])
def test_a_geometric_sum_is_shown_as_the_sum_that_it_is(ratio: sp.Expr) -> None:
    closed = geometric_sum(ratio, n + 1)
    shown = with_sums(3 * closed + 1)
    assert not shown.has(sp.Piecewise)
    (total,) = shown.atoms(sp.Sum)
    assert total.variables[0] not in (3 * closed).free_symbols
    for value, count in ((1, 4), (sp.Rational(2, 3), 5), (2, 0)):
        at = {q: value, i: 1, n: count}
        assert shown.subs(at).doit() == (3 * closed + 1).subs(at).doit()


@pytest.mark.parametrize(
    "cases",
    [
        sp.Piecewise((n + 1, sp.Eq(q, 1)), ((1 - q**n) / (1 - q), True)),
        sp.Piecewise((n, sp.Eq(q, 2)), ((1 - q**n) / (1 - q), True)),
        sp.Piecewise((n, sp.Eq(q, 1)), ((1 - q**n) / (1 + q), True)),
        sp.Piecewise((n, sp.Eq(q, 1)), (2, sp.Eq(q, 0)), ((1 - q**n) / (1 - q), True)),
        sp.Piecewise((n, q > 1), ((1 - q**n) / (1 - q), True)),
    ],
)
def test_nothing_else_is_a_geometric_sum(cases: sp.Expr) -> None:
    assert with_sums(cases) == cases


def test_a_positive_term_comes_first() -> None:
    assert latex(1 - q) == "1 - q"
    assert latex(2 / (1 - q)) == r"\frac{2}{1 - q}"
    assert latex(-q - 1) == "- q - 1"
    assert latex(i * (1 - q)) == r"i \left(1 - q\right)"
