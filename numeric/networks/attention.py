"""Attention heads in PyTorch, as the papers define them.

Shapes: B batch, L tokens, Q queries (a range of the tokens), H width of the stream, K width of query and key,
V width of the blocks that the value writes, C tokens a chunk, N chunks.
"""

from typing import Any, TypeAlias

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from numeric.balls import BallArray
from numeric.balls.conversion import ball_of
from numeric.networks.exact_attention import exact_causal_average, exact_masked_softmax
from numeric.networks.layers import (
    AttentionKind,
    ElementwiseMultiplication,
    Head,
    LinearAttention,
    LogisticAttention,
    Positions,
    ReluAttention,
)
from numeric.networks.maps import BlockMap, act, injection, tensor_actions
from numeric.networks.stream import StreamError

Array: TypeAlias = Any  # a tensor or an array of balls
SCORES_AT_ONCE = 1 << 19  # scores held at once while queries are streamed: 4 MiB in float64, which a cache holds
CHUNK = 64  # tokens a chunk of the geometric average


class BlockLinear(nn.Module):
    """A block map with its weights as buffers; with `dense`, the full matrix of the paper."""

    def __init__(self, block_map: BlockMap, dtype: torch.dtype, device: torch.device | str, dense: bool) -> None:
        super().__init__()
        self.block_map = block_map
        self.matrix: Tensor | None
        self.register_buffer(
            "matrix", torch.tensor(block_map.dense(), dtype=dtype, device=device) if dense else None
        )  # (T, S)
        self.scales: dict[tuple[str, str], float] = {}
        self.buffer_names: dict[tuple[str, str], tuple[str, ...]] = {}
        for index, (pair, weight) in enumerate(({} if dense else tensor_actions(block_map, dtype, device)).items()):
            if isinstance(weight, float):
                self.scales[pair] = weight
                continue
            factors = weight if isinstance(weight, tuple) else (weight,)
            self.buffer_names[pair] = tuple(f"weight_{index}_{place}" for place in range(len(factors)))
            for name, factor in zip(self.buffer_names[pair], factors, strict=True):
                self.register_buffer(name, factor)

    def forward(self, tokens: Float[Tensor, "... S"]) -> Float[Tensor, "... T"]:
        if self.matrix is not None:
            return tokens @ self.matrix.T  # (..., T)
        return act(self.block_map, {pair: self._weight(pair) for pair in self.block_map.action}, tokens)  # (..., T)

    def _weight(self, pair: tuple[str, str]) -> float | Tensor | tuple[Tensor, Tensor]:
        if pair in self.scales:
            return self.scales[pair]
        factors = tuple(self.get_buffer(name) for name in self.buffer_names[pair])
        return factors[0] if len(factors) == 1 else (factors[0], factors[1])


