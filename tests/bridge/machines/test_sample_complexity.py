"""The study of sample complexity: bounds beside exact classes, what is refuted, and what is refused."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

from bridge.budget import Budget
from bridge.machines import sample_complexity as study
from bridge.machines.sample_complexity import SampleComplexityCase, SampleComplexityStudy
from bridge.record import Flag, Row, Verdict
from symbolic.statements import UsageError

BUDGET = Budget(samples=1, attack=0, restarts=1, seed=0)
SEARCHED = (study.TWO_TARGETS, study.FLOOR, study.ONE_PARAMETER)


def case(**params: float | int) -> SampleComplexityCase:
    return SampleComplexityStudy().case(params, seed=0, dtype="float64", device="cpu")


@cache
def rows() -> tuple[Row, ...]:
    return tuple(case().rows(BUDGET))


def row(name: str, rows: tuple[Row, ...] | list[Row]) -> Row:
    """The row of that quantity at the case's own parameters."""
    return next(each for each in rows if each.quantity == name and len(each.params) == 9)


def test_every_quantity_has_a_row() -> None:
    assert {each.quantity for each in rows()} == {q.name for q in SampleComplexityStudy.result.quantities}


POINTS = [
    {},
    {"n": 2, "eps": 0.9, "delta": 0.5},
    {"alpha": 0.1, "gamma": 2.0, "p": 1},
    {"alpha": 200.0, "gamma": 0.3, "p": 50, "n": 10**12, "eps": 0.01},
    {"n": 5000, "eps": 0.05, "alpha": 1.0, "gamma": 1.0, "p": 3},
]


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_no_derived_bound_is_exceeded(point: dict) -> None:
    for each in case(**point).rows(BUDGET):
        if each.derived is None or each.measured is None:
            assert each.verdict["derived"] is Verdict.UNDECIDED
        else:
            assert each.measured <= each.derived, each.quantity
            assert each.verdict["derived"] is Verdict.KEPT


def test_a_bound_below_its_class_is_not_called_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study.exact, "cube_complexity", lambda *_: 0.9)
    assert row("rademacher", case().rows(BUDGET)).verdict["derived"] is Verdict.UNDECIDED


def test_orders_are_not_judged_and_open_polynomials_have_no_number() -> None:
    for name in ("samples", "cover", "rademacher", "margins", "circuits", "turing"):
        assert row(name, rows()).verdict["printed"] is Verdict.UNDECIDED
    assert "counts no samples" in row("samples", rows()).remark
    assert row("circuits", rows()).printed is None
    assert row("circuits", rows()).derived > row("samples", rows()).derived


def test_bounds_that_say_nothing_are_flagged() -> None:
    few = case(n=1000).rows(BUDGET)
    assert row("minimiser", few).flags["derived"] == [Flag.VACUOUS.value]
    assert row("rademacher", few).flags["derived"] == [Flag.VACUOUS.value]
    assert row("minimiser", rows()).flags == {}


# What is refuted.


@pytest.mark.parametrize("name", SEARCHED)
def test_refuted_statements_replay_from_their_witness(name: str) -> None:
    (found,) = [each for each in rows() if each.witness is not None and each.witness.quantity == name]
    assert found.verdict["printed"] is Verdict.VIOLATED
    inputs = {key: torch.tensor(value, dtype=torch.float64) for key, value in found.witness.inputs.items()}
    again = case().replay_finding(name, inputs)
    assert again.verdict == found.verdict
    assert again.witness.error_lower > again.witness.bounds["printed"]


def test_witnesses_that_show_nothing_refute_nothing() -> None:
    def verdict(name: str, **inputs: float) -> Verdict:
        given = {key: torch.tensor([value], dtype=torch.float64) for key, value in inputs.items()}
        return case().replay_finding(name, given).verdict["printed"]

    assert verdict(study.TWO_TARGETS, eps=0.1, eta=0.5, n=3.0) is Verdict.VIOLATED
    assert verdict(study.TWO_TARGETS, eps=0.1, eta=0.5, n=6.0) is Verdict.UNDECIDED  # 2^-6 / 2 < 1/100
    assert verdict(study.FLOOR, ratio=1.2) is Verdict.VIOLATED
    assert verdict(study.FLOOR, ratio=1.0) is Verdict.UNDECIDED  # one ball is enough
    assert verdict(study.FLOOR, ratio=1.3) is Verdict.UNDECIDED  # the floor is 1
    assert verdict(study.ONE_PARAMETER, n=3.0) is Verdict.VIOLATED


