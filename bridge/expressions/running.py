"""The graph as a program: one prompt through all nodes, exact or approximate, on tensors or on balls."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import Expression
from bridge.expressions.inputs import LayerNumber
from symbolic.words.errors import UsageError


class Program:
    """A function of these names, as those of a theorem are; `function` takes their values by name.

    `when_run`: what it makes is made when a run first asks for it, since no bound does, and it may be large.
    """

    def __init__(
        self, names: Iterable[str], function: Callable[[Mapping[str, Any]], Any], *, when_run: bool = False
    ) -> None:
        self.function, self.when_run = function, when_run
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in dict.fromkeys(names)])

    def __call__(self, **known: Any) -> Any:
        return self.function(known)


class GraphRun:
    """One run. `known` has arrays and parameters by name; `seen` keeps what nodes say of their values on the way."""

    def __init__(
        self,
        known: Mapping[str, Any],
        *,
        approximate: bool,
        seen: dict[int, list[Any]] | None = None,
        above: "GraphRun | None" = None,
        layer: int = 0,
    ) -> None:
        self.known, self.approximate, self.layer = known, approximate, layer
        self.seen = {} if seen is None else seen
        self._above = above
        self._values: dict[int, Any] = {}

    def value(self, node: Expression) -> Any:
        found = self._found(node)
        if found is None:
            found = self._values[id(node)] = node.run(self)
        return found

    def _found(self, node: Expression) -> Any:
        """What is known here or around the layer that runs."""
        side: GraphRun | None = self
        while side is not None:
            if id(node) in side._values:
                return side._values[id(node)]
            side = side._above
        return None

    def inside(self, layer: int, argument: Expression, value: Any) -> "GraphRun":
        """In a layer, whose argument has that value."""
        found = GraphRun(self.known, approximate=self.approximate, seen=self.seen, above=self, layer=layer)
        found._values[id(argument)] = value
        return found

    def apart(self, node: Expression, value: Any) -> "GraphRun":
        """A run of its own, in which the node has that value."""
        found = GraphRun(self.known, approximate=self.approximate)
        found._values[id(node)] = value
        return found

    def array(self, name: str) -> Any:
        return self.known[name]

    def letters(self, symbols: Sequence[sp.Symbol], beside: Any) -> list[Any]:
        """Their numbers, in the format of the array that they are computed with. Raises UsageError for one without."""
        if unknown := [symbol.name for symbol in symbols if symbol.name not in self.known]:
            raise UsageError(
                f"nothing gives {unknown[0]} a number where the network runs; make it a parameter, or compute it in "
                f"built={{'{unknown[0]}': ...}}"
            )
        found = [self.known[symbol.name] for symbol in symbols]
        return [each.to(beside.dtype) if isinstance(each, torch.Tensor) else each for each in found]

    def count(self, expr: sp.Expr) -> int:
        """A number of layers, at parameters. Raises UsageError for what is not whole."""
        found = expr.xreplace({symbol: sp.sympify(self.known[symbol.name]) for symbol in expr.free_symbols})
        if not found.is_Integer:
            raise UsageError(f"{sp.sstr(expr)} is {found} here; a number of layers has to be whole")
        return int(found)

    def saw(self, what: object, value: Any) -> None:
        self.seen.setdefault(id(what), []).append(value)


def nodes_of(outputs: Iterable[Expression]) -> list[Expression]:
    """All nodes, those inside of repetitions too; each after its parts."""
    found: dict[int, Expression] = {}

    def visit(node: Expression) -> None:
        if id(node) not in found:
            for part in (*node.parts, *node.inner):
                visit(part)
            found[id(node)] = node

    for output in outputs:
        visit(output)
    return list(found.values())


def copied(outputs: Sequence[Expression]) -> list[Expression]:
    """Nodes of one theorem alone, whose suffixes are theirs; what is no node is shared."""
    nodes = nodes_of(outputs)
    members = (each for node in nodes for each in vars(node).values())
    found = {id(each): each for each in members if not isinstance(each, Expression | LayerNumber | tuple)}
    copies = {id(node): copy.deepcopy(node, found) for node in nodes}  # each after its parts, which are found
    return [copies[id(output)] for output in outputs]
