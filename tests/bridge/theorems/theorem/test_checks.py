"""Checks of each kind: a planted violation is found with a witness, replayed, and refused once it is edited."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import pytest
import sympy as sp

import boundsmith as bs
from bridge.instances.bound import Bound
from bridge.instances.bounds import Bounds
from bridge.theorems.record import Flag, Row, Verdict, Witness
from numeric.balls import working_precision
from symbolic.statements.result import Order
from tests.bridge.theorems.theorem.theorems import d, eps

HALF = flint.arb(1) / 2


def quantity(
    kind: bs.statements.Kind = bs.statements.Kind.UPPER, name: str = "area", **more: Any
) -> bs.statements.Quantity:
    return bs.statements.Quantity(
        name, "A", "an area", "", "", kind, bs.statements.Quantifier.FOR_ALL, **{"scopes": (), **more}
    )


def checked(check: bs.Check, **more: Any) -> bs.Theorem:
    return bs.theorem("checked", parameters={eps: 0.5, d: 2}, checks=[check], **more)


def of_length(kind: bs.statements.Kind, bound: Any, **more: Any) -> bs.Theorem:
    """The length of (3, 4), against a bound."""

    def sides(s: Any) -> bs.Sides:
        return bs.Sides(found=float((s * s).sum()) ** 0.5, derived=bound, **more)

    return checked(bs.Check(quantity(kind), sides, {"s": [3.0, 4.0]}))


def row_of(theorem: bs.Theorem) -> Row:
    (row,) = bs.compare(theorem)
    return row


# kind: a bound that 5 keeps, one that it attains, one that it violates
BOUNDS = {
    bs.statements.Kind.UPPER: (6, 5, 4),
    bs.statements.Kind.LOWER: (4, 5, 6),
    bs.statements.Kind.EXACT: (5, 5.0, Fraction(51, 10)),
}


@pytest.mark.parametrize("kind", BOUNDS)
def test_each_kind_is_judged_in_its_direction(kind: bs.statements.Kind) -> None:
    kept, attained, violated = (row_of(of_length(kind, bound)) for bound in BOUNDS[kind])
    assert kept.verdict == attained.verdict == {"derived": Verdict.KEPT}
    assert violated.verdict == {"derived": Verdict.VIOLATED}
    assert (kept.kind, kept.measured) == (kind, 5.0)
    assert (kept.witness, attained.witness) == (None, None)


def test_a_rate_is_consistent_or_undecided_and_never_violated() -> None:
    assert row_of(of_length(bs.statements.Kind.RATE, 6)).verdict == {"derived": Verdict.CONSISTENT}
    above = row_of(of_length(bs.statements.Kind.RATE, 4))
    assert above.verdict == {"derived": Verdict.UNDECIDED}
    assert above.witness is None


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_planted_violation_has_a_witness_that_replays(kind: bs.statements.Kind, tmp_path: Path) -> None:
    theorem = of_length(kind, BOUNDS[kind][2])
    row = row_of(theorem)
    assert row.witness is not None
    assert row.witness.inputs == {"s": [3.0, 4.0]}
    assert row.witness.error_lower == 5.0
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_dump_json())
    again = bs.replay(str(path), theorem)
    assert again.verdict == {"derived": Verdict.VIOLATED}
    assert again.measured == 5.0


EDITED: dict[str, tuple[Callable[[Witness], Any], str]] = {
    "another shape": (lambda w: w.inputs.update(s=[3.0]), r"'area' takes inputs of shapes \{'s': \(2,\)\}, got"),
    "no input": (lambda w: w.inputs.clear(), r"'area' takes inputs of shapes \{'s': \(2,\)\}, got \{\}"),
    "another input": (lambda w: w.inputs.update(t=[1.0]), "takes inputs of shapes"),
    "another name": (lambda w: setattr(w, "quantity", "volume"), "checked has no quantity or check 'volume'"),
    "no parameter": (lambda w: w.params.pop("eps"), "does not give eps"),
    "a parameter outside": (lambda w: w.params.update(eps=-1.0), "eps = -1.0 does not meet eps > 0"),
    "another theorem": (lambda w: setattr(w, "result", "other"), "is for other, not for checked"),
}


@pytest.mark.parametrize(("edit", "message"), EDITED.values(), ids=list(EDITED))
def test_an_edited_witness_of_a_check_is_refused(edit: Callable[[Witness], Any], message: str, tmp_path: Path) -> None:
    theorem = of_length(bs.statements.Kind.UPPER, 4)
    witness = row_of(theorem).witness
    assert witness is not None
    edit(witness)
    path = tmp_path / "w.json"
    path.write_text(witness.model_dump_json())
    with pytest.raises(bs.UsageError, match=message):
        bs.replay(str(path), theorem)


def test_a_replay_is_of_the_inputs_in_the_witness(tmp_path: Path) -> None:
    theorem = of_length(bs.statements.Kind.UPPER, 4)
    witness = row_of(theorem).witness
    assert witness is not None
    path = tmp_path / "w.json"
    path.write_text(witness.model_copy(update={"inputs": {"s": [0.0, 1.0]}}).model_dump_json())
    row = bs.replay(str(path), theorem)
    assert (row.measured, row.verdict) == (1.0, {"derived": Verdict.KEPT})


def found(number: Any, kind: bs.statements.Kind = bs.statements.Kind.UPPER, **sides: Any) -> Row:
    return row_of(checked(bs.Check(quantity(kind), lambda: bs.Sides(found=number, **sides))))


def test_a_ball_that_straddles_the_bound_is_undecided() -> None:
    wide = flint.arb(1, 0.5)
    for kind in (bs.statements.Kind.UPPER, bs.statements.Kind.LOWER, bs.statements.Kind.EXACT):
        row = found(wide, kind, derived=1)
        assert row.verdict == {"derived": Verdict.UNDECIDED}
        assert row.witness is None
    assert found(wide, derived=2).verdict == {"derived": Verdict.KEPT}
    assert found(wide, derived=Fraction(1, 4)).verdict == {"derived": Verdict.VIOLATED}


def test_balls_fractions_and_short_decimals_enter_exactly() -> None:
    with working_precision(128):
        third = flint.arb(1) / 3
        above = third + flint.arb(2) ** -90
    assert found(third, bs.statements.Kind.EXACT, derived=Fraction(1, 3)).verdict == {"derived": Verdict.KEPT}
    assert found(above, derived=Fraction(1, 3)).verdict == {"derived": Verdict.VIOLATED}
    assert found(0.5 + 2**-50, derived=0.5).verdict == {"derived": Verdict.UNDECIDED}
    assert found(Fraction(1, 2) + Fraction(1, 2**50), derived=0.5).verdict == {"derived": Verdict.VIOLATED}


@pytest.mark.parametrize(
    ("number", "kind"),
    [(0.1, bs.statements.Kind.UPPER), (0.3, bs.statements.Kind.LOWER), (1 / 3, bs.statements.Kind.EXACT)],
)
def test_a_float_that_differs_by_rounding_refutes_nothing(number: float, kind: bs.statements.Kind) -> None:
    """0.1 the float is above 1/10, 0.3 below 3/10, and 1/3 is not a float."""
    exactly = Fraction(number).limit_denominator(10)
    for sides in ({"number": number, "derived": exactly}, {"number": exactly, "derived": number}):
        row = found(sides["number"], kind, derived=sides["derived"])
        assert row.verdict["derived"] is not Verdict.VIOLATED
        assert row.verdict["derived"] is Verdict.KEPT or "no more than what Python may have rounded" in row.remark
    away = number * (1 + 1e-12) if kind is not bs.statements.Kind.LOWER else number * (1 - 1e-12)
    row = found(away, kind, derived=exactly)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert row.remark == ""


def test_a_limit_refutes_whatever_was_found_on_the_way() -> None:
    order = bs.statements.Printed(sp.Integer(1), bs.statements.Citation(None, "here"), order=Order.O)
    rate = replace(quantity(bs.statements.Kind.RATE), printed=order)
    check = bs.Check(rate, lambda: bs.Sides(found=0.1, printed=0.1, limit=sp.oo, remark="it grows"))
    assert row_of(checked(check)).verdict == {"printed": Verdict.VIOLATED}


def test_a_bound_is_rounded_to_its_safe_side() -> None:
    upper, lower = (
        found(HALF, kind, derived=flint.arb(1) / 10).derived
        for kind in (bs.statements.Kind.UPPER, bs.statements.Kind.LOWER)
    )
    assert upper is not None
    assert lower is not None
    assert lower < Fraction(1, 10) <= upper


def test_a_proof_is_shown_as_one_and_a_run_against_it_is_undecided() -> None:
    assert found(None, derived=1, proved=("derived",)).verdict == {"derived": Verdict.PROVED}
    assert found(HALF, derived=1, proved=("derived",)).verdict == {"derived": Verdict.PROVED}
    against = found(2, derived=1, proved=("derived",), remark="proved on a box")
    assert against.verdict == {"derived": Verdict.UNDECIDED}
    assert against.witness is None
    with pytest.raises(ValueError, match="Sides: drafted is not a tier; the tiers are printed, derived, instance"):
        bs.Sides(proved=("drafted",))


def test_without_a_run_and_without_a_proof_nothing_is_decided() -> None:
    assert found(None, derived=1).verdict == {"derived": Verdict.UNDECIDED}


def test_the_quantitys_own_formula_is_the_bound_that_sides_leave_out() -> None:
    printed = bs.statements.Printed(eps, bs.statements.Citation(None, "a draft"), strict=True)
    check = bs.Check(quantity(printed=printed), lambda eps: bs.Sides(found=eps, derived=1))
    row = row_of(checked(check))
    assert (row.printed, row.derived) == (0.5, 1.0)
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}  # 0.5 < 0.5 is false


def test_a_bound_with_a_failing_or_an_open_obligation_is_outside_or_conditional(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theorem = checked(bs.Check(quantity(), lambda: bs.Sides(found=1)))
    bound = Bound(flint.arb(2), conditional=True)
    monkeypatch.setattr(Bounds, "derived", lambda self, quantity: bound)
    row = row_of(theorem)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert row.flags["derived"] == [Flag.CONDITIONAL]
    failing = Bound(flint.arb(2), conditional=True, outside="hypothesis violated: eps >= 1")
    monkeypatch.setattr(Bounds, "derived", lambda self, quantity: failing)
    row = row_of(theorem)
    assert row.verdict == {"derived": Verdict.OUTSIDE}
    assert "hypothesis violated: eps >= 1" in row.remark


def test_a_printed_bound_is_read_as_every_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The point may find a hypothesis of it violated."""
    failing = Bound(flint.arb(2), outside="hypothesis violated: eps >= 1")
    monkeypatch.setattr(Bounds, "printed", lambda self, quantity: failing)
    printed = bs.statements.Printed(eps, bs.statements.Citation(None, "a draft"))
    row = row_of(checked(bs.Check(quantity(printed=printed), lambda: bs.Sides(found=1))))
    assert (row.printed, row.verdict) == (2.0, {"printed": Verdict.OUTSIDE})


