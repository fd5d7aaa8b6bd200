"""Layers whose heads or hidden units come in families, kept as the few numbers in which they differ.

A family describes thousands of sparse D x D matrices in one line. `blocks` beside it applies it as a whole;
`spelled_out()` gives each matrix, as the paper has them. All layers are residual.

A block that holds a matrix holds it row by row. `one` is a block of size 1 that is 1 in every token.

Sizes: D width of the stream, H number of ReLUs of a sum, s size of the source block, t size of the target block.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import torch

from numeric.balls import BallArray
from numeric.balls.array import Truth
from numeric.networks.layers import CompactLayer, ElementwiseMultiplication, FeedForward, Head, ReluAttention
from numeric.networks.loss_sums import LossSum
from numeric.networks.maps import Action, BlockMap, BlockPair, LowRank
from numeric.networks.relu_sums import ReluSum
from numeric.networks.stream import Block, Stream, StreamError


@dataclass(frozen=True, eq=False)
class _OfFamilies(CompactLayer):
    """A layer of heads that come in families."""

    stream: Stream
    families: tuple[Any, ...]
    one: str = "one"

    def __post_init__(self) -> None:
        _check_families(type(self).__name__, self.stream, self.families, self.one)

    @property
    def head_count(self) -> int:
        return sum(family.count(self.stream) for family in self.families)

    def heads(self) -> Iterator[Head]:
        """Every head with its matrices, one at a time."""
        for number, family in enumerate(self.families, start=1):
            for head in family.heads(self.stream, self.one):
                yield replace(head, name=f"{number}: {head.name}")


@dataclass(frozen=True, eq=False)
class ActivationHeads:
    """ReLU-attention heads (m, k) that put sum_m c_m relu(<a_m, [v_k . source; 1]>) into target[k] (wu2024, (D.7)).

    Q h = [a_m[0] source; a_m[1] one; 0], K h = [v_k; one; 0] with v_k row k of `matrix`, V h = c_m one e_target[k].
    """

    source: str
    matrix: str
    target: str
    relus: ReluSum

    def check(self, stream: Stream) -> None:
        _require_matrix(stream, self.matrix, stream.size(self.target), stream.size(self.source))

    def count(self, stream: Stream) -> int:
        return len(self.relus.weights) * stream.size(self.target)

    def heads(self, stream: Stream, one: str) -> Iterator[Head]:
        size = stream.size(self.source)
        scores = stream.headed_by(Block("match", size), Block("shift", 1))
        for k in range(stream.size(self.target)):
            row = _row_of_matrix(stream, self.matrix, k, size)
            key = BlockMap(stream, scores, {("match", self.matrix): row, ("shift", one): 1.0})
            for m, (weight, (slope, shift)) in enumerate(zip(self.relus.weights, self.relus.directions, strict=True)):
                query = BlockMap(stream, scores, {("match", self.source): float(slope), ("shift", one): float(shift)})
                value = BlockMap(stream, stream, {(self.target, one): _column(stream, self.target, k, weight)})
                yield Head(f"{self.target}, {k}, {m}", query, key, value)


@dataclass(frozen=True, eq=False)
class OuterProductHeads:
    """ReLU-attention heads (+-, k) that add -scale * mean over the tokens of signal[k] source to row k of `matrix`.

    Q h = [+-one], K h = [signal[k]], V h = -+ scale source into row k (wu2024, (D.16)); relu(a) - relu(-a) = a.
    The scale is a rational number, rounded only where a matrix or a tensor needs it.
    """

    signal: str
    source: str
    matrix: str
    scale: Fraction

    def check(self, stream: Stream) -> None:
        _require_matrix(stream, self.matrix, stream.size(self.signal), stream.size(self.source))

    def count(self, stream: Stream) -> int:
        return 2 * stream.size(self.signal)

    def heads(self, stream: Stream, one: str) -> Iterator[Head]:
        size = stream.size(self.source)
        scores = stream.headed_by(Block("score", 1))
        for k in range(stream.size(self.signal)):
            key = BlockMap(stream, scores, {("score", self.signal): _selector(stream, self.signal, k)})
            into_row = _row_of_matrix(stream, self.matrix, k, size).T
            for sign in (1.0, -1.0):
                query = BlockMap(stream, scores, {("score", one): sign})
                value = BlockMap(stream, stream, {(self.matrix, self.source): -sign * float(self.scale) * into_row})
                yield Head(f"{self.matrix}, {k}, {'+' if sign > 0 else '-'}", query, key, value)


AttentionFamily: TypeAlias = ActivationHeads | OuterProductHeads


@dataclass(frozen=True, eq=False)
class FamilyAttention(_OfFamilies):
    """A ReLU-attention layer (wu2024, Definition 7): h_i + (1/n) sum over heads and tokens, n the number of tokens."""

    families: tuple[AttentionFamily, ...]

    def spelled_out(self) -> ReluAttention:
        return ReluAttention(tuple(self.heads()), residual=True)


@dataclass(frozen=True, eq=False)
class HadamardHeads:
    """Multiplication heads k that put factor[k] signal[k] into target[k].

    Q h = [one], K h = [signal[k]], V h = factor[k] e_target[k].
    """

    factor: str
    signal: str
    target: str

    def check(self, stream: Stream) -> None:
        sizes = {name: stream.size(name) for name in (self.factor, self.signal, self.target)}
        if len(set(sizes.values())) > 1:
            raise StreamError("HadamardHeads", f"blocks of sizes {sizes}", "Multiply blocks of equal size.")

    def count(self, stream: Stream) -> int:
        return stream.size(self.target)

    def heads(self, stream: Stream, one: str) -> Iterator[Head]:
        scores = stream.headed_by(Block("score", 1))
        query = BlockMap(stream, scores, {("score", one): 1.0})
        for k in range(stream.size(self.target)):
            key = BlockMap(stream, scores, {("score", self.signal): _selector(stream, self.signal, k)})
            yield Head(f"{self.target}, {k}", query, key, _coordinate(stream, self.target, self.factor, k))


@dataclass(frozen=True, eq=False)
class TransposeHeads:
    """Multiplication heads k that put factor[k] <column k of `matrix`, signal> into target[k].

    Q h = [column k of the matrix; 0], K h = [signal; 0], V h = factor[k] e_target[k] (wu2024, (D.15)).
    """

    factor: str
    matrix: str
    signal: str
    target: str

    def check(self, stream: Stream) -> None:
        _require_matrix(stream, self.matrix, stream.size(self.signal), stream.size(self.target))
        HadamardHeads(self.factor, self.factor, self.target).check(stream)

    def count(self, stream: Stream) -> int:
        return stream.size(self.target)

    def heads(self, stream: Stream, one: str) -> Iterator[Head]:
        rows, columns = stream.size(self.signal), stream.size(self.target)
        scores = stream.headed_by(Block("match", rows))
        key = BlockMap(stream, scores, {("match", self.signal): 1.0})
        for k in range(columns):
            column = np.zeros((rows, rows * columns))
            column[np.arange(rows), np.arange(rows) * columns + k] = 1.0
            query = BlockMap(stream, scores, {("match", self.matrix): column})
            yield Head(f"{self.target}, {k}", query, key, _coordinate(stream, self.target, self.factor, k))


MultiplicationFamily: TypeAlias = HadamardHeads | TransposeHeads


@dataclass(frozen=True, eq=False)
class FamilyMultiplication(_OfFamilies):
    """h_i + sum over heads of <Q h_i, K h_i> V h_i, at each token by itself (wu2024, Definition 6)."""

    families: tuple[MultiplicationFamily, ...]

    def spelled_out(self) -> ElementwiseMultiplication:
        return ElementwiseMultiplication(tuple(self.heads()), residual=True)


@dataclass(frozen=True, eq=False)
class MaskedUnits(CompactLayer):
    """An MLP layer that puts sum_m c_m relu(<a_m, [t; y; 1]> - bound (1 - mask)) into a block (wu2024, (D.14)).

    t and y are the blocks `first` and `second`, coordinate by coordinate. Where mask = 1 this is the sum of ReLUs;
    where mask = 0 it is 0 as soon as bound >= |t[k]|, |y[k]|, 1, since ||a_m||_1 <= 1 keeps every argument below
    the bound. The coefficient of `one` is the real number a_m[2] - bound, rounded only in a dense matrix.
    """

    stream: Stream
    first: str
    second: str
    into: str
    relus: LossSum
    bound: float
    mask: str
    one: str = "one"

    def __post_init__(self) -> None:
        HadamardHeads(self.first, self.second, self.into).check(self.stream)
        for name in (self.one, self.mask):
            _require_constant("MaskedUnits", self.stream, name)
        if not (self.bound >= 1 and np.isfinite(self.bound)):
            raise StreamError("MaskedUnits", f"bound={self.bound}", "The mask needs a finite bound of at least 1.")

    @property
    def hidden_width(self) -> int:
        return len(self.relus.weights) * self.stream.size(self.into)

    def spelled_out(self) -> FeedForward:
        """The layer with its matrices W_1 (d', D) and W_2 (D, d') as block maps."""
        size, count = self.stream.size(self.into), len(self.relus.weights)
        hidden = Stream([Block("relu", size * count)])
        each = np.eye(size)  # unit (k, m) lies at k H + m
        slopes, shifts = self.relus.directions[:, :2], np.tile(self.relus.directions[:, 2], size)
        mask_and_shift = LowRank(np.stack([shifts, np.full(size * count, -self.bound)], axis=1), np.ones((2, 1)))
        inner: dict[BlockPair, Action] = {
            ("relu", self.first): np.kron(each, slopes[:, :1]),
            ("relu", self.second): np.kron(each, slopes[:, 1:]),
            ("relu", self.one): mask_and_shift,
            ("relu", self.mask): np.full((size * count, 1), self.bound),
        }
        outer = BlockMap(hidden, self.stream, {(self.into, "relu"): np.kron(each, self.relus.weights[None, :])})
        return FeedForward(BlockMap(self.stream, hidden, inner), {}, outer, residual=True)

    def masked(self, t: Any, y: Any) -> Any:
        """The sum where mask = 0: exactly 0 where ||a_m||_1 <= 1 settles it, else all its terms."""
        settled = torch.maximum(t.detach().abs(), y.detach().abs()) <= self.bound
        if _all_hold(settled):
            return torch.zeros_like(t)
        return torch.where(settled, torch.zeros_like(t), self.literally(t, y, mask=0.0))

    def literally(self, t: Any, y: Any, mask: float) -> Any:
        """The sum over all units for one value of the mask, entry by entry of t and y, tensors or arrays of balls."""
        floats = torch.float64 if isinstance(t, BallArray) else t.dtype
        weights, a = self.relus.tensors(floats, t.device)  # (H), (H, 3)
        arguments = t[..., None] * a[:, 0] + y[..., None] * a[:, 1] + a[:, 2] - self.bound * (1 - mask)
        return torch.relu(arguments) @ weights


def _all_hold(settled: Any) -> bool:
    """Whether it is known now that all do: under vmap no branch can depend on it."""
    if isinstance(settled, Truth):
        return all(each is True for each in settled.entries.flat)
    try:
        return bool(settled.all())
    except RuntimeError:
        return False


@dataclass(frozen=True, eq=False)
class BoxAndClear(CompactLayer):
    """An MLP layer that clips the blocks in `boxes` to [-b, b] and sets the blocks in `cleared` to 0.

    w - relu(w - b) + relu(-w - b) = clip(w, -b, b) and x - relu(x) + relu(-x) = 0: two hidden units a coordinate.
    """

    stream: Stream
    boxes: tuple[tuple[str, float], ...]
    cleared: tuple[str, ...]
    one: str = "one"

    def __post_init__(self) -> None:
        _require_constant("BoxAndClear", self.stream, self.one)
        for name in self.blocks:
            self.stream.slice(name)
        bad = [(name, width) for name, width in self.boxes if not (width > 0 and np.isfinite(width))]
        if bad or len(set(self.blocks)) < len(self.blocks):
            raise StreamError("BoxAndClear", f"blocks {self.blocks}, half widths {bad}", "Name each block once, b > 0.")

    @property
    def blocks(self) -> tuple[str, ...]:
        return (*(name for name, _ in self.boxes), *self.cleared)

    @property
    def hidden_width(self) -> int:
        return 2 * sum(self.stream.size(name) for name in self.blocks)

    def spelled_out(self) -> FeedForward:
        """The layer with its matrices W_1 (d', D) and W_2 (D, d') as block maps."""
        sizes = {name: self.stream.size(name) for name in self.blocks}
        hidden = Stream([Block(f"{sign}{name}", size) for name, size in sizes.items() for sign in "+-"])
        inner: dict[BlockPair, Action] = {}
        outer: dict[BlockPair, Action] = {}
        for name in self.blocks:
            for sign, unit in (("+", 1.0), ("-", -1.0)):
                inner[sign + name, name], outer[name, sign + name] = unit, -unit
        for name, width in self.boxes:
            for sign in "+-":
                inner[sign + name, self.one] = np.full((sizes[name], 1), -width)
        return FeedForward(
            BlockMap(self.stream, hidden, inner), {}, BlockMap(hidden, self.stream, outer), residual=True
        )


FamilyLayer: TypeAlias = FamilyAttention | FamilyMultiplication | MaskedUnits | BoxAndClear


def _check_families(call: str, stream: Stream, families: tuple[object, ...], one: str) -> None:
    if not families:
        raise StreamError(call, "no families of heads", "Give at least one.")
    _require_constant(call, stream, one)
    for family in families:
        family.check(stream)  # type: ignore[attr-defined]  # both unions of families have it


def _require_constant(call: str, stream: Stream, name: str) -> None:
    if stream.size(name) != 1:
        raise StreamError(call, f"{name!r} of size {stream.size(name)}", "It must be a block of size 1.")


def _require_matrix(stream: Stream, name: str, rows: int, columns: int) -> None:
    if stream.size(name) != rows * columns:
        raise StreamError(
            f"matrix in block {name!r}",
            f"size {stream.size(name)} for {rows} rows of {columns}",
            "Give a block of rows * columns coordinates.",
        )


def _row_of_matrix(stream: Stream, matrix: str, row: int, columns: int) -> np.ndarray:
    """Selects row `row`: (columns, rows * columns)."""
    selector = np.zeros((columns, stream.size(matrix)))
    selector[:, row * columns : (row + 1) * columns] = np.eye(columns)
    return selector


def _selector(stream: Stream, name: str, k: int) -> np.ndarray:
    return np.eye(stream.size(name))[k : k + 1]  # (1, s)


def _column(stream: Stream, name: str, k: int, weight: float) -> np.ndarray:
    return float(weight) * _selector(stream, name, k).T  # (t, 1)


def _coordinate(stream: Stream, target: str, source: str, k: int) -> BlockMap:
    diagonal = np.zeros(stream.size(target))
    diagonal[k] = 1.0
    return BlockMap(stream, stream, {(target, source): diagonal})
