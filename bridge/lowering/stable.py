"""Rewrite an expression, once, into nodes that every backend can evaluate accurately.

Exponentials and geometric sums go to their stable forms, Piecewise to Branches, finite sums and products to
explicit terms when they are few and to loops otherwise. Constants are left untouched: the printers fold them.
"""

from collections.abc import Callable, Mapping

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.logic.boolalg import Boolean, BooleanFunction

from . import exponentials
from .common import LoweringError
from .complements import complement
from .geometric import covers_limit, product_with_geometric
from .nodes import Branches, Loop, LoopProduct, LoopRun, LoopSum, is_constant, with_arguments

LONGEST_UNROLLED = 32  # beyond this many terms a loop costs less than the size of the generated code
LARGEST_EXPONENT = 100_000  # of two, in a float that is taken as a fraction
LARGEST_UNROLLED = 1000  # operations in the unrolled sum, all terms together

RECIPROCALS = {sp.sec: sp.cos, sp.csc: sp.sin, sp.sech: sp.cosh, sp.csch: sp.sinh, sp.coth: sp.tanh, sp.cot: sp.tan}
OF_RECIPROCALS = {
    sp.asec: sp.acos, sp.acsc: sp.asin, sp.asech: sp.acosh, sp.acsch: sp.asinh, sp.acoth: sp.atanh,
}  # fmt: skip
CONNECTIVES = sp.Xor | sp.Implies | sp.Equivalent  # of Nand and Nor SymPy itself makes And, Or and Not


# H_n^(m) = (-1)^(m-1)/(m-1)! (psi^(m-1)(n + 1) - psi^(m-1)(1)), DLMF 5.15.1 and 25.11.12 (m = 1: psi(n + 1) + gamma)
def harmonic_by_polygamma(n: sp.Expr, order: sp.Expr = sp.S.One) -> sp.Expr | None:
    if not (order.is_Integer and order >= 1):
        return None
    scale = (-1) ** (order - 1) / sp.factorial(order - 1)
    return scale * (sp.polygamma(order - 1, n + 1) - sp.polygamma(order - 1, 1))


DEFINITIONS: dict[type[sp.Basic], Callable[..., sp.Expr | None]] = {
    sp.KroneckerDelta: lambda a, b, *_: sp.Piecewise((1, sp.Eq(a, b)), (0, True)),
    sp.Mod: lambda a, b: a - b * sp.floor(a / b),
    sp.frac: lambda u: u - sp.floor(u),
    sp.sinc: lambda u: sp.Piecewise((sp.sin(u) / u, sp.Ne(u, 0)), (1, True)),
    sp.beta: lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b) if a.is_positive and b.is_positive else None,
    sp.ff: lambda a, n: sp.factorial(n) * sp.binomial(a, n) if n.is_nonnegative else None,
    sp.rf: lambda a, n: sp.gamma(a + n) / sp.gamma(a) if a.is_positive else None,
    sp.catalan: lambda n: sp.binomial(2 * n, n) / (n + 1) if n.is_nonnegative else None,
    sp.acot: lambda u: sp.Piecewise((sp.atan(1 / u), sp.Ne(u, 0)), (sp.pi / 2, True)),
    sp.erf2: lambda a, b: sp.erf(b) - sp.erf(a),
    sp.harmonic: harmonic_by_polygamma,
}


