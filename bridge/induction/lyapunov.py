"""The studies of the Lyapunov functions of Appendix C (wang2024): inequalities proved or refuted on boxes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.certify.forms import Enclosures
from bridge.certify.proving import Outcome, Status, prove
from bridge.certify.search import smallest
from bridge.certify.witnesses import BITS, refutation, replayed
from bridge.export.numbers import plain
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import float_above
from symbolic.induction import lyapunov as theory
from symbolic.induction import lyapunov_gram as gram
from symbolic.induction import lyapunov_head as head
from symbolic.inequalities import Inequality, written_out
from symbolic.statements import Quantity, Result

OFF_THE_ENDS = (Fraction(1, 100), Fraction(1, 10_000))  # shares of a range
MOST_BOXES = 4000  # for one proof; the longest takes 1191. A count, so that every machine gives the same verdict
SHARE = 0.95  # of the smallest ratio that is found: the constant that is tried
VERDICTS = {
    Status.PROVED: Verdict.PROVED,
    Status.REFUTED: Verdict.VIOLATED,
    Status.UNDECIDED: Verdict.UNDECIDED,
}


def proofs(inequalities: Iterable[Inequality]) -> list[Outcome]:
    return [moved_inside(prove(each, seconds=math.inf, most_boxes=MOST_BOXES)) for each in inequalities]


def moved_inside(outcome: Outcome) -> Outcome:
    """A refutation with its point off the ends of the coordinates' ranges, which the paper's open region leaves out.

    Unchanged where the inequality is not refuted, and where none of these points refutes it.
    """
    if outcome.status is not Status.REFUTED:
        return outcome
    enclosures = Enclosures(outcome.inequality, BITS)
    for share in OFF_THE_ENDS:
        inner = [
            min(max(x, low + share * (high - low)), high - share * (high - low))
            for x, (low, high) in zip(outcome.point.values(), enclosures.root, strict=True)
        ]
        value = enclosures.value_at(inner)
        if value < 0 and enclosures.inside(inner):
            return replace(outcome, point=dict(zip(outcome.point, inner, strict=True)), value=float_above(value))
    return outcome


def combine(outcomes: list[Outcome]) -> tuple[Verdict, str]:
    """The verdict on a statement that needs all of these, and how it was reached."""
    for status in (Status.REFUTED, Status.UNDECIDED):
        if any(each.status is status for each in outcomes):
            break
    else:
        status = Status.PROVED
    boxes = sum(each.boxes for each in outcomes)
    return VERDICTS[status], f"{boxes} boxes" if status is Status.PROVED else _not_proved(outcomes, status)


def _not_proved(outcomes: list[Outcome], status: Status) -> str:
    worst = next(each for each in outcomes if each.status is status)
    if status is Status.REFUTED:
        point = ", ".join(f"{symbol} = {plain(float(x))}" for symbol, x in worst.point.items())
        return f"fails at {point}, by {plain(-(worst.value or 0.0))}"
    return f"open in {len(worst.open_boxes)} boxes; {worst.share:.1%} of the region settled"


class LyapunovCase(DirectCase):
    """Decays and estimates of one head: each a list of inequalities that are proved or refuted together."""

    def __init__(self, result: Result, params: Mapping[str, Any], stated: theory.Stated, **settings: str) -> None:
        super().__init__(result, params, **settings)
        self.stated = stated

    def rows(self, budget: Budget) -> list[Row]:
        return [self._row(self.result.quantity(name)) for name in self.stated]

    def outside(self) -> str:
        """Why the printed statements say nothing at this point, if so."""
        return ""

    def _row(self, quantity: Quantity) -> Row:
        if reason := self.outside():
            return direct_row(self, quantity, {"printed": Verdict.OUTSIDE}, remark=reason)
        printed, ours = self.stated[quantity.name]
        outcomes = proofs(printed)
        verdict, how = combine(outcomes)
        verdicts, remarks = {"printed": verdict}, [f"printed {verdict.value}: {how}"]
        if ours:
            verdicts["derived"], how = combine(proofs(ours))
            remarks.append(f"c = {theory.CERTIFIED[quantity.name]} {verdicts['derived'].value}: {how}")
        refuted = next((each for each in outcomes if each.status is Status.REFUTED), None)
        assert quantity.printed is not None  # every stated quantity is printed
        return direct_row(
            self,
            quantity,
            verdicts,
            printed=float(quantity.printed.bound),
            derived=float(theory.CERTIFIED[quantity.name]) if ours else None,
            measured=self.sampled(quantity.name),
            remark="; ".join(remarks),
            witness=None if refuted is None else self._witness(quantity, refuted),
            params={},
        )

    def _witness(self, quantity: Quantity, refuted: Outcome) -> Witness | None:
        """The point, and the value there: the statement is that this is 0 or more."""
        found = refutation(self, f"{quantity.name}.point", refuted)
        return None if found is None else found.model_copy(update={"error_lower": -found.error_lower})

    def sampled(self, name: str) -> float:
        """The smallest value found by sampling and local search: no constant above it can hold."""
        inequality = self.stated[name][0][0]
        return smallest(self.searched(name, inequality), inequality)

    def searched(self, name: str, inequality: Inequality) -> sp.Expr:
        """What sampling looks for the smallest value of."""
        return inequality.expression

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        quantity = name.removesuffix(".point")
        if name == quantity or quantity not in self.stated:
            return super().replay_check(name, inputs)
        return replayed(self, self.result.quantity(quantity), name, self.stated[quantity][0][0], inputs)


class GramCase(LyapunovCase):
    def searched(self, name: str, inequality: Inequality) -> sp.Expr:
        decays = name.startswith("decay")
        return gram.largest_constant(inequality, gram.PRINTED_CONSTANT) if decays else inequality.expression


class HeadCase(LyapunovCase):
    def outside(self) -> str:
        star, most = as_exact(self.params["w_star"]) ** 2, head.REGION[head.v_star][1]
        return f"v* = w*^2 = {plain(float(star))} is above {most}, up to which C.2 states it" if star > most else ""

    def searched(self, name: str, inequality: Inequality) -> sp.Expr:
        if not name.startswith("decay"):
            return inequality.expression
        loss, candidate = head.loss_and_candidate(name.removeprefix("decay.").removesuffix("_flow"))
        return loss / candidate

    def rows(self, budget: Budget) -> list[Row]:
        return [*super().rows(budget), self._quadratic_row()]

    def _quadratic_row(self) -> Row:
        quantity, found = self.result.quantity("quadratic"), quadratic_at(self.params)
        values = ", ".join(f"{name} {plain(value)}" for name, value in found.sampled.items())
        rates = f"largest rates found by search: {values}; no rate exceeds 2 mu = {plain(found.fastest)} at (v*, h*)"
        if found.inequality is None:
            return direct_row(self, quantity, {"derived": Verdict.UNDECIDED}, measured=found.best, remark=rates)
        verdict, how = combine(proofs([found.inequality]))
        return direct_row(
            self,
            quantity,
            {"derived": verdict},
            derived=found.constant,
            instance=None,
            measured=found.best,
            remark=f"{found.name}: {how}; {rates}",
        )


@dataclass(frozen=True)
class Quadratic:
    """The candidate of the linearisation that decays fastest on the region, and the rate that is to be certified."""

    name: str
    sampled: dict[str, float]
    fastest: float
    constant: float
    inequality: Inequality | None

    @property
    def best(self) -> float:
        return self.sampled[self.name]


def quadratic_at(params: Mapping[str, Any]) -> Quadratic:
    """Of the candidates from the linearisation along (12), the one that decays fastest where it does so least."""
    alpha, w_star = (sp.Rational(*Fraction(params[name]).as_integer_ratio()) for name in ("alpha", "w_star"))
    return _quadratic(alpha, w_star)


@lru_cache(maxsize=16)
def _quadratic(alpha: sp.Rational, w_star: sp.Rational) -> Quadratic:
    at = {head.v_star: w_star**2, head.h_star: 1 / (1 + alpha)}
    candidates, fastest = head.candidates("true", at)
    sampled = {}
    for name, P in candidates.items():
        form, V = head.quadratic_decay("true", P, at)
        region = head.quadratic_inequality("true", P, at, sp.Integer(0), name)
        sampled[name] = smallest(written_out(form) / V, region, samples=1 << 14)
    best = max((name for name in candidates if name != "plain"), key=lambda name: sampled[name])
    constant = sp.Rational(f"{SHARE * sampled[best]:.4g}")
    inequality = None
    if constant > 0:
        inequality = head.quadratic_inequality("true", candidates[best], at, constant, f"quadratic (c = {constant})")
    return Quadratic(best, sampled, float(fastest), float(constant), inequality)


class LyapunovGramStudy(Study):
    """Appendix C.1 Part II."""

    result = theory.LYAPUNOV_GRAM
    main_quantity = "decay"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> GramCase:
        return GramCase(self.result, self.resolved(params), theory.gram_inequalities(), dtype=dtype, device=device)


class LyapunovHeadStudy(Study):
    """Appendix C.2 Step II.2."""

    result = theory.LYAPUNOV_HEAD
    main_quantity = "decay.printed_flow"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> HeadCase:
        return HeadCase(self.result, self.resolved(params), theory.head_inequalities(), dtype=dtype, device=device)
