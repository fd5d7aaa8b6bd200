"""Several constructions as one network: each item of a batch runs a construction of its own.

The constructions are of one family: layers and heads of the same number and kinds, and the same taps. Their weights are
dense, padded with zeros to the widest stream of each layer, and gathered for each item: for streams of a few dozen
coordinates, where calls and not sums take the time.

Shapes: M constructions, B items of the batch, L tokens, d width of the input, S and T widths of source and target of a
map, H width of the stream, Q queries of a layer, K width of query and key, V width of a value, O width of the output.
"""

from collections.abc import Hashable, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from numeric.networks.attention import attention_weights, kernel_dtype, key_lags, least_lag, masked_softmax
from numeric.networks.construction import (
    AttentionTap,
    ChangeTap,
    Construction,
    OutputTap,
    ScoresTap,
    StreamTap,
    Tap,
)
from numeric.networks.layers import (
    AttentionKind,
    FeedForward,
    Head,
    Layer,
    LinearAttention,
    Positions,
    bias_vector,
    spelled_out,
)
from numeric.networks.maps import BlockMap
from numeric.networks.stream import Stream, StreamError


def family(construction: Construction) -> Hashable:
    """Equal for constructions that one ensemble runs: widths of streams, weights and positions may differ."""
    return (
        construction.source.width,
        construction.readout.target.width,
        construction.last_token_only,
        tuple(_layer_family(layer) for layer in construction.layers),
        tuple(sorted((name, _tap_family(construction, tap)) for name, tap in construction.taps.items())),
    )


def _layer_family(layer: Layer) -> Hashable:
    own = spelled_out(layer)
    if isinstance(own, FeedForward):
        return FeedForward, own.residual
    heads = tuple((head.has_dot_product, head.positions is None) for head in own.heads)
    return type(own), own.residual, heads


def _tap_family(construction: Construction, tap: Tap) -> tuple[str, int, int]:
    """The kind of a tap, its layer, and which of the heads or how large a block."""
    if isinstance(tap, OutputTap):
        return type(tap).__name__, len(construction.layers), 0
    if isinstance(tap, StreamTap | ChangeTap):
        return type(tap).__name__, tap.layer, construction.stream(tap.layer).size(tap.block)
    return type(tap).__name__, tap.layer, _place(construction, tap.layer, tap.head)


def _place(construction: Construction, layer: int, head: str) -> int:
    attention = construction.layers[layer - 1]
    assert isinstance(attention, AttentionKind)  # the construction has checked its taps
    return [each.name for each in attention.heads].index(head)


def widest(construction: Construction) -> int:
    """The largest width of a stream, a hidden layer, or query and key."""
    layers = [spelled_out(layer) for layer in construction.layers]
    inner = [layer.inner.target.width for layer in layers if isinstance(layer, FeedForward)]
    attentions = [layer for layer in layers if isinstance(layer, AttentionKind)]
    queries = [head.query.target.width for layer in attentions for head in layer.heads if head.query is not None]
    streams = [construction.stream(number).width for number in range(len(construction.layers) + 1)]
    return max(construction.source.width, construction.readout.target.width, *streams, *inner, *queries)


