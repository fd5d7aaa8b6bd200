"""The goals of one instance in a batch, with an envelope or without: each finds what it finds alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from bridge.instances.goals import Goal, goals_of, ratio
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search import searched
from bridge.instances.search_batch import SearchBatch
from bridge.limits.run import Run
from bridge.theorems.registry import find_theorem

BUDGET = Run(samples=4, attack=6, restarts=3, seed=2)


def instance_of(id: str, **changes: Any) -> Instance:
    """With another envelope, if there is one among the changes."""
    theorem = find_theorem(id)
    changed = replace(theorem, search=replace(theorem.search, **changes))
    return Instance.of(changed, {"N": 2, "n": 2, "relus": 16})


def batch_of(instance: Instance, goals: Sequence[Goal]) -> SearchBatch:
    return SearchBatch([(instance, goal) for goal in goals], BUDGET)


@pytest.mark.long
@pytest.mark.parametrize("changes", [{}, {"envelope": None}], ids=["envelope", "none"])
@pytest.mark.parametrize("id", ["icgd.forward", "icgd.backward"])
def test_a_goal_finds_in_the_batch_what_it_finds_alone(id: str, changes: dict[str, Any]) -> None:
    instance = instance_of(id, **changes)
    goals = goals_of(instance.bounds.measured)
    assert len({goal.scope for goal in goals}) == 3
    together = batch_of(instance, goals).ascended(BUDGET)
    for goal, found in zip(goals, together, strict=True):
        (alone,) = batch_of(instance, [goal]).ascended(BUDGET)
        for name, value in alone.items():
            assert torch.allclose(found[name], value, rtol=1e-7, atol=1e-9), (goal.key, name)
    assert len({tuple(found["w"].tolist()) for found in together}) > len(goals) // 2  # goals differ in what they find


def test_the_envelope_is_climbed_first() -> None:
    """Without it, the same starts and steps end elsewhere."""
    goal = Goal(instance_of("icgd.forward").quantity("p[2]"))
    errors = []
    for changes in ({}, {"envelope": None}):
        instance = instance_of("icgd.forward", **changes)
        (found,) = batch_of(instance, [goal]).ascended(BUDGET)
        one = {name: value[None] for name, value in found.items()}
        errors.append(float(instance.runs.errors_to_attack(one, ["p[2]"])["p[2]"]))
    assert errors[0] != errors[1]


def test_an_envelope_that_is_the_network_errs_as_it_does() -> None:
    instance = instance_of("icgd.forward", envelope=find_theorem("icgd.forward").network)
    goals = [goal for goal in goals_of(instance.bounds.measured) if goal.scope is None]
    batch = batch_of(instance, goals)
    starts = {
        name: torch.cat([value] * len(goals)) for name, value in instance.inputs.starts(BUDGET.restarts, 5).items()
    }
    assert torch.equal(batch.envelope(starts), batch.objective(starts))


def test_each_item_has_the_error_or_the_ratio_of_its_own_goal() -> None:
    instance = instance_of("icgd.derivative")
    goals = goals_of(instance.bounds.measured)[::-1]
    one = instance.inputs.starts(BUDGET.restarts, 5)
    inputs = {name: torch.cat([value] * len(goals)) for name, value in one.items()}
    found = batch_of(instance, goals).objective(inputs).unflatten(0, (len(goals), BUDGET.restarts))
    for goal, values in zip(goals, found, strict=True):
        name = goal.quantity.name
        wanted = instance.runs.errors_to_attack(one, [name])[name]
        if goal.scope is not None:
            wanted = ratio(wanted, instance.on_tensors.at([goal.quantity], one, goal.scope)[name])
        assert torch.allclose(values, wanted, rtol=1e-9), goal.key


def test_what_is_shown_where_another_errs_most_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = instance_of("icgd.step")
    sought: list[tuple[str, str | None]] = []
    ascended = SearchBatch.ascended

    def recorded(self: SearchBatch, run: Run) -> list[Batch]:
        sought.extend(goal.key for _, goal in self.cells)
        return ascended(self, run)

    monkeypatch.setattr(SearchBatch, "ascended", recorded)
    (points,) = searched([instance], BUDGET)
    assert set(sought) == {("gradient", None), ("gradient", "prompt"), ("gradient", "prompt, local")}
    assert set(points) == {goal.key for goal in goals_of(instance.bounds.measured)}
    others: Sequence[Tensor] = [found["w"] for key, found in points.items() if key[0] != "gradient"]
    assert all(torch.equal(w, points["gradient", None]["w"]) for w in others)
