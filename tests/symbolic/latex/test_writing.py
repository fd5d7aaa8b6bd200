"""`bs.latex`: what it writes fits the line, reads back to the same value, and has the letters of the exports."""

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from symbolic.calculus import apply_function, expected_mean, given, iterate, recursion_from, sample_mean, within_budget
from symbolic.derivations.derivation import Norm
from symbolic.derivations.events import Event
from symbolic.latex.groups import _Groups
from symbolic.latex.page import PAGE, Page
from symbolic.latex.widths import width
from symbolic.latex.writing import latex
from symbolic.statements.catalogue import find_result, results
from symbolic.words.errors import UsageError
from tests.symbolic.latex.formula_reader import value_of
from tests.symbolic.latex.test_display_widths import compiled

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
X = sp.symbols("x1:10", positive=True)
x, y = sp.symbols("x y", real=True)
i, j, n = sp.symbols("i j n", integer=True, positive=True)
A, B = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("B", n, n)
v = sp.MatrixSymbol("v", n, 1)
MANY = sp.symbols("y1:40", positive=True)


def random_expression(rng: random.Random, depth: int) -> Any:
    """Of some hundred nodes at depth 4; positive, so that roots and logarithms are real."""
    if depth == 0:
        return rng.choice([*X, *X, sp.Integer(rng.randint(1, 9)), sp.Rational(rng.randint(1, 9), 7)])

    def part() -> Any:
        return random_expression(rng, depth - 1)

    kind = rng.choice(["sum", "sum", "product", "quotient", "root", "log", "exp", "max", "power", "absolute"])
    if kind == "sum":
        return sp.Add(*(part() for _ in range(rng.randint(2, 7))))
    if kind == "product":
        return sp.Mul(*(1 + part() for _ in range(rng.randint(2, 6))))
    return {
        "quotient": lambda: part() / (1 + part()),
        "root": lambda: sp.sqrt(part() + part()),
        "log": lambda: sp.log(2 + part()),
        "exp": lambda: sp.exp(-part() / (1 + part())),
        "max": lambda: sp.Max(part(), part(), evaluate=False),
        "power": lambda: (1 + part()) ** rng.choice([2, 3, sp.Rational(1, 3), -1]),
        "absolute": lambda: sp.Abs(part() - part()) + 1,
    }[kind]()


def random_table() -> list[Any]:
    return [random_expression(random.Random(seed), 2 + seed % 3) for seed in range(100)]


TABLE = random_table()


def test_the_table_has_formulas_of_all_lengths() -> None:
    widths = [width(Page().latex(each)) for each in TABLE]
    assert sum(points > PAGE for points in widths) > 40
    assert sum(points < PAGE / 2 for points in widths) > 20


@pytest.mark.parametrize("seed", range(100))
def test_a_random_formula_fits_each_width_and_reads_back_to_its_value(seed: int) -> None:
    expression = TABLE[seed]
    point = {each: 0.3 + 0.17 * place for place, each in enumerate(X)}
    letters = {f"x_{{{place}}}": value for place, value in enumerate(point.values(), start=1)}
    exact = float(sp.lambdify(X, expression, "math")(*point.values()))
    for room in (None, 150.0):
        shown = latex(expression, width=room)
        assert width(shown) <= (room or PAGE)
        assert value_of(shown, letters) == pytest.approx(exact, rel=1e-9)
    assert value_of(latex(expression, inline=True), letters) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("seed", range(0, 100, 7))
def test_letters_of_groups_stand_for_what_they_replace(seed: int) -> None:
    summand = TABLE[seed] * (1 + i * x) ** 2 + sp.Mul(*(i + each for each in MANY))
    formula = sp.Sum(summand, (i, 1, n))
    groups = _Groups("s", frozenset(formula.free_symbols), Page())
    main = groups(formula)
    assert main != formula
    for name, meaning in reversed(groups.parts):
        main = main.xreplace({name: meaning})
    assert main == formula


def test_a_fraction_in_an_exponent_is_no_argument_of_a_logarithm_without_brackets() -> None:
    third = sp.Rational(1, 3)
    assert latex(sp.exp(-x * sp.log(third, evaluate=False))) == r"e^{- x \log\left(1/3\right)}"
    assert latex(x * sp.log(third, evaluate=False)) == r"x \log \frac{1}{3}"


def test_a_long_relation_keeps_both_sides_and_a_condition_is_broken_at_its_signs() -> None:
    long = sp.Add(*MANY)
    assert latex(sp.Eq(y, long)).startswith("\\begin{aligned}\ny &= y_{1}")
    assert latex(sp.Le(long, y)).startswith("\\begin{aligned}\ny &\\ge y_{1}")
    assert latex(sp.Le(x, y)) == r"x \leq y"
    both = latex(sp.Ne(long, sp.exp(long)))
    assert width(both) <= PAGE
    assert r"\ne" in both
    conditions = latex(sp.And(*(each > x for each in MANY)))
    assert width(conditions) <= PAGE
    assert conditions.count("> x") == len(MANY)


