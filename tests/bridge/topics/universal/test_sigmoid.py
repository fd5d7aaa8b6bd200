"""Lemma 5 end to end: bounds against attacks, both errata."""

import pytest

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.topics.universal import sigmoid

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
    near = [row for row in comparison if row.quantity in ("ridge", "function")]
    assert all(0.98 * row.derived < row.attacked for row in near)
    verdicts = {row.quantity: set(row.verdict.values()) for row in comparison}
    assert verdicts["ridge.exact"] == {Verdict.KEPT}
    assert Verdict.VIOLATED not in verdicts["delta"]
    assert {row.quantity for row in comparison.violated()} == {"ridge.printed_sign", "function.linear"}


def test_the_exact_error_is_shown_where_it_differs_most() -> None:
    at = sigmoid.points(16.0, 8.0)
    found = sigmoid.exact(16.0, **at, nodes=0 * sigmoid.nodes(16.0, 8.0))  # whose integrals are 0
    assert abs(found.measured) == sigmoid.ramps.ridge(**at).abs().max()
