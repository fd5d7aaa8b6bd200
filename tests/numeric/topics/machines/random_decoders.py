"""Random decoders for the tests: two layers, five coordinates, three symbols, positions up to 8."""

import numpy as np

from numeric.networks.layers import Affine
from numeric.networks.maps import BlockMap
from numeric.networks.stream import Block, Stream
from numeric.topics.machines.decoder import Decoder, DecoderLayer, NullKeyAttention, Tap, affine, rounding

STREAM = Stream([Block("a", 2), Block("b", 3)])
KEYS = Stream([Block("k", 2)])
MIDDLE = Stream([Block("m", 4)])


def random_affine(rng: np.random.Generator, source: Stream, target: Stream) -> Affine:
    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) / 2

    action = {(t.name, s.name): draw(t.size, s.size) for t in target.blocks for s in source.blocks}
    return Affine(BlockMap(source, target, action), {t.name: draw(t.size) for t in target.blocks})


def random_attention(rng: np.random.Generator) -> NullKeyAttention:
    """All scores differ, or those of all tokens are the same, or those of the tokens and of the null key are 0."""
    query, key, value = (random_affine(rng, STREAM, target) for target in (KEYS, KEYS, STREAM))
    ties = rng.integers(3)
    if ties:
        key = affine(STREAM, KEYS, {}, {"k": rng.normal(size=2)})
    if ties == 2:
        query = affine(STREAM, KEYS, {})
    return NullKeyAttention(query, key, value, rng.normal(size=2), rng.normal(size=5))


def random_decoder(seed: int, *, rounded: bool = False) -> Decoder:
    """Two layers, the first without attention to the encoder."""
    rng = np.random.default_rng(seed)

    def feedforward() -> tuple[Affine, Affine, Affine]:
        first = random_affine(rng, STREAM, STREAM)
        if rounded:
            return (first, *rounding(STREAM, unrounded=["a"] if seed % 2 else []))
        return first, random_affine(rng, STREAM, MIDDLE), random_affine(rng, MIDDLE, STREAM)

    layers = (
        DecoderLayer("one", "none", random_attention(rng), None, feedforward()),
        DecoderLayer("two", "none", random_attention(rng), random_attention(rng), feedforward()),
    )
    table = rng.normal(size=(9, 5))
    positions = (lambda i: table[i]) if seed % 2 else table
    embedding, initial, classifier = (rng.normal(size=shape) for shape in ((5, 3), 5, 5))
    return Decoder(STREAM, embedding, positions, initial, layers, classifier, {"b": Tap(1, ("b",))})
