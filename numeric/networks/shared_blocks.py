"""A construction run block by block, where a block that is the same at all tokens is computed once.

That follows from what a block is computed from (a bias, such blocks, attention whose queries are the same): nothing is
declared. Attention weights are computed once for all layers between which no block changes that they are made of, as in
a loop that moves values alone. The result is that of `Network`, up to rounding. On balls it is the exact one
(numeric/networks/exact.py).

Shapes: B batch, L tokens, R rows of a block (L, or 1 for all tokens), Q queries of a layer, s size of a block.
"""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.networks.block_layers import (
    BlockAttention,
    BlockFeedForward,
    BlockLayer,
    FloatWeights,
    LogisticBlocks,
    NumberKind,
    SharedMap,
    bias_rows,
)
from numeric.networks.blocks import Array, Blocks, Products, Queries, summed
from numeric.networks.construction import (
    AttentionTap,
    ChangeTap,
    Construction,
    LayerTap,
    ScoresTap,
    StreamTap,
    taps_by_layer,
)
from numeric.networks.families.blocks import compact_blocks
from numeric.networks.layers import AttentionKind, CompactLayer, FeedForward, Layer, LogisticAttention
from numeric.networks.stream import StreamError

SCORES_KEPT = 1 << 23  # of a head, for all prompts that run together: 64 MiB in float64


class BlockRun:
    """A construction with its weights as tensors of a dtype or as balls, ready to run blocks."""

    def __init__(self, construction: Construction, kind: NumberKind) -> None:
        self.construction = construction
        made = {id(layer): layer for layer in construction.layers}
        own = {key: block_layer(layer, kind) for key, layer in made.items()}
        self.layers = [own[id(layer)] for layer in construction.layers]
        self.embedding, self.readout = (
            SharedMap(each, kind) for each in (construction.embedding.map, construction.readout)
        )
        self.bias = bias_rows(construction.embedding.bias, kind)

    def run(self, source: Blocks, length: int, taps: Sequence[str] | None = None) -> dict[str, Array]:
        """The output under "output", and the taps of these names, from the blocks of a prompt."""
        selected = taps_by_layer(self.construction.select_taps(None if taps is None else tuple(taps)))
        batch = max(each.shape[0] for each in source.values())
        products, none = Products(), next(iter(source.values()))
        found: dict[str, Array] = {}
        before, blocks, images = dict[str, Array](), summed(self.embedding(source), self.bias), list[Blocks]()
        every = Queries(0, length)
        for number in range(len(self.layers) + 1):
            first, here = self.construction.first_query(number, length), selected.get(number, {})
            at = Queries(first, length) if first else every
            if number:
                changes = any(isinstance(tap, ChangeTap) for tap in here.values())
                before, (blocks, images) = blocks, self.step(number, blocks, at, products, changes=changes)
            for name, tap in here.items():
                if isinstance(tap, StreamTap | ChangeTap):
                    width = self.construction.stream(number).size(tap.block)
                    parts = [each[tap.block] for each in images if tap.block in each]
                    if isinstance(tap, StreamTap):
                        parts = [blocks[tap.block]] if tap.block in blocks else []
                    value = sum(parts[1:], start=parts[0]) if parts else none.new_zeros(1, 1, width)
                else:
                    width, value = length, self._of_head(number, tap, before, at, products)
                found[name] = value.expand(batch, at.count, width)
        output = self._output(blocks, none).expand(batch, at.count, self.readout.target.width)
        return {**found, "output": output[:, -1] if self.construction.last_token_only else output}

    def _output(self, blocks: Blocks, none: Array) -> Array:
        """(B, R, O), with one row where all of it is the same at all tokens."""
        found = self.readout(blocks)
        parts = [
            found[each.name] if each.name in found else none.new_zeros(1, 1, each.size)
            for each in self.readout.target.blocks
        ]
        batch, rows = (max(each.shape[axis] for each in parts) for axis in (0, 1))
        return torch.cat([each.expand(batch, rows, each.shape[2]) for each in parts], -1)

    def step(
        self, number: int, blocks: Blocks, at: Queries, products: Products, *, changes: bool
    ) -> tuple[Blocks, list[Blocks]]:
        """The blocks of the queries after layer `number`, from those of all tokens before it, and what it adds.

        A layer that sets blocks computes what it adds only for `changes`.
        """
        layer = self.layers[number - 1]
        images = list(layer.images(blocks, at, products)) if changes or not layer.sets else []
        residual = self.construction.layers[number - 1].residual
        after = layer.after(at.of(blocks) if residual else {}, images)
        products.keep(after)
        return after, images

    def _of_head(self, number: int, tap: LayerTap, before: Blocks, at: Queries, products: Products) -> Array:
        """Scores or weights of the queries, (B, Q, L); one row where all queries are the same."""
        layer = self.layers[number - 1]
        assert isinstance(layer, BlockAttention)  # the construction has checked its taps
        assert isinstance(tap, ScoresTap | AttentionTap)
        head = layer.heads[tap.head]
        return head.scores(before, at, products) if isinstance(tap, ScoresTap) else head.weights(before, at, products)


