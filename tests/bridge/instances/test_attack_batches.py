"""One batch holds the restarts of all quantities, scopes and like points; each finds what its own attack finds."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
import bridge.instances.search as searches
import bridge.instances.transformer_batch as transformer_batch
from bridge.instances.goals import goals_of, ratio
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search import companies, company, memory_at_once, memory_of_goal, searched
from bridge.limits.memory import GIGABYTE
from bridge.limits.run import Format, Run
from bridge.questions.compare import grid_of
from bridge.theorems.record import Verdict
from bridge.theorems.theorem import Theorem
from examples import gradient_step, own_theorem
from numeric.networks.construction import Construction, Embedding
from numeric.networks.layers import RelativePositions
from numeric.networks.network import Network
from numeric.search import recording
from numeric.search.ensemble import Ensemble
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from tests.counting import Calls

BUDGET = Run(samples=8, attack=12, restarts=4, seed=5)
eps, K, rho, B = sp.symbols("eps K rho B", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
POINTS = (0.01, 0.02, 0.1, 0.4)


@pytest.fixture
def unrecorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each evaluation calls the functions, so that calls count evaluations."""
    monkeypatch.setattr(recording, "WORTHWHILE", 1000)


def shrunk(x: Any, eps: Any, K: Any) -> dict[str, Any]:
    first = (1 - eps) * x
    return {"first": first, "second": K * first, "third": K * first.sum()[None]}


def three(network: Callable[..., Any] = shrunk, *, factor: float = 1, **changes: Any) -> Theorem:
    """x, K x and the sum of K x, with a share eps of x lost; each bound is attained at some x in [-1, 1]^d."""
    first = bs.rules.apply_function(
        bs.rules.given("x", dim=d, size=rho), "first", eps=factor * eps * rho, lipschitz=1, size=rho
    )
    second = bs.rules.linear_map(first, "second", operator_norm=K, dim=d)
    arguments: dict[str, Any] = {
        "parameters": {eps: POINTS, K: 1.5, d: 3},
        "inputs": {"x": bs.domains.Box(d)},
        "network": network,
        "reference": lambda x, K: {"first": x, "second": K * x, "third": K * x.sum()[None]},
        "worst": {rho: 1},
        "knows": {rho: lambda x: x.abs().amax()},
    }
    third = bs.rules.linear_map(second, "third", operator_norm=d, dim=1)
    return bs.theorem("three", first, second, third, **{**arguments, **changes})


def boxes() -> Theorem:
    """Points differ in the domain too."""
    return three(
        parameters={eps: POINTS[:2], K: 1.5, d: 3, B: (0.5, 2.0)},
        inputs={"x": bs.domains.Box(d, size=B)},
        worst={rho: B},
    )


def weighted() -> Theorem:
    """Points differ in a weight that follows a parameter."""
    return three(
        lambda x, W, eps, K: shrunk(W @ x, eps, K),
        weights={"W": lambda K, d: np.diag(np.cos(K * np.arange(d)))},
        reference=lambda x, W, K: shrunk(W @ x, 0.0, K),
        parameters={eps: POINTS[:2], K: (1.0, 1.5), d: 3},
    )


def head(p: Any, w: Any, d: int, wide: bool) -> Construction:
    """One head with positions; the wide one carries a constant along."""
    tokens = bs.networks.Stream([bs.networks.Block("x", d)])
    stream = tokens.extend(bs.networks.Block("one", 1)) if wide else tokens
    same = bs.networks.BlockMap(stream, stream, {("x", "x"): 1.0})
    match = bs.networks.Head(
        "match", bs.networks.BlockMap(stream, stream, {("x", "x"): w}), same, same, RelativePositions(p)
    )
    enter, leave = (bs.networks.BlockMap(*ends, {("x", "x"): 1.0}) for ends in ((tokens, stream), (stream, tokens)))
    embedding = Embedding(enter, {"one": np.ones(1)} if wide else {})
    return Construction(
        "head", tokens, embedding, (bs.networks.SoftmaxAttention((match,), residual=False),), leave, {}, True
    )


