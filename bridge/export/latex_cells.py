"""A LaTeX table and its columns: cells, how numbers are aligned, and how wide a column is in points, without LaTeX.

Widths are those of an article at 11pt, in \\footnotesize.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from symbolic.latex.letter_widths import ROMAN
from symbolic.latex.widths import width as display_width
from symbolic.words.prose import prose_latex

SEPARATION = 4.0  # pt, \tabcolsep
PAGE_LINES, LINE_WIDTH = 42, 350.0  # lines of a page, and points of a line of notes
SIZE, BODY = 9.0, 10.95  # pt, of \footnotesize and of the text
OPTICAL = 1.03  # letters of this size are so much wider, compared with their size, than those of 11pt
LETTER, BLANK, TYPEWRITER = 0.5, 0.333, 0.525  # em: a letter without a width of its own, a space, \texttt
DIGIT, POINT, TIMES_TEN = 4.63, 2.57, 11.8  # pt: a digit, a dot, and \cdot 10
SPACED = 1.5  # pt, about the exponent of siunitx
MINUS = 2  # digits that have the width of a minus sign
RAISED_DIGIT, RAISED_MINUS = 3.67, 6.3  # pt, in an exponent
NUMBER = re.compile(r"\$(-?)(\d+)(?:\.(\d+))?(?:\\cdot 10\^\{(-?)(\d+)\})?\$")
LONG = re.compile(r"\S{18,}")  # a name that may go on in the next line
BREAKS = re.compile(r"(\\_|/(?=\w)|\.(?=[a-z]))")  # after these signs
FILLED = 0.85  # of a broken line


@dataclass(frozen=True)
class LatexColumn:
    """`spec` is for the preamble of the table, `width` in points; `lines` are those of each cell if one is broken."""

    spec: str
    heading: str
    cells: tuple[str, ...]
    width: float
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class LatexTable:
    """What is set: caption and notes in LaTeX; the places in `ends` have a little space behind them.

    `missing` are the headings of the columns that have no room.
    """

    caption: str
    label: str
    columns: Sequence[LatexColumn]
    ends: frozenset[int] = frozenset()
    notes: Sequence[str] = ()
    missing: Sequence[str] = ()

    @property
    def is_long(self) -> bool:
        broken = [column.lines for column in self.columns if column.lines]
        rows = sum(max(lines) for lines in zip(*broken, strict=True)) if broken else len(self.columns[0].cells)
        lines = rows + len(self.ends) / 2 + len(self.caption) * SIZE / 2 / LINE_WIDTH
        return lines + sum(1 + words_width(each) // LINE_WIDTH for each in self.notes) > PAGE_LINES

    def lines(self) -> Iterator[str]:
        r"""As a float, or as a `longtable`, whose notes then stand below it in the text."""
        notes = [r"  \par\raggedright", *(rf"  \par\smallskip {each}" for each in self.notes)] if self.notes else []
        spec = "@{}" + "".join(column.spec for column in self.columns) + "@{}"
        size = rf"\footnotesize\setlength{{\tabcolsep}}{{{SEPARATION:g}pt}}"
        head = [r"\toprule", _line(column.heading for column in self.columns), r"\midrule"]
        name = rf"\caption{{{self.caption}}}", rf"\label{{{self.label}}}"
        if not self.is_long:
            yield r"\begin{table}"
            yield rf"  \centering{size}"
            yield from (f"  {each}" for each in (*name, r"\par\smallskip"))
            yield rf"  \begin{{tabular}}{{{spec}}}"
            yield from (f"    {each}" for each in (*head, *self._body(), r"\bottomrule"))
            yield r"  \end{tabular}"
            yield from notes
            yield r"\end{table}"
            return
        ends = r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endlastfoot"
        yield rf"\begingroup{size}\setlength{{\LTcapwidth}}{{\linewidth}}\sloppy"
        yield rf"\begin{{longtable}}{{{spec}}}"
        yield f"  {''.join(name)}" + r" \\"
        yield from (f"  {each}" for each in (*head, *ends, *self._body()))
        yield r"\end{longtable}"
        yield from notes
        yield r"\par\endgroup"

    def _body(self) -> Iterator[str]:
        for index, cells in enumerate(zip(*(column.cells for column in self.columns), strict=True)):
            yield _line(cells)
            if index in self.ends:
                yield r"\addlinespace"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def words_width(words: str) -> float:
    """Points of plain words, not escaped yet."""
    return sum(BLANK if each == " " else ROMAN.get(each, _escaped(each)) for each in words) * SIZE * OPTICAL


def formula_width(formula: str) -> float:
    """Points of a formula of one line."""
    return display_width(formula) * SIZE / BODY * OPTICAL


def _escaped(letter: str) -> float:
    return ROMAN.get(prose_latex(letter).removesuffix("{}"), LETTER)


def breakable(words: str) -> str:
    """Escaped, with places where a long name may be broken."""
    return LONG.sub(lambda name: BREAKS.sub(r"\1\\allowbreak{}", name[0]), prose_latex(words))


def word_column(heading: str, cells: Sequence[str], most: float = math.inf, align: str = "l") -> LatexColumn:
    """Words to the left; those wider than `most` points go on in the next line."""
    width = max(map(words_width, (heading, *cells)))
    if width <= most:
        return LatexColumn(align, prose_latex(heading), tuple(map(prose_latex, cells)), width)
    spec = rf">{{\raggedright\arraybackslash}}p{{{most:.0f}pt}}"
    lines = tuple(math.ceil(words_width(cell) / (FILLED * most)) for cell in cells)
    return LatexColumn(spec, prose_latex(heading), tuple(map(breakable, cells)), most, lines)


def number_column(heading: str, heading_width: float, cells: Sequence[str], *, siunitx: bool) -> LatexColumn:
    r"""Numbers as `numbers.latex` sets them, aligned at their points; other cells are centred.

    `heading` is LaTeX.
    """
    found = [match for cell in cells if (match := NUMBER.fullmatch(cell))]
    others = [_plain_width(cell) for cell in cells if not NUMBER.fullmatch(cell)]
    if not found:
        return LatexColumn("r", heading, tuple(cells), max(heading_width, *others, 0.0))
    spec, width = (_siunitx if siunitx else _dcolumn)(found)
    ready = tuple(_set(cell, siunitx) for cell in cells)
    head = f"{{{heading}}}" if siunitx else rf"\multicolumn{{1}}{{c}}{{{heading}}}"
    return LatexColumn(spec, head, ready, max(width, heading_width, *others))


def _plain_width(cell: str) -> float:
    """About: the digits and letters of what is not a number, such as O(...) or a dash."""
    return words_width(re.sub(r"\\cdot|[${}^\\]", "", cell))


def _dcolumn(found: Sequence[re.Match[str]]) -> tuple[str, float]:
    left = max(len(match[2]) + MINUS * len(match[1]) for match in found)
    right = math.ceil(max(_behind(match) for match in found) / DIGIT)
    return f"D{{.}}{{.}}{{{left}.{right}}}", (left + right) * DIGIT + POINT


def _behind(match: re.Match[str]) -> float:
    """Points behind the decimal point."""
    return len(match[3] or "") * DIGIT + _exponent(match)


def _exponent(match: re.Match[str]) -> float:
    if match[5] is None:
        return 0.0
    return TIMES_TEN + len(match[5]) * RAISED_DIGIT + (RAISED_MINUS if match[4] else 0.0)


def _siunitx(found: Sequence[re.Match[str]]) -> tuple[str, float]:
    left = max(len(match[2]) for match in found)
    minus = "-" if any(match[1] for match in found) else ""
    decimals = max(len(match[3] or "") for match in found)
    exponents = [match for match in found if match[5] is not None]
    digits = max((len(match[5]) for match in exponents), default=0)
    sign = "-" if any(match[4] for match in exponents) else ""
    form = (f"{minus}{left}.{decimals}" if decimals else f"{minus}{left}") + (f"e{sign}{digits}" if exponents else "")
    width = (
        (left + MINUS * len(minus) + decimals) * DIGIT
        + POINT
        + max(map(_exponent, found))
        + (SPACED if exponents else 0)
    )
    return rf"S[table-format={form},exponent-product=\cdot,tight-spacing=true]", width


def _set(cell: str, siunitx: bool) -> str:
    match = NUMBER.fullmatch(cell)
    if match is None:
        return f"{{{cell}}}" if siunitx else rf"\multicolumn{{1}}{{c}}{{{cell}}}"
    mantissa = cell.strip("$").split(r"\cdot")[0]
    if match[5] is None:
        return mantissa
    power = f"{match[4]}{match[5]}"
    return f"{mantissa}e{power}" if siunitx else rf"{mantissa}{{\cdot}}10^{{{power}}}"