class AttentionHead(nn.Module):
    """A head of one kind of attention."""

    def __init__(
        self, kind: type[AttentionKind], head: Head, dtype: torch.dtype, device: torch.device | str, dense: bool
    ) -> None:
        super().__init__()
        self.kind, self.head = kind, head
        self.dense = dense
        self.query = self.key = None
        if head.query is not None and head.key is not None:
            # Only blocks that both query and key write enter the dot product.
            shared = set(head.query.target.names if dense else head.query.written) & set(head.key.written)
            names = head.query.target.names if dense or not shared else shared
            self.query = BlockLinear(head.query.onto(names), dtype, device, dense)
            self.key = BlockLinear(head.key.onto(names), dtype, device, dense)
        written = head.value.target.names if dense or not head.value.written else head.value.written
        self.value = BlockLinear(head.value.onto(written), dtype, device, dense)
        self.place = BlockLinear(
            injection(head.value.target.only(written), head.value.target), dtype, device, dense=False
        )

    def scores(self, tokens: Float[Tensor, "B L H"], first: int, last: int) -> Float[Tensor, "B Q L"]:
        """Dot products of the queries first..last-1 (0-based) with all keys; zero for a head without dot product."""
        if self.query is None or self.key is None:
            return tokens.new_zeros(tokens.shape[0], last - first, tokens.shape[1])  # (B, Q, L)
        queries = self.query(tokens[:, first:last])  # (B, Q, K)
        return queries @ self.key(tokens).mT  # (B, Q, L)

    def weights(self, tokens: Float[Tensor, "B L H"], first: int, last: int) -> Float[Tensor, "B Q L"]:
        """Attention weights of the queries first..last-1 (0-based)."""
        return attention_weights(self.kind, self.scores(tokens, first, last), self.head.positions, first)  # (B, Q, L)

    def forward(self, tokens: Float[Tensor, "B L H"], first: int) -> Float[Tensor, "B Q H2"]:
        """The head's contribution at the queries first..L-1 (0-based), streamed over queries to bound memory."""
        if not self.dense and self.kind is LinearAttention and self.query is not None and self.key is not None:
            # sum_j <q, k_j> v_j = (sum_j v_j k_j^T) q. All queries share the matrix: L K V in place of L^2 (K + V).
            outer = self.value(tokens).mT @ self.key(tokens)  # (B, V, K)
            return self.place(self.query(tokens[:, first:]) @ outer.mT)  # (B, Q, H2)
        if not self.dense and self.query is None and self.head.positions is not None:
            return self.place(causal_average(self.value(tokens), self.head.positions)[:, first:])  # (B, Q, H2)
        batch, length = tokens.shape[:2]
        values = self.value(tokens)  # (B, L, V)
        step = max(1, SCORES_AT_ONCE // (batch * length))
        pieces = [
            self.weights(tokens, start, min(start + step, length)) @ values for start in range(first, length, step)
        ]  # each (B, step, V)
        return self.place(torch.cat(pieces, dim=1))  # (B, Q, H2)


def attention_weights(
    kind: type[AttentionKind], scores: Array, positions: Positions | None = None, first: int = 0
) -> Array:
    """Attention weights (B, Q, L) from scores of the queries first, ... (0-based), on tensors or on balls."""
    queries, length = scores.shape[-2:]
    if kind is LinearAttention:
        return scores
    if kind is ElementwiseMultiplication:
        return scores * key_is_query(first, queries, length, scores)
    if kind is ReluAttention:
        return torch.relu(scores) / length
    if kind is LogisticAttention:
        return torch.sigmoid(scores) / examples(length)
    if positions is None:
        return torch.softmax(scores, dim=-1)
    lags = key_lags(first, first + queries, scores.mT)  # (Q, L)
    allowed = allowed_keys(positions, lags)
    if isinstance(scores, BallArray):
        return exact_masked_softmax(scores - BallArray.exactly(lags, scores.bits) * ball_of(positions.slope), allowed)
    if positions.slope != 0:
        scores = scores + (-positions.slope * lags.to(kernel_dtype(scores))).to(scores.dtype)  # (B, Q, L)
    return masked_softmax(scores, allowed)


def key_is_query(first: int, queries: int, length: int, like: Array) -> Float[Tensor, "Q L"]:
    """1 where key and query are one token."""
    own = (
        torch.arange(length, device=like.device, dtype=torch.int64)[None]
        == torch.arange(first, first + queries, device=like.device, dtype=torch.int64)[:, None]
    )
    return own.to(like.dtype)


def examples(length: int) -> int:
    """N of the N + 1 tokens of a prompt with a query. Raises StreamError for a query alone."""
    if length < 2:
        raise StreamError("LogisticAttention", "an empty prompt (a query alone)", "Give at least one example.")
    return length - 1


def kernel_dtype(like: Tensor) -> torch.dtype:
    """Lags and sums over lags are formed in at least float32: half precision counts no further than some hundreds."""
    return torch.promote_types(like.dtype, torch.float32)


def key_lags(first: int, last: int, like: Any) -> Int[Tensor, "Q L"]:
    """i - j - 1 for the queries first..last-1 (0-based) and all L keys of the tokens `like` (B, L, ...)."""
    keys = torch.arange(like.shape[1], device=like.device, dtype=torch.int64)  # (L)
    queries = torch.arange(first, last, device=like.device, dtype=torch.int64)  # (Q)
    return queries[:, None] - keys[None, :] - 1  # (Q, L)


def allowed_keys(positions: Positions, lags: Int[Tensor, "Q L"]) -> Bool[Tensor, "Q L"]:
    """True where the key lies before the query, or is it if not `strict`, and is not below `first_key`."""
    keys = torch.arange(lags.shape[1], device=lags.device, dtype=torch.int64)  # (L)
    return (lags >= least_lag(positions)) & (keys >= positions.first_key - 1)  # (Q, L)


def least_lag(positions: Positions) -> int:
    """The least i - j - 1 of a query i and a key j that it sees."""
    return 0 if positions.strict else -1


def masked_softmax(logits: Float[Tensor, "B Q L"], allowed: Bool[Tensor, "... Q L"]) -> Float[Tensor, "B Q L"]:
    """Softmax over the allowed keys; a query without any has weight 0 everywhere and a finite (zero) gradient."""
    empty = ~allowed.any(dim=-1, keepdim=True)  # (..., Q, 1)
    if not bool(empty.any()):
        return torch.softmax(logits.masked_fill(~allowed, -torch.inf), dim=-1)  # (B, Q, L)
    # A row of -infinity alone would give nan; its logits are set to 0 and its weights are masked again below.
    finite = logits.masked_fill(~allowed, -torch.inf).masked_fill(empty, 0.0)  # (B, Q, L)
    return torch.softmax(finite, dim=-1).masked_fill(~allowed, 0.0)  # (B, Q, L)


def causal_average(values: Array, positions: Positions) -> Array:
    """What each query averages without a dot product, (B, L, V), on tensors or on balls; 0 where it sees no key."""
    if isinstance(values, BallArray):
        return exact_causal_average(values, positions)
    if positions.strict:
        return geometric_average(values, positions)
    # The query i sees with itself what i + 1 sees without itself.
    return geometric_average(torch.nn.functional.pad(values, (0, 0, 0, 1)), positions)[:, 1:]  # (B, L, V)


def geometric_average(values: Float[Tensor, "B L V"], positions: Positions) -> Float[Tensor, "B L V"]:
    """sum_j softmax_j(-slope (i - j - 1)) values_j over first_key <= j < i, for every i; 0 where there is no such j.

    The kernel depends on i - j only and is a power of exp(-slope), so that a chunk sees all earlier chunks through
    one vector: the cost is L (C + L / C^2) V in place of L^2 V, and no L x L matrix is held.
    """
    batch, length, width = values.shape
    chunks = -(-length // CHUNK)
    padded = values.new_zeros(batch, chunks * CHUNK, width)  # (B, N C, V)
    start = min(positions.first_key - 1, length)
    padded = torch.cat([padded[:, :start], values[:, start:], padded[:, length:]], dim=1)  # (B, N C, V)
    blocks = padded.view(batch, chunks, CHUNK, width)  # (B, N, C, V)

    steps = torch.arange(CHUNK, dtype=kernel_dtype(values), device=values.device)  # (C)
    powers = torch.exp(-positions.slope * steps).to(values.dtype)  # (C)
    within = strict_geometric_kernel(CHUNK, positions.slope, values) @ blocks  # (B, N, C, V)
    sums = torch.einsum("c,bncv->bnv", powers.flip(0), blocks)  # (B, N, V), as seen from the next chunk's first token
    carried = strict_geometric_kernel(chunks, positions.slope * CHUNK, values) @ sums  # (B, N, V)
    totals = within + powers[:, None] * carried[:, :, None, :]  # (B, N, C, V)
    totals = totals.reshape(batch, chunks * CHUNK, width)[:, :length]  # (B, L, V)
    return totals / geometric_normaliser(length, positions, values)[:, None]  # (B, L, V)


def strict_geometric_kernel(size: int, slope: float, like: Tensor) -> Float[Tensor, "size size"]:
    """exp(-slope (i - j - 1)) for j < i and 0 elsewhere."""
    index = torch.arange(size, dtype=kernel_dtype(like), device=like.device)  # (size)
    lags = index[:, None] - index[None, :] - 1  # (size, size)
    return (torch.exp(-slope * lags.clamp(min=0)) * (lags >= 0)).to(like.dtype)  # (size, size)


def geometric_normaliser(length: int, positions: Positions, like: Tensor) -> Float[Tensor, " L"]:
    """sum_{k=0}^{m-1} exp(-slope k) with m the number of keys that each query sees; 1 where it sees none."""
    index = torch.arange(length, device=like.device, dtype=torch.int64)  # (L)
    keys_seen = (index - positions.first_key + 1).clamp(min=0)  # (L)
    partial_sums = torch.exp(-positions.slope * index.to(kernel_dtype(like))).cumsum(0)  # (L)
    return partial_sums[(keys_seen - 1).clamp(min=0)].to(like.dtype)  # (L); the first partial sum is 1
