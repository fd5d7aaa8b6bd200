"""Repeated layers: the layer is called once, to build its graph, and is derived and run for each of them."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from bridge.expressions.expression import Asking, Bounded, Candidate, Expression, Running, as_number, require_shape, same
from bridge.expressions.inputs import LayerNumber
from symbolic import calculus
from symbolic.derivations.derivation import Approximated, Norm
from symbolic.words.errors import UsageError


class Argument(Expression):
    """What a layer is applied to; a derivation and a run give it its value."""

    def __init__(self, like: Expression) -> None:
        self.dim, self.count, self.label = like.dim, like.count, "p"

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        return iter(())

    def run(self, running: Running) -> Any:
        raise UsageError("the argument of a layer has no value outside of the layer")


class Repeated(Expression):
    """`depth` layers, one after the other, from x."""

    def __init__(self, layer: Callable[..., Any], x: Expression, depth: sp.Expr) -> None:
        self.depth, self.parts, self.dim, self.count, self.label = depth, (x,), x.dim, x.count, "output"
        self.argument = Argument(x)
        arguments = (self.argument, LayerNumber())[: len(inspect.signature(layer).parameters)]
        body = layer(*arguments)
        if not isinstance(body, Expression):
            raise UsageError(f"repeat: the layer returns {type(body).__name__}; return an expression")
        require_shape("repeat: a layer has to keep the shape", same(body.dim, x.dim) and same(body.count, x.count), body, x)
        self.body, self.inner = body, (body,)

    @property
    def layer_of(self) -> tuple[Argument, Expression]:
        """The argument of a layer, and what the first one is applied to."""
        return self.argument, self.parts[0]

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), self._rule(asking, norm))

    def _rule(self, asking: Asking, norm: Norm) -> Callable[..., Bounded]:
        def rule(name: str, start: Bounded) -> Bounded:
            depth, last = asking.at(self.depth), start

            def layer(premise: Approximated) -> Approximated:
                nonlocal last
                last = asking.inside(self, norm, Bounded(premise), depth).bounded(self.body, norm)
                return last.value

            return Bounded(calculus.repeat(start.value, name, layer, depth), _kept(last, start))

        return rule

    def run(self, running: Running) -> Any:
        found = running.value(self.parts[0])
        for layer in range(running.count(self.depth)):
            found = running.inside(layer, self.argument, found).value(self.body)
        return found


# A layer may be passed by no value at all (N = 0), so that what bounds its approximate value has to bound the first too.
def _kept(last: Bounded, start: Bounded) -> sp.Expr | None:
    sizes = (last.approximate_size, start.approximate_size)
    return None if sizes[0] is None or sizes[1] is None else sp.Max(*sizes)


def repeat(layer: Callable[..., Any], x: Expression, depth: Any) -> Repeated:
    """The value after `depth` layers, from x: `layer` is a function of its argument, called once to build the graph.

    One of two arguments takes the number of the layer too, an index of tokens: `lambda h, l: A @ h + B @ u[l]`.
    """
    if not isinstance(x, Expression):
        raise UsageError(f"repeat: expected an expression to start from, got {type(x).__name__}")
    return Repeated(layer, x, as_number("number of layers", depth))
