"""Compositions whose bound would be wrong without an open obligation: each is refused, or owes what is missing."""

from collections.abc import Callable
from dataclasses import replace

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
    bilinear,
    concentrate,
    confine,
    contraction_steps,
    correct,
    either,
    finite_depth,
    given,
    invariant_interval,
    iterate,
    knob_for,
    largest_safe,
    linear_map,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    recur,
    recursion_from,
    softmax,
    stack,
)
from symbolic.calculus.approximation import smooth_parts
from symbolic.derivations.derivation import as_norm
from symbolic.derivations.signs import is_continuous, is_nonnegative

Q, ONE = sp.Rational, sp.Integer(1)
e = sp.Dummy("e", nonnegative=True)
layer = sp.Symbol("l", integer=True, nonnegative=True)
R = sp.Symbol("R", nonnegative=True)
x = sp.Symbol("x", positive=True)
a, b = sp.symbols("a b", positive=True)
i, j = sp.symbols("a j", integer=True, positive=True)


def number(name: str = "x", error: object = e, size: object = 1, **more: object) -> Approximated:
    return given(name, dim=1, size=size, error=error, **more)


START = number("x0", 0)


# --- jumps: a derivative says nothing of them ------------------------------------------------------------------------


@pytest.mark.parametrize("where", [layer >= 3, sp.Eq(layer, 3)])
def test_a_premise_that_fails_in_later_layers_only_stays_owed(where: sp.Expr) -> None:
    y = apply_function(number(), "y", eps=sp.Piecewise((5, where), (0, True)), lipschitz=0, size=1)
    value = iterate(START, "out", recursion_from(number(), correct(y, "z", sigma=1), index=layer), 10, size=1)
    assert value.derivation.conditional


def test_a_case_distinction_in_the_error_is_not_affine() -> None:
    far = apply_function(number(), "far", eps=5, lipschitz=1, size=1)
    jumping = either(mean(number(), "near"), sp.Lt(e, 1), far, name="y")
    with pytest.raises(DerivationError, match="'x' must be a single given, and its error must not occur in any other"):
        recursion_from(number(), jumping)
    t = sp.Symbol("t", nonnegative=True)
    with pytest.raises(DerivationError, match="is not a linear form in t"):
        pool(number(error=sp.Piecewise((t, t < 1), (t + 5, True))), "p", groups=(t,), total=2)


def test_a_family_whose_later_members_do_not_fit_stays_owed() -> None:
    def member(name: str, error: object) -> Approximated:
        return given(name, dim=1, norm=Norm.TWO, size=1, error=error)

    jumping = correct(member("f", sp.Piecewise((0, i < 4), (5, True))), "c", sigma=1)
    assert stack(member("first", 0), jumping, i, member("last", 0), count=8, name="s").derivation.conditional


@pytest.mark.parametrize(
    "step", [sp.Piecewise((R, R < 2), (R + 10, True)), sp.Piecewise((2, R < 1), (R / 2, True)), sp.tan(R), sp.floor(R)]
)
def test_a_step_that_may_jump_is_refused(step: sp.Expr) -> None:
    with pytest.raises(DerivationError, match="may be discontinuous in R; give a step without case distinctions"):
        MonotoneRecursion(ONE, step, R)


@pytest.mark.parametrize(
    ("expression", "continuous"),
    [
        (sp.Piecewise((1, sp.Eq(a, 1)), (x, True)), True),
        (sp.Piecewise((1, x < 1), (x, True)), False),
        (sp.sign(x - 1), False),
        (sp.Heaviside(x - 1), False),
        (1 / (x - 1), False),
        (1 / (1 + x), True),
        (sp.sqrt(x), True),
        (sp.sqrt(x - 1), False),
        (sp.log(x), True),
        (sp.log(x - 1), False),
        (sp.Sum(x * i, (i, 1, 5)), True),
        (sp.Sum(i, (i, 1, sp.floor(x))), False),
        (sp.Function("f")(x), True),
        (sp.Mod(x, 2), False),
        (sp.Max(x, a), True),
    ],
    ids=str,
)
def test_jumps_and_poles_are_seen(expression: sp.Expr, continuous: bool) -> None:
    assert is_continuous(expression, x) is continuous


