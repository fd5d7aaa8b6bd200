"""Verdicts: rigorous where exact arithmetic decides, undecided where it does not, and never the wrong one."""

import flint
import pytest

from bridge.instances.bound import Bound
from bridge.judging.errors import _rounded_above
from bridge.judging.judge import Evidence, attained, flags_of, judge
from bridge.theorems.record import Flag, Verdict

ONE = Bound(flint.arb(1))
STRICT = Bound(flint.arb(1), strict=True)


def ball(middle: float, radius: float = 0.0) -> flint.arb:
    return flint.arb(middle, radius)


@pytest.mark.parametrize(
    ("bound", "evidence", "verdict"),
    [
        (ONE, Evidence(0.9, ball(0.9, 1e-20), 1e-16), Verdict.KEPT),
        (ONE, Evidence(1.1, ball(1.1, 1e-20), 1e-16), Verdict.VIOLATED),
        (ONE, Evidence(1.1, ball(0.9, 1e-20), 0.2), Verdict.KEPT),  # the float error is above the bound by rounding
        (ONE, Evidence(0.9, ball(1.1, 1e-20), 0.2), Verdict.VIOLATED),  # and here rounding hides a violation
        (ONE, Evidence(1.0, ball(1.0, 1e-3), 1e-16), Verdict.UNDECIDED),
        (ONE, Evidence(1.0, ball(1.0, 1e-30), 1e-16), Verdict.KEPT),
        (STRICT, Evidence(1.0, ball(1.0), 0.0), Verdict.VIOLATED),
        (STRICT, Evidence(1.0, ball(1.0, 1e-30), 1e-16), Verdict.UNDECIDED),
        (ONE, Evidence(0.9), Verdict.UNDECIDED),
        (ONE, Evidence(0.9, None, 0.05), Verdict.KEPT),
        (Bound(flint.arb("1e-30")), Evidence(0.0, None, 1e-16), Verdict.UNDECIDED),  # a float 0 says nothing here
        (Bound(flint.arb(1), outside="N > 3 fails"), Evidence(0.5, ball(0.5), 0.0), Verdict.OUTSIDE),
        (ONE, Evidence(1.1), Verdict.UNDECIDED),  # no exact run and no rounding known
        (ONE, Evidence(1.1, None, 0.2), Verdict.UNDECIDED),
        (ONE, Evidence(1.1, None, 0.01), Verdict.VIOLATED),
        (Bound(flint.arb(0)), Evidence(0.0, ball(0.0, 1e-30), 0.0), Verdict.KEPT),
        (Bound(flint.arb(0)), Evidence(0.0, ball(0.0, 1e-3), 0.0), Verdict.UNDECIDED),
        (Bound(flint.arb(0)), Evidence(0.1, ball(0.1, 1e-3), 0.0), Verdict.VIOLATED),
    ],
)
def test_one_piece_of_evidence(bound: Bound, evidence: Evidence, verdict: Verdict) -> None:
    assert judge(bound, [evidence]) is verdict


def test_the_worst_piece_decides() -> None:
    kept, violated, unclear = Evidence(0.5, ball(0.5)), Evidence(2.0, ball(2.0)), Evidence(1.0, ball(1.0, 0.1))
    assert judge(ONE, [kept, unclear]) is Verdict.UNDECIDED
    assert judge(ONE, [unclear, violated, kept]) is Verdict.VIOLATED
    assert judge(ONE, []) is Verdict.UNDECIDED


def test_flags_say_what_a_verdict_does_not() -> None:
    vacuous = Bound(flint.arb(3), conditional=True)
    assert flags_of(vacuous, flint.arb(2), []) == [Flag.VACUOUS, Flag.CONDITIONAL]
    assert flags_of(ONE, flint.arb(2), [Evidence(1.0, ball(1.0, 1e-30))]) == [Flag.ATTAINED]
    assert flags_of(Bound(flint.arb(0)), flint.arb(0), []) == []
    assert flags_of(ONE, None, [Evidence(0.5, ball(0.5))]) == []
    assert Evidence(1.0, None, 0.6).rounding_dominates
    assert not Evidence(1.0, None, 0.4).rounding_dominates


def test_an_undefined_bound_is_no_number() -> None:
    assert Bound(flint.arb("nan")).number() is None
    assert Bound(flint.arb("inf")).number() is None


@pytest.mark.parametrize(("exponent", "shown"), [(0, True), (-1000, True), (-1030, False), (-2000, False)])
def test_a_bound_that_no_float64_holds_is_not_shown_as_a_number(exponent: int, shown: bool) -> None:
    assert (Bound(flint.arb(2) ** exponent).number() is not None) is shown


@pytest.mark.parametrize(("measured", "exact", "flagged"), [(1.1, 0.9, True), (0.95, 0.9, False), (1.1, 1.05, False)])
def test_a_float_error_above_a_bound_that_exact_arithmetic_keeps_is_told(
    measured: float, exact: float, flagged: bool
) -> None:
    evidence = Evidence(measured, flint.arb(exact), rounding=0.3)
    assert _rounded_above(Bound(flint.arb(1)), evidence) is flagged
    assert not _rounded_above(Bound(flint.arb(1)), Evidence(measured, None, rounding=0.3))


def small(places: float) -> flint.arb:
    """[0, places 2^-60]."""
    return flint.arb(0).union(places * flint.arb(2) ** -60)


def test_the_sixtieth_bit_decides_what_is_attained_and_what_is_rounding() -> None:
    zero = Bound(flint.arb(0))
    assert attained(zero, Evidence(0.0, small(0.75)))
    assert not attained(zero, Evidence(0.0, small(1.5)))
    assert Evidence(0.0, None, 0.75 * 2.0**-60).rounding_dominates
    assert not Evidence(0.0, None, 0.25 * 2.0**-60).rounding_dominates


def test_an_error_that_equals_the_bound_is_not_above_it_by_rounding() -> None:
    assert not _rounded_above(ONE, Evidence(1.0, ball(1.0), 0.0))
    assert _rounded_above(ONE, Evidence(1.0 + 2.0**-52, ball(1.0), 2.0**-52))
