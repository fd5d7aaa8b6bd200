"""Softmax heads beside a sink, whose weights, scaled up, are linear in their scores (algoformer, (7), (8)).

A token i gives the token j the score c <q_i, k_j>, and the sink the score C. With values e^C v_j one head adds up about
(1 + c <q_i, k_j>) v_j, and a second takes the constant away: with scores 0, or with the scores -c <q_i, k_j> and half
the values in both.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numeric.construction import Head
from numeric.maps import BlockMap, Number
from numeric.stream import Block, Stream

SECOND = {"none": None, "constant": 0, "opposite": -1}  # the second head's scores over the first's
Weights = Mapping[str, Any]  # source block -> what a map does to it
Action = Mapping[tuple[str, str], Any]  # (target block, source block) -> the same


@dataclass(frozen=True)
class Sink:
    """The token whose block `marked` is 1, 0 elsewhere, gets the score C; `one` is 1 at each query."""

    c: Number
    C: Number
    marked: str
    one: str


# e^C in balls is the real number.
def linear_heads(
    stream: Stream, sink: Sink, second: str, *, query: Weights, key: Weights, value: Action, scale: Number = 1.0
) -> tuple[Head, ...]:
    """Heads that add up `scale` sum_j c <q_i, k_j> v_j, or with (1 + c <q_i, k_j>) if `second` is "none".

    `query` and `key` map source blocks to the actions that make q and k, all of one size; `value` is that of a
    `BlockMap`. The sink's own value should be 0, or the result keeps it.
    """
    other = SECOND[second]
    share = scale * _exponential(sink.C) * (0.5 if other else 1)
    first = _head("linear", stream, sink, 1, query, key, value, share)
    return (first,) if other is None else (first, _head(second, stream, sink, other, query, key, value, -1 * share))


def _head(
    name: str, stream: Stream, sink: Sink, sign: int, query: Weights, key: Weights, value: Action, share: Number
) -> Head:
    scores = _scores(stream, query)
    asks = {("dot", source): sink.c * sign * action for source, action in query.items()} if sign else {}
    offers = {("dot", source): action for source, action in key.items()}
    return Head(
        name,
        BlockMap(stream, scores, {**asks, ("sink", sink.one): 1.0}),
        BlockMap(stream, scores, {**offers, ("sink", sink.marked): sink.C}),
        BlockMap(stream, stream, {pair: share * action for pair, action in value.items()}),
    )


def _scores(stream: Stream, query: Weights) -> Stream:
    source, action = next(iter(query.items()))
    size = stream.size(source) if getattr(action, "ndim", 0) < 2 else len(action)
    return Stream([Block("dot", size), Block("sink", 1)])


def _exponential(C: Any) -> Number:
    return math.exp(C) if isinstance(C, int | float) else C.exp()
