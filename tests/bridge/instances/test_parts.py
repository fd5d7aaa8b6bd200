"""The parts of a theorem at one point: each can be read alone, and is made when it is asked for."""

from collections.abc import Mapping
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.instances.point import Point
from bridge.instances.search import companies, company
from bridge.limits.run import Format, Run
from symbolic.words.errors import UsageError

n, eps = sp.Symbol("n", integer=True, positive=True), sp.Symbol("eps", nonnegative=True)


def moved(made: list[str], **more: Any) -> bs.Theorem:
    """x and half a step of a grid of 1/n: it errs by that. `made` lists what is made, as it is."""

    def grid(n: int) -> torch.Tensor:
        made.append("grid")
        return torch.tensor(float(n), dtype=torch.float64)

    def shift(n: int, seed: int) -> torch.Tensor:
        made.append("shift")
        return torch.tensor([float(n), float(seed)], dtype=torch.float64)

    error = bs.rules.given("out", dim=3, size=1, error=1 / (2 * n) + eps)
    return bs.theorem(
        "moved",
        error,
        parameters={n: 4, eps: 0.0},
        inputs={"x": bs.domains.Box(3)},
        weights={"shift": shift},
        built={"grid": grid},
        network=lambda x, grid: x + 1 / (2 * grid),
        reference=lambda x: x,
        **more,
    )


def at(theorem: bs.Theorem, run: Run | None = None, **params: Any) -> Instance:
    run = Run() if run is None else run
    return Instance.at(Point.at(theorem, params, run), run.format)


def test_a_point_is_data() -> None:
    made: list[str] = []
    point = Point.at(moved(made), {"n": 3})
    assert point.numbers == {n: 3, eps: 0.0}
    assert point.shown == {"n": 3, "eps": 0.0}
    assert [each.name for each in point.stated.quantities] == ["out"]
    assert made == []


def test_a_point_outside_the_hypotheses_is_refused() -> None:
    with pytest.raises(UsageError, match="n = 0 does not meet n >= 1"):
        Point.at(moved([]), {"n": 0})


def test_a_bound_builds_nothing_that_it_does_not_ask_for() -> None:
    made: list[str] = []
    instance = at(moved(made))
    assert float(instance.bounds.derived(instance.point.stated.quantity("out")).ball) == 0.125
    assert made == []


def test_what_is_built_is_built_once_and_shared_with_the_same_point_nearby() -> None:
    made: list[str] = []
    instance = at(moved(made), Run(seed=5))
    instance.require()
    assert sorted(made) == ["grid", "shift"]
    assert instance.known["shift"].tolist() == [4.0, 5.0]
    assert instance.nearby.known["grid"] is instance.known["grid"]
    instance.require()
    assert len(made) == 2


def test_networks_run_without_any_bound() -> None:
    instance = at(moved([]))
    batch = {"x": torch.tensor([[0.1, 0.2, 0.3]], dtype=torch.float64)}
    assert instance.networks.network(batch, ["out"], torch.float64)["out"].tolist() == [[0.225, 0.325, 0.425]]
    assert instance.runs.errors(batch, ["out"])["out"].tolist() == pytest.approx([0.125])
    exact, rounding = instance.runs.exact(batch, ["out"], 96)["out"]
    assert float(exact) == 0.125
    assert rounding < 1e-15


def test_letters_are_read_at_other_values() -> None:
    instance = at(moved([]))
    assert float(instance.letters.ball(1 / n)) == 0.25
    assert float(instance.letters.with_({n: 8}).ball(1 / n)) == 0.125
    assert float(instance.letters.ball(1 / n)) == 0.25


def test_bounds_are_read_at_other_letters_and_with_claims_of_the_users() -> None:
    instance = at(moved([]))
    out = instance.quantity("out")
    assert float(instance.bounds.with_letters({n: 8}).derived(out).ball) == 0.0625
    assert float(instance.bounds.derived(out).ball) == 0.125
    assert instance.bounds.claimed(out) is None


def test_points_that_differ_in_floats_alone_are_one_company() -> None:
    theorem = moved([], knows={})
    same = [at(theorem, n=4, eps=each) for each in (0.0, 0.5)]
    other = at(theorem, n=5)
    assert company(same[0])[1] == company(same[1])[1]
    assert company(same[0])[1] != company(other)[1]
    assert sum(map(len, companies([*same, other]))) == 3


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_the_format_of_a_run_is_that_of_its_inputs(name: str) -> None:
    run = Run(format=Format.named(name))
    sample: Mapping[str, torch.Tensor] = at(moved([]), run).inputs.sample(2, 0)
    assert str(sample["x"].dtype) == f"torch.{name}"
