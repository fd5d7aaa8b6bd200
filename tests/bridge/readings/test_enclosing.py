"""Enclosures where no random program leads: jumps, vectors for matrices, numbers for matrices."""

import math
import operator

import pytest
import sympy as sp
import torch

from bridge.readings import AtHand, Emulated, Operands, Smooth, at, enclose
from bridge.readings.enclosed import Enclosed, enclosed
from bridge.readings.errors import Error
from bridge.readings.values import emulates
from numeric.balls import BallArray
from symbolic.calculus import (
    Norm,
    add,
    bilinear,
    concentrate,
    contract,
    given,
    linear_map,
    soft_threshold,
)
from symbolic.words.errors import UsageError


# S_t of t = -2 jumps from -2 to 2 at 0: x = 0.125 with an error of 0.25 downwards moves by 4.25, in all norms; and at 0
# itself, x = 0.25 with the same error, it is 0.
@pytest.mark.parametrize("bits", [None, 128])
@pytest.mark.parametrize(("at", "moved"), [(0.125, -2.125), (0.25, 0.0), (-0.25, 0.0)])
def test_a_soft_threshold_that_errs_below_0_jumps_at_0(at: float, moved: float, bits: int | None) -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Rational(1, 4))
    shrunk = soft_threshold(x, "s", threshold_error=2, threshold="t").derivation
    exact, threshold = (torch.full((2,), each, dtype=torch.float64) for each in (at, 0.0))
    near = threshold - 2
    if bits is not None:
        exact, threshold, near = (BallArray.exactly(each, bits) for each in (exact, threshold, near))
    known = Operands({"x": exact, "t": Emulated(threshold, near)}, bits=bits)
    found = enclose(shrunk, AtHand(known, by_rules=False)).steps["s"].error
    parts = (found.centre, found.radius, found.one, found.two)
    centre, radius, one, two = parts if bits is None else (torch.tensor(each.midpoint()) for each in parts)
    there = torch.tensor([moved, at + math.copysign(2, at)], dtype=torch.float64) - at  # the first errs by 1/4
    rest = abs(there - centre)
    assert bool((rest <= radius).all())
    assert rest.sum() <= one
    assert torch.linalg.vector_norm(rest) <= two


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
    found = enclose(shrunk, AtHand(Operands(operands), by_rules=False)).steps["s"].error
    there = torch.tensor([-1.125, 0.0], dtype=torch.float64) - exact
    assert torch.linalg.vector_norm(there - found.centre) <= found.two
    assert abs(there - found.centre).sum() <= found.one


# 1/3 is not a binary number: 0 that is computed as a difference would be a ball around 0, and its sign undecided.
def test_what_a_soft_threshold_takes_to_0_is_0_in_balls() -> None:
    x = given("x", dim=1, size=1, error=sp.Rational(1, 4))
    once = soft_threshold(x, "once", threshold_error=sp.Rational(3, 4), threshold="t")
    twice = soft_threshold(once, "twice", threshold_error=sp.Rational(3, 4), threshold="t").derivation
    exact, threshold = (
        BallArray.exactly(torch.ones(1, dtype=torch.float64)) / 3,
        BallArray.exactly(torch.full((1,), 0.5, dtype=torch.float64)),
    )
    operands = {"x": Emulated(exact, exact + 0.25), "t": Emulated(threshold, threshold - 0.75)}
    found = enclose(twice, AtHand(Operands(operands, bits=128), by_rules=False)).steps["twice"]
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
    found = enclose(scores.derivation, AtHand(Operands({"tokens": exact, "query": query}))).steps["scores"]
    assert torch.allclose(found.exact, exact @ query)
    moved = ((exact + errors) @ query - found.exact).abs()
    assert (moved <= found.error.absolute).all()
    assert torch.allclose(found.error.absolute, query.abs().sum().expand(5))  # attained by errors of its signs


