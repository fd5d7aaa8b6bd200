"""Rule 13 against simulation and exact tails: random compositions of means, unions, covers, sums and budgets."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.stats import binom

import benchmarks.chances
from symbolic import calculus
from symbolic.calculus import (
    Approximated,
    DerivationError,
    Event,
    add,
    apply_function,
    best_shares,
    bilinear,
    concatenate,
    cover,
    expected_mean,
    given,
    linear_map,
    recursion_from,
    repeat,
    sample_mean,
    union_bound,
    within_budget,
)
from symbolic.calculus.layers import stack
from symbolic.derivations.events import total_failure
from tests.symbolic.calculus.chances import FAULTS, Composition, faulty, rejected

DRAWS = 2000

B, delta, eps, L = sp.symbols("B delta eps L", positive=True)
n, m, N = sp.symbols("n m N", integer=True, positive=True)
ONE = given("one", dim=1, size=B)


def mean(name: str = "mean", event: str = "E", over: str = "draws", **more) -> Approximated:
    return sample_mean(given(f"one {name}", dim=1, size=1), name, count=n, event=Event(event, over), **more)


# --- near equality: Rademacher means, whose tail is known exactly ----------------------------------------------------


def tail(count: int, radius: float) -> Fraction:
    """P(|mean of `count` signs| >= radius)."""
    ways = sum(math.comb(count, heads) for heads in range(count + 1) if abs(2 * heads - count) >= count * radius)
    return Fraction(ways, 2**count)


def hoeffding(count: int, share: float) -> float:
    x = given("sign", dim=1, size=1)
    return float(sample_mean(x, "mean", count=count, event=Event("E", "signs", share)).error)


@pytest.mark.parametrize("count", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.3, 0.9])
def test_the_mean_of_signs_fails_no_more_often_than_its_share(count: int, share: float) -> None:
    assert tail(count, hoeffding(count, share) * (1 + 1e-12)) <= share


def test_the_exponent_of_hoeffding_is_attained_by_signs() -> None:
    """log P / (-n t^2/2) tends to 1: half the exponent's constant would be found out."""
    count, share = 4000, 1e-100
    found = float(tail(count, hoeffding(count, share)))
    assert 1 < math.log(found) / math.log(share) < 1.05
    assert tail(count, hoeffding(count, share) / math.sqrt(1.06)) > share


def test_two_signs_attain_two_thirds_of_the_share() -> None:
    """They are equal half of the time; from the share 2/e on, their mean 1 is beyond the bound."""
    assert hoeffding(2, 2 / math.e) == pytest.approx(1)
    assert 0.67 * (2 / math.e) < tail(2, 1) < 0.69 * (2 / math.e)


def test_the_largest_of_independent_means_attains_the_union_bound() -> None:
    share, members = Fraction(1, 100), 50
    some = 1 - (1 - share / members) ** members
    assert 0.99 * share < some <= share


# --- random compositions ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_random_compositions_fail_no_more_often_than_their_budget(seed: int) -> None:
    draw = np.random.default_rng(seed)
    broken = [each for each in (Composition.of(draw) for _ in range(60)) if rejected(each, draw, DRAWS)]
    assert not broken


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_each_inequality_is_found(fault: str) -> None:
    draw, rules = np.random.default_rng(1), faulty(fault)
    compositions = (Composition.of(draw, rules) for _ in range(200))
    assert any(rejected(each, draw, DRAWS) for each in compositions)


def test_a_budget_that_is_halved_on_purpose_is_found_out_where_the_bound_is_sharp() -> None:
    """Two signs are equal half of the time; the bound of share 0.74 is then exceeded, and so stated 0.37 is refuted."""
    means = np.abs(np.random.default_rng(0).choice([-1, 1], (2000, 2)).mean(1))
    failures = int((means > hoeffding(2, 0.74)).sum())
    assert binom.sf(failures - 1, 2000, 0.74) > 1e-6
    assert binom.sf(failures - 1, 2000, 0.37) < 1e-6


