"""From rewritten expressions to Python text. One strict printer for all backends: an unknown node raises an error.

These printers do not extend SymPy's own NumPy, Torch and mpmath printers. For an unknown node those fall back on the
plain Python printer, which prints names that no backend has, and many of their rules are wrong for batches or
gradients. The generated text refers to a fixed list of names (`exp`, `where`, `matmul` ...), which each backend fills.
The first parameter of the generated function is `_watch`, which is told where digits are lost, or None; the second is
`_like`: a number of the required dtype and device, for names that make new arrays.
"""

from collections.abc import Iterable

import sympy as sp
from sympy.printing.printer import Printer

from . import nodes
from .common import LoweringError
from .nodes import is_constant

FUNCTIONS: dict[type[sp.Basic], str] = {
    sp.exp: "exp", sp.log: "log", sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.asin: "asin", sp.acos: "acos",
    sp.atan: "atan", sp.atan2: "atan2", sp.sinh: "sinh", sp.cosh: "cosh", sp.tanh: "tanh", sp.asinh: "asinh",
    sp.acosh: "acosh", sp.atanh: "atanh", sp.Abs: "absolute", sp.sign: "sign", sp.floor: "floor", sp.ceiling: "ceiling",
    sp.erf: "erf", sp.erfc: "erfc", sp.gamma: "gamma", sp.loggamma: "loggamma", sp.factorial: "factorial",
    sp.binomial: "binomial", sp.zeta: "zeta", nodes.Erfc: "erfc",
    nodes.LogSumExp: "logsumexp", nodes.Softplus: "softplus", nodes.Sigmoid: "sigmoid",
    nodes.Expm1: "expm1", nodes.Log1p: "log1p", nodes.Geometric: "geometric",
}  # fmt: skip

LOOPS: dict[type[nodes.Loop], tuple[str, ...]] = {
    nodes.LoopSum: ("loop_sum",), nodes.LoopProduct: ("loop_product",), nodes.LoopRun: ("loop_run",),
    nodes.WatchedProduct: ("watched_loop_product", "_watch"),
    nodes.WatchedSum: ("watched_loop_sum", "_watch"), nodes.WatchedRun: ("watched_loop_run", "_watch"),
}  # fmt: skip

REMEDIES: dict[type[sp.Basic], str] = {
    sp.Derivative: "call .doit() first",
    sp.BlockMatrix: "call .as_explicit() first",
    sp.Integral: "call .doit() first, or integrate numerically",
}
NO_NAME = "this backend has no such function; rewrite it with those it has, or take another backend"


