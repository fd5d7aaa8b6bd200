"""The goals of one case in a batch: each finds what it finds alone, with errors and bounds of its own."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.case_batch import CaseBatch
from bridge.goals import Goal, goals_of, ratio
from bridge.icgd.case import StepCase
from bridge.registry import find_study
from bridge.searches import searched
from bridge.study import Inputs

BUDGET = Budget(samples=4, attack=6, restarts=3, seed=2)


def case_of(id: str, **params: object) -> StepCase:
    case = find_study(id).case({"N": 2, "n": 2, "relus": 16, **params}, seed=0, dtype="float64", device="cpu")
    assert isinstance(case, StepCase)
    return case


def all_goals(case: StepCase) -> list[Goal]:
    return goals_of([quantity for quantity in case.bounded() if quantity.scopes])


@pytest.mark.parametrize("has_envelope", [True, False])
@pytest.mark.parametrize("id", ["icgd.forward", "icgd.backward"])
def test_a_goal_finds_in_the_batch_what_it_finds_alone(
    id: str, has_envelope: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(id)
    monkeypatch.setattr(StepCase, "has_envelope", has_envelope)
    goals = all_goals(case)
    assert len({goal.scope for goal in goals}) == 3
    together = CaseBatch(case, goals, BUDGET).ascended(BUDGET)
    for goal, found in zip(goals, together, strict=True):
        (alone,) = CaseBatch(case, [goal], BUDGET).ascended(BUDGET)
        for name, value in alone.items():
            assert torch.allclose(found[name], value, rtol=1e-7, atol=1e-9), (goal.key, name)
    assert len({tuple(found["w"].tolist()) for found in together}) > len(goals) // 2  # goals differ in what they find


def test_each_item_has_the_error_or_the_ratio_of_its_own_goal() -> None:
    case = case_of("icgd.derivative")
    goals = all_goals(case)[::-1]
    batch = CaseBatch(case, goals, BUDGET)
    inputs = {name: torch.cat([value] * len(goals)) for name, value in case.starts(BUDGET.restarts, 5).items()}
    found = batch._objective(inputs).unflatten(0, (len(goals), BUDGET.restarts))
    one = case.starts(BUDGET.restarts, 5)
    for goal, values in zip(goals, found, strict=True):
        error = case.errors(one, [goal.quantity.name], attack=True)[goal.quantity.name]
        bound = case.prompt_bounds(goal.quantity, one, goal.scope) if goal.scope else None
        assert torch.allclose(values, error if bound is None else ratio(error, bound), rtol=1e-12), goal.key


def test_what_is_shown_where_another_errs_most_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("icgd.step")
    sought: list[tuple[str, str | None]] = []
    ascended = CaseBatch.ascended

    def recorded(self: CaseBatch, budget: Budget) -> list[Inputs]:
        sought.extend(goal.key for goal in self.goals)
        return ascended(self, budget)

    monkeypatch.setattr(CaseBatch, "ascended", recorded)
    quantities = [quantity for quantity in case.bounded() if quantity.scopes]
    (points,) = searched([case], quantities, BUDGET)
    assert set(sought) == {("gradient", None), ("gradient", "prompt"), ("gradient", "prompt, local")}
    assert set(points) == {goal.key for goal in goals_of(quantities)}
    others: Sequence[Tensor] = [found["w"] for key, found in points.items() if key[0] != "gradient"]
    assert all(torch.equal(w, points["gradient", None]["w"]) for w in others)