def test_matrices_and_indexed_sums() -> None:
    assert latex(A * v) == "A v"
    assert latex((v.T * A * v) / n) == r"\frac{1}{n} v^{T} A v"
    assert latex(sp.Eq(B, A.T)) == "B = A^{T}"
    a = sp.IndexedBase("a")
    assert latex(sp.Sum(a[i] ** 2, (i, 1, n))) == r"\sum_{i=1}^{n} {a}_{i}^{2}"
    assert latex(sp.Matrix([[1, x], [y, 2]])) == r"\left[\begin{matrix}1 & x\\y & 2\end{matrix}\right]"
    many = latex(sp.MatAdd(*(sp.MatrixSymbol(f"M_{k}", n, n) for k in range(40))))
    assert width(many) <= PAGE
    assert [f"M_{{{k}}}" in many for k in range(40)] == [True] * 40
    sides = sp.Eq(sp.exp(sp.Add(*MANY)) * sp.Mul(*(1 + each for each in MANY)), sp.sqrt(sp.Add(*MANY)))
    assert width(latex(sides)) <= PAGE
    wide = latex(sp.Matrix([[sp.Add(*MANY), sp.exp(sp.Add(*MANY[:20]))]]))
    assert width(wide) <= PAGE


def test_piecewise_and_sums_look_as_in_exports() -> None:
    cases = sp.Piecewise((x, x > 0), (0, True))
    assert latex(cases) == r"\begin{cases} x & \text{for}\: x > 0 \\0 & \text{otherwise} \end{cases}"
    q = sp.Symbol("q", positive=True)
    geometric = sp.Piecewise((n, sp.Eq(q, 1)), ((1 - q**n) / (1 - q), True))
    assert latex(geometric) == r"\sum_{i=0}^{n - 1} q^{i}"
    assert latex(x * sp.Sum(i * x, (i, 1, n))) == Page().latex(x * sp.Sum(i * x, (i, 1, n)))


def test_a_derivative_is_never_taken_of_a_letter_for_a_part() -> None:
    f = sp.Function("f")
    long = sp.Derivative(f(x) * sp.exp(sp.Add(*MANY[:14]) * x), x) + sp.Add(*MANY)
    shown = latex(long)
    assert width(shown) <= PAGE
    assert r"\frac{\partial}{\partial x} f{\left(x \right)}" in shown


def test_numbers() -> None:
    assert [latex(each) for each in (1, 0.5, sp.pi, sp.Rational(1, 2))] == ["1", "0.5", r"\pi", r"\frac{1}{2}"]


@pytest.mark.parametrize("name", sorted(results()))
def test_the_formulas_of_every_result_fit_with_its_letters(name: str) -> None:
    result = find_result(name)
    notation = {symbol: written for symbol, written in result.notation.items() if isinstance(symbol, sp.Symbol)}
    formulas = [form for q in result.quantities for form in (q.derived(), q.closed_form, q.printed and q.printed.shown)]
    for formula in (each for each in formulas if isinstance(each, sp.Basic)):
        shown = latex(formula, names=notation)
        assert width(shown) <= PAGE
        if "\n" not in shown:
            assert shown == Page(result.notation).latex(formula)


def test_the_bounds_of_a_result_stand_in_its_export_as_they_are_written_here() -> None:
    result = find_result("induction.vanilla")
    exported = result.latex()
    short = [latex(q.derived(), names=result.notation) for q in result.quantities if q.derived() is not None]
    beside_a_left_side = [shown for shown in short if width(shown) < 200]
    assert len(beside_a_left_side) > 2
    assert all(shown in exported for shown in beside_a_left_side)


@needs_tex
def test_tex_finds_no_overfull_line(tmp_path: Path) -> None:
    said = compiled(tmp_path, *(rf"\[ {latex(each)} \]" for each in TABLE))
    assert "\n!" not in said
    assert max(map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) detected", said)), default=0) <= 2


# approximated values


def layered() -> tuple[Any, Any]:
    e, R, eps = sp.Dummy("e", nonnegative=True), sp.Symbol("R", positive=True), sp.Symbol("eps", positive=True)
    start = given("x", dim=8, size=1)
    before = given("before", dim=8, size=1, error=e)
    layer = apply_function(before, "layer", eps=eps, lipschitz=1, size=1, radius=R)
    return iterate(start, "deep", recursion_from(before, layer), n, size=1), eps


