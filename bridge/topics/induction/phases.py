"""Theorem 5.5 (wang2024): the phase times of runs, their leading constants, a verdict on each order along ways."""

import math
from dataclasses import replace

import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain, value_words
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.theorem import Theorem
from bridge.topics.induction import phase_runs as runs
from bridge.topics.induction import phase_times as times
from bridge.topics.induction.head_limits import outside_26
from bridge.topics.induction.phase_laws import PhaseLaw
from bridge.topics.induction.phase_regime import known_flow, no_plateau, too_short
from bridge.topics.induction.trajectory import KEPT, LEARNT
from numeric.search.bisection import last_that_holds
from symbolic.statements.paths import ParameterPath, Point
from symbolic.topics.induction import phases as theory
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction import training
from symbolic.topics.induction.phase_paths import (
    BOTH,
    FAR,
    HERE,
    LATER,
    LONG,
    LONGER,
    MIXED,
    SHORT,
    SMALLER,
    WEAKER,
    at_time,
)
from symbolic.topics.induction.training import L as LENGTH
from symbolic.topics.induction.training import sigma_init

BELOW_THE_RANGE = {"w_star": 0.3}  # a w* at which the overshoot of h takes less than 1 %, and one where it takes more:
WITHIN_THE_RANGE = {"w_star": 0.49}
stated = theory.PHASES.quantity

# -- the 4-gram head ---------------------------------------------------------------------------------------------------

AT_ONE_START = (
    "`T_I = O(1)` is stated for a fixed `sigma_init` as `L` grows; here `sigma_init -> 0`, "
    "and `T_I` grows as `log(1/sigma_init)/g*`"
)
T_1G = PhaseLaw(
    stated("T_1g"),
    runs.value_measured,
    lambda _: phases.gram_time(),
    (LONG, LONGER.over(" at this `sigma_init`"), FAR),
    numbers=lambda at: times.gram_orbits(at, "value"),
    inapplicable=times.gram_start,
    earliest=lambda _: 0.0,
    excuse=too_short,
    remark="derived: `(log(n/C(n sigma_init)) + kappa)/g*`, `n = L-2`; the origin is a saddle of `(p, g)`",
)
T_I = replace(
    T_1G,
    quantity=stated("T_I"),
    measure=runs.gram_measured,
    numbers=lambda at: times.gram_orbits(at, "loss"),
    # (20) names sigma_init, Theorem 5.5 says O(1) only
    paths=(replace(LONG, outside=AT_ONE_START), *T_1G.paths[1:]),
)
GRAM_RATE = PhaseLaw(
    stated("gram_rate"),
    runs.gram_loss_at,
    lambda _: phases.gram_tail(),
    (LATER, BOTH),
    remark="derived: `1/(4t)` for every `alpha*`: `u^2 = 1/(2 g*^2 t)` and `L_G4 = g*^2 u^2/2` to leading order",
    everywhere=False,
)

# -- the induction head ------------------------------------------------------------------------------------------------

AT_ONE_TARGET = "`T_o = Theta(L)` is stated for a fixed `w*`; here `w* -> 0`, and `T_o/(L-2)` grows as `4 log(1/w*)`"
BEFORE_THE_PLATEAU = "the growth is stated for phases II and III, `t >= T_o`; here `t < T_o`"
OF_HEAD = (SMALLER, LONGER, MIXED, WEAKER)


def _head_time(point: Point) -> sp.Expr:
    return (LENGTH - 2) * phases.head_time(point["flow"])


def _overshoot_words(point: Point) -> str:
    low, high = (plain(float(w)) for w in phases.overshoot_range())
    stays = times.value(phases.overshoot_time(), SMALLER.points({**point, **WITHIN_THE_RANGE})[-1])
    return (
        f"for `w* in ({low}, {high})`, beyond the `c` of (26), which this choice of `T_o` in C.3 uses, `h` "
        f"alone takes more than 1 % of the loss: at `w* = {WITHIN_THE_RANGE['w_star']}` `T_II` stays at "
        f"`{plain(stays)} (L-2)` as `sigma_init -> 0`, whereas `T_o := 2 T_1^h` has the order for every `w*`"
    )


def _emergence_words(point: Point) -> str:
    flow = point["flow"]
    rate, kappa = times.value(phases.growth_rate(flow), point), times.kappa_until(point, LEARNT)
    leading = times.value(phases.head_time_leading(flow), point) * (point["L"] - 2)
    return (
        "derived: `(L-2) [(log(1/sigma_init) + log w* + kappa)/lambda + 1 - sigma_init/(h* psi(v*))]`, `lambda = "
        f"{plain(rate)}`, `kappa = {plain(kappa)}`; the leading term alone gives {plain(leading)}"
    )


