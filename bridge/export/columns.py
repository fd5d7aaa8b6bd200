"""The columns that a table may have: what stands in their cells, what they mean, which go first where room is short."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from bridge.theorems.record import Row

LABELS = ("quantity", "where", "scope", "kind")
NUMBERS = {
    "printed": "the bound in the paper",
    "claimed": "the bound of your own",
    "derived": "the bound that follows from the hypotheses by the derivation",
    "instance": "the derived bound with the numbers of this network or prompt",
    "measured": "the largest error, or the value, at random or real inputs",
    "attacked": "the largest error that gradient ascent finds",
    "exact": "the largest error in exact arithmetic, at the worst inputs",
    "rounding": "the largest distance between floating-point and exact values",
    "ratio": "the sharpest bound of ours over the largest error",
    "claimed_ratio": "the claimed bound over the largest error",
    "median": "the median, over all draws, of the largest error that was found at each",
    "mean_at_least": "the confidence limit of the expected error",
    "at_least": "the lower end of the confidence interval over seeds",
    "at_most": "its upper end",
    "level": "the probability with which that interval may miss",
    "failures": "draws whose error exceeds the sharpest bound of ours",
    "seeds": "independent runs, or draws of the randomness",
    "p_value": "the probability of so many failures if the bound holds",
}
TEXTS = ("norm", "domain", "quantifier", "remark")
SETTINGS = ("samples", "seed")
NAMES = (*LABELS, *NUMBERS, *TEXTS, *SETTINGS, "verdict")  # and those of the parameters
WHERE = "the case: a direction of a limit, a choice, a construction"
KINDS = {  # how a quantity stands to its bounds, and in words
    "exact": ("=", "a value"),
    "upper": ("≤", "an upper bound"),
    "lower": ("≥", "a lower bound"),
    "rate": ("~", "a rate"),
}
SCOPES = {
    "network": "every prompt of this network",
    "prompt": "the prompt where the ratio of bound to error is smallest",
    "prompt, every": "one prompt, every matrix as near to the exact one, attacked too",
    "prompt, local": "the same, with the error of each activation at its argument",
}
SHORT_SCOPES = {"prompt, every": "every", "prompt, local": "local"}
# Where there is little room, columns are left out from the end of these lists. After the verdict stands an error; after
# KEPT_BESIDE the first parameter that varies, a bound, what it takes for each row to have a number, and the other
# parameters that tell rows apart; after KEPT_THEN the rest of them.
ALWAYS = ("quantity", "verdict")
ERRORS = ("measured", "attacked", "exact")
BOUNDS = ("derived", "instance", "printed", "claimed")
KEPT_BESIDE = ("kind", "scope")
KEPT_THEN = ("measured", "derived", "claimed", "claimed_ratio")
KEPT_NEXT = (
    *("where", "instance", "printed", "at_least", "at_most"),
    *("attacked", "ratio", "failures", "p_value", "seeds", "level"),
)
KEPT_LAST = ("median", "mean_at_least", "exact", "rounding")


class Role(Enum):
    WORDS = auto()
    PARAMETER = auto()
    NUMBER = auto()
    VERDICT = auto()


@dataclass(frozen=True)
class Column:
    """`name` as `--columns` takes it."""

    name: str
    role: Role

    @classmethod
    def named(cls, name: str) -> "Column":
        """One of NAMES, else a parameter."""
        if name in NUMBERS:
            return cls(name, Role.NUMBER)
        if name in (*LABELS, *TEXTS, *SETTINGS):
            return cls(name, Role.WORDS)
        return cls(name, Role.VERDICT if name == "verdict" else Role.PARAMETER)

    @property
    def is_right(self) -> bool:
        """Whether its cells are set to the right."""
        return self.role in (Role.NUMBER, Role.PARAMETER)

    @property
    def heading(self) -> str:
        """The kind stands without a heading: its signs explain themselves."""
        return "" if self.name == "kind" else self.name.replace("_", " ") if self.role is Role.NUMBER else self.name

    def value(self, row: Row) -> Any:
        """What the row has there; None or "" where it has nothing."""
        if self.role is Role.PARAMETER:
            return row.params.get(self.name)
        return row.construction if self.name == "where" else getattr(row, self.name)
