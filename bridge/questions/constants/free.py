"""Statements with one free constant: what they say of a region for each of its values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.questions.certify.sizes import replaced
from symbolic.derivations.exact_numbers import as_rational
from symbolic.derivations.inequalities import Inequality
from symbolic.latex.displays import equations, gathered
from symbolic.latex.page import Page
from symbolic.words.errors import UsageError

At = Callable[[sp.Rational], tuple[Inequality, ...]]
Region = dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]


@dataclass(frozen=True)
class FreeConstant:
    """A statement for each value of `letter`: true up to the largest one, or (unless `largest`) from the least one on.

    `statement` is it in words, `formula` in LaTeX (of a value, or of the letter), for all points of `box` with `where`
    >= 0. `says` gives its inequalities: a point at which one of them fails refutes that value. `by` gives inequalities
    that imply it together. `limits` are expressions, with their regions, that bound the letter at each point (from
    above if the `largest` is asked for): the best value is their infimum (supremum). `ends` are those of the letter's
    range; `strictly`: a point refutes only if it fulfils the conditions of its region strictly.
    """

    question: str
    statement: str
    formula: Callable[[sp.Expr], str]
    letter: sp.Symbol
    largest: bool
    says: At
    by: At
    box: Region
    where: tuple[sp.Expr, ...] = ()
    limits: tuple[tuple[sp.Expr, Inequality], ...] = ()
    ends: tuple[Fraction | None, Fraction | None] = (None, None)
    strictly: bool = False

    @property
    def sign(self) -> int:
        return 1 if self.largest else -1


def of_inequality(call: str, inequality: Inequality, letter: Any) -> FreeConstant:
    """The inequality for each value of a letter that has a range in its box."""
    if not isinstance(letter, sp.Symbol) or letter not in inequality.box:
        known = ", ".join(map(str, inequality.box))
        raise UsageError(
            f"{call}: the letter {letter} has no range in the inequality '{inequality.name}', which has ranges of "
            f"{known}; add one, such as {letter}: (0, 10), in which the constant is sought"
        )
    low, high = (Fraction(end) for end in inequality.box[letter])
    if low == high:
        raise UsageError(f"{call}: the range of {letter} is the point {low}; give an interval to search in")
    if letter not in inequality.expression.free_symbols:
        raise UsageError(f"{call}: the inequality '{inequality.name}' does not depend on {letter}")
    others = {symbol: ends for symbol, ends in inequality.box.items() if symbol != letter}
    require_region(call, others)

    def at(value: sp.Rational) -> tuple[Inequality, ...]:
        return (with_value(inequality, letter, value),)

    words = f"{sp.sstr(inequality.expression)} {'>' if inequality.strict else '>='} 0"
    limits = _limits(inequality, letter, others)

    def formula(value: sp.Expr) -> str:
        return inequality_latex(inequality.expression.subs(letter, value), strict=inequality.strict)

    return FreeConstant(
        f"largest {letter}", words, formula, letter, True, at, at, others, inequality.where, limits, (low, high)
    )


def inequality_latex(expression: Any, *, strict: bool = False) -> str:
    """That it is >= 0 (> 0), on lines that fit a page."""
    return gathered(equations(("0", "<" if strict else r"\le", expression), Page()))


def require_region(call: str, box: Region) -> None:
    """Raises UsageError for a region without coordinates, or that is a point."""
    if all(low == high for low, high in box.values()):
        at = ", ".join(f"{symbol} = {low}" for symbol, (low, _) in box.items())
        where = f"the point {at}" if box else "empty: there are no coordinates"
        raise UsageError(f"{call}: the region is {where}; give a range LOW < HIGH to one letter at least")


def with_value(inequality: Inequality, letter: sp.Symbol, value: sp.Rational) -> Inequality:
    """The inequality at a value of the letter, which its name tells."""
    form = inequality.form

    def put(expression: Any) -> Any:
        return replaced(sp.sympify(expression), {letter: value})  # as it is: where it is defined can be read off it

    return replace(
        inequality,
        name=f"{inequality.name} ({letter} = {value})",
        expression=put(inequality.expression),
        box={symbol: ends for symbol, ends in inequality.box.items() if symbol != letter},
        where=tuple(map(put, inequality.where)),
        form=None if form is None else (form[0], tuple(tuple(map(put, row)) for row in form[1])),
    )


# a + b c >= 0 with b < 0 is c <= -a/b.
def _limits(inequality: Inequality, letter: sp.Symbol, others: Region) -> tuple[tuple[sp.Expr, Inequality], ...]:
    """The largest value of the letter at each point, where the expression is affine in it and falls."""
    slope = inequality.expression.diff(letter)
    if letter in slope.free_symbols or any(letter in each.free_symbols for each in inequality.where):
        return ()
    limit = -inequality.expression.subs(letter, 0) / slope
    falls = (*inequality.where, -slope)
    return ((limit, Inequality(inequality.name, sp.S.Zero, others, falls)),)


def as_region(call: str, box: Any) -> Region:
    """Exact ranges by letter. Raises UsageError for what is not one."""
    if not isinstance(box, dict) or not all(isinstance(each, sp.Symbol) for each in box):
        raise UsageError(f"{call}: the box is {box!r:.80}; give ranges by letter, such as {{x: (0, 1)}}")
    return {symbol: _range(call, symbol, ends) for symbol, ends in box.items()}


def _range(call: str, symbol: sp.Symbol, ends: Any) -> tuple[sp.Rational, sp.Rational]:
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise UsageError(f"{call}: the range of {symbol} is {ends!r:.80}; give two rational numbers (LOW, HIGH)")
    low, high = (_end(call, symbol, end) for end in ends)
    if low > high:
        raise UsageError(f"{call}: the range of {symbol}, [{low}, {high}], is empty; give LOW <= HIGH")
    return low, high


def _end(call: str, symbol: sp.Symbol, end: Any) -> sp.Rational:
    if isinstance(end, str):
        try:
            return sp.Rational(end)
        except TypeError:
            pass
    return as_rational(call, f"an end of the range of {symbol}", end)


def require_real(call: str, expressions: Sequence[Any], box: Region) -> None:
    """Raises UsageError for what is not a real expression in the letters of the box."""
    for each in expressions:
        if not isinstance(each, sp.Expr):
            raise UsageError(f"{call}: got {each!r:.80}; give a SymPy expression")
        if each.has(sp.I, sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise UsageError(f"{call}: {each} has complex or infinite values, which have no order; give a real one")
        if missing := sorted(map(str, each.free_symbols - set(box))):
            raise UsageError(f"{call}: no range is given for {', '.join(missing)}; add it to the box")
