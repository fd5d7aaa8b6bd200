"""Rules refuse values that they are not proved for, and obligations say exactly what would suffice."""

from collections.abc import Callable

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    CoupledRecursion,
    DerivationError,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    QuadraticRecursion,
    add,
    apply_function,
    attend,
    change_norm,
    concatenate,
    concentrate,
    confine,
    contract,
    contraction_steps,
    converge,
    correct,
    descend,
    finite_depth,
    geometric_sum,
    given,
    gradient_descent,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    invariant_interval,
    knob_for,
    largest_safe,
    mean,
    minimise,
    pool,
    pooled_sum,
    project,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
)
from symbolic.calculus.layers import either, iterate, recursion_from, stack, written_out
from symbolic.calculus.numbers import evaluate
from symbolic.calculus.recursions import mixed_geometric_sum
from symbolic.calculus.sums import norm_change_factor, norm_of_ones

a, b, s, R, z = sp.symbols("a b s R z", positive=True)
q, p = sp.symbols("q p", nonnegative=True)
e = sp.Dummy("e", nonnegative=True)
r = sp.Symbol("r", real=True)
N = sp.Symbol("N", integer=True, positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
HALF, ZERO, ONE, TWO = sp.Rational(1, 2), sp.Integer(0), sp.Integer(1), sp.Integer(2)


def vector(name: str = "x", norm: Norm = Norm.INF, dim: int = 3, error: object = 0) -> Approximated:
    return given(name, dim=dim, norm=norm, size=1, error=error)


def conditions(value: Approximated) -> list[object]:
    return [obligation.condition for obligation in value.derivation.steps[-1].obligations]


# --- norms -----------------------------------------------------------------------------------------------------------

PROVED_IN: dict[str, tuple[Callable[[Approximated], Approximated], Norm]] = {
    "softmax": (lambda x: softmax(x, "q"), Norm.INF),
    "softmax_as_linear": (lambda x: softmax_as_linear(x, "q"), Norm.INF),
    "heads_as_linear": (lambda x: heads_as_linear(x, "q", sink=1), Norm.INF),
    "heads_as_matrix": (lambda x: heads_as_matrix(x, "q", sink=1, reach=1, keys=3), Norm.TWO),
    "hard_max": (lambda x: hard_max(x, "q", margin=1), Norm.INF),
    "softmax_to_hard_max": (lambda x: softmax_to_hard_max(x, "q", margin=1, inverse_temperature=1), Norm.INF),
    "project": (lambda x: project(x, "P", size=1), Norm.TWO),
}


@pytest.mark.parametrize("rule", PROVED_IN)
def test_a_rule_takes_values_in_the_norm_of_its_proof_only(rule: str) -> None:
    apply, proved = PROVED_IN[rule]
    assert apply(vector(norm=proved))
    for other in set(Norm) - {proved}:
        with pytest.raises(DerivationError, match=f"{rule}: 'x' is bounded in the {other}-norm"):
            apply(vector(norm=other))


@pytest.mark.parametrize("norm", [Norm.INF, Norm.TWO])
def test_attention_wants_weights_in_the_1_norm(norm: Norm) -> None:
    with pytest.raises(DerivationError, match=f"attend: 'x' is bounded in the {norm}-norm"):
        attend(vector(norm=norm), vector("v"), "out")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_part_of_a_stack_is_in_the_2_norm(place: int) -> None:
    parts = [vector(f"x{k}", Norm.INF if k == place else Norm.TWO) for k in range(3)]
    with pytest.raises(DerivationError, match=f"stack: 'x{place}' is bounded in the inf-norm"):
        stack(parts[0], parts[1], N, parts[2], count=4, name="all")


def test_both_cases_are_in_one_norm() -> None:
    with pytest.raises(DerivationError, match="either: 'x' is bounded in the inf-norm"):
        either(vector(), sp.Lt(N, 2), vector("y", Norm.ONE), name="z")


def test_values_that_are_combined_have_one_norm_one_dimension_and_are_some() -> None:
    for combine in (add, concatenate):
        with pytest.raises(DerivationError, match=f"{combine.__name__}: no values to combine"):
            combine(name="s")
        with pytest.raises(DerivationError, match=f"{combine.__name__}: the values are stated in different norms"):
            combine(vector(), vector("y", Norm.ONE), name="s")
    for values in ((vector(), vector("y", dim=2)), (vector(), vector("y"), vector("w", dim=2))):
        with pytest.raises(DerivationError, match="add: the values differ in dimension"):
            add(*values, name="s")
    assert concatenate(vector(), vector("y", dim=2), name="s").dim == 5
    for coefficients in ((1,), (1, 2, 3)):
        with pytest.raises(DerivationError, match=f"add: 2 values but {len(coefficients)} coefficients"):
            add(vector(), vector("y"), name="s", coefficients=coefficients)


def test_norms_change_by_the_least_factor() -> None:
    order = [Norm.INF, Norm.TWO, Norm.ONE]
    expected = [[1, sp.sqrt(N), N], [1, 1, sp.sqrt(N)], [1, 1, 1]]
    assert [[norm_change_factor(source, target, N) for target in order] for source in order] == expected
    assert [norm_of_ones(norm, N) for norm in order] == [1, sp.sqrt(N), N]
    assert change_norm(vector(), Norm.INF, "y").error == 0


# --- obligations -----------------------------------------------------------------------------------------------------


def test_obligations_ask_for_what_the_proof_needs_and_no_more() -> None:
    x = vector(error=e)
    assert conditions(hard_max(x, "q", margin=a))[-1] == sp.Gt(a, 2 * e)
    assert conditions(softmax_to_hard_max(x, "q", margin=a, inverse_temperature=b))[-1] == sp.Gt(a, 2 * e)
    assert conditions(correct(x, "C", sigma=a)) == [sp.Le(e, a)]
    assert conditions(apply_function(x, "f", eps=a, lipschitz=b, size=1, radius=R)) == [sp.Le(1 + e, R)]
    assert conditions(apply_function(x, "f", eps=a, lipschitz=b, size=1)) == []
    assert conditions(contract(x, "y", factor=q, offset=b, size=1)) == [sp.Lt(q, 1)]
    limit = converge(x, "y", quadratic=a, offset=b, size=1)
    root = sp.sqrt(1 - 4 * a * b)
    assert conditions(limit) == [sp.Lt(4 * a * b, 1), sp.Lt(e, (1 + root) / (2 * a))]
    assert conditions(converge(x, "y", quadratic=a, offset=b, size=1, depth=3)) == [
        sp.Lt(4 * a * b, 1),
        sp.Lt(2 * a * e, 1),
    ]
    assert sp.Lt(a * e, 1) in conditions(converge(x, "y", quadratic=a, offset=0, size=1, depth=3))


def test_premises_hold_up_to_the_edge_that_the_proof_allows() -> None:
    x = vector(error=HALF)
    assert correct(x, "C", sigma=HALF).error == 0  # e <= sigma
    assert not apply_function(x, "f", eps=0, lipschitz=1, size=1, radius=sp.Rational(3, 2)).derivation.conditional
    for edge in (
        lambda: hard_max(x, "q", margin=1),
        lambda: softmax_to_hard_max(x, "q", margin=1, inverse_temperature=1),
        lambda: contract(x, "y", factor=1, offset=0, size=1),
        lambda: converge(x, "y", quadratic=2, offset=0, size=1),
        lambda: converge(x, "y", quadratic=2, offset=0, size=1, depth=2),
        lambda: converge(x, "y", quadratic=1, offset=sp.Rational(1, 4), size=1),
        lambda: converge(x, "y", quadratic=1, offset=sp.Rational(1, 8), size=1, depth=2),
    ):
        with pytest.raises(DerivationError, match="does not follow; hypothesis violated:"):
            edge()


def test_an_expansion_needs_every_derivative_below_its_order() -> None:
    with pytest.raises(DerivationError, match=r"no order of 'f' is known; give suprema\[1\]"):
        taylor(vector(), "f", suprema={3: 1}, derivatives={2: 1}, size=1)
    with pytest.raises(DerivationError, match="no order of 'f' is known"):
        taylor(vector(), "f", suprema={}, derivatives={1: 1}, size=1)
    for order in (0, -1):
        with pytest.raises(DerivationError, match=f"a bound on a derivative of order {order!r}; give 1, 2"):
            taylor(vector(), "f", suprema={order: 1}, size=1)
    x = vector(error=e)
    skipped = taylor(x, "f", suprema={1: a, 3: b}, size=1)  # order 3 is not known
    assert skipped.error == a * e
    assert conditions(taylor(x, "f", suprema={1: 1}, size=1, radius=R)) == [sp.Le(1 + e, R)]


def test_a_gradient_descent_starts_from_a_number() -> None:
    for wrong in (vector(), given("x", dim=1, norm=Norm.TWO, size=1)):
        with pytest.raises(DerivationError, match="gradient_descent: 'x' must be a number"):
            gradient_descent(wrong, "g", step=1, smoothness=1, steps=2)


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
    assert reasons == {fits.reason}  # the second call had nothing to say about f
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


# --- iterations ------------------------------------------------------------------------------------------------------


def test_the_limit_of_a_contraction_forgets_its_start() -> None:
    assert contract(vector(error=e), "y", factor=q, offset=b, size=1).error == b / (1 - q)
    assert contract(vector(error=e), "y", factor=q, offset=b, size=1, depth=0).error == e


def test_a_contraction_that_starts_at_its_accuracy_needs_no_step() -> None:
    assert contraction_steps(1, HALF, 0, 1) == 0
    assert contraction_steps(1, HALF, 0, HALF) == 1  # exactly there after one
    assert contraction_steps(1, HALF, 0, sp.Rational(49, 100)) == 2
    assert contraction_steps(9, HALF, HALF, TWO) == 3  # 9, 5, 3, 2: the rest is 1
    with pytest.raises(DerivationError, match="the accuracy 1 is not above 1, the limit of the bound"):
        contraction_steps(9, HALF, HALF, 1)


def test_squaring_is_counted_to_the_edge() -> None:
    squares = QuadraticRecursion(HALF, ONE, ZERO)  # 1/2, 1/4, 1/16, 1/256
    assert [squares.after(k) for k in range(4)] == [HALF ** (2**k) for k in range(4)]
    assert [squares.steps_to(accuracy) for accuracy in (HALF, sp.Rational(1, 4), sp.Rational(1, 17))] == [0, 1, 3]
    noisy = QuadraticRecursion(sp.Rational(1, 8), ONE, sp.Rational(1, 100))
    assert noisy.after(1) == sp.Max(sp.Rational(1, 16) / 2, sp.Rational(1, 50))
    assert noisy.after(3) == sp.Rational(1, 50)
    with pytest.raises(DerivationError, match="below twice the offset"):
        noisy.steps_to(sp.Rational(19, 1000))
    assert noisy.steps_to(sp.Rational(1, 50)) == 2


@pytest.mark.parametrize("gap", [vector("v", dim=2), vector("v", Norm.TWO, 1), vector("v", Norm.ONE, 1)])
def test_a_gap_is_a_number(gap: Approximated) -> None:
    with pytest.raises(DerivationError, match="'v' must be a number"):
        descend(gap, "g", decrease=1, steps=2)


def test_descent_has_a_positive_whole_number_of_steps() -> None:
    gap = vector("gap", dim=1)
    assert descend(gap, "g", decrease=1, steps=1)
    for steps in (0, -1, HALF, n, r):
        with pytest.raises(DerivationError, match=r"is a mean over .* steps, not a positive whole number"):
            descend(gap, "g", decrease=1, steps=steps)
    for decrease in (0, -1, q, r):
        with pytest.raises(DerivationError, match=r"cannot show that the decrease .* is positive"):
            descend(gap, "g", decrease=decrease, steps=1)


# --- knobs -----------------------------------------------------------------------------------------------------------


def test_a_minimum_is_taken_where_it_is_shown_to_be_one() -> None:
    assert minimise(z + 4 / z, z).value == 2
    assert minimise(z + 4 / z, z).bound == 4
    for bound in (-z - 4 / z, 1 / z + 1 / z**2):  # a maximum; none
        with pytest.raises(DerivationError, match="minimise: "):
            minimise(bound, z)
    with pytest.raises(DerivationError, match=r"declare the knob .* as a positive symbol"):
        minimise(q + 1 / (q + 1), q)


def test_a_whole_knob_is_the_better_neighbour() -> None:
    for cost, best in ((N + 6 / N, 2), (N + 7 / N, 3), (N + 1 / (10 * N), 1)):
        knob = minimise(cost, N)
        assert knob.value.doit() == best
        assert knob.bound == cost.subs(N, best)


def test_a_knob_is_the_least_whole_number_that_suffices() -> None:
    assert knob_for(10 / N, N, TWO).value == 5
    assert knob_for(10 / N, N, sp.Rational(19, 10)).value == 6
    assert knob_for(10 / N, N, 100).value == 1
    assert knob_for(10 / z, z, TWO).value == 5
    assert knob_for(1 + 1 / z, z, a).condition == (a > 1)
    with pytest.raises(DerivationError, match="the bound tends to 1, and the accuracy is 1"):
        knob_for(1 + 1 / z, z, 1)
    for bound in (z, 1 + z**2, sp.sin(z)):
        with pytest.raises(DerivationError, match=r"cannot show that .* decreases in z"):
            knob_for(bound, z, 1)


def test_a_perturbation_is_safe_up_to_the_margin_itself() -> None:
    assert largest_safe(2 * R + 1, R, 3).value == 1
    assert largest_safe(2 * R + 1, R, 3).bound == 3
    assert largest_safe(2 * R + 1, R, 1).value == 0  # at the edge: none but 0
    assert largest_safe(R / (1 + R), R, 1).value == sp.oo
    assert largest_safe(R / (1 + R), R, 1).bound == 1
    assert largest_safe(R / (1 + R), R, HALF).value == 1
    with pytest.raises(DerivationError, match="no R is safe: the bound at 0 is 1, above the margin 1/2"):
        largest_safe(2 * R + 1, R, HALF)
    for bound in (-R, 1 / (1 + R)):
        with pytest.raises(DerivationError, match=r"cannot show that .* grows with R"):
            largest_safe(bound, R, 1)


# --- pooled ----------------------------------------------------------------------------------------------------------


def test_a_pooled_error_is_linear_in_all_its_groups() -> None:
    for error in (p * q, p + 1, p**2 + q, p + q + q**2):
        with pytest.raises(DerivationError, match="is not a linear form in p, q"):
            pool(given("x", dim=1, size=1, error=error), "y", groups=(p, q), total=1)
    assert pool(given("x", dim=1, size=1, error=3 * p + 4 * q), "y", groups=(p, q), total=2).error == 10
    assert pool(given("x", dim=1, size=1, error=3 * p), "y", groups=(p, q), total=2).error == 6


def test_a_part_may_be_pooled_with_exact_ones() -> None:
    exact = vector("c", dim=1)
    parts = [vector("x", dim=1, error=3), vector("y", dim=1, error=4), exact]
    assert pooled_sum(*parts, name="s").error == 5
    with pytest.raises(DerivationError, match="both carry the error of 'x'"):
        pooled_sum(parts[0], parts[1], parts[0], name="s")


# --- concentration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [(), ("slope", "gap"), ("gap", "gaps"), ("slope", "gaps"), ("slope", "gap", "gaps")])
def test_a_concentration_is_asked_in_one_way(named: tuple[str, ...]) -> None:
    ways = {"slope": 1, "gap": 1, "gaps": lambda k: k}
    with pytest.raises(DerivationError, match="'w' needs exactly one of slope, gap and gaps"):
        concentrate("w", count=3, **{way: ways[way] for way in named})


def test_gaps_are_those_of_the_keys_1_to_the_last() -> None:
    others = sp.exp(-3) + sp.exp(-6)
    for ways in ({"slope": 3}, {"gaps": lambda k: 3 * k}):
        assert float(concentrate("w", count=3, **ways).error) == pytest.approx(
            float(2 * others / (1 + others)), rel=1e-12
        )
    assert concentrate("w", count=1, gap=3).error == 0
    assert concentrate("w", count=3, slope=0).error == sp.Rational(4, 3)
