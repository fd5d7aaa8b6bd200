"""Enclosures where no random program leads: a winner that may change, ties, and vectors."""

import math

import pytest
import sympy as sp
import torch

from bridge.readings import Emulated, Instance, Operands, Smooth, at, enclose
from bridge.readings.arrays import unit_vector
from bridge.readings.values import emulates
from numeric.balls import BallArray, BallsError, working_precision
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    attend,
    bilinear,
    concatenate,
    concentrate,
    contract,
    given,
    hard_max,
    linear_map,
    soft_threshold,
    softmax,
    softmax_to_hard_max,
)
from symbolic.statements import UsageError

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


@pytest.mark.parametrize(
    ("moved", "lost"),
    [([0.0, -1.0, -3.0], 1.0), ([1.5, 1.0, -3.0], 1.0), ([0.5, 1.0, -3.0], 0.0), ([0.0, 0.5, 0.0], 0.0)],
)
def test_a_winner_is_looked_for_where_the_scores_are_moved_to(moved: list[float], lost: float) -> None:
    derivation = hard_max(scores(), "w", margin=margin).derivation
    near = torch.tensor(moved, dtype=torch.float64)
    found = enclose(derivation, Instance(Operands({"s": Emulated(SCORES, near)}), by_rules=False)).steps["w"].error
    assert found.radius.tolist() == [lost] * 3


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


