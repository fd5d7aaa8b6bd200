"""The true margin of the rounded toy, between two proved numbers, for one depth and for all depths at once.

With z_k the output of layer k (z_0 = 1), the squared change is f(z) = sum_k C(z_{k-1}, z_k) + C(z_{D-1}, 1/2), and the
margin is the root of its minimum over 1/2 <= z_k < 1:
- A change that flips has a first layer with a <= 1/2; aiming at 1/2 itself there, and changing nothing behind it, costs
  no more (round(1/2) = 1/2).
- Layers that leave 1 behind them (a >= 2/3) may be moved to the end, where they keep 1/2 at no cost.

Every minimiser lies in a small box: elsewhere C and kappa (1 - 1/(2z))^2, a lower bound of what is still to come, add
up to more than a path that is known (branch and bound, layer by layer). On that box f is convex, as its tridiagonal
Hessian is positive definite there; so f >= f(x) - |grad f(x)| * width with x the minimiser found in floats.

For all depths: with kappa, the limit of kappa_D, as the factor of the last term f is a lower bound at every depth.
"""

import itertools
from functools import cache
from typing import Any

import flint
import numpy as np
import sympy as sp
from scipy.optimize import minimize

from bridge.least_value import Enclosure
from bridge.lowering import lower
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.machines import rounding as theory
from symbolic.machines.rounding import z, z_next

BITS = 128
CELLS = 1024  # of [1/2, 1]
LAYERS = 8  # depths beyond are enclosed by the bound for all depths and a path through so many layers
Side = tuple[Arb, Arb]


@cache
def rounded_margin(depth: int) -> Enclosure:
    """The margin of the rounded toy of this depth. `at`: the changes of its first layers; the others stay."""
    if depth > LAYERS:
        shorter, every = rounded_margin(LAYERS), margin_at_every_depth()
        return Enclosure(every.lower, shorter.upper, shorter.at, every.boxes)
    return _enclosed(depth, sp.Integer(1))


@cache
def margin_at_every_depth() -> Enclosure:
    """The infimum over all depths; `at` belongs to the depth at which the upper end is attained."""
    below = _enclosed(LAYERS, theory.every_weight())
    above = _enclosed(LAYERS, sp.Integer(1))
    return Enclosure(below.lower, above.upper, above.at, below.boxes)


def _enclosed(depth: int, last: sp.Rational) -> Enclosure:
    """The least sum of the costs, `last` being the factor of the last one. `upper` is with the factor 1."""
    with working_precision(BITS):
        weight = flint.arb(flint.fmpq(int(last.p), int(last.q)))
        path = _best_path(depth, float(last))
        exact = [flint.arb(1), *map(flint.arb, path), flint.arb(1) / 2]
        upper = float_above(_cost(exact, flint.arb(1)).sqrt())
        sides, boxes = _sides(depth, _cost(exact, weight).upper())
        if sides is None or not _convex(sides, weight):
            return Enclosure(0.0, upper, _changes(exact), boxes)  # nothing is proved of the lower side
        down = _cost(exact, weight).lower()
        for slope, (low, high) in zip(_gradient(exact, weight), sides, strict=True):
            down -= abs(slope) * (high - low)
        return Enclosure(float_below(down.sqrt()), upper, _changes(exact), boxes)


# Costs and their derivatives, lowered from the one formula.


@cache
def _stage(*derivatives: sp.Symbol) -> Any:
    """C, or a derivative of it, on balls (z, z')."""
    cost = theory.stage_cost()
    wanted = sp.factor(sp.diff(cost, *derivatives)) if derivatives else cost
    return lower(wanted, "arb", args=(z, z_next), bits=BITS)


@cache
def _to_come() -> Any:
    """The lower bound of what the layers that are left cost, from z."""
    return lower(theory.every_weight() * theory.last_cost(), "arb", args=(z,), bits=BITS)


def _cost(points: list[Arb], weight: Arb) -> Arb:
    costs = [_stage()(*pair) for pair in itertools.pairwise(points)]
    return sum(costs[:-1], flint.arb(0)) + weight * costs[-1]


