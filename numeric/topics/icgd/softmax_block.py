"""The softmax block of wu2024, Lemma 16, as data: feed-forward layer, one uniform head, feed-forward layer.

Tokens [z; own; mark; out] with z in R^d; own, mark and out are 0 at first. The steps c = 0, ..., D - 1 divide each
coordinate of [0, B]^d; a ramp of the width delta B, at the low end of each step but the first, leads from one to the
next, and ramps of that width beyond the cube to the value 0. A cell is a step c_j for each coordinate j, and its number
the sum of c_j D^j. Shapes: n tokens, d coordinates, I ids.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

import numpy as np
from jaxtyping import Float64

from numeric.networks.construction import Construction, Embedding
from numeric.networks.layers import Head, SoftmaxAttention
from numeric.networks.maps import BlockMap, LowRank, injection
from numeric.networks.piecewise import Number, Ramp, interpolating_layer, ramp_layer
from numeric.networks.stream import Block, Stream, StreamError
from numeric.tools.sum_sets import Ids

Token = Sequence[Fraction]


@dataclass(frozen=True, eq=False)
class SoftmaxBlock:
    """The block for f, off the ramps f at the middles of cells, and 0 outside the cube.

    `value` is that of the first of n tokens, whatever the order of the others. All numbers are Fractions. Raises
    StreamError for a grid with one cell, and for ramps that leave nothing of a cell.
    """

    value: Callable[[Sequence[Token]], Token]
    n: int
    d: int
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
    def step(self) -> Fraction:
        """Its length."""
        return self.B / self.D

    @cached_property
    def ids(self) -> Ids:
        return Ids(self.D**self.d, self.n)

    @property
    def places(self) -> list[int]:
        """The factors of the steps of a cell in its number."""
        return [self.D**j for j in range(self.d)]

    def ends(self, step: int) -> tuple[Fraction, Fraction]:
        """The part of the step off the ramps."""
        return (step * self.step + (self.delta * self.B if step else 0), (step + 1) * self.step)

    def middle(self, cell: int) -> Token:
        return [(cell // place % self.D + Fraction(1, 2)) * self.step for place in self.places]

    @cached_property
    def values(self) -> dict[int, Token]:
        """What the last layer interpolates: the value of f at the middles, by id."""
        return {id: self.value([self.middle(cell) for cell in cells]) for id, cells in self.ids.all().items()}

    def code(self, z: Fraction) -> Fraction:
        """Place along the steps, exactly: c off the ramps, between c - 1 and c on the ramp of c."""
        ramps = ((z - c * self.step) / (self.delta * self.B) for c in range(1, self.D))
        return sum((min(max(t, Fraction(0)), Fraction(1)) for t in ramps), start=Fraction(0))

    def codes(self, z: Float64[np.ndarray, "*B"]) -> Float64[np.ndarray, "*B"]:
        """The same for many, in floats."""
        steps = np.clip(np.floor(z / float(self.step)), 0, self.D - 1)
        on_ramp = np.clip((z - steps * float(self.step)) / float(self.delta * self.B), 0, 1)
        return np.where(steps > 0, steps - 1 + on_ramp, 0)

    def run(self, z: Float64[np.ndarray, "*B n d"]) -> Float64[np.ndarray, "*B n d"]:
        """The block by look-up, in floats, in the cube: what `construction` computes layer by layer."""
        marks, cells = np.array(self.ids.marks, float), np.arange(self.ids.cells)
        cell = (self.codes(z) * self.places).sum(-1)
        mark = np.interp(cell, cells, marks)
        ids = np.interp(cell, cells, cells * self.ids.width - marks) + mark.sum(-1, keepdims=True)
        knots, values = np.array(list(self.values), float), np.array(list(self.values.values()), float)
        return np.stack([np.interp(ids, knots, each) for each in values.T], -1)

    # Outside the cube marks are less by the range of all ids and 1: an id is at most -2 then, and rounding leaves it
    # below -1, up to where the last layer is 0.
    def construction(self, number: Number = float) -> Construction:
        """Its layers; `number` makes the weights, in floats or in balls. Raises StreamError for too many ids.

        Three layers where marks add up over the coordinates (d = 1 or n = 2), else four: cells, then their marks.
        """
        sizes = {"z": self.d, "own": 1, "mark": 1, "out": self.d}
        stream, ids = Stream(Block(name, size) for name, size in sizes.items()), self.ids
        marks, cells = ids.marks, range(1, ids.cells)
        beyond = {"mark": [Fraction(-ids.range - 1)]}
        ramps, width = [], self.delta * self.B
        for j, place in enumerate(self.places):
            ramps += [Ramp(j, self.B, width, beyond), Ramp(j, Fraction(0), -width, beyond)]
            for below, above in pairwise(range(self.D)):
                rise = marks[place * above] - marks[place * below] if self.additive else 0
                own = place * ids.width - rise if self.additive else place
                ramps.append(Ramp(j, above * self.step, width, {"own": [own], "mark": [rise]}))
        layers = [ramp_layer(stream, "z", ramps, number)]
        if not self.additive:
            rises = {c: {"own": [c * (ids.width - 1) - marks[c]], "mark": [marks[c]]} for c in cells}
            layers.append(interpolating_layer(stream, "own", 0, rises, number))
        head = Head("mean", None, None, BlockMap(stream, stream, {("own", "mark"): float(self.n)}))
        last = interpolating_layer(stream, "own", -1, {id: {"out": v} for id, v in self.values.items()}, number)
        prompt = stream.only(["z"])
        readout = BlockMap(stream, stream.only(["out"]), {("out", "out"): 1.0})
        embedding, mean = Embedding(injection(prompt, stream)), SoftmaxAttention((head,), residual=True)
        return Construction("softmax block", prompt, embedding, (*layers, mean, last), readout)

    @property
    def additive(self) -> bool:
        return self.d == 1 or self.n == 2


def printed_quantiser(d: int, D: int, B: Fraction, delta: Fraction, number: Number = float) -> Construction:
    """The first layer of the proof, from z to q, (F.10), and p, the sum of (F.11) over the coordinates of a token."""
    stream = Stream(Block(name, d) for name in ("z", "q", "p"))
    ramps = []
    for j in range(d):
        one, all_entries = [Fraction(int(i == j)) for i in range(d)], [-B] * d
        ramps += [Ramp(j, t * B / D, delta * B, {"q": [B / D * each for each in one]}) for t in range(D)]
        ramps += [Ramp(j, B, delta, {"q": [-each for each in one], "p": all_entries})]
        ramps += [Ramp(j, Fraction(0), -delta, {"p": all_entries})]
    z, found = stream.only(["z"]), stream.only(["q", "p"])
    readout = BlockMap(stream, found, {(name, name): 1.0 for name in ("q", "p")})
    layers = (ramp_layer(stream, "z", ramps, number),)
    return Construction("first layer of the proof", z, Embedding(injection(z, stream)), layers, readout)


def quantised(Z: Sequence[Token], D: int, B: Fraction) -> list[list[Fraction]]:
    """(F.12) by its definition: the steps (F.8) in [0, B], 0 outside, and the penalties of all tokens."""
    outside = sum(not 0 <= each <= B for token in Z for each in token)
    steps = [[min(each // (B / D) + 1, D) * B / D if 0 <= each <= B else Fraction(0) for each in z] for z in Z]
    return [[step - outside * B for step in token] for token in steps]


# v tells the d coordinates of a grid point apart: v z is a multiple of its least value, the number of the point in base
# D. As |v (z - z')| >= ||z - z'||/(sqrt(d) D^d), it is a direction of the proof of Lemma 17.
def separating_direction(d: int, D: int) -> Float64[np.ndarray, " d"]:
    """Of norm 1 up to rounding, and positive."""
    powers = float(D) ** np.arange(d)
    return powers / np.linalg.norm(powers)


def rank_one_head(d: int, D: int, scale: float, size: float, *, residual: bool) -> Construction:
    """The head of Lemma 17 on tokens of d coordinates: scores scale (v z)(v z'), values size v (v z')."""
    stream, scores = Stream([Block("z", d)]), Stream([Block("score", 1)])
    v = separating_direction(d, D)[None]
    query, key = (BlockMap(stream, scores, {("score", "z"): each * v}) for each in (scale, 1.0))
    value = BlockMap(stream, stream, {("z", "z"): LowRank(size * v.T, v)})
    head = Head("rank 1", query, key, value)
    same = injection(stream, stream)
    return Construction("rank 1", stream, Embedding(same), (SoftmaxAttention((head,), residual=residual),), same)


def distinct_prompts(d: int, n: int, D: int) -> np.ndarray:
    """All prompts of the grid {1, ..., D}^d with n different tokens, (P, n, d)."""
    grid = list(product(range(1, D + 1), repeat=d))
    prompts = [prompt for prompt in product(grid, repeat=n) if len(set(prompt)) == n]
    return np.array(prompts, float)
