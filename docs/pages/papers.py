"""A page for each paper (what is proved, refuted, open) and one for each result: bounds, verdicts, errata, commands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from bridge.export.choice import GRAVEST_FIRST
from bridge.export.markdown import comparison_markdown
from bridge.export.verdict_words import tier_words
from bridge.questions.errata.entries import Entry, errata
from bridge.questions.errata.pages import facts
from bridge.theorems.record import Flag, Row, Verdict
from bridge.theorems.registry import find_theorem
from docs.pages.markdown import code, details, display, escape, from_latex, prose, table
from symbolic.derivations.provenance import Provenance
from symbolic.statements.catalogue import CLAIMS, RUNNING, Claim
from symbolic.statements.errata import Weight
from symbolic.statements.result import Kind, Quantity, Result
from symbolic.words.citations import Paper
from symbolic.words.errors import UsageError
from tests.yardstick.records import stored

TIERS = ("printed", "derived", "instance")
BRACKET = re.compile(r"\[[^]]*\]")
HOW_TO_READ = (
    "Each page begins with what is proved, what is refuted and what is open. A *printed* bound is the formula of the "
    "paper. A *derived* one follows from the same hypotheses, by the rules of the calculus, by algebra, by a "
    "certificate or by hand; its proof stands in the source, and `boundsmith latex ID --part proof` prints it. An "
    "*instance* bound holds for one network or one prompt. Verdicts are those of `boundsmith compare` at the default "
    "parameters. An erratum is a printed sentence that fails under all its hypotheses and in its most favourable "
    "reading; its weight says what fails. "
)
WORDS = "[How to read a table](../../tables.md#verdicts) defines each verdict and flag."
PROVED = "What the paper prints, and a proof here covers at the default parameters:"
IMPLIED = (
    "*Implied*, what the paper prints and no proof here states so: at the default parameters a derived bound, which "
    "the run does not contradict, is at least as sharp:"
)


def write(folder: Path, claims: Sequence[Claim] = CLAIMS) -> None:
    """One page for each paper of these claims, one for each of its results, and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = errata(*(each.id for each in claims if each.id in RUNNING))
    pages = [PaperPage(paper, list(own), entries) for paper, own in groupby(claims, lambda each: each.citation.paper)]
    for page in pages:
        (folder / f"{page.paper.key}.md").write_text(page.text)
        for section in page.results:
            (folder / f"{section.claim.id}.md").write_text(section.text)
    (folder / "index.md").write_text(_index(pages))


def _index(pages: Sequence["PaperPage"]) -> str:
    heads = ["paper", "results", "printed bounds", "errata", *(f"{weight}" for weight in Weight)]
    rows = [
        [
            f"[{escape(page.paper.short)}]({page.paper.key}.md): *{escape(page.paper.title)}*",
            f"{len(page.results)}",
            page.counted("printed"),
            f"{len(page.entries)}",
            *(f"{sum(each.weight == weight for each in page.entries)}" for weight in Weight),
        ]
        for page in pages
    ]
    toctree = code("{toctree}", "\n".join([":hidden:", "", *(page.paper.key for page in pages)]))
    return "\n\n".join(["# Papers", HOW_TO_READ + WORDS, table(heads, rows), toctree]) + "\n"


@dataclass(frozen=True)
class Judged:
    """The rows of one quantity at the defaults, and its statements."""

    name: str
    rows: tuple[Row, ...]
    quantities: tuple[Quantity, ...]

    @property
    def words(self) -> str:
        """The meaning, with the mathematics of the statement where both say the same."""
        meaning = next((row.meaning for row in self.rows if row.meaning), "")
        stated = next((each.meaning for each in self.quantities if each.meaning == meaning), meaning)
        return prose(stated) if stated else f"`{self.name}`"

    @property
    def is_proved(self) -> bool:
        """Whether what is printed has a proof in each row."""
        return {row.verdict["printed"] for row in self.rows if "printed" in row.verdict} == {Verdict.PROVED}

    @property
    def is_refuted(self) -> bool:
        return self.has("printed", Verdict.VIOLATED) or any(each.erratum for each in self.quantities)

    @property
    def is_implied(self) -> bool:
        """Whether in each row a derived bound that was not contradicted is as sharp as the printed one."""
        rows = [row for row in self.rows if row.printed is not None and "printed" in row.verdict and not row.order]
        return bool(rows) and self.provenance is not None and all(map(_implies, rows))

    def verdicts(self, tier: str) -> list[str]:
        """The gravest first."""
        judged = [row for row in self.rows if tier in row.verdict]
        judged.sort(key=lambda row: GRAVEST_FIRST.index(row.verdict[tier]))
        return list(dict.fromkeys(tier_words(row, tier) for row in judged))

    def has(self, tier: str, *verdicts: Verdict) -> bool:
        return any(row.verdict.get(tier) in verdicts for row in self.rows)

    @property
    def provenance(self) -> Provenance | None:
        """The weakest, of a derived bound that the run did not contradict."""
        known = [each.provenance for each in self.quantities if each.provenance is not None]
        judged = [row for row in self.rows if "derived" in row.verdict]
        return max(known, key=list(Provenance).index) if known and judged else None

    @property
    def conditions(self) -> list[str]:
        """The premises on which a bound depends that are not decided here."""
        rows = [row for row in self.rows if any(Flag.CONDITIONAL in flags for flags in row.flags.values())]
        return list(dict.fromkeys(premise for row in rows for premise in row.premises or []))


