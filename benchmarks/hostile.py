"""Calls that nobody should make, all of them, within 60 s and 2 GiB each: `python -m benchmarks.hostile [KIND ...]`.

One that legitimately takes longer says so within 10 s. Prints a count for each kind, the slowest and the largest call,
and every breach; the exit code is 1 if there is one.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.hostile.calls import Call, calls
from tests.hostile.judging import asked_of, complaints, contents, make_folder
from tests.hostile.server import Answer, Server

SECONDS, ANNOUNCED = 60.0, 10.0


def late(call: Call, answer: Answer) -> list[str]:
    """What took too long. On a busy machine the processor's time counts."""
    if call.event == "interrupt when announced":
        share = answer.processor / max(answer.seconds, 1e-9)
        waited = (answer.announced or answer.seconds) * min(1.0, share)
        return [f"announced after {waited:.1f} s"] if waited > ANNOUNCED else []
    return [f"{answer.processor:.1f} s"] if answer.processor > SECONDS else []


def made(call: Call, server: Server, folder: Path) -> tuple[Answer, list[str]]:
    before = contents(folder)
    answer = server.ask(asked_of(call, folder, guard=10 * SECONDS))
    return answer, complaints(call, answer, before, folder) + late(call, answer)


def main() -> int:
    wanted = [call for call in calls() if not sys.argv[1:] or call.kind in sys.argv[1:]]
    counts, breaches = Counter[str](), 0
    slowest: tuple[float, str] = (0.0, "none")
    largest: tuple[float, str] = (0.0, "none")
    with tempfile.TemporaryDirectory() as name, Server() as server:
        folder = Path(name)
        make_folder(folder, million=True)
        for call in wanted:
            answer, wrong = made(call, server, folder)
            counts[call.kind] += 1
            slowest = max(slowest, (answer.processor, call.name))
            largest = max(largest, (answer.mebibytes, call.name))
            if wrong:
                breaches += 1
                print(f"BREACH {call.name!a}: {', '.join(wrong)}: {answer.err[-200:]!a}", flush=True)
    for kind, count in sorted(counts.items()):
        print(f"{kind:12s} {count:5d}")
    print(f"{sum(counts.values())} calls, {breaches} breaches")
    print(f"slowest: {slowest[0]:.1f} s of the processor, {slowest[1]!a}")
    print(f"largest: {largest[0]:.0f} MiB, {largest[1]!a}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
