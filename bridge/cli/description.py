"""Claims and Results as plain records: what `list --json` and `show --json` hold."""

import re
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.theorems.packages import Offer
from symbolic.calculus.repetition import steps_of_one_layer
from symbolic.derivations.derivation import Step
from symbolic.latex.plain import formula as formula
from symbolic.latex.plain import reason_words as reason_words
from symbolic.latex.recurrences import layer_letter
from symbolic.latex.typesetting import Notation
from symbolic.statements.catalogue import Claim, status
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Formula, Quantity, Result
from symbolic.words.indices import names_of_letters, with_fresh_indices

WIDTH = 100  # columns of a formula
BREAKABLE = re.compile(r"(?:[^*,(]|\*\*)*[*,(]|(?:[^*,(]|\*\*)+")


def claim_record(claim: Claim) -> dict[str, Any]:
    return {"id": claim.id, "citation": str(claim.citation), "status": status(claim), "summary": claim.summary}


def offer_record(offer: Offer) -> dict[str, str]:
    """As that of a claim, with the package; one that cannot be used is broken, and its summary says why."""
    if offer.theorem is None:
        return {"id": offer.id, "citation": "", "status": "broken", "summary": offer.problem, "package": offer.package}
    result = offer.theorem.statement
    summary = {"citation": str(result.citation), "status": "running", "summary": result.title}
    return {"id": offer.id, **summary, "package": offer.package}


def result_record(result: Result) -> dict[str, Any]:
    notation = result.notation
    return {
        "title": result.title,
        "citation": str(result.citation),
        "claim": result.claim,
        "hypotheses": [
            {"parameter": h.parameter, "condition": formula(h.condition, notation), "reason": h.reason}
            for h in result.hypotheses
        ],
        "assumptions": list(result.assumptions),
        "parameters": [
            _fields(p, "name", "default", "integer", "meaning") | ({"takes": p.takes} if p.takes else {})
            for p in result.parameters
        ],
        "notation": {str(symbol): latex for symbol, latex in notation.items() if latex},
        "quantities": [_quantity_record(result, quantity) for quantity in result.quantities],
        "formulas": [_formula_record(each, notation) for each in result.formulas],
        "derivation": [_step_record(step, notation) for step in derivation_steps(result)],
        "remarks": list(result.remarks),
    }


def _fields(of: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def derivation_steps(result: Result) -> list[Step]:
    """The steps of all the result's derivations, each once, in order, with the open obligations of all its copies."""
    found: dict[tuple[str, sp.Expr], Step] = {}
    derivations = filter(None, map(result.shown_derivation, result.quantities))
    for step in (step for derivation in derivations for step in derivation.steps):
        shown = found.setdefault((step.name, step.local), step)
        if shown.obligations != step.obligations:
            owed = {o.condition: o for o in (*shown.obligations, *step.obligations) if o.condition != sp.true}
            owed |= {o.condition: o for o in (*shown.obligations, *step.obligations) if o.open}
            found[step.name, step.local] = replace(shown, obligations=tuple(owed.values()))
    return list(found.values())


def drawn_formula(expression: Any, notation: Notation | None = None) -> list[str]:
    """A formula drawn over several lines; one too wide to be read so, as Python reads it, in lines of WIDTH.

    In ASCII: SymPy's Unicode turns W_norm into subscripts nobody can type.
    """
    shown = with_fresh_indices(expression, names_of_letters(notation))
    drawn = [line.rstrip() for line in sp.pretty(shown, use_unicode=False, wrap_line=False).splitlines()]
    return drawn if max(map(len, drawn), default=0) <= WIDTH else wrapped(formula(shown))


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Lines of at most `width` characters, broken at blanks, and where there is none behind `*`, `,` or `(`.

    What has no such place (a number, a name) is never broken.
    """
    lines = [""]
    for word in re.findall(r"\S+\s*|\s+", text):
        pieces = [word] if len(word.rstrip()) <= width else BREAKABLE.findall(word)
        for piece in pieces:
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def _quantity_record(result: Result, quantity: Quantity) -> dict[str, Any]:
    printed, derivation = quantity.printed, result.shown_derivation(quantity)

    def shown(expression: Any) -> str | None:
        return None if expression is None else formula(expression, result.notation)

    return {
        **_fields(quantity, "name", "meaning", "kind", "quantifier", "randomness", "norm", "domain", "construction"),
        "scopes": list(quantity.scopes),
        "printed": None if printed is None else shown(printed.bound),
        "printed_strict": None if printed is None else printed.strict,
        "printed_order": None if printed is None else str(printed.order),
        "printed_citation": None if printed is None else str(printed.citation),
        "printed_under": None if printed is None else str(printed.under),
        "derived": shown(quantity.derived()),
        "closed_form": shown(quantity.closed_form),
        "provenance": quantity.provenance,
        "trivial": shown(quantity.trivial),
        "conditional": derivation.conditional if derivation else False,
        "steps": [step.name for step in derivation.steps] if derivation else [],
        "remark": quantity.remark,
        "erratum": None if quantity.erratum is None else _erratum_record(quantity.erratum),
        **({} if quantity.may_fail is None else {"failure": shown(quantity.may_fail)}),
    }


def _erratum_record(erratum: Erratum) -> dict[str, Any]:
    return _fields(erratum, "weight", "place", "sentence", "reading", "repair", "survives")


def _formula_record(derived: Formula, notation: Notation) -> dict[str, Any]:
    return {
        "left": derived.left,
        "kind": derived.kind,
        "expression": formula(derived.expression, notation),
        "meaning": derived.meaning,
        "citation": None if derived.citation is None else str(derived.citation),
    }


def _step_record(step: Step, notation: Notation) -> dict[str, Any]:
    """With the steps of one layer, for a repetition."""
    layer = [_step_record(each, notation) for each in steps_of_one_layer(step, layer_letter(step.recursion, notation))]
    events = [{"name": e.name, "over": e.where, "failure": formula(e.fails, notation)} for e in step.events]
    return {
        **_fields(step, "name", "norm", "rule"),
        "premises": list(step.premises),
        "bound": formula(step.local, notation),
        "reason": reason_words(step),
        "source": None if step.source is None else str(step.source),
        **_fields(step, "sharp", "provenance"),
        "obligations": [
            {"statement": o.statement, "condition": formula(o.condition, notation)}
            | _fields(o, "open", "discharged_by")
            for o in step.obligations
        ],
        **({"layer": layer} if layer else {}),
        **({"events": events} if events else {}),
    }
