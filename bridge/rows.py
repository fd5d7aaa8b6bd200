"""From bounds and measurements to the rows of the record."""

from typing import Any

import flint

from bridge.balls import bits_for
from bridge.budget import Budget
from bridge.measure import Found, Measurement, evidence_at
from bridge.record import Flag, Row, Verdict, Witness
from bridge.study import Case, Inputs
from bridge.verdicts import Bound, Evidence, flags_of, float64_above, judge
from numeric.balls import float_below
from symbolic.statements import Quantity

Tiers = dict[str, Bound]


def quantity_rows(case: Case, quantity: Quantity, measurement: Measurement, budget: Budget) -> list[Row]:
    """One row a scope: `network` with all tiers, `prompt` with the instance tier at the input of the worst ratio."""
    name = quantity.name
    rows = []
    if "network" in quantity.scopes:
        tiers = {"printed": case.printed(quantity), "derived": case.derived(quantity)}
        tiers["instance"] = case.instance(quantity, "network")
        present = {tier: bound for tier, bound in tiers.items() if bound is not None}
        found = [measurement.random[name], *_maybe(measurement.attacked, name)]
        row = _row(case, quantity, "network", present, found, budget)
        row.slack = case.slack(quantity, found[-1].inputs)
        rows.append(row)
    if "prompt" in quantity.scopes:
        found = [measurement.random_by_ratio[name], *_maybe(measurement.attacked_by_ratio, name)]
        rows.append(_prompt_row(case, quantity, found, budget))
    return rows


def _maybe(found: dict[str, Found], name: str) -> list[Found]:
    return [found[name]] if name in found else []


def _prompt_row(case: Case, quantity: Quantity, found: list[Found], budget: Budget) -> Row:
    """Each input is judged against its own bound; the row shows the bound at the last (the attacked) one."""
    rows = [
        _row(case, quantity, "prompt", _instance_tier(case, quantity, each.inputs), [each], budget) for each in found
    ]
    row = rows[-1].model_copy(update={"measured": rows[0].measured})
    row.attacked = rows[-1].measured if len(rows) > 1 else None
    worst = [
        each for verdict in (Verdict.VIOLATED, Verdict.UNDECIDED) for each in rows if verdict in each.verdict.values()
    ]
    if worst:
        row.verdict, row.witness = worst[0].verdict, worst[0].witness
    return row


def _instance_tier(case: Case, quantity: Quantity, inputs: Inputs) -> Tiers:
    bound = case.instance(quantity, "prompt", inputs)
    return {} if bound is None else {"instance": bound}


def constant_rows(case: Case, quantities: list[Quantity], budget: Budget) -> list[Row]:
    """Rows of what depends on no input."""
    constants = case.constants()
    rows = []
    for quantity in quantities:
        bound = case.printed(quantity)
        found = Found({}, constants[quantity.name])
        rows.append(_row(case, quantity, None, {} if bound is None else {"printed": bound}, [found], budget))
    return rows


def replayed_row(case: Case, quantity: Quantity, inputs: Inputs) -> Row:
    """The row of one very input, every tier judged on it alone."""
    if not quantity.scopes:
        return constant_rows(case, [quantity], Budget(1, 0, 0, 0))[0]
    tiers = {
        "printed": case.printed(quantity),
        "derived": case.derived(quantity),
        "instance": case.instance(quantity, quantity.scopes[-1], inputs),
    }
    present = {tier: bound for tier, bound in tiers.items() if bound is not None}
    return _row(case, quantity, quantity.scopes[-1], present, [evidence_at(case, quantity, inputs)], Budget(1, 0, 0, 0))


