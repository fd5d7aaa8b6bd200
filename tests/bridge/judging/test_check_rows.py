"""Rows of checks: what follows from proofs and runs, settings, several points, orders, replay, refusals."""

from dataclasses import replace
from typing import Any

import flint
import pytest
import sympy as sp

from bridge.judging.judge import implies, of_order
from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides, at_most, within
from bridge.theorems.record import Flag, Verdict
from symbolic.statements.landau import largest_ratio
from symbolic.statements.result import Kind, Order
from symbolic.words.errors import UsageError
from tests.bridge.own_checks import m, n, of, quantity, row_of, rows_of

# Proofs and runs.


@pytest.mark.parametrize(
    ("kind", "known", "bound", "expected"),
    [
        (Kind.LOWER, 2, 1, True),
        (Kind.LOWER, 1, 2, False),
        (Kind.UPPER, 1, 2, True),
        (Kind.UPPER, 2, 1, False),
        (Kind.EXACT, 2, 2, True),
        (Kind.EXACT, 2, 1, False),
        (Kind.RATE, -1, -1, True),
        (Kind.RATE, -2, -1, False),
    ],
)
def test_a_printed_bound_that_follows_from_a_proved_one_is_proved(
    kind: Kind, known: int, bound: int, expected: bool
) -> None:
    assert implies(kind, flint.arb(known), flint.arb(bound)) is expected
    row = row_of(Sides(derived=known, proved=("derived",)), quantity(kind, bound))
    assert row.verdict["derived"] is Verdict.PROVED
    assert (row.verdict["printed"] is Verdict.PROVED) is expected


def test_a_strict_bound_does_not_follow_from_the_same_number() -> None:
    assert implies(Kind.UPPER, flint.arb(1), flint.arb(1))
    assert not implies(Kind.UPPER, flint.arb(1), flint.arb(1), strict=True)


def test_a_run_that_contradicts_a_proof_leaves_it_undecided() -> None:
    row = row_of(Sides(1, derived=2, proved=("derived",)), quantity(printed=sp.Rational(1, 2)))
    assert row.verdict == {"printed": Verdict.PROVED, "derived": Verdict.UNDECIDED}
    assert row.remark == "derived: the run contradicts the proof, one of the two is wrong"


def test_a_run_within_its_accuracy_contradicts_nothing() -> None:
    zero = quantity(Kind.EXACT, 0)
    for measured, verdict in ((1e-7, Verdict.PROVED), (1e-5, Verdict.UNDECIDED)):
        row = row_of(Sides(within(measured, 1e-6), measured=measured, proved=("printed",)), zero)
        assert (row.measured, row.verdict) == (measured, {"printed": verdict})


def test_a_search_for_a_least_value_contradicts_what_lies_above_it_only() -> None:
    for known, verdict in ((1, Verdict.PROVED), (0.5, Verdict.PROVED), (2, Verdict.UNDECIDED)):
        sides = Sides(at_most(1.0, 1e-9), measured=1.0, derived=known, proved=("derived",))
        assert row_of(sides, quantity(Kind.EXACT)).verdict == {"derived": verdict}


def test_what_a_computation_supports_is_kept_unless_a_run_contradicts_it() -> None:
    assert row_of(Sides(derived=2, computed=("derived",)), quantity()).verdict == {"derived": Verdict.KEPT}
    assert row_of(Sides(derived=2, computed=("derived",)), quantity(Kind.RATE)).verdict == {"derived": "consistent"}
    contradicted = row_of(Sides(1, derived=2, computed=("derived",)), quantity())
    assert contradicted.verdict == {"derived": Verdict.UNDECIDED}


def test_outside_its_hypotheses_only_a_proof_holds() -> None:
    row = row_of(Sides(1, derived=1, proved=("derived",), outside="x is small"), quantity(printed=2))
    assert row.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.PROVED}
    assert row.remark == "x is small"


def test_a_tier_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="guessed is not a tier"):
        Sides(computed=("guessed",))


def test_an_exact_bound_that_balls_only_find_near_0_is_shown_as_0() -> None:
    tiny = flint.arb(0, 1e-200) * flint.arb(0, 1e-200)
    assert row_of(Sides(derived=tiny), quantity(Kind.EXACT)).derived == 0
    assert row_of(Sides(derived=tiny), quantity(Kind.UPPER)).derived is None


def test_an_exact_bound_below_all_normal_floats_is_not_shown_as_0() -> None:
    row = row_of(Sides(0), quantity(Kind.EXACT, sp.Rational(1, 2**1040)))
    assert row.verdict == {"printed": Verdict.VIOLATED}
    assert row.printed is None


# Formulas and orders.


def test_a_bound_that_is_left_out_is_the_quantitys_own_formula() -> None:
    row = row_of(Sides(3, proved=("derived",)), quantity(printed=n / 4, derive=lambda: n / 2))
    assert (row.printed, row.derived, row.measured) == (1.0, 2.0, 3.0)
    given = row_of(Sides(letters={m: 8}), quantity(printed=m / 4, derive=lambda: m / 2))
    assert (given.printed, given.derived, given.measured) == (2.0, 4.0, None)


