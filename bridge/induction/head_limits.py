"""For which w* the bounds of C.2 (wang2024) hold from every small enough start: certified thresholds."""

from fractions import Fraction
from functools import cache

import sympy as sp

from bridge.balls import evaluate_ball
from bridge.certify.proving import Outcome, Status, prove
from bridge.check import Check, Sides, as_ball
from bridge.export.numbers import plain
from symbolic.induction import head_limits as theory
from symbolic.induction import signs
from symbolic.induction.training import w_star
from symbolic.inequalities import Inequality

GRAIN = 10_000  # thresholds in w* are given to 1/GRAIN


@cache
def threshold(claim: str) -> tuple[sp.Rational, sp.Rational]:
    """The claim is proved for w* up to the first number, its opposite from the second on."""
    kept, broken = theory.CLAIMS[claim]
    low, _ = _crossing(kept)
    _, high = _crossing(broken)
    return low, high


def _crossing(expression: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
    """Neighbours on the grid of 1/GRAIN between which the sign changes from + to -, by bisection with balls."""
    low, high = 0, int(theory.W_TOP * GRAIN)

    def positive(place: int) -> bool:
        return bool(evaluate_ball(expression, {w_star: Fraction(place, GRAIN)}) > 0)

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if positive(middle) else (low, middle)
    return sp.Rational(low, GRAIN), sp.Rational(high, GRAIN)


@cache
def threshold_proofs(claim: str) -> tuple[Outcome, Outcome]:
    first, second = theory.stated_inequalities(*threshold(claim), claim)
    return prove(first), prove(second)


def inequalities() -> list[Inequality]:
    limits = (each for claim in theory.CLAIMS for each in theory.stated_inequalities(*threshold(claim), claim))
    return [*limits, *theory.growth_inequalities()]


def threshold_check(claim: str) -> Check:
    """How far in w* the claim is proved; printed is the domain for which the paper states it, if it does."""

    def sides() -> Sides:
        proofs, (holds, fails) = threshold_proofs(claim), threshold(claim)
        proved = all(outcome.status is Status.PROVED for outcome in proofs)
        return Sides(
            as_ball(holds).union(as_ball(fails)) if proved else None,
            measured=float(fails),
            derived=holds,
            proved=("derived",) if proved else (),
            remark=f"{range_words(claim)} ({sum(o.boxes for o in proofs)} boxes)",
        )

    return Check(theory.threshold_quantity(claim), sides, params={})


def range_words(claim: str) -> str:
    holds, fails = (plain(float(each)) for each in threshold(claim))
    return f"proved for `w* <= {holds}`, false for `w* >= {fails}`"


def outside_26(w_star: float) -> str:
    """Why (26) does not apply at this w*; "" where it is proved."""
    holds, fails = threshold("h.overshoot.line")
    if w_star <= holds:
        return ""
    least, here = plain(float(fails)), f"here `w* = {plain(w_star)}`"
    if w_star >= fails:
        return (
            f"hypothesis `w* < c` of (26), with some `c > 0`, is not met: from small starts (26) is false for every "
            f"`w* >= {least}`, so that `c <= {least}`; {here}"
        )
    return (
        f"hypothesis `w* < c` of (26), with some `c > 0`, is neither shown nor refuted: from small starts (26) is "
        f"{range_words('h.overshoot.line')}; {here}"
    )


@cache
def scaling() -> Sides:
    """An identity of the calculus."""
    return Sides(derived=0, proved=("derived",) if signs.scaling() else ())


CHECKS: tuple[Check, ...] = (
    Check(theory.scaling_quantity(), scaling, params={}),
    *map(threshold_check, theory.CLAIMS),
)
