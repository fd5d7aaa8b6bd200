"""Theorem 5.5 (wang2024): the phase times of runs, their leading constants, a verdict on each order along ways."""

import math
from dataclasses import replace

import sympy as sp

from bridge.balls import as_exact, evaluate_ball
from bridge.check import Check, Sides
from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.induction import phase_runs as runs
from bridge.induction import phase_times as times
from bridge.induction.head_limits import outside_26
from bridge.induction.phase_laws import Law, check_along, check_at_the_point
from bridge.induction.phase_ways import (
    HERE,
    LATER,
    LENGTHS,
    LONG,
    LONGER,
    MIXED,
    SHORT,
    SMALLER,
    WEAKER,
    Point,
    Way,
    known_flow,
    no_plateau,
    small,
    too_short,
)
from bridge.induction.trajectory import KEPT, LEARNT
from bridge.theorem import Theorem
from symbolic.induction import phase_statement as theory
from symbolic.induction import phases
from symbolic.induction.training import L as LENGTH
from symbolic.induction.training import alpha, sigma_init

BELOW_THE_RANGE = 0.3  # a w* at which the overshoot of h takes less than 1 %, and one at which it takes more:
WITHIN_THE_RANGE = 0.49

# -- the 4-gram head ---------------------------------------------------------------------------------------------------


def _gram_law(name: str, measure: runs.Measure, until: str) -> Law:
    return Law(
        name,
        measure,
        lambda _: phases.gram_time(),
        lambda at: times.gram_orbits(at, until),
        times.gram_start,
        lambda _: 0.0,
        too_short,
        lambda _: "derived: (log(n/C(n sigma_init)) + kappa)/g*, n = L-2; the origin is a saddle of (p, g)",
    )


T_I = _gram_law("T_I", runs.gram_measured, "loss")
T_1G = _gram_law("T_1g", runs.value_measured, "value")
# (20) names sigma_init, Theorem 5.5 says O(1) only
AT_ONE_START = (
    "T_I = O(1) is stated for a fixed sigma_init as L grows; here sigma_init -> 0, "
    "and T_I grows as log(1/sigma_init)/g*"
)
GRAM_RATE = Law(
    "gram_rate",
    runs.gram_loss_at,
    lambda _: phases.gram_tail(),
    remark=lambda _: "derived: 1/(4t) for every alpha*: u^2 = 1/(2 g*^2 t) and L_G4 = g*^2 u^2/2 to leading order",
    everywhere=False,
)
BOTH = Way(
    "L = alpha* -> oo at t = 1e+07", {alpha: 1 / small, LENGTH: 1 / small}, (1 / 10, 1 / 30, 1 / 100), {"t": 1e7}
)


def _ways_of_gram(outside: str = "") -> tuple[Way, ...]:
    return (
        replace(LONG, outside=outside),
        LONGER.over(" at this sigma_init"),
        Way("alpha* -> oo at L = 1e+07", {alpha: 1 / small}, (1.0, 1 / 5, 1 / 25), {"L": LENGTHS[-1]}),
    )


# -- the induction head ------------------------------------------------------------------------------------------------


def _overshoot_words(point: Point) -> str:
    low, high = (plain(float(w)) for w in phases.overshoot_range())
    stays = times.value(phases.overshoot_time(), SMALLER.points({**point, "w_star": WITHIN_THE_RANGE})[-1])
    return (
        f"for w* in ({low}, {high}), beyond the c of (26), which this choice of T_o in C.3 uses, h alone takes more "
        f"than 1 % of the loss: at w* = {WITHIN_THE_RANGE} T_II stays at {plain(stays)} (L-2) as sigma_init -> 0, "
        "whereas T_o := 2 T_1^h has the order for every w*"
    )


def _emergence_words(point: Point) -> str:
    flow = point["flow"]
    rate, kappa = times.value(phases.growth_rate(flow), point), times.kappa_until(point, LEARNT)
    leading = times.value(phases.head_time_leading(flow), point) * (point["L"] - 2)
    return (
        "derived: (L-2) [(log(1/sigma_init) + log w* + kappa)/lambda + 1 - sigma_init/(h* psi(v*))], lambda = "
        f"{plain(rate)}, kappa = {plain(kappa)}; the leading term alone gives {plain(leading)}"
    )


def _head_time(point: Point) -> sp.Expr:
    return (LENGTH - 2) * phases.head_time(point["flow"])


def _until_learnt(point: Point) -> dict[str, float]:
    return {"kappa": times.kappa_until(point, LEARNT)}


