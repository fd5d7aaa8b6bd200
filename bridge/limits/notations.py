"""Reading a notation of one's own: lines with their numbers, words with their columns, and all complaints at once.

For parameters that are text (`Text`): what reads a file collects its complaints and raises one UsageError.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from symbolic.derivations.exact_numbers import as_count
from symbolic.words.errors import UsageError

OPENING, CLOSING = "([{", ")]}"
Word = tuple[int, str]  # its column, from 1, and the word


def numbered_lines(lines: Iterable[str], *, comment: str, continued: str = "") -> Iterator[tuple[int, str]]:
    """The lines that hold more than a comment, without it, each with its number, from 1.

    `comment` is what begins one, "" if nothing does. A line that ends in `continued` goes on in the next; its number is
    that of its first line. Raises UsageError for what is not a text, and for one text in the place of its lines.
    """
    for name, given in (("comment", comment), ("continued", continued)):
        if not isinstance(given, str):
            raise UsageError(f"numbered_lines: {name} = {given!r:.80}; give text")
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        raise UsageError(f"numbered_lines: lines = {lines!r:.80}; give a list of lines, such as text.splitlines()")
    every = list(lines)
    if wrong := [each for each in every if not isinstance(each, str)]:
        raise UsageError(f"numbered_lines: a line is {wrong[0]!r:.80}; give text")
    return _numbered(every, comment, continued)


def _numbered(lines: list[str], comment: str, continued: str) -> Iterator[tuple[int, str]]:
    start, parts = 0, list[str]()
    for number, line in enumerate([*lines, ""], start=1):
        content = (line.split(comment)[0] if comment else line).rstrip()
        goes_on = continued != "" and content.endswith(continued)
        start, parts = start or number, [*parts, content.removesuffix(continued) if goes_on else content]
        if goes_on:
            continue
        if (whole := " ".join(parts)).strip():
            yield start, whole
        start, parts = 0, []


def placed_words(line: str) -> list[Word]:
    """The words of a line with their columns. Raises UsageError for what is not a text."""
    if not isinstance(line, str):
        raise UsageError(f"placed_words: line = {line!r:.80}; give text")
    return [(found.start() + 1, found[0]) for found in re.finditer(r"\S+", line)]


class Complaints:
    """What is wrong with one text; `error` names source, line and column of each.

    With `most`, so many are shown at least, and more if it takes more to show each kind; else all of them. Raises
    UsageError for a source or a complaint that is not a text, and for lines, columns and `most` that are not counts.
    """

    def __init__(self, source: str, most: int | None = None) -> None:
        self.source = _text("source", source)
        self.most = None if most is None else as_count("Complaints", "most", most)
        self.found: dict[tuple[int, int, str], str] = {}  # line, column and what: kind
        self.unread = False  # whether some line was not understood
        self.lost = {""}  # words that such a line may have given; "" stands for those that no line gives

    def add(self, line: int, what: str, column: int = 0, *, kind: str = "") -> None:
        """Line and column count from 1; 0 where there is none."""
        at, along = as_count("Complaints", "line", line, least=0), as_count("Complaints", "column", column, least=0)
        self.found.setdefault((at, along, _text("what", what)), _text("kind", kind))

    def add_unread(self, line: int, what: str, column: int = 0, *, lost: Iterable[str], kind: str = "") -> None:
        """A line that could not be understood: what it says of the words `lost` is not known."""
        if not isinstance(lost, Iterable):  # text stands for its letters
            raise UsageError(f"Complaints: lost = {lost!r:.80}; give a list of words")
        self.add(line, what, column, kind=kind)
        self.unread = True
        self.lost |= {*lost}

    def error(self) -> UsageError:
        """In the order of the text. Where that is too much, the first of each kind is shown, then the other ones.

        Raises UsageError where nothing was found.
        """
        if not self.found:
            raise UsageError(f"Complaints: nothing is wrong with {self.source}; ask `found` before the error")
        every = sorted(self.found)
        firsts = {self.found[each]: each for each in reversed(every)}.values()
        most = len(every) if self.most is None else self.most
        others = [each for each in every if each not in firsts][: max(0, most - len(firsts))]
        shown = sorted([*firsts, *others])
        left = len(every) - len(shown)
        return UsageError("\n".join([*(self._line(*each) for each in shown), *([f"and {left} more"] * (left > 0))]))

    def _line(self, line: int, column: int, what: str) -> str:
        place = ":".join([self.source, *(str(number) for number in (line, column) if number)])
        return f"{place}: {what}"


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise UsageError(f"Complaints: {name} = {given!r:.80}; give text")
    return given


def split_outside_brackets(text: str) -> Iterator[str]:
    """The parts between commas; a comma inside brackets belongs to a matrix and splits nothing."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]
