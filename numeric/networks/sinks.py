"""Softmax heads beside a sink, whose weights, scaled up, are linear in their scores (algoformer, (7), (8)).

A token i gives the token j the score c <q_i, k_j>, and the sink the score C. With values e^C v_j one head adds up about
(1 + c <q_i, k_j>) v_j, and a second takes the constant away: with scores 0, or with the scores -c <q_i, k_j> and half
the values in both.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numeric.networks.layers import Head
from numeric.networks.maps import BlockMap, Number
from numeric.networks.stream import Block, Stream

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


@dataclass(frozen=True)
class Dot:
    """The products <q_i, k_j>: source blocks to the actions that make q and k, all of one size."""

    query: Weights = field(default_factory=dict)
    key: Weights = field(default_factory=dict)

    def block(self, stream: Stream, name: str) -> tuple[Block, ...]:
        """What q and k are written to, if there are any."""
        sizes = (stream.size(s) if getattr(a, "ndim", 0) < 2 else len(a) for s, a in self.query.items())
        size = next(sizes, 0)
        return (Block(name, size),) if size else ()


# e^C in balls is the real number.
def linear_heads(
    stream: Stream,
    sink: Sink,
    second: str,
    *,
    query: Weights,
    key: Weights,
    value: Action,
    scale: Number = 1.0,
    shared: Dot = Dot(),
) -> tuple[Head, ...]:
    """Heads that add up `scale` sum_j c <q_i, k_j> v_j, or with (1 + c <q_i, k_j>) if `second` is "none".

    `query` and `key` map source blocks to the actions that make q and k, all of one size; `value` is that of a
    `BlockMap`. The sink's own value should be 0, or the result keeps it. The products `shared` are added to the scores
    of each head, also to the sink's.
    """
    other, dot = SECOND[second], Dot(query, key)
    share = scale * _exponential(sink.C) * (0.5 if other else 1)
    first = _head("linear", stream, sink, 1, dot, shared, value, share)
    return (first,) if other is None else (first, _head(second, stream, sink, other, dot, shared, value, -1 * share))


def _head(
    name: str, stream: Stream, sink: Sink, sign: int, dot: Dot, shared: Dot, value: Action, share: Number
) -> Head:
    scores = Stream([*dot.block(stream, "dot"), Block("sink", 1), *shared.block(stream, "shared")])
    asks = {("dot", source): sink.c * sign * action for source, action in dot.query.items()} if sign else {}
    asks |= {("shared", source): action for source, action in shared.query.items()}
    offers = {("dot", source): action for source, action in dot.key.items()}
    offers |= {("shared", source): action for source, action in shared.key.items()}
    return Head(
        name,
        BlockMap(stream, scores, {**asks, ("sink", sink.one): 1.0}),
        BlockMap(stream, scores, {**offers, ("sink", sink.marked): sink.C}),
        BlockMap(stream, stream, {pair: share * action for pair, action in value.items()}),
    )


def _exponential(C: Any) -> Number:
    return math.exp(C) if isinstance(C, int | float) else C.exp()
