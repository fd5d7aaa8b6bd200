"""The norms in which sizes and errors are stated."""

from enum import StrEnum
from typing import Any

from symbolic.derivations.obligations import DerivationError


class Norm(StrEnum):
    """The vector norm in which a size and an error are stated."""

    INF = "inf"
    ONE = "1"
    TWO = "2"

    @property
    def latex(self) -> str:
        return {"inf": r"\infty", "1": "1", "2": "2"}[self.value]

    @property
    def words(self) -> str:
        return "sup norm" if self is Norm.INF else f"{self}-norm"


NormName = Norm | str | int | float  # "2" or 2, "inf" or infinity


def as_norm(value: Any) -> Norm:
    """`value` as a norm. Raises DerivationError if it is not one."""
    try:
        return Norm(str(value))
    except ValueError:
        raise DerivationError(f"the norm {value!r} is not one of {', '.join(Norm)}") from None
