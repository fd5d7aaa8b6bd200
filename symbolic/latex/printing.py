"""LaTeX of results, derivations and hypotheses; every formula is generated from its SymPy expression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Derivation, Step
from symbolic.derivations.events import randomness, total_failure
from symbolic.derivations.provenance import Provenance
from symbolic.latex.displays import PAGE, display, equation, equations, gathered, wrapped
from symbolic.latex.introductions import introduction, latex_names, letters_of_objects
from symbolic.latex.owed import owed
from symbolic.latex.proofs import Slack, names_of, proofs, step_latex
from symbolic.latex.shared_parts import Shared
from symbolic.latex.shown_bounds import derived_equation, derived_equations
from symbolic.latex.typesetting import Notation, latex
from symbolic.latex.widths import width
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Formula, Kind, Order, Printed, Quantity, Result
from symbolic.words.names import text
from symbolic.words.prose import marked, prose_latex
from symbolic.words.shown import SHOWN, displayed

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\le", Kind.LOWER: r"\ge", Kind.RATE: r"\sim"}

ORDERS = {Order.O: r"\mathcal{O}", Order.THETA: r"\Theta", Order.OMEGA: r"\Omega"}


def derivation_latex(derivation: Derivation, notation: Notation | None = None) -> str:
    """The steps as one aligned display: local bound and rule; then the conclusion with all premises substituted."""
    names = names_of(derivation.steps, notation)
    shown = [step for step in derivation.steps if step.rule != "given" or step.local != 0]
    lines = [line for step in shown for line in (*_layer_lines(step, names), _step_line(step, names))]
    last = derivation.steps[-1]
    lines.append(rf"{step_latex(last)} &\le {latex(derivation.bound(), names)} && \text{{(all steps)}}")
    lines += _chance_lines(derivation, names)
    return "\\begin{aligned}\n" + " \\\\\n".join(lines + _obligation_lines(derivation, names)) + "\n\\end{aligned}"


def _chance_lines(derivation: Derivation, names: Notation) -> list[str]:
    """For which share of the draws the conclusion holds, or over what it is a mean."""
    events, means = derivation.events(), derivation.mean_over()
    over = [text(f"over {marked(randomness(events))}")] if events else []
    said = [
        rf"&\text{{with probability at least }} {latex(1 - total_failure(events), names)} && {each}" for each in over
    ]
    return said + [rf"&\text{{in expectation}} && {text(f'over {marked(each)}')}" for each in means]


def _layer_lines(step: Step, names: Notation) -> list[str]:
    """The steps of one layer of a repetition."""
    layer = steps_of_one_layer(step)
    inner, mark = names_of(layer, names), text("one layer")
    return [line for each in layer for line in (*_layer_lines(each, inner), f"{_step_line(each, inner)}, {mark}")]


def _step_line(step: Step, names: Notation) -> str:
    return rf"{step_latex(step)} &\le {latex(step.local, names)} && {text(step.rule)}"


def _obligation_lines(derivation: Derivation, names: Notation) -> list[str]:
    stated = (o for step in derivation.steps for o in owed(step))
    return [rf"&\text{{obligation: }} {latex(o.condition, names)} && {text(o.statement)}" for o in stated]


def printed_latex(
    quantity: Quantity, printed: Printed, notation: Notation | None = None, shared: Shared | None = None
) -> str:
    """The quantity and its printed formula, inside O or Theta if it is printed so."""
    if printed.order:
        bound = latex(printed.shown, notation)
        return rf"{quantity.latex_symbol} = {ORDERS[printed.order]}\left({bound}\right)"
    kind = printed.relation or quantity.stated_kind
    relation = "<" if printed.strict and quantity.kind is Kind.UPPER else RELATIONS[kind]
    relation = ">" if printed.strict and quantity.kind is Kind.LOWER else relation
    return gathered(equations(quantity.latex_symbol, relation, printed.shown, notation, shared=shared))


def result_display(result: Result) -> str:
    """Every formula of the result, for a notebook: printed and derived ones, then those of the calculus."""
    names = result.notation
    shown = []
    for q in result.quantities:
        shown += [(printed_latex(q, q.printed, names), "printed")] if q.printed else []
        shown += [(each, derived_words(q)) for each in _derived_equations(q, names)]
    shown += [(equation(f.left, RELATIONS[f.kind], f.expression, names), "derived") for f in result.formulas]
    rows = [rf"&{formula} && {text(tier)}" for formula, tier in shown]
    return displayed("\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}")


def _derived_equations(quantity: Quantity, names: Notation) -> list[str]:
    relation, closed = RELATIONS[quantity.stated_kind], quantity.closed_form
    derived = [] if quantity.derived() is None else [derived_equation(quantity, relation, names)]
    return derived + ([] if closed is None else [equation(quantity.latex_symbol, relation, closed, names)])


def formula_latex(
    formula: Formula, notation: Notation | None = None, shared: Shared | None = None, *, end: str = ""
) -> str:
    """One formula of the calculus: what it is, its citation if it has one, the display, which ends with `end`."""
    source = f", {formula.citation.latex()}" if formula.citation else ""
    shown = equations(formula.left, RELATIONS[formula.kind], formula.expression, notation, shared=shared)
    return f"{prose_latex(formula.meaning)}{source}:\n{display(shown, end)}"


def derived_words(quantity: Quantity) -> str:
    """The tier, with how the bound was obtained and the steps that are by hand."""
    return quantity.origin if quantity.provenance is Provenance.RULES else f"derived ({quantity.origin})"


def quantity_latex(
    quantity: Quantity,
    notation: Notation | None = None,
    expanded: bool = False,
    names: Mapping[str, str] | None = None,
    shared: Shared | None = None,
) -> str:
    """The quantity in a paragraph: meaning, norm, domain; the printed bound with its citation; the derived one.

    The derived one is by the steps that it is made of where its closed form is long; `expanded`: always closed.
    `shared` holds the names that the displays before have defined.
    """
    shared = shared or Shared()
    ours = RELATIONS[quantity.stated_kind]
    lines = [_heading_latex(quantity, names or {})]
    if quantity.printed:
        under = f"under {prose_latex(quantity.printed.under, names or {})}" if quantity.printed.under else ""
        lines.append(", ".join(filter(None, ("Printed", quantity.printed.citation.latex(), under))) + ":")
        lines.append(rf"\[ {printed_latex(quantity, quantity.printed, notation, shared)} \]")
    words = prose_latex(derived_words(quantity))
    derived, obtained = quantity.derived(), f"{words[0].upper()}{words[1:]}:"
    if derived is not None:
        at = quantity.bound_at
        short = {letter: x for letter, x in at.items() if width(latex(x, notation)) <= PAGE / 2}
        worst = [f"${latex(letter, notation)} = {latex(x, notation)}$" for letter, x in short.items()]
        worst += [f"${latex(letter, notation)}$ as below" for letter in at if letter not in short]
        lines += [f"{obtained.removesuffix(':')}{', at the worst case ' if worst else ''}{', '.join(worst)}:"]
        closed = equations(quantity.latex_symbol, ours, derived, notation, shared=shared) if expanded else []
        lines += [display(closed or derived_equations(quantity, ours, notation, shared))]
        long = {letter: x for letter, x in at.items() if letter not in short}
        lines += [display(equations(latex(s, notation), "=", x, notation, shared=shared)) for s, x in long.items()]
    if quantity.closed_form is not None:
        lines += [
            obtained,
            display(equations(quantity.latex_symbol, ours, quantity.closed_form, notation, shared=shared)),
        ]
    if quantity.origin and derived is None and quantity.closed_form is None:
        lines.append(f"{obtained} a number, see the comparison.")
    if quantity.erratum:
        lines.append(rf"\emph{{{erratum_latex(quantity.erratum)}}}")
    if quantity.remark:
        lines.append(rf"\emph{{{prose_latex(quantity.remark)}.}}")
    return "\n".join(lines)


def _heading_latex(quantity: Quantity, names: Mapping[str, str]) -> str:
    """The meaning; kind, quantifier, norm and domain in a sentence, in text mode."""
    meaning = prose_latex(quantity.meaning, names)
    said = prose_latex((replace(quantity, domain="") if quantity.domain_latex else quantity).about, names)
    about = "; ".join(filter(None, [said, quantity.domain_latex]))
    return rf"\paragraph{{{meaning[0].upper()}{meaning[1:]}.}} {about[0].upper()}{about[1:]}."


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
    stated_ones = [q for q in result.quantities if q.printed or q.derivation or q.derive is not None]
    lines = [
        rf"% {result.id}: {result.citation}".removesuffix(": "),
        rf"\subsection*{{{prose_latex(result.title)}}}",
    ]
    source = [prose_latex(result.id) if result.id != result.title else "", result.citation.latex()]
    lines += [f"{', '.join(filter(None, source))}."] if any(source) else []
    lines += [rf"\[ {wrapped(result.claim)} \]"] if result.claim else []
    lines += introduction(result, stated_ones, _formulas(result, stated_ones)).lines()
    shared = Shared(letters_of_objects(result))
    lines += [quantity_latex(q, result.notation, expanded, latex_names(result), shared) for q in stated_ones]
    if result.formulas:
        shown = (formula_latex(each, result.notation, shared) for each in result.formulas)
        lines += [r"\paragraph{Derived by the calculus}", *shown]
    lines += proofs(result, slack, shared)
    lines += [r"\paragraph{Remarks}", *(prose_latex(remark) for remark in result.remarks)] if result.remarks else []
    return "\n".join(lines)


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


SHOWN.derivation, SHOWN.result, SHOWN.display = derivation_latex, result_latex, result_display