# S_t of t = -1 jumps from -1 to 1 at 0: x = 0.125 with an error of 0.25 downwards moves by 2.25, in all norms; and at 0
# itself, x = 0.25 with the same error, it is 0.
@pytest.mark.parametrize(("at", "moved"), [(0.125, -1.125), (0.25, 0.0), (-0.25, 0.0)])
def test_a_soft_threshold_that_errs_below_0_jumps_at_0(at: float, moved: float) -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Rational(1, 4))
    shrunk = soft_threshold(x, "s", threshold_error=1, threshold="t").derivation
    exact, threshold = torch.full((2,), at, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    known = Operands({"x": exact, "t": Emulated(threshold, threshold - 1)})
    found = enclose(shrunk, Instance(known, by_rules=False)).steps["s"].error
    there = torch.tensor([moved, at + math.copysign(1, at)], dtype=torch.float64) - exact  # the first errs by 1/4
    rest = abs(there - found.centre)
    assert bool((rest <= found.radius).all())
    assert rest.sum() <= found.one
    assert torch.linalg.vector_norm(rest) <= found.two


# x = 0.25 + 0.125 moves to S_-1(-0.0625) = -1.0625: around the value that the jump is looked for at.
def test_a_jump_is_looked_for_where_the_argument_is_moved_to() -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Rational(1, 8))
    y = given("y", dim=2, norm=Norm.TWO, size=1)
    moved = add(y, x, name="y + x")
    shrunk = soft_threshold(moved, "s", threshold_error=1, threshold="t").derivation
    threshold = torch.zeros(2, dtype=torch.float64)
    exact, near = torch.full((2,), 0.25, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    operands = {
        "x": torch.zeros(2, dtype=torch.float64),
        "y": Emulated(exact, near),
        "t": Emulated(threshold, threshold - 1),
    }
    found = enclose(shrunk, Instance(Operands(operands), by_rules=False)).steps["s"].error
    there = torch.tensor([-1.125, 0.0], dtype=torch.float64) - exact
    assert torch.linalg.vector_norm(there - found.centre) <= found.two
    assert abs(there - found.centre).sum() <= found.one


# 1/3 is no binary number: 0 that is computed as a difference would be a ball around 0, and its sign undecided.
def test_what_a_soft_threshold_takes_to_0_is_0_in_balls() -> None:
    x = given("x", dim=1, size=1, error=sp.Rational(1, 4))
    once = soft_threshold(x, "once", threshold_error=sp.Rational(3, 4), threshold="t")
    twice = soft_threshold(once, "twice", threshold_error=sp.Rational(3, 4), threshold="t").derivation
    exact, threshold = BallArray.exactly(torch.ones(1)) / 3, BallArray.exactly(torch.full((1,), 0.5))
    operands = {"x": Emulated(exact, exact + 0.25), "t": Emulated(threshold, threshold - 0.75)}
    found = enclose(twice, Instance(Operands(operands, bits=128), by_rules=False)).steps["twice"]
    assert (found.exact.midpoint().item(), found.exact.radius().item()) == (0, 0)
    assert found.error.centre.midpoint().item() == pytest.approx(1 / 3 + 0.25 + 2 * 0.25)
    assert found.error.centre.radius().item() < 1e-30


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


@pytest.mark.parametrize("bits", [None, 96])
def test_a_number_times_a_vector_errs_in_each_coordinate(bits: int | None) -> None:
    x = given("x", dim=4, norm=Norm.TWO, size=2)
    y = given("y", dim=1, norm=Norm.INF, size=1, error=sp.Rational(1, 4))
    product = bilinear(x, y, "x y", norm=Norm.TWO, product="entrywise")
    known = {"x": torch.ones(4, dtype=torch.float64), "y": torch.ones(1, dtype=torch.float64)}
    if bits is not None:
        known = {name: BallArray.exactly(value, bits) for name, value in known.items()}
    found = enclose(product.derivation, Instance(Operands(known, bits=bits), by_rules=False)).bound("x y")
    value = found.item() if bits is None else float(found.balls[0])
    assert value == pytest.approx(0.5, rel=1e-12)  # attained by y = 1.25


def test_a_dominant_key_loses_weight_to_keys_that_floats_cannot_see_beside_it() -> None:
    exact = torch.tensor([0.0, -60.0], dtype=torch.float64)
    weights = softmax(given("s", dim=2, size=60, error=40), "w").derivation
    found = enclose(weights, Instance(Operands({"s": exact}))).steps["w"].error
    moved = torch.softmax(exact + torch.tensor([-40.0, 40.0]), 0) - torch.softmax(exact, 0)
    assert (moved.abs() <= found.absolute + 1e-15).all()
    assert found.norm(Norm.ONE) >= moved.abs().sum() - 1e-12


def test_a_threshold_within_an_error_is_not_taken_for_exact() -> None:
    x = given("x", dim=3, size=2)
    shrunk = soft_threshold(x, "S(x)", threshold_error=sp.Rational(1, 8), threshold="t").derivation
    exact = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    known = Operands({"x": exact, "t": torch.tensor(0.25, dtype=torch.float64)})
    assert enclose(shrunk, Instance(known, by_rules=False)).bound("S(x)").item() >= 0.125
    assert not emulates(shrunk.steps, known)


@pytest.mark.parametrize("q", [0.5, -0.5])
def test_a_contraction_by_a_number(q: float) -> None:
    """e_3 = q^3 e_0 + v_0 q^2 + v_1 q + v_2, where each v is within the offset."""
    start = given("w", dim=2, norm=Norm.TWO, size=1, error=1)
    known = Operands({"w": torch.zeros(2, dtype=torch.float64), "q": torch.tensor(q, dtype=torch.float64)})
    for offset, expected in ((0, 0.125), (1, 0.125 + 1.75)):
        size = 1 + 2 * offset
        after = contract(start, "after", factor=sp.Rational(1, 2), offset=offset, size=size, depth=3, matrix="q")
        found = enclose(after.derivation, Instance(known, by_rules=False))
        assert found.bound("after").item() == pytest.approx(expected)


def test_kinks_that_sympy_simplifies_away_have_no_derivatives() -> None:
    t = sp.Symbol("t", real=True)
    plain = sp.Symbol("t")
    for hidden in (plain + sp.sqrt(plain**2), (plain**4) ** sp.Rational(1, 4), sp.atan(sp.tan(plain))):
        assert not Smooth.of(hidden, plain, radius=1).suprema
    for smooth in (sp.tanh(t), sp.log(1 + sp.exp(t)), 1 / (1 + sp.exp(-t)), t * (1 + sp.erf(t)) / 2):
        assert set(Smooth.of(smooth, t, radius=1).suprema) == {2, 3}


def test_a_vector_of_another_norm_is_refused() -> None:
    tokens = given("tokens", dim=3, norm=Norm.TWO, size=2, error=1)
    scores = linear_map(tokens, "scores", operator_norm=3, dim=5, matrix="query")
    with pytest.raises(UsageError, match="state the step in the sup norm"):
        at(scores, {"tokens": torch.ones(5, 3), "query": torch.ones(3)})


# Ten floats 0.1 add up to more than 1, by 2^-54: beside weights that add up to 1, a value of 2^60 counts with 64.
@pytest.mark.parametrize("bits", [96, 160])
def test_weights_of_which_floats_miss_the_sum_are_enclosed(bits: int) -> None:
    weights = given("w", dim=10, norm=Norm.ONE, size=1, error=sp.Rational(1, 2), probabilities=True)
    values = given("v", dim=1, size=2**60)
    average = attend(weights, values, "average")
    known = {"w": [0.1] * 10, "v": [[2.0**60]] * 10}
    with working_precision(bits):
        missing = abs(float(1 - 10 * BallArray.exactly(torch.tensor(0.1)).balls[0]))
    assert missing == 2.0**-54
    assert at(average, known, bits=bits)["average"].bound >= 64


@pytest.mark.parametrize(
    ("exact", "emulated", "words"),
    [
        ([0.5, 0.5], [0.5, 0.6], "its emulated value misses the sum 1 by 0.1"),
        ([0.4, 0.5], [0.5, 0.5], "its exact value misses the sum 1 by 0.1"),
        ([1.25, -0.25], [0.5, 0.5], "its exact value has an entry -0.25"),
    ],
    ids=str,
)
def test_what_holds_no_weights_is_refused(exact: list[float], emulated: list[float], words: str) -> None:
    weights = given("w", dim=2, norm=Norm.ONE, size=2, error=2, probabilities=True)
    for bits in (None, 96):
        with pytest.raises(UsageError, match=f"outside the hypotheses: 'w' holds weights, but {words}"):
            at(weights, {"w": Emulated(exact, emulated)}, bits=bits)


# The rule's own bound at the prompt as a whole, and the difference of the two weights at this one.
@pytest.mark.parametrize(
    ("local", "known", "exactly"), [(True, True, True), (False, True, False), (False, False, True)]
)
def test_softmax_weights_are_taken_from_the_winner_where_the_rule_does_not_say_more(
    local: bool, known: bool, exactly: bool
) -> None:
    weights = concentrate("w", count=3, gap=margin, scores="s")
    operands = Operands({"s": SCORES}, {margin: 0.75} if known else {})
    found = enclose(weights.derivation, Instance(operands, local=local, by_rules=False)).steps["w"].error
    difference = torch.softmax(SCORES, 0) - torch.tensor([0.0, 1.0, 0.0])
    assert torch.equal(found.centre, difference if exactly else torch.zeros(3))
    assert (found.radius.max() == 0) == exactly
    assert (abs(difference) <= found.absolute).all()


# (3 + 2)(5 + 4) - 15 = 30, which each of the ways to bound a product attains where there is one coordinate.
@pytest.mark.parametrize("norm", list(Norm), ids=str)
@pytest.mark.parametrize("kind", ["entrywise", "inner", "mean of outer products"])
def test_a_product_of_numbers_attains_its_bound(kind: str, norm: Norm) -> None:
    x, y = given("x", dim=1, norm=norm, size=3, error=2), given("y", dim=1, norm=norm, size=5, error=4)
    product = bilinear(x, y, "x y", norm=norm, product=kind).derivation
    operands = Operands({"x": torch.tensor([[3.0]]), "y": torch.tensor([[5.0]])})
    found = enclose(product, Instance(operands, by_rules=False)).steps["x y"].error
    for size in (found.absolute, found.one, found.two, *(found.norm(each) for each in Norm)):
        assert size.item() == pytest.approx(30, rel=1e-12)


def test_a_number_that_is_known_times_a_vector_errs_by_its_difference() -> None:
    x, y = given("x", dim=4, norm=Norm.TWO, size=2), given("y", dim=1, norm=Norm.INF, size=1, error=sp.Rational(1, 4))
    product = bilinear(x, y, "x y", norm=Norm.TWO, product="entrywise").derivation
    ones = torch.ones(1, dtype=torch.float64)
    operands = Operands({"x": torch.ones(4, dtype=torch.float64), "y": Emulated(ones, 1.25 * ones)})
    found = enclose(product, Instance(operands, by_rules=False)).steps["x y"].error
    assert (found.centre.tolist(), found.radius.tolist()) == ([0.25] * 4, [0.0] * 4)


# Two steps of one operation, each with the number of its own.
def test_weights_of_one_score_in_two_steps_have_each_their_bound() -> None:
    first, second = (concentrate(name, count=3, gap=gap, scores="s") for name, gap in (("w", 1), ("v", 2)))
    joined = concatenate(first, second, name="both").derivation
    found = enclose(joined, Instance(Operands({"s": SCORES}), local=False, by_rules=False))
    lost = {name: float(2 * 2 * sp.exp(-gap) / (1 + 2 * sp.exp(-gap))) for name, gap in (("w", 1), ("v", 2))}
    assert {name: found.steps[name].error.one.item() for name in lost} == pytest.approx(lost)


# Beyond 300 nothing is said: there e^300 in the place of e^400 would be too little for a key that is far behind.
@pytest.mark.parametrize(("most", "lost"), [(400.0, 1.0), (300.0, None)])
def test_a_score_that_may_move_far_gives_any_weight(most: float, lost: float | None) -> None:
    x = given("x", dim=2, size=700, error=1)
    scores = linear_map(x, "s", operator_norm=most, dim=2, matrix="A")
    weights = softmax(scores, "w").derivation
    matrix = torch.diag(torch.tensor([1.0, most], dtype=torch.float64))
    operands = Operands({"x": torch.tensor([0.0, -700.0 / most]), "A": matrix})
    found = enclose(weights, Instance(operands, by_rules=False)).steps["w"].error
    assert found.radius[1] >= math.exp(most - 699) * (1 - 1e-9)  # from e^-700, by moves of -1 and of the most
    assert lost is None or found.radius.tolist() == [lost, lost]
