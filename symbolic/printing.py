"""LaTeX of results, derivations and hypotheses; every formula is generated from its SymPy expression."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivation import Derivation, Step
from symbolic.errata import Erratum
from symbolic.events import Event, randomness, total_failure
from symbolic.obligations import Obligation
from symbolic.provenance import Provenance
from symbolic.statements import Formula, Kind, Order, Printed, Quantity, Result

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "_": r"\_",
    "^": r"\^{}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "~": r"\~{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\le", Kind.LOWER: r"\ge", Kind.RATE: r"\sim"}

ORDERS = {Order.O: r"\mathcal{O}", Order.THETA: r"\Theta", Order.OMEGA: r"\Omega"}
NAMES = "suyzbcd"  # for repeated parts: the first letter that no symbol of the formula begins with
WORTH_A_NAME = 12  # letters
INDENT = 24  # letters of a left side
PAGE = 64  # letters in a row that fit the text of an 11pt article
LISTED = 5  # letters by which an item of a list is indented
MOST_NAMES = 12
WIDER = re.compile(r"\\sqrt|\\sum|\\left|\\le\b|\\ge\b|\\text|\\min|\\max|\\log|[-+=]")  # each by about a letter
ROW_END = re.compile(r"\\\\(?![^{]*\\end\{cases\})")  # not those inside of cases
WIDEST = 66  # letters on a line of a display; a longer sum is broken between its terms
UNSEEN = re.compile(r"\\(?:left|right|[,;:!]|(?:sqrt|frac|text|mathcal|dot|tilde)(?![a-z]))|[{}^_ ]")

POWER = re.compile(r"(?<=\w)\^(\w+)")  # in the name of a step

ONE_LAYER = "One layer, from an argument with the error"

Notation = Mapping[sp.Symbol, str]


def latex(expression: Any, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` gives the paper's notation for a symbol."""
    return sp.latex(expression, symbol_names=dict(notation or {}))


def escape(words: str) -> str:
    """Words for LaTeX's text mode: special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in words)


def text(words: str) -> str:
    r"""Words for use inside a formula, as \text{...}."""
    return rf"\text{{{escape(words)}}}"


def error_latex(name: str) -> str:
    """The symbol for the error of a quantity: e with the quantity's name, in which A^T has its exponent."""
    words = POWER.split(name)  # every second one is an exponent
    parts = [f"^{{{text(each)}}}" if place % 2 else text(each) for place, each in enumerate(words) if each]
    return f"e_{{{''.join(parts)}}}"


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
    over = [text(f"over {randomness(events)}")] if events else []
    said = [
        rf"&\text{{with probability at least }} {latex(1 - total_failure(events), names)} && {each}" for each in over
    ]
    return said + [rf"&\text{{in expectation}} && {text(f'over {each}')}" for each in means]


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
    """The obligations to show; those that follow from a hypothesis are left out, since the statement shows it."""
    return [obligation for obligation in step.obligations if not obligation.granted]


def letters(formula: str) -> int:
    """About how many letters wide LaTeX sets a formula: commands count as one, braces as none."""
    return len(re.sub(r"\\[a-zA-Z]+", "x", UNSEEN.sub("", formula)))


def row_letters(formula: str) -> int:
    """The same of what LaTeX sets in a row: of a fraction, the longer of its two parts; of cases, the longest."""
    cases = re.sub(r"\\begin\{cases\}(.*?)\\end\{cases\}", lambda m: max(m[1].split(r"\\"), key=letters), formula)
    start = cases.rfind(r"\frac{")  # one that contains no other
    while start >= 0:
        above = _group(cases, start + len(r"\frac"))
        below = _group(cases, start + len(r"\frac") + len(above))
        longer = max(above, below, key=letters)
        cases = cases[:start] + longer[1:-1] + cases[start + len(r"\frac") + len(above) + len(below) :]
        start = cases.rfind(r"\frac{")
    return letters(cases) + len(WIDER.findall(cases))


def _group(formula: str, start: int) -> str:
    """From the brace that opens there to the one that closes it."""
    depth = 0
    for place in range(start, len(formula)):
        depth += (formula[place] == "{") - (formula[place] == "}")
        if depth == 0:
            return formula[start : place + 1]
    return formula[start:]


def equation(left: str, relation: str, expression: Any, notation: Notation | None = None, indented: int = 0) -> str:
    """The body of a display; a sum too wide for one line has its terms below each other.

    If that is still too wide, and names for repeated parts halve the width, such parts are named and the names are
    defined below. So are the longest parts of what is wider than the page, less `indented` letters.
    """
    most = PAGE - indented
    for found in (_equation(left, relation, expression, notation), _lines(left, relation, expression, notation, most)):
        if _widest_row(found) <= most:
            return found
    main, parts = _shortened(left, relation, expression, notation, most)
    shown = _lines(left, relation, main, notation, most)
    return _with_definitions(shown, parts, notation, most) if parts else shown


