"""Types and shapes checked while the tests run: jaxtyping checks those of numeric, beartype those of the others."""

import inspect
import typing
from collections.abc import Callable
from typing import Any

import jaxtyping
from beartype.claw import beartype_packages

_with_shapes = jaxtyping.jaxtyped


def check_while_running() -> None:
    """To be called before the three floors are imported."""
    # The import hook decorates every function of numeric by `jaxtyping.jaxtyped`.
    jaxtyping.jaxtyped = _by_need
    jaxtyping.install_import_hook("numeric", "beartype.beartype")
    beartype_packages(("symbolic", "bridge"))


def _by_need(fn: Any = None, *, typechecker: Callable[[Any], Any]) -> Any:
    """`jaxtyping.jaxtyped` without its memory of dimensions (40 us a call) for functions that name no shape."""
    if fn is None:
        return lambda each: _by_need(each, typechecker=typechecker)
    if inspect.isfunction(fn) and not any(names_a_shape(hint) for hint in fn.__annotations__.values()):
        return typechecker(fn)
    return _with_shapes(fn, typechecker=typechecker)


def names_a_shape(hint: Any) -> bool:
    """Whether an array type stands in the hint; a hint in quotes, which cannot be looked into, counts as one."""
    if isinstance(hint, list | tuple):  # the arguments of a Callable
        return any(names_a_shape(each) for each in hint)
    if isinstance(hint, str | typing.ForwardRef):
        return True
    if inspect.isclass(hint) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(names_a_shape(each) for each in typing.get_args(hint))
