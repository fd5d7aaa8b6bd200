"""Rows of the errors of a network, against the bounds of its derivation in each scope."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import flint

from bridge.instances.bound import Bound, float64_above
from bridge.instances.goals import Goal, prompt_scopes, stated_goals
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.letters import EVERY
from bridge.instances.neighbours import Neighbours
from bridge.instances.search import Points
from bridge.judging.judge import Evidence, Judge, flags_of, judge
from bridge.judging.measure import Place, evidence_at, measure
from bridge.judging.rows import NOT_RUN, row_of, settings_of, slacks_at, within_rounding, witness_of
from bridge.judging.usable import OURS, Tiers, usable
from bridge.limits.run import ONE_INPUT, SETTINGS, Run
from bridge.lowering.ball_values import MOST_BITS, bits_for
from bridge.theorems.record import Flag, Row, Verdict, Witness
from bridge.theorems.refusal import Refusal
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from symbolic.words.prose import joined

OpenTiers = Mapping[str, Bound | None]  # None: no bound of that tier

AT_WORST = "the error exceeds the bound at the worst case of its letters, and none at the letters of its prompt"
AT_REST = (
    "the attack leaves the matrices as they are, since the network does not run on a batch of them; write torch.where "
    "for a branch on a matrix"
)
IN_FLOATS = "too large for exact arithmetic: judged on floats, their rounding only estimated"


@dataclass(frozen=True)
class Errors:
    """Of all quantities of one instance that are measured."""

    instance: Instance

    @property
    def names(self) -> list[str]:
        return list(self.instance.bounds.quantities)

    @property
    def settings(self) -> frozenset[str]:
        return SETTINGS

    def rows(self, run: Run, points: Points | None = None) -> Iterator[Row]:
        """One row a scope: `network` with all tiers, those of a prompt with the instance tier where its ratio is worst.

        `points` are those that an attack has found; None: it is still to be made.
        """
        found = measure(self.instance, run, points)
        for quantity in self.instance.bounds.measured:
            if "network" in quantity.scopes:
                yield self._network_row(quantity, found.largest(quantity), run)
            goals = [Goal(quantity, scope) for scope in prompt_scopes(quantity)]
            goals += stated_goals(quantity, self.instance.bounds.prompt_tiers(quantity))
            for goal in goals:
                yield self._prompt_row(goal, found.by_ratio[goal.key], run)

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        """Raises UsageError for a scope that the quantity does not have, and for an input outside the domains."""
        quantity = self.instance.quantity(witness.quantity)
        self._require_scope(quantity, witness.scope)
        self.instance.inputs.require(one)
        return self.at(quantity, one, witness.scope)

    def at(self, quantity: Quantity, one: Batch, scope: str | None = None) -> Row:
        """The row of one particular input, every tier judged on it alone; the instance of `scope`, or of the last."""
        instance, scope = self.instance, scope or quantity.scopes[-1]
        tiers = {**instance.bounds.stated(quantity), "instance": instance.bounds.instance(quantity, scope, one)}
        at_prompt = instance.bounds.prompt_tiers(quantity)
        tiers |= {tier: instance.bounds.at(quantity, tier, scope, one) for tier in at_prompt}
        return self.judged(quantity, scope, tiers, [self.place(quantity, one)], ONE_INPUT)

    def place(self, quantity: Quantity, one: Batch) -> Place:
        return Place(one, evidence_at(self.instance, quantity, one))

    def _require_scope(self, quantity: Quantity, scope: str | None) -> None:
        at_prompts = ["prompt"] if self.instance.bounds.prompt_tiers(quantity) else []
        scopes = dict.fromkeys([*quantity.scopes, *at_prompts])
        if scope is not None and scope not in scopes:
            known = ", ".join(scopes) or "none"
            raise UsageError(f"witness: '{quantity.name}' has no scope '{scope}'; its scopes: {known}")

    # Rows of one scope.

    def _network_row(self, quantity: Quantity, found: Sequence[Place], run: Run) -> Row:
        bounds = self.instance.bounds
        tiers = {**bounds.stated(quantity), "instance": bounds.instance(quantity, "network")}
        row = self.judged(quantity, "network", tiers, found, run)
        says_nothing = row.derived is None and row.verdict.get("derived") in (Verdict.OUTSIDE, Verdict.UNDECIDED)
        row.slack = {} if says_nothing else slacks_at(self.instance, quantity, found[-1].inputs)
        return row

    def _prompt_row(self, goal: Goal, found: Sequence[Place], run: Run) -> Row:
        """Each input is judged against its own bound; the row shows the one where the error comes closest to its bound.

        An error in the column `measured` is that of a random (or real) input, one in `attacked` that of the attack's.
        """
        tier, scope, bounds = goal.tier or "instance", str(goal.scope), self.instance.bounds
        rows = [
            self.judged(goal.quantity, scope, {tier: bounds.at(goal.quantity, tier, scope, each.inputs)}, [each], run)
            for each in found
        ]
        remark = ""
        if scope == EVERY:
            neighbours = Neighbours(self.instance, goal)
            try:
                worst = neighbours.worst(found[-1].inputs, run)
            except (UsageError, RuntimeError, TypeError):
                worst, remark = None, AT_REST
            rows += [self._of_another(goal, *worst, run)] if worst else []
        by_closeness = sorted(range(len(rows)), key=lambda place: (_slackness(rows[place], tier), -place))
        row = rows[by_closeness[0]].model_copy()
        if by_closeness[0] > 0:
            row.measured, row.attacked = None, row.measured
        worst_rows = [
            rows[place]
            for verdict in (Verdict.VIOLATED, Verdict.UNDECIDED)
            for place in by_closeness
            if verdict in rows[place].verdict.values()
        ]
        if worst_rows:
            first = worst_rows[0]
            row.verdict, row.witness, row.remark = first.verdict, first.witness, first.remark
        row.remark = joined([row.remark, remark])
        return row

    def _of_another(self, goal: Goal, one: Batch, instance: Instance, run: Run) -> Row:
        """With other matrices as near to the exact ones."""
        other, quantity, scope = Errors(instance), goal.quantity, str(goal.scope)
        bound = instance.bounds.at(quantity, "instance", scope, one)
        return other.judged(quantity, scope, {"instance": bound}, [other.place(quantity, one)], run)

    # Judging.

    def judged(self, quantity: Quantity, scope: str, tiers: OpenTiers, found: Sequence[Place], run: Run) -> Row:
        """The row of one quantity: each tier that has a bound judged by what was found.

        `found` holds the worst random (or real) input, then the worst attacked one if there was an attack.
        """
        instance, evidence = self.instance, [each.evidence for each in found]
        present = {tier: bound for tier, bound in tiers.items() if bound is not None}
        bounds = usable(instance.bounds, quantity, scope, present, found[0].inputs)
        judged = Judge(quantity, bounds, evidence)
        verdict = {tier: _shown(each, bounds[tier]) for tier, each in judged.verdicts().items()}
        violated = [tier for tier, each in verdict.items() if each is Verdict.VIOLATED]
        rounded = [tier for tier in violated if self._may_be_rounding(quantity, scope, tier, bounds[tier], found)]
        within = [tier for tier in violated if self._holds_at_own_letters(quantity, scope, tier, found)]
        verdict |= dict.fromkeys([*rounded, *within], Verdict.UNDECIDED)
        numbers = {tier: bound.number() for tier, bound in bounds.items()}
        worst, complaints = max(found, key=lambda each: each.evidence.surely), judged.complaints()
        remarks = [words for bound in bounds.values() for words in (bound.outside, bound.remark) if words]
        remarks += [words for words in complaints if words and words not in remarks]
        remarks += [*within_rounding(rounded), *_precision_remarks(bounds, evidence)]
        return row_of(
            instance,
            quantity,
            verdict,
            **settings_of(run),
            **numbers,
            scope=scope,
            drawn=list(instance.theorem.recorded) or None,
            premises=list(dict.fromkeys(each for bound in bounds.values() for each in bound.premises)) or None,
            measured=evidence[0].measured,
            attacked=evidence[1].measured if len(evidence) > 1 else None,
            exact=_largest_exact(evidence),
            rounding=max((each.rounding for each in evidence if each.rounding is not None), default=None),
            ratio=_ratio([b for tier, b in bounds.items() if tier in OURS and not b.ball.is_nan()], evidence),
            claimed_ratio=_ratio([bounds["claimed"]] if "claimed" in bounds else [], evidence),
            flags=self._flags(quantity, bounds, evidence),
            remark=joined([quantity.remark, *remarks, *(f"{tier}: {AT_WORST}" for tier in within)]),
            witness=witness_of(instance, quantity, worst.inputs, worst.evidence.surely, numbers, scope=scope)
            if Verdict.VIOLATED in verdict.values()
            else None,
        )

    def _holds_at_own_letters(self, quantity: Quantity, scope: str, tier: str, found: Sequence[Place]) -> bool:
        """Whether a bound that fails at the worst case of its letters may hold at those of each prompt."""
        bounds = self.instance.bounds
        if scope != "network" or tier not in bounds.prompt_tiers(quantity):
            return False
        own = [(bounds.at(quantity, tier, "prompt", each.inputs), each.evidence) for each in found]
        return all(bound is not None and judge(bound, [each]) is not Verdict.VIOLATED for bound, each in own)

    def _may_be_rounding(self, quantity: Quantity, scope: str, tier: str, bound: Bound, found: Sequence[Place]) -> bool:
        """Whether no violation is left once floats that Python computed stand for all numbers near them."""
        violating = [each for each in found if judge(bound, [each.evidence]) is Verdict.VIOLATED]
        return not any(self._is_violated_nearby(quantity, tier, scope, each.inputs) for each in violating)

    def _is_violated_nearby(self, quantity: Quantity, tier: str, scope: str, one: Batch) -> bool:
        """False too where the functions do not run on the wider balls: a branch or an inverse that they leave open."""
        near = self.instance.nearby
        try:
            bound = near.bounds.at(quantity, tier, scope, one)
            evidence = evidence_at(near, quantity, one)
        except NOT_RUN:
            return False
        return bound is not None and judge(bound, [evidence]) is Verdict.VIOLATED

    def _flags(self, quantity: Quantity, bounds: Tiers, evidence: Sequence[Evidence]) -> dict[str, list[str]]:
        trivial = self.instance.bounds.trivial(quantity)
        flags = {tier: flags_of(bound, trivial, evidence) for tier, bound in bounds.items()}
        if any(each.rounding_dominates for each in evidence):
            flags["measured"] = [Flag.ROUNDING.value]
        elif any(_rounded_above(bound, each) for bound in bounds.values() for each in evidence):
            flags["measured"] = [Flag.ROUNDED_ABOVE.value]
        return {tier: words for tier, words in flags.items() if words}


def _shown(verdict: Verdict, bound: Bound) -> Verdict:
    """`not representable` where the bound is below what floats hold and no exact run could decide."""
    if verdict is Verdict.UNDECIDED and bound.number() is None and not bound.ball.is_nan():
        return Verdict.NOT_REPRESENTABLE
    return verdict


def _slackness(row: Row, tier: str) -> float:
    """Bound over error, to 9 digits; infinite for an input without either."""
    error = row.exact or row.measured
    stated = row.printed / error if row.printed is not None and error else None
    ratio = {"claimed": row.claimed_ratio, "printed": stated}.get(tier, row.ratio)
    return math.inf if ratio is None else float(f"{ratio:.9g}")


def _rounded_above(bound: Bound, each: Evidence) -> bool:
    """Whether the float error exceeds the bound and the exact one does not."""
    if each.exact is None or each.measured is None:
        return False
    return bool(bound.ball < flint.arb(each.measured)) and not bound.ball < each.exact


def _precision_remarks(bounds: Tiers, evidence: Sequence[Evidence]) -> list[str]:
    ran = any(each.exact is not None for each in evidence)
    remarks = [] if ran else [IN_FLOATS]
    tiny = [tier for tier, bound in bounds.items() if bound.number() is None and bound.ball.is_finite()]
    if tiny:
        bits = max(bits_for(bounds[tier].ball) for tier in tiny)
        verb = "exact arithmetic used" if ran and bits <= MOST_BITS else "telling it from 0 takes"
        remarks.append(f"{', '.join(tiny)}: outside the range of float64; {verb} {bits} bits")
    return remarks


def _largest_exact(evidence: Sequence[Evidence]) -> float | None:
    """The largest exact error, rounded up."""
    known = [float64_above(each.exact) for each in evidence if each.exact is not None]
    return max((error for error in known if error is not None), default=None)


def _ratio(bounds: Sequence[Bound], evidence: Sequence[Evidence]) -> float | None:
    """The sharpest bound over the largest error seen (exact where that is known); None where either is 0."""
    seen = [flint.arb(each.measured) if each.exact is None else each.exact for each in evidence]
    if not bounds or not seen or not all(error > 0 for error in seen):
        return None
    largest, sharpest = seen[0], bounds[0].ball
    for error in seen[1:]:
        largest = largest.max(error)
    for bound in bounds[1:]:
        sharpest = sharpest.min(bound.ball)
    return float(sharpest / largest)


@dataclass(frozen=True)
class Refused:
    """Rows of quantities that are not run here: the stated bounds, and why nothing is run."""

    instance: Instance
    quantities: Sequence[Quantity]

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.quantities]

    @property
    def settings(self) -> frozenset[str]:
        return SETTINGS

    @property
    def refusal(self) -> Refusal:
        refusal = self.instance.refusal
        assert refusal is not None  # asked of such points alone
        return refusal

    def rows(self, run: Run) -> Iterator[Row]:
        """One row a scope."""
        for quantity in self.quantities:
            for scope in quantity.scopes or (None,):
                yield self._row(quantity, scope, replace(run.without_attack(), samples=0))

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        raise UsageError(f"witness: '{witness.quantity}' cannot be run here: {self.refusal.reason}")

    def _row(self, quantity: Quantity, scope: str | None, run: Run) -> Row:
        at_a_prompt = scope in prompt_scopes(quantity)
        bounds = {} if at_a_prompt else self._bounds(quantity, scope)
        judged = ["instance"] if at_a_prompt else ["derived"]
        if self.refusal.verdict is Verdict.OUTSIDE and quantity.printed is not None and not at_a_prompt:
            judged.insert(0, "printed")
        return row_of(
            self.instance,
            quantity,
            dict.fromkeys(judged, self.refusal.verdict),
            **settings_of(run),
            **{tier: bound.number() for tier, bound in bounds.items()},
            scope=scope,
            drawn=list(self.instance.theorem.recorded) or None,
            premises=list(dict.fromkeys(each for bound in bounds.values() for each in bound.premises)) or None,
            remark=joined([quantity.remark, self.refusal.reason]),
        )

    def _bounds(self, quantity: Quantity, scope: str | None) -> Tiers:
        """The stated bounds; outside the hypotheses those that are none have no number."""
        bounds, why = self.instance.bounds, self.refusal.reason
        present = {tier: bound for tier, bound in bounds.stated(quantity).items() if bound is not None}
        if self.refusal.verdict is Verdict.OUTSIDE:
            present = {t: replace(bound, outside=joined([bound.outside, why])) for t, bound in present.items()}
        return usable(bounds, quantity, scope, present)
