r"""LaTeX of statements: chosen quantities and tiers, letters as macros, one fragment or a document that compiles."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import sympy as sp

from bridge.limits.accepted import require_known
from bridge.limits.files import read_json
from symbolic.latex.paper_text import theorem_latex
from symbolic.latex.proof_text import proof_latex
from symbolic.statements.result import Quantity, Result
from symbolic.words.citations import Citation, Paper
from symbolic.words.errors import UsageError

TIERS = ("printed", "derived")
PARTS = ("theorem", "proof")
MACRO = re.compile(r"\\[a-zA-Z]+")
# Commands that every LaTeX document has, or amsmath gives it; most of them would change all text.
TAKEN = re.compile(
    r"\\([a-dijklortuvHLOPS]|a[ae]|oe|ss|A[AE]|OE|(var)?epsilon|(var)?(alpha|beta|gamma|delta|[tz]?h?eta|iota|kappa|lambda|rho|"
    r"sigma|tau|phi|chi|psi|omega)|mu|nu|xi|pi|begin|end|cite|d?frac|sqrt|sum|prod|max|min|sup|inf|log|exp|left|right|"
    r"text|label|ref|item|par|def|let|it|bf|rm|sc|tt|[bB]ig|bar|hat|vec|dot|in|to|[lg]e|ne|neg|top|bot|cap|cup)"
)
PREAMBLE = (
    r"\documentclass[11pt]{article}",
    r"\usepackage{amsmath,amssymb}",
    r"\emergencystretch=3em",
)


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a statement: quantities by name (all if none is named), one tier or both, letters as macros.

    `part`: the sentence of a theorem, or the proof alone, for an environment of the reader's own; "": everything.
    `expanded`: derived bounds in closed form, however long. `slack`: what steps lose at some input, by their names.
    `macros` maps letters, in ASCII as parameters are typed, to commands that the reader's own document defines. Raises
    UsageError.
    """

    quantities: tuple[str, ...] = ()
    tier: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    expanded: bool = False
    slack: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tier:
            require_known(self.tier, TIERS, "--tier: there is no tier")
        if self.part:
            require_known(self.part, PARTS, "--part: there is no part")
        for letter, macro in self.macros.items():
            if not MACRO.fullmatch(macro):
                raise UsageError(rf"macros: '{letter}' has {macro!r}; give a command of letters, such as \width")
            if TAKEN.fullmatch(macro):
                raise UsageError(f"macros: '{letter}' has {macro}, which LaTeX itself uses; give another name")
        clashing = {macro for macro in self.macros.values() if list(self.macros.values()).count(macro) > 1}
        if clashing:
            named = ", ".join(letter for letter, macro in self.macros.items() if macro in clashing)
            raise UsageError(f"macros: {named} have the same command {', '.join(sorted(clashing))}")

    def of(self, result: Result) -> Result:
        """The statement with what was chosen. Raises UsageError for what it does not have."""
        known = [each.name for each in result.quantities]
        for name in self.quantities:
            require_known(name, known, f"{result.id} has no quantity")
        chosen = [each for each in result.quantities if not self.quantities or each.name in self.quantities]
        kept = [with_tier for each in chosen if (with_tier := self._with_tier(each)) is not None]
        if self.tier and not kept:
            raise UsageError(f"{result.id}: no chosen quantity has a {self.tier} bound")
        written = replace(result, notation={**result.notation, **self.notation(result)})
        if not (self.quantities or self.tier):
            return written
        return replace(written, quantities=tuple(kept), formulas=(), remarks=())

    def latex(self, result: Result) -> str:
        """What was chosen, for amsmath."""
        chosen = self.of(result)
        if self.part == "proof":
            return proof_latex(chosen, self.slack)
        if self.part:
            return theorem_latex(chosen, self.expanded, refuted=self.tier == "printed")
        return chosen.latex(expanded=self.expanded, slack=self.slack)

    def _with_tier(self, quantity: Quantity) -> Quantity | None:
        if not self.tier:
            return quantity
        if self.tier == "printed":
            no_proof = replace(quantity, derivation=None, derive=None, worst_case=None)
            return no_proof if quantity.printed else None
        has_bound = quantity.derivation is not None or quantity.derive is not None
        return replace(quantity, printed=None, erratum=None) if has_bound else None

    def notation(self, result: Result) -> dict[sp.Symbol, str]:
        """The macro of each letter. Raises UsageError for a letter that the statement does not have."""
        letters = {each.name: each for each in (*result.symbols, *result.notation)}
        letters |= {each.name: each.symbol for each in result.parameters if each.symbol is not None}
        for name in self.macros:
            require_known(name, sorted(letters), f"macros: {result.id} has no letter")
        return {letters[name]: macro for name, macro in self.macros.items()}


def read_macros(path: Path) -> dict[str, str]:
    r"""The macros of a JSON file, {"B_v": "\\Bv"}. Raises UsageError."""
    read = read_json(str(path), "macros")
    if not isinstance(read, dict) or not all(isinstance(each, str) for each in read.values()):
        raise UsageError(rf"macros: '{path}' is not an object of texts; write {{\"B_v\": \"\\Bv\"}}")
    return read


def statements_latex(results: Sequence[Result], excerpt: Excerpt, *, standalone: bool = False) -> str:
    """The statements one after the other; `standalone`: a document that compiles, with one bibliography."""
    fragments = [excerpt.latex(each) for each in results]
    if not standalone:
        return "\n\n".join(fragments)
    definitions = [line for each in results for line in _definitions(each, excerpt)]
    papers = cited(results)
    lines = [*PREAMBLE, *dict.fromkeys(definitions), r"\begin{document}", "\n\n".join(fragments)]
    if papers:
        lines += [r"\begin{thebibliography}{9}", *(each.bibitem() for each in papers), r"\end{thebibliography}"]
    return "\n".join([*lines, r"\end{document}"])


def _definitions(result: Result, excerpt: Excerpt) -> list[str]:
    return [
        rf"\newcommand{{{macro}}}{{{result.notation.get(symbol) or sp.latex(symbol)}}}"
        for symbol, macro in excerpt.notation(result).items()
    ]


def cited(results: Iterable[Result]) -> list[Paper]:
    """The papers that the LaTeX of these statements cites, once each."""
    found = (citation for result in results for citation in _citations(result))
    return list(dict.fromkeys(citation.paper for citation in found if citation.paper is not None))


def _citations(result: Result) -> Iterable[Citation]:
    yield result.citation
    for quantity in result.quantities:
        yield from (each.citation for each in (quantity.printed, quantity.erratum) if each is not None)
        steps = () if quantity.derivation is None else quantity.derivation.steps
        yield from (step.source for step in steps if step.source is not None)
    yield from (each.citation for each in result.formulas if each.citation is not None)
