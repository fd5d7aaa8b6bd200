"""Words with mathematics in them: `...` holds a formula in ASCII notation, ``...`` a command or a name of a program.

The text that terminals and files show is the words without their backticks; LaTeX sets formulas as mathematics
(symbolic/words/ascii_math.py) and names in typewriter.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from symbolic.words.ascii_math import AsciiMathError, ascii_math
from symbolic.words.escaping import escape

PARTS = re.compile(r"``(?P<code>[^`]+)``|`(?P<formula>[^`]+)`")


class ProseError(ValueError):
    """Words whose backticks do not match, or whose mathematics does not parse."""


class Prose(str):
    """Plain text that remembers which parts of it are mathematics."""

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, words: str) -> "Prose":
        self = super().__new__(cls, plain(words))
        self.marked = marked(words)
        return self


def prose(words: str, *, checked: bool = True) -> str:
    """The words as plain text that remembers its mathematics.

    Raises ProseError for mathematics that does not parse, unless it is not `checked`, as it holds names of the user's.
    """
    if "`" not in words:
        return words
    if not checked:
        return Prose(words)
    if "`" in PARTS.sub("", words):
        raise ProseError(f"'{words}': a backtick without a second one")
    for part in PARTS.finditer(words):
        try:
            ascii_math(part["formula"] or "x")
        except AsciiMathError as error:
            raise ProseError(f"'{words}': mathematics between backticks does not parse. {error}") from None
    return Prose(words)


def make_prose(record: Any, *names: str, checked: bool = True) -> None:
    """Makes prose of these fields of a frozen record: text, tuples of it, mappings to it. Raises ProseError."""
    for name in names:
        words = getattr(record, name)
        if isinstance(words, str):
            made: Any = prose(words, checked=checked)
        elif isinstance(words, Mapping):
            made = {key: prose(each, checked=checked) for key, each in words.items()}
        else:
            made = tuple(prose(each, checked=checked) for each in words)
        if made is not words:
            object.__setattr__(record, name, made)


def plain(words: str) -> str:
    """The words without backticks."""
    return PARTS.sub(lambda part: part["code"] or part["formula"], words) if "`" in words else words


def marked(words: str) -> str:
    """The words with their backticks, for putting them together with others."""
    return words.marked if isinstance(words, Prose) else words


def joined(parts: Iterable[str], separator: str = "; ") -> str:
    """Those that are not empty, once each, with their mathematics."""
    return prose(separator.join(dict.fromkeys(marked(part) for part in parts if part)), checked=False)


def listed(parts: Sequence[str]) -> str:
    """The parts in a sentence: a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def begun(words: str) -> str:
    """The words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def prose_latex(words: str, names: Mapping[str, str] | None = None) -> str:
    """The words for LaTeX's text mode; mathematics that does not parse (it holds a name of the user's) as typed.

    `names` gives the LaTeX of names in the mathematics, `high` for the parameter of that name.
    """
    return _latex(marked(words), tuple((names or {}).items()))


@lru_cache(maxsize=1 << 13)
def _latex(words: str, names: tuple[tuple[str, str], ...]) -> str:
    known = dict(names)
    return rendered(words, escape, r"\texttt{{{}}}", lambda formula: f"${ascii_math(formula, known)}$")


def rendered(words: str, text: Callable[[str], str], code: str, formula: Callable[[str], str]) -> str:
    """The words in a medium: plain ones by `text`, names of programs as `code` holds them, mathematics by `formula`.

    Mathematics that does not parse is shown as the name of a program.
    """
    shown, place = "", 0
    for part in PARTS.finditer(words):
        shown += text(words[place : part.start()])
        try:
            shown += code.format(text(part["code"])) if part["code"] else formula(part["formula"])
        except AsciiMathError:
            shown += code.format(text(part["formula"]))
        place = part.end()
    return shown + text(words[place:])