def heads(L: int = 6) -> Theorem:
    """Two transformers of one family, of different widths, against the head without positions."""
    p, w = sp.symbols("p w", positive=True)
    tokens = bs.rules.given("x", dim=d, size=1)
    narrow, wide = (
        bs.rules.apply_function(tokens, name, eps=4 * w, lipschitz=1, size=1) for name in ("narrow", "wide")
    )

    def network(wide: bool) -> bs.Transformer:
        read = {name: lambda output: output for name in ("narrow", "wide")}
        return bs.Transformer(build=lambda p, w, d: head(p, w, d, wide), tokens=lambda x: x, read=read)

    return bs.theorem(
        "heads",
        narrow,
        wide,
        parameters={p: (1.0, 3.0), w: (0.5, 1.0), d: 2},
        inputs={"x": bs.domains.Box(L, d)},
        network={"narrow": network(False), "wide": network(True)},
        reference=lambda x, w: torch.softmax(w * (x[:-1] @ x[-1]), 0) @ x[:-1],
    )


THEOREMS: dict[str, Callable[[], Theorem]] = {
    "three": three,
    "boxes": boxes,
    "weighted": weighted,
    "heads": heads,
    "gradient step": lambda: gradient_step.own,
    "analog tanh": lambda: own_theorem.own,
}


def instances_of(theorem: Theorem) -> list[Instance]:
    return [Instance.of(theorem, point) for point in grid_of(theorem, {})]


def value(instance: Instance, quantity: Quantity, scope: str | None, point: Batch) -> float:
    inputs = {name: each.unsqueeze(0) for name, each in point.items()}
    error = instance.runs.errors(inputs, [quantity.name])[quantity.name]
    if scope is None:
        return float(error)
    return float(ratio(error, instance.on_tensors.at([quantity], inputs, scope)[quantity.name]))


@pytest.mark.long
@pytest.mark.parametrize("name", THEOREMS)
def test_each_goal_finds_as_much_as_by_itself(name: str) -> None:
    for instances in companies(instances_of(THEOREMS[name]())):
        together = searched(instances, BUDGET)
        for instance, points in zip(instances, together, strict=True):
            for goal in goals_of(instance.bounds.measured):
                alone = searches._alone(instance, goal, BUDGET)
                found, least = (value(instance, goal.quantity, goal.scope, each) for each in (points[goal.key], alone))
                assert found >= (1 - 1e-6) * least - 1e-15
                assert found > 0


@pytest.mark.usefixtures("unrecorded")
def test_steps_and_one_evaluations_serve_three_quantities_two_scopes_and_four_points() -> None:
    network, letter = Calls(shrunk), Calls(lambda x: x.abs().amax())
    (instances,) = companies(instances_of(three(network, knows={rho: letter})))
    assert (len(instances), len(goals_of(instances[0].bounds.measured))) == (4, 6)
    searched(instances, BUDGET)
    assert (network.count, letter.count) == (BUDGET.attack + 1, BUDGET.attack + 1)


def test_an_attack_calls_the_functions_until_it_replays_them_and_finds_the_same(request: pytest.FixtureRequest) -> None:
    network = Calls(shrunk)
    instance = instances_of(three(network))[0]
    replayed = searched([instance], BUDGET)[0]
    assert network.count == 3
    request.getfixturevalue("unrecorded")
    plain = searched([instance], BUDGET)[0]
    assert network.count == 3 + BUDGET.attack + 1
    assert all(torch.equal(plain[key]["x"], replayed[key]["x"]) for key in plain)


@pytest.mark.usefixtures("unrecorded")
def test_a_longer_attack_costs_one_evaluation_a_step() -> None:
    def evaluations(steps: int) -> int:
        network = Calls(shrunk)
        instances = instances_of(three(network))
        searched(instances, replace(BUDGET, attack=steps))
        return network.count

    assert evaluations(9) - evaluations(4) == 5


@pytest.mark.usefixtures("unrecorded")
def test_transformers_of_one_family_run_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble, network = Calls(Ensemble.run), Calls(Network.run)
    monkeypatch.setattr(Ensemble, "run", lambda *args: ensemble(*args))
    monkeypatch.setattr(Network, "run", lambda *args: network(*args))
    (instances,) = companies(instances_of(heads()))
    assert len(instances) == 4
    together = searched(instances, BUDGET)
    assert (ensemble.count, network.count) == (BUDGET.attack + 1, 0)

    monkeypatch.setattr(transformer_batch, "WIDEST", 2)  # the other network is wider: it runs point by point
    apart = searched(instances, BUDGET)
    assert (ensemble.count, network.count) == (2 * (BUDGET.attack + 1), 4 * (BUDGET.attack + 1))
    for one, other in zip(together, apart, strict=True):
        for key, point in one.items():
            assert torch.allclose(point["x"], other[key]["x"], rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("unrecorded")
def test_long_prompts_run_each_transformer_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer_batch, "LONGEST", 5)
    network = Calls(Network.run)
    monkeypatch.setattr(Network, "run", lambda *args: network(*args))
    (instances,) = companies(instances_of(heads()))
    searched(instances, BUDGET)
    assert network.count == 8 * (BUDGET.attack + 1)


