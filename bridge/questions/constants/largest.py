"""The largest constant with which an inequality holds, and the supremum of an expression."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from bridge.limits.refusals import briefly_refused
from bridge.questions.constants.best import WITHIN, BestConstant, best
from bridge.questions.constants.free import FreeConstant, as_region, of_inequality, require_real, require_region
from symbolic.derivations.inequalities import Inequality
from symbolic.latex.displays import wrapped
from symbolic.latex.typesetting import latex
from symbolic.words.errors import UsageError


@briefly_refused
def largest_constant(
    inequality: Any, letter: Any, *, seconds: int | float = 60.0, within: Any = WITHIN
) -> BestConstant:
    """The largest value of `letter` with which the inequality holds: one that is proved, and a point for a larger one.

        x, c = sp.symbols("x c", real=True)
        jordan = bs.statements.Inequality("Jordan", sp.sin(x) - c * x, {x: (0, "3/2"), c: (0, 1)})
        print(bs.checks.largest_constant(jordan, c))

    The inequality has the letter among its coordinates; its range is where the constant is sought. It is to hold for
    smaller values if it holds for one. The search ends when the two values differ by a share `within`, or after
    `seconds`. Raises UsageError for a letter without a range and for a region that is a point.
    """
    if not isinstance(inequality, Inequality):
        raise UsageError(f"largest_constant: got {inequality!r:.80}; give a bs.statements.Inequality")
    return best(
        "largest_constant", of_inequality("largest_constant", inequality, letter), seconds=seconds, within=within
    )


@briefly_refused
def supremum(
    expression: Any,
    box: Any,
    *,
    where: Sequence[sp.Expr] = (),
    seconds: int | float = 60.0,
    within: Any = WITHIN,
) -> BestConstant:
    """The supremum of an expression on a box, where all of `where` are >= 0: a bound that is proved, and a point.

    `box` gives each letter its range (LOW, HIGH) of rational numbers. Raises UsageError for a letter without a range,
    an empty range, and an expression that is not real.
    """
    ranges = as_region("supremum", box)
    require_real("supremum", (expression, *where), ranges)
    require_region("supremum", ranges)
    letter, conditions = unused("M", expression), tuple(where)

    def at(value: sp.Rational) -> tuple[Inequality, ...]:
        return (Inequality(f"supremum <= {value}", value - expression, ranges, conditions),)

    def formula(value: sp.Expr) -> str:
        return rf"{wrapped(latex(expression))} \le {latex(value)}"

    words = f"{sp.sstr(expression)} <= {letter}"
    limits = ((expression, Inequality("supremum", sp.S.Zero, ranges, conditions)),)
    free = FreeConstant("supremum", words, formula, letter, False, at, at, ranges, conditions, limits)
    return best("supremum", free, seconds=seconds, within=within)


def unused(name: str, *expressions: sp.Expr) -> sp.Symbol:
    """A letter of that name, or the next one that the expressions do not have."""
    taken = {symbol.name for each in expressions for symbol in each.free_symbols}
    names = (name, *(f"{name}_{k}" for k in range(1, len(taken) + 2)))
    return sp.Symbol(next(each for each in names if each not in taken), real=True)