# --- letters that stand for all layers, all radii, all terms ---------------------------------------------------------


def test_the_error_of_a_layer_is_a_letter_of_its_own() -> None:
    delta = sp.Symbol("delta", nonnegative=True)
    with pytest.raises(DerivationError, match=r"the error of 'x' is delta; give a separate symbol, sp\.Dummy"):
        recursion_from(number(error=delta), apply_function(number(error=delta), "y", eps=delta, lipschitz=1, size=1))
    positive = sp.Dummy("e", positive=True)
    with pytest.raises(DerivationError, match="give a separate symbol"):
        recursion_from(number(error=positive), mean(number(error=positive), "y"))


def test_the_number_of_a_layer_may_be_0() -> None:
    later = sp.Symbol("l", integer=True, positive=True)
    y = correct(apply_function(number(), "y", eps=1, lipschitz=0, size=1), "z", sigma=later)
    with pytest.raises(DerivationError, match="declare the number of a layer, l, as any whole number from 0 on"):
        recursion_from(number(), y, index=later)


@pytest.mark.parametrize("hypothesis", [e <= 1, e + layer + 1 <= 3])
def test_what_is_granted_for_one_layer_is_owed_for_all(hypothesis: sp.Expr) -> None:
    radius = 3 - layer if layer in hypothesis.free_symbols else 2
    y = apply_function(number(), "y", eps=Q(1, 2), lipschitz=1, size=1, radius=radius)
    granted = replace(y, derivation=y.derivation.under([hypothesis]))
    assert not granted.derivation.conditional
    with pytest.raises(DerivationError, match="in every layer"):
        iterate(START, "out", recursion_from(number(), granted, index=layer), 10, size=1)


def test_no_value_is_put_in_for_all_layers_at_once() -> None:
    recursion = recursion_from(
        number(), apply_function(number(), "y", eps=1, lipschitz=1, size=1, radius=2), index=layer
    )
    for letter in (e, layer):
        with pytest.raises(DerivationError, match="denotes every layer and cannot be replaced; omit it"):
            recursion.subs({letter: 0})


def test_a_range_is_confined_at_its_least_radius() -> None:
    s = sp.Symbol("s", positive=True)
    before = number(size=s + 10 - 2 * layer)
    y = apply_function(before, "y", eps=Q(1, 10), lipschitz=1, size=s + 8 - 2 * layer, radius=20 - layer)
    value = iterate(number("x0", 0, s + 10), "out", recursion_from(before, y, index=layer), 5, size=s)
    with pytest.raises(DerivationError, match="covers the invariant: 20 <= 16"):
        confine(value, invariant_interval(MonotoneRecursion(sp.Integer(20), R, R), 20))


def test_a_slope_is_owed_for_every_radius_and_not_for_the_one_of_that_name() -> None:
    parabola = MonotoneRecursion(sp.Integer(0), 5 - 4 * R + 5 * R**2 / 4, R)
    with pytest.raises(DerivationError, match="does not decrease in R, for every R from 0 to R"):
        invariant_interval(parabola, R)


def test_nested_sums_keep_their_letters_apart() -> None:
    def member(name: str, error: object) -> Approximated:
        return given(name, dim=1, norm=Norm.TWO, size=9, error=error)

    inner = stack(member("f", 0), member("fam", abs(i - j)), i, member("la", 0), count=5, name="inner")
    outer = stack(member("F", 0), inner, j, member("L", 0), count=5, name="outer")
    assert outer.error.doit() == 2 * sp.sqrt(3)
    own = sp.Symbol("i", integer=True, positive=True)
    scaled = linear_map(inner, "scaled", operator_norm=own, dim=1)
    assert scaled.derivation.slacks({"scaled": 1.0}, {own: 2, j: 3}) != {}


def test_a_depth_may_have_the_letter_of_the_layer() -> None:
    varying = LinearRecursion(sp.Integer(0), 1 + 1 / (layer + 1), ONE, layer)
    assert iterate(START, "y", varying, layer, size=1).error.subs(layer, 4).doit() == Q(77, 12)
    inner = iterate(START, "y", varying, layer, size=1)
    outer = iterate(number("z", 0), "z'", LinearRecursion(sp.Integer(0), ONE, inner.error, layer), 3, size=1).error
    (inner_layer, *_), (outer_layer, *_) = outer.limits
    terms = (outer.function.subs({outer_layer: k, inner_layer: m}).doit() for k in range(3) for m in range(k))
    assert sum(terms) == 0 + 1 + Q(5, 2)


