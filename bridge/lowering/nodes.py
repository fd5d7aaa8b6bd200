"""Nodes that SymPy lacks: functions that stay accurate where their textbook formula overflows or cancels.

They appear between the rewriting (`stable`, `guards`) and the printing; users never meet them. The letters: u, w are
exponents, z = ratio - 1, m a number of terms.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.matrices.expressions.matexpr import MatrixElement

BINDING = (sp.MatrixBase, sp.MatrixSymbol, ExprWithLimits, sp.Subs, sp.Derivative, sp.Lambda)  # have their own rule

OF_MATRICES = (
    sp.MatrixExpr,
    sp.MatrixBase,
    sp.Trace,
    sp.Determinant,
    MatrixElement,
)  # take matrices, as all others do not
SHAPED = (sp.MatrixSymbol, sp.Identity, sp.ZeroMatrix, sp.OneMatrix)  # name their sizes
NO_FORMULA = (sp.Subs, sp.Limit, sp.Indexed, sp.IndexedBase, sp.Lambda, sp.Order, sp.AccumBounds)


class Node(sp.Expr):
    """A real scalar that only the backends interpret; SymPy never simplifies it."""

    is_commutative = True

    def __new__(cls, *args: Any) -> "Node":
        return sp.Expr.__new__(cls, *map(sp.sympify, args))


class LogSumExp(Node):
    """log(exp(w_1) + ... + exp(w_n))."""


class Softplus(Node):
    """log(1 + exp(u))."""


class Sigmoid(Node):
    """1 / (1 + exp(-u))."""


class Erfc(Node):
    """1 - erf(u)."""


class Expm1(Node):
    """exp(u) - 1."""


class Log1p(Node):
    """log(1 + u)."""


class Geometric(Node):
    """((1 + z)**m - 1) / z, and m at z = 0: the sum of m terms of ratio 1 + z."""


class Branches(Node):
    """(c_1, e_1, c_2, e_2, ...): the first e_i whose condition c_i holds, nan if none does."""


class Guard(Node):
    """(mask, value, safe): the value where the mask holds and a harmless number elsewhere.

    A branch that is not taken is still evaluated by array code, and 0 * inf = nan in the backward pass would
    leak into the gradient of the branch that is taken.
    """


class Loop(Node):
    """(body, masked body, index, first, last): folded over the integers first..last.

    The masked body is the neutral element outside first..last; it is used when the limits are arrays.
    """

    @property
    def free_symbols(self) -> set[sp.Basic]:
        body, masked, index, first, last = self.args
        inner: set[sp.Basic] = body.free_symbols | masked.free_symbols
        return (inner - {index}) | first.free_symbols | last.free_symbols


class LoopSum(Loop):
    """Sum(body, (index, first, last)), with Karr's convention for last < first - 1, as SymPy has it."""


class LoopProduct(Loop):
    """Product(body, (index, first, last)), with Karr's convention for last < first - 1, as SymPy has it."""


class LoopRun(Loop):
    """The end of the recursion e <- factor(i) e + body(i) from 0 over i = first..last; (..., factor, masked factor).

    It is Sum(body(i) * Product(factor, (m, i + 1, last)), (i, first, last)), in as many steps as the sum has terms.
    """

    @property
    def free_symbols(self) -> set[sp.Basic]:
        body, masked, index, first, last, *factors = self.args
        inner: set[sp.Basic] = set().union(*(each.free_symbols for each in (body, masked, *factors)))
        return (inner - {index}) | first.free_symbols | last.free_symbols


class WatchedSum(LoopSum):
    """The same, watched: its terms may cancel."""


class WatchedRun(LoopRun):
    """The same, watched: its terms may cancel."""


class WatchedProduct(LoopProduct):
    """The same, watched: on the way it may leave the range."""


class ArrayEntry(MatrixElement):
    """(matrix, name, sizes, *indices): an entry of an array with these sizes; one of three axes or more is a column."""

    is_extended_real = True

    def __new__(cls, *args: Any) -> "ArrayEntry":
        return sp.Expr.__new__(cls, *args)

    def doit(self, **hints: Any) -> "ArrayEntry":
        return self

    @property
    def indices(self) -> tuple[sp.Expr, ...]:
        found: tuple[sp.Expr, ...] = self.args[3:]
        return found


