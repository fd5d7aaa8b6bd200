"""Linear maps given by their action on named blocks, applied without ever building the full matrix.

Every weight is a float64, hence an exact binary rational that all interpreters share; or a ball around a real number
that float64 does not hold (eta/n, say), for the exact interpreter alone.

Shapes: S width of the source stream, T width of the target stream, s and t sizes of one source and one target block,
r rank, ... any leading dimensions (batch, tokens).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import flint
import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numeric.balls import BallArray
from numeric.balls.conversion import ball_of
from numeric.balls.floats import enclosing_floats
from numeric.networks.stream import Stream, StreamError

Number: TypeAlias = float | int | Any  # flint.arb, Tensor and BallArray without axes too
BlockPair: TypeAlias = tuple[str, str]  # (target block, source block)


@dataclass(frozen=True, eq=False)
class LowRank:
    """The matrix `left @ right` of shape (t, s), kept as its factors (t, r) and (r, s)."""

    left: np.ndarray  # (t, r)
    right: np.ndarray  # (r, s)

    def __repr__(self) -> str:
        return f"<LowRank {self.left.shape[0]} x {self.right.shape[1]} of rank {self.left.shape[1]}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", frozen_array(self.left))
        object.__setattr__(self, "right", frozen_array(self.right))
        if self.left.ndim != 2 or self.right.ndim != 2 or self.left.shape[1] != self.right.shape[0]:
            raise StreamError(
                "LowRank", f"factors of shapes {self.left.shape} and {self.right.shape}", "Give (t, r) and (r, s)."
            )


# What a map does to one block: a multiple of the identity, a diagonal (s,), a dense matrix (t, s), or a low-rank one.
Action: TypeAlias = Number | np.ndarray | LowRank
TensorAction: TypeAlias = float | Tensor | tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class BlockMap:
    """The linear map R^S -> R^T with the given action; a pair of blocks that is not named is zero.

    `action` maps (target block, source block) to a number c (c times the identity; equal sizes), a 1-D float64
    array (a diagonal; equal sizes), a 2-D float64 array of shape (target size, source size), or a `LowRank`. Tensors
    count as arrays. Arrays of balls make a map for `numeric.networks.exact` only.
    """

    source: Stream
    target: Stream
    action: Mapping[BlockPair, Action]

    def __repr__(self) -> str:
        return f"<BlockMap {self.target.width} x {self.source.width}, with {len(self.action)} blocks that are not 0>"

    def __post_init__(self) -> None:
        canonical = {pair: _canonical(what) for pair, what in self.action.items()}
        object.__setattr__(self, "action", canonical)
        for (target_block, source_block), what in canonical.items():
            expected = (self.target.size(target_block), self.source.size(source_block))
            _check_fits(target_block, source_block, what, expected)

    @property
    def written(self) -> tuple[str, ...]:
        """Names of the target blocks that are not identically zero, in stream order."""
        touched = {target_block for target_block, _ in self.action}
        return tuple(name for name in self.target.names if name in touched)

    def opposite(self) -> "BlockMap":
        """The map with the opposite sign."""
        negative = {
            pair: LowRank(-what.left, what.right) if isinstance(what, LowRank) else -1 * what
            for pair, what in self.action.items()
        }
        return BlockMap(self.source, self.target, negative)

    def onto(self, names: Iterable[str]) -> "BlockMap":
        """The same map followed by the restriction to the target blocks `names`."""
        target = self.target.only(names)
        return BlockMap(self.source, target, {pair: what for pair, what in self.action.items() if pair[0] in target})

    def apply(self, tokens: Float[Tensor, "... S"]) -> Float[Tensor, "... T"]:
        """Apply to tokens of any leading shape, in their dtype and on their device."""
        return act(self, tensor_actions(self, tokens.dtype, tokens.device), tokens)

    def dense(self) -> Float64[np.ndarray, "T S"]:
        """The full matrix. The product of low-rank factors is rounded to float64; all other entries are exact."""
        matrix = np.zeros((self.target.width, self.source.width))  # (T, S)
        for (target_block, source_block), what in self.action.items():
            size = self.source.size(source_block)
            matrix[self.target.slice(target_block), self.source.slice(source_block)] = dense_action(what, size)
        return matrix

    def spectral_norm(self) -> float:
        """Largest singular value of the full matrix, to float64 accuracy (not rounded up)."""
        return float(np.linalg.norm(self.dense(), 2))

    def frobenius_norm(self) -> float:
        """Root of the sum of squares of all entries, to float64 accuracy."""
        return float(np.linalg.norm(self.dense()))

    def one_one_norm(self) -> float:
        """Sum of the absolute values of all entries, ||W||_{1,1}, to float64 accuracy."""
        return float(np.abs(self.dense()).sum())

    def max_norm(self) -> float:
        """Largest absolute value of an entry; exact."""
        return float(np.abs(self.dense()).max())


def identity_map(stream: Stream) -> BlockMap:
    """The identity of a stream."""
    return injection(stream, stream)


def injection(part: Stream, whole: Stream) -> BlockMap:
    """Places the blocks of `part` at the blocks of the same names of `whole`."""
    return BlockMap(part, whole, {(name, name): 1.0 for name in part.names})


def tensor_actions(
    block_map: BlockMap, dtype: torch.dtype, device: torch.device | str
) -> dict[BlockPair, TensorAction]:
    """The weights of a map as tensors of one dtype on one device; scales stay plain numbers."""

    def tensor(array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=dtype, device=device)

    def convert(what: Action) -> TensorAction:
        if isinstance(what, LowRank):
            return tensor(what.left), tensor(what.right)
        return tensor(what) if isinstance(what, np.ndarray) else float(what)

    if any(is_ball_weight(what) for what in block_map.action.values()):
        raise StreamError("BlockMap in torch", "weights that are balls", "Run it exactly, or build it from numbers.")

    return {pair: convert(what) for pair, what in block_map.action.items()}


def act(
    block_map: BlockMap, weights: Mapping[BlockPair, TensorAction], tokens: Float[Tensor, "... S"]
) -> Float[Tensor, "... T"]:
    """Apply a map whose weights are already tensors; reads and writes the named blocks only."""
    if tokens.shape[-1] != block_map.source.width:
        raise StreamError(
            "BlockMap.apply",
            f"tokens of width {tokens.shape[-1]} for the source {block_map.source} of width {block_map.source.width}",
            "Pass tokens of the source stream.",
        )
    images: dict[str, Tensor] = {}
    for (target_block, source_block), weight in weights.items():
        image = act_on_block(weight, tokens[..., block_map.source.slice(source_block)])  # (..., t)
        images[target_block] = images[target_block] + image if target_block in images else image
    return torch.cat([_image_or_zero(images, block.name, block.size, tokens) for block in block_map.target.blocks], -1)


def dense_action(what: Action, size: int) -> Float64[np.ndarray, "t s"]:
    """The matrix of one action on a source block of this size."""
    if isinstance(what, LowRank):
        return what.left @ what.right
    if isinstance(what, np.ndarray):
        return np.diag(what) if what.ndim == 1 else what
    return float(what) * np.eye(size)


def act_on_block(weight: Any, block: Any) -> Any:
    """On a tensor or an array of balls (..., s)."""
    if isinstance(weight, float):
        return block if weight == 1.0 else block * weight  # (..., s)
    if isinstance(weight, tuple):
        left, right = weight
        return block @ right.T @ left.T  # (..., s) -> (..., r) -> (..., t)
    return block * weight if weight.ndim < 2 else block @ weight.T  # (..., t)


def _image_or_zero(images: Mapping[str, Tensor], name: str, size: int, tokens: Tensor) -> Tensor:
    return images[name] if name in images else tokens.new_zeros(*tokens.shape[:-1], size)


def frozen_array(array: np.ndarray | Tensor | BallArray) -> np.ndarray:
    """A read-only copy: of float64, or of balls (dtype object)."""
    if isinstance(array, Tensor):
        array = array.detach().cpu().double().numpy()
    if isinstance(array, BallArray):
        copy = np.array(array.balls, dtype=object).reshape(array.shape)
    elif isinstance(array, np.ndarray) and array.dtype == object:
        copy = array.copy()
    else:
        floats = array.double().numpy(force=True) if isinstance(array, Tensor) else array
        copy = np.array(floats, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def as_weight(number: Number) -> Any:
    """A number as a float64, or as the ball that it is."""
    if isinstance(number, BallArray):
        return number.balls[0]
    if enclosing_floats() and isinstance(number, int | float):
        return ball_of(number)
    return number if isinstance(number, flint.arb) else float(number)


def all_finite(array: np.ndarray) -> bool:
    """Whether every number, or every ball, is finite."""
    if array.dtype == object:
        return all(ball.is_finite() for ball in array.flat)
    return bool(np.isfinite(array).all())


def is_ball_weight(what: Action) -> bool:
    """Whether an action holds balls instead of float64 numbers."""
    parts = (what.left, what.right) if isinstance(what, LowRank) else (what,)
    return any(isinstance(p, flint.arb) or (isinstance(p, np.ndarray) and p.dtype == object) for p in parts)


def _canonical(what: Action) -> Action:
    if isinstance(what, LowRank | flint.arb):
        return what
    if isinstance(what, np.ndarray) or (isinstance(what, Tensor | BallArray) and what.ndim > 0):
        return frozen_array(what)
    return as_weight(what)


def _check_fits(target_block: str, source_block: str, what: Action, expected: tuple[int, int]) -> None:
    call = f"BlockMap action ({target_block!r}, {source_block!r})"
    if isinstance(what, LowRank):
        shape, finite = (
            (what.left.shape[0], what.right.shape[1]),
            all_finite(what.left) and all_finite(what.right),
        )
    elif isinstance(what, np.ndarray) and what.ndim == 2:
        shape, finite = (what.shape[0], what.shape[1]), all_finite(what)
    elif isinstance(what, np.ndarray) and what.ndim == 1:
        shape, finite = (what.shape[0], what.shape[0]), all_finite(what)
    elif isinstance(what, np.ndarray):
        raise StreamError(call, f"an array of shape {what.shape}", "Give a number, a diagonal (1-D) or a matrix (2-D).")
    else:
        shape = (expected[1], expected[1])
        finite = what.is_finite() if isinstance(what, flint.arb) else math.isfinite(what)
    if shape != expected:
        raise StreamError(
            call,
            f"a weight of shape {shape} where (target size, source size) is {expected}",
            "Give a dense array of that shape; a number or a diagonal needs blocks of equal size.",
        )
    if not finite:
        raise StreamError(call, "a weight that is not finite", "Weights must be finite float64 numbers.")
