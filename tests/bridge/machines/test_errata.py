"""What is called violated in Wei et al. 2021: which statements, of which weight, and that each witness replays."""

import re
from functools import cache
from pathlib import Path

import pytest

from bridge import replay
from bridge.export.numbers import plain
from bridge.record import Row, Verdict
from bridge.registry import studies
from symbolic.errata import Erratum, Weight
from tests.bridge.defaults import default_run

RESULTS = [name for name in studies() if name.startswith("machines.")]
WEIGHTS = {
    ("machines.circuit", "total_norm"): Weight.PROOF,
    ("machines.turing", "width_bits"): Weight.DEFINITION,
    ("machines.turing", "pair"): Weight.NOTATION,
    ("machines.turing_margin", "lipschitz"): Weight.PROOF,
}
NO_WORDS = re.compile(r"\b(said|told|turns|slip|finding|modulus|nothing)\b")


@cache
def rows(result: str) -> tuple[Row, ...]:
    return tuple(default_run(result))


def errata() -> list[Erratum]:
    stated = [quantity for name in RESULTS for quantity in studies()[name].result.quantities]
    return [quantity.erratum for quantity in stated if quantity.erratum is not None]


@pytest.mark.long
@pytest.mark.parametrize("result", RESULTS)
def test_what_is_violated_has_its_weight_and_a_witness_that_replays(result: str, tmp_path: Path) -> None:
    violated = {row.quantity: row for row in rows(result) if Verdict.VIOLATED in row.verdict.values()}
    expected = {name: weight for (each, name), weight in WEIGHTS.items() if each == result}
    assert {name: row.erratum.weight for name, row in violated.items()} == expected
    for row in violated.values():
        assert {tier for tier, verdict in row.verdict.items() if verdict is Verdict.VIOLATED} == {"printed"}
        path = tmp_path / f"{row.quantity}.json"
        path.write_text(row.witness.model_dump_json())
        again = replay(str(path))
        assert again.verdict["printed"] is Verdict.VIOLATED
        assert again.erratum == row.erratum
        assert again.witness.error_lower == pytest.approx(row.witness.error_lower, rel=1e-9)
        assert row.printed == row.witness.bounds.get("printed")  # what is compared is of one and the same object


def test_every_erratum_leaves_the_main_claim_and_no_statement_is_refuted() -> None:
    assert len(errata()) == len(WEIGHTS)
    assert all(each.survives.startswith("yes: ") for each in errata())
    assert Weight.STATEMENT not in {each.weight for each in errata()}


def test_errata_are_one_plain_sentence_each() -> None:
    for each in errata():
        for words in (each.sentence, each.reading, each.repair, each.survives):
            assert not words.endswith(".")
            assert "\\" not in words
            assert not NO_WORDS.search(words), words


@pytest.mark.parametrize("result", RESULTS)
def test_numbers_that_are_compared_print_apart(result: str) -> None:
    for row in rows(result):
        if row.verdict.get("printed") is Verdict.VIOLATED and row.measured is not None and row.printed is not None:
            assert plain(row.measured) != plain(row.printed, "printed", row.kind), row.quantity


@pytest.mark.parametrize("result", RESULTS)
def test_rows_of_one_name_differ_in_construction_scope_or_parameters(result: str) -> None:
    keys = [(row.quantity, row.construction, row.scope, str(row.params)) for row in rows(result)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", ["rounded", "rounded.every_depth"])
def test_claim_3_5_is_true_and_a_larger_constant_is_no_erratum(name: str) -> None:
    row = next(each for each in rows("machines.rounding") if each.quantity == name)
    assert row.printed < row.derived
    assert (row.verdict["printed"], row.erratum) == (Verdict.PROVED, None)
