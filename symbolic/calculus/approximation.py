"""Explicit approximants and what they cost: piecewise-linear interpolation as a sum of ReLUs, in closed form.

The printed rate (Wu et al. 2024, Lemma 7) needs H of order eps^-2 ReLUs and leaves its constant open; interpolation at
uniform knots needs of order eps^(-1/2), with every constant known.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import knob_for
from symbolic.derivations.exact_numbers import as_formula
from symbolic.derivations.obligations import as_expr
from symbolic.derivations.signs import CONTINUOUS
from symbolic.words.errors import UsageError

R = sp.Symbol("R", positive=True)
M = sp.Symbol("M", integer=True, positive=True)
EVEN = sp.Symbol("M", even=True, positive=True)  # 0 is a knot
eps = sp.Symbol("eps", positive=True)
sup_f = sp.Symbol("sup_f", nonnegative=True)  # sup of |f|, |f'| and |f''| on [-R, R]
sup_f1 = sp.Symbol("sup_f1", nonnegative=True)
sup_f2 = sp.Symbol("sup_f2", nonnegative=True)
_HALF, _BEND, _TARGET = (sp.Symbol(name, positive=True) for name in ("half", "bend", "target"))


def cell_width(radius: Any = R, cells: Any = M) -> sp.Expr:
    """h, for `cells` cells of one width on [-radius, radius]."""
    return 2 * as_expr(radius) / cells


# Let p be the line through (a, f(a)) and (b, f(b)), t in (a, b) and g(s) = f(s) - p(s) - c (s - a)(s - b) with c such
# that g(t) = 0. Then g has three zeros, g'' = f'' - 2 c one, at xi say: f(t) - p(t) = f''(xi) (t - a)(t - b) / 2, and
# |(t - a)(t - b)| <= h^2 / 4. Equality: f = t^2 at the middle of a cell.
def secant_error(width: Any, curvature: Any) -> sp.Expr:
    """sup |f - p| on a cell of that width, if |f''| <= curvature there."""
    return as_expr(width) ** 2 / 8 * curvature


# p' is the mean of f' over the cell, so |p' - f'(t)| <= (1/h) int |f'(s) - f'(t)| ds <= sup|f''| (1/h) int |s - t| ds,
# and the mean distance from a point of the cell is largest from its ends, h/2. Equality: f = t^2 at the ends.
def secant_slope_error(width: Any, curvature: Any) -> sp.Expr:
    """sup |p' - f'| on a cell of that width, if |f''| <= curvature there."""
    return as_expr(width) / 2 * curvature


# Float64 coefficients have an error of order 10^-16 C as well; this share of the accuracy is reserved for it.
ROUNDING_SHARE = sp.Rational(1, 1024)


# The bound falls in M^2 = q as R^2 sup|f''| / (2 q): rule 9 gives the least q, and M is the next whole number.
def secant_cells(radius: Any = R, curvature: Any = sup_f2, accuracy: Any = eps) -> sp.Expr:
    """The least M for which the secant error of M cells on [-radius, radius] leaves ROUNDING_SHARE of `accuracy`."""
    at = {_HALF: as_expr(radius), _BEND: as_expr(curvature), _TARGET: as_expr(accuracy)}
    if at[_TARGET].is_nonpositive or at[_HALF].is_nonpositive or at[_BEND].is_negative:
        raise UsageError(
            f"secant_cells: radius {at[_HALF]}, curvature {at[_BEND]}, accuracy {at[_TARGET]}: give a radius and an "
            f"accuracy above 0, and a curvature that is not negative"
        )
    squared = _least_cells_squared().subs(at)
    return sp.Max(1, sp.Integer(_root_above(squared)) if squared.is_Rational else sp.ceiling(sp.sqrt(squared)))


def _root_above(square: sp.Rational) -> int:
    """The least whole number whose square is at least that: exact, where SymPy's ceiling of a root evaluates floats."""
    whole = -(-int(square.p) // int(square.q))
    root = math.isqrt(whole)
    return root if root * root >= whole else root + 1


@cache
def _least_cells_squared() -> sp.Expr:
    """q, solved for once: its letters take the numbers of every search that follows."""
    cells_squared = sp.Symbol("q", positive=True)
    bound = secant_error(cell_width(_HALF, sp.sqrt(cells_squared)), _BEND)
    return knob_for(bound, cells_squared, _TARGET * (1 - ROUNDING_SHARE)).value


# M + 1 values are M slopes and one value: a hinge at the middle knot for each side, one at each of the M - 2 other
# inner knots, and the constant, which is the value there.
def hinge_count(cells: Any = M, middle: Any = None) -> sp.Expr:
    """H of the interpolant with M >= 2 cells, at most: M hinges, and the constant unless its value `middle` is 0.

    Hinges of weight 0 are left out as well; which ones those are depends on the function.
    """
    constant = 0 if middle is not None and as_formula("hinge_count", "middle", middle).is_zero else 1
    return cells + sp.Integer(constant)


def hinge_norm(values: Iterable[Any], radius: Any, *, spread: Any = 1) -> sp.Expr:
    """C = sum |c_h| of the interpolant through `values` at uniform knots on [-radius, radius], exactly.

    A hinge at x_i of height j_i costs (spread + |x_i|) |j_i|, so that spread |a_0| + |a_1| = 1 (spread = 1 in one
    variable, 2 for t - y); the constant costs |f(x_m)|.
    """
    v = [as_expr(value) for value in values]
    cells = len(v) - 1
    if cells < 2:
        raise UsageError(f"hinge_norm: got {len(v)} values; give the values at 3 or more knots")
    middle, h = cells // 2, cell_width(radius, cells)
    x = [-radius + index * h for index in range(cells + 1)]
    s = [(v[index + 1] - v[index]) / h for index in range(cells)]
    jumps = {index: [s[index] - s[index - 1]] for index in range(1, cells)}
    jumps[middle] = [s[middle], s[middle - 1]]
    hinges = sum((spread + abs(x[index])) * abs(jump) for index, several in jumps.items() for jump in several)
    return abs(v[middle]) + as_expr(hinges)


# The two slopes at the middle knot x_m are mean values of f', and |x_m| <= R / M (0 for even M). The jump at x_i is
# int Lambda_i f'', Lambda_i the hat function of the knots, so sum (spread + |x_i|) |j_i| over the others is at most
# sup|f''| int sum (spread + |x_i|) Lambda_i; without the hat of x_m the sum of hats interpolates |t| from below where
# M is even, and where it is odd the middle cell has (spread + h/2) h/2 in all, no more than int spread + |t| over it.
# Hence at most sup|f''| int (spread + |t|) dt = sup|f''| (2 spread R + R^2).
def hinge_norm_bound(
    radius: Any = R,
    value: Any = sup_f,
    slope: Any = sup_f1,
    curvature: Any = sup_f2,
    *,
    cells: Any = EVEN,
    spread: Any = 1,
) -> sp.Expr:
    """An upper bound of C from |f(x_m)|, sup |f'| and sup |f''|, for f that is C^2 but for a kink at the middle knot.

    The middle knot is 0 where the number of `cells` is even, as it is unless it is given.
    """
    radius, spread = as_expr(radius), as_expr(spread)
    off_centre = sp.Integer(0) if as_expr(cells).is_even else radius / cells
    return value + 2 * (spread + off_centre) * slope + curvature * (2 * spread * radius + radius**2)


@dataclass(frozen=True)
class SmoothPart:
    """The function on [low, high], without kinks: `expr` has the branches of Max, Min and |.| that hold there."""

    low: sp.Expr
    high: sp.Expr
    expr: sp.Expr


def smooth_parts(function: sp.Expr, symbol: sp.Symbol, radius: Any) -> tuple[SmoothPart, ...]:
    """[-radius, radius] cut at the kinks of the function, which are where the branches of Max, Min and |.| meet.

    Raises UsageError where the function jumps, or where its kinks cannot be located (as roots of linear equations).
    """
    radius = as_expr(radius)
    x = sp.Dummy(symbol.name, real=True)
    f = function.xreplace({symbol: x})
    kinks = sorted({kink for node in _kinked(f, x, radius) for kink in _meeting_points(node, x, symbol, radius)})
    edges = [-radius, *kinks, radius]
    return tuple(
        SmoothPart(low, high, _branch(f, x, (low + high) / 2).xreplace({x: symbol}))
        for low, high in itertools.pairwise(edges)
    )


def _kinked(f: sp.Expr, x: sp.Symbol, radius: sp.Expr) -> list[sp.Expr]:
    inside = [node for node in sp.preorder_traversal(f) if x in node.free_symbols]
    for node in inside:
        if not (isinstance(node, sp.Max | sp.Min | sp.Abs) or _is_smooth(node, x, radius)):
            shown = {x: sp.Symbol(x.name)}
            raise _not_smooth(f.xreplace(shown), node.xreplace(shown), "it may jump, or have a pole or another kink")
    return [node for node in inside if isinstance(node, sp.Max | sp.Min | sp.Abs)]


def is_smooth(f: sp.Expr, x: sp.Symbol, radius: Any) -> bool:
    """Whether f is clearly made of operations that are smooth for |x| <= radius; a simplified root hides its kink."""
    t = sp.Dummy(x.name, real=True)
    inside = (node for node in sp.preorder_traversal(f.xreplace({x: t})) if t in node.free_symbols)
    return all(_is_smooth(node, t, as_expr(radius)) for node in inside)


def _is_smooth(node: sp.Basic, x: sp.Symbol, radius: sp.Expr) -> bool:
    """Whether the outermost operation is twice continuously differentiable for |x| <= radius."""
    if isinstance(node, sp.Pow):
        whole_power = bool(node.exp.is_integer and node.exp.is_nonnegative) and x not in node.exp.free_symbols
        away_from_zero = node.exp.is_integer and _is_positive(-node.base, x, radius)
        return whole_power or _is_positive(node.base, x, radius) or bool(away_from_zero)
    if isinstance(node, sp.log):
        return _is_positive(node.args[0], x, radius)
    return isinstance(node, (sp.Symbol, sp.Add, sp.Mul, *CONTINUOUS))


def _is_positive(expression: sp.Expr, x: sp.Symbol, radius: sp.Expr) -> bool:
    """Whether it is clearly > 0 for |x| <= radius; an affine one is least at an end."""
    if expression.is_polynomial(x) and sp.degree(expression, x) == 1:
        return bool(expression.subs(x, radius).is_positive and expression.subs(x, -radius).is_positive)
    return bool(expression.is_positive)


def _meeting_points(node: sp.Expr, x: sp.Symbol, symbol: sp.Symbol, radius: sp.Expr) -> list[sp.Expr]:
    """Where two branches of the node meet inside (-radius, radius)."""
    parts = list(node.args) if not isinstance(node, sp.Abs) else [node.args[0], sp.Integer(0)]
    found = []
    for place, left in enumerate(parts):
        for right in parts[place + 1 :]:
            difference = sp.expand(left - right)
            if difference.has(sp.Max, sp.Min, sp.Abs):
                found += _through_branches(difference, x, symbol, radius)
            elif x in difference.free_symbols:
                found.append(_root(difference, x, symbol))
    return [root for root in found if -radius < root < radius]


def _through_branches(difference: sp.Expr, x: sp.Symbol, symbol: sp.Symbol, radius: sp.Expr) -> list[sp.Expr]:
    """Roots of a difference that is itself piecewise linear: those of each of its parts that lie in the part."""
    roots = []
    for part in smooth_parts(difference, x, radius):
        if x in part.expr.free_symbols:
            root = _root(sp.expand(part.expr), x, symbol)
            roots += [root] if part.low <= root <= part.high else []
    return roots


def _root(difference: sp.Expr, x: sp.Symbol, symbol: sp.Symbol) -> sp.Expr:
    if not difference.is_polynomial(x) or sp.degree(difference, x) != 1:
        raise _not_smooth(difference, symbol, "its branches meet at points that no linear equation gives")
    slope, offset = difference.coeff(x, 1), difference.coeff(x, 0)
    return -offset / slope


def _branch(f: sp.Expr, x: sp.Symbol, inside: sp.Expr) -> sp.Expr:
    """The function with every Max, Min and |.| replaced by the branch that holds at one inner point of a part."""

    def above(left: sp.Expr, right: sp.Expr) -> bool:
        return bool(sp.N(sp.expand(left - right).subs(x, inside), 30) >= 0)

    def chosen(node: sp.Expr) -> sp.Expr:
        if isinstance(node, sp.Abs):
            return node.args[0] if above(node.args[0], sp.Integer(0)) else -node.args[0]
        best, *others = node.args
        for other in others:
            best = other if above(other, best) is isinstance(node, sp.Max) else best
        return best

    return f.replace(lambda node: isinstance(node, sp.Max | sp.Min | sp.Abs), chosen)


def _not_smooth(function: sp.Expr, where: Any, why: str) -> UsageError:
    return UsageError(
        f"{sp.sstr(function)} is not twice continuously differentiable between finitely many known kinks: {why} "
        f"(at {sp.sstr(where)}); take a smoother function"
    )
