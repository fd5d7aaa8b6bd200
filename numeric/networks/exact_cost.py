"""The cost of an exact run, counted before it starts, so that sizes that are too large are refused at once."""

from collections.abc import Mapping

import numpy as np

from numeric.balls.limits import ExactCost, TooLargeForExact
from numeric.networks.construction import AttentionTap, Construction, ScoresTap, Tap
from numeric.networks.families.layers import (
    ActivationHeads,
    AttentionFamily,
    BoxAndClear,
    FamilyAttention,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    MultiplicationFamily,
)
from numeric.networks.layers import (
    AttentionKind,
    CompactLayer,
    FeedForward,
    Head,
    LinearAttention,
    LogisticAttention,
    SoftmaxAttention,
)
from numeric.networks.maps import BlockMap, LowRank
from numeric.networks.stream import Stream

EXPONENTIAL = SoftmaxAttention, LogisticAttention  # the kinds whose weights take one for each score


def require_affordable(construction: Construction, length: int, taps: Mapping[str, Tap], limit: int) -> None:
    """Raise `TooLargeForExact` when the run would exceed `limit` ball operations."""
    cost = exact_cost(construction, length, taps)
    if cost.operations > limit:
        raise TooLargeForExact(construction.name, length, cost, limit)


def exact_cost(construction: Construction, length: int, taps: Mapping[str, Tap]) -> ExactCost:
    """Count of ball operations of an exact run on `length` tokens with these taps."""
    total = map_cost(construction.embedding.map, length)
    for number, layer in enumerate(construction.layers, start=1):
        queries = length - construction.first_query(number, length)
        if isinstance(layer, CompactLayer):
            total += compact_cost(layer, length)
            continue
        if isinstance(layer, FeedForward):
            total += map_cost(layer.inner, queries) + map_cost(layer.outer, queries)
            total += ExactCost(scalars=queries * layer.inner.target.width)
            continue
        for head in layer.heads:
            total += head_cost(layer, head, queries, length)
    for tap in taps.values():
        if isinstance(tap, ScoresTap | AttentionTap):
            exponential = isinstance(construction.layers[tap.layer - 1], EXPONENTIAL)
            queries = length - construction.first_query(tap.layer, length)
            weighted = isinstance(tap, AttentionTap)
            total += score_cost(construction.head(tap.layer, tap.head), queries, length, weighted and exponential)
    return total + map_cost(construction.readout, length)


# A sum of ReLUs at one ball, or a transcendental function, takes about as long as eight scalars; measured.
def compact_cost(layer: CompactLayer, length: int) -> ExactCost:
    """Of a layer of families, whose matrices are the same at all tokens."""
    stream = layer.stream
    if isinstance(layer, MaskedUnits):
        return ExactCost(scalars=8 * length * stream.size(layer.into))
    if isinstance(layer, BoxAndClear):
        return ExactCost(scalars=2 * sum(stream.size(name) for name, _ in layer.boxes))
    assert isinstance(layer, FamilyAttention | FamilyMultiplication)  # no other layers are compact
    return sum((family_cost(family, stream, length) for family in layer.families), start=ExactCost())


def family_cost(family: AttentionFamily | MultiplicationFamily, stream: Stream, length: int) -> ExactCost:
    if isinstance(family, ActivationHeads):
        return ExactCost(products=length * stream.size(family.matrix), scalars=8 * length * stream.size(family.target))
    if isinstance(family, HadamardHeads):
        return ExactCost(scalars=length * stream.size(family.target))
    return ExactCost(products=length * stream.size(family.matrix))


def map_cost(block_map: BlockMap, tokens: int) -> ExactCost:
    products, read = 0, set[str]()
    for (target_block, source_block), what in block_map.action.items():
        source, target = block_map.source.size(source_block), block_map.target.size(target_block)
        if not isinstance(what, LowRank | np.ndarray) and what == 1.0:
            continue
        read.add(source_block)
        if isinstance(what, LowRank):
            products += what.left.shape[1] * (source + target)
        else:
            products += source * target if isinstance(what, np.ndarray) else source
    return ExactCost(products=tokens * products, scalars=tokens * sum(map(block_map.source.size, read)))


def head_cost(layer: AttentionKind, head: Head, queries: int, length: int) -> ExactCost:
    width = sum(head.value.target.size(name) for name in head.value.written)
    values = map_cost(head.value, length)
    if not head.has_dot_product and head.positions is not None:
        return values + ExactCost(scalars=2 * length * width, exponentials=1)
    if isinstance(layer, LinearAttention):
        products = (queries + length) * width * shared_width(head)
        return values + query_and_key_cost(head, queries, length) + ExactCost(products=products)
    scores = score_cost(head, queries, length, isinstance(layer, EXPONENTIAL))
    return values + scores + ExactCost(products=queries * length * width)


def score_cost(head: Head, queries: int, length: int, exponential: bool) -> ExactCost:
    pairs = queries * length
    total = ExactCost(scalars=pairs, exponentials=pairs if exponential else 0)
    return total + query_and_key_cost(head, queries, length) + ExactCost(products=pairs * shared_width(head))


def query_and_key_cost(head: Head, queries: int, length: int) -> ExactCost:
    if head.query is None or head.key is None:
        return ExactCost()
    return map_cost(head.query, queries) + map_cost(head.key, length)


def shared_width(head: Head) -> int:
    """Width of the blocks that both query and key write."""
    if head.query is None or head.key is None:
        return 0
    return sum(head.key.target.size(name) for name in set(head.key.written) & set(head.query.written))
