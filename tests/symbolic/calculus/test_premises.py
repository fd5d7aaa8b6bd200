"""Every premise of a rule is checked, or becomes an obligation; no letter of the caller's is captured."""

from dataclasses import replace

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    LinearRecursion,
    Norm,
    contract,
    given,
    knob_for,
    linear_map,
    recur,
)
from symbolic.calculus.families import stack
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivations.signs import is_nonnegative
from tests.symbolic.cases import PREMISES
from tests.symbolic.cases.premises import Premise
from tests.symbolic.values import HALF, N, e, number, sign

# --- what is false is refused, what is unclear is owed ---------------------------------------------------------------


@pytest.mark.parametrize("premise", PREMISES, ids=lambda premise: premise.name)
def test_a_premise_is_clear_refused_or_owed(premise: Premise) -> None:
    premise.check()


def test_a_premise_that_a_rule_forgets_is_noticed() -> None:
    def forgetful(v: object) -> Approximated:
        return given("x", dim=1, size=1 if v in (-1, sign) else v)

    complete = next(each for each in PREMISES if each.name == "given, size")
    for changes, words in (
        ({"rule": forgetful}, "-1 is not refused"),
        ({"rule": forgetful, "refused": ()}, "given, size"),
        ({"words": "nothing"}, "given, size"),
        ({"holds": (sign,)}, "given, size"),
    ):
        with pytest.raises(AssertionError, match=words):
            replace(complete, **changes).check()


def test_conditions_and_strings_are_not_numbers() -> None:
    for wrong in (sp.true, sign > 0, "1"):
        with pytest.raises(DerivationError, match="expected a SymPy expression or a number"):
            given("x", dim=1, size=wrong)


# --- names -----------------------------------------------------------------------------------------------------------


def test_no_symbol_of_the_caller_is_taken_for_an_error() -> None:
    own = sp.Symbol("e_y", nonnegative=True)
    y = given("y", dim=1, size=1, error=2)
    scaled = linear_map(y, "z", operator_norm=own, dim=1)
    assert scaled.error == 2 * own
    assert y.error_symbol != own
    assert given("y", dim=1, size=1, error=own).error == own


def test_no_symbol_of_the_caller_is_taken_for_the_number_of_a_layer() -> None:
    layer = LinearRecursion.index
    assert recur(number(error=0), "y", factor=layer, offset=1, depth=3, size=1).error.subs(layer, 2) == 7
    assert contract(number(error=1), "y", factor=layer, offset=0, depth=2, size=1).error.subs(layer, HALF) == HALF**2
    x = number(error=e, size=sp.Symbol("S", nonnegative=True))
    one = linear_map(x, "y", operator_norm=layer, dim=1)
    assert iterate(number(error=1), "z", recursion_from(x, one), 3, size=1).error.subs(layer, 2) == 8
    varying = recursion_from(x, linear_map(x, "y", operator_norm=layer + 1, dim=1), index=layer)
    assert iterate(number(error=1), "z", varying, 3, size=1).error.doit() == 6


@pytest.mark.parametrize("letter", ["i", "m"])
def test_no_symbol_of_the_caller_is_taken_for_an_index_of_a_sum(letter: str) -> None:
    own, j = sp.Symbol(letter, integer=True, positive=True), sp.Symbol("j", integer=True, positive=True)
    parts = [number(f"p{k}", error=own * s, norm=Norm.TWO) for k, s in enumerate((1, j, 7))]
    stacked = stack(parts[0], parts[1], j, parts[2], count=4, name="all")
    assert stacked.error.subs(own, 5).doit() == 5 * sp.sqrt(1 + 4 + 9 + 49)


@pytest.mark.parametrize("rate", [sp.Rational(1237, 1000), sp.Float("1.237"), sp.Rational(10**9 + 7, 10**9)], ids=str)
def test_a_knob_is_solved_for_whatever_its_digits_are(rate: sp.Expr) -> None:
    k = sp.Symbol("k", positive=True)
    knob = knob_for(5 * sp.exp(-rate * k), k, sp.Rational(1, 100))
    assert float(knob.value) == pytest.approx(float(sp.log(500) / rate), rel=1e-12)
    assert knob_for(5 * sp.exp(-rate * N), N, sp.Rational(1, 100)).value == sp.ceiling(sp.log(500) / rate)


def test_a_bound_that_jumps_up_at_a_pole_is_not_said_to_fall() -> None:
    k = sp.Symbol("k", positive=True)
    for jumps in (1 / (k - 2), sp.tan(k), 1 / sp.log(k), 1 / (k**2 - 3 * k + 1)):
        with pytest.raises(DerivationError, match=r"cannot show that .* decreases in k"):
            knob_for(jumps, k, 1)


# --- signs -----------------------------------------------------------------------------------------------------------

q, a = sp.symbols("q a", nonnegative=True)
m = sp.Symbol("m", integer=True, nonnegative=True)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ((1 - q**N) / (1 - q), True),
        ((1 - sp.exp(-3 * a)) / (1 - sp.exp(-a)), True),
        ((1 - (a * q) ** (N - 1)) / (1 - a * q), True),
        ((1 - q ** (N - 2)) / (1 - q), None),
        ((1 - q**N) / (1 - a), None),
        ((1 - sign**N) / (1 - sign), None),
        ((1 - q) / (1 - q**N), None),
        (1 - q, None),
        (N + m - 1, True),
        (N + m - 2, None),
        (sp.Piecewise((0, sp.Eq(N, 1)), (N - 2, True)), True),
        (sp.Piecewise((0, sp.Eq(N, 2)), (N - 2, True)), None),
        (sp.Piecewise((N - 2, True)), None),
        (sp.Max(sign, 0), True),
        (sp.Max(sign, -1), None),
        (sp.Min(q, a), True),
        (sp.Min(q, sign), None),
        (sp.sqrt(q + a) * sp.Sum(q**m, (m, 0, N)), True),
        (-q - 1, False),
        (sp.sqrt(2) - 1, True),
        (1 - sp.sqrt(2), False),
    ],
    ids=str,
)
def test_signs_are_shown_where_they_are_clear_and_only_there(expression: sp.Expr, shown: bool | None) -> None:
    assert is_nonnegative(sp.sympify(expression)) is shown
