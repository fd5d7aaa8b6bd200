"""How closely each rule is attained, in each pair of norms that it accepts: `python -m benchmarks.sharpness`.

The first table has the largest known ratio of an error to the bound, from explicit vectors, and the case that attains
it; a row below 0.95 is marked. The second has parameters at which no case attains the bound: the largest ratio of bound
to error that the proof of the rule states, and what a seeded search finds. `--short` has one row for the rules that
attain their bounds in all pairs of norms by the same case.
"""

import argparse
from collections.abc import Iterator
from itertools import groupby

from tests.symbolic.sharpness import ATTAINING, Attained, attained
from tests.symbolic.sharpness.regions import REGIONS

WITHIN = 0.95


def lines(*, short: bool) -> Iterator[str]:
    rows = attained(ATTAINING)
    yield f"{'rule':36} {'from':>9} {'to':>4}  {'error/bound':>11}  case"
    for _, group in groupby(rows, key=lambda row: (row.rule, row.case)):
        yield from _of_one(list(group), short)
    loose = [row for row in rows if row.ratio < WITHIN]
    yield f"{len(rows)} pairs of norms; not attained within 5 %: {len(loose)}"
    yield ""
    yield f"{'rule':20} {'stated':>8} {'found':>8}  where no case attains the bound: bound/error"
    yield from (str(region) for region in REGIONS)


def _of_one(rows: list[Attained], short: bool) -> Iterator[str]:
    if short and len(rows) > 1 and min(row.ratio for row in rows) >= WITHIN:
        least = min(row.ratio for row in rows)
        yield f"{rows[0].rule:36} {len(rows):>8} pairs   {least:>11.4f}  {rows[0].case}"
        return
    for row in rows:
        yield f"{row}{'' if row.ratio >= WITHIN else '  NOT ATTAINED'}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sharpness", description=__doc__)
    parser.add_argument("--short", action="store_true", help="one row for a rule that is attained in all its norms")
    for line in lines(short=parser.parse_args(arguments).short):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
