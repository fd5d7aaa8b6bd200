"""Feed-forward layers as sums of terms: selection by indicators, exact on a stated range, and products of blocks.

Shapes: ... any leading dimensions (batch, tokens), S width of the stream, s size of a source block, H ReLUs of a sum.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from torch import Tensor

from numeric.balls.digits import apart
from numeric.networks.layers import FeedForward
from numeric.networks.maps import Action, BlockMap, LowRank, Number, as_weight
from numeric.networks.network import Network
from numeric.networks.products import ProductSum
from numeric.networks.stream import Block, Stream, StreamError

Terms: TypeAlias = tuple["Select | Multiply", ...]


@dataclass(frozen=True, eq=False)
class Units:
    """Hidden blocks of a term: their sizes, what enters them from the stream, and what they add to the target."""

    sizes: Mapping[str, int]
    inner: Mapping[tuple[str, str], Action]
    bias: Mapping[str, np.ndarray]
    outer: Mapping[str, Action]


# With z the number of indicators against it, relu(x - B z) - relu(-x - B z) is x for z = 0, and 0 for z >= 1, |x| <= B.
@dataclass(frozen=True, eq=False)
class Select:
    """target += weight * source where every indicator of `when` is 1 and every one of `unless` 0; elsewhere nothing.

    Exact where |source| <= bound at all tokens that are not selected, and the indicators are 0 or 1. Without indicators
    no bound is needed. An indicator of `unless` costs no rounding, one of `when` some units in the last place of bound.
    Negative entries of the source count `negative` times, as after a leaky ReLU.
    """

    target: str
    source: str
    weight: Action = 1.0
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    bound: Number = 0.0
    negative: Number = 1.0

    def __post_init__(self) -> None:
        call = f"Select({self.target!r}, {self.source!r})"
        if (self.when or self.unless) and not self.bound > 0:
            raise StreamError(call, f"bound = {self.bound}", "State how large the source may be where it is dropped.")

    def units(self, stream: Stream, name: str) -> Units:
        size = stream.size(self.source)
        column = np.full((size, 1), as_weight(self.bound))
        plus, minus = f"{name}+", f"{name}-"
        inner: dict[tuple[str, str], Action] = {(plus, self.source): 1.0, (minus, self.source): -1.0}
        for half in (plus, minus):
            inner |= {(half, indicator): -column for indicator in self.unless}
            inner |= {(half, indicator): column for indicator in self.when}
        bias = {half: -len(self.when) * column[:, 0] for half in (plus, minus)} if self.when else {}
        below = scaled(self.weight, -1 * self.negative)
        return Units({plus: size, minus: size}, inner, bias, {plus: self.weight, minus: below})

    def exceeded(self, stream: Stream, tokens: Float[Tensor, "... S"]) -> Iterator[str]:
        against = sum(
            (tokens[..., stream.slice(name)] for name in self.unless),
            start=sum((1 - tokens[..., stream.slice(name)] for name in self.when), start=tokens.new_zeros(1)),
        )  # (..., 1)
        if bool(((against != 0) & (against < 1)).any()):
            yield f"an indicator of {(*self.when, *self.unless)} is neither 0 nor 1"
        dropped = tokens[..., stream.slice(self.source)].abs() * (against != 0)  # (..., s)
        yield from beyond(self.source, dropped, self.bound)


@dataclass(frozen=True, eq=False)
class Multiply:
    """target += weight * left * right, entry by entry or with `right` a number: by ReLUs, within `product.error` each.

    Exactly 0 where a factor is 0, up to rounding. `product` states how large the factors may be.
    """

    target: str
    left: str
    right: str
    product: ProductSum
    weight: Number = 1.0

    def units(self, stream: Stream, name: str) -> Units:
        size = stream.size(self.left)
        of_left, of_right, offset = self.product.relus.directions.T[:, :, None]  # each (H, 1)
        each = np.eye(size)
        on_right = each if stream.size(self.right) == size else np.ones((size, 1))
        hidden = f"{name}*"
        inner = {(hidden, self.left): np.kron(of_left, each)}
        inner[hidden, self.right] = inner.get((hidden, self.right), 0) + np.kron(of_right, on_right)
        outer = np.kron(self.product.relus.weights[None], each) * as_weight(self.weight)  # (s, H s)
        return Units({hidden: outer.shape[1]}, inner, {hidden: np.repeat(offset[:, 0], size)}, {hidden: outer})

    def exceeded(self, stream: Stream, tokens: Float[Tensor, "... S"]) -> Iterator[str]:
        for name, bound in ((self.left, self.product.left), (self.right, self.product.right)):
            yield from beyond(name, tokens[..., stream.slice(name)], bound)


@dataclass(frozen=True, eq=False, repr=False)
class TermsLayer(FeedForward):
    """A feed-forward layer with residual that adds `terms`, each read off the tokens before the layer."""

    terms: Terms

    def exceeded(self, tokens: Float[Tensor, "... S"]) -> Iterator[str]:
        """What of the ranges that the terms state these tokens exceed; nothing if every term does what it says."""
        for term in self.terms:
            yield from term.exceeded(self.source, tokens)


def terms_layer(stream: Stream, *terms: Select | Multiply) -> TermsLayer:
    """The layer h + the sum of the terms."""
    units = [term.units(stream, str(number)) for number, term in enumerate(terms, start=1)]
    hidden = Stream(Block(name, size) for each in units for name, size in each.sizes.items())
    inner = {pair: what for each in units for pair, what in each.inner.items()}
    outer = {
        (term.target, name): what for term, each in zip(terms, units, strict=True) for name, what in each.outer.items()
    }
    bias = {name: values for each in units for name, values in each.bias.items()}
    return TermsLayer(BlockMap(stream, hidden, inner), bias, BlockMap(hidden, stream, outer), True, terms)


def clear(block: str) -> Select:
    """The term that sets a block to 0, exactly."""
    return Select(block, block, -1.0)


def require_ranges(network: Network, x: Float[Tensor, "B L d"]) -> None:
    """Raises StreamError, with all that is exceeded, for prompts on which a layer of terms leaves its stated ranges."""
    found = dict[str, None]()
    tokens = network.embedding(x)  # (B, L, S)
    for number, (layer, module) in enumerate(zip(network.construction.layers, network.layers, strict=True), start=1):
        if isinstance(layer, TermsLayer):
            found |= {f"layer {number}: {each}": None for each in layer.exceeded(tokens)}
        tokens = module(tokens, 0)
    if found:
        raise StreamError(network.construction.name, "; ".join(found), "Scale the data, or state larger bounds.")


def beyond(name: str, values: Tensor, bound: Number) -> Iterator[str]:
    """The sentence that a block is too large, if it is."""
    largest = float(values.abs().max()) if values.numel() else 0.0
    if not largest <= float(bound):
        reached, stated = apart(largest, float(bound))
        yield f"{name!r} reaches {reached}, beyond the stated {stated}"


def scaled(what: Action, factor: Number) -> Action:
    """The action times a number."""
    return LowRank(factor * what.left, what.right) if isinstance(what, LowRank) else factor * what