class Watched(Node):
    """(name, text, *parts): the function of that name, which flags the points where float64 loses digits of its value.

    The text stands before the parts as it is; numbers that are no values of the backend.
    """


class Remembered:
    """A function of nodes that caches its values by identity.

    A cache by equality would compare nodes, and SymPy takes exponential time to compare two copies of an expression
    in which a part is used twice a layer.
    """

    def __init__(self, function: Callable[[sp.Basic], Any]) -> None:
        self._function = function
        self._values: dict[int, tuple[sp.Basic, Any]] = {}  # the node is kept, so that its id stays its own

    def __call__(self, node: sp.Basic) -> Any:
        known = self._values.get(id(node))
        if known is None:
            known = self._values[id(node)] = (node, self._function(node))
        return known[1]

    def forget(self) -> None:
        self._values = {}


def _free_symbols(node: sp.Basic) -> frozenset[sp.Basic]:
    """SymPy's `free_symbols`, cached: SymPy's own takes exponential time where a part is used twice a layer."""
    if not node.args or isinstance(node, BINDING):
        return frozenset(node.free_symbols)
    inner = frozenset().union(*map(free_symbols, node.args))
    return inner - {node.args[2]} if isinstance(node, Loop) else inner


def _size(node: sp.Basic) -> int:
    """The number of nodes, shared ones counted as often as they are used."""
    return 1 + sum(map(size, node.args))


def _nameless(node: sp.Basic) -> sp.Basic | None:
    """The first node within that stands for no formula of its arguments: a limit, an entry of an unknown array, ..."""
    if isinstance(node, NO_FORMULA):
        return node
    return next((found for found in map(nameless, node.args) if found is not None), None)


def _entrywise(node: sp.Basic) -> sp.Basic | None:
    """The first node within that takes a matrix where a number belongs: SymPy's exp(A) is a number of no shape."""
    if isinstance(node, sp.BlockMatrix):  # its parts are a tuple; the printer says what to do with it
        return None
    if not isinstance(node, OF_MATRICES) and any(getattr(arg, "is_Matrix", False) for arg in node.args):
        return node
    return next((found for found in map(entrywise, node.args) if found is not None), None)


def _has_sizes(node: sp.Basic) -> bool:
    """Whether arrays occur whose sizes are known when they are given: indexed ones, matrices of symbolic shape."""
    if isinstance(node, sp.Indexed | sp.Idx):
        return True
    if isinstance(node, SHAPED):
        return not all(sp.sympify(each).is_Integer for each in node.shape)
    return any(map(has_sizes, node.flat() if isinstance(node, sp.MatrixBase) else node.args))


free_symbols, size = Remembered(_free_symbols), Remembered(_size)
nameless, entrywise, has_sizes = Remembered(_nameless), Remembered(_entrywise), Remembered(_has_sizes)


def forget() -> None:
    """Empty the caches."""
    for cached in (free_symbols, size, nameless, entrywise, has_sizes):
        cached.forget()


def is_constant(node: sp.Basic) -> bool:
    """Whether the node is a number: no argument and no index of a loop occurs in it."""
    return not free_symbols(node)


def with_arguments(node: sp.Basic, args: Sequence[sp.Basic]) -> sp.Basic:
    """The node of these arguments, itself if they are its own.

    Which argument of Max is the largest SymPy would ask all of its assumptions.
    """
    if len(args) == len(node.args) and all(map(operator.is_, args, node.args)):
        return node
    return node.func(*args, evaluate=False) if isinstance(node, sp.Max | sp.Min) else node.func(*args)


def constants_and_others(nodes: Any) -> tuple[list[sp.Basic], list[sp.Basic]]:
    fixed = [node for node in nodes if is_constant(node)]
    return fixed, [node for node in nodes if not is_constant(node)]
