"""How constants are written: folded to the nearest double, or exact and evaluated at the precision of the call."""

from collections.abc import Iterable
from math import inf

import sympy as sp

from .matrix_printer import MatrixPrinter
from .nodes import Node, is_constant


class FloatPrinter(MatrixPrinter):
    """For float64 and its kin: constants are folded at 50 digits and written as the nearest double."""

    def split_constants(self, args: Iterable[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
        fixed, others = super().split_constants(args)
        loops = [node for node in fixed if node.has(Node)]  # numbers too, but computed when called
        return [node for node in fixed if node not in loops], [*others, *loops]

    def _print(self, expr: sp.Basic, **kwargs: object) -> str:
        scalar = isinstance(expr, sp.Expr) and not getattr(expr, "is_Matrix", False)
        if scalar and is_constant(expr):
            value = expr.evalf(50)
            if value.is_Float or value.is_infinite or value is sp.nan or value == 0:
                return self.constant(value, flush=True)
            if value.has(sp.I):
                raise self.refuse(expr, "it is not a real number")
        return str(super()._print(expr, **kwargs))

    def constant(self, value: sp.Expr, *, flush: bool = False) -> str:
        number = value.evalf(50)
        if number in (sp.oo, -sp.oo, sp.nan):
            return {sp.oo: "inf", -sp.oo: "-inf", sp.nan: "nan"}[number]
        if not number.is_Float and number != 0:
            raise self.refuse(value, "it is not a real number")
        if abs(number) >= sp.Integer(2) ** 1024 or (number != 0 and not flush and abs(number) < sp.Integer(2) ** -1022):
            raise self.refuse(value, "this constant is outside the range of float64; scale it, or use mpmath or arb")
        return repr(float(number))

    def integer_power(self, base: sp.Expr, power: int) -> str:
        return f"{self.operand(base)}**2" if power == 2 else super().integer_power(base, power)

    def general_power(self, base: sp.Expr, power: sp.Expr) -> str:
        if is_constant(base) and base.is_positive and abs(sp.log(base, 2).evalf()) > 1000:
            return self._print(sp.exp(sp.Mul(sp.log(base), power, evaluate=False)))
        return super().general_power(base, power)


class ExactPrinter(MatrixPrinter):
    """For mpmath and Arb: rationals stay rational, and every constant is computed at the precision of the call."""

    one = "number(1)"
    largest_order = inf

    def split_constants(self, args: Iterable[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
        args = list(args)
        return [arg for arg in args if arg.is_Number], [arg for arg in args if not arg.is_Number]

    def constant(self, value: sp.Expr, *, flush: bool = False) -> str:
        return self._print(value)

    def _print_Integer(self, expr: sp.Integer) -> str:
        return f"number({expr})"

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"ratio({expr.p}, {expr.q})"

    def _print_Float(self, expr: sp.Float) -> str:
        raise self.refuse(expr, "this constant is too large or too small to be written out; scale it")

    def _print_NumberSymbol(self, expr: sp.NumberSymbol) -> str:
        return self._call(expr, {"Pi": "pi", "Exp1": "e"}.get(type(expr).__name__, type(expr).__name__))

    def _print_Infinity(self, expr: sp.Basic) -> str:
        return "inf"

    def _print_NegativeInfinity(self, expr: sp.Basic) -> str:
        return "(-inf)"

    def _print_NaN(self, expr: sp.Basic) -> str:
        return "nan"
