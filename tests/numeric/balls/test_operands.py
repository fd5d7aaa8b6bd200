"""Operands, shapes and limits of operations on balls: what an exact run encloses, and what it refuses."""

import flint
import numpy as np
import pytest
import torch

from numeric.balls import BallArray, working_precision
from numeric.balls.arbs import exact_softmax
from numeric.balls.budget import OperationLimit, charge_products, charge_scalars, spending
from numeric.balls.conversion import boxed, entries_of_values
from numeric.balls.dispatch import _highest_bits
from numeric.balls.elementwise import UNARY
from numeric.balls.errors import BallsError, ShapesDiffer, remedy_for
from numeric.balls.factories import gives_integers
from numeric.balls.floats import REACH, ball_of_operand, floats_enclosed
from numeric.balls.functions import int_power, power
from numeric.balls.integers import ExactInteger
from numeric.balls.products import product
from numeric.balls.reductions import total
from numeric.balls.running import call_on_balls, run_on_balls

ONES = torch.ones(2, dtype=torch.float64)


def over() -> OperationLimit:
    return OperationLimit(7, 1, lambda spent: ValueError(f"{spent}"))


def test_a_budget_is_spent_to_its_end_and_no_further() -> None:
    with spending(over()) as budget:
        charge_products(4)
        charge_scalars(3)
        assert budget.spent == 7
        with pytest.raises(ValueError, match=r"^8$"):
            charge_products(1)


def test_a_product_of_matrices_costs_each_of_its_multiplications() -> None:
    left, right = (boxed([flint.arb(1)] * 6, shape) for shape in ((2, 3), (3, 2)))
    with spending(OperationLimit(10**6, 0, lambda spent: ValueError())) as budget:
        product(left, right)
    assert budget.spent == 2 * 3 * 2


def test_mixed_values_are_converted_one_by_one() -> None:
    found = entries_of_values(np.array([0.5, 3, 2**70], dtype=object))
    assert [bool(each * 2 == twice) for each, twice in zip(found, (1, 6, 2**71), strict=True)] == [True] * 3


def test_entries_take_the_shape_that_is_asked_for() -> None:
    entries = np.array([flint.arb(1), flint.arb(2)], dtype=object)
    assert boxed(entries).shape == (2,)
    assert boxed(entries, (2, 1)).shape == (2, 1)


def test_the_highest_precision_counts_inside_dicts_and_lists_too() -> None:
    with working_precision(200):
        fine = BallArray([flint.arb(1)], (1,), 200)
    coarse = BallArray([flint.arb(1)], (1,), 64)
    assert _highest_bits((coarse, {"key": fine}), {}) == 200
    assert _highest_bits((coarse, [fine]), {}) == 200
    assert _highest_bits((coarse,), {"key": fine}) == 200


@pytest.mark.parametrize(
    ("args", "kwargs", "whole"),
    [((1, 5), {}, True), ((1,), {"step": 0.5}, False), ((1,), {"end": 5}, True), ((), {"end": 2.5}, False)],
)
def test_options_count_for_whether_a_factory_makes_integers(args: tuple, kwargs: dict, whole: bool) -> None:
    assert gives_integers("arange", args, kwargs) is whole


def test_a_range_that_starts_elsewhere_is_as_long_as_torch_s() -> None:
    found = run_on_balls(lambda x: x[:1] * torch.arange(2.0, 5.0, dtype=torch.float64), {"x": ONES})
    assert [float(each) for each in found.balls] == [2, 3, 4]


def test_only_a_run_that_asks_for_it_encloses_floats() -> None:
    third = 1 / float("3")
    assert float(call_on_balls(lambda x: x * third, {"x": ONES}).radius()[0]) < 1e-30
    assert float(call_on_balls(lambda x: x * third, {"x": ONES}, enclose_floats=True).radius()[0]) > REACH / 8


def test_a_negative_decimal_stands_for_its_neighbours() -> None:
    with floats_enclosed():
        ball = run_on_balls(lambda x: x * -0.1, {"x": ONES}, enclose_floats=True).balls[0]
        assert ball.contains(flint.arb(flint.fmpq(-1, 10)))
        assert ball_of_operand(-0.5).is_finite()


