"""What a proof on a box rests on: derivatives of functions, the least corner, sizes that are allowed, and its words."""

from fractions import Fraction

import flint
import pytest
import sympy as sp

from bridge.questions.certify.boxes import _weights
from bridge.questions.certify.certifying import certify
from bridge.questions.certify.definedness import DomainCondition, Relation
from bridge.questions.certify.expressions import MOST_DIGITS, to_record
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.reading import MOST_BITS, read_claim
from bridge.questions.certify.scalars import Cell, Scalar, least_at_corner
from bridge.questions.certify.search import LARGEST, likely_lowest
from bridge.questions.certify.stating import check_parameters
from bridge.questions.certify.tapes import SLOPES, Tape, value_of
from bridge.questions.certify.words import LONGEST, shortly
from bridge.theorems.registry import find_theorem
from numeric.balls import working_precision
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

x, y = sp.symbols("x y", real=True)
POINTS = (Fraction(1, 7), Fraction(5, 3), Fraction(9, 4))


@pytest.mark.parametrize("function", SLOPES)
@pytest.mark.parametrize("at", POINTS)
def test_value_and_derivative_are_those_of_sympy(function: type, at: Fraction) -> None:
    place = sp.Rational(at.numerator, at.denominator)
    with working_precision(100):
        ball = flint.arb(flint.fmpq(at.numerator, at.denominator))
        for ours, exact in ((value_of(function, ball), function(x)), (SLOPES[function](ball), function(x).diff(x))):
            number = sp.N(exact.subs(x, place), 40)
            assert abs(ours - flint.arb(str(number))) < 1e-25


@pytest.mark.parametrize("function", SLOPES)
def test_the_derivative_on_a_ball_holds_all_of_its_points(function: type) -> None:
    slope = SLOPES[function]
    with working_precision(100):
        ball = slope(flint.arb(1).union(flint.arb(2)))
        assert all(ball.contains(slope(flint.arb(flint.fmpq(k, 8))).mid()) for k in range(8, 17))


@pytest.mark.parametrize(
    ("expression", "box", "least"),
    [
        (x**2 / 8, ((-1, 1),), False),  # its slope runs from -1/4 to 1/4
        (x**2 / 8 - sp.Rational(1, 8), ((1, 2),), True),
        (x**2 / 8 - sp.Rational(1, 8), ((-1, 1),), False),  # 0 at both corners, -1/8 between them
        (sp.Rational(1, 8) - x**2 / 8, ((-1, 1),), False),
        (1 - x, ((0, 1),), True),
        (x + y, ((0, 1), (0, 1)), True),
        (x - y**2 / 8, ((0, 1), (-1, 1)), False),
        (x + y**2, ((0, 1), (0, 0)), True),
    ],
)
def test_a_function_is_least_at_a_corner_only_where_no_slope_changes_its_sign(
    expression: sp.Expr, box: tuple[tuple[int, int], ...], least: bool
) -> None:
    symbols = tuple(sorted(expression.free_symbols, key=str))
    cell = Cell(tuple((Fraction(a), Fraction(b)) for a, b in box))
    with working_precision(100):
        assert least_at_corner(Scalar(expression, symbols, 100), cell) is least


def test_a_falling_coordinate_is_cut_as_often_as_a_rising_one() -> None:
    box = ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1)))
    assert _weights(box, [flint.arb(-3), flint.arb(1)]) == _weights(box, [flint.arb(3), flint.arb(1)])
    assert _weights(box, [flint.arb(-3), flint.arb(1)])[0] == pytest.approx(0.75)


def test_a_number_may_have_as_many_digits_as_it_says() -> None:
    assert to_record(sp.Integer(10) ** (MOST_DIGITS - 4) + x)
    with pytest.raises(UsageError, match="digits"):
        to_record(sp.Integer(10) ** (MOST_DIGITS + 2) + x)


def test_a_power_of_a_negative_number_is_as_large_as_that_of_its_size() -> None:
    bits = MOST_BITS // 900
    for sign in ("", "-"):
        with pytest.raises(UsageError, match="too large"):
            read_claim(f"({sign}{2**bits})**999 + x >= 0")


def test_parameters_of_a_result_without_any_are_refused() -> None:
    with pytest.raises(UsageError, match="takes no parameters; got L"):
        check_parameters(find_theorem("induction.lyapunov_gram").statement, {"L": 5})


def test_a_text_of_the_longest_length_is_whole() -> None:
    assert shortly("a" * LONGEST) == "a" * LONGEST
    assert shortly("a" * (LONGEST + 1)) == "a" * (LONGEST - 3) + "..."


def test_a_proof_reads_every_coordinate_as_a_real_number() -> None:
    z = sp.Symbol("z")  # without an assumption
    found = Enclosures(Inequality("sizes", sp.Abs(z) ** 2 - z**2, {z: (sp.Integer(-1), sp.Integer(1))}))
    assert all(symbol.is_real for symbol in found.symbols)


@pytest.mark.long
def test_one_quantity_has_the_outcomes_of_its_own_inequalities() -> None:
    whole = {each.inequality.name for each in certify("induction.lyapunov_head")}
    one = sorted(whole)[0].partition(":")[0].partition(",")[0]
    part = {each.inequality.name for each in certify("induction.lyapunov_head", quantity=one)}
    assert part <= whole
    assert part
    with pytest.raises(UsageError, match="no inequality of 'nothing'"):
        certify("induction.lyapunov_head", quantity="nothing")


def test_a_tape_takes_each_of_the_functions() -> None:
    for function in SLOPES:
        with working_precision(100):
            (slope,) = Tape(function(x), (x,)).gradient([flint.arb(flint.fmpq(5, 3))])
            assert slope.overlaps(SLOPES[function](flint.arb(flint.fmpq(5, 3))))


def test_low_points_are_sought_in_boxes_up_to_the_floats() -> None:
    far = Inequality("far", (x - 1000) ** 2, {x: (sp.Integer(0), sp.Integer(10) ** 6)})
    lowest, *_ = likely_lowest(far)
    assert abs(lowest[0] - 1000) < 1
    assert likely_lowest(Inequality("beyond", x, {x: (sp.Integer(0), 2 * LARGEST)})) == []


def test_a_search_asks_whether_time_is_left_before_it_starts() -> None:
    def ended() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        likely_lowest(Inequality("none", sp.zeta(x + 2), {x: (sp.Integer(0), sp.Integer(1))}), check=ended)


@pytest.mark.parametrize(
    ("of", "relation", "known"),
    [
        (x**2, Relation.NONNEGATIVE, True),
        (x, Relation.NONNEGATIVE, False),
        (x**2, Relation.POSITIVE, False),
        (x**2 + 1, Relation.POSITIVE, True),
        (x**2 + 1, Relation.NONZERO, True),
        (-sp.exp(x), Relation.NONZERO, True),
        (x, Relation.NONZERO, False),
        (x**2 + 1, Relation.NO_POLE, True),
        (x, Relation.NO_POLE, False),
    ],
)
def test_what_is_known_of_a_real_expression_needs_no_proof(of: sp.Expr, relation: Relation, known: bool) -> None:
    assert DomainCondition(of, relation).known is known
