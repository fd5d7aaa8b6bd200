"""Turing machines as tables, and the reference that runs them cell by cell.

The letters of the paper (Section 4.2), for step i = 1, 2, ...: z_i the state, a_i the symbol under the head and l_i the
place of the head (the first cell is 1), all after step i; u_i the symbol that step i wrote and q_i how it moved; i' the
last step that wrote where the head stands now.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from jaxtyping import Int64

Rule = tuple[str, str, int]  # next state, symbol to write, move
MOVES = (-1, 0, 1)
NEVER = 0  # i' of a cell that no step has written
MOST_LISTED = 12  # symbols in one complaint


class Wrong(StrEnum):
    """What a complaint is about."""

    START = "start"
    UNDEFINED = "undefined"  # a state
    SYMBOL = "symbol"  # outside the alphabet
    MOVE = "move"
    TERMINAL = "terminal"  # with rules, or accepting and rejecting
    MISSING = "missing"  # rules
    REPEATED = "repeated"
    RUN = "run"  # it goes wrong on an input, or does not end


@dataclass(frozen=True)
class MachineComplaint:
    """`line` of the file, or 0; `names` of the states, symbols and directives that it rests on."""

    kind: Wrong
    line: int
    what: str
    names: frozenset[str] = frozenset()


class MachineError(ValueError):
    """A table, or an input, that makes no machine run."""

    def __init__(self, name: str, complaints: Sequence[MachineComplaint]):
        self.complaints = tuple(complaints)
        self.line = next((each.line for each in self.complaints if each.line), 0)
        what = (f"line {each.line}: {each.what}" if each.line else each.what for each in self.complaints)
        super().__init__(f"machine {name}: " + "; ".join(what))


@dataclass(frozen=True, eq=False)
class TuringMachine:
    """A deterministic machine with one tape. Terminal states (`accept`, `reject`) have no rules: they stay as they are.

    `two_way`: the tape has no left end. `lines` says where in a file a rule (state, symbol), a state (state,) or a
    directive "start", "accept", ... stands, for messages; `advice` what can be written there, in {}'s place the state,
    against a state that is "undefined", a "missing" rule, a "start" that is not a state, a "symbol" that is none.
    Raises MachineError with all that is wrong, at once.
    """

    name: str
    states: tuple[str, ...]
    alphabet: tuple[str, ...]
    blank: str
    start: str
    accept: frozenset[str]
    reject: frozenset[str]
    transitions: Mapping[tuple[str, str], Rule]
    two_way: bool = False
    lines: Mapping[Hashable, int] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        complaints = [
            *self._of_names(),
            *(each for read, rule in self.transitions.items() for each in self._of_rule(read, rule)),
            *self._of_missing(),
        ]
        if complaints:
            raise MachineError(self.name, complaints)

    @property
    def terminal(self) -> frozenset[str]:
        return self.accept | self.reject

    def rule(self, state: str, symbol: str) -> Rule:
        """What the machine does there; a terminal state stays, and keeps the symbol."""
        return (state, symbol, 0) if state in self.terminal else self.transitions[state, symbol]

    @cached_property
    def table(self) -> Int64[np.ndarray, "states symbols 3"]:
        """`rule` as numbers: index of the next state, index of the symbol to write, move."""
        rules = ((self.rule(state, symbol) for symbol in self.alphabet) for state in self.states)
        z, a = self.state_index, self.symbol_index
        return np.array([[(z[to], a[write], move) for to, write, move in row] for row in rules], dtype=np.int64)

    @cached_property
    def state_index(self) -> dict[str, int]:
        return {state: place for place, state in enumerate(self.states)}

    @cached_property
    def symbol_index(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.alphabet)}

    def indices(self, tokens: Sequence[str]) -> list[int]:
        """The symbols of an input as numbers. Raises MachineError that names each one outside the alphabet."""
        known = self.symbol_index
        first_rule = min((line for at, line in self.lines.items() if isinstance(at, tuple) and len(at) == 1), default=0)
        line = self._line("alphabet") or first_rule
        listed = " ".join(self.alphabet)
        strange = [
            MachineComplaint(
                Wrong.SYMBOL, line, f"input symbol {place}, '{token}', is not in the alphabet {listed}{advice}"
            )
            for place, token in enumerate(tokens, start=1)
            if token not in known
            for advice in [self._advice("symbol", token)]
        ]
        if strange:
            raise MachineError(self.name, strange)
        return [known[token] for token in tokens]

    # What can be wrong.

    def _of_names(self) -> list[MachineComplaint]:
        named = [("start", self.start), *(("accept", s) for s in sorted(self.accept))]
        named += [("reject", s) for s in sorted(self.reject)]
        wrong = [
            self._complaint(
                Wrong.START if role == "start" else Wrong.UNDEFINED,
                role,
                f"{role} state '{state}' is not a state{self._advice(role, state)}",
                state,
            )
            for role, state in named
            if state not in self.states
        ]
        if self.blank not in self.alphabet:
            what = f"the blank '{self.blank}' is not in the alphabet"
            wrong.append(self._complaint(Wrong.SYMBOL, "blank", what, "blank", self.blank))
        wrong += [
            self._complaint(Wrong.REPEATED, "alphabet", f"symbol '{s}' is listed twice")
            for s in _repeated(self.alphabet)
        ]
        wrong += [self._complaint(Wrong.REPEATED, (s,), f"state '{s}' is listed twice") for s in _repeated(self.states)]
        both = sorted(self.accept & self.reject)
        return wrong + [
            self._complaint(Wrong.TERMINAL, "reject", f"state '{s}' both accepts and rejects") for s in both
        ]

    def _of_rule(self, read: tuple[str, str], rule: Rule) -> list[MachineComplaint]:
        (state, symbol), (to, write, move) = read, rule
        wrong = [
            self._complaint(
                Wrong.UNDEFINED, read, f"state '{name}' is not defined{self._advice('undefined', name)}", name
            )
            for name in dict.fromkeys((state, to))
            if name not in self.states
        ]
        wrong += [
            self._complaint(Wrong.SYMBOL, read, f"symbol '{s}' is not in the alphabet", s)
            for s in dict.fromkeys((symbol, write))
            if s not in self.alphabet
        ]
        if move not in MOVES:
            wrong.append(self._complaint(Wrong.MOVE, read, f"move {move} is not one of -1, 0, 1"))
        if state in self.terminal:
            wrong.append(self._complaint(Wrong.TERMINAL, read, f"the terminal state '{state}' has a rule"))
        return wrong

    def _of_missing(self) -> list[MachineComplaint]:
        """One for each state."""
        wrong = []
        for state in self.states:
            missing = [symbol for symbol in self.alphabet if (state, symbol) not in self.transitions]
            if missing and state not in self.terminal:
                what = f"state '{state}' has no rule for the {_listed(missing)}{self._advice('missing', state)}"
                wrong.append(self._complaint(Wrong.MISSING, (state,), what))
        return wrong

    def _complaint(self, kind: Wrong, at: Hashable, what: str, *names: str) -> MachineComplaint:
        return MachineComplaint(kind, self._line(at), what, frozenset(names))

    def _line(self, what: Hashable) -> int:
        return self.lines.get(what, 0)

    def _advice(self, against: str, state: str) -> str:
        return f"; {self.advice[against].replace('{}', state)}" if against in self.advice else ""


def _listed(symbols: Sequence[str]) -> str:
    quoted = [f"'{symbol}'" for symbol in symbols[:MOST_LISTED]]
    more = f" and {len(symbols) - MOST_LISTED} more" if len(symbols) > MOST_LISTED else ""
    return f"symbol{'s' if len(symbols) > 1 else ''} {', '.join(quoted)}{more}"


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


@dataclass(frozen=True, eq=False)
class Trace:
    """A run, step by step; index i of each array is the paper's i. At i = 0 `written` and `last_visit` hold 0s.

    `cells` is the tape at the end, `first` the cell where the input began. `halted_at` is the step after which the
    state was terminal for the first time, None if it never was.
    """

    machine: TuringMachine
    state: Int64[np.ndarray, " steps"]  # z_i, index into machine.states
    location: Int64[np.ndarray, " steps"]  # l_i, from 1
    symbol: Int64[np.ndarray, " steps"]  # a_i, index into machine.alphabet
    written: Int64[np.ndarray, " steps"]  # u_i
    move: Int64[np.ndarray, " steps"]  # q_i
    last_visit: Int64[np.ndarray, " steps"]  # i' = max{1 <= t <= i : l_(t-1) = l_i}, or NEVER
    cells: Int64[np.ndarray, " cells"]
    first: int

    @property
    def steps(self) -> int:
        return len(self.state) - 1

    @cached_property
    def halted_at(self) -> int | None:
        ends = [self.machine.state_index[state] for state in self.machine.terminal]
        found = np.flatnonzero(np.isin(self.state, ends))
        return int(found[0]) if len(found) else None

    @property
    def accepted(self) -> bool | None:
        """The machine's answer; None if it has not halted."""
        return None if self.halted_at is None else self.machine.states[self.state[-1]] in self.machine.accept

    def tape(self) -> tuple[str, ...]:
        """The symbols at the end, up to the last that is not blank (two-way: from the first that is not blank)."""
        blank = self.machine.symbol_index[self.machine.blank]
        filled = np.flatnonzero(self.cells != blank)
        if not len(filled):
            return ()
        begin = filled[0] if self.machine.two_way else 0
        return tuple(self.machine.alphabet[a] for a in self.cells[begin : filled[-1] + 1])


