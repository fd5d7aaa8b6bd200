"""A letter whose formula holds under a condition, and the condition, are decided at the same numbers."""

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.instances.letters import number_where_it_holds
from bridge.judging.errors import Errors
from bridge.judging.judged import tables_at
from bridge.judging.usable import ContradictionError
from bridge.limits.run import ONE_INPUT, Run
from bridge.questions.replaying import replay_witness
from bridge.questions.solving.probes import State, probe
from bridge.theorems.record import Verdict
from bridge.theorems.registry import registered_theorem
from symbolic.derivations.derivation import Approximated, Derivation
from symbolic.derivations.obligations import Obligation
from tests.bridge.theorems.theorem.theorems import compared, eps, row_of

a, S = sp.symbols("a S", positive=True)
SOLVED = 1 / (1 - a)  # S >= 1 + a S, for a < 1
AT_WORST = sp.S.One / (1 - 2)


def owing(value: Approximated) -> Approximated:
    """The value, if a < 1."""
    *steps, last = value.derivation.steps
    owed = Obligation("a step contracts", sp.Lt(a, 1))
    return replace(value, derivation=Derivation((*steps, replace(last, obligations=(owed,)))))


def contracting(solved: sp.Expr = SOLVED, **changes: Any) -> bs.Theorem:
    """Off by eps (1 + 2 a), at most eps (1/(1 - a) + a), for a = 2 |x| < 1; for a >= 1 nothing is known."""
    arguments: dict[str, Any] = {
        "parameters": {eps: 0.5},
        "inputs": {"x": bs.domains.Box(1)},
        "network": lambda x, eps: x + eps * (1 + 4 * x.abs()),
        "reference": lambda x: x,
        "worst": {a: 2, S: solved},
        "knows": {a: lambda x: 2 * x.abs().amax()},
    }
    return bs.theorem(
        "contracting", owing(bs.rules.given("out", dim=1, size=1, error=eps * (S + a))), **{**arguments, **changes}
    )


def instance_of(theorem: bs.Theorem, **params: Any) -> Instance:
    return Instance.of(theorem, {"eps": 0.5, **params})


def at(x: float) -> dict[str, torch.Tensor]:
    return {"x": torch.tensor([[x]], dtype=torch.float64, device="cpu")}


@pytest.mark.parametrize(("x", "bound"), [(0.0, 0.5), (0.25, 1.25), (0.375, 2.375)])
def test_a_prompt_that_meets_the_condition_has_the_bound_of_its_own_letters(x: float, bound: float) -> None:
    instance = instance_of(contracting())
    found = instance.bounds.instance(instance.quantity("out"), "prompt", at(x))
    assert found is not None
    assert (found.number(), found.outside, found.conditional) == (pytest.approx(bound), "", False)


def test_a_prompt_beyond_the_condition_has_no_bound_at_all() -> None:
    instance = instance_of(contracting())
    quantity = instance.quantity("out")
    batch = {"x": torch.tensor([[0.25], [0.75], [-1.0]], dtype=torch.float64, device="cpu")}
    bounds = instance.on_tensors.at([quantity], batch, "prompt")["out"]
    assert bounds.tolist() == [1.25, torch.inf, torch.inf]
    found = instance.bounds.instance(quantity, "prompt", at(0.75))
    assert found is not None
    assert found.outside == "hypothesis violated: a step contracts"


def test_rows_show_a_bound_where_there_is_one_and_no_number_elsewhere() -> None:
    comparison = compared(contracting(), attack=60)
    network, prompt = row_of(comparison, "out"), row_of(comparison, "out", "prompt")
    assert network.verdict == {"derived": "outside", "instance": "outside"}
    assert (network.derived, network.instance, network.ratio, network.slack) == (None, None, None, {})
    assert prompt.verdict == {"instance": "kept"}
    assert prompt.instance is not None
    assert prompt.exact is not None
    assert prompt.instance >= prompt.exact
    assert prompt.ratio == pytest.approx(1, rel=0.02)  # attained at 0, where the attack has to go