# --- one name, one value; one norm; one sign -------------------------------------------------------------------------


def test_two_givens_of_one_name_are_the_same_or_refused() -> None:
    w = number("w", Q(1, 10))
    with pytest.raises(DerivationError, match="'y' is not derived from 'x'"):
        recursion_from(number(size=100), bilinear(number(), w, "y"))
    with pytest.raises(DerivationError, match="two different steps are both called 'x'"):
        add(number(error=1), mean(number(error=1, size=2), "m"), name="s")


def test_a_norm_is_one_of_three() -> None:
    assert as_norm("1") is Norm.ONE
    for wrong in ("two", 3, 1.5, None):
        with pytest.raises(DerivationError, match="is not one of inf, 1, 2"):
            as_norm(wrong)


@pytest.mark.parametrize(
    "negative",
    [
        lambda: LinearRecursion(sp.Integer(0), -ONE, ONE),
        lambda: LinearRecursion(sp.Integer(0), ONE, -ONE),
        lambda: CoupledRecursion((ONE, ONE), ((ONE, -ONE), (ONE, ONE)), (ONE, ONE)),
    ],
)
def test_coefficients_of_recursions_are_not_negative(negative: Callable[[], object]) -> None:
    with pytest.raises(DerivationError, match="give a value >= 0"):
        negative()


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (sp.Sum(1, (i, 1, sp.Symbol("n", integer=True))), None),
        (sp.Sum(i, (i, -5, 2)), None),
        (sp.Sum(i, (i, 1, j)), True),
        (1 / R, None),
        (1 / x, True),
    ],
    ids=str,
)
def test_the_sign_of_a_sum_or_a_power_is_not_that_of_its_parts_alone(expression: sp.Expr, shown: bool | None) -> None:
    assert is_nonnegative(expression) is shown


# --- errors per unit of a perturbation -------------------------------------------------------------------------------


def test_an_error_that_does_not_shrink_with_the_perturbation_is_not_pooled() -> None:
    def two(name: str) -> Approximated:
        return given(name, dim=2, norm=Norm.TWO, size=5, error=10)

    flat = [softmax(given(name, dim=2, size=5, error=10), f"s{name}") for name in ("u", "v")]
    with pytest.raises(DerivationError, match=r"'su' is not stated per unit of a perturbation: step 'su' \(softmax\)"):
        pooled_sum(*flat, name="p")
    with pytest.raises(DerivationError, match="is not stated per unit"):
        perturbed_map(
            flat[0], "Ax", operator_norm=1, perturbation=1, perturbed_norm=1, pooled=True, dim=1, target=Norm.ONE
        )
    off = [apply_function(two(name), f"f{name}", eps=1, lipschitz=1, size=1) for name in ("u", "v")]
    with pytest.raises(DerivationError, match="does not shrink with it; use add"):
        pooled_sum(*off, name="p")
    products = [bilinear(two(name), given(f"w{name}", dim=2, size=1, error=1), f"p{name}") for name in ("u", "v")]
    assert pooled_sum(*products, name="p").error == sp.sqrt(2) * 25  # 10 * 1 + 5 * 1 + 10 * 1


# --- numbers that solve ----------------------------------------------------------------------------------------------


def test_squares_need_a_floor_and_a_start_below_it() -> None:
    with pytest.raises(DerivationError, match="4 a b = 4 is above 1, so there is no floor"):
        QuadraticRecursion(Q(1, 10), ONE, ONE).after(2)
    offset = sp.Symbol("offset", positive=True)
    steps = QuadraticRecursion(Q(1, 10), ONE, offset).steps_to(a)
    assert steps.subs({a: Q(1, 100), offset: 1}) is sp.nan


def test_steps_are_promised_only_under_their_premises() -> None:
    assert contraction_steps(1, 0, b, a).subs({b: 5, a: Q(1, 2)}) is sp.nan
    assert contraction_steps(1, 0, b, a).subs({b: Q(1, 4), a: Q(1, 2)}) == 1


