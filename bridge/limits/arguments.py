"""The functions that a user gives: which names they take, and what they raise as a usage error."""

import contextlib
import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

from bridge.limits.refusals import OURS, REFUSALS, is_out_of_memory
from numeric.balls import BallsError
from numeric.balls.limits import TooLargeForExact
from symbolic.words.errors import UsageError

Function = Callable[..., Any]

# What torch says of code that it cannot run on a batch, and what to write instead.
UNDER_VMAP = {
    "data-dependent control flow": (
        "branches on a value of its inputs; write torch.where, torch.clamp or torch.maximum, which work on a batch and "
        "on balls"
    ),
    ".item()": "takes a value out of a tensor, by item() or float(); compute with tensors throughout",
    "inplace": (
        "changes a tensor in place; build the result with torch.stack, torch.cat or torch.where, which work on a batch "
        "and on balls"
    ),
}


def arguments_of(function: Function) -> tuple[str, ...]:
    """The names that a function takes. Raises UsageError for one that takes any (*args, **kwargs) or hides them."""
    return _kept_names(function) if isinstance(function, FunctionType) else _names(function)


@lru_cache(maxsize=1024)  # each run asks again, and `inspect` takes longer than a small function
def _kept_names(function: FunctionType) -> tuple[str, ...]:
    return _names(function)


def _names(function: Function) -> tuple[str, ...]:
    name = getattr(function, "__name__", "a function")
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a builtin, torch.relu
        raise UsageError(f"{name} does not say what it takes; write lambda x: {name}(x)") from None
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters):
        raise UsageError(f"{name} takes *args or **kwargs; name the parameters, weights and inputs that it takes")
    return tuple(each.name for each in parameters if each.default is each.empty)


def defaults_of(function: Function) -> tuple[str, ...]:
    """The names for which a function has a default: `arguments_of` leaves them out, so that the default counts.

    What `functools.partial` binds is bound on purpose, and no default.
    """
    parameters = inspect.signature(function).parameters.values()
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return tuple(each.name for each in parameters if each.default is not each.empty and each.name not in bound)


def called_with(function: Function, known: Mapping[str, Any]) -> Any:
    """The function with what it takes of these."""
    return function(**{name: known[name] for name in arguments_of(function)})


@contextlib.contextmanager
def called_for(role: str, function: Function) -> Iterator[None]:
    """Turns what the user's function raises into a UsageError that names its role, the cause and the line.

    What a function of ours raises stays what it is, and so do refusals, and a lack of memory.
    """
    try:
        yield
    except (*REFUSALS, TooLargeForExact):
        raise
    except Exception as error:
        if _is_ours(function) or is_out_of_memory(error):
            raise
        raise UsageError(f"{role} {_complaint(error)}{_place(error, function)}") from error


def _is_ours(function: Function) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] in OURS


def _complaint(error: Exception) -> str:
    remedies = [remedy for words, remedy in UNDER_VMAP.items() if words in str(error)]
    if isinstance(error, RuntimeError) and remedies:
        return remedies[0]
    if isinstance(error, BallsError):
        return f"does not run in exact arithmetic: {str(error).rstrip('.')}"
    cause = str(error).splitlines()
    return f"raised {type(error).__name__}{f': {cause[0].rstrip(chr(46))}' if cause else ''}"


def _place(error: Exception, function: Function) -> str:
    """The last line in the function's own file that was running, as (own.py, line 12)."""
    file = getattr(getattr(inspect.unwrap(function), "__code__", None), "co_filename", "")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({Path(file).name}, line {lines[-1]})" if lines else ""
