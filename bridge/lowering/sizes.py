"""Letters for sizes: which array tells each, what it is at the arrays of a call, and whether all arrays agree."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import sympy as sp
from flint import arb_mat

from symbolic.words.errors import UsageError

from .common import LoweringError
from .indexed import GivenArray

Sizes = dict[sp.Symbol, sp.Integer]


@dataclass(frozen=True)
class Axis:
    """One axis of one array, and the size that it has by the formula."""

    array: GivenArray
    place: int

    @property
    def size(self) -> sp.Expr:
        return self.array.sizes[self.place]


# Letters that stand alone come first; then a size with one unknown letter, of which it is a multiple and a shift.
def told_by(arrays: Sequence[GivenArray], letters: Collection[Any], given: Collection[Any], backend: str) -> list[Any]:
    """Pairs of a letter and the axis that tells it, in an order in which each is solved by those before.

    Raises LoweringError for a letter that no array and no argument tells.
    """
    axes = [Axis(array, place) for array in arrays for place in range(len(array.sizes))]
    axes.sort(key=lambda axis: not axis.size.is_Symbol)
    told: list[tuple[sp.Symbol, Axis]] = []
    known = set(given)
    while found := next(((x, axis) for axis in axes if (x := _unknown(axis.size, known)) is not None), None):
        told.append(found)
        known.add(found[0])
    for letter in sorted(letters, key=str):
        if letter not in known:
            raise LoweringError(
                backend, letter, "it is a size that no array tells; name it in args, and give it a whole number"
            )
    return told


def _unknown(size: sp.Expr, known: Collection[Any]) -> sp.Symbol | None:
    """The letter that this size tells if the others are known; None if there is none."""
    unknown = size.free_symbols - set(known)
    if len(unknown) != 1:
        return None
    (letter,) = unknown
    slope = sp.diff(size, letter)
    return letter if slope.is_number and slope != 0 else None


def sizes_at(
    told: Sequence[tuple[sp.Symbol, Axis]], shapes: Mapping[str, tuple[int, ...]], given: Mapping[sp.Symbol, int]
) -> Sizes:
    """The letters at arrays of these shapes (batches left out). Raises UsageError where a size is no whole number."""
    found: Sizes = {letter: sp.Integer(number) for letter, number in given.items()}
    for letter, axis in told:
        size, actual = axis.size.xreplace(found), shapes[axis.array.name][axis.place]
        value = sp.expand(letter + (actual - size) / sp.diff(size, letter))
        if not (value.is_Integer and value >= 0):
            raise UsageError(
                f"lower: axis {axis.place} of {axis.array.name} has the size {actual}, by the formula {axis.size}, and "
                f"no whole number {letter} >= 0 gives that; give another array"
            )
        found[letter] = value
    return found


def require_agreement(
    arrays: Sequence[GivenArray],
    told: Sequence[tuple[sp.Symbol, Axis]],
    shapes: Mapping[str, tuple[int, ...]],
    sizes: Sizes,
) -> None:
    """Raises UsageError where an array has other sizes than the letters say; it shows who says what."""
    tellers = {letter: f"{axis.array.name} of the shape {shapes[axis.array.name]}" for letter, axis in told}
    for array in arrays:
        for place, size in enumerate(array.sizes):
            expected, actual = size.xreplace(sizes), shapes[array.name][place]
            if expected == actual:
                continue
            if size.is_Symbol:
                other = f"{size} is {expected} by {tellers.get(size, 'its argument')}, and {actual} by"
            else:
                by = (
                    f"{x} = {sizes[x]} by {tellers.get(x, 'its argument')}" for x in sorted(size.free_symbols, key=str)
                )
                other = f"{size} is {expected}{''.join(f', {each}' for each in by)}, and {actual} by"
            raise UsageError(
                f"lower: {other} {array.name} of the shape {shapes[array.name]}; give arrays whose sizes agree"
            )


# shapes of what the caller gives


def shape_of(name: str, value: Any) -> tuple[int, ...]:
    """The shape of an array, a tensor, a matrix or of nested lists. Raises UsageError for lists of several lengths."""
    if hasattr(value, "shape"):
        return tuple(int(size) for size in value.shape)
    if isinstance(value, mp.matrix):
        return (value.rows, value.cols)
    if isinstance(value, arb_mat):
        return (value.nrows(), value.ncols())
    if not isinstance(value, list | tuple):
        return ()
    inner = {shape_of(name, each) for each in value}
    if len(inner) > 1:
        raise UsageError(f"lower: the rows of {name} have the shapes {sorted(inner)}; give rows of one length")
    return (len(value), *(inner.pop() if inner else ()))


def own_shape(array: GivenArray, value: Any, *, batches: bool) -> tuple[int, ...]:
    """The last sizes of its shape, those of its axes. Raises UsageError for another number of axes."""
    shape, rank = shape_of(array.name, value), len(array.sizes)
    if rank == 1 and len(shape) == 2 and shape[1] == 1 and isinstance(value, mp.matrix | arb_mat):
        return shape[:1]
    if shape[:1] == (0,) and len(shape) < rank:  # an empty list does not say how long its rows are
        shape = (0,) * rank
    if len(shape) < rank or (len(shape) > rank and not batches):
        wanted = ", ".join("any" if isinstance(size, sp.Dummy) else str(size) for size in array.sizes)
        wanted = f"..., {wanted}" if batches else f"{wanted}," if rank == 1 else wanted
        raise UsageError(f"lower: {array.name} has the shape {shape}; the formula takes the shape ({wanted})")
    return shape[len(shape) - rank :]


def whole_size(letter: str, value: Any) -> int:
    """A size that is an argument. Raises UsageError for what is no whole number from 0 on."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if number < 0 or bool(number != value):
        raise UsageError(f"lower: the size {letter} = {value!r:.40}; give a whole number, at least 0")
    return number
