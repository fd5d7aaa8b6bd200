"""The record of a comparison: what `compare` returns, and what its JSON holds.

A number that is absent is None (null), never NaN. Tiers are `printed`, `derived` and `instance`, with `claimed` where a
bound is claimed; `verdict` maps each tier that has a bound to its verdict, `flags` each tier to its remarks.
"""

import math
from collections.abc import Callable, Iterator
from enum import StrEnum
from html import escape
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    field_validator,
    model_serializer,
    model_validator,
)

from symbolic.words.prose import marked, prose
from symbolic.words.shown import cut

TIERS = ("printed", "claimed", "derived", "instance")
# Fields that a record has only where they have a value.
OPTIONAL = (
    *("claim", "claimed", "claimed_ratio", "drawn", "premises", "settings"),
    *("seeds", "failures", "p_value", "median", "mean_at_least"),
    *("values", "at_least", "at_most", "level"),
)
WIDTH, ROWS = 120, 24  # characters of a value, rows of a table that print shows
AUTOMATIC = "automatic"  # in words, the 0 of a parameter that is then computed from the others


Setting = Annotated[int, Field(ge=0, lt=2**63)]


class Verdict(StrEnum):
    """What a run, or a proof, says of one bound. None of these is ever collapsed into another."""

    PROVED = "proved"
    KEPT = "kept"
    VIOLATED = "violated"
    CONSISTENT = "consistent"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"
    NOT_REPRESENTABLE = "not representable"


class Flag(StrEnum):
    """What else has to be said of a bound or of a measurement."""

    VACUOUS = "vacuous"
    CONDITIONAL = "conditional"
    ATTAINED = "attained"
    ROUNDING = "rounding dominates"
    ROUNDED_ABOVE = "above a bound by rounding"  # the float error is; exact arithmetic puts it within


class _Shown(BaseModel):
    """What shows itself: in one line, and with a line for each field that has a value where it is printed."""

    @property
    def brief(self) -> str:
        """What the line says."""
        raise NotImplementedError

    @property
    def filled(self) -> dict[str, str]:
        """The fields that have a value, in words of at most WIDTH characters."""
        dumped = self.model_dump(mode="json")
        return {name: cut(str(value), WIDTH) for name, value in dumped.items() if value not in (None, "", [], {})}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.brief}>"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.filled.items())

    def _repr_html_(self) -> str:
        lines = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self.filled.items())
        return f"<table>{''.join(lines)}</table>"


class _Sparse(_Shown):
    """What has some fields only where a bound is claimed or a check depends on settings."""

    @model_serializer(mode="wrap")
    def without_absent_options(self, dump: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in dump(self).items() if value is not None or name not in OPTIONAL}


class Witness(_Sparse):
    """The input at which a bound fails, exact (float64 values print to the digits that give them back)."""

    model_config = ConfigDict(extra="forbid")

    result: str
    quantity: str
    scope: str | None = None
    params: dict[str, Any]
    inputs: dict[str, Any]
    error_lower: float
    bounds: dict[str, float]
    file: str | None = None
    sha256: str | None = None  # of the Python file that holds the theorem, where one does
    claim: str | None = None  # the bound that the user claimed, as typed
    settings: dict[str, Setting] | None = None  # of the run, where its check depends on them: samples, seed, ...

    @property
    def brief(self) -> str:
        return f"of {self.result}, {self.quantity}: error at least {self.error_lower:.6g}"


def _prose(words: str) -> str:
    """Plain text; in memory it remembers its mathematics, for LaTeX."""
    return prose(words, checked=False)


MARKED = {"marked": True}  # the context of a dump that keeps the backticks of mathematics


def _dumped(words: str, info: Any) -> str:  # pydantic gives a SerializationInfo
    return marked(words) if info.context == MARKED else words


# pydantic makes a plain string of every string, before which the mathematics is marked.
Words = Annotated[str, BeforeValidator(marked), AfterValidator(_prose), PlainSerializer(_dumped)]


class RowErratum(_Shown):
    """What a violated printed bound is an erratum of: see `symbolic.statements.errata.Erratum`."""

    model_config = ConfigDict(extra="forbid")

    weight: str
    place: Words
    sentence: Words
    reading: Words
    repair: Words
    survives: Words

    @property
    def brief(self) -> str:
        return f"({self.weight}) in {self.place}"


