"""Certified thresholds: up to which value of one letter a claim holds, and from which on it is false."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.theorems.check import Check, Sides, as_ball
from bridge.theorems.numbers import plain
from symbolic.derivations.exact_numbers import as_count, as_formula, as_rational
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Threshold:
    """A claim that holds where `kept` >= 0 and is false where `broken` < 0, for `letter` from 0 to `top`.

    Both are formulas in the letter alone that fall through 0 once. Bisection with balls finds where, on the grid of
    1/`grain`; that the claim holds up to `holds` and is false from `fails` on is then proved by `inequalities`. Between
    the two it is open. `written` is the letter in words.

    Raises UsageError for formulas in other letters, for one that does not change its sign from + to - on the grid, for
    a `top` that is not a positive rational number and for a `grain` that is not a whole number.
    """

    name: str
    letter: sp.Symbol
    kept: sp.Expr
    broken: sp.Expr
    top: Any
    grain: int = 10_000
    written: str = ""

    __repr__ = brief

    def __post_init__(self) -> None:
        call = f"Threshold '{self.name}'"
        if not isinstance(self.letter, sp.Symbol):
            raise UsageError(f"{call}: letter = {self.letter!r:.80}; give a symbol")
        if (top := as_rational(call, "top", self.top)) <= 0:
            raise UsageError(f"{call}: top = {self.top}; give a number > 0")
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "grain", as_count(call, "grain", self.grain))
        for name in ("kept", "broken"):
            formula = as_formula(call, name, getattr(self, name))
            object.__setattr__(self, name, formula)
            if others := sorted(map(str, formula.free_symbols - {self.letter})):
                raise UsageError(f"{call}: {', '.join(others)} has no value; give formulas in {self.letter}")

    @cached_property
    def holds(self) -> sp.Rational:
        return self._crossing(self.kept)[0]

    @cached_property
    def fails(self) -> sp.Rational:
        return self._crossing(self.broken)[1]

    def _crossing(self, formula: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
        """Neighbours on the grid between which the sign changes from + to -."""
        low, high = 0, int(self.top * self.grain)

        def positive(place: int) -> bool:
            return bool(evaluate_ball(formula, {self.letter: Fraction(place, self.grain)}) > 0)

        if not positive(1) or positive(high):
            raise UsageError(
                f"Threshold '{self.name}': {formula} does not fall through 0 between 1/{self.grain} and {self.top}; "
                f"give a formula that is positive at first and negative in the end"
            )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if positive(middle) else (low, middle)
        return sp.Rational(low, self.grain), sp.Rational(high, self.grain)

    def inequalities(self, off: Any = 0) -> tuple[Inequality, Inequality]:
        """The claim for all values up to `holds`, and its opposite from `fails` on; both ends moved apart by -`off`."""
        off, named = as_rational(f"Threshold '{self.name}'", "off", off), self.written or str(self.letter)
        holds, fails = self.holds + off, self.fails - off
        up, down = {self.letter: (sp.Integer(0), holds)}, {self.letter: (fails, self.top)}
        upper, lower = f"{self.name} up to `{named} = {holds}`", f"not from `{named} = {fails}`"
        return (
            Inequality(f"{self.name}.holds", self.kept, up, meaning=upper),
            Inequality(f"{self.name}.fails", -self.broken, down, strict=True, meaning=lower),
        )

    @cached_property
    def proofs(self) -> tuple[Outcome, Outcome]:
        first, second = self.inequalities()
        return prove(first), prove(second)

    @property
    def words(self) -> str:
        named = self.written or str(self.letter)
        holds, fails = plain(float(self.holds)), plain(float(self.fails))
        kept, broken = (outcome.status is Status.PROVED for outcome in self.proofs)
        first = f"{'proved' if kept else 'not proved'} for `{named} <= {holds}`"
        return f"{first}, {'false' if broken else 'not refuted'} for `{named} >= {fails}`"

    def check(self, quantity: Quantity) -> Check:
        """The largest value up to which the claim holds: derived is what is proved, measured where it is false.

        A printed bound is the value up to which a paper states the claim. It depends on no parameter.
        """

        def sides() -> Sides:
            proved = all(outcome.status is Status.PROVED for outcome in self.proofs)
            return Sides(
                as_ball(self.holds).union(as_ball(self.fails)) if proved else None,
                measured=float(self.fails),
                derived=self.holds,
                proved=("derived",) if proved else (),
                remark=f"{self.words} ({sum(outcome.boxes for outcome in self.proofs)} boxes)",
            )

        return Check(quantity, sides, params={})
