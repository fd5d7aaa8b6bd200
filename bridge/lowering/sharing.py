"""Common subexpressions: every part that occurs twice is computed once, and very deep nesting is cut.

`sympy.cse` is not used: it also rearranges sums and products, ignores indices that are bound by a loop, and moves a
part of a branch in front of the test that protects it.
"""

from collections import Counter

import sympy as sp
from sympy.logic.boolalg import Boolean

from .nodes import ArrayEntry, Branches, Loop, constants_and_others, free_symbols, is_constant, with_arguments

DEEPEST = 24  # Python refuses text nested deeper than about 200 parentheses, a level may open several


def parts_of(node: sp.Basic) -> tuple[sp.Basic, ...]:
    """The parts from which a node is computed; e in 1 + e is one part even if SymPy has merged the two sums."""
    if isinstance(node, sp.MatrixBase):
        return tuple(node.flat())
    if node.is_Add or node.is_Mul:
        fixed, others = constants_and_others(node.args)
        if fixed and len(others) > 1:
            return (*fixed, node.func(*others))
    return () if isinstance(node, sp.MatrixSymbol | ArrayEntry) else node.args  # indices are computed by themselves


def rebuilt(node: sp.Basic, old: tuple[sp.Basic, ...], new: list[sp.Basic]) -> sp.Basic:
    if all(before is after for before, after in zip(old, new, strict=True)):
        return node
    if isinstance(node, sp.MatrixBase):
        return sp.ImmutableDenseMatrix(*node.shape, new)
    return with_arguments(node, new)


class Sharing:
    """A replacement for `sympy.cse` in `lambdify`: returns ([(symbol, part), ...], the rest)."""

    def __init__(self, share: bool, lazy: bool) -> None:
        self._share = share
        self._lazy = lazy

    def __call__(self, expr: sp.Basic) -> tuple[list[tuple[sp.Symbol, sp.Basic]], sp.Basic]:
        self._children: dict[sp.Basic, tuple[sp.Basic, ...]] = {}
        self._uses: Counter[sp.Basic] = Counter()
        self._indices: set[sp.Basic] = set()
        self._count(expr)
        self._names = sp.numbered_symbols("_t")
        self._shared: list[tuple[sp.Symbol, sp.Basic]] = []
        self._done: dict[sp.Basic, tuple[sp.Basic, int]] = {}
        rest, _ = self._replace(expr)
        return self._shared, rest

    def _always_evaluated(self, node: sp.Basic) -> int:
        """How many children may be computed in advance: a lazy backend evaluates one branch only, after its test."""
        return 1 if self._lazy and isinstance(node, Branches) else len(self._children[node])

    def _count(self, expr: sp.Basic) -> None:
        stack = [expr]
        while stack:
            node = stack.pop()
            self._uses[node] += 1
            if isinstance(node, Loop):
                self._indices.add(node.args[2])
            if self._uses[node] == 1:
                self._children[node] = parts_of(node)
                stack.extend(self._children[node][: self._always_evaluated(node)])

    def _may_stand_alone(self, node: sp.Basic) -> bool:
        plain = isinstance(node, sp.Expr | Boolean) and not getattr(node, "is_Matrix", False)
        return plain and not free_symbols(node) & self._indices

    def _replace(self, node: sp.Basic) -> tuple[sp.Basic, int]:
        """The node with its shared parts replaced by symbols, and how deeply it is still nested."""
        if node not in self._done:
            self._done[node] = self._replaced(node) if self._children[node] and not is_constant(node) else (node, 0)
        return self._done[node]

    def _replaced(self, node: sp.Basic) -> tuple[sp.Basic, int]:
        children, count = self._children[node], self._always_evaluated(node)
        pairs = [self._replace(child) for child in children[:count]]
        depth = 1 + max(depth for _, depth in pairs)
        rest = rebuilt(node, children, [new for new, _ in pairs] + list(children[count:]))
        shared = self._share and self._uses[node] > 1
        if not self._may_stand_alone(node) or not (shared or depth >= DEEPEST):
            return rest, depth
        symbol = next(self._names)
        self._shared.append((symbol, rest))
        return symbol, 0
