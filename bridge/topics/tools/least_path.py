"""The least cost of a path through layers that pass on one number each, between two proved numbers.

A path z_0, z_1, ..., z_D with given ends costs f(z) = C(z_0, z_1) + ... + C(z_{D-2}, z_{D-1}) + w C(z_{D-1}, z_D).

Every minimiser lies in a small box: elsewhere what is spent and a lower bound of what is still to come add up to more
than a path that is known (branch and bound, layer by layer). Where the tridiagonal Hessian is positive definite on that
box f is convex there, so that f >= f(x) - |grad f(x)| * width with x the path found in floats.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
from scipy.optimize import minimize

from bridge.lowering import lower
from bridge.lowering.ball_values import evaluate_ball, exact_ball
from bridge.lowering.least_value import Enclosure, clipped
from numeric.balls import Arb, float_above, float_below, working_precision
from symbolic.derivations.exact_numbers import as_count, as_float, as_formula, as_number, as_positive
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

BITS = 128
CELLS = 1024  # of the range of each z_k, unless told
Side = tuple[Arb, Arb]
Ends = tuple[Any, Any]


@dataclass(frozen=True)
class PathCost:
    """`step`: what it costs to pass from `here` to `after` in one layer, twice differentiable; `last` is the factor w.

    `to_come`, in `here`: a lower bound of what the layers that are left cost, however many there are.

    Raises UsageError for formulas in other letters, and for a factor that is not a positive number.
    """

    step: sp.Expr
    here: sp.Symbol
    after: sp.Symbol
    to_come: sp.Expr = sp.S.Zero
    last: sp.Expr = sp.S.One

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.here, sp.Symbol) or not isinstance(self.after, sp.Symbol) or self.here == self.after:
            raise UsageError(f"PathCost: here = {self.here!r}, after = {self.after!r}; give two symbols")
        for name, letters in (("step", {self.here, self.after}), ("to_come", {self.here})):
            formula = as_formula("PathCost", name, getattr(self, name))
            if others := sorted(map(str, formula.free_symbols - letters)):
                raise UsageError(
                    f"PathCost: {', '.join(others)} has no value; give {name} in {', '.join(sorted(map(str, letters)))}"
                )
            object.__setattr__(self, name, formula)
        object.__setattr__(self, "last", as_positive("PathCost", "last", self.last))

    def terms(self, points: Sequence[Arb], *derivatives: sp.Symbol) -> list[Arb]:
        """The cost of each layer, or a derivative of it, on balls."""
        step = self.on_balls(*derivatives)
        costs = [step(*pair) for pair in itertools.pairwise(points)]
        return [*costs[:-1], evaluate_ball(self.last, {}, BITS) * costs[-1]]

    def total(self, points: Sequence[Arb]) -> Arb:
        return sum(self.terms(points), flint.arb(0))

    def gradient(self, points: Sequence[Arb]) -> list[Arb]:
        """In z_1, ..., z_{D-1}."""
        return _inner(self.terms(points, self.after), self.terms(points, self.here))

    # A tridiagonal matrix is positive definite iff the pivots d_k - o_{k-1}^2 / p_{k-1} are positive.
    def is_convex(self, points: Sequence[Arb]) -> bool:
        """Whether the Hessian in z_1, ..., z_{D-1} is positive definite on the whole box."""
        diagonal = _inner(self.terms(points, self.after, self.after), self.terms(points, self.here, self.here))
        coupling = self.terms(points, self.here, self.after)
        pivot = flint.arb(1)
        for place, entry in enumerate(diagonal):
            pivot = entry - coupling[place] ** 2 / pivot if place else entry
            if not pivot > 0:
                return False
        return True

    def on_balls(self, *derivatives: sp.Symbol) -> Callable[..., Arb]:
        return _on_balls(self.step, (self.here, self.after), derivatives)


def _inner(by_after: list[Any], by_here: list[Any]) -> list[Any]:
    """Each z_k ends one layer and begins the next."""
    return [ends + begins for ends, begins in zip(by_after[:-1], by_here[1:], strict=True)]


@lru_cache(maxsize=64)
def _on_balls(step: sp.Expr, symbols: tuple[sp.Symbol, ...], derivatives: tuple[sp.Symbol, ...]) -> Callable[..., Arb]:
    wanted = sp.factor(sp.diff(step, *derivatives)) if derivatives else step
    return lower(wanted, "arb", args=symbols, bits=BITS)


def least_path(
    cost: PathCost, ends: Ends, layers: int, *, within: Ends, start: Sequence[Any], cells: int = CELLS
) -> Enclosure:
    """The least cost of `layers` layers from one end to the other, all numbers between `within` a range.

    `start`, the D - 1 inner numbers of a path, is where the search in floats begins. `at` holds those of the path whose
    cost is `upper`. The lower end is -oo where the cost is not proved to be convex around all minimisers, to which more
    `cells` of the range help.

    Ends and range count exactly, whatever numbers they are. Raises UsageError for a start of another length, for
    numbers that are not finite, for a range that is none and for layers or cells that are not counts.
    """
    if not isinstance(cost, PathCost):
        raise UsageError(f"least_path: cost = {cost!r:.80}; give a PathCost")
    (first, last), side, begin = _numbers(ends, within, start)
    layers, cells = as_count("least_path", "layers", layers), as_count("least_path", "cells", cells)
    if len(begin) != layers - 1:
        raise UsageError(f"least_path: {layers} layers have {layers - 1} numbers between the ends; {len(begin)} came")
    with working_precision(BITS):
        inner = _best_path(cost, (float(first), float(last)), (float(side[0]), float(side[1])), np.asarray(begin))
        points = [first, *(clipped(each, *side) for each in inner), last]
        known = cost.total(points)
        sides, boxes = sides_of_minimisers(cost, first, layers, side, known.upper(), cells)
        proved = sides is not None and cost.is_convex([first, *(low.union(high) for low, high in sides), last])
        least = known.lower()
        for slope, (low, high) in zip(cost.gradient(points), sides or [], strict=proved):
            least -= abs(slope) * (high - low)
        return Enclosure(float_below(least) if proved else -math.inf, float_above(known), tuple(inner), boxes)


def _numbers(ends: Any, within: Any, start: Any) -> tuple[Side, Side, list[float]]:
    """Ends and range as balls, the start in floats."""
    try:
        pairs = [tuple(as_number("least_path", "an end", each) for each in pair) for pair in (ends, within)]
        begin = [as_float("least_path", "a number", each) for each in start]
    except (TypeError, UsageError):
        pairs, begin = [], []
    if [len(pair) for pair in pairs] != [2, 2] or pairs[1][0] > pairs[1][1]:
        raise UsageError(
            f"least_path: ends = {ends!r:.60}, within = {within!r:.60}, start = {start!r:.60}; give finite numbers, "
            f"and a range from its lower end to its upper one"
        )
    first, last, low, high = (exact_ball(each, BITS) for pair in pairs for each in pair)
    return (first, last), (low, high), begin


def _best_path(
    cost: PathCost, ends: tuple[float, float], within: tuple[float, float], start: np.ndarray
) -> list[float]:
    """z_1 ... z_{D-1}, minimised in floats; any path is allowed, this one is good."""
    if not len(start):
        return []
    symbols = (cost.here, cost.after)
    value, by_here, by_after = (
        lower(each, "numpy", args=symbols) for each in (cost.step, *(sp.diff(cost.step, s) for s in symbols))
    )
    factor = np.r_[np.ones(len(start)), float(cost.last)]

    def total(inner: np.ndarray) -> tuple[float, np.ndarray]:
        here, after = np.r_[ends[0], inner], np.r_[inner, ends[1]]
        slopes = (factor * by_after(here, after))[:-1] + (factor * by_here(here, after))[1:]
        return float(np.sum(factor * value(here, after))), slopes

    found = minimize(total, start, jac=True, method="BFGS", options={"gtol": 1e-13, "maxiter": 500})
    return [float(each) for each in np.clip(found.x, *within)]


def sides_of_minimisers(
    cost: PathCost, first: Arb, layers: int, within: Ends, known: Arb, cells: int = CELLS
) -> tuple[list[Side] | None, int]:
    """A range of z_1, ..., z_{D-1} that holds every path as cheap as `known`, and how many boxes it took.

    None where no path is left.
    """
    low, high = map(flint.arb, within)
    edges = [low + (high - low) * k / cells for k in range(cells + 1)]
    pieces = [(low, high, low.union(high)) for low, high in itertools.pairwise(edges)]
    step, rest_of = cost.on_balls(), lower(cost.to_come, "arb", args=(cost.here,), bits=BITS)
    to_come = [rest_of(ball).lower() for _, _, ball in pieces]
    spent = [(flint.arb(0), first)]  # what the layers so far cost at least, and a cell that they lead to
    sides, boxes = [], 0
    for _ in range(layers - 1):
        least = _least([cost for cost, _ in spent])
        kept = []
        for cell, rest in zip(pieces, to_come, strict=True):
            if least + rest > known:
                continue
            costs = [before + step(place, cell[2]).lower() for before, place in spent]
            boxes += len(costs)
            allowed = [each for each in costs if not each + rest > known]
            if allowed:
                kept.append((_least(allowed), cell))
        if not kept:
            return None, boxes
        sides.append((kept[0][1][0], kept[-1][1][1]))
        spent = [(each, cell[2]) for each, cell in kept]
    return sides, boxes


def _least(numbers: list[Arb]) -> Arb:
    smallest = numbers[0]
    for number in numbers[1:]:
        smallest = smallest.min(number)
    return smallest.lower()
