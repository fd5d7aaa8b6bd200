"""Recursions whose offset depends on the step: the closed form is the end of the recursion, in LaTeX and text too."""

from typing import Any

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.calculus import accumulate, add, given, linear_map, recur, repeat
from symbolic.calculus.recursions import LinearRecursion
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.evaluation import decimal
from symbolic.latex.paper_text import theorem_latex
from symbolic.latex.proof_text import proof_latex
from symbolic.statements.result import Kind, Quantifier, Quantity, Result

k = sp.Symbol("k", integer=True, nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
q, r, b = sp.symbols("q r b", positive=True)
g = sp.Symbol("g", real=True)
START = sp.Symbol("s", nonnegative=True)
HALF = sp.Rational(1, 2)

OFFSETS = [
    sp.S.Zero, b, k, (k + 1) ** 2, k**3 + 2 * k, b * k * (k + 1), 2**k, HALF**k, b * r**k, 3 * 2 ** (2 * k + 1),
    r**k + k + 1, (k + 1) ** 2 + b * HALF**k, sp.exp(-k), sp.exp(b * k), (k + 1) * 2**k, 1 / (k + 1), (r + k) ** 2,
]  # fmt: skip
FACTORS = [sp.S.One, sp.Integer(2), HALF, q, 1 + q, 1 - g, sp.S.Zero, sp.exp(-b)]
AT = {q: sp.Rational(2, 3), r: sp.Rational(2, 3), b: HALF, g: sp.Rational(1, 3), START: sp.Rational(1, 7)}


def end_of_run(factor: sp.Expr, offset: sp.Expr, at: dict[sp.Symbol, Any], steps: int) -> sp.Expr:
    error = at[START]
    for step in range(steps):
        error = (factor.xreplace(at) * error + offset.xreplace(at).subs(k, step)).doit()
    return error


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
@pytest.mark.parametrize("factor", FACTORS, ids=str)
def test_the_closed_form_is_the_end_of_the_run(factor: sp.Expr, offset: sp.Expr) -> None:
    closed = LinearRecursion(START, factor, offset, k).closed(n)
    for at in (AT, {**AT, q: sp.S.One, r: sp.S.One, g: sp.S.Zero}, {**AT, g: sp.S.One}):
        for steps in (1, 2, 5, 11):
            exact = end_of_run(factor, offset, at, steps)
            found = decimal(closed, {**at, n: steps})
            assert abs(found - sp.N(exact, 30)) <= 1e-14 * abs(sp.N(exact, 30)), (at, steps)


def test_squares_add_up_to_the_formula_that_everybody_knows() -> None:
    x = given("x", dim=1, size=1)
    added = accumulate(x, "y", factor=1, offset=(k + 1) ** 2, index=k, depth=n, size=1)
    assert added.error == n * (n + 1) * (2 * n + 1) / 6
    assert not accumulate(x, "y", factor=1, offset=2**k, index=k, depth=n, size=1).error.has(sp.Sum)


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
def test_no_product_of_constants_is_left(offset: sp.Expr) -> None:
    for factor in FACTORS:
        assert not LinearRecursion(START, factor, offset, k).closed(n).has(sp.Product)


def statement(value: Approximated, *letters: sp.Symbol) -> Result:
    shown = Quantity("y", "y", "error", "", "", Kind.UPPER, Quantifier.FOR_ALL, value.derivation, value.name)
    meanings = {each: f"the letter {each.name}" for each in letters}
    return Result("own", "own", find_result("icgd.step").citation, "", (), (), (shown,), symbols=meanings)


@pytest.mark.parametrize("index", ["k", "j", "l", "m"])
def test_the_step_of_the_proof_and_its_offset_have_one_index(index: str) -> None:
    step = sp.Symbol(index, integer=True, nonnegative=True)
    x = given("x", dim=1, size=1)
    value = accumulate(x, "y", factor=1 + 1 / (step + 1), offset=(step + 1) ** 2, index=step, depth=n, size=1)
    proof = proof_latex(statement(value))
    assert r"e_{l+1} \le e_{l} \left(1 + \frac{1}{l + 1}\right) + \left(l + 1\right)^{2}$ with" in proof
    recursion = value.derivation.steps[-1].recursion
    assert recursion is not None
    assert recursion.words() == "e_(l+1) <= (1 + 1/(l + 1))*e_l + (l + 1)**2, e_0 = e_x"
    assert recursion.latex().startswith(r"e_{l+1} \le \left(1 + \frac{1}{l + 1}\right) e_l + \left(l + 1\right)^{2}")


def test_the_index_gives_way_to_letters_of_the_statement() -> None:
    l, m = (sp.Symbol(name, integer=True, positive=True) for name in "lm")  # noqa: E741 - a letter of the user's
    x = given("x", dim=1, size=1, error=b)
    value = accumulate(x, "y", factor=1 + 1 / (k + m), offset=l + k, index=k, depth=l, size=1)
    result = statement(value, l, m)
    proof, theorem = proof_latex(result), theorem_latex(result)
    assert r"e_{k+1} \le" in proof
    for text in (proof, theorem):
        for letter in "lm":
            assert f"_{{{letter}=" not in text


@pytest.mark.parametrize("factor", [1 - g, 1 - q, q - HALF], ids=str)
def test_a_factor_of_unclear_sign_is_affine(factor: sp.Expr) -> None:
    x = given("x", dim=1, size=1, error=START)

    def layer(value: Approximated) -> Approximated:
        shift = given("v", dim=1, size=b, error=b)
        return add(linear_map(value, "W", operator_norm=factor, dim=1), shift, name="moved")

    found = [
        repeat(x, "y", layer, n),
        recur(x, "y", factor=factor, offset=b, depth=n, size=1),
        accumulate(x, "y", factor=factor, offset=b, depth=n, size=1),
    ]
    values = [sp.S.Zero, sp.Rational(1, 3), sp.S.One]
    for value in found:
        owed = {each.condition for each in value.derivation.obligations if each.open}
        assert owed == {sp.Ge(factor, 0)}
        assert not value.error.has(sp.Sum, sp.Abs)
        for number in values:
            at = {**AT, g: number, q: number or HALF}
            if factor.xreplace(at) >= 0:
                assert decimal(value.error, {**at, n: 6}) == pytest.approx(float(end_of_run(factor, b, at, 6)))
    sizes = LinearRecursion(sp.S.One, factor, b, k).closed(n)
    assert sp.simplify(found[0].size - sizes) == 0


def test_sizes_that_grow_owe_nothing() -> None:
    x = given("x", dim=1, size=START + 1, error=START)

    def layer(value: Approximated) -> Approximated:
        return add(linear_map(value, "W", operator_norm=1 + q, dim=1), given("v", dim=1, size=b), name="moved")

    assert not repeat(x, "y", layer, n).derivation.conditional


@pytest.mark.parametrize("count", [3, 3.0])
def test_coefficients_of_a_run_may_be_sums_and_products(count: float) -> None:
    j = sp.Symbol("j", integer=True, nonnegative=True)
    factor, offset = sp.Product(1 + j, (j, 1, n)), sp.Sum(j + k, (j, 0, n - 1))
    recursion = LinearRecursion(sp.S.Zero, factor, offset, k)
    assert recursion.run_at([{n: count}, {n: count}], 0.0) == [0.0, 3.0, 24 * 3.0 + 6.0]
