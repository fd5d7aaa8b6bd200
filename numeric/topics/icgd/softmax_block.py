"""The softmax block of wu2024, Lemma 16, for d = 1, as data: feed-forward layer, one uniform head, feed-forward layer.

Tokens [z; own; mark; out], one a number of the prompt; z in [0, B], the others 0 at first. The cells c = 0, ..., D - 1
divide [0, B]; a ramp of the width delta B, at the low end of each cell but the first, leads from one to the next.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from math import comb
from typing import Any

import numpy as np
from jaxtyping import Float64

from numeric.networks.construction import Construction, Embedding
from numeric.networks.layers import FeedForward, Head, SoftmaxAttention
from numeric.networks.maps import BlockMap, injection
from numeric.networks.stream import Block, Stream, StreamError
from numeric.tools.sum_sets import sum_set

MOST_IDS, LARGEST = 1 << 20, 1 << 53  # hidden units of the last layer; whole numbers that float64 holds
Number = Callable[[Fraction], Any]  # as a weight: a float, or a ball


@dataclass(frozen=True)
class Ids:
    """A contextual mapping (Definition 13) of n tokens in `cells` cells, equal ones too: whole numbers from 0 on.

    The id of a token is its cell times `width`, plus the marks of the other tokens. Marks are a B_(n-1) set, so that
    their sum tells the cells of the others; it is less than `width`.
    """

    cells: int
    n: int

    @cached_property
    def marks(self) -> tuple[int, ...]:
        return sum_set(self.cells, self.n - 1)

    @property
    def width(self) -> int:
        return (self.n - 1) * self.marks[-1] + 1

    @property
    def range(self) -> int:
        """Above all ids."""
        return self.cells * self.width

    @property
    def count(self) -> int:
        """Of the ids that occur."""
        return self.cells * comb(self.cells + self.n - 2, self.n - 1)

    def all(self) -> Mapping[int, tuple[int, ...]]:
        """The cells of the token and of the others, by id, ascending. Raises StreamError for too many."""
        if self.count > MOST_IDS or self.range > LARGEST:
            got = f"{self.count} ids below {self.range}"
            raise StreamError("Ids.all", got, f"Take a coarser grid: at most {MOST_IDS} ids, and below 2^53.")
        contexts = list(combinations_with_replacement(range(self.cells), self.n - 1))
        sums = sorted((sum(self.marks[cell] for cell in others), others) for others in contexts)
        return {cell * self.width + total: (cell, *others) for cell in range(self.cells) for total, others in sums}


@dataclass(frozen=True)
class SoftmaxBlock:
    """The block for f(Z) = A Z, A an (n, n) matrix that permutations leave: off the ramps f at the middles of cells.

    All numbers are Fractions. Raises StreamError for a grid with one cell, and for ramps that leave nothing of a cell.
    """

    A: tuple[tuple[Fraction, ...], ...]
    D: int
    B: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        call = f"SoftmaxBlock(n={self.n}, D={self.D}, delta={float(self.delta):g})"
        if self.D < 2 or self.n < 2:
            raise StreamError(call, "one cell or one token", "There is nothing to tell apart: give D >= 2 and n >= 2.")
        if not 0 < self.delta * self.D < 1:
            raise StreamError(call, "ramps that are no part of a cell", f"Give 0 < delta < 1/{self.D}.")

    @property
    def n(self) -> int:
        return len(self.A)

    @property
    def cell(self) -> Fraction:
        """Its length."""
        return self.B / self.D

    @cached_property
    def ids(self) -> Ids:
        return Ids(self.D, self.n)

    def middle(self, cell: int) -> Fraction:
        return (cell + Fraction(1, 2)) * self.cell

    def ends(self, cell: int) -> tuple[Fraction, Fraction]:
        """The part of the cell off the ramps."""
        return (cell * self.cell + (self.delta * self.B if cell else 0), (cell + 1) * self.cell)

    def value(self, cells: Sequence[int]) -> Fraction:
        """What the first of tokens in these cells gets: f(middles)_1."""
        return sum((a * self.middle(cell) for a, cell in zip(self.A[0], cells, strict=True)), start=Fraction(0))

    @cached_property
    def values(self) -> tuple[Float64[np.ndarray, " I"], Float64[np.ndarray, " I"]]:
        """The ids and the values there, as floats: what the last layer interpolates."""
        known = self.ids.all()
        return np.array(list(known), float), np.array([float(self.value(cells)) for cells in known.values()])

    def code(self, z: Fraction) -> Fraction:
        """Place along the cells, exactly: c off the ramps, between c - 1 and c on the ramp of c."""
        ramps = ((z - c * self.cell) / (self.delta * self.B) for c in range(1, self.D))
        return sum((min(max(t, Fraction(0)), Fraction(1)) for t in ramps), start=Fraction(0))

    def codes(self, z: Float64[np.ndarray, "*B n"]) -> Float64[np.ndarray, "*B n"]:
        """The same for many, in floats."""
        steps = np.arange(1, self.D) / self.D * float(self.B)
        return np.clip((z[..., None] - steps) / float(self.delta * self.B), 0, 1).sum(-1)

    def run(self, z: Float64[np.ndarray, "*B n"]) -> Float64[np.ndarray, "*B n"]:
        """The block by look-up, in floats: what `construction` computes layer by layer."""
        marks, place = np.array(self.ids.marks, float), np.arange(self.D)
        code = self.codes(z)
        mark = np.interp(code, place, marks)
        ids = np.interp(code, place, place * self.ids.width - marks) + mark.sum(-1, keepdims=True)
        return np.interp(ids, *self.values)

    # relu(t) - relu(t - 1) goes from 0 to 1 as t does; t = z/(delta B) - c/(delta D) on the ramp of cell c.
    def construction(self, number: Number = float) -> Construction:
        """Its three layers; `number` makes the weights, in floats or in balls. Raises StreamError for too many ids."""
        stream = Stream(Block(name, 1) for name in ("z", "own", "mark", "out"))
        values = {key: self.value(cells) for key, cells in self.ids.all().items()}
        ramps, marks = range(1, self.D), self.ids.marks
        starts = [-Fraction(c) / (self.delta * self.D) for c in ramps]
        rises = {"mark": [b - a for a, b in pairwise(marks)]}
        rises["own"] = [self.ids.width - rise for rise in rises["mark"]]
        first = _hidden(
            stream,
            "z",
            {"up": starts, "down": [start - 1 for start in starts]},
            1 / (self.delta * self.B),
            {
                (block, half): [sign * rise for rise in rises[block]]
                for block in rises
                for half, sign in (("up", 1), ("down", -1))
            },
            number,
        )
        head = Head("mean", None, None, BlockMap(stream, stream, {("own", "mark"): float(self.n)}))
        slopes = [(values[b] - values[a]) / (b - a) for a, b in pairwise(values)]
        bends = [b - a for a, b in pairwise([Fraction(0), *slopes])]
        last = _hidden(
            stream,
            "own",
            {"knots": [Fraction(-key) for key in list(values)[:-1]], "before": [Fraction(1)]},
            Fraction(1),
            {("out", "knots"): bends, ("out", "before"): [next(iter(values.values()))]},
            number,
        )
        prompt = stream.only(["z"])
        readout = BlockMap(stream, stream.only(["out"]), {("out", "out"): 1.0})
        layers = (first, SoftmaxAttention((head,), residual=True), last)
        return Construction("softmax block", prompt, Embedding(injection(prompt, stream)), layers, readout)


def _hidden(
    stream: Stream,
    source: str,
    biases: Mapping[str, Sequence[Fraction]],
    slope: Fraction,
    outer: Mapping[tuple[str, str], Sequence[Any]],
    number: Number,
) -> FeedForward:
    """Hidden blocks relu(slope * source + bias), "before" without the source, and what they add to the stream."""
    hidden = Stream(Block(name, len(each)) for name, each in biases.items())

    def array(entries: Sequence[Any]) -> np.ndarray:
        return np.array([number(Fraction(entry)) for entry in entries])

    inner = {(name, source): array([slope] * len(each))[:, None] for name, each in biases.items() if name != "before"}
    rows = {pair: array(entries)[None] for pair, entries in outer.items()}
    bias = {name: array(each) for name, each in biases.items()}
    return FeedForward(BlockMap(stream, hidden, inner), bias, BlockMap(hidden, stream, rows), residual=True)
