"""The counts of a run in a JSON file, so that it can be stopped and taken up again."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symbolic.words.errors import UsageError
from tests.bridge.readings.soundness import Soundness

COUNTERS = ("steps", "least", "stops", "networks")


def stored(path: Path, found: Soundness, which: Mapping[str, Any]) -> None:
    """Written aside and renamed: the file is whole at any time. `which` says of what run the counts are."""
    counts = vars(found) | {"ratios": [[*key, ratio] for key, ratio in sorted(found.ratios.items())]}
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps({"run": dict(which), "counts": counts}, indent=1) + "\n")
    aside.replace(path)


def taken_up(path: Path, which: Mapping[str, Any]) -> Soundness:
    """The counts in the file; none if there is no file. Raises UsageError for those of another run."""
    if not path.exists():
        return Soundness()
    content = json.loads(path.read_text())
    other = [name for name, value in which.items() if content["run"].get(name) != value]
    if other:
        raise UsageError(f"{path}: its counts are of a run with other {', '.join(other)}; give another file")
    counts = content["counts"]
    ratios = {(rule, quantity): ratio for rule, quantity, ratio in counts["ratios"]}
    return Soundness(**{**counts, **{name: Counter(counts[name]) for name in COUNTERS}, "ratios": ratios})
