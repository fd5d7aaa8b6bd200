"""Where the derivative of a loss flows: in which repetition each node stands, and what it passes back to whom."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from bridge.expressions.cotangents import Passed, passed
from bridge.expressions.expression import Expression, Sum
from bridge.expressions.inputs import Input, TokenOfLayer
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.normalisation import Normalised
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.running import nodes_of

Scope = RepeatedLayers | None  # the repetition on whose layer a value depends; None: on none
Parameter = Input | Matrix


@dataclass(frozen=True)
class Flows:
    """The graph of one loss, and the derivatives that reach the parameters `by`."""

    loss: Expression
    by: Sequence[Parameter]
    approximate: bool

    @cached_property
    def nodes(self) -> list[Expression]:
        """Each behind its parts."""
        return nodes_of([self.loss])

    @cached_property
    def loops(self) -> dict[int, RepeatedLayers]:
        """By the identity of the argument of their layers."""
        return {id(node.argument): node for node in self.nodes if isinstance(node, RepeatedLayers)}

    @cached_property
    def letters(self) -> set[sp.Symbol]:
        """Sizes, numbers of layers, and the parameters that the side of the network takes which is differentiated."""
        found: set[sp.Symbol] = set()
        for node in self.nodes:
            sizes: list[sp.Expr] = [node.dim, *([] if node.count is None else [node.count])]
            if isinstance(node, MatrixImage):
                matrix = node.matrix
                sizes += [matrix.rows, matrix.columns, *([] if matrix.layers is None else [matrix.layers])]
                sizes += matrix.change.letters if self.approximate and matrix.change is not None else ()
            if isinstance(node, TokenOfLayer):
                sizes += [node.of.count or sp.S.One]
            if self.approximate or isinstance(node, Sum | Normalised | RepeatedLayers):
                found |= {each for formula in node.formulas for each in formula.free_symbols if each.name in node.takes}
            found = found.union(*(each.free_symbols for each in sizes))
        return found

    # Scopes. A matrix of each layer stands directly in one repetition (checking.py), which is found on the way down.

    def scope(self, node: Expression) -> Scope:
        """The innermost repetition on whose layer the node depends: outside of it, the value is the same."""
        return self._scopes[id(node)]

    @cached_property
    def _scopes(self) -> dict[int, Scope]:
        depends = self._depends

        def innermost(node: Expression) -> Scope:
            return max((self.loops[each] for each in depends[id(node)]), key=depth, default=None)

        def depth(scope: Scope) -> int:
            return 0 if scope is None else 1 + depth(innermost(scope))

        return {id(node): innermost(node) for node in (*self.nodes, *(loop.argument for loop in self.loops.values()))}

    def around(self, scope: Scope) -> Iterator[RepeatedLayers]:
        """The scope and those around it."""
        while scope is not None:
            yield scope
            scope = self.scope(scope)

    @cached_property
    def _depends(self) -> dict[int, set[int]]:
        """The repetitions, by the identity of their arguments, on whose layers a node depends."""
        found: dict[int, set[int]] = {}

        def visit(node: Expression, loop: RepeatedLayers | None) -> set[int]:
            if id(node) in found:
                return found[id(node)]
            own = set[int]()
            if isinstance(node, LayerArgument):
                own = {id(node)}
            elif isinstance(node, TokenOfLayer):
                own = {id(node.number.argument)}
            elif isinstance(node, MatrixImage) and node.matrix.layers is not None and loop is not None:
                own = {id(loop.argument)}
            for part in node.parts:
                own = own | visit(part, loop)
            if isinstance(node, RepeatedLayers):
                own = own | (visit(node.body, node) - {id(node.argument)})
                visit(node.argument, node)
            found[id(node)] = own
            return own

        visit(self.loss, None)
        return found

    @cached_property
    def _within(self) -> dict[int, list[Expression]]:
        found: dict[int, list[Expression]] = {}
        for node in self.nodes:
            found.setdefault(id(self.scope(node)), []).append(node)
        return found

    def within(self, scope: Scope) -> list[Expression]:
        """The nodes of this scope, each behind its parts."""
        return self._within.get(id(scope), [])

    # What is passed.

    @cached_property
    def active(self) -> set[int]:
        """The nodes that depend on a parameter. A layer's argument does where the start or the layer does."""
        found: set[int] = set()
        while True:
            more = {id(node) for node in self.nodes if id(node) not in found and self._is_active(node, found)}
            if not more:
                return found
            found |= more

    def _is_active(self, node: Expression, known: set[int]) -> bool:
        if isinstance(node, LayerArgument):
            loop = self.loops[id(node)]
            return id(loop.start) in known or id(loop.body) in known
        if isinstance(node, MatrixImage) and self.is_sought(node.matrix):
            return True
        if isinstance(node, TokenOfLayer) and self.is_sought(node.of):
            return True
        return self.is_sought(node) or any(id(part) in known for part in (*node.parts, *node.inner))

    def is_sought(self, what: object) -> bool:
        return any(each is what for each in self.by)

    @cached_property
    def passed(self) -> dict[int, Passed]:
        """What each active node passes to parameters and to nodes that depend on them; loops do so by their layers."""
        found: dict[int, Passed] = {}
        for node in self.nodes:
            if id(node) in self.active and not isinstance(node, RepeatedLayers) and self._reaches(node):
                terms = passed(node, self.approximate)
                found[id(node)] = [(to, term) for to, term in terms if self.takes(to)]
        return found

    def _reaches(self, node: Expression) -> bool:
        """Whether a part of it, and not it alone, is sought."""
        own = isinstance(node, TokenOfLayer) or (isinstance(node, MatrixImage) and self.is_sought(node.matrix))
        return own or any(id(part) in self.active for part in node.parts)

    def takes(self, to: Expression | Matrix) -> bool:
        """Whether a cotangent of it is asked for."""
        return self.is_sought(to) if isinstance(to, Matrix) else self.is_sought(to) or id(to) in self.active
