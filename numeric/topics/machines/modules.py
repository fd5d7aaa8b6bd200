"""The modules of a decoder layer as data: affine maps, attentions with a null key, the three ReLU layers (Section 4.1).

Shapes: w width of the stream, S and T widths of source and target, K width of query and key, s queries, n keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from numeric.networks.layers import Affine
from numeric.networks.maps import Action, BlockMap, BlockPair
from numeric.networks.stream import Block, Stream


def affine(
    source: Stream,
    target: Stream,
    action: Mapping[BlockPair, Action],
    bias: Mapping[str, float | np.ndarray] | None = None,
) -> Affine:
    """An `Affine` whose bias may name a number for all coordinates of a block."""
    full = {name: np.full(target.size(name), value, dtype=np.float64) for name, value in (bias or {}).items()}
    return Affine(BlockMap(source, target, action), full)


def passing(names: Iterable[str]) -> dict[BlockPair, Action]:
    """The action that keeps these blocks as they are."""
    return {(name, name): 1.0 for name in names}


@dataclass(frozen=True, eq=False)
class NullKeyAttention:
    """h -> h + the mean of the values at the best keys, one of which is the null key with the null value."""

    query: Affine
    key: Affine
    value: Affine
    null_key: np.ndarray  # (K,)
    null_value: np.ndarray  # (w,)

    def in_full(self, h: np.ndarray, asked: np.ndarray, *, causal: bool) -> tuple[np.ndarray, np.ndarray]:
        """Scores (s, n) of the s queries of h (s, w), and values (n, w), of the null key and of `asked` (n - 1, w).

        `causal`: step i asks the null key and `asked` up to its own place; other scores are -oo.
        """
        keys = np.vstack([self.null_key, _image(self.key, asked)])  # (n, K)
        values = np.vstack([self.null_value, _image(self.value, asked)])  # (n, w)
        scores = _image(self.query, h) @ keys.T  # (s, n)
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape, dtype=bool), k=1), scores, -np.inf)
        return scores, values


def _image(module: Affine, h: np.ndarray) -> np.ndarray:
    weight, bias = module.dense()
    image: np.ndarray = h @ weight.T + bias
    return image


@dataclass(frozen=True, eq=False)
class DecoderLayer:
    """Self-attention, then attention to the encoder (None: the identity), then three ReLU layers.

    `feedforward` holds (W1, b1), (W2, b2), (W3, b3) of FF(h) = phi(W3 phi(W2 phi(W1 h + b1) + b2) + b3), and `lemma`
    names the claim of the paper that the layer implements.
    """

    name: str
    lemma: str
    decoder_attention: NullKeyAttention | None
    encoder_attention: NullKeyAttention | None
    feedforward: tuple[Affine, Affine, Affine]


def rounding(stream: Stream, unrounded: Iterable[str] = ()) -> tuple[Affine, Affine]:
    """W2 and W3: Proposition 3.4, round(z) = 3 phi(z - 1/3) - 3 phi(z - 2/3), on each coordinate of `stream`.

    The blocks `unrounded` pass as phi(z). Every output that lies within 1/3 of a bit becomes that bit.
    """
    names, kept = stream.names, set(unrounded)
    twice = Stream(Block(f"{side} {block.name}", block.size) for side in ("low", "high") for block in stream.blocks)
    rounded = [name for name in names if name not in kept]
    up = {(f"low {name}", name): 1.0 for name in names} | {(f"high {name}", name): 1.0 for name in rounded}
    thresholds = {f"low {name}": -1 / 3 for name in rounded} | {f"high {name}": -2 / 3 for name in rounded}
    down = {(name, f"low {name}"): 1.0 if name in kept else 3.0 for name in names}
    down |= {(name, f"high {name}"): -3.0 for name in rounded}
    return affine(stream, twice, up, thresholds), affine(twice, stream, down)
