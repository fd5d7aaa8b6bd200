"""looped.chain_of_thought: bounds kept, counts below the printed ones, every state of ten chains, refusals."""

import pytest
import torch

from bridge import compare
from bridge.looped.chain_of_thought import chains, continued, seeded
from bridge.record import Verdict
from numeric.stream import StreamError
from symbolic import UsageError

ID = "looped.chain_of_thought"
FAST = {"samples": 8, "attack": 4, "restarts": 2}


@pytest.mark.long
@pytest.mark.parametrize("params", [{"T": 8}, {"T": 6, "N": 2, "L": 2, "step": 0, "leak": 1.0, "B": 2.0}], ids=str)
def test_bounds_are_kept_and_counts_are_below_the_printed_ones(params: dict[str, float]) -> None:
    rows = compare(ID, **params, **FAST).rows
    counts = {row.quantity: row.measured for row in rows if row.scope is None}
    assert counts["layers.pre"] == 2
    assert counts["heads.pre"] == 1
    for row in rows:
        allowed = {Verdict.KEPT, Verdict.PROVED}
        assert set(row.verdict.values()) <= allowed, row.quantity
        if row.quantity == "next" and row.scope == "prompt":
            assert row.exact <= row.instance <= 3 * row.exact


# Each of ten chains from the other nine, at each of its 6 steps.
@pytest.mark.long
@pytest.mark.parametrize("leak", [0.01, 0.1, 1.0])
def test_every_state_of_ten_chains_is_found(leak: float) -> None:
    table = chains(leak, 96)
    assert [row[0] for row in table.rows] == [1, 2, 3, 4, 5, 6]
    for row in table.rows:
        condition, network, exact, bound = (float(each) for each in row[1:])
        assert network <= 3e-6
        assert network <= bound <= 1e-4
        assert abs(network - exact) <= 1e-9
        assert condition <= 13


def test_one_chain_goes_on_as_its_weights_say() -> None:
    states, _ = seeded(0.1)
    found = continued(list(states[:-1]), states[-1, :3], 0.1, 96)
    assert torch.allclose(found.network[0], states[-1, 3], atol=1e-6)


def test_chains_of_unequal_lengths_are_refused() -> None:
    states, _ = seeded(0.1)
    with pytest.raises(StreamError, match=r"chains of unequal lengths \[6, 7\]"):
        continued([*states[:4], states[5, :6]], states[-1, :3], 0.1, 4)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"leak": 0.0}, "leak = 0.0 .*a leaky slope of 0 has no inverse"),
        ({"leak": 2.0}, "sigma does not expand"),
        ({"step": 3}, "step = 3 does not meet step < L .the examples have a next state"),
        ({"T": 0}, "T = 0"),
        ({"N": 1}, "N = 1 does not meet N >= 2 .two example chains at least"),
        ({"eta": 2.0}, "eta = 2.0 does not meet eta <= 1/high"),
        ({"low": 2.0}, "low"),
        ({"C": 800.0}, r"e\^C is beyond float64"),
        ({"c": 1e-18}, "c = 1.000e-18 is below what float64 resolves"),
    ],
    ids=str,
)
def test_parameters_outside_their_hypotheses_are_refused(params: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, **params, **FAST)
