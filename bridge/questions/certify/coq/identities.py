"""Equations between terms: what `field` has to be told of the functions in them."""

from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.terms import CoqTerms
from bridge.questions.certify.definedness import evaluated
from bridge.questions.certify.expressions import from_record, to_record
from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.letters import exponent_terms
from bridge.questions.certify.programs.check_certificate import LEAVES, ONCE, WRITTEN_OUT, parts_of, times

POINT, SIDE = "point", "side"  # letters of functions, and of sides of a region
Term = tuple[Any, ...]  # an expression as the standalone checker has it
OUT = {**WRITTEN_OUT, "tan": lambda x: times(("sin", x), ("Pow", ("cos", x), ("Rational", -1, 1)))}


def written(expression: sp.Expr) -> Term:
    """The expression by functions that Coq's libraries differentiate and enclose."""
    return written_out(as_term(to_record(expression)))


def as_term(record: Sequence[Any]) -> Term:
    """A record with tuples for lists; b^x is exp(x log(b)) unless x is rational."""
    head, *parts = record
    if head == "Rational":
        return (head, int(parts[0]), int(parts[1]))
    if head in LEAVES:
        return ("exp", ONCE) if parts == ["E"] and head == "Constant" else (head, *parts)
    found = tuple(map(as_term, parts))
    if head == "Pow" and found[1][0] != "Rational":
        return ("exp", ("Mul", found[1], ("log", found[0])))
    return (head, *found)


def written_out(e: Term) -> Term:
    """With sinh, cosh and tanh by exp, tan by sin and cos."""
    if e[0] in LEAVES:
        return e
    parts = tuple(map(written_out, parts_of(e)))
    return OUT[e[0]](*parts) if e[0] in OUT else (e[0], *parts, *e[1 + len(parts) :])


def as_expression(e: Term, symbols: Sequence[sp.Symbol]) -> sp.Expr:
    def record(e: Term) -> list[Any]:
        return [e[0], *(str(part) for part in e[1:])] if e[0] in LEAVES else [e[0], *map(record, e[1:])]

    return evaluated(from_record(record(e), {symbol.name: symbol for symbol in symbols}), {})


def is_root(e: Term) -> bool:
    return bool(e[0] == "Pow" and int(e[2][2]) > 1)


def _nodes(e: Term) -> Iterator[Term]:
    """Functions and roots, inner ones first."""
    for part in parts_of(e):
        yield from _nodes(part)
    if e[0] not in (*LEAVES, "Add", "Mul", "Pow") or is_root(e):
        yield e


class Equations:
    """Lines that assert what functions in terms equal, and rewrite the goal: `field [...]` takes `relations`."""

    def __init__(self, terms: CoqTerms, goal: ProofGoal, need: str, *expressions: Term) -> None:
        self.terms, self.need = terms, need
        self.symbols = (*goal.symbols, sp.Symbol(POINT, real=True))
        signed = [sp.Symbol(s.name, nonnegative=True) if s in goal.nonnegative else s for s in self.symbols]
        found = dict.fromkeys(each for e in expressions for node in _nodes(e) for each in (*self._within(node), node))
        self.nodes = sorted(found, key=lambda node: node[0] != "exp")  # others have exp in what they equal
        self.means = {node: as_expression(node, signed if node[0] == "Pow" else self.symbols) for node in self.nodes}
        self.degrees: dict[sp.Expr, int] = {}
        for node in self.nodes:
            for c, m in self._exponents(node):
                self.degrees[m] = lcm(self.degrees.get(m, 1), int(c.q))
        self.rewritten: list[str] = []
        self.relations: list[str] = []

    def _within(self, node: Term) -> list[Term]:
        """exp in what another function equals: at y = 3 this is exp(-3), and exp(-1 * 3) stands in the equation."""
        inner = () if node[0] == "exp" else _nodes(written(as_expression(node, self.symbols)))
        return [each for each in inner if each[0] == "exp"]

    def _exponents(self, node: Term) -> list[tuple[Any, Any]]:
        return exponent_terms(as_expression(node[1], self.symbols)) if node[0] == "exp" else []

    @property
    def asserted(self) -> list[str]:
        """What functions and roots equal."""
        return [*(line for k, node in enumerate(self.nodes) for line in self._of(k, node)), *self._roots()]

    @property
    def rewritten_goal(self) -> list[str]:
        again = ", ".join(f"?{name}" for name in reversed(self.rewritten))
        return [f"rewrite {again}."] if again else []

    @property
    def closed(self) -> str:
        """The tactic for an equation of quotients."""
        known = f" [{' '.join(self.relations)}]" if self.relations else ""
        ways = [f"{way}{with_}" for with_ in dict.fromkeys(["", known]) for way in ("ring", "field")]
        tried = " | ".join(f"{way}; repeat split; {self.need}" if "field" in way else way for way in ways)
        return f"first [reflexivity | {tried}]."

    def _of(self, k: int, node: Term) -> list[str]:
        text, value = self.terms.term(node), self._value(node)
        if text == value:
            return []
        before = ", ".join(f"?{name}" for name in reversed(self.rewritten))
        self.rewritten.append(f"node_{k}")
        inner = self.terms.term(node[1])
        plain = self.terms.term(written(as_expression(node[1], self.symbols)))
        first = f"rewrite {before}; " if before else ""
        same = f"try replace {inner} with {plain} by ({first}first [ring | field; repeat split; {self.need}]); "
        how = "exponents" if node[0] == "exp" and value != "1" else f"{same if inner != plain else ''}at_numbers"
        return [f"assert (node_{k} : {text} = {value}) by ({how})."]

    def _value(self, node: Term) -> str:
        """What the node equals, written one way for all nodes."""
        if node[0] != "exp":
            return self.terms.term(written(self.means[node]))
        powers = [(m, int(c * self.degrees[m])) for c, m in self._exponents(node)]
        found = {m: self.terms.term(written(sp.exp(m / self.degrees[m], evaluate=False))) for m, n in powers if n}
        if len(powers) == 1 and powers[0][1] == 1:
            return found[powers[0][0]]
        above = [f"{found[m]} ^ {n}" for m, n in powers if n > 0]
        below = [f"/ ({found[m]} ^ {-n})" for m, n in powers if n < 0]
        return f"({' * '.join([*above, *below]) or '1'})" if above or below else "1"

    def _roots(self) -> list[str]:
        lines = []
        for k, node in enumerate(self.nodes):
            if node[0] == "cos":
                of = self.terms.term(node[1])
                lines.append(f"assert (root_{k} : cos {of} ^ 2 = 1 - sin {of} ^ 2) by apply cosine_squared.")
            elif node[0] == "Pow" and int(node[2][2]) == 2:
                of = self.terms.term(node[1])
                lines.append(f"assert (root_{k} : sqrt {of} ^ 2 = {of}) by (apply pow2_sqrt; {self.need}).")
            else:
                continue
            self.relations.append(f"root_{k}")
        return lines
