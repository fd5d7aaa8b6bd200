"""What a statement introduces: every letter that it shows, and the hypotheses that its conclusions need."""

import re
from dataclasses import replace

import pytest
import sympy as sp

from symbolic import results
from symbolic.latex.introductions import Introduction, introduction, letters_of, whole_number
from symbolic.latex.paper_text import Conclusion, conclusions, joint_failure, theorem_latex
from symbolic.latex.printing import result_latex
from symbolic.latex.typesetting import latex
from symbolic.statements.catalogue import find_result
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import (
    Formula,
    Hypothesis,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.words.citations import Citation

ALL = list(results().values())
# Set with a backslash and no letters of a formula: operations, relations and named functions.
NO_LETTERS = re.compile(
    r"\\(sup|(lim)?inf|max|min|sum|prod|int|log|exp|t?frac|left|right|sqrt|partial|nabla|infty|n?eq?|[lg]eq?|to|in|[clv]?dots?|"
    r"times|top|pm|Pr|lim|quad|star|circ|sim|dim|bmod|gg|ll|pi|operatorname\{softmax\}|Delta|mathbb\{R\}|R|Omega|,|odot)"
    r"|[edtO]"  # Euler's number, differentials, time, Landau's letter
)
WORDS = re.compile(r"\\(text|mathrm|mathsf)\{[^{}]*\}|\\rm \w+|\[[^\]]*\]|[_^](\{[^{}]*\}|\\?\w+)|\\#\\\{\w+ ?:")


def shown_and_introduced(result: Result) -> tuple[set[str], set[str]]:
    """Letters of the left sides, the domains and the formulas; letters that the opening introduces."""
    stated = [each for each in conclusions(result) if each.source is None or each.quantity.erratum is None]
    opening = opening_of(result, stated)
    known = {letter for name in [*opening.notation(), *(latex(x, result.notation) for x in opening.letters)]
             for letter in letters_of(name)}  # fmt: skip
    left = [each.quantity.latex_symbol for each in stated]
    domains = [" ".join(re.findall(r"\$([^$]*)\$", each.domain)) for each in stated]
    shown = {letter for words in (*left, *domains) for letter in letters_of(WORDS.sub(" ", words))}
    return {letter for letter in shown if not NO_LETTERS.fullmatch(letter)}, known


def opening_of(result: Result, stated: list[Conclusion]) -> Introduction:
    return introduction(result, [each.quantity for each in stated], [form for each in stated for form in each.formulas])


@pytest.mark.parametrize("result", ALL, ids=lambda result: result.id)
def test_every_letter_of_a_statement_is_introduced(result: Result) -> None:
    shown, known = shown_and_introduced(result)
    assert shown - known == set()
    stated = conclusions(result)
    opening = opening_of(result, stated)
    named = set(result.symbols) | {each.symbol for each in result.parameters}
    others = opening.letters - named
    objects = {letter for name in opening.objects for letter in letters_of(name)}
    assert {x for x in others if not set(letters_of(latex(x, result.notation))) <= objects} == set()


def test_a_letter_that_nothing_introduces_is_noticed() -> None:
    lasso = find_result("universal.lasso")
    shown, known = shown_and_introduced(replace(lasso, objects={}))
    assert {r"\phi", "z", "f"} <= shown - known


@pytest.mark.parametrize("result", ALL, ids=lambda result: result.id)
def test_a_hypothesis_on_a_shown_letter_is_kept(result: Result) -> None:
    for stated in [conclusions(result), *([each] for each in conclusions(result))]:
        opening = opening_of(result, stated)
        shown = {letter for each in stated for form in each.formulas for letter in form.free_symbols}
        dropped = [each for each in result.hypotheses if each not in opening.hypotheses]
        settings = {each.name for each in result.parameters if each.setting and each.symbol not in opening.letters}
        on_others = [each for each in dropped if each.parameter not in settings]
        assert not [each for each in on_others if each.condition.free_symbols & (shown | opening.letters)]
        assert all(each.only for each in on_others)


a, b, c, n = sp.symbols("a b c n", positive=True)
QUANTITY = Quantity(
    "error", "e", "error at `b`", "2-norm", "all `x`", Kind.UPPER, Quantifier.FOR_ALL,
    printed=Printed(a * n, Citation(None, "A")), scopes=(),
)  # fmt: skip


def small(**more: object) -> Result:
    known = {
        "id": "own.small", "title": "own.small", "citation": Citation(None, ""), "claim": "",
        "parameters": tuple(Parameter(x.name, x, f"the {x.name}", 1, integer=x == n) for x in (a, b, c, n)),
        "hypotheses": (), "quantities": (QUANTITY,), **more,
    }  # fmt: skip
    return Result(**known)  # type: ignore[arg-type]  # as above


def test_an_integer_that_is_0_or_1_is_said_to_be_one() -> None:
    limits = [Hypothesis("n", sp.Ge(n, 0, evaluate=False), "0"), Hypothesis("n", sp.Le(n, 1), "1")]
    opening = opening_of(small(hypotheses=tuple(limits)), conclusions(small(hypotheses=tuple(limits))))
    assert opening.lines()[0].startswith(r"Let the integer $n \in \{0, 1\}$ (the n) and")
    wide = (limits[0], Hypothesis("n", sp.Le(n, 2), "2"))
    opening = opening_of(small(hypotheses=wide), conclusions(small(hypotheses=wide)))
    assert opening.lines()[0].startswith(r"Let the integer $0 \le n \le 2$ (the n) and")


def test_letters_are_those_of_formulas_words_and_kept_hypotheses() -> None:
    kept = (Hypothesis("a", sp.Lt(a, c), "two letters"), Hypothesis("c", sp.Ge(c, 2), "one"))
    opening = opening_of(small(hypotheses=kept), conclusions(small(hypotheses=kept)))
    assert opening.letters == {a, b, c, n}
    assert opening.lines() == [
        "Let the integer $n$ (the n) and the numbers $a$ (the a), $b$ (the b) and $c \\ge 2$ (the c) be given.",
        "",
        "Assume that $a < c$.",
    ]


def test_a_hypothesis_goes_only_where_the_data_say_so() -> None:
    condition = Hypothesis("c", sp.Gt(c, 1), "it may matter")
    assert opening_of(small(hypotheses=(condition,)), conclusions(small())).hypotheses == (condition,)
    elsewhere = replace(condition, only=("other",))
    assert opening_of(small(hypotheses=(elsewhere,)), conclusions(small())).hypotheses == ()
    needed = replace(condition, only=("error",))
    assert opening_of(small(hypotheses=(needed,)), conclusions(small())).hypotheses == (needed,)
    setting = tuple(Parameter(x.name, x, "", 1, setting=x == c) for x in (a, b, c, n))
    result = small(hypotheses=(condition,), parameters=setting)
    assert opening_of(result, conclusions(result)).hypotheses == ()
    for name, kept in (("c", False), ("a", True)):  # c < a as a condition on the setting c, and as one on a
        both = Hypothesis(name, sp.Lt(c, a), "it may matter")
        result = small(hypotheses=(both,), parameters=setting)
        assert (opening_of(result, conclusions(result)).hypotheses == (both,)) == kept
    shown = replace(QUANTITY, printed=Printed(a * c, Citation(None, "A")))
    result = small(hypotheses=(condition,), parameters=setting, quantities=(shown,))
    assert opening_of(result, conclusions(result)).hypotheses == (condition,)


def test_assumptions_in_words_are_stated_with_their_letters() -> None:
    result = small(assumptions=("`z` is independent of `b`",), objects={"z": "the noise"})
    text = theorem_latex(result)
    assert "Assume that $z$ is independent of $b$." in text
    assert "$z$: the noise" in text
    assert b in opening_of(result, conclusions(result)).letters
    assert "Assume that $z$" in result_latex(result)


@pytest.mark.parametrize(
    ("id", "words"),
    [
        *((id, "the loss of an output is a sum over its coordinates") for id in ("loss_gradient", "backward", "step")),
        *((id, "are sub-Gaussian with parameter $\\sigma$") for id in ("universal.lasso", "universal.risk")),
        ("universal.risk", "For a single $f$ of the class, chosen before the draw"),
        ("looped.gradient_descent", "residuals of one output"),
    ],
)
def test_what_no_relation_states_is_said(id: str, words: str) -> None:
    assert words in theorem_latex(find_result(id if "." in id else f"icgd.{id}"))


def test_lemmas_without_a_loss_need_no_sum_over_coordinates() -> None:
    assert "the loss of an output" not in theorem_latex(find_result("icgd.forward"))


def test_what_a_statement_does_not_claim_is_no_conclusion() -> None:
    names = {each.quantity.name for each in conclusions(find_result("machines.turing_margin"))}
    assert names
    assert not {"exponent", "decay"} & names


@pytest.mark.parametrize(
    ("condition", "whole"),
    [(sp.Eq(a / 2, sp.floor(a / 2)), a / 2), (sp.Eq(sp.Mod(n, 2), 1), (n - 1) / 2), (a < b, None)],
)
def test_conditions_that_make_a_whole_number(condition: sp.Basic, whole: sp.Expr | None) -> None:
    assert whole_number(condition) == whole


def test_a_refuted_bound_is_no_conclusion() -> None:
    erratum = Erratum(Weight.CONSTANT, Citation(None, "A"), "sentence", "reading", "repair", "yes: as it is")
    wrong = replace(QUANTITY, name="wrong", latex_symbol="w", erratum=erratum)
    both = theorem_latex(small(quantities=(QUANTITY, wrong)))
    assert r"\[ e \le a n. \]" in both
    assert r"\[ w \le" not in both
    assert r"\[ w \le a n. \]" in theorem_latex(small(quantities=(QUANTITY, wrong)), refuted=True)
    assert "do not hold as printed" in theorem_latex(small(quantities=(wrong,)))
    assert r"\[" not in theorem_latex(small(quantities=(replace(QUANTITY, outside=True),)))


def test_what_suffices_is_bounded_from_below() -> None:
    enough = replace(QUANTITY, latex_symbol="n", suffices=True)
    assert r"\[ n \ge a n. \]" in theorem_latex(small(quantities=(enough,)))
    assert enough.about.startswith("sufficient size")
    order = replace(enough, printed=Printed(a, Citation(None, "A"), order=Order.O))
    assert r"n = \mathcal{O}\left(a\right)" in theorem_latex(small(quantities=(order,)))


def test_one_event_carries_all_conclusions() -> None:
    lasso = find_result("universal.lasso")
    text = theorem_latex(lasso)
    assert text.count("With probability") == 1
    whole = joint_failure(lasso.quantities)
    assert all((whole - each.may_fail).subs(dict.fromkeys(whole.free_symbols, 1)) >= 0 for each in lasso.quantities)
    assert joint_failure([lasso.quantity("noise")]) == lasso.quantity("noise").may_fail
    shared = lasso.quantity("noise")
    assert joint_failure([shared, shared]) == shared.may_fail


def test_a_formula_that_defines_a_letter_of_the_bounds_is_part_of_the_statement() -> None:
    """With the letters that it shows itself; formulas that define no letter, or none that is shown, are not."""
    r, k = sp.symbols("r k", positive=True)
    formulas = (
        Formula(r"\varrho", lambda: c**2, "rounding at the scale `c`", defines=r),
        Formula("k", lambda: c**3, "what nothing shows", defines=k),
        Formula("h", lambda: c**4, "a further result"),
    )
    shown = replace(QUANTITY, printed=Printed(r * n, Citation(None, "A")))
    result = small(quantities=(shown,), formulas=formulas, notation={r: r"\varrho"}, symbols={r: "rounding", k: "next"})
    text = theorem_latex(result)
    assert "$c$ (the c)" in text
    assert text.endswith("\nThe rounding at the scale $c$:\n\\[ \\varrho = c^{2}. \\]")
    assert "c^{3}" not in text
    assert "c^{4}" not in text
