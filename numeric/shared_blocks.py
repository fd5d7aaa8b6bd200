"""A construction run block by block, where a block that is the same at all tokens is computed once.

That follows from what a block is computed from (a bias, such blocks, attention whose queries are the same): nothing is
declared. Softmax weights are computed once for all layers between which no block changes that they are made of, as in
a loop that moves values alone. The result is that of `Network`, up to rounding.

Shapes: B batch, L tokens, R rows of a block (L, or 1 for all tokens), Q rows of a query, s and t sizes of blocks.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.attention import allowed_keys, examples, kernel_dtype, key_lags, masked_softmax
from numeric.construction import (
    Construction,
    FeedForward,
    Head,
    Layer,
    LogisticAttention,
    OutputTap,
    SoftmaxAttention,
    StreamTap,
)
from numeric.maps import BlockMap, act_on_block, tensor_actions
from numeric.stream import StreamError

SCORES_KEPT = 1 << 23  # of a head, for all prompts that run together: 64 MiB in float64
Blocks: TypeAlias = dict[str, Tensor]  # block name -> (B, R, block size); a missing block is zero


class Products:
    """What is made of blocks, dot products of their rows above all, once as long as they are those of the stream."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], tuple[Sequence[Tensor], Tensor]] = {}

    def of(self, queries: Float[Tensor, "#B Q s"], keys: Float[Tensor, "#B R s"]) -> Float[Tensor, "B Q R"]:
        return self.once((), (queries, keys), lambda: queries @ keys.mT)

    def once(self, maker: Hashable, blocks: Sequence[Tensor], make: Callable[[], Tensor]) -> Tensor:
        """What `maker` makes of these blocks."""
        place = maker, *map(id, blocks)
        if place not in self._known:
            self._known[place] = blocks, make()
        return self._known[place][1]

    def keep(self, blocks: Blocks) -> None:
        """Forgets what other blocks than these enter."""
        here = set(map(id, blocks.values()))
        self._known = {place: known for place, known in self._known.items() if here.issuperset(place[1:])}


class SharedMap:
    """A block map, its weights rounded to a dtype."""

    def __init__(self, block_map: BlockMap, dtype: torch.dtype, device: torch.device | str) -> None:
        self.source, self.target = block_map.source, block_map.target
        self.terms = [(name, read, w) for (name, read), w in tensor_actions(block_map, dtype, device).items()]
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
    def scores(self, queries: Blocks, blocks: Blocks, products: Products) -> Float[Tensor, "B Q R"] | None:
        """Of these queries and the keys that the map makes; None if they are all 0."""
        found = None
        for name, source, weight in self.terms:
            if name in queries and source in blocks:
                if isinstance(weight, float):
                    term = products.of(queries[name], blocks[source]) * weight  # (B, Q, R)
                else:
                    term = products.of(_transposed(weight, queries[name]), blocks[source])
                found = term if found is None else found + term
        return found


class SharedFeedForward:
    def __init__(self, layer: FeedForward, dtype: torch.dtype, device: torch.device | str) -> None:
        self.inner, self.outer = (SharedMap(each, dtype, device) for each in (layer.inner, layer.outer))
        self.bias = _rows_of(layer.inner_bias, dtype, device)

    def images(self, blocks: Blocks, length: int, products: Products) -> Iterator[Blocks]:
        inner = _sum(self.inner(blocks), self.bias)
        yield self.outer({name: torch.relu(block) for name, block in inner.items()})