class Ensemble:
    """Item b of a batch runs the construction `constructions[index[b]]`, all of one family.

    The same function as `Network` of each construction, up to rounding. Raises StreamError for several families.
    """

    def __init__(
        self,
        constructions: Sequence[Construction],
        index: Int[Tensor, " B"],
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        if len({family(each) for each in constructions}) != 1:
            names = ", ".join(each.name for each in constructions)
            raise StreamError(f"Ensemble({names})", "constructions of several families", "Run each on its own.")
        self.constructions, self.index = list(constructions), index.to(device)
        place = _Placing(self.index, dtype, device)
        embeddings = [each.embedding for each in constructions]
        self.embedding = place.map([each.map for each in embeddings])
        self.bias = place.bias([bias_vector(each.map.target, each.bias) for each in embeddings])
        layers = zip(*(map(spelled_out, each.layers) for each in constructions), strict=True)
        self.layers = [_layer(stacked, place) for stacked in layers]
        self.readout = place.map([each.readout for each in constructions])

    def run(self, x: Float[Tensor, "B L d"], taps: Sequence[str] | None = None) -> dict[str, Tensor]:
        """The output under "output", and the taps of these names (all of them for None): see `Network.run`."""
        self._check_input(x)
        first = self.constructions[0]
        selected = first.select_taps(None if taps is None else tuple(taps))
        length = x.shape[1]
        tokens = self.embedding(x) + self.bias  # (B, L, H)
        recorded = self._streams(selected, 0, tokens, tokens)
        for number, layer in enumerate(self.layers, start=1):
            queries = first.first_query(number, length)
            recorded |= self._heads(selected, number, tokens, queries)
            before, tokens = tokens[:, queries:], layer(tokens, queries)  # (B, Q, H)
            recorded |= self._streams(selected, number, before, tokens)
        output = self.readout(tokens)  # (B, Q, O)
        return {**recorded, "output": output[:, -1] if first.last_token_only else output}

    def _streams(
        self, selected: dict[str, Tap], number: int, before: Tensor, after: Tensor
    ) -> dict[str, Float[Tensor, "B Q size"]]:
        """The tapped blocks after this layer, and what it adds to those whose change is tapped."""
        found = {}
        for name, tap in selected.items():
            if isinstance(tap, StreamTap | ChangeTap) and tap.layer == number:
                columns = self._columns(name, after)
                found[name] = after.gather(-1, columns)
                if isinstance(tap, ChangeTap):
                    found[name] = found[name] - before.gather(-1, columns)
        return found

    def _columns(self, name: str, tokens: Tensor) -> Int[Tensor, "B Q size"]:
        """The coordinates of a tapped block in the stream of each item."""
        places = []
        for construction in self.constructions:
            tap = construction.taps[name]
            assert isinstance(tap, StreamTap | ChangeTap)  # in one family all are of one kind
            where = construction.stream(tap.layer).slice(tap.block)
            places.append(range(where.start, where.stop))
        columns = torch.tensor([list(each) for each in places], dtype=torch.int64, device=self.index.device)[
            self.index
        ]  # (B, size)
        return columns[:, None].expand(-1, tokens.shape[1], -1)

    def _heads(self, selected: dict[str, Tap], number: int, tokens: Tensor, first: int) -> dict[str, Tensor]:
        """The scores and attention weights that are tapped in this layer, each (B, Q, L)."""
        found = {}
        for name, tap in selected.items():
            if isinstance(tap, ScoresTap | AttentionTap) and tap.layer == number:
                layer = self.layers[number - 1]
                assert isinstance(layer, _AttentionLayer)  # the construction has checked its taps
                head = layer.heads[_place(self.constructions[0], number, tap.head)]
                scores = head.scores(tokens, first)
                found[name] = scores if isinstance(tap, ScoresTap) else head.weights(scores, first)
        return found

    def _check_input(self, x: Tensor) -> None:
        expected = (len(self.index), self.constructions[0].source.width)
        if x.ndim != 3 or (x.shape[0], x.shape[-1]) != expected or x.shape[1] < 1:
            names = ", ".join(each.name for each in self.constructions)
            remedy = f"Give ({expected[0]}, length, {expected[1]})."
            raise StreamError(f"Ensemble({names})", f"an input of shape {tuple(x.shape)}", remedy)


class _Map:
    """A linear map of each item, as (B, S, T), or one for all, (S, T)."""

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights

    def __call__(self, tokens: Float[Tensor, "B L S"]) -> Float[Tensor, "B L T"]:
        return tokens @ self.weights

    def transposed(self, tokens: Float[Tensor, "B L T"]) -> Float[Tensor, "B L S"]:
        return tokens @ self.weights.mT


class _Placing:
    """Weights of M constructions as tensors with one entry for each item; as one for all where they agree."""

    def __init__(self, index: Int[Tensor, " B"], dtype: torch.dtype, device: torch.device | str) -> None:
        self.index, self.dtype, self.device = index, dtype, device

    def map(self, maps: Sequence[BlockMap]) -> _Map:
        """The dense maps, padded to the largest source and target."""
        rows, columns = _width([each.target for each in maps]), _width([each.source for each in maps])
        padded = torch.zeros(len(maps), rows, columns, dtype=torch.float64, device="cpu")  # (M, T, S)
        for place, each in enumerate(maps):
            padded[place, : each.target.width, : each.source.width] = torch.from_numpy(each.dense())
        if bool((padded == padded[0]).all()):
            return _Map(padded[0].T.to(self.device, self.dtype))
        return _Map(padded.mT.to(self.device, self.dtype)[self.index])

    def bias(self, vectors: Sequence[object]) -> Float[Tensor, "B 1 T"]:
        rows = [torch.as_tensor(each, dtype=torch.float64, device="cpu") for each in vectors]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)  # (M, T)
        return padded.to(self.device, self.dtype)[self.index][:, None]

    def number(self, numbers: Sequence[float | int], dtype: torch.dtype) -> Tensor:
        """A number of each item, (B, 1, 1)."""
        return torch.tensor(numbers, dtype=dtype, device=self.device)[self.index][:, None, None]


def _width(streams: Sequence[Stream]) -> int:
    return max(each.width for each in streams)


