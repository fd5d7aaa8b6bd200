"""The interpreters of the icgd network: structured (fast), and dense (every matrix of the paper, literally).

Both compute the same function, up to rounding. In the structured one the tokens are a dictionary of blocks, a block
that is missing is zero, and the blocks v[j], equal in all tokens by construction, are kept once. It runs on tensors,
and for one prompt on arrays of balls (`numeric.icgd.exact`).

Shapes: B prompts (no axis on balls), n examples, T tokens (n+1 inside; outside n, or n+1 where a query is given), D_w
parameters, D width of the stream.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from numeric.balls import BallArray
from numeric.construction import FeedForward, Head
from numeric.families import (
    ActivationHeads,
    BoxAndClear,
    ElementwiseMultiplication,
    FamilyAttention,
    FamilyLayer,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.icgd.construction import IcgdConstruction
from numeric.icgd.shape import Shape, require_sizes
from numeric.stream import Stream, StreamError

Array: TypeAlias = Any  # a tensor or an array of balls
WHOLE = ("gradient", "w", "trajectory")  # the taps that are not of a token


@dataclass
class Tokens:
    """The n+1 tokens: `blocks` (B, n+1, size), the query last; `matrices` v[j] (B, rows, columns), equal in all."""

    blocks: dict[str, Array]
    matrices: dict[str, Array]
    scores: dict[tuple[str, str], Array] = field(default_factory=dict)  # of p(j-1) with the rows of V_j
    gradient: list[Array] = field(default_factory=list)  # of each V_j, (B, rows, columns)


class IcgdNetwork(nn.Module):
    """An `IcgdConstruction` with its weights rounded to `dtype` on `device`.

    Differentiable in w, x and y; float32, bfloat16 and float16 run in that dtype. With `dense` each head's D x D
    matrices are formed in turn: for small sizes.
    """

    def __init__(
        self,
        construction: IcgdConstruction,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
        dense: bool = False,
    ) -> None:
        super().__init__()
        self.construction = construction
        self.dense = dense
        self.like: Tensor
        self.register_buffer("like", torch.zeros((), dtype=dtype, device=device))

    def forward(
        self, w: Float[Tensor, "B D_w"], x: Float[Tensor, "B n d_x"], y: Float[Tensor, "B n d_y"]
    ) -> Float[Tensor, "B D_w"]:
        """The parameters after all steps."""
        return self.run(w, x, y, taps=("w",))["w"]

    def run(
        self,
        w: Float[Tensor, "B D_w"],
        x: Float[Tensor, "B n d_x"],
        y: Float[Tensor, "B n d_y"],
        x_query: Float[Tensor, "B d_x"] | None = None,
        taps: Iterable[str] | None = None,
    ) -> dict[str, Tensor]:
        """The taps of these names (all for None), as they stand in the last of the construction's steps.

        p[j], r'[j], g, s[j] are (B, n, size), with a query (B, n+1, size), the query last; "gradient" (B, D_w) is
        the negative update before the projection over eta; "w" (B, D_w) the parameters after the step, and
        "trajectory" (B, steps, D_w) those after each step (only where steps > 1). Without `x_query` the query is 0.
        """
        wanted = self.construction.select_taps(None if taps is None else tuple(taps))
        return collected(self.each_step(w, x, y, x_query), wanted, query=x_query is not None)

    def each_step(
        self,
        w: Float[Tensor, "B D_w"],
        x: Float[Tensor, "B n d_x"],
        y: Float[Tensor, "B n d_y"],
        x_query: Float[Tensor, "B d_x"] | None = None,
    ) -> Iterator[dict[str, Tensor]]:
        """The taps of one step after the other, with all n+1 tokens."""
        self._check_input(w, x, y, x_query)
        x, y = with_query(x, y, x_query)
        yield from self._dense_steps(w, x, y) if self.dense else structured_steps(self.construction, w, x, y)

    def _dense_steps(self, w: Tensor, x: Tensor, y: Tensor) -> Iterator[dict[str, Tensor]]:
        stream, eta = self.construction.stream, self.construction.eta
        H = embed(self.construction.shape, stream, w, x, y)  # (B, n+1, D)
        for _ in range(self.construction.steps):
            before = parameters_of_first_token(H, stream)  # (B, D_w)
            for layer in self.construction.block[:-1]:
                H = dense_layer(layer, H)
            found = {block.name: H[..., stream.slice(block.name)] for block in stream.blocks}
            found["gradient"] = (before - parameters_of_first_token(H, stream)) / eta
            H = dense_layer(self.construction.block[-1], H)
            yield {**found, "w": parameters_of_first_token(H, stream)}

    def _check_input(self, w: Tensor, x: Tensor, y: Tensor, x_query: Tensor | None) -> None:
        shape, n, B = self.construction.shape, self.construction.n, w.shape[0]
        expected = [
            ("w", tuple(w.shape), (B, shape.parameters)),
            ("x", tuple(x.shape), (B, n, shape.d_x)),
            ("y", tuple(y.shape), (B, n, shape.d_y)),
        ]
        if x_query is not None:
            expected.append(("x_query", tuple(x_query.shape), (B, shape.d_x)))
        require_sizes("IcgdNetwork", expected)
        kinds = {(each.dtype, each.device) for each in (w, x, y, x_query) if each is not None}
        if kinds != {(self.like.dtype, self.like.device)}:
            came = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
            raise StreamError(
                "IcgdNetwork",
                f"inputs of {came} for a network of {self.like.dtype} on {self.like.device}",
                "Convert the inputs, or build the network with that dtype and device.",
            )


def with_query(x: Array, y: Array, x_query: Array | None) -> tuple[Array, Array]:
    """(B, n+1, d_x) and (B, n+1, d_y): the query last (0 for None), with y = 0."""
    query = torch.zeros_like(x[..., :1, :]) if x_query is None else x_query[..., None, :]
    return torch.cat([x, query], dim=-2), torch.cat([y, torch.zeros_like(y[..., :1, :])], dim=-2)


def collected(steps: Iterable[dict[str, Array]], wanted: Sequence[str], *, query: bool) -> dict[str, Array]:
    """The wanted taps of the last of these steps, with the query if asked, and the parameters after each of them."""
    trajectory: list[Array] = []
    found: dict[str, Array] = {}
    for found in steps:
        trajectory.append(found["w"])
    if "trajectory" in wanted:
        found["trajectory"] = torch.stack(trajectory, dim=-2)
    return {name: found[name] if query or name in WHOLE else found[name][..., :-1, :] for name in wanted}


# The structured interpreter: one function a family. A block that a layer writes was 0 before, so that nothing is added.


def structured_steps(construction: IcgdConstruction, w: Array, x: Array, y: Array) -> Iterator[dict[str, Array]]:
    """The taps of one step after the other, with all n+1 tokens."""
    for _ in range(construction.steps):
        matrices = enumerate(construction.shape.matrices(w), start=1)
        tokens = Tokens({"x": x, "y": y}, {f"v[{j}]": V for j, V in matrices})
        for layer in construction.block:
            apply_layer(layer, tokens)
        w = flat(tokens.matrices.values())  # (B, D_w)
        yield {**tokens.blocks, "gradient": flat(tokens.gradient) / construction.eta, "w": w}


def apply_layer(layer: FamilyLayer, tokens: Tokens) -> None:
    """Write what the layer adds or changes into the tokens."""
    if isinstance(layer, MaskedUnits):
        tokens.blocks[layer.target] = masked_units(layer, tokens)
    elif isinstance(layer, BoxAndClear):
        # What is cleared stays readable as a tap: the next step starts from new tokens.
        tokens.matrices = {name: tokens.matrices[name].clamp(-width, width) for name, width in layer.boxes}
    elif isinstance(layer, FamilyAttention) and all(isinstance(each, ActivationHeads) for each in layer.families):
        activation_heads(layer, tokens)
    else:
        for family in layer.families:
            apply_family(family, tokens)


def apply_family(family: object, tokens: Tokens) -> None:
    blocks = tokens.blocks
    if isinstance(family, HadamardHeads):
        blocks[family.target] = blocks[family.factor] * blocks[family.signal]  # (B, n+1, K)
    elif isinstance(family, TransposeHeads):
        columns = blocks[family.signal] @ tokens.matrices[family.matrix]  # (B, n+1, K)
        blocks[family.target] = blocks[family.factor] * columns
    else:
        assert isinstance(family, OuterProductHeads)  # the layer holds no other kind
        outer_product_heads(family, tokens)


def activation_heads(layer: FamilyAttention, tokens: Tokens) -> None:
    """Families that share one sum of ReLUs look all their scores up at once."""
    families = [family for family in layer.families if isinstance(family, ActivationHeads)]
    for relus in {id(family.relus): family.relus for family in families}.values():
        sharing = [family for family in families if family.relus is relus]
        scores = [scores_of(family, tokens) for family in sharing]  # each (B, n+1, K)
        values = relus(scores[0] if len(scores) == 1 else torch.cat(scores, dim=-1))  # (B, n+1, sum of K)
        pieces = values.split([each.shape[-1] for each in scores], dim=-1)
        tokens.blocks.update({family.target: piece for family, piece in zip(sharing, pieces, strict=True)})


def scores_of(family: ActivationHeads, tokens: Tokens) -> Array:
    """(B, n+1, K)."""
    key = (family.matrix, family.source)
    if key not in tokens.scores:
        tokens.scores[key] = tokens.blocks[family.source] @ tokens.matrices[family.matrix].mT
    return tokens.scores[key]


def masked_units(layer: MaskedUnits, tokens: Tokens) -> Array:
    """The sum of ReLUs at the examples (t = 1), the mask at the query (t = 0): (B, n+1, d_y)."""
    t, y = tokens.blocks[layer.first], tokens.blocks[layer.second]  # (B, n+1, d_y)
    examples = layer.relus(t[..., :-1, :], y[..., :-1, :])  # (B, n, d_y)
    return torch.cat([examples, layer.masked(t[..., -1:, :], y[..., -1:, :])], dim=-2)


def outer_product_heads(family: OuterProductHeads, tokens: Tokens) -> None:
    signal, source = tokens.blocks[family.signal], tokens.blocks[family.source]  # (B, n+1, K), (B, n+1, columns)
    exactly = family.scale / int(signal.shape[-2])  # the attention layer divides by the number of tokens
    update = (signal.mT @ source) * (exactly if isinstance(signal, BallArray) else float(exactly))  # (B, K, columns)
    tokens.gradient.append(update)
    tokens.matrices[family.matrix] = tokens.matrices[family.matrix] - update


def flat(matrices: Iterable[Array]) -> Array:
    """(B, D_w)."""
    return torch.cat([V.flatten(-2) for V in matrices], dim=-1)


# The dense interpreter: the definitions, with full matrices.


def embed(shape: Shape, stream: Stream, w: Tensor, x: Tensor, y: Tensor) -> Float[Tensor, "B T D"]:
    """The tokens [x; y; w; 0; 1; t] of the input sequence (wu2024, (2.1)), the query last."""
    batch, tokens = x.shape[:2]
    repeated = w[:, None, :].expand(batch, tokens, shape.parameters)  # (B, T, D_w)
    empty = x.new_zeros(batch, tokens, stream.width - shape.d_x - shape.d_y - shape.parameters - 2)
    one = x.new_ones(batch, tokens, 1)
    t = torch.cat([one[:, :-1], torch.zeros_like(one[:, -1:])], dim=1)  # 1 at the examples, 0 at the query
    return torch.cat([x, y, repeated, empty, one, t], dim=-1)


def parameters_of_first_token(H: Tensor, stream: Stream) -> Float[Tensor, "B D_w"]:
    names = [name for name in stream.names if name.startswith("v[")]
    return torch.cat([H[:, 0, stream.slice(name)] for name in names], dim=-1)


def dense_layer(layer: FamilyLayer, H: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    if isinstance(layer, MaskedUnits | BoxAndClear):
        return dense_feed_forward(layer.feed_forward(), H)
    change = torch.zeros_like(H)
    for head in layer.heads():
        change = change + dense_head(head, H, multiplication=isinstance(layer, ElementwiseMultiplication))
    return H + change


def dense_head(head: Head, H: Float[Tensor, "B T D"], multiplication: bool) -> Float[Tensor, "B T D"]:
    """(1/n) (V H) relu((Q H)^T (K H)) (Definition 7), or (V H) gamma((Q H)^T (K H)) (Definition 6)."""
    assert head.query is not None  # heads of families have a dot product
    assert head.key is not None
    queries, keys, values = (dense_map(H, each.dense()) for each in (head.query, head.key, head.value))
    scores = queries @ keys.mT  # (B, T, T): <Q h_i, K h_s>
    if multiplication:
        return torch.diagonal(scores, dim1=-2, dim2=-1)[..., None] * values  # gamma keeps the diagonal
    return torch.relu(scores) @ values / H.shape[1]


def dense_feed_forward(layer: FeedForward, H: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    """H + W_2 relu(W_1 H) (Definition 8)."""
    return H + dense_map(torch.relu(dense_map(H, layer.inner.dense())), layer.outer.dense())


def dense_map(H: Float[Tensor, "B T S"], matrix: object) -> Float[Tensor, "B T D"]:
    return H @ torch.as_tensor(matrix, dtype=H.dtype, device=H.device).T