def test_a_check_is_judged_at_each_point_or_once_at_its_own_parameters() -> None:
    def sides(eps: float) -> bs.Sides:
        return bs.Sides(found=eps, derived=1)

    everywhere = checked(bs.Check(quantity(), sides))
    once = checked(bs.Check(quantity(), sides, params={"eps": 2.0, "d": 1}))
    assert [row.params["eps"] for row in bs.compare(everywhere, eps=(0.25, 0.5))] == [0.25, 0.5]
    (row,) = bs.compare(once, eps=(0.25, 0.5))
    assert row.params == {"eps": 2.0, "d": 1}
    assert (row.measured, row.verdict) == (2.0, {"derived": Verdict.VIOLATED})
    assert row.witness is not None
    assert row.witness.params == {"eps": 2.0, "d": 1}
    partly = checked(bs.Check(quantity(), sides, params={"eps": 2.0}))
    (row,) = bs.compare(partly)
    assert row.witness is not None
    assert row.witness.params == {"eps": 2.0, "d": 2}


def test_a_check_with_parameters_of_its_own_replays_at_them(tmp_path: Path) -> None:
    theorem = checked(
        bs.Check(quantity(), lambda eps: bs.Sides(found=eps, derived=1), params={"eps": 2.0, "d": 1}),
        weights={"W": bs.domains.Box(d)},
    )
    (row,) = bs.compare(theorem)
    assert row.witness is not None
    path = tmp_path / "w.json"
    path.write_text(row.witness.model_dump_json())
    assert bs.replay(str(path), theorem).verdict == {"derived": Verdict.VIOLATED}


def test_a_check_takes_weights_and_computed_inputs() -> None:
    check = bs.Check(
        quantity(bs.statements.Kind.EXACT),
        lambda W, s, d: bs.Sides(found=float((W - s).abs().sum()) + d, derived=2),
        inputs=lambda W: {"s": W},
    )
    assert row_of(checked(check, weights={"W": bs.domains.Box(d)})).verdict == {"derived": Verdict.KEPT}


def test_a_checks_name_is_that_of_no_other_quantity() -> None:
    conclusion = bs.rules.given("area", dim=1, size=1, error=sp.Integer(1))
    with pytest.raises(bs.UsageError, match="area names more than one quantity"):
        bs.theorem("both", conclusion, parameters={eps: 1}, checks=[bs.Check(quantity(), lambda: bs.Sides(found=1))])


def test_a_theorem_of_checks_alone_takes_no_attack() -> None:
    with pytest.raises(bs.UsageError, match="attack = 5 has no effect on any row of checked; omit it"):
        bs.compare(of_length(bs.statements.Kind.UPPER, 4), attack=5)
