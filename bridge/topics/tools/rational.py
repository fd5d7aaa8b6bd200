"""Checks with rational inputs: a network in floats and in balls beside what it is to be, and points of grids."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.limits.run import Format
from bridge.theorems.check import Number, Sides, as_ball
from numeric.balls import Arb, BallArray, ball_maximum, float_above, rational, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.network import Network

BITS = 128
Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class Both:
    """One network, with weights that are floats and with weights that are balls."""

    floats: Construction
    balls: Construction

    @classmethod
    def of(cls, construction: Callable[[Callable[[Fraction], Any]], Construction]) -> "Both":
        with working_precision(BITS):
            return cls(construction(float), construction(rational))

    def run(self, Z: Tensor, dtype: str = "float64") -> tuple[np.ndarray, BallArray]:
        """What the one gives for a prompt (n, d) in that format, and what the other is."""
        format = Format.named(dtype)
        floats = Network(self.floats, format.dtype)(format.tensor(Z)[None])[0].cpu().double().numpy()
        return floats, run_exact(self.balls, Z.numpy(), BITS)["output"]


def distance(floats: np.ndarray, exact: BallArray, truth: Rows, *, largest: bool = False, over: Number = 1) -> Sides:
    """The 2-norm of both less the truth, or its largest entry, divided by `over`."""
    with working_precision(BITS):
        entries = [rational(each) for row in truth for each in row]
        off = [a - b for a, b in zip(exact.balls, entries, strict=True)]
        found = (ball_maximum([abs(each) for each in off]) if largest else norm(off)) / as_ball(over)
    off_floats = floats - np.array(truth, float)
    attacked = float((abs(off_floats).max() if largest else np.linalg.norm(off_floats)) / float(over))
    return Sides(found, attacked=attacked, rounding=float_above(abs(found - attacked)))


def norm(balls: Sequence[Arb]) -> Arb:
    return sum((each * each for each in balls), start=as_ball(0)).sqrt()


def rooted(square: Fraction) -> Sides:
    """A root, in balls and as a float."""
    with working_precision(BITS):
        found = rational(Fraction(square)).sqrt()
    return Sides(found, attacked=float(found), rounding=float_above(abs(found - float(found))))


def floats_within(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The floats next to both ends of an interval, within."""
    below, above = float(low), float(high)
    return (
        below if Fraction(below) >= low else math.nextafter(below, math.inf),
        above if Fraction(above) <= high else math.nextafter(above, -math.inf),
    )


def choices(places: int, n: int, d: int, most: int) -> np.ndarray:
    """All choices of places for n d numbers, (P, n, d); those with one token n times where that makes too many."""
    same = places ** (n * d) > most
    axes = np.meshgrid(*[np.arange(places)] * (d if same else n * d), indexing="ij")
    chosen = np.stack(axes, -1).reshape(-1, 1 if same else n, d)
    return np.repeat(chosen, n, 1) if same else chosen


def prompt(array: Any) -> Tensor:
    return torch.tensor(np.asarray(array), dtype=torch.float64, device="cpu")


def fractions(Z: Tensor) -> list[list[Fraction]]:
    return [[Fraction(each) for each in token] for token in Z.tolist()]
