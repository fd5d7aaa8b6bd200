"""Displays fit the text of an 11pt article, by widths that are TeX's within some per cent."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import sympy as sp

from symbolic.latex.displays import PAGE, equation, stated, wrapped
from symbolic.latex.proofs import LISTED
from symbolic.latex.widths import width
from symbolic.statements.catalogue import find_result, results

TEXT_WIDTH = 360.0  # \textwidth of an article at 11pt
DISPLAY = re.compile(r"\\\[(.*?)\\\]", re.S)
IDS = sorted(results())
needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")

# As TeX sets them, in points.
KNOWN = {
    "x": 6.26,
    "a + b": 23.87,
    r"\frac{a + b}{2}": 26.27,
    r"\sqrt{x^{2} + 1}": 40.82,
    r"\sum_{k=1}^{n} k \le \max_j x_j": 71.15,
    r"\left(\frac{a}{b}\right)^{2}": 26.02,
    r"e_{\text{one step}}": 36.34,
    r"\begin{cases} 1 & \text{for}\: x = 1 \\ 0 & \text{otherwise} \end{cases}": 71.55,
}


def compiled(folder: Path, *lines: str) -> str:
    """What pdflatex says of an 11pt article."""
    head = [r"\documentclass[11pt]{article}", r"\usepackage{amsmath,amssymb}", r"\newlength{\w}", r"\begin{document}"]
    (folder / "it.tex").write_text("\n".join([*head, *lines, r"\end{document}"]))
    call = ["pdflatex", "-interaction=nonstopmode", "it.tex"]
    return subprocess.run(call, cwd=folder, capture_output=True, check=False).stdout.decode(errors="replace")


@cache
def fragment(name: str) -> str:
    return find_result(name).latex()


@pytest.mark.parametrize("formula", KNOWN)
def test_a_formula_is_as_wide_as_tex_sets_it(formula):
    assert width(formula) == pytest.approx(KNOWN[formula], rel=0.04)


@needs_tex
def test_the_known_widths_are_those_of_tex(tmp_path):
    said = compiled(tmp_path, *(rf"\settowidth{{\w}}{{$\displaystyle {each}$}}\typeout{{w=\the\w}}" for each in KNOWN))
    assert [float(each) for each in re.findall(r"w=([\d.]+)pt", said)] == pytest.approx(list(KNOWN.values()), abs=0.01)


@pytest.mark.parametrize("name", IDS)
def test_displays_fit(name):
    text = fragment(name)
    start = text.find(r"\begin{itemize}")
    inside = text[start:] if start >= 0 else ""
    for part, most in ((text.removesuffix(inside), PAGE), (inside, PAGE - LISTED)):
        wide = {display: width(display) for display in DISPLAY.findall(part)}
        assert not {display: points for display, points in wide.items() if points > most + 0.5}


@needs_tex
def test_every_result_compiles_without_overfull_displays(tmp_path):
    said = compiled(tmp_path, *map(fragment, IDS))
    assert "\n!" not in said
    assert max(map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) detected", said)), default=0) <= 2


def test_of_a_fraction_the_longer_part_counts_and_of_cases_the_longest():
    assert width(r"\frac{a b c}{d}") == width(r"\frac{a b c}{\frac{d}{e}}")
    assert width(r"\begin{cases} a \\ a b c \end{cases}") > width(r"\begin{cases} a \\ a b \end{cases}")
    assert width("a + b") > width("a b") + 8  # an operator has space about it
    assert width("a + b") - width("-b") > width("a")  # a sign has none


def test_what_no_name_of_a_repeated_part_shortens_has_its_longest_part_named():
    a = sp.symbols("x1:28", positive=True)
    wide = sp.Max(*(sp.exp(sp.Add(*a[k : k + 9])) for k in range(0, 18, 3)), evaluate=False)
    shown = equation("f", "=", wide)
    assert width(shown) <= PAGE
    assert len(re.findall(r"^s_\{\d+\}(?= =)", shown, re.M)) > 1
    for letter in a[:24]:
        assert sp.latex(letter) in shown


def test_a_part_with_the_index_of_a_sum_is_named_as_a_function_of_it():
    x, k, n = sp.symbols("x k n", positive=True)
    summand = sp.sqrt(1 + sp.Add(*((k * x) ** j / (x + j) for j in range(1, 9))))
    shown = equation("f", "=", sp.Sum(x * summand, (k, 1, n)))
    assert width(shown) <= PAGE
    assert r"s_{1}{\left(k \right)} &= " in shown
    assert r"\sum_{k=1}^{n}" in shown.splitlines()[1]


def test_a_typed_formula_is_broken_at_wide_spaces_first_then_at_relations_outside_of_groups():
    chunk = " + ".join(f"x_{{{k}}}" for k in range(12))
    assert wrapped("a = b") == "a = b"
    shown = wrapped(rf"f = {chunk},\quad g = \left(\frac{{{chunk}}}{{2}}\right)")
    assert shown.splitlines()[1:-1] == [rf"&f = {chunk},\quad \\", rf"&\quad g = \left(\frac{{{chunk}}}{{2}}\right)"]
    assert width(shown) <= TEXT_WIDTH
    broken = wrapped(rf"f \le {chunk} + {chunk}")
    assert width(broken) <= TEXT_WIDTH
    assert broken.count(r"\\") == 1


def test_a_long_condition_is_displayed_with_its_short_side_first():
    x = sp.symbols("x1:30", positive=True)
    assert stated(x[0] <= x[1]) == "$x_{1} \\leq x_{2}$"
    assert stated(sp.Add(*x) <= sp.Symbol("R")).startswith("\\[ \\begin{aligned}\nR &\\ge ")


def test_names_do_not_run_out_where_letters_do():
    from symbolic.latex.displays import shortened

    taken = sp.symbols(list("suyzbcdqvwghkmfprtxaAEFGHJQSTUVWXYZ"), positive=True)
    repeated = sp.exp(sp.Add(*taken[:9]))
    _, names = shortened([("f", "=", sp.Add(*taken, sp.sqrt(1 + repeated), repeated))], None, PAGE)
    assert [str(name) for name, _ in names][:1] == ["xi_1"]
