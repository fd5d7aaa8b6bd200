"""LaTeX of one expression as a person writes it: a geometric sum is a sum, and a positive term comes first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from symbolic.calculus.recursions import geometric_sum
from symbolic.names import ERROR, error_latex, is_member_error, member_latex

Notation = Mapping[sp.Symbol, str]
INDICES = "ilmkh"  # for sums: the first letter that the expression leaves free


def latex(expression: Any, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` gives the paper's notation for a symbol."""
    return str(_Printer({"symbol_names": dict(notation or {})}).doprint(as_shown(expression)))


def as_shown(expression: Any) -> Any:
    """An equal expression: geometric sums are sums, factors stand before a sum, and a number within each case."""
    if not isinstance(expression, sp.Basic):
        return expression
    shown = _with_factors_in_front(with_sums(expression))
    if isinstance(shown, sp.Mul) and len(shown.args) == 2 and shown.args[0].is_Rational:
        number, cases = shown.args
        return sp.Piecewise(*((number * each, on) for each, on in cases.args)) if cases.is_Piecewise else shown
    return shown


def with_sums(expression: Any) -> Any:
    """The same, with each closed geometric sum (a case distinction at ratio 1) as the sum that it is.

    Exactly `geometric_sum(ratio, count)` is one: for any other case distinction nothing changes.
    """
    if not isinstance(expression, sp.Basic):
        return expression
    sums = {cases: ratio_and_count for cases in expression.atoms(sp.Piecewise) if (ratio_and_count := _sum_of(cases))}
    index = _free_index(expression) if sums else None
    written = {cases: sp.Sum(ratio**index, (index, 0, count - 1)) for cases, (ratio, count) in sums.items()}
    return expression.xreplace(written) if written else expression


def _with_factors_in_front(expression: sp.Basic) -> sp.Basic:
    """The same, what does not depend on the index of a sum before the sum."""
    found = expression.atoms(sp.Sum)
    parts = {each: each.function.as_independent(*each.variables, as_Add=False) for each in found}
    moved = {each: factor * sp.Sum(rest, *each.limits) for each, (factor, rest) in parts.items() if factor != 1}
    return expression.xreplace(moved) if moved else expression


def _sum_of(cases: sp.Basic) -> tuple[sp.Expr, sp.Expr] | None:
    """The ratio and the number of summands, if these cases are a geometric sum."""
    (count, _), (closed, _) = cases.args[0], cases.args[-1]
    below = (factor.base for factor in sp.Mul.make_args(closed) if factor.is_Pow and factor.exp == -1)
    ratios = [1 - base for base in below]  # from the closed form: at 2 q = 1, the case is stated as q = 1/2
    return next(((ratio, count) for ratio in ratios if geometric_sum(ratio, count) == cases), None)


def _free_index(expression: sp.Basic) -> sp.Symbol:
    taken = {letter.name for letter in expression.atoms(sp.Symbol)}
    return sp.Symbol(next((each for each in INDICES if each not in taken), "i'"), integer=True, nonnegative=True)


def ordered_terms(terms: Iterable[sp.Expr]) -> Sequence[sp.Expr]:
    """The terms of a sum, the first positive one in front: 1 - q, not -q + 1."""
    terms = list(terms)
    first = next((term for term in terms if not term.could_extract_minus_sign()), terms[0])
    return [first, *(term for term in terms if term is not first)]


class _Printer(LatexPrinter):
    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> Sequence[sp.Expr]:
        return ordered_terms(super()._as_ordered_terms(expr, order=order))

    def _print_ErrorSymbol(self, expr: sp.Symbol) -> str:
        known = self._settings["symbol_names"]
        return known[expr] if expr in known else error_latex(expr.name.removeprefix(ERROR))

    def _print_AppliedUndef(self, expr: sp.Expr, exp: str | None = None) -> str:
        if not is_member_error(expr):
            return str(self._print_Function(expr, exp))
        member = member_latex(expr.func.__name__.removeprefix(ERROR), self._print(expr.args[0]))
        return member if exp is None else f"{member}^{{{exp}}}"
