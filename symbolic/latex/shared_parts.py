"""Names of parts that the displays of one statement share: each is defined once, under one numbering."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.latex.naming import NamedPart

Letters = list[tuple[Any, Any]]  # name and meaning


@dataclass
class Shared:
    """What the displays so far have defined: letters by their meaning, and names of parts with theirs.

    No name begins with a letter that is `taken`: that of an object of the statement, which no formula holds.
    """

    taken: Sequence[str] = ()
    letters: dict[tuple[str, Any], Any] = field(default_factory=dict)
    parts: list[NamedPart] = field(default_factory=list)

    def numbered(self, letters: Letters) -> tuple[dict[Any, Any], Letters]:
        """The names that letters have here, those of equal meaning the same, and the letters that are new."""
        names: dict[Any, Any] = {}
        new: Letters = []
        for name, meaning in letters:
            written = meaning.xreplace(names)
            key = _letter(name), written
            known = self.letters.get(key)
            if known is None:
                known = self.letters[key] = with_number(name, len(self.letters) + 1)
                new.append((known, written))
            names[name] = known
        return names, new

    def defines(self, part: NamedPart) -> bool:
        """Whether this definition has to be shown: none before says the same."""
        if any(known.at(part.name) == part.meaning for known in self.parts):
            return False
        self.parts.append(part)
        return True


def with_number(name: Any, number: int) -> Any:
    """The same letter with another number."""
    numbered = f"{_letter(name)}_{number}"
    return sp.Symbol(numbered, **name.assumptions0) if name.is_Symbol else sp.Function(numbered)(*name.args)


def _letter(name: Any) -> str:
    return str(name.name if name.is_Symbol else name.func.__name__).rpartition("_")[0]
