"""Vectors that a few rows take to 0, in balls."""

from collections.abc import Sequence

import flint
import numpy as np

from numeric.balls import Arb, ball_maximum


class NullVectorError(ValueError):
    """There need be no such vector, or balls do not find it."""


def null_vector(rows: Sequence[Sequence[Arb]]) -> list[Arb]:
    """v with A v = 0 and ||v||_inf = 1, of the matrix A with these m rows of more than m entries.

    Only the first m + 1 entries of v are not 0. Raises NullVectorError for as many rows as entries, and for rows whose
    first m + 1 entries these balls do not tell from dependent ones.
    """
    count, width = len(rows), len(rows[0])
    if count >= width:
        raise NullVectorError(f"null_vector: {count} rows of {width} entries; give fewer rows than entries")
    middle = np.array([[float(each) for each in row[: count + 1]] for row in rows])
    pivot = int(np.abs(np.linalg.svd(middle)[2][-1]).argmax())  # where v is largest
    others = [place for place in range(count + 1) if place != pivot]
    system = flint.arb_mat([[row[place] for place in others] for row in rows])
    try:
        solved = system.solve(flint.arb_mat([[-row[pivot]] for row in rows]))
    except ZeroDivisionError:
        raise NullVectorError("null_vector: the rows may be dependent; give independent ones, or more bits") from None
    found = [flint.arb(int(place == pivot)) for place in range(width)]
    for place, row in zip(others, solved.tolist(), strict=True):
        found[place] = row[0]
    largest = ball_maximum([abs(each) for each in found])
    return [each / largest for each in found]
