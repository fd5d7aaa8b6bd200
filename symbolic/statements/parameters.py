"""Parameters of a result and the conditions on them, which are checked before any evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.words.prose import make_prose
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Parameter:
    """A parameter under the paper's letter in ASCII. `symbol` is None for one that is not a number (a matrix, say).

    `takes` says what is typed for one that is text (`NAME|FILE`). Digits stay text there; the theorem reads it.
    `in_words` is the meaning within a statement, where `meaning` also says what is typed; "": the letter stands alone
    there. A `setting` selects what is run (a format, a budget, an example); no conclusion needs its hypotheses unless
    it shows the letter.
    """

    name: str
    symbol: sp.Symbol | None
    meaning: str
    default: Any
    integer: bool = False
    takes: str = ""
    in_words: str | None = None
    setting: bool = False

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "meaning", *(["in_words"] if self.in_words else []))

    @property
    def stated(self) -> str:
        """Its meaning within a statement; "" where the letter stands alone."""
        return self.meaning if self.in_words is None else self.in_words


def relation_words(condition: Any) -> str:
    """A relation as it is read: `d = 1` for sp.Eq(d, 1)."""
    if isinstance(condition, sp.Eq):
        return f"{sp.sstr(condition.lhs)} = {sp.sstr(condition.rhs)}"
    return str(sp.sstr(condition))


@dataclass(frozen=True)
class Hypothesis:
    """A condition on the parameters. `condition` is a SymPy relation in the parameters' symbols.

    `only` names the quantities that need it, if others of the result do not, whatever letters they have.
    """

    parameter: str
    condition: Any
    reason: str
    only: tuple[str, ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        make_prose(self, "reason")

    def complaint(self, values: Mapping[str, Any]) -> str | None:
        """None if the condition holds at `values` (names to numbers), else one sentence."""
        symbols = {symbol: values[symbol.name] for symbol in self.condition.free_symbols if symbol.name in values}
        try:
            held = self.condition.subs(symbols)
        except (TypeError, ZeroDivisionError):  # a side is undefined there: 1/N at N = 0
            held = sp.false
        if held == sp.true:
            return None
        others = [
            f"{symbol} = {symbols[symbol]}" for symbol in sorted(symbols, key=str) if symbol.name != self.parameter
        ]
        at = f" at {', '.join(others)}" if others else ""
        got = values.get(self.parameter)
        return f"{self.parameter} = {got} does not meet {relation_words(self.condition)}{at} ({self.reason})"

    def latex(self) -> str:
        return sp.latex(self.condition)
