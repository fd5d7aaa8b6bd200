"""The same machines with positions of size 1/T: the older way, to compare margins with.

A place l or a time t is one real number, l/N or t/N, N the largest that occurs, with its square beside it, as in
constructions that count by 1/T (Perez, Marinkovic, Barcelo 2019). One attention then finds the last visit: the square
of a distance is a score. States and symbols stay one-hot and are rounded as in Appendix C of Wei et al. 2021; the
numbers pass unrounded (they are not negative, so that phi keeps them), because nothing could round them: neighbours
are only 1/N apart.

Letters of the paper: z state, a symbol under the head, u symbol written, l place of the head, i the step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numeric.networks.maps import Action, BlockPair
from numeric.networks.stream import Block, Stream
from numeric.topics.machines.decoder import (
    Decoder,
    DecoderLayer,
    DecoderRun,
    NullKeyAttention,
    Tap,
    affine,
    passing,
    rounding,
)
from numeric.topics.machines.machine import Trace, TuringMachine

SENTINEL = "(start)"  # one more state: its step puts the head on the input, so that h_0^(0) need not know x_1
NUMBERS = ("time", "time_sq", "place", "place_sq", "next", "next_sq", "up", "down")
KEYS = Stream([Block("place", 1), Block("square", 1), Block("one", 1)])  # what queries and keys are made of


@dataclass(frozen=True, eq=False)
class ScalarDecoder:
    """The decoder, and what its numbers stand for: place = l/N with N = `largest`; machine step i is decoder step i+1.

    Tokens are those of `laid_out`: a two-way tape comes with its T blanks before the input.
    """

    decoder: Decoder
    machine: TuringMachine
    T: int
    largest: int
    steps_before: int = 1

    def differences(self, run: DecoderRun, traces: Sequence[Trace]) -> dict[str, int]:
        """How many machine steps 0 .. T of a run differ from the simulator's, for each quantity."""
        outputs = run.outputs[:, self.steps_before - 1 :].double().cpu()  # (B, T + 1, w): machine steps 0, 1, ...
        stream, steps = self.decoder.stream, outputs.shape[1]
        state, symbol = (_one_hot(outputs[..., stream.slice(name)]) for name in ("st", "sym1"))
        place = outputs[..., stream.slice("place")].squeeze(-1) * self.largest
        shifted = {
            "state": (state, [trace.state for trace in traces], 0.0),
            "symbol": (symbol, [trace.symbol for trace in traces], 0.0),
            "location": (place, [trace.location for trace in traces], 1e-6),
        }
        return {
            name: int((~((came - torch.from_numpy(np.stack(want))[:, :steps]).abs() <= tolerance)).sum())
            for name, (came, want, tolerance) in shifted.items()
        }


def _one_hot(block: Tensor) -> Tensor:
    """The index of the only 1; -1 where the block is not exactly one-hot."""
    exact = ((block == 0) | (block == 1)).all(-1) & (block.sum(-1) == 1)
    return torch.where(exact, block.argmax(-1), -1)


def scalar_decoder(machine: TuringMachine, T: int, *, score_scale: float = 1.0) -> ScalarDecoder:
    """The decoder that simulates T steps of the machine with positions of size 1/T.

    `score_scale` multiplies queries and keys, hence all scores and their gaps by its square: weights grow with it.
    """
    largest = (T if machine.two_way else 0) + T + 1  # places 0 .. T + 1 behind the sentinel's, times 1 .. T + 1
    build = _Construction(machine, 1 / largest, score_scale)
    offset = T if machine.two_way else 0
    layers = (build.pairs(), build.transition(), build.move(), build.lookup(), build.symbol())
    initial = build.point({"st": SENTINEL, "sym1": machine.blank})
    initial[build.stream.slice("place")], initial[build.stream.slice("place_sq")] = (
        offset / largest,
        (offset / largest) ** 2,
    )
    embedding = np.stack([build.point({"sym1": symbol}) for symbol in machine.alphabet], axis=1)
    decoder = Decoder(build.stream, embedding, build.position, initial, layers, build.classifier(), TAPS)
    return ScalarDecoder(decoder, machine, T, largest)


