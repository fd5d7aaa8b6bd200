"""Every erratum of the results, one entry each, with the witness that a run of `compare` left.

The records are those of the quantities (`symbolic.errata.Erratum`). The witnesses are files of this package, which
`python -m benchmarks.errata` collects from `compare`; a test replays each of them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bridge.comparison import replay_witness
from bridge.record import Row, Verdict, Witness
from bridge.registry import PLACES, find_study
from symbolic.errata import Erratum, Weight
from symbolic.statements import Quantity, UsageError

WITNESSES = Path(__file__).parent / "witnesses"


class Entry(BaseModel):
    """One erratum. `also` names further results that print the same; `command` runs the witness again."""

    model_config = ConfigDict(extra="forbid")

    result: str
    quantity: str
    also: list[str]
    paper: str
    weight: str
    sentence: str
    reading: str
    repair: str
    survives: str
    witness: Witness | None
    command: str


def errata(*ids: str, quantity: str | None = None) -> list[Entry]:
    """The errata of these results, of all where none is named: by paper, then by weight.

    Raises UsageError for an unknown result, and for a quantity without an erratum there.
    """
    chosen = [find_study(id).result.id for id in ids] or list(PLACES)
    holders: dict[Erratum, list[tuple[str, str]]] = {}
    for result, name, erratum in _records(chosen):
        if quantity in (None, name):
            holders.setdefault(erratum, []).append((result, name))
    if quantity is not None and not holders:
        known = ", ".join(dict.fromkeys(name for _, name, _ in _records(chosen))) or "none"
        raise UsageError(f"errata: no erratum of a quantity '{quantity}' in {', '.join(chosen)}. They have: {known}.")
    entries = [_entry(erratum, places) for erratum, places in holders.items()]
    return sorted(entries, key=lambda entry: (entry.paper, list(Weight).index(Weight(entry.weight))))


def replayed(entry: Entry) -> Row:
    """The row of the entry's witness, from scratch. Raises UsageError for an entry without one."""
    if entry.witness is None:
        raise UsageError(f"errata: no witness of {entry.quantity} of {entry.result} is stored")
    return replay_witness(entry.witness)


def quantity_of(entry: Entry) -> Quantity:
    """The quantity that the entry names."""
    found = find_study(entry.result).refutable()
    return next(each for each in found if each.name == entry.quantity and each.erratum is not None)


def is_violated(row: Row) -> bool:
    """Whether the row refutes what is printed."""
    return row.verdict.get("printed") == Verdict.VIOLATED


def witness_path(result: str, quantity: str) -> Path:
    """Where the witness is stored: letters, digits and dots of the names."""
    return WITNESSES / f"{result}-{re.sub(r'[^A-Za-z0-9_.]+', '_', quantity).strip('_')}.json"


def _records(ids: list[str]) -> Iterator[tuple[str, str, Erratum]]:
    """Result, quantity and erratum, in the order of the registry."""
    for id in ids:
        for each in find_study(id).refutable():
            if each.erratum is not None:
                yield id, each.name, each.erratum


def _entry(erratum: Erratum, places: list[tuple[str, str]]) -> Entry:
    result, quantity = places[0]
    return Entry(
        result=result,
        quantity=quantity,
        also=[id for id in dict.fromkeys(id for id, _ in places) if id != result],
        paper=erratum.citation.paper.short if erratum.citation.paper else "",
        weight=str(erratum.weight),
        sentence=erratum.claim,
        reading=erratum.reading,
        repair=erratum.repair,
        survives=erratum.survives,
        witness=stored_witness(erratum),
        command=f"boundsmith errata {result} --quantity '{quantity}' --replay",
    )


def stored_witness(erratum: Erratum) -> Witness | None:
    """The stored witness of the first result that has one: what fails there fails in all of them."""
    paths = [witness_path(id, name) for id, name, other in _records(list(PLACES)) if other == erratum]
    stored = next((path for path in paths if path.exists()), None)
    return None if stored is None else Witness.model_validate_json(stored.read_text())