def test_a_batch_of_instances_is_drawn_to_prompts_that_meet_the_condition() -> None:
    rows = [row for row in compared(contracting(), attack=60, eps=[0.25, 0.5, 1.0]) if row.scope == "prompt"]
    assert [row.verdict for row in rows] == [{"instance": "kept"}] * 3
    assert all(row.ratio == pytest.approx(1, rel=0.02) for row in rows)


# Typed at a = 2 the formula holds if 2 < 1, whatever the a of a prompt.
def test_a_formula_at_the_worst_case_takes_the_condition_at_the_worst_case() -> None:
    instance = instance_of(contracting(AT_WORST))
    found = instance.bounds.instance(instance.quantity("out"), "prompt", at(0.25))
    assert found is not None
    assert found.outside == "hypothesis violated: a step contracts"
    rows = compared(contracting(AT_WORST)).rows
    assert all(set(row.verdict.values()) == {Verdict.OUTSIDE} and row.instance is None for row in rows)


# Bounds that nothing excuses.


def planted(size: Any, **changes: Any) -> bs.Theorem:
    """An error of at most S, which is `size` at worst."""
    arguments = {
        "parameters": {eps: 0.5},
        "inputs": {"x": bs.domains.Box(1)},
        "network": lambda x: x,
        "reference": lambda x: x,
        "worst": {S: size},
    }
    return bs.theorem("planted", bs.rules.given("out", dim=1, size=1, error=S), **{**arguments, **changes})


NEGATIVE = planted(eps - sp.Rational(3, 4))


def test_a_negative_bound_of_the_users_own_is_undecided_and_has_no_number() -> None:
    (row,) = compared(NEGATIVE).rows
    assert row.verdict == {"derived": "undecided", "instance": "undecided"}
    assert (row.derived, row.instance, row.ratio, row.witness) == (None, None, None, None)
    for tier in ("derived", "instance"):
        assert (
            f"{tier} for all prompts: no upper bound, as S is -0.25, although every premise that its derivation"
            in row.remark
        )
    assert "states holds; S = -0.25" in row.remark


def test_a_negative_bound_of_a_result_of_ours_is_a_bug_of_ours() -> None:
    errors = Errors(instance_of(replace(NEGATIVE, statement=replace(NEGATIVE.statement, id="looped.decoder"))))
    message = (
        r"looped\.decoder: 'out', derived for all prompts: no upper bound, as S is -0\.25, although .*; S = -0\.25"
    )
    with pytest.raises(ContradictionError, match=message):
        list(errors.rows(Run(samples=2, attack=0, restarts=1, seed=0)))
    with pytest.raises(ContradictionError, match=message):
        errors.at(errors.instance.quantity("out"), at(0.5), "network")


def test_a_negative_bound_at_a_prompt_names_its_letter() -> None:
    theorem = planted(1, knows={S: lambda x: x[0]}, network=lambda x, eps: x + eps)
    row = row_of(compared(theorem), "out", "prompt")
    assert row.verdict == {"instance": "undecided"}
    assert row.instance is None
    assert "instance at one prompt: no upper bound, as S is -" in row.remark


@pytest.mark.parametrize("size", [sp.log(eps - 1), sp.sqrt(eps - 1), 1 / (2 * eps - 1)])
def test_a_bound_that_is_no_number_is_undecided(size: sp.Expr) -> None:
    (row,) = compared(planted(size)).rows
    assert row.verdict == {"derived": "undecided", "instance": "undecided"}
    assert "derived: its formula is not defined here; instance: its formula is not defined here" in row.remark


def test_what_somebody_states_is_refuted_by_its_own_number() -> None:
    (row,) = compared(planted(eps, printed={"out": eps - 1}), claim="out <= eps - 2").rows
    assert (row.printed, row.claimed) == (-0.5, -1.5)
    assert row.verdict == {"printed": "violated", "claimed": "violated", "derived": "kept", "instance": "kept"}
    assert row.witness is not None
    (row,) = compared(planted(eps), claim="out <= log(eps - 1)").rows
    assert (row.claimed, row.verdict["claimed"]) == (None, "undecided")
    assert "claimed: its formula is not defined here" in row.remark


