"""Every premise of a rule is checked, or becomes an obligation that no later rule loses."""

from collections.abc import Callable

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    QuadraticRecursion,
    accumulate,
    add,
    apply_function,
    attend,
    bilinear,
    change_norm,
    concatenate,
    concentrate,
    confine,
    contract,
    contraction_steps,
    converge,
    correct,
    evolve,
    exclude,
    finite_depth,
    given,
    gradient_descent,
    hard_max,
    heads_as_matrix,
    invariant_interval,
    knob_for,
    largest_range,
    linear_map,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    project,
    recur,
    soft_threshold,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
    values_on,
)
from symbolic.calculus.layers import either, iterate, recursion_from, stack
from symbolic.signs import is_nonnegative

HALF, ZERO, ONE = sp.Rational(1, 2), sp.Integer(0), sp.Integer(1)
free = sp.Symbol("free")  # nothing is known of it, not even that it is real
sign = sp.Symbol("sign", real=True)
count = sp.Symbol("count", integer=True)
e = sp.Dummy("e", nonnegative=True)
R = sp.Symbol("R", positive=True)
N, K = sp.symbols("N K", integer=True, positive=True)


def number(name: str = "x", *, error: object = HALF, size: object = 1, norm: Norm = Norm.INF) -> Approximated:
    return given(name, dim=1, norm=norm, size=size, error=error)


def weights(name: str = "a", *, error: object = HALF) -> Approximated:
    return given(name, dim=3, norm=Norm.ONE, size=1, error=error, probabilities=True)


# --- what is false is refused, what is unclear is owed ---------------------------------------------------------------

Rule = Callable[[object], Approximated]

