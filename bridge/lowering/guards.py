"""Mask the branches of a Piecewise, so that the branch not taken cannot spoil a gradient.

Only torch needs it. Inside a branch every argument of a non-linear node is replaced, where the branch is not taken, by
a number at which the node and its derivative are finite (log at 1, exp at 0). All intermediate values and local
derivatives are then finite there, and the zero gradient that the outer selection sends back stays zero instead of
0 * inf = nan.
"""

import sympy as sp
from sympy.logic.boolalg import Boolean

from .nodes import ArrayEntry, Branches, Expm1, Guard, Log1p, LogSumExp, Loop, is_constant, with_arguments

HARMLESS_ARGUMENT: dict[type[sp.Basic], sp.Expr] = {
    sp.exp: sp.S.Zero,
    Expm1: sp.S.Zero,
    Log1p: sp.S.Zero,
    LogSumExp: sp.S.Zero,
    sp.asin: sp.S.Zero,
    sp.acos: sp.S.Zero,
    sp.atanh: sp.S.Zero,
    sp.acosh: sp.Integer(2),
}


def harmless_argument(node: sp.Basic) -> sp.Expr:
    if isinstance(node, sp.LambertW) and len(node.args) == 2:
        return sp.Rational(-1, 4)  # the domain of the branch -1 is [-1/e, 0)
    return HARMLESS_ARGUMENT.get(node.func, sp.Rational(5, 2))  # no whole number: what jumps there is watched


class Masking:
    """Walks an expression and carries the condition under which the part at hand is needed."""

    def __init__(self) -> None:
        self._known: dict[tuple[sp.Basic, Boolean], sp.Basic] = {}

    def __call__(self, node: sp.Basic, mask: Boolean = sp.true) -> sp.Basic:
        key = (node, mask)
        if key not in self._known:
            self._known[key] = self._masked(node, mask)
        return self._known[key]

    def _masked(self, node: sp.Basic, mask: Boolean) -> sp.Basic:
        if isinstance(node, sp.MatrixBase):
            return node.applyfunc(lambda entry: self(entry, mask))
        if not node.args or isinstance(node, sp.MatrixExpr | Boolean | ArrayEntry) or is_constant(node):
            return node
        if isinstance(node, Branches):
            return self._branches(node, mask)
        args = [self(arg, mask) for arg in node.args]
        if mask is sp.true or isinstance(node, sp.Add | Loop | sp.matrices.expressions.matexpr.MatrixElement):
            return with_arguments(node, args)
        return with_arguments(node, [self._guarded(node, arg, mask) for arg in args])

    def _guarded(self, node: sp.Basic, arg: sp.Basic, mask: Boolean) -> sp.Basic:
        return arg if is_constant(arg) or not isinstance(arg, sp.Expr) else Guard(mask, arg, harmless_argument(node))

    def _branches(self, node: Branches, mask: Boolean) -> Branches:
        parts: list[sp.Basic] = []
        still_open = mask
        for condition, value in zip(node.args[::2], node.args[1::2], strict=True):
            parts += [condition, self(value, sp.And(still_open, condition))]
            still_open = sp.And(still_open, sp.Not(condition))
        return Branches(*parts)
