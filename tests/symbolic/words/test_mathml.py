"""Words with mathematics for pages: MathML that is well formed, whatever the results say."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from symbolic.statements.catalogue import results
from symbolic.statements.result import Result
from symbolic.words.mathml import math_html, prose_html
from symbolic.words.prose import PARTS, marked, prose

TAGS = {"math", "mrow", "mi", "mn", "mo", "mtext", "msub", "msup", "msubsup", "msqrt", "mover", "mspace"}


def _formulas(result: Result) -> Iterator[str]:
    words = [result.title, *result.symbols.values(), *(each.meaning for each in result.parameters)]
    for quantity in result.quantities:
        words += [quantity.meaning, quantity.norm, quantity.domain, quantity.remark]
        if quantity.erratum is not None:
            words += [quantity.erratum.sentence, quantity.erratum.reading, quantity.erratum.repair]
    for each in words:
        yield from (part["formula"] for part in PARTS.finditer(marked(each)) if part["formula"])


@pytest.mark.parametrize("id", sorted(results()))
def test_every_formula_in_the_words_of_a_result_is_well_formed(id: str) -> None:
    for formula in _formulas(results()[id]):
        tree = ElementTree.fromstring(math_html(formula).replace("&nbsp;", "\u00a0"))
        assert {each.tag for each in tree.iter()} <= TAGS
        assert "\\" not in "".join(tree.itertext())
        for each in tree.iter():
            assert len(each) == {"msub": 2, "msup": 2, "msubsup": 3, "mover": 2}.get(each.tag, len(each))


def _text(html: str) -> str:
    return re.sub("<[^>]*>", "", html)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("||x||_2 <= B_x", "‖x‖2≤Bx"),
        ("alpha in R^n", "α∈ℝn"),
        ("w* - x_hat", "w⋆−x^"),
        ("a < b", "a&lt;b"),
    ],
)
def test_signs_are_those_of_mathematics(typed: str, shown: str) -> None:
    assert _text(math_html(typed)) == shown


def test_scripts_stand_at_their_base() -> None:
    assert "<msubsup><mi>w</mi><mi>T</mi><mi>⋆</mi></msubsup>" in math_html("w*_T")
    assert '<msub><mo stretchy="false">≺</mo><mi>w</mi></msub>' in math_html("x <_w y")
    assert '<msub><mo stretchy="false">≻</mo><mi>w</mi></msub>' in math_html("y >_w x")
    assert "<msup><mi>r</mi><mo>′</mo></msup>" in math_html("r'(j)")


def test_the_name_of_a_function_stands_apart_from_its_argument() -> None:
    assert "<mi>log</mi><mspace" in math_html("n log n")
    assert "<mi>log</mi><mo" in math_html("log(n)")


def test_words_are_escaped_and_names_of_programs_are_code() -> None:
    assert prose_html("a < b & c") == "a &lt; b &amp; c"
    assert (
        prose_html(prose("put it into ``inputs``, `x`")) == "put it into <code>inputs</code>, <math><mi>x</mi></math>"
    )
    assert prose_html(prose("`<x`")).startswith("<math>")
    assert prose_html(prose("`a_ <b>`", checked=False)) == "<code>a_ &lt;b&gt;</code>"