def _with_definitions(
    main: str, parts: Sequence[tuple[sp.Symbol, Any]], notation: Notation | None, most: int | None = None
) -> str:
    shown = [main, *(_lines(latex(name), "=", part, notation, most) for name, part in parts)]
    return "\\begin{gathered}\n" + " \\\\\n".join(shown) + "\n\\end{gathered}"


# Each turn names the longest part that fits a line, so that what is left is shorter.
def _shortened(
    left: str, relation: str, expression: Any, notation: Notation | None, most: int
) -> tuple[Any, list[tuple[sp.Symbol, Any]]]:
    """The expression and names of its longest parts, with which each line has at most so many letters in a row."""
    main, parts = with_names(expression, notation)
    letter = _letter(expression, notation)
    lines = [(main, left)] + [(part, latex(name)) for name, part in parts]
    for place in range(len(parts), len(parts) + MOST_NAMES) if letter else ():
        wide = next(
            (each for each, of in lines if _widest_row(_lines(of, relation, each, notation, most)) > most), None
        )
        part = None if wide is None else _longest_part(wide, notation, most)
        if part is None:
            break
        name = sp.Symbol(f"{letter}_{place + 1}", **part.assumptions0)
        lines = [(each.xreplace({part: name}), of) for each, of in lines] + [(part, latex(name))]
        parts.append((name, part))
    names = [name for name, _ in parts]
    return lines[0][0], list(zip(names, [each for each, _ in lines[1:]], strict=True))


def _longest_part(expression: Any, notation: Notation | None, most: int) -> Any:
    """The longest that fits a line and contains no index of a sum; None if none is worth a name."""
    terms = expression.args if isinstance(expression, sp.Add) else (expression,)
    inner = (part for term in terms for part in sp.preorder_traversal(term) if part not in (term, expression))
    kinds, free = (sp.Add, sp.Mul, sp.Function, sp.Piecewise), expression.free_symbols
    parts = [part for part in dict.fromkeys(inner) if isinstance(part, kinds) and part.free_symbols <= free]
    known = [(row_letters(latex(part, notation)), place, part) for place, part in enumerate(parts)]
    fitting = [each for each in known if WORTH_A_NAME < each[0] <= most - WORTH_A_NAME]
    return max(fitting, key=lambda each: (each[0], -each[1]))[2] if fitting else None


def _widest_row(display: str) -> int:
    plain = re.sub(r"\\(?:begin|end)\{(?:gathered|aligned)\}|&", "", display)
    return max(row_letters(line) for line in ROW_END.split(plain))


def _equation(left: str, relation: str, expression: Any, notation: Notation | None) -> str:
    whole = _lines(left, relation, expression, notation)
    if _widest(whole) <= 2 * WIDEST:
        return whole
    main, parts = with_names(expression, notation)
    if not parts:
        return whole
    shown = [
        _lines(left, relation, main, notation),
        *(_lines(latex(name), "=", part, notation) for name, part in parts),
    ]
    if max(map(_widest, shown)) > _widest(whole) / 2:
        return whole
    return _with_definitions(shown[0], parts, notation)


def _lines(left: str, relation: str, expression: Any, notation: Notation | None, most: int | None = None) -> str:
    """`most`: letters in a row."""

    def fits(line: str, margin: int = 0) -> bool:
        in_a_row = most is None or margin + row_letters(line) <= most
        return in_a_row and margin + letters(line) <= WIDEST

    whole = rf"{left} {relation} {latex(expression, notation)}"
    terms = expression.as_ordered_terms() if isinstance(expression, sp.Add) else [expression]
    # A left side that is long, or that precedes a long term, has its own line.
    apart = letters(left) > INDENT or (len(terms) < 2 and letters(whole) > 2 * WIDEST)
    if fits(whole) or (len(terms) < 2 and not apart):
        return whole
    indent, margin = (rf"&{left} \\" + "\n&\\quad ", 2) if apart else (rf"{left} &", letters(left))
    lines = [""]
    for term in terms:
        signed = latex(term, notation)
        signed = signed if signed.startswith("-") or lines == [""] else f"+ {signed}"
        if lines[-1] and not fits(f"{lines[-1]}{signed}", margin):
            lines.append("")
        lines[-1] = f"{lines[-1]} {signed}".strip()
    body = " \\\\\n&\\quad ".join(lines)
    return f"\\begin{{aligned}}\n{indent}{relation} {body}\n\\end{{aligned}}"


