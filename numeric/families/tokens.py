"""The structured interpreter of layers of families: what a whole family does to the blocks of all tokens at once.

It is what the matrices do (numeric/families/dense.py), up to rounding, at the cost of the few numbers that a family
holds. Written in torch, so that it runs on tensors, batched or under vmap, and for one prompt on arrays of balls.

Shapes: ... prompts (no axis on balls), T tokens, K size of the target block.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

from numeric.balls import BallArray
from numeric.families.layers import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyLayer,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)

Array: TypeAlias = Any  # a tensor or an array of balls


@dataclass
class Tokens:
    """The tokens of a prompt, as layers change them.

    `blocks` (..., T, size) of each token, where a block that is not 0 everywhere is present; `matrices` (..., rows,
    columns), the blocks that hold a matrix and are equal in all tokens. The mask is 0 in the last `masked` tokens and 1
    in all others. `changes` are what outer products have subtracted from each matrix.
    """

    blocks: dict[str, Array]
    matrices: dict[str, Array]
    masked: int = 0
    changes: dict[str, Array] = field(default_factory=dict)
    _scores: dict[tuple[str, str], Array] = field(default_factory=dict)

    def add(self, name: str, values: Array) -> None:
        """To a block, which is 0 if it is missing."""
        self._forget(name)
        self.blocks[name] = self.blocks[name] + values if name in self.blocks else values

    def subtract(self, name: str, change: Array) -> None:
        """From a matrix."""
        self._forget(name)
        self.matrices[name] = self.matrices[name] - change
        self.changes[name] = self.changes[name] + change if name in self.changes else change

    def clip(self, name: str, half_width: float) -> None:
        self._forget(name)
        held = self.matrices if name in self.matrices else self.blocks
        held[name] = held[name].clamp(-half_width, half_width)

    def clear(self, name: str) -> None:
        self._forget(name)
        self.blocks.pop(name, None)

    def scores(self, source: str, matrix: str) -> Array:
        """The products of each token's block with the rows of the matrix, (..., T, rows); kept while both stay."""
        if (source, matrix) not in self._scores:
            self._scores[source, matrix] = self.blocks[source] @ self.matrices[matrix].mT
        return self._scores[source, matrix]

    def _forget(self, changed: str) -> None:
        self._scores = {names: each for names, each in self._scores.items() if changed not in names}


def apply_layer(layer: FamilyLayer, tokens: Tokens) -> None:
    """Changes the tokens as the layer does."""
    if isinstance(layer, BoxAndClear):
        for name, half_width in layer.boxes:
            tokens.clip(name, half_width)
        for name in layer.cleared:
            tokens.clear(name)
        return
    subtracted: list[tuple[str, Array]] = []
    if isinstance(layer, MaskedUnits):
        added = [(layer.target, masked_units(layer, tokens))]
    elif isinstance(layer, FamilyAttention):
        added = activation_heads([each for each in layer.families if isinstance(each, ActivationHeads)], tokens)
        outer = (each for each in layer.families if isinstance(each, OuterProductHeads))
        subtracted = [(family.matrix, outer_products(family, tokens)) for family in outer]
    else:
        added = [(family.target, multiplied(family, tokens)) for family in layer.families]
    for name, values in added:
        tokens.add(name, values)
    for name, change in subtracted:
        tokens.subtract(name, change)


# All tokens hold the same row of the matrix and the same one, so that the mean over the keys is each of them.
def activation_heads(families: list[ActivationHeads], tokens: Tokens) -> list[tuple[str, Array]]:
    """What the families put into their targets; those that share one sum of ReLUs look their scores up at once."""
    found: list[tuple[str, Array]] = []
    for relus in {id(family.relus): family.relus for family in families}.values():
        sharing = [family for family in families if family.relus is relus]
        scores = [tokens.scores(family.source, family.matrix) for family in sharing]  # each (..., T, K)
        values = relus(scores[0] if len(scores) == 1 else torch.cat(scores, dim=-1))  # (..., T, sum of K)
        pieces = values.split([each.shape[-1] for each in scores], dim=-1)
        found += [(family.target, piece) for family, piece in zip(sharing, pieces, strict=True)]
    return found


def multiplied(family: HadamardHeads | TransposeHeads, tokens: Tokens) -> Array:
    """(..., T, K)."""
    signal = tokens.blocks[family.signal]
    factor = signal if isinstance(family, HadamardHeads) else signal @ tokens.matrices[family.matrix]
    return tokens.blocks[family.factor] * factor


def masked_units(layer: MaskedUnits, tokens: Tokens) -> Array:
    """The sum of ReLUs where the mask is 1, and what is left of it where the mask is 0: (..., T, K)."""
    t, y = tokens.blocks[layer.first], tokens.blocks[layer.second]  # (..., T, K)
    shown = t.shape[-2] - tokens.masked
    examples = layer.relus(t[..., :shown, :], y[..., :shown, :])
    if not tokens.masked:
        return examples
    return torch.cat([examples, layer.masked(t[..., shown:, :], y[..., shown:, :])], dim=-2)


def outer_products(family: OuterProductHeads, tokens: Tokens) -> Array:
    """What the heads subtract from the matrix: (..., rows, columns)."""
    signal, source = tokens.blocks[family.signal], tokens.blocks[family.source]
    exactly = family.scale / int(signal.shape[-2])  # the attention layer divides by the number of tokens
    return (signal.mT @ source) * (exactly if isinstance(signal, BallArray) else float(exactly))
