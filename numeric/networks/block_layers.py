"""Layers that act on blocks (numeric/networks/blocks.py), their weights rounded to a dtype, or as balls.

Shapes: B batch (1 on balls), L tokens, Q queries, R rows of a block (L, or 1 for all tokens), s and t sizes of blocks.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numeric.balls import BallArray
from numeric.balls.conversion import entries_of_values
from numeric.networks.attention import attention_weights, causal_average, examples
from numeric.networks.blocks import Array, Blocks, Products, Queries, at_every, summed
from numeric.networks.layers import (
    AttentionKind,
    ElementwiseMultiplication,
    FeedForward,
    Head,
    LinearAttention,
    LogisticAttention,
)
from numeric.networks.maps import BlockMap, LowRank, act_on_block, tensor_actions


@dataclass(frozen=True)
class FloatWeights:
    """Weights in a dtype on a device."""

    dtype: torch.dtype
    device: torch.device | str

    def actions(self, block_map: BlockMap) -> Mapping[tuple[str, str], Any]:
        return tensor_actions(block_map, self.dtype, self.device)

    def array(self, values: np.ndarray) -> Array:
        return torch.tensor(values, dtype=self.dtype, device=self.device)


@dataclass(frozen=True)
class BallWeights:
    """Weights as balls of the working precision: the float64 numbers, or those that they stand for."""

    def actions(self, block_map: BlockMap) -> Mapping[tuple[str, str], Any]:
        return {pair: self._action(what) for pair, what in block_map.action.items()}

    def _action(self, what: Any) -> Any:
        if isinstance(what, LowRank):
            return self.array(what.left), self.array(what.right)
        if isinstance(what, np.ndarray):
            return self.array(what)
        return 1.0 if what == 1.0 else BallArray.of_entries(entries_of_values(what))

    def array(self, values: np.ndarray) -> Array:
        return BallArray.of_entries(entries_of_values(values))


NumberKind = FloatWeights | BallWeights


class SharedMap:
    """A block map with its weights."""

    def __init__(self, block_map: BlockMap, kind: NumberKind) -> None:
        self.source, self.target = block_map.source, block_map.target
        self.terms = [(name, read, w) for (name, read), w in kind.actions(block_map).items()]
        self.read = tuple(dict.fromkeys(read for _, read, _ in self.terms))
        written = dict.fromkeys(name for name, _, _ in self.terms)
        # values are mapped before the average where their image is narrower than what it is computed from
        self.narrows = sum(map(self.source.size, self.read)) > sum(map(self.target.size, written))

    def __call__(self, blocks: Blocks) -> Blocks:
        images: Blocks = {}
        for name, source, weight in self.terms:
            if source in blocks:
                image = act_on_block(weight, blocks[source])  # (B, R, t)
                images[name] = images[name] + image if name in images else image
        return images

    # <W_Q h_i, W_K h_j> = <W_K^T W_Q h_i, h_j>: the key's map is applied to the queries, of which there are fewer.
    def scores(self, queries: Blocks, blocks: Blocks, products: Products) -> Array | None:
        """(B, Q, R), of these queries and the keys that the map makes; None if they are all 0."""
        found = None
        for name, source, weight in self.terms:
            if name in queries and source in blocks:
                if isinstance(weight, float) or (not isinstance(weight, tuple) and weight.ndim == 0):
                    term = products.of(queries[name], blocks[source]) * weight  # (B, Q, R)
                else:
                    term = products.of(_transposed(weight, queries[name]), blocks[source])
                found = term if found is None else found + term
        return found


class BlockLayer(ABC):
    """What a layer adds to the blocks of the queries; one that `sets` blocks knows what is after it without that."""

    sets = False

    @abstractmethod
    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        """One part after the other, from the blocks of all tokens."""

    def after(self, blocks: Blocks, images: Sequence[Blocks]) -> Blocks:
        """These blocks of the queries, none for a layer that is not residual, with all that the layer adds."""
        found = dict(blocks)
        for image in images:
            for name, each in image.items():
                found[name] = found[name] + each if name in found else each
        return found


class BlockFeedForward(BlockLayer):
    def __init__(self, layer: FeedForward, kind: NumberKind) -> None:
        self.inner, self.outer = (SharedMap(each, kind) for each in (layer.inner, layer.outer))
        self.bias = bias_rows(layer.inner_bias, kind)

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        inner = summed(self.inner(at.of(blocks)), self.bias)
        yield self.outer({name: torch.relu(block) for name, block in inner.items()})


class BlockHead:
    """A head of one kind of attention."""

    def __init__(self, kind: type[AttentionKind], head: Head, numbers: NumberKind) -> None:
        *self.asked, self.value = (SharedMap(each, numbers) for each in _maps(head))
        self.read = tuple(dict.fromkeys(name for each in self.asked for name in each.read))
        self.kind, self.positions = kind, head.positions

    def scores(self, blocks: Blocks, at: Queries, products: Products) -> Array:
        """(B, Q, R): one row where all queries are the same, one column where all keys are."""
        found = None
        if self.asked:
            query, key = self.asked
            found = key.scores(query(at.of(blocks)), blocks, products)
        return next(iter(blocks.values())).new_zeros(1, 1, 1) if found is None else found

    def weights(self, blocks: Blocks, at: Queries, products: Products) -> Array:
        """(B, Q, L), or one row where all queries have the same."""
        of = [blocks[name] for name in self.read if name in blocks]
        return products.once((id(self), at.first), of, lambda: self._weights(blocks, at, products))

    def _weights(self, blocks: Blocks, at: Queries, products: Products) -> Array:
        scores = self.scores(blocks, at, products)
        by_place = self.positions is not None or self.kind is ElementwiseMultiplication
        rows = at.count if by_place else scores.shape[1]
        spread = scores.expand(scores.shape[0], rows, at.length)
        return attention_weights(self.kind, spread, self.positions, at.first)

    def image(self, blocks: Blocks, at: Queries, products: Products) -> Blocks:
        """What the head adds to the blocks of the queries."""
        if self.kind is LinearAttention:
            return self._linear(blocks, at)
        if self.kind is ElementwiseMultiplication:
            return self._own(at.of(blocks))
        values = self.value(blocks)
        if not self.asked and self.positions is not None:
            each = {name: at_every(block, at.length) for name, block in values.items()}
            return at.of({name: causal_average(block, self.positions) for name, block in each.items()})
        weights = self.weights(blocks, at, products)
        return {name: averaged(weights, block) for name, block in values.items()}

    # sum_j <q, k_j> v_j = (sum_j v_j k_j^T) q, and so for each block of queries and keys.
    def _linear(self, blocks: Blocks, at: Queries) -> Blocks:
        query, key = self.asked
        queries, keys, values = query(at.of(blocks)), key(blocks), self.value(blocks)
        images: Blocks = {}
        for name in queries.keys() & keys.keys():
            read = at_every(keys[name], at.length)
            outer = {block: at_every(rows, at.length).mT @ read for block, rows in values.items()}  # each (B, t, K)
            images = summed(images, {block: queries[name] @ each.mT for block, each in outer.items()})
        return images

    def _own(self, rows: Blocks) -> Blocks:
        """<q_i, k_i> v_i."""
        query, key = (each(rows) for each in self.asked)
        own = [(query[name] * key[name]).sum(-1, keepdim=True) for name in query.keys() & key.keys()]
        return {name: sum(own[1:], start=own[0]) * value for name, value in self.value(rows).items()} if own else {}


class BlockAttention(BlockLayer):
    def __init__(self, layer: AttentionKind, kind: NumberKind) -> None:
        self.heads = {head.name: BlockHead(type(layer), head, kind) for head in layer.heads}

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        for head in self.heads.values():
            yield head.image(blocks, at, products)


class LogisticBlocks(BlockAttention):
    """(1/N) sum_j sigma(scores) W_V h_j of each head. All heads average a block together, which is read once."""

    def __init__(self, layer: LogisticAttention, kind: NumberKind) -> None:
        super().__init__(layer, kind)
        self.values = [head.value for head in self.heads.values()]
        self.averaged = tuple(dict.fromkeys(name for each in self.values if not each.narrows for name in each.read))

    def images(self, blocks: Blocks, at: Queries, products: Products) -> Iterator[Blocks]:
        batch, length = max(block.shape[0] for block in blocks.values()), at.length
        found = [head.scores(blocks, at, products) for head in self.heads.values()]
        scores = [each.expand(batch, each.shape[1], length) for each in found]  # each (B, Q, L)
        rows = [each.shape[1] for each in scores]
        joined = torch.sigmoid(torch.cat(scores, 1)) / examples(length)  # (B, Q of all heads, L)
        weights = joined.split(rows, 1)
        averages = {name: averaged(joined, blocks[name]).split(rows, 1) for name in self.averaged if name in blocks}
        for place, value in enumerate(self.values):
            if value.narrows:
                yield {name: averaged(weights[place], block) for name, block in value(blocks).items()}
            else:
                yield value({name: each[place] for name, each in averages.items()})


def bias_rows(bias: Mapping[str, np.ndarray], kind: NumberKind) -> Blocks:
    return {name: kind.array(values)[None, None] for name, values in bias.items()}


def averaged(weights: Array, block: Array) -> Array:
    """(B, Q, L) and (B, R, s) to (B, Q, s)."""
    return weights @ block if block.shape[1] == weights.shape[2] else weights.sum(-1, keepdim=True) * block


def _maps(head: Head) -> tuple[BlockMap, ...]:
    """Query and key, if it has them, and value."""
    return (head.value,) if head.query is None or head.key is None else (head.query, head.key, head.value)


def _transposed(weight: Any, queries: Array) -> Array:
    """(B, Q, t) to (B, Q, s)."""
    if isinstance(weight, tuple):
        left, right = weight
        return queries @ left @ right
    return queries * weight if weight.ndim == 1 else queries @ weight
