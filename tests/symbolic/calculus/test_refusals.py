"""Rules refuse values that they are not proved for, and obligations say exactly what would suffice."""

import pytest
import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    Norm,
    QuadraticRecursion,
    apply_function,
    change_norm,
    concentrate,
    contract,
    contraction_steps,
    converge,
    correct,
    descend,
    given,
    gradient_descent,
    hard_max,
    knob_for,
    largest_safe,
    minimise,
    pool,
    pooled_sum,
    softmax_to_hard_max,
    taylor,
)
from symbolic.calculus.sums import norm_change_factor, norm_of_ones
from tests.symbolic.values import HALF, ONE, TWO, ZERO, N, R, a, b, conditions, e, n, p, q, r, vector, z

# --- norms -----------------------------------------------------------------------------------------------------------


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
    for norm, apart in ((Norm.TWO, sp.sqrt(2) * e), (Norm.ONE, e)):
        moved = vector(norm=norm, error=e)
        assert conditions(hard_max(moved, "q", margin=a))[-1] == sp.Gt(a, apart)
        assert conditions(softmax_to_hard_max(moved, "q", margin=a, inverse_temperature=b))[-1] == sp.Gt(a, apart)
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


def test_gaps_are_those_of_the_keys_1_to_the_last() -> None:
    others = sp.exp(-3) + sp.exp(-6)
    for ways in ({"slope": 3}, {"gaps": lambda k: 3 * k}):
        assert float(concentrate("w", count=3, **ways).error) == pytest.approx(
            float(2 * others / (1 + others)), rel=1e-12
        )
    assert concentrate("w", count=1, gap=3).error == 0
    assert concentrate("w", count=3, slope=0).error == sp.Rational(4, 3)
