"""LaTeX of results, derivations and hypotheses; every formula is generated from its SymPy expression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Derivation, Step
from symbolic.derivations.events import randomness, total_failure
from symbolic.derivations.provenance import Provenance
from symbolic.latex.displays import display, environment, equation, equations, gathered, wrapped
from symbolic.latex.introductions import introduction, page_of
from symbolic.latex.owed import owed
from symbolic.latex.page import PAGE, Page
from symbolic.latex.proofs import Slack, names_of, proofs, step_latex
from symbolic.latex.shown_bounds import derived_equation, derived_equations
from symbolic.latex.typesetting import Notation, latex
from symbolic.statements.errata import Erratum
from symbolic.statements.result import INEQUALITY, Formula, Kind, Order, Printed, Quantity, Result
from symbolic.words.names import text
from symbolic.words.prose import begun, marked, prose_latex
from symbolic.words.shown import SHOWN, displayed

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\le", Kind.LOWER: r"\ge", Kind.RATE: r"\sim"}
STRICT = {Kind.UPPER: "<", Kind.LOWER: ">"}
ORDERS = {Order.O: r"\mathcal{O}", Order.THETA: r"\Theta", Order.OMEGA: r"\Omega"}


FIRST, LAST = 16, 6  # lines of a longer display that a notebook shows


def derivation_latex(derivation: Derivation, notation: Notation | None = None) -> str:
    """The steps as one aligned display: local bound and rule; then the conclusion with all premises substituted."""
    return environment("aligned", _derivation_rows(derivation, notation))


def _derivation_rows(derivation: Derivation, notation: Notation | None = None) -> list[str]:
    names = names_of(derivation.steps, notation)
    rows = [line for step in derivation.steps if step.rule != "given" or step.local != 0 for line in _rows(step, names)]
    rows.append(rf"{step_latex(derivation.steps[-1])} &\le {latex(derivation.bound(), names)} && \text{{(all steps)}}")
    events = derivation.events()
    if events:
        least = rf"\text{{with probability at least }} {latex(1 - total_failure(events), names)}"
        rows.append(rf"&{least} && {text(f'over {marked(randomness(events))}')}")
    rows += [rf"&\text{{in expectation}} && {text(f'over {marked(each)}')}" for each in derivation.mean_over()]
    stated = (each for step in derivation.steps for each in owed(step))
    return rows + [rf"&\text{{obligation: }} {latex(o.condition, names)} && {text(o.statement)}" for o in stated]


def _rows(step: Step, names: Notation) -> list[str]:
    """The steps of one layer of a repetition, then the step."""
    layer = steps_of_one_layer(step)
    inner, rows = names_of(layer, names), list[str]()
    for each in layer:
        *before, last = _rows(each, inner)
        rows += [*before, f"{last}, {text('one layer')}"]
    return [*rows, rf"{step_latex(step)} &\le {latex(step.local, names)} && {text(step.rule)}"]


def printed_latex(quantity: Quantity, printed: Printed, page: Page) -> str:
    """The quantity and its printed formula, inside O or Theta if it is printed so."""
    return gathered(printed_equations(quantity, printed, page))


def printed_equations(quantity: Quantity, printed: Printed, page: Page) -> list[str]:
    """The same, with the definitions of named parts behind it, each by itself."""
    if quantity.norm == INEQUALITY:
        return [quantity.latex_symbol]
    if printed.order:
        return [rf"{quantity.latex_symbol} = {ORDERS[printed.order]}\left({page.latex(printed.shown)}\right)"]
    relation = RELATIONS[printed.relation or quantity.stated_kind]
    relation = STRICT.get(quantity.kind, relation) if printed.strict else relation
    return equations((quantity.latex_symbol, relation, printed.shown), page)


def notebook_display(shown: Result | Derivation) -> str:
    """For a notebook: the steps of a derivation, or the formulas of a result; the middle of a long one is left out."""
    rows = _derivation_rows(shown) if isinstance(shown, Derivation) else _result_rows(shown)
    if len(rows) > FIRST + LAST + 1:
        left_out = rf"&\vdots && \text{{{len(rows) - FIRST - LAST} lines}}"
        rows = [*rows[:FIRST], left_out, *rows[-LAST:]]
    return displayed(environment("aligned", rows))


def _result_rows(result: Result) -> list[str]:
    """Every formula of the result: printed and derived ones, then those of the calculus."""

    def alone() -> Page:
        return Page(result.notation)

    shown = []
    for q in result.quantities:
        relation = RELATIONS[q.stated_kind]
        shown += [(printed_latex(q, q.printed, alone()), "printed")] if q.printed else []
        derived = [] if q.derived() is None else [derived_equation(q, relation, alone())]
        closed = [] if q.closed_form is None else [equation((q.latex_symbol, relation, q.closed_form), alone())]
        closed = [q.latex_symbol for _ in closed] if q.norm == INEQUALITY else closed
        shown += [(each, derived_words(q)) for each in (*derived, *closed)]
    shown += [(equation((f.left, RELATIONS[f.kind], f.expression), alone()), "derived") for f in result.formulas]
    return [rf"&{formula} && {text(tier)}" for formula, tier in shown]


def formula_latex(formula: Formula, page: Page, *, end: str = "") -> str:
    """One formula of the calculus: what it is, its citation if it has one, the display, which ends with `end`."""
    source = f", {formula.citation.latex()}" if formula.citation else ""
    shown = equations((formula.left, RELATIONS[formula.kind], formula.expression), page)
    return f"{prose_latex(formula.meaning)}{source}:\n{display(shown, end)}"


def derived_words(quantity: Quantity) -> str:
    """The tier, with how the bound was obtained and the steps that are by hand."""
    return quantity.origin if quantity.provenance is Provenance.RULES else f"derived ({quantity.origin})"


def quantity_latex(quantity: Quantity, page: Page, expanded: bool = False) -> str:
    """The quantity in a paragraph: meaning, norm, domain; the printed bound with its citation; the derived one.

    The derived one is by the steps that it is made of where its closed form is long; `expanded`: always closed.
    """
    left, ours = quantity.latex_symbol, RELATIONS[quantity.stated_kind]
    lines, printed = [_heading_latex(quantity, page.names)], quantity.printed
    if printed:
        under = f"under {prose_latex(printed.under, page.names)}" if printed.under else ""
        lines.append(", ".join(filter(None, ("Printed", printed.citation.latex(), under))) + ":")
        lines.append(rf"\[ {printed_latex(quantity, printed, page)} \]")
    derived, closed = quantity.derived(), quantity.closed_form
    obtained = begun(prose_latex(derived_words(quantity)))
    if derived is not None:
        at = quantity.bound_at
        short = [letter for letter, value in at.items() if page.width(value) <= PAGE / 2]
        worst = [f"${page.latex(letter)} = {page.latex(at[letter])}$" for letter in short]
        worst += [f"${page.latex(letter)}$ as below" for letter in at if letter not in short]
        lines += [f"{obtained}{', at the worst case ' if worst else ''}{', '.join(worst)}:"]
        whole = equations((left, ours, derived), page) if expanded else derived_equations(quantity, ours, page)
        lines += [display(whole)]
        long = [(page.latex(letter), "=", value) for letter, value in at.items() if letter not in short]
        lines += [display(equations(line, page)) for line in long]
    if closed is not None:
        shown = [left] if quantity.norm == INEQUALITY else equations((left, ours, closed), page)
        lines += [f"{obtained}:", display(shown)]
    if quantity.origin and derived is None and closed is None:
        lines.append(f"{obtained}: a number, see the comparison.")
    if quantity.erratum:
        lines.append(rf"\emph{{{erratum_latex(quantity.erratum)}}}")
    if quantity.remark:
        lines.append(rf"\emph{{{prose_latex(quantity.remark)}.}}")
    return "\n".join(lines)


def _heading_latex(quantity: Quantity, names: Mapping[str, str]) -> str:
    """The meaning; kind, quantifier, norm and domain in a sentence, in text mode."""
    said = prose_latex((replace(quantity, domain="") if quantity.domain_latex else quantity).about, names)
    about = "; ".join(filter(None, [said, quantity.domain_latex]))
    return rf"\paragraph{{{begun(prose_latex(quantity.meaning, names))}.}} {begun(about)}."


def erratum_latex(erratum: Erratum) -> str:
    """Weight, place, sentence, reading, repair, and whether the main claim survives, as running text."""
    parts = [
        f"Erratum ({prose_latex(str(erratum.weight))}), {erratum.citation.latex()}",
        f"In the paper: {prose_latex(erratum.sentence)}",
        f"Reading: {prose_latex(erratum.reading)}",
        f"Repair: {prose_latex(erratum.repair)}",
        prose_latex(erratum.outcome),
    ]
    return " ".join(f"{part}." for part in parts)


def result_latex(result: Result, expanded: bool = False, slack: Slack | None = None) -> str:
    """A LaTeX fragment (for amsmath): claim, hypotheses, quantities printed and derived, derivations, remarks.

    `slack`: by which factor each step, by name, is above the error at some input.
    """
    lines = [
        rf"% {result.id}: {result.citation}".removesuffix(": "),
        rf"\subsection*{{{prose_latex(result.title)}}}",
    ]
    source = [prose_latex(result.id) if result.id != result.title else "", result.citation.latex()]
    lines += [f"{', '.join(filter(None, source))}."] if any(source) else []
    lines += [rf"\[ {wrapped(result.claim)} \]"] if result.claim else []
    page = page_of(result)
    lines += bounds_latex(result, page, expanded)
    lines += proofs(result, page, slack)
    lines += [r"\paragraph{Remarks}", *(prose_latex(remark) for remark in result.remarks)] if result.remarks else []
    return "\n".join(lines)


def bounds_latex(result: Result, page: Page, expanded: bool = False) -> list[str]:
    """The letters and hypotheses, then each quantity with its printed and its derived bound."""
    stated_ones = [q for q in result.quantities if q.printed or q.derivation or q.derive is not None]
    lines = introduction(result, stated_ones, _formulas(result, stated_ones)).lines()
    lines += [quantity_latex(q, page, expanded) for q in stated_ones]
    if result.formulas:
        lines += [r"\paragraph{Derived by the calculus}", *(formula_latex(each, page) for each in result.formulas)]
    return lines


def _formulas(result: Result, quantities: Sequence[Quantity]) -> list[sp.Basic]:
    """Every formula that is shown, also those of the derivations."""
    bounds = [form for q in quantities for form in (q.derived(), q.closed_form, q.printed and q.printed.shown)]
    values = [form for q in quantities for pair in q.bound_at.items() for form in pair]
    every = [step for q in quantities if q.derivation for step in q.derivation.steps]
    steps = {id(step.local): step for step in every}.values()  # the derivations share most of them
    conditions = [each.condition for step in steps for each in owed(step)]
    others = [formula.expression for formula in result.formulas]
    found = [*bounds, *values, *(step.local for step in steps), *conditions, *others]
    return [form for form in found if isinstance(form, sp.Basic)]


SHOWN.derivation, SHOWN.result, SHOWN.display = derivation_latex, result_latex, notebook_display
