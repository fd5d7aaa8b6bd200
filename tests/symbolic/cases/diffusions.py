"""Samplers whose laws are known: the probability of an event under the data and under the samples."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr


@dataclass(frozen=True)
class Sampled:
    """The probability of one event under p_{T_0} and under the samples, and what the rule is told of the data.

    `off` is the root of the mean square of the error of the score, over x_t and the times at which a step begins.
    """

    exact: Any
    near: Any
    off: Any
    told: dict[str, float]


# Data of the density (1 + delta sign(x)) phi(x), and the score -x of phi in place of theirs. p_t has the density
# (1 + delta g) phi with g(x) = E[sign(x_0) | x_t = x] = 2 Phi(a x/sqrt(1 - a^2)) - 1, and the error of the score is
# delta g'/(1 + delta g), whose mean square is at most
#     delta^2/(1 - delta^2) int phi g'^2 = (2/pi) delta^2/(1 - delta^2) a^2/sqrt(1 - a^4),
# as x -> -x turns 1/(1 + delta g) into 1/(1 - delta g). It falls with t; its integral from t on, which is at least
# KL(p_t || phi), is delta^2/(pi (1 - delta^2)) arcsin(a^2). The samples keep their symmetry. E x_t^2 = 1, so that
# E|s_t|^2 is 1 more than the mean square of the error. P(x_t > 0) = 1/2 + delta/pi arcsin(a).
def tilted(delta: float, T: float, T_0: float) -> Sampled:
    """The event x > 0, for any number of steps."""
    scale = delta**2 / (1 - delta**2) / math.pi

    def after(t: float) -> float:
        return scale * math.asin(math.exp(-2 * t))

    square = 2 * scale * math.exp(-2 * T_0) / math.sqrt(-math.expm1(-4 * T_0))
    off = math.sqrt((after(T_0) - after(T)) / (T - T_0))
    exact = 0.5 + delta / math.pi * math.asin(math.exp(-T_0))
    return Sampled(exact, 0.5, off, {"start": after(T), "information": 1 + square})


# Data N(m u, I) for a unit vector u, and a score that is off by c u everywhere. x_t ~ N(a m u, I). The samples are
# Gaussian: along u with the mean mu' = e^h mu + 2 sinh(h) (a m + c - mu), and variances v' = e^(-2h) v + e^(2h) - 1.
def shifted(mean: Any, off: Any, place: Any, T: float, T_0: float, steps: int, dim: int) -> Sampled:
    """The half-space u . x > place; arrays of one shape, or numbers."""
    h, mu, v = (T - T_0) / steps, np.zeros_like(mean + off), 1.0
    for k in range(steps):
        mu = math.exp(h) * mu + 2 * math.sinh(h) * (math.exp(k * h - T) * mean + off - mu)
        v = math.exp(-2 * h) * v + math.expm1(2 * h)
    exact, near = ndtr(math.exp(-T_0) * mean - place), ndtr((mu - place) / math.sqrt(v))
    return Sampled(exact, near, np.abs(off), {"moment": float(np.max(mean**2)) + dim, "information": float(dim)})
