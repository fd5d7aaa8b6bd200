"""The complaints about the text of a machine, and which of them another mistake may have caused."""

from collections.abc import Iterable

from numeric.machines.machine import MachineComplaint, Wrong
from symbolic.statements import UsageError

SHOWN = 8  # complaints in one message; more if it takes more to show each kind


class Complaints:
    """The complaints about one text; `error` names file, line and column of each."""

    def __init__(self, source: str):
        self.source = source
        self.found: dict[tuple[int, int, str], str] = {}  # line, column and what: kind
        self.unread = False  # whether some line was not understood
        self.lost = {""}  # words that such a line may have given; "" stands for those that no line gives

    def add(self, kind: str, line: int, what: str, column: int = 0) -> None:
        self.found.setdefault((line, column, what), kind)

    def add_unread(self, kind: str, line: int, what: str, column: int = 0, *, lost: Iterable[str]) -> None:
        """A line that could not be understood: what it says of the words `lost` is not known."""
        self.add(kind, line, what, column)
        self.unread = True
        self.lost |= {*lost}

    # A rule that is missing may stand in any line that was not understood; a state that is undefined, a symbol that is
    # not listed or a directive that is not given only in one that has its name.
    def add_of(self, complaints: Iterable[MachineComplaint]) -> None:
        """Complaints about the machine, without those that a line that could not be understood may have caused."""
        for each in complaints:
            if not (each.names & self.lost or (self.unread and each.kind is Wrong.MISSING)):
                self.add(each.kind, each.line, each.what)

    def error(self) -> UsageError:
        """In the order of the text. Where that is too much, the first of each kind is shown, then the other ones."""
        firsts = {kind: each for each, kind in sorted(self.found.items(), reverse=True)}.values()
        others = [each for each in sorted(self.found) if each not in firsts]
        shown = [*firsts, *others[: max(0, SHOWN - len(firsts))]]
        left = len(self.found) - len(shown)
        return UsageError(
            "\n".join([*(self._line(*each) for each in sorted(shown)), *([f"and {left} more"] * (left > 0))])
        )

    def _line(self, line: int, column: int, what: str) -> str:
        place = ":".join([self.source, *(str(number) for number in (line, column) if number)])
        return f"{place}: {what}"
