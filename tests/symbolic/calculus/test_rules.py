"""Invariants, perturbations and iterations: what the table of rules cannot say in one number."""

import math

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus import (
    DerivationError,
    MonotoneRecursion,
    Norm,
    QuadraticRecursion,
    apply_function,
    bilinear,
    confine,
    contract,
    contraction_steps,
    converge,
    correct,
    descend,
    finite_depth,
    given,
    invariant_interval,
    largest_safe,
    perturbed_map,
    pool,
    pooled_sum,
    taylor,
)
from tests.symbolic.cases.one_premise import corrected_random

R, B_v, B_x, K, eps, s = sp.symbols("R B_v B_x K eps s", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
beta = sp.Function("beta", nonnegative=True)
STEP = B_v * sp.sqrt(K) * (beta(R) + eps)
LAYERS = MonotoneRecursion(B_v * B_x, STEP, R)
MUTANT = 0.999


def number(**more):
    return given("x", dim=1, size=2, **more)


# --- invariants ------------------------------------------------------------------------------------------------------


def test_an_undefined_monotone_function_leaves_the_two_closing_conditions() -> None:
    invariant = invariant_interval(LAYERS, R)
    assert [o.condition for o in invariant.obligations] == [sp.Le(B_v * B_x, R), sp.Le(STEP, R)]
    assert invariant.conditional


@pytest.mark.parametrize(("radius", "closes"), [(3, True), (sp.Rational(5, 2), True), (sp.Rational(249, 100), False)])
def test_an_interval_is_invariant_from_the_fixed_point_on(radius: sp.Expr, closes: bool) -> None:
    z = sp.Symbol("z", positive=True)
    affine = MonotoneRecursion(sp.Integer(1), z / 5 + 2, z)  # fixed point 5/2
    if closes:
        assert not invariant_interval(affine, radius).conditional
    else:
        with pytest.raises(DerivationError, match="does not close; hypothesis violated: the interval is mapped into"):
            invariant_interval(affine, radius)


def test_a_start_outside_the_interval_is_refused() -> None:
    with pytest.raises(DerivationError, match="hypothesis violated: the first argument fits: 4 <= 3"):
        invariant_interval(MonotoneRecursion(sp.Integer(4), R / 5, R), 3)


def test_a_step_that_decreases_is_refused_and_one_of_unknown_slope_is_an_obligation() -> None:
    with pytest.raises(DerivationError, match="decreases in R"):
        MonotoneRecursion(sp.Integer(1), 1 / R, R)
    wavy = MonotoneRecursion(sp.Integer(1), sp.sin(R) + R / 2, R)
    assert wavy.obligations[0].condition == sp.Ge(sp.cos(R) + sp.Rational(1, 2), 0)
    (owed,) = (o for o in invariant_interval(wavy, 7).obligations if o.open and "decrease" in o.statement)
    assert R not in owed.condition.free_symbols  # for every radius up to 7, not for the one that R may be


@pytest.mark.parametrize("start", [sp.Rational(1, 10), sp.Integer(9)])
def test_the_largest_radius_is_the_first_or_the_last(start: sp.Expr) -> None:
    recursion = MonotoneRecursion(start, 2 * sp.sqrt(R), R)
    radii = recursion.unrolled(6)
    assert float(recursion.largest(6)) == max(map(float, radii))
    ran = recursion.run([lambda r: 2 * math.sqrt(r)] * 6, float(start))
    assert np.allclose(ran, [float(r) for r in radii], rtol=1e-12)


def test_a_linear_majorant_is_above_the_recursion_and_equal_for_the_identity() -> None:
    at = {B_v: 0.9, B_x: 1.5, K: 3, eps: 0.1}
    for growth, function, equal in (
        ((0, 1), lambda r: r, True),
        ((0, 1), math.tanh, False),
        ((1, 0), math.tanh, False),
    ):
        closed = float(LAYERS.linear({beta: growth}).closed(5).subs(at))
        radius = LAYERS.run([lambda r, f=function: 0.9 * math.sqrt(3) * (f(r) + 0.1)] * 5, 1.35)[-1]
        assert radius <= closed * (1 + 1e-12)
        assert (radius > MUTANT * closed) is equal
    with pytest.raises(DerivationError, match=r"not affine in R; give \(c, s\)"):
        LAYERS.linear({})
    with pytest.raises(DerivationError, match="the slope of 'beta' is -1"):
        LAYERS.linear({beta: (0, -1)})


def test_a_symbolic_depth_wants_growth() -> None:
    with pytest.raises(DerivationError, match="the depth N is symbolic; give `growth`"):
        finite_depth(LAYERS, N)
    bound = finite_depth(LAYERS, N, growth={beta: (0, s)}).bound
    assert sp.simplify(bound.subs(N, 1) - sp.Max(B_v * B_x, B_v * sp.sqrt(K) * (s * B_v * B_x + eps))) == 0


def test_confine_discharges_ranges_and_keeps_what_the_induction_left_open() -> None:
    z = number(error=eps)
    f = apply_function(z, "f", eps=eps, lipschitz=1, size=2, radius=R)
    assert confine(f, invariant_interval(LAYERS, R)).derivation.conditional  # B_v B_x <= R is not known
    enough = finite_depth(LAYERS, 3)
    f = apply_function(z, "f", eps=eps, lipschitz=1, size=2, radius=enough.bound)
    confined = confine(f, enough, "f")
    assert f.derivation.conditional
    assert not confined.derivation.conditional
    assert confined.derivation.step("f").obligations[0].discharged_by.startswith("induction over layers 0 .. 3")
    assert confined.error == f.error


def test_confine_refuses_a_range_below_the_invariant_and_steps_without_one() -> None:
    f = apply_function(number(error=eps), "f", eps=eps, lipschitz=1, size=2, radius=3)
    wide = invariant_interval(MonotoneRecursion(sp.Integer(1), R / 5, R), 4)
    with pytest.raises(DerivationError, match="hypothesis violated: the range of 'f' covers the invariant: 4 <= 3"):
        confine(f, wide)
    with pytest.raises(DerivationError, match="step 'x' has no open range obligation"):
        confine(f, wide, "x")
    with pytest.raises(DerivationError, match="the derivation of 'x' has no open range obligation"):
        confine(number(), wide)


def test_arguments_stay_inside_what_the_joint_induction_says() -> None:
    """A tanh network and one whose tanh is off by eps, known on [-radius, radius] only (and wild outside)."""
    rng, width, depth, off, rows = np.random.default_rng(5), 4, 6, 0.05, 0.8
    radii = LAYERS.run([lambda r: rows * math.sqrt(width) * (math.tanh(r) + off)] * (depth - 1), rows * 1.5)
    radius, largest = max(radii), 0.0
    for trial in range(200):
        x = rng.normal(size=width)
        x *= 1.5 / np.linalg.norm(x)
        for _ in range(depth):
            V = np.ones((width, width)) if trial == 0 else rng.normal(size=(width, width))
            V *= rows / np.linalg.norm(V, axis=1, keepdims=True)
            z = V @ (x if trial else np.abs(x))
            largest = max(largest, float(np.abs(z).max()))
            x = np.where(np.abs(z) <= radius * (1 + 1e-12), np.tanh(z) + off * np.sign(z), 1e9)
    assert largest <= radius * (1 + 1e-12)
    assert largest > 0.97 * radius  # all rows alike, all signs alike


# --- perturbations ---------------------------------------------------------------------------------------------------


def test_a_range_that_holds_both_arguments_owes_nothing_of_the_error() -> None:
    x = number(error=s)
    known = {"eps": 0, "lipschitz": 1, "size": 1, "approximate_size": 2}
    assert not apply_function(x, "f", radius=2, **known).derivation.conditional
    (owed,) = apply_function(x, "f", radius=s, **known).derivation.obligations
    assert owed.condition == sp.Le(2, s)
    with pytest.raises(DerivationError, match="hypothesis violated: the argument of 'f' stays in"):
        apply_function(x, "f", radius=1, **known)


def test_a_known_size_is_sharper_and_has_to_be_a_size() -> None:
    x, y = number(error=s), given("y", dim=1, size=3, error=s)
    plain, known = bilinear(x, y, "xy").error, bilinear(x, y, "xy'", approximate_size=2).error
    assert sp.simplify(plain - known - s**2) == 0
    with pytest.raises(DerivationError, match="the approximate_size of 'xy' is -2"):
        bilinear(x, y, "xy", approximate_size=-2)


def test_a_pooled_sum_is_attained_by_the_right_shares() -> None:
    parts = [given(f"x{k}", dim=1, norm=Norm.TWO, size=1, error=e) for k, e in enumerate((3, 4))]
    bound = float(pooled_sum(*parts, name="sum").error)
    shares = np.array([3, 4]) / 5
    assert 3 * shares[0] + 4 * shares[1] == pytest.approx(bound, rel=1e-12)
    assert bound * MUTANT < 5
    with pytest.raises(DerivationError, match="'Ax' is pooled; give perturbed_norm"):
        perturbed_map(parts[0], "Ax", operator_norm=1, perturbation=1, dim=1, pooled=True)


def test_pooled_moves_of_common_groups_are_attained_by_the_right_shares() -> None:
    t, u = sp.symbols("t u", nonnegative=True)
    x = given("x", dim=1, norm=Norm.TWO, size=1, error=3 * t + 4 * u)
    pooled = pool(x, "pooled", groups=(t, u), total=s)
    assert pooled.error == 5 * s  # attained at t = 3 s / 5, u = 4 s / 5
    assert float((pooled.error * MUTANT).subs(s, 1)) < 3 * 0.6 + 4 * 0.8
    for error in (t * u, t + 1, t**2):
        with pytest.raises(DerivationError, match="is not a linear form in t, u"):
            pool(given("x", dim=1, norm=Norm.TWO, size=1, error=error), "pooled", groups=(t, u), total=s)


def test_a_correction_undoes_small_errors_and_promises_nothing_beyond() -> None:
    rng = np.random.default_rng(1)
    assert all(corrected_random(rng).error == 0.0 for _ in range(100))
    assert correct(number(error=s), "Cx", sigma=R).derivation.obligations[-1].condition == sp.Le(s, R)
    with pytest.raises(DerivationError, match="hypothesis violated: the error of 'x' is at most 1"):
        correct(number(error=sp.Rational(1001, 1000)), "Cx", sigma=1)


@pytest.mark.parametrize("bound", [s * R, sp.exp(R) - 1, R**2 + s * R, R / (1 + R)], ids=str)
def test_the_largest_safe_perturbation_is_safe_and_a_larger_one_is_not(bound: sp.Expr) -> None:
    knob = largest_safe(bound, R, sp.Rational(1, 2))
    at = knob.value.subs(s, 2)
    grown = sp.lambdify(R, bound.subs(s, 2))
    assert grown(float(at)) == pytest.approx(0.5, rel=1e-12)
    assert grown(1.001 * float(at)) > 0.5


def test_all_none_or_an_unknown_perturbation_is_safe() -> None:
    assert largest_safe(R / (1 + R), R, 1).value == sp.oo
    assert largest_safe(s + R, R, B_v).condition == sp.Le(s, B_v)
    with pytest.raises(DerivationError, match="no R is safe: the bound at 0 is 2, above the margin 1"):
        largest_safe(2 + R, R, 1)
    with pytest.raises(DerivationError, match=r"cannot show that .* grows with R"):
        largest_safe(sp.sin(R), R, 1)
    with pytest.raises(DerivationError, match=r"no closed solution; use bs\.solve"):
        largest_safe(R + sp.exp(R) + R**5, R, 5)


# --- iterations ------------------------------------------------------------------------------------------------------


def test_a_contraction_needs_as_many_steps_as_it_says() -> None:
    steps = int(contraction_steps(2, sp.Rational(1, 2), sp.Rational(1, 4), sp.Rational(51, 100)))
    errors = [2.0]
    for _ in range(steps):
        errors.append(errors[-1] / 2 + 0.25)
    assert errors[-1] <= 0.51 < errors[-2]
    assert contraction_steps(sp.Rational(1, 4), sp.Rational(1, 2), sp.Rational(1, 4), 1) == 0
    with pytest.raises(DerivationError, match="is not above 1/2, the limit of the bound"):
        contraction_steps(2, sp.Rational(1, 2), sp.Rational(1, 4), sp.Rational(1, 2))


def test_a_factor_of_one_does_not_contract() -> None:
    with pytest.raises(DerivationError, match="hypothesis violated: the factor of 'e' is below 1"):
        contract(number(error=1), "e", factor=1, offset=1, size=2)
    assert contract(number(error=1), "e", factor=s, offset=1, size=2).derivation.conditional


def test_the_floor_and_the_basin_are_the_fixed_points() -> None:
    quadratic = QuadraticRecursion(s, B_v, B_x)
    for point in (quadratic.floor, quadratic.basin):
        assert sp.simplify(B_v * point**2 + B_x - point) == 0
    at = {B_v: sp.Rational(1, 2), B_x: sp.Rational(2, 5)}
    basin = float(quadratic.basin.subs(at))
    for start, leaves in ((MUTANT * basin, False), (1.001 * basin, True)):
        errors = quadratic.run([(0.5, 0.4)] * 60, start)
        assert (errors[-1] > basin) is leaves
        if leaves:
            break
        assert max(errors) <= max(start, float(quadratic.floor.subs(at)))


def test_a_start_outside_the_basin_or_an_offset_without_floor_is_refused() -> None:
    with pytest.raises(DerivationError, match="hypothesis violated: 'e' starts inside the basin"):
        converge(number(error=5), "e", quadratic=1, offset=sp.Rational(1, 8), size=2)
    with pytest.raises(DerivationError, match="hypothesis violated: 'e' has a floor: 4 a b < 1"):
        converge(number(error=sp.Rational(1, 4)), "e", quadratic=1, offset=sp.Rational(1, 4), size=2)
    with pytest.raises(DerivationError, match="hypothesis violated: 'e' starts where squaring reduces the error"):
        converge(number(error=sp.Rational(1, 2)), "e", quadratic=1, offset=sp.Rational(1, 8), size=2, depth=3)
    with pytest.raises(DerivationError, match="where it is 0 the recursion is linear"):
        converge(number(error=1), "e", quadratic=0, offset=1, size=2)


@pytest.mark.parametrize("offset", [0.0, 1e-9, 0.05])
def test_squaring_needs_at_most_the_steps_it_says(offset: float) -> None:
    a, start = 1.5, 0.3
    recursion = QuadraticRecursion(sp.Float(start), sp.Float(a), sp.Float(offset) if offset else sp.Integer(0))
    accuracy = max(2 * offset, 1e-12)
    steps = int(recursion.steps_to(accuracy))
    errors = recursion.run([(a, offset)] * steps, start)
    assert errors[-1] <= accuracy * (1 + 1e-12)
    assert recursion.after(steps) <= accuracy < recursion.after(steps - 1)
    assert recursion.steps_to(0.4) == 0
    if offset:
        with pytest.raises(DerivationError, match="below twice the offset"):
            recursion.steps_to(offset)


def test_the_stated_ratio_of_the_squaring_bound_is_reached_and_not_exceeded() -> None:
    a, start, steps = 1.0, 0.45, 3
    worst = 0.0
    for offset in (1e-12, 1e-6, 1e-3, 0.1):
        recursion = QuadraticRecursion(sp.Float(start), sp.Float(a), sp.Float(offset))
        worst = max(worst, float(recursion.after(steps)) / recursion.run([(a, offset)] * steps, start)[-1])
    assert worst == pytest.approx(2 ** (2**steps - 1), rel=1e-6)


def test_descent_wants_a_number_a_decrease_and_whole_steps() -> None:
    gap = given("gap", dim=1, size=0, error=R)
    assert sp.simplify(descend(gap, "g", decrease=s, offset=eps, steps=N).error - R / (s * N) - eps / s) == 0
    with pytest.raises(DerivationError, match="'v' must be a number"):
        descend(given("v", dim=2, size=0), "g", decrease=1, steps=2)
    with pytest.raises(DerivationError, match="cannot show that the decrease 1 - s of 'g' is positive"):
        descend(gap, "g", decrease=1 - s, steps=2)
    with pytest.raises(DerivationError, match="a mean over 3/2 steps"):
        descend(gap, "g", decrease=1, steps=sp.Rational(3, 2))


def test_taylors_formula_keeps_the_orders_that_may_be_the_least() -> None:
    """Slopes at x that are as large as their supremum make the second order useless; letters leave it open."""
    x = given("x", dim=1, size=1, error=s)

    def least(suprema: dict[int, object], here: object) -> sp.Expr:
        return taylor(x, "y", size=1, suprema=suprema, derivatives={1: here}).derivation.steps[-1].local

    e = x.error_symbol
    assert least({1: 1, 2: 4}, 1) == e == least({1: 1, 2: 4}, 2)
    assert least({1: 1, 2: 0}, 1) == e
    assert least({1: R, 2: K}, R) == R * e
    assert set(least({1: 2, 2: 4}, 1).args) == {2 * e, e + 2 * e**2}
    assert set(least({1: R, 2: K}, eps).args) == {R * e, eps * e + K * e**2 / 2}
