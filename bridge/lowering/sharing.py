"""Common subexpressions: every part that occurs twice is computed once, and very deep nesting is cut.

`sympy.cse` is not used: it also rearranges sums and products, knows nothing of indices bound by a loop, and moves a
part of a branch in front of the test that protects it.
"""

from collections import Counter

import sympy as sp
from sympy.logic.boolalg import Boolean

from .nodes import Branches, Loop, free_symbols, is_constant

DEEPEST = 24  # Python refuses text nested deeper than about 200 parentheses, a level may open several


def children(node: sp.Basic) -> tuple[sp.Basic, ...]:
    if isinstance(node, sp.MatrixBase):
        return tuple(node.flat())
    return () if isinstance(node, sp.MatrixSymbol) else node.args


def always_evaluated(node: sp.Basic, lazy: bool) -> tuple[sp.Basic, ...]:
    """The children that may be computed in advance: a lazy backend evaluates one branch only, after its test."""
    return children(node)[:1] if lazy and isinstance(node, Branches) else children(node)


class Sharing:
    """A replacement for `sympy.cse` in `lambdify`: returns ([(symbol, part), ...], the rest)."""

    def __init__(self, share: bool, lazy: bool) -> None:
        self._share = share
        self._lazy = lazy

    def __call__(self, expr: sp.Basic) -> tuple[list[tuple[sp.Symbol, sp.Basic]], sp.Basic]:
        self._uses: Counter[sp.Basic] = Counter()
        self._indices: set[sp.Basic] = set()
        self._count(expr)
        self._names = (sp.Symbol(f"_t{number}") for number in range(10**9))
        self._parts: list[tuple[sp.Symbol, sp.Basic]] = []
        self._done: dict[sp.Basic, tuple[sp.Basic, int]] = {}
        rest, _ = self._replace(expr)
        return self._parts, rest

    def _count(self, expr: sp.Basic) -> None:
        stack = [expr]
        while stack:
            node = stack.pop()
            self._uses[node] += 1
            if isinstance(node, Loop):
                self._indices.add(node.args[2])
            if self._uses[node] == 1:
                stack.extend(always_evaluated(node, self._lazy))

    def _may_stand_alone(self, node: sp.Basic) -> bool:
        plain = isinstance(node, sp.Expr | Boolean) and not getattr(node, "is_Matrix", False)
        return plain and bool(node.args) and not is_constant(node) and not free_symbols(node) & self._indices

    def _replace(self, node: sp.Basic) -> tuple[sp.Basic, int]:
        """The node with its shared parts replaced by symbols, and how deeply it is still nested."""
        if not children(node) or is_constant(node):
            return node, 0
        if node not in self._done:
            self._done[node] = self._replaced(node)
        return self._done[node]

    def _replaced(self, node: sp.Basic) -> tuple[sp.Basic, int]:
        allowed = set(always_evaluated(node, self._lazy))
        pairs = {child: self._replace(child) if child in allowed else (child, 0) for child in children(node)}
        depth = 1 + max(depth for _, depth in pairs.values())
        rest = rebuilt(node, {child: new for child, (new, _) in pairs.items()})
        shared = self._share and self._uses[node] > 1
        if not self._may_stand_alone(node) or not (shared or depth >= DEEPEST):
            return rest, depth
        symbol = next(self._names)
        self._parts.append((symbol, rest))
        return symbol, 0


def rebuilt(node: sp.Basic, new: dict[sp.Basic, sp.Basic]) -> sp.Basic:
    if all(child is replacement for child, replacement in new.items()):
        return node
    if isinstance(node, sp.MatrixBase):
        return node.applyfunc(new.__getitem__)
    return node.func(*(new[child] for child in node.args))