@pytest.mark.parametrize("kind", [bs.statements.Kind.EXACT, bs.statements.Kind.LOWER, bs.statements.Kind.UPPER])
def test_a_value_with_a_sign_may_be_negative(kind: bs.statements.Kind) -> None:
    value = bs.statements.Quantity(
        "descent", "v", "change of a loss", "absolute value", "", kind, bs.statements.Quantifier.FOR_ALL, scopes=()
    )
    check = bs.Check(value, sides=lambda: bs.Sides(found=-3, derived=-3))
    (row,) = bs.compare(bs.theorem("signed", parameters={eps: 0.5}, checks=[check])).rows
    assert (row.derived, row.verdict) == (-3, {"derived": "kept"})


def test_a_negative_norm_that_a_check_gives_has_no_number() -> None:
    norm = bs.statements.Quantity(
        "norm", "n", "a norm", "1-norm", "", bs.statements.Kind.UPPER, bs.statements.Quantifier.FOR_ALL, scopes=()
    )
    check = bs.Check(norm, sides=lambda: bs.Sides(found=3, derived=-3, proved=("derived",)))
    (row,) = bs.compare(bs.theorem("norms", parameters={eps: 0.5}, checks=[check])).rows
    assert (row.derived, row.verdict) == (None, {"derived": "undecided"})


def test_a_bound_in_a_letter_of_the_wrong_sign_meets_no_accuracy() -> None:
    value = bs.rules.given("out", dim=1, size=1, error=eps * (S + 2))
    for size, state in ((eps - 1, State.FORBIDDEN), (eps, State.ADMISSIBLE)):
        theorem = planted(size)
        (quantity,) = bs.theorem("two", value, parameters={eps: 0.5}, worst={S: size}).statement.quantities
        theorem = replace(theorem, statement=replace(theorem.statement, quantities=(quantity,)))
        found = probe(theorem, "out", "derived", {"eps": 0.5})
        assert found.state is state
    assert found.number == 1.25


# The result where it was found, and its siblings.

CORNERS = [
    {"T": 1, "low": 0.0001, "c": 0.5, "C": 18.0},
    {"T": 4, "N": 2, "d": 2, "leak": 1.0, "c": 0.5, "C": 18.0},
    {"T": 1, "leak": 1.0, "low": 0.0001, "c": 0.25, "C": 9.0},
]


@pytest.mark.parametrize("corner", CORNERS)
def test_no_bound_on_the_next_state_is_below_its_error(corner: dict[str, Any]) -> None:
    comparison = bs.compare("looped.chain_of_thought", **corner, samples=16, attack=10, restarts=2)
    for row in (row for row in comparison if row.quantity == "next"):
        assert row.instance is None or row.instance >= row.exact
        assert row.derived is None or row.derived >= row.exact
        assert Verdict.VIOLATED not in row.verdict.values()


def test_a_table_has_no_bound_where_a_condition_fails() -> None:
    (quantity,) = contracting().statement.quantities
    assert number_where_it_holds(quantity, {eps: 0.5}, {a: 0.5}) == pytest.approx(1.25)
    assert number_where_it_holds(quantity, {eps: 0.5}, {a: 1.5}) is None
    assert number_where_it_holds(quantity, {eps: 0.5}) is None


def test_the_table_of_loops_stops_where_they_add_too_much() -> None:
    instance = Instance.of(registered_theorem("looped.gradient_descent"), {"T": 4, "c": 8.0, "C": 4.0})
    (table,) = tables_at(instance, ONE_INPUT)
    numbers = [each for row in table.rows for each in row[1:]]
    assert all(each is None or float(each) >= 0 for each in numbers)
    assert None in numbers


def test_a_witness_beside_the_claim_replays_at_its_own_letters() -> None:
    comparison = compared(contracting(), claim="out <= 3*a*eps")
    claimed = [row for row in comparison if row.claimed is not None]
    assert [(row.scope, str(row.verdict["claimed"])) for row in claimed] == [
        ("network", "kept"),
        ("prompt", "violated"),
    ]
    assert claimed[1].witness is not None
    again = replay_witness(claimed[1].witness, theorem=contracting())
    assert again.verdict["claimed"] is Verdict.VIOLATED
