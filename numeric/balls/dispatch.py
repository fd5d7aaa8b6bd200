"""Which functions and methods of torch act on balls: one table by name, and one way to call it."""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import flint
import torch

from numeric.balls import elementwise, factories, products, reductions, shapes
from numeric.balls.arbs import working_precision
from numeric.balls.array import array_of
from numeric.balls.entries import TORCH, Entries
from numeric.balls.errors import ROUNDS, BallsError, UnavailableAttribute, remedy_for, spelling, unavailable

_WITHOUT_EFFECT = frozenset(
    ("device", "layout", "pin_memory", "requires_grad", "memory_format", "non_blocking", "copy", "_stacklevel")
)
_LEFT_OUT = "Leave the option out: balls take the main arguments of torch's function."
_RENAMED = {"axis": "dim", "keepdims": "keepdim"}


def same(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Copies. Real numbers have no format: float64 counts as one; a coarser one would round, which balls do not."""
    for value in [*args, *kwargs.values()]:
        if isinstance(value, torch.dtype) and not value.is_floating_point:
            raise BallsError("Tensor.to", f"dtype={value}", remedy_for("long", FUNCTIONS))
        if isinstance(value, torch.dtype) and value is not torch.float64:
            raise BallsError("Tensor.to", f"dtype={value}", ROUNDS)
    return array_of(x)


_ATTRIBUTES = frozenset({"T", "mT", "data"})
# Methods whose arguments stand in another order than those of torch's function of that name.
_METHODS = {"where": "Tensor.where"}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **elementwise.FUNCTIONS,
    **shapes.FUNCTIONS,
    **reductions.FUNCTIONS,
    **products.FUNCTIONS,
    **factories.FUNCTIONS,
    **dict.fromkeys(("to", "double", "type_as"), same),
    **dict.fromkeys(("clone", "detach", "contiguous", "cpu", "data"), same),
}

# Other names of torch for the same function.
_SYNONYMS = {
    **{
        f"__{name}__": name
        for name in ("add", "sub", "mul", "pow", "neg", "abs", "matmul", "lt", "le", "gt", "ge", "eq", "ne")
    },
    "__radd__": "add",
    "subtract": "sub",
    **dict.fromkeys(("multiply", "__rmul__"), "mul"),
    **dict.fromkeys(("divide", "true_divide", "__truediv__", "__div__"), "div"),
    **dict.fromkeys(("bitwise_and", "__and__", "__rand__"), "logical_and"),
    **dict.fromkeys(("bitwise_or", "__or__", "__ror__"), "logical_or"),
    **dict.fromkeys(("bitwise_not", "__invert__"), "logical_not"),
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan")},
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "not_equal": "ne",
    "negative": "neg",
    "absolute": "abs",
    "clip": "clamp",
    "log_sigmoid": "logsigmoid",
    "special_logsumexp": "logsumexp",
    "sgn": "sign",
}


def name_of(function: Any) -> str:
    """The name in the table; of an attribute, the name of the attribute."""
    name = getattr(function, "__name__", repr(function))
    if name == "__get__":
        return function.__self__.__name__
    return _METHODS.get(name, name) if getattr(function, "__qualname__", "").startswith("Tensor") else name


def call_named(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch's function or method of this name; refuses names and options that balls do not have."""
    name = _SYNONYMS.get(name, name)
    function = FUNCTIONS.get(name)
    if function is None:
        raise unavailable(name, FUNCTIONS)
    args, options = _accepted(name, args, kwargs) if kwargs else (args, kwargs)
    bits = _highest_bits(args, options)
    if bits == flint.ctx.prec:
        return _called(name, function, args, options)
    with working_precision(bits):
        return _called(name, function, args, options)


def _called(name: str, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        return function(*args, **options)
    except TypeError:
        _require_fitting(name, function, args, options)
        raise


def _require_fitting(name: str, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raises BallsError where the function does not take these arguments."""
    try:
        inspect.signature(function).bind(*args, **options)
    except TypeError as error:
        raise BallsError(spelling(name), str(error), _LEFT_OUT) from None


def _highest_bits(args: tuple[Any, ...], options: dict[str, Any]) -> int:
    """The highest precision among the arrays; Arb's working precision if there is none."""
    highest = 0
    for each in (*args, *options.values()) if options else args:
        if isinstance(each, Entries):
            highest = max(highest, each.bits)
        elif isinstance(each, list | tuple | dict):
            highest = max([highest, *(array.bits for array in arrays_in(each))])
    return highest or flint.ctx.prec


def _accepted(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    options = {_RENAMED.get(key, key): value for key, value in kwargs.items() if key not in _WITHOUT_EFFECT}
    if options.pop("out", None) is not None:
        raise BallsError(spelling(name), "out=... writes into an array", _LEFT_OUT)
    if options.get("inplace") is False:
        del options["inplace"]
    dtype = options.get("dtype")
    if name != "to" and (dtype is None or dtype.is_floating_point):
        options.pop("dtype", None)
    if "input" in options and name != "where":
        args = (options.pop("input"), *args)
    return args, options


def arrays_in(value: Any) -> Iterator[Entries]:
    """The arrays of balls among the arguments, also inside lists."""
    if isinstance(value, Entries):
        yield value
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, Entries):
                yield each
            elif isinstance(each, list | tuple | dict):
                yield from arrays_in(each)


def attribute(array: Entries, name: str) -> Any:
    """A tensor's attribute or bound method."""
    if name in _ATTRIBUTES:
        return call_named(name, (array,), {})
    known = hasattr(torch.Tensor, name)
    if name.startswith("_") or not known:
        raise UnavailableAttribute(f"{type(array).__name__}.{name}", "no such attribute", remedy_for(name, FUNCTIONS))
    if not callable(getattr(torch.Tensor, name)) and name not in FUNCTIONS:
        raise UnavailableAttribute(f"Tensor.{name}", "not available on balls", remedy_for(name, FUNCTIONS))
    return functools.partial(_method, _METHODS.get(name, name), array)


def _method(name: str, array: Entries, /, *args: Any, **kwargs: Any) -> Any:
    return call_named(name, (array, *args), kwargs)


TORCH.call_named, TORCH.attribute, TORCH.name_of = call_named, attribute, name_of
