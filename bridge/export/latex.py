"""A comparison as a LaTeX table (booktabs): bounds, errors and verdicts, and below it what the run refutes."""

from collections.abc import Iterable, Iterator, Sequence

from bridge.export.layout import (
    Layout,
    budget_words,
    group_ends,
    label_columns,
    layout,
    no_verdict_words,
    number_words,
    sampled,
    shown_rows,
    table_cells,
    verdict_words,
)
from bridge.export.legend import legend
from bridge.export.notes import notes
from bridge.export.numbers import latex as number
from bridge.export.violations import reasons, violations
from bridge.record import AUTOMATIC, Comparison, NamedTable, Row

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\^{}",
        "~": r"\~{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "≤": r"$\le$",
        "≥": r"$\ge$",
    }
)


def escape(words: str) -> str:
    """Words for running text: every character that TeX reads as a command or sets as another one is escaped."""
    return words.translate(SPECIAL)


def comparison_latex(comparison: Comparison, all_rows: bool = False) -> str:
    """A table of the final quantities and every violated row (or of all rows), shrunk where it is too big."""
    rows = shown_rows(comparison, all_rows)
    columns = layout(rows, comparison.automatic)
    left_out = len(comparison.rows) - len(rows)
    lines = [
        rf"% {comparison.result}: needs \usepackage{{booktabs,adjustbox}}",
        *([f"% {left_out} rows of intermediate quantities are left out"] if left_out else []),
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{_caption(comparison, rows, columns)}}}",
        rf"  \label{{tab:{comparison.result}}}",
        r"  \begin{adjustbox}{max width=\linewidth, max totalheight=0.75\textheight}",
        *_tabular(rows, columns),
        r"  \end{adjustbox}",
        *_notes(comparison, rows, columns),
        r"\end{table}",
    ]
    return "\n".join([*lines, *(line for table in comparison.tables for line in _named(table, all_rows))]) + "\n"


def _named(table: NamedTable, all_rows: bool) -> list[str]:
    """A table beside the rows, with the middle of a long one left out unless all is asked for."""
    cells = table_cells(table, all_rows)
    return [
        "",
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{escape(table.title)}}}",
        r"  \begin{adjustbox}{max width=\linewidth, max totalheight=0.75\textheight}",
        rf"  \begin{{tabular}}{{{'l' * len(table.columns)}}}",
        r"    \toprule",
        f"    {_line(map(escape, table.columns))}",
        r"    \midrule",
        *(f"    {_line(map(escape, line))}" for line in cells),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"  \end{adjustbox}",
        r"\end{table}",
    ]


def _caption(comparison: Comparison, rows: Sequence[Row], columns: Layout) -> str:
    constants = [f"{_parameter(name)} $=$ {_value(columns, name, value)}" for name, value in columns.constant.items()]
    source = f"{escape(comparison.citation)} ({escape(comparison.result)})" if comparison.citation else ""
    return (
        f"{source or escape(comparison.result)}: bounds and "
        f"{'largest errors found' if sampled(rows) else 'what was measured'}. "
    ) + _sentence([*constants, escape(budget_words(rows))])


def _sentence(parts: Iterable[str]) -> str:
    words = "; ".join(filter(None, parts))
    return f"{words}." if words else ""


def _tabular(rows: Sequence[Row], columns: Layout) -> list[str]:
    labels = list(label_columns(rows, columns))
    headings = [*labels, *(_parameter(name) for name in columns.varying), *columns.headings(), "verdict"]
    alignment = "l" * len(labels) + "r" * (len(columns.varying) + len(columns.numbers)) + "l"
    return [
        rf"  \begin{{tabular}}{{{alignment}}}",
        r"    \toprule",
        f"    {_line(headings)}",
        r"    \midrule",
        *_body(rows, columns),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]


def _body(rows: Sequence[Row], columns: Layout) -> Iterator[str]:
    ends = group_ends(rows)
    labels = zip(*label_columns(rows, columns).values(), strict=True)
    for index, (row, words) in enumerate(zip(rows, labels, strict=True)):
        yield f"    {_line([*(escape(each or '--') for each in words), *_cells(row, columns)])}"
        if index in ends:
            yield r"    \addlinespace"


def _cells(row: Row, columns: Layout) -> list[str]:
    grid = [_value(columns, name, row.params.get(name)) for name in columns.varying]
    numbers = [number_words(row, name, number) for name in columns.numbers]
    return [*grid, *numbers, escape(verdict_words(row))]


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _parameter(name: str) -> str:
    """A letter as mathematics, a longer name as it is typed."""
    return f"${name}$" if len(name) == 1 else rf"\texttt{{{escape(name)}}}"


def _value(columns: Layout, name: str, value: object) -> str:
    words = columns.value(name, value)
    if not isinstance(value, int | float) or isinstance(value, bool) or words == AUTOMATIC:
        return escape(words)
    mantissa, e, exponent = words.partition("e")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if e else f"${words}$"


def _notes(comparison: Comparison, rows: Sequence[Row], columns: Layout) -> list[str]:
    """The legend, what a dash says, what the run refutes, one paragraph a quantity, and what was ruled out."""
    said = [_sentence(f"{names}: {meaning}" for names, meaning in legend(comparison, rows, columns))]
    said += [no_verdict_words(rows), *notes(rows)]
    said += [f"{violation.heading}: {violation.sentence}" for violation in violations(comparison)]
    said += [f"{reason.verdict}: {reason.sentence}" for reason in reasons(comparison)]
    return [rf"  \par\smallskip {escape(sentence)}" for sentence in said if sentence]
