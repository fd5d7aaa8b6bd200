"""mpmath: any precision, one point at a time; rationals and floats of the expression are kept exact."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import mpmath as mp
import sympy as sp
from flint import arb, arb_mat, fmpq, fmpz

from . import indexing, loops
from .common import Argument, Backend, check_rows
from .number_printers import ExactPrinter

GUARD_BITS = 32  # extra precision, rounded away at the end


class MpmathPrinter(ExactPrinter):
    backend = "mpmath"

    def choice(self, condition: sp.Basic, value: sp.Expr, otherwise: str) -> str:
        return f"({self._print(value)} if {self._print(condition)} else {otherwise})"

    def quotient(self, above: str, below: str) -> str:
        return f"quotient({above}, {below})"

    def general_power(self, base: sp.Expr, power: sp.Expr) -> str:
        return f"power({self._print(base)}, {self._print(power)})"

    def _print_And(self, expr: sp.Basic) -> str:
        return f"({' and '.join(map(self._print, expr.args))})"

    def _print_Or(self, expr: sp.Basic) -> str:
        return f"({' or '.join(map(self._print, expr.args))})"

    def _print_Not(self, expr: sp.Basic) -> str:
        return f"(not {self._print(expr.args[0])})"


def real_valued(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with nan at its poles and where it is not real: mpmath raises there, or goes on in the complex."""

    def on_reals(*args: Any) -> Any:
        try:
            value = function(*args)
        except (ZeroDivisionError, ValueError, OverflowError):
            return mp.nan
        return real(value) if isinstance(value, mp.mpc) else value

    return on_reals


def real(value: Any) -> Any:
    """Rounded to the current precision; nan where the value is not real, as floating point has it."""
    if isinstance(value, mp.mpc):
        return +value.real if value.imag == 0 else mp.nan
    return +value


def extremum(choose: Callable[..., Any]) -> Callable[..., Any]:
    """max or min that passes nan on, whichever argument it is."""
    return lambda a, b: mp.nan if mp.isnan(a) or mp.isnan(b) else choose(a, b)


def ratio(p: int, q: int) -> Any:
    return mp.mpf(p) / q


@real_valued
def power(base: Any, exponent: Any) -> Any:
    return base**exponent


def heaviside(x: Any, at_zero: Any) -> Any:
    return x if mp.isnan(x) else at_zero if x == 0 else mp.mpf(x > 0)


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
    return mp.expm1(m * mp.log1p(z)) / z if abs(z) < 0.5 else (power(1 + z, m) - 1) / z