class LoweringPrinter(Printer):
    """The text of one scalar or condition; subclasses add matrices, and how constants are written."""

    backend = ""
    one = "1.0"
    largest_order: float = 170  # of a polygamma

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self._names = frozenset(names)

    def refuse(self, node: sp.Basic, remedy: str = NO_NAME) -> LoweringError:
        return LoweringError(self.backend, node, remedy)

    def emptyPrinter(self, expr: sp.Basic) -> str:  # what Printer calls for a node that has no method
        raise self.refuse(expr, REMEDIES.get(type(expr), NO_NAME))

    def _call(self, node: sp.Basic, name: str, *arguments: str) -> str:
        if name not in self._names:
            raise self.refuse(node)
        return f"{name}({', '.join(arguments)})"

    def _nest(self, node: sp.Basic, name: str, texts: list[str]) -> str:
        """name(name(a, b), c): a function of two arguments over several."""
        text = texts[0]
        for other in texts[1:]:
            text = self._call(node, name, text, other)
        return text

    # numbers: each backend decides how

    def split_constants(self, args: Iterable[sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
        """The constants to be folded into one number, and the rest."""
        return nodes.constants_and_others(args)

    def constant(self, value: sp.Expr, *, flush: bool = False) -> str:
        """The text of a number; `flush`: a number too small for the format may become 0."""
        raise NotImplementedError

    # arithmetic

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return expr.name

    def _print_Add(self, expr: sp.Add) -> str:
        fixed, terms = self.split_constants(expr.args)
        negative = [term.could_extract_minus_sign() and not term.is_Add for term in terms]
        ordered = sorted(zip(negative, terms, strict=True), key=lambda pair: pair[0])
        text = ""
        for minus, term in ordered:
            piece = self.summand(-term if minus else term)
            sign = (" - " if text else "-") if minus else (" + " if text else "")
            text += sign + piece
        constant = sp.Add(*fixed)
        if constant == 0:
            return text
        minus = bool(constant.is_negative)
        return f"{text} {'-' if minus else '+'} {self.constant(-constant if minus else constant, flush=True)}"

    def summand(self, expr: sp.Expr) -> str:
        text = self._print(expr)
        return f"({text})" if expr.is_Add or text.startswith("-") else text

    def factor(self, expr: sp.Expr) -> str:
        text = self._print(expr)
        return f"({text})" if expr.is_Add or expr.is_Mul or text.startswith("-") else text

    def operand(self, expr: sp.Expr) -> str:
        """For a base or an exponent."""
        text = self._print(expr)
        return f"({text})" if expr.is_Add or expr.is_Mul or expr.is_Pow or text.startswith("-") else text

    def _print_Mul(self, expr: sp.Mul) -> str:
        fixed, others = self.split_constants(expr.args)
        below = [other for other in others if other.is_Pow and other.exp.is_number and other.exp.is_negative]
        above = [other for other in others if other not in below]
        coefficient = sp.Mul(*fixed)
        sign = "-" if coefficient.is_negative else ""
        size = -coefficient if sign else coefficient
        numerator = [self.factor(other) for other in above]
        if size != 1 or not numerator:
            numerator.insert(0, self.one if size == 1 else self.constant(size))
        if not below:
            return sign + "*".join(numerator)
        denominator = [self.factor(sp.Pow(other.base, -other.exp)) for other in below]
        product = "*".join(denominator)
        return sign + self.quotient("*".join(numerator), f"({product})" if len(denominator) > 1 else product)

    def quotient(self, above: str, below: str) -> str:
        return f"{above}/{below}"

    def _print_Pow(self, expr: sp.Pow) -> str:
        base, power = expr.args
        if power.is_number and power.is_negative:
            return self.quotient(self.one, self.factor(sp.Pow(base, -power)))
        if power == sp.S.Half:
            return self._call(expr, "sqrt", self._print(base))
        if power.is_Integer:
            return self.integer_power(base, int(power))
        return self.general_power(base, power)

    def integer_power(self, base: sp.Expr, power: int) -> str:
        return f"int_power({self._print(base)}, {power})"

    def general_power(self, base: sp.Expr, power: sp.Expr) -> str:
        return f"{self.operand(base)}**{self.operand(power)}"

    # functions

    def _print_Basic(self, expr: sp.Basic) -> str:
        name = FUNCTIONS.get(expr.func)
        if name is None:
            return self.emptyPrinter(expr)
        return self._call(expr, name, *map(self._print, expr.args))

    def _print_Heaviside(self, expr: sp.Expr) -> str:
        return self._call(expr, "heaviside", *map(self._print, expr.args))

    def _print_polygamma(self, expr: sp.Expr) -> str:
        order, argument = expr.args
        if not (order.is_Integer and order >= 0):
            raise self.refuse(expr, "its order must be a non-negative integer, not an argument")
        if order > self.largest_order:
            raise self.refuse(expr, f"the factorial of its order is beyond {self.largest_order}!, the range of float64")
        return self._call(expr, "polygamma", str(order), self._print(argument))

    def _print_LambertW(self, expr: sp.Expr) -> str:
        argument, branch = expr.args if len(expr.args) == 2 else (*expr.args, sp.S.Zero)
        if branch not in (0, -1):
            raise self.refuse(expr, "only the branches 0 and -1 are real")
        return self._call(expr, "lambertw", self._print(argument), str(branch))

    def _extremum(self, expr: sp.Basic, pair: str, with_constant: str) -> str:
        fixed, others = self.split_constants(expr.args)
        if not others:
            return self._nest(expr, pair, [self._print(number) for number in fixed])
        text = self._nest(expr, pair, [self._print(other) for other in others])
        return self._call(expr, with_constant, text, self._print(expr.func(*fixed))) if fixed else text

    def _print_Max(self, expr: sp.Expr) -> str:
        return self._extremum(expr, "maximum", "at_least")

    def _print_Min(self, expr: sp.Expr) -> str:
        return self._extremum(expr, "minimum", "at_most")

    # conditions

    def relation(self, operator: str, left: sp.Basic, right: sp.Basic) -> str:
        return f"({self._print(left)} {operator} {self._print(right)})"

    def _print_Relational(self, expr: sp.Basic) -> str:
        return self.relation(expr.rel_op, *expr.args)

    def _print_BooleanTrue(self, expr: sp.Basic) -> str:
        return "True"

    def _print_BooleanFalse(self, expr: sp.Basic) -> str:
        return "False"

    def _print_BooleanFunction(self, expr: sp.Basic) -> str:
        raise self.refuse(expr, "write it with And, Or and Not")

    def _print_And(self, expr: sp.Basic) -> str:
        return self._nest(expr, "both", [self._print(arg) for arg in expr.args])

    def _print_Or(self, expr: sp.Basic) -> str:
        return self._nest(expr, "either", [self._print(arg) for arg in expr.args])

    def _print_Not(self, expr: sp.Basic) -> str:
        return self._call(expr, "negation", self._print(expr.args[0]))

    def _print_Branches(self, expr: nodes.Branches) -> str:
        text = "nan"
        for condition, value in reversed(list(zip(expr.args[::2], expr.args[1::2], strict=True))):
            text = self._print(value) if condition == sp.true else self.choice(condition, value, text)
        return text

    def choice(self, condition: sp.Basic, value: sp.Expr, otherwise: str) -> str:
        raise NotImplementedError

    def _print_Guard(self, expr: nodes.Guard) -> str:
        mask, value, safe = expr.args
        return self.choice(mask, value, self._print(safe))

    # loops

    def _print_Loop(self, expr: nodes.Loop) -> str:
        body, masked, index, first, last, *factors = expr.args
        one_range = is_constant(first) and is_constant(last)  # the same for the whole batch: nothing to mask

        def terms(body: sp.Basic, masked: sp.Basic) -> tuple[str, str]:
            shown = f"lambda {index.name}: {self._print(body)}"
            return shown, "None" if one_range else f"lambda {index.name}: {self._print(masked)}"

        name, *watch = LOOPS[type(expr)]
        limits = self._print(first), self._print(last)
        parts = (*terms(body, masked), *limits, *(terms(*factors) if factors else ()))
        return self._call(expr, name, *watch, "_like", *parts)

    def _print_Watched(self, expr: nodes.Watched) -> str:
        name, text, *parts = expr.args
        extra = [text.name] if text.name else []
        return self._call(expr, f"watched_{name.name}", "_watch", *extra, *map(self._print, parts))
