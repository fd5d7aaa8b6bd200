"""Numbers for the letters of the chain, and plain evaluation of its expressions."""

import functools
import math
from typing import Any

import sympy as sp

VALUES: dict[str, float] = {
    "K": 3,
    "d": 2,
    "d_x": 4,
    "d_y": 2,
    "L_r": 1.1,
    "L_r1": 0.77,
    "L_l": 2.0,
    "eps_r": 1e-2,
    "eps_r1": 3e-2,
    "eps_l": 5e-3,
    "b_r": 0.9,
    "b_r1": 1.05,
    "b_l": 2.5,
    "rho": 1.3,
    "rho_N": 1.1,
    "nu": 0.8,
    "P_0": 1.2,
    "P_hat": 1.8,
    "eta": 0.1,
    "B_v": 0.6,
    "B_x": 1.2,
    "B_y": 0.7,
    "B_r": 1.2,
    "B_r1": 0.9,
    "B_l": 2.6,
    "eps": 0.05,
    "n": 5,
    "C_1": 3.0,
    "C_2": 2.0,
    "C_3": 5.0,
    "R_3": 1.5,
    "M_1": 8,
    "M_2": 9,
    "M_3": 7,
}


@functools.cache
def _compiled(expression: sp.Expr) -> tuple[tuple[sp.Symbol, ...], Any]:
    arguments = tuple(sorted(expression.free_symbols, key=str))
    return arguments, sp.lambdify(arguments, expression, modules=["math"])


def at(expression: sp.Expr, **values: float) -> float:
    """The expression in Python's own floats."""
    known = {**VALUES, **values}
    arguments, function = _compiled(sp.sympify(expression))
    return float(function(*(known[symbol.name] for symbol in arguments)))


def close(one: float, other: float, tolerance: float = 1e-11) -> bool:
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-15)
