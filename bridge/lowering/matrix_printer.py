"""The text of matrices: explicit ones, and expressions over MatrixSymbols of concrete shape."""

import sympy as sp
from sympy.matrices.expressions.kronecker import KroneckerProduct
from sympy.matrices.expressions.matexpr import MatrixElement

from .nodes import ArrayEntry, free_symbols
from .printer import LoweringPrinter

OF_WHOLE_NUMBERS = {sp.floor: "exact_floor", sp.ceiling: "exact_ceiling", sp.Max: "largest_of", sp.Min: "smallest_of"}
COUNTER = "_i"  # what the indices of loops are called


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

    def _print_HadamardPower(self, expr: sp.HadamardPower) -> str:
        base, power = expr.args
        if not (power.is_Integer and power >= 1):
            raise self.refuse(expr, "only whole powers of its entries, from 1 on, are known")
        return self._nest(expr, "hadamard", [self._print(base)] * int(power))

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

    def _print_ArrayEntry(self, expr: ArrayEntry) -> str:
        matrix, name, sizes, *indices = expr.args
        shape = f"({', '.join(map(str, sizes))},)"
        return self._call(expr, "element", self._print(matrix), repr(name.name), shape, *map(self.index, indices))

    def index(self, expr: sp.Expr) -> str:
        """An index in exact arithmetic, whatever the numbers of the backend are."""
        if expr.is_Integer:
            return str(expr)
        if expr.is_Rational:
            return f"fraction({expr.p}, {expr.q})"
        if expr.is_Add or expr.is_Mul:
            return f"({(' + ' if expr.is_Add else ' * ').join(map(self.index, expr.args))})"
        if expr.is_Pow and expr.exp.is_Integer and expr.exp >= 0:
            return f"{self.index(expr.base)}**{expr.exp}"
        if expr.func in OF_WHOLE_NUMBERS:
            return self._call(expr, OF_WHOLE_NUMBERS[expr.func], *map(self.index, expr.args))
        return self._call(expr, "whole", self._print(expr))

    def choice(self, condition: sp.Basic, value: sp.Expr, otherwise: str) -> str:
        """Entries of arrays may lie outside where the condition fails; one on indices alone is decided first."""
        shown = self._print(value)
        on_indices = all(str(letter).startswith(COUNTER) for letter in free_symbols(condition))
        if on_indices and "element(" in f"{shown}{otherwise}":
            return f"branch_that_holds(_like, {self._print(condition)}, lambda: {shown}, lambda: {otherwise})"
        return f"where(_like, {self._print(condition)}, {shown}, {otherwise})"