class _Positions:
    """Alibi biases and masks of one head in each construction; kept for the last length, as an attack has one."""

    def __init__(self, positions: Sequence[Positions], place: _Placing) -> None:
        self.slopes = place.number([float(each.slope) for each in positions], torch.float64)  # (B, 1, 1)
        self.first_keys = place.number([each.first_key for each in positions], torch.int64)  # (B, 1, 1)
        self.least_lags = place.number([least_lag(each) for each in positions], torch.int64)  # (B, 1, 1)
        self.kept: tuple[tuple[int, int], Tensor, Tensor] | None = None

    def terms(self, scores: Float[Tensor, "B Q L"], first: int) -> tuple[Float[Tensor, "B Q L"], Bool[Tensor, "B Q L"]]:
        """R_ij of the queries first..L-1 (0-based), and which keys they see."""
        size = (first, scores.shape[-1])
        if self.kept is None or self.kept[0] != size:
            lags = key_lags(*size, scores.mT)  # (Q, L)
            bias = (-self.slopes.to(kernel_dtype(scores)) * lags).to(scores.dtype)  # (B, Q, L)
            keys = torch.arange(size[1], device=scores.device, dtype=torch.int64)  # (L)
            allowed = (lags >= self.least_lags) & (keys >= self.first_keys - 1)  # (B, Q, L)
            self.kept = (size, bias, allowed)
        return self.kept[1:]


class _Head:
    def __init__(self, kind: type[AttentionKind], heads: Sequence[Head], place: _Placing) -> None:
        self.kind = kind
        queries = [head.query for head in heads if head.query is not None]
        keys = [head.key for head in heads if head.key is not None]
        positions = [head.positions for head in heads if head.positions is not None]
        self.query = place.map(queries) if queries else None
        self.key = place.map(keys) if keys else None
        self.value = place.map([head.value for head in heads])
        self.positions = _Positions(positions, place) if positions else None
        self.kept: tuple[tuple[int, int], Tensor] | None = None

    def scores(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q L"]:
        if self.query is None or self.key is None:
            return tokens.new_zeros(tokens.shape[0], tokens.shape[1] - first, tokens.shape[1])
        query = self.query(tokens[:, first:])  # (B, Q, K)
        if first:  # fewer queries than tokens: it takes less to map those
            return self.key.transposed(query) @ tokens.mT  # (B, Q, L)
        return query @ self.key(tokens).mT  # (B, Q, L)

    def weights(self, scores: Float[Tensor, "B Q L"], first: int) -> Float[Tensor, "B Q L"]:
        if self.positions is None:
            return attention_weights(self.kind, scores, first=first)
        bias, allowed = self.positions.terms(scores, first)
        return masked_softmax(scores + bias, allowed)

    def attended(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q V"]:
        if first and self.kind is not LinearAttention:
            return self.value(self._weights_of(tokens, first) @ tokens)  # (B, Q, V)
        values = self.value(tokens)  # (B, L, V)
        if self.kind is LinearAttention and self.query is not None and self.key is not None:
            outer = values.mT @ self.key(tokens)  # (B, V, K)
            return self.query(tokens[:, first:]) @ outer.mT  # (B, Q, V)
        return self._weights_of(tokens, first) @ values  # (B, Q, V)

    def _weights_of(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q L"]:
        """Without a dot product they depend on the length alone."""
        if self.query is not None:
            return self.weights(self.scores(tokens, first), first)
        size = (first, tokens.shape[1])
        if self.kept is None or self.kept[0] != size:
            self.kept = (size, self.weights(self.scores(tokens, first), first))
        return self.kept[1]


class _AttentionLayer:
    def __init__(self, layers: Sequence[AttentionKind], place: _Placing) -> None:
        kind, self.residual = type(layers[0]), layers[0].residual
        self.heads = [_Head(kind, heads, place) for heads in zip(*(layer.heads for layer in layers), strict=True)]

    def __call__(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q H2"]:
        attended = [head.attended(tokens, first) for head in self.heads]  # each (B, Q, H2)
        return sum(attended[1:], start=tokens[:, first:] + attended[0] if self.residual else attended[0])


class _FeedForwardLayer:
    def __init__(self, layers: Sequence[FeedForward], place: _Placing) -> None:
        self.inner, self.outer = place.map([each.inner for each in layers]), place.map([each.outer for each in layers])
        self.bias = place.bias([bias_vector(each.inner.target, each.inner_bias) for each in layers])
        self.residual = layers[0].residual

    def __call__(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q H2"]:
        rows = tokens[:, first:]  # (B, Q, H)
        image = self.outer(torch.relu(self.inner(rows) + self.bias))  # (B, Q, H2)
        return rows + image if self.residual else image


def _layer(layers: Sequence[AttentionKind | FeedForward], place: _Placing) -> _AttentionLayer | _FeedForwardLayer:
    """One layer of all constructions."""
    feed_forward = [layer for layer in layers if isinstance(layer, FeedForward)]
    if feed_forward:
        return _FeedForwardLayer(feed_forward, place)
    return _AttentionLayer([layer for layer in layers if isinstance(layer, AttentionKind)], place)
