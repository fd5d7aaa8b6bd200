"""Runs of a Turing machine and of its transformer side by side: the inputs, the agreement, the trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from bridge.balls import evaluate_ball
from bridge.export.layout import value_words
from bridge.machines.machine_files import in_file, read_machine, shipped, tokens_of, written
from bridge.record import NamedTable
from bridge.torch_formats import torch_device, torch_dtype
from numeric.balls import float_above
from numeric.machines.decoder import DecoderRun
from numeric.machines.machine import MachineComplaint, MachineError, Trace, TuringMachine, Wrong, simulate
from numeric.machines.simulation import Agreement, SimulatingDecoder, hot, number
from symbolic.machines import temperature
from symbolic.statements import UsageError

FIRST_TRY, LONGEST = 64, 4096  # steps simulated for T = 0: doubled until the machine halts
MOST_STEPS = 2**16  # T at most: a run keeps every step
MOST_SHOWN = 40  # characters of the tape in a title
INPUTS = {
    "increment": "1011",
    "palindrome": "0110",
    "addition": "101+11",
}  # of the shipped machines; others: none
DIFFERS = "differs"
TRACE = ("written", "move", "state", "location", "symbol", "i'")  # in the order in which a step happens
LEGEND = (
    "Line i has the symbol written and the move in step i, then state, location and symbol after this step; i' is the "
    "last step that wrote the cell under the head."
)


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


def task_of(machine_name: str, text: str, T: int) -> TuringTask:
    """T = 0: as many steps as the machine needs. Raises UsageError, with file and line, for whatever stops the run."""
    machine = read_machine(machine_name)
    source = f"{machine_name}.tm" if machine_name in shipped() else machine_name
    tokens = tokens_of(machine, text, source)
    if T > MOST_STEPS:
        raise UsageError(f"{source}: T = {T} steps are too many, as a run stores each of them; {MOST_STEPS} at most")
    steps = T or FIRST_TRY
    trace = _simulated(machine, source, tokens, steps)
    while not T and trace.halted_at is None and steps < LONGEST:
        steps = min(2 * steps, LONGEST)
        trace = _simulated(machine, source, tokens, steps)
    if trace.halted_at is None:
        raise in_file(_still_running(trace, tokens), source)
    if not T:
        trace = _simulated(machine, source, tokens, max(1, trace.halted_at))
    return TuringTask(machine, source, tokens, trace)


def _still_running(trace: Trace, tokens: Sequence[str]) -> MachineError:
    machine, T = trace.machine, trace.steps
    state, symbol = machine.states[trace.state[-1]], machine.alphabet[trace.symbol[-1]]
    what = f"the machine has not halted after T = {T} steps on the input '{value_words(written(tokens))}'; "
    what += f"the next rule is that of state '{state}' and symbol '{symbol}'"
    if T < MOST_STEPS:
        what += f"; raise T, as in --set T={min(2 * T, MOST_STEPS)}, if it ever halts"
    return MachineError(machine.name, [MachineComplaint(Wrong.RUN, machine.lines.get((state, symbol), 0), what)])


def _simulated(machine: TuringMachine, source: str, tokens: Sequence[str], steps: int) -> Trace:
    try:
        return simulate(machine, tokens, steps)
    except MachineError as error:
        raise in_file(error, source, f" on the input '{value_words(written(tokens))}'") from None


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
    right = abs(signs - torch.tensor(wanted, dtype=torch.float64)) <= 0.5  # NaN is not right
    wrong = [k for k, is_right in zip(halted, right.tolist(), strict=True) if not is_right]
    return BesideSimulator(inputs, ran, network.agreement(ran, traces), wrong, len(halted))


@dataclass(frozen=True, eq=False)
class MachineRuns:
    """The network on the input of the task and on random ones behind it, in one format; each run is made once.

    `eps` is the error that softmax attention is allowed against hard max.
    """

    task: TuringTask
    network: SimulatingDecoder
    drawn: DrawnInputs
    eps: float
    dtype: str
    device: str

    @property
    def inputs(self) -> list[tuple[str, ...]]:
        return [self.task.tokens, *self.drawn.inputs]

    @cached_property
    def hard(self) -> BesideSimulator:
        return self._run(self.inputs, [self.task.trace, *self.drawn.traces])

    @cached_property
    def soft(self) -> BesideSimulator:
        return self._run(self.inputs, [self.task.trace, *self.drawn.traces], self.beta)

    def on_the_input(self, beta: float) -> BesideSimulator:
        """With softmax of this inverse temperature, on the input alone."""
        return self._run([self.task.tokens], [self.task.trace], beta)

    def _run(
        self, inputs: Sequence[Sequence[str]], traces: Sequence[Trace], beta: float | None = None
    ) -> BesideSimulator:
        dtype, device = torch_dtype(self.dtype), torch_device(self.device)
        return side_by_side(self.network, inputs, traces, dtype=dtype, device=device, inverse_temperature=beta)

    @cached_property
    def keys(self) -> int:
        """Keys of the largest attention: the null key, and the decoder's steps or the encoder's symbols."""
        return 1 + max(self.network.steps, self.network.encode(self.inputs)[0].shape[1])

    @cached_property
    def beta(self) -> float:
        """The inverse temperature computed for so many keys, rounded up."""
        at = {temperature.keys: self.keys, temperature.eps: self.eps}
        return float_above(evaluate_ball(temperature.sufficient().value, at))

    @property
    def words(self) -> str:
        """The runs behind `kept`."""
        T, random = self.task.T, self.drawn
        halts = f"T = {T}, where the machine halts; " if self.task.trace.halted_at == T else ""
        refused = f" ({random.refused} more leave the tape on the left)" if random.refused else ""
        return f"{halts}{T} steps on the input and on {len(random.inputs)} random ones{refused}"


def drawn_runs(
    task: TuringTask,
    network: SimulatingDecoder,
    work: int,
    eps: float,
    samples: int,
    seed: int,
    dtype: str,
    device: str,
) -> MachineRuns:
    """On as many random inputs as `work` steps allow."""
    return MachineRuns(task, network, random_inputs(task, samples, work, seed), eps, dtype, device)


def trace_table(ran: MachineRuns) -> NamedTable:
    """Each step of the network on the input, and what the simulator has where it differs."""
    network, task = ran.network, ran.task
    ours = list(zip(*_of_network(network, ran.hard.run), strict=True))
    theirs = list(zip(*_of_simulator(network, task.trace), strict=True))
    rows: list[list[str | int | float | None]] = []
    for i, (got, want) in enumerate(zip(ours, theirs, strict=True), start=1 - network.steps_before):
        rows.append([i, *got, "same" if got == want else f"{DIFFERS}: {' '.join(map(str, want))}"])
    wrong = sum(got != want for got, want in zip(ours, theirs, strict=True))
    steps = f"{rows[0][0]}..{rows[-1][0]}"
    title = f"{_what_happened(task)}. Network and simulator differ at {wrong} of the steps {steps}. {LEGEND}"
    return NamedTable(title=title, columns=["i", *TRACE, "simulator"], rows=rows)


def _what_happened(task: TuringTask) -> str:
    """The answer of the machine, the step at which it halts, and the tape at the end."""
    answer = "accepts" if task.trace.accepted else "rejects"
    left = written(task.trace.tape()) or "blank"
    tape = left if len(left) <= MOST_SHOWN else left[: MOST_SHOWN - 3] + "..."
    word = value_words(written(task.tokens))
    return f"{task.machine.name} {answer} '{word}' in step {task.trace.halted_at}; tape at the end: {tape}"


def _of_network(network: SimulatingDecoder, ran: DecoderRun) -> list[list[str | int]]:
    """The columns of the trace, decoded from the taps. Steps count as the machine's, cells from the input's first."""
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


def _of_simulator(network: SimulatingDecoder, trace: Trace) -> list[list[str | int]]:
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