def test_expected_errors_are_below_their_bounds_and_near_them_for_many_members() -> None:
    draw = np.random.default_rng(2)
    for members, nearest in ((1, 0.79), (2, 0.79), (1000, 0.85)):
        bound = float(expected_mean(given("z", dim=1, size=1), "m", count=100, over="signs", members=members).error)
        means = draw.binomial(100, 0.5, size=(2000, members)) / 50 - 1
        found = np.abs(means).max(1)
        assert found.mean() < bound
        assert found.mean() > (nearest - 0.05) * bound


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_shares_are_equal_by_default_and_add_up_to_the_budget() -> None:
    both = add(cover(mean(), "class", members=m, radius=eps, lipschitz=L), mean("other", "F"), name="both")
    value = within_budget(both, "error", delta=delta)
    assert {event.name: event.fails for event in value.events} == {"E": delta / 2, "F": delta / 2}
    assert {event.name: event.share for event in value.events} == {"E": delta / (2 * m), "F": delta / 2}
    assert total_failure(value.events) == delta
    far = sp.sqrt(2 * sp.log(4 * m / delta) / n) + sp.sqrt(2 * sp.log(4 / delta) / n) + 2 * L * eps
    assert sp.simplify(value.error - far) == 0


def test_an_event_that_two_premises_share_is_counted_once() -> None:
    one = mean()
    both = add(linear_map(one, "a", operator_norm=2, dim=1), linear_map(one, "b", operator_norm=3, dim=1), name="c")
    assert [event.count for event in both.events] == [1]
    beside = add(union_bound(one, "all", members=m), linear_map(one, "b", operator_norm=3, dim=1), name="c")
    assert total_failure(beside.events).expand() == ((m + 1) * one.events[0].share).expand()
    assert total_failure(within_budget(beside, "error", delta=delta).events).simplify() == delta


def test_given_shares_are_kept_and_the_rest_is_shared() -> None:
    fixed = sample_mean(ONE, "fixed", count=n, event=Event("fixed", "draws", delta / 4))
    value = within_budget(add(fixed, mean(), name="both"), "error", delta=delta)
    assert {event.name: event.share for event in value.events} == {"fixed": delta / 4, "E": 3 * delta / 4}
    weighted = add(mean(), mean("other", "F"), name="both")
    value = within_budget(weighted, "error", delta=delta, weights={"E": sp.Rational(1, 3), "F": 0.5})
    assert {event.name: event.share for event in value.events} == {"E": delta / 3, "F": delta / 2}


def test_equal_parts_have_equal_best_shares() -> None:
    both = add(mean(), mean("other", "F"), name="both")
    assert best_shares(both, delta=0.1, at={n: 9}) == pytest.approx({"E": 0.5, "F": 0.5}, abs=1e-8)


def test_events_of_a_layer_count_once_for_each_layer() -> None:
    def layer(x: Approximated) -> Approximated:
        return add(x, mean("noise", over="the draw of W"), name="next")

    value = within_budget(repeat(given("x", dim=1, size=1), "deep", layer, N), "error", delta=delta)
    (event,) = value.events
    assert (event.count, event.share) == (N, delta / N)
    assert event.where == "the draw of W, anew in each of N layers"
    assert value.error == N * sp.sqrt(2) * sp.sqrt(sp.log(2 * N / delta)) / sp.sqrt(n)


def test_the_budget_is_printed_with_the_bound() -> None:
    value = within_budget(mean(over="the draw of Lambda"), "error", delta=delta)
    shown = value.derivation.latex()
    assert r"\text{with probability at least } 1 - \delta && \text{over the draw of Lambda}" in shown
    assert r"\text{in expectation} && \text{over the sample}" in expected().derivation.latex()


# --- in expectation --------------------------------------------------------------------------------------------------


def expected(name: str = "e") -> Approximated:
    return expected_mean(given(f"one {name}", dim=1, size=1), name, count=n, over="the sample")