def test_a_letter_without_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match="the check 'q' gives m no value in `letters`"):
        row_of(Sides(1), quantity(printed=m))


def test_a_formula_that_rounds_is_exact_at_whole_numbers() -> None:
    row = row_of(Sides(letters={m: 8}), quantity(Kind.EXACT, sp.ceiling(sp.log(m, 2))))
    assert row.printed == 3.0
    (at_point,) = rows_of(lambda n: Sides(3), quantity(Kind.EXACT, sp.ceiling(sp.log(n, 2))), {"n": [8.0]})
    assert at_point.verdict == {"printed": Verdict.KEPT}


@pytest.mark.parametrize(
    ("order", "limit", "verdict"),
    [
        (Order.O, sp.oo, Verdict.VIOLATED),
        (Order.O, sp.Integer(0), Verdict.CONSISTENT),
        (Order.OMEGA, sp.Integer(0), Verdict.VIOLATED),
        (Order.OMEGA, sp.oo, Verdict.CONSISTENT),
        (Order.THETA, sp.Integer(0), Verdict.VIOLATED),
        (Order.THETA, sp.oo, Verdict.VIOLATED),
        (Order.THETA, sp.pi, Verdict.CONSISTENT),
        (Order.NONE, sp.oo, Verdict.UNDECIDED),
    ],
)
def test_a_limit_decides_a_landau_symbol(order: Order, limit: sp.Expr, verdict: Verdict) -> None:
    assert of_order(order, limit) is verdict


def test_a_refuted_order_has_a_witness_and_shows_no_printed_number() -> None:
    sides = Sides(letters={m: 8}, limit=sp.oo)
    row = row_of(sides, quantity(Kind.EXACT, m, Order.O, derive=lambda: m**2))
    assert (row.printed, row.derived, row.verdict) == (None, 64.0, {"printed": Verdict.VIOLATED})
    assert row.witness is not None
    assert row.witness.error_lower == 64 - 8


def test_a_verdict_from_a_limit_alone_says_what_the_limit_is() -> None:
    row = row_of(Sides(letters={m: 8}, limit=sp.Integer(7)), quantity(Kind.UPPER, m, Order.O))
    assert (row.verdict, row.printed) == ({"printed": Verdict.CONSISTENT}, None)
    assert row.remark == "the quantity over the printed expression tends to 7"
    explained = Sides(letters={m: 8}, limit=sp.Integer(7), remark="why")
    assert row_of(explained, quantity(Kind.UPPER, m, Order.O)).remark == "why"
    assert row_of(Sides(3, letters={m: 8}, limit=sp.Integer(7)), quantity(Kind.UPPER, m, Order.O)).remark == ""


def test_a_limit_leaves_what_is_proved_beside_it() -> None:
    sides = Sides(derived=3, proved=("derived",), limit=sp.Integer(1), letters={m: 8})
    verdict = {"derived": Verdict.PROVED, "printed": Verdict.CONSISTENT}
    assert row_of(sides, quantity(Kind.UPPER, m, Order.O)).verdict == verdict
    unknown = row_of(replace(sides, limit=sp.nan), quantity(Kind.UPPER, m, Order.O))
    assert unknown.verdict["printed"] is Verdict.UNDECIDED


@pytest.mark.parametrize("found", [1, 100])
def test_a_number_inside_a_landau_symbol_decides_nothing(found: int) -> None:
    row = row_of(Sides(found, derived=50), quantity(Kind.UPPER, 9, Order.O))
    assert (row.printed, row.verdict["printed"]) == (9.0, Verdict.UNDECIDED)
    assert row.remark == "printed: the number inside O, whose constant is unspecified"
    assert row_of(Sides(derived=1, proved=("derived",)), quantity(Kind.UPPER, 9, Order.O)).verdict["derived"] is (
        Verdict.PROVED
    )


def test_a_bound_alone_may_be_outside_its_hypotheses() -> None:
    row = row_of(Sides(3, derived=2, outside={"printed": "n >= 5"}), quantity(printed=1))
    assert (row.verdict, row.remark) == ({"printed": Verdict.OUTSIDE, "derived": Verdict.KEPT}, "n >= 5")
    with pytest.raises(ValueError, match="guessed is not a tier"):
        Sides(outside={"guessed": "n >= 5"})


def test_a_bound_above_the_trivial_one_is_vacuous_without_a_run() -> None:
    row = row_of(Sides(derived=4), quantity(Kind.UPPER, 2, trivial=n))
    assert row.flags == {"derived": [Flag.VACUOUS.value]}


def test_what_a_search_finds_stands_in_its_column() -> None:
    row = row_of(Sides(at_most(2.0, 1e-9), attacked=2.0, derived=1), quantity())
    assert (row.measured, row.attacked, row.ratio) == (None, 2.0, 0.5)


