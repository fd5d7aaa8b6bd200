"""numpy: float64 by default, vectorised over batches that broadcast. Special functions go through torch on the CPU."""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
import torch

from . import indexing, loops, special
from .common import Argument, Backend, as_float, check_matrix_shape, entry, kron
from .conditioning import Watch, watched_functions
from .number_printers import FloatPrinter

BLOCK = 8192  # points evaluated at a time: a dozen intermediate results of 64 KiB fit the second-level cache

Array = Any  # np.ndarray or a numpy scalar: numpy turns 0-d results into scalars


class NumpyPrinter(FloatPrinter):
    backend = "numpy"


def through_torch(function: Callable[..., torch.Tensor]) -> Callable[..., Array]:
    """The same function on arrays, sharing memory where numpy allows it; plain numbers are passed on."""

    def on_arrays(*args: Array) -> Array:
        with torch.no_grad():
            return function(
                *(_tensor(arg) if isinstance(arg, np.ndarray | np.generic) else arg for arg in args)
            ).numpy()

    return on_arrays


def _tensor(array: Array) -> torch.Tensor:
    whole = np.ascontiguousarray(array).reshape(np.shape(array))
    return torch.from_numpy(whole if whole.flags.writeable else whole.copy())


def binomial(n: Array, k: Array) -> Array:
    return through_torch(special.binomial)(np.asarray(n), np.asarray(k))


def atan2(y: Array, x: Array) -> Array:
    """The sign of a zero does not count."""
    return np.arctan2(y + 0.0, x + 0.0)


def at_least(x: Array, bound: float) -> Array:
    return np.maximum(x, bound)


def at_most(x: Array, bound: float) -> Array:
    return np.minimum(x, bound)


def where(like: Array, condition: Array, value: Array, otherwise: Array) -> Array:
    return np.where(condition, np.asarray(value, like.dtype), np.asarray(otherwise, like.dtype))


def int_power(x: Array, power: int) -> Array:
    """Repeated squaring: numpy's own x**3 costs as much as a logarithm and an exponential."""
    if power > 64:
        return x ** float(power)
    result = None
    while power:
        if power & 1:
            result = x if result is None else result * x
        power >>= 1
        if power:
            x = x * x
    return result


def heaviside(x: Array, at_zero: Array) -> Array:
    return np.heaviside(x, at_zero)


def softplus(u: Array) -> Array:
    return np.maximum(u, 0.0) + np.log1p(np.exp(-np.abs(u)))


def sigmoid(u: Array) -> Array:
    small = np.exp(-np.abs(u))  # at most 1: neither branch overflows
    return np.where(u >= 0, 1.0, small) / (1.0 + small)


def logsumexp(*exponents: Array) -> Array:
    highest = functools.reduce(np.maximum, exponents)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    return np.log(sum(np.exp(w - shift) for w in exponents)) + shift


def geometric(z: Array, m: Array) -> Array:
    """((1 + z)^m - 1)/z, and m at z = 0."""
    exact = np.where(z == 0, 1.0, z)
    near = np.expm1(m * np.log1p(np.where(np.abs(z) < 0.5, z, 0.0))) / exact
    return np.where(z == 0, m, np.where(np.abs(z) < 0.5, near, ((1.0 + z) ** m - 1.0) / exact))


def common_shape(values: Sequence[Array]) -> tuple[int, ...]:
    """The shape to which they broadcast. For plain numbers (the state of a flow) numpy is not called."""
    shapes = [shape for value in values if (shape := np.shape(value))]
    return np.broadcast_shapes(*shapes) if shapes else ()


def matrix(like: Array, rows: list[list[Array]]) -> Array:
    """Shape (..., n, m) from entries whose batches broadcast."""
    batch = common_shape([entry for row in rows for entry in row])
    result = np.empty((*batch, len(rows), len(rows[0])), like.dtype)
    for i, row in enumerate(rows):
        for j, each in enumerate(row):
            result[..., i, j] = each
    return result


def scale(scalar: Array, A: Array) -> Array:
    return np.asarray(scalar)[..., None, None] * A


def inverse(A: Array) -> Array:
    """nan where a matrix is singular, which numpy raises for the whole batch."""
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        regular = np.linalg.matrix_rank(A) == A.shape[-1]
        whole = np.where(regular[..., None, None], A, np.eye(A.shape[-1], dtype=A.dtype))
        return np.where(regular[..., None, None], np.linalg.inv(whole), math.nan)


