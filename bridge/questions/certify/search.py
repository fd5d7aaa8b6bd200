"""Where an expression is likely smallest on a box: random points and local search. Nothing here proves anything."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering import LoweringError, lower
from bridge.questions.certify.definedness import ENDS_OF_DOMAINS, conditions_of, evaluated
from symbolic.derivations.inequalities import Inequality

SAMPLES, STARTS = 1 << 15, 8
STEP = 1e-8  # of differences, on the unit cube
LARGEST = sp.Integer(10) ** 300  # of a coordinate: differences and sums of two are floats, too
AT_ONCE = 1 << 12  # points between two questions whether time is left

Check = Callable[[], None]


def likely_lowest(
    inequality: Inequality, *, samples: int = SAMPLES, seed: int = 0, check: Check = lambda: None
) -> list[tuple[Fraction, ...]]:
    """Points of the box where the expression is lowest, lowest first, as exact numbers; [] if floats find none.

    `check` is called at every step; it may raise an exception that ends the search.
    """
    found = search(inequality.expression, inequality, samples=samples, seed=seed, check=check)
    return [point for _, point in found]


def smallest(expression: sp.Expr, inequality: Inequality, *, samples: int = 1 << 17, seed: int = 0) -> float:
    """The smallest value of `expression` that sampling and local search find in the region of `inequality`."""
    found = search(expression, inequality, samples=samples, seed=seed)
    return min((value for value, _ in found), default=float("nan"))


def search(
    expression: sp.Expr, inequality: Inequality, *, samples: int, seed: int, check: Check = lambda: None
) -> list[tuple[float, tuple[Fraction, ...]]]:
    """Low values of `expression` and the points where it has them: corners, random points, then descents from the best.

    Half of the random points crowd towards the faces of the box, where extrema often lie. A box beyond the floats has
    none.
    """
    expression, box = evaluated(expression, {}), tuple(inequality.box.items())
    domain = [each.of for each in conditions_of(inequality.expression, {}) if each.relation in ENDS_OF_DOMAINS]
    where = [*(evaluated(condition, {}) for condition in inequality.where), *domain]
    if not box:
        return []
    if any(max(abs(low), abs(high)) > LARGEST for _, (low, high) in box):
        return []
    lows = np.array([float(low) for _, (low, _) in box])
    widths = np.array([float(high - low) for _, (low, high) in box])
    check()
    function = _on_unit_cube(expression, where, tuple(inequality.box), lows, widths)
    if function is None:
        return []
    rng = np.random.default_rng(seed)
    unit = rng.random((samples, len(box)))
    unit[::2] = np.where(rng.random((len(unit[::2]), len(box))) < 0.5, unit[::2] ** 8, 1 - unit[::2] ** 8)
    unit = np.concatenate([unit, rng.integers(0, 2, (256, len(box)))])
    values = np.concatenate(
        [_with_check(function, check)(unit[at : at + AT_ONCE]) for at in range(0, len(unit), AT_ONCE)]
    )
    best = np.argsort(values)[:STARTS]
    points = [unit[i] for i in best if np.isfinite(values[i])]
    points += [_descend(_with_check(function, check), point) for point in points]
    found = [(float(function(point[None])[0]), _exact(point, box)) for point in points]
    return sorted((each for each in found if np.isfinite(each[0])), key=lambda each: each[0])


def _with_check(function: Callable[[np.ndarray], np.ndarray], check: Check) -> Callable[[np.ndarray], np.ndarray]:
    def checked(unit: np.ndarray) -> np.ndarray:
        check()
        return function(unit)

    return checked


def _descend(function: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    from scipy.optimize import minimize  # takes a quarter of a second, and reading a claim needs nothing of it

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and the slopes by differences: all points at once."""
        at = np.clip(x, 0, 1)
        moved = at + np.where(at + STEP > 1, -STEP, STEP)
        values = function(np.vstack([at, np.where(np.eye(len(at), dtype=bool), moved, at)]))
        values = np.where(np.isfinite(values), values, 1e300)
        return float(values[0]), (values[1:] - values[0]) / (moved - at)

    bounds = [(0.0, 1.0)] * len(start)
    with np.errstate(all="ignore"):  # a slope may be no float; the search then ends
        found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100})
        end: np.ndarray = np.clip(found.x, 0, 1)
        return end if objective(end)[0] < objective(start)[0] else start


def _on_unit_cube(
    expression: sp.Expr, where: Sequence[sp.Expr], symbols: tuple[sp.Symbol, ...], lows: np.ndarray, widths: np.ndarray
) -> Callable[[np.ndarray], np.ndarray] | None:
    """The expression on points (S, d) of the unit cube, +inf where it is undefined or a condition fails."""
    try:
        value, conditions = _lowered(expression, symbols), [_lowered(condition, symbols) for condition in where]
    except LoweringError:
        return None

    def function(unit: np.ndarray) -> np.ndarray:
        at = [lows[i] + widths[i] * unit[:, i] for i in range(len(symbols))]
        values = np.broadcast_to(np.asarray(value(*at), dtype=float), len(unit)).copy()
        values[~np.isfinite(values)] = np.inf
        for condition in conditions:
            values[~(np.broadcast_to(condition(*at), len(unit)) >= 0)] = np.inf
        return values

    return function


@lru_cache(maxsize=256)
def _lowered(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Any:
    return lower(expression, "numpy", args=symbols)


def _exact(unit: np.ndarray, box: Sequence[tuple[sp.Symbol, tuple[sp.Rational, sp.Rational]]]) -> tuple[Fraction, ...]:
    """The point in the box as exact numbers; the unit coordinate of 24 bits, so that they stay short."""
    point = []
    for x, (_, (low, high)) in zip(unit, box, strict=True):
        share = Fraction(round(float(x) * 2**24), 2**24)
        point.append(Fraction(low) + share * Fraction(high - low))
    return tuple(point)
