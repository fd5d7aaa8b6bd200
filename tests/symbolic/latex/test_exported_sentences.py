"""Sentences of exported theorems of icgd and universal hold as they stand: ranges are stated, letters are defined."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sympy as sp

from symbolic import results
from symbolic.latex.introductions import introduction, names_in
from symbolic.latex.paper_text import Conclusion, conclusions, theorem_latex
from symbolic.latex.typesetting import latex
from symbolic.statements.catalogue import find_result
from symbolic.statements.result import Formula, Kind, Quantifier, Quantity, Result
from symbolic.topics.icgd import gradient, symbols
from symbolic.topics.universal import transformer_derivation as transformer
from symbolic.words.ascii_math import ascii_math

ALL = list(results().values())
OF_TOPICS = [each for each in ALL if each.id.startswith(("icgd.", "universal."))]
IDS = {"ids": lambda result: result.id}
STEPS = ("icgd.forward", "icgd.step", "icgd.dimensions")


def shown(result: Result) -> list[Conclusion]:
    """What the theorem states: no printed bound that an erratum refutes."""
    return [each for each in conclusions(result) if each.source is None or each.quantity.erratum is None]


def opening(result: Result) -> str:
    """Letters with their meanings, and hypotheses, in LaTeX."""
    stated = shown(result)
    formulas = [formula for each in stated for formula in each.formulas]
    return "\n".join(introduction(result, [each.quantity for each in stated], formulas).lines())


def allowed(quantity: Quantity, **at: int) -> bool:
    """Whether the range of its indices holds these values."""
    values = {letter: at[letter.name] for each in quantity.indices for letter in each.free_symbols}
    return all(each.subs(values) == sp.true for each in quantity.indices)


# Signs, brackets and how a maximum is set do not count.
def bare(formula: str) -> str:
    return re.sub(r"\\left|\\right|[\s{}]", "", formula)


@pytest.mark.parametrize("result", ALL, **IDS)
def test_no_conclusion_bounds_a_number_by_itself(result: Result) -> None:
    same = [
        each.quantity.name
        for each in conclusions(result)
        if any(bare(each.quantity.latex_symbol) == bare(latex(form, result.notation)) for form in each.formulas)
    ]
    assert same == []


# The words that a mathematician reads: what is measured, how, where, and what is assumed.
def words_of(result: Result) -> Iterator[str]:
    for each in shown(result):
        quantity = each.quantity
        yield from (quantity.meaning, quantity.norm, quantity.domain, *quantity.over)
    yield from result.assumptions


@pytest.mark.parametrize("result", OF_TOPICS, **IDS)
def test_every_letter_with_an_index_in_words_is_introduced(result: Result) -> None:
    known = opening(result)
    named = {name for words in words_of(result) for name in names_in(words) if re.fullmatch(r"[A-Za-z]+_\w+", name)}
    assert {name for name in named if bare(ascii_math(name)) not in bare(known)} == set()


# A constant shift of an activation that is constant is a sum of ReLUs for it with L_r = 0: all coordinates are off.
@pytest.mark.parametrize("id", STEPS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_error_of_a_layer_is_stated_where_it_holds(id: str, depth: int) -> None:
    result = find_result(id)
    quantity, eps, outputs = result.quantity("p[j]"), sp.Rational(1, 100), 4
    sizes = {symbols.K: 1, symbols.N: depth, symbols.eps_r: eps, symbols.L_r: 0, symbols.B_v: 1}
    layers = [layer for layer in range(1, depth + 1) if allowed(quantity, j=layer, N=depth)]
    assert layers == list(range(1, depth))
    for layer in layers:
        width = outputs if layer == depth else 1
        assert quantity.derived().subs({symbols.j: layer, **sizes}).doit() >= sp.sqrt(width) * eps
    assert sp.sqrt(outputs) * eps > quantity.derived().subs({symbols.j: depth, **sizes}).doit()
    assert quantity.about.endswith("for j <= N - 1")


# Each family beside a quantity of layer N has a range that ends before it.
@pytest.mark.parametrize("id", [each.id for each in OF_TOPICS if each.id.startswith("icgd.")])
def test_a_family_of_layers_ends_before_the_last_one(id: str) -> None:
    result = find_result(id)
    families = [each for each in result.quantities if "[j]" in each.name]
    assert [each.name for each in families if allowed(each, j=3, N=3) or not allowed(each, j=2, N=3)] == []


@pytest.mark.parametrize("id", ["icgd.step", "icgd.dimensions", "icgd.loss_gradient"])
def test_the_mask_has_another_letter_than_the_range_of_a_layer(id: str) -> None:
    text = theorem_latex(find_result(id))
    assert r"\dots, R_{N - 1}$" in text
    assert re.findall(r"R_\{?[1-9]", text.replace("R_0", "")) == []


@pytest.mark.parametrize("id", ["icgd.step", "icgd.dimensions"])
def test_an_accuracy_that_no_bound_has_is_not_given_but_where_sums_of_relus_are_computed_from_it(id: str) -> None:
    result = find_result(id)
    assert all(symbols.eps not in form.free_symbols for each in shown(result) for form in each.formulas)
    requested = result.quantity("w.requested")
    assert requested.indices == (sp.Eq(symbols.relus, 0),)
    assert "0: computed from eps" in result.parameter("relus").meaning
    others = replace(result, quantities=tuple(each for each in result.quantities if each is not requested))
    assert "target accuracy" not in opening(others)


@pytest.mark.parametrize("id", [each.id for each in OF_TOPICS if each.id.startswith("icgd.")])
def test_what_the_transformer_computes_is_defined_by_sums_of_relus(id: str) -> None:
    text = theorem_latex(find_result(id))
    for letter, definition in (
        (r"\bar{p}(j)", r"\bar{p} (j) = \bar{r} (V_{j} \bar{p} (j-1))"),
        (r"\bar{r}'(j) -", "without bars, $r'(j) = r'(V_{j}\\,p(j-1))$"),
        (r"\bar{s}(j) -", r"$s(N) = r'(N)\,u(p(N), y)$ and $s(j) = r'(j)(V_{j+1}^{\top}\,s(j+1))$"),
        (r"\bar{w}^{+} -", r"$\mathrm{Proj} (w - \eta \nabla \bar{L}_{n} (w))$"),
    ):
        assert letter not in text or definition in text


# On W = {0, 1} a projection may expand: from points around 1/2 that are 0.02 apart to points at a distance of 1.
def test_a_trajectory_stays_in_a_convex_set() -> None:
    text = theorem_latex(find_result("icgd.trajectory"))
    assert r"$w^{0}$ in the closed convex set $W$, onto which both project" in text
    assert "$W$: a closed convex set of weights" in text
    assert r"w^{l+1} = \mathrm{Proj} (w^{l} - \eta \nabla \,f(w^{l}) + e^{l})" in text
    assert "Let the integer $L \\ge 1$ (number of steps of gradient descent) and the numbers $\\eta" in text


# In one dimension: gradients with an error of at most eps, steps of at most 1/L_f.
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("share", [sp.Rational(1, 3), sp.Integer(1)])
def test_the_gradient_mapping_is_as_stated(sign: int, share: sp.Rational) -> None:
    quantity = find_result("icgd.trajectory").quantity("gradient_mapping")
    eps, smooth, low, high = sp.Rational(1, 10), sp.Integer(3), sp.Integer(-1), sp.Rational(1, 2)
    eta, w, path = share / smooth, high, []
    for _ in range(4):
        path.append(w)
        w = min(high, max(low, w - eta * (smooth * w + sign * eps)))
    mapped = [(w - min(high, max(low, w - eta * smooth * w))) / eta for w in path]
    at = {"L": 4, "eta": eta, "eps": eps, "L_f": smooth, "gap": smooth * high**2 / 2}
    bound = quantity.derived()
    mean = sum(each**2 for each in mapped) / 4
    assert mean <= bound.subs({letter: at[letter.name] for letter in bound.free_symbols})


def test_the_blocks_of_a_zero_gradient_are_compared() -> None:
    result = find_result("icgd.gradient")
    for name in ("recursion", "product"):
        assert r"\frac" not in result.quantity(name).latex_symbol
        assert "where that is not 0" in result.quantity(name).norm
    text = theorem_latex(result)
    assert r"\|A(j) - " in text
    assert r"\|\tilde A(j) - " in text
    assert "are differentiable" in text


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_printed_number_of_weights_is_stated_where_it_holds(depth: int) -> None:
    K, d_x, d_y = 3, 2, 4
    widths = [d_x, *[K] * (depth - 1), d_y]
    entries = sum(rows * columns for columns, rows in itertools.pairwise(widths))
    sizes = {symbols.N: depth, symbols.K: K, symbols.d_x: d_x, symbols.d_y: d_y}
    holds = gradient.PRINTED_TOTAL.subs(sizes) == entries
    assert allowed(find_result("icgd.gradient").quantity("parameters"), N=depth) == holds
    assert r"for $N \geq 2$." in theorem_latex(find_result("icgd.gradient"))


def test_a_letter_that_words_alone_show_has_its_value() -> None:
    text = theorem_latex(find_result("icgd.relu_sum"))
    assert "is linear on each of $M$ cells" in text
    assert text.endswith("\\right\\rceil. \\]")
    assert "The number of cells:\n\\[ M = q" in text
    x, a = sp.symbols("x a", positive=True)
    value = Formula("a", lambda: x + 1, "value of it", defines=a)
    about = ("share `a` of all", "", "all", Kind.UPPER, Quantifier.FOR_ALL)
    made = Result(
        "own", "own", find_result("icgd.step").citation, "", (), (),
        (Quantity("q", "q", *about, derive=lambda: 2 * x),), symbols={a: "a share", x: "a size"}, formulas=(value,),
    )  # fmt: skip
    assert "a = x + 1." in theorem_latex(made)


# Where 2 eta (n + 1) <= 1 is assumed, no sentence may take eta = 1/(2n).
def test_inexact_steps_start_at_0_and_no_witness_contradicts_the_step() -> None:
    result = find_result("universal.proximal")
    assert all(result.quantity(name).domain.startswith("rho_0 = 0") for name in ("gap", "iterates"))
    assert r"2 \eta \left(n + 1\right) \leq 1" in opening(result)
    assert not [each for each in result.quantities if "eta = " in each.domain]
    assert r"\|h\|_{1}\le \varepsilon$ and $|k|\le \varepsilon_{\lambda}$" in opening(result)


@pytest.mark.parametrize("id", ["universal.transformer", "universal.risk"])
def test_exact_steps_have_a_stated_length(id: str) -> None:
    text = opening(find_result(id))
    assert r"the soft threshold of $\rho + 1/(n\,N) \sum_{i} (y_{i} - \phi_{i}^{\top} \rho ) \phi_{i}$" in text
    assert r"$\mathrm{sign} (v_{j}) \max (|v_{j}| - s,0)$" in text


def test_a_union_of_ridges_is_stated_where_they_may_have_two_directions() -> None:
    result = find_result("universal.barron")
    union = result.quantity("union")
    assert [allowed(union, d=d) for d in (1, 2, 3)] == [False, True, True]
    assert "not a multiple of u" in union.meaning
    assert "for one unit vector u and" in result.quantity("linear").meaning
    text = opening(result)
    assert all(letter in text for letter in ("$u$: ", "$\\sigma$: ", "supremum of measures"))


def test_features_and_their_law_are_defined() -> None:
    text = opening(find_result("universal.features"))
    assert r"where $(t_{i}, \omega_{i} )$ are independent draws of $\Lambda$" in text
    assert r"\gamma (t)$ is $-\sin (s\,t + \theta )$ for $-1\le t\le 1$" in text
    assert "the class of functions is finite" in text
    assert r"n - 1$ random features" in opening(find_result("universal.risk"))


def test_a_cover_is_a_smallest_one_to_a_stated_distance() -> None:
    result = find_result("universal.covering")
    assert all("smallest" in each.quantity.meaning for each in shown(result))
    assert r"|f(x) - f(0) - (\hat{f}(x) - \hat{f}(0))|\le \mu \varepsilon /2" in opening(result)


def test_a_solution_has_one_letter() -> None:
    domains = [
        each.domain for each in shown(find_result("universal.lasso")) if r"\hat\rho" in each.quantity.latex_symbol
    ]
    assert len(domains) == 2
    assert all(r"\ell (\hat{\rho} )\le" in each for each in domains)


# The sentence as it stands: (n + 1) roundings of that size are at most the accuracy.
@pytest.mark.parametrize("sizes", [(1, 1, 3), (8, 4, 5), (1000, 64, 401)])
def test_the_stated_bits_suffice_for_the_stated_rounding(sizes: tuple[int, int, int]) -> None:
    at = dict(zip((transformer.N, transformer.n, transformer.L), map(sp.Integer, sizes), strict=True))
    least = int(transformer.bits_of_printed_tau().subs(at))
    quantity = find_result("universal.transformer").quantity("tau.bits")
    assert "taken to be 16 tau (log(N + 1)/log(2) + 8)/2^p in each of n + 1 coefficients" in quantity.meaning
    assert "model" not in quantity.domain

    def meets(p: int) -> bool:
        rounding = 16 * transformer.PRINTED_TAU * (sp.log(transformer.N + 1) / sp.log(2) + 8) / 2**p
        return bool(((transformer.n + 1) * rounding <= transformer.PRINTED_ACCURACY).subs({**at, transformer.B: 1}))

    assert meets(least)
    assert not meets(least - 1)