def test_linear_rules_keep_an_expectation() -> None:
    value = linear_map(add(expected(), expected("f"), name="sum"), "y", operator_norm=3, dim=1)
    assert (value.error, value.mean_over) == (6 / sp.sqrt(n), ("the sample",))
    assert bilinear(expected(), given("v", dim=1, size=2), "xy", dim=1).mean_over == ("the sample",)
    assert apply_function(expected(), "f", eps=0, lipschitz=2, size=1).error == 2 / sp.sqrt(n)
    assert cover(expected(), "c", members=1, radius=eps, lipschitz=L).error == 1 / sp.sqrt(n) + 2 * L * eps


BEYOND_LINEAR: dict[str, Callable[[], Approximated]] = {
    "product": lambda: bilinear(expected(), expected("f"), "xy", dim=1),
    "apply a function": lambda: apply_function(expected(), "f", eps=0, lipschitz=1, size=1, radius=9),
    "union bound": lambda: union_bound(expected(), "all", members=2),
    "concatenation": lambda: concatenate(expected(), expected("f"), name="both"),
}


@pytest.mark.parametrize("rule", BEYOND_LINEAR)
def test_other_rules_refuse_an_expectation(rule: str) -> None:
    with pytest.raises(DerivationError, match=f"{rule}: .* bounded in expectation only; start from a bound that holds"):
        BEYOND_LINEAR[rule]()