NOT_NEGATIVE: dict[str, tuple[Rule, str]] = {
    "given, error": (lambda v: given("x", dim=1, size=1, error=v), "the error of 'x'"),
    "given, size": (lambda v: given("x", dim=1, size=v), "the size of 'x'"),
    "given, radius": (lambda v: given("x", dim=1, size=1, radius=v), "the radius of 'x'"),
    "apply_function, eps": (lambda v: apply_function(number(), "f", eps=v, lipschitz=1, size=1), "the eps of 'f'"),
    "apply_function, lipschitz": (
        lambda v: apply_function(number(), "f", eps=0, lipschitz=v, size=1),
        "the lipschitz of 'f'",
    ),
    "apply_function, size": (lambda v: apply_function(number(), "f", eps=0, lipschitz=1, size=v), "the size of 'f'"),
    "taylor, eps": (lambda v: taylor(number(), "f", suprema={1: 1}, eps=v, size=1), "the eps of 'f'"),
    "taylor, size": (lambda v: taylor(number(), "f", suprema={1: 1}, size=v, radius=9), "the size of 'f'"),
    "taylor, supremum": (lambda v: taylor(number(), "f", suprema={1: v}, size=1), "the supremum of order 1 of 'f'"),
    "taylor, derivative": (
        lambda v: taylor(number(), "f", suprema={2: 1}, derivatives={1: v}, size=1),
        "the derivative of order 1 of 'f'",
    ),
    "gradient_descent, smoothness": (
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=v, accuracy=1, steps=2),
        "the smoothness of 'g'",
    ),
    "gradient_descent, accuracy": (
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=1, accuracy=v, steps=2),
        "the accuracy of 'g'",
    ),
    "linear_map, norm": (lambda v: linear_map(number(), "y", operator_norm=v, dim=1), "the operator_norm of 'y'"),
    "linear_map, bias": (lambda v: linear_map(number(), "y", operator_norm=1, bias=v, dim=1), "the bias of 'y'"),
    "linear_map, radius": (lambda v: linear_map(number(), "y", operator_norm=1, radius=v, dim=1), "the radius of 'y'"),
    "bilinear, constant": (lambda v: bilinear(number(), number("y"), "xy", constant=v), "the constant of 'xy'"),
    "bilinear, size": (
        lambda v: bilinear(number(), number("y"), "xy", approximate_size=v),
        "the approximate_size of 'xy'",
    ),
    "project, size": (lambda v: project(number(), "Px", box=True, size=v), "the size of 'Px'"),
    "soft_threshold": (lambda v: soft_threshold(number(), "S", threshold_error=v), "the threshold_error of 'S'"),
    "inverse temperature": (
        lambda v: softmax_to_hard_max(number(error=0), "q", margin=1, inverse_temperature=v),
        "the inverse_temperature of 'q'",
    ),
    "softmax_as_linear, half range": (
        lambda v: softmax_as_linear(number(), "q", half_range=v),
        "the half_range of 'q'",
    ),
    "exclude, diameter": (lambda v: exclude(number(), "out", count=2, lead=1, diameter=v), "the diameter of 'out'"),
    "perturbed_map, norm": (
        lambda v: perturbed_map(number(), "Ax", operator_norm=v, perturbation=1, dim=1),
        "the operator_norm of 'Ax'",
    ),
    "perturbed_map, perturbation": (
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=v, dim=1),
        "the perturbation of 'Ax'",
    ),
    "perturbed_map, perturbed norm": (
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=1, perturbed_norm=v, dim=1),
        "the perturbed_norm of 'Ax'",
    ),
    "perturbed_function, lipschitz": (
        lambda v: perturbed_function(number(), "F", lipschitz=v, size=1),
        "the lipschitz of 'F'",
    ),
    "perturbed_function, eps": (
        lambda v: perturbed_function(number(), "F", lipschitz=1, eps=v, size=1),
        "the eps of 'F'",
    ),
    "perturbed_function, size": (lambda v: perturbed_function(number(), "F", lipschitz=1, size=v), "the size of 'F'"),
    "pool, total": (lambda v: pool(number(error=2 * e), "pooled", groups=(e,), total=v), "the total of 'pooled'"),
    "pool, slope": (
        lambda v: pool(number(error=v * e), "pooled", groups=(e,), total=1),
        "the e(rror)? of '(x|pooled)'",
    ),
    "accumulate, offset": (
        lambda v: accumulate(number(), "y", factor=1, offset=v, depth=2, size=1),
        "the offset of 'y'|the offset of 'the recursion'",
    ),
    "accumulate, quadratic": (
        lambda v: accumulate(number(), "y", factor=1, offset=0, quadratic=v, depth=2, size=1),
        "the quadratic of 'y'",
    ),
    "accumulate, size": (lambda v: accumulate(number(), "y", factor=1, offset=0, depth=2, size=v), "the size of 'y'"),
    "heads_as_matrix, reach": (
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=v, keys=2, widest=1),
        "the reach of 'w'",
    ),
    "heads_as_matrix, widest": (
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=1, keys=2, widest=v),
        "the widest of 'w'",
    ),
    "recur, factor": (lambda v: recur(number(), "y", factor=v, offset=0, depth=2, size=1), "the factor of 'y'"),
    "recur, offset": (lambda v: recur(number(), "y", factor=1, offset=v, depth=2, size=1), "the offset of 'y'"),
    "recur, size": (lambda v: recur(number(), "y", factor=1, offset=0, depth=2, size=v), "the size of 'y'"),
    "evolve, offset": (lambda v: evolve(number(), "y", rate=-1, offset=v, time=1, size=1), "the offset of 'y'"),
    "evolve, time": (lambda v: evolve(number(), "y", rate=-1, offset=0, time=v, size=1), "the time of 'y'"),
    "evolve, size": (lambda v: evolve(number(), "y", rate=-1, offset=0, time=1, size=v), "the size of 'y'"),
    "contract, factor": (lambda v: contract(number(), "y", factor=v, offset=0, size=1), "the factor of 'y'"),
    "contract, offset": (lambda v: contract(number(), "y", factor=HALF, offset=v, size=1), "the offset of 'y'"),
    "contract, size": (lambda v: contract(number(), "y", factor=HALF, offset=0, size=v), "the size of 'y'"),
    "converge, offset": (lambda v: converge(number(), "y", quadratic=HALF, offset=v, size=1), "the offset of"),
    "converge, size": (lambda v: converge(number(), "y", quadratic=HALF, offset=0, size=v), "the size of 'y'"),
    "iterate, factor": (
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, sp.sympify(v), ONE), 2, size=1),
        "the factor of 'the recursion'",
    ),
    "iterate, offset": (
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, ONE, sp.sympify(v)), 2, size=1),
        "the offset of 'the recursion'",
    ),
    "iterate, size": (
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, HALF, HALF), 2, size=v),
        "the size of 'y'",
    ),
}

