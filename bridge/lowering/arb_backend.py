"""Arb: rigorous balls through python-flint. The output ball contains the value at every point of the input balls."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy as sp
from flint import arb, arb_mat, ctx, fmpq, fmpz

from numeric.balls import Arb, rational
from numeric.balls.decisions import at_most, both, either, equal, less, negation
from numeric.balls.functions import ONE_ARGUMENT, SEVERAL_ARGUMENTS, hull

from . import indexing, loops
from .common import Argument, Backend, check_rows
from .number_printers import ExactPrinter

DEFAULT_BITS = 128
LARGEST_ROOT = 1000  # beyond it, as for the exponent 0.1 with its denominator 2**55, logarithms are cheaper


class ArbPrinter(ExactPrinter):
    backend = "arb"

    RELATIONS: ClassVar = {
        "<": "less({0}, {1})",
        "<=": "no_more({0}, {1})",
        ">": "less({1}, {0})",
        ">=": "no_more({1}, {0})",
        "==": "equal({0}, {1})",
        "!=": "negation(equal({0}, {1}))",
    }

    def general_power(self, base: sp.Expr, power: sp.Expr) -> str:
        if power.is_Rational and power.q <= LARGEST_ROOT:
            return f"rational_power({self._print(base)}, {power.p}, {power.q})"
        return f"power({self._print(base)}, {self._print(power)})"

    def relation(self, operator: str, left: sp.Basic, right: sp.Basic) -> str:
        return self.RELATIONS[operator].format(self._print(left), self._print(right))

    def _print_Branches(self, expr: sp.Basic) -> str:
        conditions = map(self._print, expr.args[::2])
        values = (f"lambda: {self._print(value)}" for value in expr.args[1::2])
        parts = (part for pair in zip(conditions, values, strict=True) for part in pair)
        return f"hull_of_branches({', '.join(parts)})"


def kron(A: arb_mat, B: arb_mat) -> arb_mat:
    rows = [[a * b for a in row for b in other] for row in A.tolist() for other in B.tolist()]
    return arb_mat(rows)


def hadamard(A: arb_mat, B: arb_mat) -> arb_mat:
    pairs = zip(A.tolist(), B.tolist(), strict=True)
    return arb_mat([[a * b for a, b in zip(row, other, strict=True)] for row, other in pairs])


def inverse(A: arb_mat) -> arb_mat:
    """A matrix of nan where the balls contain a singular matrix."""
    try:
        return A.inv()
    except ZeroDivisionError:
        return filled(None, A.nrows(), A.ncols(), "nan")


def matrix_power(A: arb_mat, power: int) -> arb_mat:
    result = identity(None, A.nrows(), A.ncols())
    for _ in range(power):
        result = result * A
    return result


def identity(like: Any, n: int, m: int) -> arb_mat:
    return arb_mat([[int(i == j) for j in range(m)] for i in range(n)])


def filled(like: Any, n: int, m: int, value: Any) -> arb_mat:
    return arb_mat([[arb(value)] * m for _ in range(n)])


def hull_of_branches(*parts: Any) -> Arb:
    """(c_1, e_1, c_2, e_2, ...): the hull of the e_i (functions) whose branch some point of the balls may take."""
    possible = []
    for condition, value in zip(parts[::2], parts[1::2], strict=True):
        if condition is not False:
            possible.append(value())
        if condition is True:
            return hull(*possible)
    return hull(*possible, arb.nan())


def as_integer(limit: Any) -> int:
    """A limit or an index as a Python integer; ValueError for a ball that is not exactly one."""
    whole = limit.unique_fmpz() if isinstance(limit, arb) and limit.is_exact() else limit
    if not isinstance(whole, int | fmpz):
        raise ValueError(f"limits and indices must be exact integers, got {limit}")
    return int(whole)


NAMES: dict[str, Any] = {
    **ONE_ARGUMENT, **SEVERAL_ARGUMENTS,
    "number": arb, "ratio": lambda p, q: arb(fmpq(p, q)), "inf": arb("inf"), "nan": arb("nan"),
    "at_least": arb.max, "at_most": arb.min,
    "tanh": arb.tanh,  # of wide balls too wide, but eight times as fast: a search for a supremum cuts them anyway
    "less": less, "no_more": at_most, "equal": equal, "negation": negation, "both": both, "either": either,
    "hull_of_branches": hull_of_branches, **loops.loops_of(lambda like, x: arb(x), as_integer=as_integer),
    "pi": arb.pi, "e": arb.const_e, "EulerGamma": arb.const_euler, "Catalan": arb.const_catalan,
    "GoldenRatio": lambda: (1 + arb(5).sqrt()) / 2,
    "matrix": lambda like, rows: arb_mat(rows), "scale": lambda s, A: A * s, "matmul": lambda A, B: A * B,
    "transpose": arb_mat.transpose, "inverse": inverse, "matrix_power": matrix_power, "trace": arb_mat.trace,
    "determinant": arb_mat.det, "kron": kron, "hadamard": hadamard, "identity": identity, "filled": filled,
    **indexing.elements_by(lambda A, i, j: A[i, j], as_integer),
    "entry": lambda A, i, j: A[loops.as_index(as_integer(i)), loops.as_index(as_integer(j))],
}  # fmt: skip


class ArbBackend(Backend):
    """Exact numbers or balls in, balls (or arb_mat) out, at `bits` bits; flint's own precision is restored."""

    name = "arb"
    names = NAMES

    def __init__(self, bits: int | None) -> None:
        self._bits = bits or DEFAULT_BITS

    def call(self, function: Callable[..., Any], arguments: Sequence[Argument], values: Sequence[Any]) -> Any:
        with ctx.workprec(self._bits):
            return function(None, None, *(converted(*pair) for pair in zip(arguments, values, strict=True)))


def converted(argument: Argument, value: Any) -> Any:
    if not argument.shape:
        return ball(argument, value)
    rows = value.tolist() if hasattr(value, "tolist") else value
    check_rows(argument, rows)
    if not rows:
        return arb_mat(*argument.shape)
    return arb_mat([[ball(argument, entry) for entry in row] for row in rows])


def ball(argument: Argument, value: Any) -> arb:
    """The number as a ball: rationals rounded outward, floats as exact binary rationals."""
    if isinstance(value, arb):
        return value
    if isinstance(value, int | float | fmpz | fmpq):
        return arb(value)
    if isinstance(value, Fraction):
        return rational(value)
    if isinstance(value, np.integer):
        return arb(int(value))
    if isinstance(value, np.floating):  # a long double is not a Python float
        return arb(fmpq(*value.as_integer_ratio())) if np.isfinite(value) else arb(float(value))
    if isinstance(value, sp.Number) and value.is_finite:
        return rational(sp.Rational(value))
    raise TypeError(
        f"{argument.name}: expected arb, int, Fraction, float or a SymPy number, got {type(value).__name__}"
    )
