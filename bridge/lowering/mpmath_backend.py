"""mpmath: any precision, one point at a time; rationals and floats of the expression are kept exact."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import sympy as sp

from . import loops
from .common import Argument, Backend, check_matrix_shape
from .number_printers import ExactPrinter

GUARD_BITS = 32  # carried beyond the precision asked for, rounded away at the end


class MpmathPrinter(ExactPrinter):
    backend = "mpmath"

    def choice(self, condition: sp.Basic, value: sp.Expr, otherwise: str) -> str:
        return f"({self._print(value)} if {self._print(condition)} else {otherwise})"

    def _print_And(self, expr: sp.Basic) -> str:
        return f"({' and '.join(map(self._print, expr.args))})"

    def _print_Or(self, expr: sp.Basic) -> str:
        return f"({' or '.join(map(self._print, expr.args))})"

    def _print_Not(self, expr: sp.Basic) -> str:
        return f"(not {self._print(expr.args[0])})"


def ratio(p: int, q: int) -> Any:
    return mp.mpf(p) / q


def heaviside(x: Any, at_zero: Any) -> Any:
    return at_zero if x == 0 else mp.mpf(x > 0)


def softplus(u: Any) -> Any:
    return u + mp.log1p(mp.exp(-u)) if u > 0 else mp.log1p(mp.exp(u))


def logsumexp(*exponents: Any) -> Any:
    """The largest exponent taken out once: what remains is log(1 + something small), by log1p."""
    highest, *rest = sorted(exponents, reverse=True)
    return highest + mp.log1p(mp.fsum(mp.exp(w - highest) for w in rest))


def geometric(z: Any, m: Any) -> Any:
    """((1 + z)^m - 1)/z, and m at z = 0."""
    if z == 0:
        return m
    return mp.expm1(m * mp.log1p(z)) / z if abs(z) < 0.5 else ((1 + z) ** m - 1) / z


def loop_sum(like: Any, body: Any, masked: Any, first: Any, last: Any) -> Any:
    return loops.sum_of(lambda k: body(mp.mpf(k)), loops.as_integer(first), loops.as_integer(last), mp.mpf(0))


def loop_product(like: Any, body: Any, masked: Any, first: Any, last: Any) -> Any:
    return loops.product_of(lambda k: body(mp.mpf(k)), loops.as_integer(first), loops.as_integer(last), mp.mpf(1))


def kron(A: Any, B: Any) -> Any:
    return mp.matrix([[a * b for a in row for b in other] for row in A.tolist() for other in B.tolist()])


def hadamard(A: Any, B: Any) -> Any:
    return mp.matrix([[A[i, j] * B[i, j] for j in range(A.cols)] for i in range(A.rows)])


NAMES: dict[str, Any] = {
    "number": mp.mpf, "ratio": ratio, "inf": mp.inf, "nan": mp.nan, "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt,
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "atan2": mp.atan2, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh,
    "atanh": mp.atanh, "absolute": abs, "sign": mp.sign, "floor": mp.floor, "ceiling": mp.ceil, "expm1": mp.expm1,
    "log1p": mp.log1p, "erf": mp.erf, "erfc": mp.erfc, "gamma": mp.gamma, "loggamma": mp.loggamma,
    "polygamma": mp.polygamma, "factorial": mp.factorial, "binomial": mp.binomial, "lambertw": mp.lambertw,
    "maximum": max, "minimum": min, "at_least": max, "at_most": min, "heaviside": heaviside,
    "int_power": lambda x, power: x**power, "softplus": softplus, "sigmoid": lambda u: 1 / (1 + mp.exp(-u)),
    "logsumexp": logsumexp, "geometric": geometric, "loop_sum": loop_sum, "loop_product": loop_product,
    "pi": lambda: +mp.pi, "e": lambda: +mp.e, "EulerGamma": lambda: +mp.euler, "Catalan": lambda: +mp.catalan,
    "GoldenRatio": lambda: +mp.phi, "matrix": lambda like, rows: mp.matrix(rows), "scale": lambda s, A: s * A,
    "matmul": lambda A, B: A * B, "transpose": lambda A: A.T, "inverse": mp.inverse,
    "matrix_power": lambda A, power: A**power, "trace": lambda A: mp.fsum(A[i, i] for i in range(A.rows)),
    "determinant": mp.det, "kron": kron, "hadamard": hadamard,
    "entry": lambda A, i, j: A[loops.as_integer(i), loops.as_integer(j)],
    "identity": lambda like, n, m: mp.eye(n), "filled": lambda like, n, m, value: mp.matrix(n, m) + value,
}  # fmt: skip


class MpmathBackend(Backend):
    """Numbers in, mpf (or mp.matrix) out, at `bits` bits or else at the precision of mpmath's context when called."""

    name = "mpmath"
    names = NAMES

    def __init__(self, bits: int | None) -> None:
        self._bits = bits

    def call(self, function: Callable[..., Any], arguments: Sequence[Argument], values: Sequence[Any]) -> Any:
        bits = self._bits or mp.mp.prec
        with mp.workprec(bits + GUARD_BITS):
            result = function(None, *(_converted(*pair) for pair in zip(arguments, values, strict=True)))
        with mp.workprec(bits):
            if isinstance(result, bool):
                return result
            return result.apply(real) if isinstance(result, mp.matrix) else real(result)


def real(value: Any) -> Any:
    """Rounded to the current precision; nan where the value is not real, as floating point has it."""
    if isinstance(value, mp.mpc):
        return +value.real if value.imag == 0 else mp.nan
    return +value


def _converted(argument: Argument, value: Any) -> Any:
    if not argument.shape:
        return exact(argument, value)
    rows = value.tolist() if hasattr(value, "tolist") else value
    check_matrix_shape(argument, (len(rows), len(rows[0])))
    return mp.matrix([[exact(argument, entry) for entry in row] for row in rows])


def exact(argument: Argument, value: Any) -> Any:
    if isinstance(value, Fraction):
        return ratio(value.numerator, value.denominator)
    if isinstance(value, sp.Number) and value.is_finite:
        exactly = sp.Rational(value)
        return ratio(int(exactly.p), int(exactly.q))
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise TypeError(f"{argument.name}: wanted a real number, got {type(value).__name__}")
    return mp.mpf(value) if isinstance(value, int | float | mp.mpf) else mp.mpf(float(value))
