"""The verdicts of a run in a JSON file, so that it can be stopped and resumed."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.record import Key, fingerprint
from benchmarks.planted.kinds import ROOT
from benchmarks.planted.tests import TESTS
from symbolic.words.errors import UsageError

FOLDERS = (
    *("benchmarks/planted", "bridge/readings", "numeric/balls", "symbolic/calculus", "tests/symbolic/fuzzing"),
    *("tests/symbolic/cases", "tests/bridge/readings/directed"),
)
HARNESS = tuple(f"tests/bridge/readings/{name}.py" for name in ("checking", "instances", "networks", "soundness"))


@dataclass
class Verdicts:
    """By fault: the verdict of the programs with what showed it; and for a survivor the test that finds it, or ''."""

    file: Path | None = None
    by_programs: dict[Key, tuple[str, str]] = field(default_factory=dict)
    by_tests: dict[Key, str] = field(default_factory=dict)

    @classmethod
    def taken_up(cls, file: Path | None) -> "Verdicts":
        """Those in the file, less those of tests that have changed; what survived some tests survived all of them.

        Raises UsageError if the readings or the programs have changed.
        """
        if file is None or not file.exists():
            return cls(file)
        content, now = json.loads(file.read_text()), sources()
        if content["sources"]["programs"] != now["programs"]:
            raise UsageError(f"{file}: its verdicts are of other readings or programs; give another file")
        by_programs = {tuple(key): (verdict, detail) for *key, verdict, detail in content["by_programs"]}
        kept = {name for name, former in content["sources"]["tests"].items() if now["tests"].get(name) == former}
        tested = {tuple(key): test for *key, test in content["by_tests"]}
        found = {key: test for key, test in tested.items() if test.partition("::")[0] in kept}
        return cls(file, by_programs, tested if kept == now["tests"].keys() else found)

    def store(self) -> None:
        """Written aside and renamed: the file is whole at any time."""
        if self.file is None:
            return
        content = {
            "sources": sources(),
            "by_programs": [[*key, *verdict] for key, verdict in self.by_programs.items()],
            "by_tests": [[*key, test] for key, test in self.by_tests.items()],
        }
        aside = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        aside.write_text(json.dumps(content, indent=1) + "\n")
        aside.replace(self.file)

    def untried(self, faults: Iterable[Fault]) -> list[Fault]:
        return [fault for fault in faults if fault.key not in self.by_programs]

    def untested(self, faults: Iterable[Fault]) -> list[Fault]:
        """What survives the programs and was not tried on the tests."""
        survivors = (fault for fault in faults if self.by_programs.get(fault.key, ("",))[0] == "survived")
        return [fault for fault in survivors if fault.key not in self.by_tests]

    def of(self, faults: Iterable[Fault], equivalent: Mapping[Key, str]) -> dict[Fault, str]:
        """The verdicts so far; a survivor that is listed as equivalent is not a survivor."""
        return {fault: self._of(fault.key, equivalent) for fault in faults if fault.key in self.by_programs}

    def _of(self, key: Key, equivalent: Mapping[Key, str]) -> str:
        verdict = "tests" if self.by_tests.get(key) else self.by_programs[key][0]
        return "equivalent" if verdict == "survived" and key in equivalent else verdict


def sources() -> dict[str, Any]:
    """What the verdicts of the programs depend on, and those of each file of tests."""
    files = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.py")]
    return {
        "programs": fingerprint(ROOT, [*files, *HARNESS]),
        "tests": {test: fingerprint(ROOT, [test]) for test in TESTS},
    }
