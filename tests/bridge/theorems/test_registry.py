"""Every registered result is complete on all floors: citation, theorem, a default run, a row for each quantity."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.export.comparison import Comparison
from bridge.instances.instance import Instance
from bridge.judging.faithful import NAME as FAITHFUL
from bridge.judging.judged import settings_used
from bridge.questions.compare import grid_of
from bridge.questions.replaying import replay
from bridge.theorems.record import Row, Verdict
from bridge.theorems.refutable import refutable
from bridge.theorems.registry import find_theorem, theorems
from bridge.theorems.theorem import Theorem
from symbolic import UsageError, find_claim, results
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.result import Kind
from tests.bridge.defaults import default_run

FLOORS = ("symbolic", "numeric", "bridge")
SECONDS = {  # what takes several, and whose own tests run it at smaller sizes
    *("icgd.backward", "icgd.dimensions", "icgd.step", "icgd.trajectory"),
    *("looped.autoregression", "looped.chain_of_thought", "looped.gradient_descent", "looped.newton"),
    *("universal.barron", "universal.features", "universal.lasso", "universal.risk", "universal.transformer"),
}


def test_results_and_theorems_are_the_same_set() -> None:
    assert set(theorems()) == set(results())
    assert all(theorem.statement is results()[id] for id, theorem in theorems().items())


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=[pytest.mark.long] if id in SECONDS else []) for id in sorted(RUNNING)]
)
def test_a_theorem_runs_on_its_defaults_and_covers_every_quantity(id: str, tmp_path: Path) -> None:
    theorem = find_theorem(id)
    instances = [Instance.of(theorem, point) for point in grid_of(theorem, {})]
    small = {"samples": 4, "attack": 3, "restarts": 2} if theorem.inputs else {}
    used = settings_used(instances[0])
    comparison = default_run(id, **{name: number for name, number in small.items() if name in used})
    stated = {q.name for each in instances for q in each.point.stated.quantities}
    assert theorem.main in stated
    check_witnesses(comparison, tmp_path)
    check_errata(theorem, comparison)
    check_tiers(comparison)
    beside = {check.quantity.name for check in theorem.checks} | {q.name for q in refutable(theorem)} | {FAITHFUL}
    shown = {row.quantity for row in comparison}
    assert stated <= shown
    assert shown <= stated | beside
    scoped = {(q.name, scope) for each in instances for q in each.bounds.quantities.values() for scope in q.scopes}
    found = {(row.quantity, row.scope) for row in comparison if row.scope}
    assert scoped <= found
    assert {name for name, _ in found - scoped} <= beside
    assert all(each.point.stated.id == id for each in instances)
    assert comparison.citation == str(theorem.statement.citation)


def check_witnesses(comparison: Comparison, folder: Path) -> None:
    """Whatever is violated has a witness that replays with the same verdicts, number and erratum."""
    for row in {(row.quantity, row.construction): row for row in comparison.violated()}.values():
        assert row.witness is not None, row
        path = folder / "witness.json"
        path.write_text(row.witness.model_dump_json())
        again = replay(str(path))
        assert row.verdict.items() <= again.verdict.items(), again
        assert again.verdict.keys() - row.verdict.keys() <= {"instance"}  # a check at one input may show none
        number = "exact" if row.scope else "measured"  # what samples measure is not at the witness alone
        assert getattr(again, number) == getattr(row, number), again
        assert again.erratum == row.erratum


def check_errata(theorem: Theorem, comparison: Comparison) -> None:
    """Whatever is violated as printed is an erratum that the theorem lists, and nothing of ours is violated."""
    listed = {quantity.name: quantity.erratum for quantity in refutable(theorem)}
    for row in comparison.violated():
        assert {tier for tier, verdict in row.verdict.items() if verdict is Verdict.VIOLATED} == {"printed"}, row
        assert row.erratum is not None, f"{row.quantity} is violated as printed and has no erratum"
        known = listed[row.quantity]
        assert known is not None
        assert (row.erratum.weight, row.erratum.sentence) == (known.weight, known.sentence)


def check_tiers(comparison: Comparison) -> None:
    """What an instance knows makes a bound sharper, never coarser; else it lies outside the domain."""
    derived = {_place(row): row.derived for row in comparison if row.derived is not None}
    for row in comparison:
        if row.instance is not None and row.kind in {Kind.UPPER, Kind.LOWER} and _place(row) in derived:
            excess = (row.instance - derived[_place(row)]) * (1 if row.kind == Kind.UPPER else -1)
            assert excess <= 1e-9 * abs(row.instance), row  # a bound at a prompt allows for its own rounding


def _place(row: Row) -> tuple[object, ...]:
    return row.quantity, row.construction, *sorted(row.params.items())


def test_a_contract_keeps_each_topic_apart() -> None:
    tools = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["tool"]
    contracts = [each for each in tools["importlinter"]["contracts"] if each["type"] == "protected"]
    kept = {each["allowed_importers"][0]: each["protected_modules"] for each in contracts}
    topics = sorted({id.partition(".")[0] for id in RUNNING})
    assert kept == {f"bridge.topics.{topic}": [f"{floor}.topics.{topic}" for floor in FLOORS] for topic in topics}


def test_planned_and_unknown_ids_have_no_theorem(planned: str) -> None:
    with pytest.raises(UsageError, match="is planned and cannot be run yet"):
        find_theorem(planned)
    with pytest.raises(UsageError, match=r"no result 'nothing'"):
        find_theorem("nothing")


def test_a_claim_that_runs_without_its_modules_says_which_file_has_to_hold_what() -> None:
    for module, where in (("induction.missing", "induction/missing"), ("induction.vanilla", "induction/vanilla")):
        claim = replace(find_claim("induction.vanilla"), id="induction.shift", module=module)
        with pytest.raises(
            UsageError, match=rf"'induction.shift' as running, so bridge/topics/{where}\.py has to hold SHIFT"
        ):
            claim.on("bridge")
