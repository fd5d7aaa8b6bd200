"""Enclosures where no random program leads: a winner that may change, ties, and vectors."""

import pytest
import sympy as sp
import torch

from bridge.readings import Emulated, Instance, Operands, enclose
from bridge.readings.arrays import unit_vector
from numeric.balls import BallArray, BallsError, working_precision
from symbolic.calculus import (
    Approximated,
    Norm,
    given,
    hard_max,
    linear_map,
    soft_threshold,
    softmax,
    softmax_to_hard_max,
)

margin, e = sp.symbols("m e", positive=True)
SCORES = torch.tensor([0.0, 1.0, -3.0], dtype=torch.float64)


def scores() -> Approximated:
    return given("s", dim=3, size=3, error=e)


def winner(error: float) -> tuple[list[float], float]:
    """Radii and 1-norm of the hard max of SCORES, each known up to the error; the margin is left open."""
    derivation = hard_max(scores(), "w", margin=margin).derivation
    known = Operands({"s": SCORES}, {e: error})
    found = enclose(derivation, Instance(known, by_rules=False)).steps["w"].error
    return found.radius.tolist(), found.one.item()


def test_a_winner_that_leads_by_more_than_twice_the_error_stays() -> None:
    assert winner(0.49) == ([0.0, 0.0, 0.0], 0.0)


# At twice the error there may be a tie; the third score may not win, but nothing finer is said.
@pytest.mark.parametrize("error", [0.5, 0.51, 10.0])
def test_a_winner_that_may_change_is_enclosed_by_all_unit_vectors(error: float) -> None:
    assert winner(error) == ([1.0, 1.0, 1.0], 2.0)


# softmax(b s) of s = (0, 1, -3) against (0, 1, 0), without errors: 2 (1 - p) in the 1-norm.
def test_softmax_in_place_of_hard_max_errs_by_the_weight_of_the_others() -> None:
    derivation = softmax_to_hard_max(scores(), "w", margin=margin, inverse_temperature=2).derivation
    found = enclose(derivation, Instance(Operands({"s": Emulated(SCORES, SCORES)}), by_rules=False)).steps["w"]
    p = torch.softmax(2 * SCORES, 0)
    assert torch.allclose(found.error.centre, p - torch.tensor([0.0, 1.0, 0.0]), rtol=0, atol=1e-15)
    assert torch.equal(found.error.radius, torch.zeros(3))
    assert found.error.norm(derivation.step("w").norm).item() == pytest.approx(2 * (1 - p[1].item()), rel=1e-14)


# Two equal scores, errors of (e, -e): the weights become e^(+-e) / (e^e + e^-e), tanh(e) / 2 from 1/2 each.
def test_equal_scores_attain_radii_and_1_norm() -> None:
    equal = given("s", dim=2, size=1, error=e)
    derivation = softmax(equal, "p").derivation
    known = Operands({"s": BallArray.exactly(torch.zeros(2))}, {e: 0.75}, 128)
    found = enclose(derivation, Instance(known, by_rules=False)).steps["p"].error
    assert found.radius.midpoint().tolist() == pytest.approx([sp.tanh(0.75) / 2] * 2, rel=1e-15)
    assert found.one.midpoint().item() == pytest.approx(float(sp.tanh(0.75)), rel=1e-15)


TINY = 2.0**-60  # below a rounding of 1


@pytest.mark.parametrize(
    ("differences", "winner"), [([0.0, TINY], 1), ([TINY, 0.0], 0), ([0.0, 0.0], 0), ([-1.0, 0.0], 1)]
)
def test_the_winner_is_decided_in_balls_and_the_first_at_ties(differences: list[float], winner: int) -> None:
    scores = BallArray.exactly(torch.ones(1, 2)) + BallArray.exactly(torch.tensor([differences], dtype=torch.float64))
    with working_precision(128):
        assert unit_vector(scores).midpoint().tolist() == [[float(place == winner) for place in range(2)]]


def test_a_winner_that_the_balls_do_not_decide_is_refused() -> None:
    third = BallArray.exactly(torch.ones(2)) / 3
    with pytest.raises(BallsError, match="the largest score"):
        unit_vector(third)


# S_t of t = -1 jumps from -1 to 1 at 0: x = 0.125 with an error of 0.25 downwards moves by 2.25, in all norms.
def test_a_soft_threshold_that_errs_below_0_jumps_at_0() -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Rational(1, 4))
    shrunk = soft_threshold(x, "s", threshold_error=1, threshold="t").derivation
    exact, threshold = torch.full((2,), 0.125, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    known = Operands({"x": exact, "t": Emulated(threshold, threshold - 1)})
    found = enclose(shrunk, Instance(known, by_rules=False)).steps["s"].error
    moved = torch.tensor([-1.125, 1.125], dtype=torch.float64) - exact  # the first coordinate errs by -1/4
    rest = abs(moved - found.centre)
    assert bool((rest <= found.radius).all())
    assert rest.sum() <= found.one
    assert torch.linalg.vector_norm(rest) <= found.two


def test_a_vector_maps_the_tokens_to_coordinates() -> None:
    tokens = given("tokens", dim=3, norm=Norm.INF, size=2, error=1)
    scores = linear_map(tokens, "scores", operator_norm=3, dim=5, matrix="query")
    generator = torch.Generator().manual_seed(0)
    exact = torch.rand(5, 3, generator=generator, dtype=torch.float64)
    query = torch.randn(3, generator=generator, dtype=torch.float64)
    errors = 2 * torch.rand(200, 5, 3, generator=generator, dtype=torch.float64) - 1
    found = enclose(scores.derivation, Instance(Operands({"tokens": exact, "query": query}))).steps["scores"]
    assert torch.allclose(found.exact, exact @ query)
    moved = ((exact + errors) @ query - found.exact).abs()
    assert (moved <= found.error.absolute).all()
    assert torch.allclose(found.error.absolute, query.abs().sum().expand(5))  # attained by errors of its signs
