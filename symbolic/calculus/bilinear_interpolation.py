"""Interpolation of a function of two variables at the knots of a grid, in each variable by straight lines.

I_u interpolates in u alone. With I = I_u I_v, I g - g = (I_u g - g) + I_u (I_v g - g), and I_u averages: the ranges of
I_u g - g and of I_v g - g add up. In the place of g stands I g + c, with c the middle of that range.
"""

from typing import Any

import sympy as sp

from symbolic.derivations.derivation import as_expr

Range = tuple[Any, Any]  # at least the first and at most the second number


# On a cell [t, t + h], I_u g - g = integral of G(u, x) dg_u(x), G the Green's function of the cell, which is at least
# 0, at most h/4, and has the integral (u - t)(t + h - u)/2 <= h^2/8. So a second derivative in [a, b] adds what is in
# h^2/8 [min(a, 0), max(b, 0)], and a kink where g_u jumps by a number in [c, d] adds what is in h/4 [min(c, 0),
# max(d, 0)]. Equality: u^2 and abs(u) at the middle of a cell.
def secant_range(width: Any, bend: Range, kink: Range = (0, 0)) -> tuple[sp.Expr, sp.Expr]:
    """Of I_u g - g on cells of that width, where g_uu is in `bend`, and in `kink` the sum of all jumps of g_u."""
    h = as_expr(width)
    low = h**2 / 8 * sp.Min(as_expr(bend[0]), 0) + h / 4 * sp.Min(as_expr(kink[0]), 0)
    high = h**2 / 8 * sp.Max(as_expr(bend[1]), 0) + h / 4 * sp.Max(as_expr(kink[1]), 0)
    return low, high


# Half the lengths of the ranges of both variables. Equality: u^2 + v^2, at knots and at middles of cells.
def centred_error(width: Any, bends: Any, kinks: Any) -> sp.Expr:
    """At least sup |I g + c - g|: `bends` and `kinks` are the lengths of the ranges of bends and kinks, each with 0."""
    return as_expr(width) ** 2 / 16 * as_expr(bends) + as_expr(width) / 8 * as_expr(kinks)


# Where all that is known of g_u is that it is in [a, b], a kink of any jump in [a - b, b - a] bounds as much: at
# u = t + s h, I_u g - g = (1 - s)(g(t) - g(u)) + s (g(t + h) - g(u)) is s (1 - s) h times the difference of two mean
# slopes. Equality: a kink with the slopes a and b at the middle of a cell.
def kink_of_slopes(slope: Range) -> Range:
    """The range of jumps in the place of second derivatives that are not known."""
    most = as_expr(slope[1]) - as_expr(slope[0])
    return -most, most
