"""From bounds and measurements to the rows of the record."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint

from bridge.balls import MOST_BITS, bits_for
from bridge.goals import Goal, stated_goals
from bridge.limits.run import ONE_INPUT, Run
from bridge.measure import Found, Measurement, evidence_at, prompt_scopes
from bridge.record import Flag, Row, RowErratum, Verdict, Witness
from bridge.rounded import may_be_rounding, within_rounding
from bridge.study import Case, Inputs, Refusal
from bridge.usable_bounds import OURS, usable
from bridge.verdicts import Bound, Evidence, flags_of, float64_above, judge
from numeric.balls import float_below
from symbolic.prose import joined, marked
from symbolic.statements import Kind, Quantity

Tiers = dict[str, Bound]
OpenTiers = dict[str, Bound | None]  # None: no bound of that tier

AT_WORST = "the error exceeds the bound at the worst case of its letters, and none at the letters of its prompt"


def quantity_rows(case: Case, quantity: Quantity, measurement: Measurement, run: Run) -> list[Row]:
    """One row a scope: `network` with all tiers, those of a prompt with the instance tier where its ratio is worst."""
    name = quantity.name
    network = []
    if "network" in quantity.scopes:
        found = [measurement.by_error[name], *(measurement.by_ratio[name, scope] for scope in prompt_scopes(quantity))]
        network = [_network_row(case, quantity, [_largest(each) for each in zip(*found, strict=True)], run)]
    goals = [Goal(quantity, scope) for scope in prompt_scopes(quantity)]
    goals += stated_goals(quantity, case.prompt_tiers(quantity))
    return network + [_prompt_row(case, goal, measurement.by_ratio[goal.key], run) for goal in goals]


def _largest(found: tuple[Found, ...]) -> Found:
    """The largest error over all inputs of all searches."""
    return max(found, key=lambda each: each.evidence.measured)


def _network_row(case: Case, quantity: Quantity, found: list[Found], run: Run) -> Row:
    tiers = {**_stated(case, quantity), "instance": case.instance(quantity, "network")}
    row = judged_row(case, quantity, "network", tiers, found, run)
    says_nothing = row.derived is None and row.verdict.get("derived") in (Verdict.OUTSIDE, Verdict.UNDECIDED)
    row.slack = {} if says_nothing else case.slack(quantity, found[-1].inputs)
    return row


def _stated(case: Case, quantity: Quantity) -> OpenTiers:
    """The tiers that do not depend on the network."""
    return {"printed": case.printed(quantity), "claimed": case.claimed(quantity), "derived": case.derived(quantity)}


def _prompt_row(case: Case, goal: Goal, found: list[Found], run: Run) -> Row:
    """Each input is judged against its own bound; the row shows the one where the error comes closest to its bound.

    An error in the column `measured` is that of a random (or real) input, one in `attacked` that of the attack's.
    """
    tier, scope = goal.tier or "instance", str(goal.scope)
    rows = [
        judged_row(
            case, goal.quantity, scope, {tier: case.tier_at(goal.quantity, tier, scope, each.inputs)}, [each], run
        )
        for each in found
    ]
    by_closeness = sorted(range(len(rows)), key=lambda place: (_slackness(rows[place], tier), -place))
    row = rows[by_closeness[0]].model_copy()
    if by_closeness[0] > 0:
        row.measured, row.attacked = None, row.measured
    worst = [
        rows[place]
        for verdict in (Verdict.VIOLATED, Verdict.UNDECIDED)
        for place in by_closeness
        if verdict in rows[place].verdict.values()
    ]
    if worst:
        row.verdict, row.witness, row.remark = worst[0].verdict, worst[0].witness, worst[0].remark
    return row


def _slackness(row: Row, tier: str) -> float:
    """Bound over error, to 9 digits; infinite for an input without either."""
    error = row.exact or row.measured
    stated = row.printed / error if row.printed is not None and error else None
    ratio = {"claimed": row.claimed_ratio, "printed": stated}.get(tier, row.ratio)
    return math.inf if ratio is None else float(f"{ratio:.9g}")


def refused_rows(case: Case, quantity: Quantity, refusal: Refusal, run: Run) -> list[Row]:
    """One row a scope of a quantity that is not run here: the stated bounds, and why nothing is run."""
    remark = joined([quantity.remark, refusal.reason])
    nothing_run = replace(run.without_attack(), samples=0)
    rows = []
    for scope in quantity.scopes or (None,):
        at_a_prompt = scope in prompt_scopes(quantity)
        stated = {} if at_a_prompt else _without_network(case, quantity, scope, refusal)
        judged = ["instance"] if at_a_prompt else ["derived"]
        if refusal.verdict is Verdict.OUTSIDE and quantity.printed is not None and not at_a_prompt:
            judged.insert(0, "printed")
        verdict = dict.fromkeys(judged, refusal.verdict)
        rows.append(_row(case, quantity, scope, stated, nothing_run, verdict=verdict, remark=remark))
    return rows


def _without_network(case: Case, quantity: Quantity, scope: str | None, refusal: Refusal) -> Tiers:
    """The stated bounds; outside the hypotheses those that are none have no number."""
    bounds, why = _present(_stated(case, quantity)), refusal.reason
    if refusal.verdict is Verdict.OUTSIDE:
        bounds = {tier: replace(bound, outside=joined([bound.outside, why])) for tier, bound in bounds.items()}
    return usable(case, quantity, scope, bounds)


def constant_rows(case: Case, quantities: list[Quantity], run: Run) -> list[Row]:
    """Rows of what depends on no input."""
    constants = case.constants() if quantities else {}
    rows = []
    for quantity in quantities:
        found = Found({}, constants[quantity.name])
        rows.append(judged_row(case, quantity, None, _stated(case, quantity), [found], run))
    return rows


def replayed_row(case: Case, quantity: Quantity, inputs: Inputs, scope: str | None = None) -> Row:
    """The row of one particular input, every tier judged on it alone; the instance of `scope`, or of the last scope."""
    if not quantity.scopes:
        return constant_rows(case, [quantity], ONE_INPUT)[0]
    scope = scope or quantity.scopes[-1]
    tiers = {**_stated(case, quantity), "instance": case.instance(quantity, scope, inputs)}
    tiers |= {tier: case.tier_at(quantity, tier, scope, inputs) for tier in case.prompt_tiers(quantity)}
    return judged_row(case, quantity, scope, tiers, [evidence_at(case, quantity, inputs)], ONE_INPUT)


def direct_row(
    case: Case,
    quantity: Quantity,
    verdict: dict[str, Verdict],
    *,
    printed: float | None = None,
    claimed: float | None = None,
    derived: float | None = None,
    instance: float | None = None,
    measured: float | None = None,
    attacked: float | None = None,
    remark: str = "",
    witness: Witness | None = None,
    params: dict[str, Any] | None = None,
) -> Row:
    """A row whose numbers and verdicts come from proofs or runs of the case itself.

    The ratio is that of our sharpest bound to what was measured or attacked. `params`, if the row stands at a point of
    its own ({}: at none of the grid); the quantity's remark comes first. Raises ValueError for a violated tier without
    a witness or a remark that says why.
    """
    remarks = joined([quantity.remark, remark])
    erratum = _erratum(quantity, verdict)
    if Verdict.VIOLATED in verdict.values() and witness is None and erratum is None and not remarks:
        raise ValueError(f"'{quantity.name}' is called violated without a witness and without a reason")
    return Row(
        quantity=quantity.name,
        kind=quantity.kind,
        quantifier=quantity.quantifier,
        params=dict(case.params) if params is None else params,
        norm=quantity.norm,
        domain=quantity.domain,
        construction=quantity.construction,
        meaning=quantity.meaning,
        finding=quantity.finding,
        printed=printed,
        claimed=claimed,
        derived=derived,
        instance=instance,
        measured=measured,
        attacked=attacked,
        claimed_ratio=_ratio_of(quantity.kind, _known(claimed), _known(measured, attacked)),
        ratio=_ratio_of(quantity.kind, _known(derived, instance), _known(measured, attacked)),
        verdict=verdict,
        remark=remarks,
        witness=witness,
        erratum=erratum,
        order=_order(quantity),
    )


def _erratum(quantity: Quantity, verdict: Mapping[str, Verdict]) -> RowErratum | None:
    """What the violated printed bound is an erratum of."""
    known = quantity.erratum
    if known is None or verdict.get("printed") is not Verdict.VIOLATED:
        return None
    texts = {name: getattr(known, name) for name in RowErratum.model_fields}
    return RowErratum(**{name: str(marked(text)) for name, text in texts.items()})


def _known(*numbers: float | None) -> list[float]:
    return [number for number in numbers if number is not None]


def _ratio_of(kind: Kind, ours: list[float], found: list[float]) -> float | None:
    """The sharpest of our bounds over what was found closest to it; None where there is neither, and for a rate."""
    if not ours or not found or kind is Kind.RATE:
        return None
    sharpest, closest = (max(ours), min(found)) if kind is Kind.LOWER else (min(ours), max(found))
    return sharpest / closest if closest else None


def _order(quantity: Quantity) -> str:
    return str(quantity.printed.order) if quantity.printed else ""


def judged_row(
    case: Case, quantity: Quantity, scope: str | None, tiers: OpenTiers, found: list[Found], run: Run
) -> Row:
    """The row of one quantity: each tier that has a bound judged by what was found, with a witness where one fails.

    `found` holds the worst random (or real) input, then the worst attacked one if there was an attack.
    """
    bounds = usable(case, quantity, scope, _present(tiers), found[0].inputs)
    evidence = [each.evidence for each in found]
    verdict = {tier: _verdict(bound, evidence) for tier, bound in bounds.items()}
    violated = [tier for tier, each in verdict.items() if each is Verdict.VIOLATED]
    rounded = [tier for tier in violated if may_be_rounding(case, quantity, scope, tier, bounds[tier], found)]
    within = [tier for tier in violated if _holds_at_own_letters(case, quantity, scope, tier, found)]
    verdict |= dict.fromkeys([*rounded, *within], Verdict.UNDECIDED)
    return _row(
        case,
        quantity,
        scope,
        bounds,
        run,
        measured=evidence[0].measured,
        attacked=evidence[1].measured if len(evidence) > 1 else None,
        exact=_exact_error(evidence),
        rounding=max((piece.rounding for piece in evidence if piece.rounding is not None), default=None),
        ratio=_ratio(_ours(bounds), evidence),
        claimed_ratio=_ratio([bounds["claimed"]] if "claimed" in bounds else [], evidence),
        verdict=verdict,
        erratum=_erratum(quantity, verdict),
        flags=_flags(case, quantity, bounds, evidence),
        remark=joined([_remark(quantity, bounds, evidence, rounded), *(f"{tier}: {AT_WORST}" for tier in within)]),
        witness=_witness(case, quantity, scope, bounds, found) if Verdict.VIOLATED in verdict.values() else None,
    )


def _holds_at_own_letters(case: Case, quantity: Quantity, scope: str | None, tier: str, found: list[Found]) -> bool:
    """Whether a bound that fails at the worst case of its letters holds at those of each prompt: it may be larger."""
    if scope != "network" or tier not in case.prompt_tiers(quantity):
        return False
    own = [(case.tier_at(quantity, tier, "prompt", each.inputs), each.evidence) for each in found]
    return all(bound is not None and judge(bound, [each]) is not Verdict.VIOLATED for bound, each in own)


def _row(case: Case, quantity: Quantity, scope: str | None, tiers: Tiers, run: Run, **what_was_found: Any) -> Row:
    numbers = {tier: bound.number() for tier, bound in tiers.items()}
    return Row(
        quantity=quantity.name,
        kind=quantity.kind,
        quantifier=quantity.quantifier,
        scope=scope,
        params=dict(case.params),
        norm=quantity.norm,
        domain=quantity.domain,
        construction=quantity.construction,
        meaning=quantity.meaning,
        finding=quantity.finding,
        seed=run.seed,
        samples=run.samples,
        attack_steps=run.attack,
        restarts=run.restarts,
        drawn=list(case.drawn_weights) or None,
        premises=list(dict.fromkeys(each for bound in tiers.values() for each in bound.premises)) or None,
        printed=numbers.get("printed"),
        claimed=numbers.get("claimed"),
        derived=numbers.get("derived"),
        instance=numbers.get("instance"),
        **what_was_found,
    )


def _present(tiers: OpenTiers) -> Tiers:
    return {tier: bound for tier, bound in tiers.items() if bound is not None}


def _flags(case: Case, quantity: Quantity, tiers: Tiers, evidence: list[Evidence]) -> dict[str, list[str]]:
    trivial = case.trivial(quantity)
    flags = {tier: flags_of(bound, trivial, evidence) for tier, bound in tiers.items()}
    if any(piece.rounding_dominates for piece in evidence):
        flags["measured"] = [Flag.ROUNDING.value]
    elif any(_rounded_above(bound, piece) for bound in tiers.values() for piece in evidence):
        flags["measured"] = [Flag.ROUNDED_ABOVE.value]
    return {tier: words for tier, words in flags.items() if words}


def _rounded_above(bound: Bound, piece: Evidence) -> bool:
    """Whether the float error exceeds the bound and the exact one does not."""
    return piece.exact is not None and bool(bound.ball < flint.arb(piece.measured)) and not bound.ball < piece.exact


def _verdict(bound: Bound, evidence: list[Evidence]) -> Verdict:
    """`not representable` where the bound is below what floats hold and no exact run could decide."""
    verdict = judge(bound, evidence)
    if verdict is Verdict.UNDECIDED and bound.number() is None and not bound.ball.is_nan():
        return Verdict.NOT_REPRESENTABLE
    return verdict


def _remark(quantity: Quantity, tiers: Tiers, evidence: list[Evidence], rounded: list[str]) -> str:
    remarks = [words for bound in tiers.values() for words in (bound.outside, bound.remark) if words]
    remarks += within_rounding(rounded)
    if all(piece.exact is None for piece in evidence):
        remarks.append("too large for exact arithmetic: judged on floats, their rounding only estimated")
    remarks += _precision_remark(tiers, evidence)
    return joined([quantity.remark, *remarks])


def _precision_remark(tiers: Tiers, evidence: list[Evidence]) -> list[str]:
    tiny = [tier for tier, bound in tiers.items() if bound.number() is None and bound.ball.is_finite()]
    if not tiny:
        return []
    bits = max(bits_for(tiers[tier].ball) for tier in tiny)
    ran = bits <= MOST_BITS and any(piece.exact is not None for piece in evidence)
    verb = "exact arithmetic used" if ran else "telling it from 0 takes"
    return [f"{', '.join(tiny)}: outside the range of float64; {verb} {bits} bits"]


def _exact_error(evidence: list[Evidence]) -> float | None:
    """The largest exact error, rounded up."""
    known = [float64_above(piece.exact) for piece in evidence if piece.exact is not None]
    return max((error for error in known if error is not None), default=None)


def _ours(tiers: Tiers) -> list[Bound]:
    return [bound for tier, bound in tiers.items() if tier in OURS and not bound.ball.is_nan()]


def _ratio(bounds: list[Bound], evidence: list[Evidence]) -> float | None:
    """The sharpest bound over the largest error seen (exact where that is known); None where either is 0."""
    ours = [bound.ball for bound in bounds]
    seen = [flint.arb(piece.measured) if piece.exact is None else piece.exact for piece in evidence]
    if not ours or not seen or not all(error > 0 for error in seen):
        return None
    largest, sharpest = seen[0], ours[0]
    for error in seen[1:]:
        largest = largest.max(error)
    for bound in ours[1:]:
        sharpest = sharpest.min(bound)
    return float(sharpest / largest)


def _witness(case: Case, quantity: Quantity, scope: str | None, tiers: Tiers, found: list[Found]) -> Witness:
    """The input whose error is surely the largest, with everything that a second run needs to check it."""

    def surely(each: Found) -> float:
        piece = each.evidence
        return float_below(piece.exact) if piece.exact is not None else piece.measured - (piece.rounding or 0.0)

    worst = max(found, key=surely)
    numbers: dict[str, Any] = {tier: bound.number() for tier, bound in tiers.items()}
    return Witness(
        result=case.result.id,
        quantity=quantity.name,
        scope=scope,
        params=case.full_params,
        inputs={name: value.double().cpu().tolist() for name, value in worst.inputs.items()},
        error_lower=surely(worst),
        bounds={tier: number for tier, number in numbers.items() if number is not None},
        sha256=case.sha256,
        claim=case.claims[quantity.name].text if quantity.name in case.claims else None,
    )
