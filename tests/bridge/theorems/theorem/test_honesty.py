"""The engine shows the largest error that it found, and the input where an error comes closest to its bound.

Each property is a function of a comparison; planted engines that break it have to be noticed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import flint
import pytest
import torch

import boundsmith as bs
from bridge.export.comparison import Comparison
from bridge.instances import search_batch
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.judging import errors, measure
from bridge.judging.judge import Evidence
from bridge.judging.measure import Measurement, Place
from bridge.judging.stated import ratio_of
from bridge.theorems.record import Verdict
from symbolic.statements.result import Quantity
from tests.bridge.theorems.theorem.theorems import BUDGET, compared, product, row_of, scaled

SLACK = 1 + 1e-9  # of a ratio, between float64 and balls


@dataclass
class Seen:
    """Every error that the engine looked at, measured or attacked."""

    found: list[Place] = field(default_factory=list)

    def largest(self) -> float:
        return max(each.evidence.measured for each in self.found)

    def largest_exact(self) -> float:
        return max(float(each.evidence.exact) for each in self.found if each.evidence.exact is not None)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    spy, evidence_at = Seen(), measure.evidence_at

    def watched(instance: Instance, quantity: Quantity, one: Batch) -> Evidence:
        spy.found.append(Place(one, evidence_at(instance, quantity, one)))
        return spy.found[-1].evidence

    monkeypatch.setattr(measure, "evidence_at", watched)
    return spy


def sample_of(theorem: bs.Theorem) -> tuple[Instance, Batch]:
    instance = Instance.of(theorem, {})
    return instance, instance.inputs.sample(BUDGET["samples"], 0)


def shows_the_largest_error(theorem: bs.Theorem, comparison: Comparison, seen: Seen) -> bool:
    """Of all searches, in floats and exactly; and no random input errs by more than the one shown."""
    row = row_of(comparison, "out")
    instance, sample = sample_of(theorem)
    at_random = float(instance.runs.errors(sample, ["out"])["out"].max())
    shown = max(row.measured or 0.0, row.attacked or 0.0)
    return (
        (row.measured or 0.0) >= at_random
        and shown == seen.largest()
        and row.exact is not None
        and bool(row.exact >= seen.largest_exact())
    )


def ratio_is_of_the_largest_error(comparison: Comparison, seen: Seen) -> bool:
    row = row_of(comparison, "out")
    bound = min(each for each in (row.derived, row.instance) if each is not None)
    return row.ratio is not None and abs(row.ratio / (bound / seen.largest_exact()) - 1) < 1e-9


def prompt_row_is_the_closest(theorem: bs.Theorem, comparison: Comparison, seen: Seen) -> bool:
    """Of all searches; and no random input comes closer to its own bound than the input shown."""
    row = row_of(comparison, "out", "prompt")
    instance, sample = sample_of(theorem)
    quantity = instance.quantity("out")
    bounds = instance.on_tensors.at([quantity], sample, "prompt")["out"]
    closest = float((bounds / instance.runs.errors(sample, ["out"])["out"]).min())
    for each in seen.found:
        bound = instance.bounds.instance(quantity, "prompt", each.inputs)
        assert bound is not None
        assert each.evidence.exact is not None
        closest = min(closest, float(bound.ball / each.evidence.exact))
    return row.ratio is not None and row.ratio <= closest * SLACK


# W x errs by eps (W x) at all prompts alike; this one errs less than that at prompts with a small first entry.
def uneven() -> bs.Theorem:
    return product(network=lambda W, b, x, eps: (1 + eps * (2 + x[0]) / 3) * (W @ x) + b)


def test_an_honest_engine_has_each_property(seen: Seen) -> None:
    theorem = uneven()
    comparison = compared(theorem)
    assert shows_the_largest_error(theorem, comparison, seen)
    assert ratio_is_of_the_largest_error(comparison, seen)
    assert prompt_row_is_the_closest(theorem, comparison, seen)


def smallest(found: Measurement, quantity: Quantity) -> list[Place]:
    of_searches = zip(found.by_error["out"], found.by_ratio["out", "prompt"], strict=True)
    return [min(each, key=lambda place: place.evidence.measured) for each in of_searches]


def test_an_engine_that_shows_a_smaller_error_of_two_searches_is_noticed(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    theorem = uneven()
    monkeypatch.setattr(Measurement, "largest", smallest)
    assert not shows_the_largest_error(theorem, compared(theorem), seen)


def test_an_engine_that_keeps_a_random_input_other_than_the_worst_is_noticed(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = measure._worst

    def best(instance: Instance, quantity: Quantity, batch: Batch, by: torch.Tensor) -> Place:
        return worst(instance, quantity, batch, -by)

    theorem = uneven()
    monkeypatch.setattr(measure, "_worst", best)
    comparison = compared(theorem, attack=0)
    assert not shows_the_largest_error(theorem, comparison, seen)
    assert not prompt_row_is_the_closest(theorem, comparison, seen)


def test_an_engine_whose_ratio_leaves_out_an_error_is_noticed(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = errors._ratio
    monkeypatch.setattr(errors, "_ratio", lambda tiers, evidence: ratio(tiers, evidence[:1]))
    assert not ratio_is_of_the_largest_error(compared(uneven()), seen)


def inverted(errors: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
    return bounds / errors


@pytest.mark.parametrize(
    ("places", "settings"),
    [
        ([(errors, "_slackness", lambda row, *_: -row.ratio)], {}),
        ([(measure, "ratio", inverted)], {"attack": 0}),
        ([(measure, "ratio", inverted), (search_batch, "ratio", inverted)], {}),
    ],
    ids=["of two searches", "of the random inputs", "of all inputs"],
)
def test_an_engine_that_picks_the_input_furthest_from_its_bound_is_noticed(
    places: list[tuple[Any, str, Any]], settings: dict[str, int], seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    theorem = uneven()
    for place in places:
        monkeypatch.setattr(*place)
    assert not prompt_row_is_the_closest(theorem, compared(theorem, **settings), seen)


OTHER = {
    "a shift": lambda x: x + 0.5,
    "another factor": lambda x, eps: (1 + 2 * eps) * x,
    "a permutation": lambda x: x.flip(0),
    "a rare deviation": lambda x: torch.where(x.sum() > 2.5, 2 * x, x),
}


@pytest.mark.parametrize("network", OTHER.values(), ids=list(OTHER))
def test_a_network_of_another_function_is_found_out(network: Callable[..., torch.Tensor]) -> None:
    row = row_of(compared(scaled(network=network), samples=16, attack=20), "out")
    assert row.verdict == {"derived": Verdict.VIOLATED, "instance": Verdict.VIOLATED}
    assert row.witness is not None
    x = torch.tensor(row.witness.inputs["x"][0], dtype=torch.float64)
    arguments = (x, 0.01) if network is OTHER["another factor"] else (x,)
    assert row.witness.error_lower == pytest.approx(float((network(*arguments) - x).abs().max()), rel=1e-12)


@pytest.mark.parametrize("factor", [0.9, 0.999, 1 - 1e-12])
def test_a_bound_a_little_too_small_is_violated_and_the_sharp_one_is_attained(factor: float) -> None:
    row = row_of(compared(scaled(printed={"out": 0.01 * factor})), "out")
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert row.flags["derived"] == ["attained"]
    assert row.ratio == 1.0


@pytest.mark.parametrize("found", [(1.0, 2.0), (2.0, 1.0), (None, 2.0), (2.0, None)])
def test_a_check_takes_the_ratio_of_the_largest_error(found: tuple[float | None, float | None]) -> None:
    assert ratio_of(bs.statements.Kind.UPPER, [4.0, None], found) == 2.0


def test_an_exact_error_is_rounded_up() -> None:
    row = row_of(compared(scaled()), "out")
    assert row.exact is not None
    assert flint.arb(row.exact) >= flint.arb(flint.fmpq(*(0.01).as_integer_ratio()))
