"""What a study may ask of the engine: quantities of its own at each point, more scopes, checks, tables, words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import flint
import pytest
import torch

import bridge.comparison as engine
from bridge import compare, replay
from bridge.export import comparison_csv, comparison_latex
from bridge.export.terminal import comparison_blocks
from bridge.induction.vanilla import VANILLA as HEAD
from bridge.limits.run import ONE_INPUT, Run
from bridge.measure import evidence_at
from bridge.record import Comparison, Row, Verdict
from bridge.rows import judged_row
from bridge.study import Inputs, Objective, Refusal
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_parts import Knobs
from bridge.theorem_study import TheoremStudy
from bridge.verdicts import Bound
from numeric.exact_cost import TooLargeForExact
from symbolic.induction.vanilla import VANILLA
from symbolic.statements import Parameter, Quantity, UsageError

QUICK: dict[str, Any] = {"samples": 4, "attack": 3, "restarts": 2, "L": 4, "d": 2}
LOCAL = "prompt, local"
WORD = Parameter("activation", None, "a word", "tanh")


def written_out(activation: str) -> tuple[Quantity, ...]:
    """The output under another name, which the study's own result does not have, with one more scope."""
    output = replace(VANILLA.quantity("output"), step="output", name=f"output.{activation}")
    rate = replace(VANILLA.quantity("output.rate"), name=f"output.{activation}.rate")
    return (replace(output, scopes=("network", "prompt", LOCAL)), rate, VANILLA.quantity("weights"))


class ToyCase(TheoremCase):
    """Theorem 4.1 with a word as parameter, and quantities whose names hold it."""

    def __init__(self, theorem: Theorem, params: Mapping[str, Any], *more: Any) -> None:
        super().__init__(theorem, params, *more)
        self.result = replace(theorem.statement, quantities=written_out(str(params["activation"])))

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        bound = super().instance(quantity, scope, inputs)
        return replace(bound, ball=bound.ball / 1000) if bound and scope == LOCAL else bound

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> torch.Tensor:
        bounds = super().prompt_bounds(quantity, inputs, scope)
        return bounds / 1000 if scope == LOCAL else bounds


class Refuting(ToyCase):
    """Finds that 0 is not a bound on its output."""

    def checks(self, run: Run) -> list[Row]:
        return [*super().checks(run), self._never_zero(self.sample(1, run.seed), run)]

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        return self._never_zero(inputs, Run(1, 0, 0, 0)) if name == "never_zero" else super().replay_check(name, {})

    def _never_zero(self, inputs: Inputs, run: Run) -> Row:
        output = self.result.quantities[0]
        claim = replace(output, name="never_zero", remark="as printed")
        return judged_row(self, claim, None, {"printed": Bound(flint.arb(0))}, [evidence_at(self, output, inputs)], run)


class Unbuildable(ToyCase):
    """Has no network for its output, and says so when one is asked for."""

    def refusal(self, quantity: Quantity) -> Refusal | None:
        why = "10^40 heads, 133 bits to count them"
        return Refusal(Verdict.NOT_REPRESENTABLE, why) if quantity.name.startswith("output") else None

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, torch.Tensor]:
        raise AssertionError("there is nothing to run")


class ToyStudy(TheoremStudy):
    case_class: type[ToyCase] = ToyCase

    def __init__(self) -> None:
        super().__init__(
            replace(HEAD, handles=None, statement=replace(VANILLA, parameters=(*VANILLA.parameters, WORD)))
        )

    def case(self, params: Any, run: Run = ONE_INPUT) -> ToyCase:
        return self.case_class(self.theorem, *self.point(params, run), run.format)


def use(monkeypatch: pytest.MonkeyPatch, case_class: type[ToyCase]) -> None:
    study = ToyStudy()
    study.case_class = case_class
    for name in ("find_study", "registered_study"):  # compare, and replay
        monkeypatch.setattr(engine, name, lambda result_id: study)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, ToyCase)


def run(**changes: Any) -> Comparison:
    return compare("induction.vanilla", **{**QUICK, "p": 2, **changes})


def witness_file(folder: Path, row: Row, **changes: Any) -> str:
    assert row.witness is not None
    path = folder / "witness.json"
    path.write_text(json.dumps({**json.loads(row.witness.model_dump_json()), **changes}))
    return str(path)


