"""The one judge: what was found, against what is stated, by balls; proofs, and limits along a path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import flint
import sympy as sp

from bridge.instances.bound import Bound
from bridge.theorems.check import OverSeeds, Sides
from bridge.theorems.record import Flag, Verdict
from numeric.balls import float_below
from symbolic.statements.result import Kind, Order, Quantity

EQUAL_BITS = 60  # two numbers that agree to 60 bits, more than a float64 has, count as equal
AGREEMENT = 0.05  # relative, of a run and an asymptotic formula


def relation(
    kind: Kind, found: flint.arb, bound: flint.arb, *, strict: bool = False, unit: int = 0, is_estimate: bool = False
) -> Verdict:
    """The verdict on one bound from what was found.

    Equal to 60 bits counts as equal: it keeps a bound that is not strict. `unit` is the size of what an error is the
    difference of: beside a bound of exactly 0, an error below 2^-60 of it counts as 0 (0: what is counted has none).
    `is_estimate`: of a float run with its rounding, which decides nothing where it meets the bound. A rate is only ever
    consistent: an input does not refute it.
    """
    equal = not is_estimate and equals(found, bound, unit)
    if kind is Kind.RATE:
        return Verdict.CONSISTENT if found <= bound or equal else Verdict.UNDECIDED
    if kind is Kind.EXACT:
        return Verdict.KEPT if equal else Verdict.UNDECIDED if found.overlaps(bound) else Verdict.VIOLATED
    low, high = (found, bound) if kind is Kind.UPPER else (bound, found)  # low <= high, or low < high
    if low > high or (strict and not is_estimate and low >= high):
        return Verdict.VIOLATED
    kept = low < high if strict or is_estimate else low <= high or equal
    return Verdict.KEPT if kept else Verdict.UNDECIDED


def equals(one: flint.arb, other: flint.arb, unit: int = 0) -> bool:
    """They meet, and each is narrower than 2^-60 of its size (of 1, above it; of `unit`, beside an exact 0)."""
    if not one.overlaps(other):
        return False
    if one.is_exact() and other.is_exact():
        return True
    if unit and other == 0:
        return bool(one < flint.arb(unit) * flint.arb(2) ** -EQUAL_BITS)
    scale, width = one.abs_upper().max(other.abs_upper()).min(flint.arb(1)), one.rad().max(other.rad())
    return bool(width <= scale * flint.arb(2) ** -EQUAL_BITS)


def of_interval(seen: OverSeeds, kind: Kind, bound: Bound) -> Verdict:
    """The verdict on a bound of the centre of values over seeds: consistent where the interval is within the bound."""
    least, most = (seen.low, seen.high) if kind is Kind.UPPER else (-seen.high, -seen.low)
    end = bound.ball if kind is Kind.UPPER else -bound.ball
    if least > end or (bound.strict and least >= end):
        return Verdict.VIOLATED
    return Verdict.CONSISTENT if most < end or (most <= end and not bound.strict) else Verdict.UNDECIDED


def implies(kind: Kind, known: flint.arb, bound: flint.arb, *, strict: bool = False) -> bool:
    """Whether a bound of this kind follows from a known one: a rate only from the same one."""
    same = Kind.EXACT if kind is Kind.RATE else kind
    return relation(same, known, bound, strict=strict) is Verdict.KEPT


def of_order(order: Order, limit: sp.Expr) -> Verdict:
    """The verdict on a Landau symbol from the limit of the quantity over the expression inside, along one path."""
    too_large, too_small = limit == sp.oo, bool(limit.is_zero)
    refuted = {Order.O: too_large, Order.OMEGA: too_small, Order.THETA: too_large or too_small}
    if refuted.get(order, False):
        return Verdict.VIOLATED
    holds = limit.is_extended_nonnegative and (limit.is_finite or order is Order.OMEGA)
    return Verdict.CONSISTENT if holds else Verdict.UNDECIDED


def agrees(found: flint.arb, derived: flint.arb) -> bool:
    """Whether a run confirms an asymptotic formula."""
    return bool(abs(found - derived) <= AGREEMENT * abs(derived))


UNIT = 1  # outputs, of which an error is the difference, are of size 1
NOTHING_BESIDE = Sides()  # neither a proof nor a limit
WORST_FIRST = (Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.CONSISTENT)


@dataclass(frozen=True)
class Evidence:
    """What was found at one input: in floats, and enclosed if that was run.

    `rounding` is how far the float may be from what it stands for; None: nobody knows.
    """

    measured: float | None = None
    exact: flint.arb | None = None
    rounding: float | None = None

    @property
    def surely(self) -> float:
        """What an error is at least."""
        return float_below(self.exact) if self.exact is not None else (self.measured or 0.0) - (self.rounding or 0.0)

    @property
    def rounding_dominates(self) -> bool:
        """Whether more than half of the float error is rounding (rounding below 2^-60 does not count)."""
        return self.rounding is not None and 2 * self.rounding > max(self.measured or 0.0, 2.0**-EQUAL_BITS)


def judge(bound: Bound, evidence: Sequence[Evidence], kind: Kind = Kind.UPPER, unit: int = UNIT) -> Verdict:
    """The verdict on one bound (of an error, unless `kind` and `unit` say otherwise): the worst that is supported.

    Violated needs what exact arithmetic puts beyond the bound, or a float that is beyond it by more than the rounding
    that was measured. Kept needs all of it within the bound, in exact arithmetic wherever it was run; what equals a
    bound that is not strict to 60 bits keeps it, and is flagged as attained. In between (a float beyond the bound that
    may be rounding, one that rounding may have hidden, a ball that straddles the bound) it is undecided. Outside: a
    premise of the bound does not hold here.
    """
    if bound.outside:
        return Verdict.OUTSIDE
    found = [_judge_one(bound, each, kind, unit) for each in evidence]
    return next((each for each in WORST_FIRST if each in found), Verdict.KEPT if found else Verdict.UNDECIDED)


def _judge_one(bound: Bound, evidence: Evidence, kind: Kind, unit: int) -> Verdict:
    if evidence.exact is not None:
        return relation(kind, evidence.exact, bound.ball, strict=bound.strict, unit=unit)
    if evidence.rounding is None or evidence.measured is None:
        return Verdict.UNDECIDED
    estimate = flint.arb(evidence.measured, evidence.rounding)
    return relation(kind, estimate, bound.ball, strict=bound.strict, is_estimate=True)


def attained(bound: Bound, evidence: Evidence, unit: int = UNIT) -> bool:
    """Whether what was found equals the bound as far as exact arithmetic can decide."""
    return evidence.exact is not None and equals(evidence.exact, bound.ball, unit)


def flags_of(bound: Bound, trivial: flint.arb | None, evidence: Sequence[Evidence], unit: int = UNIT) -> list[str]:
    """The flags of a bound, in addition to its verdict."""
    flags = [Flag.ATTAINED.value] if any(attained(bound, each, unit) for each in evidence) else []
    if trivial is not None and trivial > 0 and bound.ball >= trivial:
        flags.append(Flag.VACUOUS.value)
    if bound.conditional:
        flags.append(Flag.CONDITIONAL.value)
    return flags


@dataclass(frozen=True)
class Judge:
    """The verdicts on the bounds of a quantity: from proofs, from what was found, from limits along a path.

    `kind` and `unit` are those by which a number is judged: an error is bounded from above, whatever the kind of its
    quantity. `sides` says what there is beside what was found.
    """

    quantity: Quantity
    bounds: Mapping[str, Bound]
    evidence: Sequence[Evidence]
    kind: Kind = Kind.UPPER
    unit: int = UNIT
    sides: Sides = NOTHING_BESIDE

    def verdicts(self) -> dict[str, Verdict]:
        if self._is_asymptotic:
            return self._asymptotic()
        verdict = {tier: self._verdict(tier) for tier in self.bounds}
        return verdict | self._of_constant(verdict)

    def of_run(self, tier: str) -> Verdict | None:
        """What the run alone says of one bound; None where it says nothing."""
        if self._in_order(tier):
            return None
        if self.sides.over_seeds is not None:
            return of_interval(self.sides.over_seeds, self._judged_as(tier), self.bounds[tier])
        if not self.evidence:
            return None
        return judge(replace(self.bounds[tier], outside=""), self.evidence, self._judged_as(tier), self.unit)

    def complaints(self) -> list[str]:
        """The hypotheses that do not hold, why a number decides nothing, and proofs that the run contradicts."""
        contradicted = [tier for tier in self.bounds if self._covered(tier) and self.of_run(tier) is Verdict.VIOLATED]
        one_is_wrong = f"{', '.join(contradicted)}: the run contradicts the proof, one of the two is wrong"
        outside = [self.sides.outside_all, *(bound.outside for bound in self.bounds.values())]
        return [*outside, self._open_order(), self._limit(), self._straddled(), one_is_wrong if contradicted else ""]

    def _straddled(self) -> str:
        """Why an interval that samples give decides nothing."""
        over_seeds = self.sides.over_seeds is not None
        if not (self.sides.samples or over_seeds) or self._is_asymptotic:
            return ""
        open_ones = [tier for tier in self.bounds if self._verdict(tier) is Verdict.UNDECIDED and self._inside(tier)]
        more = "seeds" if over_seeds else "samples"
        return f"{', '.join(open_ones)}: inside that interval; more {more} make it shorter" if open_ones else ""

    def _inside(self, tier: str) -> bool:
        if self.sides.over_seeds is not None:
            return not self.bounds[tier].ball.is_nan()
        bound = self.bounds[tier].ball
        return any(each.exact is not None and each.exact.rad() > 0 and each.exact.overlaps(bound)
                   for each in self.evidence)  # fmt: skip

    # One bound.

    def _verdict(self, tier: str) -> Verdict:
        """A proof and a run that contradict each other are undecided: one of them is wrong. So is what is no number."""
        run, computed = self.of_run(tier), tier in self.sides.computed
        supported = self._covered(tier) or computed
        if self.bounds[tier].outside or (self.sides.outside_all and not supported):
            return Verdict.OUTSIDE
        if self.bounds[tier].ball.is_nan() or (supported and run is Verdict.VIOLATED):
            return Verdict.UNDECIDED
        if computed:  # of a rate, on the range that was computed
            return Verdict.CONSISTENT if self.kind is Kind.RATE else Verdict.KEPT
        return Verdict.PROVED if supported else self._excused(run or Verdict.UNDECIDED)

    def _excused(self, verdict: Verdict) -> Verdict:
        return Verdict.OUTSIDE if verdict is Verdict.VIOLATED and self.sides.excuse else verdict

    def _covered(self, tier: str) -> bool:
        """Whether the bound is proved, or follows from one that is."""
        proved = self.sides.proved
        if tier in proved or self._in_order(tier):
            return tier in proved
        known = [self.bounds[each].ball for each in proved if each in self.bounds and not self.bounds[each].outside]
        bound, kind = self.bounds[tier], self._judged_as(tier)
        return any(implies(kind, each, bound.ball, strict=bound.strict) for each in known)

    def _judged_as(self, tier: str) -> Kind:
        """A claim on a value is an upper bound on it."""
        return Kind.UPPER if tier == "claimed" and self.kind is Kind.EXACT else self.kind

    # Landau symbols.

    @property
    def _found(self) -> flint.arb | None:
        return self.evidence[0].exact if self.evidence else None

    @property
    def _order(self) -> Order:
        return Order.NONE if self.quantity.printed is None else self.quantity.printed.order

    def _in_order(self, tier: str) -> bool:
        """Whether the number stands inside a Landau symbol, whose constant no input refutes; a rate is an exponent."""
        return tier == "printed" and self._order is not Order.NONE and self.kind is not Kind.RATE

    @property
    def _is_asymptotic(self) -> bool:
        """Whether the printed formula is a rate inside a Landau symbol, or is decided along a path."""
        a_rate = self.kind is Kind.RATE and self._order is not Order.NONE
        return self.sides.limit is not None or (a_rate and self.sides.printed is None and self.sides.constant is None)

    def _asymptotic(self) -> dict[str, Verdict]:
        proved = [tier for tier in self.sides.proved if tier in self.bounds and tier != "printed"]
        verdict = {tier: self._verdict(tier) for tier in proved}
        found, derived = self._found, self.bounds.get("derived")
        confirmed = found is None or derived is None or agrees(found, derived.ball)
        if self.quantity.printed is not None and self.sides.outside_all:
            verdict["printed"] = Verdict.OUTSIDE
        elif self.quantity.printed is not None and self.sides.limit is not None:
            of_limit = of_order(self._order, self.sides.limit) if confirmed else Verdict.UNDECIDED
            verdict["printed"] = self._excused(of_limit)
        if found is not None and derived is not None and "derived" not in verdict:
            verdict["derived"] = Verdict.CONSISTENT if confirmed else Verdict.UNDECIDED
        return verdict

    def _of_constant(self, verdict: Mapping[str, Verdict]) -> dict[str, Verdict]:
        """A printed Landau symbol that has a constant: what holds for the derived count holds if the count is right."""
        if self.sides.constant is None or verdict.get("printed") is Verdict.OUTSIDE:
            return {}
        counted = verdict.get("derived") in (Verdict.PROVED, Verdict.KEPT) and self.sides.constant.value.is_finite
        return {"printed": Verdict.CONSISTENT if counted else Verdict.UNDECIDED}

    def _limit(self) -> str:
        """The number on which a verdict rests where the row would have neither a number nor a remark."""
        sides, numbers = self.sides, (self._found, self.sides.measured, self.sides.attacked)
        if sides.limit is None or sides.remark or any(number is not None for number in numbers):
            return ""
        return f"the quantity over the printed expression tends to `{sp.sstr(sides.limit)}`"

    def _open_order(self) -> str:
        """Why a number inside a Landau symbol decides nothing."""
        shown = "printed" in self.bounds and not self.bounds["printed"].outside and self._in_order("printed")
        sides = self.sides
        decided = sides.limit is not None or sides.constant is not None or "printed" in (*sides.proved, *sides.computed)
        if not shown or decided:
            return ""
        return f"printed: the number inside {self._order}, whose constant is unspecified"
