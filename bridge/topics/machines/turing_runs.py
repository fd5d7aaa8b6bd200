"""Runs of a Turing machine and of its transformer side by side: the inputs, the agreement, the trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bridge.limits.run import Format
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.numbers import value_words
from bridge.theorems.record import NamedTable
from bridge.topics.machines.machine_files import in_file, read_machine, shipped, tokens_of
from numeric.balls import float_above
from numeric.topics.machines.beside_simulator import (
    TRACE,
    BesideSimulator,
    DrawnInputs,
    TuringTask,
    network_columns,
    random_inputs,
    side_by_side,
    simulator_columns,
)
from numeric.topics.machines.machine import (
    MachineComplaint,
    MachineError,
    Trace,
    TuringMachine,
    Wrong,
    simulate,
    written,
)
from numeric.topics.machines.simulation import SimulatingDecoder
from symbolic.topics.machines import temperature
from symbolic.words.errors import UsageError

FIRST_TRY, LONGEST = 64, 4096  # steps simulated for T = 0: doubled until the machine halts
MOST_STEPS = 2**16  # T at most: a run keeps every step
MOST_SHOWN = 40  # characters of the tape in a title
INPUTS = {"increment": "1011", "palindrome": "0110", "addition": "101+11"}  # of the shipped machines; others: none
DIFFERS = "differs"
LEGEND = (
    "Line i has the symbol written and the move in step i, then state, location and symbol after this step; i' is the "
    "last step that wrote the cell under the head."
)


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
        run = Format.named(self.dtype, self.device)
        return side_by_side(self.network, inputs, traces, dtype=run.dtype, device=run.device, inverse_temperature=beta)

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
    ours = list(zip(*network_columns(network, ran.hard.run), strict=True))
    theirs = list(zip(*simulator_columns(network, task.trace), strict=True))
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
