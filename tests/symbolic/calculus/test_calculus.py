"""Every rule: all that it promises holds, error, size and radius are attained, and the permanent mutant is caught.

The permanent mutant is the bound times 0.999.
"""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import symbolic.calculus
from symbolic.calculus import (
    CoupledRecursion,
    DerivationError,
    LinearRecursion,
    Norm,
    add,
    apply_function,
    attend,
    cheapest_split,
    concentrate,
    geometric_sum,
    given,
    hard_max,
    heads_as_linear,
    knob_for,
    linear_map,
    minimise,
    recur,
    softmax,
)
from symbolic.calculus.geometric import mixed_geometric_sum, written_out
from tests.symbolic.cases import CASES, NUMBER_CASES, NumberCase, RuleCase
from tests.symbolic.cases.case import MUTANT, QUANTITIES, check_kept

x = sp.Symbol("x", positive=True)
a, b = sp.symbols("a b", positive=True)
N = sp.Symbol("N", integer=True, positive=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_each_bound_is_attained_and_the_mutant_fails(case: RuleCase, quantity: str) -> None:
    case.check(quantity)


@pytest.mark.parametrize("case", [case for case in CASES if case.random], ids=lambda case: case.name)
def test_every_promise_is_kept_on_random_instances(case: RuleCase) -> None:
    case.check_at_random(case.trials)


@pytest.mark.parametrize("case", NUMBER_CASES, ids=lambda case: case.name)
def test_each_number_is_exact_and_the_mutant_fails(case: NumberCase) -> None:
    case.check()


def test_a_radius_is_stated_by_the_rules_that_can_show_one() -> None:
    stating = {case.rule for case in CASES if case.sharp().value.radius is not None}
    assert stating == {"given", "linear_map", "mean", "centre", "append", "token", "attend", "correct", "pool"}


RECORDS = {"Approximated", "Derivation", "DerivationError", "Event", "Invariant", "Knob", "Norm", "Obligation", "Step"}


def test_every_exported_name_has_a_case() -> None:
    assert set(symbolic.calculus.__all__) - RECORDS == {case.rule for case in (*CASES, *NUMBER_CASES)}


def test_geometric_sums_written_out_are_the_same_numbers() -> None:
    q = sp.Symbol("q", nonnegative=True)
    expression = 3 * geometric_sum(q, 4) + 1
    plain = written_out(expression)
    assert not plain.has(sp.Piecewise)
    assert all(plain.subs(q, v).doit() == expression.subs(q, v) for v in (0, 1, sp.Rational(1, 3)))


def test_a_case_that_breaks_a_promise_is_noticed() -> None:
    """Each promise, broken once."""
    good = next(case for case in CASES if case.name == "given").sharp()
    weights = next(case for case in CASES if case.name == "given, probabilities").sharp()
    broken = {
        "error": replace(good, near=good.near + 1),
        "size": replace(good, exact=good.exact * 2, near=good.near + good.exact, centre=good.centre * 2),
        "radius": replace(good, centre=None),
        "dim": replace(weights, exact=np.ones((1, 3)) / 3, near=np.ones((1, 3)) / 3),
        "norm": replace(good, norm=Norm.TWO),
        "probabilities": replace(weights, near=np.array([[0.6, 0.3]])),
    }
    for quantity, result in broken.items():
        assert np.any([promise.violated for promise in result.promises() if promise.quantity == quantity])
        with pytest.raises(AssertionError, match=quantity):
            check_kept(result)


def test_a_hard_max_survives_errors_below_half_the_margin_and_not_above() -> None:
    with pytest.raises(DerivationError, match="hypothesis violated: the margin of 'q' survives"):
        hard_max(given("t", dim=3, size=1, error=sp.Rational(1, 2)), "q", margin=1)


def test_softmax_beats_the_printed_lemma_and_the_trivial_bound() -> None:
    error = softmax(given("t", dim=9, size=1, error=x), "q").error
    assert all(error.subs(x, v) < min(2 * v, 2) for v in (sp.Rational(1, 100), 1, 10))


def test_the_domain_of_an_approximated_function_is_an_obligation() -> None:
    value = given("x", dim=1, size=1, error=sp.Rational(1, 10))
    inside = apply_function(value, "f", eps=0, lipschitz=1, size=1, radius=sp.Rational(11, 10))
    with pytest.raises(DerivationError, match=r"hypothesis violated: the argument of 'f' stays in \[-R, R\], R = 1"):
        apply_function(value, "f", eps=0, lipschitz=1, size=1, radius=1)
    symbolic = apply_function(value, "f", eps=0, lipschitz=1, size=1, radius=a)
    assert [v.derivation.conditional for v in (inside, symbolic)] == [False, True]


@pytest.mark.parametrize("ratio", [sp.Rational(1, 2), sp.Integer(1), sp.Rational(7, 3)])
def test_geometric_sums_hold_at_every_ratio(ratio: sp.Rational) -> None:
    symbol = sp.Symbol("q", nonnegative=True)
    assert geometric_sum(symbol, 6).subs(symbol, ratio) == sum(ratio**k for k in range(6))
    assert mixed_geometric_sum(symbol, ratio, 6).subs(symbol, ratio) == 6 * ratio**5
    assert mixed_geometric_sum(symbol, ratio, 6).subs(symbol, 3) == sum(3**k * ratio ** (5 - k) for k in range(6))


def test_a_recursion_with_varying_coefficients_equals_its_steps() -> None:
    layer = sp.Symbol("l", integer=True, nonnegative=True)
    recursion = LinearRecursion(sp.Integer(1), 1 + layer, 1 / (1 + layer), layer)
    factors, offsets = [1 + k for k in range(6)], [sp.Rational(1, 1 + k) for k in range(6)]
    assert recursion.run(factors, offsets, 1)[-1] == recursion.closed(6).doit()


def test_depth_stays_symbolic_and_costs_nothing() -> None:
    closed = LinearRecursion(sp.Integer(0), a, b).closed(N)
    assert closed.count_ops() < 20
    assert sp.simplify(closed.subs(N, 3) - b * (1 + a + a**2)).subs({a: 2, b: 5}) == 0


def test_coupled_recursions_run_with_each_layers_own_coefficients() -> None:
    matrix, offset = ((0.5, 0.25), (0.1, 0.3)), (1.0, 2.0)
    exact = sp.nsimplify(sp.Matrix(matrix)), sp.nsimplify(sp.Matrix(offset))
    rows = ((exact[0][0, 0], exact[0][0, 1]), (exact[0][1, 0], exact[0][1, 1]))
    recursion = CoupledRecursion((sp.Integer(1), sp.Integer(1)), rows, (exact[1][0], exact[1][1]))
    stepped = recursion.run([matrix] * 8, [offset] * 8, (1.0, 1.0))[-1]
    closed = [float(sp.N(e.doit())) for e in recursion.closed(8)]
    assert np.allclose(stepped, closed, rtol=1e-12)


def test_a_knob_is_chosen_where_the_bound_is_least() -> None:
    knob = minimise(a * x + b / x**2, x)
    grid = [(a * x + b / x**2).subs({a: 3, b: 5, x: sp.Float(v)}) for v in np.geomspace(0.1, 10, 400)]
    best = float(knob.bound.subs({a: 3, b: 5}))
    assert best <= min(map(float, grid)) <= 1.001 * best
    assert float((a * x + b / x**2).subs(x, MUTANT * knob.value).subs({a: 3, b: 5})) > best


def test_a_knob_for_an_accuracy_is_the_least_that_suffices() -> None:
    knob = knob_for(a * sp.exp(-x), x, b)
    at = {a: 5, b: sp.Rational(1, 1000)}
    assert float(knob.bound.subs(at)) == pytest.approx(1e-3, rel=1e-12)
    assert float((a * sp.exp(-x)).subs(x, MUTANT * knob.value).subs(at)) > 1e-3
    heads = knob_for(7 / N, N, sp.Rational(1, 10))
    assert heads.value == 70


def test_no_symbol_of_the_caller_is_captured() -> None:
    k, m = sp.Symbol("k", integer=True, positive=True), sp.Symbol("m", integer=True, nonnegative=True)
    n = sp.Symbol("n", integer=True, nonnegative=True)
    gaps = concentrate("w", count=3, gaps=lambda j: k * j).error.subs(k, 2).doit()
    others = sp.exp(-2) + sp.exp(-4)
    assert float(gaps) == pytest.approx(float(2 * others / (1 + others)), rel=1e-12)
    layer = sp.Symbol("l", integer=True, nonnegative=True)
    varying = LinearRecursion(sp.Integer(1), m + layer, sp.Integer(1), layer)
    assert varying.closed(3).subs(m, 2).doit() == varying.run([2, 3, 4], [1, 1, 1], 1)[-1] == 41
    zero, one = sp.Integer(0), sp.Integer(1)
    coupled = CoupledRecursion((zero, zero), ((n, zero), (zero, one)), (one, one))
    assert coupled.closed(3)[0].subs(n, 5).doit() == 31


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_a_nilpotent_coupling_is_solved_too(depth: int) -> None:
    zero, one = sp.Integer(0), sp.Integer(1)
    matrix = ((zero, one), (zero, zero))
    recursion = CoupledRecursion((one, one), matrix, (one, one))
    assert (
        tuple(e.doit() for e in recursion.closed(depth))
        == recursion.run([matrix] * depth, [(1, 1)] * depth, (1, 1))[-1]
    )


def test_a_coefficient_of_unknown_sign_is_an_obligation() -> None:
    eta = sp.Symbol("eta", positive=True)
    contraction = recur(given("w", dim=1, size=1, error=1), "w_T", factor=1 - eta, offset=0, depth=3, size=1)
    assert contraction.derivation.conditional
    assert contraction.derivation.obligations[0].condition == sp.Ge(1 - eta, 0)


def test_a_knob_says_when_none_is_enough() -> None:
    error = sp.Symbol("error", positive=True)
    assert knob_for(1 + 1 / x, x, error).condition == (error > 1)
    assert knob_for(sp.exp(-N), N, error).value.subs(error, 5) == 1


def test_a_whole_knob_is_minimised_over_whole_numbers() -> None:
    cost = 7 * N + 100 / N
    knob = minimise(cost, N)
    best = min(range(1, 50), key=lambda n: cost.subs(N, n))
    assert (knob.value.doit(), knob.bound) == (best, cost.subs(N, best))


REFUSED = [
    (
        lambda: heads_as_linear(given("t", dim=2, norm=Norm.TWO, size=1), "q", sink=9),
        "heads_as_linear: 't' is bounded in the 2-norm",
    ),
    (
        lambda: add(given("x", dim=2, size=1), given("y", dim=2, norm=Norm.ONE, size=1), name="s"),
        "different norms.*apply change_norm first",
    ),
    (lambda: add(given("x", dim=2, size=1), given("y", dim=3, size=1), name="s"), "differ in dimension"),
    (lambda: given("x", dim=2, size="__import__('os')"), "got the string"),
    (lambda: concentrate("k", count=3, slope=1, gap=1), "exactly one of slope, gap and gaps"),
    (lambda: minimise(sp.sin(x), x), "stationary points|no stationary point"),
    (lambda: minimise((x - sp.Symbol("c", real=True)) ** 2, x), "cannot show that the stationary point .* is positive"),
    (lambda: minimise(x**2 / (x - 1), x), "has a pole"),
    (lambda: knob_for(1 + 1 / x, x, sp.Rational(1, 2)), "the bound tends to 1, and the accuracy is 1/2"),
    (
        lambda: attend(given("w", dim=2, norm=Norm.ONE, size=1), given("v", dim=2, size=1), "out"),
        "'w' is not known to hold probabilities",
    ),
    (lambda: linear_map(given("x", dim=2, size=1), "Ax", operator_norm=-2, dim=2), "the operator_norm of 'Ax' is -2"),
    (lambda: recur(given("x", dim=2, size=1), "y", factor=-1, offset=0, depth=2, size=1), "the factor of 'y' is -1"),
    (lambda: minimise(x, x), "no stationary point"),
    (lambda: knob_for(sp.exp(x), x, 1), "cannot show that .* decreases"),
    (lambda: given("x", dim=2, size=1).derivation.step("z"), "no step 'z'"),
    (
        lambda: add(given("x", dim=2, size=1), given("x", dim=2, size=1, error=1), name="s"),
        "two different steps are both called 'x'",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_misuse_is_refused_with_a_reason(call, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        call()


ACCURACIES = sp.symbols("e_1:4", positive=True)


@pytest.mark.parametrize("power", [sp.Rational(1, 2), sp.Integer(1), sp.Rational(5, 2)])
def test_the_cheapest_split_spends_the_accuracy_at_the_least_cost(power: sp.Expr) -> None:
    coefficients = dict(zip(ACCURACIES, (5.0, 2.0, 0.7), strict=True))
    costs = dict(zip(ACCURACIES, (3.0, 1.0, 4.0), strict=True))
    split = cheapest_split(coefficients, costs, 0.1, power=power)

    def cost(accuracies: dict) -> float:
        return sum(costs[symbol] / value ** float(power) for symbol, value in accuracies.items())

    best = {symbol: float(value) for symbol, value in split.accuracies.items()}
    assert sum(coefficients[symbol] * value for symbol, value in best.items()) == pytest.approx(0.1)
    assert float(split.cost) == pytest.approx(cost(best))
    rng = np.random.default_rng(0)
    for shares in rng.dirichlet((1, 1, 1), 300):
        other = {symbol: 0.1 * share / coefficients[symbol] for symbol, share in zip(best, shares, strict=True)}
        assert cost(other) >= cost(best) * (1 - 1e-12)
    thirds = {symbol: 0.1 / 3 / coefficients[symbol] for symbol in best}
    assert cost(thirds) > 1.01 * cost(best)


def test_what_costs_nothing_gets_no_share_and_what_is_not_felt_no_limit() -> None:
    one, two, three = ACCURACIES
    half = sp.Rational(1, 2)
    split = cheapest_split({one: 5.0, two: 0, three: 0.7}, {one: 3.0, two: 1.0, three: 0}, 0.1, power=half)
    assert split.accuracies[three] == 0
    assert float(split.accuracies[one]) == pytest.approx(0.1 / 5)
    assert float(split.accuracies[two]) == pytest.approx(0.1)
    assert cheapest_split({one: 1}, {one: 0}, 0.1, power=half).cost == 0
    with pytest.raises(DerivationError, match="costs and accuracy >= 0, and a power > 0"):
        cheapest_split({one: -1}, {one: 1}, 0.1, power=half)
    with pytest.raises(DerivationError, match="costs and accuracy >= 0, and a power > 0"):
        cheapest_split({one: 1}, {one: 1}, 0.1, power=0)
    with pytest.raises(DerivationError, match="name the same accuracies"):
        cheapest_split({one: 1}, {two: 1}, 0.1, power=half)
