"""The all-layer margin: certified margins against other searches, the tie, and noticed contradictions."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from bridge.lowering.least_value import Enclosure
from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.machines import approximation
from bridge.topics.machines.approximation import APPROXIMATION, Member, MemberPair
from bridge.topics.machines.small_networks import LinearNetwork, ProductNetwork, SmallNetwork, Theta, TwoLayers
from numeric.topics.machines import toy
from symbolic.words.errors import UsageError
from tests.bridge.defaults import default_run
from tests.bridge.topics.machines.changed import changed, rows_of

FAMILIES: dict[str, Callable[[np.random.Generator], SmallNetwork]] = {
    "linear": LinearNetwork,
    "product": ProductNetwork,
    "relu_1": lambda rng: TwoLayers(rng, 1),
    "relu_2": lambda rng: TwoLayers(rng, 2),
}


def rows() -> dict[str, Row]:
    return rows_of(default_run("machines.approximation"))


@pytest.mark.long
def test_every_row_but_the_tie_is_proved_and_constants_are_attained() -> None:
    tie = rows()["positive.hard_max"]
    assert {v for row in rows().values() if row is not tie for v in row.verdict.values()} == {Verdict.PROVED}
    assert rows()["lipschitz"].measured == pytest.approx(1, abs=1e-9)
    assert rows()["ramp.lipschitz"].measured == pytest.approx(4, abs=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("gamma", [0.01, 3.0])
def test_a_steep_and_a_flat_ramp(gamma: float) -> None:
    (row,) = compare(changed(APPROXIMATION, "ramp.lipschitz"), gamma=gamma, samples=1).rows
    assert row.measured == pytest.approx(1 / gamma, rel=1e-6)
    assert row.verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}


# Certified margins.


def flattened(theta: Theta) -> np.ndarray:
    return np.concatenate([part.flatten().numpy() for part in theta.values()])


def shaped(network: SmallNetwork, flat: np.ndarray) -> Theta:
    sizes = [part.numel() for part in network.theta.values()]
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return {
        n: torch.tensor(p, dtype=torch.float64).reshape(t.shape)
        for (n, t), p in zip(network.theta.items(), parts, strict=True)
    }


def by_constrained_search(network: SmallNetwork) -> float:
    """The nearest flip that scipy's sequential quadratic programming finds from many starts."""
    theta, rng = flattened(network.theta), np.random.default_rng(0)
    flips = {"type": "ineq", "fun": lambda d: -network.at(shaped(network, theta + d))}
    starts = rng.normal(size=(12, len(theta)))
    found = [minimize(lambda d: d @ d, start, method="SLSQP", constraints=flips) for start in starts]
    return float(min(np.linalg.norm(each.x) for each in found if each.success and flips["fun"](each.x) > -1e-6))


@pytest.mark.parametrize("family", FAMILIES)
def test_certified_margins_are_those_of_another_search(family: str) -> None:
    network = FAMILIES[family](np.random.default_rng(3))
    sure, change = network.margin(network.theta)
    assert sure.width < 1e-5
    assert by_constrained_search(network) == pytest.approx(sure.upper, rel=1e-3)
    moved = {name: part + change[name] for name, part in network.theta.items()}
    assert network.at(moved) == pytest.approx(0, abs=1e-9)
    assert np.linalg.norm(flattened(change)) == pytest.approx(sure.upper, rel=1e-9)


@pytest.mark.parametrize("w", [(1.0, 1.0), (2.0, 0.3), (-1.5, -1.0), (0.9, 4.0)], ids=str)
def test_the_margin_of_a_product_is_the_distance_to_its_hyperbola(w: tuple[float, float]) -> None:
    sure, _ = ProductNetwork(np.random.default_rng(0)).margin({"w": torch.tensor(w, dtype=torch.float64)})
    x = np.geomspace(1e-2, 1e2, 10**6) * np.sign(w[0])  # the branch on the side of w, F = 0 at (x, 1 / (2 x))
    distance = np.hypot(x - w[0], 1 / (2 * x) - w[1]).min()
    assert sure.lower <= distance == pytest.approx(sure.upper, rel=1e-7)


def test_a_wrong_prediction_has_margin_zero() -> None:
    network = ProductNetwork(np.random.default_rng(0))
    assert network.margin({"w": torch.tensor([1.0, -1.0], dtype=torch.float64)})[0].upper == 0


# Contradictions are noticed.


@pytest.mark.long
def test_wrong_margins_are_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    true = LinearNetwork.right_margin

    def larger(self: LinearNetwork, theta: Theta) -> tuple[Enclosure, Theta]:
        sure, change = true(self, theta)
        return replace(sure, lower=1.1 * sure.lower, upper=1.1 * sure.upper), change

    monkeypatch.setattr(LinearNetwork, "right_margin", larger)
    some = changed(APPROXIMATION, "lipschitz", "margin.linear")
    seed = 77  # pairs are kept between runs, those of each seed apart
    lipschitz, margin = compare(some, samples=1, attack=12, restarts=2, seed=seed)
    assert lipschitz.verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert margin.verdict["derived"] is Verdict.UNDECIDED


def test_a_right_prediction_of_margin_zero_and_a_steep_random_pair_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    places = ((0.0, 0.0), (0.25, 0.5), (1.25, 1.5))  # of theta, and margins
    zero, some, far = (
        Member({"w": torch.tensor([w], dtype=torch.float64)}, True, Enclosure(at, at, (), 1)) for w, at in places
    )
    found = [MemberPair(zero, some, chosen=False), MemberPair(some, far, chosen=True)]
    monkeypatch.setattr(approximation, "pairs", lambda *_: found)
    rows = compare(changed(APPROXIMATION, "lipschitz", "positive")).rows
    assert [(row.measured, row.verdict["printed"]) for row in rows] == [(each, Verdict.UNDECIDED) for each in (2, 1)]


def test_a_tie_of_hard_max_is_outside_the_range_of_the_property() -> None:
    row = rows()["positive.hard_max"]
    assert (row.measured, row.verdict, row.witness) == (1.0, {"printed": Verdict.OUTSIDE}, None)
    assert "no minimum in (2.1), whose infimum is 0" in row.remark
    assert "F = 1 at s = 0 and -1 at every s < 0" in row.remark


def test_values_decide_only_where_they_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    for values, jumps in (((3, 1), 0), ((1, -3), 0), ((3, 0), 1)):  # right on both sides of the tie; wrong at it too
        monkeypatch.setattr(approximation, "TIED_VALUES", values)
        (row,) = compare(changed(APPROXIMATION, "positive.hard_max")).rows
        assert (row.measured, row.verdict) == (jumps, {"printed": Verdict.OUTSIDE if jumps else Verdict.UNDECIDED})


def test_hard_max_averages_ties() -> None:
    scores = torch.tensor([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]], dtype=torch.float64)
    assert toy.hard_max(scores, torch.tensor([3.0, -1.0, 9.0], dtype=torch.float64)).tolist() == [1.0, -1.0]


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="gamma = 0"):
        compare(APPROXIMATION, gamma=0.0)


def test_the_table_shows_each_network() -> None:
    (table,) = default_run("machines.approximation").tables
    assert [row[0] for row in table.rows] == list(FAMILIES)


def test_a_ramp_far_wider_than_its_margins_is_not_measured_steeper_than_it_is() -> None:
    rows = {row.quantity: row for row in compare("machines.approximation", gamma=2.5e11, samples=8, attack=0)}
    assert 0 < rows["ramp.lipschitz"].measured <= rows["ramp.lipschitz"].derived
