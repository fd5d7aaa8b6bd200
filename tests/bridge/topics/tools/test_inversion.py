"""The largest perturbation at which all bounds hold: against closed forms, certified on both sides, and refusals."""

import math
from collections.abc import Sequence
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp

from boundsmith.checks import Condition, largest_perturbation
from symbolic.calculus.perturbations import largest_safe
from symbolic.words.errors import UsageError

x, a = sp.symbols("x a", positive=True)
SQUARE = Condition("square", a * x**2, {a: 2}, 1)
LINE = Condition("line", x, {}, sp.Rational(9, 10))


def test_it_is_certified_and_names_what_decides() -> None:
    found = largest_perturbation([SQUARE, LINE], x)
    assert found.size == pytest.approx(np.sqrt(0.5), rel=1e-8)
    assert found.size**2 * 2 <= 1 < found.above**2 * 2
    assert found.above == pytest.approx(found.size, rel=1e-7)
    assert found.binding == "square"
    assert largest_perturbation([LINE], x).binding == "line"
    free = largest_perturbation([LINE, SQUARE], x, most=0.5)
    assert (free.size, free.binding, free.above) == (0.5, "most", math.inf)  # no condition decides it


@pytest.mark.parametrize("limit", [sp.Rational(1, 10**20), sp.Rational(1, 10**300), 0.1, sp.sqrt(2) / 10**9])
def test_the_answer_is_the_last_float_however_small(limit: Any) -> None:
    found = largest_perturbation([Condition("line", x, {}, limit), Condition("wide", x, {}, 5)], x)
    assert found.binding == "line"
    assert sp.Rational(found.size) <= limit < sp.Rational(found.above)
    assert math.nextafter(found.size, 1) > limit


@pytest.mark.parametrize(
    ("bound", "limit", "largest"),
    [(x + sp.Float(1e17), 10**17 + 9, 9), (x + 1.0, 1 + sp.Rational(7, 10**18), sp.Rational(7, 10**18))],
)
def test_floats_in_a_bound_are_the_numbers_that_they_are(bound: sp.Expr, limit: Any, largest: Any) -> None:
    found = largest_perturbation([Condition("line", bound, {}, limit)], x, most=100)
    assert sp.Rational(found.size) <= largest < sp.Rational(found.above)


def test_of_several_conditions_the_last_that_lowers_it_decides() -> None:
    order = [Condition("first", x, {}, sp.Rational(1, 2)), Condition("second", x, {}, sp.Rational(1, 4)), SQUARE]
    assert [largest_perturbation(each, x).binding for each in (order, order[::-1])] == ["second", "second"]


@pytest.mark.parametrize("margin", [1, sp.Rational(1, 3), sp.sqrt(2) / 5])
def test_it_is_the_closed_form_of_rule_11(margin: sp.Expr) -> None:
    rho = sp.Symbol("rho", nonnegative=True)
    bound = (1 + rho) ** 3 - 1
    knob = largest_safe(bound, rho, margin).value
    found = largest_perturbation([Condition("layers", bound, {}, margin)], rho)
    assert found.size == pytest.approx(float(knob), rel=1e-8)
    assert sp.Rational(found.size) <= knob < sp.Rational(found.above)


@pytest.mark.parametrize("value", [sp.sqrt(2), flint.arb(2).sqrt(), 2**0.5], ids=["sympy", "ball", "float"])
def test_values_are_numbers_of_every_kind(value: Any) -> None:
    found = largest_perturbation([Condition("line", a * x, {a: value}, 1)], x)
    assert found.size == pytest.approx(2**-0.5, rel=1e-8)


def test_a_wide_ball_counts_with_its_worst_value() -> None:
    wide = flint.arb(2, 1)  # 1 to 3
    assert largest_perturbation([Condition("line", a * x, {a: wide}, 1)], x, most=0.25).size == 0.25
    assert largest_perturbation([Condition("line", a * x, {a: wide}, 1)], x).size == pytest.approx(1 / 3)


def test_a_strict_limit_is_not_reached() -> None:
    reached = Condition("constant", sp.Min(x, 1), {}, 1, strict=True)
    assert largest_perturbation([Condition("constant", sp.Min(x, 1), {}, 1)], x, most=4.0).size == 4.0
    below = largest_perturbation([reached], x, most=4.0)
    assert (below.size, below.binding) == (math.nextafter(1.0, 0.0), "constant")


REFUSED: list[tuple[Sequence[Condition], float, str]] = [
    ([], 1.0, "no conditions came; give at least one"),
    ([LINE], 0.0, "most = 0.0; give a positive finite number"),
    ([LINE], math.inf, "most = inf; give a positive finite number"),
    ([Condition("square", a * x**2, {}, 1)], 1.0, "'square': a has no value in "),
    ([Condition("never", x + 1, {}, 1, strict=True)], 1.0, "'never' decides: its bound has to be below the limit 1"),
]


@pytest.mark.parametrize(("conditions", "most", "words"), REFUSED, ids=[words[:12] for *_, words in REFUSED])
def test_what_is_refused(conditions: Sequence[Condition], most: float, words: str) -> None:
    with pytest.raises(UsageError, match=f"largest_perturbation: .*{words}"):
        largest_perturbation(conditions, x, most=most)
