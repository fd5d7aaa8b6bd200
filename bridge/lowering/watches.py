"""Have the nodes watched whose value in float64 may be wrong: sums that cancel, what jumps, products that overflow.

Sums of terms of one sign lose no digits, and neither does the difference of two exact numbers: `OneSign` and
`Exactness` find these, and they are computed as they are. What remains becomes a `Watched` node, which computes the
same and flags the points at which digits are lost (`conditioning`); those are computed again with balls (`points`).
"""

from collections.abc import Iterator

import sympy as sp
from sympy.core.symbol import Str
from sympy.matrices.expressions.matexpr import MatrixElement

from . import nodes
from .conditioning import MOST_EXPONENT
from .nodes import Branches, Loop, LoopRun, LoopSum, Node, Remembered, Watched, is_constant, with_arguments
from .ranges import Magnitudes

POSITIVE = (sp.exp, sp.cosh, sp.erfc, sp.Abs, sp.acos, sp.acosh, nodes.Sigmoid, nodes.Softplus, nodes.Erfc)
SIGN_OF_ARGUMENT = (sp.sinh, sp.tanh, sp.asinh, sp.atanh, sp.asin, sp.atan, sp.erf, sp.sign, sp.floor, sp.ceiling,
                    nodes.Expm1, nodes.Log1p)  # fmt: skip
POSITIVE_OF_POSITIVE = (sp.gamma, sp.factorial, sp.Heaviside, sp.LambertW)
JUMPS = (sp.floor, sp.ceiling)
KEEPS_EXACT = (sp.Max, sp.Min, sp.Abs, Branches)
# Functions of one argument that lose digits of an inexact one, by the name under which a backend has them.
SENSITIVE: dict[type[sp.Basic], str] = {
    sp.log: "log", nodes.Log1p: "log1p", sp.asin: "asin", sp.acos: "acos", sp.atanh: "atanh", sp.acosh: "acosh",
    sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.floor: "floor", sp.ceiling: "ceiling",
}  # fmt: skip
ALWAYS_WATCHED: dict[type[sp.Basic], str] = {
    sp.gamma: "gamma", sp.loggamma: "loggamma", sp.binomial: "binomial", sp.factorial: "factorial",
    nodes.LogSumExp: "logsumexp",
}  # fmt: skip
EXTREME = (sp.exp, sp.cosh, sp.sinh, sp.erfc, sp.gamma, sp.factorial, sp.binomial, nodes.Sigmoid, nodes.Erfc,
           nodes.Expm1, nodes.LoopProduct, nodes.Geometric)  # fmt: skip
AMPLIFIES = (sp.exp, sp.cosh, sp.sinh, nodes.Sigmoid, nodes.Expm1, nodes.LogSumExp, nodes.Softplus)
NEEDS_RANGE = (sp.log, sp.sign, sp.Heaviside, sp.floor, sp.ceiling, sp.sin, sp.cos, sp.tan, sp.gamma, sp.loggamma)
PASSES_ON = (sp.Add, sp.Mul, sp.Abs, sp.Max, sp.Min, Branches, sp.sinh, sp.tanh, sp.atan, sp.asinh, sp.erf, nodes.Log1p)
LARGEST_SAFE_POWER = 16
MANTISSA = 2**53
LARGEST_ORDER = 170  # of a polygamma in float64
SMALLEST = sp.Integer(2) ** -1022


def loops_in(expr: sp.Basic) -> Iterator[Loop]:
    """Every loop once, though its parts may be shared."""
    seen: set[int] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Loop):
            yield node
        stack.extend(node.flat() if isinstance(node, sp.MatrixBase) else node.args)


def is_folded(node: sp.Basic) -> bool:
    """Whether the printer folds it to the nearest double."""
    return is_constant(node) and not node.has(Node)


def counts_up(loop: Loop) -> bool:
    """Whether its limits are known not to be reversed."""
    return bool((loop.args[4] - loop.args[3] + 1).is_nonnegative)


