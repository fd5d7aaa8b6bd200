"""The network of one step computes what the derivation says: row `faithful`, and wrong networks that it finds."""

from dataclasses import replace

import pytest
import torch

from bridge.icgd import faithful
from bridge.icgd.case import StepCase
from bridge.record import Verdict
from bridge.registry import find_study
from bridge.rows import ONE_INPUT
from numeric.exact_cost import ExactCost
from numeric.icgd.construction import icgd_construction
from numeric.icgd.exact import TooLargeForExactStep
from numeric.icgd.shape import Shape
from numeric.relu_sums import ReluSum

CHANGE = 1e-6


def case_of(id: str = "icgd.step", **params: object) -> StepCase:
    case = find_study(id).case({"N": 2, "n": 3, "relus": 16, **params}, seed=0, dtype="float64", device="cpu")
    assert isinstance(case, StepCase)
    return case


def with_wrong_network(case: StepCase, monkeypatch: pytest.MonkeyPatch, change: float = CHANGE) -> StepCase:
    """One value of the sum of ReLUs for r is off, in the network alone."""
    e, s = case.emulation, case.setting
    values = e.r.relu_sum.values.copy()
    values[len(values) // 2] += change
    wrong = ReluSum(e.r.relu_sum.radius, values, e.r.relu_sum.spread)

    def construction(n: int):
        sums = wrong, e.r1.relu_sum, e.u.loss_sum
        return icgd_construction(s.shape, *sums, eta=s.eta, B_v=s.B_v, n=n, bound=case.mask_bound)

    monkeypatch.setattr(case, "construction", construction)
    return case


@pytest.mark.parametrize(
    "changes", [{}, {"N": 1}, {"N": 3, "activation": "gelu", "loss": "huber"}, {"loss": "logistic"}], ids=str
)
def test_every_tap_is_the_emulated_value_of_its_step(changes: dict) -> None:
    case = case_of(**changes)
    inputs = {name: value[0] for name, value in case.sample(1, 3).items()}
    apart = faithful._exactly_apart(case, **inputs)
    layers = range(1, case.setting.shape.N + 1)
    assert set(apart) >= {"g", "gradient", "w", *(f"{kind}[{j}]" for kind in ("p", "r'", "s") for j in layers)}
    assert all(each == 0 for each in apart.values())
    (row,) = faithful.faithful_rows(case, ONE_INPUT)
    assert row.verdict == {"derived": Verdict.KEPT}


def test_a_value_changed_by_a_millionth_is_found_in_balls_and_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = with_wrong_network(case_of(), monkeypatch)
    (row,) = faithful.faithful_rows(case, ONE_INPUT)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert "is not the emulated value of its step" in row.remark
    inputs = {name: torch.tensor(value, dtype=torch.float64) for name, value in row.witness.inputs.items()}
    again = case.replay_check("faithful", inputs)
    assert again.verdict == row.verdict
    right = case_of().replay_check("faithful", inputs)
    assert right.verdict == {"derived": Verdict.KEPT}


def test_it_is_found_in_floats_where_balls_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*args: object) -> None:
        raise TooLargeForExactStep(Shape(2, 4, 2, 2), 3, 1, ExactCost(products=2, scalars=1), 1)

    monkeypatch.setattr(faithful, "_exactly_apart", too_large)
    for case, verdict in ((case_of(), Verdict.KEPT), (with_wrong_network(case_of(), monkeypatch), Verdict.VIOLATED)):
        (row,) = faithful.faithful_rows(case, replace(ONE_INPUT, samples=1))
        assert row.verdict["derived"] is verdict
        assert "judged on floats" in row.remark
