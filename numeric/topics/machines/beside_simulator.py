"""A simulating decoder beside the simulator: on one input and on random ones, where they differ, step by step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from numeric.topics.machines.decoder import DecoderRun, run
from numeric.topics.machines.machine import MachineError, Trace, TuringMachine, simulate, written
from numeric.topics.machines.simulation import Agreement, SimulatingDecoder, hot, number

TRACE = ("written", "move", "state", "location", "symbol", "i'")  # in the order in which a step happens


@dataclass(frozen=True, eq=False)
class TuringTask:
    """A machine and its input; `trace` is the simulator's for T steps, at the end of which the machine has halted."""

    machine: TuringMachine
    source: str
    tokens: tuple[str, ...]
    trace: Trace

    @property
    def T(self) -> int:
        return self.trace.steps


@dataclass(frozen=True, eq=False)
class DrawnInputs:
    """Random inputs with the simulator's traces; `refused` more were drawn on which the head leaves the tape."""

    inputs: list[tuple[str, ...]]
    traces: list[Trace]
    refused: int


def random_inputs(task: TuringTask, count: int, work: int, seed: int) -> DrawnInputs:
    """As many of `count` as fit into `work` steps; of symbols of the task's input and of the alphabet alternately.

    The blank is left out. Any length up to 8, or that of the input, but none beyond T: in T steps no more can be read.
    """
    random = np.random.default_rng(seed)
    letters = [symbol for symbol in task.machine.alphabet if symbol != task.machine.blank]
    sources = [list(task.tokens) or letters, letters]
    longest = min(max(8, len(task.tokens)), task.T)
    inputs, traces, refused = list[tuple[str, ...]](), list[Trace](), 0
    for turn in range(min(count, work // (task.T + 1)) if letters else 0):
        source = sources[turn % 2]
        tokens = tuple(source[k] for k in random.integers(len(source), size=random.integers(longest + 1)))
        try:
            traces.append(simulate(task.machine, tokens, task.T))
            inputs.append(tokens)
        except MachineError:
            refused += 1
    return DrawnInputs(inputs, traces, refused)


@dataclass(frozen=True, eq=False)
class BesideSimulator:
    """A run of the network beside the simulator on some inputs: where they differ, and which answers do.

    `halted`: the number of inputs on which the machine halts; `wrong_answers`: of those, where the network differs.
    """

    inputs: Sequence[Sequence[str]]
    run: DecoderRun
    agreement: Agreement
    wrong_answers: list[int]
    halted: int

    @property
    def answers(self) -> int:
        return len(self.wrong_answers)

    @property
    def differences(self) -> int:
        return sum(self.agreement.differences.values())

    def first_difference(self, taps: Sequence[str]) -> str:
        """An input on which one of these taps differs from the simulator, and the first step at which it does."""
        for tap in taps:
            if tap in self.agreement.first:
                row, step = self.agreement.first[tap]
                return f"{tap} first differs in step {step} on '{written(self.inputs[row])}'"
        return ""

    @property
    def first_answer(self) -> str:
        return f"wrong answer on '{written(self.inputs[self.wrong_answers[0]])}'" if self.wrong_answers else ""


def side_by_side(
    network: SimulatingDecoder,
    inputs: Sequence[Sequence[str]],
    traces: Sequence[Trace],
    *,
    dtype: torch.dtype,
    device: torch.device,
    inverse_temperature: float | None = None,
) -> BesideSimulator:
    ran = network.run(inputs, inverse_temperature=inverse_temperature, dtype=dtype, device=device)
    halted = [k for k, trace in enumerate(traces) if trace.accepted is not None]
    wanted = [1.0 if traces[k].accepted else -1.0 for k in halted]
    signs = ran.prediction.double().cpu()[halted]
    right = abs(signs - torch.tensor(wanted, dtype=torch.float64, device="cpu")) <= 0.5  # NaN is not right
    wrong = [k for k, is_right in zip(halted, right.tolist(), strict=True) if not is_right]
    return BesideSimulator(inputs, ran, network.agreement(ran, traces), wrong, len(halted))


def network_columns(network: SimulatingDecoder, ran: DecoderRun) -> list[list[str | int]]:
    """TRACE of the first input, decoded from the taps. Steps count as the machine's, cells from the input's first."""
    taps = {name: values[0].cpu() for name, values in ran.taps.items()}
    states = [*network.machine.states, "(sentinel)", "(none)"]
    alphabet = [*network.machine.alphabet, "(none)"]
    moves = {(0, 0): "stay", (1, 0): "left", (0, 1): "right"}
    visited = [max(0, v - network.steps_before) for v in number(taps["last_visit"]).tolist()]
    return [
        [alphabet[u] for u in hot(taps["written"]).tolist()],
        [moves.get((int(left > 0.5), int(right > 0.5)), "(both)") for left, right in taps["move"].tolist()],
        [states[z] for z in hot(taps["state"]).tolist()],
        [cell - network.offset for cell in number(taps["location"]).tolist()],
        [alphabet[a] for a in hot(taps["symbol"]).tolist()],
        visited,
    ]


def simulator_columns(network: SimulatingDecoder, trace: Trace) -> list[list[str | int]]:
    """The same columns from the simulator; in the sentinel's step the blank is kept and the head moves right."""
    machine, begin = trace.machine, 1 - network.steps_before
    symbols = [machine.alphabet[u] for u in trace.written[begin:]]
    moves = [{-1: "left", 0: "stay", 1: "right"}[int(q)] for q in trace.move[begin:]]
    if network.steps_before:
        symbols[0], moves[0] = machine.blank, "right"
    return [
        symbols,
        moves,
        [machine.states[z] for z in trace.state[begin:]],
        (trace.location[begin:] - network.offset).tolist(),
        [machine.alphabet[a] for a in trace.symbol[begin:]],
        trace.last_visit[begin:].tolist(),
    ]


def attentions_in_full(
    network: SimulatingDecoder, tokens: Sequence[str], most: int, device: torch.device
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Scores (s, n) and values (n, w) of each attention of the layers, at the first `most` steps of a hard-max run.

    Without the network's own attention: queries, keys and values in full, and of keys that tie the first, as they carry
    one and the same value.
    """
    steps, layers = min(network.steps, most), network.decoder.layers
    seen = [k for k, layer in enumerate(layers) if layer.decoder_attention or layer.encoder_attention]
    symbols, lengths = network.encode([tokens])
    names = [f"layer[{k}]" for k in seen]
    behind = run(network.decoder, symbols, steps, lengths=lengths, device=device, taps=names).taps
    table = network.decoder.position_table(max(steps, len(symbols[0])) + 1)  # (P, w)
    encoded = network.decoder.embedding.T[symbols[0].numpy()] + table[1 : len(symbols[0]) + 1]  # (m, w)
    for k in seen:
        h = behind[f"layer[{k}]"][0].double().cpu().numpy()  # (s, w)
        for attention, keys, causal in (
            (layers[k].decoder_attention, h, True),
            (layers[k].encoder_attention, encoded, False),
        ):
            if attention is not None:
                scores, values = attention.in_full(h, keys, causal=causal)
                yield scores, values
                h = h + values[scores.argmax(-1)]
