"""Programs that are formulas over SymPy's `MatrixSymbol`s: what they compute, and their text."""

from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from bridge.expressions.expression import as_number, same
from bridge.lowering import LoweringError
from bridge.lowering.formula import MatrixFunction
from symbolic.words.errors import UsageError


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
        raise UsageError(f"{name}: `{formula_text(given)}` has no array; give a function of names")
    try:
        return MatrixFunction(given, vector=vector, beside=arrays[0])
    except LoweringError as error:
        raise UsageError(f"{name}: {error}; give a function of names instead") from None


def meaning_of(given: Any) -> str:
    """A formula in words; "" of a function, which does not say what it computes."""
    if not isinstance(given, sp.MatrixExpr):
        return ""
    return f"`{formula_text(given)}`"


def words_of(name: str, meaning: str, program: Any) -> list[str]:
    """What an object of a program is."""
    has_identity = isinstance(program, MatrixFunction) and program.expr.has(sp.Identity)
    return [f"`{name}` is {meaning}", *(["`I` is the identity"] if has_identity else [])]


def formula_text(expr: sp.MatrixExpr) -> str:
    """In ASCII: X^T X/n + lamda I."""
    return _MatrixText().doprint(expr).replace("**", "^").replace("*", " ")


class _MatrixText(StrPrinter):
    def _print_MatMul(self, expr: sp.MatMul) -> str:
        scalar, matrices = expr.as_coeff_matrices()
        above, below = scalar.as_numer_denom()
        negative = above.could_extract_minus_sign()
        factors = [*([] if abs(above) == 1 else [-above if negative else above]), *matrices]
        shown = " ".join(self.parenthesize(each, PRECEDENCE["Mul"]) for each in factors)
        over = "" if below == 1 else f"/{self.parenthesize(below, PRECEDENCE['Pow'])}"
        return f"{'-' if negative else ''}{shown}{over}"

    def _print_MatAdd(self, expr: sp.MatAdd) -> str:
        terms = sorted(map(self._print, expr.args), key=lambda text: text.startswith("-"))
        return " + ".join(terms).replace("+ -", "- ")

    def _print_Transpose(self, expr: sp.Transpose) -> str:
        return f"{self.parenthesize(expr.arg, PRECEDENCE['Pow'])}^T"

    def _print_Inverse(self, expr: sp.Inverse) -> str:
        return f"{self.parenthesize(expr.arg, PRECEDENCE['Pow'])}^(-1)"
