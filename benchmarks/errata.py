"""Collect the witness of each erratum from `compare`, into the package; or say what is missing.

`python -m benchmarks.errata` runs every result at its defaults (some minutes), and again where an erratum names other
parameters, and stores the witness of the worst violated row of each quantity. `--result ID` does it for one result.
The exit code is 1 if an erratum finds no violated row, or a violated printed bound has no erratum.
"""

import argparse
import sys
from collections.abc import Iterator

from bridge.export.written_files import write_text
from bridge.questions.compare import compare
from bridge.questions.errata.entries import WITNESSES, is_violated, stored_witness, witness_path
from bridge.theorems.record import Row
from bridge.theorems.refutable import refutable
from bridge.theorems.registry import find_theorem
from symbolic.statements.catalogue import RUNNING


def rows_of(id: str) -> Iterator[Row]:
    """The rows at the defaults, then at the parameters that errata name."""
    yield from compare(id)
    named = dict.fromkeys(q.erratum.at for q in refutable(find_theorem(id)) if q.erratum and q.erratum.at)
    for at in named:
        yield from compare(id, **dict(at))


def collect(id: str) -> list[str]:
    """Stores the witnesses of one result, unless another result has one of the same; what is wrong, a line each."""
    refuted: dict[str, list[Row]] = {}
    for row in rows_of(id):
        if is_violated(row):
            refuted.setdefault(row.quantity, []).append(row)
    wanted = {quantity.name: quantity.erratum for quantity in refutable(find_theorem(id))}
    complaints = [f"{id}, {name}: violated, but no erratum" for name in refuted if name not in wanted]
    for name, erratum in wanted.items():
        witnessed = [row for row in refuted.get(name, []) if row.witness is not None]
        stored = None if erratum is None else stored_witness(erratum)
        own = stored is None or (stored.result, witness_path(id, name).exists()) == (id, True)
        if not witnessed:
            complaints += [] if stored else [f"{id}, {name}: an erratum, but no violated row with a witness"]
        elif own:
            smallest = min((row.witness for row in witnessed if row.witness), key=lambda w: len(w.model_dump_json()))
            write_text(witness_path(id, name), smallest.model_dump_json() + "\n")
    return complaints


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--result", choices=sorted(RUNNING), help="only the errata of one result")
    asked = parser.parse_args(arguments)
    WITNESSES.mkdir(exist_ok=True)
    complaints = []
    for id in [asked.result] if asked.result else list(RUNNING):
        print(id, flush=True)
        complaints += collect(id)
    print("\n".join(complaints) or "every erratum has a witness, and every violated printed bound an erratum")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