WHOLE: dict[str, tuple[Rule, str, int]] = {
    "given, dim": (lambda v: given("x", dim=v, size=1), "the dimension of 'x'", 1),
    "linear_map, dim": (lambda v: linear_map(number(), "y", operator_norm=1, dim=v), "the dimension of 'y'", 1),
    "bilinear, dim": (lambda v: bilinear(number(), number("y"), "xy", dim=v), "the dimension of 'xy'", 1),
    "perturbed_map, dim": (
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=1, dim=v),
        "the dimension of 'Ax'",
        1,
    ),
    "perturbed_function, dim": (
        lambda v: perturbed_function(number(), "F", lipschitz=1, size=1, dim=v),
        "the dimension of 'F'",
        1,
    ),
    "concentrate, count": (lambda v: concentrate("k", count=v, slope=1), "the count of 'k'", 1),
    "exclude, count": (lambda v: exclude(number(), "out", count=v, lead=1, diameter=1), "the count of 'out'", 1),
    "accumulate, depth": (
        lambda v: accumulate(number(), "y", factor=1, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
    ),
    "heads_as_matrix, keys": (
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=1, keys=v),
        "the keys of 'w'",
        1,
    ),
    "recur, depth": (lambda v: recur(number(), "y", factor=HALF, offset=0, depth=v, size=1), "the depth of 'y'", 0),
    "contract, depth": (
        lambda v: contract(number(), "y", factor=HALF, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
    ),
    "converge, depth": (
        lambda v: converge(number(), "y", quadratic=HALF, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
    ),
    "gradient_descent, steps": (
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=1, steps=v),
        "the steps of 'g'",
        1,
    ),
    "iterate, depth": (
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, HALF, HALF), v, size=1),
        "the depth of 'y'",
        0,
    ),
}


def owed(value: Approximated) -> list[str]:
    return [obligation.statement for obligation in value.derivation.obligations if obligation.open]


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_a_number_that_bounds_a_norm_is_not_negative_and_finite(name: str) -> None:
    rule, what = NOT_NEGATIVE[name]
    assert not owed(rule(sp.Rational(1, 4)))
    for wrong in (-1, sp.nan, sp.I, sp.oo):
        with pytest.raises(DerivationError, match=f"{what}.*(give a value >= 0|finite)|is not a linear form"):
            rule(wrong)
    for unknown in (sign, free):
        assert any("is not negative" in statement for statement in owed(rule(unknown)))


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_zero_bounds_a_norm(name: str) -> None:
    assert not owed(NOT_NEGATIVE[name][0](0))


@pytest.mark.parametrize("name", WHOLE)
def test_a_depth_a_count_or_a_dimension_is_a_whole_number(name: str) -> None:
    rule, what, least = WHOLE[name]
    assert not owed(rule(least))
    assert not owed(rule(N))
    for wrong in (least - 1, sp.Rational(5, 2), 2.5, sp.nan, sp.oo):
        if wrong == sp.oo and "depth" in name and name.startswith(("contract", "converge")):
            continue  # the limit
        with pytest.raises(DerivationError, match=f"{what}.*give a whole number, at least {least}"):
            rule(wrong)
    assert [f"{what} is at least {least}"] == owed(rule(count))
    assert {f"{what} is a whole number", f"{what} is at least {least}"} == set(owed(rule(sign)))


