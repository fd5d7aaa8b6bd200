"""The all-layer margin: certified margins against other searches, the tie, and noticed contradictions."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from bridge import compare
from bridge.least_value import Enclosure
from bridge.machines import approximation
from bridge.machines.approximation import APPROXIMATION, Member, MemberPair
from bridge.machines.small_networks import LinearNetwork, ProductNetwork, SmallNetwork, Theta, TwoLayers
from bridge.record import Row, Verdict
from bridge.theorem import Theorem
from numeric.machines import toy
from symbolic.statements import UsageError
from tests.bridge.defaults import default_run
from tests.bridge.machines.exact_margins import exact_margin

FAMILIES: dict[str, Callable[[np.random.Generator], SmallNetwork]] = {
    "linear": LinearNetwork,
    "product": ProductNetwork,
    "relu_1": lambda rng: TwoLayers(rng, 1),
    "relu_2": lambda rng: TwoLayers(rng, 2),
}


def rows() -> dict[str, Row]:
    return {row.quantity: row for row in default_run("machines.approximation")}


def part(*names: str) -> Theorem:
    """Some rows of the theorem."""
    checks = tuple(each for each in APPROXIMATION.checks if each.name in names)
    quantities = tuple(each.quantity for each in checks)
    stated = replace(APPROXIMATION.statement, id="own.approximation", quantities=quantities)
    return replace(APPROXIMATION, statement=stated, main=names[0], checks=checks, tables=())


@pytest.fixture
def pairs_anew() -> Iterator[None]:
    """Pairs are kept between runs: those of patched networks stand apart."""
    approximation.pairs.cache_clear()
    yield
    approximation.pairs.cache_clear()


@pytest.mark.long
def test_every_quantity_has_a_row() -> None:
    assert set(rows()) == {quantity.name for quantity in APPROXIMATION.statement.quantities}
    tie = rows()["positive.hard_max"]
    assert {v for row in rows().values() if row is not tie for v in row.verdict.values()} == {Verdict.PROVED}


def test_constants_are_attained() -> None:
    assert rows()["lipschitz"].measured == pytest.approx(1, abs=1e-9)
    assert rows()["ramp.lipschitz"].measured == pytest.approx(4, abs=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("gamma", [0.01, 3.0])
def test_a_steep_and_a_flat_ramp(gamma: float) -> None:
    (row,) = compare(part("ramp.lipschitz"), gamma=gamma, samples=1).rows
    assert row.measured == pytest.approx(1 / gamma, rel=1e-6)
    assert row.verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}


# Certified margins.


def flattened(theta: Theta) -> np.ndarray:
    return np.concatenate([part.flatten().numpy() for part in theta.values()])


def shaped(network: SmallNetwork, flat: np.ndarray) -> Theta:
    sizes = [part.numel() for part in network.theta.values()]
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return {n: torch.tensor(p).reshape(t.shape) for (n, t), p in zip(network.theta.items(), parts, strict=True)}


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
def test_the_distance_to_the_hyperbola_is_that_of_branch_and_bound(w: tuple[float, float]) -> None:
    network = ProductNetwork(np.random.default_rng(0))
    sure, _ = network.margin({"w": torch.tensor(w)})
    again = exact_margin(lambda v: v[0] * v[1] - 0.5, w, largest=4.0, tolerance=1e-2)
    assert again.lower <= sure.upper
    assert sure.lower <= again.upper


def test_a_wrong_prediction_has_margin_zero() -> None:
    network = ProductNetwork(np.random.default_rng(0))
    assert network.margin({"w": torch.tensor([1.0, -1.0])})[0].upper == 0


# Contradictions are noticed.


@pytest.mark.long
@pytest.mark.usefixtures("pairs_anew")
def test_wrong_margins_are_not_called_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    true = LinearNetwork.right_margin

    def larger(self: LinearNetwork, theta: Theta) -> tuple[Enclosure, Theta]:
        sure, change = true(self, theta)
        return replace(sure, lower=1.1 * sure.lower, upper=1.1 * sure.upper), change

    monkeypatch.setattr(LinearNetwork, "right_margin", larger)
    lipschitz, margin = compare(part("lipschitz", "margin.linear"), samples=1, attack=12, restarts=2).rows
    assert lipschitz.verdict == {"printed": Verdict.UNDECIDED, "derived": Verdict.UNDECIDED}
    assert margin.verdict["derived"] is Verdict.UNDECIDED


def test_a_right_prediction_of_margin_zero_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = {"w": torch.zeros(1)}
    zero, some = (Member(theta, True, Enclosure(margin, margin, (), 1)) for margin in (0.0, 0.5))
    monkeypatch.setattr(approximation, "pairs", lambda *_: [MemberPair(zero, some, chosen=False)])
    (row,) = compare(part("positive")).rows
    assert (row.measured, row.verdict["printed"]) == (1.0, Verdict.UNDECIDED)


def test_a_tie_of_hard_max_is_outside_the_range_of_the_property() -> None:
    row = rows()["positive.hard_max"]
    assert (row.measured, row.verdict, row.witness) == (1.0, {"printed": Verdict.OUTSIDE}, None)
    assert "no minimum in (2.1), whose infimum is 0" in row.remark
    assert "F = 1 at s = 0 and -1 at every s < 0" in row.remark


def test_values_without_a_jump_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for values in ((3, 1), (1, -3)):  # right on both sides of the tie; wrong at the tie too
        monkeypatch.setattr(approximation, "TIED_VALUES", values)
        (row,) = compare(part("positive.hard_max")).rows
        assert (row.measured, row.verdict) == (0.0, {"printed": Verdict.UNDECIDED})


def test_hard_max_averages_ties() -> None:
    scores = torch.tensor([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    assert toy.hard_max(scores, torch.tensor([3.0, -1.0, 9.0])).tolist() == [1.0, -1.0]


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="gamma = 0"):
        compare(APPROXIMATION, gamma=0.0)


def test_the_table_shows_each_network() -> None:
    (table,) = default_run("machines.approximation").tables
    assert [row[0] for row in table.rows] == list(FAMILIES)
