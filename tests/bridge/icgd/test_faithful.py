"""The network of one step computes what the derivation says: row `faithful`, and wrong networks that it finds."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from bridge.icgd.step import STEP, taps
from bridge.record import Row, Verdict
from bridge.rows import ONE_INPUT
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy

CHANGE = 1e-6
TAP = "p[1]"


def wrong(w: Any, x: Any, y: Any, emulation: Any) -> dict[str, Any]:
    """The network of one step, with one tap off."""
    found = taps(w, x, y, emulation)
    return {**found, TAP: found[TAP] + CHANGE}


def case_of(network: Any = taps, **params: object) -> TheoremCase:
    study = TheoremStudy(replace(STEP, network=network))
    return study.case({"N": 2, "n": 3, "relus": 16, **params})


def faithful_row(case: TheoremCase, samples: int = 1) -> Row:
    (row,) = [row for row in case.checks(replace(ONE_INPUT, samples=samples)) if row.quantity == "faithful"]
    return row


@pytest.mark.parametrize(
    "changes", [{}, {"N": 1}, {"N": 3, "activation": "gelu", "loss": "huber"}, {"loss": "logistic"}], ids=str
)
def test_every_tap_is_the_emulated_value_of_its_step(changes: dict) -> None:
    case = case_of(**changes)
    row = faithful_row(case, samples=3)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert row.measured == 0
    layers = range(1, int(case.params["N"]) + 1)
    taps = ["g", "gradient", "w", *(f"{kind}[{j}]" for kind in ("p", "r'", "s") for j in layers)]
    assert all(f" {tap}," in f" {row.meaning}," for tap in taps)
    assert set(case.bindings.emulated) >= set(taps)


def test_a_value_changed_by_a_millionth_is_found_in_balls_and_replayed() -> None:
    case = case_of(wrong)
    row = faithful_row(case)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert f"the network of '{TAP}' does not compute the emulated value" in row.remark
    inputs = {name: torch.tensor(value, dtype=torch.float64) for name, value in row.witness.inputs.items()}
    again = case.replay_check("faithful", inputs)
    assert again.verdict == row.verdict
    right = case_of().replay_check("faithful", inputs)
    assert right.verdict == {"derived": Verdict.KEPT}
