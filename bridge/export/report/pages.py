"""The pages of a report: one for each result, and the overview of all."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bridge.export.choice import GRAVEST_FIRST
from bridge.export.legend import VERDICTS
from bridge.export.report.formulas import mathml
from bridge.export.report.latex_html import latex_html, latex_inline
from bridge.export.report.pictures import plots
from bridge.export.report.tables import result_table
from bridge.theorems.latex import cited
from bridge.theorems.record import Record
from symbolic.latex.displays import wrapped
from symbolic.latex.introductions import page_of
from symbolic.latex.paper_text import theorem_latex
from symbolic.latex.printing import bounds_latex
from symbolic.latex.proof_text import proof_latex
from symbolic.statements.result import Result
from symbolic.words.citations import Paper
from symbolic.words.mathml import prose_html

TEMPLATES = Path(__file__).parent / "templates"
PRINTED, OURS = "printed", "ours"


@dataclass(frozen=True)
class ShownErratum:
    """An erratum with what is said of it, each fact under its name, and the command that runs its witness again."""

    weight: str
    sentence: str
    facts: Sequence[tuple[str, str]]
    command: str


@dataclass(frozen=True)
class ResultPage:
    """A result with its comparison; `command` is what gives the table once more."""

    result: Result
    comparison: Record
    errata: Sequence[ShownErratum]
    command: str
    file: str

    def html(self) -> tuple[str, list[str]]:
        """The page, and what of it could not be made."""
        shown = plots(self.comparison)
        papers = {paper.key: paper for paper in cited([self.result])}
        page = _template("result.html").render(
            title=self.result.title,
            page=self,
            result=self.result,
            claim=Markup(mathml(wrapped(self.result.claim), display=True)) if self.result.claim else "",
            statement=_latex(theorem_latex(self.result), papers),
            bounds=_latex("\n".join(bounds_latex(self.result, page_of(self.result))), papers),
            proof=_latex(proof_latex(self.result), papers),
            table=result_table(self.comparison),
            plots=shown,
            papers={key: Markup(_entry(paper)) for key, paper in papers.items()},
            counts=counts(self.comparison),
        )
        return page, [plot.problem for plot in shown if plot.problem]


def counts(comparison: Record) -> dict[str, dict[str, int]]:
    """How many bounds of the paper, and of ours, have each verdict, the gravest first."""
    found = {PRINTED: Counter[str](), OURS: Counter[str]()}
    for row in comparison:
        for tier, verdict in row.verdict.items():
            found[PRINTED if tier == "printed" else OURS][verdict] += 1
    order = list(map(str, GRAVEST_FIRST))
    return {whose: {each: tally[each] for each in order if tally[each]} for whose, tally in found.items()}


def _latex(latex: str, papers: Mapping[str, Paper]) -> Markup:
    return Markup(latex_html(latex, papers))


def _entry(paper: Paper) -> str:
    return latex_inline(paper.bibitem().split("} ", 1)[1])


@dataclass(frozen=True)
class Summary:
    """What the overview says of a result. `problem`: why its page, or a part of it, could not be made."""

    id: str
    claim: str
    citation: str
    file: str
    counts: Mapping[str, Mapping[str, int]]
    errata: Mapping[str, int]
    problem: str = ""

    @property
    def verdicts(self) -> list[str]:
        """Of all bounds, the gravest first."""
        found = {verdict for of in self.counts.values() for verdict in of}
        return [str(each) for each in GRAVEST_FIRST if each in found]


def overview_html(summaries: Sequence[Summary], version: str) -> str:
    """The page with a line for each result."""
    found = {verdict for summary in summaries for verdict in summary.verdicts}
    totals = {whose: Counter[str]() for whose in (PRINTED, OURS)}
    for summary in summaries:
        for whose, of in summary.counts.items():
            totals[whose].update(of)
    return _template("overview.html").render(
        title="Report",
        summaries=summaries,
        totals={whose: {v: totals[whose][v] for v in map(str, GRAVEST_FIRST) if totals[whose][v]} for whose in totals},
        errata=sum(number for summary in summaries for number in summary.errata.values()),
        words={name: meaning for name, meaning in VERDICTS.items() if name in found},
        version=version,
    )


def failed_html(summary: Summary) -> str:
    """The page of a result that has none: why."""
    return _template("failed.html").render(title=summary.id, summary=summary)


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["prose"] = lambda words: Markup(prose_html(words))
    found.filters["html"] = Markup
    found.filters["slug"] = lambda words: str(words).replace(" ", "-")
    found.globals.update({kind: Markup((TEMPLATES / f"report.{kind}").read_text()) for kind in ("css", "js")})
    return found


def _template(name: str) -> Any:
    return _templates().get_template(name)