def _gradient(points: list[Arb], weight: Arb) -> list[Arb]:
    inner = range(1, len(points) - 1)
    return [
        _stage(z_next)(points[k - 1], points[k]) + _weight(k, points, weight) * _stage(z)(points[k], points[k + 1])
        for k in inner
    ]


def _weight(k: int, points: list[Arb], weight: Arb) -> Arb:
    """The factor of the cost from layer k to the next one."""
    return weight if k == len(points) - 2 else flint.arb(1)


def _changes(points: list[Arb]) -> tuple[float, ...]:
    """delta_k = a_k / z_{k-1} - 1, a_k = (z_k + 1) / 3: minus the root of the cost."""
    return tuple(-float(_stage()(*pair).sqrt().mid()) for pair in itertools.pairwise(points))


def _best_path(depth: int, last: float) -> list[float]:
    """z_1 ... z_{D-1}, minimised in floats; any path is allowed, this one is good."""
    if depth == 1:
        return []
    cost = lower(theory.stage_cost(), "numpy", args=(z, z_next))
    slopes = [lower(sp.diff(theory.stage_cost(), s), "numpy", args=(z, z_next)) for s in (z, z_next)]

    def total(inner: np.ndarray) -> tuple[float, np.ndarray]:
        here, after = np.r_[1.0, inner], np.r_[inner, 0.5]
        factor = np.r_[np.ones(depth - 1), last]
        by_start, by_end = (factor * slope(here, after) for slope in slopes)
        return float(np.sum(factor * cost(here, after))), by_start[1:] + by_end[:-1]

    start = 0.5 + 0.06 / 3.0 ** np.arange(depth - 1)
    found = minimize(total, start, jac=True, method="BFGS", options={"gtol": 1e-13, "maxiter": 500})
    return [float(value) for value in np.clip(found.x, 0.5, 1.0)]


# Where every minimiser lies.


def _sides(depth: int, known: Arb) -> tuple[list[Side] | None, int]:
    """A range of z_1, ..., z_{D-1} that holds every path as cheap as `known`, and how many boxes it took.

    None where no path is left.
    """
    edges = [flint.arb(1) / 2 + flint.arb(k) / (2 * CELLS) for k in range(CELLS + 1)]
    cells = [(low, high, low.union(high)) for low, high in itertools.pairwise(edges)]
    to_come = [_to_come()(ball).lower() for _, _, ball in cells]
    spent = [(flint.arb(0), flint.arb(1))]  # what the layers so far cost at least, and a cell that they lead to
    sides, boxes = [], 0
    for _ in range(depth - 1):
        least = _least([cost for cost, _ in spent])
        kept = []
        for cell, rest in zip(cells, to_come, strict=True):
            if least + rest > known:
                continue
            costs = [before + _stage()(place, cell[2]).lower() for before, place in spent]
            boxes += len(costs)
            allowed = [cost for cost in costs if not cost + rest > known]
            if allowed:
                kept.append((_least(allowed), cell))
        if not kept:
            return None, boxes
        sides.append((kept[0][1][0], kept[-1][1][1]))
        spent = [(cost, cell[2]) for cost, cell in kept]
    return sides, boxes


def _least(numbers: list[Arb]) -> Arb:
    smallest = numbers[0]
    for number in numbers[1:]:
        smallest = smallest.min(number)
    return smallest.lower()


# A tridiagonal matrix is positive definite iff the pivots d_k - o_{k-1}^2 / p_{k-1} are positive.
def _convex(sides: list[Side], weight: Arb) -> bool:
    """Whether the Hessian of f is positive definite on the whole box."""
    balls = [flint.arb(1), *(low.union(high) for low, high in sides), flint.arb(1) / 2]
    pivot, coupling = None, flint.arb(0)
    for k in range(1, len(balls) - 1):
        diagonal = _stage(z_next, z_next)(balls[k - 1], balls[k])
        diagonal += _weight(k, balls, weight) * _stage(z, z)(balls[k], balls[k + 1])
        pivot = diagonal if pivot is None else diagonal - coupling**2 / pivot
        if not pivot > 0:
            return False
        coupling = _stage(z, z_next)(balls[k], balls[k + 1])
    return True