def test_all_perturbations_are_safe_from_the_limit_on() -> None:
    z = sp.Symbol("z", nonnegative=True)
    margin = sp.Symbol("m", positive=True)
    for bound, limit in ((z / (1 + z), 1), (sp.tanh(z), 1), (1 - sp.exp(-z), 1), (sp.atan(z), sp.pi / 2)):
        value = largest_safe(bound, z, margin).value
        assert value.subs(margin, 4) == sp.oo
        assert sp.simplify(bound.subs(z, value.subs(margin, limit / 2)) - limit / 2) == 0


def test_odd_roots_are_real() -> None:
    z = sp.Symbol("z", nonnegative=True)
    assert largest_safe((z - 1) ** 3, z, Q(-1, 8)).value == Q(1, 2)


@pytest.mark.parametrize(
    ("bound", "accuracy"), [(1 / (3 + sp.sqrt(x)), 10), (2 - sp.atan(x), 10), (1 / (1 + x**2), 2), (sp.exp(-x), 1)]
)
def test_an_accuracy_above_the_bound_at_0_is_met_by_every_knob(bound: sp.Expr, accuracy: int) -> None:
    assert knob_for(bound, x, accuracy).value == 0
    assert knob_for(bound, x, accuracy).condition == sp.true
    n = sp.Symbol("n", integer=True, positive=True)
    assert knob_for(bound.subs(x, n), n, accuracy).value == 1
    condition = knob_for(bound, x, a).condition
    assert condition.subs(a, accuracy + 1) == sp.false


@pytest.mark.long
def test_long_formulas_and_large_powers_end_in_a_sentence() -> None:
    long = sp.tanh(a / x) * sp.exp(-b * x) / sp.sqrt(1 + x**2) + sp.log(1 + a / x) * sp.exp(-b * x)
    with pytest.raises(DerivationError, match="cannot show that"):
        knob_for(long, x, 1)
    s = sp.Symbol("s", positive=True)
    with pytest.raises(DerivationError, match="has more than 2000 operations; give `growth`"):
        finite_depth(MonotoneRecursion(s, R + R**2 / 2, R), 22)
    with pytest.raises(DerivationError, match="40 squarings are too many to expand"):
        QuadraticRecursion(Q(1, 3), ONE, sp.Integer(0)).after(40)
    with pytest.raises(DerivationError, match="has too many digits to be written out; keep the depth symbolic"):
        recur(START, "y", factor=Q(9, 10), offset=1, depth=10**8, size=1)
    shrinking = finite_depth(MonotoneRecursion(Q(1, 10), R**2 / 2 + Q(1, 10), R), 30)
    assert float(shrinking.bound) - (1 - (1 - 2 * 0.1) ** 0.5) + 1e-9 > 0  # the fixed point, from below, rounded up


def test_a_gap_without_a_value_gives_no_weight() -> None:
    with pytest.raises(DerivationError, match="the weight of 'k' is nan; give a finite real number"):
        concentrate("k", count=3, gaps=lambda k: 1 / (k - 1))


def test_whole_numbers_may_come_as_floats() -> None:
    assert not given("x", dim=2.0, size=1).derivation.conditional


# --- letters of the caller's beside those of a layer, a family, a sum ------------------------------------------------


def test_the_letter_of_a_layer_may_stand_in_the_first_error() -> None:
    layer_of = recursion_from(number(), correct(number(), "z", sigma=3), index=layer)
    (owed,) = (o for o in iterate(number("x0", layer), "out", layer_of, 2, size=1).derivation.obligations if o.open)
    assert owed.condition == sp.Le(layer, 3)


def test_the_ends_of_a_family_do_not_depend_on_its_index() -> None:
    def two(name: str, error: object) -> Approximated:
        return given(name, dim=1, norm=Norm.TWO, size=1, error=error)

    for first, last in ((correct(two("f", i), "c", sigma=3), two("la", 0)), (two("f", 0), mean(two("m", i), "last"))):
        with pytest.raises(DerivationError, match="depends on a, which counts the family; rename one"):
            stack(first, two("m", i), i, last, count=3, name="s")
    for wrong in (sp.Symbol("i", integer=True, negative=True), sp.Symbol("i", even=True, positive=True), R):
        with pytest.raises(DerivationError, match="as any whole number from 1 on"):
            stack(two("f", 0), two("m", 0), wrong, two("la", 0), count=8, name="s")


