"""LaTeX of one expression: geometric sums as sums, fractions, roots and logarithms as by hand, the value unchanged."""

import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

from symbolic.calculus.geometric import geometric_sum
from symbolic.latex.readable import one_fraction, product
from symbolic.latex.typesetting import latex, with_sums
from symbolic.statements.catalogue import find_result

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


x, y, z = sp.symbols("x y z", positive=True)
L = sp.Symbol("L", integer=True, positive=True)
WRITTEN = [
    (sp.log(x) / sp.log(2), r"\log_{2} x"),
    (sp.log(x * y) / (z * sp.log(2)), r"\frac{\log_{2}\left(x y\right)}{z}"),
    (sp.sqrt(2) * sp.sqrt(x), r"\sqrt{2 x}"),
    (sp.sqrt(2) * x * sp.sqrt(y) / (2 * sp.sqrt(z)), r"\frac{x \sqrt{y}}{\sqrt{2 z}}"),
    (sp.sqrt(3) / 3, r"\frac{1}{\sqrt{3}}"),
    ((L / 2 - sp.Rational(1, 2)) * (x + 1), r"\frac{\left(L - 1\right) \left(x + 1\right)}{2}"),
    (L / 2 - sp.Rational(3, 2), r"\frac{L - 3}{2}"),
    ((x / (2 * z) + y / (2 * z)) / y, r"\frac{x + y}{2 y z}"),
    (sp.Rational(10999, 10000), "1.0999"),
    (sp.Rational(10999, 10**8), "0.00010999"),
    (sp.Rational(10999, 10**9), r"1.0999 \cdot 10^{-5}"),
    (-sp.Rational(10999, 3 * 10**200) * x, r"- \frac{1.0999 \cdot 10^{-196} x}{3}"),
    (sp.Rational(10999, 10**9) ** x, r"\left(1.0999 \cdot 10^{-5}\right)^{x}"),
    (-sp.Rational(10999, 20000) * x, "- 0.54995 x"),
    (sp.Rational(10999, 30000) * x / y, r"\frac{1.0999 x}{3 y}"),
    (sp.Rational(10999, 10000) * (x + sp.Rational(10999, 10000) * y), "1.0999 x + 1.20978001 y"),
    (x / 1000 + y / 1000, r"\frac{x + y}{1000}"),
    (sp.Rational(3, 1024) * x, r"\frac{3 x}{1024}"),
    (sp.Rational(12345678901234, 10**13) * x, r"\frac{6172839450617 x}{5000000000000}"),  # too many digits
    ((x / z + 1) / y, r"\frac{1}{y} \left(\frac{x}{z} + 1\right)"),
    (8 * (2 * x + 2) / y, r"\frac{16 \left(x + 1\right)}{y}"),
    (-(1 - (1 + x) ** L) / x, r"\frac{\left(x + 1\right)^{L} - 1}{x}"),
    (sp.exp(-x * y / z), r"e^{- x y / z}"),
    (sp.exp(-x / (y * z)), r"e^{- x / \left(y z\right)}"),
    (x ** sp.Rational(3, 2), "x^{3/2}"),
    (sp.log(x) * sp.sqrt(sp.log(y)), r"\sqrt{\log y} \log x"),
    (5 / 2**x, r"5 \cdot 2^{- x}"),
    (sp.Symbol("relus_r1") / sp.Symbol("bits"), r"\frac{\mathrm{relus}_{r1}}{\mathrm{bits}}"),
]


@pytest.mark.parametrize(("expression", "written"), WRITTEN, ids=[str(expression) for expression, _ in WRITTEN])
def test_formulas_are_written_as_by_hand(expression: sp.Expr, written: str) -> None:
    assert latex(expression) == written


def test_a_root_of_what_may_be_negative_stays_by_itself() -> None:
    a, b = sp.symbols("a b", real=True)
    assert latex(sp.sqrt(a) * sp.sqrt(b)) == r"\sqrt{a} \sqrt{b}"
    assert latex(sp.sqrt(a) * sp.sqrt(x)) == r"\sqrt{a x}"


def test_powers_of_stars_and_norms_have_no_brackets() -> None:
    notation = {x: r"w^\star", y: r"\|\rho\|_1"}
    assert latex(x**4 * y**2, notation) == r"w^{\star 4} \|\rho\|_1^{2}"


@pytest.mark.parametrize(
    "id", ["icgd.relu_sum", "universal.lasso", "looped.autoregression", "machines.sample_complexity"]
)
def test_what_is_written_has_the_value_of_the_formula(id: str) -> None:
    """Every product and every sum over one denominator in the formulas of a result, at a random point."""
    known = [
        form for q in find_result(id).quantities for form in (q.derived(), q.printed and q.printed.bound, q.closed_form)
    ]
    nodes = {node for form in known if form is not None for node in sp.preorder_traversal(form)}
    checked = 0
    for node in nodes:
        if not (node.is_Mul or node.is_Pow or node.is_Add) or node.has(sp.Sum, AppliedUndef):
            continue
        written = one_fraction(node) if node.is_Add else product(node)
        if written is None:
            continue
        point = {letter: sp.Rational(place + 17, 7) for place, letter in enumerate(sorted(node.free_symbols, key=str))}
        left, right = (sp.N(each.subs(point), 30) for each in (node, written.value))
        assert abs(left - right) <= abs(left) / 10**20, node
        checked += 1
    assert checked > 20