TAPS: Mapping[str, Tap] = {
    "written": Tap(2, ("sym2",)),
    "move": Tap(2, ("left", "right")),
    "next_location": Tap(4, ("next",)),
    "found": Tap(4, ("found",)),
    "state": Tap(5, ("st",)),
    "symbol": Tap(5, ("sym1",)),
    "location": Tap(5, ("place",)),
}


class _Construction:
    """The five layers, weights by their action on named blocks; `unit` = 1/N is the step between two places."""

    def __init__(self, machine: TuringMachine, unit: float, score_scale: float) -> None:
        self.machine, self.unit, self.scale = machine, unit, score_scale
        self.states = (*machine.states, SENTINEL)
        z, a = len(self.states), len(machine.alphabet)
        sizes = {"st": z, "sym1": a, "sym2": a, "pair": z * a, "left": 1, "right": 1}
        sizes |= {"found": 1, "hit": 1, "recalled": a, "read": a, "empty": 1} | dict.fromkeys(NUMBERS, 1)
        self.stream = Stream(Block(name, size) for name, size in sizes.items())
        self.rounding = rounding(self.stream, NUMBERS)

    def point(self, contents: Mapping[str, str]) -> np.ndarray:
        """The vector with these states and symbols as one-hots and 0 elsewhere."""
        vector = np.zeros(self.stream.width)  # (w,)
        for name, what in contents.items():
            names = self.states if name == "st" else self.machine.alphabet
            vector[self.stream.slice(name)][names.index(what)] = 1.0
        return vector

    def position(self, i: int) -> np.ndarray:
        """beta(i): i/N and its square; not trained."""
        vector = np.zeros(self.stream.width)
        vector[self.stream.slice("time")], vector[self.stream.slice("time_sq")] = i * self.unit, (i * self.unit) ** 2
        return vector

    def classifier(self) -> np.ndarray:
        """1 for accepting, -1 for rejecting states."""
        vector = np.zeros(self.stream.width)
        vector[self.stream.slice("st")] = [
            float(state in self.machine.accept) - float(state in self.machine.reject) for state in self.states
        ]
        return vector

    def layer(
        self,
        name: str,
        action: Mapping[BlockPair, Action],
        bias: Mapping[str, float] | None = None,
        attention: tuple[NullKeyAttention, NullKeyAttention] | None = None,
    ) -> DecoderLayer:
        first = affine(self.stream, self.stream, action, bias or {})
        decoder, encoder = attention or (None, None)
        return DecoderLayer(name, "positions of size 1/T", decoder, encoder, (first, *self.rounding))

    # The one-hot of (z, a): st_z + sym1_a - 1 is positive for that pair alone, as in Lemma C.1.
    def pairs(self) -> DecoderLayer:
        z, a = len(self.states), len(self.machine.alphabet)
        action: dict[BlockPair, Action] = {
            ("pair", "st"): np.kron(np.eye(z), np.ones((a, 1))),
            ("pair", "sym1"): np.kron(np.ones((z, 1)), np.eye(a)),
            **passing(("time", "place", "place_sq")),
        }
        return self.layer("pairs", action, {"pair": -1.0})

    # S(z, a): new state, symbol to write, move. The sentinel writes a blank, moves right and starts the machine.
    def transition(self) -> DecoderLayer:
        machine, a = self.machine, len(self.machine.alphabet)
        state, write = np.zeros((len(self.states), len(self.states) * a)), np.zeros((a, len(self.states) * a))
        moves = {-1: np.zeros((1, len(self.states) * a)), 1: np.zeros((1, len(self.states) * a))}
        for z, name in enumerate(self.states):
            for symbol, read in enumerate(machine.alphabet):
                sentinel = (machine.start, machine.blank, 1)
                to, written, move = sentinel if name == SENTINEL else machine.rule(name, read)
                pair = z * a + symbol
                state[self.states.index(to), pair] = write[machine.symbol_index[written], pair] = 1.0
                if move:
                    moves[move][0, pair] = 1.0
        action: dict[BlockPair, Action] = {
            ("st", "pair"): state,
            ("sym2", "pair"): write,
            ("left", "pair"): moves[-1],
            ("right", "pair"): moves[1],
            **passing(("time", "place", "place_sq")),
        }
        return self.layer("transition", action)

    # l' = l + right - left, and (l')^2 = l^2 + up - down with up = 2l + 1 if right, down = 2l - 1 if left, else 0:
    # phi(2l + 1 - 3N (1 - right)) is 0 unless right = 1, since 2l + 1 <= 3N. Places in units of 1/N, squares of 1/N^2.
    def move(self) -> DecoderLayer:
        unit, gate = self.unit, 3 * self.unit
        action: dict[BlockPair, Action] = {
            ("next", "place"): 1.0,
            ("next", "right"): unit,
            ("next", "left"): -unit,
            ("up", "place"): 2 * unit,
            ("up", "right"): gate,
            ("down", "place"): 2 * unit,
            ("down", "left"): gate,
            **passing(("st", "sym2", "time", "place", "place_sq")),
        }
        return self.layer("move", action, {"up": unit**2 - gate, "down": -(unit**2) - gate})

    # Score of step t, in units of 1/N^2: 2 l_i l_(t-1) - l_(t-1)^2 + (t/N)/2. Where l_(t-1) = l_i it is l_i^2 and more,
    # most for the last such t; elsewhere at most l_i^2 - 1/2. The null key scores l_i^2 - 1/4, half-way. Keys of the
    # encoder have no recency: l_i^2, or at most l_i^2 - 1; their null key scores l_i^2 - 1/2.
    def lookup(self) -> DecoderLayer:
        gap = self.unit**2
        past = self.attention("place", "place_sq", "time", gap / 2, "sym2", "recalled", "found", gap / 4)
        tape = self.attention("time", "time_sq", None, 0.0, "sym1", "read", "hit", gap / 2)
        # Where the symbol is: recalled is 0 unless found; read counts only if not found; else the cell is empty.
        a = len(self.machine.alphabet)
        action: dict[BlockPair, Action] = {
            **passing(("st", "recalled", "read", "next")),
            ("next_sq", "place_sq"): 1.0,
            ("next_sq", "up"): 1.0,
            ("next_sq", "down"): -1.0,
            ("read", "found"): -np.ones((a, 1)),
            ("empty", "found"): -1.0,
            ("empty", "hit"): -1.0,
            ("found", "found"): 1.0,
        }
        return self.layer("lookup", action, {"empty": 1.0}, (past, tape))

    def attention(
        self,
        place: str,
        square: str,
        recency: str | None,
        weight: float,
        symbol: str,
        copy: str,
        flag: str,
        below: float,
    ) -> NullKeyAttention:
        """Finds the key whose place is that of the head, and copies its symbol; `below` l_i^2 lies the null key."""
        scale = self.scale
        query: dict[BlockPair, Action] = {("place", "next"): 2 * scale}
        query |= {
            ("one", "place_sq"): scale,
            ("one", "up"): scale,
            ("one", "down"): -scale,
        }  # l_i^2 against the null key
        key: dict[BlockPair, Action] = {("place", place): scale, ("square", square): -scale}
        if recency:
            key["square", recency] = weight * scale
        null_key = np.zeros(KEYS.width)
        null_key[KEYS.slice("one")], null_key[KEYS.slice("square")] = scale, -below * scale
        return NullKeyAttention(
            affine(self.stream, KEYS, query, {"square": scale}),
            affine(self.stream, KEYS, key),
            affine(self.stream, self.stream, {(copy, symbol): 1.0}, {flag: 1.0}),
            null_key,
            np.zeros(self.stream.width),
        )

    # a_i: what was recalled, or read, or the blank.
    def symbol(self) -> DecoderLayer:
        blank = self.point({"sym1": self.machine.blank})[self.stream.slice("sym1")]
        action: dict[BlockPair, Action] = {
            ("st", "st"): 1.0,
            ("sym1", "recalled"): 1.0,
            ("sym1", "read"): 1.0,
            ("sym1", "empty"): blank[:, None],
            ("place", "next"): 1.0,
            ("place_sq", "next_sq"): 1.0,
        }
        return self.layer("symbol", action)
