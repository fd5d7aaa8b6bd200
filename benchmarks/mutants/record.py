"""The counts of a run: stored in a JSON file, so that an interrupted run can be resumed, and printed as tables."""

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trials import CRASH, FOUND, NO_END, NO_IMPORT, Outcome

Key = tuple[str, str, str, str, str]


@dataclass
class Record:
    """The drawn faults, the outcomes so far, and the reasons of those that are equivalent."""

    faults: Sequence[Fault]
    equivalent: Mapping[Key, str]
    outcomes: dict[Key, Outcome] = field(default_factory=dict)

    @property
    def reached(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.key in self.outcomes]

    @property
    def counted(self) -> list[Fault]:
        """The faults that the score counts: all but the equivalent ones."""
        return [fault for fault in self.reached if fault.key not in self.equivalent]

    @property
    def survivors(self) -> list[Fault]:
        return [fault for fault in self.counted if not self.outcomes[fault.key].found]

    @property
    def refuted(self) -> list[Fault]:
        """Faults listed as equivalent that a test found nevertheless."""
        return [f for f in self.reached if f.key in self.equivalent and self.outcomes[f.key].found]

    @property
    def score(self) -> float:
        return 1 - len(self.survivors) / len(self.counted) if self.counted else 0.0

    def remaining(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.key not in self.outcomes]


def equivalents(path: Path) -> dict[Key, str]:
    """The reasons of the faults that change no result, by fault."""
    entries = tomllib.loads(path.read_text()).get("equivalent", []) if path.exists() else []
    return {
        (e["file"], e["function"], e["operator"], e["original"].strip(), e["mutated"].strip()): e["reason"]
        for e in entries
    }


# --- the file --------------------------------------------------------------------------------------------------------


def fingerprint(root: Path, files: Iterable[str]) -> str:
    """Of the sources and tests that the outcomes depend on."""
    parts = (f"{file}\0".encode() + (root / file).read_bytes() for file in sorted(set(files)))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def save(record: Record, path: Path, sources: str) -> None:
    """Written aside and moved into place, so that the file is always whole."""
    rows = [
        {"file": f.file, "line": f.line, "function": f.function, "operator": f.operator, "original": f.original,
         "mutated": f.mutated, **asdict(record.outcomes[f.key]), "equivalent": record.equivalent.get(f.key)}
        for f in record.reached
    ]  # fmt: skip
    summary = {"drawn": len(record.faults), "run": len(record.reached), "counted": len(record.counted),
               "survivors": len(record.survivors), "score": record.score}  # fmt: skip
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps({"sources": sources, **summary, "faults": rows}, indent=1) + "\n")
    aside.replace(path)


def resumed(path: Path, sources: str) -> dict[Key, Outcome]:
    """The outcomes in a file. Raises ValueError if the sources or tests have changed since."""
    content: dict[str, Any] = json.loads(path.read_text())
    if content["sources"] != sources:
        raise ValueError(f"{path} was made from other sources or tests; start again without --resume")
    return _outcomes(content)


def survivors(path: Path) -> set[Key]:
    """The faults in a file that its tests did not find, whatever the tests were."""
    outcomes = _outcomes(json.loads(path.read_text()))
    return {key for key, outcome in outcomes.items() if not outcome.found}


def _outcomes(content: Mapping[str, Any]) -> dict[Key, Outcome]:
    return {
        (row["file"], row["function"], row["operator"], row["original"], row["mutated"]): Outcome(
            row["verdict"], row["test"], row["seconds"]
        )
        for row in content["faults"]
    }


# --- the tables ------------------------------------------------------------------------------------------------------


def summary(record: Record) -> str:
    parts = [
        _table("operator", record, lambda fault: fault.operator),
        _table("file", record, lambda fault: fault.file),
        _table("found by", record, lambda fault: record.outcomes[fault.key].test.partition("::")[0] or "-"),
        _section("Equivalent, with the reason", (f"{f.diff()}\n  {record.equivalent[f.key]}" for f in record.reached
                                                 if f.key in record.equivalent and f not in record.refuted)),
        _section("Listed as equivalent, and found", (
            f"{f.diff()}\n  found by {record.outcomes[f.key].test}" for f in record.refuted)),
        _section("Not found", (fault.diff() for fault in record.survivors)),
        _score(record),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _score(record: Record) -> str:
    verdicts = [record.outcomes[fault.key].verdict for fault in record.counted]
    kinds = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in (FOUND, NO_IMPORT, NO_END, CRASH))
    found, counted = len(record.counted) - len(record.survivors), len(record.counted)
    return (
        f"{len(record.reached)} faults run of {len(record.faults)} drawn, {len(record.reached) - counted} equivalent; "
        f"{kinds}\nscore: {found} of {counted} found, {100 * record.score:.1f} %"
    )


def _table(title: str, record: Record, of: Callable[[Fault], str]) -> str:
    lines = [f"{title:34s} {'found':>6s} {'of':>5s} {'equivalent':>11s}"]
    for name in sorted({of(fault) for fault in record.reached}):
        here = [fault for fault in record.reached if of(fault) == name]
        counted = [fault for fault in here if fault.key not in record.equivalent]
        found = sum(record.outcomes[fault.key].found for fault in counted)
        lines.append(f"{name:34s} {found:6d} {len(counted):5d} {len(here) - len(counted):11d}")
    return "\n".join(lines)


def _section(title: str, entries: Iterable[str]) -> str:
    text = "\n\n".join(entries)
    return f"{title}:\n\n{text}" if text else ""