@pytest.mark.parametrize(
    ("count", "found", "verdicts"),
    [
        (3 * n + 5, 17, {"printed": Verdict.CONSISTENT, "derived": Verdict.KEPT}),
        (3 * n + 5, 18, {"printed": Verdict.UNDECIDED, "derived": Verdict.VIOLATED}),  # the count is wrong
        (n**2, 16, {"printed": Verdict.UNDECIDED, "derived": Verdict.KEPT}),  # no constant
    ],
)
def test_a_constant_for_the_whole_range_decides_a_landau_symbol(
    count: sp.Expr, found: int, verdicts: dict[str, Verdict]
) -> None:
    sides = Sides(found, constant=largest_ratio(count, n, {n: 1}))
    row = row_of(sides, quantity(Kind.EXACT, n, Order.O, derive=lambda: count))
    assert (row.printed, row.verdict) == (4.0, verdicts)
    what = "no constant suffices" if count == n**2 else "the least constant for all n >= 1 is 8"
    assert row.remark == f"printed inside O(.): {what}; measured / printed = {found / 4:.4g} here"


def test_outside_its_hypotheses_a_constant_decides_nothing() -> None:
    sides = Sides(8, constant=largest_ratio(2 * n, n, {n: 1}), outside="n is odd")
    row = row_of(sides, quantity(Kind.EXACT, n, Order.O, derive=lambda: 2 * n))
    assert row.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.OUTSIDE}


# Hypotheses that excuse, paths, constructions.


def test_an_excuse_matters_only_to_a_bound_that_fails() -> None:
    row = row_of(Sides(1, derived=0.5, proved=("derived",), excuse="x is large"), quantity(printed=2))
    assert row.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.PROVED}
    assert (row.remark, row.witness) == ("x is large", None)
    kept = row_of(Sides(3, excuse="x is large"), quantity(printed=2))
    assert (kept.verdict, kept.remark) == ({"printed": Verdict.KEPT}, "")


# Theta(n) of something that is n (1 + 1/n) by a formula, and found so.
@pytest.mark.parametrize(
    ("found", "limit", "more", "verdict"),
    [
        (10, 1, {}, {"printed": Verdict.CONSISTENT, "derived": Verdict.CONSISTENT}),
        (10, sp.oo, {}, {"printed": Verdict.VIOLATED, "derived": Verdict.CONSISTENT}),
        (10, sp.oo, {"excuse": "no"}, {"printed": Verdict.OUTSIDE, "derived": Verdict.CONSISTENT}),
        (10, 1, {"outside": "no"}, {"printed": Verdict.OUTSIDE, "derived": Verdict.CONSISTENT}),
        (12, sp.oo, {}, {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}),
        (10, sp.nan, {}, {"printed": Verdict.UNDECIDED, "derived": Verdict.CONSISTENT}),
        (10, -1, {}, {"printed": Verdict.UNDECIDED, "derived": Verdict.CONSISTENT}),
        (10, None, {}, {"derived": Verdict.CONSISTENT}),
        (12, None, {}, {"derived": Verdict.UNDECIDED}),
    ],
)
def test_a_limit_decides_an_order_where_the_run_confirms_the_formula(
    found: int, limit: Any, more: dict[str, str], verdict: dict[str, Verdict]
) -> None:
    stated = quantity(Kind.RATE, n, Order.THETA, derive=lambda: n + 1)
    sides = Sides(found, limit=None if limit is None else sp.sympify(limit), at={"n": 9}, **more)
    row = row_of(sides, stated)
    assert row.verdict == verdict
    assert (row.printed, row.derived, row.measured, row.params) == (9.0, 10.0, float(found), {"n": 9})


def test_checks_of_one_quantity_are_told_apart_by_their_construction() -> None:
    stated = quantity(printed=n)
    checks = [Check(stated, lambda n, k=k: Sides(n - k), construction=f"less {k}") for k in (0, 1)]
    own = theorem("own.check", parameters={n: 4}, checks=checks)
    kept, violated = compare(own).rows
    assert [row.construction for row in (kept, violated)] == ["less 0", "less 1"]
    assert (kept.verdict["printed"], violated.verdict["printed"]) == (Verdict.KEPT, Verdict.VIOLATED)
    assert violated.witness is not None
    assert violated.witness.quantity == "q (less 1)"
    assert replay_witness(violated.witness, theorem=own).verdict == violated.verdict
    with pytest.raises(UsageError, match="q has several checks; tell them apart by `construction`"):
        theorem("own.check", parameters={n: 4}, checks=[Check(stated, lambda: Sides(1))] * 2)


def test_a_check_at_parameters_of_its_own_takes_the_first_of_a_grid_and_replays() -> None:
    other = Check(replace(quantity(printed=n), name="other"), lambda n: Sides(n - 1), params={})
    own = of(Check(quantity(), lambda: Sides(1, derived=1)))
    spanning = replace(own.statement.parameter("n"), default=(4, 8))
    own = replace(own, statement=replace(own.statement, parameters=(spanning,)), checks=(*own.checks, other))
    (row,) = (row for row in compare(own) if row.quantity == "other")
    assert (row.params, row.measured) == ({}, 3.0)
    assert row.witness is not None
    assert row.witness.params == {"n": 4}
    assert replay_witness(row.witness, theorem=own).verdict == row.verdict
