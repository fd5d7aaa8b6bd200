"""The claims of Theorem 5.5 (wang2024) that are a Theta, an O or an Omega, and the directions they are tried in."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.induction import phase_times as times
from bridge.induction.phase_runs import (
    exponent_at,
    fall_between,
    gram_loss_at,
    gram_measured,
    head_run,
    head_time,
    value_measured,
)
from bridge.induction.theta import Direction, Point
from bridge.induction.trajectory import KEPT, LEARNT
from symbolic.induction import phases
from symbolic.induction.phases import PHASES, limit_along
from symbolic.induction.training import OPTIMA, L, alpha, sigma_init, t, w_star

small = sp.Symbol("small", positive=True)
BELOW_THE_RANGE = 0.3  # a w* at which the overshoot of h takes less than 1 %, and one at which it takes more:
WITHIN_THE_RANGE = 0.49


@dataclass(frozen=True)
class Claim:
    """One Theta (or O, or Omega): how the quantity is measured, derived and printed at a point, and where."""

    quantity: str
    measure: Callable[[Point], float | None]
    derive: Callable[[Point], float]
    express: Callable[[Point], float]
    directions: tuple[Direction, ...]
    above: bool = True  # whether the expression is claimed to bound from above,
    below: bool = True  # and from below
    timeless: bool = True  # whether a point of the parameters is enough; else each direction says its times
    remark: str = ""


def claims_at(point: Point, flow: str) -> list[Claim]:
    return [*_gram_claims(point), *_head_claims(point, flow), *_growth_claims(point, flow), *_rate_claims(point, flow)]


def _printed_at(name: str) -> Callable[[Point], float]:
    bound = PHASES.quantity(name).printed.bound  # type: ignore[union-attr]  # every quantity of PHASES has one

    def express(point: Point) -> float:
        letters = (L, alpha, w_star, sigma_init, t)
        return float(bound.subs({letter: point[letter.name] for letter in letters if letter.name in point}))

    return express


def limit_of(formula: sp.Expr, path: dict[sp.Symbol, Any]) -> float:
    found = limit_along(formula, path, small)
    if not found.is_real:  # oo, or a formula outside of its range
        return math.inf if found == sp.oo else math.nan
    return float(found)


def _varied(point: Point, **changes: list[Any]) -> tuple[Point, ...]:
    """The point with several of its entries replaced, all lists of the same length."""
    return tuple({**point, **dict(zip(changes, row, strict=True))} for row in zip(*changes.values(), strict=True))


def _exact(point: Point) -> dict[sp.Symbol, sp.Expr]:
    """The point's parameters for SymPy."""
    letters = {L: "L", alpha: "alpha", w_star: "w_star", sigma_init: "sigma_init"}
    return {symbol: sp.nsimplify(point[name], rational=True) for symbol, name in letters.items()}


def _gram_claims(point: Point) -> list[Claim]:
    sigmas = [1e-2, 1e-5, 1e-8]
    formula = phases.gram_time()
    paths = {
        # C(X) is a constant where X = n sigma_init is, and C(X) = X (1 + o(1)) where X -> oo
        "sigma_init -> 0 with (L-2) sigma_init = 10": (
            _varied(point, sigma_init=sigmas, L=[10 / s + 2 for s in sigmas]),
            {**_exact(point), sigma_init: small, L: 2 + 10 / small, phases.reach: sp.Float(times.gram_reach(10.0))},
        ),
        "L -> oo at this sigma_init": (
            _varied(point, L=[1e3, 1e5, 1e7]),
            {**_exact(point), L: 2 + 1 / small, phases.reach: _exact(point)[sigma_init] / small},
        ),
    }
    claims = []
    for name, measure, until in (("T_I", gram_measured, "loss"), ("T_1g", value_measured, "value")):
        kappa = sp.Float(times.gram_kappa(float(point["alpha"]), until))
        directions = tuple(
            Direction(words, points, limit_of(formula, {**path, phases.kappa: kappa}))
            for words, (points, path) in paths.items()
        )
        claims.append(
            Claim(
                name,
                measure,
                lambda at, until=until: times.gram_time(at, until),  # type: ignore[misc]
                _printed_at(name),
                directions,
                below=False,
                remark="derived: (log(n/C(n sigma_init)) + kappa)/g*, n = L-2; the origin is a saddle of (p, g)",
            )
        )
    return claims


