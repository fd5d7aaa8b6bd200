"""Whether `compare` still says what its stored records say: `python -m benchmarks.yardstick [ID ...]`.

Runs each result at its defaults (all of them: some minutes) and prints one line a result and one a change. The exit
code is 1 if there is a difference; notes do not count. `--write` stores what `compare` says now, of the results that
are named or have no record yet. `--replay` replays the witness of each stored row instead, and lists the verdicts that
are no longer violated.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError
from tests.yardstick.changes import changes, label
from tests.yardstick.records import RECORDS, as_stored, path_of, store, stored


def compared(id: str, folder: Path, strict: bool) -> bool:
    """Prints what has changed since the stored record; whether nothing differs."""
    if not path_of(id, folder).exists():
        print("no record is stored; --write stores one")
        return False
    record = as_stored(compare(id))
    found = changes(stored(id, folder), record, strict=strict)
    differing = sum(each.differs for each in found)
    print(f"{len(record.rows)} rows, {differing} differences, {len(found) - differing} notes")
    for each in found:
        print(f"  {each}")
    return not differing


def written(id: str, folder: Path, again: bool) -> bool:
    if path_of(id, folder).exists() and not again:
        print("stored before; name the result to store it again")
        return True
    record = compare(id)
    store(record, folder)
    print(f"{len(record.rows)} rows stored")
    return True


def replayed(id: str, folder: Path) -> bool:
    """Prints the stored verdicts that their witnesses no longer refute; whether there are none."""
    if not path_of(id, folder).exists():
        print("no record is stored; --write stores one")
        return False
    witnessed = [row for row in stored(id, folder) if row.witness is not None]
    lost = [f"{label(row)}: {words}" for row in witnessed for words in no_longer_violated(row)]
    print(f"{len(witnessed)} witnesses, {len(lost)} verdicts no longer violated")
    for each in lost:
        print(f"  {each}")
    return not lost


def no_longer_violated(row: Row) -> Iterator[str]:
    """The tiers that the row calls violated and its witness, replayed, does not refute."""
    assert row.witness is not None
    try:
        again = replay_witness(row.witness)
    except UsageError as error:
        yield f"cannot be replayed: {error}"
        return
    for tier in (tier for tier, verdict in row.verdict.items() if verdict is Verdict.VIOLATED):
        verdict = again.verdict.get(tier)
        if verdict is not Verdict.VIOLATED:
            yield f"{tier} {verdict or 'not judged'}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these results")
    parser.add_argument("--records", type=Path, default=RECORDS, metavar="FOLDER", help="where the records are")
    parser.add_argument("--strict", action="store_true", help="what random inputs measure has to be the same")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true", help="store records")
    mode.add_argument("--replay", action="store_true", help="replay the witnesses of the records")
    asked = parser.parse_args(arguments)
    unknown = [id for id in asked.ids if id not in RUNNING]
    if unknown:
        parser.error(f"no result {', '.join(unknown)}; the results are {', '.join(RUNNING)}")
    action: Callable[[str], bool] = partial(compared, folder=asked.records, strict=asked.strict)
    if asked.write:
        action = partial(written, folder=asked.records, again=bool(asked.ids))
    elif asked.replay:
        action = partial(replayed, folder=asked.records)
    equal = True
    for id in asked.ids or RUNNING:
        print(f"{id}: ", end="", flush=True)
        equal &= action(id)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
