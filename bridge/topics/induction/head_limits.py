"""For which w* the bounds of C.2 (wang2024) hold from every small enough start: certified thresholds."""

from functools import cache

from bridge.questions.certify.thresholds import Threshold
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain
from symbolic.derivations.inequalities import Inequality
from symbolic.topics.induction import head_limits as theory
from symbolic.topics.induction import signs
from symbolic.topics.induction.training import w_star

THRESHOLDS = {
    name: Threshold(name, w_star, kept, broken, theory.W_TOP, written="w*")
    for name, (kept, broken) in theory.CLAIMS.items()
}


def inequalities() -> list[Inequality]:
    limits = (each for threshold in THRESHOLDS.values() for each in threshold.inequalities())
    return [*limits, *theory.growth_inequalities()]


def outside_26(w_star: float) -> str:
    """Why (26) does not apply at this w*; "" where it is proved."""
    of_26 = THRESHOLDS["h.overshoot.line"]
    if w_star <= of_26.holds:
        return ""
    least, here = plain(float(of_26.fails)), f"here `w* = {plain(w_star)}`"
    if w_star >= of_26.fails:
        return (
            f"hypothesis `w* < c` of (26), with some `c > 0`, is not met: from small starts (26) is false for every "
            f"`w* >= {least}`, so that `c <= {least}`; {here}"
        )
    return (
        f"hypothesis `w* < c` of (26), with some `c > 0`, is neither shown nor refuted: from small starts (26) is "
        f"{of_26.words}; {here}"
    )


@cache
def scaling() -> Sides:
    """An identity of the calculus."""
    return Sides(derived=0, proved=("derived",) if signs.scaling() else ())


CHECKS: tuple[Check, ...] = (
    Check(theory.scaling_quantity(), scaling, params={}),
    *(each.check(theory.threshold_quantity(name)) for name, each in THRESHOLDS.items()),
)
