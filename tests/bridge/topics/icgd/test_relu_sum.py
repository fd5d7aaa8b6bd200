"""Definition 4 and Lemma 7 end to end: errors against bounds, counts against closed forms, dtypes, refusals."""

import pytest
import sympy as sp

from bridge.questions.compare import Comparison, compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.icgd.relu_sum import BUILT, certified_sum, largest
from symbolic import UsageError
from symbolic.topics.icgd.relu_sum import RELU_SUM, C_k

QUICK = {"samples": 64, "attack": 30, "restarts": 8}


def run(**params: object) -> Comparison:
    return compare("icgd.relu_sum", **{**QUICK, **params})


def rows(comparison: Comparison, quantity: str) -> list[Row]:
    return [row for row in comparison if row.quantity == quantity]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", ["tanh", "sigmoid", "gelu", "softplus", "sin"])
def test_no_bound_is_exceeded_and_the_attack_comes_close(name: str, order: int) -> None:
    comparison = run(activation=name, order=order, R=3, eps=(1e-2, 1e-4))
    for row in comparison:
        assert set(row.verdict.values()) <= {Verdict.KEPT, Verdict.CONSISTENT}, row
        if row.quantity in ("error", "slope"):
            assert row.attacked >= (0.8 if row.params["eps"] == 1e-2 else 0.95) * row.instance
    for row in rows(comparison, "error"):
        assert row.instance <= row.derived * (1 + 1e-12) <= row.printed * (1 + 1e-12)
    assert all(0.4 < row.measured < 0.6 for row in rows(comparison, "relus.rate"))


def test_counts_meet_their_closed_forms() -> None:
    comparison = run(activation="sigmoid")
    assert [row.measured for row in rows(comparison, "relus")] == [row.derived for row in rows(comparison, "relus")]
    assert all(0 < row.measured <= row.derived for row in rows(comparison, "one_norm"))
    slope = BUILT["function"]("tanh", 1)  # largest at 0, in the middle of the range
    assert 1 <= largest(slope, certified_sum(slope, 2.0, 0.1)) < 1.001


def test_the_unspecified_constant_is_shown_and_never_guessed() -> None:
    assert RELU_SUM.quantity("relus").printed.bound.has(C_k)
    assert all(row.printed is None for name in ("relus", "one_norm") for row in rows(run(), name))
    assert "C(k)" in RELU_SUM.latex()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_low_precision_spoils_no_verdict(dtype: str) -> None:
    for row in run(R=3.3, eps=1e-3, dtype=dtype):
        assert set(row.verdict.values()) <= {Verdict.KEPT, Verdict.CONSISTENT}, row


def test_relu_itself_is_one_relu() -> None:
    comparison = run(activation="relu", eps=1e-3)
    assert [row.measured for row in rows(comparison, "relus")] == [1]
    assert [row.exact for row in rows(comparison, "error")] == [0]


REFUSED = [
    ({"activation": "relu", "order": 1}, "is not twice continuously differentiable"),
    ({"activation": 3}, "is not a name"),
    ({"order": 2}, "order = 2 does not meet order <= 1"),
    ({"R": 0, "eps": 0}, r"R = 0.0 does not meet R > 0 .*; eps = 0.0 does not meet eps > 0"),
    ({"eps": 1e-14}, "ReLUs, more than 1000000"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[str(call) for call, _ in REFUSED])
def test_bad_input_gets_one_clear_sentence(call: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(**call)


def test_a_rate_beyond_the_largest_sum_is_undecided_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.lowering.relu_sums.MOST_RELUS", 100)
    (row,) = rows(run(eps=1e-2, R=3.7, samples=4, attack=0), "relus.rate")
    assert row.measured is None
    assert set(row.verdict.values()) == {Verdict.UNDECIDED}
    assert "more than 100;" in row.remark


def test_the_rate_names_the_accuracies_of_its_fit() -> None:
    (row,) = rows(run(eps=1e-2, samples=4, attack=0), "relus.rate")
    assert "eps in {0.01, 0.00125, 1.563e-04}" in row.remark


def test_derived_bounds_speak_of_the_papers_parameters_only() -> None:
    free = set().union(*(q.derived().free_symbols for q in RELU_SUM.quantities if q.derivation))
    assert {symbol.name for symbol in free} == {"R", "eps", "grid", "sup_f", "sup_f1", "sup_f2", "delta", "delta_1"}
    assert isinstance(RELU_SUM.quantity("error").derived(), sp.Expr)
