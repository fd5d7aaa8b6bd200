"""LaTeX of one expression as a person writes it: a geometric sum is a sum, and a positive term comes first."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from symbolic.calculus.geometric import written_out
from symbolic.latex.readable import LogTo, Written, decimal, has_fraction, one_fraction, product
from symbolic.words.indices import fresh, names_of_letters, with_fresh_indices
from symbolic.words.names import ERROR, error_latex, is_member_error, letter_latex, member_latex
from symbolic.words.shown import SHOWN

Notation = Mapping[sp.Symbol, str]
Factors = tuple[int | str, Sequence[sp.Expr]]  # a number, or its decimal, and what stands beside it
TINY = 20  # bits
STARRED = re.compile(r"([^^]+)\^(\\star|\{\\star\})")
PRIME_INSIDE = re.compile(r"'(?!['^]|$)")  # a'_1: a power behind it would be a second superscript
GROUP = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
SIGNS = re.compile(r"[-+ ]")  # a name in words, or one that is a sum
NORM = re.compile(r"\\\|[^|]+\\\|_(\w|\{[^{}]*\})")
DIGITS = (re.compile(r"\d[} ]*$"), re.compile(r"\d"))  # the end of one factor, the start of the next


def latex(expression: Any, notation: Notation | None = None) -> str:
    """LaTeX of one expression; `notation` gives the paper's notation for a symbol."""
    shown = as_shown(expression, notation)
    return str(_Printer({"symbol_names": dict(notation or {}), "fold_frac_powers": True}).doprint(shown))


def as_shown(expression: Any, notation: Notation | None = None) -> Any:
    """An equal expression: geometric sums are sums, factors stand before a sum, and a number within each case.

    No index has the name of a letter of `notation`.
    """
    if not isinstance(expression, sp.Basic):
        return expression
    taken = names_of_letters(notation) if expression.has(ExprWithLimits, sp.Piecewise) else frozenset()
    shown = with_fresh_indices(_with_factors_in_front(with_sums(expression, taken)), taken)
    if isinstance(shown, sp.Mul) and len(shown.args) == 2 and shown.args[0].is_Rational:
        number, cases = shown.args
        return sp.Piecewise(*((number * each, on) for each, on in cases.args)) if cases.is_Piecewise else shown
    return shown


def with_sums(expression: Any, taken: Collection[str] = ()) -> Any:
    """The same, with each closed geometric sum as the sum that it is; no index has a name that is `taken`."""
    if not isinstance(expression, sp.Basic) or not expression.has(sp.Piecewise):
        return expression
    names = {*taken, *(letter.name for letter in expression.atoms(sp.Symbol))}
    return written_out(expression, sp.Symbol(fresh(names), integer=True, nonnegative=True))


def _with_factors_in_front(expression: sp.Basic) -> sp.Basic:
    """The same, what does not depend on the index of a sum before the sum."""
    found = expression.atoms(sp.Sum)
    parts = {each: each.function.as_independent(*each.variables, as_Add=False) for each in found}
    moved = {each: factor * sp.Sum(rest, *each.limits) for each, (factor, rest) in parts.items() if factor != 1}
    return expression.xreplace(moved) if moved else expression


def ordered_terms(terms: Iterable[sp.Expr]) -> Sequence[sp.Expr]:
    """The terms of a sum, the first positive one in front: 1 - q, not -q + 1."""
    terms = list(terms)
    first = next((term for term in terms if not term.could_extract_minus_sign()), terms[0])
    return [first, *(term for term in terms if term is not first)]


