"""The row of a check: its sides judged by the kind of its quantity, with a witness where a bound fails."""

import flint

from bridge.check import Check, Number, Sides, as_ball, relation
from bridge.record import Flag, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import Case, Inputs
from bridge.verdicts import Bound, Evidence, flags_of, float64_above
from numeric.balls import float_above, float_below
from symbolic.statements import Kind

Judged = tuple[Sides, Inputs]


def check_row(case: Case, check: Check, judged: Judged) -> Row:
    """The row at these inputs: what was found against each bound."""
    sides, inputs = judged
    bounds = _bounds(case, check, sides)
    found = None if sides.found is None else as_ball(sides.found)
    verdict = {tier: _verdict(check, tier, bound, found, sides) for tier, bound in bounds.items()}
    numbers = {tier: _number(check.quantity.kind, bound.ball) for tier, bound in bounds.items()}
    row = direct_row(
        case,
        check.quantity,
        verdict,
        **numbers,
        measured=None if found is None else _number(_opposite(check.quantity.kind), found),
        remark="; ".join(filter(None, [sides.remark, *(bound.outside for bound in bounds.values())])),
        witness=_witness(case, check, inputs, found, numbers) if Verdict.VIOLATED in verdict.values() else None,
        params=None if check.params is None else dict(check.params),
    )
    conditional = {tier: [Flag.CONDITIONAL.value] for tier, bound in bounds.items() if bound.conditional}
    row.flags = {**row.flags, **conditional}
    if found is not None and sides.rounding is not None:
        run = Evidence(float(found.mid()), found, sides.rounding)
        row.exact, row.rounding = float64_above(found), sides.rounding
        row.flags |= {tier: flags for tier, bound in bounds.items() if (flags := flags_of(bound, None, [run]))}
    return row


def _bounds(case: Case, check: Check, sides: Sides) -> dict[str, Bound]:
    """Those that the check gives, else the quantity's own formulas at this point."""
    formulas = {"printed": case.printed, "derived": case.derived}
    own = {tier: formula(check.quantity) for tier, formula in formulas.items() if getattr(sides, tier) is None}
    given = {tier: _as_bound(check, tier, getattr(sides, tier)) for tier in ("printed", "derived", "instance")}
    together = {**given, **own}
    return {tier: bound for tier in ("printed", "derived", "instance") if (bound := together.get(tier)) is not None}


def _as_bound(check: Check, tier: str, number: Number | None) -> Bound | None:
    if number is None:
        return None
    printed = check.quantity.printed
    return Bound(as_ball(number), strict=tier == "printed" and printed is not None and printed.strict)


def _verdict(check: Check, tier: str, bound: Bound, found: flint.arb | None, sides: Sides) -> Verdict:
    """A proof and a run that contradict each other are undecided: one of them is wrong."""
    if bound.outside:
        return Verdict.OUTSIDE
    run = None if found is None else relation(check.quantity.kind, found, bound.ball, strict=bound.strict)
    if tier in sides.proved:
        return Verdict.UNDECIDED if run is Verdict.VIOLATED else Verdict.PROVED
    return run or Verdict.UNDECIDED


def _number(kind: Kind, ball: flint.arb) -> float | None:
    """A bound rounded to its safe side: a lower one down, any other up."""
    return float_below(ball) if kind is Kind.LOWER else float64_above(ball)


def _opposite(kind: Kind) -> Kind:
    """Of what is found: above a lower bound it is rounded up, as errors are."""
    return Kind.UPPER if kind is Kind.LOWER else kind


def _witness(
    case: Case, check: Check, inputs: Inputs, found: flint.arb | None, numbers: dict[str, float | None]
) -> Witness | None:
    if found is None:
        return None
    lower = check.quantity.kind is Kind.LOWER
    return Witness(
        result=case.result.id,
        quantity=check.name,
        params=case.full_params if check.params is None else dict(check.params),
        inputs={name: value.tolist() for name, value in inputs.items()},
        error_lower=float_above(found) if lower else float_below(found),
        bounds={tier: number for tier, number in numbers.items() if number is not None},
        sha256=case.sha256,
    )
