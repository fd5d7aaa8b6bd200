"""Obligations travel: no later rule loses one, and a layer owes what each of many owes."""

import pytest
import sympy as sp

from symbolic.calculus import (
    DerivationError,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    add,
    apply_function,
    apply_to_pairs,
    as_tokens,
    attend,
    bilinear,
    change_norm,
    concatenate,
    confine,
    contract,
    correct,
    cross_entropy,
    exclude,
    finite_depth,
    given,
    gradient_descent,
    invariant_interval,
    largest_range,
    linear_map,
    log_softmax,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    project,
    recur,
    rms_normalise,
    rotate,
    soft_threshold,
    softmax,
    taylor,
    values_on,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from symbolic.calculus.layers import iterate, recursion_from
from tests.symbolic.values import HALF, ZERO, K, N, R, e, number, owed, weights

# --- obligations travel ----------------------------------------------------------------------------------------------


def layer_on_a_range(radius: object = 2, *, size: object = 1) -> LinearRecursion:
    """One layer f(x) with an approximant off by 1/4 on [-radius, radius], 1-Lipschitz."""
    before = given("before", dim=1, size=size, error=e)
    return recursion_from(
        before, apply_function(before, "f", eps=sp.Rational(1, 4), lipschitz=1, size=1, radius=radius)
    )


def test_each_layer_of_an_iteration_owes_what_one_owes_at_the_largest_error() -> None:
    start = number(error=0)
    fits = iterate(start, "y", layer_on_a_range(), 5, size=1)  # errors 0, 1/4, ..., 1 before the five layers
    assert not fits.derivation.conditional
    with pytest.raises(DerivationError, match=r"the argument of 'f' stays in \[-R, R\], R = 2, in every layer"):
        iterate(start, "y", layer_on_a_range(), 6, size=1)
    with pytest.raises(DerivationError, match="in every layer"):
        iterate(start, "y", layer_on_a_range(), 100, size=1)
    symbolic = iterate(start, "y", layer_on_a_range(), N, size=1)
    (obligation,) = (o for o in symbolic.derivation.obligations if o.open)
    assert [obligation.condition.subs(N, k) for k in (1, 5, 6)] == [True, True, False]


def test_an_error_that_shrinks_is_largest_in_the_first_layer() -> None:
    before = given("before", dim=1, size=1, error=e)
    layer = recursion_from(before, apply_function(before, "f", eps=0, lipschitz=HALF, size=1, radius=R))
    owes = [o for o in iterate(number(error=3), "y", layer, N, size=1).derivation.obligations if o.open]
    assert [o.condition.subs({N: 4}) for o in owes] == [sp.Le(4, R)]


def test_coefficients_that_vary_bound_the_largest_error_of_all_layers() -> None:
    index, before = LinearRecursion.index, given("before", dim=1, size=0, error=e)
    layer = apply_function(before, "f", eps=0, lipschitz=2 - index, size=0, radius=R)
    owes = iterate(number(error=1, size=0), "y", recursion_from(before, layer, index=index), 3, size=0)
    ranges = [o.condition for o in owes.derivation.obligations if o.open and "stays" in o.statement]
    assert [c.subs(R, 2).doit() for c in ranges] == [True]  # errors 1, 2, 2
    assert [c.subs(R, sp.Rational(19, 10)).doit() for c in ranges] == [False]


def test_what_no_end_decides_stays_open_for_all_numbers() -> None:
    before = given("before", dim=1, size=1, error=e)
    wavy = correct(apply_function(before, "f", eps=0, lipschitz=1, size=1), "c", sigma=sp.sin(3 * e) + R)
    layer = recursion_from(before, apply_function(wavy, "g", eps=0, lipschitz=1, size=1))
    result = iterate(number(error=1), "y", layer, 3, size=1)
    open_one = next(o for o in result.derivation.obligations if o.open and "at most" in o.statement)
    assert e not in open_one.condition.free_symbols
    assert open_one.condition.subs(R, 100).free_symbols  # no value of R alone decides it


def test_obligations_survive_every_later_rule() -> None:
    x = apply_function(number(error=e), "f", eps=0, lipschitz=1, size=1, radius=R)
    y = number("y", norm=Norm.TWO)
    anything, error = sp.Symbol("S", nonnegative=True), sp.Dummy("b", nonnegative=True)
    before = given("before", dim=1, norm=Norm.TWO, size=anything, error=error)
    in_two = change_norm(x, Norm.TWO, "x2")
    rules = [
        linear_map(x, "z", operator_norm=1, dim=1),
        bilinear(x, number("w"), "xw"),
        add(x, number("w"), name="s"),
        as_tokens(x, number("w"), name="t"),
        mean(x, "m"),
        concatenate(x, number("w"), name="c"),
        in_two,
        project(in_two, "P", size=1),
        soft_threshold(x, "S"),
        rms_normalise(in_two, "g", shift=1),
        rotate(concatenate(x, x, name="two"), "t"),
        softmax(x, "q"),
        log_softmax(x, "l"),
        cross_entropy(x, "h"),
        attend(weights(), x, "out"),
        exclude(x, "k", count=1, lead=0, diameter=1),
        recur(x, "r", factor=2, offset=1, depth=3, size=1),
        contract(x, "k", factor=HALF, offset=0, size=1),
        taylor(x, "t", suprema={1: 1}, size=1),
        gradient_descent(x, "g", step=HALF, smoothness=1, steps=2),
        perturbed_map(x, "Ax", operator_norm=1, perturbation=1, dim=1),
        perturbed_function(x, "F", lipschitz=1, size=1),
        apply_to_pairs(x, y, "pairs", count=2, slopes=(1, 1), size=1),
        pooled_sum(in_two, y, name="ps"),
        pool(x, "p", groups=(e,), total=1),
        stack(y, y, N, in_two, count=3, name="st"),
        either(in_two, sp.Lt(N, 3), y, name="ei"),
        iterate(x, "it", LinearRecursion(ZERO, HALF, HALF), 3, size=1),
        iterate(y, "it2", recursion_from(before, add(before, in_two, name="sum")), 3, size=3),
    ]
    for value in rules:
        assert any("the argument of 'f' stays" in statement for statement in owed(value)), value.name


def test_a_layer_that_owes_can_be_confined() -> None:
    z = sp.Symbol("z", positive=True)
    iterated = iterate(number(error=0), "y", layer_on_a_range(R), N, size=1)
    assert iterated.derivation.conditional
    fits = invariant_interval(MonotoneRecursion(sp.Integer(1), z / 2 + HALF, z), 1)
    with pytest.raises(DerivationError, match="the range of 'y' covers the invariant: 3 <= 2"):
        confine(
            iterate(number(error=0), "y", layer_on_a_range(2), N, size=1),
            invariant_interval(MonotoneRecursion(sp.Integer(3), z / 2 + HALF, z), 3),
        )
    confined = confine(iterate(number(error=0), "y", layer_on_a_range(2), N, size=1), fits)
    assert not confined.derivation.conditional
    assert confined.error == N / 4


def test_a_range_that_is_its_own_largest_argument_is_confined_at_every_depth() -> None:
    beta = sp.Function("beta", nonnegative=True)
    arguments = MonotoneRecursion(sp.Integer(1), 2 * beta(R) + HALF, R)
    f = apply_function(number(error=e), "f", eps=0, lipschitz=1, size=1, radius=R)
    kept = largest_range(arguments, N - 1)
    assert not kept.conditional
    assert not confine(f, kept).derivation.conditional
    assert arguments.largest_implicitly(N - 1).subs(N, 1) == 1
    assert arguments.largest_implicitly(3) == sp.Max(1, 2 * beta(R) + HALF)
    values = values_on(kept, supremum=beta(R), eps=HALF, letter=K)
    outer = apply_function(number(error=e), "g", eps=0, lipschitz=1, size=1, radius=K)
    assert not confine(outer, values).derivation.conditional
    assert confine(outer, values_on(kept, supremum=beta(R), eps=HALF)).derivation.conditional  # K is any number there
    wavy = largest_range(MonotoneRecursion(sp.Integer(1), sp.sin(R) + R / 2, R), 3)
    assert wavy.conditional
    assert values_on(wavy, supremum=1, eps=0).conditional
    with pytest.raises(DerivationError, match="the depth of 'R' is -1"):
        largest_range(arguments, -1)
    with pytest.raises(DerivationError, match="the eps of 'R' is -1"):
        values_on(kept, supremum=1, eps=-1)


def test_obligations_are_found_by_what_they_are() -> None:
    """A statement that reads like a range is none, and a range is one whatever it says."""
    x = correct(number(error=e), "stays in [-R, R]", sigma=R)
    with pytest.raises(DerivationError, match="has no open range obligation"):
        confine(x, finite_depth(MonotoneRecursion(sp.Integer(1), R / 2, R), 1))


def test_the_members_of_a_family_owe_what_one_owes() -> None:
    j = sp.Symbol("j", integer=True, positive=True)
    before = number("x", norm=Norm.TWO, error=j)
    member = apply_function(before, "f", eps=0, lipschitz=1, size=1, radius=R)
    end = number("end", norm=Norm.TWO)
    stacked = stack(end, member, j, end, count=N, name="all")
    (obligation,) = (o for o in stacked.derivation.obligations if o.open)
    assert obligation.condition.subs({N: 5, R: 5}) == sp.true  # j = 4 at most
    assert obligation.condition.subs({N: 6, R: 5}) == sp.false
    assert "for every j from 2 to N - 1" in obligation.statement
