"""The exact interpreter of a construction, over Arb balls: what the network computes in real arithmetic.

It runs one prompt. Each ball contains the exact value of the network with its weights, input and slopes, float64
numbers or balls. Blocks of the stream are kept apart, one matrix of balls each; a block that is missing is zero.

Shapes: L tokens, Q queries, s and t sizes of blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import flint
import numpy as np
from jaxtyping import Float64, Shaped

from numeric.attention import examples, least_lag
from numeric.balls import Arb, BallArray, exact_softmax, working_precision
from numeric.balls.conversion import ball_of, entries_of_values
from numeric.balls.floats import enclosing_floats
from numeric.construction import (
    Construction,
    FeedForward,
    Head,
    Layer,
    LinearAttention,
    LogisticAttention,
    Positions,
    ReluAttention,
    ScoresTap,
    StreamTap,
    Tap,
)
from numeric.exact_cost import DEFAULT_LIMIT, require_affordable
from numeric.maps import Action, BlockMap, LowRank, all_finite, frozen_array
from numeric.stream import Stream, StreamError

Balls: TypeAlias = Any  # flint.arb_mat
ExactTokens: TypeAlias = dict[str, Balls]  # block name -> (L, block size)


def run_exact(
    construction: Construction,
    x: Float64[np.ndarray, "length d"] | BallArray,
    bits: int = 128,
    taps: Sequence[str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, BallArray]:
    """The exact output under "output" and the taps of these names (all for None), for one prompt x of shape (L, d).

    Shapes are those of `Network.run` without the batch. Raises `TooLargeForExact` before starting when the count of
    ball operations exceeds `limit`. Arb's previous precision is restored afterwards.
    """
    x = frozen_array(x)
    if x.ndim != 2 or x.shape[1] != construction.source.width or x.shape[0] < 1 or not all_finite(x):
        raise StreamError(
            f"run_exact({construction.name!r})",
            f"an input of shape {x.shape}",
            f"Give one prompt of finite numbers, of shape (length, {construction.source.width}).",
        )
    selected = construction.select_taps(None if taps is None else tuple(taps))
    require_affordable(construction, x.shape[0], selected, limit)
    with working_precision(bits):
        return _run(construction, x, bits, selected)


@dataclass(frozen=True)
class _TapRecorder:
    """Collects the requested taps, layer by layer."""

    construction: Construction
    selected: Mapping[str, Tap]
    bits: int
    found: dict[str, BallArray]

    def record(self, number: int, before: ExactTokens, after: ExactTokens, length: int) -> None:
        first = self.construction.first_query(number, length)
        for name, tap in self.selected.items():
            if isinstance(tap, StreamTap) and tap.layer == number:
                size = self.construction.stream(number).size(tap.block)
                matrix = after.get(tap.block, flint.arb_mat(length - first, size))
                self.found[name] = BallArray.of_matrix(matrix, self.bits)
            elif not isinstance(tap, StreamTap) and getattr(tap, "layer", None) == number:
                self.found[name] = self._of_head(number, tap, before, first, length)

    def _of_head(self, number: int, tap: Tap, before: ExactTokens, first: int, length: int) -> BallArray:
        layer, head = self.construction.layers[number - 1], self.construction.head(number, getattr(tap, "head", ""))
        if isinstance(tap, ScoresTap):
            return BallArray.of_matrix(exact_scores(head, before, first, length), self.bits)
        return BallArray.of_matrix(exact_weights(layer, head, before, first, length), self.bits)


def _run(construction: Construction, x: np.ndarray, bits: int, selected: Mapping[str, Tap]) -> dict[str, BallArray]:
    length = x.shape[0]
    recorder = _TapRecorder(construction, selected, bits, {})
    tokens = exact_embedding(construction, x)
    recorder.record(0, {}, tokens, length)
    for number, layer in enumerate(construction.layers, start=1):
        before = tokens
        tokens = exact_layer(layer, before, construction.first_query(number, length), length)
        recorder.record(number, before, tokens, length)
    queries = length - construction.first_query(len(construction.layers), length)
    output = exact_apply(construction.readout, tokens)
    joined = BallArray.of_matrix(join_blocks(construction.readout.target, output, queries), bits)
    return {**recorder.found, "output": joined[-1] if construction.last_token_only else joined}


def ball_matrix(array: Shaped[np.ndarray, "rows columns"]) -> Balls:
    """The float64 numbers (see `floats`), or these balls."""
    entries = entries_of_values(array) if enclosing_floats() else array
    return flint.arb_mat(array.shape[0], array.shape[1], entries.ravel().tolist())


def exact_action(what: Action, block: Balls) -> Balls:
    """One action on a block (L, s) -> (L, t)."""
    if isinstance(what, LowRank):
        return block * ball_matrix(what.right.T) * ball_matrix(what.left.T)
    if isinstance(what, np.ndarray):
        return block * ball_matrix(np.diag(what) if what.ndim == 1 else what.T)
    return block if what == 1.0 else block * ball_of(what)  # a number, or a ball around one


def exact_apply(block_map: BlockMap, tokens: ExactTokens) -> ExactTokens:
    images: ExactTokens = {}
    for (target_block, source_block), what in block_map.action.items():
        if source_block in tokens:
            image = exact_action(what, tokens[source_block])
            images[target_block] = images[target_block] + image if target_block in images else image
    return images


def add_tokens(left: ExactTokens, right: ExactTokens) -> ExactTokens:
    return {
        name: left[name] + right[name] if name in left and name in right else left.get(name, right.get(name))
        for name in {**left, **right}
    }


def add_bias(tokens: ExactTokens, bias: Mapping[str, np.ndarray], length: int) -> ExactTokens:
    rows = {name: ball_matrix(np.tile(values, (length, 1))) for name, values in bias.items()}
    return add_tokens(tokens, rows)


def from_row(tokens: ExactTokens, first: int) -> ExactTokens:
    """The tokens first, first + 1, ... (0-based)."""
    if first == 0:
        return tokens
    return {name: matrix_of_rows(block.tolist()[first:], block.ncols()) for name, block in tokens.items()}


def matrix_of_rows(rows: Sequence[Sequence[Arb]], width: int) -> Balls:
    return flint.arb_mat(len(rows), width, [ball for row in rows for ball in row])


def join_blocks(stream: Stream, tokens: ExactTokens, length: int) -> Balls:
    """All blocks of a stream side by side, (L, width)."""
    blocks = [tokens.get(each.name, flint.arb_mat(length, each.size)).tolist() for each in stream.blocks]
    rows = [[ball for block in blocks for ball in block[index]] for index in range(length)]
    return matrix_of_rows(rows, stream.width)


def exact_embedding(construction: Construction, x: np.ndarray) -> ExactTokens:
    inputs = {name: ball_matrix(x[:, construction.source.slice(name)]) for name in construction.source.names}
    return add_bias(exact_apply(construction.embedding.map, inputs), construction.embedding.bias, x.shape[0])


def exact_layer(layer: Layer, tokens: ExactTokens, first: int, length: int) -> ExactTokens:
    """The tokens first..L-1 (0-based) after the layer."""
    rows = from_row(tokens, first)
    if isinstance(layer, FeedForward):
        inner = add_bias(exact_apply(layer.inner, rows), layer.inner_bias, length - first)
        images = [exact_apply(layer.outer, {name: positive_part(block) for name, block in inner.items()})]
    else:
        images = [exact_head(layer, head, tokens, first, length) for head in layer.heads]
    result = rows if layer.residual else {}
    for image in images:
        result = add_tokens(result, image)
    return result


def positive_part(block: Balls) -> Balls:
    zero = flint.arb(0)
    return flint.arb_mat(block.nrows(), block.ncols(), [zero.max(ball) for ball in block.entries()])


def logistic(block: Balls) -> Balls:
    return flint.arb_mat(block.nrows(), block.ncols(), [1 / (1 + (-ball).exp()) for ball in block.entries()])


def exact_head(layer: Layer, head: Head, tokens: ExactTokens, first: int, length: int) -> ExactTokens:
    values = exact_apply(head.value, tokens)
    if not head.has_dot_product and head.positions is not None:
        averages = {name: exact_geometric_average(block, head.positions) for name, block in values.items()}
        return from_row(averages, first)
    if isinstance(layer, LinearAttention):
        return exact_linear_attention(head, values, tokens, first)
    weights = exact_weights(layer, head, tokens, first, length)
    return {name: weights * block for name, block in values.items()}


def exact_scores(head: Head, tokens: ExactTokens, first: int, length: int) -> Balls:
    """<W_Q h_i, W_K h_j> for the queries first..L-1 (0-based) and all keys, (Q, L)."""
    total = flint.arb_mat(length - first, length)
    if head.query is None or head.key is None:
        return total
    queries, keys = exact_apply(head.query, from_row(tokens, first)), exact_apply(head.key, tokens)
    for name in queries.keys() & keys.keys():
        total = total + queries[name] * keys[name].transpose()
    return total


def exact_linear_attention(head: Head, values: ExactTokens, tokens: ExactTokens, first: int) -> ExactTokens:
    """(sum_j v_j k_j^T) q_i for the queries first..L-1 (0-based)."""
    assert head.query is not None  # the layer has checked its heads
    assert head.key is not None
    queries, keys = exact_apply(head.query, from_row(tokens, first)), exact_apply(head.key, tokens)
    images: ExactTokens = {}
    for name in queries.keys() & keys.keys():
        products = {block: queries[name] * (keys[name].transpose() * rows) for block, rows in values.items()}
        images = add_tokens(images, products)
    return images


def exact_weights(layer: Layer, head: Head, tokens: ExactTokens, first: int, length: int) -> Balls:
    """Attention weights of the queries first..L-1 (0-based), (Q, L)."""
    scores = exact_scores(head, tokens, first, length)
    if isinstance(layer, ReluAttention):
        return positive_part(scores) * (flint.arb(1) / length)
    if isinstance(layer, LinearAttention):
        return scores
    if isinstance(layer, LogisticAttention):
        return logistic(scores) * (flint.arb(1) / examples(length))
    rows = [exact_softmax_row(row, query, head.positions) for query, row in enumerate(scores.tolist(), start=first)]
    return matrix_of_rows(rows, length)


def exact_softmax_row(scores: list[Arb], query: int, positions: Positions | None) -> list[Arb]:
    """Softmax of one row over the keys that the query (0-based) may see; zeros where it sees none."""
    if positions is None:
        return exact_softmax(scores)
    slope, start = ball_of(positions.slope), positions.first_key - 1
    logits = [scores[key] - slope * (query - key - 1) for key in range(start, query - least_lag(positions))]
    zero = flint.arb(0)
    before = [zero] * min(start, len(scores))
    weights = before + exact_softmax(logits)
    return weights + [zero] * (len(scores) - len(weights))


def exact_geometric_average(values: Balls, positions: Positions) -> Balls:
    """sum_j softmax_j(-slope (i - j - 1)) values_j over the keys j of i, by u_{i+1} = exp(-slope) u_i + values_i."""
    ratio = (-ball_of(positions.slope)).exp()
    total, weight = [flint.arb(0)] * values.ncols(), flint.arb(0)
    averages = [total]  # of the keys before 1, 2, ..., L + 1
    for place, row in enumerate(values.tolist(), start=1):
        if place >= positions.first_key:
            total = [ratio * ball + new for ball, new in zip(total, row, strict=True)]
            weight = ratio * weight + 1
        averages.append([ball / weight for ball in total] if place >= positions.first_key else total)
    return matrix_of_rows(averages[:-1] if positions.strict else averages[1:], values.ncols())
