"""Rearranging entries: functions of torch, run on the places of the entries; nothing is computed.

The places of an array are an integer tensor of its shape, counted from 1. What torch makes of it says which entry
comes where. Place 0 is the entry that fills up, since torch fills triangles, diagonals and margins with 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from numeric.balls.array import BallArray, Truth, array_of, entries_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import boxed
from numeric.balls.entries import Entries, call
from numeric.balls.errors import BallsError, spelling

Places = torch.Tensor | Sequence[torch.Tensor]

# Their results may be far larger than their arguments: they are charged before they are computed.
_COPYING = frozenset(
    (
        *("expand", "broadcast_to", "broadcast_tensors", "meshgrid", "repeat", "tile", "repeat_interleave"),
        *("diag", "diag_embed", "nn.functional.pad", "zeros", "ones", "full", "eye"),
    )
)


def rearranged(name: str, function: Callable[..., Places], arrays: Sequence[Any], filling: Any = 0) -> Any:
    """What torch's function of that name does to the places of the arrays, done to their entries.

    Comparisons among themselves stay comparisons; everything else becomes balls.
    """
    comparisons = all(isinstance(each, Truth) for each in arrays)
    kind: type[Entries] = Truth if comparisons else BallArray
    sources = [each.entries if comparisons else entries_of(each) for each in arrays]
    ends = np.cumsum([1, *(each.size for each in sources)]).tolist()
    places = [
        torch.from_numpy(np.arange(end - each.size, end).reshape(each.shape))
        for each, end in zip(sources, ends[1:], strict=True)
    ]
    try:
        if name in _COPYING:
            _charge(function(*(each.to("meta") for each in places)))
        moved = function(*places)
    except (RuntimeError, IndexError, TypeError) as error:
        raise _not_fitting(name, sources, error) from None
    first = False if comparisons else entries_of(filling).item()
    entries = np.concatenate([boxed([first], (1,)), *(each.ravel() for each in sources)])
    chosen = [kind.of_entries(boxed(entries[each.numpy()])) for each in _listed(moved)]
    return chosen[0] if isinstance(moved, torch.Tensor) else tuple(chosen)


def _not_fitting(name: str, sources: Sequence[np.ndarray], error: Exception) -> BallsError:
    shapes = " and ".join(str(each.shape) for each in sources)
    reason = str(error).partition("\n")[0].rstrip(". ")
    got = f"shape{'s' if len(sources) > 1 else ''} {shapes}: {reason}"
    return BallsError(spelling(name), got, "Give axes and sizes that fit.")


def _charge(places: Places) -> None:
    """Of a tensor on the device "meta", which knows its shape and takes no memory."""
    charge_scalars(sum(each.numel() for each in _listed(places)))


def _listed(places: Places) -> Sequence[torch.Tensor]:
    return [places] if isinstance(places, torch.Tensor) else places


def moving(name: str, function: Callable[..., Places]) -> Callable[..., Any]:
    """torch's function, whose first argument is an array or a list of arrays."""

    def on_arrays(x: Any, *args: Any, **options: Any) -> Any:
        several = isinstance(x, list | tuple)
        indices = [_as_index(each) for each in args]
        named = {key: _as_index(each) for key, each in options.items()}

        def on_places(*places: torch.Tensor) -> Places:
            return function(places if several else places[0], *indices, **named)

        return rearranged(name, on_places, x if several else [x])

    return on_arrays


def _as_index(argument: Any) -> Any:
    """An argument as torch takes it."""
    if isinstance(argument, Entries):
        argument = argument.as_index()
    return torch.from_numpy(argument) if isinstance(argument, np.ndarray) else argument


def pad(x: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Constant padding; `pad` lists (before, after) from the last axis on."""
    if mode != "constant":
        raise BallsError("torch.nn.functional.pad", f"mode={mode!r}", "Use torch.cat.")
    return rearranged(
        "nn.functional.pad", lambda places: functional.pad(places, tuple(pad)), [x], 0 if value is None else value
    )


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    arrays = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return rearranged("meshgrid", lambda *places: torch.meshgrid(*places, indexing=indexing or "ij"), arrays)


def broadcast_tensors(*tensors: Any) -> Any:
    return rearranged("broadcast_tensors", torch.broadcast_tensors, tensors)


# As methods many take their sizes one by one and in a tuple alike.
_MOVING: dict[str, Callable[..., Places]] = {
    **{
        name: getattr(torch.Tensor, name)
        for name in (
            *("reshape", "flatten", "ravel", "expand", "broadcast_to", "squeeze", "unsqueeze", "repeat", "tile"),
            *("transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "t", "adjoint", "roll", "flip"),
            *("unbind", "narrow", "select", "chunk", "diagonal", "diag", "diag_embed", "tril", "triu"),
            *("repeat_interleave", "index_select", "gather", "take_along_dim"),
        )
    },
    **{
        name: getattr(torch, name)
        for name in (
            *("stack", "cat", "concat", "concatenate", "hstack", "vstack", "row_stack", "split"),
            *("atleast_1d", "atleast_2d"),
        )
    },
    "view": torch.Tensor.reshape,  # the entries of balls have no layout
    "mT": lambda places: places.mT,
    "T": lambda places: places.permute(*reversed(range(places.ndim))),
    "linalg_diagonal": torch.linalg.diagonal,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: moving(name, function) for name, function in _MOVING.items()},
    **dict.fromkeys(("reshape_as", "view_as"), lambda x, other: call("reshape", x, tuple(other.shape))),
    "expand_as": lambda x, other: call("expand", x, tuple(other.shape)),
    "pad": pad,
    "meshgrid": meshgrid,
    "broadcast_tensors": broadcast_tensors,
    "__getitem__": lambda x, key: (x if isinstance(x, Truth) else array_of(x))[key],
}