def _within(path: ParameterPath, outside: str = "") -> ParameterPath:
    return path.over(f", `w* = {WITHIN_THE_RANGE['w_star']}`", fixed=WITHIN_THE_RANGE, outside=outside)


T_O = PhaseLaw(
    stated("T_o"),
    runs.head_time(None),
    lambda _: (LENGTH - 2) * phases.observation_time(),
    (*OF_HEAD[:-1], replace(WEAKER, outside=AT_ONE_TARGET)),
    inapplicable=times.head_start,
    excuse=no_plateau,
    remark="derived: `(L-2) log((psi(v*) - sigma_init/h*)/(psi(v*) - 1))`",
)
T_III = PhaseLaw(
    stated("T_III"),
    runs.head_time(LEARNT),
    _head_time,
    OF_HEAD,
    numbers=lambda at: {phases.kappa: times.kappa_until(at, LEARNT)},
    inapplicable=times.head_start,
    earliest=times.observation_time,
    excuse=no_plateau,
    remark=_emergence_words,
)
T_II = replace(
    T_III,
    quantity=stated("T_II"),
    measure=runs.head_time(KEPT),
    formula=times.plateau_formula,
    paths=(
        *(path.over(", w* = 0.3", fixed=BELOW_THE_RANGE) for path in (SMALLER, MIXED)),
        # a start at which the formula, to o(1) as sigma_init -> 0, is good
        LONGER.over(", w* = 0.3, sigma_init = 1e-5", fixed={**BELOW_THE_RANGE, "sigma_init": 1e-5}),
        WEAKER,
        _within(SMALLER, outside_26(WITHIN_THE_RANGE["w_star"])),
    ),
    numbers=lambda at: {phases.kappa: times.kappa_until(at, KEPT)},
    remark=_overshoot_words,
    choice="T_o = T_1^h",
)
# For another T_o = Theta(L): by then h is so near to its plateau that the loss falls with w only, at every w*.
LATE_T_II = replace(
    T_II,
    measure=runs.head_time(KEPT, late=2.0),
    formula=_head_time,
    paths=(_within(SMALLER), _within(MIXED), WEAKER),
    numbers=lambda at: {phases.kappa: times.late_kappa(at)},
    earliest=lambda at: 2 * times.observation_time(at),
    remark="",
    choice="T_o = 2 T_1^h",
)
GROWTH = PhaseLaw(
    stated("growth"),
    runs.grown,
    lambda at: phases.growth_exponent(at["flow"]),
    (
        *(path.over(" at `t = L-2`", letters=at_time(lambda _: sp.Integer(1))) for path in OF_HEAD),
        SMALLER.over(
            " at `t = (L-2) log(1/sigma_init)/(2 lambda)`",
            letters=at_time(lambda flow: sp.log(1 / sigma_init) / (2 * phases.growth_rate(flow))),
        ),
        SMALLER.over(
            " at `t = (L-2) sqrt(sigma_init)`",
            letters=at_time(lambda _: sp.sqrt(sigma_init)),
            outside=BEFORE_THE_PLATEAU,
        ),
    ),
    inapplicable=times.head_start,
    excuse=no_plateau,
    remark="derived: `lambda (tau - (1 - sigma_init/plateau)(1 - e^-tau))`: before `t = L-2` `h` is still small",
    everywhere=False,
)

# -- phase IV ----------------------------------------------------------------------------------------------------------

# The printed exponent x is one of t itself: L_IH2 <= C e^{-c x} for all t > T_III with the same C and c. As t -> oo the
# rate is judged, over 25 slow times; at t = T_III, where x is largest against what has been learnt, the loss.

NOT_LONG = "hypothesis `L = Omega(1/sigma_init)` of Appendix C is not met: here `L` is fixed and `sigma_init -> 0`"
AT_ONCE = training.LEARNT * phases.observed_loss()


def _lasting(path: ParameterPath) -> ParameterPath:
    words = ", ".join(filter(None, ["`t -> oo`", path.words]))
    return replace(path, words=f"{words}: exponents", letters=at_time(lambda flow: 25 / phases.slow_rate(flow)))


def _at_end(path: ParameterPath, outside: str = "") -> ParameterPath:
    return path.over(" at `t = T_III`: exponents", letters=at_time(phases.head_time), outside=outside)


