"""The PyTorch interpreter of a construction.

Shapes: B batch, L tokens, d width of the input, H width of the stream, Q queries of a layer (L, or 1 for the last
token alone), O width of the output.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from numeric.networks.attention import (
    AttentionHead,
    BlockLinear,
)
from numeric.networks.construction import (
    ChangeTap,
    Construction,
    Embedding,
    LayerTap,
    ScoresTap,
    StreamTap,
    taps_by_layer,
)
from numeric.networks.layers import (
    AttentionKind,
    FeedForward,
    Layer,
    bias_vector,
    spelled_out,
)
from numeric.networks.stream import StreamError


class EmbeddingLayer(nn.Module):
    def __init__(self, embedding: Embedding, dtype: torch.dtype, device: torch.device | str, dense: bool) -> None:
        super().__init__()
        self.linear = BlockLinear(embedding.map, dtype, device, dense)
        self.bias: Tensor
        self.register_buffer(
            "bias", torch.tensor(bias_vector(embedding.map.target, embedding.bias), dtype=dtype, device=device)
        )

    def forward(self, x: Float[Tensor, "B L d"]) -> Float[Tensor, "B L H"]:
        return self.linear(x) + self.bias  # (B, L, H)


class AttentionLayer(nn.Module):
    def __init__(self, layer: AttentionKind, dtype: torch.dtype, device: torch.device | str, dense: bool) -> None:
        super().__init__()
        self.names = [head.name for head in layer.heads]
        self.heads = nn.ModuleList(AttentionHead(type(layer), head, dtype, device, dense) for head in layer.heads)
        self.residual = layer.residual

    def head(self, name: str) -> AttentionHead:
        head = self.heads[self.names.index(name)]
        assert isinstance(head, AttentionHead)  # the module list forgets the type
        return head

    def forward(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q H2"]:
        """The tokens first..L-1 (0-based) after the layer."""
        attended = [head(tokens, first) for head in self.heads]  # each (B, Q, H2)
        return sum(attended[1:], start=tokens[:, first:] + attended[0] if self.residual else attended[0])


class FeedForwardLayer(nn.Module):
    def __init__(self, layer: FeedForward, dtype: torch.dtype, device: torch.device | str, dense: bool) -> None:
        super().__init__()
        self.inner = BlockLinear(layer.inner, dtype, device, dense)
        self.outer = BlockLinear(layer.outer, dtype, device, dense)
        self.inner_bias: Tensor
        self.register_buffer(
            "inner_bias", torch.tensor(bias_vector(layer.inner.target, layer.inner_bias), dtype=dtype, device=device)
        )
        self.residual = layer.residual

    def forward(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q H2"]:
        rows = tokens[:, first:]  # (B, Q, H)
        image = self.outer(torch.relu(self.inner(rows) + self.inner_bias))  # (B, Q, H2)
        return rows + image if self.residual else image


class Network(nn.Module):
    """A construction with its weights rounded to `dtype` on `device`.

    With `dense` every map is the full matrix of the paper and every attention kernel is materialised; otherwise
    weights act on their named blocks. Both compute the same function, up to rounding.
    """

    def __init__(
        self,
        construction: Construction,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
        dense: bool = False,
    ) -> None:
        super().__init__()
        self.construction = construction
        self.embedding = EmbeddingLayer(construction.embedding, dtype, device, dense)
        own = {id(layer): layer for layer in construction.layers}
        made = {place: _layer_module(layer, dtype, device, dense) for place, layer in own.items()}
        self.layers = nn.ModuleList(made[id(layer)] for layer in construction.layers)  # a repeated layer is made once
        self.readout = BlockLinear(construction.readout, dtype, device, dense)

    def forward(self, x: Float[Tensor, "B L d"]) -> Float[Tensor, "B *L O"]:
        """Outputs (B, O) for a construction with `last_token_only`, else (B, L, O). Differentiable in x."""
        return self.run(x, taps=())["output"]

    def run(self, x: Float[Tensor, "B L d"], taps: Sequence[str] | None = None) -> dict[str, Tensor]:
        """The output under "output", and the taps of these names (all of them for None).

        Stream taps are (B, Q, block size), scores and attention (B, Q, L), with Q = 1 in the last layer of a
        construction with `last_token_only` and Q = L elsewhere.
        """
        self._check_input(x)
        selected = taps_by_layer(self.construction.select_taps(None if taps is None else tuple(taps)))
        length = x.shape[1]
        recorded: dict[str, Tensor] = {}
        before, tokens = x, self.embedding(x)  # (B, L, H)
        self._record(recorded, selected.get(0, {}), 0, before, tokens)
        for number, layer in enumerate(self.layers, start=1):
            before, tokens = tokens, layer(tokens, self.construction.first_query(number, length))  # (B, Q, H)
            self._record(recorded, selected.get(number, {}), number, before, tokens)
        output = self.readout(tokens)  # (B, Q, O)
        recorded["output"] = output[:, -1] if self.construction.last_token_only else output
        return recorded

    def _record(
        self, recorded: dict[str, Tensor], here: dict[str, LayerTap], number: int, before: Tensor, after: Tensor
    ) -> None:
        for name, tap in here.items():
            first = self.construction.first_query(number, before.shape[1])
            if isinstance(tap, StreamTap | ChangeTap):
                where = self.construction.stream(number).slice(tap.block)
                block = after[..., where]  # (B, Q, block size)
                recorded[name] = block if isinstance(tap, StreamTap) else block - before[:, first:, where]
            else:
                layer = self.layers[number - 1]
                assert isinstance(layer, AttentionLayer)  # the construction has checked its taps
                head = layer.head(tap.head)
                quantity = head.scores if isinstance(tap, ScoresTap) else head.weights
                recorded[name] = quantity(before, first, before.shape[1])  # (B, Q, L)

    def _check_input(self, x: Tensor) -> None:
        call = f"Network({self.construction.name!r})"
        width = self.construction.source.width
        if x.ndim != 3 or x.shape[-1] != width or x.shape[1] < 1:
            raise StreamError(call, f"an input of shape {tuple(x.shape)}", f"Give (batch, length, {width}).")
        bias = self.embedding.bias
        if x.dtype != bias.dtype or x.device != bias.device:
            raise StreamError(
                call,
                f"an input of {x.dtype} on {x.device} for a network of {bias.dtype} on {bias.device}",
                "Convert the input, or build the network with that dtype and device.",
            )


def _layer_module(layer: Layer, dtype: torch.dtype, device: torch.device | str, dense: bool) -> nn.Module:
    own = spelled_out(layer)
    if isinstance(own, FeedForward):
        return FeedForwardLayer(own, dtype, device, dense)
    return AttentionLayer(own, dtype, device, dense)
