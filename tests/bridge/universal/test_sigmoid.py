"""Lemma 5 end to end: bounds against attacks, both errata, refusals."""

import flint
import pytest

from bridge import compare
from bridge.record import Verdict
from bridge.theorem_case import TheoremCase
from bridge.verdicts import Bound
from symbolic import UsageError
from symbolic.statements import Quantity

QUICK = {"samples": 32, "attack": 60, "restarts": 8}


@pytest.mark.long
def test_the_bound_is_within_two_percent_of_the_largest_error() -> None:
    comparison = compare("universal.sigmoid", **QUICK)
    rows = [row for row in comparison if row.quantity in ("ridge", "function")]
    assert [row.params["tau"] for row in rows if row.quantity == "ridge"] == [4, 16, 64, 256]
    for row in rows:
        assert row.derived / 1.02 < row.attacked < row.derived <= row.printed / 12 * (1 + 1e-12), row
        assert set(row.verdict.values()) == {Verdict.KEPT}


def test_the_exact_error_and_delta_are_kept_and_two_sentences_fail() -> None:
    comparison = compare("universal.sigmoid", tau=16, **QUICK)
    verdicts = {row.quantity: set(row.verdict.values()) for row in comparison}
    assert verdicts["ridge.exact"] == {Verdict.KEPT}
    assert Verdict.VIOLATED not in verdicts["delta"]
    assert {row.quantity for row in comparison.violated()} == {"ridge.printed_sign", "function.linear"}


def test_a_bound_that_is_two_percent_too_small_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(case: TheoremCase, quantity: Quantity) -> Bound | None:
        bound = super(TheoremCase, case).derived(quantity)
        return None if bound is None else Bound(bound.ball * flint.arb(0.98))

    monkeypatch.setattr(TheoremCase, "derived", scaled)
    rows = [row for row in compare("universal.sigmoid", tau=16, **QUICK) if row.quantity in ("ridge", "function")]
    assert all(row.verdict["derived"] is Verdict.VIOLATED for row in rows)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tau": 2}, r"tau = 2.* does not meet tau > 2 \(Lemma 5 is for tau > 2"),
        ({"tau": 1e9}, r"need 65 bits, float64 has 53; take tau <= 2\.62.*e\+05"),
        ({"omega_max": 1000}, r"omega_max = 1000 exceeds 256"),
    ],
)
def test_refusals(params: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("universal.sigmoid", **params)
