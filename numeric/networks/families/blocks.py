"""What layers of families do to the blocks of all tokens, a whole family at once (numeric/networks/block_layers.py).

It is what the matrices do that a layer spells out, up to rounding, at the cost of the few numbers that a family holds.
Written in torch, so that it runs on tensors, batched or under vmap, and on arrays of balls.

Shapes: B batch, L tokens, Q queries, K size of the target block.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

import torch

from numeric.balls import BallArray
from numeric.networks.block_layers import BlockLayer
from numeric.networks.blocks import Array, Blocks, Products, Queries, at_every
from numeric.networks.families.layers import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyMultiplication,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.networks.layers import CompactLayer
from numeric.networks.stream import Stream, StreamError


class AttentionBlocks(BlockLayer):
    def __init__(self, layer: FamilyAttention) -> None:
        activations = [each for each in layer.families if isinstance(each, ActivationHeads)]
        functions = {id(family.relus): family.relus for family in activations}.values()
        self.activations = [(each, [family for family in activations if family.relus is each]) for each in functions]
        self.outer = [each for each in layer.families if isinstance(each, OuterProductHeads)]
        self.stream = layer.stream

    # Each key holds the same row of the matrix and the same one, so that the mean over the keys is each of them.
    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        """Families that share one sum of ReLUs look their scores up at once."""
        for relus, families in self.activations:
            scores = [rows_times(family, blocks, self.stream, products) for family in families]  # each (B, L, K)
            if len(scores) == 1:
                yield {families[0].target: relus(at.rows(scores[0]))}
                continue
            values = relus(at.rows(torch.cat(scores, dim=-1)))
            pieces = values.split([each.shape[-1] for each in scores], dim=-1)
            for family, piece in zip(families, pieces, strict=True):
                yield {family.target: piece}
        for each in self.outer:
            yield {each.matrix: outer_product(each, blocks, at)}


def rows_times(family: ActivationHeads, blocks: Blocks, stream: Stream, products: Products) -> Array:
    """The products of each token's source with the rows of the matrix, (B, L, K)."""
    of = block_of(blocks, family.source, stream), block_of(blocks, family.matrix, stream)
    return products.once("rows", of, lambda: of[0] @ matrix_of(family.matrix, of[1], stream.size(family.source)).mT)


def outer_product(family: OuterProductHeads, blocks: Blocks, at: Queries) -> Array:
    """What it adds, -scale * mean over the tokens of signal times source, row by row: (B, 1, rows * columns)."""
    signal, source = (at_every(blocks[name], at.length) for name in (family.signal, family.source))
    exactly = share_of_a_token(-family.scale, at.length)
    found = (signal.mT @ source) * (exactly if isinstance(signal, BallArray) else float(exactly))
    return found.reshape(found.shape[0], 1, -1)


@lru_cache(maxsize=64)
def share_of_a_token(scale: Fraction, length: int) -> Fraction:
    return scale / length


class MultiplicationBlocks(BlockLayer):
    def __init__(self, layer: FamilyMultiplication) -> None:
        self.families = layer.families

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        for family in self.families:
            signal, factor = (at.rows(blocks[name]) for name in (family.signal, family.factor))
            if isinstance(family, TransposeHeads):
                signal = signal @ matrix_of(family.matrix, blocks[family.matrix], factor.shape[-1])  # (B, Q, K)
            yield {family.target: factor * signal}


class MaskedBlocks(BlockLayer):
    def __init__(self, layer: MaskedUnits) -> None:
        self.layer = layer

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        """Tokens in a row that have one mask are looked up, or cut off, at once."""
        layer, masks = self.layer, blocks[self.layer.mask]
        t, y = (at_every(at.rows(blocks[name]), at.count) for name in (layer.first, layer.second))  # (B, Q, K)
        runs = products.once(at.first, (masks,), lambda: runs_of(layer.mask, at_every(at.rows(masks), at.count)))
        pieces = [masked_units(layer, t[:, start:end], y[:, start:end], mask) for start, end, mask in runs]
        yield {layer.into: pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=1)}


def masked_units(layer: MaskedUnits, t: Array, y: Array, mask: float) -> Array:
    if mask == 1:
        return layer.relus(t, y)
    return layer.masked(t, y) if mask == 0 else layer.literally(t, y, mask)


def runs_of(name: str, block: Array) -> list[tuple[int, int, float]]:
    """First and last of the tokens in a row that have one mask, which is the same in all prompts of a batch."""
    values = block.midpoint() if isinstance(block, BallArray) else block.detach().double().cpu()  # (B, Q, 1)
    prompts: list[list[list[float]]] = values.tolist()
    if any(each != prompts[0] for each in prompts):
        raise StreamError(f"mask in block {name!r}", "one that differs between prompts", "Run them one by one.")
    found, start = [], 0
    for mask, group in groupby(mask for (mask,) in prompts[0]):
        end = start + len(list(group))
        found.append((start, end, mask))
        start = end
    return found


class BoxBlocks(BlockLayer):
    """Sets its blocks; what it adds is the difference."""

    sets = True

    def __init__(self, layer: BoxAndClear) -> None:
        self.layer = layer

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        rows = at.of(blocks)
        after = self.after(rows, ())
        yield {name: after[name] - rows[name] if name in after else -rows[name] for name in self._present(rows)}

    def after(self, blocks: Blocks, images: Sequence[Blocks]) -> Blocks:
        kept = {name: block for name, block in blocks.items() if name not in self.layer.cleared}
        boxes = dict(self.layer.boxes)
        clipped = {name: kept[name].clamp(-boxes[name], boxes[name]) for name in self._present(kept)}
        return {**kept, **clipped}

    def _present(self, blocks: Blocks) -> list[str]:
        return [name for name in self.layer.blocks if name in blocks]


def compact_blocks(layer: CompactLayer) -> BlockLayer:
    """The layer as one on blocks. Raises StreamError for a kind that has none."""
    if isinstance(layer, FamilyAttention):
        return AttentionBlocks(layer)
    if isinstance(layer, FamilyMultiplication):
        return MultiplicationBlocks(layer)
    if isinstance(layer, MaskedUnits):
        return MaskedBlocks(layer)
    if isinstance(layer, BoxAndClear):
        return BoxBlocks(layer)
    raise StreamError("SharedNetwork", f"a layer of {type(layer).__name__}", "Run it with Network.")


def block_of(blocks: Blocks, name: str, stream: Stream) -> Array:
    """The block, also where it is zero."""
    return blocks[name] if name in blocks else next(iter(blocks.values())).new_zeros(1, 1, stream.size(name))


def matrix_of(name: str, block: Array, columns: int) -> Array:
    """The matrix that a block holds row by row, the same at all tokens: (B, rows, columns)."""
    if block.shape[1] > 1:
        raise StreamError(f"matrix in block {name!r}", "one that differs between tokens", "Run it with Network.")
    return block.reshape(block.shape[0], block.shape[2] // columns, columns)