@pytest.mark.usefixtures("unrecorded")
def test_batches_that_memory_limits_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    (instances,) = companies(instances_of(three()))
    whole = searched(instances, BUDGET)
    monkeypatch.setattr(searches, "AT_ONCE", 5 * memory_of_goal(instances[0], BUDGET) + 1)
    network = Calls(shrunk)
    (instances,) = companies(instances_of(three(network)))
    parts = searched(instances, BUDGET)
    assert network.count == 5 * (BUDGET.attack + 1)  # 24 goals, 5 at once
    assert memory_at_once(instances, BUDGET) == 5 * memory_of_goal(instances[0], BUDGET)
    for one, other in zip(whole, parts, strict=True):
        assert all(torch.equal(point["x"], other[key]["x"]) for key, point in one.items())


def branching(x: Any, eps: Any, K: Any) -> dict[str, Any]:
    return shrunk(x, eps if eps > 0.05 else 1 * eps, K)


def by_a_float(x: Any, eps: Any, K: Any) -> dict[str, Any]:
    return shrunk(x, math.sqrt(eps) ** 2, K)


@pytest.mark.usefixtures("unrecorded")
@pytest.mark.parametrize("network", [branching, by_a_float])
def test_a_function_that_takes_a_parameter_as_one_number_is_attacked_point_by_point(network: Any) -> None:
    counted = Calls(network)
    (instances,) = companies(instances_of(three(counted)))
    apart = searched(instances, BUDGET)
    assert counted.count == 1 + 4 * (BUDGET.attack + 1)
    for instance, one, other in zip(instances, searched(instances, BUDGET), apart, strict=True):
        found = [value(instance, instance.quantity("second"), None, each["second", None]) for each in (one, other)]
        assert found[0] == found[1]


def test_a_function_that_branches_on_its_input_is_still_refused() -> None:
    with pytest.raises(UsageError, match="branches on a value of its inputs"):
        bs.compare(three(lambda x, eps, K: shrunk(x, eps, K) if x.sum() > 0 else shrunk(x, 0.0, K)), samples=2)


@pytest.mark.long
def test_an_error_that_is_nowhere_finite_in_float64_is_named() -> None:
    def large(x: Any, eps: Any, K: Any) -> dict[str, Any]:
        return {**shrunk(x, eps, K), "second": 1e200 * (1e200 * K * x)}

    with pytest.raises(UsageError, match="three: the error of 'second' is not finite in float64 at any input that the"):
        bs.compare(three(large), samples=2)


@pytest.mark.parametrize(("factor", "verdict"), [(1, Verdict.KEPT), (0.9, Verdict.VIOLATED)])
def test_a_planted_violation_is_found_for_each_quantity_scope_and_point(factor: float, verdict: Verdict) -> None:
    rows = bs.compare(three(factor=factor), samples=2, attack=20, restarts=4).rows
    assert len(rows) == 4 * 6
    assert {row.verdict["instance"] for row in rows} == {verdict}


def test_the_same_seed_gives_the_same_record() -> None:
    records = [bs.compare(heads(), samples=4, attack=8, restarts=3, seed=2) for _ in range(2)]
    assert records[0].model_dump_json() == records[1].model_dump_json()


def test_points_of_one_company_differ_in_numbers_alone() -> None:
    assert [len(group) for group in companies(instances_of(three()))] == [4]
    assert [len(group) for group in companies(instances_of(own_theorem.own))] == [1, 1]  # other depths
    theorem = three()
    formats = [Run(format=Format.named(each)) for each in ("float64", "float32")]
    one, other = (Instance.of(theorem, {"eps": 0.1}, each) for each in formats)
    assert company(one) != company(other)
    one, other = (instances_of(three())[0] for _ in range(2))  # two theorems
    assert company(one) != company(other)


def test_a_batch_that_does_not_fit_is_refused_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.limits.memory.available_bytes", lambda: GIGABYTE // 1024)
    bs.compare(three(), samples=2, attack=1, restarts=2)
    with pytest.raises(UsageError, match=r"needs about .* GiB of memory.*lower the sizes, --samples or --restarts"):
        bs.compare(three(), samples=2, attack=1, restarts=1000)
