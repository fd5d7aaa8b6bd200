"""Derivations: steps are merged, cut, substituted and measured, and an open obligation stays in sight."""

import pytest
import sympy as sp

from symbolic.calculus import Derivation, DerivationError, Norm, Obligation, Step, add, given, linear_map
from symbolic.derivations.derivation import as_expr, require_norm
from symbolic.words.names import error_symbol

a, b = sp.symbols("a b", positive=True)


def chain() -> Derivation:
    """x (error a), y = 2 x, z = x + y: errors a, 2 a, 3 a."""
    x = given("x", dim=1, size=1, error=a)
    return add(x, linear_map(x, "y", operator_norm=2, dim=1), name="z").derivation


def step(name: str, local: sp.Expr = a, *obligations: Obligation) -> Step:
    return Step(name, Norm.INF, "rule", local, obligations=obligations)


def test_shared_steps_are_kept_once_and_in_order() -> None:
    assert [each.name for each in chain().steps] == ["x", "y", "z"]
    one, other = Derivation((step("x"),)), Derivation((step("y"),))
    assert [each.name for each in one.then(step("z"), other, one).steps] == ["x", "y", "z"]
    with pytest.raises(DerivationError, match="two different steps are both called 'x'; give one of them another name"):
        one.then(step("z"), Derivation((step("x", b),)))
    with pytest.raises(DerivationError, match="both called 'x'"):
        one.then(step("x", b))


def test_each_step_has_the_bound_of_its_premises_substituted() -> None:
    assert [chain().bound(name) for name in ("x", "y", "z")] == [a, 2 * a, 3 * a]
    assert chain().bound() == 3 * a
    assert chain().step("y").local == 2 * error_symbol("x")
    for ask in (chain().bound, chain().step, chain().upto):
        with pytest.raises(DerivationError, match="no step 'w' in this derivation; it has x, y, z"):
            ask("w")


def test_a_derivation_is_cut_after_a_step() -> None:
    assert [each.name for each in chain().upto("y").steps] == ["x", "y"]
    assert chain().upto("z") == chain()
    assert chain().upto("y").bound() == 2 * a


def test_slack_is_the_local_bound_at_measured_premises_over_the_measured_error() -> None:
    slacks = chain().slacks({"x": 0.5, "y": 0.25, "z": 0.5}, {a: 1})
    assert slacks == pytest.approx({"x": 2.0, "y": 4.0, "z": 1.5})


def test_a_premise_that_is_not_measured_counts_with_its_bound() -> None:
    assert chain().slacks({"z": 0.5}, {a: 1}) == pytest.approx({"z": 6.0})
    assert chain().slacks({"x": 0.25, "z": 0.5}, {a: 1}) == pytest.approx({"x": 4.0, "z": 1.5})


def test_an_error_of_zero_has_no_slack_and_is_a_premise_all_the_same() -> None:
    assert chain().slacks({"y": 0.0, "z": 0.5}, {a: 1}) == pytest.approx({"z": 2.0})


def test_an_obligation_is_open_until_it_is_true_or_discharged() -> None:
    unknown, true = sp.Le(a, b), sp.Le(1, 2)
    assert Obligation("o", unknown).open
    assert not Obligation("o", true).open
    assert not Obligation("o", unknown, "a proof").open
    assert not Obligation("o", true, "a proof").open
    assert Obligation("o", unknown).discharged_by == ""


def test_a_derivation_is_conditional_while_one_obligation_is_open() -> None:
    unknown, settled = Obligation("o", sp.Le(a, b)), Obligation("o", sp.Le(a, b), "a proof")
    assert Derivation((step("x", a, settled, unknown), step("y", a, settled))).conditional
    assert not Derivation((step("x", a, settled), step("y", a, settled))).conditional
    assert not Derivation((step("x"),)).conditional
    assert Derivation((step("x", a, settled, unknown), step("y", a, settled))).obligations == (
        settled,
        unknown,
        settled,
    )


def test_a_false_obligation_makes_no_step() -> None:
    with pytest.raises(DerivationError, match=r"rule: 'x' does not follow; hypothesis violated: o"):
        step("x", a, Obligation("true", sp.Le(1, 2)), Obligation("o", sp.Le(2, 1)))


def test_the_error_of_a_step_is_not_negative() -> None:
    assert error_symbol("x").is_nonnegative
    assert error_symbol("x").is_positive is None  # it may be 0
    assert error_symbol("x") == step("x").error == given("x", dim=1, size=1).error_symbol
    assert error_symbol("x") != error_symbol("y")


def test_a_norm_is_one_of_those_that_a_rule_is_proved_in() -> None:
    x = given("x", dim=1, norm=Norm.TWO, size=1)
    require_norm("rule", x, Norm.TWO)
    require_norm("rule", x, Norm.ONE, Norm.TWO)
    with pytest.raises(DerivationError, match=r"rule: 'x' is bounded in the 2-norm, .* proved in the 1 or inf-norm"):
        require_norm("rule", x, Norm.ONE, Norm.INF)


def test_a_value_is_a_sympy_expression_or_a_number_and_no_text() -> None:
    assert as_expr(2) == 2
    assert as_expr(a + 1) is a + 1
    assert as_expr(0.5) == sp.Float(0.5)
    with pytest.raises(DerivationError, match="got the string 'a'; build it from symbols"):
        as_expr("a")
    for value in (["a"], {a: "1"}, {"a"}, ("a",)):  # SymPy runs a text inside of these as code
        with pytest.raises(
            DerivationError, match=r"expected a SymPy expression or a number, got .*build it from symbols"
        ):
            as_expr(value)


def test_a_value_has_a_name() -> None:
    with pytest.raises(DerivationError, match="given: a value is named ''; give it a name, such as 'output'"):
        given("", dim=1, size=1)
