"""What a table rests on: drawn inputs, weights of one draw, and premises that were not decided."""

from collections.abc import Iterable, Sequence

from bridge.theorems.numbers import plain
from bridge.theorems.record import TIERS, Row
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
    words = (
        f"one draw of {', '.join(drawn)}: the instance bound is up to {plain(max(factors))} times below the derived "
        f"one, and other weights may have larger errors; put {them} into ``inputs`` to have {them} attacked"
    )
    return [prose(words, checked=False)]


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


def budget_words(rows: Sequence[Row]) -> str:
    """Seed, samples and attack of the rows: what a verdict of `kept` rests on. "" where no inputs were drawn."""
    if not sampled(rows):
        return ""
    samples, steps = _range(row.samples for row in rows), _range(row.attack_steps for row in rows)
    depending = ", depending on the row" if len({row.samples for row in rows}) > 1 else ""
    attacked = any(row.attack_steps for row in rows)
    attack = f"attack: {steps} steps, {_range(row.restarts for row in rows)} restarts" if attacked else "no attack"
    return f"seed {_range(row.seed for row in rows)}; {samples} samples{depending}; {attack}"


def sampled(rows: Iterable[Row]) -> bool:
    """Whether some row rests on inputs that were drawn, attacked or read."""
    return any(row.samples or row.attack_steps for row in rows)


def no_verdict_words(rows: Iterable[Row]) -> str:
    """What the dash in the column of verdicts means; "" where there is none."""
    unjudged = [row for row in rows if not row.verdict]
    stated = [row for row in unjudged if any(getattr(row, tier) is not None for tier in TIERS)]
    meanings = ["a measured number that has no bound"] if len(stated) < len(unjudged) else []
    meanings += ["stated values that no run measures"] if stated else []
    return f"verdict -: {' or '.join(meanings)}" if meanings else ""


def _range(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers)) or [0]
    if len(found) == 1:
        return str(found[0])
    return f"{found[0]} to {found[-1]}" if found[0] else f"up to {found[-1]}"
