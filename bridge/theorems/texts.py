"""Parameters that are text (the name of a machine, a file, bits): what is typed, and what functions take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.limits.arguments import called_for, called_with
from symbolic.statements.result import Parameter


@dataclass(frozen=True)
class Text:
    """A parameter of a theorem of your own that is text: `takes` says what is typed (`NAME|FILE`), `read` reads it."""

    name: str
    read: Callable[..., Any]
    takes: str
    default: str = ""
    meaning: str = ""

    @property
    def parameter(self) -> Parameter:
        meaning = self.meaning or f"the parameter {self.name}"
        return Parameter(self.name, None, meaning, self.default, takes=self.takes)


def with_values(id: str, readers: Mapping[str, Callable[..., Any]], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, the value of each text in its place. Raises UsageError."""
    known = dict(params)
    for name, read in readers.items():
        with called_for(f"{id}: what reads {name}", read):
            known[name] = called_with(read, known)
    return known
