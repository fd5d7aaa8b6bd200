"""Every erratum of the results, one entry each, with the witness that a run of `compare` left.

The records are those of the quantities (`Erratum` in symbolic/statements/errata.py). The witnesses of results of ours
are files of this package, which `python -m benchmarks.errata` collects from `compare`; a test replays each of them. Of
a theorem of the user's own none is stored: `compare` finds one.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PrivateAttr

from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict, Witness, Words
from bridge.theorems.refutable import refutable
from bridge.theorems.registry import TheoremLike, find_theorem
from bridge.theorems.theorem import Theorem
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

WITNESSES = Path(__file__).parent / "witnesses"


class Entry(BaseModel):
    """One erratum. `also` names further results that print the same; `command` runs the witness again."""

    model_config = ConfigDict(extra="forbid")

    result: str
    quantity: str
    also: list[str]
    paper: str
    weight: str
    sentence: Words
    reading: Words
    repair: Words
    survives: Words
    witness: Witness | None
    command: str
    _quantity: Quantity | None = PrivateAttr(None)

    def of(self, quantity: Quantity) -> "Entry":
        """The same, knowing its quantity, which may be that of a theorem in no catalogue."""
        self._quantity = quantity
        return self


@dataclass(frozen=True)
class _Place:
    """A quantity with an erratum; `typed` is what a command takes for its theorem."""

    typed: str
    theorem: Theorem
    quantity: Quantity
    erratum: Erratum

    @property
    def result(self) -> str:
        return self.theorem.id

    @property
    def command(self) -> str:
        if self.result in RUNNING:
            return f"boundsmith errata {self.result} --quantity '{self.quantity.name}' --replay"
        settings = [word for name, value in self.erratum.at for word in ("--set", f"{name}={value}")]
        return shlex.join(["boundsmith", "compare", self.typed, *settings])


def errata(*theorems: TheoremLike, quantity: str | None = None, typed: str = "") -> list[Entry]:
    """The errata of these theorems, of all results where none is named: by paper, then by weight.

    `typed` is what a command takes for a theorem that is given as a value, by default its id. Raises UsageError for an
    unknown result, and for a quantity without an erratum there.
    """
    chosen = list(theorems) or list(RUNNING)
    known = list(_places(chosen, typed))
    holders: dict[Erratum, list[_Place]] = {}
    for place in known:
        if quantity in (None, place.quantity.name):
            holders.setdefault(place.erratum, []).append(place)
    if quantity is not None and not holders:
        names = ", ".join(dict.fromkeys(place.quantity.name for place in known)) or "none"
        where = ", ".join(map(_typed, chosen))
        raise UsageError(f"errata: no erratum of a quantity '{quantity}' in {where}. They have: {names}.")
    entries = [_entry(erratum, places) for erratum, places in holders.items()]
    return sorted(entries, key=lambda entry: (entry.paper, list(Weight).index(Weight(entry.weight))))


def replayed(entry: Entry) -> Row:
    """The row of the entry's witness, from scratch. Raises UsageError for an entry without one."""
    if entry.witness is None:
        remedy = "" if entry.result in RUNNING else f"; {entry.command} --save-witnesses FOLDER finds one"
        raise UsageError(f"errata: no witness of {entry.quantity} of {entry.result} is stored{remedy}")
    return replay_witness(entry.witness)


def quantity_of(entry: Entry) -> Quantity:
    """The quantity that the entry names."""
    if entry._quantity is not None:
        return entry._quantity
    found = refutable(find_theorem(entry.result))
    return next(each for each in found if each.name == entry.quantity and each.erratum is not None)


def is_violated(row: Row) -> bool:
    """Whether the row refutes what is printed."""
    return row.verdict.get("printed") == Verdict.VIOLATED


def witness_path(result: str, quantity: str) -> Path:
    """Where the witness is stored: letters, digits and dots of the names."""
    return WITNESSES / f"{result}-{re.sub(r'[^A-Za-z0-9_.]+', '_', quantity).strip('_')}.json"


def _places(theorems: Iterable[TheoremLike], typed: str = "") -> Iterator[_Place]:
    """Every quantity with an erratum, theorem by theorem."""
    for each in theorems:
        theorem = find_theorem(each)
        for quantity in refutable(theorem):
            if quantity.erratum is not None:
                yield _Place(typed or _typed(each), theorem, quantity, quantity.erratum)


def _typed(theorem: TheoremLike) -> str:
    if isinstance(theorem, str | os.PathLike):
        return os.fspath(theorem)
    return theorem.id


def _entry(erratum: Erratum, places: list[_Place]) -> Entry:
    place = places[0]
    entry = Entry(
        result=place.result,
        quantity=place.quantity.name,
        also=[id for id in dict.fromkeys(each.result for each in places) if id != place.result],
        paper=erratum.citation.paper.short if erratum.citation.paper else place.theorem.statement.title,
        weight=str(erratum.weight),
        sentence=erratum.claim,
        reading=erratum.reading,
        repair=erratum.repair,
        survives=erratum.survives,
        witness=stored_witness(erratum) if place.result in RUNNING else None,
        command=place.command,
    )
    return entry.of(place.quantity)


def stored_witness(erratum: Erratum) -> Witness | None:
    """The stored witness of the first result that has one: what fails there fails in all of them."""
    paths = [witness_path(each.result, each.quantity.name) for each in _places(RUNNING) if each.erratum == erratum]
    stored = next((path for path in paths if path.exists()), None)
    return None if stored is None else Witness.model_validate_json(stored.read_text())