def block_layer(layer: Layer, kind: NumberKind) -> BlockLayer:
    if isinstance(layer, CompactLayer):
        return compact_blocks(layer)
    if isinstance(layer, FeedForward):
        return BlockFeedForward(layer, kind)
    return LogisticBlocks(layer, kind) if isinstance(layer, LogisticAttention) else BlockAttention(layer, kind)


class SharedNetwork:
    """The blocks of a construction on tensors, with the weights rounded to `dtype` on `device`. Differentiable.

    Shapes are those of `Network.run`. A prompt is (B, L, d), or its blocks by name, (B or 1, L or 1, size) each: one
    row where a block is the same at all tokens.
    """

    def __init__(
        self, construction: Construction, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
    ) -> None:
        self.construction, self.dtype, self.device = construction, dtype, device
        self.blocks = BlockRun(construction, FloatWeights(dtype, device))
        self.scored = any(isinstance(layer, AttentionKind) for layer in construction.layers)

    def run(
        self, x: Float[Tensor, "B L d"] | Mapping[str, Tensor], taps: Sequence[str] | None = None
    ) -> dict[str, Tensor]:
        """The output under "output", and the taps of these names (all of them for None)."""
        source = x if isinstance(x, Mapping) else self._blocks_of(x)
        self._check(source)
        length, batch = (max(each.shape[axis] for each in source.values()) for axis in (1, 0))
        at_once = max(1, SCORES_KEPT // length**2) if self.scored else batch
        if batch <= at_once:
            return self.blocks.run(dict(source), length, taps)
        starts = range(0, batch, at_once)
        pieces = [{name: _part(each, start, at_once) for name, each in source.items()} for start in starts]
        parts = [self.blocks.run(piece, length, taps) for piece in pieces]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def _blocks_of(self, x: Tensor) -> Blocks:
        source = self.construction.source
        if x.ndim != 3 or x.shape[-1] != source.width:
            raise self._refused(f"an input of shape {tuple(x.shape)}", f"Give (batch, length, {source.width})")
        return {name: x[..., source.slice(name)] for name in source.names}

    def _check(self, source: Mapping[str, Tensor]) -> None:
        wanted = {block.name: block.size for block in self.construction.source.blocks}
        got = {name: tuple(each.shape) for name, each in source.items()}
        if {name: shape[-1] for name, shape in got.items()} != wanted or any(len(shape) != 3 for shape in got.values()):
            sizes = ", ".join(f"{name} ({size})" for name, size in wanted.items())
            raise self._refused(f"blocks of shapes {got}", f"Give each block as (batch, length, size): {sizes}")
        kinds = {each.dtype for each in source.values()}
        if kinds != {self.dtype}:
            raise self._refused(f"an input of {', '.join(sorted(map(str, kinds)))}", "Give it")

    def _refused(self, got: str, remedy: str) -> StreamError:
        return StreamError(f"SharedNetwork({self.construction.name!r})", got, f"{remedy} in {self.dtype}.")


def _part(block: Tensor, start: int, count: int) -> Tensor:
    return block if block.shape[0] == 1 else block[start : start + count]
