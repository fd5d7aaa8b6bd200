"""RepeatedLayers layers: the layer is called once, to build its graph, and is derived and run for each of them."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    require_shape,
    same,
)
from bridge.expressions.inputs import LayerNumber
from symbolic import calculus
from symbolic.derivations.derivation import Approximated, Norm
from symbolic.words.errors import UsageError


class LayerArgument(Expression):
    """What a layer is applied to; a derivation and a run give it its value."""

    def __init__(self, like: Expression) -> None:
        self.dim, self.count, self.label = like.dim, like.count, "p"

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        return iter(())

    def run(self, running: Running) -> Any:
        raise UsageError("the argument of a layer has no value outside of the layer")


class RepeatedLayers(Expression):
    """`depth` layers, one after the other, from x."""

    def __init__(self, layer: Callable[..., Any], x: Expression, depth: sp.Expr) -> None:
        self.depth, self.parts, self.dim, self.count, self.label = depth, (x,), x.dim, x.count, "layers"
        self.argument = LayerArgument(x)
        arguments = (self.argument, LayerNumber(self.argument))[: _taken(layer)]
        body = layer(*arguments)
        if not isinstance(body, Expression):
            raise UsageError(f"repeat: the layer returns {type(body).__name__}; return an expression")
        require_shape(
            "repeat: a layer has to keep the shape", same(body.dim, x.dim) and same(body.count, x.count), body, x
        )
        self.body, self.inner = body, (body,)

    @property
    def start(self) -> Expression:
        return self.parts[0]

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), self._rule(asking, norm))

    def _rule(self, asking: Asking, norm: Norm) -> Callable[..., InNorm]:
        def rule(name: str, start: InNorm) -> InNorm:
            last = start

            def layer(premise: Approximated) -> Approximated:
                nonlocal last
                last = asking.inside(self, norm, InNorm(premise)).bounded(self.body, norm)
                if (size := _kept(last, start, premise)) is not None:
                    last = asking.inside(self, norm, InNorm(premise, size)).bounded(self.body, norm)
                return last.value

            value = calculus.repeat(start.value, name, layer, asking.at(self.depth))
            return InNorm(value, _kept(last, start, start.value))

        return rule

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.depth,)

    def run(self, running: Running) -> Any:
        found = running.value(self.parts[0])
        for layer in range(running.count(self.depth)):
            found = running.inside(layer, self.argument, found).value(self.body)
        return found


# By induction: what bounds the first argument, and each value after a layer whatever its argument is, bounds them all.
def _kept(last: InNorm, start: InNorm, premise: Approximated) -> sp.Expr | None:
    """At least the norm of every approximate argument of a layer; None where none is known."""
    sizes = (last.approximate_size, start.approximate_size)
    if sizes[0] is None or sizes[1] is None:
        return None
    of_argument = premise.size.free_symbols | premise.error.free_symbols
    return None if any(isinstance(each, sp.Dummy) for each in sizes[0].free_symbols & of_argument) else sp.Max(*sizes)


def _taken(layer: Callable[..., Any]) -> int:
    """How many arguments the layer takes, those with a default left out."""
    parameters = inspect.signature(layer).parameters.values()
    return sum(each.default is each.empty for each in parameters)


def repeat(layer: Callable[..., Any], x: Expression, depth: Any) -> RepeatedLayers:
    """The value after `depth` layers, from x: `layer` is a function of its argument, called once to build the graph.

    One of two arguments takes the number of the layer too, an index of tokens: `lambda h, l: A @ h + B @ u[l]`.
    """
    if not isinstance(x, Expression):
        raise UsageError(f"repeat: expected an expression to start from, got {type(x).__name__}")
    return RepeatedLayers(layer, x, as_number("number of layers", depth))
