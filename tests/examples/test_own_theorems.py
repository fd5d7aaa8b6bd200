"""The examples that state a theorem: their size, their two ways to run, their tables, and bounds that must fail."""

import ast
import inspect
import math
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.cli import main
from bridge.export.comparison import Comparison
from bridge.questions.compare import DEFAULTS
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from bridge.theorems.theorem_files import read_theorem
from numeric.networks.loops import LoopSize
from numeric.networks.network import Network
from symbolic.statements.result import Printed
from tests.examples.test_readme import SNIPPETS, TUTORIAL

EXAMPLES = Path(__file__).parents[2] / "examples"
LINES = {
    "own_theorem.py": 14,
    "by_rules.py": 65,
    "gradient_step.py": 40,
    "ridge.py": 40,
    "elastic_net.py": 75,
    "momentum.py": 80,
    "rounded_blocks.py": 20,
    "last_tokens.py": 18,
}  # neither blank nor comment
COLUMNS = {
    "own_theorem.py": {"printed", "derived", "instance", "measured", "attacked", "exact", "verdict"},
    "by_rules.py": {"printed", "derived", "instance", "measured", "attacked", "exact", "verdict"},
    "gradient_step.py": {"derived", "instance", "measured", "attacked", "exact", "verdict"},
    "ridge.py": {"printed", "derived", "instance", "measured", "attacked", "exact", "verdict"},
    "elastic_net.py": {"derived", "instance", "measured", "attacked", "exact", "verdict"},
    "momentum.py": {"derived", "instance", "measured", "attacked", "exact", "verdict"},
    "rounded_blocks.py": {"derived", "instance", "measured", "attacked", "exact", "verdict"},
    "last_tokens.py": {"derived", "instance", "measured", "attacked", "exact", "verdict"},
}
SMALL = ["--samples", "8", "--attack", "3", "--restarts", "2"]
CONCEPTS = 10

PROMPT_SCOPES = ("prompt", "prompt, local")

every_example = pytest.mark.parametrize("name", LINES)


def own(name: str) -> Theorem:
    return read_theorem(str(EXAMPLES / name))


@every_example
def test_it_is_short(name: str) -> None:
    lines = (EXAMPLES / name).read_text().splitlines()
    counted = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert len(counted) <= LINES[name]
    assert max(map(len, lines)) <= 120


def test_ten_public_names_are_enough() -> None:
    tree = ast.parse((EXAMPLES / "own_theorem.py").read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    namespaces = {name for name in dir(bs) if inspect.ismodule(getattr(bs, name))}
    faces = {"bs", *(f"bs.{name}" for name in namespaces)}
    used = {each.attr for each in attributes if ast.unparse(each.value) in faces}
    assert 1 <= len(used - namespaces - {"Smooth"}) <= CONCEPTS  # with it, bounds at a prompt


@pytest.mark.long
@every_example
def test_it_is_a_file_for_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(EXAMPLES / name), *SMALL]) == 0
    header = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("quantity"))
    assert {each.strip() for each in header.split("┃")} >= COLUMNS[name]


@pytest.mark.long
def test_it_is_a_script_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text((EXAMPLES / "own_theorem.py").read_text())
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "quantity" in done.stdout


