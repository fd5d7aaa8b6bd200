"""Words with mathematics in them: `...` holds a formula in ASCII notation, ``...`` a command or a name of a program.

The text that terminals and files show is the words without their backticks; LaTeX sets formulas as mathematics
(symbolic/ascii_math.py) and names in typewriter.
"""

import re
from functools import lru_cache

from symbolic.ascii_math import AsciiMathError, ascii_math

PARTS = re.compile(r"``(?P<code>[^`]+)``|`(?P<formula>[^`]+)`")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "_": r"\_",
    "^": r"\^{}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "~": r"\~{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
}


class ProseError(ValueError):
    """Words whose backticks do not match, or whose mathematics does not parse."""


class Prose(str):
    """Plain text that remembers which parts of it are mathematics. Raises ProseError."""

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, words: str) -> "Prose":
        if isinstance(words, Prose):
            return words
        _check(words)
        self = super().__new__(cls, plain(words))
        self.marked = words
        return self


def plain(words: str) -> str:
    """The words without backticks."""
    return PARTS.sub(lambda part: part["code"] or part["formula"], words) if "`" in words else words


def marked(words: str) -> str:
    """The words with their backticks, for putting them together with others."""
    return words.marked if isinstance(words, Prose) else words


def prose_latex(words: str) -> str:
    """The words for LaTeX's text mode. Raises ProseError."""
    return _latex(marked(words))


def escape(words: str) -> str:
    """Words without mathematics for LaTeX's text mode: special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in words)


@lru_cache(maxsize=1 << 13)
def _latex(words: str) -> str:
    _check(words)
    shown, place = [], 0
    for part in PARTS.finditer(words):
        shown.append(escape(words[place : part.start()]))
        shown.append(rf"\texttt{{{escape(part['code'])}}}" if part["code"] else f"${_formula(part['formula'], words)}$")
        place = part.end()
    return "".join(shown) + escape(words[place:])


def _check(words: str) -> None:
    if "`" not in words:
        return
    if "`" in PARTS.sub("", words):
        raise ProseError(f"'{words}': a backtick without a second one")
    for part in PARTS.finditer(words):
        if part["formula"]:
            _formula(part["formula"], words)


@lru_cache(maxsize=1 << 13)
def _formula(formula: str, words: str) -> str:
    try:
        return ascii_math(formula)
    except AsciiMathError as error:
        raise ProseError(f"'{words}': mathematics between backticks does not parse. {error}") from None
