"""How wide LaTeX sets a formula, in points, without LaTeX: an article at 11pt, in Computer Modern.

Letters have the widths of their fonts; spaces between atoms are those of Knuth, The TeXbook, chapter 18 and Appendix G.
The height of what a delimiter or a root encloses is estimated, by which it gets one of TeX's sizes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from symbolic.latex.letter_widths import (
    BIG,
    BINARY,
    CLOSING,
    CORRECTIONS,
    DELIMITERS,
    FONTS,
    ITALIC,
    LARGE,
    OPENING,
    PUNCTUATION,
    RELATIONS,
    ROMAN,
    SPACES,
)

DISPLAY, TEXT, SCRIPT, SCRIPT_2 = range(4)  # styles
SIZES = (10.95, 10.95, 8.5, 7.1)  # of the fonts of each style; small ones are 1.06 and 1.18 times as wide as their size
NESTED = (TEXT, SCRIPT, SCRIPT_2, SCRIPT_2)  # the style of both parts of a fraction
SCRIPTS = (SCRIPT, SCRIPT, SCRIPT_2, SCRIPT_2)
NULL_DELIMITERS, SCRIPT_SPACE, COLUMN_SPACE = 2.4, 0.5, 10.0
SURD, BRACE, WORD_SPACE = 0.9, 0.85, 0.333  # ems

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[^\\\s]|\s+", re.DOTALL)


LIMITED = re.compile(r"\\(sum|prod|max|min|sup|inf|lim|Pr|limsup|liminf)")
NAMED = re.compile(r"\\(log|ln|exp|sin|cos|tan|tanh|sinh|cosh|arg|det|dim|ker|gcd|Pr|max|min|(lim)?sup|(lim)?inf|lim)")
ACCENT = re.compile(r"\\(hat|tilde|bar|dot|ddot|vec|overline|underline|widehat)")

# Spaces in muglue by kinds of neighbours; a negative one is left out in scripts.
ORD, OP, BIN, REL, OPEN, CLOSE, PUNCT, INNER = range(8)
BETWEEN = (
    (0, 3, -4, -5, 0, 0, 0, -3),
    (3, 3, 0, -5, 0, 0, 0, -3),
    (-4, -4, 0, 0, -4, 0, 0, -4),
    (-5, -5, 0, 0, -5, 0, 0, -5),
    (0, 0, 0, 0, 0, 0, 0, 0),
    (0, 3, -4, -5, 0, 0, 0, -3),
    (-3, -3, 0, -3, -3, -3, -3, -3),
    (-3, 3, -4, -5, -3, 0, -3, -3),
)
KINDS = {CLOSE: CLOSING, OPEN: OPENING, BIN: BINARY, REL: RELATIONS, ORD: ITALIC, PUNCT: PUNCTUATION}
SINGLE = {token: (kind, em) for kind, table in KINDS.items() for token, em in table.items()}  # atoms of one token
# A delimiter about a formula of at most this height, in ems, is so wide compared with the letter.
GROWN = ((1.15, 1.0), (1.5, 1.18), (2.4, 1.53), (3.1, 1.9), (3.7, 2.05), (float("inf"), 2.25))


@dataclass(frozen=True)
class _Atom:
    kind: int
    width: float  # pt
    height: float  # from top to bottom, pt
    limits: bool = False
    correction: float = 0.0  # of an italic letter, within its width


@lru_cache(maxsize=1 << 14)
def width(formula: str) -> float:
    """Points that a displayed formula takes; of several rows, the widest."""
    return _Reader(formula).all(DISPLAY).width


class _Reader:
    """One pass over the tokens of a formula."""

    def __init__(self, formula: str) -> None:
        self.tokens = [token for token in TOKEN.findall(formula) if token]
        self.place = 0

    def all(self, style: int) -> _Atom:
        return _rows(self._table_of(style, ends=()), aligned=True)

    def _peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _next(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1] if self.place <= len(self.tokens) else ""

    def _skip_spaces(self) -> None:
        while self._peek().isspace():
            self.place += 1

    def _table_of(self, style: int, ends: Sequence[str]) -> list[list[_Atom]]:
        """Rows of cells, up to one of the tokens `ends` or the end."""
        rows: list[list[_Atom]] = [[]]
        while True:
            rows[-1].append(self._list(style, ("&", r"\\", *ends)))
            token = self._next()
            if token == r"\\":
                rows.append([])
            elif token != "&":
                return rows

    def _list(self, style: int, ends: Sequence[str]) -> _Atom:
        """The atoms before one of these tokens, which is left, in a row."""
        atoms: list[_Atom] = []
        loose = 0.0  # of spaces that are typed
        while self._peek() and self._peek() not in ends:
            token = self._next()
            if token.isspace():
                continue
            if token in SPACES:
                loose += SPACES[token] * SIZES[style] / 18
            elif token in "^_'" and atoms:
                atoms[-1] = self._with_script(atoms[-1], token, style)
            elif (atom := self._atom(token, style)) is not None:
                atoms.append(atom)
        return _row(atoms, style, loose)

    # Both scripts of an atom lie above each other.
    def _with_script(self, atom: _Atom, token: str, style: int) -> _Atom:
        found = [self._script(token, style)]
        while self._peek() and self._peek() in "^_'":
            found.append(self._script(self._next(), style))
        widest, height = max(each.width for each in found), sum(each.height for each in found)
        if atom.limits and style == DISPLAY:
            return replace(atom, width=max(atom.width, widest), height=atom.height + height, limits=False)
        taller = atom.height + 0.4 * max(each.height for each in found) * len(found)
        own = atom.width - (atom.correction if token == "_" and len(found) == 1 else 0.0)
        return replace(atom, width=own + widest + SCRIPT_SPACE, height=taller, limits=False, correction=0.0)

    def _script(self, token: str, style: int) -> _Atom:
        if token == "'":
            return _Atom(ORD, ITALIC[r"\prime"] * SIZES[SCRIPTS[style]], 0.0)
        return self._argument(SCRIPTS[style])

    def _argument(self, style: int) -> _Atom:
        """A group, or the one token that stands for it."""
        self._skip_spaces()
        token = self._next()
        if token == "{":
            return self._group(style)
        return self._atom(token, style) or _Atom(ORD, 0.0, 0.0)

    def _group(self, style: int) -> _Atom:
        found = self._list(style, ("}",))
        self._next()
        return found

    def _words(self) -> str:
        """The tokens of a group, as they are; of one that is not closed, all that follow."""
        self._skip_spaces()
        depth, found = 0, []
        while True:
            token = self._next()
            depth += (token == "{") - (token == "}")
            found.append(token)
            if depth <= 0 or not token:
                return "".join(found)

    def _atom(self, token: str, style: int) -> _Atom | None:
        size = SIZES[style]
        if token in SINGLE:
            kind, em = SINGLE[token]
            correction = CORRECTIONS.get(token, 0.0) * size
            return _Atom(kind, em * size + correction, size, correction=correction)
        if token == "{":
            return self._group(style)
        if token in LARGE:
            display, text = LARGE[token]
            em = display if style == DISPLAY else text
            return _Atom(OP, em * size, 1.4 * size, limits=bool(LIMITED.fullmatch(token)))
        if NAMED.fullmatch(token):
            return _Atom(OP, roman(token[1:]) * size, size, limits=bool(LIMITED.fullmatch(token)))
        return self._made(token, style, size)

    def _made(self, token: str, style: int, size: float) -> _Atom | None:
        """Atoms with arguments. A command that sets nothing, or is not known, gives None."""
        if token in (r"\frac", r"\dfrac", r"\tfrac"):
            inner = NESTED[TEXT if token == r"\tfrac" else style]
            above, below = self._argument(inner), self._argument(inner)
            return _Atom(
                INNER, max(above.width, below.width) + NULL_DELIMITERS, above.height + below.height + 0.3 * size
            )
        if token == r"\sqrt":
            index = len(self._bracketed()) * 0.3 * size
            inside = self._argument(style)
            wider = 1.0 if inside.height <= 1.3 * size else 1.12
            return _Atom(ORD, inside.width + SURD * wider * size + index, inside.height + 0.2 * size)
        if token == r"\left":
            return self._delimited(style, size)
        if token == r"\begin":
            return self._environment(style, size)
        if token in (r"\text", r"\mathrm", r"\operatorname", r"\mbox", r"\textrm"):
            words = self._words()[1:-1]
            em = roman(words if "text" in token or "box" in token else words.replace(" ", ""))
            return _Atom(OP if token == r"\operatorname" else ORD, em * size, size)
        if token in FONTS or ACCENT.fullmatch(token):
            inside = self._argument(style)
            return _Atom(ORD, inside.width * FONTS.get(token, 1.0), inside.height + 0.1 * size)
        if token in BIG:
            delimiter = self._next()
            return _Atom(CLOSE if delimiter in CLOSING else OPEN, BIG[token] * size, size)
        if token == r"\bmod":
            return _Atom(BIN, roman("mod") * size, size)
        return None

    def _bracketed(self) -> str:
        """What stands in brackets behind a root."""
        if self._peek() != "[":
            return ""
        found = ""
        while (token := self._next()) not in ("]", ""):
            found += token
        return found.removeprefix("[")

    def _delimited(self, style: int, size: float) -> _Atom:
        opening = self._next()
        inside = self._list(style, (r"\right",))
        self._next()
        closing = self._next()
        tall = inside.height / size
        factor = next(factor for highest, factor in GROWN if tall <= highest)
        null = NULL_DELIMITERS / 2
        both = sum(DELIMITERS[each] * factor * size if each in DELIMITERS else null for each in (opening, closing))
        return _Atom(INNER, inside.width + both, max(inside.height, size))

    def _environment(self, style: int, size: float) -> _Atom:
        name = self._words()[1:-1]
        aligned = name in ("aligned", "gathered", "split")
        rows = self._table_of(DISPLAY if aligned else max(style, TEXT), (r"\end",))
        self._words()
        found = _rows(rows, aligned=aligned)
        return replace(found, width=found.width + BRACE * size) if name == "cases" else found


def roman(words: str) -> float:
    """The width of upright text, in ems."""
    tokens = (token for token in TOKEN.findall(words) if token not in ("{", "}"))
    return sum(WORD_SPACE if token.isspace() else ROMAN.get(token, 0.5) for token in tokens)


def _rows(rows: Sequence[Sequence[_Atom]], *, aligned: bool) -> _Atom:
    """Rows below each other, column by column; columns of an alignment have no space between them."""
    columns = max(map(len, rows))
    widths = [max((row[place].width for row in rows if place < len(row)), default=0.0) for place in range(columns)]
    space = 0.0 if aligned else COLUMN_SPACE * (columns - 1)
    return _Atom(INNER, sum(widths) + space, sum(max(cell.height for cell in row) * 1.2 for row in rows))


def _row(atoms: Sequence[_Atom], style: int, loose: float) -> _Atom:
    """Atoms beside each other, with the spaces between their kinds."""
    kinds = [atom.kind for atom in atoms]
    for place, kind in enumerate(kinds):  # a sign is not a binary operation
        if kind == BIN and (place == 0 or kinds[place - 1] in (BIN, OP, REL, OPEN, PUNCT)):
            kinds[place] = ORD
        elif kind in (REL, CLOSE, PUNCT) and place and kinds[place - 1] == BIN:
            kinds[place - 1] = ORD
    spaces = (BETWEEN[left][right] for left, right in pairwise(kinds))
    seen = sum(abs(space) for space in spaces if space > 0 or style < SCRIPT)
    total = sum(atom.width for atom in atoms) + seen * SIZES[style] / 18 + loose
    single = len(atoms) == 1
    height = max((atom.height for atom in atoms), default=0.0)
    return _Atom(atoms[0].kind if single else ORD, total, height, single and atoms[0].limits)
