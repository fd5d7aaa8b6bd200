"""What the displays of one statement share: notation, room, and names of parts, each defined once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy as sp

from symbolic.latex.naming import NamedPart
from symbolic.latex.typesetting import Notation, latex
from symbolic.latex.widths import width

Letters = list[tuple[Any, Any]]  # name and meaning
PAGE = 349.0  # points: the text of an 11pt article, less 3 % by which a width may be wrong


@dataclass(frozen=True, eq=False)
class Page:
    """The notation of letters, and `names`, how words with mathematics write them; the points that a line has.

    No name of a part begins with a letter that is `taken`: that of an object of the statement, which no formula holds.
    `letters` (by their meaning) and `parts` are what the displays so far have defined.
    """

    notation: Notation = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    taken: Sequence[str] = ()
    room: float = PAGE
    letters: dict[tuple[str, Any], Any] = field(default_factory=dict)
    parts: list[NamedPart] = field(default_factory=list)

    def latex(self, expression: Any) -> str:
        """LaTeX of one expression in this notation, kept: parts of one are looked at again and again."""
        fixed = expression.as_immutable() if isinstance(expression, sp.MatrixBase) else expression
        return _kept(fixed, tuple(self.notation.items()))

    def width(self, expression: Any) -> float:
        """The points that one expression takes."""
        return width(self.latex(expression))

    def narrower(self, points: float) -> "Page":
        """The same page, for lines that have so many points less."""
        return replace(self, room=self.room - points)

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


@lru_cache(maxsize=1 << 14)
def _kept(expression: Any, notation: tuple[tuple[Any, str], ...]) -> str:
    return latex(expression, dict(notation))


def with_number(name: Any, number: int) -> Any:
    """The same letter with another number."""
    numbered = f"{_letter(name)}_{number}"
    return sp.Symbol(numbered, **name.assumptions0) if name.is_Symbol else sp.Function(numbered)(*name.args)


def _letter(name: Any) -> str:
    return str(name.name if name.is_Symbol else name.func.__name__).rpartition("_")[0]