def _implies(row: Row) -> bool:
    """Whether the derived bound of a row gives the printed one."""
    if row.derived is None or row.printed is None or row.verdict.get("derived") not in (Verdict.KEPT, Verdict.PROVED):
        return False
    if row.kind == Kind.UPPER:
        return row.derived <= row.printed
    return row.kind == Kind.LOWER and row.derived >= row.printed


class ResultSection:
    """One result: its statement, and what `compare` says of it at its defaults."""

    def __init__(self, claim: Claim, entries: Iterable[Entry]) -> None:
        self.claim, self.theorem, self.record = claim, find_theorem(claim.id), stored(claim.id)
        self.result: Result = self.theorem.statement
        self.entries = [each for each in entries if claim.id == each.result]
        self.repeated = [each for each in entries if claim.id in each.also]

    @cached_property
    def judged(self) -> list[Judged]:
        names = list(dict.fromkeys(row.quantity for row in self.record.rows))
        by_name: dict[str, list[Quantity]] = {}
        for each in self.result.quantities:
            by_name.setdefault(BRACKET.sub("", each.name), []).append(each)
        return [
            Judged(
                name,
                tuple(row for row in self.record.rows if row.quantity == name),
                tuple(by_name.get(BRACKET.sub("", name), ())),
            )
            for name in names
        ]

    @property
    def place(self) -> str:
        label, equations = self.result.citation.label, self.result.citation.equations
        return prose(", ".join(filter(None, [label, equations])))

    @property
    def link(self) -> str:
        return _link(self.claim.id)

    @property
    def text(self) -> str:
        paper = self.result.citation.paper
        source = f"[{escape(paper.short)}]({paper.key}.md), {self.place}" if paper else self.place
        parts = [f"# `{self.claim.id}`: {prose(self.result.title)}", f"{source}: {escape(self.claim.summary)}."]
        if self.result.claim:
            parts.append(f"In short:{display(self.result.claim)}".strip())
        parts.append("\n".join(f"- {prose(each)}" for each in self.result.assumptions))
        printed = self._stated("printed")
        derived = beside(self._stated("derived"), printed)
        parts += ["## What the paper states", printed] if printed else []
        parts += ["## What is derived", derived] if derived else []
        parts += ["## Verdicts at the defaults", WORDS, self._verdicts()]
        parts += [details("The table, its legend and remarks", comparison_markdown(self.record))]
        parts += ["## Errata", *self._errata()] if self.entries or self.repeated else []
        parts += (
            ["## Remarks", "\n".join(f"- {prose(each)}" for each in self.result.remarks)] if self.result.remarks else []
        )
        parts += ["## Commands", code("sh", "\n".join(self._commands()))]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _stated(self, tier: str) -> str:
        """The statement with the bounds of one tier; empty where it has none."""
        try:
            latex = self.theorem.latex(part="theorem", tier=tier)
        except UsageError:
            return ""
        names = {claim.citation.paper.key: claim.citation.paper.short for claim in CLAIMS if claim.citation.paper}
        return from_latex(latex, names)

    def _verdicts(self) -> str:
        rows = [
            [
                f"`{each.name}`",
                each.words,
                *(", ".join(each.verdicts(tier)) or "-" for tier in TIERS),
                f"{each.provenance or '-'}",
            ]
            for each in self.judged
        ]
        return table(["quantity", "meaning", *TIERS, "derived how"], rows)

    def _errata(self) -> Iterator[str]:
        for entry in self.entries:
            items = [f"- {f'{name}: ' if name else ''}{prose(words)}" for name, words in facts(entry)]
            yield f"**{escape(entry.weight.capitalize())}.** {prose(entry.sentence)}"
            yield "\n".join([*items, f"- To check again: `{entry.command}`"])
        if self.repeated:
            links = dict.fromkeys(_link(each.result) for each in self.repeated)
            yield f"Errata of {', '.join(links)} are about this result too."

    def _commands(self) -> list[str]:
        commands = [f"boundsmith {word} {self.claim.id}" for word in ("compare", "show", "latex")]
        return [*commands, *([f"boundsmith errata {self.claim.id} --replay"] if self.entries else [])]


def beside(statement: str, other: str) -> str:
    """The statement without the letters that the other one, which stands above it, introduces; "" without a bound."""
    known = {each.rstrip(".") for each in other.splitlines() if each.startswith(("- ", "Let "))}
    lines = [each for each in statement.splitlines() if each.rstrip(".") not in known]
    parts = [each.strip() for each in re.split(r"\n{2,}", "\n".join(lines))]
    following = [*parts[1:], ""]
    kept = [part for part, after in zip(parts, following, strict=True) if part != "Notation:" or after[:2] == "- "]
    return "\n\n".join(filter(None, kept)) if "$$" in statement else ""


