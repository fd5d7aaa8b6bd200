"""Words and letters of a statement in the place of those that are read off derivations and symbols."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import sympy as sp

from bridge.limits.accepted import require_known
from bridge.theorems.quantities import letters_of
from symbolic.statements.result import Parameter, Quantity, Result
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

Fields = Mapping[str, Any]  # by name, a mapping of fields
READ_OFF = ("name", "symbol", "derivation")  # no words


@dataclass(frozen=True)
class OwnWords:
    """How a statement reads, where that is not what is read off it.

    `quantities` gives, by name, fields of a `bs.statements.Quantity` (`latex_symbol`, `meaning`, `norm`, `domain`,
    `construction`, `remark`, ...), `parameters` those of a `bs.statements.Parameter`. `objects` say what other letters
    of this LaTeX mean, `notation` gives the LaTeX of symbols.
    """

    quantities: Fields = field(default_factory=dict)
    parameters: Fields = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    notation: Mapping[sp.Symbol, str] = field(default_factory=dict)

    __repr__ = brief

    def of(self, read: Result) -> Result:
        """The statement in these words. Raises UsageError for names and fields that it does not have."""
        quantities, parameters = ([each.name for each in known] for known in (read.quantities, read.parameters))
        _require(f"{read.id}: `wording.quantities`", self.quantities, quantities, Quantity)
        _require(f"{read.id}: `wording.parameters`", self.parameters, parameters, Parameter)
        renamed = [name for name, words in self.quantities.items() if "latex_symbol" in words]
        unseen = {letter for name in renamed for letter in letters_of(name)}
        return replace(
            read,
            quantities=tuple(replace(each, **self.quantities.get(each.name, {})) for each in read.quantities),
            parameters=tuple(replace(each, **self.parameters.get(each.name, {})) for each in read.parameters),
            objects={**self.objects, **{letter: x for letter, x in read.objects.items() if letter not in unseen}},
            notation={**read.notation, **self.notation},
        )


def _require(what: str, given: Fields, known: Collection[str], kind: type[Quantity] | type[Parameter]) -> None:
    for name, words in given.items():
        require_known(name, [*known], f"{what} has no")
        if not isinstance(words, Mapping):
            raise UsageError(f"{what} of {name} is {words!r:.80}; give a mapping of fields, such as {{'meaning': ...}}")
        for one in words:
            require_known(one, [f.name for f in fields(kind) if f.name not in READ_OFF], f"{what} of {name} has no")
