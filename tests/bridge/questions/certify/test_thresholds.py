"""Certified thresholds against values in closed form, as checks of a theorem of one's own; and every refusal."""

import pytest
import sympy as sp

import boundsmith as bs
from bridge.questions.certify.proving import Status, prove
from symbolic.words.errors import UsageError

x, y = sp.symbols("x y", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
ROOT = bs.checks.Threshold("square", x, 2 - x**2, 2 - x**2, 2, written="x")
WIDE = bs.checks.Threshold("cube", x, 1 - x**3, 2 - x**3, sp.Rational(3, 2), grain=100)


def quantity(**more: object) -> bs.statements.Quantity:
    return bs.statements.Quantity(
        "largest",
        "x",
        "largest x with x^2 <= 2",
        "x",
        "x > 0",
        bs.statements.Kind.LOWER,
        bs.statements.Quantifier.FOR_ALL,
        scopes=(),
        **more,
    )


def test_the_threshold_is_the_root_to_the_grain() -> None:
    assert (ROOT.holds, ROOT.fails) == (sp.Rational(14142, 10_000), sp.Rational(14143, 10_000))
    assert ROOT.holds**2 < 2 < ROOT.fails**2
    assert (WIDE.holds, WIDE.fails) == (sp.Rational(99, 100), sp.Rational(126, 100))  # 1 itself is not positive
    assert ROOT.words == "proved for `x <= 1.414`, false for `x >= 1.414`"


def test_both_sides_are_proved_and_refuted_when_moved_past_the_root() -> None:
    assert [each.status for each in ROOT.proofs] == [Status.PROVED, Status.PROVED]
    moved = sp.Rational(2, 10_000)
    assert [prove(each).status for each in ROOT.inequalities(moved)] == [Status.REFUTED, Status.REFUTED]


def test_a_check_encloses_the_threshold_beside_what_is_printed() -> None:
    printed = bs.statements.Printed(sp.Rational(3, 2), bs.statements.Citation(None, "eq. (1)"))
    stated = bs.theorem("own.root", parameters={N: 1}, checks=[ROOT.check(quantity(printed=printed))])
    (row,) = bs.compare(stated)
    assert row.verdict == {"printed": "violated", "derived": "proved"}
    assert (row.derived, row.measured) == (pytest.approx(1.4142, abs=1e-12), 1.4143)
    assert "proved for x <= 1.414, false for x >= 1.414 (" in row.remark


def test_what_is_no_threshold_is_refused() -> None:
    with pytest.raises(UsageError, match="Threshold 't': y has no value; give formulas in x"):
        bs.checks.Threshold("t", x, y - x, y - x, 1)
    for formula in (x - 2, x + 1, x - sp.Rational(1, 2)):
        with pytest.raises(UsageError, match=r"Threshold 't': .* does not fall through 0 between 1/10000 and 1; give"):
            _ = bs.checks.Threshold("t", x, formula, formula, 1).holds


def test_words_promise_no_more_than_the_proofs() -> None:
    thrice = -(x - 1) * (x - 2) * (x - 3)  # it does not fall through 0 once
    assert bs.checks.Threshold("thrice", x, thrice, thrice, 5).words.startswith("not proved for `x <= ")
