"""What a theorem does not state: printed bounds under hypotheses without a size, and runs away from their point."""

from dataclasses import replace

import pytest
import sympy as sp

from symbolic import results
from symbolic.latex.introductions import functions_of, letters_of
from symbolic.latex.paper_text import QUOTED, conclusions, theorem_latex
from symbolic.latex.printing import result_latex
from symbolic.statements.result import Formula, Printed, Result
from symbolic.words.citations import Citation
from tests.symbolic.latex.test_introductions import QUANTITY, a, b, c, n, opening_of, small

ALL = list(results().values())
UNDER = "`a << 1`"


def printed(**more: object) -> Printed:
    return Printed(a * n, Citation(None, "A"), **more)  # type: ignore[arg-type]  # as there


QUOTED_ONE = replace(QUANTITY, name="limit", latex_symbol="w", printed=printed(under=UNDER))


def test_a_bound_under_a_hypothesis_without_a_size_is_no_conclusion() -> None:
    both = theorem_latex(small(quantities=(QUANTITY, QUOTED_ONE)))
    assert r"\[ e \le a n. \]" in both
    assert r"w \le" not in both
    alone = theorem_latex(small(quantities=(QUOTED_ONE,)))
    assert QUOTED in alone
    assert r"as stated in A, under $a\ll 1$, satisfies" in alone
    asked = theorem_latex(small(quantities=(QUANTITY, QUOTED_ONE)), refuted=True)
    assert asked.index(r"e \le a n") < asked.index(QUOTED) < asked.index(r"w \le a n")


def test_a_printed_bound_without_a_place_names_none() -> None:
    unplaced = replace(QUOTED_ONE, printed=Printed(a * n, Citation(None, "")))
    said = theorem_latex(small(quantities=(unplaced,)))
    assert "as stated" not in said
    assert "satisfies the upper bound\n\\[ w \\le a n. \\]" in said


def test_the_derived_bound_beside_it_is_one() -> None:
    stated = theorem_latex(small(quantities=(replace(QUOTED_ONE, derive=lambda: b),)))
    assert r"\[ w \le b. \]" in stated
    assert QUOTED not in stated


def test_the_full_statement_says_under_what_it_is_printed() -> None:
    assert r"Printed, A, under $a\ll 1$:" in result_latex(small(quantities=(QUOTED_ONE,)))


def test_a_run_is_stated_at_its_parameters_alone() -> None:
    run = replace(QUANTITY, printed=printed(run_at=(("a", 0.5), ("n", 3))))
    assert r"at $a = 0.5$ and $n = 3$ (a run in floating point)" in theorem_latex(small(quantities=(run,)))


def test_a_letter_that_words_alone_name_has_its_formula() -> None:
    """And so do the letters of that formula."""
    r, k = sp.symbols("radius rate", positive=True)
    formulas = (
        Formula("r", lambda: c * k, "largest `b`", defines=r),
        Formula("k", lambda: c**2, "the rate", defines=k),
    )
    named = replace(QUANTITY, domain="all `x`, where `b <= radius`")
    text = theorem_latex(small(quantities=(named,), formulas=formulas, symbols={r: "a radius", k: "a rate"}))
    assert "\\[ r = c \\mathrm{rate}. \\]" in text
    assert "\\[ k = c^{2}. \\]" in text


@pytest.mark.parametrize("result", ALL, ids=lambda result: result.id)
def test_every_function_of_a_formula_is_introduced(result: Result) -> None:
    stated = conclusions(result)
    known = {letter for name in opening_of(result, stated).objects for letter in letters_of(name)}
    shown = functions_of([form for each in stated for form in each.formulas])
    assert {letter for name in shown for letter in letters_of(name)} - known == set()
