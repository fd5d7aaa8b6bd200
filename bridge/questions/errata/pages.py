"""The errata as pages: Markdown, LaTeX and HTML, by paper and weight."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby

from bridge.questions.errata.entries import Entry, quantity_of
from bridge.theorems.numbers import digits_apart, is_number, plain, stated
from symbolic.statements.errata import Weight, outcome_words
from symbolic.statements.result import Kind
from symbolic.words.mathml import prose_html
from symbolic.words.prose import marked, prose, prose_latex

TITLE = "Errata"
INTRODUCTION = (
    "Printed sentences that a run or a proof of boundsmith refutes, each under all its hypotheses and in its most "
    "favourable reading. The weight says what fails; only the first weight is about a statement that the paper makes. "
    "What follows 'In the paper:' says in our words what stands there."
)


def witness_words(entry: Entry) -> str:
    """The numbers of the witness: what was found and what is printed."""
    witness = entry.witness
    if witness is None:
        return "none stored"
    printed = witness.bounds.get("printed")
    if printed is None:
        return f"a difference of {plain(witness.error_lower)}; the reading shows that no constant suffices"
    quantity = quantity_of(entry)
    kind = (quantity.printed and quantity.printed.relation) or quantity.kind
    if printed == 0 and kind is Kind.LOWER:
        return f"the difference of the sides is {plain(witness.error_lower)}, but must be >= 0"
    digits = digits_apart(printed, "", "", witness.error_lower)
    error, bound = (plain(number, digits=digits) for number in (witness.error_lower, printed))
    if quantity.finding:
        return prose(marked(quantity.finding).format(found=error, printed=bound), checked=False)
    order = quantity.printed.order if quantity.printed else ""
    bound = f"{order}({bound})" if order else bound
    return prose(f"{is_number(marked(quantity.meaning), error)}; {stated(bound, 'printed', kind)}", checked=False)


def facts(entry: Entry) -> list[tuple[str, str]]:
    """What is said of an erratum after its sentence, each under its name; a sentence has none."""
    words, meaning = marked(witness_words(entry)), marked(quantity_of(entry).meaning)
    witness = f"{words} ({entry.result}, {entry.quantity}{'' if meaning in words else f': {meaning}'})"
    also = [("Also in", ", ".join(entry.also))] if entry.also else []
    return [
        ("Reading", entry.reading),
        ("Repair", entry.repair),
        ("", prose(f"{marked(outcome_words(entry.survives))}.", checked=False)),
        ("Witness", prose(witness, checked=False)),
        *also,
    ]


def _named(name: str, words: str) -> str:
    return f"{name}: {words}" if name else words


def by_paper(entries: Sequence[Entry]) -> Iterator[tuple[str, list[tuple[str, list[Entry]]]]]:
    """Each paper with its weights, each weight with its entries."""
    for paper, of_paper in groupby(entries, key=lambda entry: entry.paper):
        weights = groupby(list(of_paper), key=lambda entry: entry.weight)
        yield paper, [(weight, list(of_weight)) for weight, of_weight in weights]


def markdown_page(entries: Sequence[Entry]) -> str:
    """A list by paper and weight."""
    lines = [f"# {TITLE}", "", INTRODUCTION, "", *summary_table(entries)]
    for paper, weights in by_paper(entries):
        lines += ["", f"## {_markdown(paper)}"]
        for weight, several in weights:
            lines += ["", f"### {weight}"]
            for entry in several:
                lines += ["", f"**{_markdown(entry.sentence)}**", ""]
                lines += [f"- {_named(name, _markdown(words))}" for name, words in facts(entry)]
                lines.append(f"- To check again: `{entry.command}`")
    return "\n".join(lines) + "\n"


def summary_table(entries: Sequence[Entry]) -> list[str]:
    """How many errata each paper has of each weight, as a Markdown table."""
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    counts = {
        paper: [sum(e.paper == paper and e.weight == weight for e in entries) for weight in Weight] for paper in papers
    }
    return [
        f"| paper | {' | '.join(Weight)} |",
        f"|---|{'---|' * len(Weight)}",
        *(f"| {paper} | {' | '.join(map(str, row))} |" for paper, row in counts.items()),
    ]


def _markdown(words: str) -> str:
    """Words in which no sign is a command of Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_<|" else sign for sign in words)


def latex_page(entries: Sequence[Entry]) -> str:
    """A document with a section for each paper."""
    lines = [
        r"\documentclass{article}",
        r"\usepackage[margin=25mm]{geometry}",
        r"\usepackage{amsmath,amssymb}",
        r"\emergencystretch=6em",
        r"\begin{document}",
        rf"\section*{{{TITLE}}}",
        prose_latex(INTRODUCTION),
    ]
    for paper, weights in by_paper(entries):
        lines.append(rf"\section*{{{prose_latex(paper)}}}")
        for weight, several in weights:
            lines.append(rf"\subsection*{{{prose_latex(weight)}}}")
            for entry in several:
                lines += [rf"\paragraph{{{prose_latex(entry.sentence)}}}", r"\begin{itemize}"]
                lines += [rf"  \item {_named(name, prose_latex(words))}" for name, words in facts(entry)]
                lines += [rf"  \item To check again: \texttt{{{prose_latex(entry.command)}}}", r"\end{itemize}"]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def html_page(entries: Sequence[Entry]) -> str:
    """A page without scripts or outside resources."""
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title></head><body>',
        f"<h1>{TITLE}</h1>",
        f"<p>{prose_html(INTRODUCTION)}</p>",
    ]
    for paper, weights in by_paper(entries):
        lines.append(f"<h2>{prose_html(paper)}</h2>")
        for weight, several in weights:
            lines.append(f"<h3>{escape(weight)}</h3>")
            for entry in several:
                items = [f"<li>{_named(name, prose_html(words))}</li>" for name, words in facts(entry)]
                again = f"<li>To check again: <code>{escape(entry.command)}</code></li>"
                lines += [f"<p><b>{prose_html(entry.sentence)}</b></p>", f"<ul>{''.join(items)}{again}</ul>"]
    return "\n".join([*lines, "</body></html>"]) + "\n"


PAGES: dict[str, Callable[[Sequence[Entry]], str]] = {".md": markdown_page, ".tex": latex_page, ".html": html_page}
