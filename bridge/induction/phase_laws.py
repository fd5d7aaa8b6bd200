"""A law of Theorem 5.5 (wang2024): an asymptotic formula of ours beside a printed order and runs, along ways.

At the end of a way runs confirm the law or not; the limit of formula over printed expression then decides the order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.check import Check, Sides
from bridge.export.numbers import plain
from bridge.induction.phase_regime import number
from bridge.induction.phase_runs import Measure
from bridge.induction.phase_times import value
from symbolic.induction import phases_derivation as phases
from symbolic.induction.phase_ways import Point, Way
from symbolic.induction.training import L, sigma_init, t
from symbolic.statements import Quantity

NO_SMALL_START = "no formula: `sigma_init` and `1/L` are not small enough here"
OTHER_PHASES = "hypothesis of a small start is not met: `h > h*` or `w > w*` at the start, so that the phases differ"
Words = Callable[[Point], str]


def nothing(_: Point) -> str:
    return ""


@dataclass(frozen=True)
class Law:
    """How a quantity is measured at a point, and its formula there; `orbits` gives its kappa and C.

    `no_start` says why the formula does not apply at a start, and `earliest` gives what it exceeds where it does. A law
    with `everywhere` needs a point of the parameters only; for others each way gives the time. `excuse` says why a
    point is not in the paper's regime. `choice` tells laws of one quantity apart.
    """

    quantity: Quantity
    measure: Measure
    formula: Callable[[Point], sp.Expr]
    ways: tuple[Way, ...]
    orbits: Callable[[Point], Mapping[str, float]] = lambda _: {}
    no_start: Words = nothing
    earliest: Callable[[Point], float] | None = None
    excuse: Words = nothing
    remark: str | Words = ""
    everywhere: bool = True
    choice: str = ""

    @property
    def inside(self) -> sp.Expr:
        """Of the printed Landau symbol."""
        assert self.quantity.printed is not None  # every quantity of Theorem 5.5 has one
        return self.quantity.printed.bound

    def derived(self, point: Point) -> float:
        return value(self.formula(point), point, **self.orbits(point))

    def no_formula(self, point: Point) -> str:
        reason = self.no_start(point)
        if reason or self.earliest is None:
            return reason
        return "" if self.derived(point) > self.earliest(point) else NO_SMALL_START

    def words(self, point: Point) -> str:
        return self.remark if isinstance(self.remark, str) else self.remark(point)

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
        ratio = (self.formula(end) / self.inside).subs(phases.reach, (L - 2) * sigma_init)
        if way.tau is not None:
            tau = way.tau(point["flow"])
            ratio = ratio.subs({phases.tau: tau, t: tau * (L - 2)}, simultaneous=True)
        return way.limit(ratio, point, {phases.kappa: sp.Float(self.orbits(end).get("kappa", 0))})

    def checks(self) -> list[Check]:
        """At the point, and along each way."""
        here = [self._check("at this point", lambda point: sides_at(self, point))] if self.everywhere else []
        return [*here, *(self._check(way.words, _along(self, way)) for way in self.ways)]

    def _check(self, where: str, sides: Callable[[Point], Sides]) -> Check:
        words = ", ".join(filter(None, [self.choice, where]))
        return Check(self.quantity, sides, construction=words)


def _along(law: Law, way: Way) -> Callable[[Point], Sides]:
    return lambda point: sides_along(law, way, point)


def sides_at(law: Law, point: Point) -> Sides:
    measured, why = law.measure(point), law.no_formula(point)
    if measured is None:
        return Sides(outside=OTHER_PHASES)
    remarks = [law.words(point), why, "a `Theta` cannot be judged at one point"]
    return Sides(measured, derived=None if why else law.derived(point), remark="; ".join(filter(None, remarks)))


def sides_along(law: Law, way: Way, point: Point) -> Sides:
    """The numbers at the end of the way, and the ratios to the printed expression all along."""
    points = law.points(way, point)
    end, printed = points[-1], [number(law.inside, at) for at in points]
    measured, why = [law.measure(at) for at in points], law.no_formula(end)
    derived, limit = None if why else law.derived(end), law.limit(way, point)
    ratios = (None if found is None else found / at for found, at in zip(measured, printed, strict=True))
    shown = f"measured/printed {' '.join(map(plain, ratios))}, {_limit_words(limit)}; {_near(measured[-1], derived)}"
    return Sides(
        measured[-1],
        derived=derived,
        limit=sp.nan if derived is None or measured[-1] is None else limit,
        outside=way.outside,
        excuse=law.excuse(end),
        at=end,
        letters={t: end["t"]} if "t" in end else {},
        remark="; ".join(filter(None, [shown, why, "" if law.everywhere else law.words(point)])),
    )


def _limit_words(limit: sp.Expr) -> str:
    goal = "unbounded" if limit == sp.oo else "none" if limit is sp.nan else plain(float(limit))
    return f"derived limit {goal}"


def _near(measured: float | None, derived: float | None) -> str:
    missing = "not reached" if measured is None else "no formula"
    near = plain(abs(measured / derived - 1)) if measured is not None and derived else missing
    return f"relative distance to derived at the last point: {near}"
