"""The verdicts of a check on its bounds: from proofs, from what was found there, from limits along a path."""

from dataclasses import dataclass

import flint
import sympy as sp

from bridge.check import Sides
from bridge.judging.relation import agrees, implies, of_order, relation
from bridge.record import Verdict
from bridge.verdicts import Bound
from symbolic.statements import Kind, Order, Quantity

Bounds = dict[str, Bound]


@dataclass(frozen=True)
class Judged:
    """The bounds of a quantity at some inputs, and what its check found there."""

    quantity: Quantity
    bounds: Bounds
    found: flint.arb | None
    sides: Sides

    def verdicts(self) -> dict[str, Verdict]:
        if self._is_asymptotic:
            return self._asymptotic()
        verdict = {tier: self._verdict(tier) for tier in self.bounds}
        return verdict | self._of_constant(verdict)

    def of_run(self, tier: str) -> Verdict | None:
        """What the run alone says of one bound; None where it says nothing."""
        if self.found is None or self._in_order(tier):
            return None
        bound = self.bounds[tier]
        return relation(self._judged_as(tier), self.found, bound.ball, strict=bound.strict)

    def complaints(self) -> list[str]:
        """The hypotheses that do not hold, why a number decides nothing, and proofs that the run contradicts."""
        contradicted = [tier for tier in self.bounds if self._covered(tier) and self.of_run(tier) is Verdict.VIOLATED]
        one_is_wrong = f"{', '.join(contradicted)}: the run contradicts the proof, one of the two is wrong"
        outside = [self.sides.outside_all, *(bound.outside for bound in self.bounds.values())]
        return [*outside, self._open_order(), self._limit(), one_is_wrong if contradicted else ""]

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
            return Verdict.CONSISTENT if self.quantity.kind is Kind.RATE else Verdict.KEPT
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
        return Kind.UPPER if tier == "claimed" and self.quantity.kind is Kind.EXACT else self.quantity.kind

    # Landau symbols.

    @property
    def _order(self) -> Order:
        return Order.NONE if self.quantity.printed is None else self.quantity.printed.order

    def _in_order(self, tier: str) -> bool:
        """Whether the number stands inside a Landau symbol, whose constant no input refutes; a rate is an exponent."""
        return tier == "printed" and self._order is not Order.NONE and self.quantity.kind is not Kind.RATE

    @property
    def _is_asymptotic(self) -> bool:
        """Whether the printed formula is a rate inside a Landau symbol, or is decided along a path."""
        a_rate = self.quantity.kind is Kind.RATE and self._order is not Order.NONE
        return self.sides.limit is not None or (a_rate and self.sides.printed is None and self.sides.constant is None)

    def _asymptotic(self) -> dict[str, Verdict]:
        proved = [tier for tier in self.sides.proved if tier in self.bounds and tier != "printed"]
        verdict = {tier: self._verdict(tier) for tier in proved}
        derived = self.bounds.get("derived")
        confirmed = self.found is None or derived is None or agrees(self.found, derived.ball)
        if self.quantity.printed is not None and self.sides.outside_all:
            verdict["printed"] = Verdict.OUTSIDE
        elif self.quantity.printed is not None and self.sides.limit is not None:
            verdict["printed"] = self._excused(
                of_order(self._order, self.sides.limit) if confirmed else Verdict.UNDECIDED
            )
        if self.found is not None and derived is not None and "derived" not in verdict:
            verdict["derived"] = Verdict.CONSISTENT if confirmed else Verdict.UNDECIDED
        return verdict

    def _of_constant(self, verdict: dict[str, Verdict]) -> dict[str, Verdict]:
        """A printed Landau symbol that has a constant: what holds for the derived count holds if the count is right."""
        if self.sides.constant is None or verdict.get("printed") is Verdict.OUTSIDE:
            return {}
        counted = verdict.get("derived") in (Verdict.PROVED, Verdict.KEPT) and self.sides.constant.value.is_finite
        return {"printed": Verdict.CONSISTENT if counted else Verdict.UNDECIDED}

    def _limit(self) -> str:
        """The number on which a verdict rests where the row would have neither a number nor a remark."""
        sides, numbers = self.sides, (self.found, self.sides.measured, self.sides.attacked)
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
