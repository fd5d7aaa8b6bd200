"""Conditions of a statement are stated once, under labels; names that its displays share are defined once."""

import re
from collections.abc import Iterator

import pytest
import sympy as sp

from symbolic import find_result
from symbolic.calculus import Norm, apply_function, given
from symbolic.latex.conditions import conditions_of
from symbolic.latex.displays import display
from symbolic.latex.naming import range_of
from symbolic.latex.page import Page
from symbolic.latex.shown_bounds import derived_equations
from symbolic.statements.result import Kind, Quantifier, Quantity, Result

eps, rho, q, r = sp.symbols("epsilon rho q r", positive=True)
N, j = (sp.Symbol(letter, integer=True, positive=True) for letter in "Nj")
DEFINED = re.compile(r"^(?:\\begin\{aligned\}\n)?&?(\S+) &?=")


def on(radius: sp.Expr, name: str) -> Quantity:
    """An approximation on [-radius, radius] of arguments of at most rho + eps."""
    x = given("x", dim=1, norm=Norm.INF, size=rho, error=eps)
    value = apply_function(x, name, eps=eps, lipschitz=q, size=1, radius=radius)
    return Quantity(name, name, "", "", "", Kind.UPPER, Quantifier.FOR_ALL, value.derivation, name)


def own(*quantities: Quantity) -> Result:
    return Result("own", "own", find_result("icgd.step").citation, "", (), (), quantities)


def test_equal_conditions_are_one_and_what_follows_from_another_is_left_out() -> None:
    quantities = (on(q, "f"), on(q, "g"), on(q + r, "h"))
    made = conditions_of(own(*quantities), quantities, Page())
    assert made.lines == ["Assume that", r"\[ q \ge \epsilon + \rho. \]"]
    assert made.needed == {}


def test_a_condition_of_one_bound_alone_has_a_label() -> None:
    free = Quantity("x", "x", "", "", "", Kind.UPPER, Quantifier.FOR_ALL, on(q, "f").derivation, "x")
    quantities = (on(q, "f"), on(r, "g"), free)
    made = conditions_of(own(*quantities), quantities, Page())
    text = "\n".join(made.lines)
    assert text.count(r"\tag{C1}") == text.count(r"\tag{C2}") == 1
    assert made.needed == {"f": ["(C1)"], "g": ["(C2)"], "x": []}


def test_the_range_of_an_induction_is_defined_by_its_recursion() -> None:
    result = find_result("icgd.derivative")
    (range_words,) = conditions_of(result, result.quantities, Page(result.notation)).lines
    assert range_words.startswith(r"Let $R$ be the largest of $R_0, \dots, R_{N - 1}$, where")
    assert "R_0 = B_{v} B_{x}." in range_words


def definitions(id: str) -> Iterator[str]:
    result = find_result(id)
    page = Page(result.notation)
    for quantity in result.quantities:
        if quantity.derived() is not None:
            yield from derived_equations(quantity, r"\le", page)[1:]


@pytest.mark.parametrize("id", ["icgd.step", "icgd.backward", "looped.gradient_descent", "universal.transformer"])
def test_each_name_is_defined_once(id: str) -> None:
    names = [found[1] for each in definitions(id) if (found := DEFINED.match(each))]
    assert len(names) > 2
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("apart", "ends"),
    [
        ([N], (None, N)),
        ([N, N - 1], (None, N - 1)),
        ([sp.Integer(1), N], (1, N)),
        ([sp.Integer(1), sp.Integer(2)], (2, None)),
        ([sp.Integer(2), N], None),
        ([N - 2], None),
        ([N, sp.Symbol("M", integer=True)], None),
    ],
)
def test_members_apart_at_the_ends_leave_a_range(apart: list[sp.Expr], ends: object) -> None:
    assert range_of(j, apart) == ends


def test_the_middle_blocks_of_a_stack_have_a_range() -> None:
    assert any(
        each.startswith(r"\begin{aligned}" + "\ne_{A(j)}") and "(1 < j < N)" in each
        for each in definitions("icgd.step")
    )


def test_a_display_with_definitions_may_break_over_a_page() -> None:
    shown = display(["a = b", "b = c", "c = d"], ".")
    assert shown.startswith("\\[ a = b \\]\nwhere\n{\\allowdisplaybreaks\n")
    assert "b = c, \\\\\nc = d.\n\\end{gather*}}" in shown
    assert display(["a = b"], ".") == r"\[ a = b. \]"
