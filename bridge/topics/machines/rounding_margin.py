"""The true margin of the rounded toy, between two proved numbers, for one depth and for all depths at once.

With z_k the output of layer k (z_0 = 1), the squared change is f(z) = sum_k C(z_{k-1}, z_k) + C(z_{D-1}, 1/2), and the
margin is the root of its minimum over 1/2 <= z_k < 1:
- A change that flips has a first layer with a <= 1/2; aiming at 1/2 itself there, and changing nothing behind it, costs
  no more (round(1/2) = 1/2).
- Layers that leave 1 behind them (a >= 2/3) may be moved to the end, where they keep 1/2 at no cost.

What is still to come from z costs at least kappa (1 - 1/(2z))^2. For all depths: with kappa, the limit of kappa_D, as
the factor of the last term f is a lower bound at every depth.
"""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.least_value import Enclosure
from bridge.topics.tools.least_path import PathCost, least_path
from symbolic.topics.machines import rounding as theory
from symbolic.topics.machines.rounding import z, z_next

LAYERS = 8  # depths beyond are enclosed by the bound for all depths and a path through so many layers
ENDS = (1.0, 0.5)


@cache
def rounded_margin(depth: int) -> Enclosure:
    """The margin of the rounded toy of this depth. `at`: the changes of its first layers; the others stay."""
    if depth > LAYERS:
        shorter, every = rounded_margin(LAYERS), margin_at_every_depth()
        return Enclosure(every.lower, shorter.upper, shorter.at, every.boxes)
    return enclosed(depth, sp.Integer(1))


@cache
def margin_at_every_depth() -> Enclosure:
    """The infimum over all depths; `at` belongs to the depth at which the upper end is attained."""
    below, above = enclosed(LAYERS, theory.every_weight()), rounded_margin(LAYERS)
    return Enclosure(below.lower, above.upper, above.at, below.boxes)


def enclosed(depth: int, last: sp.Expr) -> Enclosure:
    """The root of the least sum of the costs, `last` being the factor of the last one."""
    start = 0.5 + 0.06 / 3.0 ** np.arange(depth - 1)
    found = least_path(toy_cost(last), ENDS, depth, within=(0.5, 1.0), start=start.tolist()).root
    return replace(found, at=_changes(found.at))


def toy_cost(last: sp.Expr) -> PathCost:
    return PathCost(theory.stage_cost(), z, z_next, theory.every_weight() * theory.last_cost(), last)


def _changes(inner: tuple[float, ...]) -> tuple[float, ...]:
    """delta_k = a_k / z_{k-1} - 1, a_k = (z_k + 1) / 3: minus the root of the cost."""
    pairs = itertools.pairwise((ENDS[0], *inner, ENDS[1]))
    return tuple(-float(evaluate_ball(sp.sqrt(theory.stage_cost()), {z: here, z_next: to}).mid()) for here, to in pairs)