# --- the tutorial -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("snippet", "name", "file"), [(0, "own", "own_theorem.py"), (1, "by_rules", "by_rules.py")])
def test_the_tutorial_states_the_theorem_of_the_file(
    snippet: int, name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, number in {"samples": 8, "attack": 0, "restarts": 1}.items():
        monkeypatch.setitem(DEFAULTS, setting, number)
    (tmp_path / "tutorial.py").write_text(SNIPPETS[snippet])
    written, theirs = runpy.run_path(str(tmp_path / "tutorial.py"))[name], own(file)
    assert written.latex() == theirs.latex()
    assert (written.inputs, written.weights) == (theirs.inputs, theirs.weights)
    assert [cells(row) for row in bs.compare(written)] == [cells(row) for row in bs.compare(theirs)]


def cells(row: Row) -> tuple[object, ...]:
    return row.quantity, row.scope, row.printed, row.derived, row.instance, row.measured


def bounds(table: str) -> list[list[str]]:
    """The cells of the rows: bounds of the network and verdicts, which do not depend on the attack."""
    rows = [[cell.strip() for cell in line.split("│")] for line in table.splitlines() if "│" in line]
    return [[*row[:7], row[-1]] if row[1] == "network" else [*row[:4], row[-1]] for row in rows]


@pytest.mark.long
def test_the_table_that_is_shown_is_that_of_a_run() -> None:
    shown = re.search(r"```\n(analog-tanh\n.*?)```", TUTORIAL, flags=re.DOTALL)
    assert shown is not None
    assert bounds(shown[1]) == bounds(str(bs.compare(own("own_theorem.py"))))
    assert len(bounds(shown[1])) == 8


# --- bounds at a prompt -----------------------------------------------------------------------------------------------

# The largest ratio of the sharpest bound at a prompt to the error there, at the prompt that minimises it.
RATIOS = {
    "own_theorem.py": 1.1,
    "by_rules.py": 1.1,
    "gradient_step.py": 1 + 1e-9,
    "ridge.py": 1 + 1e-9,
    "momentum.py": 1.001,
    "rounded_blocks.py": 1.01,
    "last_tokens.py": 1 + 1e-9,
}


@pytest.mark.long
@pytest.mark.parametrize("name", RATIOS)
def test_bounds_at_a_prompt_are_near_the_error(name: str) -> None:
    comparison = bs.compare(own(name), samples=16, attack=40, restarts=8)
    rows = [row for row in comparison if row.scope in PROMPT_SCOPES and row.instance]
    sharpest = {(row.quantity, str(row.params)): row for row in rows}  # local rows come last
    assert len(sharpest) == 2  # points of the grid
    for row in sharpest.values():
        assert row.ratio is not None
        assert row.ratio * (1 + 1e-12) >= 1
        assert row.ratio <= RATIOS[name]
        assert set(row.verdict.values()) == {Verdict.KEPT}


@pytest.mark.long
@pytest.mark.parametrize("name", RATIOS)
def test_the_network_is_the_one_of_the_derivation(name: str) -> None:
    rows = [row for row in bs.compare(own(name), samples=4, attack=0) if row.quantity == "faithful"]
    assert [row.verdict for row in rows] == [{"derived": Verdict.KEPT}] * 2


# --- ridge regression -------------------------------------------------------------------------------------------------


def compared(theorem: Theorem, **params: Any) -> Comparison:
    return bs.compare(theorem, samples=16, attack=40, restarts=8, **{"L": 4, **params})


def network_row(comparison: Comparison) -> Row:
    return next(row for row in comparison if row.scope == "network")


@pytest.mark.long
@pytest.mark.parametrize("params", [{}, {"L": 8}, {"lamda": 0.5, "L": 2}, {"alpha": 0.9}], ids=str)
def test_every_bound_of_ridge_regression_is_kept(params: dict[str, float]) -> None:
    for row in compared(own("ridge.py"), **params):
        assert {*row.verdict.values()} == {Verdict.KEPT}


@pytest.mark.long
def test_the_bound_of_ridge_regression_is_attained() -> None:
    """For lamda <= alpha: a prompt along the smallest singular value has the largest w* and the slowest decay."""
    row = network_row(compared(own("ridge.py")))
    assert row.ratio is not None
    assert 1 <= row.ratio < 1.01


def test_the_printed_formula_takes_the_largest_solution() -> None:
    row = network_row(compared(own("ridge.py"), alpha=0.25, beta=1.0, lamda=0.1))
    assert row.printed == pytest.approx(0.5 / 0.35 * math.exp(-2 * 0.35 / 1.1), rel=1e-12)


WRONG: dict[str, Callable[..., sp.Expr]] = {
    "nine tenths of the derived bound": lambda derived, **letters: sp.Rational(9, 10) * derived,
    "kappa with the wrong sign of lamda": lambda derived, alpha, beta, lamda, L, **letters: (
        derived * ((1 - (alpha + lamda) / (beta - lamda)) / (1 - (alpha + lamda) / (beta + lamda))) ** L
    ),
    "the rate of an accelerated method": lambda derived, alpha, beta, lamda, L, **letters: (
        derived * ((1 - sp.sqrt((alpha + lamda) / (beta + lamda))) / (1 - (alpha + lamda) / (beta + lamda))) ** L
    ),
}


def with_printed(theorem: Theorem, formula: Callable[..., sp.Expr]) -> Theorem:
    (quantity,) = theorem.statement.quantities
    letters = {parameter.name: parameter.symbol for parameter in theorem.statement.parameters}
    printed = Printed(formula(quantity.derived(), **letters), theorem.statement.citation)
    return replace(theorem, statement=replace(theorem.statement, quantities=(replace(quantity, printed=printed),)))


@pytest.mark.parametrize("claim", WRONG)
def test_a_wrong_constant_of_ridge_regression_is_violated(claim: str) -> None:
    row = network_row(compared(with_printed(own("ridge.py"), WRONG[claim])))
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT, "instance": Verdict.KEPT}