RATE = PhaseLaw(
    stated("head_rate"),
    runs.fallen_after_learning,
    lambda at: 2 * phases.slow_rate(at["flow"]) * phases.tau,
    tuple(map(_lasting, (HERE, LONGER, MIXED, WEAKER))),
    remark=lambda at: f"exponents after `T_III`; derived: `2 mu` per `tau`, here `mu = {plain(times.slow_rate(at))}`",
    everywhere=False,
)
LOSS_AT_END = PhaseLaw(
    stated("head_rate"),
    runs.log_loss_at_end,
    lambda _: -sp.log(AT_ONCE / (LENGTH - 2)),
    (_at_end(SMALLER),),
    numbers=T_III.numbers,
    inapplicable=T_III.no_formula,
    remark="`-log L_IH2(T_III)` against the printed exponent there: `L_IH2` is of the order `1/L` from the "
    "start, which with `L = Omega(1/sigma_init)` meets the exponent already",
    everywhere=False,
)
FALL_BY_END = replace(
    LOSS_AT_END,
    measure=runs.fallen_by_end,
    formula=lambda _: sp.log(phases.starting_loss() / AT_ONCE),
    paths=(_at_end(SHORT, NOT_LONG),),
    remark=lambda at: (
        "log(L_IH2(0)/L_IH2(T_III)) does not depend on sigma_init; for every L sigma_init "
        f"L_IH2 = O(exp(-2 mu (t - T_III)/(L-2))), mu = {plain(times.slow_rate(at))}"
    ),
)

# -- rows of their own -------------------------------------------------------------------------------------------------


def m_inverse(L: int, sigma_init: float) -> Sides:
    """1/M(p) as C.1 expands it, against 1/M(p), in balls."""
    true = evaluate_ball(theory.M_INVERSE, {phases.p: sigma_init, LENGTH: L})
    return Sides(true, derived=true, proved=("derived",), letters={phases.p: sigma_init})


NO_T_I = "`T_I` is not reached in the run"


def left_here(point: Point) -> Sides:
    """L_IH2(T_I) >= 0.99 L_IH2(0). The theorem's L >> 1 names no length: at one point it is kept, and never refuted."""
    left, beyond = runs.head_left(point), too_short(point)
    if left is None:
        return Sides(remark=NO_T_I)
    judged = left >= KEPT or beyond
    no_length = "" if judged else "less than 0.99 is left here, but the theorem's `L >> 1` names no length"
    remark = "; ".join(filter(None, [no_length, left_words(point)]))
    return Sides(left if judged else None, measured=left, excuse=beyond, remark=remark)


def left_in_the_end(point: Point) -> Sides:
    """The same as L grows."""
    longer = LONGER.points(point)
    left = [share for at in longer if (share := runs.head_left(at)) is not None]
    if len(left) < len(longer):
        return Sides(remark=NO_T_I)
    shares = f"left at `L = 1e3`, 1e5, 1e7: {' '.join(map(plain, left))}, derived limit 1; {left_words(point)}"
    return Sides(left[-1] if left[-1] >= KEPT else None, measured=left[-1], at=longer[-1], remark=shares)


def left_words(point: Point) -> str:
    """What the formula says is left, and from which length on 0.99; or why it does not apply."""
    if no_formula := T_I.no_formula(point) or times.head_start(point):
        return no_formula
    here, length = plain(left_by_formula(point)), plain(length_needed(point))
    return (
        f"by the derived formula {here} is left at `L = {value_words(point['L'])}`, at least 0.99 for `L >= {length}`"
    )


def left_by_formula(point: Point) -> float:
    tau = times.gram_time(point, "loss") / (point["L"] - 2)
    return times.value(phases.head_left(), point, {phases.tau: tau})


def length_needed(point: Point) -> float:
    """The least L from which on 0.99 of L_IH2 is left at T_I, by bisection of the derived formula in log L."""

    def too_little(log_length: float) -> bool:
        return left_by_formula({**point, "L": math.exp(log_length)}) < KEPT

    return math.exp(last_that_holds(too_little, math.log(5.0), math.log(1e12)))


# -- the theorem -------------------------------------------------------------------------------------------------------


def point_of(L: int, alpha: float, w_star: float, sigma_init: float, flow: str) -> Point:
    return {"L": L, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow}


POINT = ("L", "alpha", "w_star", "sigma_init", "flow")
LAWS = (T_I, T_1G, T_O, T_II, LATE_T_II, T_III, GROWTH, GRAM_RATE, RATE, LOSS_AT_END, FALL_BY_END)
# Formulas with kappa and C have numbers at points only, which the checks give.
AT_POINTS = tuple(replace(quantity, derive=None) for quantity in theory.PHASES.quantities)
PHASES = Theorem(
    theory.PHASES,
    main="T_III",
    built={"point": point_of},
    at_point=AtPoint(quantities=lambda: AT_POINTS),
    knobs=Knobs(resolve=known_flow(theory.PHASES.id), fixed=("flow",)),
    checks=(
        Check(stated("M.inverse"), m_inverse),
        *(check for law in LAWS for check in law.checks(*POINT)),
        Check(stated("T_I.head"), left_here, construction="at this point"),
        Check(stated("T_I.head"), left_in_the_end, construction="`L -> oo`"),
    ),
)
