"""An erratum is complete, or it is refused."""

from dataclasses import replace

import pytest

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WU2024, Citation

ERRATUM = Erratum(
    Weight.CONSTANT,
    Citation(WU2024, "Lemma 2", "(3.9)"),
    "the sum has 3 terms",
    "all of them counted",
    "it has 4",
    "yes: no constant is claimed",
)


def test_an_erratum_names_its_place_and_its_repair() -> None:
    assert ERRATUM.place == "Lemma 2, eq. (3.9)"
    assert ERRATUM.words == "Lemma 2, eq. (3.9). In the paper: the sum has 3 terms. Repair: it has 4."


@pytest.mark.parametrize("field", ["sentence", "reading", "repair", "survives"])
def test_an_incomplete_erratum_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"an erratum needs {field}"):
        replace(ERRATUM, **{field: "  "})


def test_whether_the_main_claim_survives_is_answered_first() -> None:
    with pytest.raises(ValueError, match="begins with one of yes, no, partly, open and a colon, not 'of course'"):
        replace(ERRATUM, survives="of course")
    for answer in ("yes", "no", "partly", "open"):
        assert replace(ERRATUM, survives=f"{answer}: why").survives.startswith(answer)
