"""Makes one comparison of twelve points, killed twenty times at random moments: prints whether the record is the same.

A process of its own, as it forks: `python -m tests.bridge.questions.killed FOLDER`.
"""

import os
import random
import signal
import sys
from pathlib import Path

from bridge.questions.compare import compare

KILLS, POINTS = 20, 12
BUDGET = {"samples": 1, "attack": 1, "restarts": 1, "T": 1}
GRID = {"eta": tuple(0.05 * place for place in range(1, POINTS + 1))}


def killed(folder: Path, after: float) -> bool:
    """Whether so much processor time ends a run: the default of SIGPROF is to kill, as by `kill -9`."""
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, after)
        compare("looped.gradient_descent", keep=folder, **BUDGET, **GRID)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    whole = compare("looped.gradient_descent", **BUDGET, **GRID).to_json()
    moments = random.Random(0)
    kills, states = 0, set()
    while kills < KILLS:
        kills += killed(folder, moments.uniform(0.02, 0.45))
        names = {path.name for path in folder.rglob("*")} if folder.exists() else set()
        states.add(sum(name.startswith("point") for name in names))
        assert not [name for name in names if name.endswith(".part")], names
        if sum(name.startswith("point") for name in names) == POINTS:  # all are done: begin again with some of them
            for path in random.Random(kills).sample(sorted(folder.glob("parts/*.json")), 9):
                path.unlink()
    resumed = compare("looped.gradient_descent", keep=folder, **BUDGET, **GRID).to_json()
    sys.stdout.write(f"{kills} kills, {len(states)} states, {'equal' if resumed == whole else 'different'}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