def test_powers_of_a_ball_across_zero_hold_those_of_its_ends() -> None:
    with working_precision(100):
        across = flint.arb(-1).union(flint.arb(3))
        assert [int_power(across, k).contains(3**k) for k in (2, 3, 4)] == [True] * 3
        assert int_power(across, 3).contains(-1)
        assert not int_power(across, 2).contains(-1)


def test_a_power_that_some_negative_bases_have_is_enclosed_or_not_bounded() -> None:
    with working_precision(100):
        base, exponent = flint.arb(-4).union(flint.arb(1)), flint.arb(2, 0.1)
        assert power(base, exponent).is_nan()  # (-4)**2 is 16
        assert power(base, flint.arb(2.5)).contains(1)
        assert power(flint.arb(2).union(flint.arb(3)), exponent).contains(9)


def test_softmax_of_large_scores_is_finite_and_narrow() -> None:
    with working_precision(100):
        weights = exact_softmax([flint.arb("1e25"), flint.arb("1e25") - 1])
        assert all(each.is_finite() for each in weights)
        assert abs(weights[0] - 1 / (1 + flint.arb(-1).exp())) < 1e-3


def test_the_complementary_error_function_keeps_its_digits() -> None:
    with working_precision(100):
        ball = UNARY["erfc"](flint.arb(8))
        assert ball > 0
        assert ball.rel_accuracy_bits() > 60
        assert UNARY["erfc"](flint.arb(0, float("inf"))).is_finite()


def test_entries_of_different_shapes_are_not_paired() -> None:
    pair, single = (BallArray([flint.arb(1)] * n, (n,), 64) for n in (2, 1))
    with pytest.raises(ShapesDiffer):
        pair.overlaps(single)


def test_one_entry_is_true_unless_it_is_zero() -> None:
    assert bool(BallArray([flint.arb(2)], (), 64)) is True
    assert bool(BallArray([flint.arb(0)], (), 64)) is False


def test_nothing_adds_up_to_a_ball() -> None:
    assert isinstance(total([]), flint.arb)


def test_a_product_of_vectors_runs_over_the_last_axis() -> None:
    x = torch.arange(12, dtype=torch.float64).reshape(2, 2, 3)
    found = run_on_balls(lambda x: torch.linalg.vecdot(x, x), {"x": x})
    assert tuple(found.shape) == (2, 2)
    assert [float(each) for each in found.balls] == torch.linalg.vecdot(x, x).flatten().tolist()


def test_zero_is_an_exponent_of_whole_numbers() -> None:
    assert run_on_balls(lambda x, n: x * n**0, {"x": ONES, "n": 3}).balls[0] == 1


def test_input_is_the_first_argument_by_name() -> None:
    found = run_on_balls(lambda x: torch.sub(input=3 * x, other=x), {"x": ONES})
    assert [float(each) for each in found.balls] == [2, 2]


@pytest.mark.parametrize(
    ("name", "words"),
    [("exp_", "Balls never change in place: use torch.exp"), ("expp", "Available: torch.exp"), ("qqqqq", "Write it")],
)
def test_what_is_missing_has_a_remedy(name: str, words: str) -> None:
    assert remedy_for(name, ["exp", "log", "sin"]).startswith(words)


def test_letters_that_do_not_fit_the_operands_are_refused() -> None:
    with pytest.raises(BallsError):
        run_on_balls(lambda x: torch.einsum("i,j->ij", x), {"x": ONES})


def test_what_is_no_operation_is_not_said_to_change_in_place() -> None:
    assert "in place" in remedy_for("relu_", ["relu"])
    assert "in place" not in remedy_for("frobnicate_", ["relu"])
    assert "in place" not in remedy_for("__relu_", ["relu"])


@pytest.mark.parametrize("base", [0, 3, -2])
def test_a_whole_power_of_0_is_an_integer(base: int) -> None:
    assert type(ExactInteger(base) ** 0) is ExactInteger
    assert ExactInteger(base) ** 0 == 1
