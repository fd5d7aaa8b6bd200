"""A construction run block by block, where a block that is the same at all tokens is computed once.

That follows from what a block is computed from (a bias, such blocks, attention whose queries are the same): nothing is
declared. The result is that of `Network`, up to rounding.

Shapes: B batch, L tokens, R rows of a block (L, or 1 for all tokens), Q rows of a query, s and t sizes of blocks.
"""

from collections.abc import Mapping, Sequence
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
        self._narrow: dict[int, bool] = {}
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
            images = self._attended(layer.heads, blocks, length)
        after = dict(blocks) if layer.residual else {}
        for image in images:
            for name, block in image.items():
                after[name] = after[name] + block if name in after else block
        return after

    def _attended(self, heads: Sequence[Head], blocks: Blocks, length: int) -> list[Blocks]:
        """(1/N) sum_j sigma(scores) W_V h_j of each head. All heads average a block together, which is read once."""
        batch = max(block.shape[0] for block in blocks.values())
        scores = [self._scores(head, blocks).expand(batch, -1, length) for head in heads]  # (B, Q, L)
        rows = [each.shape[1] for each in scores]
        joined = torch.sigmoid(torch.cat(scores, 1)) / examples(length)  # (B, Q of all heads, L)
        wide = [head.value for head in heads if not self._narrows(head.value)]
        averaged = {source for value in wide for _, source in value.action} & set(blocks)
        averages = {name: _summed(joined, blocks[name]).split(rows, 1) for name in averaged}
        weights, images = joined.split(rows, 1), list[Blocks]()
        for place, head in enumerate(heads):
            if self._narrows(head.value):
                values = self._image(head.value, blocks)
                images.append({name: _summed(weights[place], block) for name, block in values.items()})
            else:
                images.append(self._image(head.value, {name: each[place] for name, each in averages.items()}))
        return images

    # <W_Q h_i, W_K h_j> = <W_K^T W_Q h_i, h_j>: the key's map is applied to the queries, of which there are fewer.
    def _scores(self, head: Head, blocks: Blocks) -> Float[Tensor, "B Q R"]:
        if head.query is None or head.key is None:
            return next(iter(blocks.values())).new_zeros(1, 1, 1)
        queries = self._image(head.query, blocks)
        terms = [
            _transposed(weight, queries[name]) @ blocks[source].mT  # (B, Q, R)
            for (name, source), weight in self._actions(head.key).items()
            if name in queries and source in blocks
        ]
        return sum(terms[1:], start=terms[0]) if terms else next(iter(blocks.values())).new_zeros(1, 1, 1)

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

    def _narrows(self, value: BlockMap) -> bool:
        """Whether the image is narrower than what it is computed from, so that values are mapped before the average."""
        if id(value) not in self._narrow:
            read = {source for _, source in value.action}
            sizes = sum(map(value.source.size, read)), sum(map(value.target.size, value.written))
            self._narrow[id(value)] = sizes[0] > sizes[1]
        return self._narrow[id(value)]

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
