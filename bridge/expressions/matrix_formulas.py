"""Programs that are formulas over SymPy's `MatrixSymbol`s: what they compute, and their text."""

import re
from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from bridge.expressions.expression import as_number, same
from bridge.expressions.formula_texts import in_ascii, object_text, outside
from bridge.lowering import LoweringError
from bridge.lowering.formula import MatrixFunction
from symbolic.words.ascii_math import AsciiMathError, ascii_math
from symbolic.words.errors import UsageError

IDENTITY = "I"


def as_program(
    name: str, given: Any, shape: tuple[Any, Any], *, vector: bool = False, beside: Any = None
) -> Callable[..., Any]:
    """A function as it is; a formula, of this shape, as a function of its arrays and letters.

    `beside` is another formula, with arrays where this one has none. Raises UsageError for what is neither, for another
    shape, for a formula without arrays, and for an operation that torch does not have.
    """
    if not isinstance(given, sp.MatrixExpr):
        if not callable(given):
            raise UsageError(
                f"{name}: got {given!r:.60} as a program; give a function of names, or a formula over sp.MatrixSymbol"
            )
        return given
    if not all(same(own, as_number("dimension", asked)) for own, asked in zip(given.shape, shape, strict=True)):
        own, asked = (f"{rows} x {columns}" for rows, columns in (given.shape, shape))
        raise UsageError(f"{name}: `{formula_text(given)}` is {own}, and {asked} is needed; give another formula")
    arrays = sorted({*given.atoms(sp.MatrixSymbol), *(beside or given).atoms(sp.MatrixSymbol)}, key=str)
    if not arrays:
        raise UsageError(
            f"{name}: `{formula_text(given)}` has no array, whose dtype it would have; give a function of names, or "
            f"take 0 times an expression for 0"
        )
    sizes = {letter for each in arrays for size in each.shape for letter in size.free_symbols}
    letters = [each.name for each in {*given.free_symbols, *arrays, *sizes}]
    if twice := sorted(each for each in letters if letters.count(each) > 1):
        raise UsageError(f"{name}: `{formula_text(given)}` has two letters `{twice[0]}`; give one of them another name")
    try:
        return MatrixFunction(given, vector=vector, beside=arrays[0])
    except LoweringError as error:
        raise UsageError(f"{name}: {error}; give a function of names instead") from None


def meaning_of(name: str, given: Any) -> str:
    """A formula in words; "" of a function, which does not say what it computes.

    Raises UsageError for a formula that has no text.
    """
    if not isinstance(given, sp.MatrixExpr):
        return ""
    text = formula_text(given)
    try:
        ascii_math(text)
    except AsciiMathError:
        raise UsageError(
            f"{name}: `{text}` is not written as mathematics; give meaning=, or sp.Trace(A) for the entry of a 1 x 1 "
            f"matrix"
        ) from None
    return f"`{text}`"


def signs_of(program: Any) -> list[str]:
    """What the signs of a formula are, which are no objects."""
    formula = program.expr if isinstance(program, MatrixFunction) else sp.S.Zero
    signs = [f"`{IDENTITY}` is the identity"] if formula.has(sp.Identity) else []
    signs += [f"all entries of `{formula_text(each)}` are 1" for each in sorted(formula.atoms(sp.OneMatrix), key=str)]
    signs += ["`*` is the product entry by entry"] if formula.has(sp.HadamardProduct, sp.HadamardPower) else []
    return signs + (["`kron` is the Kronecker product"] if formula.has(sp.KroneckerProduct) else [])


def formula_text(expr: sp.MatrixExpr) -> str:
    """In ASCII: X^T X/n + lamda I; products entry by entry have a star."""
    return in_ascii(_MatrixText().doprint(expr))


class _MatrixText(StrPrinter):
    def _print_MatrixSymbol(self, expr: sp.MatrixSymbol) -> str:
        return object_text(expr.name)

    def _print_Identity(self, expr: sp.Identity) -> str:
        return IDENTITY

    def _print_OneMatrix(self, expr: sp.OneMatrix) -> str:
        return f"ones({', '.join(map(self._print, expr.shape))})"

    def _print_MatMul(self, expr: sp.MatMul) -> str:
        scalar, matrices = expr.as_coeff_matrices()
        above, below = scalar.as_numer_denom()
        negative = above.could_extract_minus_sign()
        factors = [*([] if abs(above) == 1 else [-above if negative else above]), *matrices]
        over = "" if below == 1 else f"/{self.parenthesize(below, PRECEDENCE['Pow'], strict=True)}"
        return f"{'-' if negative else ''}{' '.join(map(self._factor, factors))}{over}"

    def _print_MatAdd(self, expr: sp.MatAdd) -> str:
        terms = sorted(map(self._print, expr.args), key=lambda text: text.startswith("-"))
        return " + ".join(terms).replace("+ -", "- ")

    def _print_HadamardProduct(self, expr: sp.HadamardProduct) -> str:
        return " % ".join(map(self._factor, expr.args))

    def _print_HadamardPower(self, expr: sp.HadamardPower) -> str:
        base, power = expr.args
        return " % ".join([self._factor(base)] * int(power)) if power.is_Integer and power >= 1 else str(expr)

    def _print_KroneckerProduct(self, expr: sp.KroneckerProduct) -> str:
        return f"kron({', '.join(map(self._print, expr.args))})"

    def _print_MatPow(self, expr: sp.MatPow) -> str:
        exponent = self._print(expr.exp)
        return f"{self._base(expr.base)}^{exponent if exponent.isalnum() else f'({exponent})'}"

    def _print_Inverse(self, expr: sp.Inverse) -> str:
        return f"{self._base(expr.arg)}^(-1)"

    def _print_Transpose(self, expr: sp.Transpose | sp.Adjoint) -> str:
        return f"{self._base(expr.arg)}^T"

    def _print_Adjoint(self, expr: sp.Adjoint) -> str:
        return self._print_Transpose(expr)  # arrays are real

    def _print_Trace(self, expr: sp.Trace) -> str:
        return f"tr({self._print(expr.arg)})"

    def _print_Determinant(self, expr: sp.Determinant) -> str:
        return f"det({self._print(expr.arg)})"

    def _print_MatrixElement(self, expr: MatrixElement) -> str:
        """Counted from 1 on; of a column the row alone."""
        places = [expr.i + 1, *([] if expr.parent.shape[1] == 1 else [expr.j + 1])]
        shown = ", ".join(map(self._print, places))
        return f"{self._base(expr.parent)}_{shown if shown.isalnum() else f'({shown})'}"

    def _factor(self, expr: sp.Basic) -> str:
        """In brackets, where it is a sum, or a product entry by entry."""
        text = self._print(expr)
        return f"({text})" if re.search(r" [+%-] |/", outside(text)) or text.startswith("-") else text

    def _base(self, expr: sp.Basic) -> str:
        """In brackets, unless it is one letter or the value of a function."""
        text = self._print(expr)
        return f"({text})" if re.search(r"[ +*/^%-]", outside(text)) else text
