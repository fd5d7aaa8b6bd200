"""The study of Lemma D.6: its counterexamples, its true versions on random rationals, and the steps before (29)."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.budget import Budget
from bridge.certify import Status, prove
from bridge.export.numbers import plain
from bridge.induction.claims import apart, boxes, claim_row, replayed_claim
from bridge.lowering import lower
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from symbolic.induction import karamata as theory
from symbolic.induction.signs import R_TURN
from symbolic.induction.training import v, v_star, w_star

TRIPLES = 100
GRID = 200
MOST_BOXES = 2000  # for one proof; the longest takes 384
VERDICTS = {Status.PROVED: Verdict.PROVED, Status.REFUTED: Verdict.VIOLATED, Status.UNDECIDED: Verdict.UNDECIDED}


@lru_cache(maxsize=1)
def certified() -> dict[str, tuple[Verdict, str]]:
    """Verdict and remark on each inequality about C."""
    outcomes = {
        each.name: prove(each, seconds=math.inf, most_boxes=MOST_BOXES) for each in theory.stated_inequalities({})
    }
    return {
        name: (VERDICTS[found.status], f"{name} {found.status.value} on {boxes(found.boxes)}")
        for name, found in outcomes.items()
    }


def least_gain(factor: float) -> float:
    """The least quotient of the two sides of `gain` on the grid, for gamma = `factor` R(w*)."""
    stars = np.linspace(0, float(theory.LARGEST_STAR), GRID + 1)[1:]
    bounds = factor * np.asarray(lower(R_TURN, args=(w_star,))(stars))
    knob = float(theory.CHOSEN_BETA)
    ends = np.asarray(lower(theory.LARGEST_V, args=(theory.beta, theory.gamma, v_star))(knob, bounds, stars**2))
    quotient = lower(theory.GAIN_QUOTIENT, args=(v, v_star, theory.gamma, theory.beta))
    shares = np.linspace(0, 1, GRID + 1)[1:, None]
    return float(np.asarray(quotient(shares * ends, stars**2, bounds, knob)).min())


class KaramataCase(DirectCase):
    """The lemma has no parameters; the exponent uses w*."""

    uses = frozenset({"seed"})

    def rows(self, budget: Budget) -> list[Row]:
        return [
            *(claim_row(self, theory.CLAIMS[name]) for name in ("weighted", "weighted.square")),
            *self._true_versions(budget),
            *self._functions(),
            self._gain(),
            self._exponent(),
        ]

    def _true_versions(self, budget: Budget) -> list[Row]:
        proved = theory.abel_holds()
        rows = []
        for name, equal in (("equal", True), ("fuchs", False)):
            count, excess = theory.random_excess(TRIPLES, budget.seed, equal=equal)
            verdict = Verdict.VIOLATED if excess > 0 else Verdict.PROVED if proved else Verdict.UNDECIDED
            remark = (
                "for vectors of any length, by Abel's summation, whose induction SymPy "
                f"{'checks' if proved else 'does not confirm'} (slopes fall and partial sums are >= 0: argued in "
                f"writing); measured: largest left minus right of {count} exact random triples"
            )
            quantity = self.result.quantity(name)
            rows.append(
                direct_row(self, quantity, {"derived": verdict}, derived=0.0, measured=float(excess), remark=remark)
            )
        return rows

    def _functions(self) -> list[Row]:
        found = certified()
        convex, words = found["convex"]
        rows = [
            direct_row(
                self,
                self.result.quantity(name),
                {"printed": convex if same == 0 else Verdict.VIOLATED},
                remark=f"the printed derivative is {'right' if same == 0 else 'not that of C'}; {words}, C'(0) = 1",
            )
            for name, same in zip(("C.first", "C.second"), theory.derivative_differences(), strict=True)
        ]
        stretch, remark = found["stretch"]
        direct = found["superadditive"][1]
        both = (("stretch", remark), ("superadditive", f"{remark}; directly: {direct}"))
        return rows + [
            direct_row(self, self.result.quantity(name), {"derived": stretch}, remark=each) for name, each in both
        ]

    def _gain(self) -> Row:
        verdict = Verdict.KEPT if least_gain(1.0) >= 1 else Verdict.UNDECIDED
        words = f"judged with gamma = R(w*), beta = 2, on a grid of {GRID}^2 points (w*, w) with w* <= sqrt(0.3)"
        return direct_row(self, self.result.quantity("gain"), {"printed": verdict}, remark=words)

    def _exponent(self) -> Row:
        target = sp.Rational(self.params["w_star"])
        bound = theory.H_BOUND.subs(w_star, target)
        at = {theory.gamma: bound, theory.beta: theory.CHOSEN_BETA}
        printed, derived = theory.EXPONENT_PRINTED.subs(at), theory.EXPONENT.subs(at)
        plateau = float(theory.PLATEAU.subs(v_star, target**2))
        above_gamma = apart(plateau, float(bound))
        above = (
            f"h exceeds gamma h*: its plateau is {above_gamma[0]} h*, gamma {above_gamma[1]}" if plateau > bound else ""
        )
        enough = "enough" if derived >= 1 else "not enough"
        words = (
            f"derived: by the derived bound of gain; (29) needs 1: {enough} for v <= "
            f"{plain(float((theory.LARGEST_V / v_star).subs(at)))} v* (w*/2 is v*/4); half of it for the flow (12)"
        )
        return direct_row(
            self,
            self.result.quantity("exponent"),
            {
                "printed": Verdict.OUTSIDE if above else Verdict.UNDECIDED,
                "derived": Verdict.OUTSIDE if above else Verdict.PROVED,
            },
            printed=float(printed),
            derived=float(derived),
            remark="; ".join(filter(None, [above, words])),
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        return replayed_claim(self, theory.CLAIMS, name, inputs)


class KaramataStudy(Study):
    """Lemma D.6 and the steps before (29)."""

    def __init__(self) -> None:
        self.result = theory.KARAMATA
        self.main_quantity = "weighted"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> KaramataCase:
        return KaramataCase(self.result, self.resolved(params), dtype=dtype, device=device)
