"""LaTeX of matrix expressions in the letters of the paper."""

from collections.abc import Sequence

import sympy as sp
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.printing.latex import LatexPrinter


class MatrixLatexPrinter(LatexPrinter):
    """The paper's way: R(j) for diag(r'(j)), identities with their size."""

    def _print_DiagMatrix(self, expr: sp.DiagMatrix) -> str:
        inner = self._print(expr.args[0])
        return inner.replace("r'", "R", 1) if inner.startswith("r'") else rf"\operatorname{{diag}}\left({inner}\right)"

    def _print_MatMul(self, expr: sp.MatMul) -> str:
        inner = (sp.MatAdd, sp.HadamardProduct)
        return " ".join(
            rf"\left({self._print(a)}\right)" if isinstance(a, inner) else self._print(a) for a in expr.args
        )

    def _print_Identity(self, expr: sp.Identity) -> str:
        size = self._print(expr.shape[0])
        return rf"\mathbf{{I}}_{{{size} \times {size}}}"

    def _print_Transpose(self, expr: sp.Transpose) -> str:
        inner = self._print(expr.arg)
        return rf"{inner}^{{\top}}" if isinstance(expr.arg, sp.MatrixSymbol) else rf"\left({inner}\right)^{{\top}}"

    def _print_HadamardProduct(self, expr: sp.HadamardProduct) -> str:
        parts = [self._print(each) for each in expr.args]
        return r" \odot ".join(
            rf"\left({part}\right)" if isinstance(each, sp.MatMul) else part
            for part, each in zip(parts, expr.args, strict=True)
        )

    def _print_KroneckerProduct(self, expr: KroneckerProduct) -> str:
        return r"\left[" + r" \otimes ".join(map(self._print, expr.args)) + r"\right]"

    def _print_MatrixSymbol(self, expr: sp.MatrixSymbol) -> str:
        return str(expr.name)


def matrix_latex(expression: sp.MatrixExpr) -> str:
    """LaTeX of a matrix expression in the letters of the paper."""
    return str(MatrixLatexPrinter().doprint(expression))


def aligned(lines: Sequence[str]) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
