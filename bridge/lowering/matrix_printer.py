"""The text of matrices: explicit ones, and expressions over MatrixSymbols of concrete shape."""

import sympy as sp
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixElement

from .printer import LoweringPrinter


class MatrixPrinter(LoweringPrinter):
    def _print_MatrixBase(self, expr: sp.MatrixBase) -> str:
        rows = [f"[{', '.join(map(self._print, expr.row(i)))}]" for i in range(expr.rows)]
        return self._call(expr, "matrix", "_like", f"[{', '.join(rows)}]")

    def _print_MatrixExpr(self, expr: sp.MatrixExpr) -> str:
        return self.emptyPrinter(expr)

    def _print_MatrixSymbol(self, expr: sp.MatrixSymbol) -> str:
        return expr.name

    def _print_MatAdd(self, expr: sp.MatAdd) -> str:
        return f"({' + '.join(map(self._print, expr.args))})"

    def _print_MatMul(self, expr: sp.MatMul) -> str:
        scalar, matrices = expr.as_coeff_matrices()
        product = self._nest(expr, "matmul", [self._print(matrix) for matrix in matrices])
        return product if scalar == 1 else self._call(expr, "scale", self._print(scalar), product)

    def _print_MatPow(self, expr: sp.MatPow) -> str:
        base, power = expr.args
        if not power.is_Integer:
            raise self.refuse(expr, "only integer powers of matrices are known")
        text = self._call(expr, "matrix_power", self._print(base), str(abs(power)))
        return text if power >= 0 else self._call(expr, "inverse", text)

    def _print_HadamardProduct(self, expr: sp.HadamardProduct) -> str:
        return self._nest(expr, "hadamard", [self._print(arg) for arg in expr.args])

    def _print_KroneckerProduct(self, expr: KroneckerProduct) -> str:
        return self._nest(expr, "kron", [self._print(arg) for arg in expr.args])

    def _print_Transpose(self, expr: sp.Transpose) -> str:
        return self._call(expr, "transpose", self._print(expr.arg))

    def _print_Adjoint(self, expr: sp.Adjoint) -> str:
        return self._print_Transpose(expr)  # arguments are real

    def _print_Inverse(self, expr: sp.Inverse) -> str:
        return self._call(expr, "inverse", self._print(expr.arg))

    def _print_Trace(self, expr: sp.Trace) -> str:
        return self._call(expr, "trace", self._print(expr.arg))

    def _print_Determinant(self, expr: sp.Determinant) -> str:
        return self._call(expr, "determinant", self._print(expr.arg))

    def _print_Identity(self, expr: sp.Identity) -> str:
        return self._call(expr, "identity", "_like", *map(str, expr.shape))

    def _print_ZeroMatrix(self, expr: sp.ZeroMatrix) -> str:
        return self._call(expr, "filled", "_like", *map(str, expr.shape), "0")

    def _print_OneMatrix(self, expr: sp.OneMatrix) -> str:
        return self._call(expr, "filled", "_like", *map(str, expr.shape), "1")

    def _print_MatrixElement(self, expr: MatrixElement) -> str:
        indices = (str(index) if index.is_Integer else self._print(index) for index in (expr.i, expr.j))
        return self._call(expr, "entry", self._print(expr.parent), *indices)
