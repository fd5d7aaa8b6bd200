"""Recursions, the invariants of their arguments, and layers that are read off and put together."""

import pytest
import sympy as sp

from symbolic.calculus import (
    CoupledRecursion,
    DerivationError,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    add,
    apply_function,
    confine,
    correct,
    finite_depth,
    geometric_sum,
    given,
    invariant_interval,
    mean,
    softmax,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from symbolic.calculus.geometric import mixed_geometric_sum, written_out
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.calculus.numbers import evaluate
from symbolic.words.prose import plain
from tests.symbolic.values import HALF, ONE, TWO, ZERO, N, R, a, b, conditions, e, n, p, q, r, vector, z

# --- recursions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0, HALF, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_geometric_sum_is_the_sum_of_powers(ratio: sp.Expr, count: int) -> None:
    expected = sum(sp.sympify(ratio) ** k for k in range(count))
    assert geometric_sum(ratio, count) == expected
    assert geometric_sum(q, count).subs(q, ratio) == expected
    assert geometric_sum(q, n).subs({q: ratio, n: count}) == expected
    assert geometric_sum(sp.exp(r), count).subs(r, 0) == count
    assert geometric_sum(sp.exp(-a), n).subs({a: 1, n: 2}) == (1 - sp.exp(-2)) / (1 - sp.exp(-1))


@pytest.mark.parametrize("first", [0, HALF, 1, 2])
@pytest.mark.parametrize("second", [0, HALF, 1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_mixed_geometric_sum_is_the_sum_of_products(first: sp.Expr, second: sp.Expr, count: int) -> None:
    one, other = sp.sympify(first), sp.sympify(second)
    expected = sum(one**i * other ** (count - 1 - i) for i in range(count))
    assert mixed_geometric_sum(first, second, count) == expected
    assert mixed_geometric_sum(p, q, count).subs({p: first, q: second}).doit() == expected
    if first == second:
        assert mixed_geometric_sum(q, q, n).subs(q, first).subs(n, count) == expected


def test_ratios_that_differ_need_no_case_distinction() -> None:
    assert not mixed_geometric_sum(q, q + 1, n).has(sp.Piecewise)
    assert mixed_geometric_sum(p, q, n).has(sp.Piecewise)


def test_a_recursion_is_run_at_the_numbers_of_each_layer() -> None:
    layer = LinearRecursion.index
    recursion = LinearRecursion(ZERO, a + layer, b / 2)
    assert recursion.run_at([{a: 1, b: 4}, {a: 2, b: 8}], 1) == [1, 3, 13]
    growing = recursion.run_at([lambda error: {a: error, b: 2}] * 2, 3)
    assert growing == [3, 10, 111]
    assert recursion.run_at([{a: 1, b: 4}, {a: 2, b: 8}], 1, cap=lambda error: min(error, 2)) == [1, 2, 2]
    with pytest.raises(DerivationError, match=r"evaluate: b/2 needs numbers for b; give them"):
        recursion.run_at([{a: 1}], 1)


@pytest.mark.parametrize("constant", [sp.Rational(1, 3), sp.sqrt(2), sp.pi], ids=str)
def test_a_constant_that_would_be_rounded_is_refused(constant: sp.Expr) -> None:
    with pytest.raises(DerivationError, match=r"floats do not hold .* exactly; give a letter"):
        evaluate(constant * a, {a: 1.0})


def test_a_recursion_is_run_with_as_many_factors_as_offsets() -> None:
    with pytest.raises(ValueError, match="zip"):
        LinearRecursion(ONE, ONE, ONE).run([1, 2], [1], 1)
    with pytest.raises(ValueError, match="zip"):
        CoupledRecursion((ONE, ONE), ((ONE, ONE), (ONE, ONE)), (ONE, ONE)).run([((1, 0), (0, 1))], [], (1, 1))


MATRICES = [((1, 2), (3, 1)), ((2, 0), (3, 1)), ((2, 5), (0, 2)), ((1, 1), (1, 1)), ((0, 1), (0, 0)), ((0, 0), (1, 3))]


@pytest.mark.parametrize("matrix", MATRICES, ids=str)
def test_powers_of_a_coupling_are_matrix_powers(matrix: tuple) -> None:
    rows = tuple(tuple(map(sp.Integer, row)) for row in matrix)
    recursion = CoupledRecursion((ONE, TWO), rows, (ZERO, ZERO))
    for depth in (0, 1, 2, 5):
        exact = sp.Matrix(matrix) ** depth
        assert sp.simplify(recursion.power(sp.Integer(depth)) - exact) == sp.zeros(2)
        assert tuple(map(sp.simplify, recursion.closed(depth))) == tuple(exact * sp.Matrix([1, 2]))
    assert set(recursion.eigenvalues()) == set(sp.Matrix(matrix).eigenvals())


def test_offsets_of_a_coupling_add_up_over_the_layers() -> None:
    rows = ((TWO, ONE), (ZERO, sp.Integer(3)))
    for offset in ((ONE, ZERO), (ZERO, ONE), (ONE, TWO)):
        e_f = sp.Matrix([1, 1])
        for _ in range(3):
            e_f = sp.Matrix(rows) * e_f + sp.Matrix(offset)
        closed = CoupledRecursion((ONE, ONE), rows, offset).closed(3)
        assert tuple(each.doit() for each in closed) == tuple(e_f)


def test_the_largest_error_of_a_recursion_is_found_without_running_it() -> None:
    for start, factor, offset in ((8, HALF, 1), (1, HALF, 1), (1, 2, 1), (0, HALF, 1), (8, HALF, 0), (3, 1, 1)):
        recursion = LinearRecursion(*map(sp.sympify, (start, factor, offset)))
        errors = recursion.run([sp.sympify(factor)] * 4, [sp.sympify(offset)] * 4, sp.sympify(start))
        assert recursion.largest(4) == max(errors)
    index = LinearRecursion.index
    rising = LinearRecursion(ONE, 1 + index, ONE)
    assert rising.largest(3).doit() == rising.closed(3).doit() == 16  # 1, 2, 5, 16
    falling = LinearRecursion(sp.Integer(5), 2 - index, ONE)  # 5, 11, 12, 1
    assert falling.largest(3).doit() >= 12


def test_the_number_of_a_layer_is_a_whole_number_from_0_on() -> None:
    index = LinearRecursion.index
    assert (index.is_integer, index.is_nonnegative, index.is_positive) == (True, True, None)


def test_a_layer_is_read_off_as_slope_and_offset() -> None:
    before = given("before", dim=1, size=sp.Symbol("S", nonnegative=True), error=e)
    read = recursion_from(before, apply_function(before, "f", eps=a, lipschitz=b, size=1))
    assert (read.start, read.factor, read.offset) == (0, b, a)
    with pytest.raises(DerivationError, match="the error of 'before' is 2; give a separate symbol"):
        recursion_from(given("before", dim=1, size=1, error=2), vector("y"))
    with pytest.raises(DerivationError, match="'y' is not derived from 'before'"):
        recursion_from(before, vector("y", dim=1))
    with pytest.raises(DerivationError, match="the error of 'q' is not affine in that of 'before'"):
        recursion_from(before, softmax(before, "q"))


# --- invariants ------------------------------------------------------------------------------------------------------


def test_an_invariant_asks_for_its_two_closing_conditions_up_to_the_edge() -> None:
    step = MonotoneRecursion(ONE, z / 2 + 1, z)  # fixed point 2
    assert not invariant_interval(step, 2).conditional
    assert invariant_interval(step, 2).bound == 2
    with pytest.raises(DerivationError, match="the interval is mapped into itself"):
        invariant_interval(step, sp.Rational(19, 10))
    assert not invariant_interval(MonotoneRecursion(TWO, z / 2, z), 2).conditional  # the start at the edge
    with pytest.raises(DerivationError, match="the first argument fits"):
        invariant_interval(MonotoneRecursion(sp.Rational(21, 10), z / 2, z), 2)


def test_a_finite_depth_needs_the_largest_radius_and_takes_any_above() -> None:
    step = MonotoneRecursion(ONE, 2 * z, z)
    assert step.unrolled(3) == [1, 2, 4, 8]
    assert finite_depth(step, 3).bound == 8
    assert finite_depth(step, 0).bound == 1
    assert not finite_depth(step, 3, 8).conditional
    assert finite_depth(step, 3, 9).bound == 9
    with pytest.raises(DerivationError, match="the arguments of all layers fit"):
        finite_depth(step, 3, 7)
    assert finite_depth(MonotoneRecursion(sp.Integer(8), z / 2, z), 3).bound == 8  # the first is the largest
    assert finite_depth(step, n, growth={}).bound.subs(n, 3) == 8


def test_confine_touches_the_named_steps_only() -> None:
    x = vector(error=0)
    f = apply_function(x, "f", eps=a, lipschitz=1, size=1, radius=R)
    g = apply_function(f, "g", eps=a, lipschitz=1, size=1, radius=R)
    fits = finite_depth(MonotoneRecursion(ONE, z, z), 2)
    covers = sp.Le(1, R)
    one = confine(g, fits, "f")
    kept = {step.name: [o.condition for o in step.obligations if o.open] for step in one.derivation.steps}
    assert kept == {"x": [], "f": [covers], "g": [sp.Le(1 + a, R)]}
    both = confine(g, fits)
    assert [o.condition for o in both.derivation.obligations if o.open] == [covers, covers]
    assert all(o.discharged_by for o in both.derivation.obligations if o.condition != covers)
    with pytest.raises(DerivationError, match="step 'f' has no open range obligation"):
        confine(confine(g, fits, "f"), fits, "f")  # it is discharged already


def test_confine_leaves_what_is_no_open_range() -> None:
    fits = finite_depth(MonotoneRecursion(ONE, z, z), 2)
    f = apply_function(vector(), "f", eps=r, lipschitz=1, size=1, radius=R)
    confined = confine(f, fits).derivation.step("f").obligations
    assert [o.condition for o in confined if o.open] == [sp.Ge(r, 0), sp.Le(1, R)]
    g = apply_function(vector(), "g", eps=0, lipschitz=1, size=1, radius=a)
    other = finite_depth(MonotoneRecursion(TWO, z, z), 1)
    twice = confine(confine(add(f, g, name="s"), fits, "f"), other, "g").derivation
    reasons = {o.discharged_by for o in twice.step("f").obligations if o.discharged_by}
    assert reasons == {plain(fits.reason)}  # the second call had nothing to say about f
    assert sp.Le(2, a) in [o.condition for o in twice.step("g").obligations]


# --- layers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [ZERO, HALF, ONE, sp.Integer(3)])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_geometric_sum_that_is_written_out_is_the_sum_of_powers(ratio: sp.Expr, count: int) -> None:
    for inside in (geometric_sum(q, n), a * geometric_sum(q, n) + q, geometric_sum(a * q, n + 1)):
        plain = written_out(inside)
        assert not plain.has(sp.Piecewise)
        at = {a: 1, q: ratio, n: count}
        assert plain.subs(at).doit() == inside.subs(at)
    cases = sp.Piecewise((n, sp.Eq(q, 1)), (1, True))  # no geometric sum
    assert written_out(cases) == cases
    assert written_out(sp.Piecewise((n, sp.Eq(q, 2)), (1, True))) == sp.Piecewise((n, sp.Eq(q, 2)), (1, True))


def test_a_size_that_only_a_range_asks_about_is_asked_of_the_first_value() -> None:
    size = sp.Symbol("S", nonnegative=True)
    before = given("before", dim=3, size=size, error=e)
    layer = recursion_from(before, apply_function(before, "f", eps=0, lipschitz=HALF, size=1, radius=R))
    asked = sp.Le(1, size)  # of the layer's own conclusion, and of the value that it starts from
    assert [o.condition for o in layer.obligations if "size" in o.statement] == [asked]
    iterated = iterate(vector(), "y", layer, 2, size=1)
    assert asked in conditions(iterated)
    assert any("the size of 'x' is at most" in o.statement for o in iterated.derivation.obligations)


def test_a_family_owes_from_two_layers_on() -> None:
    j = sp.Symbol("j", integer=True, positive=True)
    first = correct(vector("first", Norm.TWO, error=a), "c", sigma=R)
    member, last = vector("member", Norm.TWO, error=j), vector("last", Norm.TWO)
    stacked = stack(first, member, j, last, count=N, name="all")
    (owed,) = (o for o in stacked.derivation.obligations if o.open)
    at = {a: 2, R: 1}  # the first one does not hold
    assert [owed.condition.subs({**at, N: count}) for count in (1, 2, 3)] == [True, False, False]
    assert [owed.condition.subs({a: 1, R: 1, N: count}) for count in (1, 2, 3)] == [True, True, True]


def test_what_the_last_of_a_stack_owes_is_owed_for_every_count() -> None:
    j = sp.Symbol("j", integer=True, positive=True)
    shared = correct(vector("x", Norm.TWO, error=a), "c", sigma=R)
    member = vector("member", Norm.TWO, error=j)
    stacked = stack(shared, member, j, shared, count=N, name="all")
    assert [o.condition for o in stacked.derivation.obligations if o.open] == [sp.Le(a, R)]


def test_a_case_owes_nothing_in_the_other() -> None:
    here = correct(vector("x", error=a), "c", sigma=R)
    there = correct(vector("y", error=b), "d", sigma=R)
    chosen = either(here, sp.Lt(N, 3), there, name="z")
    owed = [o.condition for o in chosen.derivation.obligations if o.open]
    for count, broken in ((2, {a: 2, b: 1}), (3, {a: 1, b: 2})):
        assert sp.And(*owed).subs({N: count, R: 1, a: 1, b: 1}) == sp.true
        assert sp.And(*owed).subs({N: count, R: 1, **broken}) == sp.false
        assert sp.And(*owed).subs({N: 5 - count, R: 1, **broken}) == sp.true
    both = correct(vector("x", error=a), "c", sigma=R)
    assert [o.condition for o in either(both, sp.Lt(N, 3), mean(both, "m"), name="z").derivation.obligations] == [
        sp.Le(a, R)
    ]  # behind both cases
