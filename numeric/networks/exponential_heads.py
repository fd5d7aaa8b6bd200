"""Heads that see earlier tokens by their distance alone, each one recursion z <- r z + x, mixed by their values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64

from numeric.networks.attention import causal_average
from numeric.networks.layers import Head, RelativePositions, SoftmaxAttention
from numeric.networks.maps import BlockMap, Number
from numeric.networks.stream import Stream, StreamError


# Softmax of -slope (t - 1) over the lags t is r^(t-1) over its sum, r = e^-slope: z_s = r z_{s-1} + x_{s-1}, divided by
# the same recursion of ones. The interpreters run a head without dot product in this way, linear in the number of
# tokens; `Network(..., dense=True)` has all matrices.
def exponential_heads(
    stream: Stream, source: str, target: str, slopes: Sequence[Number], weights: np.ndarray
) -> SoftmaxAttention:
    """A residual layer of one head for each slope: it writes to block i of `target` sum_h weights[i, h] a_h.

    a_h is the average of the block `source` (d) of earlier tokens under softmax of -slope_h (t - 1), t the lag; 0 at
    the first token. `weights` (I, H) are floats, or balls (dtype object); `target` has the size I d.
    """
    size, count = stream.size(source), len(slopes)
    if weights.shape[1:] != (count,) or len(weights) * size != stream.size(target):
        got = f"weights of shape {weights.shape} for {count} slopes and blocks of sizes {size} and "
        remedy = "Give (I, H) weights for H slopes, and a target of I times the size of the source."
        raise StreamError("exponential_heads", f"{got}{stream.size(target)}", remedy)
    heads = (
        Head(f"h{place}", None, None, BlockMap(stream, stream, {(target, source): stacked(column, size)}), positions)
        for place, (column, positions) in enumerate(
            zip(weights.T, map(RelativePositions, slopes), strict=True), start=1
        )
    )
    return SoftmaxAttention(tuple(heads), residual=True)


def mixed_averages(x: Any, slopes: Sequence[Number], weights: Sequence[Sequence[Number]]) -> Any:
    """What such a layer writes beside the tokens x (L, d), without a network: (L, I d)."""
    averages = [causal_average(x[None], RelativePositions(slope))[0] for slope in slopes]  # each (L, d)
    mixed = ([weight * average for weight, average in zip(row, averages, strict=True)] for row in weights)
    return torch.cat([sum(parts[1:], start=parts[0]) for parts in mixed], dim=-1)


def stacked(numbers: np.ndarray, size: int) -> np.ndarray:
    """The multiples of the identity by these numbers, one below the other, (I size, size); balls as they are."""
    found, places = np.full((len(numbers), size, size), numbers[0] * 0), np.arange(size)
    found[:, places, places] = numbers[:, None]
    return found.reshape(-1, size)


# u_1, ..., u_m adds sum_j u_j r^(m-j) to what a head of rate r has summed up: nothing, once it is over, where the
# polynomial of these coefficients vanishes at r.
def unseen(rates: Sequence[float], gap: int = 0) -> Float64[np.ndarray, " entries"]:
    """Numbers after which heads of these H rates are as before them, of absolute value 1 at most, which some have.

    Without a `gap` H + 1 numbers. Else 1, `gap` zeros, and more: 1 + (gap + 1) (2^H - 1) in all.
    """
    if not gap:
        found = np.poly(np.asarray(rates))
        return found / abs(found).max()
    found = np.ones(1)
    for place, rate in enumerate(rates):
        power = (gap + 1) * 2**place  # of subsets of them no two sums are equal
        found = np.concatenate([found, np.zeros(power - len(found)), -(rate**power) * found])
    return found
