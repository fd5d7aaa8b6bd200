"""`boundsmith latex`: statements as LaTeX, raw, so that they can be piped into a .tex or a .bib file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from bridge.cli.requests import request
from bridge.export.written_files import check_writable, write_text
from bridge.theorems.latex import Excerpt, cited, statements_latex
from symbolic.words.errors import UsageError


def write_latex(
    ids: Sequence[str],
    output: Path | None,
    excerpt: Excerpt,
    *,
    bibtex: bool = False,
    standalone: bool = False,
    slack: bool = False,
) -> None:
    """`slack`: with what each step loses at the worst input that a run at the defaults finds."""
    if output is not None:
        check_writable(output)
    asked = [request(each) for each in ids]
    results = [each.result for each in asked]
    if slack:
        excerpt = replace(excerpt, slack={name: x for each in asked for name, x in _slacks(each.theorem).items()})
    if not bibtex:
        text = statements_latex(results, excerpt, standalone=standalone) + "\n"
    elif papers := cited(results):
        text = "\n\n".join(paper.bibtex() for paper in papers) + "\n"
    else:
        raise UsageError(f"{', '.join(result.id for result in results)} cites no paper with a BibTeX entry.")
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)


def _slacks(theorem: Any) -> dict[str, float]:
    """Those of all rows at the last point of the grid of defaults."""
    # The engine, without which formulas are shown in no time.
    from bridge.cli.terminal import progress, warnings_in_words
    from bridge.questions.compare import compare

    with warnings_in_words(), progress("measuring the slack of each step") as report:
        rows = [row for row in compare(theorem, progress=report) if row.slack]
    last = [row for row in rows if row.params == rows[-1].params]
    return {name: factor for row in last for name, factor in row.slack.items()}
