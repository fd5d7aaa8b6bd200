"""The scope `prompt, every`: the attack moves the matrices that it speaks of, and a witness stores them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.goals import Goal
from bridge.instances.instance import Instance
from bridge.instances.neighbours import Neighbours
from bridge.instances.point import cost_of
from bridge.limits.cost import PRODUCT, Work
from bridge.limits.run import Run
from bridge.questions.compare import grid_of
from examples import rounded_blocks
from symbolic.words.errors import UsageError
from tests.bridge.theorems.theorem import theorems

EVERY = "prompt, every"
SEARCHED = {"samples": 8, "attack": 60, "restarts": 4}
delta, eta, K = sp.symbols("delta eta K", positive=True)
m, n, d, N = sp.symbols("m n d N", integer=True, positive=True)


def row_of(theorem: bs.Theorem, **params: Any) -> Any:
    (row,) = (row for row in bs.compare(theorem, **{**SEARCHED, **params}).rows if row.scope == EVERY)
    return row


def product(matrix: Any, norm: Any = 2, **more: Any) -> bs.Theorem:
    values = {K: 1.0, delta: 0.25, eta: 0.125, m: 3, d: 4}
    return bs.theorem("product", matrix @ bs.vector("x", d, norm=1), norm=norm, parameters=values, **more)


# Attained by W + (delta/2) sign(x) in each row, and by W + eta u x^T/||x||_2: the roundings of W itself stay away.
@pytest.mark.parametrize(
    ("matrix", "factor"),
    [
        (bs.matrix("W", m, d, spectral=K).rounded(delta), 1 + 1e-9),
        (bs.matrix("W", m, d, spectral=K).within(eta), 1 + 1e-3),
        (bs.matrix("W", m, d, row_sums=K).within(eta, "row_sums"), 1 + 1e-9),
    ],
    ids=["rounded", "spectral", "row sums"],
)
def test_the_attack_moves_the_matrices_to_where_the_bound_is_attained(matrix: Any, factor: float) -> None:
    row = row_of(product(matrix, "inf" if matrix.norms.keys() == {("inf", "inf")} else 2))
    assert row.verdict == {"instance": bs.Verdict.KEPT}
    assert 1 <= row.ratio <= factor
    assert row.exact <= row.instance


def test_without_an_attack_the_matrices_stay() -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta))
    assert row_of(theorem, attack=0).ratio > 1.5 * row_of(theorem).ratio


def test_each_layer_moves_its_own_matrix() -> None:
    W = bs.matrix("W", d, d, layers=N, row_sums=K).rounded(delta)
    output = bs.repeat(lambda p: W @ p, bs.vector("x", d, size=1), N)
    theorem = bs.theorem("deep", output, norm="inf", parameters={K: 1.0, delta: 2**-10, d: 3, N: 2})
    row = row_of(theorem)
    assert row.verdict == {"instance": bs.Verdict.KEPT}
    assert row.ratio <= 1.05


@pytest.mark.long
@pytest.mark.parametrize("blocks", [1, 2])
def test_blocks_err_nearly_as_much_as_the_bound_for_every_rounding_allows(blocks: int) -> None:
    row = row_of(rounded_blocks.own, N=blocks, attack=200)
    assert row.verdict == {"instance": bs.Verdict.KEPT}
    assert row.ratio is not None
    assert 1 <= row.ratio <= {1: 1.4, 2: 1.8}[blocks]


# --- what is moved is as near as the theorem says ---------------------------------------------------------------------


def found_near(theorem: bs.Theorem) -> tuple[Instance, Instance, dict[str, torch.Tensor]]:
    instance = Instance.of(theorem, grid_of(theorem, {})[0])
    goal = Goal(instance.bounds.quantities["output"], EVERY)
    found = Neighbours(instance, goal).worst(instance.inputs.sample(1, 0), Run(samples=1, attack=40, restarts=4))
    assert found is not None
    return instance, found[1], found[0]


def test_they_stay_within_the_distance_and_the_bound_does_not_move() -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta))
    instance, other, one = found_near(theorem)
    change = other.known["W_hat"] - instance.known["W"]
    assert 0.1249 < float(change.abs().max()) <= 0.125
    assert torch.equal(other.known["W"], instance.known["W"])
    assert not torch.equal(other.known["W_hat"], instance.known["W_hat"])
    quantity = instance.bounds.quantities["output"]
    bounds = [each.bounds.instance(quantity, EVERY, one) for each in (instance, other)]
    assert bounds[0].number() == bounds[1].number()


# --- a bound that is wrong --------------------------------------------------------------------------------------------


def halved(W: torch.Tensor, W_hat: torch.Tensor, x: torch.Tensor) -> dict[str, Any]:
    """Says of a matrix rounded by up to 1/8 that it is within 1/16."""
    return {"W": bs.Emulated(W, W_hat, 1 / 16), "x": x}


def test_a_distance_that_is_too_small_is_refuted_by_a_matrix_that_the_witness_stores(tmp_path: Path) -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta), handles=halved)
    row = row_of(theorem)
    assert row.verdict == {"instance": bs.Verdict.VIOLATED}
    assert row.witness is not None
    stored = np.array(row.witness.params["W_hat"])
    W = Instance.of(theorem, grid_of(theorem, {})[0]).known["W"].numpy()
    assert abs(stored - W).max() <= 0.125 < 2.01 * abs(stored - W).max()
    path = tmp_path / "witness.json"
    path.write_text(row.witness.model_dump_json())
    again = bs.replay(str(path), theorem)
    assert again.verdict == {"derived": bs.Verdict.KEPT, "instance": bs.Verdict.VIOLATED}
    assert again.exact == pytest.approx(row.exact)


@pytest.mark.parametrize(
    ("change", "words"),
    [(lambda stored: (3 * np.array(stored)).tolist(), "W_hat - W: "), (lambda _: "many", "W_hat is not an array")],
    ids=["too far", "no numbers"],
)
def test_a_stored_matrix_that_is_not_as_near_is_refused(tmp_path: Path, change: Any, words: str) -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta), handles=halved)
    witness = row_of(theorem).witness
    witness.params["W_hat"] = change(witness.params["W_hat"])
    path = tmp_path / "witness.json"
    path.write_text(witness.model_dump_json())
    with pytest.raises(UsageError, match=words):
        bs.replay(str(path), theorem)


# --- networks of one's own --------------------------------------------------------------------------------------------


def test_a_network_that_takes_no_such_matrix_is_attacked_at_its_inputs_alone() -> None:
    matrix = bs.matrix("W", m, d, spectral=K).rounded(delta)

    def network(W: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return W @ x

    theorem = product(matrix, network=network)
    instance = Instance.of(theorem, grid_of(theorem, {})[0])
    goal = Goal(instance.bounds.quantities["output"], EVERY)
    assert Neighbours(instance, goal).worst(instance.inputs.sample(1, 0), Run(samples=1, attack=5, restarts=2)) is None
    assert row_of(theorem).verdict == {"instance": bs.Verdict.KEPT}


def branching(W_hat: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return W_hat @ x if W_hat.abs().max() < 100 else x


def on_balls_without(W: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return W @ x


def in_part(W_hat: torch.Tensor, half: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (W_hat / 2 + half) @ x


def test_a_network_that_branches_on_a_matrix_is_attacked_at_its_inputs_alone() -> None:
    row = row_of(product(bs.matrix("W", m, d, spectral=K).rounded(delta), network=branching))
    assert row.verdict == {"instance": bs.Verdict.KEPT}
    assert row.remark == (
        "the attack leaves the matrices as they are, since the network does not run on a batch of them; write "
        "torch.where for a branch on a matrix"
    )


@pytest.mark.parametrize(
    "more",
    [
        {"network": bs.Pair(lambda W_hat, x: W_hat @ x, on_balls_without)},
        {"network": in_part, "built": {"half": lambda W_hat: W_hat / 2}},
    ],
    ids=["not on balls", "built of it"],
)
def test_a_matrix_that_does_not_move_alone_stays(more: dict[str, Any]) -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta), **more)
    instance = Instance.of(theorem, grid_of(theorem, {})[0])
    goal = Goal(instance.bounds.quantities["output"], EVERY)
    assert Neighbours(instance, goal).near == {}
    assert row_of(theorem).remark == ""


BOX = bs.domains.Box(m, d, size=delta)


@pytest.mark.parametrize(
    ("near", "words"),
    [
        ({"V_hat": ("W", BOX)}, "product: near names V_hat, which is not built; there are: W_hat, norm_W"),
        ({"W_hat": ("V", BOX)}, "product: near names V, which is no weight; there are: W"),
    ],
    ids=["not built", "no weight"],
)
def test_what_is_not_near_a_weight_is_refused(near: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        product(bs.matrix("W", m, d, spectral=K).rounded(delta), search=bs.InputSearch(near=near))


def test_a_domain_alone_says_of_no_weight_that_it_is_near() -> None:
    search = bs.InputSearch()
    object.__setattr__(search, "near", {"W_hat": BOX})  # annotations are checked here; those of users are not
    words = r"near has Box\(m, d, size=delta\) for W_hat; give a weight and the domain of the difference, such as \('W'"
    with pytest.raises(UsageError, match=words):
        theorems.product(search=search)


def test_a_domain_of_another_shape_is_refused() -> None:
    search = bs.InputSearch(near={"W_hat": ("W", bs.domains.Box(d, m, size=delta))})
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta), search=search)
    words = r"product: near has for W_hat - W a domain of the shape \(4, 3\), and W has the shape \(3, 4\)"
    with pytest.raises(UsageError, match=words):
        row_of(theorem)


def test_the_attack_on_matrices_is_announced_too() -> None:
    theorem = product(bs.matrix("W", m, d, spectral=K).rounded(delta))
    counted = replace(theorem, work=lambda: Work(attacked=1.0))
    alone = replace(counted, search=replace(theorem.search, near={}))
    run = Run(samples=1, attack=10, restarts=2)
    costs = [cost_of(each, {}, run).seconds for each in (counted, alone)]
    assert costs[0] == pytest.approx(costs[1] + 10 * 2 * PRODUCT)


def test_what_the_author_says_of_the_search_is_kept() -> None:
    matrix = bs.matrix("W", m, d, spectral=K).rounded(delta)
    small = bs.domains.Box(m, d, size=delta / 8)
    theorem = product(matrix, search=bs.InputSearch(near={"W_hat": ("W", small)}))
    instance, other, _ = found_near(theorem)
    assert 0 < float((other.known["W_hat"] - instance.known["W"]).abs().max()) <= 0.25 / 8