T_O = Law(
    "T_o",
    runs.head_time(None),
    lambda _: (LENGTH - 2) * phases.observation_time(),
    no_start=times.head_start,
    excuse=no_plateau,
    remark=lambda _: "derived: (L-2) log((psi(v*) - sigma_init/h*)/(psi(v*) - 1))",
)
AT_ONE_TARGET = "T_o = Theta(L) is stated for a fixed w*; here w* -> 0, and T_o/(L-2) grows as 4 log(1/w*)"
T_II = Law(
    "T_II",
    runs.head_time(KEPT),
    times.plateau_formula,
    lambda at: {"kappa": times.kappa_until(at, KEPT)},
    times.head_start,
    times.observation_time,
    no_plateau,
    _overshoot_words,
    choice="T_o = T_1^h",
)
# For another T_o = Theta(L): by then h is so near to its plateau that the loss falls with w only, at every w*.
LATE_T_II = replace(
    T_II,
    measure=runs.head_time(KEPT, late=2.0),
    formula=_head_time,
    orbits=lambda at: {"kappa": times.late_kappa(at)},
    earliest=lambda at: 2 * times.observation_time(at),
    remark=lambda _: "",
    choice="T_o = 2 T_1^h",
)
T_III = Law(
    "T_III",
    runs.head_time(LEARNT),
    _head_time,
    _until_learnt,
    times.head_start,
    times.observation_time,
    no_plateau,
    _emergence_words,
)
GROWTH = Law(
    "growth",
    runs.grown,
    lambda at: phases.growth_exponent(at["flow"]),
    no_start=times.head_start,
    excuse=no_plateau,
    remark=lambda _: "derived: lambda (tau - (1 - sigma_init/plateau)(1 - e^-tau)): before t = L-2 h is still small",
    everywhere=False,
)
BEFORE_THE_PLATEAU = "the growth is stated for phases II and III, t >= T_o; here t < T_o"


def _ways_of_plateau() -> tuple[Way, ...]:
    below, within = {"w_star": BELOW_THE_RANGE}, {"w_star": WITHIN_THE_RANGE}
    low, high = f", w* = {BELOW_THE_RANGE}", f", w* = {WITHIN_THE_RANGE}"
    return (
        *(way.over(low, fixed=below) for way in (SMALLER, MIXED)),
        # a start at which the formula, to o(1) as sigma_init -> 0, is good
        LONGER.over(f"{low}, sigma_init = 1e-5", fixed={**below, "sigma_init": 1e-5}),
        WEAKER,
        SMALLER.over(high, fixed=within, outside=outside_26(WITHIN_THE_RANGE)),
    )


def _ways_of_late_plateau() -> tuple[Way, ...]:
    within = {"w_star": WITHIN_THE_RANGE}
    return (*(way.over(f", w* = {WITHIN_THE_RANGE}", fixed=within) for way in (SMALLER, MIXED)), WEAKER)


def _ways_of_growth() -> tuple[Way, ...]:
    midway = SMALLER.over(
        " at t = (L-2) log(1/sigma_init)/(2 lambda)",
        tau=lambda flow: sp.log(1 / sigma_init) / (2 * phases.growth_rate(flow)),
    )
    early = SMALLER.over(
        " at t = (L-2) sqrt(sigma_init)", tau=lambda _: sp.sqrt(sigma_init), outside=BEFORE_THE_PLATEAU
    )
    unit = (way.over(" at t = L-2", tau=lambda _: sp.Integer(1)) for way in (SMALLER, LONGER, MIXED, WEAKER))
    return (*unit, midway, early)


# -- phase IV ----------------------------------------------------------------------------------------------------------

# The printed exponent x is one of t itself: L_IH2 <= C e^{-c x} for all t > T_III with the same C and c. As t -> oo the
# rate is judged; at t = T_III, where x is largest against what has been learnt, the loss.


def _slow_words(point: Point) -> str:
    return plain(times.slow_rate(point))


RATE = Law(
    "head_rate",
    runs.fallen_after_learning,
    lambda at: 2 * phases.slow_rate(at["flow"]) * phases.tau,
    remark=lambda at: f"exponents after T_III; derived: 2 mu per tau, here mu = {_slow_words(at)}",
    everywhere=False,
)
AT_ONCE = phases.LEARNT * phases.observed_loss()
LOSS_AT_END = Law(
    "head_rate",
    runs.log_loss_at_end,
    lambda _: -sp.log(AT_ONCE / (LENGTH - 2)),
    _until_learnt,
    T_III.no_formula,
    remark=lambda _: (
        "-log L_IH2(T_III) against the printed exponent there: L_IH2 is of the order 1/L from the start, "
        "which with L = Omega(1/sigma_init) meets the exponent already"
    ),
    everywhere=False,
)
FALL_BY_END = replace(
    LOSS_AT_END,
    measure=runs.fallen_by_end,
    formula=lambda _: sp.log(phases.starting_loss() / AT_ONCE),
    remark=lambda at: (
        "log(L_IH2(0)/L_IH2(T_III)) does not depend on sigma_init; for every L sigma_init "
        f"L_IH2 = O(exp(-2 mu (t - T_III)/(L-2))), mu = {_slow_words(at)}"
    ),
)
NOT_LONG = "hypothesis L = Omega(1/sigma_init) of Appendix C is not met: here L is fixed and sigma_init -> 0"


