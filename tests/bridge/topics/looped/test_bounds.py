"""Bounds of every looped transformer: kept by exact errors, near them where that is known; layers and heads."""

import math

import pytest

from bridge.questions.compare import compare
from bridge.theorems.record import Flag, Row, Verdict
from tests.bridge.defaults import default_run

ANY = math.inf
# id, parameters, and how many times the exact error a bound may be, at one prompt and over all prompts. For
# gradient_descent and newton c is far above the best, so that truncation exceeds rounding.
CASES = [
    ("autoregression", {}, ANY, ANY),
    ("autoregression", {"L": 0, "q": 3}, ANY, ANY),
    ("autoregression", {"L": 2, "d": 2, "eta": 0.25}, ANY, ANY),
    ("autoregression", {"accuracy": 1e-3}, ANY, ANY),
    ("chain_of_thought", {"T": 8}, 3, ANY),
    ("chain_of_thought", {"T": 6, "N": 2, "L": 2, "step": 0, "leak": 1.0, "B": 2.0}, 3, ANY),
    ("decoder", {}, 100, ANY),
    ("gradient_descent", {"T": 5, "N": 5, "m": 1, "L": 2, "c": 2.0**-5}, 3, ANY),
    ("gradient_descent", {"T": 2, "N": 4, "L": 0, "second": "constant", "c": 2.0**-10}, 3, ANY),
    ("linearised", {}, 1 + 1e-6, 3),
    ("linearised", {"N": 3, "d": 1, "B": 2.0, "R": 0.5, "c": 0.01, "c_odd": 0.1}, 1 + 1e-6, 3),
    ("newton", {"N": 4, "d": 2, "T": 2, "c": 1e-4}, ANY, 400),
    ("newton", {"N": 4, "d": 2, "T": 2, "second": "opposite", "c": 1e-3, "alpha": 1.5}, ANY, 400),
]
# Exact and printed.
COUNTS = {
    "looped.autoregression": {"layers": (5, 5), "heads": (2, 2)},
    "looped.chain_of_thought": {
        "layers.pre": (2, 7), "layers.loop": (1, 1), "layers.post": (1, 1),
        "heads.pre": (1, 2), "heads.loop": (2, 2), "heads.post": (0, 1),
    },
    "looped.decoder": {"layers": (2, 4), "heads": (2, 2)},
    "looped.gradient_descent": {
        "layers.pre": (2, 2), "layers.loop": (1, 1), "layers.post": (1, 1),
        "heads.pre": (1, 2), "heads.loop": (2, 2), "heads.post": (1, 1),
        "one_layer": (None, 0), "one_layer.layers": (1, 1), "one_layer.heads": (4, 4),
    },
    "looped.newton": {
        "layers.pre": (1, 1), "layers.loop": (1, 1), "layers.post": (2, 2),
        "heads.pre": (2, 2), "heads.loop": (2, 2), "heads.post": (2, 2),
    },
}  # fmt: skip


def verdict_of(row: Row, id: str) -> Verdict:
    """Counts of layers before, in and behind the loop are proved."""
    counts = COUNTS.get(id, {})
    return Verdict.PROVED if row.quantity in counts and "layers.loop" in counts else Verdict.KEPT


@pytest.mark.long
@pytest.mark.parametrize(("name", "params", "at_prompt", "over_all"), CASES, ids=str)
def test_every_bound_is_kept_by_exact_errors_too(
    name: str, params: dict[str, object], at_prompt: float, over_all: float
) -> None:
    rows = compare(f"looped.{name}", samples=8, attack=12, restarts=4, **params).rows
    for row in rows:
        assert set(row.verdict.values()) == {verdict_of(row, f"looped.{name}")}, row
        assert not {Flag.CONDITIONAL.value, Flag.VACUOUS.value} & set(row.flags.get("derived", [])), row
        assert name != "newton" or row.scope is None or row.quantity == "labels" or not row.flags, row
        if row.scope == "prompt":
            rounding = 1e-9 if name == "linearised" else 0  # its bounds are attained
            assert (1 - rounding) * row.exact <= row.instance <= at_prompt * row.exact, row
        elif row.scope == "network":
            assert 0 < row.exact <= row.instance <= row.derived <= over_all * row.exact, row
            assert row.quantity != "x_hat" or row.measured < row.derived, row


@pytest.mark.long
@pytest.mark.parametrize("id", COUNTS)
def test_layers_and_heads_are_those_of_the_theorem(id: str) -> None:
    rows = [row for row in default_run(id, samples=4, attack=3, restarts=2) if row.scope is None]
    rows = [row for row in rows if row.quantity in COUNTS[id]]
    found = {row.quantity: (row.exact, row.printed) for row in rows}
    assert found == COUNTS[id]
    assert all(set(row.verdict.values()) == {verdict_of(row, id)} for row in rows)
