"""The goals of one case in a batch, with an envelope or without: each finds what it finds alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from bridge.goals import Goal, goals_of, ratio
from bridge.limits.run import Run
from bridge.registry import find_study
from bridge.searches import searched
from bridge.study import Inputs
from bridge.theorem_batch import TheoremBatch
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy

BUDGET = Run(samples=4, attack=6, restarts=3, seed=2)


def case_of(id: str, **changes: Any) -> TheoremCase:
    """With another envelope, if there is one among the changes."""
    study = find_study(id)
    assert isinstance(study, TheoremStudy)
    changed = TheoremStudy(replace(study.theorem, search=replace(study.theorem.search, **changes)))
    return changed.case({"N": 2, "n": 2, "relus": 16})


def all_goals(case: TheoremCase) -> list[Goal]:
    return goals_of([quantity for quantity in case.bounded() if quantity.scopes])


def batch_of(case: TheoremCase, goals: Sequence[Goal]) -> TheoremBatch:
    return TheoremBatch([(case, goal) for goal in goals], BUDGET)


@pytest.mark.long
@pytest.mark.parametrize("changes", [{}, {"envelope": None}], ids=["envelope", "none"])
@pytest.mark.parametrize("id", ["icgd.forward", "icgd.backward"])
def test_a_goal_finds_in_the_batch_what_it_finds_alone(id: str, changes: dict[str, Any]) -> None:
    case = case_of(id, **changes)
    goals = all_goals(case)
    assert len({goal.scope for goal in goals}) == 3
    together = batch_of(case, goals).ascended(BUDGET)
    for goal, found in zip(goals, together, strict=True):
        (alone,) = batch_of(case, [goal]).ascended(BUDGET)
        for name, value in alone.items():
            assert torch.allclose(found[name], value, rtol=1e-7, atol=1e-9), (goal.key, name)
    assert len({tuple(found["w"].tolist()) for found in together}) > len(goals) // 2  # goals differ in what they find


def test_the_envelope_is_climbed_first() -> None:
    """Without it, the same starts and steps end elsewhere."""
    goal = Goal(case_of("icgd.forward").quantity("p[2]"))
    errors = []
    for changes in ({}, {"envelope": None}):
        case = case_of("icgd.forward", **changes)
        (found,) = batch_of(case, [goal]).ascended(BUDGET)
        one = {name: value[None] for name, value in found.items()}
        errors.append(float(case.errors(one, ["p[2]"], attack=True)["p[2]"]))
    assert errors[0] != errors[1]


def test_an_envelope_that_is_the_network_errs_as_it_does() -> None:
    study = find_study("icgd.forward")
    assert isinstance(study, TheoremStudy)
    case = case_of("icgd.forward", envelope=study.theorem.network)
    goals = [goal for goal in all_goals(case) if goal.scope is None]
    batch = batch_of(case, goals)
    starts = {name: torch.cat([value] * len(goals)) for name, value in case.starts(BUDGET.restarts, 5).items()}
    assert torch.equal(batch.envelope(starts), batch.objective(starts))


def test_each_item_has_the_error_or_the_ratio_of_its_own_goal() -> None:
    case = case_of("icgd.derivative")
    goals = all_goals(case)[::-1]
    one = case.starts(BUDGET.restarts, 5)
    inputs = {name: torch.cat([value] * len(goals)) for name, value in one.items()}
    found = batch_of(case, goals).objective(inputs).unflatten(0, (len(goals), BUDGET.restarts))
    for goal, values in zip(goals, found, strict=True):
        error = case.errors(one, [goal.quantity.name], attack=True)[goal.quantity.name]
        bound = case.prompt_bounds(goal.quantity, one, goal.scope) if goal.scope else None
        assert torch.allclose(values, error if bound is None else ratio(error, bound), rtol=1e-9), goal.key


def test_what_is_shown_where_another_errs_most_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("icgd.step")
    sought: list[tuple[str, str | None]] = []
    ascended = TheoremBatch.ascended

    def recorded(self: TheoremBatch, run: Run) -> list[Inputs]:
        sought.extend(goal.key for _, goal in self.cells)
        return ascended(self, run)

    monkeypatch.setattr(TheoremBatch, "ascended", recorded)
    quantities = [quantity for quantity in case.bounded() if quantity.scopes]
    (points,) = searched([case], quantities, BUDGET)
    assert set(sought) == {("gradient", None), ("gradient", "prompt"), ("gradient", "prompt, local")}
    assert set(points) == {goal.key for goal in goals_of(quantities)}
    others: Sequence[Tensor] = [found["w"] for key, found in points.items() if key[0] != "gradient"]
    assert all(torch.equal(w, points["gradient", None]["w"]) for w in others)
