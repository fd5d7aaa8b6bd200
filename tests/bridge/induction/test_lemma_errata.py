"""Each violated printed bound of Theorem 4.1 and the lemmas of section 5: its erratum, and a witness that replays."""

from functools import cache
from pathlib import Path

import pytest

from bridge import compare, replay
from bridge.record import Row, Verdict
from symbolic.catalogue import find_result
from symbolic.errata import Weight

CALLS = {
    "induction.vanilla": {"p": 4, "L": 8, "samples": 8, "attack": 10, "restarts": 4},
    "induction.first_stage": {"L": 30},
    "induction.balance": {"w_star": 0.4},
    "induction.losses": {"L": 12},
    "induction.fixed_point": {"alpha": 0.3},
    "induction.karamata": {},
}
ACCUSED = {
    "induction.vanilla": {"output.mask_3": Weight.NOTATION},
    "induction.first_stage": {
        "loss": Weight.NOTATION,
        "rate": Weight.NOTATION,
        "q": Weight.NOTATION,
        "softmax": Weight.NOTATION,
        "q.slope": Weight.PROOF,
    },
    "induction.balance": {"rate": Weight.NOTATION},
    "induction.losses": dict.fromkeys(("gram.as_printed", "head.as_printed", "head.optimum"), Weight.DEFINITION),
    "induction.fixed_point": {"stated.as_printed": Weight.DEFINITION},
    "induction.karamata": {
        "weighted": Weight.STATEMENT,
        "weighted.square": Weight.STATEMENT,
    },
}


@cache
def violated(result: str) -> tuple[Row, ...]:
    rows = compare(result, **CALLS[result]).rows
    return tuple(row for row in rows if row.verdict.get("printed") is Verdict.VIOLATED)


@pytest.mark.long
@pytest.mark.parametrize("result", CALLS)
def test_the_accusations_and_their_weights(result: str) -> None:
    assert {row.quantity: row.erratum.weight for row in violated(result)} == ACCUSED[result]


@pytest.mark.parametrize("result", CALLS)
def test_each_violated_row_has_a_witness_that_replays(result: str, tmp_path: Path) -> None:
    for row in violated(result):
        path = tmp_path / "witness.json"
        path.write_text(row.witness.model_dump_json())
        again = replay(str(path))
        assert again.verdict["printed"] is Verdict.VIOLATED, row.quantity
        assert again.erratum == row.erratum, row.quantity


@pytest.mark.parametrize("result", CALLS)
def test_no_remark_repeats_its_erratum(result: str) -> None:
    for row in violated(result):
        for text in (row.erratum.sentence, row.erratum.reading, row.erratum.repair):
            assert text not in row.remark, row.quantity


@pytest.mark.parametrize("result", CALLS)
def test_an_erratum_is_in_plain_text(result: str) -> None:
    errata = {quantity.erratum for quantity in find_result(result).quantities} - {None}
    for erratum in errata:
        for text in (erratum.sentence, erratum.reading, erratum.repair, erratum.survives):
            assert text.isascii(), text
            assert not text.endswith("."), text
