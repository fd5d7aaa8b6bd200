"""`boundsmith latex`: statements as LaTeX, raw, so that they can be piped into a .tex or a .bib file."""

from collections.abc import Sequence
from pathlib import Path

import typer

from bridge.cli.sources import find_source
from bridge.export.files import check_writable, write_text
from bridge.export.statements import Excerpt, cited, statements_latex
from symbolic.statements import UsageError


def write_latex(
    ids: Sequence[str],
    output: Path | None,
    excerpt: Excerpt,
    *,
    bibtex: bool = False,
    standalone: bool = False,
) -> None:
    if output is not None:
        check_writable(output)
    results = [find_source(each).result for each in ids]
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
