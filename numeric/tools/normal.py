"""Exponentials and the normal distribution in float64 with proved errors: tables by Arb, and Taylor's formula.

What torch's own functions are off by is not proved.
"""

from collections.abc import Sequence
from functools import lru_cache

import flint
import torch
from jaxtyping import Float64
from torch import Tensor

from numeric.balls import working_precision

PER_UNIT = 128  # entries of a table
LOWEST = 45  # exp(-45) is below 2^-64
HIGHEST = 9  # the normal distribution is within 2^-61 of 0 and 1 beyond
TERMS = 6


# x = y + r, y = i/128, |r| <= 2^-8: exp(-x) = exp(-y) exp(-r), by Taylor's polynomial of degree 6, whose rest is below
# 2^-56/5040. Each of the steps rounds by 2^-53 at most, and all terms after 1 are below 2^-7: the relative error is
# below 2^-51.
def falling_exponential(x: Float64[Tensor, "*any"]) -> Float64[Tensor, "*any"]:
    """exp(-x) for x >= 0, with a relative error of at most 2^-51, and 2^-64 beside it."""
    place, r = _nearest(x, LOWEST)
    powers, series = _exponentials()
    return powers[place] * _horner(series, r)


# Phi(x) = Phi(y) + phi(y) int_0^r exp(-y q - q^2/2) dq for y = i/128 and x = y + r, |r| <= 2^-8. The n-th derivative of
# phi is (-1)^n He_n phi, so that the series has the terms r^(n+1)/(n+1)! (-1)^n He_n(y) phi(y), n = 0, ..., 5; as
# |He_6 phi| <= 6 its rest is below 6 2^-56/5040. The terms are below 2^-9, and the sum is rounded once: 2^-52 in all.
def normal_distribution(x: Float64[Tensor, "*any"]) -> Float64[Tensor, "*any"]:
    """The standard normal distribution function, with an error of at most 2^-51."""
    place, r = _nearest(x.abs(), HIGHEST)
    upper = _horner([each[place] for each in _distributions()], r)
    return torch.where(x < 0, 1 - upper, upper)


def _nearest(x: Tensor, last: int) -> tuple[Tensor, Tensor]:
    """The place in a table that is nearest to x, at most its last, and what is left."""
    held = x.clamp(max=float(last))
    place = torch.round(held * PER_UNIT)
    return place.long(), held - place / PER_UNIT


def _horner(coefficients: Sequence[Tensor], r: Tensor) -> Tensor:
    total = coefficients[-1].expand_as(r)
    for each in coefficients[-2::-1]:
        total = torch.addcmul(each, r, total)
    return total


@lru_cache
def _exponentials() -> tuple[Float64[Tensor, " entries"], list[Tensor]]:
    """exp(-y) at the entries, and the coefficients (-1)^n/n!, as the nearest floats."""
    with working_precision(128):
        table = [(flint.arb(-place) / PER_UNIT).exp() for place in range(LOWEST * PER_UNIT + 1)]
        series = [flint.arb((-1) ** n) / flint.arb.fac_ui(n) for n in range(TERMS + 1)]
        return _floats(table), list(_floats(series))


@lru_cache
def _distributions() -> list[Float64[Tensor, " entries"]]:
    """Phi(y) and (-1)^n He_n(y) phi(y)/(n + 1)! at the entries, as the nearest floats."""
    with working_precision(128):
        rows = []
        for place in range(HIGHEST * PER_UNIT + 1):
            y = flint.arb(place) / PER_UNIT
            density = (-y * y / 2).exp() / (2 * flint.arb.pi()).sqrt()
            row, hermite, before = [(-y / flint.arb(2).sqrt()).erfc() / 2], flint.arb(1), flint.arb(0)
            for n in range(TERMS):
                row.append((-1) ** n * hermite * density / flint.arb.fac_ui(n + 1))
                hermite, before = y * hermite - n * before, hermite
            rows.append(row)
        return [_floats(column) for column in zip(*rows, strict=True)]


def _floats(balls: Sequence[flint.arb]) -> Float64[Tensor, " numbers"]:
    return torch.tensor([float(ball.mid()) for ball in balls], dtype=torch.float64, device="cpu")