# --- bad input -------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a share of 0": (lambda: Event("E", "draws", 0), "the probability 0 of failure; give a share above 0, at most 1"),
    "a share above 1": (lambda: Event("E", "draws", 2), "the probability 2 of failure; give a share above 0"),
    "no randomness": (lambda: Event("E", ""), "'E' names no randomness; say what is drawn"),
    "no randomness of a mean": (lambda: expected_mean(ONE, "y", count=n, over=""), "'y' names no randomness"),
    "a budget of 0": (lambda: within_budget(mean(), "y", delta=0), "the budget of 'y' is 0; give a probability"),
    "a budget above 1": (lambda: within_budget(mean(), "y", delta=1.5), "the budget of 'y' is 1.5.*; give a probab"),
    "no free share": (lambda: within_budget(ONE, "y", delta=delta), "'one' has no event with a free share"),
    "a share of a free share": (
        lambda: within_budget(
            add(
                sample_mean(ONE, "f", count=n, event=Event("F", "draws", mean().events[0].share / 2)), mean(), name="s"
            ),
            "y",
            delta=delta,
        ),
        "the share of F is given in terms of a free one",
    ),
    "a spent budget": (
        lambda: within_budget(
            add(sample_mean(ONE, "f", count=n, event=Event("F", "draws", 0.5)), mean(), name="s"), "y", delta=0.25
        ),
        "nothing of the budget 0.25.* of 'y' is left for E: the given shares are 0.5",
    ),
    "weights of others": (
        lambda: within_budget(mean(), "y", delta=delta, weights={"F": 1}),
        "give a positive one to each of E, in all at most 1",
    ),
    "weights above 1": (lambda: within_budget(mean(), "y", delta=delta, weights={"E": 2}), "in all at most 1"),
    "letters without numbers": (lambda: best_shares(mean(), delta=0.1, at={}), "'mean' has n; give each letter"),
    "sigma < 0": (lambda: mean(sub_gaussian=-1), "have sigma = -1, so they are not sub-Gaussian; give a finite sigma"),
    "no sub-Gaussian noise": (lambda: mean(sub_gaussian=sp.oo), "have sigma = oo, so they are not sub-Gaussian"),
    "no draws": (
        lambda: sample_mean(ONE, "y", count=0, event=Event("E", "draws")),
        "the count of 'y' is 0; give a whole number, at least 1",
    ),
    "another norm": (
        lambda: sample_mean(given("v", dim=2, norm=2, size=1), "y", count=n, event=Event("E", "draws")),
        "proved in the inf-norm; apply change_norm first",
    ),
    "members in the 2-norm": (
        lambda: expected_mean(given("v", dim=2, norm=2, size=1), "y", count=n, over="draws", members=2),
        "several members are bounded in the sup norm",
    ),
    "noise in the 2-norm": (
        lambda: expected_mean(given("v", dim=2, norm=2, size=1), "y", count=n, over="draws", sub_gaussian=1),
        "sub_gaussian is about one coordinate, and 'v' is bounded in the 2-norm; give deviation",
    ),
    "draws that depend on the draws": (
        lambda: sample_mean(mean(), "y", count=n, event=Event("F", "draws")),
        "'mean' already rests on E, over draws; draws that depend on each other have no such mean",
    ),
    "no members": (lambda: union_bound(mean(), "y", members=0), "'y' has 0 members; give at least 1"),
    "a cover finer than the format": (
        lambda: cover(mean(), "y", members=m, radius=1e-17, lipschitz=1),
        "finer than float64 tells two numbers apart; give a radius of at least 2",
    ),
    "a cover in expectation": (
        lambda: cover(expected(), "y", members=2, radius=eps, lipschitz=1),
        "'e' is bounded in expectation, of which there is no union; give the members to expected_mean",
    ),
    "one event of two steps": (
        lambda: add(mean(), mean("other"), name="both"),
        "are two steps with an event called 'E'; give each an event of its own",
    ),
    "both senses": (lambda: add(mean(), expected(), name="both"), "derive both in one sense"),
    "a layer in expectation": (
        lambda: repeat(ONE, "deep", lambda x: add(x, expected(), name="y"), N),
        "use sample_mean",
    ),
    "a family of random members": (
        lambda: stack(
            given("first", dim=1, norm=2, size=1),
            linear_map(mean(), "member", operator_norm=1, dim=1, target=2),
            sp.Symbol("j", integer=True, positive=True),
            given("last", dim=1, norm=2, size=1),
            count=3,
            name="all",
        ),
        "'member' rests on random draws, one for each member",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_bad_input_is_refused_with_a_reason(which: str) -> None:
    make, message = REFUSED[which]
    with pytest.raises(DerivationError, match=message):
        make()


def test_shares_that_differ_by_layer_are_refused() -> None:
    index, error = sp.Symbol("l", integer=True, nonnegative=True), sp.Dummy("e", nonnegative=True)
    before = given("before", dim=1, size=1, error=error)
    noise = sample_mean(ONE, "noise", count=n, event=Event("E", "draws", 2 ** -(index + 1)))
    with pytest.raises(DerivationError, match="the events E of 'next' have other shares in each layer"):
        recursion_from(before, add(before, noise, name="next"), index=index)


def test_what_is_left_open_becomes_an_obligation() -> None:
    value = within_budget(cover(mean(), "class", members=B, radius=eps, lipschitz=1), "y", delta=delta)
    owed = [obligation.condition for obligation in value.derivation.obligations if obligation.open]
    assert owed == [sp.Le(1, B), sp.Le(sp.Rational(1, 2**52), eps), sp.Le(delta, 1)]


def test_a_sigma_of_unknown_sign_is_an_obligation() -> None:
    sigma = sp.Symbol("sigma", real=True)
    owed = [o.condition for o in mean(sub_gaussian=sigma).derivation.obligations if o.open]
    assert sp.Ge(sigma, 0) in owed
    wide = expected_mean(ONE, "y", count=n, over="draws", deviation=sigma)
    assert [o.condition for o in wide.derivation.obligations if o.open] == [sp.Ge(sigma, 0)]


def test_every_rule_of_chance_is_exported() -> None:
    named = {"Event", "best_shares", "cover", "expected_mean", "sample_mean", "union_bound", "within_budget"}
    assert named <= set(calculus.__all__)


def test_the_long_run_exits_with_1_for_a_rejection_and_with_0_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["chances", "--compositions", "5"])
    assert benchmarks.chances.main() == 0
    assert "5 compositions of 5000 draws: 0 rejected" in capsys.readouterr().out
    monkeypatch.setattr(benchmarks.chances, "rejected", lambda *arguments: True)
    assert benchmarks.chances.main() == 1
    monkeypatch.setattr("sys.argv", ["chances", "--compositions", "0"])
    with pytest.raises(SystemExit, match="2"):
        benchmarks.chances.main()
