"""The claims of Theorem 5.5 (wang2024) that are a Theta, an O or an Omega, and the directions they are tried in."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from bridge.induction import phase_times as times
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


def _gram_claim(point: Point, name: str, measure: Callable[[Point], float | None], until: str) -> Claim:
    sigmas, longest = [1e-2, 1e-5, 1e-8], 10**7
    # C(X) = X (1 + o(1)) as X = n sigma_init -> oo, which both n -> oo and LONG_ENOUGH bring about
    formula = phases.gram_time().subs(phases.reach, (L - 2) * sigma_init) / bound(name)
    far = {**point, "L": longest}

    def along(words: str, points: tuple[Point, ...], path: dict[sp.Symbol, Any]) -> Direction:
        kappa = sp.Float(times.gram_kappa(float(points[-1]["alpha"]), until))
        return Direction(words, points, limit_of(formula, {**exact(point), phases.kappa: kappa, **path}))

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
            ),
            along("L -> oo at this sigma_init", varied(point, L=[10**3, 10**5, longest]), {L: 2 + 1 / small}),
            along(f"alpha* -> oo at L = {longest:g}", varied(far, alpha=MIXED), {**exact(far), alpha: 1 / small}),
        ),
        below=False,
        remark="derived: (log(n/C(n sigma_init)) + kappa)/g*, n = L-2; the origin is a saddle of (p, g)",
        silent=lambda at: times.gram_start(at, until),
        outside=too_short,
    )


# -- the induction head ------------------------------------------------------------------------------------------------


WAYS = (smaller, longer, mixed, weaker)


def _head_claims(point: Point, flow: str) -> list[Claim]:
    return [_observation_claim(point, flow), _plateau_claim(point, flow), _emergence_claim(point, flow)]


def _along(way: Way, formula: sp.Expr, name: str, flow: str, share: float = LEARNT, words: str = "") -> Direction:
    end = way.points[-1]
    kappa = sp.Float(times.head_kappa(float(end["alpha"]), float(end["w_star"]), flow, share))
    return Direction(way.words + words, way.points, limit_of(formula / bound(name), {**way.path, phases.kappa: kappa}))


def _observation_claim(point: Point, flow: str) -> Claim:
    observed = (L - 2) * phases.observation_time()
    return Claim(
        "T_o",
        head_time(None, flow),
        times.observation_time,
        printed_at("T_o"),
        tuple(_along(way(point), observed, "T_o", flow) for way in WAYS),
        remark="derived: (L-2) log((psi(v*) - sigma_init/h*)/(psi(v*) - 1)), which grows as 4 log(1/w*) as w* -> 0",
        silent=times.head_start,
        outside=no_plateau,
    )


def _plateau_claim(point: Point, flow: str) -> Claim:
    time, overshot = (L - 2) * phases.head_time(flow), (L - 2) * phases.overshoot_time()
    below, within = ({**point, "w_star": w} for w in (BELOW_THE_RANGE, WITHIN_THE_RANGE))
    small_start = {**below, "sigma_init": 1e-5}  # at which the formula, to o(1) as sigma_init -> 0, is good
    low, high = (float(w) for w in phases.overshoot_range())
    at_low = f", w* = {BELOW_THE_RANGE}"
    return Claim(
        "T_II",
        head_time(KEPT, flow),
        lambda at: times.plateau_time(at, flow),
        printed_at("T_II"),
        (
            *(_along(way(below), time, "T_II", flow, KEPT, at_low) for way in (smaller, mixed)),
            _along(longer(small_start), time, "T_II", flow, KEPT, f"{at_low}, sigma_init = 1e-5"),
            _along(weaker(point), time, "T_II", flow, KEPT),
            _along(smaller(within), overshot, "T_II", flow, LEARNT, f", w* = {WITHIN_THE_RANGE}"),
        ),
        remark=f"for w* in ({low:.5f}, {high:.5f}) h's way from h* to its plateau h* psi(v*) takes more than 1 % "
        "of the loss while w has not moved, and T_II is Theta(L) without the log",
        silent=lambda at: times.head_start(at, KEPT, flow),
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
        tuple(_along(way(point), time, "T_III", flow) for way in WAYS),
        remark="derived: (L-2) [(log(1/sigma_init) + log w* + kappa)/lambda + 1 - sigma_init/(h* psi(v*))], "
        f"lambda = {times.value(phases.growth_rate(flow), point):.6g}, kappa = "
        f"{times.head_kappa(float(point['alpha']), float(point['w_star']), flow, LEARNT):.6g}; the leading term "
        f"alone gives {leading:.6g}",
        silent=lambda at: times.head_start(at, LEARNT, flow),
        outside=no_plateau,
    )


def _growth_claim(point: Point, flow: str) -> Claim:
    """log(w/sigma_init) at three sorts of t < T_III."""

    def along(way: Way, words: str, tau: sp.Expr) -> Direction:
        """At these tau, given by the parameters."""
        times_of = phases.growth_exponent(flow) / bound("growth")
        ratio = times_of.subs({phases.tau: tau, t: tau * (L - 2)}, simultaneous=True)
        points = []
        for at in way.points:
            then = times.value(tau, at)
            points.append({**at, "tau": then, "t": then * (at["L"] - 2)})
        return Direction(f"{way.words} at t = {words}", tuple(points), limit_of(ratio, way.path))

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
            along(smaller(point), "(L-2) sqrt(sigma_init)", sp.sqrt(sigma_init)),
        ),
        timeless=False,
        remark="derived: lambda (tau - (1 - sigma_init/plateau)(1 - e^-tau)): before t = L-2 h is still small",
        silent=times.head_start,
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
                f"L = alpha* -> oo at t = {float(then):g}",
                varied({**point, "t": float(then)}, L=other, alpha=[float(each) for each in other]),
                limit_of(tail, {**exact(point), t: then, alpha: 1 / small, L: 1 / small}),
            ),
        ),
        below=False,
        timeless=False,
        remark="derived: 1/(4t), whatever alpha*: u^2 = 1/(2 g*^2 t) and L_G4 = g*^2 u^2/2 to leading order",
    )


def _head_rates(point: Point, flow: str) -> list[Claim]:
    """The printed exponent x is one of t itself: L_IH2 <= C e^{-c x} for all t > T_III with the same C and c.

    As t -> oo the rate is judged; at t = T_III, where x is largest against what has been learnt, the absolute loss.
    """
    per_tau = sp.expand(decay() / t * (L - 2))
    slow = 2 * phases.slow_rate(flow)

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
    silent = lambda at: times.head_start(at, LEARNT, flow)  # noqa: E731
    return [
        Claim(
            "head_rate",
            fall_between(lambda at: after(at, 25.0), lambda at: after(at, 50.0), flow),
            lambda at: 2 * times.slow_rate(at, flow) * span(at),
            lambda at: at_numbers(per_tau)(at) * span(at),
            (rate_along(here), *(rate_along(way, f", {way.words}") for way in elsewhere)),
            above=False,
            timeless=False,
            remark=f"exponents after T_III; derived: 2 mu per tau, here mu = {times.slow_rate(point, flow):.6g}",
        ),
        Claim(
            "head_rate",
            fall_to_learnt(flow, absolute=True),
            lambda at: times.value(-sp.log(at_once / (L - 2)), at),
            expressed,
            (judged_at_T_III(smaller(point), absolute=True),),
            above=False,
            timeless=False,
            remark="-log L_IH2(T_III) against the printed exponent there: L_IH2 is of the order 1/L from the start, "
            "and with L = Omega(1/sigma_init) that alone is what the exponent asks for",
            silent=silent,
        ),
        Claim(
            "head_rate",
            fall_to_learnt(flow, absolute=False),
            lambda at: times.value(sp.log(phases.starting_loss() / at_once), at),
            expressed,
            (judged_at_T_III(short, absolute=False, outside="outside of L = Omega(1/sigma_init), Appendix C"),),
            above=False,
            timeless=False,
            remark="log(L_IH2(0)/L_IH2(T_III)), which no sigma_init changes: what holds whatever L sigma_init is a "
            f"rate in t - T_III, L_IH2 = O(exp(-2 mu (t - T_III)/(L-2))), mu = {times.slow_rate(point, flow):.6g}",
            silent=silent,
        ),
    ]