@pytest.mark.parametrize(
    "rule",
    [
        lambda: concentrate("k", count=2, slope=sp.I),
        lambda: concentrate("k", count=2, gap=sp.nan),
        lambda: concentrate("k", count=3, gaps=lambda k: sp.I * k),
        lambda: exclude(number(), "out", count=2, lead=sp.oo, diameter=1),
        lambda: hard_max(number(error=0), "q", margin=sp.nan),
        lambda: add(number(), number("y"), name="z", coefficients=(1, sp.oo)),
        lambda: correct(number(), "C", sigma=sp.nan),
        lambda: apply_function(number(), "f", eps=0, lipschitz=1, size=1, radius=sp.nan),
    ],
)
def test_a_number_of_either_sign_is_finite_and_real(rule: Callable[[], Approximated]) -> None:
    with pytest.raises(DerivationError, match="give a finite real number"):
        rule()


def test_a_radius_of_a_domain_is_positive() -> None:
    for rule, bounds in ((apply_function, {"eps": 0, "lipschitz": 1}), (taylor, {"suprema": {1: 1}})):
        with pytest.raises(DerivationError, match="the radius of 'f' is -1; give it > 0"):
            rule(number(), "f", size=1, radius=-1, **bounds)
        assert "the radius of 'f' is positive" in owed(rule(number(), "f", size=1, radius=sign, **bounds))


def test_a_step_of_a_descent_is_positive_and_short() -> None:
    with pytest.raises(DerivationError, match="the step of 'g' is 0; give it > 0"):
        gradient_descent(number(), "g", step=0, smoothness=1, steps=2)
    assert "the step of 'g' is positive" in owed(gradient_descent(number(), "g", step=sign, smoothness=0, steps=2))
    for accuracy, longest, relation in ((0, sp.Rational(199, 100), "< 2"), (1, ONE, "<= 1")):
        kept = gradient_descent(number(), "g", step=longest, smoothness=1, accuracy=accuracy, steps=2)
        assert not owed(kept)
        with pytest.raises(DerivationError, match=f"the steps of 'g' are short: .* {relation}"):
            gradient_descent(number(), "g", step=longest + HALF / 50, smoothness=1, accuracy=accuracy, steps=2)
        open_one = gradient_descent(number(), "g", step=R, smoothness=1, accuracy=accuracy, steps=2)
        assert owed(open_one) == [f"the steps of 'g' are short: R {relation}"]


def test_conditions_and_strings_are_not_numbers() -> None:
    for wrong in (sp.true, sign > 0, "1"):
        with pytest.raises(DerivationError, match="expected a SymPy expression or a number"):
            given("x", dim=1, size=wrong)


def test_probabilities_are_stated_in_the_1_norm_with_size_1() -> None:
    for wrong in ({"norm": Norm.INF, "size": 1}, {"norm": Norm.ONE, "size": HALF}):
        for kind in ({"probabilities": True}, {"affine": True}):
            with pytest.raises(DerivationError, match="'a' holds weights that add up to 1"):
                given("a", dim=2, **kind, **wrong)


# --- names -----------------------------------------------------------------------------------------------------------


def test_no_symbol_of_the_caller_is_taken_for_an_error() -> None:
    own = sp.Symbol("e_y", nonnegative=True)
    y = given("y", dim=1, size=1, error=2)
    scaled = linear_map(y, "z", operator_norm=own, dim=1)
    assert scaled.error == 2 * own
    assert y.error_symbol != own
    assert given("y", dim=1, size=1, error=own).error == own


def test_no_symbol_of_the_caller_is_taken_for_the_number_of_a_layer() -> None:
    layer = LinearRecursion.index
    assert recur(number(error=0), "y", factor=layer, offset=1, depth=3, size=1).error.subs(layer, 2) == 7
    assert contract(number(error=1), "y", factor=layer, offset=0, depth=2, size=1).error.subs(layer, HALF) == HALF**2
    x = number(error=e, size=sp.Symbol("S", nonnegative=True))
    one = linear_map(x, "y", operator_norm=layer, dim=1)
    assert iterate(number(error=1), "z", recursion_from(x, one), 3, size=1).error.subs(layer, 2) == 8
    varying = recursion_from(x, linear_map(x, "y", operator_norm=layer + 1, dim=1), index=layer)
    assert iterate(number(error=1), "z", varying, 3, size=1).error.doit() == 6


