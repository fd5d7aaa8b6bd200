"""A third interpreter of constructions, for the tests alone: the papers' formulas as loops over 40-digit numbers.

It uses full matrices and neither torch nor Arb.
"""

import numpy as np
from mpmath import mp, mpf

from numeric.networks.construction import AttentionTap, ChangeTap, Construction, ScoresTap, StreamTap
from numeric.networks.layers import (
    ElementwiseMultiplication,
    FeedForward,
    Head,
    Layer,
    LinearAttention,
    ReluAttention,
    bias_vector,
    spelled_out,
)
from numeric.networks.maps import BlockMap, LowRank

Vector = list[mpf]


def run_by_definition(construction: Construction, x: np.ndarray, digits: int = 40) -> dict[str, np.ndarray]:
    """Output and all taps of one prompt (L, d) as object arrays of mpf, every layer computed for every token."""
    with mp.workdps(digits):
        bias = bias_vector(construction.embedding.map.target, construction.embedding.bias)
        tokens = [add(image(construction.embedding.map, row), numbers(bias)) for row in map(numbers, x)]
        streams, found = [tokens], {}
        for layer in construction.layers:
            streams.append(run_layer(layer, streams[-1]))
        for name, tap in construction.taps.items():
            if isinstance(tap, StreamTap | ChangeTap):
                where = construction.stream(tap.layer).slice(tap.block)
                found[name] = np.array([token[where] for token in streams[tap.layer]], dtype=object)
                if isinstance(tap, ChangeTap):
                    found[name] = found[name] - np.array([each[where] for each in streams[tap.layer - 1]], dtype=object)
            elif isinstance(tap, ScoresTap | AttentionTap):
                head = construction.head(tap.layer, tap.head)
                layer, rows = construction.layers[tap.layer - 1], scores(head, streams[tap.layer - 1])
                if isinstance(tap, AttentionTap):
                    rows = [weights(layer, head, row, i) for i, row in enumerate(rows)]
                found[name] = np.array(rows, dtype=object)
        found["output"] = np.array([image(construction.readout, token) for token in streams[-1]], dtype=object)
        if construction.last_token_only:
            last = len(construction.layers)
            of_last = [name for name, tap in construction.taps.items() if getattr(tap, "layer", None) == last]
            found |= {name: found[name][-1:] for name in of_last}
            found["output"] = found["output"][-1]
        return found


def numbers(values: np.ndarray) -> Vector:
    return [mpf(float(value)) for value in values]


def add(left: Vector, right: Vector) -> Vector:
    return [a + b for a, b in zip(left, right, strict=True)]


def image(block_map: BlockMap, token: Vector) -> Vector:
    return [sum((w * t for w, t in zip(row, token, strict=True) if w), mpf(0)) for row in matrix(block_map)]


def matrix(block_map: BlockMap) -> np.ndarray:
    """The full matrix, the product of low-rank factors not rounded to float64."""
    full = np.full((block_map.target.width, block_map.source.width), mpf(0), dtype=object)
    for (target, source), what in block_map.action.items():
        if isinstance(what, LowRank):
            weight = what.left.astype(object) * mpf(1) @ what.right.astype(object)
        elif isinstance(what, np.ndarray):
            weight = (np.diag(what) if what.ndim == 1 else what) * mpf(1)
        else:
            weight = np.eye(block_map.source.size(source)) * mpf(what)
        full[block_map.target.slice(target), block_map.source.slice(source)] = weight
    return full


def run_layer(layer: Layer, tokens: list[Vector]) -> list[Vector]:
    layer = spelled_out(layer)
    if isinstance(layer, FeedForward):
        bias = numbers(bias_vector(layer.inner.target, layer.inner_bias))
        inner = [add(image(layer.inner, token), bias) for token in tokens]
        results = [image(layer.outer, [max(entry, mpf(0)) for entry in hidden]) for hidden in inner]
    else:
        results = [[mpf(0)] * layer.target.width for _ in tokens]
        for head in layer.heads:
            values = [image(head.value, token) for token in tokens]
            for i, row in enumerate(scores(head, tokens)):
                for weight, value in zip(weights(layer, head, row, i), values, strict=True):
                    results[i] = add(results[i], [weight * entry for entry in value])
    return [add(token, result) for token, result in zip(tokens, results, strict=True)] if layer.residual else results


def scores(head: Head, tokens: list[Vector]) -> list[Vector]:
    if head.query is None or head.key is None:
        return [[mpf(0)] * len(tokens) for _ in tokens]
    queries, keys = [image(head.query, token) for token in tokens], [image(head.key, token) for token in tokens]
    return [[sum((a * b for a, b in zip(q, k, strict=True)), mpf(0)) for k in keys] for q in queries]


def weights(layer: object, head: Head, row: Vector, query: int) -> Vector:
    if isinstance(layer, LinearAttention):
        return row
    if isinstance(layer, ElementwiseMultiplication):
        return [score if key == query else mpf(0) for key, score in enumerate(row)]
    if isinstance(layer, ReluAttention):
        return [max(score, mpf(0)) / len(row) for score in row]
    exponentials = []
    for key, score in enumerate(row):
        if head.positions is None:
            exponentials.append(mp.exp(score))
        elif (query > key or (query == key and not head.positions.strict)) and key + 1 >= head.positions.first_key:
            exponentials.append(mp.exp(score - mpf(head.positions.slope) * (query - key - 1)))
        else:
            exponentials.append(mpf(0))
    total = sum(exponentials, mpf(0))
    return [entry / total if total else mpf(0) for entry in exponentials]
