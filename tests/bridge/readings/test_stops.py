"""Where a reading stops, it says at which step and why, and the bound goes on by rule."""

from collections.abc import Callable

import pytest
import sympy as sp
import torch

from bridge.readings import AtHand, Emulated, Operands, at, enclose
from numeric.balls import BallArray
from symbolic import calculus
from symbolic.calculus import Approximated, Norm, evolve
from symbolic.words.errors import UsageError

X = Emulated(*(torch.tensor(each, dtype=torch.float64) for each in ([0.5, -0.5], [0.75, -0.5])))
HALF = sp.Rational(1, 2)


def start() -> Approximated:
    return calculus.given("x", dim=2, norm=Norm.TWO, size=1, error=HALF)


NAMED: dict[str, tuple[Callable[[], Approximated], str]] = {
    "linear_map": (lambda: calculus.linear_map(start(), "y", operator_norm=1, dim=2), "matrix="),
    "perturbed_map": (
        lambda: calculus.perturbed_map(start(), "y", operator_norm=1, perturbation=1, dim=2),
        "matrix=",
    ),
    "apply_function": (lambda: calculus.apply_function(start(), "y", eps=0, lipschitz=1, size=1), "function="),
    "taylor": (lambda: calculus.taylor(start(), "y", size=1, suprema={1: 1}), "function="),
    "perturbed_function": (lambda: calculus.perturbed_function(start(), "y", lipschitz=1, size=1), "function="),
    "apply_to_pairs": (
        lambda: calculus.apply_to_pairs(start(), start(), "y", count=2, slopes=(1, 1), size=1),
        "function=",
    ),
    "bilinear": (lambda: calculus.bilinear(start(), start(), "y"), "product="),
    "project": (lambda: calculus.project(start(), "y", size=1, box=True), "low= and high="),
    "soft_threshold": (lambda: calculus.soft_threshold(start(), "y"), "threshold="),
    "contract": (lambda: calculus.contract(start(), "y", factor=HALF, offset=0, size=1), "matrix="),
    "exclude": (lambda: calculus.exclude(start(), "y", count=2, lead=1, diameter=1), "foreign= and leads="),
}
UNREAD: dict[str, tuple[Callable[[], Approximated], str]] = {
    "project": (lambda: calculus.project(start(), "y", size=1), "'projection' has no enclosure: its set is any convex"),
    "evolve": (
        lambda: evolve(start(), "y", rate=0, offset=0, time=1, size=1),
        "'comparison' has no enclosure: its value solves a differential equation",
    ),
    "recur": (
        lambda: calculus.recur(start(), "y", factor=1, offset=0, depth=2, size=1),
        "'recursion' has no enclosure: its layers are known by numbers alone; repeat(...) takes",
    ),
    "accumulate": (
        lambda: calculus.accumulate(start(), "y", factor=1, offset=0, size=1, depth=1),
        "'accumulation' has no enclosure: a step is known by how it enlarges an error",
    ),
    "girsanov": (
        lambda: calculus.girsanov(
            calculus.change_norm(start(), 2, "score"), "y", start_time=2, end_time=1, steps=3, beyond=0, moment=1
        ),
        "'Girsanov's theorem' has no enclosure: an event under random samples is no function of a score at one point",
    ),
    "heads_as_matrix": (
        lambda: calculus.heads_as_matrix(start(), "y", sink=9, reach=1, keys=2),
        "'softmax beside a sink' has no enclosure: its scores are those of all queries in one vector",
    ),
    "converge": (
        lambda: calculus.converge(start(), "y", quadratic=HALF, offset=0, size=1, depth=1),
        "'quadratic convergence' has no enclosure: a step is known by how it reduces an error",
    ),
}


def stopped(value: Approximated) -> str:
    row = at(value, {"x": X})["y"]
    assert row.by == "rule"
    assert row.bound is not None
    return row.stopped


@pytest.mark.parametrize("rule", sorted(NAMED))
def test_a_rule_without_handles_names_what_to_give(rule: str) -> None:
    make, arguments = NAMED[rule]
    assert stopped(make()).endswith(f"no enclosure: without {arguments} it names no operands")


@pytest.mark.parametrize("rule", sorted(UNREAD))
def test_a_rule_that_computes_nothing_known_says_why(rule: str) -> None:
    make, words = UNREAD[rule]
    assert stopped(make()).startswith(words)


def test_a_mean_over_steps_is_no_value() -> None:
    gap = calculus.given("x", dim=1, size=0, error=1)
    row = at(calculus.descend(gap, "y", decrease=1, steps=4), {"x": [0.0]})["y"]
    assert row.stopped.startswith("'descent' has no enclosure: its value is a mean over all steps")


def test_weights_without_scores_and_what_follows_them() -> None:
    weights = calculus.concentrate("weights", count=2, gap=1)
    values = calculus.given("x", dim=2, size=1)
    rows = at(calculus.attend(weights, values, "y"), {"x": torch.ones(2, 2, dtype=torch.float64)})
    assert rows["weights"].stopped.endswith("without scores= it names no operands")
    assert rows["y"].stopped == "after weights"


def test_a_repeated_layer_names_the_step_inside() -> None:
    deep = calculus.repeat(start(), "y", lambda z: calculus.linear_map(z, "half", operator_norm=HALF, dim=2), 2)
    assert stopped(deep) == ("in layer 1 'half' ('linear map' has no enclosure: without matrix= it names no operands)")


def test_a_correction_that_may_fail() -> None:
    sigma = sp.Symbol("sigma", positive=True)
    corrected = calculus.correct(start(), "y", sigma=sigma)
    exact = BallArray.exactly(X.exact, 64)
    known = (Operands({"x": exact}, {sigma: reach}, 64) for reach in (HALF, HALF / 2))
    fine, beyond = (enclose(corrected.derivation, AtHand(each)) for each in known)
    assert "y" not in fine.stops
    assert beyond.stops["y"] == "the error may be above what the correction undoes"
    with pytest.raises(UsageError, match="a hypothesis of step 'y' is not met here: the error of 'x' is at most sigma"):
        at(corrected, {"x": X.exact}, {sigma: 0.25})
