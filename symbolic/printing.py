"""LaTeX of results, derivations and hypotheses; every formula comes out of its SymPy expression."""

from collections.abc import Mapping

import sympy as sp

from symbolic.derivation import Derivation, Step
from symbolic.statements import Kind, Quantity, Result

SPECIAL = {
    "\\": r"\textbackslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "_": r"\_",
    "^": r"\^{}",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "~": r"\~{}",
}

RELATIONS = {Kind.EXACT: "=", Kind.UPPER: r"\le", Kind.LOWER: r"\ge", Kind.RATE: r"\sim"}

Notation = Mapping[sp.Symbol, str]


def latex(expression: sp.Basic, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` says how the paper writes a symbol."""
    return sp.latex(expression, symbol_names=dict(notation or {}))


def text(words: str) -> str:
    r"""Words for use inside \text{...}: TeX's special characters escaped."""
    return rf"\text{{{''.join(SPECIAL.get(character, character) for character in words)}}}"


def error_latex(name: str) -> str:
    """How the error of a quantity is written: e with the quantity's name."""
    return rf"e_{{{text(name)}}}"


def derivation_latex(derivation: Derivation, notation: Notation | None = None) -> str:
    """The steps as one aligned display: local bound, rule and reason; then the conclusion with all premises put in."""
    names = {**(notation or {}), **{step.error: error_latex(step.name) for step in derivation.steps}}
    lines = [_step_line(step, names) for step in derivation.steps if step.rule != "given" or step.local != 0]
    last = derivation.steps[-1].name
    lines.append(rf"{error_latex(last)} &\le {latex(derivation.bound(), names)} && \text{{(all steps)}}")
    obligations = [
        rf"&\text{{obligation: }} {latex(o.condition, names)} && {text(o.statement)}" for o in derivation.obligations
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines + obligations) + "\n\\end{aligned}"


def _step_line(step: Step, names: Notation) -> str:
    reason = step.reason if "\\" not in step.reason else ""
    why = step.rule + (f": {reason}" if reason else "")
    return rf"{error_latex(step.name)} &\le {latex(step.local, names)} && {text(why)}"


def quantity_latex(quantity: Quantity, notation: Notation | None = None) -> str:
    """The quantity's bounds as rows of an aligned display, printed with its citation and derived beside it."""
    rows = []
    ours = RELATIONS[quantity.kind]
    symbol = rf"\left\|{quantity.latex_symbol}\right\|" if quantity.derivation else quantity.latex_symbol
    if quantity.printed:
        relation = "<" if quantity.printed.strict else ours
        bound = latex(quantity.printed.bound, notation)
        rows.append(rf"{symbol} &{relation} {bound} && \text{{printed, }} {quantity.printed.citation.latex()}")
    derived = quantity.derived()
    if derived is not None:
        rows.append(rf"{symbol} &{ours} {latex(derived, notation)} && \text{{derived}}")
    return " \\\\\n".join(rows)


def result_latex(result: Result) -> str:
    """A LaTeX fragment: the claim, its hypotheses, every quantity printed and derived, and the derivations."""
    lines = [
        rf"% {result.id}: {result.citation}",
        rf"\paragraph{{{result.title}}} {result.citation.latex()}",
        rf"\[ {result.claim} \]",
        "Hypotheses: $" + ",\\; ".join(latex(h.condition, result.notation) for h in result.hypotheses) + "$.",
    ]
    rows = " \\\\\n".join(quantity_latex(q, result.notation) for q in result.quantities if q.printed or q.derivation)
    lines += [r"\[", r"\begin{aligned}", rows, r"\end{aligned}", r"\]"]
    for derivation in _distinct_derivations(result):
        lines += [r"\[", derivation_latex(derivation, result.notation), r"\]"]
    return "\n".join(lines)


def _distinct_derivations(result: Result) -> list[Derivation]:
    """Each derivation once, and none that a longer one contains."""
    all_of_them = {id(q.derivation): q.derivation for q in result.quantities if q.derivation}.values()
    return [d for d in all_of_them if not any(_contains(other, d) for other in all_of_them)]


def _contains(longer: Derivation, shorter: Derivation) -> bool:
    return longer is not shorter and set(shorter.steps) < set(longer.steps)
