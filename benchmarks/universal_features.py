"""How the sup error of random features falls with their number, over many draws: slope, failures, ratio to the bound.

`python -m benchmarks.universal_features` runs bumps of width 1 in d = 2 and 3 with n = 64 ... 4096 features and 1000
draws of each: some minutes. The exit code is 1 if a slope of the median is not -0.5 +- 0.05, if so many draws fail that
the binomial test refutes the bound, or if the bound exceeds 10 times the median.
"""

import argparse
import sys
import time

import numpy as np

from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict

COUNTS = (64, 128, 256, 512, 1024, 2048, 4096)
SLOPE, TOLERANCE, LOOSEST = -0.5, 0.05, 10.0


def rows_of(d: int, draws: int) -> list[Row]:
    """The rows of the sup error, by n."""
    found = compare("universal.features", d=d, n=COUNTS, samples=draws)
    return [row for row in found if row.quantity == "features"]


def slope(rows: list[Row]) -> float:
    """Of log median over log n, least squares."""
    return float(np.polyfit(np.log([row.params["n"] for row in rows]), np.log([row.median for row in rows]), 1)[0])


def complaints(d: int, rows: list[Row]) -> list[str]:
    fitted = slope(rows)
    wrong = [] if abs(fitted - SLOPE) <= TOLERANCE else [f"d = {d}: slope {fitted:.3f}"]
    for row in rows:
        if Verdict.VIOLATED in row.verdict.values():
            wrong.append(f"d = {d}, n = {row.params['n']}: {row.failures} of {row.seeds} draws fail")
        if row.derived > LOOSEST * row.median:
            wrong.append(f"d = {d}, n = {row.params['n']}: the bound is {row.derived / row.median:.1f} medians")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    asked = parser.parse_args(arguments)
    start, wrong = time.perf_counter(), []
    print(f"{'d':>2} {'n':>5} {'median':>8} {'largest':>8} {'bound':>8} {'ratio':>6} {'failures':>9} {'p value':>8}")
    for d in (2, 3):
        rows = rows_of(d, asked.draws)
        for row in rows:
            print(
                f"{d:2} {row.params['n']:5} {row.median:8.4f} {row.measured:8.4f} {row.derived:8.4f} "
                f"{row.derived / row.median:6.2f} {row.failures:4}/{row.seeds:4} {row.p_value:8.3g}"
            )
        print(f"   slope of the median: {slope(rows):.3f}", flush=True)
        wrong += complaints(d, rows)
    print("\n".join(wrong) or f"all as stated, in {time.perf_counter() - start:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
