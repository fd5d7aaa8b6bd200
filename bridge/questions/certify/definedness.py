"""Where an expression is a real number: conditions on the nodes of the tree as it was given.

SymPy simplifies where it can: x/x is 1, log(x) - log(x) is 0. Both are undefined at 0 all the same. The conditions are
therefore read off the tree before anything is simplified. Where all of them hold every node is a real number, and each
rewrite that is valid for real numbers keeps its value.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.derivations.definedness import EVERYWHERE, OF_ARGUMENT, Relation

ENDS_OF_DOMAINS = (Relation.POSITIVE, Relation.NONNEGATIVE)  # the others exclude single points


@dataclass(frozen=True)
class DomainCondition:
    """What the expression `of` has to be. Conditions on its own parts are conditions of their own."""

    of: sp.Expr
    relation: Relation

    @property
    def known(self) -> bool:
        """Whether it holds wherever `of` is a real number."""
        of: Any = self.of
        if self.relation is Relation.POSITIVE:
            return bool(of.is_positive)
        if self.relation is Relation.NONNEGATIVE:
            return bool(of.is_nonnegative)
        if self.relation is Relation.NONZERO:
            return bool(of.is_positive or of.is_negative or of.is_nonzero or (of.is_Pow and of.exp.is_negative))
        return self.relation is Relation.NO_POLE and bool(of.is_positive)

    @property
    def claim(self) -> tuple[sp.Expr, bool]:
        """An expression that has to be >= 0 (> 0 where True), for a table of claims."""
        if self.relation is Relation.NONZERO:
            return self.of**2, True
        if self.relation is Relation.NO_POLE:
            return 1 + sp.gamma(self.of) ** 2, True  # never shown at a pole
        return self.of, self.relation is not Relation.NONNEGATIVE

    @property
    def words(self) -> str:
        named = {symbol: sp.Symbol(symbol.name) for symbol in self.of.free_symbols}
        return f"{sp.sstr(self.of.xreplace(named))} {self.relation}"


def evaluated(node: Any, values: Mapping[sp.Symbol, Any]) -> Any:
    """The tree built anew, with these values of its symbols: SymPy simplifies each node as it does by itself."""
    return _evaluated(node, dict(values))


def _evaluated(node: Any, known: dict[Any, Any]) -> Any:
    if not node.args:
        return known.get(node, node)
    if node not in known:
        if isinstance(node, sp.Expr):
            parts = [_evaluated(part, known) for part in node.args]
            try:
                known[node] = node.func(*parts)
            except ValueError:  # the maximum of what is nowhere a real number
                known[node] = sp.nan
        else:
            known[node] = node.xreplace({s: value for s, value in known.items() if isinstance(s, sp.Symbol)})
    return known[node]


def conditions_of(expression: sp.Expr, values: Mapping[sp.Symbol, Any]) -> list[DomainCondition]:
    """What has to hold for the tree to be a real number, in these values of its symbols; what always holds is omitted.

    The values have to be real.
    """
    known = dict(values)
    needed = (_at(node, lambda part: _evaluated(part, known)) for node in _nodes(expression))
    found = dict.fromkeys(each if each is None or is_finite_real(each.of) else _never(each) for each in needed)
    return [each for each in found if each is not None and not each.known]


def is_finite_real(expression: sp.Basic) -> bool:
    """Whether nothing in it shows that it is not one."""
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I)


def _never(condition: DomainCondition) -> DomainCondition:
    return DomainCondition(condition.of, Relation.NEVER)


def _nodes(expression: sp.Expr) -> Iterator[Any]:
    """Each node once, outer ones first."""
    waiting: list[Any] = [expression]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += reversed(node.args)


def _at(node: Any, value: Callable[[Any], Any]) -> DomainCondition | None:
    """The condition at a node for given real parts."""
    if not node.args or isinstance(node, EVERYWHERE):
        return None
    if isinstance(node, sp.Pow):
        return _of_power(value(node.base), value(node.exp))
    if type(node) in OF_ARGUMENT:
        of, relation = OF_ARGUMENT[type(node)]
        return DomainCondition(of(value(node.args[0])), relation)
    if isinstance(node, sp.polygamma) and node.args[0].is_Integer and node.args[0] >= 0:
        return DomainCondition(value(node.args[1]), Relation.NO_POLE)
    return DomainCondition(value(node), Relation.NEVER)


# b^e is exp(e log b) for b > 0, and 0 for b = 0 < e. A whole e needs no logarithm.
def _of_power(base: Any, exponent: Any) -> DomainCondition | None:
    if exponent.is_Integer:
        return None if exponent >= 0 else DomainCondition(base, Relation.NONZERO)
    return DomainCondition(base, Relation.NONNEGATIVE if exponent.is_positive else Relation.POSITIVE)
