"""The least value of a function on a box: with and without slopes, of expressions, roots, refusals."""

import math

import flint
import pytest
import sympy as sp
from scipy.optimize import minimize

from boundsmith.formulas import least_of, least_value
from bridge.lowering.least_value import Enclosure
from symbolic.words.errors import UsageError

x, y, a = sp.symbols("x y a", real=True)
BOX = [(-1.0, 1.0), (-1.0, 1.0)]


def test_the_least_value_with_and_without_slopes() -> None:
    def bowl(t: list) -> object:
        return (t[0] - 0.3) ** 2 + abs(t[1]) + 1

    plain = least_value(bowl, BOX, tolerance=1e-2)
    assert plain.lower <= 1 <= plain.upper <= plain.lower + 1e-2

    def tilted(t: list) -> object:  # each variable occurs twice
        first, second = t[0] - 0.3, t[1] - 0.2
        return first * first - first * second + second * second

    box = BOX
    slopes = least_value(
        tilted,
        box,
        tolerance=1e-6,
        gradient=lambda t: [2 * (t[0] - 0.3) - (t[1] - 0.2), 2 * (t[1] - 0.2) - (t[0] - 0.3)],
    )
    assert slopes.lower <= 0 <= slopes.upper <= slopes.lower + 1e-6
    without = least_value(tilted, box, tolerance=1e-6, most_boxes=slopes.boxes)
    assert without.lower <= 0 <= without.upper
    assert without.width > 1e-6


def test_the_least_value_of_an_expression_is_that_of_another_search() -> None:
    expression = a * (x - y) ** 2 + sp.Max(x + y, 0) + sp.Abs(x - sp.Rational(1, 3)) + sp.exp(y) / 4
    found = least_of(expression, {x: (-1.0, 1.0), y: (-2.0, 1.0)}, {a: 2}, tolerance=1e-5)
    numbers = sp.lambdify((x, y), expression.subs(a, 2), "math")
    starts = [(i / 4, j / 4) for i in range(-4, 5) for j in range(-8, 5)]
    searched = min(
        (minimize(lambda v: numbers(*v), start, method="Nelder-Mead", bounds=[(-1, 1), (-2, 1)]) for start in starts),
        key=lambda each: each.fun,
    )
    assert found.lower <= searched.fun + 1e-12
    assert searched.fun == pytest.approx(found.upper, abs=1e-5)
    assert found.width <= 1e-5
    assert numbers(*found.at) == pytest.approx(found.upper, abs=1e-12)


def test_a_number_is_its_least_value_and_slopes_may_come_one_by_one() -> None:
    three = least_of(sp.Integer(3), {}, tolerance=0.1)
    assert (three.lower, three.upper, three.at) == (3, 3, ())
    found = least_value(lambda t: t[0], [(0, 1)], tolerance=0.1, gradient=lambda t: (flint.arb(1) for _ in t))
    assert found.lower == pytest.approx(0, abs=1e-9)
    assert found.lower <= 0


def test_sides_near_the_largest_floats_have_a_middle() -> None:
    found = least_of(x / sp.Integer(10) ** 308, {x: (1e308, 1.7e308)}, tolerance=0.01)
    assert found.lower <= 1 <= found.upper <= 1.01
    assert math.isfinite(found.at[0])


def test_an_expression_with_jumps_has_no_slopes_and_is_enclosed_all_the_same() -> None:
    found = least_of(x**2 + sp.Heaviside(x - sp.Rational(1, 4)), {x: (-1.0, 1.0)}, tolerance=1e-3)
    assert found.lower <= 0 <= found.upper <= 1e-3


THIRD = sp.Rational(1, 3)


@pytest.mark.parametrize("ends", [(THIRD, 1), (-THIRD, THIRD), (THIRD, THIRD), (-sp.sqrt(2), -THIRD)], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_ends_that_no_float_is_count_exactly(ends: tuple[sp.Expr, sp.Expr], sign: int) -> None:
    found = least_of(sign * x, {x: ends}, tolerance=1e-9)
    true = sp.sympify(min(sign * each for each in ends))
    assert sp.Rational(found.lower) <= true <= sp.Rational(found.upper)
    assert found.width <= 1e-9


def test_values_may_be_balls_and_count_with_their_worst() -> None:
    found = least_of((x - 1) ** 2 + a, {x: (0.0, 3.0)}, {a: flint.arb(1, 0.25)}, tolerance=0.6)
    assert found.lower <= 0.75
    assert found.upper >= 1.25


def test_a_letter_without_a_range_is_refused() -> None:
    with pytest.raises(UsageError, match=r"least_of: a, y has no value in .*; got values for x; add it"):
        least_of(x * y + a, {x: (0.0, 1.0)}, tolerance=0.1)


def test_the_root_is_rounded_outward() -> None:
    root = Enclosure(2.0, 3.0, (1.0,), 7).root
    assert root.lower**2 <= 2 <= math.nextafter(root.lower, 2) ** 2 * (1 + 1e-15)
    assert root.upper**2 >= 3
    assert root.upper == pytest.approx(math.sqrt(3), rel=1e-15)
    assert (Enclosure(-1.0, 0.0, (), 1).root.lower, root.at, root.boxes) == (0.0, (1.0,), 7)


@pytest.mark.long
@pytest.mark.parametrize(
    ("expression", "least"),
    [(x * sp.log(x), -math.exp(-1)), (x**x, math.exp(-math.exp(-1))), (sp.sin(x) / (x + 1e-3 * sp.Abs(x)), None)],
    ids=str,
)
def test_a_box_without_an_enclosure_hides_no_minimum(expression: sp.Expr, least: float | None) -> None:
    found = least_of(expression, {x: (0.0, 2.0)}, tolerance=1e-9)
    assert found.lower <= (found.upper if least is None else least) <= found.upper


def test_what_is_unbounded_below_has_no_finite_lower_end() -> None:
    assert least_of(1 / x, {x: (-1.0, 1.0)}, tolerance=1e-6, most_boxes=200).lower == -math.inf


@pytest.mark.parametrize("side", [(0.0, math.inf), (math.nan, 1.0)])
def test_a_range_without_two_finite_ends_is_refused(side: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="give sides with two finite ends"):
        least_of(x**2, {x: side}, tolerance=1e-3)