def _lasting(way: Way) -> Way:
    """Over 25 slow times."""
    words = f"t -> oo, {way.words}: exponents" if way.words else "t -> oo: exponents"
    return replace(way, words=words, tau=lambda flow: 25 / phases.slow_rate(flow))


def _at_end(way: Way, outside: str = "") -> Way:
    return way.over(" at t = T_III: exponents", tau=phases.head_time, outside=outside)


# -- rows of their own -------------------------------------------------------------------------------------------------


def m_inverse(L: int, sigma_init: float) -> Sides:
    """1/M(p) as C.1 expands it, against 1/M(p), in balls."""
    true = evaluate_ball(theory.M_INVERSE, {phases.p: as_exact(sigma_init), LENGTH: L})
    return Sides(true, derived=true, proved=("derived",), letters={phases.p: sigma_init})


def left_here(point: Point) -> Sides:
    """L_IH2(T_I) >= 0.99 L_IH2(0). The theorem's L >> 1 names no length: at one point it is kept, and never refuted."""
    left, beyond = runs.head_left(point), too_short(point)
    judged = left >= KEPT or beyond
    no_length = "" if judged else "less than 0.99 is left here, but the theorem's L >> 1 names no length"
    remark = "; ".join(filter(None, [no_length, left_words(point)]))
    return Sides(left if judged else None, measured=left, excuse=beyond, remark=remark)


def left_in_the_end(point: Point) -> Sides:
    """The same as L grows."""
    longer = LONGER.points(point)
    left = [runs.head_left(at) for at in longer]
    shares = f"left at L = 1e3, 1e5, 1e7: {' '.join(map(plain, left))}, derived limit 1; {left_words(point)}"
    return Sides(left[-1] if left[-1] >= KEPT else None, measured=left[-1], at=longer[-1], remark=shares)


def left_words(point: Point) -> str:
    """What the formula says is left, and from which length on 0.99; or why it does not apply."""
    if no_formula := T_I.no_formula(point) or times.head_start(point):
        return no_formula
    here, length = plain(left_by_formula(point)), plain(length_needed(point))
    return f"by the derived formula {here} is left at L = {value_words(point['L'])}, at least 0.99 for L >= {length}"


def left_by_formula(point: Point) -> float:
    tau = times.gram_time(point, "loss") / (point["L"] - 2)
    return times.value(phases.head_left(), point, tau=tau)


def length_needed(point: Point) -> float:
    """The least L from which on 0.99 of L_IH2 is left at T_I, by bisection of the derived formula in log L."""
    low, high = math.log(5.0), math.log(1e12)
    for _ in range(60):
        middle = (low + high) / 2
        enough = left_by_formula({**point, "L": math.exp(middle)}) >= KEPT
        low, high = (low, middle) if enough else (middle, high)
    return math.exp(high)


# -- the theorem -------------------------------------------------------------------------------------------------------

WAYS: tuple[tuple[Law, tuple[Way, ...]], ...] = (
    (T_I, _ways_of_gram(AT_ONE_START)),
    (T_1G, _ways_of_gram()),
    (T_O, (SMALLER, LONGER, MIXED, replace(WEAKER, outside=AT_ONE_TARGET))),
    (T_II, _ways_of_plateau()),
    (LATE_T_II, _ways_of_late_plateau()),
    (T_III, (SMALLER, LONGER, MIXED, WEAKER)),
    (GROWTH, _ways_of_growth()),
    (GRAM_RATE, (LATER, BOTH)),
    (RATE, tuple(map(_lasting, (HERE, LONGER, MIXED, WEAKER)))),
    (LOSS_AT_END, (_at_end(SMALLER),)),
    (FALL_BY_END, (_at_end(SHORT, NOT_LONG),)),
)


def point_of(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> Point:
    return {"L": L, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow}


def checks_of(law: Law, ways: tuple[Way, ...]) -> list[Check]:
    return [*([check_at_the_point(law)] if law.everywhere else []), *(check_along(law, way) for way in ways)]


# Formulas with kappa and C have numbers at points only, which the checks give.
AT_POINTS = tuple(replace(quantity, derive=None) for quantity in theory.PHASES.quantities)
LEFT = theory.PHASES.quantity("T_I.head")
PHASES = Theorem(
    theory.PHASES,
    main="T_III",
    built={"point": point_of},
    quantities=lambda: AT_POINTS,
    resolve=known_flow(theory.PHASES.id),
    fixed=("flow",),
    checks=(
        Check(theory.PHASES.quantity("M.inverse"), m_inverse),
        *(check for law, ways in WAYS for check in checks_of(law, ways)),
        Check(LEFT, left_here, construction="at this point"),
        Check(LEFT, left_in_the_end, construction="L -> oo"),
    ),
)
