"""looped.decoder: verdicts, the sizes that are asked for, formats, refusals."""

import pytest

from bridge import compare
from symbolic.statements import UsageError

ID = "looped.decoder"


def rows_of(**options):
    return {(row.quantity, row.scope): row for row in compare(ID, **options).rows}


@pytest.fixture(scope="module")
def rows():
    return rows_of(samples=16, attack=8, restarts=2)


@pytest.mark.long
def test_every_bound_is_kept(rows):
    assert {str(verdict) for row in rows.values() for verdict in row.verdict.values()} == {"kept"}
    assert {name for name, _ in rows} == {"w", "y_hat", "gradient.printed", "layers", "heads"}


def test_it_takes_a_layer_in_the_loop_and_one_behind_it_with_two_heads_each(rows):
    assert rows["layers", None].measured == 2 < rows["layers", None].printed
    assert rows["heads", None].measured == rows["heads", None].printed == 2


@pytest.mark.parametrize("name", ["w", "y_hat", "gradient.printed"])
def test_exact_errors_are_below_the_bounds_of_their_own_prompts(rows, name):
    for scope in ("network", "prompt"):
        row = rows[name, scope]
        assert 0 < row.exact <= row.instance
    assert rows[name, "prompt"].instance / rows[name, "prompt"].exact < 100


def test_the_printed_layer_attains_half_of_its_bound(rows):
    assert rows["gradient.printed", "network"].ratio < 4


@pytest.mark.long
def test_forty_examples_in_twenty_dimensions_after_twenty_loops():
    found = rows_of(N=40, d=20, T=20, samples=1, attack=0)
    for name in ("w", "y_hat"):
        row = found[name, "network"]
        assert row.measured < 1e-8
        assert row.derived < 1e-7
        assert set(map(str, row.verdict.values())) == {"kept"}


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_c_and_C_follow_the_format(dtype):
    comparison = compare(ID, dtype=dtype, samples=4, attack=0)
    found = {(row.quantity, row.scope): row for row in comparison.rows}
    assert found["w", "network"].params["c"] > 2.0**-12
    assert found["w", "network"].measured < {"float32": 1e-3, "bfloat16": 0.2}[dtype]
    assert {str(verdict) for row in found.values() for verdict in row.verdict.values()} == {"kept"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"N": 1}, r"N = 1 does not meet N >= 2 \(a token with a past\)"),
        ({"T": 0}, r"T = 0 does not meet T >= 1 \(a loop\)"),
        ({"eta": 2.5}, r"eta = 2.5 does not meet .*<= 2 \(a step does not expand\)"),
        ({"C": 800.0}, r"e\^C is beyond float64"),
        ({"c": 1e-15}, r"c = 1\.000e-15 is below what float64 resolves"),
    ],
    ids=str,
)
def test_what_cannot_be_run_is_refused_in_words(wrong, why):
    with pytest.raises(UsageError, match=why):
        compare(ID, **wrong)
