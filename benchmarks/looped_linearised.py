"""Heads beside a sink at the c and C computed beforehand, beside a scan of both: a gradient on diabetes (N = 441)."""

import time

import torch

from bridge.theorems.tables import load_table
from bridge.topics.looped.linearised import LINEARISED, TABULAR, formats

MOST_RATIO = 10.0


def main() -> None:
    torch.set_num_threads(1)
    start, known = time.perf_counter(), prompt()
    table = formats(**known)
    seconds = time.perf_counter() - start
    print(f"{LINEARISED.id}, diabetes, N = {known['N']}: relative error of a gradient, {seconds:.1f} s")
    print("  " + ", ".join(table.columns))
    for row in table.rows:
        late = " TOO FAR" if float(str(row[6])) > MOST_RATIO else ""
        print("  " + ", ".join(f"{each:.3g}" if isinstance(each, float) else str(each) for each in row) + late)


def prompt(rows: int | None = None) -> dict[str, object]:
    """What the table of formats takes of the first rows; all without a number."""
    table = load_table("diabetes", None, None)
    N, d = rows or len(table.features) - 1, table.features.shape[1]
    B = LINEARISED.statement.parameter("B").default
    data = TABULAR.read(
        LINEARISED.id, {"N": N, "d": d, "B": B, "R": LINEARISED.statement.parameter("R").default}, table
    )
    arrays = {name: torch.as_tensor(each) for name, each in TABULAR.prompt(data).items()}
    return {"N": N, "d": d, "B": B, **arrays}


if __name__ == "__main__":
    main()
