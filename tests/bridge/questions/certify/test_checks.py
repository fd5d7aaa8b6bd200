"""Checks of inequalities on regions, through the theorem of a user: what is proved, refuted, replayed and refused."""

import pytest
import sympy as sp

from bridge.questions.certify import prove
from bridge.questions.certify.checks import certified, moved_inside, proved_together
from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.building import theorem
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError

x = sp.Symbol("x", real=True)
P, V = Verdict.PROVED, Verdict.VIOLATED


def at_least(constant: sp.Expr) -> Inequality:
    """x^2 + 1 >= c (1 + x) on [0, 1], which holds up to c = 2 (sqrt(2) - 1) = 0.8284."""
    return Inequality(f"c = {constant}", x**2 + 1 - constant * (1 + x), {x: (0, 1)})


def constant(printed: sp.Expr, ours: sp.Expr) -> Theorem:
    statement = Quantity(
        *("c", "c", "the constant c in x^2 + 1 >= c (1 + x)", "a constant", "0 < x < 1", Kind.LOWER),
        Quantifier.FOR_ALL,
        scopes=(),
        derive=lambda: ours,
    )
    check = certified(statement, lambda: ([at_least(printed)], [at_least(ours)]), lambda _: (x**2 + 1) / (1 + x))
    return theorem("own.constant", checks=[check], parameters={sp.Symbol("n", positive=True): 1})


def difference(sides: sp.Expr, region: tuple[sp.Expr | int, sp.Expr | int] = (0, 1)) -> Theorem:
    statement = Quantity(
        *("f", "f", "least difference of the sides", "a difference", "0 < x < 1", Kind.LOWER, Quantifier.FOR_ALL),
        printed=Printed(sp.Integer(0), Citation(None, "draft")),
        scopes=(),
    )
    check = certified(statement, lambda: ([Inequality("f", sides, {x: region})], []))
    return theorem("own.difference", checks=[check], parameters={sp.Symbol("n", positive=True): 1})


def row_of(stated: Theorem) -> Row:
    (row,) = compare(stated)
    return row


def test_a_constant_is_certified_up_to_the_largest() -> None:
    row = row_of(constant(sp.Rational(1, 2), sp.Rational(82, 100)))
    assert row.verdict == {"derived": P}
    assert row.measured == pytest.approx(0.8284271, rel=1e-6)
    assert row.remark.startswith("printed proved: ")
    assert row_of(constant(sp.Rational(1, 2), sp.Rational(83, 100))).verdict == {"derived": Verdict.UNDECIDED}


def test_a_difference_below_0_is_refuted_inside_the_open_region_and_replays() -> None:
    stated = difference(x - sp.Rational(1, 2))
    row = row_of(stated)
    assert row.verdict == {"printed": V}
    above, below = row.witness.inputs["x"]
    assert 0 < above / below < 1 / 2
    assert row.witness.error_lower == pytest.approx(above / below - 1 / 2)
    assert replay_witness(row.witness, theorem=stated).verdict == {"printed": V}
    assert row_of(difference(x + 1)).verdict == {"printed": P}


def test_a_region_too_narrow_for_short_numbers_is_refuted_at_the_point_of_the_proof() -> None:
    third, width = sp.Rational(1, 3), sp.Rational(1, 2**90)
    stated = difference(-x, (third + width / 4, third + width / 2))
    row = row_of(stated)
    assert row.verdict == {"printed": V}
    assert row.witness.inputs == {}
    assert replay_witness(row.witness, theorem=stated).verdict == {"printed": V}


@pytest.mark.parametrize(
    ("point", "words"),
    [([3.0, 1.0], "region"), ([0.5, 1.0], "two whole numbers"), ([1.0, 0.0], "two whole numbers")],
    ids=["beyond", "fraction", "zero"],
)
def test_a_point_that_is_none_is_refused(point: list[float], words: str) -> None:
    stated = difference(x - sp.Rational(1, 2))
    forged = row_of(stated).witness.model_copy(update={"inputs": {"x": point}})
    with pytest.raises(UsageError, match=words):
        replay_witness(forged, theorem=stated)


def test_a_refutation_without_a_point_inside_stays_as_it_is() -> None:
    at_the_end = prove(Inequality("end", x, {x: (sp.Rational(-1, 10**9), 1)}))
    assert moved_inside(at_the_end) == at_the_end


def test_one_inequality_that_fails_refutes_all_together() -> None:
    both = [at_least(sp.Rational(1, 2)), at_least(sp.Integer(1))]
    assert proved_together(both[:1] * 2).words == "2 boxes"
    assert "fails at x = " in proved_together(both).words
    assert proved_together(both).refuted.inequality is both[1]
