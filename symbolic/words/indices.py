"""Names of what a formula binds: an index of a sum never has the name of a letter, nor that of an index around it."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef

INDICES = "ilmkhjnpqrst"  # in the order in which they are taken


def fresh(taken: Collection[str], preferred: Iterable[str] = INDICES) -> str:
    """The first of the preferred names that is not taken, else i_1, i_2 and so on."""
    others = (f"i_{place}" for place in itertools.count(1))
    return next(each for each in itertools.chain(preferred, INDICES, others) if each not in taken)


# A letter of a sum: no symbol of a caller's is equal to it, and the same sum has the same one, so that a value that is
# derived twice is derived alike.
def new_index(name: str, expressions: Iterable[sp.Expr], **assumptions: bool) -> sp.Dummy:
    """A whole-number symbol that does not occur in the expressions, not even as a bound variable."""
    taken = set().union(*(expression.atoms(sp.Dummy) for expression in expressions))
    letters = (sp.Dummy(name, dummy_index=k, integer=True, **assumptions) for k in range(len(taken) + 1))
    return next(letter for letter in letters if letter not in taken)


def names_of_letters(notation: Mapping[sp.Symbol, str] | None) -> frozenset[str]:
    """The names that the letters of a statement have, and those that it is written with."""
    letters = {each.name for each in notation or {}}
    return frozenset(letters | {written for written in (notation or {}).values() if written})


def with_fresh_indices(expression: Any, taken: Collection[str]) -> Any:
    """The same, each index under a name that is not `taken`, no letter's of the expression and no outer index's."""
    if not isinstance(expression, sp.Basic) or not expression.has(ExprWithLimits):
        return expression
    names = {letter.name for letter in expression.free_symbols if isinstance(letter, sp.Symbol)}
    names |= {str(each.func) for each in expression.atoms(AppliedUndef)}
    found = _renamed(expression, {*taken, *names})
    new = found.atoms(sp.Dummy) - expression.atoms(sp.Dummy)
    return found.xreplace({each: sp.Symbol(each.name, **_declared(each)) for each in new})


def _renamed(node: Any, taken: set[str]) -> Any:
    """From the outside inwards; `taken` are the names of letters and of the indices around."""
    if not node.has(ExprWithLimits):
        return node
    if not isinstance(node, ExprWithLimits):
        outermost = {each: _renamed(each, taken) for each in _outermost(node)}
        return node.xreplace({old: new for old, new in outermost.items() if old != new})
    function, limits, inner = node.function, list(node.limits), set(taken)
    for place in reversed(range(len(limits))):
        index, *ends = limits[place]
        name = index.name if index.name not in inner else fresh(inner)
        inner.add(name)
        if name != index.name:
            own = _index(name, index)
            function = function.xreplace({index: own})
            limits = [
                sp.Tuple(*(x if e == 0 else x.xreplace({index: own}) for e, x in enumerate(each))) for each in limits
            ]
            limits[place] = sp.Tuple(own, *ends)
    ends = [sp.Tuple(index, *(_renamed(end, taken) for end in ends)) for index, *ends in limits]
    return node.func(_renamed(function, inner), *ends)


def _index(name: str, old: sp.Symbol) -> sp.Symbol:
    """Never the symbol of an index inside, which the new one would be bound by."""
    return sp.Dummy(name, **_declared(old))


def _declared(symbol: sp.Symbol) -> dict[str, Any]:
    return {key: value for key, value in symbol.assumptions0.items() if key != "commutative"}


def _outermost(node: sp.Basic) -> list[sp.Basic]:
    found: list[sp.Basic] = []
    walk = sp.preorder_traversal(node)
    for each in walk:
        if isinstance(each, ExprWithLimits):
            found.append(each)
            walk.skip()
    return list(dict.fromkeys(found))