class PaperPage:
    """One paper: the summary, then its results."""

    def __init__(self, paper: Paper | None, claims: Sequence[Claim], entries: Sequence[Entry]) -> None:
        assert paper is not None
        self.paper = paper
        self.planned = [each for each in claims if each.id not in RUNNING]
        self.entries = [each for each in entries if each.paper == paper.short]
        self.results = [ResultSection(each, entries) for each in claims if each.id in RUNNING]

    def counted(self, tier: str) -> str:
        """How many quantities have which gravest verdict."""
        firsts = [each.verdicts(tier)[0] for section in self.results for each in section.judged if each.verdicts(tier)]
        kinds = dict.fromkeys(first.partition(" (")[0] for first in firsts)
        return ", ".join(f"{sum(first.partition(' (')[0] == kind for first in firsts)} {kind}" for kind in kinds)

    @property
    def text(self) -> str:
        heading = f"# {escape(self.paper.short)}: {escape(self.paper.title)}"
        authors = "; ".join(self.paper.authors)
        published = ". ".join(filter(None, [f"{authors} ({self.paper.year})", self.paper.venue, self.paper.note]))
        rows = [[each.link, each.place, escape(each.claim.summary), f"{len(each.entries)}"] for each in self.results]
        found = {"What is proved": self._proved(), "What is refuted": self._refuted(), "What is open": self._open()}
        parts = [heading, f"{escape(published)}.", WORDS, table(["result", "place", "what is claimed", "errata"], rows)]
        parts += [part for title, lines in found.items() for part in (f"## {title}", *lines)]
        parts.append(code("{toctree}", "\n".join([":hidden:", "", *(each.claim.id for each in self.results)])))
        return "\n\n".join(parts) + "\n"

    def _proved(self) -> Iterator[str]:
        as_printed = [(each, [e for e in each.judged if e.is_proved]) for each in self.results]
        implied = [(each, [e for e in each.judged if e.is_implied and not e.is_proved]) for each in self.results]
        yield PROVED
        yield _by_result(as_printed)
        yield IMPLIED
        yield _by_result(implied)
        yield "Derived bounds, each under the hypotheses of its result, by how they were obtained."
        for word in Provenance:
            known = [(each, [e for e in each.judged if e.provenance == word]) for each in self.results]
            if any(several for _, several in known):
                yield f"{word.capitalize()}:"
                yield _by_result(known)

    def _refuted(self) -> Iterator[str]:
        if not self.entries:
            yield "Nothing."
        for weight, several in groupby(self.entries, lambda each: each.weight):
            yield f"{weight.capitalize()}:"
            yield "\n".join(f"- {prose(e.sentence)} {prose(dict(facts(e))[''])} ({_link(e.result)})" for e in several)

    def _open(self) -> Iterator[str]:
        doubtful = [each for each in self.entries if each.survives.split(":")[0] in ("open", "partly")]
        lines = [f"- {_link(each.result)}: {prose(dict(facts(each))[''])}" for each in doubtful]
        for section in self.results:
            lines += [f"- {section.link}: {line}" for line in _open_of(section)]
        lines += [
            f"- `{each.id}` ({each.citation.label}): {escape(each.summary)}; not built yet" for each in self.planned
        ]
        yield "\n".join(lines) or "Nothing."


def _link(id: str) -> str:
    return f"[`{id}`]({id}.md)"


def _by_result(found: Iterable[tuple[ResultSection, Sequence[Judged]]]) -> str:
    lines = [f"- {section.link} ({section.place}): {_listed(several)}" for section, several in found if several]
    return "\n".join(lines) or "Nothing."


def _open_of(section: ResultSection) -> Iterator[str]:
    """Printed bounds that a run keeps and nothing proves, rows without a decision, premises that are not proved."""
    unproved = [
        each
        for each in section.judged
        if each.has("printed", Verdict.KEPT, Verdict.CONSISTENT) and not each.is_implied and not each.is_refuted
    ]
    undecided = [each for each in section.judged if any(each.has(tier, Verdict.UNDECIDED) for tier in TIERS)]
    if unproved:
        words = "a run keeps what is printed; no proof here states it so, though a derived bound may imply it"
        yield f"{words}: {_listed(unproved)}"
    unspecified = [each for each in section.judged if any(q.printed and q.printed.unspecified for q in each.quantities)]
    if unspecified:
        yield f"printed with unspecified constants, so that no run can judge it: {_listed(unspecified)}"
    if undecided:
        yield f"undecided at the default parameters: {_listed(undecided)}"
    for each in section.judged:
        if each.conditions:
            yield f"{each.words} rests on: {'; '.join(map(prose, each.conditions))}"


def _listed(several: Iterable[Judged]) -> str:
    return "; ".join(dict.fromkeys(each.words for each in several))