def _widest(display: str) -> int:
    return max(letters(line) for line in display.split("\\\\"))


def with_names(expression: Any, notation: Notation | None = None) -> tuple[Any, list[tuple[sp.Symbol, Any]]]:
    """The expression by names of its repeated parts, and name and part in the order in which they build on each other.

    A part that is hardly longer than a name is kept, and so is a part that contains the index of a sum.
    """
    letter = _letter(expression, notation)
    found, (main,) = sp.cse(expression, symbols=sp.numbered_symbols("part"))
    known: dict[sp.Basic, sp.Basic] = {}
    parts: list[tuple[sp.Symbol, Any]] = []
    for symbol, part in found if letter else ():
        written = part.xreplace(known)
        of_an_index = not written.free_symbols <= expression.free_symbols | {name for name, _ in parts}
        if of_an_index or letters(latex(written, notation)) <= WORTH_A_NAME:
            known[symbol] = written
            continue
        name = sp.Symbol(f"{letter}_{len(parts) + 1}", **symbol.assumptions0)
        known[symbol] = name
        parts.append((name, written))
    return main.xreplace(known), parts


def _letter(expression: Any, notation: Notation | None) -> str:
    """Of the names of parts; "" if all are taken."""
    taken = {str(symbol)[0] for symbol in expression.free_symbols} | {name[:1] for name in (notation or {}).values()}
    return next((each for each in NAMES if each not in taken), "")


def printed_latex(quantity: Quantity, printed: Printed, notation: Notation | None = None) -> str:
    """The quantity and its printed formula, inside O or Theta if it is printed so."""
    if printed.order:
        bound = latex(printed.shown, notation)
        return rf"{quantity.latex_symbol} = {ORDERS[printed.order]}\left({bound}\right)"
    relation = "<" if printed.strict and quantity.kind is Kind.UPPER else RELATIONS[quantity.kind]
    relation = ">" if printed.strict and quantity.kind is Kind.LOWER else relation
    return equation(quantity.latex_symbol, relation, printed.shown, notation)


def result_display(result: Result) -> str:
    """Every formula of the result, for a notebook: printed and derived ones, then those of the calculus."""
    names = result.notation
    shown = []
    for q in result.quantities:
        shown += [(printed_latex(q, q.printed, names), "printed")] if q.printed else []
        derived = [each for each in (q.derived(), q.closed_form) if each is not None]
        shown += [(equation(q.latex_symbol, RELATIONS[q.kind], each, names), derived_words(q)) for each in derived]
    shown += [(equation(f.left, RELATIONS[f.kind], f.expression, names), "derived") for f in result.formulas]
    rows = [rf"&{formula} && {text(tier)}" for formula, tier in shown]
    return displayed("\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}")


def formula_latex(formula: Formula, notation: Notation | None = None) -> str:
    """One formula of the calculus: what it is, its citation if it has one, the display."""
    source = f", {formula.citation.latex()}" if formula.citation else ""
    display = equation(formula.left, RELATIONS[formula.kind], formula.expression, notation)
    return rf"{escape(formula.meaning)}{source}:" + "\n" + rf"\[ {display} \]"


def derived_words(quantity: Quantity) -> str:
    """The tier, with how the bound was obtained and the steps that are by hand."""
    return quantity.origin if quantity.provenance is Provenance.RULES else f"derived ({quantity.origin})"


def quantity_latex(quantity: Quantity, notation: Notation | None = None) -> str:
    """The quantity in a paragraph: meaning, norm, domain; the printed bound with its citation; the derived one."""
    ours = RELATIONS[quantity.kind]
    lines = [rf"\paragraph{{{escape(quantity.name)}}} {_about_latex(quantity)}."]
    if quantity.printed:
        lines.append(", ".join(filter(None, ("Printed", quantity.printed.citation.latex()))) + ":")
        lines.append(rf"\[ {printed_latex(quantity, quantity.printed, notation)} \]")
    words = escape(derived_words(quantity))
    derived, obtained = quantity.derived(), f"{words[0].upper()}{words[1:]}:"
    if derived is not None:
        at = quantity.bound_at
        short = {letter: x for letter, x in at.items() if row_letters(latex(x, notation)) <= PAGE / 2}
        worst = [f"${latex(letter, notation)} = {latex(x, notation)}$" for letter, x in short.items()]
        worst += [f"${latex(letter, notation)}$ as below" for letter in at if letter not in short]
        lines += [f"{obtained.removesuffix(':')}{', at the worst case ' if worst else ''}{', '.join(worst)}:"]
        lines += [rf"\[ {equation(quantity.latex_symbol, ours, derived, notation)} \]"]
        lines += [rf"\[ {equation(latex(s, notation), '=', x, notation)} \]" for s, x in at.items() if s not in short]
    if quantity.closed_form is not None:
        display = equation(quantity.latex_symbol, ours, quantity.closed_form, notation)
        lines += [obtained, rf"\[ {display} \]"]
    if quantity.origin and derived is None and quantity.closed_form is None:
        lines.append(f"{obtained} a number, see the comparison.")
    if quantity.erratum:
        lines.append(rf"\emph{{{erratum_latex(quantity.erratum)}}}")
    if quantity.remark:
        lines.append(rf"\emph{{{escape(quantity.remark)}.}}")
    return "\n".join(lines)


