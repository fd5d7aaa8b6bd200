"""The exact and the emulated value of each step: the reference, and what the taps of a network must equal.

One function for each operation. It takes the values of the premises and the operands of one side: the exact one, or
the emulated one, where approximants stand in the place of functions.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import singledispatch
from typing import TypeGuard, TypeVar

from bridge.limits.refusals import REFUSALS
from bridge.readings.arrays import Array
from bridge.readings.operands import Emulated, Operands
from numeric.balls import BallsError, ShapesDiffer
from numeric.balls.limits import TooLargeForExact
from symbolic.derivations.derivation import Derivation, Step
from symbolic.derivations.operations import Given, Operation, Unread
from symbolic.words.errors import UsageError

Values = TypeVar("Values")


def read(derivation: Derivation, operands: Operands, wanted: Iterable[str] = ()) -> dict[str, Emulated]:
    """The exact and the emulated values of the steps, or of those that lead to the `wanted` ones, as far as known."""
    found: dict[str, Emulated] = {}
    for step, operation in _known(derivation, wanted):
        premises, here = [found[name] for name in step.premises], operands.within(step)
        with _fitting(step, operation, premises, here):
            found[step.name] = both(operation, premises, here)
        _require_dim(step, operation, premises, found[step.name].exact, here)
    return found


def read_exact(derivation: Derivation, operands: Operands, wanted: Iterable[str] = ()) -> dict[str, Array]:
    """The exact values alone."""
    found: dict[str, Array] = {}
    for step, operation in _known(derivation, wanted):
        found[step.name] = value(operation, [found[name] for name in step.premises], operands.within(step), False)
    return found


def _known(derivation: Derivation, wanted: Iterable[str]) -> list[tuple[Step, Operation]]:
    """The steps that compute something, from steps that do."""
    known: dict[str, tuple[Step, Operation]] = {}
    for step in derivation.leading_to(*wanted):
        if has_value(step.operation) and all(name in known for name in step.premises):
            known[step.name] = step, step.operation
    return list(known.values())


def has_value(operation: Operation | None) -> TypeGuard[Operation]:
    """Whether it is known what the operation computes."""
    return operation is not None and computes(operation)


@contextmanager
def _fitting(step: Step, operation: Operation, premises: list[Emulated], operands: Operands) -> Iterator[None]:
    """Raises UsageError for operands whose shapes do not fit."""
    try:
        yield
    except (RuntimeError, IndexError, ValueError) as error:
        if isinstance(error, (*REFUSALS, BallsError, TooLargeForExact)) and not isinstance(error, ShapesDiffer):
            raise
        shapes, cause = _shapes(operation, step, premises, operands), str(error).partition("\n")[0]
        raise UsageError(f"step '{step.name}': {shapes} do not fit: {cause}") from error


def _shapes(operation: Operation, step: Step, premises: list[Emulated], known: Operands) -> str:
    """The operands and premises with their shapes, in words."""
    operands = [(name, known.operand(name)) for name in operation.handles]
    values = [(name, each.exact) for name, each in zip(step.premises, premises, strict=False)]
    shaped = [(name, tuple(each.shape)) for name, each in [*operands, *values] if hasattr(each, "shape")]
    return " and ".join(f"'{name}' of shape {shape}" for name, shape in shaped)


def _require_dim(step: Step, operation: Operation, premises: list[Emulated], array: Array, known: Operands) -> None:
    """Raises UsageError for a value without entries, or with another length than the step has coordinates."""
    expected = known.whole(step.dim) if step.dim is not None else None
    if 0 in array.shape:
        raise UsageError(f"step '{step.name}': no tokens in an array of shape {tuple(array.shape)}; give at least one")
    if array.ndim == 0 or (expected is not None and array.shape[-1] != expected):
        last = step.dim if expected in (None, step.dim) else f"{step.dim} = {expected}"
        of = "" if isinstance(operation, Given) else f" from {_shapes(operation, step, premises, known)}"
        raise UsageError(
            f"step '{step.name}': expected an array whose last axis has length {last}, got the shape "
            f"{tuple(array.shape)}{of}"
        )


def emulates(steps: Iterable[Step], operands: Operands) -> bool:
    """Whether the emulated values of these steps are known: no error of theirs is known by its bound alone."""
    return all(has_value(step.operation) and is_emulated(step.operation, step, operands.within(step)) for step in steps)


# What each rule says of its operation; the files of bridge/readings/rules register it.


@singledispatch
def computes(operation: Operation) -> bool:
    """Whether it is known what it computes: not the limit of an iteration, nor an unnamed map in a layer."""
    return True


@computes.register
def _unread(operation: Unread) -> bool:
    return False


@singledispatch
def is_emulated(operation: Operation, step: Step, operands: Operands) -> bool:
    """Whether the emulated value is known, of an operation that computes something."""
    return True


@singledispatch
def both(operation: Operation, premises: list[Emulated], operands: Operands) -> Emulated:
    """What the operation computes: exactly, and with approximants in the place of functions."""
    exact = value(operation, [each.exact for each in premises], operands, False)
    return Emulated(exact, emulated_value(operation, premises, operands))


@singledispatch
def value(operation: Operation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    """What the operation computes from the values of the premises."""
    raise NotImplementedError(f"the value of {type(operation).__name__}")


@singledispatch
def emulated_value(operation: Operation, premises: list[Emulated], operands: Operands) -> Array:
    """The same of the emulated values, for an operation that looks at the exact ones as well."""
    return value(operation, [each.emulated for each in premises], operands, True)
