"""What a rule presupposes: for which values it holds, for which it is refused, and for which an obligation is left."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus import Approximated, DerivationError, Norm, given
from symbolic.derivations.obligations import Obligation

HALF, ZERO, ONE = sp.Rational(1, 2), sp.Integer(0), sp.Integer(1)
FREE = sp.Symbol("free")  # nothing is known of it, not even that it is real
SIGN = sp.Symbol("sign", real=True)
COUNT = sp.Symbol("count", integer=True)
e = sp.Dummy("e", nonnegative=True)
N = sp.Symbol("N", integer=True, positive=True)
Q = sp.Symbol("q", nonnegative=True)

Rule = Callable[[Any], Any]


@dataclass(frozen=True)
class Premise:
    """A rule as a function of what it presupposes something of.

    `holds`: values for which nothing is owed. `refused`: those for which DerivationError is raised, with `words` in its
    message. `owed`: those that SymPy cannot decide, and the conditions that are left open, or words of their statement.
    """

    name: str
    rule: Rule
    holds: tuple[Any, ...] = ()
    refused: tuple[Any, ...] = ()
    words: str = ""
    owed: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)

    def check(self) -> None:
        for value in self.holds:
            assert not open_obligations(self.rule(value)), (self.name, value)
        for value in self.refused:
            self.check_refused(value)
        for value, wanted in self.owed.items():
            found = open_obligations(self.rule(value))
            assert all(any(_is(each, one) for each in found) for one in wanted), (self.name, value, found)

    def check_refused(self, value: Any) -> None:
        try:
            self.rule(value)
        except DerivationError as error:
            said = str(error)
        else:
            raise AssertionError(f"{self.name}: {value} is not refused")
        assert re.search(self.words, said), (self.name, value, said)


def open_obligations(concluded: Any) -> list[Obligation]:
    """Those of a value, or of a recursion."""
    owed = getattr(concluded.derivation if isinstance(concluded, Approximated) else concluded, "obligations", ())
    return [] if callable(owed) else [obligation for obligation in owed if obligation.open]


def _is(obligation: Obligation, wanted: Any) -> bool:
    return wanted in obligation.statement if isinstance(wanted, str) else obligation.condition == wanted


def bounds_a_norm(name: str, rule: Rule, what: str) -> Premise:
    """Of a number that is finite and not negative."""
    words = f"{what}.*(give a value >= 0|finite)|is not a linear form"
    refused, owed = (-1, sp.nan, sp.I, sp.oo), ("is not negative",)
    return Premise(name, rule, (sp.Rational(1, 4), 0), refused, words, {SIGN: owed, FREE: owed})


def is_whole(name: str, rule: Rule, what: str, least: int, *, limit: bool = False) -> Premise:
    """Of a whole number from `least` on; `limit`: infinity has a meaning."""
    refused = (least - 1, sp.Rational(5, 2), 2.5, sp.nan, *(() if limit else (sp.oo,)))
    enough, integral = f"{what} is at least {least}", f"{what} is a whole number"
    words = f"{what}.*give a whole number, at least {least}"
    return Premise(name, rule, (least, N), refused, words, {COUNT: (enough,), SIGN: (integral, enough)})


def in_norms(name: str, rule: Rule, *proved: Norm, words: str = "is bounded in the") -> Premise:
    """Of the norm of a premise."""
    return Premise(name, rule, proved, tuple(sorted(set(Norm) - set(proved))), words)


def number(name: str = "x", *, error: object = HALF, size: object = 1, norm: Norm = Norm.INF) -> Approximated:
    return given(name, dim=1, norm=norm, size=size, error=error)


def vector(name: str = "x", norm: Norm = Norm.INF, dim: object = 3, error: object = 0) -> Approximated:
    return given(name, dim=dim, norm=norm, size=1, error=error)


def weights(name: str = "a", *, error: object = HALF) -> Approximated:
    return given(name, dim=3, norm=Norm.ONE, size=1, error=error, probabilities=True)