class Stabiliser:
    """The rewriting of one expression for one backend, with a cache, so that shared parts are rewritten once."""

    def __init__(self, backend: str, renaming: Mapping[sp.Basic, sp.Basic]) -> None:
        self._backend = backend
        self._floating = backend in ("numpy", "torch")
        self._renaming = dict(renaming)
        self._known = dict(renaming)
        self._known.update({new: new for new in renaming.values()})
        self._exact: dict[sp.Basic, sp.Basic] = {}
        self._kept = {old for old, new in self._known.items() if new is old}  # nodes that are rewritten as they are
        self._without: set[sp.Basic] = set()  # nodes without floats
        self._loops = 0

    def __call__(self, node: sp.Basic) -> sp.Basic:
        if node not in self._known:
            self._known[node] = self._rewrite(node)
            if self._known[node] is node:
                self._kept.add(node)
        return self._known[node]

    def _rewrite(self, node: sp.Basic) -> sp.Basic:
        if isinstance(node, sp.MatrixBase):
            return node.applyfunc(self)
        if isinstance(node, ExprWithLimits):
            return self._repeated(node)
        if not node.args or isinstance(node, sp.MatrixSymbol) or self._is_folded(node):
            return node
        self._check_conditions(node)
        if isinstance(node, sp.Piecewise):
            return self._branches(node)
        if isinstance(node, CONNECTIVES):
            return self(node.to_nnf(simplify=False))
        if isinstance(node, sp.ITE):  # SymPy makes it of a Piecewise inside a Piecewise
            test, yes, no = node.args
            return self(sp.Or(sp.And(test, yes), sp.And(sp.Not(test), no)))
        if isinstance(node, sp.Derivative):  # of re(x), which SymPy leaves open until x is known to be real
            evaluated = node.xreplace(self._renaming).doit()
            return node if evaluated.has(sp.Derivative) else self(evaluated)
        better = self._better_form(node) if isinstance(node, sp.Expr) else None
        return self(better) if better is not None else self._rebuilt(node)

    def _is_folded(self, node: sp.Basic) -> bool:
        """Whether the printer folds it to a number, so that it needs no stable form; loops are computed when called."""
        return self._floating and is_constant(node) and not node.has(sp.Sum, sp.Product)

    def _check_conditions(self, node: sp.Basic) -> None:
        conditions = node.args if isinstance(node, BooleanFunction) else ()
        conditions = [pair.cond for pair in node.args] if isinstance(node, sp.Piecewise) else conditions
        for condition in conditions:
            if condition.is_Symbol:
                raise LoweringError(self._backend, condition, "it is a number; as a condition write Ne(..., 0)")

    def _branches(self, node: sp.Basic) -> sp.Basic:
        parts = [(self(condition), self(value)) for value, condition in node.args]
        if len(parts) == 2 and parts[1][0] == sp.true and covers_limit(*parts[0], parts[1][1]):
            return parts[1][1]
        return Branches(*(part for pair in parts for part in pair))

    def _rebuilt(self, node: sp.Basic) -> sp.Basic:
        args = [self(arg) for arg in node.args]
        return node if self._kept.issuperset(node.args) else with_arguments(node, args)

    def exactly(self, node: sp.Basic) -> sp.Basic:
        """The same with rationals for floats: arithmetic of SymPy's floats would round while we rewrite."""
        if node not in self._exact:
            self._exact[node] = self._without_floats(node)
            if self._exact[node] is node:
                self._without.add(node)
        return self._exact[node]

    def _without_floats(self, node: sp.Basic) -> sp.Basic:
        if isinstance(node, sp.Float):
            return sp.Rational(node) if is_handy(node) else node
        if isinstance(node, sp.MatrixBase):
            return node.applyfunc(self.exactly)
        if not node.args or isinstance(node, sp.MatrixSymbol):
            return node
        args = [self.exactly(arg) for arg in node.args]
        return node if self._without.issuperset(node.args) else with_arguments(node, args)

    def _better_form(self, node: sp.Expr) -> sp.Expr | None:
        if isinstance(node, sp.log):
            argument = self(node.args[0]) if isinstance(node.args[0], sp.Sum) else node.args[0]
            return exponentials.log_of_exponentials(argument) or exponentials.log_near_one(argument)
        if node.is_Pow or node.is_Mul:
            return self._stable_product(node)
        if node.is_Add:
            return exponentials.with_expm1(node) or complement(node)
        if node.func in RECIPROCALS:
            return 1 / RECIPROCALS[node.func](node.args[0])
        if node.func in OF_RECIPROCALS:
            return OF_RECIPROCALS[node.func](1 / node.args[0])
        return DEFINITIONS[node.func](*node.args) if node.func in DEFINITIONS else None

    def _stable_product(self, node: sp.Expr) -> sp.Expr | None:
        together = exponentials.together(node) if node.is_Mul else None
        if together is not None:
            return together
        product = exponentials.exponential_product(node, inside_log=False)
        if product is None:
            return product_with_geometric(node, exact=not self._floating) if node.is_Mul else None
        mixed = next((factor for factor in product.others if factor.is_Add and factor.has(sp.exp)), None)
        if mixed is not None:  # (e^x - e^-x)/(e^x + e^-x): each term alone is bounded, the numerator is not
            rest = sp.Mul(*(factor for factor in node.args if factor != mixed))
            return sp.Add(*(term * rest for term in mixed.args))
        return exponentials.power_of_exponentials(product.absorbed, product.power) * sp.Mul(*product.others)

    def _repeated(self, node: ExprWithLimits) -> sp.Basic:
        if not isinstance(node, sp.Sum | sp.Product):
            raise LoweringError(self._backend, node, "call .doit() first, or integrate numerically")
        inner, (index, first, last) = node.function, self._limits(node)
        if len(node.limits) > 1:
            inner = node.func(inner, *node.limits[:-1])
        if not first.is_number or not last.is_number:
            return self._loop(node, inner, index, first, last)
        count = int(last - first) + 1
        if not 0 <= count <= LONGEST_UNROLLED or count * inner.count_ops() > LARGEST_UNROLLED:
            return self._loop(node, inner, index, first, last)
        combine = sp.Add if isinstance(node, sp.Sum) else sp.Mul
        return self(combine(*(inner.subs(index, first + step) for step in range(count))))

    def _limits(self, node: ExprWithLimits) -> tuple[sp.Symbol, sp.Expr, sp.Expr]:
        limits = node.limits[-1]
        if len(limits) != 3:
            raise LoweringError(self._backend, node, "give it a first and a last index")
        index, first, last = limits
        if any(end.is_infinite for end in (first, last)):
            raise LoweringError(self._backend, node, "it is infinite; call .doit(), or truncate it and bound the tail")
        if any(end.is_number and not end.is_integer for end in (first, last)):
            raise LoweringError(self._backend, node, "its limits must be integers")
        return index, first, last

    def _loop(self, node: ExprWithLimits, inner: sp.Expr, index: sp.Symbol, first: sp.Expr, last: sp.Expr) -> Loop:
        counter = sp.Symbol(f"_i{self._loops}", integer=True)
        self._loops += 1
        limits = self(first), self(last)

        def masked(body: sp.Expr, neutral: int) -> tuple[sp.Basic, sp.Basic]:
            body = self(body.subs(index, counter))
            return body, Branches(within(counter, *limits), body, sp.true, neutral)

        run = recursion_of(inner, index, last) if isinstance(node, sp.Sum) else None
        if run is not None:
            offset, factor = run
            return LoopRun(*masked(offset, 0), counter, *limits, *masked(factor, 1))
        loop, neutral = (LoopSum, 0) if isinstance(node, sp.Sum) else (LoopProduct, 1)
        return loop(*masked(inner, neutral), counter, *limits)


# With e_first = 0 and e_{i+1} = g_i e_i + f_i, unrolled: the sum of f_i g_{i+1} ... g_last.
def recursion_of(summand: sp.Expr, index: sp.Symbol, last: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """f and g, where the summand is f(i) times the product of g(m), i < m <= last; None for another one."""
    for product in sp.Mul.make_args(summand):
        if not isinstance(product, sp.Product) or len(product.limits) > 1:
            continue
        inner, low, high = product.limits[0]
        if (low, high) == (index + 1, last) and not product.function.has(index):
            others = [each for each in sp.Mul.make_args(summand) if each is not product]
            return sp.Mul(*others), product.function.subs(inner, index)
    return None


def is_handy(number: sp.Float) -> bool:
    """Whether the exponent is one that a fraction of integers can write out."""
    return bool(number.is_zero or sp.Float(2) ** -LARGEST_EXPONENT < abs(number) < sp.Float(2) ** LARGEST_EXPONENT)


def within(index: sp.Symbol, first: sp.Expr, last: sp.Expr) -> Boolean:
    """Whether a term counts: between the limits, or strictly between them when they are reversed (Karr)."""
    return sp.Or(sp.And(index >= first, index <= last), sp.And(index > last, index < first))