THETAS = np.linspace(-1, 1, 9)
MASSES = {"x0": 0.2, "lost": 0.3, "sure": 0.5}


def prediction(theta: float, x: str) -> float:
    return {"x0": theta, "lost": -1.0, "sure": 1.0}[x]


def label(x: str, target: int) -> int:
    return target if x == "x0" else 1


def ramp(theta: float, x: str, y: int) -> float:
    """(2.2) with gamma = 1: only x0 has a margin that is neither 0 nor infinite."""
    margin = {"x0": max((2 * y - 1) * theta, 0.0), "lost": 0.0, "sure": np.inf}[x]
    return float(np.clip(1 - margin, 0, 1))


def random_table(seed: int):
    """Any other surrogate: a number for each theta, input and label."""
    table = np.random.default_rng(seed).random((len(THETAS), 3, 2))
    return lambda theta, x, y: table[list(THETAS).index(theta), list(MASSES).index(x), y]


def failure(surrogate: object, target: int, n: int) -> float:
    """The probability, over all samples, that the minimiser's error exceeds eps = 0.3."""
    failed = 0.0
    for sample in product(MASSES, repeat=n):
        risks = [sum(surrogate(theta, x, label(x, target)) for x in sample) for theta in THETAS]
        chosen = THETAS[int(np.argmin(risks))]
        wrong = [x for x in MASSES if (label(x, target) - 0.5) * prediction(chosen, x) <= 0]
        failed += np.prod([MASSES[x] for x in sample]) * (sum(MASSES[x] for x in wrong) > MASSES["lost"] + 1e-9)
    return failed


@pytest.mark.parametrize("surrogate", [ramp, *(random_table(seed) for seed in range(4))], ids=["ramp", *"abcd"])
def test_no_surrogate_serves_both_targets(surrogate: object) -> None:
    for n in (1, 3):
        said = (1 - MASSES["x0"]) ** n / 2
        assert max(failure(surrogate, target, n) for target in (0, 1)) >= said > 0.01


def test_a_ball_smaller_than_the_margin_has_no_two_targets() -> None:
    small = row("minimiser", case(alpha=0.4).rows(BUDGET))
    assert small.verdict["printed"] is Verdict.UNDECIDED
    assert small.measured is None
    assert "alpha < gamma" in small.remark


# What is refused.


@pytest.mark.parametrize(
    ("name", "inputs", "said"),
    [
        ("other", {}, "no quantity or finding 'other'"),
        (study.FLOOR, {}, "takes one number each for ratio"),
        (study.FLOOR, {"ratio": [1.0, 2.0]}, "takes one number each for ratio"),
        (study.FLOOR, {"ratio": [-1.0]}, "positive ratio"),
        (study.TWO_TARGETS, {"eps": [0.5], "eta": [0.6], "n": [3.0]}, "sum at most 1"),
        (study.TWO_TARGETS, {"eps": [0.5], "eta": [0.1], "n": [2.5]}, "not a whole number"),
        (study.ONE_PARAMETER, {"n": [0.0]}, "n >= 1"),
        (study.ONE_PARAMETER, {"n": [1e6]}, "n <= 1000"),
    ],
    ids=["name", "none", "two", "negative", "masses", "fraction", "zero", "large"],
)
def test_witnesses_that_are_none_are_refused(name: str, inputs: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        case().replay_finding(name, {key: torch.tensor(value) for key, value in inputs.items()})


def test_bad_parameters_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"alpha = 0.0 .*eps = 1.5 .*n = 1 .*delta = 0.0"):
        case(alpha=0.0, eps=1.5, n=1, delta=0.0)
    with pytest.raises(UsageError, match=r"p = 1.5 is not a whole number"):
        case(p=1.5)
