"""The claims of Theorem 5.5 (wang2024) that are a Theta, an O or an Omega, and the directions of each test."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.export.numbers import plain
from bridge.induction import phase_times as times
from bridge.induction.head_limits import outside_26
from bridge.induction.phase_runs import (
    exponent_at,
    fall_between,
    fall_to_learnt,
    gram_loss_at,
    gram_measured,
    head_time,
    value_measured,
)
from bridge.induction.phase_ways import (
    MIXED,
    SIGMAS,
    Claim,
    Way,
    at_numbers,
    bound,
    decay,
    exact,
    limit_of,
    longer,
    mixed,
    no_plateau,
    printed_at,
    small,
    smaller,
    too_short,
    varied,
    weaker,
)
from bridge.induction.theta import Direction, Point
from bridge.induction.trajectory import KEPT, LEARNT
from symbolic.induction import phases
from symbolic.induction.training import L, alpha, sigma_init, t

BELOW_THE_RANGE = 0.3  # a w* at which the overshoot of h takes less than 1 %, and one at which it takes more:
WITHIN_THE_RANGE = 0.49


def claims_at(point: Point, flow: str) -> list[Claim]:
    return [*_gram_claims(point), *_head_claims(point, flow), _growth_claim(point, flow), *_rate_claims(point, flow)]


# -- the 4-gram head ---------------------------------------------------------------------------------------------------


def _gram_claims(point: Point) -> list[Claim]:
    return [_gram_claim(point, "T_I", gram_measured, "loss"), _gram_claim(point, "T_1g", value_measured, "value")]


_AT_ONE_START = "T_I = O(1) is stated for a fixed sigma_init as L grows; here sigma_init -> 0"


def _gram_claim(point: Point, name: str, measure: Callable[[Point], float | None], until: str) -> Claim:
    sigmas, longest = [1e-2, 1e-5, 1e-8], 10**7
    # C(X) = X (1 + o(1)) as X = n sigma_init -> oo, which both n -> oo and LONG_ENOUGH bring about
    formula = phases.gram_time().subs(phases.reach, (L - 2) * sigma_init) / bound(name)
    far = {**point, "L": longest}
    top = float(point["alpha"]) / (1 + float(point["alpha"]))
    constant = plain(times.gram_kappa(float(point["alpha"]), until) / top)

    def along(words: str, points: tuple[Point, ...], path: dict[sp.Symbol, Any], outside: str = "") -> Direction:
        kappa = sp.Float(times.gram_kappa(float(points[-1]["alpha"]), until))
        return Direction(words, points, limit_of(formula, {**exact(point), phases.kappa: kappa, **path}), outside)

    return Claim(
        name,
        measure,
        lambda at: times.gram_time(at, until),
        printed_at(name),
        (
            along(
                "sigma_init -> 0, L as C.1 Part I asks",
                varied(point, sigma_init=sigmas, L=[int(sp.ceiling(phases.long_enough(sp.Float(s)))) for s in sigmas]),
                {sigma_init: small, L: phases.long_enough(small)},
                # (20) names sigma_init, Theorem 5.5 says O(1) only
                f"{_AT_ONE_START}, and T_I = log(1/sigma_init)/g* + {constant}" if name == "T_I" else "",
            ),
            along("L -> oo at this sigma_init", varied(point, L=[10**3, 10**5, longest]), {L: 2 + 1 / small}),
            along("alpha* -> oo at L = 1e+07", varied(far, alpha=MIXED), {**exact(far), alpha: 1 / small}),
        ),
        below=False,
        remark="derived: (log(n/C(n sigma_init)) + kappa)/g*, n = L-2; the origin is a saddle of (p, g)",
        not_applicable=lambda at: times.gram_start(at, until),
        outside=too_short,
    )


# -- the induction head ------------------------------------------------------------------------------------------------


def _head_claims(point: Point, flow: str) -> list[Claim]:
    return [
        _observation_claim(point, flow),
        _plateau_claim(point, flow),
        _late_plateau_claim(point, flow),
        _emergence_claim(point, flow),
    ]


def _along(
    way: Way, formula: sp.Expr, name: str, flow: str, share: float = LEARNT, words: str = "", *, late: bool = False
) -> Direction:
    end = way.points[-1]
    observed = times.late_value(end) if late else 1.0
    kappa = sp.Float(times.head_kappa(float(end["alpha"]), float(end["w_star"]), flow, share, observed))
    return Direction(way.words + words, way.points, limit_of(formula / bound(name), {**way.path, phases.kappa: kappa}))


_AT_ONE_TARGET = "T_o = Theta(L) is stated for a fixed w*; here w* -> 0, and T_o/(L-2) grows as 4 log(1/w*)"


def _observation_claim(point: Point, flow: str) -> Claim:
    observed = (L - 2) * phases.observation_time()
    return Claim(
        "T_o",
        head_time(None, flow),
        times.observation_time,
        printed_at("T_o"),
        (
            *(_along(way(point), observed, "T_o", flow) for way in (smaller, longer, mixed)),
            replace(_along(weaker(point), observed, "T_o", flow), outside=_AT_ONE_TARGET),
        ),
        remark="derived: (L-2) log((psi(v*) - sigma_init/h*)/(psi(v*) - 1))",
        not_applicable=times.head_start,
        outside=no_plateau,
    )


def _plateau_claim(point: Point, flow: str) -> Claim:
    time, overshot = (L - 2) * phases.head_time(flow), (L - 2) * phases.overshoot_time()
    below, within = ({**point, "w_star": w} for w in (BELOW_THE_RANGE, WITHIN_THE_RANGE))
    small_start = {**below, "sigma_init": 1e-5}  # at which the formula, to o(1) as sigma_init -> 0, is good
    low, high = (float(w) for w in phases.overshoot_range())
    at_low = f", w* = {BELOW_THE_RANGE}"
    overshot_at = times.value(phases.overshoot_time(), smaller(within).points[-1])
    return Claim(
        "T_II",
        head_time(KEPT, flow),
        lambda at: times.plateau_time(at, flow),
        printed_at("T_II"),
        (
            *(_along(way(below), time, "T_II", flow, KEPT, at_low) for way in (smaller, mixed)),
            _along(longer(small_start), time, "T_II", flow, KEPT, f"{at_low}, sigma_init = 1e-5"),
            _along(weaker(point), time, "T_II", flow, KEPT),
            replace(
                _along(smaller(within), overshot, "T_II", flow, LEARNT, f", w* = {WITHIN_THE_RANGE}"),
                outside=outside_26(WITHIN_THE_RANGE),
            ),
        ),
        remark=f"for w* in ({plain(low)}, {plain(high)}), beyond the c of (26), which this choice of T_o in C.3 uses, "
        f"h alone takes more than 1 % of the loss: at w* = {WITHIN_THE_RANGE} T_II stays at "
        f"{plain(overshot_at)} (L-2) as sigma_init -> 0, whereas T_o := 2 T_1^h has "
        "the order for every w*",
        choice="T_o = T_1^h",
        not_applicable=lambda at: times.head_start(at, KEPT, flow),
        outside=no_plateau,
    )


def _late_plateau_claim(point: Point, flow: str) -> Claim:
    """T_II for another T_o = Theta(L): by then h is so near to its plateau that the loss falls with w only."""
    time = (L - 2) * phases.head_time(flow)
    within = {**point, "w_star": WITHIN_THE_RANGE}
    return Claim(
        "T_II",
        head_time(KEPT, flow, late=2.0),
        lambda at: times.late_plateau_time(at, flow),
        printed_at("T_II"),
        (
            *(
                _along(way(within), time, "T_II", flow, KEPT, f", w* = {WITHIN_THE_RANGE}", late=True)
                for way in (smaller, mixed)
            ),
            _along(weaker(point), time, "T_II", flow, KEPT, late=True),
        ),
        choice="T_o = 2 T_1^h",
        not_applicable=lambda at: times.late_start(at, flow),
        outside=no_plateau,
    )


def _emergence_claim(point: Point, flow: str) -> Claim:
    time = (L - 2) * phases.head_time(flow)
    leading = times.value(phases.head_time_leading(flow), point) * (point["L"] - 2)
    return Claim(
        "T_III",
        head_time(LEARNT, flow),
        lambda at: times.emergence_time(at, flow),
        printed_at("T_III"),
        tuple(_along(way(point), time, "T_III", flow) for way in (smaller, longer, mixed, weaker)),
        remark="derived: (L-2) [(log(1/sigma_init) + log w* + kappa)/lambda + 1 - sigma_init/(h* psi(v*))], "
        f"lambda = {plain(times.value(phases.growth_rate(flow), point))}, kappa = "
        f"{plain(times.head_kappa(float(point['alpha']), float(point['w_star']), flow, LEARNT))}; the leading term "
        f"alone gives {plain(leading)}",
        not_applicable=lambda at: times.head_start(at, LEARNT, flow),
        outside=no_plateau,
    )


_BEFORE_THE_PLATEAU = "the growth is stated for phases II and III, t >= T_o; here t < T_o"


def _growth_claim(point: Point, flow: str) -> Claim:
    """log(w/sigma_init) at three sorts of t < T_III."""

    def along(way: Way, words: str, tau: sp.Expr, outside: str = "") -> Direction:
        """At these tau, given by the parameters."""
        times_of = phases.growth_exponent(flow) / bound("growth")
        ratio = times_of.subs({phases.tau: tau, t: tau * (L - 2)}, simultaneous=True)
        points = []
        for at in way.points:
            then = times.value(tau, at)
            points.append({**at, "tau": then, "t": then * (at["L"] - 2)})
        return Direction(f"{way.words} at t = {words}", tuple(points), limit_of(ratio, way.path), outside)

    halfway = sp.log(1 / sigma_init) / (2 * phases.growth_rate(flow))
    midway = "(L-2) log(1/sigma_init)/(2 lambda)"
    return Claim(
        "growth",
        exponent_at(lambda at: float(at["tau"]), flow),
        lambda at: times.value(phases.growth_exponent(flow), at, tau=at["tau"]),
        printed_at("growth"),
        (
            *(along(way(point), "L-2", sp.Integer(1)) for way in (smaller, longer, mixed, weaker)),
            along(smaller(point), midway, halfway),
            along(smaller(point), "(L-2) sqrt(sigma_init)", sp.sqrt(sigma_init), _BEFORE_THE_PLATEAU),
        ),
        pointwise=False,
        remark="derived: lambda (tau - (1 - sigma_init/plateau)(1 - e^-tau)): before t = L-2 h is still small",
        not_applicable=times.head_start,
        outside=no_plateau,
    )


# -- phase IV ----------------------------------------------------------------------------------------------------------


def _rate_claims(point: Point, flow: str) -> list[Claim]:
    return [_gram_rate(point), *_head_rates(point, flow)]


def _gram_rate(point: Point) -> Claim:
    late, other = [1e4, 1e6, 1e8], [10, 30, 100]
    tail = phases.gram_tail() / bound("gram_rate")
    then = sp.Integer(10**7)
    return Claim(
        "gram_rate",
        gram_loss_at,
        lambda at: times.value(phases.gram_tail(), at, t=at["t"]),
        printed_at("gram_rate"),
        (
            Direction("t -> oo", varied(point, t=late), limit_of(tail, {**exact(point), t: 1 / small})),
            Direction(
                "L = alpha* -> oo at t = 1e+07",
                varied({**point, "t": float(then)}, L=other, alpha=[float(each) for each in other]),
                limit_of(tail, {**exact(point), t: then, alpha: 1 / small, L: 1 / small}),
            ),
        ),
        below=False,
        pointwise=False,
        remark="derived: 1/(4t) for every alpha*: u^2 = 1/(2 g*^2 t) and L_G4 = g*^2 u^2/2 to leading order",
    )


def _head_rates(point: Point, flow: str) -> list[Claim]:
    """The printed exponent x is one of t itself: L_IH2 <= C e^{-c x} for all t > T_III with the same C and c.

    As t -> oo the rate is judged; at t = T_III, where x is largest against what has been learnt, the absolute loss.
    """
    per_tau = sp.expand(decay() / t * (L - 2))
    slow = 2 * phases.slow_rate(flow)
    rate = plain(times.slow_rate(point, flow))

    def after(at: Point, slow_times: float) -> float:
        return max(times.emergence_time(at, flow) / (at["L"] - 2), 0.0) + slow_times / times.slow_rate(at, flow)

    def span(at: Point) -> float:
        return after(at, 50.0) - after(at, 25.0)

    def rate_along(way: Way, words: str = "") -> Direction:
        return Direction(f"t -> oo{words}: exponents", way.points, limit_of(slow / per_tau, way.path))

    here = Way("", (point,), {**exact(point)})
    elsewhere = (longer(point), mixed(point), weaker(point))
    at_once, lasting = phases.LEARNT * phases.observed_loss(), (L - 2) * phases.head_time(flow)
    kappa = sp.Float(times.head_kappa(float(point["alpha"]), float(point["w_star"]), flow, LEARNT))
    printed = decay().subs(t, lasting)

    def expressed(at: Point) -> float:
        return at_numbers(decay())({**at, "t": times.emergence_time(at, flow)})

    def judged_at_T_III(way: Way, absolute: bool, outside: str = "") -> Direction:
        fallen = -sp.log(at_once / (L - 2)) if absolute else sp.log(phases.starting_loss() / at_once)
        limit = limit_of(fallen / printed, {**way.path, phases.kappa: kappa})
        return Direction(f"{way.words} at t = T_III: exponents", way.points, limit, outside)

    short = Way("sigma_init -> 0 with L fixed", varied(point, sigma_init=SIGMAS), {**exact(point), sigma_init: small})

    def not_applicable(at: Point) -> str:
        return times.head_start(at, LEARNT, flow)

    return [
        Claim(
            "head_rate",
            fall_between(lambda at: after(at, 25.0), lambda at: after(at, 50.0), flow),
            lambda at: 2 * times.slow_rate(at, flow) * span(at),
            lambda at: at_numbers(per_tau)(at) * span(at),
            (rate_along(here), *(rate_along(way, f", {way.words}") for way in elsewhere)),
            above=False,
            pointwise=False,
            remark=f"exponents after T_III; derived: 2 mu per tau, here mu = {rate}",
        ),
        Claim(
            "head_rate",
            fall_to_learnt(flow, absolute=True),
            lambda at: times.value(-sp.log(at_once / (L - 2)), at),
            expressed,
            (judged_at_T_III(smaller(point), absolute=True),),
            above=False,
            pointwise=False,
            remark="-log L_IH2(T_III) against the printed exponent there: L_IH2 is of the order 1/L from the start, "
            "which with L = Omega(1/sigma_init) meets the exponent already",
            not_applicable=not_applicable,
        ),
        Claim(
            "head_rate",
            fall_to_learnt(flow, absolute=False),
            lambda at: times.value(sp.log(phases.starting_loss() / at_once), at),
            expressed,
            (
                judged_at_T_III(
                    short,
                    absolute=False,
                    outside="hypothesis L = Omega(1/sigma_init) of Appendix C is not met: here L is fixed and "
                    "sigma_init -> 0",
                ),
            ),
            above=False,
            pointwise=False,
            remark="log(L_IH2(0)/L_IH2(T_III)) does not depend on sigma_init; for every L sigma_init "
            f"L_IH2 = O(exp(-2 mu (t - T_III)/(L-2))), mu = {rate}",
            not_applicable=not_applicable,
        ),
    ]
