"""Where an expression is a real number: what its nodes ask of their parts, read off the tree as it was typed.

What SymPy rewrites may be defined at more points: r + 1/x - 1/x is r, 0 log(x) is 0. So whatever is granted is asked
here too, for each side as it was typed. Where all nodes are real numbers each such rewrite keeps its value.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.matrices.expressions.matexpr import MatrixElement


class Relation(StrEnum):
    POSITIVE = "> 0"
    NONNEGATIVE = ">= 0"
    NONZERO = "!= 0"
    ANY = "real"
    NO_POLE = "not in {0, -1, -2, ...}"  # the poles of gamma
    NEVER = "known to be a real number"


# f(a) is a real number where the condition on a holds; of the others, those in EVERYWHERE are real for every real a.
OF_ARGUMENT: Mapping[Any, tuple[Callable[[Any], Any], Relation]] = {
    sp.log: (lambda a: a, Relation.POSITIVE),
    sp.loggamma: (lambda a: a, Relation.POSITIVE),
    sp.asin: (lambda a: 1 - a**2, Relation.NONNEGATIVE),
    sp.acos: (lambda a: 1 - a**2, Relation.NONNEGATIVE),
    sp.acosh: (lambda a: a - 1, Relation.NONNEGATIVE),
    sp.atanh: (lambda a: 1 - a**2, Relation.POSITIVE),
    sp.tan: (sp.cos, Relation.NONZERO),
    sp.sec: (sp.cos, Relation.NONZERO),
    sp.cot: (sp.sin, Relation.NONZERO),
    sp.csc: (sp.sin, Relation.NONZERO),
    sp.coth: (lambda a: a, Relation.NONZERO),
    sp.csch: (lambda a: a, Relation.NONZERO),
    sp.gamma: (lambda a: a, Relation.NO_POLE),
    sp.factorial: (lambda a: a + 1, Relation.NO_POLE),
}
EVERYWHERE = (
    *(sp.Add, sp.Mul, sp.exp, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh, sp.sech, sp.atan, sp.asinh, sp.erf, sp.erfc),
    *(sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside, sp.floor, sp.ceiling),
)
# Undefined functions and entries of matrices are numbers by what they stand for, and a derivative is of such a one.
GIVEN = (AppliedUndef, sp.Derivative, sp.Subs, MatrixElement)

# Whether a part meets a relation, under these conditions of the cases that it is in.
Known = Callable[[sp.Expr, Relation, tuple[Any, ...]], bool]


def is_defined(expression: Any, known: Known, facts: tuple[Any, ...] = ()) -> bool:
    """Whether every node is clearly a real number, where `known` tells what is known of its parts."""
    if isinstance(expression, sp.Piecewise):
        return _cases_are(expression, known, facts)
    if isinstance(expression, sp.Sum | sp.Product):
        return _terms_are(expression, known, facts)
    if isinstance(expression, MatrixElement):
        return True
    if not expression.args:
        return expression.is_real is not False and expression.is_finite is not False and expression is not sp.nan
    return all(is_defined(part, known, facts) for part in _parts(expression)) and _at(expression, known, facts)


def _parts(node: Any) -> tuple[Any, ...]:
    return () if isinstance(node, sp.Derivative | sp.Subs) else node.args


def _at(node: Any, known: Known, facts: tuple[Any, ...]) -> bool:
    """Whether the node is a real number, where its parts are."""
    if isinstance(node, sp.Pow):
        return any(known(node.base, relation, facts) for relation in _of_base(node, known, facts))
    if type(node) in OF_ARGUMENT:
        of, relation = OF_ARGUMENT[type(node)]
        return known(of(node.args[0]), relation, facts)
    return isinstance(node, (*EVERYWHERE, *GIVEN, Relational, sp.And, sp.Or, sp.Not))


# b^e is exp(e log b) for b > 0, and 0^e is a number for e >= 0. A whole e needs no logarithm.
def _of_base(power: Any, known: Known, facts: tuple[Any, ...]) -> Iterator[Relation]:
    """Relations of which one has to hold for the base."""
    whole, upwards = power.exp.is_integer, known(power.exp, Relation.NONNEGATIVE, facts)
    yield Relation.ANY if whole and upwards else Relation.NONZERO if whole else Relation.POSITIVE
    if upwards:
        yield Relation.NONNEGATIVE


def _cases_are(cases: Any, known: Known, facts: tuple[Any, ...]) -> bool:
    for branch, (_, condition) in zip(branches(cases), cases.args, strict=True):
        if not is_defined(branch, known, (*facts, condition)):
            return False
        if isinstance(condition, Relational):
            if not all(is_defined(side, known, facts) for side in condition.args):
                return False
            facts = (*facts, condition.negated)
    return True


def _terms_are(total: Any, known: Known, facts: tuple[Any, ...]) -> bool:
    """Finitely many terms, whose index runs between its limits, whatever its assumptions are."""
    term = total.function
    for index, low, high in total.limits:
        if not (is_defined(low, known, facts) and is_defined(high, known, facts)):
            return False
        term = term.xreplace({index: low + sp.Dummy(index.name, integer=True, nonnegative=True)})
    return is_defined(term, known, facts)


# Where a whole number s >= 1 is not 1, it is m + 2 with m >= 0; the same with 0 for 1.
def branches(cases: sp.Expr) -> list[sp.Expr]:
    """The branches of a Piecewise; each one uses what the earlier conditions imply about a whole number."""
    found: list[sp.Expr] = []
    shifts: dict[sp.Symbol, sp.Expr] = {}
    for branch, condition in cases.args:
        found.append(branch.xreplace(shifts))
        if isinstance(condition, sp.Eq) and condition.lhs.is_Symbol and condition.lhs.is_integer:
            symbol, least = condition.args
            if least == (1 if symbol.is_positive else 0) and symbol.is_nonnegative:
                shifts[symbol] = sp.Dummy(symbol.name, integer=True, nonnegative=True) + least + 1
    return found
