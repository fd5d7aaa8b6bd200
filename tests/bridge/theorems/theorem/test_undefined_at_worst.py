"""A worst case at which a formula is no real number: its condition fails there, and no row has a number of it."""

import pytest
import sympy as sp

import boundsmith as bs
from bridge.lowering.conditions import bound_to, truth
from tests.bridge.theorems.theorem.test_conditions_of_letters import S, a, contracting, owing
from tests.bridge.theorems.theorem.theorems import compared, eps, row_of

b = sp.Symbol("b", positive=True)
UNDEFINED = [
    pytest.param(1, 1 / (1 - a), id="a pole"),
    pytest.param(2, 1 / sp.sqrt(1 - a), id="no real root"),
    pytest.param(1, 2 - sp.log(1 - a), id="log(0)"),
    pytest.param(2, 2 - sp.log(1 - a), id="log(-1)"),
]


def solved(worst: int, formula: sp.Expr, **changes: object) -> bs.Theorem:
    """Off by at most eps (S + a), a = |x|/2; at the worst case of a, S has no value."""
    known = {a: lambda x: x.abs().amax() / 2}
    return contracting(
        network=lambda x, eps: x + eps * (1 + x.abs() / 2), worst={a: worst, S: formula}, **{"knows": known, **changes}
    )


@pytest.mark.parametrize(("worst", "formula"), UNDEFINED)
def test_all_prompts_are_outside_and_one_prompt_has_its_bound(worst: int, formula: sp.Expr) -> None:
    comparison = compared(solved(worst, formula))
    network, prompt = row_of(comparison, "out"), row_of(comparison, "out", "prompt")
    assert (network.derived, network.instance) == (None, None)
    assert network.verdict == {"derived": "outside", "instance": "outside"}
    assert prompt.verdict == {"instance": "kept"}


@pytest.mark.parametrize(("worst", "formula"), UNDEFINED)
def test_nothing_known_at_hand_leaves_the_row_outside(worst: int, formula: sp.Expr) -> None:
    (row,) = compared(solved(worst, formula, knows={})).rows
    assert row.verdict == {"derived": "outside", "instance": "outside"}


@pytest.mark.parametrize(("worst", "formula"), UNDEFINED)
@pytest.mark.parametrize("claim", ["out <= S", "out <= eps*(S + a)"])
def test_what_is_stated_in_such_a_letter_is_undecided(worst: int, formula: sp.Expr, claim: str) -> None:
    row = row_of(compared(solved(worst, formula, printed={"out": eps * S}), claim=claim), "out")
    assert {row.verdict["printed"], row.verdict["claimed"]} == {"undecided"}
    assert (row.printed, row.claimed) == (None, None)


@pytest.mark.parametrize("root", [1, sp.Rational(1, 2)])
def test_a_prompt_that_knows_another_letter_has_no_number_either(root: sp.Expr) -> None:
    theorem = bs.theorem(
        "two-letters",
        owing(bs.rules.given("out", dim=1, size=1, error=eps * (S + a + b))),
        parameters={eps: 0.5},
        inputs={"x": bs.domains.Box(1)},
        network=lambda x, eps: x + eps * x,
        reference=lambda x: x,
        worst={a: sp.Rational(1, 2), b: 1 if root == 1 else 2, S: (1 - b) ** -root},
        knows={a: lambda x: x.abs().amax() / 2},
    )
    comparison = compared(theorem)
    assert {str(v) for row in comparison for v in row.verdict.values()} == {"undecided"}
    assert all(row.instance is None and row.derived is None for row in comparison)


def test_a_condition_on_what_is_no_number_is_not_decided() -> None:
    for value in (sp.zoo, sp.I, sp.nan):
        assert truth(bound_to(sp.Lt(a, 1), frozenset({(a, value)})), {}) is None