def _row(case: Case, quantity: Quantity, scope: str | None, tiers: Tiers, found: list[Found], budget: Budget) -> Row:
    evidence = [each.evidence for each in found]
    verdicts = {tier: _verdict(bound, evidence) for tier, bound in tiers.items()}
    flags = {tier: flags_of(bound, case.trivial(quantity), evidence) for tier, bound in tiers.items()}
    if any(piece.rounding_dominates for piece in evidence):
        flags["measured"] = [Flag.ROUNDING.value]
    numbers = {tier: bound.number() for tier, bound in tiers.items()}
    row = Row(
        quantity=quantity.name,
        kind=quantity.kind,
        quantifier=quantity.quantifier,
        scope=scope,
        params=dict(case.params),
        measured=evidence[0].measured,
        attacked=evidence[1].measured if len(evidence) > 1 else None,
        exact=_exact_error(evidence),
        rounding=max((piece.rounding for piece in evidence if piece.rounding is not None), default=None),
        ratio=_ratio(tiers, evidence),
        verdict=verdicts,
        flags={tier: said for tier, said in flags.items() if said},
        norm=quantity.norm,
        domain=quantity.domain,
        construction=quantity.construction,
        meaning=quantity.meaning,
        remark=_remark(quantity, tiers, evidence),
        seed=budget.seed,
        samples=budget.samples,
        attack_steps=budget.attack,
        restarts=budget.restarts,
        printed=numbers.get("printed"),
        derived=numbers.get("derived"),
        instance=numbers.get("instance"),
    )
    if Verdict.VIOLATED in verdicts.values():
        row.witness = _witness(case, quantity, tiers, found)
    return row


def _verdict(bound: Bound, evidence: list[Evidence]) -> Verdict:
    """`not representable` where the bound is below what floats hold and no exact run could decide."""
    verdict = judge(bound, evidence)
    if verdict is Verdict.UNDECIDED and bound.number() is None:
        return Verdict.NOT_REPRESENTABLE
    return verdict


def _remark(quantity: Quantity, tiers: Tiers, evidence: list[Evidence]) -> str:
    said = [bound.outside for bound in tiers.values() if bound.outside]
    if all(piece.exact is None for piece in evidence):
        said.append("too large for exact arithmetic: judged on floats, their rounding only estimated")
    said += _precision_remark(tiers, evidence)
    return "; ".join(dict.fromkeys([*filter(None, [quantity.remark]), *said]))


def _precision_remark(tiers: Tiers, evidence: list[Evidence]) -> list[str]:
    tiny = [tier for tier, bound in tiers.items() if bound.number() is None and bound.ball.is_finite()]
    if not tiny:
        return []
    bits = max(bits_for(tiers[tier].ball) for tier in tiny)
    ran = any(piece.exact is not None for piece in evidence)
    verb = "exact arithmetic used" if ran else "telling it from 0 takes"
    return [f"{', '.join(tiny)}: outside the range of float64; {verb} {bits} bits"]


def _exact_error(evidence: list[Evidence]) -> float | None:
    """The largest exact error, rounded up."""
    known = [float64_above(piece.exact) for piece in evidence if piece.exact is not None]
    return max((error for error in known if error is not None), default=None)


def _ratio(tiers: Tiers, evidence: list[Evidence]) -> float | None:
    """The sharpest tier of ours over the largest error seen (exact where that is known); None where either is 0."""
    ours = [bound.ball for tier, bound in tiers.items() if tier != "printed"]
    seen = [flint.arb(piece.measured) if piece.exact is None else piece.exact for piece in evidence]
    if not ours or not seen or not all(error > 0 for error in seen):
        return None
    largest, sharpest = seen[0], ours[0]
    for error in seen[1:]:
        largest = largest.max(error)
    for bound in ours[1:]:
        sharpest = sharpest.min(bound)
    return float(sharpest / largest)


def _witness(case: Case, quantity: Quantity, tiers: Tiers, found: list[Found]) -> Witness:
    """The input whose error is surely the largest, with everything that a second run needs to check it."""

    def surely(each: Found) -> float:
        piece = each.evidence
        return float_below(piece.exact) if piece.exact is not None else piece.measured - (piece.rounding or 0.0)

    worst = max(found, key=surely)
    numbers: dict[str, Any] = {tier: bound.number() for tier, bound in tiers.items()}
    return Witness(
        result=case.result.id,
        quantity=quantity.name,
        params=case.full_params,
        inputs={name: value.double().cpu().tolist() for name, value in worst.inputs.items()},
        error_lower=surely(worst),
        bounds={tier: number for tier, number in numbers.items() if number is not None},
    )
