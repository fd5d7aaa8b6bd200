"""A law of Theorem 5.5 (wang2024): an asymptotic formula of ours beside a printed order and runs, along ways.

A way ends where the law is confirmed or not; the limit of formula over printed expression then decides the order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.check import Check, Sides
from bridge.export.numbers import plain
from bridge.induction.phase_runs import Measure
from bridge.induction.phase_times import value
from bridge.induction.phase_ways import Point, Way, limit_of, number
from symbolic.induction import phases
from symbolic.induction.phase_statement import PHASES
from symbolic.induction.training import L, sigma_init, t

NO_SMALL_START = "no formula: sigma_init and 1/L are not small enough here"


def nothing(_: Point) -> str:
    return ""


def bound(name: str) -> sp.Expr:
    """What is printed inside the Landau symbol."""
    printed = PHASES.quantity(name).printed
    assert printed is not None  # every quantity of PHASES has one
    return printed.bound


@dataclass(frozen=True)
class Law:
    """How a quantity is measured at a point, and its formula there, by the flow; `orbits` gives its kappa and C.

    `no_start` says why the formula does not apply at a start, and `earliest` gives what it exceeds where it does. A law
    with `everywhere` needs a point of the parameters only; for others each way gives the time. `excuse` says why a
    point is not in the paper's regime. `choice` tells laws of one quantity apart.
    """

    quantity: str
    measure: Measure
    formula: Callable[[Point], sp.Expr]
    orbits: Callable[[Point], Mapping[str, float]] = lambda _: {}
    no_start: Callable[[Point], str] = nothing
    earliest: Callable[[Point], float] | None = None
    excuse: Callable[[Point], str] = nothing
    remark: Callable[[Point], str] = nothing
    everywhere: bool = True
    choice: str = ""

    def derived(self, point: Point) -> float:
        return value(self.formula(point), point, **self.orbits(point))

    def no_formula(self, point: Point) -> str:
        reason = self.no_start(point)
        if reason or self.earliest is None:
            return reason
        return "" if self.derived(point) > self.earliest(point) else NO_SMALL_START

    def points(self, way: Way, point: Point) -> list[dict[str, Any]]:
        """Those of the way, with their times."""
        found = way.points(point)
        if way.tau is None:
            return found
        times = [value(way.tau(point["flow"]), at, **self.orbits(at)) for at in found]
        return [{**at, "tau": tau, "t": tau * (at["L"] - 2)} for at, tau in zip(found, times, strict=True)]

    def limit(self, way: Way, point: Point) -> sp.Expr:
        """That of the formula over the printed expression; C(X) = X (1 + o(1)) as X = (L-2) sigma_init -> oo."""
        end = way.points(point)[-1]
        ratio = (self.formula(end) / bound(self.quantity)).subs(phases.reach, (L - 2) * sigma_init)
        if way.tau is not None:
            tau = way.tau(point["flow"])
            ratio = ratio.subs({phases.tau: tau, t: tau * (L - 2)}, simultaneous=True)
        kappa = sp.Float(self.orbits(end).get("kappa", 0))
        return limit_of(ratio, {**way.symbolic(point), phases.kappa: kappa})


def check_along(law: Law, way: Way) -> Check:
    return _check(law, way.words, lambda point: sides_along(law, way, point))


def check_at_the_point(law: Law) -> Check:
    return _check(law, "at this point", lambda point: sides_at(law, point))


def _check(law: Law, where: str, sides: Callable[..., Sides]) -> Check:
    words = ", ".join(filter(None, [law.choice, where]))
    return Check(PHASES.quantity(law.quantity), sides, construction=words)


def sides_at(law: Law, point: Point) -> Sides:
    measured, why = law.measure(point), law.no_formula(point)
    if measured is None:
        return Sides(
            outside="hypothesis of a small start is not met: h > h* or w > w* at the start, so that the phases differ"
        )
    remarks = [law.remark(point), why, "a Theta cannot be judged at one point"]
    return Sides(measured, derived=None if why else law.derived(point), remark="; ".join(filter(None, remarks)))


def sides_along(law: Law, way: Way, point: Point) -> Sides:
    """The numbers at the end of the way, and the ratios to the printed expression all along."""
    points = law.points(way, point)
    end, expression = points[-1], bound(law.quantity)
    measured, why = [law.measure(at) for at in points], law.no_formula(end)
    derived, limit = None if why else law.derived(end), law.limit(way, point)
    ratios = " ".join(
        plain(None if found is None else found / number(expression, at))
        for found, at in zip(measured, points, strict=True)
    )
    found = f"measured/printed {ratios}, {_limit_words(limit)}; {_distance_words(measured[-1], derived)}"
    remark = "" if law.everywhere else law.remark(point)
    return Sides(
        measured[-1],
        derived=derived,
        limit=sp.nan if derived is None or measured[-1] is None else limit,
        outside=way.outside,
        excuse=law.excuse(end),
        at=end,
        letters={t: end["t"]} if "t" in end else {},
        remark="; ".join(filter(None, [found, why, remark])),
    )


def _limit_words(limit: sp.Expr) -> str:
    goal = "unbounded" if limit == sp.oo else "none" if limit is sp.nan else plain(float(limit))
    return f"derived limit {goal}"


def _distance_words(measured: float | None, derived: float | None) -> str:
    if measured is None or not derived:
        near = "not reached" if measured is None else "no formula"
    else:
        near = plain(abs(measured / derived - 1))
    return f"relative distance to derived at the last point: {near}"
