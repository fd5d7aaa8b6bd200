"""LaTeX of results, derivations and hypotheses; every formula is generated from its SymPy expression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivation import Derivation, Step
from symbolic.displays import PAGE, equation, stated, wrapped
from symbolic.errata import Erratum
from symbolic.events import Event, randomness, total_failure
from symbolic.introductions import introduction, latex_names
from symbolic.names import INDEXED, error_latex, text
from symbolic.naming import with_families
from symbolic.obligations import Obligation
from symbolic.operations import Given
from symbolic.prose import marked, prose_latex
from symbolic.provenance import Provenance
from symbolic.shown_bounds import derived_equation
from symbolic.statements import Formula, Kind, Order, Printed, Quantity, Result
from symbolic.typesetting import Notation, latex
from symbolic.widths import width

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\le", Kind.LOWER: r"\ge", Kind.RATE: r"\sim"}

ORDERS = {Order.O: r"\mathcal{O}", Order.THETA: r"\Theta", Order.OMEGA: r"\Omega"}
Slack = Mapping[str, float]

LISTED = 30.0  # points by which an item of a list is indented

ONE_LAYER = "One layer, from an argument with the error"


def step_latex(step: Step) -> str:
    """What a step bounds: an error, unless the step says otherwise."""
    return step.latex or error_latex(step.name)


def derivation_latex(derivation: Derivation, notation: Notation | None = None) -> str:
    """The steps as one aligned display: local bound and rule; then the conclusion with all premises substituted."""
    names = _names(derivation.steps, notation)
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


def displayed(body: str) -> str:
    """A display that notebooks show as it is."""
    return f"$$\n{body}\n$$"


def _names(steps: Sequence[Step], notation: Notation | None) -> Notation:
    return {**(notation or {}), **{step.error: step_latex(step) for step in steps}}


def _layer_lines(step: Step, names: Notation) -> list[str]:
    """The steps of one layer of a repetition."""
    layer = steps_of_one_layer(step)
    inner, mark = _names(layer, names), text("one layer")
    return [line for each in layer for line in (*_layer_lines(each, inner), f"{_step_line(each, inner)}, {mark}")]


def _step_line(step: Step, names: Notation) -> str:
    return rf"{step_latex(step)} &\le {latex(step.local, names)} && {text(step.rule)}"


def _obligation_lines(derivation: Derivation, names: Notation) -> list[str]:
    stated = (o for step in derivation.steps for o in _stated(step))
    return [rf"&\text{{obligation: }} {latex(o.condition, names)} && {text(o.statement)}" for o in stated]


def _stated(step: Step) -> list[Obligation]:
    """The obligations to show: none that is true, or that follows from a hypothesis, which the statement shows."""
    return [each for each in step.obligations if not each.granted and each.condition != sp.true]


def printed_latex(quantity: Quantity, printed: Printed, notation: Notation | None = None) -> str:
    """The quantity and its printed formula, inside O or Theta if it is printed so."""
    if printed.order:
        bound = latex(printed.shown, notation)
        return rf"{quantity.latex_symbol} = {ORDERS[printed.order]}\left({bound}\right)"
    kind = printed.relation or quantity.stated_kind
    relation = "<" if printed.strict and quantity.kind is Kind.UPPER else RELATIONS[kind]
    relation = ">" if printed.strict and quantity.kind is Kind.LOWER else relation
    return equation(quantity.latex_symbol, relation, printed.shown, notation)


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


def formula_latex(formula: Formula, notation: Notation | None = None) -> str:
    """One formula of the calculus: what it is, its citation if it has one, the display."""
    source = f", {formula.citation.latex()}" if formula.citation else ""
    display = equation(formula.left, RELATIONS[formula.kind], formula.expression, notation)
    return rf"{prose_latex(formula.meaning)}{source}:" + "\n" + rf"\[ {display} \]"


def derived_words(quantity: Quantity) -> str:
    """The tier, with how the bound was obtained and the steps that are by hand."""
    return quantity.origin if quantity.provenance is Provenance.RULES else f"derived ({quantity.origin})"


def quantity_latex(
    quantity: Quantity, notation: Notation | None = None, expanded: bool = False, names: Mapping[str, str] | None = None
) -> str:
    """The quantity in a paragraph: meaning, norm, domain; the printed bound with its citation; the derived one.

    The derived one is by the steps that it is made of where its closed form is long; `expanded`: always closed.
    """
    ours = RELATIONS[quantity.stated_kind]
    lines = [_heading_latex(quantity, names or {})]
    if quantity.printed:
        lines.append(", ".join(filter(None, ("Printed", quantity.printed.citation.latex()))) + ":")
        lines.append(rf"\[ {printed_latex(quantity, quantity.printed, notation)} \]")
    words = prose_latex(derived_words(quantity))
    derived, obtained = quantity.derived(), f"{words[0].upper()}{words[1:]}:"
    if derived is not None:
        at = quantity.bound_at
        short = {letter: x for letter, x in at.items() if width(latex(x, notation)) <= PAGE / 2}
        worst = [f"${latex(letter, notation)} = {latex(x, notation)}$" for letter, x in short.items()]
        worst += [f"${latex(letter, notation)}$ as below" for letter in at if letter not in short]
        lines += [f"{obtained.removesuffix(':')}{', at the worst case ' if worst else ''}{', '.join(worst)}:"]
        closed = equation(quantity.latex_symbol, ours, derived, notation) if expanded else ""
        lines += [rf"\[ {closed or derived_equation(quantity, ours, notation)} \]"]
        lines += [rf"\[ {equation(latex(s, notation), '=', x, notation)} \]" for s, x in at.items() if s not in short]
    if quantity.closed_form is not None:
        display = equation(quantity.latex_symbol, ours, quantity.closed_form, notation)
        lines += [obtained, rf"\[ {display} \]"]
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
    stated_ones = [q for q in result.quantities if q.printed or q.derivation or q.derive]
    lines = [
        rf"% {result.id}: {result.citation}".removesuffix(": "),
        rf"\subsection*{{{prose_latex(result.title)}}}",
    ]
    source = [prose_latex(result.id) if result.id != result.title else "", result.citation.latex()]
    lines += [f"{', '.join(filter(None, source))}."] if any(source) else []
    lines += [rf"\[ {wrapped(result.claim)} \]"] if result.claim else []
    lines += introduction(result, stated_ones, _formulas(result, stated_ones)).lines()
    lines += [quantity_latex(q, result.notation, expanded, latex_names(result)) for q in stated_ones]
    if result.formulas:
        lines += [r"\paragraph{Derived by the calculus}", *(formula_latex(f, result.notation) for f in result.formulas)]
    lines += proofs(result, slack)
    lines += [r"\paragraph{Remarks}", *(prose_latex(remark) for remark in result.remarks)] if result.remarks else []
    return "\n".join(lines)


def _formulas(result: Result, quantities: Sequence[Quantity]) -> list[sp.Basic]:
    """Every formula that is shown, also those of the derivations."""
    bounds = [form for q in quantities for form in (q.derived(), q.closed_form, q.printed and q.printed.shown)]
    values = [form for q in quantities for pair in q.bound_at.items() for form in pair]
    every = [step for q in quantities if q.derivation for step in q.derivation.steps]
    steps = {id(step.local): step for step in every}.values()  # the derivations share most of them
    owed = [each.condition for step in steps for each in _stated(step)]
    others = [formula.expression for formula in result.formulas]
    found = [*bounds, *values, *(step.local for step in steps), *owed, *others]
    return [form for form in found if isinstance(form, sp.Basic)]


def proofs(result: Result, slack: Slack | None = None) -> list[str]:
    """The derivations; each step has one number, under which later ones refer to it, and is printed once."""
    lines: list[str] = []
    numbers: dict[tuple[Any, ...], int] = {}
    for derivation in _distinct_derivations(result):
        names, by_name = _names(derivation.steps, result.notation), dict[str, int]()
        items, new = list[str](), set[str]()
        for step in with_families(derivation.steps):
            same = (step.name, step.local, *(each.condition for each in _stated(step)))
            if same not in numbers:
                new.add(step.name)
                numbers[same] = len(numbers) + 1
            by_name[step.name] = numbers[same]
            items += [_step_item(step, names, by_name, slack)] if step.name in new else []
        of = ", ".join(q.name for q in result.quantities if q.derivation and (q.step or q.name) in new)
        title = rf"\paragraph{{Derivation{f' of {prose_latex(of)}' if of else ''}}}"
        lines += [title, r"\begin{itemize}", *items, r"\end{itemize}"] if items else []
    return lines


def _step_item(
    step: Step, names: Notation, numbers: Mapping[str, int] | None = None, slack: Slack | None = None
) -> str:
    """Number, rule and premises, reason, events, what it is provided that, and the bound; numbers by name."""
    known = numbers or {}
    number = f"[({known[step.name]})]" if step.name in known else ""
    premises = ", ".join(f"({known[name]})" for name in step.premises if name in known)
    said = "" if step.reason == step.rule else step.reason
    typed = "" if step.recursion and step.named else step.recursion.latex(names) if step.recursion else said
    formal = step.recursion or "\\" in typed
    reason = f" {_in_line(typed)}" if typed and formal else f" {prose_latex(typed)}" if typed else ""
    source = f" ({step.source.latex()})" if step.source else ""
    owed = "".join(
        f" {_obligation_words(o)} {stated(o.condition, names, PAGE - LISTED)} ({prose_latex(o.statement)})."
        for o in _stated(step)
    )
    local = step.local if step.named is None else step.named
    exact = step.operation is not None and isinstance(step.operation, Given) and step.local == 0
    formula = equation(step_latex(step), RELATIONS[Kind.UPPER], local, names, PAGE - LISTED)
    chances = "".join(f" {_event_words(event, names)}." for event in step.events)
    rule = f"{prose_latex(step.rule)}{f' from {premises}' if premises else ''}{':' if reason else ''}"
    shown = "" if exact else rf"\[ {formula} \]"
    return (
        rf"\item{number} {rule}{reason}{source}.{chances}{owed}{_slack_words(step, slack or {})}{shown}"
        + _layer_items(step, names)
    )


def _slack_words(step: Step, slack: Slack) -> str:
    """What the step loses, layer by layer where it stands for several."""
    family = INDEXED.fullmatch(step.name)
    pattern = step.name if family is None else rf"{family[1]}[]{family[4]}"
    lost = {name: factor for name, factor in slack.items() if name == step.name or _without_index(name) == pattern}
    factors = ", ".join(f"{factor:.3g}" for factor in lost.values())
    return f" (Bound over error at the worst input found: {factors}.)" if lost else ""


def _without_index(name: str) -> str:
    family = INDEXED.fullmatch(name)
    return name if family is None else f"{family[1]}[]{family[4]}"


def _in_line(formula: str) -> str:
    """A typed formula of an item: in the line, or in a display where it is long."""
    return f"${formula}$" if width(formula) <= PAGE / 2 else rf"\[ {wrapped(formula, PAGE - LISTED)} \]"


def _event_words(event: Event, names: Notation) -> str:
    share, name = latex(event.fails, names), prose_latex(event.name)
    return rf"Event {name}, over {prose_latex(event.where)}: fails with probability at most ${share}$"


def _obligation_words(obligation: Obligation) -> str:
    if obligation.open:
        return "Open obligation:"
    return f"Provided that ({prose_latex(obligation.discharged_by)})" if obligation.at_worst else "Provided that"


def _layer_items(step: Step, names: Notation) -> str:
    """The steps of one layer of a repetition, in a list of their own."""
    layer = steps_of_one_layer(step)
    if not layer:
        return ""
    inner = _names(layer, names)
    items = "\n".join(_step_item(each, inner) for each in layer)
    return f"\n{ONE_LAYER} $e_l$:\n\\begin{{enumerate}}\n{items}\n\\end{{enumerate}}"


def _distinct_derivations(result: Result) -> list[Derivation]:
    """Each derivation once, and none that a longer one contains."""
    shown = [found for q in result.quantities if (found := result.shown_derivation(q))]
    all_of_them = {derivation.steps: derivation for derivation in shown}.values()
    return [d for d in all_of_them if not any(_contains(other, d) for other in all_of_them)]


def _contains(longer: Derivation, shorter: Derivation) -> bool:
    return longer is not shorter and set(shorter.steps) < set(longer.steps)