def test_the_layers_are_the_steps_of_gradient_descent() -> None:
    """A network with the weights of L steps, against the closed form of L steps."""
    transformer, L, n, d, beta, lamda = own("ridge.py").network, 3, 6, 2, 1.0, 0.25
    assert isinstance(transformer, bs.Transformer)
    construction = transformer.build(beta=beta, lamda=lamda, n=n, d=d, L=L)
    X, y, x = (
        torch.randn(n, d, dtype=torch.float64),
        torch.randn(n, dtype=torch.float64),
        torch.randn(d, dtype=torch.float64),
    )
    tokens = construction.source.tokens(*transformer.tokens(X, y, x))
    output = Network(construction).run(tokens[None], [])["output"]
    hessian, w = X.T @ X / n + lamda * torch.eye(d, dtype=torch.float64), torch.zeros(d, dtype=torch.float64)
    for _ in range(L):
        w = w - (hessian @ w - X.T @ y / n) / (beta + lamda)
    assert float(output[0, -1]) == pytest.approx(float(w @ x), rel=1e-12)


def test_enough_layers_are_solved_for() -> None:
    layers = bs.solve(own("ridge.py"), for_="L", error=1e-2).value
    rate = 1 - 0.35 / 1.1
    assert layers == math.ceil(math.log(1e-2 * 0.35 / 0.5) / math.log(rate))


# --- the elastic net --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"eps": 0, "T": 30}, {"low": 0.9, "lamda": 1.0}, {"eps": 0.3, "d": 1}], ids=str)
def test_every_bound_of_the_elastic_net_is_kept(params: dict[str, float]) -> None:
    rows = list(bs.compare(own("elastic_net.py"), samples=16, attack=40, restarts=8, **{"T": 4, **params}))
    assert {row.quantity for row in rows} == {"w", "gap"}
    for row in rows:
        assert {*row.verdict.values()} == {Verdict.KEPT}, row


@pytest.mark.parametrize("claim", ["w <= W*(1 + alpha/high)**(-T)", "gap <= high*W**2/(40*T)"])
def test_a_wrong_bound_of_the_elastic_net_is_violated(claim: str) -> None:
    """Without the errors of the steps, and with a fortieth of the constant from a single step."""
    comparison = bs.compare(own("elastic_net.py"), T=1 if "gap" in claim else 20, samples=32, attack=60, claim=claim)
    assert Verdict.VIOLATED in {row.verdict.get("claimed") for row in comparison}


def test_the_labels_of_the_elastic_net_make_the_planted_weights_optimal() -> None:
    names = runpy.run_path(str(EXAMPLES / "elastic_net.py"))
    X, w = torch.randn(8, 3, dtype=torch.float64), torch.tensor([0.5, 0.0, -1.0], dtype=torch.float64)
    y = names["labels"](X, w, 0.3, 0.2)
    best = names["objective"](X, y, w, 0.3, 0.2)
    for size in (1e-3, 1.0):
        moved = [names["objective"](X, y, w + size * torch.randn(3, dtype=torch.float64), 0.3, 0.2) for _ in range(50)]
        assert min(moved) > best
    settled = names["network"](
        X, w, torch.zeros(400, 3, dtype=torch.float64), float(torch.linalg.matrix_norm(X, 2) ** 2 / 8), 0.3, 0.2
    )
    assert torch.allclose(settled["w"], w, atol=1e-12)


def test_enough_steps_of_the_elastic_net_are_solved_for() -> None:
    assert bs.solve(own("elastic_net.py"), for_="T", quantity="w", error=1e-2, eps=0).value == math.ceil(
        math.log(1e-2) / math.log(1 / 1.5)
    )


# --- momentum ---------------------------------------------------------------------------------------------------------


def test_heavy_ball_is_that_of_two_gradients() -> None:
    """w_2 by hand: a step of gradient descent, and one more with momentum."""
    X, y = (
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.25]], dtype=torch.float64),
        torch.tensor([1.0, -1.0], dtype=torch.float64),
    )
    found = runpy.run_path(str(EXAMPLES / "momentum.py"))["heavy_ball"](X, y, 0.5, 0.25, 2)
    first = 0.25 * y  # eta / n X^T y
    second = first - 0.25 * (first - y) + 0.25 * first
    torch.testing.assert_close(found, (X[-1] @ second)[None])


def test_the_loop_of_the_heavy_ball_is_two_heads_and_one_layer() -> None:
    built = runpy.run_path(str(EXAMPLES / "momentum.py"))["network"](4, 2, 0.5, 0.5, 0.01, 30.0, 7)
    assert built.sizes["loop"] == LoopSize(1, 2)
    assert len(built.layers) == 14


@pytest.mark.long
def test_a_wrong_bound_of_the_heavy_ball_is_violated() -> None:
    comparison = bs.compare(own("momentum.py"), T=2, samples=16, attack=20, claim="prediction <= 3e-7")
    assert Verdict.VIOLATED in {verdict for row in comparison for verdict in row.verdict.values()}
