"""A decoder that simulates a machine: run on inputs, and set beside the reference simulator tap by tap, step by step.

Shapes: B inputs, m symbols, s steps of the decoder, n bits of a tap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from numeric.topics.machines.blocks import binary, one_hot
from numeric.topics.machines.decoder import Decoder, DecoderError, DecoderRun, run
from numeric.topics.machines.machine import NEVER, Trace, TuringMachine, readable


@dataclass(frozen=True)
class Agreement:
    """For each tap: at how many steps, over all inputs, it differs from the simulator. `steps` were compared in all.

    `first` names the first difference of each tap that has one: (input from 0, step of the decoder from 1).
    `rounding` is the largest distance of a value to the nearest bit; not a number where a value is none.
    """

    differences: dict[str, int]
    first: dict[str, tuple[int, int]]
    rounding: float
    steps: int


@dataclass(frozen=True, eq=False)
class SimulatingDecoder:
    """A decoder that simulates `machine` for T steps, on every input.

    `w_pos` bits write a position. Before the input stand `offset` blanks (0 on a tape with a left end). The decoder
    makes `steps_before` steps before the machine's first: 1 with the sentinel (the paper's step 0), else 0.
    """

    decoder: Decoder
    machine: TuringMachine
    T: int
    w_pos: int
    offset: int
    steps_before: int = 1

    @property
    def steps(self) -> int:
        """The steps of the decoder."""
        return self.T + self.steps_before

    def encode(self, inputs: Sequence[Sequence[str]]) -> tuple[Int64[Tensor, "B m"], Int64[Tensor, " B"]]:
        """Tokens, with the blanks before them and filled up behind, and lengths.

        An input ends here with cell T + 1: the machine reads its first cell before step 1, and in T steps no cell
        further to the right, so that what stands there changes nothing (and has no position).
        Raises MachineError for a symbol outside the alphabet among those that are kept.
        """
        rows = [self.machine.indices(readable(self.machine, tokens, self.T)) for tokens in inputs]
        width = max(map(len, rows), default=0)
        tokens = torch.zeros(len(rows), width, dtype=torch.int64, device="cpu")  # (B, m)
        for place, row in enumerate(rows):
            tokens[place, : len(row)] = torch.tensor(row, dtype=torch.int64, device="cpu")
        return tokens, torch.tensor([len(row) for row in rows], dtype=torch.int64, device="cpu")

    def run(
        self,
        inputs: Sequence[Sequence[str]],
        *,
        taps: Sequence[str] | None = None,
        inverse_temperature: float | None = None,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> DecoderRun:
        """Simulate T steps on each input; all taps unless some are named."""
        tokens, lengths = self.encode(inputs)
        return run(
            self.decoder, tokens, self.steps, lengths=lengths, inverse_temperature=inverse_temperature,
            dtype=dtype, device=device, taps=list(self.decoder.taps) if taps is None else taps,
        )  # fmt: skip

    def expected(self, trace: Trace, length: int) -> dict[str, Bool[np.ndarray, "s n"]]:
        """Every tap at every step of the decoder, from the simulator's trace; `length` as `encode` gives it."""
        if trace.steps != self.T:
            raise DecoderError(f"a trace of {trace.steps} steps for T = {self.T}. Simulate exactly T steps.")
        # Index i of an array of the trace is step i of the machine, and step i + steps_before of the decoder.
        begin = 1 - self.steps_before
        location, state, symbol = trace.location[begin:], trace.state[begin:], trace.symbol[begin:]
        written, move, visit = trace.written[begin:].copy(), trace.move[begin:].copy(), trace.last_visit[begin:]
        if self.steps_before:
            # The added step 1: the blank before the input is kept, the head moves right, to a cell where nobody was.
            # Later the steps count one more, and the cell before the input counts as visited in step 1.
            written[0], move[0] = self.machine.symbol_index[self.machine.blank], 1
            visit = np.where(visit > NEVER, visit + 1, np.where(location == self.offset, 1, NEVER))
        place, past = binary(location, self.w_pos), binary(visit, self.w_pos)  # (s, w_pos)
        return {
            "state": one_hot(state, len(self.machine.states) + self.steps_before),
            "location": place,
            "written": one_hot(written, len(self.machine.alphabet)),
            "move": np.stack([move == -1, move == 1], axis=-1),
            "next_location": place,
            "found": (visit > NEVER)[:, None],
            **{f"search[{j}]": past & (np.arange(self.w_pos) < j) for j in range(1, self.w_pos + 1)},
            "last_visit": past,
            "from_input": (location <= length)[:, None],
            "symbol": one_hot(symbol, len(self.machine.alphabet)),
        }

    def agreement(self, run: DecoderRun, traces: Sequence[Trace]) -> Agreement:
        """Compare the taps of a run with the simulator's, bit by bit, on each input at each step."""
        truths = [self.expected(*each) for each in zip(traces, run.lengths.tolist(), strict=True)]
        counts, first, farthest = (
            dict[str, int](),
            dict[str, tuple[int, int]](),
            [torch.zeros((), dtype=torch.float64, device="cpu")],
        )
        for name, values in run.taps.items():  # (B, s, n)
            truth = torch.from_numpy(np.stack([each[name] for each in truths])).to(values)
            wrong = ~((values - truth).abs() < 0.5).all(-1)  # (B, s); what is not a number is wrong
            counts[name] = int(wrong.sum())
            if counts[name]:
                row, step = wrong.nonzero()[0].tolist()
                first[name] = (row, step + 1)
            farthest.append((values - (values > 0.5).to(values)).abs().max().cpu().double())
        return Agreement(counts, first, float(torch.stack(farthest).max()), len(traces) * self.steps)

    def differences(self, run: DecoderRun, traces: Sequence[Trace]) -> dict[str, int]:
        """For each tap the number of steps, over all inputs, at which it differs from the simulator's."""
        return self.agreement(run, traces).differences


def number(values: Tensor) -> Int64[Tensor, "*n"]:
    """The number that a tap writes in binary, most significant bit first, each value taken for the nearest bit."""
    weights = 2 ** torch.arange(values.shape[-1], device=values.device, dtype=torch.int64).flip(0)  # (n,)
    return ((values > 0.5).to(torch.int64) * weights).sum(-1)


def hot(values: Tensor) -> Int64[Tensor, "*n"]:
    """The place of the one in a one-hot tap; -1 where not exactly one coordinate is nearest to 1."""
    ones = values > 0.5
    return torch.where(ones.sum(-1) == 1, ones.to(torch.int64).argmax(-1), -1)


def exact_streams(simulating: SimulatingDecoder, tokens: Sequence[str]) -> dict[str, np.ndarray]:
    """The streams behind every layer at each step, in float64, rounded to the bits that they are."""
    names = [f"layer[{k}]" for k in range(len(simulating.decoder.layers) + 1)]
    run = simulating.run([tuple(tokens)], taps=names)
    return {name: np.rint(run.taps[name][0].numpy()) for name in names}
