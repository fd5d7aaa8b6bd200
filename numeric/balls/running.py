"""Running a function that is written in torch, once for one prompt, on arrays of balls.

    def reference(X, x, y):
        return torch.softmax(X @ x, 0) @ y

    run_on_balls(reference, {"X": X, "x": x, "y": y}, bits=128)

The same function runs on float tensors, batched by `torch.func.vmap`. What Python itself computes inside the
function is not seen here: `1 / 3` and `math.sqrt(2)` are floats before torch gets them, so write
`torch.tensor(1) / 3` and `torch.sqrt(torch.tensor(2))`; numpy's functions of numpy arrays round likewise. With
`enclose_floats` such a float stands for all numbers near it (numeric/balls/floats.py says which).
"""

from collections.abc import Callable, Mapping
from typing import Any

import flint
import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from numeric.balls.arbs import working_precision
from numeric.balls.array import BallArray, array_of
from numeric.balls.budget import OperationLimit, spending
from numeric.balls.dispatch import FUNCTIONS, arrays_in, call_named, name_of
from numeric.balls.entries import Entries
from numeric.balls.errors import BallsError, remedy_for, spelling
from numeric.balls.factories import FACTORIES, gives_integers
from numeric.balls.floats import enclosing_floats, floats_enclosed
from numeric.balls.integers import ExactInteger
from numeric.balls.limits import DEFAULT_LIMIT, OPERATIONS_PER_SCALAR, TooManyBallOperations

# Attributes and methods of a tensor that compute nothing.
_QUERIES = frozenset(
    [
        *("shape", "dtype", "device", "layout", "ndim", "dim", "size", "stride", "numel", "nelement", "element_size"),
        *("tolist", "item", "is_floating_point", "is_complex", "requires_grad", "is_leaf", "grad_fn", "is_cuda"),
        *("__len__", "__repr__", "__hash__", "__format__", "__float__", "__int__", "__bool__", "__index__"),
    ]
)


class BallMode(TorchFunctionMode):
    """Inside the block torch computes on balls: factories give balls, float tensors enter exactly.

    Integer and bool tensors stay tensors until an operation would make floats of them.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = name_of(func), kwargs or {}
        if name in FACTORIES and not gives_integers(name, args, options):
            return call_named(name, args, options)
        floats = name not in _QUERIES and any(map(_is_float, _tensors((args, options))))
        if floats or list(arrays_in((args, options))):
            return call_named(name, args, options)
        return self._on_integers(func, name, args, options)

    def _on_integers(self, func: Any, name: str, args: Any, options: dict[str, Any]) -> Any:
        result = func(*args, **options)
        if name in _QUERIES or not any(map(_is_float, _tensors(result))):
            return result
        if _tensors((args, options)):
            return call_named(name, args, options)
        raise BallsError(spelling(name), "not available on balls", remedy_for(name, FUNCTIONS))


def run_on_balls(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    bits: int = 128,
    *,
    limit: int = DEFAULT_LIMIT,
    enclose_floats: bool = False,
) -> Any:
    """function(**arguments) in balls at `bits` bits: a BallArray, or a dict, tuple or list of them.

    Float tensors, float arrays and floats enter exactly, a float as an array without axes; the quotient of integers is
    exact too. Integer tensors and everything else are passed as they are. A result that is a number or a tensor becomes
    exact balls. Raises `TooLargeForExact` when the run takes more than `limit` ball operations, counted as in
    `numeric.networks.exact_cost`.
    """
    found = call_on_balls(function, arguments, bits, limit=limit, enclose_floats=enclose_floats)
    with working_precision(bits), floats_enclosed(enclose_floats or enclosing_floats()):
        return _result(_name(function), found)


def call_on_balls(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    bits: int = 128,
    *,
    limit: int = DEFAULT_LIMIT,
    enclose_floats: bool = False,
) -> Any:
    """The same for a function that returns what holds arrays of balls: a construction, say. Returned as it is."""
    name = _name(function)
    budget = OperationLimit(limit, OPERATIONS_PER_SCALAR, lambda spent: TooManyBallOperations(name, spent, limit))
    with working_precision(bits), spending(budget):
        exact = {key: as_argument(value) for key, value in arguments.items()}
        with BallMode(), floats_enclosed(enclose_floats or enclosing_floats()):
            return function(**exact)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def as_argument(value: Any) -> Any:
    """As a function on balls takes it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ExactInteger(value)
    floats = isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
    return array_of(value) if floats or _is_float(value) else value


def _result(name: str, result: Any) -> Any:
    if isinstance(result, Mapping):
        return {key: _result(name, value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        parts = [_result(name, value) for value in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if isinstance(result, Entries | int | float | torch.Tensor | np.ndarray | np.generic | flint.arb):
        return array_of(result)
    got = f"returned {type(result).__name__}"
    raise BallsError(f"run_on_balls({name})", got, "Return an array, or a dict or tuple of arrays.")


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for each in value for tensor in _tensors(each)] if isinstance(value, list | tuple) else []


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


__all__ = ["BallArray", "BallMode", "as_argument", "call_on_balls", "run_on_balls"]