def _head_claims(point: Point, flow: str) -> list[Claim]:
    sigmas = [1e-2, 1e-4, 1e-6, 1e-8]
    time = (L - 2) * phases.head_time(flow)

    def falling(at: Point, formula: sp.Expr, name: str, words: str, share: float) -> Direction:
        kappa = sp.Float(times.head_kappa(float(at["alpha"]), float(at["w_star"]), flow, share))
        path = {**_exact(at), phases.kappa: kappa, sigma_init: small}
        return Direction(words, _varied(at, sigma_init=sigmas), limit_of(formula / _bound(name), path))

    def longer(at: Point, formula: sp.Expr, name: str, share: float) -> Direction:
        kappa = sp.Float(times.head_kappa(float(at["alpha"]), float(at["w_star"]), flow, share))
        path = {**_exact(at), phases.kappa: kappa, L: 2 + 1 / small}
        return Direction("L -> oo", _varied(at, L=[10**3, 10**5, 10**7]), limit_of(formula / _bound(name), path))

    observed = (L - 2) * phases.observation_time()
    weaker = [0.4, 0.2, 0.1, 0.05]
    ever_weaker = {**_exact(point), w_star: small, sigma_init: small**6}
    below, within = ({**point, "w_star": w} for w in (BELOW_THE_RANGE, WITHIN_THE_RANGE))
    low, high = (float(w) for w in phases.overshoot_range())
    quartic = {**_exact(point), w_star: small, sigma_init: small**4, phases.kappa: sp.Integer(0)}
    mixed = [1.0, 10.0, 100.0]
    farthest = sp.Float(times.head_kappa(mixed[-1], float(point["w_star"]), flow, LEARNT))
    return [
        Claim(
            "T_o",
            head_time(None, flow),
            times.observation_time,
            _printed_at("T_o"),
            (
                falling(point, observed, "T_o", "sigma_init -> 0", LEARNT),
                longer(point, observed, "T_o", LEARNT),
                Direction(
                    "w* -> 0 with sigma_init = w*^6",
                    _varied(point, w_star=weaker, sigma_init=[w**6 for w in weaker]),
                    limit_of(observed / _bound("T_o"), ever_weaker),
                ),
            ),
            remark="derived: (L-2) log((psi(v*) - sigma_init/h*)/(psi(v*) - 1)), which grows as 4 log(1/w*) as w* -> 0",
        ),
        Claim(
            "T_II",
            head_time(KEPT, flow),
            lambda at: times.plateau_time(at, flow),
            _printed_at("T_II"),
            (
                falling(below, time, "T_II", f"sigma_init -> 0, w* = {BELOW_THE_RANGE}", KEPT),
                falling(
                    within,
                    (L - 2) * phases.overshoot_time(),
                    "T_II",
                    f"sigma_init -> 0, w* = {WITHIN_THE_RANGE}",
                    LEARNT,
                ),
            ),
            remark=f"for w* in ({low:.5f}, {high:.5f}) h's way from h* to its plateau h* psi(v*) takes more than 1 % "
            "of the loss while w has not moved, and T_II is Theta(L) without the log",
        ),
        Claim(
            "T_III",
            head_time(LEARNT, flow),
            lambda at: times.emergence_time(at, flow),
            _printed_at("T_III"),
            (
                falling(point, time, "T_III", "sigma_init -> 0", LEARNT),
                longer(point, time, "T_III", LEARNT),
                Direction(
                    "alpha* -> oo, sigma_init = 1e-8",
                    _varied({**point, "sigma_init": 1e-8}, alpha=mixed),
                    limit_of(
                        time / _bound("T_III"),
                        {**_exact({**point, "sigma_init": 1e-8}), alpha: 1 / small, phases.kappa: farthest},
                    ),
                ),
                Direction(
                    "w* -> 0 with sigma_init = w*^4",
                    _varied(point, w_star=weaker, sigma_init=[w**4 for w in weaker]),
                    limit_of(time / _bound("T_III"), quartic),
                ),
            ),
            remark="derived: (L-2) [(log(1/sigma_init) + log w* + kappa)/lambda + 1 - sigma_init/(h* psi(v*))], "
            f"lambda = {times.value(phases.growth_rate(flow), point):.6g}, kappa = "
            f"{times.head_kappa(float(point['alpha']), float(point['w_star']), flow, LEARNT):.6g}; the leading term "
            f"alone gives {times.value(phases.head_time_leading(flow), point) * (point['L'] - 2):.6g}",
        ),
    ]


def _bound(name: str) -> sp.Expr:
    printed = PHASES.quantity(name).printed
    assert printed is not None
    return printed.bound


