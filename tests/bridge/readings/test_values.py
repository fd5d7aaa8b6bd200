"""What the steps of a derivation compute where the rules leave something open."""

import pytest
import sympy as sp
import torch

from bridge.readings import AtHand, Emulated, Operands, Smooth, at, enclose, read
from bridge.readings.arrays import attended
from symbolic.calculus import (
    Approximated,
    Norm,
    apply_function,
    concatenate,
    concentrate,
    contract,
    given,
    linear_map,
    mean,
    project,
    repeat,
)

START = Emulated(*(torch.tensor([each], dtype=torch.float64) for each in ([1.0, -2.0], [1.25, -2.5])))
HALF = torch.tensor([[0.0, 0.5], [-0.5, 0.0]], dtype=torch.float64)


def start() -> Approximated:
    return given("x", dim=2, size=2, error=sp.Rational(1, 2))


def unnamed(z: Approximated) -> Approximated:
    return linear_map(z, "half", operator_norm=sp.Rational(1, 2), dim=2)


def contraction(z: Approximated) -> Approximated:
    return contract(z, "closer", factor=sp.Rational(1, 2), offset=0, size=2, depth=2, matrix="A")


def limit(z: Approximated) -> Approximated:
    return contract(z, "limit", factor=sp.Rational(1, 2), offset=1, size=2, matrix="A")


@pytest.mark.parametrize("bits", [None, 128])
def test_a_repeated_layer_without_an_operation_has_no_value_and_its_bound_goes_on_by_rule(bits: int | None) -> None:
    row = at(repeat(start(), "y", unnamed, 2), {"x": START}, bits=bits)["y"]
    assert (row.exact, row.error) == (None, None)
    assert row.stopped == "in layer 1 'half' ('linear map' has no enclosure: without matrix= it names no operands)"
    assert row.bound == 0.125


def test_where_a_layer_stops_is_named_and_not_what_comes_after() -> None:
    row = at(repeat(start(), "y", lambda z: linear_map(unnamed(z), "same", operator_norm=1, dim=2, matrix="B"), 2),
             {"x": START, "B": 1.0})["y"]  # fmt: skip
    assert row.stopped == "in layer 1 'half' ('linear map' has no enclosure: without matrix= it names no operands)"


def test_without_rules_nothing_is_known_of_a_step_without_an_enclosure() -> None:
    half = enclose(unnamed(start()).derivation, AtHand(Operands({"x": START}), by_rules=False))
    assert half.bound("half") is None
    assert half.bound("x") is not None


@pytest.mark.parametrize("bits", [None, 128])
def test_the_limit_of_an_iteration_has_no_value_and_its_bound_goes_on_by_rule(bits: int | None) -> None:
    row = at(limit(start()), {"x": START, "A": HALF}, bits=bits)["limit"]
    assert (row.exact, row.error, row.bound) == (None, None, 2.0)


def test_an_iteration_in_a_layer_multiplies_the_error_and_keeps_the_exact_value() -> None:
    twice = repeat(start(), "y", contraction, 2)
    found = read(twice.derivation, Operands({"x": START, "A": HALF}))["y"]
    assert torch.equal(found.exact, START.exact)
    assert torch.equal(found.emulated - found.exact, (START.emulated - START.exact) / 16)  # HALF^4 = I / 16
    alone = contraction(contract(start(), "once", factor=sp.Rational(1, 2), offset=0, size=2, depth=2, matrix="A"))
    assert torch.equal(read(alone.derivation, Operands({"x": START, "A": HALF}))["closer"].emulated, found.emulated)


def test_the_mean_of_a_value_without_tokens_is_the_value() -> None:
    single = Emulated(START.exact[0], START.emulated[0])
    row = at(mean(start(), "m"), {"x": single})["m"]
    assert row.exact is not None
    assert torch.equal(row.exact, single.exact)
    assert (row.error, row.bound) == (0.5, 0.5)


# f_hat - f = clip(z, -1, 1) with |f_hat - f| <= 1: at 0.75 and with an error of 0.5 it lies in [0.25, 1].
def test_a_deviation_is_bounded_by_its_supremum_and_by_its_slope_together() -> None:
    clipped = Smooth(lambda z: 0 * z, lambda z: z.clamp(-1, 1), error=1.0, slope_error=1.0)
    centre, radius = clipped.spread(
        torch.tensor(0.5, dtype=torch.float64),
        torch.tensor(1.0, dtype=torch.float64),
        True,
        torch.tensor(0.75, dtype=torch.float64),
    )
    assert (centre.item(), radius.item()) == (0.625, 0.375)


