"""What the words of a table mean: its quantities and parameters, then its columns, scopes and verdicts."""

from collections.abc import Sequence

import sympy as sp

from bridge.export.layout import NUMBERS, SCOPES, SENSES, Layout
from bridge.export.sheet import SHORT_SCOPES, Role, Sheet
from bridge.export.verdict_words import flags_of
from bridge.theorems.record import Record, Row
from symbolic.statements.catalogue import RUNNING, find_result
from symbolic.statements.result import Parameter, Result

EPSILON = "eps"  # a letter, though not under its whole name

COLUMNS = {
    "where": "the case: a direction of a limit, a choice, a construction",
    "printed": "the bound in the paper",
    "claimed": "the bound of your own",
    "derived": "the bound that follows from the hypotheses by the derivation",
    "instance": "the derived bound with the numbers of this network or prompt",
    "measured": "the largest error, or the value, at random or real inputs",
    "attacked": "the largest error that gradient ascent finds",
    "exact": "the largest error in exact arithmetic, at the worst inputs",
    "rounding": "the largest distance between floating-point and exact values",
    "ratio": "the sharpest bound of ours over the largest error",
    "claimed_ratio": "the claimed bound over the largest error",
    "median": "the median of the errors of all draws",
    "mean_at_least": "the confidence limit of the expected error",
    "failures": "draws whose error exceeds the sharpest bound of ours",
    "seeds": "draws of the randomness",
    "p_value": "the probability of so many failures if the bound holds",
}
KINDS = {"exact": "a value", "upper": "an upper bound", "lower": "a lower bound", "rate": "a rate"}
VERDICTS = {
    "proved": "a proof covers the statement at these parameters",
    "kept": "the bound held at every input of this run",
    "violated": "the bound fails; in brackets, what the paper's erratum is about",
    "consistent": "an asymptotic rate agrees with the run, on the range shown",
    "outside": "a hypothesis does not hold here",
    "undecided": "rounding is too large to decide, or what is printed is not a number",
    "not representable": "needs numbers or sizes beyond those of the format",
}
KEPT_OVER_DRAWS = "held at every input of this run; over random draws, no test rejected it"
FLAGS = {
    "vacuous": "no better than the trivial bound",
    "conditional": "depends on a premise that is not proved",
    "attained": "error and bound are equal",
    "rounding dominates": "most of the measured error is rounding",
    "above a bound by rounding": "the error exceeds a bound, the exact error does not",
}


def legend(comparison: Record, rows: Sequence[Row], columns: Layout) -> list[tuple[str, str]]:
    """Names and their meaning: the quantities of the rows, in their order, then the parameters.

    Quantities of one meaning share an entry. A parameter under a letter of the paper has none.
    """
    of_quantities: dict[str, list[str]] = {}
    for row in rows:
        names = of_quantities.setdefault(row.meaning, [])
        names += [] if row.quantity in names else [row.quantity]
    entries = [(", ".join(names), meaning) for meaning, names in of_quantities.items() if meaning]
    shown = (*columns.varying, *columns.constant)
    return entries + [
        (f"parameter {each.name}", each.meaning) for each in _worded(comparison, rows) if each.name in shown
    ]


def terms(shown: Sheet) -> list[tuple[str, str]]:
    """The meaning of each column, scope, verdict and flag that the table has, as the table words it."""
    names = [column.name for column in shown.columns]
    numbers = [(name.replace("_", " "), COLUMNS[name]) for name in ("where", *NUMBERS) if name in names]
    kinds = [kind for kind in KINDS if "kind" in names and any(row.kind == kind for row in shown.rows)]
    numbers += [(", ".join(SENSES[kind] for kind in kinds), ", ".join(KINDS[kind] for kind in kinds))] if kinds else []
    words = {**{scope: scope for scope in SCOPES}, **(SHORT_SCOPES if shown.wording.is_short else {})}
    scopes = [(words[scope], SCOPES[scope]) for scope in SCOPES if any(row.scope == scope for row in shown.rows)]
    return [*numbers, *(scopes if "scope" in names else []), *_judged(shown)]


def _judged(shown: Sheet) -> list[tuple[str, str]]:
    """The verdicts and flags, after the letters that stand for tiers."""
    if all(column.role is not Role.VERDICT for column in shown.columns):
        return []
    rows, wording = shown.rows, shown.wording
    verdicts = {str(verdict) for row in rows for verdict in row.verdict.values()}
    flags = {flag for row in rows for flag in flags_of(row, wording)}
    tiers = {tier: None for row in rows for tier in row.verdict} if wording.is_short else {}
    letters = [(", ".join(wording.tiers[tier] for tier in tiers), f"{', '.join(tiers)}")] if len(tiers) > 1 else []
    weights = {row.erratum.weight for row in rows if row.erratum is not None}
    short = {wording.weights[weight]: weight for weight in wording.weights if weight in weights}
    letters += [(", ".join(short), ", ".join(short.values()))] if short else []
    over_draws = any(row.seeds is not None for row in rows)
    meanings = {**VERDICTS, **({"kept": KEPT_OVER_DRAWS} if over_draws else {})}
    found = [(name, meaning) for name, meaning in meanings.items() if name in verdicts]
    return letters + found + [(wording.flags.get(name, name), FLAGS[name]) for name in FLAGS if name in flags]


def _worded(comparison: Record, rows: Sequence[Row]) -> list[Parameter]:
    """The parameters that need words: a number under a word, and an option that the meaning explains."""
    if comparison.result not in RUNNING:
        return []
    result: Result = find_result(comparison.result)
    return [each for each in result.parameters if is_word(each.name) and (each.symbol or _is_explained(each, rows))]


def is_word(name: str) -> bool:
    """Whether it is not a letter, Latin or Greek, with or without an index."""
    base = name.split("_")[0]
    return len(base) > 1 and base != EPSILON and not sp.latex(sp.Symbol(base)).startswith("\\")


def _is_explained(parameter: Parameter, rows: Sequence[Row]) -> bool:
    values = {row.params.get(parameter.name) or "" for row in rows if isinstance(row.params.get(parameter.name), str)}
    return any(value and f"{value}: " in parameter.meaning for value in values)
