"""Premises at their edges: what is clear, what is owed, and the exact condition that would settle it."""

import pytest
import sympy as sp

from symbolic.calculus import (
    Derivation,
    DerivationError,
    Norm,
    QuadraticRecursion,
    Step,
    given,
    knob_for,
    minimise,
)
from symbolic.calculus.inversion import SMALL, Tamed, poles, solutions
from symbolic.calculus.recursions import restated
from symbolic.derivations import obligations
from symbolic.derivations.definedness import branches
from symbolic.derivations.derivation import UNIT_ROUNDING
from symbolic.derivations.granting import follows_from_two
from symbolic.derivations.obligations import (
    Obligation,
    at_most,
    follows_from,
    for_all,
    nonnegative,
    positive,
    real,
    unless,
    whole,
)
from symbolic.derivations.signs import is_nonnegative

z, a, b = sp.symbols("z a b", positive=True)
q = sp.Symbol("q", nonnegative=True)
r, s = sp.symbols("r s", real=True)
N, K = sp.symbols("N K", integer=True, positive=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
count = sp.Symbol("count", integer=True)
HALF, ONE, TWO = sp.Rational(1, 2), sp.Integer(1), sp.Integer(2)


def conditions(obligations: tuple[Obligation, ...]) -> list[object]:
    return [obligation.condition for obligation in obligations]


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_what_is_owed_of_a_number_is_its_sign() -> None:
    assert conditions(nonnegative("rule", "y", size=r, error=q, radius=s)) == [sp.Ge(r, 0), sp.Ge(s, 0)]
    assert conditions(positive("rule", "y", radius=r, other=z)) == [sp.Gt(r, 0)]
    assert conditions(positive("rule", "y", radius=q)) == [sp.Gt(q, 0)]  # it may be 0
    for zero_or_less in (sp.Integer(0), -z, -q):
        with pytest.raises(DerivationError, match=r"rule: the radius of 'y' is .*; give it > 0"):
            positive("rule", "y", radius=zero_or_less)
    for wrong in (sp.nan, sp.oo, -sp.oo, sp.I, sp.zoo):
        for premise in (nonnegative, positive, real):
            with pytest.raises(DerivationError, match=r"give a finite real number|give a value >= 0"):
                premise("rule", "y", size=wrong)
    assert real("rule", "y", size=r) is None


def test_what_is_owed_of_a_count_is_that_it_is_whole_and_large_enough() -> None:
    assert conditions(whole("rule", "y", least=1, count=count)) == [sp.Ge(count, 1)]
    assert conditions(whole("rule", "y", least=0, count=count + 2)) == [sp.Ge(count, -2)]
    assert conditions(whole("rule", "y", least=1, count=m)) == [sp.Ge(m, 1)]
    assert conditions(whole("rule", "y", least=1, count=r)) == [sp.Eq(r, sp.floor(r)), sp.Ge(r, 1)]
    assert conditions(whole("rule", "y", least=0, count=q)) == [sp.Eq(q, sp.floor(q))]
    assert conditions(whole("rule", "y", least=1, count=N, other=count)) == [sp.Ge(count, 1)]
    for enough, least in ((N, 1), (m, 0), (N + m, 1), (sp.Integer(1), 1), (sp.Integer(0), 0), (N * K, 1)):
        assert whole("rule", "y", least=least, count=sp.sympify(enough)) == ()
    for wrong, least in ((sp.Integer(0), 1), (sp.Integer(-1), 0), (HALF, 0), (sp.Float(2.5), 1), (sp.oo, 0), (-N, 0)):
        with pytest.raises(DerivationError, match=rf"the count of 'y' is .*; give a whole number, at least {least}"):
            whole("rule", "y", least=least, count=wrong)


def test_a_count_by_cases_is_whole_in_each() -> None:
    by_layers = sp.Piecewise((1, sp.Eq(N, 1)), ((N - 1) * K, True))
    assert whole("rule", "y", least=1, count=by_layers) == ()
    assert whole("rule", "y", least=1, count=sp.Max(N, K)) == ()
    halves = sp.Piecewise((1, sp.Eq(N, 1)), (N / 2, True))
    assert sp.Eq(halves, sp.floor(halves)) in conditions(whole("rule", "y", least=0, count=halves))
    with pytest.raises(DerivationError, match="give a whole number, at least 1"):
        whole("rule", "y", least=1, count=sp.Piecewise((0, sp.Eq(N, 1)), (1 - N, True)))


def test_a_branch_knows_which_cases_came_before_it() -> None:
    first, second = branches(sp.Piecewise((0, sp.Eq(N, 1)), (N - 2, True)))
    assert (first, second.is_nonnegative, (second - 1).is_nonnegative) == (0, True, None)  # N >= 2
    assert second.is_integer
    _, other = branches(sp.Piecewise((0, sp.Eq(m, 0)), (m - 1, True)))
    assert (other.is_nonnegative, (other - 1).is_nonnegative) == (True, None)  # m >= 1
    for elsewhere in (sp.Eq(N, 2), sp.Eq(m, 1), sp.Eq(count, 0), sp.Eq(q, 0), sp.Lt(N, 2)):
        assert branches(sp.Piecewise((0, elsewhere), (N - 2, True)))[1] == N - 2


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (q, True),
        (-z, False),
        (-q, None),  # 0 is possible
        (r, None),
        (r**2, True),
        (sp.exp(r), True),
        (q + r, None),
        (sp.Max(r, q), True),
        (sp.Min(r, q), None),
        (sp.Min(q, z), True),
        ((q + sp.Max(r, 0)) ** r, True),
        ((1 - q) ** 2, None if ((1 - q) ** 2).is_nonnegative is None else True),
        (sp.Product(q + m, (m, 1, N)), True),
        (sp.Sum(r, (m, 1, N)), None),
        (q * sp.Max(r, 1), True),
        (sp.Max(r, 1) * (1 - z), None),
        ((1 - q**N) / (1 - q) * sp.Max(r, 1), True),
        ((1 - q) / (1 - q), True),
        ((1 - q**r) / (1 - q), None),  # 1/q for r = -1
        ((1 - sp.exp(a)) / (1 - sp.exp(b)), True),
        ((1 - sp.exp(-a)) / (1 - sp.exp(b)), None),
        ((2 - q**N) / (1 - q), None),
        ((1 - q**N) / (1 - q) / (1 - q), None),
    ],
    ids=str,
)
def test_a_sign_is_shown_by_the_signs_of_the_parts(expression: sp.Expr, shown: bool | None) -> None:
    assert is_nonnegative(sp.sympify(expression)) is shown


