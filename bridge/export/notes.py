"""What a table rests on beside its inputs: weights of one draw, and premises that were not decided."""

from collections.abc import Sequence

from bridge.theorems.numbers import plain
from bridge.theorems.record import Row
from symbolic.statements.result import Quantifier
from symbolic.words.prose import marked, prose

FAR = 10  # how far the bound of an instance is below the derived one before the draw is remarked on


def quantified(row: Row, *, replayed: bool = False) -> str:
    """Over what the row was searched: all inputs, but only the weights of one draw (or of a witness)."""
    if not row.drawn or row.quantifier != Quantifier.FOR_ALL:
        return row.quantifier
    return f"for {'the weights of the witness' if replayed else f'the weights of seed {row.seed}'}, all inputs"


def notes(rows: Sequence[Row]) -> list[str]:
    """One sentence each: on weights far from the worst, then on each premise of a conditional bound."""
    return [*_far(rows), *_premises(rows)]


def _far(rows: Sequence[Row]) -> list[str]:
    factors = [row.derived / row.instance for row in rows if row.drawn and row.derived and row.instance]
    if not factors or max(factors) < FAR:
        return []
    drawn = list(dict.fromkeys(name for row in rows for name in row.drawn or ()))
    them = "it" if len(drawn) == 1 else "them"
    return [
        f"one draw of {', '.join(drawn)}: the instance bound is up to {plain(max(factors))} times below the derived "
        f"one, and other weights may have larger errors; put {them} into ``inputs`` to have {them} attacked"
    ]


def _premises(rows: Sequence[Row]) -> list[str]:
    quantities: dict[str, list[str]] = {}
    for row in rows:
        for premise in row.premises or ():
            quantities.setdefault(marked(premise), []).append(row.quantity)
    return [
        prose(
            f"conditional, as this premise is not proved: {premise} ({', '.join(dict.fromkeys(names))})", checked=False
        )
        for premise, names in quantities.items()
    ]
