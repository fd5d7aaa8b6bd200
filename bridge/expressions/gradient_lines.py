"""The formulas of a gradient in order: what is computed forward, the cotangents backward, and the gradient itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bridge.expressions.cotangents import cotangent_of, formula, value_of
from bridge.expressions.flows import Flows, Scope
from bridge.expressions.lettering import AFTER, FIRST, LetteredGraph, Naming, of_loop
from bridge.expressions.matrices import Matrix
from bridge.expressions.normalisation import Normalised
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.row_cotangents import divisor, divisor_of
from symbolic.gradients.letters import LayerIndex
from symbolic.gradients.terms import Lettered, Term


@dataclass(frozen=True)
class FormulaLine:
    """left = right, in each layer of the loops."""

    left: Term
    right: Term
    loops: tuple[LayerIndex, ...] = ()


@dataclass(frozen=True)
class GradientLines:
    """All lines, in letters."""

    flows: Flows

    @cached_property
    def graph(self) -> LetteredGraph:
        return LetteredGraph(self.flows)

    @cached_property
    def naming(self) -> Naming:
        return Naming(self.graph)

    @cached_property
    def forward(self) -> list[FormulaLine]:
        return list(self._forward(None))

    @cached_property
    def backward(self) -> list[FormulaLine]:
        return list(self._backward(None))

    @cached_property
    def gradients(self) -> list[FormulaLine]:
        """The letter of each parameter, and the derivative of the loss by it."""
        found = []
        for each in self.flows.by:
            letter = Lettered("matrix", each, 2) if isinstance(each, Matrix) else value_of(each)
            loops = [loop for loop in self.naming.loops.values() if loop.index in self.naming.letters[letter].indices]
            right = self.graph.resolved(self.graph.cotangents[id(each)])
            found.append(FormulaLine(letter, right, tuple(loops[:1])))
        return found

    def _line(self, left: Lettered, right: Term, scope: Scope) -> FormulaLine:
        return FormulaLine(left, self.graph.resolved(right), self.naming.around(scope))

    def _forward(self, scope: Scope) -> Iterator[FormulaLine]:
        graph = self.graph
        for node in self.flows.within(scope):
            if isinstance(node, Normalised):
                yield self._line(divisor_of(node), divisor(node), scope)
            if isinstance(node, RepeatedLayers):
                yield self._line(of_loop(FIRST, node), value_of(node.start), scope)
                yield from self._forward(node)
                if not graph.is_own_body(node):
                    yield self._line(of_loop(AFTER, node), value_of(node.body), node)
            elif id(node) in graph.lettered:
                yield self._line(value_of(node), formula(node, self.flows.approximate), scope)

    def _backward(self, scope: Scope) -> Iterator[FormulaLine]:
        graph = self.graph
        for node in reversed(self.flows.within(scope)):
            if graph.has_cotangent(node) and not isinstance(node, LayerArgument):
                yield self._line(cotangent_of(node), graph.cotangents[id(node)], scope)
            if isinstance(node, RepeatedLayers) and id(node) in self.flows.active:
                yield from self._backward(node)
                if id(node.argument) in graph.cotangents:
                    yield self._line(cotangent_of(node.argument), graph.cotangents[id(node.argument)], node)
