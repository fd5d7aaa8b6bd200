"""Exponentials and the normal distribution in float64 with proved errors: tables by Arb, and Taylor's formula.

What torch's own functions are off by is not proved.
"""

from collections.abc import Callable
from functools import lru_cache

import flint
import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.balls import working_precision

PER_UNIT = 128  # entries of a table
LOWEST = 45  # exp(-45) is below 2^-64
HIGHEST = 9  # the normal distribution is within 2^-61 of 0 and 1 beyond


@lru_cache
def _table(of: Callable[[flint.arb], flint.arb], last: int) -> Float64[Tensor, " entries"]:
    """The floats nearest to its values at 0, 1/PER_UNIT, ..., last."""
    with working_precision(128):
        values = [float(of(flint.arb(place) / PER_UNIT).mid()) for place in range(last * PER_UNIT + 1)]
    return torch.tensor(values, dtype=torch.float64, device="cpu")


def _falling(x: flint.arb) -> flint.arb:
    return (-x).exp()


def _distribution(x: flint.arb) -> flint.arb:
    return (-x / flint.arb(2).sqrt()).erfc() / 2  # the distribution at x >= 0, by symmetry from the other side


def _density(x: flint.arb) -> flint.arb:
    return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()


# x = i/128 + r, |r| <= 2^-8: exp(-r) by its Taylor polynomial of degree 6, whose rest is below 2^-56/5040. Each of the
# steps rounds by 2^-53 at most, the terms after 1 are below 2^-8: the relative error is below 2^-51.
def falling_exponential(x: Float64[Tensor, "*any"]) -> Float64[Tensor, "*any"]:
    """exp(-x) for x >= 0, with a relative error of at most 2^-51, and 2^-64 beside it."""
    held = x.clamp(max=float(LOWEST))
    place = torch.round(held * PER_UNIT)
    rest = held - place / PER_UNIT
    series = torch.ones_like(rest)
    for degree in range(6, 0, -1):
        series = 1 - rest / degree * series
    return _table(_falling, LOWEST)[place.long()] * series


# Phi(x) = Phi(y) + phi(y) int_0^r exp(-y q - q^2/2) dq for y = i/128 and x = y + r, |r| <= 2^-8. The n-th derivative of
# phi is (-1)^n He_n phi, so that the series has the terms r^(n+1)/(n+1)! (-1)^n He_n(y), n = 0, ..., 5; as
# |He_6 phi| <= 6 its rest is below 6 2^-56/5040. Five roundings of terms below 2^-9 and one of the sum: 2^-52 in all.
def normal_distribution(x: Float64[Tensor, "*any"]) -> Float64[Tensor, "*any"]:
    """The standard normal distribution function, with an error of at most 2^-51."""
    size = x.abs().clamp(max=float(HIGHEST))
    place = torch.round(size * PER_UNIT)
    y = place / PER_UNIT
    r, index = size - y, place.long()
    hermite, before = torch.ones_like(y), torch.zeros_like(y)
    factor, series = r, torch.zeros_like(y)
    for n in range(6):
        series = series + factor * hermite
        hermite, before = y * hermite - n * before, hermite
        factor = -factor * r / (n + 2)
    upper = _table(_distribution, HIGHEST)[index] + _table(_density, HIGHEST)[index] * series
    return torch.where(x < 0, 1 - upper, upper)
