"""How a derived bound was obtained: in one of four words, of which the default is the most modest."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Provenance(StrEnum):
    """From the strongest to the weakest; what has several parts has the word of its weakest part."""

    RULES = "derived by rules"
    ALGEBRA = "by algebra"
    CERTIFICATE = "proved by certificate"
    HAND = "by hand, proof in the source"


ORDER = tuple(Provenance)


def weakest(parts: Iterable[Provenance | None]) -> Provenance:
    """The word of the whole; None marks a hypothesis, which is not a part. Of nothing but hypotheses: by hand."""
    known = [part for part in parts if part is not None]
    return max(known, key=ORDER.index, default=Provenance.HAND)


@dataclass(frozen=True)
class Derived:
    """A closed form, with how it was obtained."""

    expression: Any
    provenance: Provenance = Provenance.HAND

    def rewritten(self, form: Callable[[Any], Any]) -> "Derived":
        """The same in other units or letters. `form` may add no claim of its own: it would get this word too."""
        return Derived(form(self.expression), self.provenance)
