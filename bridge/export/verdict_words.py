"""Verdicts in words: in full, or short where a table has little room."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bridge.theorems.record import TIERS, Flag, Row
from symbolic.statements.errata import Weight

LETTERS = {tier: tier[0].upper() for tier in TIERS}
MUST_STAY = (Flag.VACUOUS.value, Flag.CONDITIONAL.value)  # without them a verdict would promise too much


@dataclass(frozen=True)
class Wording:
    """How verdicts are put: names of tiers, weights and flags, and which flags are left out."""

    tiers: Mapping[str, str] = field(default_factory=lambda: {tier: tier for tier in TIERS})
    weights: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    every_flag: bool = True
    is_short: bool = False

    @property
    def colon(self) -> str:
        return " " if self.is_short else ": "

    def names(self, tiers: Iterable[str]) -> str:
        return ("" if self.is_short else ", ").join(self.tiers[tier] for tier in tiers)


FULL = Wording()
SHORT = Wording(
    tiers=LETTERS,
    weights={Weight.CONSTANT: "const.", Weight.PROOF: "step", Weight.DEFINITION: "def.", Weight.NOTATION: "nota."},
    flags={Flag.ROUNDING: "rounding", Flag.ROUNDED_ABOVE: "rounded"},
    is_short=True,
)
BARE = Wording(LETTERS, SHORT.weights, SHORT.flags, every_flag=False, is_short=True)


def verdict_words(row: Row, wording: Wording = FULL) -> str:
    """One word if all tiers agree, else each verdict with its tiers; flags in brackets behind."""
    words = _judged(row, wording) or "-"
    flags = ", ".join(_flagged(flag, row, wording) for flag in flags_of(row, wording))
    return f"{words} ({flags})" if flags else words


def flags_of(row: Row, wording: Wording = FULL) -> list[str]:
    """Those that the verdict names, each once."""
    flags = _distinct(flag for flags in row.flags.values() for flag in flags)
    return [flag for flag in flags if wording.every_flag or flag in MUST_STAY]


def _judged(row: Row, wording: Wording) -> str:
    by_tier = {tier: tier_words(row, tier, wording) for tier in row.verdict}
    verdicts = _distinct(by_tier.values())
    if len(verdicts) == 1:
        return verdicts[0]
    tiers = {words: [tier for tier in by_tier if by_tier[tier] == words] for words in verdicts}
    parts = (f"{wording.names(tiers[words])}{wording.colon}{words}" for words in verdicts)
    return (", " if wording.is_short else "; ").join(parts)


def tier_words(row: Row, tier: str, wording: Wording = FULL) -> str:
    """The verdict on one tier; `violated` alone is for the statement that the paper makes, else its weight follows."""
    verdict = str(row.verdict[tier])
    weight = row.erratum.weight if tier == "printed" and row.erratum is not None else Weight.STATEMENT
    return verdict if weight == Weight.STATEMENT else f"{verdict} ({wording.weights.get(weight, weight)})"


def _flagged(flag: str, row: Row, wording: Wording) -> str:
    """The flag, with its tiers unless it holds for all."""
    tiers = [tier for tier, flags in row.flags.items() if flag in flags and tier in TIERS]
    words = wording.flags.get(flag, flag)
    whole = not tiers or set(tiers) >= set(row.verdict)
    return words if whole else f"{words}{wording.colon}{wording.names(tiers)}"


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(str(word) for word in words))