class SharedAttention:
    """(1/N) sum_j sigma(scores) W_V h_j of each head. All heads average a block together, which is read once."""

    def __init__(self, layer: LogisticAttention, dtype: torch.dtype, device: torch.device | str) -> None:
        maps = {id(each): SharedMap(each, dtype, device) for head in layer.heads for each in _maps(head)}
        self.heads = [tuple(maps[id(each)] for each in _maps(head)[:-1]) for head in layer.heads]
        self.values = [maps[id(head.value)] for head in layer.heads]
        self.averaged = tuple(dict.fromkeys(name for each in self.values if not each.narrows for name in each.read))

    def images(self, blocks: Blocks, length: int, products: Products) -> Iterator[Blocks]:
        batch = max(block.shape[0] for block in blocks.values())
        none = next(iter(blocks.values())).new_zeros(1, 1, 1)
        scores = [_scores(head, blocks, products, none).expand(batch, -1, length) for head in self.heads]  # (B, Q, L)
        rows = [each.shape[1] for each in scores]
        joined = torch.sigmoid(torch.cat(scores, 1)) / examples(length)  # (B, Q of all heads, L)
        weights = joined.split(rows, 1)
        averages = {name: _averaged(joined, blocks[name]).split(rows, 1) for name in self.averaged if name in blocks}
        for place, value in enumerate(self.values):
            if value.narrows:
                yield {name: _averaged(weights[place], block) for name, block in value(blocks).items()}
            else:
                yield value({name: each[place] for name, each in averages.items()})


class SharedSoftmax:
    """sum_j softmax_j(scores) W_V h_j of each head."""

    def __init__(self, layer: SoftmaxAttention, dtype: torch.dtype, device: torch.device | str) -> None:
        self.heads = [SharedHead(head, dtype, device) for head in layer.heads]

    def images(self, blocks: Blocks, length: int, products: Products) -> Iterator[Blocks]:
        for head in self.heads:
            weights = head.weights(blocks, length, products)  # (B, Q, L)
            yield {name: _averaged(weights, block) for name, block in head.value(blocks).items()}


class SharedHead:
    def __init__(self, head: Head, dtype: torch.dtype, device: torch.device | str) -> None:
        *self.asked, self.value = (SharedMap(each, dtype, device) for each in _maps(head))
        self.read = tuple(dict.fromkeys(name for each in self.asked for name in each.read))
        self.positions = head.positions

    def weights(self, blocks: Blocks, length: int, products: Products) -> Float[Tensor, "B Q L"]:
        """One row for all queries where these are the same."""
        of = [blocks[name] for name in self.read if name in blocks]
        like = next(iter(blocks.values()))
        return products.once(id(self), of, lambda: self._weights(blocks, like, length, products))

    def _weights(self, blocks: Blocks, like: Tensor, length: int, products: Products) -> Float[Tensor, "B Q L"]:
        scores = _scores(self.asked, blocks, products, like.new_zeros(1, 1, 1))  # (B, Q, R)
        if self.positions is None:
            return torch.softmax(scores.expand(-1, -1, length), -1)
        lags = key_lags(0, length, like.new_zeros(1, length, 1))  # (L, L)
        bias = (-self.positions.slope * lags.to(kernel_dtype(like))).to(like.dtype)  # (L, L)
        return masked_softmax(scores + bias, allowed_keys(self.positions, lags))


