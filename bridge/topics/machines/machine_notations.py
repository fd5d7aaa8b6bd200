"""Turing machines from text, in the two usual notations.

Quintuples, one a line: `state symbol new_symbol move new_state`, the move one of L, R, N, S, *. `*` as state or symbol
stands for every one that has no rule of its own (one for the state counts before one for the symbol); as the symbol to
write it keeps the symbol, as a move or as the next state it stays. `_` is the blank. `;` begins a comment, and so does
`#` on a line of its own or behind the five fields. Directives: `start: q`, `accept: q ...`, `reject: q ...`,
`blank: s`, `alphabet: s ...` (else the symbols that the rules name), `two-way: yes|no`, `missing: reject|error`.

The one-line notation of the busy beavers: `1RB1LB_1LA1RZ`, a row for each state A, B, ..., in it for each symbol 0, 1,
... what to write, the move and the next state. A letter beyond the last row halts there; `---` halts and changes
nothing else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from string import ascii_uppercase, digits

from bridge.limits.notations import Complaints, Word
from numeric.topics.machines.machine import Rule, TuringMachine

MOVES = {"L": -1, "R": 1, "N": 0, "S": 0, "*": 0}
ANY = "*"
DIRECTIVES = ("start", "accept", "reject", "blank", "alphabet", "two-way", "missing")
MANY = ("accept", "reject", "alphabet")  # directives of several words
BEAVER = re.compile(r"(?=.*[0-9][LR][A-Z])[0-9A-Z_-]+")
TRIPLE = re.compile(r"([0-9])([LR])([A-Z])")
HALT = "halt"  # the state of `---`


@dataclass
class Parts:
    """What a machine is made of, as it is read."""

    start: str = ""
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    blank: str = "_"
    alphabet: tuple[str, ...] = ()
    two_way: bool = False
    states: tuple[str, ...] = ()
    transitions: dict[tuple[str, str], Rule] = field(default_factory=dict)
    lines: dict[object, int] = field(default_factory=dict)
    advice: dict[str, str] = field(default_factory=dict)
    other: "Parts | None" = None  # the same, of two rules for one state and symbol the first instead of the last

    def machine(self, name: str) -> TuringMachine:
        return TuringMachine(
            name,
            self.states,
            self.alphabet,
            self.blank,
            self.start,
            frozenset(self.accept),
            frozenset(self.reject),
            self.transitions,
            self.two_way,
            self.lines,
            self.advice,
        )


# Quintuples.


@dataclass(frozen=True)
class TableRule:
    """One line of the table, wildcards and all."""

    line: int
    state: str
    symbol: str
    write: str
    move: int
    to: str

    @property
    def order(self) -> tuple[bool, bool]:
        """The later in this order, the more it counts."""
        return self.state != ANY, self.symbol != ANY

    def rule(self, state: str, symbol: str) -> Rule:
        return state if self.to == ANY else self.to, symbol if self.write == ANY else self.write, self.move


def quintuples(lines: list[tuple[int, list[Word]]], complaints: Complaints) -> Parts:
    given: dict[str, tuple[int, list[str]]] = {}
    table: list[TableRule] = []
    for number, fields in lines:
        if fields[0][1].endswith(":") and len(fields[0][1]) > 1:
            _directive(number, fields, given, complaints)
        elif rule := _rule(number, fields, complaints):
            table.append(rule)
    parts = _declared(given, complaints)
    _list_names(parts, table)
    parts.advice = _advice(parts, table)
    if _complain_of_repeated(table, complaints):
        parts.other = replace(parts, lines=dict(parts.lines))
        parts.other.transitions = _expanded(parts.other, table[::-1])
    parts.transitions = _expanded(parts, table)
    if words := given.get("missing"):
        _fill(parts, *words, complaints)
    return parts


def _directive(line: int, fields: list[Word], given: dict[str, tuple[int, list[str]]], complaints: Complaints) -> None:
    name, words = fields[0][1][:-1], [word for _, word in fields[1:]]
    if name not in DIRECTIVES:
        meant = get_close_matches(name, DIRECTIVES)
        what = f"unknown directive '{name}'; there are {', '.join(DIRECTIVES)}"
        complaints.add_unread(line, what, fields[0][0], lost=[*meant, *words], kind="directive")
    elif name in given:
        what = f"'{name}' was given in line {given[name][0]} already"
        complaints.add_unread(line, what, fields[0][0], lost=words, kind="given twice")
    elif not words or (len(words) > 1 and name not in MANY):
        what = f"'{name}' takes {'one word or more' if name in MANY else 'one word'}, not {len(words)}"
        complaints.add_unread(line, what, lost=[name, *words], kind="words")
    else:
        given[name] = (line, words)


def _rule(line: int, fields: list[Word], complaints: Complaints) -> TableRule | None:
    words = [word for _, word in fields]
    if len(words) != 5:
        what = f"a rule has five fields (state symbol new_symbol move new_state), not {len(words)}"
        complaints.add_unread(line, what, lost=[word.rstrip(":") for word in words], kind="fields")
        return None
    state, symbol, write, move, to = words
    if move.upper() not in MOVES:
        what = f"move '{move}' is not one of {', '.join(MOVES)}"
        complaints.add_unread(line, what, fields[3][0], lost=[state], kind="letter of a move")
        return None
    return TableRule(line, state, symbol, write, MOVES[move.upper()], to)


def _declared(given: Mapping[str, tuple[int, list[str]]], complaints: Complaints) -> Parts:
    parts = Parts(lines={name: line for name, (line, _) in given.items()})
    words = {name: tuple(words) for name, (_, words) in given.items()}
    parts.accept, parts.reject = words.get("accept", ()), words.get("reject", ())
    parts.alphabet = words.get("alphabet", ())
    parts.blank = words.get("blank", ("_",))[0]
    if "start" in words:
        parts.start = words["start"][0]
    elif "start" not in complaints.lost:
        complaints.add(0, "no start state; add a line 'start: STATE'", kind="no start")
    if not parts.accept and not parts.reject and not complaints.lost & {"accept", "reject"}:
        complaints.add(0, "no terminal state; add a line 'accept: STATE' or 'reject: STATE'", kind="no terminal")
    parts.two_way = _choice("two-way", {"yes": True, "no": False}, given, complaints)
    return parts


def _choice(
    name: str, answers: Mapping[str, bool], given: Mapping[str, tuple[int, list[str]]], complaints: Complaints
) -> bool:
    """The answer to a directive, False where it is not given."""
    line, (word, *_) = given.get(name, (0, ["no"]))
    if line and word not in answers:
        complaints.add(line, f"'{name}' is {' or '.join(answers)}, not '{word}'", kind="answer")
    return answers.get(word, False)


# A state is defined by a rule that reads in it, or by being called terminal.
def _list_names(parts: Parts, table: list[TableRule]) -> None:
    reading = [rule.state for rule in table if rule.state != ANY]
    first = [parts.start] if parts.start in reading else []
    parts.states = tuple(dict.fromkeys([*first, *reading, *parts.accept, *parts.reject]))
    for rule in reversed(table):
        parts.lines[rule.state,] = rule.line
    if not parts.alphabet:
        named = [symbol for rule in table for symbol in (rule.symbol, rule.write) if symbol != ANY]
        parts.alphabet = tuple(dict.fromkeys([*named, parts.blank]))


def _advice(parts: Parts, table: list[TableRule]) -> dict[str, str]:
    """What can be written against a state or a rule that is not there."""
    accept, reject = (" ".join([*states, "{}"]) for states in (parts.accept, parts.reject))
    rejecting = "" if parts.reject else " and 'reject: STATE'"
    any_state = f"; '{ANY}' stands for the states that have rules of their own, it defines none"
    return {
        "undefined": f"where it ends the run, write 'accept: {accept}' or 'reject: {reject}', else rules for it",
        "missing": f"write one, or 'missing: reject'{rejecting}",
        "symbol": "a line 'alphabet: ...' adds symbols",
        "start": "no rule begins with it" + (any_state if any(rule.state == ANY for rule in table) else ""),
    }


def _running(parts: Parts) -> list[str]:
    return [state for state in parts.states if state not in parts.accept + parts.reject]


def _expanded(parts: Parts, table: list[TableRule]) -> dict[tuple[str, str], Rule]:
    """Every (state, symbol) with the rule that counts most for it."""
    running = _running(parts)
    rules: dict[tuple[str, str], Rule] = {}
    for each in sorted(table, key=lambda rule: rule.order):
        for state in running if each.state == ANY else [each.state]:
            for symbol in parts.alphabet if each.symbol == ANY else [each.symbol]:
                rules[state, symbol] = each.rule(state, symbol)
                parts.lines[state, symbol] = each.line
    return rules


def _complain_of_repeated(table: list[TableRule], complaints: Complaints) -> bool:
    """Whether there are any."""
    first: dict[tuple[str, str], int] = {}
    for rule in table:
        before = first.setdefault((rule.state, rule.symbol), rule.line)
        if before != rule.line:
            what = f"state '{rule.state}' on symbol '{rule.symbol}' has a rule in line {before} already"
            complaints.add(rule.line, what, kind="repeated rule")
    return len(first) < len(table)


def _fill(parts: Parts, line: int, words: list[str], complaints: Complaints) -> None:
    """`missing: reject`: what has no rule goes to the reject state and changes nothing else."""
    if words[0] not in ("reject", "error"):
        complaints.add_unread(line, f"'missing' is reject or error, not '{words[0]}'", lost=(), kind="answer")
    elif words[0] == "reject" and not parts.reject and "reject" not in complaints.lost:
        complaints.add_unread(line, "'missing: reject' needs a line 'reject: STATE'", lost=(), kind="reject")
    elif words[0] == "reject" and parts.reject:
        for state in _running(parts):
            for symbol in parts.alphabet:
                parts.transitions.setdefault((state, symbol), (parts.reject[0], symbol, 0))
                parts.lines.setdefault((state, symbol), line)


# Busy beavers.


def busy_beaver(line: int, column: int, word: str, complaints: Complaints) -> Parts:
    rows = word.split("_")
    symbols = max(len(rows[0]) // 3, 1)
    parts = Parts(start="A", blank="0", two_way=True, alphabet=tuple(str(digit) for digit in range(symbols)))
    if len(rows) > len(ascii_uppercase):
        what = f"{len(rows)} states, but there are {len(ascii_uppercase)} letters"
        complaints.add_unread(line, what, lost=(), kind="states")
    halting: dict[str, None] = {}
    for state, row in zip(ascii_uppercase, rows, strict=False):
        parts.lines[state,] = line
        if len(row) != 3 * symbols:
            what = f"row {state} is '{row}', not {symbols} triples as row A"
            complaints.add_unread(line, what, column, lost=digits, kind="row")
        for symbol, place in enumerate(range(0, min(len(row), 3 * symbols), 3)):
            rule = _triple(line, column + place, row[place : place + 3], str(symbol), complaints)
            parts.transitions[state, str(symbol)] = rule
            parts.lines[state, str(symbol)] = line
            if rule[0] == HALT or rule[0] not in ascii_uppercase[: len(rows)]:
                halting[rule[0]] = None
        column += len(row) + 1
    parts.accept = tuple(sorted(halting))
    parts.states = (*ascii_uppercase[: len(rows)], *parts.accept)
    return parts


def _triple(line: int, column: int, triple: str, symbol: str, complaints: Complaints) -> Rule:
    if triple == "---":
        return HALT, symbol, 0
    if found := TRIPLE.fullmatch(triple):
        return found[3], found[1], MOVES[found[2]]
    what = f"'{triple}' is neither a digit, L or R, and a letter, nor '---'"
    complaints.add_unread(line, what, column, lost=(), kind="triple")
    return HALT, symbol, 0
