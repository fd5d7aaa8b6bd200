"""What a theorem may ask of the engine: quantities of its own at each point, more scopes, checks, words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bridge.export.comparison import Comparison
from bridge.export.latex_tables import comparison_latex
from bridge.export.tables import comparison_csv
from bridge.export.terminal import comparison_blocks
from bridge.instances.runs import Runs
from bridge.questions.compare import compare, grid_of
from bridge.questions.replaying import replay
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import Knobs
from bridge.theorems.record import Row, Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Theorem
from bridge.topics.induction.vanilla import VANILLA as HEAD
from numeric.balls.limits import ExactCost, TooLargeForExact
from symbolic.statements.result import Kind, Parameter, Quantity
from symbolic.words.errors import UsageError

QUICK: dict[str, Any] = {"samples": 4, "attack": 3, "restarts": 2, "L": 4, "d": 2}
LOCAL = "prompt, local"
WORD = Parameter("activation", None, "a word", "tanh")


def written_out(activation: str) -> tuple[Quantity, ...]:
    """The output under another name, which the statement of the theorem does not have, with one more scope."""
    output = replace(HEAD.statement.quantity("output"), step="output", name=f"output.{activation}")
    rate = replace(HEAD.statement.quantity("output.rate"), name=f"output.{activation}.rate")
    return (replace(output, scopes=("network", "prompt", LOCAL)), rate, HEAD.statement.quantity("weights"))


def spread(scope: str, x: Any, activation: str) -> dict[str, Any]:
    """Outputs are averages of tokens, so that they differ by no more than this; too little of it in one scope."""
    return {f"output.{activation}": 2 * x.abs().amax() * (1e-6 if scope == LOCAL else 1)}


def toy(**changes: Any) -> Theorem:
    """Theorem 4.1 with a word as parameter, and quantities whose names hold it."""
    statement = replace(HEAD.statement, id="toy", parameters=(*HEAD.statement.parameters, WORD))
    theorem = replace(HEAD, statement=statement, handles=None, bounds=spread, **changes)
    return theorem.with_at_point(quantities=written_out)


def run(theorem: Theorem | None = None, **changes: Any) -> Comparison:
    return compare(theorem or toy(), **{**QUICK, "p": 2, **changes})


def witness_file(folder: Path, row: Row, **changes: Any) -> str:
    assert row.witness is not None
    path = folder / "witness.json"
    path.write_text(json.dumps({**json.loads(row.witness.model_dump_json()), **changes}))
    return str(path)


def test_the_quantities_are_those_of_the_point() -> None:
    rows = run(activation=("tanh", "gelu")).rows
    assert [(row.quantity, row.scope) for row in rows] == [
        (name, scope)
        for word in ("tanh", "gelu")
        for name, scope in ((f"output.{word}", "network"), (f"output.{word}", "prompt"), (f"output.{word}", LOCAL),
                            ("weights", None))
    ]  # fmt: skip


@pytest.mark.long
def test_rates_are_those_of_the_points_that_state_them() -> None:
    rows = run(activation=("tanh", "gelu"), p=(1, 2, 3)).rows
    rates = [row for row in rows if row.quantity.endswith(".rate")]
    assert [(row.quantity, row.params["activation"]) for row in rates] == [
        ("output.tanh.rate", "tanh"),
        ("output.gelu.rate", "gelu"),
    ]


def test_a_word_is_a_grid_axis_everywhere() -> None:
    reported: list[str] = []
    record = run(activation=("tanh", "gelu"), progress=lambda done, total, label: reported.append(label))
    assert reported[:2] == [
        f"p = 2, L = 4, d = 2, leak = 0.01, W_star = 0.25, activation = {w}" for w in ("tanh", "gelu")
    ]
    assert record.params["activation"] == ["tanh", "gelu"]
    assert {row.params["activation"] for row in record} == {"tanh", "gelu"}
    assert {line.split(",")[0] for line in comparison_csv(record).splitlines()[1:]} == {"toy"}
    assert "params.activation" in comparison_csv(record).splitlines()[0]
    assert r"\texttt{activation}" in comparison_latex(record)
    assert "& gelu &" in comparison_latex(record)
    table = next(block for block in comparison_blocks(record) if hasattr(block, "columns"))
    assert [column.header for column in table.columns][:3] == ["quantity", "scope", "activation"]


def test_each_scope_of_a_prompt_is_judged_and_replayed_by_its_own_bound(tmp_path: Path) -> None:
    by_scope = {row.scope: row for row in run() if row.scope}
    assert by_scope["prompt"].verdict == {"instance": Verdict.KEPT}
    planted = by_scope[LOCAL]
    assert planted.verdict == {"instance": Verdict.VIOLATED}
    assert planted.witness is not None
    assert planted.witness.scope == LOCAL
    again = replay(witness_file(tmp_path, planted), toy())
    assert (again.scope, again.verdict["instance"]) == (LOCAL, Verdict.VIOLATED)
    assert again.instance == pytest.approx(planted.witness.bounds["instance"])
    assert replay(witness_file(tmp_path, planted, scope="prompt"), toy()).verdict["instance"] is Verdict.KEPT
    assert replay(witness_file(tmp_path, planted, scope=None), toy()).scope == LOCAL
    with pytest.raises(UsageError, match="has no scope 'nowhere'; its scopes: network, prompt, prompt, local"):
        replay(witness_file(tmp_path, planted, scope="nowhere"), toy())


def test_a_check_is_a_row_whose_witness_replays(tmp_path: Path) -> None:
    never_zero = replace(HEAD.statement.quantity("weights"), name="never_zero", kind=Kind.UPPER, remark="as printed")
    one = {"x": torch.ones(2, dtype=torch.float64, device="cpu")}
    largest = Check(never_zero, lambda x: Sides(x.amax().item(), printed=0, rounding=0.0), one)
    refuting = toy(checks=(*HEAD.checks, largest)).with_at_point(
        quantities=lambda activation: (*written_out(activation), never_zero)
    )
    *_, row = run(refuting).rows
    assert (row.quantity, row.verdict, row.remark) == ("never_zero", {"printed": Verdict.VIOLATED}, "as printed")
    again = replay(witness_file(tmp_path, row), refuting)
    assert again.verdict == {"printed": Verdict.VIOLATED}
    assert again.exact == row.exact == 1.0
    with pytest.raises(UsageError, match=r"no quantity or check 'other'\. It has: output"):
        replay(witness_file(tmp_path, row, quantity="other"), refuting)


def test_what_cannot_be_built_is_neither_measured_nor_attacked(tmp_path: Path) -> None:
    def run_it(x: Any) -> Any:
        raise AssertionError("there is nothing to run")

    planted = next(row for row in run() if row.witness)
    why = Refusal(Verdict.NOT_REPRESENTABLE, "10^40 heads, 133 bits to count them")
    unbuildable = toy(network=run_it).with_at_point(refusal=lambda: why)
    rows = [row for row in run(unbuildable) if row.quantity.startswith("output")]
    assert [row.scope for row in rows] == ["network", "prompt", LOCAL]
    assert [row.verdict for row in rows] == [
        {tier: Verdict.NOT_REPRESENTABLE} for tier in ("derived", "instance", "instance")
    ]
    for row in rows:
        assert (row.measured, row.attacked, row.exact, row.samples, row.attack_steps) == (None, None, None, 0, 0)
        assert "10^40 heads, 133 bits" in row.remark
    assert rows[0].derived < rows[0].printed
    with pytest.raises(UsageError, match="cannot be run here: 10\\^40 heads"):
        replay(witness_file(tmp_path, planted), unbuildable)


def test_sizes_too_large_for_exact_runs_are_still_judged_per_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise TooLargeForExact("toy", 8, ExactCost(10, 10), 1)

    monkeypatch.setattr(Runs, "exact", refuse)
    rows = [row for row in run() if row.scope]
    assert [row.scope for row in rows] == ["network", "prompt", LOCAL]
    assert all("only estimated" in row.remark for row in rows)


def test_a_text_is_not_attacked_and_an_attack_asked_for_is_refused() -> None:
    text = str(Path(__file__).parents[3] / "examples" / "harbour.txt")
    with pytest.raises(UsageError, match="text is measured as it is and not attacked; leave out attack = 5"):
        compare("induction.vanilla", text=text, attack=5)
    assert compare("induction.vanilla", text=text, p=2, L=8, d=8, samples=2, attack=0).environment["inputs"] == "text"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"text": "a", "data": "diabetes"}, "one source, but text and data are given"),
        ({"text": "a", "data": "b", "csv": "c"}, "text and data and csv are given"),
        ({"target": "y"}, "target = 'y' names a column of a csv; give csv = FILE too"),
        ({"data": "diabetes", "target": "y"}, "names a column of a csv"),
        ({"data": "diabets"}, "no table 'diabets'; available: diabetes, sunspots; did you mean diabetes"),
        ({"csv": "missing.csv", "target": "y"}, "--csv: there is no file 'missing.csv'"),
        ({"data": "diabetes"}, "induction.vanilla takes no --data and no --csv"),
    ],
)
def test_sources_that_cannot_serve_are_refused(call: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("induction.vanilla", **call)


def test_a_parameter_has_its_default_unless_the_others_imply_it() -> None:
    assert "d" not in grid_of(toy(), {})[0]
    assert grid_of(replace(HEAD, knobs=Knobs(implied=())), {})[0]["d"] == 4
