"""LaTeX of results, derivations and hypotheses; every formula comes out of its SymPy expression."""

from collections.abc import Mapping

import sympy as sp

from symbolic.derivation import Derivation, Step
from symbolic.statements import Kind, Quantity, Result

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

Notation = Mapping[sp.Symbol, str]


def latex(expression: sp.Basic, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` says how the paper writes a symbol."""
    return sp.latex(expression, symbol_names=dict(notation or {}))


def escape(words: str) -> str:
    """Words for LaTeX's text mode: special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in words)


def text(words: str) -> str:
    r"""Words for use inside a formula, as \text{...}."""
    return rf"\text{{{escape(words)}}}"


def error_latex(name: str) -> str:
    """How the error of a quantity is written: e with the quantity's name."""
    return rf"e_{{{text(name)}}}"


def derivation_latex(derivation: Derivation, notation: Notation | None = None) -> str:
    """The steps as one aligned display: local bound and rule; then the conclusion with all premises put in."""
    names = _names(derivation, notation)
    lines = [_step_line(step, names) for step in derivation.steps if step.rule != "given" or step.local != 0]
    last = derivation.steps[-1].name
    lines.append(rf"{error_latex(last)} &\le {latex(derivation.bound(), names)} && \text{{(all steps)}}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines + _obligation_lines(derivation, names)) + "\n\\end{aligned}"


def displayed(body: str) -> str:
    """A display that notebooks show as it is."""
    return f"$$\n{body}\n$$"


def _names(derivation: Derivation, notation: Notation | None) -> Notation:
    return {**(notation or {}), **{step.error: error_latex(step.name) for step in derivation.steps}}


def _step_line(step: Step, names: Notation) -> str:
    return rf"{error_latex(step.name)} &\le {latex(step.local, names)} && {text(step.rule)}"


def _obligation_lines(derivation: Derivation, names: Notation) -> list[str]:
    return [
        rf"&\text{{obligation: }} {latex(o.condition, names)} && {text(o.statement)}" for o in derivation.obligations
    ]


def quantity_latex(quantity: Quantity, notation: Notation | None = None) -> str:
    """The quantity in a paragraph: meaning, norm, domain; the printed bound with its citation; the derived one."""
    ours = RELATIONS[quantity.kind]
    about = f"{quantity.meaning} ({quantity.norm}; {quantity.domain}; {quantity.kind}, {quantity.quantifier})"
    lines = [rf"\paragraph{{{escape(quantity.name)}}} {escape(about)}."]
    if quantity.printed:
        relation = "<" if quantity.printed.strict else ours
        lines.append(f"Printed, {quantity.printed.citation.latex()}:")
        lines.append(rf"\[ {quantity.latex_symbol} {relation} {latex(quantity.printed.bound, notation)} \]")
    derived = quantity.derived()
    if derived is not None:
        lines += ["Derived:", rf"\[ {quantity.latex_symbol} {ours} {latex(derived, notation)} \]"]
    if quantity.remark:
        lines.append(rf"\emph{{{escape(quantity.remark)}.}}")
    return "\n".join(lines)


def result_latex(result: Result) -> str:
    """A LaTeX fragment (for amsmath): claim, hypotheses, quantities printed and derived, derivations, remarks."""
    lines = [
        rf"% {result.id}: {result.citation}",
        rf"\subsection*{{{escape(result.title)}}}",
        rf"{escape(result.id)}, {result.citation.latex()}.",
        rf"\[ {result.claim} \]",
        "Hypotheses: $" + ",\\; ".join(latex(h.condition, result.notation) for h in result.hypotheses) + "$.",
    ]
    meanings = [f"${latex(symbol, result.notation)}$: {escape(said)}" for symbol, said in result.symbols.items()]
    lines += ["Symbols: " + "; ".join(meanings) + "."] if meanings else []
    lines += [quantity_latex(q, result.notation) for q in result.quantities if q.printed or q.derivation]
    for derivation in _distinct_derivations(result):
        names = _names(derivation, result.notation)
        lines += [r"\paragraph{Derivation}", r"\begin{itemize}"]
        lines += [_step_item(step, names) for step in derivation.steps]
        lines += [r"\end{itemize}"]
    lines += [r"\paragraph{Remarks}", *(escape(remark) for remark in result.remarks)] if result.remarks else []
    return "\n".join(lines)


def _step_item(step: Step, names: Notation) -> str:
    reason = f" ${step.reason}$" if "\\" in step.reason else f" {escape(step.reason)}" if step.reason else ""
    source = f" ({step.source.latex()})" if step.source else ""
    owed = "".join(f" Obligation: ${latex(o.condition, names)}$ ({escape(o.statement)})." for o in step.obligations)
    formula = rf"\[ {error_latex(step.name)} \le {latex(step.local, names)} \]"
    return rf"\item {escape(step.rule)}:{reason}{source}.{owed}{formula}"


def _distinct_derivations(result: Result) -> list[Derivation]:
    """Each derivation once, and none that a longer one contains."""
    all_of_them = {id(q.derivation): q.derivation for q in result.quantities if q.derivation}.values()
    return [d for d in all_of_them if not any(_contains(other, d) for other in all_of_them)]


def _contains(longer: Derivation, shorter: Derivation) -> bool:
    return longer is not shorter and set(shorter.steps) < set(longer.steps)
