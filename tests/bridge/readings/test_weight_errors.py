"""Weights and averages under them: ties, sums beside 1, moves that are far, what the two weights differ by."""

import math

import pytest
import sympy as sp
import torch

from bridge.readings import AtHand, Operands, at, enclose
from bridge.readings.arrays import unit_vector
from bridge.readings.enclosed import Enclosed, enclosed
from bridge.readings.errors import Error
from numeric.balls import BallArray, BallsError, working_precision
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    attend,
    concentrate,
    given,
    linear_map,
    log_softmax,
    softmax,
)

margin, e = sp.symbols("m e", positive=True)
SCORES = torch.tensor([0.0, 1.0, -3.0], dtype=torch.float64)


def scores() -> Approximated:
    return given("s", dim=3, size=3, error=e)


TINY = 2.0**-60  # below a rounding of 1


@pytest.mark.parametrize(
    ("differences", "winner"), [([0.0, TINY], 1), ([TINY, 0.0], 0), ([0.0, 0.0], 0), ([-1.0, 0.0], 1)]
)
def test_the_winner_is_decided_in_balls_and_the_first_at_ties(differences: list[float], winner: int) -> None:
    scores = BallArray.exactly(torch.ones(1, 2, dtype=torch.float64)) + BallArray.exactly(
        torch.tensor([differences], dtype=torch.float64)
    )
    with working_precision(128):
        assert unit_vector(scores).midpoint().tolist() == [[float(place == winner) for place in range(2)]]


def test_a_winner_that_the_balls_do_not_decide_is_refused() -> None:
    third = BallArray.exactly(torch.ones(2, dtype=torch.float64)) / 3
    with pytest.raises(BallsError, match="the largest score"):
        unit_vector(third)


def test_a_dominant_key_loses_weight_to_keys_that_floats_cannot_see_beside_it() -> None:
    exact = torch.tensor([0.0, -60.0], dtype=torch.float64)
    weights = softmax(given("s", dim=2, size=60, error=40), "w").derivation
    found = enclose(weights, AtHand(Operands({"s": exact}))).steps["w"].error
    moved = torch.softmax(exact + torch.tensor([-40.0, 40.0], dtype=torch.float64), 0) - torch.softmax(exact, 0)
    assert (moved.abs() <= found.absolute + 1e-15).all()
    assert found.norm(Norm.ONE) >= moved.abs().sum() - 1e-12


# Ten floats 0.1 add up to more than 1, by 2^-54: beside weights that add up to 1, a value of 2^60 counts with 64.
@pytest.mark.parametrize("bits", [96, 160])
def test_weights_of_which_floats_miss_the_sum_are_enclosed(bits: int) -> None:
    weights = given("w", dim=10, norm=Norm.ONE, size=1, error=sp.Rational(1, 2), probabilities=True)
    values = given("v", dim=1, size=2**60)
    average = attend(weights, values, "average")
    known = {"w": [0.1] * 10, "v": [[2.0**60]] * 10}
    with working_precision(bits):
        missing = abs(float(1 - 10 * BallArray.exactly(torch.tensor(0.1, dtype=torch.float64)).balls[0]))
    assert missing == 2.0**-54
    assert at(average, known, bits=bits)["average"].bound >= 64


# The rule's own bound at the prompt as a whole, and the difference of the two weights at this one.
@pytest.mark.parametrize(
    ("local", "known", "exactly"), [(True, True, True), (False, True, False), (False, False, True)]
)
def test_softmax_weights_are_taken_from_the_winner_where_the_rule_does_not_say_more(
    local: bool, known: bool, exactly: bool
) -> None:
    weights = concentrate("w", count=3, gap=margin, scores="s")
    operands = Operands({"s": SCORES}, {margin: 0.75} if known else {})
    found = enclose(weights.derivation, AtHand(operands, local=local, by_rules=False)).steps["w"].error
    difference = torch.softmax(SCORES, 0) - torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    assert torch.equal(found.centre, difference if exactly else torch.zeros(3, dtype=torch.float64))
    assert (found.radius.max() == 0) == exactly
    assert (abs(difference) <= found.absolute).all()


# Beyond 300 nothing is said: there e^300 in the place of e^400 would be too little for a key that is far behind.
@pytest.mark.parametrize(("most", "lost"), [(400.0, 1.0), (300.0, None)])
def test_a_score_that_may_move_far_gives_any_weight(most: float, lost: float | None) -> None:
    x = given("x", dim=2, size=700, error=1)
    scores = linear_map(x, "s", operator_norm=most, dim=2, matrix="A")
    weights = softmax(scores, "w").derivation
    matrix = torch.diag(torch.tensor([1.0, most], dtype=torch.float64))
    operands = Operands({"x": torch.tensor([0.0, -700.0 / most], dtype=torch.float64), "A": matrix})
    found = enclose(weights, AtHand(operands, by_rules=False)).steps["w"].error
    assert found.radius[1] >= math.exp(most - 699) * (1 - 1e-9)  # from e^-700, by moves of -1 and of the most
    assert lost is None or found.radius.tolist() == [lost, lost]


