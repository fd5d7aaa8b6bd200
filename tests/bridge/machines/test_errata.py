"""What the records of Wei et al. 2021 show at the defaults, and the words of its errata."""

import re

import pytest

from bridge.export.numbers import plain
from bridge.registry import studies
from tests.bridge.defaults import default_run

RESULTS = [name for name in studies() if name.startswith("machines.")]
NO_WORDS = re.compile(r"\b(said|told|turns|slip|finding|modulus|nothing)\b")


def test_the_words_of_errata_are_plain_and_leave_the_main_claim() -> None:
    stated = [quantity.erratum for name in RESULTS for quantity in studies()[name].result.quantities]
    for each in filter(None, stated):
        assert each.survives.startswith("yes: ")
        for words in (each.sentence, each.reading, each.repair, each.survives):
            assert "\\" not in words
            assert not NO_WORDS.search(words), words


@pytest.mark.long
@pytest.mark.parametrize("result", RESULTS)
def test_numbers_that_are_compared_are_those_of_the_witness_and_print_apart(result: str) -> None:
    for row in default_run(result).violated():
        assert row.printed == row.witness.bounds.get("printed")
        if row.measured is not None and row.printed is not None:
            assert plain(row.measured) != plain(row.printed, "printed", row.kind), row.quantity


@pytest.mark.parametrize("result", RESULTS)
def test_rows_of_one_name_differ_in_construction_scope_or_parameters(result: str) -> None:
    keys = [(row.quantity, row.construction, row.scope, str(row.params)) for row in default_run(result)]
    assert len(set(keys)) == len(keys)