class _Printer(LatexPrinter):
    """`in_script`: fractions are set with a slash."""

    in_script = False

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> Sequence[sp.Expr]:
        return ordered_terms(super()._as_ordered_terms(expr, order=order))

    def _print_Symbol(self, expr: sp.Symbol | sp.MatrixSymbol, style: str = "plain") -> str:
        """A name of several letters stands upright."""
        known = self._settings["symbol_names"].get(expr)
        if known:
            return str(known)
        return letter_latex(expr.name) or str(super()._print_Symbol(expr, style))

    def _print_Rational(self, expr: sp.Rational) -> str:
        """A tiny power of two as such, a long fraction as a decimal."""
        if all(decimal(expr)) and decimal(expr)[1] == 1:
            return decimal(expr)[0]
        place = int(expr.q).bit_length() - 1
        if self.in_script and expr.q != 1:
            return f"{expr.p}/{expr.q}"
        tiny = expr.p == 1 and place >= TINY and 2**place == expr.q
        return f"2^{{-{place}}}" if tiny else str(super()._print_Rational(expr))

    def _print_ErrorSymbol(self, expr: sp.Symbol) -> str:
        known = self._settings["symbol_names"]
        return known[expr] if expr in known else error_latex(expr.name.removeprefix(ERROR))

    def _print_AppliedUndef(self, expr: sp.Expr, exp: str | None = None) -> str:
        if not is_member_error(expr):
            return str(self._print_Function(expr, exp))
        member = member_latex(expr.func.__name__.removeprefix(ERROR), self._print(expr.args[0]))
        return member if exp is None else f"{member}^{{{exp}}}"

    def _print_Add(self, expr: sp.Add, order: str | None = None) -> str:
        quotient = one_fraction(expr)
        return str(super()._print_Add(expr, order)) if quotient is None else self._product(quotient)

    def _print_Mul(self, expr: sp.Expr) -> str:
        return self._product(product(expr)) if expr.is_commutative else str(super()._print_Mul(expr))

    def _product(self, written: Written) -> str:
        sign, number = ("- ", -written.number) if written.number < 0 else ("", written.number)
        digits, under = decimal(number)
        top = digits or number.p
        if under == 1 and not written.below:
            return sign + self._factors(top, written.above)
        nested = any(each.is_Add and has_fraction(each) for each in written.below)
        beside = [] if nested else [each for each in written.above if each.is_Add and has_fraction(each)]
        above = [each for each in written.above if each not in beside]
        fraction = sign + self._fraction((top, above), (under, written.below))
        sums = [rf"\left({self._print(each)}\right)" for each in beside]
        return " ".join([fraction, *sums])

    def _fraction(self, above: Factors, below: Factors) -> str:
        """With a slash in exponents; there, what is below has brackets around several factors."""
        if not self.in_script:
            return rf"\frac{{{self._alone(*above)}}}{{{self._alone(*below)}}}"
        several = len(below[1]) + (below[0] != 1) > 1
        under = self._factors(*below)
        return f"{self._factors(*above)} / " + (rf"\left({under}\right)" if several else under)

    def _alone(self, number: int | str, factors: Sequence[sp.Expr]) -> str:
        """A sum that is the only factor needs no brackets."""
        alone = number == 1 and len(factors) == 1
        return str(self._print(factors[0])) if alone else self._factors(number, factors)

    def _factors(self, number: int | str, factors: Sequence[sp.Expr]) -> str:
        """Number and factors beside each other, in brackets where they need them."""
        shown = [] if number == 1 else [str(number)]
        for place, factor in enumerate(factors):
            last = place == len(factors) - 1
            words = self._print(factor)
            if isinstance(factor, sp.log | LogTo) and not last:
                words = self._logarithm(factor, closed=True)
            elif self._needs_mul_brackets(factor, first=not shown, last=last):
                words = rf"\left({words}\right)"
            between = shown and DIGITS[0].search(shown[-1]) and DIGITS[1].match(words)
            shown.append(rf"\cdot {words}" if between else words)
        return " ".join(shown) or "1"

    def _print_Pow(self, expr: sp.Pow) -> str:
        exponent = expr.exp
        if exponent.is_Rational and exponent < 0 and expr.is_commutative:
            return self._print_Mul(expr)
        return str(super()._print_Pow(expr))

    def _helper_print_standard_power(self, expr: sp.Expr, template: str) -> str:
        exponent = self._script(expr.exp)
        base = self.parenthesize(expr.base, PRECEDENCE["Pow"])
        if expr.base.is_Symbol and (starred := STARRED.fullmatch(base)) and expr.exp.is_Integer:
            return rf"{starred[1]}^{{\star {exponent}}}"
        if expr.base.is_Symbol and not NORM.fullmatch(base):
            base = self.parenthesize_super(base)
            plain = GROUP.sub("", base)
            base = f"{{{base}}}" if PRIME_INSIDE.search(plain) else base
            base = rf"\left({base}\right)" if "\\" not in base and SIGNS.search(plain) else base
        return template % (base, exponent)

    def _print_ExpBase(self, expr: sp.Expr, exp: str | None = None) -> str:
        return str(self._do_exponent(f"e^{{{self._script(expr.args[0])}}}", exp))

    def _script(self, expression: sp.Expr) -> str:
        outer, self.in_script = self.in_script, True
        try:
            return str(self._print(expression))
        finally:
            self.in_script = outer

    def _print_log(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._logarithm(expr, exp, closed=exp is not None)

    def _print_LogTo(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._logarithm(expr, exp, closed=exp is not None)

    def _logarithm(self, expr: sp.Expr, exp: str | None = None, *, closed: bool) -> str:
        name = r"\log" if len(expr.args) == 1 else rf"\log_{{{self._print(expr.args[1])}}}"
        power = "" if exp is None else f"^{{{exp}}}"
        inside = self._print(expr.args[0])
        slash = self.in_script and expr.args[0].is_Rational and not expr.args[0].is_Integer
        bare = expr.args[0].is_Atom and not closed and not slash
        return f"{name}{power} {inside}" if bare else rf"{name}{power}\left({inside}\right)"


SHOWN.expression = latex