def test_a_threshold_within_an_error_is_not_taken_for_exact() -> None:
    x = given("x", dim=3, size=2)
    shrunk = soft_threshold(x, "S(x)", threshold_error=sp.Rational(1, 8), threshold="t").derivation
    exact = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    known = Operands({"x": exact, "t": torch.tensor(0.25, dtype=torch.float64)})
    assert enclose(shrunk, AtHand(known, by_rules=False)).bound("S(x)").item() >= 0.125
    assert not emulates(shrunk.steps, known)


@pytest.mark.parametrize("q", [0.5, -0.5])
def test_a_contraction_by_a_number(q: float) -> None:
    """e_3 = q^3 e_0 + v_0 q^2 + v_1 q + v_2, where each v is within the offset."""
    start = given("w", dim=2, norm=Norm.TWO, size=1, error=1)
    known = Operands({"w": torch.zeros(2, dtype=torch.float64), "q": torch.tensor(q, dtype=torch.float64)})
    for offset, expected in ((0, 0.125), (1, 0.125 + 1.75)):
        size = 1 + 2 * offset
        after = contract(start, "after", factor=sp.Rational(1, 2), offset=offset, size=size, depth=3, matrix="q")
        found = enclose(after.derivation, AtHand(known, by_rules=False))
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
        at(scores, {"tokens": torch.ones(5, 3, dtype=torch.float64), "query": torch.ones(3, dtype=torch.float64)})


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
        with pytest.raises(UsageError, match=f"a hypothesis is not met here: 'w' holds weights, but {words}"):
            at(weights, {"w": Emulated(exact, emulated)}, bits=bits)


# 0.3 + (1e-20 - 0.3) is 0 in floats: S_-1 of it is 0, and of 1e-20 it is 1. In balls the side is known.
@pytest.mark.parametrize("exact", [0.3, -0.3])
@pytest.mark.parametrize("near", [0.0, 1e-20, -1e-20, 0.2])
@pytest.mark.parametrize("bits", [None, 128])
def test_a_jump_that_rounding_may_take_the_argument_across_is_enclosed(
    exact: float, near: float, bits: int | None
) -> None:
    x = given("x", dim=1, size=1, error=1)
    shrunk = soft_threshold(x, "s", threshold_error=1, threshold="t")
    row = at(shrunk, {"x": Emulated([exact], [near]), "t": Emulated([0.0], [-1.0])}, bits=bits)["s"]
    moved = near + math.copysign(1, near) if near else 0.0
    assert row.error == pytest.approx(abs(moved - exact))
    assert row.bound >= row.error * (1 - 1e-15)
    assert (bits is None and abs(near) < 0.1) or row.bound == pytest.approx(row.error)


@pytest.mark.parametrize("scale", [1.0, 2.0**60, 2.0**-60])
def test_an_argument_that_is_0_up_to_rounding_may_lie_on_either_side_of_a_jump(scale: float) -> None:
    """And 0 itself: a sum of rounded numbers may miss it."""
    x = given("x", dim=2, size=1, error=1)
    last = soft_threshold(x, "s", threshold_error=1, threshold="t").derivation.steps[-1]
    exact = scale * torch.tensor([-0.4112606797851575, 0.4112606797851575], dtype=torch.float64)
    centre = scale * torch.tensor([0.41126067978515746], dtype=torch.float64)
    before = Enclosed(exact, Error(torch.cat([centre, -centre]), torch.zeros(2, dtype=torch.float64)))
    assert (exact + before.error.centre).tolist() == [-scale * 2.0**-54, scale * 2.0**-54]
    threshold = torch.zeros(2, dtype=torch.float64)
    operands = Operands({"t": Emulated(threshold, threshold - scale)})
    found = enclosed(last.operation, last, [before], AtHand(operands)).error
    for moved in (-scale, 0.0, scale):
        rest = abs(moved - exact - found.centre)
        assert (rest <= found.radius).all()
        assert rest.sum() <= found.one
        assert torch.linalg.vector_norm(rest) <= found.two


KNOWN = {"exact": 0, "known": 1, "within": 1}  # errors of the givens