class OneSign:
    """1 for what is nowhere negative, -1 for what is nowhere positive, 0 for the rest."""

    def __init__(self, indices: dict[sp.Basic, sp.Expr | None]) -> None:
        self._first = indices
        self._known = Remembered(self._sign)

    def __call__(self, node: sp.Basic) -> int:
        return int(self._known(node))

    def _sign(self, node: sp.Basic) -> int:
        if is_folded(node):
            value = node.evalf(15)
            return (1 if value >= 0 else -1) if value.is_extended_real and value.is_comparable else 0
        if node.is_Symbol:
            if node in self._first:
                first = self._first[node]
                return 0 if first is None else max(0, self(first))
            return 1 if node.is_nonnegative else -1 if node.is_nonpositive else 0
        if isinstance(node, sp.Add):
            return self._common(node.args)
        if isinstance(node, sp.Mul):
            sign = 1
            for factor in node.args:
                sign *= self(factor)
            return sign
        if isinstance(node, sp.Pow):
            base, power = node.args
            return 1 if power.is_even or self(base) == 1 else self(base) if power.is_odd else 0
        return self._of_function(node)

    def _of_function(self, node: sp.Basic) -> int:
        if isinstance(node, POSITIVE):
            return 1
        if isinstance(node, SIGN_OF_ARGUMENT):
            return self(node.args[0])
        if isinstance(node, POSITIVE_OF_POSITIVE):
            return max(0, min(map(self, node.args)))
        if isinstance(node, sp.Max | sp.Min):
            deciding = 1 if isinstance(node, sp.Max) else -1
            return deciding if any(self(arg) == deciding for arg in node.args) else self._common(node.args)
        if isinstance(node, Branches):
            return self._common(node.args[1::2])
        if isinstance(node, sp.polygamma) and node.args[0].is_positive and self(node.args[1]) == 1:
            return 1 if node.args[0].is_odd else -1
        if isinstance(node, nodes.Geometric):
            z, m = node.args
            return int(self(m) == 1 and (self(z) == 1 or self(1 + z) == 1))
        if isinstance(node, nodes.LoopProduct):
            return max(0, self(node.args[0]))
        if isinstance(node, LoopRun | LoopSum) and not counts_up(node):
            return 0  # Karr's reversed sum is negative where its terms are positive
        if isinstance(node, LoopRun):
            return self(node.args[0]) if self(node.args[5]) == 1 else 0
        return self(node.args[0]) if isinstance(node, LoopSum) else 0

    def _common(self, parts: tuple[sp.Basic, ...]) -> int:
        signs = {self(part) for part in parts}
        return signs.pop() if len(signs) == 1 else 0


class Exactness:
    """Whether float64 has the very value of a node, if its arguments are exact."""

    def __init__(self) -> None:
        self._known = Remembered(self._is_exact)

    def __call__(self, node: sp.Basic) -> bool:
        return bool(self._known(node))

    def _is_exact(self, node: sp.Basic) -> bool:
        if is_folded(node):
            return bool(node.is_Rational and abs(node.p) < MANTISSA and _is_power_of_two(node.q)) or node.is_infinite
        if node.is_Symbol or isinstance(node, MatrixElement | sp.sign | sp.floor | sp.ceiling):
            return True
        if isinstance(node, KEEPS_EXACT):
            return all(map(self, node.args[1::2] if isinstance(node, Branches) else node.args))
        if isinstance(node, sp.Add):
            return all(self(term) and is_whole(term) for term in node.args)
        if isinstance(node, sp.Mul) and len(node.args) == 2:
            number, other = node.args
            dyadic = number.is_Rational and _is_power_of_two(abs(number.p)) and _is_power_of_two(number.q)
            return bool(dyadic) and self(other)
        return False


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def is_whole(term: sp.Basic) -> bool:
    number, other = term.as_coeff_Mul()
    return bool(
        number.is_Integer and (other == 1 or (other.is_Symbol and other.is_integer) or isinstance(other, JUMPS))
    )