def written(tokens: Sequence[str]) -> str:
    """An input, or a tape, as text: without spaces where each symbol is one character."""
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def laid_out(machine: TuringMachine, tokens: Sequence[str], steps: int) -> tuple[tuple[str, ...], int]:
    """The tape as a run of `steps` steps needs it, and the cell of the head, from 1.

    A two-way tape becomes one with a left end by `steps` blanks before the input: no run gets further.
    """
    before = steps if machine.two_way else 0
    return (machine.blank,) * before + tuple(tokens), before + 1


def readable(machine: TuringMachine, tokens: Sequence[str], steps: int) -> tuple[str, ...]:
    """The tape as `laid_out`, without what lies beyond the cells that `steps` steps can read."""
    tape, place = laid_out(machine, tokens, steps)
    return tape[: place + steps]


def simulate(machine: TuringMachine, tokens: Sequence[str], steps: int) -> Trace:
    """Runs the machine on an input, one cell at a time: the reference, of constant cost a step.

    Raises MachineError for a symbol outside the alphabet and where the head leaves the tape on the left.
    """
    tape, place = laid_out(machine, tokens, steps)
    blank = machine.symbol_index[machine.blank]
    cells = machine.indices(tape) + [blank] * max(0, place + steps - len(tape))
    visited = [NEVER] * len(cells)
    rules = [[tuple(rule) for rule in row] for row in machine.table.tolist()]
    first, at, z = place, place - 1, machine.state_index[machine.start]
    history = [(z, place, cells[at], 0, 0, NEVER)]
    for i in range(1, steps + 1):
        to, u, q = rules[z][cells[at]]
        if at + q < 0:
            raise _leaves(machine, z, cells[at], i)
        cells[at], visited[at] = u, i
        z, at = to, at + q
        history.append((z, at + 1, cells[at], u, q, visited[at]))
    return _trace(machine, np.array(history, dtype=np.int64).T, np.array(cells, dtype=np.int64), first)


