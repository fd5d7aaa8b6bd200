"""Row `faithful`: which deviations of network and reference from their derivation it finds, and which it allows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.judging.faithful import Faithful, FaithfulSides
from bridge.questions.compare import grid_of
from bridge.questions.replaying import replay_witness
from bridge.theorems.parts import ExactRuns
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem_files import read_theorem
from symbolic.words.errors import UsageError
from tests.bridge.theorems.theorem.test_handles import (
    K,
    N,
    activation,
    chain,
    d,
    deep,
    eps,
    handles,
    instance_of,
    states,
)
from tests.bridge.theorems.theorem.theorems import compared

EXAMPLES = Path(__file__).parents[4] / "examples"
SMALL = 1e-6


def faithful(theorem: bs.Theorem, **settings: Any) -> Row:
    (row,) = (row for row in compared(theorem, **settings) if row.quantity == "faithful")
    return row


def moved(W: Any) -> Any:
    """One weight changed by 1e-6."""
    return W + SMALL * torch.tensor([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=W.dtype)


def test_one_row_for_a_network_that_is_the_program_of_its_derivation() -> None:
    row = faithful(deep(), eps=0.1)
    assert (row.verdict, row.measured, row.derived) == ({"derived": Verdict.KEPT}, 0, 0)
    assert row.meaning == "distance of network and reference from the values in the derivation of out"
    assert row.witness is None


def test_a_changed_weight_of_the_network_is_found() -> None:
    theorem = deep(network=lambda W, x, N, eps: states(moved(W), x, N, 1 - eps))
    row = faithful(theorem, eps=0.1)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert "the network of 'out' does not compute the emulated value of its derivation" in row.remark
    assert "reference" not in row.remark
    assert row.witness is not None
    assert 1e-9 < row.witness.error_lower < SMALL
    again = replay_witness(row.witness, theorem=theorem)
    assert again.verdict == {"derived": Verdict.VIOLATED}
    assert again.measured == row.measured


def test_a_changed_reference_is_found() -> None:
    row = faithful(deep(reference=lambda W, x, N: states(moved(W), x, N)), eps=0.1)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert "the reference of 'out' is not the exact value of its derivation: they are" in row.remark
    assert "network" not in row.remark


def test_only_the_quantity_that_fails_is_named() -> None:
    single = bs.rules.given("single", dim=d, size=1)
    theorem = deep(
        single,
        chain(),
        network={
            "single": lambda x: x + SMALL,
            "out": lambda W, x, N, eps: states(W, x, N, 1 - eps),
        },
        reference=lambda W, x, N: {"single": x, "out": states(W, x, N)},
        handles=lambda W, x, eps: {**handles(W, x, eps), "single": x},
    )
    row = faithful(theorem, eps=0.1)
    assert row.verdict == {"derived": Verdict.VIOLATED}
    assert "'single'" in row.remark
    assert "'out'" not in row.remark


@pytest.mark.parametrize("name", ["by_rules.py", "gradient_step.py", "ridge.py"])
def test_a_changed_weight_of_an_example_is_found_on_balls_and_in_floats(name: str) -> None:
    theorem = read_theorem(str(EXAMPLES / name))
    for changed, holds in ((theorem, True), (_changed(theorem), False)):
        instance = Instance.of(changed, grid_of(changed, {})[0])
        judged = FaithfulSides(instance, Faithful(instance).sides, list(theorem.inputs))
        inputs = instance.inputs.sample(1, seed=0)
        for found in (judged._on_balls(inputs).found, judged._in_floats(inputs).found):
            assert (found == 0) is holds
            assert (found > 0) is not holds


def _changed(theorem: bs.Theorem) -> bs.Theorem:
    """The network of the same theorem with another parameter that enters its weights."""
    networks: dict[str, Any] = {}
    for key, network in theorem.networks.items():
        networks[key] = _nudged(network)
    return replace(theorem, network=networks)


def _nudged(network: Any) -> Any:
    if not isinstance(network, bs.Transformer):
        return lambda W, x, N, eps: network(W * (1 + SMALL), x, N, eps)
    if "eta" in network.build.__code__.co_varnames:
        if "beta" in network.build.__code__.co_varnames:
            build: Any = lambda eta, n, d, beta: network.build(eta * (1 + SMALL), n, d, beta)  # noqa: E731
        else:
            build = lambda eta, n, d: network.build(eta * (1 + SMALL), n, d)  # noqa: E731
    else:
        build = lambda beta, lamda, n, d, L: network.build(beta * (1 + SMALL), lamda, n, d, L)  # noqa: E731
    return replace(network, build=build)


def test_sound_networks_are_kept_in_floats() -> None:
    row = faithful(replace(deep(), exact=ExactRuns(limit=1)), eps=0.1)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert "judged on floats, beside the rounding measured at this input" in row.remark


def test_an_approximation_that_is_known_by_its_bound_alone_leaves_the_reference() -> None:
    """No approximant is bound: the network is not compared, the reference is."""
    plain = deep(handles=lambda W, x: {"W": W, "x": x, "r": torch.tanh})
    row = faithful(plain, eps=0.1)
    assert row.verdict == {"derived": Verdict.KEPT}
    assert "of out the reference alone" in row.meaning
    wrong = faithful(replace(plain, reference=lambda W, x, N: states(moved(W), x, N)), eps=0.1)
    assert wrong.verdict == {"derived": Verdict.VIOLATED}


def test_what_python_rounds_refutes_nothing() -> None:
    """0.1 * 7 is not 0.7 in floats; the two gains are equal as the user means them."""
    theorem = deep(
        network=lambda W, x, N: states(W, x, N, 0.1 * 7),
        parameters={eps: 0.3, K: 1.5, N: 2, d: 3},
        handles=lambda W, x: {"W": W, "x": x, "r": activation(3 / 10)},
    )
    assert faithful(theorem).verdict == {"derived": Verdict.UNDECIDED}


def test_entries_that_do_not_agree_are_refused() -> None:
    with pytest.raises(UsageError, match="last axis has length d = 3"):
        faithful(
            deep(
                bs.rules.linear_map(bs.rules.given("x", dim=d, size=1), "out", operator_norm=K, dim=d, matrix="W"),
                handles=lambda W, x: {"W": W[:1], "x": x},
                network=lambda W, x: W @ x,
                reference=lambda W, x: W @ x,
            ),
            eps=0.1,
        )


def test_the_judged_prompt_is_among_random_ones() -> None:
    instance = instance_of(deep(network=lambda W, x, N, eps: states(moved(W), x, N, 1 - eps)))
    judged = FaithfulSides(instance, Faithful(instance).sides, ["x"])
    assert judged(x=torch.zeros(3, dtype=torch.float64, device="cpu")).found == 0  # both are 0 there
    assert faithful(instance.theorem, eps=0.1).verdict == {"derived": Verdict.VIOLATED}


def test_a_network_that_float32_cannot_run_is_undecided_in_floats() -> None:
    """Its rounding is not known then, so that it says nothing of a wrong network."""

    def overflowing(W: Any, x: Any, N: int, eps: Any) -> Any:
        large = 2.0**100
        return states(moved(W), x, N, 1 - eps) * large * large / large / large

    row = faithful(replace(deep(network=overflowing), exact=ExactRuns(limit=1)), eps=0.1)
    assert row.verdict == {"derived": Verdict.UNDECIDED}
    assert faithful(replace(deep(), exact=ExactRuns(limit=1)), eps=0.1).verdict == {"derived": Verdict.KEPT}