def _growth_claims(point: Point, flow: str) -> list[Claim]:
    """log(w/sigma_init) at three sorts of t < T_III."""
    sigmas = [1e-2, 1e-3, 1e-4, 1e-5]

    def along(words: str, tau: sp.Expr) -> Direction:
        """At these tau, given by sigma_init."""
        times_of = phases.growth_exponent(flow) / _bound("growth")
        ratio = times_of.subs({phases.tau: tau, t: tau * (L - 2)}, simultaneous=True)
        points = []
        for at in _varied(point, sigma_init=sigmas):
            then = float(tau.subs(OPTIMA).subs(_exact(at)))
            points.append({**at, "tau": then, "t": then * (at["L"] - 2)})
        return Direction(words, tuple(points), limit_of(ratio, {**_exact(point), sigma_init: small}))

    halfway = sp.log(1 / sigma_init) / (2 * phases.growth_rate(flow))
    return [
        Claim(
            "growth",
            exponent_at(lambda at: float(at["tau"]), flow),
            lambda at: times.value(phases.growth_exponent(flow), at, tau=at["tau"]),
            _printed_at("growth"),
            (
                along("sigma_init -> 0 at t = L-2", sp.Integer(1)),
                along("sigma_init -> 0 at t = (L-2) log(1/sigma_init)/(2 lambda)", halfway),
                along("sigma_init -> 0 at t = (L-2) sqrt(sigma_init)", sp.sqrt(sigma_init)),
            ),
            timeless=False,
            remark="derived: lambda (tau - (1 - sigma_init/plateau)(1 - e^-tau)): before t = L-2 h is still small",
        )
    ]


def _rate_claims(point: Point, flow: str) -> list[Claim]:
    late = [1e4, 1e6, 1e8]
    mu, per_tau = times.slow_rate(point, flow), float(_bound_per_tau(point))

    def after(at: Point, slow_times: float) -> float:
        return max(times.emergence_time(at, flow) / (at["L"] - 2), 0.0) + slow_times / times.slow_rate(at, flow)

    sigmas = [1e-2, 1e-4, 1e-6, 1e-8]
    fallen = sp.log(phases.starting_loss() / (phases.observed_loss() * phases.LEARNT))
    printed = phases.EXPONENT.subs(t, (L - 2) * phases.head_time(flow))
    kappa = sp.Float(times.head_kappa(float(point["alpha"]), float(point["w_star"]), flow, LEARNT))
    told_off = (
        "at T_III the loss is 0.01 L_IH2(T_o) whatever sigma_init, and the expression is a power of it: the rate "
    )
    return [
        Claim(
            "gram_rate",
            gram_loss_at,
            lambda at: times.value(phases.gram_tail(), at, t=at["t"]),
            _printed_at("gram_rate"),
            (
                Direction(
                    "t -> oo",
                    _varied(point, t=late),
                    limit_of(phases.gram_tail() / _bound("gram_rate"), {t: 1 / small}),
                ),
            ),
            below=False,
            timeless=False,
            remark="derived: 1/(4t), whatever alpha*: u^2 = 1/(2 g*^2 t) and L_G4 = g*^2 u^2/2 to leading order",
        ),
        Claim(
            "head_rate",
            fall_between(lambda at: after(at, 25.0), lambda at: after(at, 50.0), flow),
            lambda at: 2 * mu * (after(at, 50.0) - after(at, 25.0)),
            lambda at: per_tau * (after(at, 50.0) - after(at, 25.0)),
            (Direction("t -> oo: exponents", (point,), 2 * mu / per_tau),),
            above=False,
            timeless=False,
            remark=f"exponents after T_III; derived: 2 mu per tau, mu = {mu:.6g}",
        ),
        Claim(
            "head_rate",
            fall_between(lambda at: 0.0, lambda at: head_run(at, flow).falls_to(LEARNT), flow),
            lambda at: times.value(fallen, at),
            lambda at: per_tau * times.emergence_time(at, flow) / (at["L"] - 2),
            (
                Direction(
                    "sigma_init -> 0 at t = T_III: exponents",
                    _varied(point, sigma_init=sigmas),
                    limit_of(fallen / printed, {**_exact(point), phases.kappa: kappa, sigma_init: small}),
                ),
            ),
            above=False,
            timeless=False,
            remark=told_off + "is one of t - T_III, not of t",
        ),
    ]


def _bound_per_tau(point: Point) -> sp.Expr:
    """The printed exponent of the decay per unit of tau."""
    return (phases.EXPONENT / t * (L - 2)).subs(_exact(point))
