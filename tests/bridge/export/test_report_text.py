"""LaTeX of the exporters as HTML and MathML: nothing is lost, and what TeX lays out is laid out."""

import re
from html import unescape

import pytest

from bridge.export.report.formulas import mathml
from bridge.export.report.latex_html import latex_html, latex_inline
from bridge.theorems.latex import Excerpt
from symbolic.statements.catalogue import find_result
from symbolic.words.ascii_math import ascii_math
from symbolic.words.citations import WANG2024
from symbolic.words.escaping import SPECIAL, escape
from symbolic.words.mathml import math_html

TAG = re.compile(r"<[^>]*>")
FORMULAS = (
    "||x||_2 <= B_x / sqrt(K)",
    "sup_t |f(t) - g(t)| <= eps^2 log(1/delta)",
    "e^-p (1 - e^(-p (L - 2)))",
    "x_hat in R^d",
    "sum_i w_i' * v* >= 2*tanh(||W||_{1,1})",
    "max(a, -b) != softmax(x)_s",
)


def leaves(html: str) -> str:
    """Its signs without blanks; bars and stars are drawn by several characters."""
    words = re.sub(r"\s|\u00a0|\u2061", "", unescape(TAG.sub("", html)))
    return words.translate(str.maketrans({"¯": "^", "ε": "ϵ", "⋅": "·"}))


@pytest.mark.parametrize("formula", FORMULAS)
def test_two_readers_find_the_same_signs(formula: str) -> None:
    assert leaves(mathml(ascii_math(formula))) == leaves(math_html(formula))


def test_what_tex_lays_out_is_laid_out() -> None:
    lines = mathml(r"\begin{aligned} &a \\ &\quad + b \end{aligned}", display=True)
    assert lines.count("<mtr>") == 2
    assert 'form="infix">+' in lines  # the second line goes on with a sum
    assert "<munder><mo movablelimits" in mathml(r"\max_{j} x_j")
    assert 'width="0.167em"' in mathml(r"\log x")
    assert "mspace" not in mathml(r"\log(x)")
    assert 'form="prefix">\u2212' in mathml("[-1, 1]")
    assert "<mi>𝒪</mi>" in mathml(r"\mathcal{O}")
    assert mathml(r"\mathrm{softmax}").count("<mi") == 1
    assert '<mover accent="true">' in mathml(r"\bar{p}")
    rows = mathml("\\begin{gather*}\na = b, \\\\\n[c] = d\n\\end{gather*}", display=True)
    assert rows.count("<mtr>") == 2
    stopped = mathml(
        "\\begin{gathered}\na \\le b \\quad \\text{along} \\\\\n\\dot{a} = c\n\\end{gathered}.", display=True
    )
    assert stopped.count("<mtr>") == 2
    assert "linebreak" not in stopped
    assert re.search(r"</mtable>.*<mo>\.</mo>", stopped)


def test_what_cannot_be_read_stands_as_it_is_typed() -> None:
    assert mathml(r"\frac{a<b}{") == r"<code>\frac{a&lt;b}{</code>"
    assert latex_html(r"Let \foo{x} be") == r"<p>Let <code>\foo</code>x be</p>"
    assert latex_html("a } b $") == "<p>a  b $</p>"


def test_typed_text_has_the_signs_that_it_spells() -> None:
    assert latex_inline(r"\texttt{a\_1 \textgreater{}= 0 \& b}", {}) == "<code>a_1 &gt;= 0 &amp; b</code>"


ALIKE = str.maketrans({"ϕ": "φ", "⋅": "·", "‖": "∥", "∘": "°", "»": "≫", "«": "≪", "’": "'", "”": '"', "“": '"'})


@pytest.mark.parametrize("character", [*SPECIAL, "é", "ő", "ç", "α", "Ω", "'", '"'])
def test_each_character_that_latex_spells_comes_back(character: str) -> None:
    found = unescape(TAG.sub("", latex_inline(f"a{escape(character)}b")))
    assert found.translate(ALIKE) == f"a{character}b".translate(ALIKE)


def test_paragraphs_lists_and_citations() -> None:
    latex = "\\paragraph{Proof of $x$.}\n\\begin{itemize}\n\\item[(1)] By \\cite[{Lemma [2]}]{wang2024}, \\[ x \\]\n"
    html = latex_html(latex + "\\end{itemize}\nOne.\n\nTwo --- \\emph{three}.", {"wang2024": WANG2024}, heading=4)
    math = mathml("x")
    assert html == (
        f'<h4>Proof of {math}</h4><ol class="steps"><li><span class="number">(1)</span> By '
        f'<a href="#wang2024">Wang et al. 2024</a>, Lemma [2], <span class="display">{mathml("x", display=True)}</span>'
        "</li></ol><p>One.</p><p>Two — <em>three</em>.</p>"
    )


@pytest.mark.parametrize("id", ["icgd.relu_sum", "icgd.softmax_step", "machines.rounding"])
def test_all_that_an_export_says_is_read(id: str) -> None:
    html = latex_html(Excerpt().latex(find_result(id)))
    rest = TAG.sub("", re.sub("<math.*?</math>|<code>[^<]*</code>", "", html))
    assert not re.search(r"[\\{}$`]|&amp;(?!\w)", rest)
    assert r"<code>\ "[:-1] not in html