# --- relations -------------------------------------------------------------------------------------------------------


def test_at_most_is_true_false_or_owed() -> None:
    assert at_most("x fits", q, q + z).condition == sp.true
    assert at_most("x fits", q, q).condition == sp.true
    assert at_most("x fits", r, s).condition == sp.Le(r, s)
    assert at_most("x fits", TWO, ONE).condition == sp.false
    assert at_most("x fits", q, z).statement == "x fits: q <= z"


def test_a_relation_follows_from_one_that_asks_more() -> None:
    for condition, hypothesis in (
        (sp.Le(r, 2), sp.Le(r, 2)),
        (sp.Le(r, 2), sp.Le(r, 1)),
        (sp.Le(r, 2), sp.Lt(r, 2)),
        (sp.Lt(r, 2), sp.Le(r, 1)),
        (sp.Lt(r, 2), sp.Lt(r, 2 - q)),
        (sp.Ge(2 - r, q), sp.Le(r + q, 2)),
        (sp.Gt(r, 0), sp.Gt(r, z)),
        (sp.Gt(r, 0), sp.Ge(r, z)),
    ):
        assert follows_from(condition, hypothesis)
    for condition, hypothesis in (
        (sp.Lt(r, 2), sp.Le(r, 2)),
        (sp.Le(r, 1), sp.Le(r, 2)),
        (sp.Gt(r, 0), sp.Ge(r, q)),
        (sp.Le(r, 2), sp.Le(s, 2)),
        (sp.Ge(r, 2), sp.Le(r, 2)),
        (sp.Le(r, 2), sp.Eq(r, 1)),
        (sp.Eq(r, 1), sp.Le(r, 2)),
        (sp.true, sp.Le(r, 2)),
    ):
        assert not follows_from(condition, hypothesis)


def test_a_positive_denominator_hides_nothing() -> None:
    """1 - (p + r)/(q + r) >= 0 asks p <= q where q + r > 0; a denominator without a sign says nothing."""
    p, q, r = sp.symbols("p q r", positive=True)
    free = sp.Symbol("free", real=True)
    condition = sp.Ge(1 - (p + r) / (q + r), 0)
    assert follows_from(condition, sp.Lt(p, q))
    assert follows_from(condition, sp.Le(p, q))
    assert not follows_from(condition, sp.Lt(p, 2 * q))
    assert not follows_from(sp.Gt(1 - (p + r) / (q + r), 0), sp.Le(p, q))
    assert not follows_from(sp.Ge(1 - (p + r) / (q + free), 0), sp.Lt(p + r, q + free))


