"""Errata: printed sentences that a run or a proof refutes, each one record.

An erratum belongs to the quantity whose printed bound fails. Its weight says what fails: the statement that the paper
makes, or something less. A verdict `violated` carries the weight to the last printed line.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from symbolic.words.citations import Citation
from symbolic.words.prose import make_prose, marked, prose
from symbolic.words.shown import brief

ANSWERS = {  # with which `survives` begins
    "yes": "The main claim of the paper survives",
    "no": "The main claim of the paper does not survive",
    "partly": "The main claim of the paper survives in part",
    "open": "Whether the main claim of the paper survives is open",
}


class Weight(StrEnum):
    """What a printed sentence is that fails, in descending order of weight."""

    STATEMENT = "statement"
    CONSTANT = "constant"
    PROOF = "step of a proof"
    DEFINITION = "index or definition"
    NOTATION = "notation"


@dataclass(frozen=True)
class Erratum:
    """One printed sentence that fails, under all its hypotheses and in its most favourable reading.

    `citation` gives label and equation, `sentence` says in our words what stands there, `reading` how we read it and
    why no kinder reading saves it, `repair` what holds instead. `survives` answers whether the paper's main claim
    survives: "yes", "no", "partly" or "open", then a colon and the reason. `at` are the parameters of the comparison
    that shows it, as (name, value) pairs, where the defaults do not.
    """

    weight: Weight
    citation: Citation
    sentence: str
    reading: str
    repair: str
    survives: str
    at: tuple[tuple[str, Any], ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "sentence", "reading", "repair", "survives")
        empty = [name for name in ("sentence", "reading", "repair", "survives") if not getattr(self, name).strip()]
        if empty:
            raise ValueError(f"an erratum needs {', '.join(empty)}")
        if self.survives.split(":")[0] not in ANSWERS:
            raise ValueError(f"`survives` begins with one of {', '.join(ANSWERS)} and a colon, not '{self.survives}'")

    @property
    def place(self) -> str:
        """Label and equations, without the paper."""
        return prose(", ".join(marked(part) for part in (self.citation.label, self.citation.equations) if part))

    @property
    def outcome(self) -> str:
        """Whether the main claim survives, in a sentence without its full stop."""
        return outcome_words(self.survives)

    @property
    def claim(self) -> str:
        """Place and sentence."""
        return prose(f"{marked(self.place)}. In the paper: {marked(self.sentence)}")

    @property
    def words(self) -> str:
        """Claim and repair in one line: what a table says of it."""
        return prose(f"{marked(self.claim)}. Repair: {marked(self.repair)}.")


def outcome_words(survives: str) -> str:
    """The answer and its reason in a sentence, without its full stop."""
    answer, _, reason = marked(survives).partition(":")
    return prose(": ".join(filter(None, [ANSWERS[answer], reason.strip()])), checked=False)