# The error of p = (1, 2, 1)/4 has the centre (c, 0, 0): S = 1 + c. The values (1, 7, 12) move to (2, 7, 12), from whose
# middle 7 they differ by (-5, 0, 5): 5/10 + 5/10 by key, or 5 times the 1-norm; |1 - S| 7; and max(1, S)/2.
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("c", "moves", "one", "centre", "radius"),
    [
        (0.25, 0.1, None, 0.75, 1 + 1.75 + 0.625),
        (-0.25, 0.1, None, -0.25, 1 + 1.75 + 0.5),
        (0.25, 0.1, 0.1, 0.75, 0.5 + 1.75 + 0.625),
        (0.25, 1.5, None, 0.75, 15 + 1.75 + 0.625),
    ],
)
def test_attention_adds_what_weights_and_values_err_by(
    c: float, moves: float, one: float | None, centre: float, radius: float, sign: float
) -> None:
    step = attend(
        given("w", dim=3, norm=Norm.ONE, size=1, error=1, probabilities=True), given("v", dim=1, size=12), "a"
    )
    (*_, last) = step.derivation.steps
    p, v = (
        torch.tensor([0.25, 0.5, 0.25], dtype=torch.float64),
        sign * torch.tensor([[1.0], [7.0], [12.0]], dtype=torch.float64),
    )
    known = None if one is None else lambda: torch.tensor(one, dtype=torch.float64)
    of_weights = Error(
        torch.tensor([c, 0.0, 0.0], dtype=torch.float64),
        torch.tensor([moves, 0.3, moves], dtype=torch.float64),
        one=known,
    )
    of_values = Error(
        sign * torch.tensor([[1.0], [0.0], [0.0]], dtype=torch.float64),
        torch.tensor([[0.5], [0.25], [0.125]], dtype=torch.float64),
    )
    found = enclosed(
        last.operation, last, [Enclosed(p, of_weights), Enclosed(v, of_values)], AtHand(Operands({}))
    ).error
    assert found.centre.tolist() == pytest.approx([sign * centre])
    assert found.radius.tolist() == pytest.approx([radius])
    assert found.two.item() == pytest.approx(radius)


# --- log-softmax: by how much each entry moves at most, which some move attains -------------------------------------


def log_softmax_error(error: Approximated, bound: float, **operands: torch.Tensor) -> Error:
    moved = log_softmax(error, "l").derivation
    return enclose(moved, AtHand(Operands({"s": SCORES, **operands}, {e: bound}))).steps["l"].error


def log_softmax_moved(moves: list[list[float]]) -> torch.Tensor:
    """The farthest of each entry."""
    near = SCORES + torch.tensor(moves, dtype=torch.float64)
    return (torch.log_softmax(near, -1) - torch.log_softmax(SCORES, -1)).abs().amax(0)


def test_entries_of_a_log_softmax_move_as_far_as_the_radii_of_their_scores_say() -> None:
    radii = [0.5, 0.01, 2.0]
    scaled = linear_map(given("z", dim=3, size=0, error=e), "A z", operator_norm=2, dim=3, matrix="A")
    known = {"z": torch.zeros(3, dtype=torch.float64), "A": torch.diag(torch.tensor(radii, dtype=torch.float64))}
    corners = [[a * radii[0], b * radii[1], c * radii[2]] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    found = log_softmax_error(add(given("s", dim=3, size=3), scaled, name="sum"), 1.0, **known)
    assert torch.allclose(found.absolute, log_softmax_moved(corners), rtol=1e-12)


def test_entries_of_a_log_softmax_move_as_far_as_the_2_norm_of_their_scores_says() -> None:
    error = 0.5 / 2**0.5
    pairs = [[-error, error, 0.0], [error, -error, 0.0], [0.0, error, -error]]
    found = log_softmax_error(given("s", dim=3, norm=Norm.TWO, size=4, error=e), 0.5).absolute
    weights = torch.softmax(SCORES, -1)
    assert torch.allclose(found, torch.log1p((1 - weights) * (math.exp(2**0.5 * 0.5) - 1)), rtol=1e-12)
    assert (log_softmax_moved(pairs) <= found).all()


def test_entries_of_a_log_softmax_move_by_less_than_scores_that_move_far() -> None:
    found = log_softmax_error(scores(), 1000.0).absolute
    corners = [[-1e3, 1e3, 1e3], [1e3, -1e3, 1e3], [1e3, 1e3, -1e3]]
    assert (log_softmax_moved(corners) <= found).all()
    assert found.tolist() == [2000.0] * 3
