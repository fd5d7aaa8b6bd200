"""Bounds of every looped transformer: kept by exact errors, near them where that is known; layers and heads."""

import math

import pytest

from bridge import compare
from bridge.record import Flag, Verdict
from tests.bridge.defaults import default_run

KEPT = {Verdict.KEPT, Verdict.PROVED}
UNKNOWN = math.inf
# With the largest ratio of a bound to the exact error, at a prompt and over all prompts. A ratio that is known is one
# at a c far above the best, where truncation is larger than rounding.
CASES = [
    ("autoregression", {}, UNKNOWN, UNKNOWN),
    ("autoregression", {"L": 0, "q": 3}, UNKNOWN, UNKNOWN),
    ("autoregression", {"L": 2, "d": 2, "eta": 0.25}, UNKNOWN, UNKNOWN),
    ("autoregression", {"accuracy": 1e-3}, UNKNOWN, UNKNOWN),
    ("chain_of_thought", {"T": 8}, 3, UNKNOWN),
    ("chain_of_thought", {"T": 6, "N": 2, "L": 2, "step": 0, "leak": 1.0, "B": 2.0}, 3, UNKNOWN),
    ("decoder", {}, 100, UNKNOWN),
    ("gradient_descent", {"T": 5, "N": 5, "m": 1, "L": 2, "c": 2.0**-5}, 3, UNKNOWN),
    ("gradient_descent", {"T": 2, "N": 4, "L": 0, "second": "constant", "c": 2.0**-10}, 3, UNKNOWN),
    ("linearised", {}, 1 + 1e-6, 3),
    ("linearised", {"N": 3, "d": 1, "B": 2.0, "R": 0.5, "c": 0.01, "c_odd": 0.1}, 1 + 1e-6, 3),
    ("newton", {"N": 4, "d": 2, "T": 2, "c": 1e-4}, UNKNOWN, 400),
    ("newton", {"N": 4, "d": 2, "T": 2, "second": "opposite", "c": 1e-3, "alpha": 1.5}, UNKNOWN, 400),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "params", "at_prompt", "over_all"), CASES, ids=str)
def test_every_bound_is_kept_by_exact_errors_too(
    name: str, params: dict[str, object], at_prompt: float, over_all: float
) -> None:
    for row in compare(f"looped.{name}", samples=8, attack=12, restarts=4, **params):
        assert set(row.verdict.values()) <= KEPT, row
        assert not {Flag.CONDITIONAL.value, Flag.VACUOUS.value} & set(row.flags.get("derived", [])), row
        if row.scope == "prompt":
            assert 1 - 1e-9 <= row.instance / row.exact <= at_prompt, row
        elif row.scope == "network":
            assert 0 < row.exact <= row.derived <= over_all * row.exact, row


# Measured and printed.
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
    },
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("id", COUNTS)
def test_layers_and_heads_are_those_of_the_theorem(id: str) -> None:
    rows = [row for row in default_run(id, samples=4, attack=3, restarts=2) if row.scope is None]
    found = {row.quantity: (row.exact, row.printed) for row in rows if row.quantity in COUNTS[id]}
    assert found == COUNTS[id]
    assert {verdict for row in rows for verdict in row.verdict.values()} <= KEPT