@pytest.mark.parametrize("letter", ["i", "m"])
def test_no_symbol_of_the_caller_is_taken_for_an_index_of_a_sum(letter: str) -> None:
    own, j = sp.Symbol(letter, integer=True, positive=True), sp.Symbol("j", integer=True, positive=True)
    parts = [number(f"p{k}", error=own * s, norm=Norm.TWO) for k, s in enumerate((1, j, 7))]
    stacked = stack(parts[0], parts[1], j, parts[2], count=4, name="all")
    assert stacked.error.subs(own, 5).doit() == 5 * sp.sqrt(1 + 4 + 9 + 49)


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
        mean(x, "m"),
        concatenate(x, number("w"), name="c"),
        in_two,
        project(in_two, "P", size=1),
        soft_threshold(x, "S"),
        softmax(x, "q"),
        attend(weights(), x, "out"),
        exclude(x, "k", count=1, lead=0, diameter=1),
        recur(x, "r", factor=2, offset=1, depth=3, size=1),
        contract(x, "k", factor=HALF, offset=0, size=1),
        taylor(x, "t", suprema={1: 1}, size=1),
        gradient_descent(x, "g", step=HALF, smoothness=1, steps=2),
        perturbed_map(x, "Ax", operator_norm=1, perturbation=1, dim=1),
        perturbed_function(x, "F", lipschitz=1, size=1),
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


@pytest.mark.parametrize("rate", [sp.Rational(1237, 1000), sp.Float("1.237"), sp.Rational(10**9 + 7, 10**9)], ids=str)
def test_a_knob_is_solved_for_whatever_its_digits_are(rate: sp.Expr) -> None:
    k = sp.Symbol("k", positive=True)
    knob = knob_for(5 * sp.exp(-rate * k), k, sp.Rational(1, 100))
    assert float(knob.value) == pytest.approx(float(sp.log(500) / rate), rel=1e-12)
    assert knob_for(5 * sp.exp(-rate * N), N, sp.Rational(1, 100)).value == sp.ceiling(sp.log(500) / rate)


def test_a_bound_that_jumps_up_at_a_pole_is_not_said_to_fall() -> None:
    k = sp.Symbol("k", positive=True)
    for jumps in (1 / (k - 2), sp.tan(k), 1 / sp.log(k), 1 / (k**2 - 3 * k + 1)):
        with pytest.raises(DerivationError, match=r"cannot show that .* decreases in k"):
            knob_for(jumps, k, 1)


# --- signs -----------------------------------------------------------------------------------------------------------

q, a = sp.symbols("q a", nonnegative=True)
m = sp.Symbol("m", integer=True, nonnegative=True)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ((1 - q**N) / (1 - q), True),
        ((1 - sp.exp(-3 * a)) / (1 - sp.exp(-a)), True),
        ((1 - (a * q) ** (N - 1)) / (1 - a * q), True),
        ((1 - q ** (N - 2)) / (1 - q), None),
        ((1 - q**N) / (1 - a), None),
        ((1 - sign**N) / (1 - sign), None),
        ((1 - q) / (1 - q**N), None),
        (1 - q, None),
        (N + m - 1, True),
        (N + m - 2, None),
        (sp.Piecewise((0, sp.Eq(N, 1)), (N - 2, True)), True),
        (sp.Piecewise((0, sp.Eq(N, 2)), (N - 2, True)), None),
        (sp.Piecewise((N - 2, True)), None),
        (sp.Max(sign, 0), True),
        (sp.Max(sign, -1), None),
        (sp.Min(q, a), True),
        (sp.Min(q, sign), None),
        (sp.sqrt(q + a) * sp.Sum(q**m, (m, 0, N)), True),
        (-q - 1, False),
        (sp.sqrt(2) - 1, True),
        (1 - sp.sqrt(2), False),
    ],
    ids=str,
)
def test_signs_are_shown_where_they_are_clear_and_only_there(expression: sp.Expr, shown: bool | None) -> None:
    assert is_nonnegative(sp.sympify(expression)) is shown


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
