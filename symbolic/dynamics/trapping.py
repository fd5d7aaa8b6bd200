"""Regions of the plane that a flow does not leave, proved by its signs on their walls, and trends within them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.dynamics.fixed_points import Chart
from symbolic.dynamics.flows import Flow
from symbolic.dynamics.roots import sign_with_roots


# A solution that starts inside and does not stay has a first time at which it is not inside. If x is then between the
# ends, y is `low` or `high`; there y - low or high - y increases, so that it was negative just before. If x is at an
# end, the solution is on a line that the flow does not leave or, where low and high meet, at a point at rest, and was
# so before: the field is differentiable, so that solutions are unique.
@dataclass(frozen=True)
class Strip:
    """start < x < end and low(x) < y < high(x), in the state (x, y) of a flow in the plane.

    Of `low` and `high`, and of the field, derivatives exist between the ends; on the ends those of the field do. The
    chart writes x and the parameters by positive symbols that run over all of them. Raises DerivationError unless the
    flow is proved not to leave the strip.
    """

    flow: Flow
    x: sp.Symbol
    ends: tuple[sp.Expr, sp.Expr]
    y: sp.Symbol
    low: sp.Expr
    high: sp.Expr
    chart: Chart

    def __post_init__(self) -> None:
        if set(self.flow.state) != {self.x, self.y}:
            raise DerivationError(f"strip: the flow has the state {self.flow.state}, not ({self.x}, {self.y})")
        for wall, inside in ((self.low, self.y - self.low), (self.high, self.high - self.y)):
            if sign_with_roots(self.flow.along(inside).subs(self.y, wall), self.chart) != 1:
                raise DerivationError(f"strip: the flow leaves it through {self.y} = {sp.sstr(wall)}")
        for end in self.ends:
            if not (self._is_invariant(end) or self._is_at_rest(end)):
                raise DerivationError(f"strip: the flow may leave it at {self.x} = {sp.sstr(end)}")

    def _is_invariant(self, end: sp.Expr) -> bool:
        return bool(sp.simplify(self.flow.rate(self.x).subs(self.x, end)) == 0)

    def _is_at_rest(self, end: sp.Expr) -> bool:
        low, high = (sp.simplify(wall.subs(self.x, end)) for wall in (self.low, self.high))
        at = {self.x: end, self.y: low}
        rates = (sp.simplify(rate.subs(at, simultaneous=True)) for rate in self.flow.field)
        return bool(low.is_finite and sp.simplify(high - low) == 0 and all(rate == 0 for rate in rates))

    @cached_property
    def _inside(self) -> tuple[dict[Any, Any], Chart]:
        """y between the walls, by one more positive symbol."""
        share = sp.Dummy("share", positive=True)
        return {self.y: (self.low + self.high * share) / (1 + share)}, {**self.chart, share: share}

    def trend(self, quantity: sp.Expr) -> int:
        """The sign of d quantity / dt in the strip, 1 or -1. Raises DerivationError where it is not shown."""
        between, chart = self._inside
        return sign_with_roots(self.flow.along(quantity).subs(between), chart)