@pytest.mark.usefixtures("toy")
def test_the_quantities_are_those_of_the_case() -> None:
    rows = run(activation=("tanh", "gelu")).rows
    assert [(row.quantity, row.scope) for row in rows] == [
        (name, scope)
        for word in ("tanh", "gelu")
        for name, scope in ((f"output.{word}", "network"), (f"output.{word}", "prompt"), (f"output.{word}", LOCAL),
                            ("weights", None))
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.usefixtures("toy")
def test_rates_are_those_of_the_cases_that_state_them() -> None:
    rows = run(activation=("tanh", "gelu"), p=(1, 2, 3)).rows
    rates = [row for row in rows if row.quantity.endswith(".rate")]
    assert [(row.quantity, row.params["activation"]) for row in rates] == [
        ("output.tanh.rate", "tanh"),
        ("output.gelu.rate", "gelu"),
    ]


@pytest.mark.usefixtures("toy")
def test_a_word_is_a_grid_axis_everywhere() -> None:
    reported: list[str] = []
    record = run(activation=("tanh", "gelu"), progress=lambda done, total, label: reported.append(label))
    assert reported[:2] == [
        f"p = 2, L = 4, d = 2, W_star = 0.25, leak = 0.01, activation = {w}" for w in ("tanh", "gelu")
    ]
    assert record.params["activation"] == ["tanh", "gelu"]
    assert {row.params["activation"] for row in record} == {"tanh", "gelu"}
    assert {line.split(",")[0] for line in comparison_csv(record).splitlines()[1:]} == {"induction.vanilla"}
    assert "params.activation" in comparison_csv(record).splitlines()[0]
    assert r"\texttt{activation}" in comparison_latex(record)
    assert "& gelu &" in comparison_latex(record)
    table = next(block for block in comparison_blocks(record) if hasattr(block, "columns"))
    assert [column.header for column in table.columns][:3] == ["quantity", "scope", "activation"]


@pytest.mark.usefixtures("toy")
def test_each_scope_of_a_prompt_is_judged_and_replayed_by_its_own_bound(tmp_path: Path) -> None:
    by_scope = {row.scope: row for row in run() if row.scope}
    assert by_scope["prompt"].verdict == {"instance": Verdict.KEPT}
    planted = by_scope[LOCAL]
    assert planted.verdict == {"instance": Verdict.VIOLATED}
    assert planted.witness is not None
    assert planted.witness.scope == LOCAL
    again = replay(witness_file(tmp_path, planted))
    assert (again.scope, again.verdict["instance"]) == (LOCAL, Verdict.VIOLATED)
    assert again.instance == pytest.approx(planted.witness.bounds["instance"])
    assert replay(witness_file(tmp_path, planted, scope="prompt")).verdict["instance"] is Verdict.KEPT
    assert replay(witness_file(tmp_path, planted, scope=None)).scope == LOCAL
    with pytest.raises(UsageError, match="has no scope 'nowhere'; its scopes: network, prompt, prompt, local"):
        replay(witness_file(tmp_path, planted, scope="nowhere"))


def test_a_check_is_a_row_whose_witness_replays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use(monkeypatch, Refuting)
    *_, row = run().rows
    assert (row.quantity, row.verdict, row.remark) == ("never_zero", {"printed": Verdict.VIOLATED}, "as printed")
    assert row.witness is not None
    again = replay(witness_file(tmp_path, row))
    assert again.verdict == {"printed": Verdict.VIOLATED}
    assert again.exact == pytest.approx(row.exact, rel=1e-12)
    with pytest.raises(UsageError, match=r"no quantity or check 'other'\. It has: output"):
        replay(witness_file(tmp_path, row, quantity="other"))


def test_what_cannot_be_built_is_neither_measured_nor_attacked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planted = next(row for row in _toy_rows(monkeypatch) if row.witness)
    use(monkeypatch, Unbuildable)
    rows = [row for row in run() if row.quantity.startswith("output")]
    assert [row.scope for row in rows] == ["network", "prompt", LOCAL]
    assert [row.verdict for row in rows] == [
        {tier: Verdict.NOT_REPRESENTABLE} for tier in ("derived", "instance", "instance")
    ]
    for row in rows:
        assert (row.measured, row.attacked, row.exact, row.samples, row.attack_steps) == (None, None, None, 0, 0)
        assert "10^40 heads, 133 bits" in row.remark
    assert rows[0].derived < rows[0].printed
    with pytest.raises(UsageError, match="cannot be run here: 10\\^40 heads"):
        replay(witness_file(tmp_path, planted))


def _toy_rows(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    use(monkeypatch, ToyCase)
    return run().rows


def test_every_bound_is_read_through_the_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Override(ToyCase):
        def printed(self, quantity: Quantity) -> Bound | None:
            return Bound(flint.arb(7))

        def derived(self, quantity: Quantity) -> Bound | None:
            return Bound(flint.arb(0))

        def slack(self, quantity: Quantity, inputs: Inputs) -> dict[str, float]:
            return {"step": 2.0}

    use(monkeypatch, Override)
    (row,) = (row for row in run() if row.scope == "network")
    again = replay(witness_file(tmp_path, row))
    for each in (row, again):
        assert (each.printed, each.derived) == (7.0, 0.0)
        assert (each.verdict["printed"], each.verdict["derived"]) == (Verdict.KEPT, Verdict.VIOLATED)
    assert row.slack == {"step": 2.0}


def test_a_case_may_search_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Corner(ToyCase):
        def search(self, objective: Objective, quantity: Quantity, run: Run) -> Inputs:
            assert objective(self.sample(3, 0)).shape == (3,)
            return {"x": torch.ones(self.params["L"], self.params["d"], dtype=torch.float64)}

    use(monkeypatch, Corner)
    (row,) = (row for row in run() if row.scope == "network")
    assert row.attacked < 1e-15  # all tokens alike: nothing to tell apart


def test_sizes_too_large_for_exact_runs_are_still_judged_per_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    class TooLarge(ToyCase):
        def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
            from numeric.exact_cost import ExactCost

            raise TooLargeForExact("toy", 8, ExactCost(10, 10), 1)

    use(monkeypatch, TooLarge)
    assert all("only estimated" in row.remark for row in run() if row.scope)


def test_a_text_is_not_attacked_and_an_attack_asked_for_is_refused() -> None:
    text = str(Path(__file__).parents[2] / "examples" / "harbour.txt")
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
    plain = TheoremStudy(replace(HEAD, knobs=Knobs(implied=())))
    assert "d" not in engine.grid_of(ToyStudy(), {})[0]
    assert engine.grid_of(plain, {})[0]["d"] == 4
