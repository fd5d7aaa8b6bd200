"""looped.decoder: the printed layer, a larger prompt, formats."""

import pytest

from bridge.questions.compare import compare
from tests.bridge.defaults import default_run

ID = "looped.decoder"


def named(rows):
    return {(row.quantity, row.scope): row for row in rows}


def test_the_printed_layer_attains_half_of_its_bound():
    found = named(default_run(ID, samples=4, attack=3, restarts=2))
    assert {name for name, _ in found} == {"w", "y_hat", "gradient.printed", "layers", "heads"}
    assert found["gradient.printed", "network"].ratio < 4


@pytest.mark.long
def test_forty_examples_in_twenty_dimensions_after_twenty_loops():
    found = named(compare(ID, N=40, d=20, T=20, samples=1, attack=0))
    for name in ("w", "y_hat"):
        row = found[name, "network"]
        assert row.measured < 1e-8
        assert row.derived < 1e-7
        assert set(map(str, row.verdict.values())) == {"kept"}


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_c_and_C_follow_the_format(dtype):
    found = named(compare(ID, dtype=dtype, samples=4, attack=0))
    assert found["w", "network"].params["c"] > 2.0**-12
    assert found["w", "network"].measured < {"float32": 1e-3, "bfloat16": 0.2}[dtype]
    assert {str(verdict) for row in found.values() for verdict in row.verdict.values()} == {"kept"}