def _about_latex(quantity: Quantity) -> str:
    """Meaning, kind, quantifier, norm and domain, in text mode."""
    if not quantity.domain_latex:
        return escape(f"{quantity.meaning} ({quantity.about})")
    words = escape(replace(quantity, domain="").about)
    return f"{escape(quantity.meaning)} ({words}; {quantity.domain_latex})"


def erratum_latex(erratum: Erratum) -> str:
    """Weight, place, sentence, reading, repair, and whether the main claim survives, as running text."""
    parts = [
        f"Erratum ({escape(str(erratum.weight))}), {erratum.citation.latex()}",
        f"In the paper: {escape(erratum.sentence)}",
        f"Reading: {escape(erratum.reading)}",
        f"Repair: {escape(erratum.repair)}",
        f"Main claim survives: {escape(erratum.survives)}",
    ]
    return " ".join(f"{part}." for part in parts)


def result_latex(result: Result) -> str:
    """A LaTeX fragment (for amsmath): claim, hypotheses, quantities printed and derived, derivations, remarks."""
    lines = [
        rf"% {result.id}: {result.citation}".removesuffix(": "),
        rf"\subsection*{{{escape(result.title)}}}",
    ]
    source = [escape(result.id) if result.id != result.title else "", result.citation.latex()]
    lines += [f"{', '.join(filter(None, source))}."] if any(source) else []
    lines += [rf"\[ {result.claim} \]"] if result.claim else []
    if result.hypotheses:
        conditions = ",\\; ".join(latex(h.condition, result.notation) for h in result.hypotheses)
        lines.append(f"Hypotheses: ${conditions}$.")
    meanings = [f"${latex(symbol, result.notation)}$: {escape(meaning)}" for symbol, meaning in result.symbols.items()]
    lines += ["Symbols: " + "; ".join(meanings) + "."] if meanings else []
    lines += [quantity_latex(q, result.notation) for q in result.quantities if q.printed or q.derivation or q.derive]
    if result.formulas:
        lines += [r"\paragraph{Derived by the calculus}", *(formula_latex(f, result.notation) for f in result.formulas)]
    for derivation in _distinct_derivations(result):
        names = _names(derivation.steps, result.notation)
        lines += [r"\paragraph{Derivation}", r"\begin{itemize}"]
        lines += [_step_item(step, names) for step in derivation.steps]
        lines += [r"\end{itemize}"]
    lines += [r"\paragraph{Remarks}", *(escape(remark) for remark in result.remarks)] if result.remarks else []
    return "\n".join(lines)


def _step_item(step: Step, names: Notation) -> str:
    reason = f" ${step.reason}$" if "\\" in step.reason else f" {escape(step.reason)}" if step.reason else ""
    reason = f" ${step.recursion.latex(names)}$" if step.recursion else reason
    source = f" ({step.source.latex()})" if step.source else ""
    owed = "".join(
        f" {_obligation_words(o)}: ${latex(o.condition, names)}$ ({escape(o.statement)})." for o in _stated(step)
    )
    formula = rf"\[ {equation(step_latex(step), RELATIONS[Kind.UPPER], step.local, names, LISTED)} \]"
    chances = "".join(f" {_event_words(event, names)}." for event in step.events)
    return rf"\item {escape(step.rule)}:{reason}{source}.{chances}{owed}{formula}" + _layer_items(step, names)


def _event_words(event: Event, names: Notation) -> str:
    share, name = latex(event.fails, names), escape(event.name)
    return rf"Event {name}, over {escape(event.where)}: fails with probability at most ${share}$"


def _obligation_words(obligation: Obligation) -> str:
    if obligation.open:
        return "Open obligation"
    return f"Obligation, {escape(obligation.discharged_by)}" if obligation.at_worst else "Obligation"


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
