"""What the words of a table mean: its quantities and parameters, then its columns, scopes and verdicts."""

from collections.abc import Sequence

import sympy as sp

from bridge.export.columns import KINDS, NUMBERS, SCOPES, SHORT_SCOPES, WHERE
from bridge.export.sheet import Sheet
from bridge.export.verdict_words import flags_of
from bridge.theorems.record import Row
from symbolic.statements.catalogue import RUNNING, find_result
from symbolic.statements.result import Parameter, Result

EPSILON = "eps"  # a letter, though not under its whole name
VERDICTS = {
    "proved": "a proof covers the statement at these parameters",
    "kept": "the bound held wherever this run measured",
    "violated": "the bound fails; in brackets, what the paper's erratum is about",
    "consistent": "a rate agrees with the run, an order with what is derived",
    "outside": "a hypothesis does not hold here",
    "undecided": "too much rounding, a wide interval, or what is printed is no number",
    "not representable": "needs numbers or sizes beyond those of the format",
}
KEPT_OVER_DRAWS = "held at every input of this run; over random draws, no test rejected it"
OVER_SEEDS = "the interval over seeds is within it; a rate agrees with the run"
FLAGS = {
    "vacuous": "no better than the trivial bound",
    "conditional": "depends on a premise that is not proved",
    "attained": "error and bound are equal",
    "rounding dominates": "most of the measured error is rounding",
    "above a bound by rounding": "the error exceeds a bound, the exact error does not",
}
YOURS = "your formula"  # where no paper prints it
WITHOUT_ERRATUM = "the bound fails"  # of a formula of yours
Entries = list[tuple[str, str]]


def legend(shown: Sheet) -> Entries:
    """Names and their meaning: the quantities of the rows, in their order, then the parameters.

    Quantities of one meaning share an entry. A parameter under a letter of the paper has none.
    """
    of_quantities: dict[str, dict[str, None]] = {}
    for row in shown.rows:
        of_quantities.setdefault(row.meaning, {})[row.quantity] = None
    entries = [(", ".join(names), meaning) for meaning, names in of_quantities.items() if meaning]
    there = (*shown.layout.varying, *shown.layout.constant)
    return entries + [(f"parameter {each.name}", each.meaning) for each in _worded(shown) if each.name in there]


def terms(shown: Sheet) -> Entries:
    """The meaning of each column, scope, verdict and flag that the table has, as the table words it."""
    names = {column.name for column in shown.columns}
    own = {} if shown.comparison.result in RUNNING else {"printed": YOURS}
    meanings = {"where": WHERE, **NUMBERS, **own}
    entries = [(name.replace("_", " "), meaning) for name, meaning in meanings.items() if name in names]
    kinds = [KINDS[kind] for kind in KINDS if any(row.kind == kind for row in shown.rows)]
    if kinds and "kind" in names:
        signs, words = zip(*kinds, strict=True)
        entries.append((", ".join(signs), ", ".join(words)))
    short = SHORT_SCOPES if shown.wording.is_short else {}
    scopes = [scope for scope in SCOPES if any(row.scope == scope for row in shown.rows)]
    entries += [(short.get(scope, scope), SCOPES[scope]) for scope in scopes if "scope" in names]
    return entries + (_judged(shown) if "verdict" in names else [])


def _judged(shown: Sheet) -> Entries:
    """The verdicts and flags, after the letters that stand for tiers."""
    rows, wording = shown.rows, shown.wording
    verdicts = {str(verdict) for row in rows for verdict in row.verdict.values()}
    flags = {flag for row in rows for flag in flags_of(row, wording)}
    tiers = {tier: None for row in rows for tier in row.verdict} if wording.is_short else {}
    letters = [(", ".join(wording.tiers[tier] for tier in tiers), ", ".join(tiers))] if len(tiers) > 1 else []
    weights = {row.erratum.weight for row in rows if row.erratum is not None}
    short = {wording.weights[weight]: weight for weight in wording.weights if weight in weights}
    letters += [(", ".join(short), ", ".join(short.values()))] if short else []
    over_seeds, over_draws = (
        any(row.seeds and (row.level is None) is drawn for row in rows) for drawn in (False, True)
    )
    meanings = VERDICTS | ({"kept": KEPT_OVER_DRAWS} if over_draws else {})
    meanings |= {"consistent": OVER_SEEDS} if over_seeds else {}
    of_paper = bool(weights) or shown.comparison.result in RUNNING
    meanings |= {} if of_paper else {"violated": WITHOUT_ERRATUM}
    found = [(name, meaning) for name, meaning in meanings.items() if name in verdicts]
    return letters + found + [(wording.flags.get(name, name), FLAGS[name]) for name in FLAGS if name in flags]


def _worded(shown: Sheet) -> list[Parameter]:
    """The parameters that need words: a number under a word, and an option that the meaning explains."""
    if shown.comparison.result not in RUNNING:
        return []
    result: Result = find_result(shown.comparison.result)
    return [p for p in result.parameters if is_word(p.name) and (p.symbol or _is_explained(p, shown.rows))]


def is_word(name: str) -> bool:
    """Whether it is not a letter, Latin or Greek, with or without an index."""
    base = name.split("_")[0]
    return len(base) > 1 and base != EPSILON and not sp.latex(sp.Symbol(base)).startswith("\\")


def _is_explained(parameter: Parameter, rows: Sequence[Row]) -> bool:
    values = {row.params.get(parameter.name) or "" for row in rows if isinstance(row.params.get(parameter.name), str)}
    return any(value and f"{value}: " in parameter.meaning for value in values)
