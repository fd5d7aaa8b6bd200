"""Displays fit the page: no line has more letters in a row than the text of an 11pt article takes."""

import re

import pytest
import sympy as sp

from symbolic.catalogue import find_result
from symbolic.displays import PAGE, ROW_END, equation, row_letters
from symbolic.printing import LISTED

IDS = ["universal.lasso", "universal.proximal", "universal.transformer"]
MARKS = re.compile(r"\\(?:begin|end)\{(?:gathered|aligned)\}|&")


def rows(display: str) -> list[str]:
    return ROW_END.split(MARKS.sub("", display))


@pytest.mark.parametrize("name", IDS)
def test_displays_of_these_results_fit(name):
    text = find_result(name).latex()
    start = text.index(r"\begin{itemize}")
    for part, most in ((text[:start], PAGE), (text[start:], PAGE - LISTED)):
        found = [row for display in re.findall(r"\\\[(.*?)\\\]", part, re.S) for row in rows(display)]
        assert len(found) > 4
        assert max(map(row_letters, found)) <= most, max(found, key=row_letters)


def test_of_a_fraction_the_longer_part_counts_and_of_cases_the_longest():
    assert row_letters(r"\frac{abc}{\frac{d}{ef}}") == 3
    assert row_letters(r"x \begin{cases} a \\ abcd \end{cases}") == 5
    assert row_letters("a + b") == 4  # an operator has space about it


def test_what_no_name_of_a_repeated_part_shortens_has_its_longest_part_named():
    a = sp.symbols("x1:28", positive=True)
    wide = sp.Max(*(sp.exp(sp.Add(*a[k : k + 9])) for k in range(0, 18, 3)), evaluate=False)
    shown = equation("f", "=", wide)
    assert max(map(row_letters, rows(shown))) <= PAGE
    assert len(re.findall(r"^s_\{\d+\}(?= =)", shown, re.M)) > 1
    for letter in a[:24]:
        assert sp.latex(letter) in shown
