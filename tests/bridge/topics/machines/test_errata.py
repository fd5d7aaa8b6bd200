"""What the records of Wei et al. 2021 show at the defaults, and the words of its errata."""

import re

import pytest

from bridge.questions.replaying import replay_witness
from bridge.theorems.numbers import plain
from bridge.theorems.record import Verdict
from bridge.theorems.registry import theorems
from symbolic.statements.errata import Weight
from tests.bridge.defaults import default_run

RESULTS = [name for name in theorems() if name.startswith("machines.")]
WEIGHTS = {
    ("machines.circuit", "total_norm"): Weight.PROOF,
    ("machines.turing", "width_bits"): Weight.DEFINITION,
    ("machines.turing", "pair"): Weight.NOTATION,
    ("machines.turing_margin", "lipschitz"): Weight.PROOF,
}
NO_WORDS = re.compile(r"\b(said|told|turns|slip|finding|modulus|nothing)\b")


def test_the_words_of_errata_are_plain_and_leave_the_main_claim() -> None:
    stated = {(name, each.name): each.erratum for name in RESULTS for each in theorems()[name].statement.quantities}
    errata = {at: erratum for at, erratum in stated.items() if erratum is not None}
    assert {at: erratum.weight for at, erratum in errata.items()} == WEIGHTS
    for each in errata.values():
        assert each.survives.startswith("yes: ")
        for words in (each.sentence, each.reading, each.repair, each.survives):
            assert not words.endswith(".")
            assert "\\" not in words
            assert not NO_WORDS.search(words), words


@pytest.mark.long
@pytest.mark.parametrize("result", RESULTS)
def test_numbers_that_are_compared_are_those_of_the_witness_and_print_apart(result: str) -> None:
    violated = default_run(result).violated()
    assert [(result, row.quantity) for row in violated] == [at for at in WEIGHTS if at[0] == result]
    for row in violated:
        assert [tier for tier, verdict in row.verdict.items() if verdict is Verdict.VIOLATED] == ["printed"]
        assert row.printed == row.witness.bounds.get("printed")
        again = replay_witness(row.witness)
        assert (again.measured, again.verdict, again.erratum) == (row.measured, row.verdict, row.erratum)
        assert again.witness.error_lower == pytest.approx(row.witness.error_lower, rel=1e-9)
        if row.measured is not None and row.printed is not None:
            assert plain(row.measured) != plain(row.printed, "printed", row.kind), row.quantity


@pytest.mark.parametrize("result", RESULTS)
def test_rows_of_one_name_differ_in_construction_scope_or_parameters(result: str) -> None:
    keys = [(row.quantity, row.construction, row.scope, str(row.params)) for row in default_run(result)]
    assert len(set(keys)) == len(keys)