@pytest.mark.parametrize("bits", [None, 128])
@pytest.mark.parametrize(("one", "other"), [(one, other) for one in KNOWN for other in KNOWN])
@pytest.mark.parametrize("rule", ["add", "entrywise"])
@pytest.mark.parametrize("tokens_first", [True, False])
def test_a_value_without_tokens_is_that_of_each_token(
    rule: str, one: str, other: str, tokens_first: bool, bits: int | None
) -> None:
    """Whatever is known of the errors of the two: the enclosure has the tokens of the value."""
    shapes = {"x": (3, 2), "y": (2,)} if tokens_first else {"x": (2,), "y": (3, 2)}
    kinds, generator = {"x": one, "y": other}, torch.Generator().manual_seed(0)
    exact = {name: torch.rand(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    near = {name: value + (kinds[name] != "exact") for name, value in exact.items()}
    x, y = (given(name, dim=2, size=1, error=KNOWN[kind]) for name, kind in kinds.items())
    step = add(x, y, name="z") if rule == "add" else bilinear(x, y, "z", product="entrywise")
    operands = {name: Emulated(exact[name], near[name]) if kinds[name] == "known" else exact[name] for name in shapes}
    if bits is not None:
        balls = {name: BallArray.exactly(value, bits) for name, value in exact.items()}
        operands = {
            name: Emulated(balls[name], BallArray.exactly(near[name], bits)) if kinds[name] == "known" else balls[name]
            for name in shapes
        }
    found = enclose(step.derivation, AtHand(Operands(operands, bits=bits), by_rules=False)).steps["z"]
    combine = operator.add if rule == "add" else operator.mul
    error = combine(near["x"], near["y"]) - combine(exact["x"], exact["y"])
    centre, radius = (
        part if bits is None else torch.tensor(part.midpoint()) for part in (found.error.centre, found.error.radius)
    )
    assert centre.shape == radius.shape == (3, 2)
    assert bool((abs(error - centre) <= radius + 1e-12).all())


def test_a_batch_may_hold_both_scopes_of_a_concentration() -> None:
    """The truth value of each prompt is a tensor then."""
    weights = concentrate("w", count=3, gap=1, scores="s").derivation
    known = Operands({"s": torch.tensor([0.0, 3.0, 1.5], dtype=torch.float64)})

    def norms(local: bool | torch.Tensor) -> torch.Tensor:
        error = enclose(weights, AtHand(known, local=local)).steps["w"].error
        return torch.stack([error.norm(norm) for norm in Norm])

    both = torch.func.vmap(norms)(torch.tensor([True, False]))
    assert torch.equal(both, torch.stack([norms(True), norms(False)]))
    assert bool((both[0] < both[1]).all())


@pytest.mark.parametrize("bits", [None, 96])
def test_operands_that_only_broadcast_are_refused(bits: int | None) -> None:
    """A bound in a norm is of as many coordinates as its premise has."""
    x = given("x", dim=2, norm=Norm.TWO, size=1, error=1)
    biased = linear_map(x, "z", operator_norm=1, dim=3, matrix="A", bias=9, bias_vector="b")
    for matrix, bias in (
        (torch.ones(1, 2, dtype=torch.float64), torch.ones(3, dtype=torch.float64)),
        (torch.ones(3, 2, dtype=torch.float64) / 9, torch.ones(4, 3, dtype=torch.float64)),
    ):
        with pytest.raises(UsageError, match=r"step 'z': .* do not fit: a bias of shape"):
            at(biased, {"x": torch.zeros(2, dtype=torch.float64), "A": matrix, "b": bias}, bits=bits)
    n = sp.Symbol("n", integer=True, positive=True)
    summed = add(*(given(name, dim=n, size=1, error=0) for name in "xy"), name="z")
    with pytest.raises(UsageError, match="do not fit: summands of 1 and 3 coordinates"):
        at(summed, {"x": torch.zeros(1, dtype=torch.float64), "y": torch.zeros(3, dtype=torch.float64)}, bits=bits)
