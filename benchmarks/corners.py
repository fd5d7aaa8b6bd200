"""Corner parameters for every result and example: `python -m benchmarks.corners --points 3000 --seed 0`.

Each point is a short comparison at random parameters that meet the hypotheses, many at the ends of what these allow, in
any format. Whatever the result, no bound of ours is below an exact error, none is negative, no row lacks a number or a
reason, a printed bound is refuted only where the result has an erratum, and every exception is a refusal. Prints a
table of counts and every complaint; the exit code is 1 if there is one.

Interrupted, it ends after the point that it runs, interrupted again without it. With `--resume FILE` each point is a
line of that file as soon as it is run, and the next run goes on from there; with `--again` it runs those anew that had
complaints. `--point N` runs one.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.signals import noting_signals
from numeric.search.threads import one_thread
from tests.corners.judging import KINDS
from tests.corners.points import SOURCES, Point, run_point

EVERY = 20  # points between two lines of progress
SLOW = 20.0  # seconds of a point that is named while it runs


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    sources = options.result or list(SOURCES)
    known = stored(options.resume) if options.resume else {}
    wanted = [(sources[k % len(sources)], options.seed, k // len(sources)) for k in range(options.points)]
    if options.point is not None:
        wanted, known = [(source, options.seed, options.point) for source in sources], {}
    kept = {key: point for key, point in known.items() if not (options.again and point.complaints)}
    found = [kept[key] for key in wanted if key in kept]
    missing = [key for key in wanted if key not in kept]
    with noting_signals() as asked, one_thread(), suppress(KeyboardInterrupt):
        for number, point in enumerate(run(missing, asked, options.resume), len(found) + 1):
            found.append(point)
            _progress(point, number, len(wanted))
    print(table(found))
    print(f"seed {options.seed}")
    for point in found:
        if point.complaints:
            print(f"\n{point}")
    return 1 if any(point.complaints for point in found) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corners", description=__doc__)
    parser.add_argument("--points", type=int, default=len(SOURCES), help="points in total, the results in turn")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the whole run")
    parser.add_argument("--result", action="append", choices=SOURCES, metavar="ID", help="only this result; repeatable")
    parser.add_argument(
        "--point", type=int, metavar="N", help="the number of one point of each result, to run it alone"
    )
    parser.add_argument("--resume", type=Path, metavar="FILE", help="points are read from there, and stored there")
    parser.add_argument("--again", action="store_true", help="run stored points with complaints anew")
    options = parser.parse_args(arguments)
    if options.points < 1 or min(options.seed, options.point or 0) < 0:
        parser.error("--points must be at least 1, --seed and --point must not be negative")
    return options


Key = tuple[str, int, int]


def run(wanted: Iterable[Key], asked: Sequence[int], file: Path | None) -> Iterator[Point]:
    """Each point, stored before the next begins; none after a signal."""
    for source, seed, index in wanted:
        if asked:
            return
        started = time.perf_counter()
        point = run_point(source, seed, index)
        point = replace(point, seconds=round(time.perf_counter() - started, 3))
        if file:
            store(file, point)
        yield point


def store(file: Path, point: Point) -> None:
    """Appends one line, in one call; behind what a crash left of another one it begins a line of its own."""
    begun = file.exists() and file.read_bytes()[-1:] not in (b"", b"\n")
    line = ("\n" if begun else "") + json.dumps(point.as_dict()) + "\n"
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(target, line.encode())
        os.fsync(target)
    finally:
        os.close(target)


def stored(file: Path) -> dict[Key, Point]:
    """The points of the file, the last of each number. A line that a crash cut off is left out."""
    points = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        with suppress(json.JSONDecodeError):
            point = Point.of(json.loads(line))
            points[point.source, point.seed, point.index] = point
    return points


def _progress(point: Point, number: int, total: int) -> None:
    if point.seconds > SLOW:
        print(f"{point.seconds:.0f} s: {point}", file=sys.stderr, flush=True)
    if number % EVERY == 0:
        print(f"{number} of {total} points", file=sys.stderr, flush=True)


def table(points: Sequence[Point]) -> str:
    """Points, refusals, rows and complaints of each result, and their sums."""
    by_source = defaultdict(list)
    for point in points:
        by_source[point.source].append(point)
    lines = [_line("result", "points", "refused", "rows", "complaints", "seconds")]
    lines += [_line(source, *_counts(those)) for source, those in by_source.items()]
    lines.append(_line("all", *_counts(points)))
    counted = [each.kind for point in points for each in point.complaints]
    return "\n".join([*lines, *(f"{kind}, {KINDS[kind]}: {counted.count(kind)}" for kind in KINDS if kind in counted)])


def _counts(points: Sequence[Point]) -> tuple[object, ...]:
    sums: tuple[Callable[[Point], float], ...] = (
        lambda point: bool(point.refusal),
        lambda point: point.rows,
        lambda point: len(point.complaints),
    )
    return (len(points), *(sum(map(each, points)) for each in sums), f"{sum(point.seconds for point in points):.0f}")


def _line(name: str, *cells: object) -> str:
    return f"{name:32s}" + "".join(f"{cell:>11}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