def largest_index(value: Array) -> float:
    """Beyond it not every whole number is one of the dtype."""
    return 2 / float(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else math.inf


NAMES: dict[str, Any] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": atan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "absolute": np.abs, "sign": np.sign,
    "floor": np.floor, "ceiling": np.ceil, "expm1": np.expm1, "log1p": np.log1p, "maximum": np.maximum,
    "minimum": np.minimum, "erf": through_torch(torch.special.erf), "erfc": through_torch(torch.special.erfc),
    "gamma": through_torch(special.gamma), "loggamma": through_torch(special.loggamma),
    "polygamma": through_torch(special.polygamma), "factorial": through_torch(special.factorial),
    "binomial": binomial, "lambertw": through_torch(special.lambertw), "at_least": at_least, "at_most": at_most,
    "where": where, "int_power": int_power, "heaviside": heaviside, "softplus": softplus, "sigmoid": sigmoid,
    "logsumexp": logsumexp, "geometric": geometric, **loops.loops_of(lambda like, x: like.dtype.type(x), np.where),
    "both": np.logical_and, "either": np.logical_or, "negation": np.logical_not, "matrix": matrix, "scale": scale,
    "matmul": np.matmul, "transpose": lambda A: np.swapaxes(A, -1, -2), "inverse": inverse,
    "matrix_power": np.linalg.matrix_power, "trace": lambda A: np.trace(A, axis1=-2, axis2=-1),
    "determinant": np.linalg.det, "kron": kron, "hadamard": np.multiply, "entry": entry,
    **indexing.elements_by(entry, largest=largest_index), "branch_that_holds": indexing.branch_that_holds(where),
    "identity": lambda like, n, m: np.eye(n, m, dtype=like.dtype),
    "filled": lambda like, n, m, value: np.full((n, m), value, like.dtype), "inf": math.inf, "nan": math.nan,
}  # fmt: skip


NAMES |= watched_functions(NAMES)


class NumpyBackend(Backend):
    """Arrays in, arrays out; `dtype` is float64 unless given. IEEE rules, silently: overflow is inf, 0/0 is nan."""

    name = "numpy"
    names = NAMES

    def __init__(self, dtype: Any, core_shape: tuple[int, ...]) -> None:
        self._like = np.zeros((), dtype or np.float64)
        if self._like.dtype.kind != "f":
            raise TypeError(f"lower(backend='numpy'): dtype must be a real floating dtype, got {dtype!r}")
        self.core_shape = core_shape

    def call(self, function: Callable[..., Any], arguments: Sequence[Argument], values: Sequence[Any]) -> Any:
        arrays = [self._array(*pair) for pair in zip(arguments, values, strict=True)]
        with np.errstate(all="ignore"):
            result = np.asarray(self._evaluated(function, arguments, arrays))
        cores = [
            array.shape[: array.ndim - len(argument.shape)] for argument, array in zip(arguments, arrays, strict=True)
        ]
        shape = (np.broadcast_shapes(*cores) if any(cores) else ()) + self.core_shape
        if result.dtype != bool:
            result = result.astype(self._like.dtype, copy=False)
        if result.shape != shape:
            result = np.broadcast_to(result, shape).copy()
        return result if shape else result[()]

    def _evaluated(self, function: Callable[..., Any], arguments: Sequence[Argument], arrays: list[Array]) -> Array:
        """In blocks where everything is element by element: intermediate results then stay in the cache."""
        matrices = self.core_shape or any(argument.shape for argument in arguments)
        batch = () if matrices else common_shape(arrays)
        if math.prod(batch) < 2 * BLOCK:
            return self._run(function, arguments, arrays)
        flat = [array if array.ndim == 0 else np.broadcast_to(array, batch).reshape(-1) for array in arrays]
        blocks = (slice(start, start + BLOCK) for start in range(0, math.prod(batch), BLOCK))
        parts = ([array[block] if array.ndim else array for array in flat] for block in blocks)
        results = [self._run(function, arguments, part) for part in parts]
        return np.concatenate(results).reshape(batch) if np.ndim(results[0]) else results[0]

    def _run(self, function: Callable[..., Any], arguments: Sequence[Argument], arrays: Sequence[Array]) -> Array:
        watch = Watch() if self.points is not None and self._like.dtype == np.float64 else None
        result = function(watch, self._like, *arrays)
        if watch is None or self.points is None:
            return result
        watch.flag_ends(self, arguments, arrays, result)
        return self.points.mended(result, watch.mask, arrays, self.core_shape) if np.any(watch.mask) else result

    def _array(self, argument: Argument, value: Any) -> Any:
        if isinstance(value, float) and not argument.shape:  # np.float64 among them; a flow evaluates thousands
            return self._like.dtype.type(value)
        if isinstance(value, int | Fraction | sp.Number):  # an int may be larger than numpy's own
            value = as_float(argument, value)
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{argument.name}: expected real numbers, got {array.dtype}")
        check_matrix_shape(argument, array.shape)
        return array.astype(self._like.dtype, copy=False)
