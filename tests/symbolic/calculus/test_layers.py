"""Layers fit together; pooled parts are independent, and stated per unit."""

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    MonotoneRecursion,
    Norm,
    QuadraticRecursion,
    add,
    apply_function,
    bilinear,
    change_norm,
    contraction_steps,
    finite_depth,
    given,
    linear_map,
    perturbed_map,
    pool,
    pooled_sum,
)
from symbolic.calculus.families import stack
from symbolic.calculus.layers import iterate, recursion_from
from tests.symbolic.values import HALF, K, N, R, e, number, owed, sign

# --- layers fit together ---------------------------------------------------------------------------------------------


def test_a_layer_has_to_be_again_what_its_premise_was() -> None:
    before = given("before", dim=1, size=1, error=e)
    grows = bilinear(before, number("w", size=2, error=0), "y")  # of size 2, with a bound that is for size 1
    with pytest.raises(DerivationError, match="the layers do not fit; hypothesis violated: the size of 'y' is at most"):
        recursion_from(before, grows)
    with pytest.raises(DerivationError, match="'y' is bounded in the 2-norm, but the layer starts from the inf-norm"):
        recursion_from(before, change_norm(before, Norm.TWO, "y"))
    with pytest.raises(DerivationError, match="the dimension of 'y' is that of the layer's premise"):
        recursion_from(before, linear_map(before, "y", operator_norm=HALF, dim=2))
    probabilities = given("q", dim=2, norm=Norm.ONE, size=1, error=e, probabilities=True)
    with pytest.raises(DerivationError, match="'y' is not known to hold probabilities, but 'q' does"):
        recursion_from(probabilities, linear_map(probabilities, "y", operator_norm=1, dim=2))
    affine = given("q", dim=2, norm=Norm.ONE, size=2, error=e, affine=True)
    with pytest.raises(DerivationError, match="'y' is not known to hold weights, but 'q' does"):
        recursion_from(affine, linear_map(affine, "y", operator_norm=1, dim=2))
    centred = given("v", dim=1, size=1, radius=HALF, error=e)
    with pytest.raises(DerivationError, match="the radius of 'y' is at most that"):
        recursion_from(centred, linear_map(centred, "y", operator_norm=1, radius=1, dim=1))


def test_the_first_value_has_to_be_what_the_layer_starts_from() -> None:
    before = given("before", dim=1, size=1, error=e)
    layer = recursion_from(before, linear_map(before, "y", operator_norm=HALF, dim=1))
    with pytest.raises(DerivationError, match="the size of 'x' is at most that of the layer's premise"):
        iterate(number(size=2), "z", layer, 3, size=1)
    with pytest.raises(DerivationError, match="the dimension of 'x'"):
        iterate(given("x", dim=2, size=1), "z", layer, 3, size=1)
    with pytest.raises(DerivationError, match="'x' is bounded in the 2-norm"):
        iterate(number(norm=Norm.TWO), "z", layer, 3, size=1)
    assert "the size of 'x' is at most that of the layer's premise" in owed(
        iterate(number(size=R), "z", layer, 3, size=1)
    )


def test_a_size_that_does_not_enter_the_bound_may_be_anything() -> None:
    anything, width = sp.Symbol("S", nonnegative=True), sp.Symbol("w", integer=True, positive=True)
    before = given("before", dim=width, size=anything, error=e)
    layer = recursion_from(before, linear_map(before, "y", operator_norm=2, dim=K))
    assert not owed(iterate(given("x", dim=7, size=9, error=1), "z", layer, N, size=1))
    used = recursion_from(before, bilinear(before, number("w", error=HALF), "y"))  # the size of `before` enters
    assert "the size of 'x' is at most that of the layer's premise" in owed(
        iterate(given("x", dim=7, size=R, error=1), "z", used.subs({anything: 1, width: 7}), N, size=1)
    )


# --- the seven that gave a wrong bound -------------------------------------------------------------------------------


def test_parts_of_a_pooled_sum_are_independent() -> None:
    x, y, exact = (number(n, norm=Norm.TWO, error=v) for n, v in (("x", 1), ("y", 1), ("c", 0)))
    with pytest.raises(DerivationError, match="'x' and 'x' both carry the error of 'x'; use add"):
        pooled_sum(x, x, name="s")
    with pytest.raises(DerivationError, match="the parts of 's' are not independent"):
        pooled_sum(linear_map(x, "Ax", operator_norm=1, dim=1), linear_map(x, "Bx", operator_norm=1, dim=1), name="s")
    of_exact = [linear_map(exact, n, operator_norm=1, dim=1) for n in ("Ac", "Bc")]
    assert pooled_sum(add(x, of_exact[0], name="x'"), add(y, of_exact[1], name="y'"), name="s").error == sp.sqrt(2)


def pooled_layer(name: str = "ax", **more: object) -> tuple[Approximated, Approximated]:
    before = given("before", dim=1, norm=Norm.TWO, size=1, error=e)
    bounds = {"operator_norm": 1, "perturbed_norm": 1, "perturbation": 1, "dim": 1, "pooled": True}
    return before, perturbed_map(before, name, **{**bounds, **more})


