"""A theorem as a value in every place that takes one: solve, certify, show, LaTeX, files, notebooks, records, seeds."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.limits.run import Run
from bridge.theorems.record import Flag, Verdict
from tests.bridge.theorems.theorem.theorems import BUDGET, compared, d, eps, product, row_of, scaled

R = sp.Symbol("R", positive=True)


def drawn(theorem: bs.Theorem, seed: int) -> dict[str, torch.Tensor]:
    return dict(Instance.of(theorem, {}, Run(seed=seed)).known.weights)


def test_one_seed_gives_one_record_and_another_gives_another() -> None:
    first, again, other = (compared(product(), seed=seed) for seed in (3, 3, 4))
    assert first.records() == again.records()
    assert first.environment == again.environment
    assert [row["measured"] for row in first.records()] != [row["measured"] for row in other.records()]


def test_a_weight_does_not_move_with_the_others() -> None:
    alone = product(weights={"W": product().weights["W"]}, network=lambda W, x: W @ x, reference=lambda W, x: W @ x)
    both, one = drawn(product(), 5), drawn(alone, 5)
    assert torch.equal(both["W"], one["W"])
    assert not torch.equal(both["W"], drawn(product(), 6)["W"])
    assert not torch.equal(both["W"][0], both["b"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_low_precision_runs_and_is_judged_exactly(dtype: str) -> None:
    row = row_of(compared(product(), dtype=dtype), "out")
    assert row.verdict == {"derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert row.rounding is not None
    assert row.rounding > 1e-9


def test_solve_inverts_the_bound() -> None:
    solution = bs.solve(scaled(), for_="eps", error=0.125)
    assert 0.125 * (1 - 1e-6) < solution.value <= 0.125
    assert solution.bound <= 0.125
    assert bs.solve(scaled(), for_="error", eps=0.25).value == 0.25
    with pytest.raises(bs.UsageError, match="the derived bound of 'out' does not depend on d"):
        bs.solve(scaled(), for_="d", error=0.125)


# An activation that errs by eps on [-R, R]: the argument, of size 1 or of an unnamed size, has to lie there.
def obliged(size: Any = 1) -> bs.Theorem:
    conclusion = bs.rules.apply_function(
        bs.rules.given("x", dim=d, size=size), "out", eps=eps, lipschitz=1, size=2, radius=R
    )
    return bs.theorem(
        "obliged", conclusion, parameters={eps: 0.01, d: 3, R: 2.0}, inputs={"x": bs.domains.Box(d)},
        network=lambda x, eps: (1 + eps) * x, reference=lambda x: x,
    )  # fmt: skip


def test_an_obligation_is_decided_at_each_point() -> None:
    met, failing = compared(obliged(), R=(2.0, 0.5))
    assert met.verdict == {"derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert Flag.CONDITIONAL.value not in met.flags["derived"]
    assert failing.verdict == {"derived": Verdict.OUTSIDE, "instance": Verdict.OUTSIDE}
    assert "hypothesis violated: " in failing.remark


def test_solve_refuses_values_at_which_an_obligation_fails() -> None:
    assert bs.solve(obliged(), for_="eps", error=0.125).bound <= 0.125
    with pytest.raises(bs.UsageError, match=r"solve: no eps gives a derived bound of 'out' of at most 0\.125"):
        bs.solve(obliged(), for_="eps", error=0.125, R=0.5)
    with pytest.raises(bs.UsageError, match="the derived bound of 'out' is not guaranteed"):
        bs.solve(obliged(), for_="error", R=0.5)


def test_an_obligation_that_nothing_decides_makes_the_bound_conditional() -> None:
    theorem = obliged(sp.Symbol("sigma", positive=True))
    row = row_of(compared(theorem), "out")
    assert row.verdict["derived"] is Verdict.KEPT
    assert Flag.CONDITIONAL.value in row.flags["derived"]
    assert "conditional" in str(compared(theorem))
    with pytest.raises(bs.UsageError, match="no eps gives a derived bound"):
        bs.solve(theorem, for_="eps", error=0.125)


def test_a_table_is_saved_in_each_format(tmp_path: Path) -> None:
    comparison = compared(product(), eps=(0.125, 0.25))
    files = {suffix: tmp_path / f"t.{suffix}" for suffix in ("tex", "csv", "json", "png")}
    comparison.save(*map(str, files.values()))
    assert r"\begin{tabular}" in files["tex"].read_text()
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert [row["quantity"] for row in rows] == ["out"] * 4
    assert json.loads(files["json"].read_text())["rows"] == comparison.records()
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    with pytest.raises(bs.UsageError, match="docx"):
        comparison.save(str(tmp_path / "t.docx"))


def test_a_comparison_prints_its_table() -> None:
    comparison = compared(product())
    shown = str(comparison)
    assert "product" in shown
    assert "prompt" in shown
    assert "kept" in shown
    assert repr(comparison) == "<Comparison of product: 2 rows>"
    assert "<table" in comparison._repr_html_()


def test_latex_of_the_value_is_that_of_its_statement() -> None:
    theorem = product(printed={"out": 2 * eps}, cites="A draft, Theorem 1", title="A product")
    assert theorem.latex() == theorem.statement.latex()
    assert r"\varepsilon" in theorem.latex()
    assert "A draft, Theorem 1" in theorem.latex()
    notebook = theorem._repr_latex_()
    assert notebook.startswith("$")
    assert r"\varepsilon" in notebook


def test_a_record_holds_the_parameters_and_the_budget() -> None:
    comparison = compared(product(), eps=(0.125, 0.25))
    assert comparison.params["eps"] == [0.125, 0.25]
    network = [record for record in comparison.records() if record["scope"] == "network"]
    assert [record["params"]["eps"] for record in network] == [0.125, 0.25]
    assert all(record["samples"] == BUDGET["samples"] for record in network)
    assert all(record["attack_steps"] == BUDGET["attack"] for record in network)


def test_the_instance_knows_its_letters_at_the_network_and_at_the_prompt() -> None:
    comparison = compared(product())
    network, prompt = row_of(comparison, "out"), row_of(comparison, "out", "prompt")
    norm = float(drawn(product(), 0)["W"].abs().sum(1).max())
    assert network.instance == pytest.approx(0.25 * norm, rel=1e-12)
    assert network.derived == 0.25
    assert prompt.derived is None
    assert prompt.ratio == pytest.approx(1, rel=1e-9)


def test_certify_proves_the_inequalities_of_the_theorem() -> None:
    t = sp.Symbol("t", real=True)
    stated = bs.statements.Inequality("a square", t**2 - t + 1, {t: (sp.Integer(-1), sp.Integer(1))})
    (outcome,) = bs.certify(scaled(inequalities=[stated]))
    assert outcome.status == "proved"

    def at_point(d: int) -> list[bs.statements.Inequality]:
        return [replace(stated, name=f"at {d}", expression=t**2 - t + d)]

    assert [each.inequality.name for each in bs.certify(scaled(inequalities=at_point), d=5)] == ["at 5"]
    with pytest.raises(bs.UsageError, match="the inequalities takes x, which is not a parameter"):
        scaled(inequalities=lambda x: [stated])
    with pytest.raises(bs.UsageError, match="scaled states no inequality"):
        bs.certify(scaled())