class Watching:
    """The expression with the nodes watched that may need it.

    `may_overflow`: whether an inf or a nan may be false. `farthest`: the exponent of two up to which the size of the
    arguments, or of its inverse, keeps what is computed on the way in range.
    """

    def __init__(self, expr: sp.Basic) -> None:
        self._signs = OneSign({loop.args[2]: loop.args[3] if counts_up(loop) else None for loop in loops_in(expr)})
        self._exact = Exactness()
        self._may_leave = Remembered(self._leaves)
        self._plainly = Remembered(lambda node: self._watched(node, amplified=False))
        self._amplified = Remembered(lambda node: self._watched(node, amplified=True))
        self.count = 0
        self.may_overflow = False
        self.farthest = Magnitudes(expr).usable
        self.expression = self._plainly(expr)

    @property
    def is_needed(self) -> bool:
        return self.count > 0 or self.may_overflow or self.farthest < MOST_EXPONENT

    def _watched(self, node: sp.Basic, *, amplified: bool) -> sp.Basic:
        if isinstance(node, sp.MatrixBase):
            return node.applyfunc(self._plainly)
        if not node.args or isinstance(node, sp.MatrixExpr | MatrixElement) or is_folded(node):
            return node
        if isinstance(node, EXTREME) or (node.is_Pow and node.exp not in (-1, sp.S.Half, -sp.S.Half)):
            self.may_overflow = True
        inner = self._amplified if amplified or isinstance(node, AMPLIFIES) else self._plainly
        args = [inner(arg) for arg in node.args]
        if node.is_Pow:
            args[1] = self._amplified(node.args[1])
        found = self._node(node, args, amplified)
        if found is not None:
            self.count += 1
            return found
        kept = all(new is old for new, old in zip(args, node.args, strict=True))
        return node if kept else rebuilt(node, args)

    def _node(self, node: sp.Basic, args: list[sp.Basic], amplified: bool) -> sp.Basic | None:
        """The watched node of these arguments, None if nothing can go wrong."""
        if isinstance(node, NEEDS_RANGE) or (node.is_Pow and not node.exp.is_integer):
            args[0] = self._in_range(node.args[0], args[0])
        if node.is_Add:
            return self._sum(node, args, amplified)
        if node.is_Mul:
            return self._product(node, args)
        if node.is_Pow:
            return self._power(node, args)
        if isinstance(node, sp.core.relational.Relational):
            if all(map(self._exact, node.args)):
                return None
            return rebuilt(node, [Watched(Str("against"), Str(""), *args), args[1]])
        if isinstance(node, nodes.LoopProduct):
            return nodes.WatchedProduct(*args)
        if isinstance(node, LoopSum | LoopRun):
            if self._signs(node.args[0]) and (isinstance(node, LoopSum) or self._signs(node.args[5]) == 1):
                return None
            return (nodes.WatchedSum if isinstance(node, LoopSum) else nodes.WatchedRun)(*args)
        if node.func in SENSITIVE and not self._exact(node.args[0]):
            return Watched(Str(SENSITIVE[node.func]), Str(""), *args)
        if isinstance(node, sp.polygamma) and node.args[0].is_Integer and self._is_hard(node):
            return Watched(Str("polygamma"), Str(str(node.args[0])), args[1])
        if isinstance(node, sp.LambertW) and (len(args) == 1 or args[1] in (0, -1)):
            return Watched(Str("lambertw"), Str(str(args[1]) if len(args) == 2 else "0"), args[0])
        return Watched(Str(ALWAYS_WATCHED[node.func]), Str(""), *args) if node.func in ALWAYS_WATCHED else None

    def _is_hard(self, node: sp.Expr) -> bool:
        """Digamma near its zero; the others left of 0."""
        order = int(node.args[0])
        return order == 0 or (order <= LARGEST_ORDER and self._signs(node.args[1]) != 1)

    def _in_range(self, old: sp.Basic, new: sp.Basic) -> sp.Basic:
        """The argument, watched where it may have left the range of float64 by an exponential or a large power."""
        if not self._may_leave(old):
            return new
        self.count += 1
        return Watched(Str("range"), Str(""), new)

    def _leaves(self, node: sp.Basic) -> bool:
        if not node.args or isinstance(node, sp.MatrixExpr | MatrixElement) or is_folded(node):
            return False
        if isinstance(node, EXTREME):
            return True
        if node.is_Pow:
            return is_extreme(node) or self._may_leave(node.base)
        if node.is_Add and has_tiny_number(node):
            return True
        return isinstance(node, PASSES_ON) and any(map(self._may_leave, node.args))

    def _sum(self, node: sp.Add, args: list[sp.Basic], amplified: bool) -> sp.Basic | None:
        exact = all(map(self._exact, node.args))
        if self._signs(node) or (exact and (len(args) == 2 or self._exact(node))):
            return None
        fixed = [new for new in args if is_folded(new)]
        terms = [new for new in args if not is_folded(new)]
        number = sp.Add(*fixed)
        terms = [*terms, number] if number != 0 else terms
        return Watched(Str("sum_in_exponent" if amplified else "sum"), Str(""), *terms) if len(terms) > 1 else None

    def _product(self, node: sp.Mul, args: list[sp.Basic]) -> sp.Basic | None:
        pairs = [(old, new) for old, new in zip(node.args, args, strict=True) if not is_folded(old)]
        if len(pairs) < 2 or not any(map(self._is_far, (old for old, _ in pairs))):
            return None
        above = [(old, new) for old, new in pairs if not _is_below(old)]
        below = [_reciprocal(new) for old, new in pairs if _is_below(old)]
        number = sp.Mul(*(old for old in node.args if is_folded(old)))
        plain = [new for old, new in above if not self._is_far(old)]
        plain = [number, *plain] if number != 1 else plain
        extreme = [new for old, new in above if self._is_far(old)]
        return Watched(Str("product"), Str(f"{len(plain)}, {len(extreme)}"), *plain, *extreme, *below)

    def _is_far(self, factor: sp.Basic) -> bool:
        """A sum too, if each term may be far: else another one keeps it from being small, and a large one is inf."""
        if factor.is_Add and not has_tiny_number(factor):
            return all(map(self._may_leave, factor.args))
        return is_extreme(factor) or bool(self._may_leave(factor))

    def _power(self, node: sp.Pow, args: list[sp.Basic]) -> sp.Basic | None:
        base, power = node.args
        large = not is_folded(power) or abs(power) > 1024
        parity_lost = power.is_Integer and abs(power) > MANTISSA
        if is_folded(base) or (self._exact(base) and not parity_lost) or not large:
            return None
        return Watched(Str("power"), Str(""), *args)


def has_tiny_number(node: sp.Add) -> bool:
    """Whether it has a number that is printed as 0."""
    return any(is_folded(each) and 0 < abs(each.evalf(15)) < SMALLEST for each in node.args)


def is_extreme(factor: sp.Basic) -> bool:
    base, power = factor.args if factor.is_Pow else (factor, sp.S.One)
    if not is_folded(power) or abs(power) >= LARGEST_SAFE_POWER:
        return True
    return isinstance(base, EXTREME)


def _is_below(factor: sp.Basic) -> bool:
    return bool(factor.is_Pow and factor.exp.is_number and factor.exp.is_negative)


def _reciprocal(factor: sp.Basic) -> sp.Basic:
    """What a factor with a negative exponent is divided by; a power that is watched is not one of these."""
    return sp.Pow(factor.base, -factor.exp) if factor.is_Pow else 1 / factor


def rebuilt(node: sp.Basic, args: list[sp.Basic]) -> sp.Basic:
    """Of these arguments; a relation stays one, whatever SymPy knows of its sides."""
    if isinstance(node, sp.core.relational.Relational):
        return node.func(*args, evaluate=False)
    return with_arguments(node, args)