class Row(_Sparse):
    """One quantity at one point of the grid: its bounds, what was measured, and the verdict on each tier."""

    model_config = ConfigDict(extra="forbid")

    quantity: str
    kind: str
    quantifier: str
    scope: str | None = None
    params: dict[str, Any]
    printed: float | None = None
    claimed: float | None = None
    derived: float | None = None
    instance: float | None = None
    measured: float | None = None  # largest error over the random (or real) inputs
    attacked: float | None = None  # largest error that the attack found
    rounding: float | None = None  # largest distance of the two interpreters at the worst inputs
    ratio: float | None = None  # sharpest tier of ours over the largest error seen (exact where it is known)
    claimed_ratio: float | None = None  # the claimed bound over the same error: how much sharper it could be
    seeds: int | None = None  # draws of the randomness of a bound that holds with probability, or in expectation; runs
    failures: int | None = None  # draws whose error exceeds the sharpest bound of ours
    p_value: float | None = None  # of so many failures, at the stated probability; rounded up
    median: float | None = None  # of the errors of all draws
    mean_at_least: float | None = None  # confidence limit of the expected error
    values: list[float] | None = None  # over the seeds, of a claim about them
    at_least: float | None = None  # ends of the confidence interval of their centre
    at_most: float | None = None
    level: float | None = None  # the centre is outside with at most this probability
    verdict: dict[str, Verdict] = Field(default_factory=dict)
    witness: Witness | None = None
    erratum: RowErratum | None = None  # of the printed tier, where it is violated and the result says what fails
    flags: dict[str, list[str]] = Field(default_factory=dict)
    exact: float | None = None  # largest error in exact arithmetic at the worst inputs, rounded up
    norm: Words = ""
    domain: Words = ""
    construction: Words = ""
    meaning: Words = ""  # what its numbers are
    finding: Words = ""  # the violation with {found} and {printed}, where `found` is not a value of the quantity
    remark: Words = ""
    order: str = ""  # the Landau symbol inside which the printed bound stands, if any
    seed: int = 0
    samples: int = 0
    attack_steps: int = 0
    restarts: int = 0
    drawn: list[str] | None = None  # weights that the seed drew, of which the row shows one draw
    premises: list[Words] | None = None  # those of a conditional bound that are undecided here
    slack: dict[str, float] = Field(default_factory=dict)

    @property
    def brief(self) -> str:
        at = ", ".join(f"{name} = {cut(str(value), 20)}" for name, value in self.params.items())
        numbers = {name: getattr(self, name) for name in (*TIERS, "measured", "attacked", "exact", "ratio")}
        shown = ", ".join(f"{name} {x:.4g}" for name, x in numbers.items() if x is not None)
        words = ", ".join(dict.fromkeys(map(str, self.verdict.values())))
        scope = f" ({self.scope})" if self.scope else ""
        return "; ".join(filter(None, [f"{self.quantity}{scope}", cut(at), shown, words]))

    @field_validator(
        *TIERS, "measured", "attacked", "rounding", "ratio", "claimed_ratio", "exact", "at_least", "at_most"
    )
    @classmethod
    def absent_rather_than_nan(cls, number: float | None) -> float | None:
        return number if number is not None and math.isfinite(number) else None


class NamedTable(_Shown):
    """A table beside the rows (a trace, the norms of each lemma): as many cells in each row as there are columns."""

    model_config = ConfigDict(extra="forbid")

    title: Words
    columns: list[Words]
    rows: list[list[str | int | float | None]]

    @property
    def brief(self) -> str:
        return f"{self.title}: {len(self.rows)} rows of {cut(', '.join(self.columns))}"

    @property
    def filled(self) -> dict[str, str]:
        """The rows by their numbers, the first ROWS of them."""
        shown = {str(place): ", ".join(map(str, row)) for place, row in enumerate(self.rows[:ROWS])}
        rest = {"...": f"{len(self.rows) - ROWS} rows"} if len(self.rows) > ROWS else {}
        return {self.title: ", ".join(self.columns), **shown, **rest}

    @model_validator(mode="after")
    def rows_are_as_wide_as_the_head(self) -> "NamedTable":
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table '{self.title}' has a row that is not of {len(self.columns)} cells")
        return self


class Record(BaseModel):
    """Printed, derived, instance and measured, side by side, as data.

    `of` says of which theorem: its notation and its formulas stand in the tables of one that is in no catalogue.
    """

    model_config = ConfigDict(extra="forbid")

    result: str
    citation: str
    params: dict[str, Any]
    environment: dict[str, Any]
    rows: list[Row]
    tables: list[NamedTable] = Field(default_factory=list)
    automatic: list[str] = Field(default_factory=list)  # parameters of which 0 means: computed from the others
    _theorem: Any = PrivateAttr(None)

    def __iter__(self) -> Iterator[Row]:  # type: ignore[override]  # rows, rather than pydantic's (field, value) pairs
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        """Equal as data: whichever theorem they are `of`, and after they were saved."""
        if not isinstance(other, Record):
            return NotImplemented
        return self.model_dump(mode="json") == other.model_dump(mode="json")

    def of(self, theorem: Any) -> Self:
        self._theorem = theorem
        return self

    @property
    def theorem(self) -> Any:
        """The theorem that was compared; None for a record that was read from a file."""
        return self._theorem

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain dicts: one record a row, for pandas or JSON."""
        return [row.model_dump(mode="json") for row in self.rows]

    def violated(self) -> list[Row]:
        """The rows in which some tier is refuted."""
        return [row for row in self.rows if Verdict.VIOLATED in row.verdict.values()]

    def to_json(self) -> str:
        """The record as one JSON object."""
        return self.model_dump_json(indent=2)