def test_an_approximated_value_shows_its_bound_and_its_open_conditions() -> None:
    deep, eps = layered()
    shown = latex(deep, names={eps: r"\varepsilon"})
    assert shown.splitlines()[1:-1] == [
        r"e_{\text{deep}} \le \varepsilon n \\",
        r"\text{if } \varepsilon \left(n - 1\right) + 1 \leq R",
    ]
    assert latex(deep, inline=True).startswith(r"e_{\text{deep}} \le \mathrm{eps} n\quad \text{if }")
    assert "\n" not in latex(deep, inline=True)


def test_probability_and_expectation_are_shown_with_the_bound() -> None:
    B, delta = sp.symbols("B delta", positive=True)
    draw = given("draw", dim=1, size=B)
    likely = sample_mean(draw, "one mean", count=n, event=Event("mean", over="signs"))
    likely = within_budget(likely, "mean", delta=delta)
    shown = latex(likely)
    assert r"\text{over signs: with probability at least } 1 - \delta" in shown
    assert shown.startswith("\\begin{gathered}\ne_{\\text{mean}} \\le")
    vector = given("draw", dim=2, size=B, norm=Norm.TWO)
    mean = latex(expected_mean(vector, "mean", count=n, over="the draws", deviation=1))
    assert r"\text{in expectation over the draws}" in mean


def test_a_long_bound_is_shown_by_the_errors_of_its_steps() -> None:
    value = given("p", dim=8, size=1, error=sp.Symbol("e_p", nonnegative=True))
    for place in range(1, 9):
        letters = sp.symbols(f"L_{place} eps_{place} R_{place}", positive=True)
        value = apply_function(value, f"p_{place}", lipschitz=letters[0], eps=letters[1], size=1, radius=letters[2])
    shown = latex(value)
    assert width(shown) <= PAGE
    assert "e_{p_{8}} \\le " in shown
    assert width(latex(value, width=250)) <= 250


# refusals


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("x + 1", {}, "latex: formula = 'x \\+ 1'; give a SymPy expression, relation or matrix, a number or an"),
        (None, {}, "latex: formula = None; give a SymPy expression"),
        (True, {}, "latex: formula = True; give a SymPy expression"),
        (sp.Function("f"), {}, "latex: formula = f; give a SymPy expression"),
        (sp.Symbol("a%b"), {}, r"latex: the letter named 'a%b'; LaTeX cannot write that name, give names=\{letter:"),
        (sp.Symbol("x_"), {}, "latex: the letter named 'x_'; LaTeX cannot write"),
        (sp.Symbol("\u03bb"), {}, "latex: the letter named '\u03bb'; LaTeX cannot write"),
        (sp.MatrixSymbol("A#", 2, 2), {}, "latex: the letter named 'A#'; LaTeX cannot write"),
        (sp.Function("a&b")(x), {}, "latex: the function named 'a&b'; LaTeX cannot write that name, take another one"),
        (sp.Symbol("z") - sp.Symbol("z", positive=True), {}, "two letters, with different assumptions, are both"),
        (sp.Symbol("x_1") - sp.Symbol("x1"), {}, r"two letters, named x1 and x_1, are both written x_\{1\}; give"),
        (x - y, {"names": {x: "y"}}, "two letters, named x and y, are both written y"),
        (x, {"names": [x]}, r"latex: names = \[x\]; give a mapping from symbols to LaTeX"),
        (x, {"names": {"x": "y"}}, "latex: names\\['x'\\] is for no symbol; give a mapping from symbols to LaTeX"),
        (x, {"names": {x: "{y"}}, r"latex: names\[x\] = '\{y'; give LaTeX, such as r'\\varepsilon'"),
        (x, {"names": {x: 3}}, r"latex: names\[x\] = 3; give LaTeX"),
        (x, {"width": 0}, "latex: width = 0; give points, a positive number"),
        (x, {"width": "wide"}, "latex: width = 'wide'; give points"),
        (x, {"width": 100, "inline": True}, "latex: width = 100 with inline; a formula in a sentence is one line"),
        (sp.Add(*MANY), {"width": 15}, "latex: width = 15 points; broken into lines the formula takes 34; give"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(formula: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        latex(formula, **options)


def test_a_name_makes_such_letters_writable() -> None:
    strange, one, other = sp.Symbol("a%b"), sp.Symbol("z"), sp.Symbol("z", positive=True)
    assert latex(strange, names={strange: r"\mu"}) == r"\mu"
    assert latex(one - other, names={other: "z'"}) == "z - z'"
    with pytest.raises(UsageError, match="the formula takes") as caught:  # the least width is enough
        latex(sp.Add(*MANY), width=15)
    least = int(re.findall(r"takes (\d+)", str(caught.value))[0])
    assert width(latex(sp.Add(*MANY), width=least)) <= least
