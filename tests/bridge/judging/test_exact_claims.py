"""Claims that exact rationals decide, as checks of a theorem of one's own."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.judging.exact_claims import pair_of_rational, rational_of_pair, refuting_point, sides_of_claim
from symbolic.derivations.exact_numbers import as_number
from symbolic.statements.exact_claims import ExactClaim, Point, numbers, one
from symbolic.statements.result import Kind, Quantifier
from symbolic.words.errors import UsageError

N = sp.Symbol("N", positive=True, integer=True)


def sides(point: Point) -> tuple[sp.Rational, sp.Rational]:
    """The square of the mean, and half the mean of squares: at equal numbers the first is twice the second."""
    x = point["x"]
    return (sum(x, sp.Integer(0)) / len(x)) ** 2, sum(a**2 for a in x) / len(x) / 2


def premises(point: Point) -> list[str]:
    return [] if all(each >= 0 for each in point["x"]) else ["x must be >= 0"]


GRID = {"x": tuple((sp.Integer(a), sp.Integer(b)) for a, b in ((-1, -1), (0, 1), (0, 3), (3, 4)))}
MEAN = ExactClaim("mean", "<=", sides, premises, GRID, "two numbers")


def quantity(kind: Kind = Kind.UPPER) -> bs.statements.Quantity:
    printed = bs.statements.Printed(sp.Integer(0), bs.statements.Citation(None, "eq. (1)"))
    return bs.statements.Quantity(
        "mean", "m", "square of the mean", "absolute value", "x >= 0", kind, Quantifier.FOR_ALL, printed=printed,
        scopes=(),
    )  # fmt: skip


def row(claim: ExactClaim) -> object:
    stated = bs.theorem("own.mean", parameters={N: 3}, checks=[bs.checks.exact_check(quantity(), claim)])
    return bs.compare(stated).rows[0]


def test_the_first_point_of_the_grid_that_refutes_is_the_witness() -> None:
    assert MEAN.refutation() == {"x": (3, 4)}  # both sides are equal at (0, 1) and (0, 3)
    assert refuting_point(MEAN) == {"x": [3.0, 4.0]}
    found = row(MEAN)
    assert found.verdict == {"printed": "violated"}
    assert found.measured == 12.25
    assert "at two numbers, x = (3, 4): left side 49/4, right side 25/4, stated as left <= right" in found.remark


def test_a_claim_that_no_point_refutes_is_kept_at_the_first() -> None:
    found = row(replace(MEAN, grid={"x": GRID["x"][:3]}))
    assert found.verdict == {"printed": "kept"}
    assert found.witness is None


def test_other_points_are_judged_for_themselves() -> None:
    kept = sides_of_claim(MEAN, {"x": torch.tensor([0.0, 0.5], dtype=torch.float64)})
    assert (kept.found, kept.printed) == (sp.Rational(1, 16), sp.Rational(1, 16))
    with pytest.raises(UsageError, match=r"'mean' is not judged at x = \(-1, 1\): x must be >= 0"):
        sides_of_claim(MEAN, {"x": torch.tensor([-1.0, 1.0], dtype=torch.float64)})
    with pytest.raises(UsageError, match="nan is not a finite number"):
        sides_of_claim(MEAN, {"x": torch.tensor([torch.nan, 1.0], dtype=torch.float64)})


@pytest.mark.parametrize("relation", ["=", "<=", ">=", "<", ">"])
def test_relations_are_those_of_rationals(relation: str) -> None:
    claim = ExactClaim("x 1", relation, lambda at: (one(at, "x"), sp.Integer(1)), lambda _: [], {"x": numbers(1)})
    values = {"=": (1,), "<=": (0, 1), ">=": (1, 2), "<": (0,), ">": (2,)}
    assert tuple(n for n in range(3) if claim.holds({"x": (sp.Integer(n),)})) == values[relation]


@pytest.mark.parametrize(
    "half",
    [0.5, Fraction(1, 2), sp.Rational(1, 2), Decimal("0.5"), mpmath.mpf(0.5)],
    ids=["float", "Fraction", "sympy", "Decimal", "mpmath"],
)
def test_numbers_are_the_rationals_that_they_are(half: object) -> None:
    claim = ExactClaim("half", "=", lambda at: (one(at, "x") * 2, 1), lambda _: [], {"x": ((half,),)})
    assert claim.refutation() is None
    assert "left side 1, right side 1" in sides_of_claim(claim, {"x": torch.tensor([0.5], dtype=torch.float64)}).remark


def test_numbers_of_many_digits_keep_all_of_them() -> None:
    with mpmath.workdps(50):
        third = mpmath.mpf(1) / 3
        exact = sp.Rational(int(mpmath.ldexp(third, 200)), 2**200)
    assert as_number("call", "third", third) == exact
    assert as_number("call", "tenth", Decimal("0.1")) == sp.Rational(1, 10)
    assert as_number("call", "long", Decimal("100000000000000009")) == 10**17 + 9


def test_claims_that_decide_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="ExactClaim 'mean': relation '!=' is not known; choose one of =, <="):
        replace(MEAN, relation="!=")
    with pytest.raises(UsageError, match="ExactClaim 'mean': no point of the grid meets the premises; add one"):
        replace(MEAN, grid={"x": GRID["x"][:1]})


def test_rationals_that_no_float_is_pass_as_pairs() -> None:
    pair = pair_of_rational(sp.Rational(-22, 7))
    assert rational_of_pair("some.result", "z", torch.tensor(pair, dtype=torch.float64)) == sp.Rational(-22, 7)


@pytest.mark.parametrize("pair", [[1.0, 0.0], [0.5, 2.0], [2.0**53, 1.0]])
def test_pairs_that_are_no_rational_are_refused(pair: list[float]) -> None:
    with pytest.raises(UsageError, match=r"some.result: z has to be two whole numbers, numerator and denominator"):
        rational_of_pair("some.result", "z", torch.tensor(pair, dtype=torch.float64))


def test_a_quantity_that_states_another_relation_is_refused() -> None:
    for relation, kind in (("<=", Kind.LOWER), ("<", Kind.UPPER), ("=", Kind.UPPER)):
        with pytest.raises(UsageError, match=f"states left {relation} right, 'mean' is of the kind {kind.value}; make"):
            bs.checks.exact_check(quantity(kind), replace(MEAN, relation=relation))


def test_a_point_that_no_float_meets_is_refused() -> None:
    def third(point: Point) -> list[str]:
        return [] if 3 * one(point, "x") == 1 else ["x must be 1/3"]

    claim = ExactClaim("third", "<=", lambda point: (one(point, "x"), sp.Integer(1)), third, {"x": numbers("1/3")})
    with pytest.raises(UsageError, match="no float is near enough to a point of the grid"):
        refuting_point(claim)
