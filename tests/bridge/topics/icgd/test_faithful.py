"""The network of one step computes what the derivation says: row `faithful`, and wrong networks that it finds."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from bridge.instances.instance import Instance
from bridge.judging.faithful import Faithful
from bridge.judging.judged import again
from bridge.limits.run import ONE_INPUT
from bridge.theorems.record import Row, Verdict
from bridge.topics.icgd.step import STEP, taps

CHANGE = 1e-6
TAP = "p[1]"


def wrong(w: Any, x: Any, y: Any, emulation: Any) -> dict[str, Any]:
    """The network of one step, with one tap off."""
    found = taps(w, x, y, emulation)
    return {**found, TAP: found[TAP] + CHANGE}


def instance_of(network: Any = taps, **params: object) -> Instance:
    return Instance.of(replace(STEP, network=network), {"N": 2, "n": 3, "relus": 16, **params})


def faithful_row(instance: Instance, samples: int = 1) -> Row:
    (row,) = Faithful(instance).rows(replace(ONE_INPUT, samples=samples))
    return row


@pytest.mark.parametrize(
    "changes", [{}, {"N": 1}, {"N": 3, "activation": "gelu", "loss": "huber"}, {"loss": "logistic"}], ids=str
)
def test_every_tap_is_the_emulated_value_of_its_step(changes: dict) -> None:
    instance = instance_of(**changes)
    row = faithful_row(instance, samples=3)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert row.measured == 0
    layers = range(1, int(instance.known["N"]) + 1)
    taps = ["g", "gradient", "w", *(f"{kind}[{j}]" for kind in ("p", "r'", "s") for j in layers)]
    assert all(f" {tap}," in f" {row.meaning}," for tap in taps)
    assert set(instance.readings.bindings.emulated) >= set(taps)


def test_a_value_changed_by_a_millionth_is_found_in_balls_and_replayed() -> None:
    instance = instance_of(wrong)
    row = faithful_row(instance)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert f"the network of '{TAP}' does not compute the emulated value" in row.remark
    inputs = {name: torch.tensor(value, dtype=torch.float64) for name, value in row.witness.inputs.items()}
    assert again(instance, row.witness, inputs).verdict == row.verdict
    assert again(instance_of(), row.witness, inputs).verdict == {"derived": Verdict.KEPT}
