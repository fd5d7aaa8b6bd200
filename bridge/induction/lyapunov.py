"""The studies of the Lyapunov functions of Appendix C (wang2024): inequalities proved or refuted on boxes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.certify.forms import Enclosures
from bridge.certify.proving import Outcome, Status, prove
from bridge.certify.search import smallest
from bridge.certify.witnesses import refutation, replayed
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.induction import lyapunov as theory
from symbolic.induction import lyapunov_gram as gram
from symbolic.induction import lyapunov_head as head
from symbolic.inequalities import Inequality, written_out
from symbolic.statements import Quantity, Result

MOST_BOXES = 4000  # for one proof; the longest takes 1191. A count, so that every machine gives the same verdict
SHARE = 0.95  # of the smallest ratio that is found: the constant that is tried
VERDICTS = {
    Status.PROVED: Verdict.PROVED,
    Status.REFUTED: Verdict.VIOLATED,
    Status.UNDECIDED: Verdict.UNDECIDED,
}


def proofs(inequalities: Iterable[Inequality]) -> list[Outcome]:
    return [prove(each, seconds=math.inf, most_boxes=MOST_BOXES) for each in inequalities]


def together(outcomes: list[Outcome]) -> tuple[Verdict, str]:
    """The verdict on a statement that needs all of these, and how it came about."""
    for status in (Status.REFUTED, Status.UNDECIDED):
        if any(each.status is status for each in outcomes):
            break
    else:
        status = Status.PROVED
    boxes = sum(each.boxes for each in outcomes)
    said = f"{boxes} boxes" if status is Status.PROVED else _open(outcomes, status)
    return VERDICTS[status], said


def _open(outcomes: list[Outcome], status: Status) -> str:
    worst = next(each for each in outcomes if each.status is status)
    if status is Status.REFUTED:
        point = ", ".join(f"{symbol} = {float(x):.6g}" for symbol, x in worst.point.items())
        on_edge = any(
            x in ends for x, ends in zip(worst.point.values(), Enclosures(worst.inequality).root, strict=True)
        )
        near = " (on the edge of the open region: it fails nearby too, both sides being continuous)" if on_edge else ""
        return f"fails at {point}, by {-(worst.value or 0.0):.3g}{near}"
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
        verdict, said = together(outcomes)
        verdicts, remarks = {"printed": verdict}, [f"printed {verdict.value}: {said}"]
        if ours:
            verdicts["derived"], said = together(proofs(ours))
            remarks.append(f"c = {theory.CERTIFIED[quantity.name]} {verdicts['derived'].value}: {said}")
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
            witness=None if refuted is None else refutation(self, f"{quantity.name}.point", refuted),
            params={},
        )

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
        return f"v* = w*^2 = {float(star):.4g} is above {most}, up to which C.2 speaks" if star > most else ""

    def searched(self, name: str, inequality: Inequality) -> sp.Expr:
        if not name.startswith("decay"):
            return inequality.expression
        loss, candidate = head.loss_and_candidate(name.removeprefix("decay.").removesuffix("_flow"))
        return loss / candidate

    def rows(self, budget: Budget) -> list[Row]:
        return [*super().rows(budget), self._quadratic_row()]

    def _quadratic_row(self) -> Row:
        quantity, found = self.result.quantity("quadratic"), quadratic_at(self.params)
        values = ", ".join(f"{name} {value:.4g}" for name, value in found.sampled.items())
        said = f"largest rates found by search: {values}; at (v*, h*) itself 2 mu = {found.fastest:.4g} is the most"
        if found.inequality is None:
            return direct_row(self, quantity, {"derived": Verdict.UNDECIDED}, measured=found.best, remark=said)
        verdict, how = together(proofs([found.inequality]))
        return direct_row(
            self,
            quantity,
            {"derived": verdict},
            derived=found.constant,
            instance=None,
            measured=found.best,
            remark=f"{found.name}: {how}; {said}",
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
