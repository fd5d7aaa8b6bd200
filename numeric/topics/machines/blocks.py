"""The named blocks of Appendix C's stream, numbers in binary, and what its layers have in common.

The blocks (C.1): `st` the state z; `sym1` the symbol a under the head; `sym2` the symbol u just written; `pos1` the
step t; `pos2` the place of the head before the step; `pos3` its place behind it; `scr1` the symbol found in the past;
`scr2` the symbol found in the input; `scr3` the bits of i' found so far; and scr4 as three blocks of one coordinate:
`found` (i' > 0), `input` (the place lies in the input), `hit` (the bit that the search just found).
The paper does not count these: `pair` the pair (z, a), |Z||A| coordinates; `left`, `right` the move (stay: neither);
`plus`, `minus` the two halves of an exclusive or, `minus` being the next borrow as well, and `carry`, for the adder;
`past`, `fresh`, `empty` the vector v of Lemma C.8.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float64, Int64

from numeric.networks.layers import Affine
from numeric.networks.maps import Action, BlockPair
from numeric.networks.stream import Block, Stream
from numeric.topics.machines.modules import DecoderLayer, NullKeyAttention, affine, rounding

SINGLES = ("found", "input", "hit", "left", "right", "plus", "minus", "carry", "past", "fresh", "empty")


def machine_stream(states: int, symbols: int, w_pos: int) -> Stream:
    """The stream for this many states (with the added one), symbols and bits of a position."""
    sizes = {
        "st": states, "sym1": symbols, "sym2": symbols, "pos1": w_pos, "pos2": w_pos, "pos3": w_pos,
        "scr1": symbols, "scr2": symbols, "scr3": w_pos, "pair": states * symbols,
    }  # fmt: skip
    return Stream([*(Block(name, size) for name, size in sizes.items()), *(Block(name, 1) for name in SINGLES)])


def binary(numbers: Int64[np.ndarray, "*n"], bits: int) -> Bool[np.ndarray, "*n bits"]:
    """Bin: the most significant bit first. A number that needs more bits loses the upper ones."""
    return (numbers[..., None] >> np.arange(bits)[::-1] & 1).astype(bool)


def one_hot(numbers: Int64[np.ndarray, "*n"], size: int) -> Bool[np.ndarray, "*n size"]:
    """1_size: True at the number, from 0."""
    return numbers[..., None] == np.arange(size)


def vector(stream: Stream, values: Mapping[str, np.ndarray | float]) -> Float64[np.ndarray, " w"]:
    """The token with these values in these blocks, zero elsewhere."""
    token = np.zeros(stream.width)  # (w,)
    for name, value in values.items():
        token[stream.slice(name)] = value
    return token


def unit(stream: Stream, block: str, place: int) -> Float64[np.ndarray, "1 s"]:
    """The matrix that reads one coordinate of a block."""
    return np.eye(stream.size(block))[place : place + 1]


def signed(rows: np.ndarray | float) -> Action:
    """The matrix of x -> 2x - 1, bits to signs, on these rows; the bias is -1."""
    return 2.0 * rows


def with_rounding(
    stream: Stream,
    name: str,
    lemma: str,
    action: Mapping[BlockPair, Action],
    bias: Mapping[str, float | np.ndarray] | None = None,
    *,
    decoder_attention: NullKeyAttention | None = None,
    encoder_attention: NullKeyAttention | None = None,
) -> DecoderLayer:
    """A layer whose function lies in its attentions and in phi(W1 h + b1); W2 and W3 round (proof of Theorem 4.1)."""
    first = affine(stream, stream, action, bias)
    return DecoderLayer(name, lemma, decoder_attention, encoder_attention, (first, *_rounding(stream)))


@lru_cache(maxsize=16)
def _rounding(stream: Stream) -> tuple[Affine, Affine]:
    return rounding(stream)  # the same in every layer: built once


def matching(
    stream: Stream,
    query: Mapping[str, tuple[str, np.ndarray | float]],
    key: Mapping[str, tuple[str, np.ndarray | float]],
    parts: Iterable[Block],
    value: Affine,
    *,
    constant: Iterable[str] = (),
) -> NullKeyAttention:
    """Attention that counts agreeing bits, as signs: 1 for each that agrees, -1 for each that does not.

    `query` and `key` say for a part from which block, by which rows, its bits come; in the parts `constant` the query
    is 1. With n signs in all a full match scores n, any other at most n - 2, and the null key n - 1 (Claims C.4-C.6).
    """
    blocks = list(parts)
    target = Stream([*blocks, Block("null", 1)])

    def signs(bits: Mapping[str, tuple[str, np.ndarray | float]], ones: Mapping[str, float]) -> Affine:
        action = {(part, block): signed(rows) for part, (block, rows) in bits.items()}
        return affine(stream, target, action, {**dict.fromkeys(bits, -1.0), **ones})

    asked = signs(query, {**dict.fromkeys(constant, 1.0), "null": 1.0})
    null_key = vector(target, {"null": sum(block.size for block in blocks) - 1.0})
    return NullKeyAttention(asked, signs(key, {}), value, null_key, np.zeros(stream.width))
