"""Words with mathematics between backticks: plain on a terminal, mathematics in LaTeX; refusals."""

import pytest
import sympy as sp

from bridge.theorems.record import Row
from symbolic.latex.widths import width
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Parameter
from symbolic.words.ascii_math import AsciiMathError, ascii_math
from symbolic.words.citations import Citation
from symbolic.words.prose import Prose, ProseError, joined, marked, plain, prose, prose_latex


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("|v_jk[i]| <= B_v / sqrt(length of v_jk)", r"|v_{jk}[i]|\le B_{v}/\sqrt{\text{length of }v_{jk}}"),
        ("||x||_2 <= B_x", r"\|x\|_{2}\le B_{x}"),
        ("exp(-abs(u - v)^2)", r"\exp (-|u - v|^{2})"),
        ("||A||_(2 -> inf)", r"\|A\|_{2\to \infty}"),
        ("R_1 = max{B_v B_r, 1}", r"R_{1} = \max \{B_{v}\,B_{r},1\}"),
        ("x in R^(n x d)", r"x \in \mathbb{R}^{n \times d}"),
        ("f: R^d -> R", r"f:\mathbb{R}^{d}\to \mathbb{R}"),
        ("[-R, R)", "[-R, R)"),
        ("e^-p", "e^{-p}"),
        ("rho^-(n-2)", r"\rho^{-(n-2)}"),
        ("r'(j)[k]", "r'(j)[k]"),
        ("h* = 1/(1 + alpha)", r"h^{\star} = 1/(1 + \alpha )"),
        ("w*_T", r"w_{T}^{\star}"),
        ("a*b", r"a\cdot b"),
        ("A^T x", r"A^{\top}\,x"),
        ("w_Q^2 - w_K^2", "w_{Q}^{2} - w_{K}^{2}"),
        ("1e-6", "10^{-6}"),
        ("2.5e3", r"2.5 \cdot 10^{3}"),
        ("sigma_init -> 0", r"\sigma_{\mathrm{init}} \to 0"),
        ("O(n log n)", r"O(n \log n)"),
        ("sup over |t| <= 1", r"\sup \text{ over }|t|\le 1"),
        ("IH_2", r"\mathrm{IH}_{2}"),
        ("x'^2", r"x^{\prime 2}"),
        ("w*^2 W*^T", r"w^{\star 2}\,W^{\star \top}"),
        ("xi_hat_i - x_bar^2", r"\hat{\xi}_{i} - \bar{x}^{2}"),
        ("p-bar(j) = sbar", r"\bar{p}(j) = \bar{s}"),
        ("(f^, x^)", r"(\hat{f}, \hat{x})"),
        ("e^-kp~ dp~/dtau", r"e^{-k\tilde{p}} d\tilde{p}/d\tau"),
        ("that O~(n) ~ C", r"\text{that }\tilde{O}(n)\sim C"),
        ("T_1/2^w - x_1/2", r"T_{1/2}^{w} - x_{1}/2"),
        ("L_IH2 x**2", r"L_{\mathrm{IH2}}\,x^{2}"),
        ("|Z||A| <~ log2 N", r"|Z||A|<\sim \log_{2} \,N"),
        ("|f^(k)| 2^(k+1)", r"|f^{(k)}|2^{k+1}"),
        ("x <_w y << 1", r"x \prec_{w} \,y\ll 1"),
    ],
)
def test_ascii_notation_becomes_mathematics(typed: str, latex: str) -> None:
    assert ascii_math(typed).replace(" ", "") == latex.replace(" ", "")
    assert width(ascii_math(typed)) > 0  # TeX's commands alone


@pytest.mark.parametrize("typed", ["", "x_", "^2", "(a", "a)", "a ? `", "x_<", "€"])
def test_what_is_no_formula_is_refused(typed: str) -> None:
    with pytest.raises(AsciiMathError):
        ascii_math(typed)


def test_words_are_plain_text_that_remembers_its_mathematics() -> None:
    words = prose("at `x_1 <= 2`, 100% of it; see ``boundsmith list --all``")
    assert words == "at x_1 <= 2, 100% of it; see boundsmith list --all"
    assert prose_latex(words) == r"at $x_{1}\le 2$, 100\% of it; see \texttt{boundsmith list --all}"
    assert isinstance(words, Prose)
    assert marked(words).count("`") == 6
    assert type(prose("no mathematics")) is str
    assert joined([words, "", "b", words]).startswith("at x_1 <= 2")
    assert prose_latex(joined([words, "b"])).endswith("; b")


@pytest.mark.parametrize("words", ["one ` alone", "`x_` is unfinished", "three ``` of them"])
def test_mathematics_that_does_not_parse_is_refused_where_it_is_written(words: str) -> None:
    with pytest.raises(ProseError, match="backtick"):
        Parameter("n", sp.Symbol("n"), words, 1)


def test_a_name_of_the_users_that_is_no_mathematics_is_set_as_typed() -> None:
    words = prose("`||my value!_ v||_2`", checked=False)
    assert prose_latex(words) == r"\texttt{\textbar{}\textbar{}my value!\_ v\textbar{}\textbar{}\_2}"
    assert plain(words) == "||my value!_ v||_2"


def test_records_show_and_store_plain_words() -> None:
    row = Row(quantity="q", kind="upper", quantifier="for all inputs", params={}, remark="`a_1 > 0`")
    assert row.remark == "a_1 > 0"
    assert '"remark":"a_1 > 0"' in row.model_dump_json()
    assert prose_latex(row.remark) == "$a_{1} > 0$"


@pytest.mark.parametrize(
    ("words", "latex"),
    [
        ("§ 3 – «Δ» ≤ α", r"\S{} 3 -- $\ll$$\Delta$$\gg$ $\le$ $\alpha$"),
        ("Gödel, Erdős, Łoś", r"G\"{o}del, Erd\H{o}s, \L{}o\'{s}"),
        ("中", r"\texttt{U+4E2D}"),
        ('a "quoted" word', 'a ``quoted" word'),
        ("a\x00b", "ab"),
        (
            r"50% & #1_{x}^2 ~ \n $ <|>",
            r"50\% \& \#1\_\{x\}\^{}2 \~{} \textbackslash{}n \$ \textless{}\textbar{}\textgreater{}",
        ),
    ],
)
def test_any_character_is_one_that_tex_sets(words: str, latex: str) -> None:
    assert prose_latex(words) == latex
    assert latex.isascii()


def test_citations_and_errata_set_their_mathematics() -> None:
    place = Citation(None, "Lemma 2 [v2], `1 <= j <= N-1` & 50%_#{}~^")
    assert str(place) == "Lemma 2 [v2], 1 <= j <= N-1 & 50%_#{}~^"
    assert r"$1\le j\le N-1$ \& 50\%\_\#\{\}\~{}\^{}" in place.latex()
    erratum = Erratum(Weight.CONSTANT, place, "`R_1 = 1` suffices", "as it stands", "`R_1 = 2`", "yes: it does")
    assert "In the paper: R_1 = 1 suffices. Repair: R_1 = 2." in erratum.words
    assert "$R_{1} = 2$" in prose_latex(erratum.words)