def nan_at_zero(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop with nan where it is reversed and has a factor 0."""

    def on_limits(*args: Any) -> Any:
        try:
            return loop(*args)
        except ZeroDivisionError:
            return mp.nan

    return on_limits


def inverse(A: Any) -> Any:
    """A matrix of nan where it is singular."""
    try:
        return mp.inverse(A)
    except ZeroDivisionError:
        return mp.matrix(A.rows, A.cols) + mp.nan


def kron(A: Any, B: Any) -> Any:
    return mp.matrix([[a * b for a in row for b in other] for row in A.tolist() for other in B.tolist()])


def hadamard(A: Any, B: Any) -> Any:
    return mp.matrix([[A[i, j] * B[i, j] for j in range(A.cols)] for i in range(A.rows)])


FUNCTIONS: dict[str, Any] = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin,
    "acos": mp.acos, "atan": mp.atan, "atan2": mp.atan2, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "sign": mp.sign, "floor": mp.floor, "ceiling": mp.ceil,
    "expm1": mp.expm1, "log1p": mp.log1p, "erf": mp.erf, "erfc": mp.erfc, "gamma": mp.gamma,
    "loggamma": mp.loggamma, "polygamma": mp.polygamma, "factorial": mp.factorial, "binomial": mp.binomial,
    "lambertw": mp.lambertw, "zeta": mp.zeta, "softplus": softplus, "sigmoid": lambda u: 1 / (1 + mp.exp(-u)),
    "logsumexp": logsumexp, "geometric": geometric, "quotient": lambda above, below: above / below,
}  # fmt: skip

NAMES: dict[str, Any] = {name: real_valued(function) for name, function in FUNCTIONS.items()} | {
    "number": mp.mpf, "ratio": ratio, "inf": mp.inf, "nan": mp.nan, "absolute": abs, "maximum": extremum(max),
    "minimum": extremum(min), "at_least": extremum(max), "at_most": extremum(min), "heaviside": heaviside,
    "power": power, "int_power": power,
    **{name: nan_at_zero(loop) for name, loop in loops.loops_of(lambda like, x: mp.mpf(x)).items()},
    "pi": lambda: +mp.pi, "e": lambda: +mp.e, "EulerGamma": lambda: +mp.euler, "Catalan": lambda: +mp.catalan,
    "GoldenRatio": lambda: +mp.phi, "matrix": lambda like, rows: mp.matrix(rows), "scale": lambda s, A: s * A,
    "matmul": lambda A, B: A * B, "transpose": lambda A: A.T, "inverse": inverse,
    "matrix_power": lambda A, power: A**power, "trace": lambda A: mp.fsum(A[i, i] for i in range(A.rows)),
    "determinant": mp.det, "kron": kron, "hadamard": hadamard,
    "entry": lambda A, i, j: A[loops.as_index(i), loops.as_index(j)],
    **indexing.elements_by(lambda A, i, j: A[i, j]),
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
            numbers = [_converted(*pair) for pair in zip(arguments, values, strict=True)]
            result = self._on_balls(numbers, bits + GUARD_BITS)
            if result is None:
                result = function(None, None, *numbers)
        with mp.workprec(bits):
            if isinstance(result, bool):
                return result
            return result.apply(real) if isinstance(result, mp.matrix) else real(result)

    def _on_balls(self, numbers: Sequence[Any], bits: int) -> Any:
        """To that many bits, whatever cancels; None where balls give none."""
        if self.points is None or not all(mp.isfinite(entry) for number in numbers for entry in _entries(number)):
            return None
        found = self.points.ball([_as_balls(number) for number in numbers], bits)
        if isinstance(found, arb_mat):
            return mp.matrix([[_as_mpf(entry) for entry in row] for row in found.tolist()])
        return _as_mpf(found) if isinstance(found, arb) else found


def _entries(number: Any) -> Sequence[Any]:
    return list(number) if isinstance(number, mp.matrix) else [number]


def _as_balls(number: Any) -> Any:
    if isinstance(number, mp.matrix):
        return [[_as_balls(entry) for entry in row] for row in number.tolist()]
    sign, mantissa, exponent, _ = number._mpf_
    return arb((-1) ** sign * mantissa) * arb(2) ** exponent


def _as_mpf(ball: arb) -> Any:
    return mp.mpf(0) if ball.contains(0) else mp.ldexp(*map(int, ball.mid().man_exp()))


def _converted(argument: Argument, value: Any) -> Any:
    if not argument.shape:
        return exact(argument, value)
    rows = value.tolist() if hasattr(value, "tolist") else value
    check_rows(argument, rows)
    if not rows:
        return mp.matrix(*argument.shape)
    return mp.matrix([[exact(argument, entry) for entry in row] for row in rows])


def exact(argument: Argument, value: Any) -> Any:
    """The given number with all its digits; through a Python float only if it has no other form."""
    if isinstance(value, sp.Expr) and value.is_extended_real and value.is_number:
        return exact_number(value)
    if isinstance(value, fmpq):
        return ratio(int(value.p), int(value.q))
    if isinstance(value, Integral | fmpz):
        return mp.mpf(int(value))
    if isinstance(value, arb) and value.is_exact() and value.is_finite():
        return mp.ldexp(*map(int, value.man_exp()))
    if isinstance(value, str | arb | sp.Basic) or not hasattr(value, "__float__"):
        raise TypeError(f"{argument.name}: expected a real number, got {type(value).__name__}")
    if hasattr(value, "as_integer_ratio") and mp.isfinite(float(value)):
        return ratio(*value.as_integer_ratio())
    return mp.mpf(value if isinstance(value, mp.mpf) else float(value))


def exact_number(value: sp.Expr) -> Any:
    if isinstance(value, sp.Number) and value.is_finite:
        rational = sp.Rational(value)
        return ratio(int(rational.p), int(rational.q))
    return mp.mpf(value.evalf(mp.mp.dps))
