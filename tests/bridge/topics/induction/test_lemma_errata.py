"""The errata of the induction results: plain text, and no remark that repeats them."""

import pytest

from symbolic.statements.catalogue import RUNNING, find_result
from tests.bridge.defaults import default_run

IDS = sorted(id for id in RUNNING if id.startswith("induction."))
FEW = {"samples": 4, "attack": 3, "restarts": 2}  # as test_registry.py runs it


@pytest.mark.long
@pytest.mark.parametrize("id", IDS)
def test_no_remark_repeats_its_erratum(id: str) -> None:
    for row in default_run(id, **(FEW if id == "induction.vanilla" else {})).violated():
        for text in (row.erratum.sentence, row.erratum.reading, row.erratum.repair):
            assert text not in row.remark, row.quantity


@pytest.mark.parametrize("id", IDS)
def test_an_erratum_is_in_plain_text(id: str) -> None:
    for erratum in {quantity.erratum for quantity in find_result(id).quantities} - {None}:
        for text in (erratum.sentence, erratum.reading, erratum.repair, erratum.survives):
            assert text.isascii(), text
