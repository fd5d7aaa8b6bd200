"""Types and shapes checked while the tests run, by beartype and, where a shape is named, by jaxtyping.

A check by jaxtyping takes longer than most of the functions that it checks, and depends on nothing but the kinds of
what comes and of what is returned: types, and of arrays the dtype and the shape. So it is made once for each. And
beartype takes a millisecond to write its check of a function: it is written once for all functions of one `def`.
"""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import jaxtyping
from beartype.claw import beartype_packages
from beartype.claw._ast import _clawaststar as of_claw

FUNCTION = "__beartype_func"  # the argument by which a check of beartype's knows the function that it checks
MOST_PARTS = 64  # of a list or a dictionary whose kind is worth finding out

_with_shapes = jaxtyping.jaxtyped


def check_while_running() -> None:
    """To be called before the three floors are imported."""
    # The import hooks decorate every function, and one inside a function whenever that runs: those of numeric by
    # `jaxtyping.jaxtyped`, those of the others by the `__beartype__` that their modules import.
    jaxtyping.jaxtyped = _by_need
    jaxtyping.install_import_hook("numeric", "beartype.beartype")
    of_claw.__beartype__ = functools.partial(_written_once_by, of_claw.__beartype__)
    beartype_packages(("symbolic", "bridge"))


def _by_need(fn: Any = None, *, typechecker: Callable[[Any], Any]) -> Any:
    """`jaxtyping.jaxtyped`, once for each kind of call; without its memory of dimensions where no shape is named."""
    if fn is None:
        return lambda each: _by_need(each, typechecker=typechecker)
    if not inspect.isfunction(fn):
        return _with_shapes(fn, typechecker=typechecker)
    if not any(names_a_shape(hint) for hint in fn.__annotations__.values()):
        return written_once(fn, typechecker)
    return once_for_each_kind(fn, functools.partial(_with_shapes, typechecker=typechecker))


def _written_once_by(beartype: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """`beartype(function)`, or `beartype(conf=...)`, which gives a decorator."""
    if not given:
        return functools.partial(_written_once_by, beartype(**options))
    (of,) = given
    return written_once(of, beartype) if inspect.isfunction(of) else beartype(of)


_WRITTEN: dict[Hashable, Any] = {}  # what the type checker made of a function, by code and hints


def written_once(fn: Callable[..., Any], typechecker: Callable[[Any], Any]) -> Callable[..., Any]:
    """`typechecker(fn)`, taken from another function of the same code and hints if there was one."""
    key = fn.__code__, tuple(fn.__annotations__.items())
    try:
        written = _WRITTEN.get(key)
    except TypeError:  # a hint that cannot be looked up
        return typechecker(fn)
    if written is None:
        written = _WRITTEN[key] = typechecker(fn)
        return written
    if FUNCTION not in (written.__kwdefaults__ or {}):  # nothing to check
        return fn
    checked = types.FunctionType(written.__code__, written.__globals__, written.__name__, written.__defaults__)
    checked.__kwdefaults__ = {**written.__kwdefaults__, FUNCTION: fn}
    return functools.update_wrapper(checked, fn)


def once_for_each_kind(fn: Callable[..., Any], check: Callable[[Any], Any]) -> Callable[..., Any]:
    """`fn`, and `check(fn)` in its place for arguments, or a result, of kinds that have not passed yet."""
    checked, passed = check(fn), {}

    @functools.wraps(fn)
    def by_kind(*args: Any, **kwargs: Any) -> Any:
        kind = kind_of((args, kwargs))
        if kind is None or kind not in passed:
            result = checked(*args, **kwargs)
            if kind is not None:
                passed[kind] = {kind_of(result)} - {None}
            return result
        result = fn(*args, **kwargs)
        if kind_of(result) not in passed[kind]:
            check(answering(fn, result))(*args, **kwargs)
            passed[kind] |= {kind_of(result)} - {None}
        return result

    return by_kind


def answering(fn: Callable[..., Any], result: object) -> Callable[..., Any]:
    """A function with the signature of `fn`, and in its module, that returns `result`."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        return result

    placed = types.FunctionType(answer.__code__, fn.__globals__, fn.__name__, None, answer.__closure__)
    return functools.update_wrapper(placed, fn)


def kind_of(value: object) -> Hashable | None:
    """What a check of types and shapes can depend on; None where that is not to be found out quickly."""
    reader = reader_of(type(value))
    return type(value) if reader is None else reader(value)


@functools.cache
def reader_of(cls: type) -> Callable[[Any], Hashable | None] | None:
    """How the kind of a value of this class is read, if it is more than the class."""
    if issubclass(cls, str | bool):
        return lambda value: (cls, value)
    if hasattr(cls, "dtype") and hasattr(cls, "shape"):
        return lambda value: (cls, value.dtype, tuple(value.shape))
    if issubclass(cls, Mapping):
        return lambda value: kind_of_parts(cls, [*value, *value.values()])
    return (lambda value: kind_of_parts(cls, value)) if issubclass(cls, list | tuple) else None


def kind_of_parts(cls: type, values: Sequence[object]) -> Hashable | None:
    if len(values) > MOST_PARTS:
        return None
    parts = tuple([kind_of(each) for each in values])
    return None if None in parts else (cls, parts)


def names_a_shape(hint: Any) -> bool:
    """Whether an array type stands in the hint; a hint in quotes, which cannot be looked into, counts as one."""
    if isinstance(hint, list | tuple):  # the arguments of a Callable
        return any(names_a_shape(each) for each in hint)
    if isinstance(hint, str | typing.ForwardRef):
        return True
    if inspect.isclass(hint) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(names_a_shape(each) for each in typing.get_args(hint))
