"""Null vectors in balls, and what they are refused for."""

import flint
import numpy as np
import pytest

from numeric.balls import working_precision
from numeric.tools.null_vectors import NullVectorError, null_vector


def test_rows_take_the_vector_to_0_and_its_largest_entry_is_1() -> None:
    generator = np.random.default_rng(0)
    with working_precision(200):
        for _ in range(1000):
            count = int(generator.integers(1, 5))
            rows = [[flint.arb(x) for x in row] for row in generator.uniform(0, 1, (count, count + 1)).tolist()]
            found = null_vector(rows)
            for row in rows:
                image = sum((a * v for a, v in zip(row, found, strict=True)), start=flint.arb(0))
                assert image.contains(0)
                assert float(image.rad()) < 1e-40
            assert max(abs(float(v)) for v in found) == pytest.approx(1, rel=1e-14)


def test_what_has_no_null_vector_is_refused() -> None:
    rows = [[flint.arb(1), flint.arb(2)]]
    assert [float(v) for v in null_vector(rows)] == [1, -0.5]
    with pytest.raises(NullVectorError, match="2 rows of 2 entries; give fewer rows than entries"):
        null_vector(rows * 2)
    with pytest.raises(NullVectorError, match="the rows may be dependent; give independent ones, or more bits"):
        null_vector([[flint.arb(1), flint.arb(1), flint.arb(1)]] * 2)
