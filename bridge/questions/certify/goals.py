"""Goals: what a part of a proof has to show, f >= 0 on a box where conditions hold; and how regions are narrowed.

A step proves its goal from others. Their regions are `narrowed` in one fixed way, so that a certificate need not store
them: conditions in one letter become ends of its range, and a letter with a single value is replaced by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from bridge.questions.certify.definedness import evaluated, is_finite_real
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.letters import are_equal
from bridge.questions.certify.scalars import Box, Cell
from bridge.questions.certify.sizes import check_expansion, check_sizes, replaced
from numeric.balls import working_precision
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

Ranges = tuple[tuple[sp.Symbol, sp.Rational, sp.Rational], ...]


class NotShownError(Exception):
    """A step does not prove its goal. The message says why."""


@dataclass(frozen=True)
class ProofGoal:
    """f >= 0 wherever the letters lie in their ranges and all of `where` are >= 0. `expression` is f.

    An empty region has no ranges that could be given: `empty` is set. `fixed` are the letters that were replaced.
    """

    expression: sp.Expr
    ranges: Ranges
    where: tuple[sp.Expr, ...] = ()
    empty: bool = False
    fixed: tuple[tuple[sp.Symbol, sp.Rational], ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, inequality: Inequality) -> "ProofGoal":
        """The goal of an inequality, simplified by SymPy: its letters are read as real numbers."""
        real = {symbol: sp.Symbol(symbol.name, real=True) for symbol in inequality.box}
        ranges = tuple((real[symbol], low, high) for symbol, (low, high) in inequality.box.items())
        where = tuple(evaluated(condition, real) for condition in inequality.where)
        return cls(evaluated(inequality.expression, real), ranges, where)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        return tuple(symbol for symbol, _, _ in self.ranges)

    @property
    def nonnegative(self) -> frozenset[sp.Symbol]:
        return frozenset(symbol for symbol, low, _ in self.ranges if low >= 0)

    @property
    def box(self) -> Box:
        return tuple((Fraction(low), Fraction(high)) for _, low, high in self.ranges)

    def on(self, box: Box) -> "ProofGoal":
        """The same on a part of the box."""
        ends = (
            (sp.Rational(low.numerator, low.denominator), sp.Rational(high.numerator, high.denominator))
            for low, high in box
        )
        ranges = tuple((s, *pair) for s, pair in zip(self.symbols, ends, strict=True))
        return ProofGoal(self.expression, ranges, self.where)

    def of_expression(self, expression: sp.Expr) -> "ProofGoal":
        """Another expression on the same region."""
        return narrowed(ProofGoal(expression, self.ranges, self.where))

    @cached_property
    def inequality(self) -> Inequality:
        return Inequality("goal", self.expression, {s: (low, high) for s, low, high in self.ranges}, self.where)

    def defines(self, *expressions: sp.Expr, bits: int) -> bool:
        """Whether each expression is shown to be a real number on the whole box, wherever the conditions hold."""
        return all(
            enclosures(ProofGoal(each, self.ranges, self.where), bits).defined_on(Cell(self.box))
            for each in expressions
        )

    def smooth(self, bits: int) -> bool:
        """Whether each node of f is a differentiable function of those before it on the whole box: no kink, no edge."""
        whole, cell = enclosures(self, bits).whole, Cell(self.box)
        if whole.tape is None or not whole.tape.analytic:
            return False
        with working_precision(bits):
            return all(slope.is_finite() for slope in whole.tape.derivatives(cell.ends))


@lru_cache(maxsize=512)
def enclosures(goal: ProofGoal, bits: int) -> Enclosures:
    return Enclosures(goal.inequality, bits)


def narrowed(goal: ProofGoal) -> ProofGoal:
    """The goal with conditions in one letter made ends of its range, and letters of one value replaced."""
    f, ranges, where = goal.expression, {s: (low, high) for s, low, high in goal.ranges}, list(goal.where)
    known: dict[sp.Symbol, sp.Rational] = {}
    while True:
        fixed = {s: low for s, (low, high) in ranges.items() if low == high}
        known |= fixed
        for symbol in fixed:
            del ranges[symbol]
        if fixed:
            f, where = substituted(f, fixed), [substituted(each, fixed) for each in where]
        kept: list[sp.Expr] = []
        for each in where:
            narrower = _side(each)
            if narrower is None:
                kept.append(each)
                continue
            symbol, end, upper = narrower
            if symbol is None:
                if end < 0:
                    return ProofGoal(f, (), (), empty=True)
            else:
                low, high = ranges[symbol]
                ranges[symbol] = (low, min(high, end)) if upper else (max(low, end), high)
        if any(low > high for low, high in ranges.values()):
            return ProofGoal(f, (), (), empty=True)
        where = kept
        if not any(low == high for low, high in ranges.values()):
            left = tuple((s, *ends) for s, ends in ranges.items())
            return ProofGoal(f, left, tuple(where), fixed=tuple(known.items()))


def _side(condition: sp.Expr) -> tuple[sp.Symbol | None, sp.Rational, bool] | None:
    """What a condition says of one letter: an end of its range, and whether it is the upper one; no letter for a
    number. None where it says something else."""
    if condition.is_Rational:
        return None, condition, False
    if len(condition.free_symbols) != 1:
        return None
    (symbol,) = condition.free_symbols
    parts = affine_in(condition, symbol)
    if parts is None or not parts[1].is_Rational:
        return None
    return symbol, -parts[1] / parts[0], bool(parts[0] < 0)


def affine_in(expression: sp.Expr, symbol: sp.Symbol) -> tuple[sp.Rational, sp.Expr] | None:
    """a and b of a x + b, where a is a rational number other than 0 and b free of x.

    Raises UsageError for an expression that would have too many terms.
    """
    check_expansion(expression, "a condition")
    whole = sp.expand(expression)
    a = whole.coeff(symbol, 1)
    if not a.is_Rational or a == 0:
        return None
    b = sp.expand(whole - a * symbol)
    return None if b.has(symbol) else (a, b)


def substituted(expression: sp.Expr, values: Mapping[sp.Symbol, Any]) -> sp.Expr:
    """The expression with values in the place of letters. Raises NotShownError for one that is no real number."""
    try:
        check_sizes(replaced(expression, values), "a step")
    except UsageError as error:
        raise NotShownError(str(error)) from None
    found = evaluated(expression, values)
    if not is_finite_real(found):
        raise NotShownError(f"{found} is not a finite real number")
    return found


def same(goal: ProofGoal, a: sp.Expr, b: sp.Expr) -> bool:
    """Whether two expressions agree on the goal's region, where both are defined."""
    return are_equal(a, b, goal.nonnegative)


def require(held: Any, reason: str) -> None:
    if not held:
        raise NotShownError(reason)