def test_a_relation_follows_from_two_where_it_is_one_and_a_multiple_of_the_other() -> None:
    """1 - p low = (1 - p high) + p (high - low)."""
    p, low, high = sp.symbols("p low high", positive=True)
    condition, known = sp.Ge(1 - p * low, 0), (sp.Gt(p, 0), sp.Le(p, 1 / high), sp.Le(low, high))
    assert follows_from_two(condition, known) == (sp.Le(p, 1 / high), sp.Le(low, high))
    assert follows_from_two(sp.Gt(1 - p * low, 0), (sp.Lt(p, 1 / high), sp.Le(low, high))) is not None
    step = Step("x", Norm.INF, "rule", a, obligations=(Obligation("a factor", condition),))
    (owed,) = Derivation((step,)).under(known).obligations
    assert owed.granted
    assert "p <= 1/high and low <= high" in owed.discharged_by
    for unclear, relations in (
        (sp.Gt(1 - p * low, 0), known),  # p = 1/high and low = high
        (sp.Ge(1 - p * low, 0), (sp.Le(p, 1 / high), sp.Le(high, low))),
        (sp.Ge(1 - 2 * p * low, 0), known),
        (sp.Ge(1 - p * low, 0), known[:2]),
        (sp.Eq(p * low, 1), known),
    ):
        assert follows_from_two(unclear, relations) is None


def test_hypotheses_discharge_what_follows_from_them() -> None:
    owed = (Obligation("first", sp.Le(r, 2)), Obligation("second", sp.Le(s, 2)), Obligation("third", sp.Le(1, 2)))
    derivation = Derivation((Step("x", Norm.INF, "rule", a, obligations=owed),))
    one = derivation.under([sp.Le(r, 1)])
    assert [o.open for o in one.obligations] == [False, True, False]
    assert [o.discharged_by for o in one.obligations] == ["hypothesis r <= 1", "", ""]
    assert one.conditional
    assert not derivation.under([sp.Lt(s, 0), sp.Le(r, 1)]).conditional
    assert derivation.under([]) == derivation
    assert derivation.under([sp.Le(r, 3)]).obligations == owed


def test_nothing_is_owed_in_the_other_case() -> None:
    owed = Obligation("x fits", sp.Le(r, 1))
    here = unless(sp.Lt(N, 2), owed)
    assert here.condition.subs({N: 1, r: 5}) == sp.true
    assert [here.condition.subs({N: 2, r: value}) for value in (0, 1, 5)] == [True, True, False]
    assert here.statement == "x fits, unless N < 2"
    for settled in (Obligation("x fits", sp.Le(r, 1), "a proof"), Obligation("x fits", sp.true)):
        assert unless(sp.Lt(N, 2), settled) == settled


# --- for all ---------------------------------------------------------------------------------------------------------

LOW, HIGH = sp.Integer(1), sp.Integer(3)


@pytest.mark.parametrize(
    ("condition", "worst"),
    [
        (sp.Le(2 * q, r), sp.Le(6, r)),
        (sp.Lt(2 * q, r), sp.Lt(6, r)),
        (sp.Ge(2 * q, r), sp.Ge(2, r)),
        (sp.Gt(2 * q, r), sp.Gt(2, r)),
        (sp.Le(r, q), sp.Le(r, 1)),
        (sp.Ge(r, q), sp.Ge(r, 3)),
        (sp.Le(q, q + 1), sp.true),
        (sp.Lt(q, 4), sp.true),
        (sp.Le(q, 3), sp.true),
        (sp.Ge(q, 1), sp.true),
        (sp.Le(r, 2), sp.Le(r, 2)),
    ],
    ids=str,
)
def test_a_premise_for_all_numbers_is_one_at_the_worst_end(condition: object, worst: object) -> None:
    found = for_all(Obligation("it fits", condition), q, LOW, HIGH, "everywhere")
    assert found.condition == worst
    assert not found.discharged_by


def test_a_strict_premise_fails_at_an_end_where_it_is_an_equality() -> None:
    for condition in (sp.Lt(q, 3), sp.Gt(q, 1)):
        assert for_all(Obligation("it fits", condition), q, LOW, HIGH, "everywhere").condition == sp.false


def test_a_premise_that_is_not_monotone_stays_open_whatever_the_ends() -> None:
    wavy = for_all(Obligation("it fits", sp.Le(sp.sin(q), r)), q, LOW, HIGH, "everywhere")
    assert q not in wavy.condition.free_symbols
    assert len(wavy.condition.free_symbols) == 2
    assert wavy.statement == "it fits, everywhere"
    again = for_all(wavy, next(iter(wavy.condition.free_symbols - {r})), LOW, HIGH, "everywhere")
    assert again.statement == "it fits, everywhere"  # said once


def test_a_premise_that_is_settled_is_left() -> None:
    for settled in (Obligation("it fits", sp.Le(q, r), "a proof"), Obligation("it fits", sp.Le(s, r))):
        assert for_all(settled, q, LOW, HIGH, "everywhere") == settled


