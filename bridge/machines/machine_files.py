"""Turing machines and their inputs from files and names; the notations are in machine_notations.py."""

import re
from collections.abc import Sequence
from os.path import exists
from pathlib import Path

from bridge.export.layout import value_words
from bridge.files import read_text
from bridge.machines.complaints import Complaints
from bridge.machines.machine_notations import BEAVER, Field, Parts, busy_beaver, quintuples
from numeric.machines.machine import MachineError, TuringMachine, Wrong
from symbolic.statements import UsageError

LIBRARY = Path(__file__).parent / "library"


def shipped() -> tuple[str, ...]:
    """The names of the shipped machines."""
    return tuple(sorted(path.stem for path in LIBRARY.glob("*.tm")))


def read_machine(name_or_path: str) -> TuringMachine:
    """The machine of that name, else of that file, else the busy beaver that is written out. Raises UsageError."""
    if name_or_path in shipped():
        return parse_machine((LIBRARY / f"{name_or_path}.tm").read_text("utf-8"), name_or_path, f"{name_or_path}.tm")
    if exists(name_or_path):
        return parse_machine(read_text(name_or_path, "machine"), Path(name_or_path).stem, name_or_path)
    if not BEAVER.fullmatch(name_or_path):
        raise UsageError(f"there is no machine and no file '{name_or_path}'; shipped are {', '.join(shipped())}")
    return parse_machine(name_or_path, name_or_path)


def tokens_of(machine: TuringMachine, text: str, source: str = "") -> tuple[str, ...]:
    """The symbols of an input: its words; its characters, if it is one word and every symbol is one character.

    Raises UsageError that names each symbol outside the alphabet, and where the file says what the alphabet is.
    """
    spaced = any(symbol.isspace() for symbol in machine.alphabet)  # then spaces part no words
    words = (text,) if spaced else tuple(text.split())
    characters = len(words) == 1 and all(len(symbol) == 1 for symbol in machine.alphabet)
    tokens = tuple(words[0]) if characters else words
    try:
        machine.indices(tokens)
    except MachineError as error:
        raise in_file(error, source or machine.name, f"; the input was '{value_words(written(tokens))}'") from None
    return tokens


def written(tokens: Sequence[str]) -> str:
    """An input, or a tape, as text: without spaces where each symbol is one character."""
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def parse_machine(text: str, name: str, source: str = "machine") -> TuringMachine:
    """The machine of a text, in either notation. Raises UsageError: source, line, column and what is wrong."""
    complaints = Complaints(source)
    lines = [(number, fields) for number, line in enumerate(text.split("\n"), 1) if (fields := _fields(line))]
    if len(lines) == 1 and len(lines[0][1]) == 1 and BEAVER.fullmatch(lines[0][1][0][1]):
        parts = busy_beaver(lines[0][0], *lines[0][1][0], complaints)
    else:
        parts = quintuples(lines, complaints)
    return _made(parts, name, complaints)


def in_file(error: MachineError, source: str, behind: str = "") -> UsageError:
    """The same complaints, each with the file and the line it speaks of, and `behind` it what it has to do with."""
    complaints = Complaints(source)
    for each in error.complaints:
        complaints.add(each.kind, each.line, each.what + behind)
    return complaints.error()


def _fields(line: str) -> list[Field]:
    """The words of a line before its comment, with their columns."""
    words = [(found.start() + 1, found[0]) for found in re.finditer(r"\S+", line.split(";")[0])]
    comment = next((at for at, (_, word) in enumerate(words) if word.startswith("#") and at in (0, 5)), len(words))
    return words[:comment]


def _made(parts: Parts, name: str, complaints: Complaints) -> TuringMachine:
    """The machine. Raises all complaints, those that the definition adds among them."""
    machine = None
    try:
        machine = parts.machine(name)
    except MachineError as error:
        complaints.add_of(error.complaints)
    if parts.other is not None:  # whose missing rules `missing: reject` may have filled in
        try:
            parts.other.machine(name)
        except MachineError as error:
            complaints.add_of([each for each in error.complaints if each.kind is not Wrong.MISSING])
    if machine is None or complaints.found:
        raise complaints.error()
    return machine
