"""Rearranging entries, as torch does it; nothing is computed."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np

from numeric.balls.array import BallArray, Truth, array_of, entries_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import boxed, integers_of
from numeric.balls.elementwise import where
from numeric.balls.entries import Entries
from numeric.balls.errors import BallsError


def kept(x: Any) -> Entries:
    """Comparisons stay comparisons; everything else becomes balls."""
    return x if isinstance(x, Truth) else array_of(x)


def rearranged(x: Any, rearrange: Callable[[np.ndarray], Any], call: str = "BallArray") -> Any:
    array = kept(x)
    try:
        return array.of_entries(boxed(rearrange(array.entries)), array.bits)
    except (ValueError, IndexError) as error:
        remedy = "Give axes and sizes that fit it."
        raise BallsError(call, f"shape {tuple(array.shape)}: {error}", remedy) from None


def sizes_of(sizes: Sequence[Any]) -> tuple[int, ...]:
    """f(2, 3) and f((2, 3)) alike."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else tuple(sizes)


def reshape(x: Any, *shape: Any) -> Any:
    return rearranged(x, lambda entries: entries.reshape(sizes_of(shape)), "torch.reshape")


def reshape_as(x: Any, other: Any) -> Any:
    return reshape(x, tuple(other.shape))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = tuple(kept(x).shape) or (1,)
    first, last = start_dim % len(shape), end_dim % len(shape)
    return reshape(x, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


def squeeze(x: Any, dim: int | tuple[int, ...] | None = None) -> Any:
    array = kept(x)
    axes = range(array.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    thin = tuple({axis % array.ndim for axis in axes if array.shape[axis] == 1})
    return rearranged(array, lambda entries: np.squeeze(entries, thin), "torch.squeeze")


def expand(x: Any, *sizes: Any) -> Any:
    wanted, shape = sizes_of(sizes), tuple(kept(x).shape)
    padded = (1,) * (len(wanted) - len(shape)) + shape
    target = tuple(old if new == -1 else new for new, old in zip(wanted, padded, strict=False))
    return rearranged(x, lambda entries: np.broadcast_to(entries, target), "torch.Tensor.expand")


def permute(x: Any, *dims: Any) -> Any:
    return rearranged(x, lambda entries: np.transpose(entries, sizes_of(dims)), "torch.permute")


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    return rearranged(x, lambda entries: np.swapaxes(entries, dim0, dim1), "torch.transpose")


def transposed(x: Any) -> Any:
    """All axes reversed."""
    return rearranged(x, np.transpose)


def matrix_transposed(x: Any) -> Any:
    return transpose(x, -2, -1)


def movedim(x: Any, source: Any, destination: Any) -> Any:
    return rearranged(x, lambda entries: np.moveaxis(entries, source, destination), "torch.movedim")


def unsqueeze(x: Any, dim: int) -> Any:
    return rearranged(x, lambda entries: np.expand_dims(entries, dim), "torch.unsqueeze")


def _joined(join: Callable[..., np.ndarray], arrays: Sequence[Any], call: str, *axis: int) -> Any:
    comparisons = all(isinstance(each, Truth) for each in arrays)
    kind: type[Entries] = Truth if comparisons else BallArray
    parts = [each.entries if comparisons else entries_of(each) for each in arrays]
    try:
        return kind.of_entries(boxed(join(parts, *axis)))
    except ValueError as error:
        shapes = " and ".join(str(part.shape) for part in parts)
        raise BallsError(call, f"shapes {shapes}: {error}", "Give arrays whose shapes agree.") from None


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    return _joined(np.stack, tensors, "torch.stack", dim)


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    return _joined(np.concatenate, tensors, "torch.cat", dim)


def hstack(tensors: Sequence[Any]) -> Any:
    return _joined(np.hstack, tensors, "torch.hstack")


def vstack(tensors: Sequence[Any]) -> Any:
    return _joined(np.vstack, tensors, "torch.vstack")


def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    return tuple(movedim(x, dim, 0))


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    first = start if start >= 0 else start + kept(x).shape[dim]
    return movedim(movedim(x, dim, 0)[first : first + length], 0, dim)


def select(x: Any, dim: int, index: int) -> Any:
    return movedim(x, dim, 0)[index]


def split(x: Any, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    total = kept(x).shape[dim]
    size = split_size_or_sections
    sections = [min(size, total - start) for start in range(0, total, size)] if isinstance(size, int) else list(size)
    starts = np.cumsum([0, *sections]).tolist()
    return tuple(narrow(x, dim, start, length) for start, length in zip(starts, sections, strict=False))


def chunk(x: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    return split(x, max(1, -(-kept(x).shape[dim] // chunks)), dim)


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return rearranged(x, lambda entries: np.diagonal(entries, offset, dim1, dim2), "torch.diagonal")


def diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Zero matrices with the last axis on a diagonal."""
    entries = entries_of(x)
    size = entries.shape[-1] + abs(offset)
    charge_scalars(size * size * math.prod(entries.shape[:-1]))
    result = np.full((*entries.shape[:-1], size, size), flint.arb(0), dtype=object)
    places = np.arange(entries.shape[-1])
    result[..., places + max(0, -offset), places + max(0, offset)] = entries
    return movedim(BallArray.of_entries(result), (-2, -1), (dim1, dim2))


def diag(x: Any, diagonal: int = 0) -> Any:
    array = kept(x)
    return diag_embed(array, diagonal) if array.ndim == 1 else _diagonal_of(array, diagonal)


def _diagonal_of(x: Any, offset: int) -> Any:
    return rearranged(x, lambda entries: np.diagonal(entries, offset), "torch.diag")


def triangle(keep: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """tril or triu."""

    def cut(x: Any, diagonal: int = 0) -> Any:
        array = kept(x)
        mask = keep(np.ones(array.shape[-2:], dtype=bool), diagonal)
        if isinstance(array, Truth):
            return array & mask
        return where(mask, array, 0)

    return cut


def roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    return rearranged(x, lambda entries: np.roll(entries, shifts, dims), "torch.roll")


def flip(x: Any, *dims: Any) -> Any:
    return rearranged(x, lambda entries: np.flip(entries, sizes_of(dims)), "torch.flip")


def repeat(x: Any, *repeats: Any) -> Any:
    """torch's Tensor.repeat and torch.tile: copies along each axis."""
    charge_scalars(kept(x).numel() * math.prod(sizes_of(repeats)))
    return rearranged(x, lambda entries: np.tile(entries, sizes_of(repeats)), "torch.tile")


def repeat_interleave(x: Any, repeats: int, dim: int | None = None) -> Any:
    charge_scalars(kept(x).numel() * repeats)
    return rearranged(x, lambda entries: np.repeat(entries, repeats, dim), "torch.repeat_interleave")


def index_select(x: Any, dim: int, index: Any) -> Any:
    places = integers_of(index)
    return rearranged(x, lambda entries: np.take(entries, places, dim), "torch.index_select")


def gather(x: Any, dim: int, index: Any) -> Any:
    """out[i, j] = x[index[i, j], j] for dim 0, and alike; the index may be shorter along the other axes."""
    places = integers_of(index)
    array = kept(x)
    axes = [slice(None) if axis == dim % array.ndim else slice(size) for axis, size in enumerate(places.shape)]
    return rearranged(array, lambda entries: np.take_along_axis(entries[tuple(axes)], places, dim), "torch.gather")


def take_along_dim(x: Any, indices: Any, dim: int) -> Any:
    places = integers_of(indices)
    return rearranged(x, lambda entries: np.take_along_axis(entries, places, dim), "torch.take_along_dim")


def pad(x: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Constant padding; `pad` lists (before, after) from the last axis on."""
    if mode != "constant":
        raise BallsError("torch.nn.functional.pad", f"mode={mode!r}", "Use torch.cat.")
    entries = entries_of(x)
    pairs = [(pad[place], pad[place + 1]) for place in range(0, len(pad), 2)][::-1]
    widths = [(0, 0)] * (entries.ndim - len(pairs)) + pairs
    charge_scalars(math.prod(size + sum(width) for size, width in zip(entries.shape, widths, strict=True)))
    filling = entries_of(0 if value is None else value).item()
    return rearranged(x, lambda each: np.pad(each, widths, constant_values=filling), "torch.nn.functional.pad")


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*(tuple(kept(each).shape) for each in tensors))
    return tuple(expand(each, shape) for each in tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    arrays = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    grids = np.meshgrid(*(entries_of(each) for each in arrays), indexing=indexing or "ij")  # type: ignore[call-overload]
    return tuple(BallArray.of_entries(grid) for grid in grids)


def atleast(axes: int) -> Callable[[Any], Any]:
    def extended(x: Any) -> Any:
        missing = max(0, axes - kept(x).ndim)
        return reshape(x, (1,) * missing + tuple(kept(x).shape))

    return extended


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("reshape", "view"), reshape),
    **dict.fromkeys(("reshape_as", "view_as"), reshape_as),
    **dict.fromkeys(("flatten", "ravel"), flatten),
    **dict.fromkeys(("expand", "broadcast_to"), expand),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), transpose),
    **dict.fromkeys(("movedim", "moveaxis"), movedim),
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    **dict.fromkeys(("vstack", "row_stack"), vstack),
    **dict.fromkeys(("repeat", "tile"), repeat),
    **dict.fromkeys(("t", "T"), transposed),
    **dict.fromkeys(("mT", "adjoint"), matrix_transposed),
    **{f"atleast_{axes}d": atleast(axes) for axes in (1, 2)},
    "expand_as": lambda x, other: expand(x, tuple(other.shape)),
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "permute": permute,
    "stack": stack,
    "hstack": hstack,
    "unbind": unbind,
    "narrow": narrow,
    "select": select,
    "split": split,
    "chunk": chunk,
    "diagonal": diagonal,
    "linalg_diagonal": lambda x, *, offset=0, dim1=-2, dim2=-1: diagonal(x, offset, dim1, dim2),
    "diag_embed": diag_embed,
    "diag": diag,
    "tril": triangle(np.tril),
    "triu": triangle(np.triu),
    "roll": roll,
    "flip": flip,
    "repeat_interleave": repeat_interleave,
    "index_select": index_select,
    "gather": gather,
    "take_along_dim": take_along_dim,
    "pad": pad,
    "broadcast_tensors": broadcast_tensors,
    "meshgrid": meshgrid,
    "__getitem__": lambda x, key: kept(x)[key],
}