class SharedNetwork:
    """Logistic and softmax attention and feed-forward layers, with the weights rounded to `dtype` on `device`.

    Shapes are those of `Network.run`; taps are those of blocks.
    """

    def __init__(
        self, construction: Construction, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
    ) -> None:
        self.construction, self.dtype, self.device = construction, dtype, device
        made = {id(layer): layer for layer in construction.layers}
        own = {key: self._layer(layer) for key, layer in made.items()}
        self.layers = [own[id(layer)] for layer in construction.layers]
        self.embedding, self.readout = (
            SharedMap(each, dtype, device) for each in (construction.embedding.map, construction.readout)
        )
        self.bias = _rows_of(construction.embedding.bias, dtype, device)

    def _layer(self, layer: Layer) -> SharedFeedForward | SharedAttention | SharedSoftmax:
        if isinstance(layer, FeedForward):
            return SharedFeedForward(layer, self.dtype, self.device)
        if isinstance(layer, LogisticAttention):
            return SharedAttention(layer, self.dtype, self.device)
        if isinstance(layer, SoftmaxAttention):
            return SharedSoftmax(layer, self.dtype, self.device)
        raise StreamError("SharedNetwork", f"a layer of {type(layer).__name__}", "Run it with Network.")

    def run(self, x: Float[Tensor, "B L d"], taps: Sequence[str] | None = None) -> dict[str, Tensor]:
        """The output under "output", and the taps of these names (all of them for None)."""
        self._check_input(x)
        at_once = max(1, SCORES_KEPT // x.shape[1] ** 2)
        if len(x) > at_once:
            parts = [self.run(part, taps) for part in x.split(at_once)]
            return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        after = self._taps_by_layer(taps)
        found, source = dict[str, Tensor](), self.construction.source
        blocks = _sum(self.embedding({name: x[..., source.slice(name)] for name in source.names}), self.bias)
        products = Products()
        for number in range(len(self.layers) + 1):
            if number:
                blocks = self.after(number, blocks, x.shape[1], products)
            for name, tap in after.get(number, ()):
                rows = _rows(blocks, tap.block, self.construction.stream(number).size(tap.block), x)
                found[name] = rows[:, self.construction.first_query(number, x.shape[1]) :]
        readout = self.readout(blocks)
        output = torch.cat([_rows(readout, each.name, each.size, x) for each in self.readout.target.blocks], -1)
        return {**found, "output": output[:, -1] if self.construction.last_token_only else output}

    def after(self, number: int, blocks: Blocks, length: int, products: Products) -> Blocks:
        """The blocks after layer `number`, from those before it."""
        found = dict(blocks) if self.construction.layers[number - 1].residual else {}
        for image in self.layers[number - 1].images(blocks, length, products):
            for name, block in image.items():
                found[name] = found[name] + block if name in found else block
        products.keep(found)
        return found

    def _taps_by_layer(self, taps: Sequence[str] | None) -> dict[int, list[tuple[str, StreamTap]]]:
        found: dict[int, list[tuple[str, StreamTap]]] = {}
        for name, tap in self.construction.select_taps(None if taps is None else tuple(taps)).items():
            if isinstance(tap, StreamTap):
                found.setdefault(tap.layer, []).append((name, tap))
            elif not isinstance(tap, OutputTap):
                raise StreamError("SharedNetwork.run", f"the tap {name!r} of scores", "Run it with Network.")
        return found

    def _check_input(self, x: Tensor) -> None:
        width = self.construction.source.width
        if x.ndim != 3 or x.shape[-1] != width or x.dtype != self.dtype:
            got = f"an input of shape {tuple(x.shape)} and {x.dtype}"
            remedy = f"Give (batch, length, {width}) in {self.dtype}."
            raise StreamError(f"SharedNetwork({self.construction.name!r})", got, remedy)


def _scores(head: Sequence[SharedMap], blocks: Blocks, products: Products, none: Tensor) -> Float[Tensor, "B Q R"]:
    """Of query and key; `none` for a head without."""
    if not head:
        return none
    query, key = head
    found = key.scores(query(blocks), blocks, products)
    return none if found is None else found


def _maps(head: Head) -> tuple[BlockMap, ...]:
    """Query and key, if it has them, and value."""
    return (head.value,) if head.query is None or head.key is None else (head.query, head.key, head.value)


def _rows_of(bias: Mapping[str, object], dtype: torch.dtype, device: torch.device | str) -> Blocks:
    return {name: torch.tensor(each, dtype=dtype, device=device)[None, None] for name, each in bias.items()}


def _sum(blocks: Blocks, more: Blocks) -> Blocks:
    return {**blocks, **{name: blocks[name] + each if name in blocks else each for name, each in more.items()}}


def _rows(blocks: Blocks, name: str, size: int, x: Tensor) -> Float[Tensor, "B L s"]:
    """The block at every token."""
    block = blocks.get(name, x.new_zeros(1, 1, size))
    return block.expand(x.shape[0], x.shape[1], size)


def _averaged(weights: Float[Tensor, "#B Q L"], block: Float[Tensor, "#B R s"]) -> Float[Tensor, "B Q s"]:
    return weights @ block if block.shape[1] == weights.shape[2] else weights.sum(-1, keepdim=True) * block


def _transposed(weight: Tensor | tuple[Tensor, Tensor], queries: Float[Tensor, "B Q t"]) -> Float[Tensor, "B Q s"]:
    if isinstance(weight, tuple):
        left, right = weight
        return queries @ left @ right
    return queries * weight if weight.ndim == 1 else queries @ weight
