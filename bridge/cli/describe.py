"""`boundsmith list` and `show`: the catalogue and a Result, as text or as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import sympy as sp
from rich.console import RenderableType
from rich.text import Text

from bridge.cli.description import (
    claim_record,
    derivation_steps,
    drawn_formula,
    formula,
    offer_record,
    result_record,
    wrapped,
)
from bridge.cli.requests import request
from bridge.cli.terminal import line_width, show, show_filled, show_json
from bridge.export.grids import bounded
from bridge.theorems.packages import clashes, offered
from symbolic.latex.displays import with_names
from symbolic.latex.naming import Named
from symbolic.latex.page import Page
from symbolic.latex.plain import RELATIONS, step_lines
from symbolic.latex.printing import derived_words
from symbolic.latex.shown_bounds import plain_definition, plain_text, shown_bound
from symbolic.latex.typesetting import Notation
from symbolic.statements.catalogue import CLAIMS, RUNNING, Claim, find_claim, is_claimed, status
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Formula, Parameter, Printed, Quantity, Result
from symbolic.words.indices import names_of_letters, with_fresh_indices

TALL = 6  # lines of a formula
STYLES = {"running": "green", "planned": "dim", "broken": "red"}


def list_claims(*, as_json: bool) -> None:
    """The catalogue, then the theorems of each installed package."""
    ours = [claim_record(claim) for claim in CLAIMS]
    if as_json:
        show_json([*ours, *map(offer_record, offered())])
        return
    show_filled(*_listing(ours))
    for package, offers in groupby(offered(), key=lambda each: each.package):
        show_filled("", f"of the package {package}:", *_listing([offer_record(each) for each in offers]))
    if several := clashes():
        show("", *several)


def _listing(records: Sequence[Mapping[str, str]]) -> Iterator[RenderableType]:
    """Of words that have no room, those of the citation go first."""
    names = ("id", "status", "citation", "claim")
    lines = [
        [Text(record["summary" if name == "claim" else name], style=STYLES[record["status"]]) for name in names]
        for record in records
    ]
    headings = [(name, False) for name in names]
    kept_first = ("id", "status", "claim", "citation")
    all_in = "`boundsmith show ID` and --json have all"
    cut = ("claim", "citation")
    yield from bounded(headings, lines, line_width(), kept_first, cut, all_in, shortens=False)


def show_claim(id: str, *, as_json: bool) -> None:
    claim = find_claim(id) if is_claimed(id) else None
    result = request(id).result if claim is None or id in RUNNING else None
    if as_json:
        show_json((claim_record(claim) if claim else {}) | (result_record(result) if result else {}))
    elif result:
        show(*_result_blocks(result))
    elif claim:
        show(*_planned(claim))


def _planned(claim: Claim) -> list[str]:
    return [f"{claim.id}: {claim.summary}", str(claim.citation), f"status: {status(claim)}; it cannot be run yet"]


def _result_blocks(result: Result) -> list[str]:
    notation = result.notation
    sections = {
        "hypotheses": [
            *(f"  {h.parameter}: {formula(h.condition, notation)}  ({h.reason})" for h in result.hypotheses),
            *(f"  {each}" for each in result.assumptions),
        ],
        "parameters and their defaults": list(map(parameter_words, result.parameters)),
        "symbols in the formulas": [
            f"  {symbol}: {meaning}{_not_the_parameter(result, symbol)}" for symbol, meaning in result.symbols.items()
        ],
        "quantities": [line for at in range(len(result.quantities)) for line in _quantity(result, at)],
        "derived (by the calculus)": [line for each in result.formulas for line in _derived_formula(each, notation)],
        "derivation: the error of each step, in terms of the errors e_ of its premises": [
            line for step in derivation_steps(result) for line in step_lines(step, notation)
        ],
        "remarks": [f"  {remark}" for remark in result.remarks],
    }
    return [
        result.id if result.title == result.id else f"{result.id}: {result.title}",
        *([str(result.citation)] if str(result.citation) else []),
        *([f"claim (LaTeX): {result.claim}"] if result.claim else []),
        *(line for heading, lines in sections.items() if lines for line in ("", heading, *lines)),
    ]


def parameter_words(parameter: Parameter) -> str:
    """Its name, its default, what is typed for a text, and its meaning, in one line."""
    takes = f"{parameter.takes}: " if parameter.takes else ""
    return f"  {parameter.name} = {parameter.default}  {takes}{parameter.meaning}"


def _not_the_parameter(result: Result, symbol: sp.Symbol) -> str:
    """A remark on a symbol that has the name of a parameter and another meaning."""
    own = {parameter.name for parameter in result.parameters if parameter.symbol != symbol}
    return " (in the formulas; the parameter above is another number)" if symbol.name in own else ""


def _quantity(result: Result, at: int) -> list[str]:
    quantities, quantity = result.quantities, result.quantities[at]
    lines = [
        f"  {quantity.name}: {quantity.meaning}",
        f"    {quantity.about}",
    ]
    if quantity.printed:
        relation = _printed_relation(quantity, quantity.printed)
        source = f" ({quantity.printed.citation})" if str(quantity.printed.citation) else ""
        under = f", under {quantity.printed.under}" if quantity.printed.under else ""
        lines += [f"    printed{source}{under}, {relation}", *_formula(quantity.printed.shown, result.notation)]
    for derived in (quantity.derived(), quantity.closed_form):
        if derived is not None:
            named = shown_bound(quantity, Page(result.notation)) if quantity.closed_form is None else None
            shown = _formula(derived, result.notation) if named is None else _by_steps(named, result.notation)
            lines += [f"    {derived_words(quantity)}, {RELATIONS[quantity.stated_kind]}", *shown]
    worst = [f"{letter} = {formula(value, result.notation)}" for letter, value in quantity.bound_at.items()]
    lines += [f"    at the worst case {', '.join(worst)}"] if worst else []
    if quantity.origin and quantity.derived() is None and quantity.closed_form is None:
        lines += [f"    {derived_words(quantity)}: a number, see compare"]
    if quantity.trivial is not None:
        lines += ["    trivial bound, from which on a bound is vacuous", *_formula(quantity.trivial, result.notation)]
    if quantity.erratum:
        earlier = [each.name for each in quantities[:at] if each.erratum == quantity.erratum]
        lines += [f"    erratum: the same as for {earlier[0]}"] if earlier else _erratum(quantity.erratum)
    lines += [f"    certificate: {quantity.certificate}"] if quantity.certificate else []
    return [*lines, *([f"    remark: {quantity.remark}"] if quantity.remark else [])]


def _erratum(erratum: Erratum) -> list[str]:
    return [
        f"    erratum ({erratum.weight}): {erratum.claim}",
        f"      reading: {erratum.reading}",
        f"      repair: {erratum.repair}",
        f"      {erratum.outcome}",
    ]


def _printed_relation(quantity: Quantity, printed: Printed) -> str:
    if printed.order:
        return f"{printed.order} of"
    relation = RELATIONS[printed.relation or quantity.stated_kind]
    return relation.removesuffix("=") if printed.strict and len(relation) > 1 else relation


def _derived_formula(formula: Formula, notation: Notation) -> list[str]:
    source = f" ({formula.citation})" if formula.citation else ""
    return [
        f"  {formula.meaning}{source}",
        f"    {formula.left} {RELATIONS[formula.kind]}",
        *_formula(formula.expression, notation),
    ]


def _formula(expression: object, notation: Notation) -> list[str]:
    """A tall one with its repeated parts named below it, where that takes half the lines."""
    drawn = drawn_formula(expression, notation)
    if len(drawn) > TALL and isinstance(expression, sp.Expr):
        main, parts = with_names(with_fresh_indices(expression, names_of_letters(notation)), Page(notation))
        named = [
            *wrapped(formula(main)),
            *(line for name, part in parts for line in wrapped(f"{name} = {formula(part)}")),
        ]
        drawn = named if 2 * len(named) <= len(drawn) else drawn
    return [f"      {line}" for line in drawn]


def _by_steps(named: Named, notation: Notation) -> list[str]:
    parts = [" = ".join(plain_definition(named, part, notation)) for part in named.parts]
    return [f"      {line}" for each in (plain_text(named.main, notation), *parts) for line in wrapped(each)]
