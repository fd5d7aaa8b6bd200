"""Printed and claimed bounds in letters that a prompt knows: judged at each prompt by its own letters."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.export.comparison import Comparison
from bridge.instances.letters import general_form, means_the_prompts
from bridge.questions.compare import compare
from bridge.questions.replaying import replay, replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.theorems.registry import registered_theorem
from symbolic.statements.catalogue import RUNNING

SMALL: dict[str, Any] = {"samples": 32, "attack": 10, "restarts": 2}

mu, rho, v = sp.symbols("mu rho v", positive=True)
d = sp.Symbol("d", integer=True, positive=True)


def neglected(**changes: Any) -> bs.Theorem:
    """All but the mass mu <= 2 of the first entry is kept: off by 3/2 mu v, and by 2 mu v at most."""
    arguments: dict[str, Any] = {
        "parameters": {v: 1.0, d: 3},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda x, v: 0 * x[:1],
        "reference": lambda x, v: 3 * v * x[:1].abs() / 2,
        "worst": {mu: 2},
        "knows": {mu: lambda x: x[0].abs()},
    }
    return bs.theorem(
        "neglected", bs.rules.given("x1", dim=1, size=2 * v, error=2 * mu * v), **{**arguments, **changes}
    )


def rows_with(comparison: Comparison, tier: str) -> dict[str | None, Row]:
    """The rows of that tier, by scope: one each."""
    rows = [row for row in comparison if tier in row.verdict]
    assert len({row.scope for row in rows}) == len(rows)
    return {row.scope: row for row in rows}


def claimed(claim: str, theorem: bs.Theorem | None = None, **settings: Any) -> dict[str | None, Row]:
    return rows_with(compare(theorem or neglected(), **{**SMALL, **settings}, claim=claim), "claimed")


def verdicts(rows: dict[str | None, Row], tier: str = "claimed") -> dict[str | None, str]:
    return {scope: str(row.verdict[tier]) for scope, row in rows.items()}


def test_a_claim_that_prompts_exceed_for_their_own_mass_is_violated_there(tmp_path: Path) -> None:
    rows = claimed("x1 <= mu*v")
    assert verdicts(rows) == {"network": "kept", "prompt": "violated"}
    assert rows["network"].claimed == 2
    row = rows["prompt"]
    assert row.claimed_ratio == pytest.approx(2 / 3)
    assert (row.derived, row.instance, row.printed) == (None, None, None)
    assert "claimed: at the value of mu here" in row.remark
    assert row.witness is not None
    assert row.witness.scope == "prompt"
    (mass,) = abs(torch.tensor(row.witness.inputs["x"])[:, 0]).tolist()
    assert row.witness.bounds["claimed"] == pytest.approx(mass)
    assert row.witness.error_lower == pytest.approx(1.5 * mass)
    path = tmp_path / "witness.json"
    path.write_text(row.witness.model_dump_json())
    again = replay(str(path), neglected())
    assert again.verdict["claimed"] is Verdict.VIOLATED
    assert again.claimed == row.witness.bounds["claimed"]


def test_a_claim_that_each_prompt_keeps_says_how_close_one_comes() -> None:
    rows = claimed("x1 <= 2*mu*v")
    assert verdicts(rows) == {"network": "kept", "prompt": "kept"}
    assert rows["prompt"].claimed_ratio == pytest.approx(4 / 3)
    assert rows["prompt"].witness is None


# 2 v/mu is 1 at mu = 2, which no prompt has: there it is at least 2, and the error at most 3/2.
def test_a_claim_that_fails_at_the_worst_case_alone_is_not_refuted() -> None:
    rows = claimed("x1 <= 2*v/mu", attack=40)
    assert verdicts(rows) == {"network": "undecided", "prompt": "kept"}
    assert "claimed: the error exceeds the bound at the worst case of its letters, and none" in rows["network"].remark
    assert rows["network"].witness is None
    assert verdicts(claimed("x1 <= v/mu", attack=40)) == {"network": "violated", "prompt": "violated"}


def test_a_search_is_drawn_to_the_prompt_that_exceeds_a_claim_most() -> None:
    rows = claimed("x1 <= 13*v/10 + mu/100", samples=2, attack=40)  # above 1.31 for the entry 1 alone
    assert verdicts(rows)["prompt"] == "violated"
    assert rows["prompt"].attacked == pytest.approx(1.5, rel=0.02)


def test_every_point_of_a_grid_is_judged() -> None:
    rows = [row for row in compare(neglected(), **SMALL, v=[1.0, 2.0], claim="x1 <= mu") if row.claimed is not None]
    found = {(row.params["v"], row.scope): str(row.verdict["claimed"]) for row in rows}
    assert found == {
        (1.0, "network"): "kept",
        (1.0, "prompt"): "violated",
        (2.0, "network"): "violated",
        (2.0, "prompt"): "violated",
    }


def test_other_rows_are_as_they_are_without_the_claim() -> None:
    plain = {row.scope: row for row in compare(neglected(), **SMALL)}
    for row in compare(neglected(), **SMALL, claim="x1 <= mu*v"):
        if row.instance is not None:
            assert (row.instance, row.ratio) == (plain[row.scope].instance, plain[row.scope].ratio)


def at_prompts_alone(theorem: bs.Theorem) -> bs.Theorem:
    """Without a bound for all prompts."""
    (quantity,) = theorem.statement.quantities
    return replace(theorem, statement=replace(theorem.statement, quantities=(replace(quantity, scopes=("prompt",)),)))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("x1 <= 2*mu*v", "kept"), ("x1 <= mu*v", "violated"), ("x1 <= 2*v", "kept"), ("x1 <= v", "violated")],
)
def test_a_claim_on_what_is_bounded_at_prompts_alone_is_judged_there(claim: str, verdict: str) -> None:
    theorem = at_prompts_alone(neglected())
    rows = claimed(claim, theorem, attack=20)
    assert verdicts(rows) == {"prompt": verdict}
    if verdict == "violated":
        assert rows["prompt"].witness is not None
        again = replay_witness(rows["prompt"].witness, theorem=theorem)
        assert again.verdict["claimed"] is Verdict.VIOLATED


B = sp.Symbol("B", positive=True)


def bounded(**changes: Any) -> bs.Theorem:
    """Entries of at most B, which a prompt knows better; off by B v/2 whatever they are."""
    arguments: dict[str, Any] = {
        "parameters": {B: 1.0, v: 1.0},
        "inputs": {"x": bs.domains.Box(1, size=B)},
        "network": lambda x, v: x + v * x.abs(),
        "reference": lambda x: x,
        "knows": {B: lambda x: x.abs().amax()},
    }
    return bs.theorem("bounded", bs.rules.given("x1", dim=1, size=2, error=B * v), **{**arguments, **changes})


def test_a_parameter_is_the_bound_of_the_hypotheses_and_never_that_of_a_prompt() -> None:
    assert verdicts(claimed("x1 <= B*v", bounded())) == {"network": "kept"}
    rows = rows_with(compare(bounded(printed={"x1": B * v}), **SMALL), "printed")
    assert verdicts(rows, "printed") == {"network": "kept"}


def scaled(**changes: Any) -> bs.Theorem:
    """W x without W, of which the network knows the norm rho <= 1, and a prompt what it makes of it."""
    arguments: dict[str, Any] = {
        "parameters": {v: 0.5, d: 2},
        "weights": {"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=sp.Rational(1, 2)))},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda W, x, v: (1 + v) * (W @ x),
        "reference": lambda W, x: W @ x,
        "worst": {rho: 1},
        "knows": {rho: lambda W: W.abs().sum(1).amax()},
    }
    return bs.theorem("scaled", bs.rules.given("out", dim=d, size=1, error=rho * v), **{**arguments, **changes})


def test_a_claim_in_a_letter_of_the_network_is_judged_at_that_network() -> None:
    assert verdicts(claimed("out <= rho*v", scaled(), attack=40)) == {"network": "kept", "prompt": "kept"}
    rows = claimed("out <= 9*rho*v/10", scaled(), attack=40)
    assert verdicts(rows) == {"network": "kept", "prompt": "violated"}
    assert rows["network"].claimed == pytest.approx(0.45)


def test_a_printed_bound_in_a_letter_of_prompts_alone_is_judged_at_each_prompt() -> None:
    theorem = neglected(printed={"x1": mu * v})
    rows = rows_with(compare(theorem, **SMALL), "printed")
    assert verdicts(rows, "printed") == {"network": "kept", "prompt": "violated"}
    assert rows["network"].printed == 2
    assert rows["prompt"].witness is not None


@pytest.mark.parametrize("ambiguous", [True, False])
def test_a_printed_letter_that_may_mean_the_network_is_read_as_the_larger_one(ambiguous: bool) -> None:
    of_network = (lambda v: 1 + 0 * torch.as_tensor(v),) if ambiguous else ()
    theorem = neglected(knows={mu: (*of_network, lambda x: x[0].abs())}, printed={"x1": mu * v})
    scopes = set(rows_with(compare(theorem, **SMALL), "printed"))
    assert scopes == ({"network"} if ambiguous else {"network", "prompt"})


def test_what_the_theorem_says_of_printed_letters_comes_first() -> None:
    theorem = neglected(printed={"x1": mu * v}).with_at_point(printed_letters=lambda quantity: {mu: 2})
    assert set(rows_with(compare(theorem, **SMALL), "printed")) == {"network"}


@pytest.mark.parametrize("id", RUNNING)
def test_no_printed_bound_of_a_paper_changes_its_meaning(id: str) -> None:
    """A paper's letters are parameters, or those of the network: what a prompt knows accuses no paper."""
    theorem = registered_theorem(id)
    for quantity in theorem.stated:
        if quantity.printed is not None:
            letters = general_form(quantity.printed).free_symbols
            assert not [s for s in letters if means_the_prompts(theorem, s, "printed")], quantity.name
