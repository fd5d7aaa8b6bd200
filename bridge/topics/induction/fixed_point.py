"""The fixed points as a theorem: each one with its eigenvalues, and the paper's statements about them."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import sympy as sp

from bridge.lowering.formula import evaluate
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from numeric.tools.flows import difference_jacobian
from symbolic.derivations.evaluation import decimal
from symbolic.dynamics import FixedPoint, Flow
from symbolic.topics.induction import fixed_point as theory
from symbolic.topics.induction import training as letters
from symbolic.topics.induction.losses_derivation import AS_PRINTED
from symbolic.words.errors import UsageError

STEP = 1e-5  # of the central differences
AGREE = 1e-6  # of the eigenvalues, in units of the largest
SPEED_DIGITS = 80  # of numbers at which a flow is evaluated: some 40 are left where those of (1 - 2 w^2)^2 cancel
STILL = 1e-12  # a larger speed per unit of tau = t / (L-2) is not due to rounding
BOTH, DERIVED = ("printed", "derived"), ("derived",)


class FlowsInNumbers:
    """The flows of stage II at one point. Numbers are exact rationals (a float is the binary rational it is)."""

    def __init__(self, L: int, alpha: float, w_star: float) -> None:
        self.length, at = L, {letters.alpha: sp.Rational(alpha), letters.w_star: sp.Rational(w_star)}
        optima = {letter: formula.subs(at) for letter, formula in letters.OPTIMA.items()}
        lengths = {letter: L if letter == letters.L else L - 5 for letter in theory.LENGTHS}
        self.values = {**optima, theory.SHARE: 2 * at[letters.w_star], **lengths}
        self.floats = {letter: float(value) for letter, value in self.values.items()}

    def number(self, expression: sp.Expr) -> float:
        number = float(sp.N(expression.subs(self.values), 30))
        if not math.isfinite(number):
            raise UsageError(f"{theory.FIXED_POINT.id}: {expression} is not finite at these parameters")
        return number

    def at(self, point: FixedPoint) -> np.ndarray:
        return np.array([self.number(point.at[coordinate]) for coordinate in point.flow.state])

    def field(self, flow: Flow) -> Callable[[np.ndarray], np.ndarray]:
        def rates(at: np.ndarray) -> np.ndarray:
            here = {**self.floats, **dict(zip(flow.state, at, strict=True))}
            return np.array([float(evaluate(rate, here)) for rate in flow.field])

        return rates

    # Near 2 w^2 = 1 the field is steeper than float64 resolves: the nearest floats to a point at rest may move.
    def speed(self, point: FixedPoint) -> float:
        at = {letter: decimal(point.at[letter], self.values, SPEED_DIGITS) for letter in point.flow.state}
        rates = (decimal(rate, {**self.values, **at}, SPEED_DIGITS) for rate in point.flow.field)
        return max(abs(float(rate)) for rate in rates)

    def jacobian(self, point: FixedPoint) -> np.ndarray:
        """Of fourth order: the field is steep near 2 w^2 = 1."""
        return difference_jacobian(self.field(point.flow), self.at(point), STEP)


# The stated point.


def stated(flows: FlowsInNumbers) -> Sides:
    """The stated point is among the fixed points, each of which SymPy has put into its flow; and numbers rest."""
    known = {each.name: each.point for each in (*theory.head_points(), *theory.gram_points())}
    points = [known[name] for name in ("minimiser", "gram_end") if name in known]
    if len(points) < 2:
        return Sides(derived=0, remark="the stated point is not among those found")
    speed = max(map(flows.speed, points))
    remark = "" if speed <= STILL else f"the flow, evaluated there, moves at {plain(speed)}"
    return Sides(within(speed, STILL), measured=speed, derived=0, proved=BOTH, remark=remark)


def stated_as_printed(flows: FlowsInNumbers) -> Sides:
    """dg/dt at (e^-p, g) = (0, g*) with the network's sums as printed."""
    flow = theory.regular(theory.gram_flow_at_end(AS_PRINTED))
    rate = float(flows.field(flow)(np.array([0.0, flows.number(letters.g_star)]))[1])
    return Sides(within(rate, STILL), measured=rate, proved=DERIVED)


def minimiser() -> Sides:
    return Sides(derived=0, proved=BOTH, remark=theory.minimiser_is_global())


# Whether it is the only one: with w > 0, where the flow from (12) stays, and with either sign of w.


def unique() -> Sides:
    found = len(theory.positive_points())
    complete = f"complete, since {theory.head_is_complete()}; at finite `p`: {theory.gram_is_complete()}"
    return Sides(found, derived=found, proved=DERIVED, remark=f"{theory.sign_is_kept()}; {complete}")


def plane() -> Sides:
    return Sides(derived=len(theory.plane_points()), proved=DERIVED)


# Eigenvalues.


def eigenvalues_of(name: str) -> Callable[[FlowsInNumbers], Sides]:
    def sides(flows: FlowsInNumbers) -> Sides:
        found = next(each for each in (*theory.head_points(), *theory.gram_points()) if each.name == name)
        per_time = flows.length - 2 if found.slowed else 1
        exact = sorted((flows.number(each) / per_time for each in found.point.eigenvalues), reverse=True)
        jacobian = flows.jacobian(found.point)
        if not np.isfinite(jacobian).all():
            return Sides(derived=exact[0], remark="the numeric Jacobian is not finite here")
        seen = sorted(np.linalg.eigvals(jacobian).real / per_time, reverse=True)
        apart = max(abs(a - b) for a, b in zip(exact, seen, strict=True))
        agree, signs = apart <= AGREE * max(map(abs, exact)), found.inertia
        words = [
            f"eigenvalues {', '.join(map(plain, exact))} at {found.words}: {found.stability}",
            f"proved for all parameters: {signs.positive} positive, {signs.zero} zero, {signs.negative} negative",
            found.nearby,
            "" if agree else f"those of a numeric Jacobian differ by up to {plain(apart)}",
        ]
        proved, remark = DERIVED if agree else (), "; ".join(filter(None, words))
        return Sides(measured=float(seen[0]), derived=exact[0], proved=proved, remark=remark)

    return sides


SIDES: Mapping[str, Callable[..., Sides]] = {
    "stated": stated,
    "stated.as_printed": stated_as_printed,
    "unique": unique,
    "plane": plane,
    "minimiser": minimiser,
    **{f"eigenvalue.{name}": eigenvalues_of(name) for name in theory.EIGENVALUES},
}
FIXED_POINT = Theorem(
    theory.FIXED_POINT,
    main="unique",
    built={"flows": FlowsInNumbers},
    checks=checks_of(theory.FIXED_POINT, SIDES),
)