def test_nothing_more_is_known_of_a_letter_that_stands_for_all() -> None:
    whole = sp.Dummy("e", nonnegative=True, integer=True)
    with pytest.raises(DerivationError, match="give a separate symbol"):
        recursion_from(number(error=whole), mean(number(error=whole), "y"))
    with pytest.raises(DerivationError, match="R is a radius; declare it real, and not an integer"):
        MonotoneRecursion(ONE, sp.Symbol("R", integer=True, positive=True), sp.Symbol("R", integer=True, positive=True))
    with pytest.raises(DerivationError, match="LinearRecursion: declare the number of a layer, l, as any whole number"):
        LinearRecursion(sp.Integer(0), ONE, ONE, sp.Symbol("l", integer=True, positive=True))


def test_what_is_granted_of_a_size_is_asked_of_the_first_value() -> None:
    size = sp.Symbol("S", nonnegative=True)
    before = number(size=size)
    y = correct(bilinear(correct(before, "c", sigma=3), number("w", 1), "p"), "d", sigma=1)
    granted = replace(y, derivation=y.derivation.under([size <= 1]))
    value = iterate(number("x0", 0, 100), "out", recursion_from(before, granted), 3, size=100)
    assert value.derivation.conditional


def test_the_error_of_a_layer_is_the_error_of_one_given_alone() -> None:
    shared = perturbed_function(add(number(), number("w"), name="s"), "z", lipschitz=1, size=1)
    in_size = perturbed_function(number(size=1 + e), "z", lipschitz=1, size=1 + e)
    derived = mean(number(), "m")
    for premise, layer_of in ((number(), shared), (number(size=1 + e), in_size), (derived, mean(derived, "y"))):
        with pytest.raises(DerivationError, match=r"its error must not occur in any other|a separate symbol"):
            recursion_from(premise, layer_of)


@pytest.mark.parametrize("total", [sp.Sum(a * j, (j, -5, 2)), sp.Sum(1, (j, 1, sp.Symbol("n", integer=True)))])
def test_a_sum_that_may_run_backwards_is_refused(total: sp.Expr) -> None:
    for rule in (lambda: number(error=total), lambda: correct(number(error=a), "c", sigma=a + total)):
        with pytest.raises(DerivationError, match="cannot show that j runs forwards"):
            rule()


def test_a_pool_owes_for_every_perturbation_what_it_owes_for_one() -> None:
    t = sp.Symbol("t", nonnegative=True)
    y = correct(number("g", t), "c", sigma=1)
    granted = replace(y, derivation=y.derivation.under([t <= 1]))
    with pytest.raises(DerivationError, match="the error of 'g' is at most 1, for every t up to 5"):
        pool(add(number("h", t), granted, name="s"), "p", groups=(t,), total=5)


def test_growth_is_known_of_radii_only() -> None:
    beta = sp.Function("beta", nonnegative=True)
    with pytest.raises(DerivationError, match="cannot show that R - 5 is not negative"):
        MonotoneRecursion(sp.Integer(0), beta(R - 5), R).linear({beta: (5, 1)})


def test_a_branch_is_chosen_whatever_the_digits() -> None:
    t = sp.Symbol("t", real=True)
    huge = sp.Integer(10) ** 40
    assert [part.expr for part in smooth_parts(sp.Max(huge + t, huge - t) - huge, t, 2)] == [-t, t]


@pytest.mark.parametrize("start", [Q(10**80 + 1, 3 * 10**80), Q(10**70 + 1, 7), Q(7, 10**90)])
def test_long_radii_are_rounded_up_and_little(start: sp.Expr) -> None:
    exact, rounded = start, MonotoneRecursion(start, R / 3 + Q(1, 10**65), R).unrolled(4)
    for radius in rounded[1:]:
        exact = exact / 3 + Q(1, 10**65)
        assert exact <= radius <= exact * (1 + Q(1, 10**50))
        assert len(str(radius.p).rstrip("0")) <= 61