# A deviation of -1/2 at z, f_hat = f - 1/2, and the slope bound 1 for f = |z|: the local centre does not cancel with
# what the argument's error moves f, and the supremum alone says as much.
def test_a_local_bound_is_never_above_that_without_the_approximant() -> None:
    y = apply_function(start(), "y", eps=1, lipschitz=1, size=2, function="f")
    z = apply_function(y, "z", eps=1, lipschitz=1, size=2, function="g")
    shifted = Smooth(abs, lambda z: abs(z) - 0.5, slope_error=0.0)
    curved = Smooth(abs, lambda z: abs(z) - 0.5, slope_error=2.0)
    operands = {"x": START, "f": shifted, "g": curved}
    local, prompt = at(z, operands), at(z, operands, local=False)
    assert all(here.bound <= there.bound for here, there in zip(local.rows, prompt.rows, strict=True))
    assert local["y"].bound < prompt["y"].bound


def test_a_reading_takes_the_bound_of_the_coarser_one_where_that_is_less() -> None:
    y = start().derivation
    known = Operands({"x": START})
    far = Operands({"x": Emulated(START.exact, START.exact + 0.25)})
    coarser = enclose(y, AtHand(far, by_rules=False))
    assert enclose(y, AtHand(known), coarser=coarser).bound("x") == 0.25
    assert enclose(y, AtHand(known)).bound("x") == 0.5


def test_a_bound_of_exact_values_has_a_finite_gradient() -> None:
    x, y = (given(name, dim=2, norm=Norm.TWO, size=2) for name in "xy")
    joined = concatenate(x, y, name="z").derivation
    near = {name: START.exact[0].clone().requires_grad_() for name in "xy"}
    operands = {name: Emulated(START.exact[0], each) for name, each in near.items()}
    bound = enclose(joined, AtHand(Operands(operands))).bound("z")
    assert bound is not None
    assert bound.item() == 0.0
    assert all(bool(torch.isfinite(each).all()) for each in torch.autograd.grad(bound, [*near.values()]))


def test_a_bound_by_rule_keeps_its_gradient_where_the_errors_are_not_0() -> None:
    x = given("x", dim=2, norm=Norm.TWO, size=2, error=1)
    ball = project(x, "p", size=1)
    near = START.emulated[0].clone().requires_grad_()
    bound = enclose(ball.derivation, AtHand(Operands({"x": Emulated(START.exact[0], near)}))).bound("p")
    assert bound is not None
    (gradient,) = torch.autograd.grad(bound, [near])
    difference = START.emulated[0] - START.exact[0]
    assert torch.allclose(gradient, difference / torch.linalg.vector_norm(difference))


def test_prompts_of_one_batch_are_read_each_in_its_own_scope() -> None:
    near = Smooth(torch.sin, lambda z: torch.sin(z) + 0.1 * z, error=1.0, slope_error=0.1)
    change, error, at = (
        torch.tensor([0.5, 0.5], dtype=torch.float64),
        torch.tensor([1.0, 1.0], dtype=torch.float64),
        torch.tensor([0.3, 0.3], dtype=torch.float64),
    )
    mixed = near.spread(change, error, torch.tensor([True, False]), at)
    for found, local, of_range in zip(
        mixed, near.spread(change, error, True, at), near.spread(change, error, False, at), strict=True
    ):
        assert found.tolist() == [float(local[0]), float(of_range[1])]
        assert local[0] != of_range[0]


@pytest.mark.parametrize("batch", [(), (2,), (5, 2)], ids=str)
def test_each_query_attends_to_the_values_of_its_own_prompt(batch: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    weights, values = (torch.rand(*batch, *shape, generator=generator, dtype=torch.float64) for shape in ((3,), (3, 4)))
    expected = (weights.unsqueeze(-1) * values).sum(-2)
    torch.testing.assert_close(attended(weights, values), expected)
    queries = weights.unsqueeze(-2).expand(*batch, 6, 3)
    torch.testing.assert_close(attended(queries, values), expected.unsqueeze(-2).expand(*batch, 6, 4))


@pytest.mark.parametrize("tokens", [(), (2,), (5, 2)], ids=str)
def test_softmax_concentrates_over_the_keys(tokens: tuple[int, ...]) -> None:
    scores = torch.tensor([0.0, 2.0, 1.0], dtype=torch.float64).expand(*tokens, 3)
    weights = concentrate("w", count=3, gap=1, scores="s").derivation
    found = read(weights, Operands({"s": scores}))["w"]
    torch.testing.assert_close(found.exact, torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64).expand(*tokens, 3))
    torch.testing.assert_close(found.emulated, scores.exp() / scores.exp().sum(-1, keepdim=True))
