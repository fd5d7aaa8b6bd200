"""Formulas of a backward pass: what is simplified, and how each kind is written, with the brackets that it needs."""

import pytest
import sympy as sp

from symbolic.gradients.letters import LayerIndex, Letter, TermWriter
from symbolic.gradients.row_terms import AsColumn, Coordinates, EachRow, Joined, RootMeanSquare, RowFunction
from symbolic.gradients.terms import (
    ClassVector,
    Divided,
    DotProduct,
    EntryProduct,
    FunctionOf,
    LayerSum,
    Lettered,
    LinearCombination,
    MatrixTimes,
    NumberTimes,
    OnesVector,
    OuterProduct,
    RowsTimes,
    Term,
    Transposed,
    UnitVector,
    Unity,
    combination,
    entrywise,
    outer,
    times,
    transposed,
)

N, d, h, eps, t = (*sp.symbols("N d h", integer=True, positive=True), *sp.symbols("eps t"))
l = sp.Symbol("l", integer=True)  # noqa: E741 - the number of a layer
A, B = Lettered("matrix", "A", 2), Lettered("matrix", "B", 2)
x, y, s = (Lettered("value", name, 1) for name in "xys")
X, Y = Lettered("value", "X", 2), Lettered("value", "Y", 2)
r, bar = Lettered("divisor", "r", 1), Lettered("cotangent", "x", 1)
LETTERS = {each: Letter(str(each.of)) for each in (A, B, x, y, s, X, Y, r)}
LETTERS |= {bar: Letter("x", "bar", (l - 1,))}
write, tex = (TermWriter(LETTERS, {"loop": LayerIndex(l, N)}, plain) for plain in (True, False))
total = combination([(sp.S.One, x), (-sp.S.One, y)])
two = sp.Integer(2)