def test_layers_are_pooled_only_where_each_is_stated_per_unit() -> None:
    before, layer = pooled_layer()
    with pytest.raises(DerivationError, match="the error of 'ax' is not affine in that of 'before'"):
        recursion_from(before, layer)
    with pytest.raises(DerivationError, match="'f' is not stated per unit of a perturbation"):
        recursion_from(before, apply_function(layer, "f", eps=1, lipschitz=1, size=1), pooled=True)
    added = add(before, layer, name="sum")  # e + sqrt(e^2 + 1)
    with pytest.raises(DerivationError, match="the error of 'sum' is not affine in that of 'before'"):
        recursion_from(before, added, pooled=True)
    with pytest.raises(DerivationError, match="the size of 'ax' is at most that of the layer's premise"):
        recursion_from(*pooled_layer(operator_norm=2, perturbed_norm=2), pooled=True)
    off = apply_function(number(norm=Norm.TWO, error=0), "f", eps=1, lipschitz=1, size=1)
    with pytest.raises(DerivationError, match="iterate: 'f' is not stated per unit of a perturbation"):
        iterate(off, "end", recursion_from(before, layer, pooled=True), 2, size=1)


def test_what_pooled_layers_conclude_is_stated_per_unit() -> None:
    recursion = recursion_from(*pooled_layer(), pooled=True)
    depth = sp.Symbol("depth", integer=True, nonnegative=True)
    end = iterate(number(norm=Norm.TWO, error=2), "end", recursion, depth, size=1)
    assert [end.error.subs(depth, k) for k in (0, 5)] == [2, 3]
    other = number("y", norm=Norm.TWO, error=4)
    assert pooled_sum(end, other, name="s").error.subs(depth, 5) == 5
    assert recursion.run([1, 1], [1, 1], sp.Integer(0)) == [0, 1, sp.sqrt(2)]
    assert recursion.run_at([{}] * 5, 2.0)[-1] == pytest.approx(3.0, rel=1e-14)


def test_a_pool_has_different_groups_that_no_size_depends_on() -> None:
    for wrong in (
        lambda: pool(number(error=e), "p", groups=(e, e), total=1),
        lambda: pool(number(error=e, size=1 + e), "p", groups=(e,), total=1),
        lambda: pool(given("x", dim=1, size=1, error=e, radius=e), "p", groups=(e,), total=1),
    ):
        with pytest.raises(DerivationError, match="must be different and must not occur in the size, radius or"):
            wrong()


def test_an_upper_bound_on_a_function_that_the_step_falls_in_bounds_nothing() -> None:
    beta, gamma = sp.Function("beta", nonnegative=True), sp.Function("gamma", nonnegative=True)
    one = sp.Integer(1)
    for step in (2 * R - beta(R), 2 * R + gamma(3 - beta(R)), R + sign * beta(R)):
        recursion = MonotoneRecursion(one, step, R)
        with pytest.raises(DerivationError, match=r"cannot show that .* does not decrease in beta"):
            recursion.linear({beta: (1, 1)})
    nested = MonotoneRecursion(one, beta(R + beta(R)), R).linear({beta: (1, 1)})
    assert (nested.factor, nested.offset) == (2, 2)
    unknown = MonotoneRecursion(one, beta(R) + sign, R).linear({beta: (0, 1)})
    assert any("the offset of 'R' is not negative" in o.statement for o in unknown.obligations)
    assert any(
        "the offset" in o.statement
        for o in finite_depth(MonotoneRecursion(one, beta(R) + sign, R), N, growth={beta: (0, 1)}).obligations
    )


def test_contraction_steps_hold_for_every_factor_below_1() -> None:
    tenth = sp.Rational(1, 10)
    assert contraction_steps(2, 0, tenth, HALF) == 1
    assert contraction_steps(HALF, 0, tenth, HALF) == 0
    q = sp.Symbol("q", nonnegative=True)
    steps = contraction_steps(2, q, tenth, HALF)
    assert [steps.subs(q, v) for v in (0, HALF, sp.Rational(9, 10))] == [1, 3, sp.nan]
    for wrong in ({"factor": 1}, {"factor": -HALF}, {"offset": -1}, {"start": -1}, {"accuracy": sp.nan}):
        with pytest.raises(DerivationError, match="contraction_steps: "):
            contraction_steps(**{"start": 2, "factor": HALF, "offset": tenth, "accuracy": HALF, **wrong})


def test_steps_of_a_quadratic_recursion_from_any_start() -> None:
    squares = QuadraticRecursion(sp.Integer(0), sp.Integer(2), sp.Integer(0))
    assert squares.steps_to(HALF) == 0
    with pytest.raises(DerivationError, match="the accuracy is 0"):
        squares.steps_to(0)
    with pytest.raises(DerivationError, match="the start 3 is not below 1/2"):
        QuadraticRecursion(sp.Integer(3), sp.Integer(2), sp.Integer(0)).steps_to(HALF)
    with pytest.raises(DerivationError, match="the start of 'the recursion' is -1"):
        QuadraticRecursion(sp.Integer(-1), sp.Integer(2), sp.Integer(0))
    with pytest.raises(DerivationError, match="the steps of 'the recursion' is -1; give a whole number"):
        squares.after(-1)


def test_dimensions_of_layers_and_families_are_counted() -> None:
    before = given("before", dim=sp.Symbol("w", integer=True, positive=True), norm=Norm.TWO, size=1, error=e)
    layer = recursion_from(before, linear_map(before, "y", operator_norm=1, dim=K))
    x = given("x", dim=7, norm=Norm.TWO, size=1, error=1)
    assert iterate(x, "z", layer, 3, size=1).dim == K
    assert iterate(x, "z", layer, 0, size=1).dim == 7
    assert iterate(x, "z", layer, N - 1, size=1).dim.subs(N, 1) == 7
    j = sp.Symbol("j", integer=True, positive=True)
    member = given("m", dim=j, norm=Norm.TWO, size=1)
    assert [stack(x, member, j, x, count=k, name="all").dim for k in (1, 2, 5)] == [7, 14, 14 + 2 + 3 + 4]
