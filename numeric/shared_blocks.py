"""A construction run block by block, where a block that is the same at all tokens is computed once.

That follows from what a block is computed from (a bias, such blocks, attention whose queries are the same): nothing is
declared. The result is that of `Network`, up to rounding.

Shapes: B batch, L tokens, R rows of a block (L, or 1 for all tokens), Q rows of a query, s and t sizes of blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.attention import examples
from numeric.construction import (
    Attention,
    Construction,
    FeedForward,
    Head,
    Layer,
    LogisticAttention,
    OutputTap,
    StreamTap,
    Tap,
)
from numeric.maps import BlockMap, BlockPair, TensorAction, act_on_block, tensor_actions
from numeric.stream import StreamError

Blocks: TypeAlias = dict[str, Tensor]  # block name -> (B, R, block size); a missing block is zero


class SharedNetwork:
    """Logistic attention and feed-forward layers, with the weights rounded to `dtype` on `device`.

    Shapes are those of `Network.run`; taps are those of blocks.
    """

    def __init__(
        self, construction: Construction, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
    ) -> None:
        self.construction, self.dtype, self.device = construction, dtype, device
        self._weights: dict[int, dict[BlockPair, TensorAction]] = {}
        for layer in construction.layers:
            if isinstance(layer, Attention) and not isinstance(layer, LogisticAttention):
                raise StreamError("SharedNetwork", f"a layer of {type(layer).__name__}", "Run it with Network.")

    def run(self, x: Float[Tensor, "B L d"], taps: Sequence[str] | None = None) -> dict[str, Tensor]:
        """The output under "output", and the taps of these names (all of them for None)."""
        self._check_input(x)
        selected, found = self.construction.select_taps(None if taps is None else tuple(taps)), dict[str, Tensor]()
        source = self.construction.source
        inputs = {name: x[..., source.slice(name)] for name in source.names}
        embedding = self.construction.embedding
        blocks = self._with_bias(self._image(embedding.map, inputs), embedding.bias)
        self._record(found, selected, 0, blocks, x)
        for number, layer in enumerate(self.construction.layers, start=1):
            blocks = self._after(layer, blocks, x.shape[1])
            self._record(found, selected, number, blocks, x)
        readout = self._image(self.construction.readout, blocks)
        output = torch.cat([_rows(readout, name, size, x) for name, size in _sizes(self.construction.readout)], -1)
        return {**found, "output": output[:, -1] if self.construction.last_token_only else output}

    def _record(
        self, found: dict[str, Tensor], selected: Mapping[str, Tap], number: int, at: Blocks, x: Tensor
    ) -> None:
        for name, tap in selected.items():
            if isinstance(tap, StreamTap) and tap.layer == number:
                rows = _rows(at, tap.block, self.construction.stream(number).size(tap.block), x)
                found[name] = rows[:, self.construction.first_query(number, x.shape[1]) :]
            elif not isinstance(tap, StreamTap | OutputTap):
                raise StreamError("SharedNetwork.run", f"the tap {name!r} of scores", "Run it with Network.")

    def _after(self, layer: Layer, blocks: Blocks, length: int) -> Blocks:
        if isinstance(layer, FeedForward):
            inner = self._with_bias(self._image(layer.inner, blocks), layer.inner_bias)
            images = [self._image(layer.outer, {name: torch.relu(block) for name, block in inner.items()})]
        else:
            images = [self._attended(head, blocks, length) for head in layer.heads]
        after = dict(blocks) if layer.residual else {}
        for image in images:
            for name, block in image.items():
                after[name] = after[name] + block if name in after else block
        return after

    def _attended(self, head: Head, blocks: Blocks, length: int) -> Blocks:
        """(1/N) sum_j sigma(scores) W_V h_j: the values are mapped first where that makes them narrower."""
        weights = torch.sigmoid(self._scores(head, blocks, length)) / examples(length)  # (B, Q, L)
        value = head.value
        read = {source: blocks[source] for _, source in value.action if source in blocks}
        if sum(value.source.size(name) for name in read) > sum(value.target.size(name) for name in value.written):
            return _each(lambda block: _summed(weights, block), self._image(value, read))
        return self._image(value, _each(lambda block: _summed(weights, block), read))

    # <W_Q h_i, W_K h_j> = <W_K^T W_Q h_i, h_j>: the key's map is applied to the queries, of which there are fewer.
    def _scores(self, head: Head, blocks: Blocks, length: int) -> Float[Tensor, "B Q L"]:
        some = next(iter(blocks.values()))
        total = some.new_zeros(some.shape[0], 1, length)
        if head.query is None or head.key is None:
            return total
        queries = self._image(head.query, blocks)
        for (name, source), weight in self._actions(head.key).items():
            if name in queries and source in blocks:
                total = total + _transposed(weight, queries[name]) @ blocks[source].mT  # (B, Q, R)
        return total

    def _image(self, block_map: BlockMap, blocks: Blocks) -> Blocks:
        images: Blocks = {}
        for (name, source), weight in self._actions(block_map).items():
            if source in blocks:
                image = act_on_block(weight, blocks[source])  # (B, R, t)
                images[name] = images[name] + image if name in images else image
        return images

    def _actions(self, block_map: BlockMap) -> dict[BlockPair, TensorAction]:
        if id(block_map) not in self._weights:
            self._weights[id(block_map)] = tensor_actions(block_map, self.dtype, self.device)
        return self._weights[id(block_map)]

    def _with_bias(self, blocks: Blocks, bias: Mapping[str, object]) -> Blocks:
        rows = {
            name: torch.tensor(each, dtype=self.dtype, device=self.device)[None, None] for name, each in bias.items()
        }
        return {**blocks, **{name: blocks[name] + row if name in blocks else row for name, row in rows.items()}}

    def _check_input(self, x: Tensor) -> None:
        width = self.construction.source.width
        if x.ndim != 3 or x.shape[-1] != width or x.dtype != self.dtype:
            got = f"an input of shape {tuple(x.shape)} and {x.dtype}"
            remedy = f"Give (batch, length, {width}) in {self.dtype}."
            raise StreamError(f"SharedNetwork({self.construction.name!r})", got, remedy)


def _sizes(block_map: BlockMap) -> list[tuple[str, int]]:
    return [(block.name, block.size) for block in block_map.target.blocks]


def _each(function: Callable[[Tensor], Tensor], blocks: Blocks) -> Blocks:
    return {name: function(block) for name, block in blocks.items()}


def _rows(blocks: Blocks, name: str, size: int, x: Tensor) -> Float[Tensor, "B L s"]:
    """The block at every token."""
    block = blocks.get(name, x.new_zeros(1, 1, size))
    return block.expand(x.shape[0], x.shape[1], size)


def _summed(weights: Float[Tensor, "B Q L"], block: Float[Tensor, "B R s"]) -> Float[Tensor, "B Q s"]:
    return weights @ block if block.shape[1] == weights.shape[2] else weights.sum(-1, keepdim=True) * block


def _transposed(weight: TensorAction, queries: Float[Tensor, "B Q t"]) -> Float[Tensor, "B Q s"]:
    if isinstance(weight, float):
        return queries * weight
    if isinstance(weight, tuple):
        left, right = weight
        return queries @ left @ right
    return queries * weight if weight.ndim == 1 else queries @ weight