def _trace(machine: TuringMachine, history: np.ndarray, cells: np.ndarray, first: int) -> Trace:
    state, location, symbol, written, move, last = history
    return Trace(machine, state, location, symbol, written, move, last, cells, first)


def _leaves(machine: TuringMachine, z: int, a: int, step: int) -> MachineError:
    state, symbol = machine.states[z], machine.alphabet[a]
    what = f"the head leaves the tape on the left in step {step} (state '{state}' reads '{symbol}' in cell 1)"
    return MachineError(machine.name, [MachineComplaint(Wrong.RUN, machine.lines.get((state, symbol), 0), what)])


def simulate_many(machine: TuringMachine, inputs: Sequence[Sequence[str]], steps: int) -> list[Trace]:
    """`simulate` on many inputs at once, all of them in one array operation a step."""
    laid = [laid_out(machine, tokens, steps) for tokens in inputs]
    blank = machine.symbol_index[machine.blank]
    width = max((max(len(tape), place + steps) for tape, place in laid), default=0)
    count = len(inputs)
    cells = np.full((count, width), blank, dtype=np.int64)  # (inputs, cells)
    for row, (tape, _) in zip(cells, laid, strict=True):
        row[: len(tape)] = machine.indices(tape)
    visited = np.full((count, width), NEVER, dtype=np.int64)
    history = np.zeros((6, count, steps + 1), dtype=np.int64)
    each, at = np.arange(count), np.array([place - 1 for _, place in laid], dtype=np.int64)
    z = np.full(count, machine.state_index[machine.start], dtype=np.int64)
    history[:3, :, 0] = z, at + 1, cells[each, at]
    for i in range(1, steps + 1):
        a = cells[each, at]
        to, u, q = machine.table[z, a].T
        if (out := np.flatnonzero(at + q < 0)).size:
            raise _leaves(machine, int(z[out[0]]), int(a[out[0]]), i)
        cells[each, at], visited[each, at] = u, i
        z, at = to, at + q
        history[:, :, i] = z, at + 1, cells[each, at], u, q, visited[each, at]
    return [_trace(machine, history[:, k], cells[k], laid[k][1]) for k in range(count)]
