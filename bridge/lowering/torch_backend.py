"""torch: batched, differentiable, on the device and in the dtype of the input tensors."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from . import indexing, loops, special
from .common import Argument, Backend, as_float, check_matrix_shape, entry, kron
from .conditioning import Watch, watched_functions
from .number_printers import FloatPrinter


class TorchPrinter(FloatPrinter):
    backend = "torch"

    def integer_power(self, base: sp.Expr, power: int) -> str:
        return f"{self.operand(base)}**{power}"


def _on(like: Tensor, value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else torch.full((), value, dtype=like.dtype, device=like.device)


def where(like: Tensor, condition: Any, value: Any, otherwise: Any) -> Tensor:
    mask = condition if isinstance(condition, Tensor) else torch.tensor(condition, dtype=torch.bool, device=like.device)
    return torch.where(mask, _on(like, value), _on(like, otherwise))


def at_least(x: Tensor, bound: float) -> Tensor:
    """max(x, bound) with derivative 0 at the tie; a nan stays nan."""
    return torch.where(x <= bound, torch.full_like(x, bound), x)


def at_most(x: Tensor, bound: float) -> Tensor:
    """min(x, bound) with derivative 0 at the tie; a nan stays nan."""
    return torch.where(x >= bound, torch.full_like(x, bound), x)


def sign(x: Tensor) -> Tensor:
    return torch.where(torch.isnan(x), x, torch.sign(x))  # torch's own is 0 at nan


def heaviside(x: Tensor, at_zero: Any) -> Tensor:
    step = (sign(x) + 1) / 2  # through sign, so that a gradient exists: it is zero
    return torch.where(x == 0, _on(x, at_zero), step)


def softplus(u: Tensor) -> Tensor:
    return -torch.nn.functional.logsigmoid(-u)  # torch's softplus is linear above its threshold: off by 2e-9


def logsumexp(*exponents: Any) -> Tensor:
    like = next(w for w in exponents if isinstance(w, Tensor))
    on = [_on(like, w) for w in exponents]
    return torch.logaddexp(*on) if len(on) == 2 else torch.logsumexp(torch.stack(torch.broadcast_tensors(*on), -1), -1)


def geometric(z: Tensor, m: Any) -> Tensor:
    return special.geometric(_on(m, z) if isinstance(m, Tensor) else z, _on(z, m))


def binomial(n: Any, k: Any) -> Tensor:
    like = n if isinstance(n, Tensor) else k
    return special.binomial(_on(like, n), _on(like, k))


def atan2(y: Any, x: Any) -> Tensor:
    like = y if isinstance(y, Tensor) else x
    return torch.atan2(_on(like, y) + 0.0, _on(like, x) + 0.0)  # the sign of a zero does not count


def matrix(like: Tensor, rows: list[list[Any]]) -> Tensor:
    """Shape (..., n, m) from entries whose batches broadcast; stacked, so gradients pass."""
    entries = torch.broadcast_tensors(*(_on(like, entry) for row in rows for entry in row))
    flat = torch.stack(entries, -1)  # (..., n * m)
    return flat.reshape(*flat.shape[:-1], len(rows), len(rows[0]))


def inverse(A: Tensor) -> Tensor:
    """nan or inf where a matrix is singular, which torch raises for the whole batch."""
    found: Tensor = torch.linalg.inv_ex(A)[0]
    return found


def scale(scalar: Any, A: Tensor) -> Tensor:
    return scalar[..., None, None] * A if isinstance(scalar, Tensor) else scalar * A


def largest_index(value: Tensor) -> float:
    """Beyond it not every whole number is one of the dtype."""
    return 2 / torch.finfo(value.dtype).eps if value.is_floating_point() else math.inf


NAMES: dict[str, Any] = {
    "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
    "asin": torch.asin, "acos": torch.acos, "atan": torch.atan, "atan2": atan2, "sinh": torch.sinh,
    "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
    "absolute": torch.abs, "sign": sign, "floor": torch.floor, "ceiling": torch.ceil, "expm1": torch.expm1,
    "log1p": torch.log1p, "maximum": torch.maximum, "minimum": torch.minimum, "erf": torch.special.erf,
    "erfc": torch.special.erfc, "gamma": special.gamma, "loggamma": special.loggamma,
    "polygamma": special.polygamma, "factorial": special.factorial, "binomial": binomial,
    "lambertw": special.lambertw, "at_least": at_least, "at_most": at_most, "where": where, "heaviside": heaviside,
    "softplus": softplus, "sigmoid": torch.sigmoid, "logsumexp": logsumexp, "geometric": geometric,
    **loops.loops_of(_on, torch.where),
    "both": torch.logical_and, "either": torch.logical_or, "negation": torch.logical_not, "matrix": matrix,
    "scale": scale, "matmul": torch.matmul, "transpose": lambda A: A.transpose(-1, -2), "inverse": inverse,
    "matrix_power": torch.linalg.matrix_power, "trace": lambda A: A.diagonal(dim1=-2, dim2=-1).sum(-1),
    "determinant": torch.linalg.det, "kron": kron, "hadamard": torch.mul, "entry": entry,
    **indexing.elements_by(entry, largest=largest_index), "branch_that_holds": indexing.branch_that_holds(where),
    "identity": lambda like, n, m: torch.eye(n, m, dtype=like.dtype, device=like.device),
    "filled": lambda like, n, m, value: like.new_full((n, m), float(value)), "inf": math.inf, "nan": math.nan,
}  # fmt: skip


NAMES |= watched_functions(NAMES)


class TorchBackend(Backend):
    """Tensors in, tensors out. Plain numbers and integer tensors take the dtype and device of the floating tensors."""

    name = "torch"
    names = NAMES

    def __init__(self, dtype: Any, device: Any, core_shape: tuple[int, ...]) -> None:
        if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
            raise TypeError(f"lower(backend='torch'): dtype must be a floating torch.dtype, got {dtype!r}")
        self._dtype = dtype
        self._device = None if device is None else torch.device(device)
        self.core_shape = core_shape

    def call(self, function: Callable[..., Any], arguments: Sequence[Argument], values: Sequence[Any]) -> Any:
        if self._dtype is None and self._device is None and _are_alike(arguments, values):
            like, tensors = _number_of(values[0].dtype, values[0].device), list(values)
        else:
            like = self._like(arguments, values)
            tensors = [_converted(like, *pair) for pair in zip(arguments, values, strict=True)]
        watch = Watch() if self.points is not None and can_be_watched(like, tensors) else None
        result = function(watch, like, *tensors)
        if not isinstance(result, Tensor):
            result = torch.tensor(result, device=like.device, dtype=None if isinstance(result, bool) else like.dtype)
        if watch is not None:
            result = self._checked(result, watch, arguments, tensors)
        batches = {
            tensor.shape[: tensor.ndim - len(argument.shape)]
            for argument, tensor in zip(arguments, tensors, strict=True)
        }
        batch = batches.pop() if len(batches) == 1 else np.broadcast_shapes(*batches)
        shape = (*batch, *self.core_shape)
        return result if result.shape == shape else result.expand(shape)

    def _checked(self, result: Tensor, watch: Watch, arguments: Sequence[Argument], tensors: list[Tensor]) -> Tensor:
        """The points that were flagged computed again, one by one; gradients stay those of what was computed first."""
        watch.flag_ends(self, arguments, [tensor.detach() for tensor in tensors], result.detach())
        mask = torch.as_tensor(watch.mask, dtype=torch.bool, device=result.device)
        if self.points is None or not mask.any():
            return result
        found, flagged, *arrays = (each.detach().cpu().numpy() for each in (result, mask, *tensors))
        mended = self.points.mended(found, flagged, arrays, self.core_shape)
        result = result.expand(mended.shape)
        exactly = torch.from_numpy(mended).to(result.device)
        if not result.requires_grad:
            return exactly
        carrier = torch.where(torch.isfinite(result), result, torch.zeros((), dtype=result.dtype, device=result.device))
        same = result.detach() == exactly
        return torch.where(same, result, carrier + (exactly - carrier.detach()))

    def _like(self, arguments: Sequence[Argument], values: Sequence[Any]) -> Tensor:
        """An empty tensor of the dtype and device to compute in; mixtures are an error, never a silent promotion."""
        floating = {
            a.name: v for a, v in zip(arguments, values, strict=True) if isinstance(v, Tensor) and v.is_floating_point()
        }
        dtypes = {tensor.dtype for tensor in floating.values()}
        devices = {value.device for value in values if isinstance(value, Tensor)}
        if (len(dtypes) > 1 and self._dtype is None) or (len(devices) > 1 and self._device is None):
            kinds = {name: f"{tensor.dtype} on {tensor.device}" for name, tensor in floating.items()}
            raise TypeError(f"mixed tensors {kinds}: convert them, or give dtype and device to lower()")
        dtypes = dtypes or {
            torch.from_numpy(v).dtype for v in values if isinstance(v, np.ndarray) and v.dtype.kind == "f"
        }
        dtype = self._dtype or (dtypes.pop() if len(dtypes) == 1 else torch.float64)
        return torch.empty((), dtype=dtype, device=self._device or (devices.pop() if devices else "cpu"))


def can_be_watched(like: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors hold float64 numbers that can be read here and now: no batch of `vmap`, no trace, no mode."""
    if like.dtype != torch.float64 or like.device.type == "meta" or torch.compiler.is_compiling():
        return False
    if torch._C._functorch.peek_interpreter_stack() is not None or torch.jit.is_tracing():
        return False
    if torch._C._len_torch_dispatch_stack() or not all(type(each) in (Tensor, torch.nn.Parameter) for each in tensors):
        return False
    return all(each.numel() for each in tensors)


@lru_cache(maxsize=64)
def _number_of(dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.empty((), dtype=dtype, device=device)


def _are_alike(arguments: Sequence[Argument], values: Sequence[Any]) -> bool:
    """Whether all are numbers in tensors of one floating dtype on one device, as at each step of an attack."""
    first = values[0] if values else None
    return isinstance(first, Tensor) and all(
        isinstance(each, Tensor)
        and each.is_floating_point()
        and each.dtype == first.dtype
        and each.device == first.device
        and not argument.shape
        for argument, each in zip(arguments, values, strict=True)
    )


def _converted(like: Tensor, argument: Argument, value: Any) -> Tensor:
    if isinstance(value, int | Fraction | sp.Number) and not isinstance(value, bool):
        value = as_float(argument, value)
    if isinstance(value, np.generic):
        value = value.item()
    tensor = (
        torch.as_tensor(value, device=like.device)
        if isinstance(value, Tensor | np.ndarray)
        else torch.tensor(value, dtype=like.dtype, device=like.device)
    )
    if tensor.is_complex():
        raise TypeError(f"{argument.name}: expected real numbers, got {tensor.dtype}")
    check_matrix_shape(argument, tensor.shape)
    return tensor.to(like.dtype)