FORMS: dict[str, tuple[Term, str, str]] = {
    "a cotangent": (bar, "x_bar_(l-1)", r"\bar{x}_{l - 1}"),
    "a sum": (total, "x - y", "x - y"),
    "a multiple": (combination([(1 / d, x)]), "(1/d) x", r"\frac{1}{d} x"),
    "a multiple of a sum": (combination([(two, outer(total, y))]), "2 (x - y) y^T", r"2 \left(x - y\right) y^{\top}"),
    "a factor that is a sum": (combination([(1 - eps, x)]), "(1 - eps) x", r"\left(1 - \varepsilon\right) x"),
    "a negative one": (entrywise(combination([(-two, x)]), y), "-2 x * y", r"-2 x \odot y"),
    "a product with a sum": (times(A, total), "A (x - y)", r"A \left(x - y\right)"),
    "a product of an entry product": (times(A, entrywise(x, y)), "A (x * y)", r"A \left(x \odot y\right)"),
    "an entry product of a product": (entrywise(times(A, x), y), "(A x) * y", r"\left(A x\right) \odot y"),
    "a transposed product": (Transposed(times(A, B)), "(A B)^T", r"\left(A B\right)^{\top}"),
    "an outer product": (outer(x, times(A, y)), "x (A y)^T", r"x \left(A y\right)^{\top}"),
    "a dot product": (DotProduct(total, x), "(x - y)^T x", r"\left(x - y\right)^{\top} x"),
    "a number times": (NumberTimes(DotProduct(x, y), y), "(x^T y) y", r"\left(x^{\top} y\right) y"),
    "a quotient": (Divided(total, r), "(x - y)/r", r"\frac{x - y}{r}"),
    "a quotient of rows": (Divided(X, r), "diag(r)^(-1) X", r"\operatorname{diag}\left(r\right)^{-1} X"),
    "scaled rows": (RowsTimes(r, X), "diag(r) X", r"\operatorname{diag}\left(r\right) X"),
    "ones": (outer(times(X, OnesVector(X)), OnesVector(X)), "X 1 1^T", r"X \mathbf{1} \mathbf{1}^{\top}"),
    "a class": (ClassVector(x, index=2), "e_3", r"e_{3}"),
    "a vector as a column": (AsColumn(x), "x", "x"),
    "a vector as each row": (EachRow(x), "1 x^T", r"\mathbf{1} x^{\top}"),
    "a unit vector": (outer(UnitVector(X, loop="loop"), x), "e_l x^T", r"e_{l} x^{\top}"),
    "a function": (FunctionOf("f", sp.sin(t), t, total), "f(x - y)", r"f\left(x - y\right)"),
    "a derivative": (FunctionOf("tanh", t, t, x, slope=True), "tanh'(x)", r"\tanh'\left(x\right)"),
    "an approximate one": (FunctionOf("f_hat", t, t, x), "f_hat(x)", r"\widehat{f}\left(x\right)"),
    "a named one": (FunctionOf("gelu", t, t, x), "gelu(x)", r"\operatorname{gelu}\left(x\right)"),
    "softmax": (RowFunction("softmax", x), "softmax(x)", r"\operatorname{softmax}\left(x\right)"),
    "softmax over some": (
        RowFunction("softmax", x, N),
        "softmax_N(x)",
        r"\operatorname{softmax}_{N}\left(x\right)",
    ),
    "a root mean square": (
        RootMeanSquare(x, d, eps),
        "sqrt(||x||_2^2/d + eps)",
        r"\sqrt{\frac{1}{d} \|x\|_2^2 + \varepsilon}",
    ),
    "those of rows": (
        RootMeanSquare(X, d, sp.S.Zero),
        "sqrt((X * X) 1/d)",
        r"\sqrt{\frac{1}{d} \left(X \odot X\right) \mathbf{1}}",
    ),
    "vectors joined": (Joined((x, y)), "(x, y)", r"\begin{pmatrix} x \\ y \end{pmatrix}"),
    "tokens joined": (Joined((X, Y)), "(X, Y)", r"\begin{pmatrix} X & Y \end{pmatrix}"),
    "coordinates": (Coordinates(x, (), (y, d)), "x[1:d]", r"\left(x\right)_{1:d}"),
    "later coordinates": (
        Coordinates(X, ((x, d),), (y, h)),
        "X[:, (d+1):(d+h)]",
        r"\left(X\right)_{:, (d+1):(d+h)}",
    ),
    "a sum over layers": (LayerSum(total, "loop"), "sum_(l=1)^N (x - y)", r"\sum_{l=1}^{N} \left(x - y\right)"),
    "a multiple of it": (combination([(two, LayerSum(x, "loop"))]), "2 sum_(l=1)^N x", r"2 \sum_{l=1}^{N} x"),
    "a product of it": (
        outer(LayerSum(x, "loop"), y),
        "(sum_(l=1)^N x) y^T",
        r"\left(\sum_{l=1}^{N} x\right) y^{\top}",
    ),
    "unity": (combination([(two / 3, Unity())]), "2/3", r"\frac{2}{3}"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_formula_is_written_with_the_brackets_that_it_needs(form: str) -> None:
    term, plain, latex = FORMS[form]
    assert write(term) == plain
    assert tex(term) == latex


def test_every_kind_of_formula_is_written() -> None:
    kinds = {kind for term, _, _ in FORMS.values() for kind in _kinds(term)}
    abstract = {"Term", "LinearInFirst", "ProductOfTwo", "VectorLike"}
    assert {kind.__name__ for kind in kinds} == {each.__name__ for each in _below(Term)} - abstract


def _kinds(term: Term) -> set[type]:
    return {type(term)}.union(*(_kinds(part) for part in term.parts))


def _below(kind: type) -> set[type]:
    return {kind}.union(*(_below(each) for each in kind.__subclasses__()))


EQUAL: dict[str, tuple[Term, Term]] = {
    "equal terms add up": (combination([(two, x), (sp.S.One, x)]), LinearCombination(((sp.Integer(3), x),))),
    "opposite ones vanish": (combination([(two, x), (-two, x), (sp.S.One, y)]), y),
    "nothing is left": (combination([(two, x), (-two, x)]), LinearCombination(((sp.S.Zero, x),))),
    "numbers stand in front": (times(A, combination([(two, x)])), LinearCombination(((two, MatrixTimes(A, x)),))),
    "of both factors": (
        entrywise(combination([(two, x)]), combination([(eps, y)])),
        LinearCombination(((2 * eps, EntryProduct(x, y)),)),
    ),
    "transposed twice": (transposed(transposed(A)), A),
    "an outer product transposed": (transposed(outer(x, y)), OuterProduct(y, x)),
    "a product transposed": (transposed(times(A, transposed(B))), MatrixTimes(B, Transposed(A))),
    "a multiple transposed": (transposed(combination([(two, A)])), LinearCombination(((two, Transposed(A)),))),
    "times one": (entrywise(Unity(), x), x),
    "one times": (NumberTimes.simplest(combination([(two, Unity())]), x), LinearCombination(((two, x),))),
    "sums within sums": (combination([(two, total), (sp.S.One, y)]), LinearCombination(((two, x), (-sp.S.One, y)))),
    "put in": (times(A, bar).replaced({bar: combination([(two, y)])}.get), combination([(two, times(A, y))])),
    "and in what is put in": (times(A, bar).replaced({bar: times(B, s), s: x}.get), times(A, times(B, x))),
}


@pytest.mark.parametrize("case", EQUAL)
def test_formulas_are_simplified_when_they_are_made(case: str) -> None:
    found, expected = EQUAL[case]
    assert found == expected