# --- formulas that are solved ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [13, -13, sp.Rational(1, 13), sp.Rational(-13, 2), sp.Float(0.5), sp.Float(-2)])
def test_a_number_that_is_not_small_becomes_a_letter(number: object) -> None:
    number = sp.sympify(number)
    tamed = Tamed.of(number * sp.log(z) + z)
    assert list(tamed.numbers.values()) == [abs(number)]
    assert tamed.back(tamed.expression) == number * sp.log(z) + z
    assert (tamed.expression - z).subs(z, sp.E).is_positive is bool(number > 0)


def test_small_numbers_stay() -> None:
    formula = SMALL * z + z**2 / SMALL - sp.Rational(5, 7)
    assert Tamed.of(formula) == Tamed(formula, {})


def test_a_pole_at_an_end_of_the_domain_is_one() -> None:
    assert poles(1 / q, q) == (0,)
    assert poles(1 / z, z) == ()
    assert poles(1 / (q + 1), q) == ()
    assert poles(1 / (q - 1), q) == (1,)
    assert poles(1 / (r + 1), r) == (-1,)
    assert poles(q**r, q) is None
    assert poles(sp.sqrt(q), q) == ()
    assert poles(1 / sp.sqrt(q), q) is None


def test_a_solution_that_is_no_number_is_not_given() -> None:
    assert knob_for(sp.exp(-2 * z) + sp.exp(-z), z, TWO).value == 0
    by_letters = knob_for(sp.exp(-2 * z) + b * sp.exp(-z), z, a).value
    reached = (sp.exp(-2 * z) + 3 * sp.exp(-z)).subs(z, by_letters.subs({a: 1, b: 3}))
    assert sp.simplify(reached) == 1
    assert solutions(z**2, z, TWO) == (sp.sqrt(2),)
    assert set(solutions(r**2, r, TWO) or ()) == {sp.sqrt(2), -sp.sqrt(2)}


def test_a_point_of_inflection_is_no_minimum() -> None:
    for bound in ((z - 1) ** 3, -((z - 1) ** 3), (z - 1) ** 3 / z):
        with pytest.raises(DerivationError, match="minimise: "):
            minimise(bound, z)


def test_a_knob_with_several_solutions_or_none_in_closed_form_is_refused() -> None:
    with pytest.raises(DerivationError, match=r"has no closed solution; use bs\.solve|no limit of"):
        knob_for(1 / z + sp.exp(-z), z, 1)
    assert float(knob_for(1 / z + 1 / z**2, z, 1).value) == pytest.approx((1 + 5**0.5) / 2, rel=1e-12)


def test_symbols_are_exchanged_all_at_once() -> None:
    x = restated(given("x", dim=N, size=a + 2 * b, error=a, radius=a), {a: b, b: a, N: K, K: N})
    assert (x.size, x.radius, x.dim) == (b + 2 * a, b, K)
    exchanged = Obligation("it fits", sp.Le(a, 2 * b)).subs({a: b, b: a})
    assert exchanged.condition == sp.Le(b, 2 * a)


def test_a_start_that_is_accurate_enough_needs_no_step_wherever_it_lies() -> None:
    assert QuadraticRecursion(sp.Integer(3), TWO, sp.Integer(0)).steps_to(5) == 0  # outside the basin


def test_an_exact_start_needs_no_step_whatever_the_accuracy_is() -> None:
    assert QuadraticRecursion(sp.Integer(0), TWO, sp.Integer(0)).steps_to(r) == 0


def test_probabilities_may_be_off_by_rounding_and_no_more() -> None:
    assert given("w", dim=2, norm=Norm.ONE, size=1 - sp.Rational(1, 10**10), probabilities=True).probabilities
    assert given("w", dim=2, norm=Norm.ONE, size=1 - UNIT_ROUNDING, probabilities=True).probabilities
    for size in (sp.Rational(9, 10), 1 - sp.Rational(1, 10**8)):
        with pytest.raises(DerivationError, match="'w' holds weights that add up to 1"):
            given("w", dim=2, norm=Norm.ONE, size=size, probabilities=True)


def test_a_lower_bound_of_another_letter_is_put_aside_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    p, N = sp.Symbol("p", positive=True), sp.Symbol("N", positive=True, integer=True)
    asked: list[object] = []
    monkeypatch.setattr(obligations, "_spare", lambda spare, *, strict: asked.append(spare))
    assert not follows_from(sp.Ge(p**2, 7), sp.Ge(N, 1))
    assert not follows_from(sp.Gt(p**2, 7), sp.Gt(N, 1))
    assert not asked
    assert not follows_from(sp.Ge(p**2, 7), sp.Le(N, 9))  # a letter that is bounded above may leave something
    assert asked
