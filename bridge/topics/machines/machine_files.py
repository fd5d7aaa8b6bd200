"""Turing machines and their inputs from files and names; the notations are in machine_notations.py."""

from collections.abc import Sequence
from os.path import exists
from pathlib import Path

from bridge.limits.files import ShippedFiles, read_text
from bridge.limits.notations import Complaints, Word, numbered_lines, placed_words
from bridge.theorems.numbers import value_words
from bridge.topics.machines.machine_notations import BEAVER, Parts, busy_beaver, quintuples
from numeric.topics.machines.machine import MachineComplaint, MachineError, TuringMachine, Wrong, written
from symbolic.words.errors import UsageError

LIBRARY = ShippedFiles(Path(__file__).parent / "library", (".tm",))
SHOWN = 8  # complaints in one message
shipped = LIBRARY.names


def read_machine(name_or_path: str) -> TuringMachine:
    """The machine of that name, else of that file, else the busy beaver that is written out. Raises UsageError."""
    if (path := LIBRARY.path(name_or_path)) is not None:
        return parse_machine(read_text(path, "machine"), name_or_path, f"{name_or_path}.tm")
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


def parse_machine(text: str, name: str, source: str = "machine") -> TuringMachine:
    """The machine of a text, in either notation. Raises UsageError: source, line, column and what is wrong."""
    complaints = Complaints(source, SHOWN)
    numbered = numbered_lines(text.split("\n"), comment=";")
    lines = [(number, fields) for number, line in numbered if (fields := _fields(line))]
    if len(lines) == 1 and len(lines[0][1]) == 1 and BEAVER.fullmatch(lines[0][1][0][1]):
        parts = busy_beaver(lines[0][0], *lines[0][1][0], complaints)
    else:
        parts = quintuples(lines, complaints)
    return _made(parts, name, complaints)


def in_file(error: MachineError, source: str, behind: str = "") -> UsageError:
    """The same complaints, each with the file and the line it is about, and `behind` it what it has to do with."""
    complaints = Complaints(source, SHOWN)
    for each in error.complaints:
        complaints.add(each.line, each.what + behind, kind=each.kind)
    return complaints.error()


def _fields(line: str) -> list[Word]:
    """The words of a line before a comment that begins with #, with their columns."""
    words = placed_words(line)
    comment = next((at for at, (_, word) in enumerate(words) if word.startswith("#") and at in (0, 5)), len(words))
    return words[:comment]


def _made(parts: Parts, name: str, complaints: Complaints) -> TuringMachine:
    """The machine. Raises all complaints, those that the definition adds among them."""
    machine = None
    try:
        machine = parts.machine(name)
    except MachineError as error:
        _add_independent(complaints, error.complaints)
    if parts.other is not None:  # whose missing rules `missing: reject` may have filled in
        try:
            parts.other.machine(name)
        except MachineError as error:
            _add_independent(complaints, [each for each in error.complaints if each.kind is not Wrong.MISSING])
    if machine is None or complaints.found:
        raise complaints.error()
    return machine


# A rule that is missing may stand in any line that was not understood; a state that is undefined, a symbol that is not
# listed or a directive that is not given only in one that has its name.
def _add_independent(complaints: Complaints, found: Sequence[MachineComplaint]) -> None:
    """Complaints about the machine, without those that a line that could not be understood may have caused."""
    for each in found:
        if not (each.names & complaints.lost or (complaints.unread and each.kind is Wrong.MISSING)):
            complaints.add(each.line, each.what, kind=each.kind)
