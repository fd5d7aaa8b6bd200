"""Positions end to end: the search lies between both bounds, the gap is there, and each cost in norm is exact."""

import pytest

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from symbolic.words.errors import UsageError

SETTINGS = [{}, {"N": 5, "eps": 0.9}, {"N": 33, "eps": 0.1, "r": 2.0}]


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_the_search_lies_between_the_bounds_and_its_vectors_have_the_gap(params: dict[str, float]) -> None:
    rows = {row.quantity: row for row in compare("looped.positions", **params)}
    eps = params.get("eps", 0.5)
    assert rows["needed"].derived <= rows["dimension"].measured <= rows["dimension"].derived
    assert rows["gap"].exact > eps
    assert rows["gap"].verdict == {"printed": Verdict.KEPT}
    assert rows["growth"].verdict == {"printed": Verdict.CONSISTENT}
    assert rows["growth"].derived == pytest.approx(4 / (1 - eps / params.get("r", 1.0) ** 2) ** 2, rel=1e-12)
    for name in ("norm.digits", "norm.circle"):
        assert rows[name].measured == pytest.approx(rows[name].derived, rel=1e-9)
        assert Verdict.VIOLATED not in rows[name].verdict.values()


def test_a_search_in_too_many_dimensions_is_refused_before_the_start() -> None:
    with pytest.raises(UsageError, match=r"needs about .* GiB of memory, .*; lower the sizes"):
        compare("looped.positions", N=3, eps=1 - 1e-12)


@pytest.mark.parametrize(
    "source", [{"N": 8, "q": 2, "d": 1, "L": 0, "T": 3, "eta": 0.5}, {"data": "sunspots"}], ids=str
)
def test_the_positions_of_copied_lags_are_refused_by_the_same_estimate(source: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"needs about .* GiB of memory, .*; lower the sizes"):
        compare("looped.autoregression", **source, eps=1 - 4.5e-11)  # type: ignore[arg-type]
