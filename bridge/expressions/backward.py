"""The backward pass as a program: the formulas of cotangents at one prompt, on tensors or on balls."""

from collections.abc import Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import Expression
from bridge.expressions.flows import Flows, Parameter, Scope
from bridge.expressions.matrices import Matrix
from bridge.expressions.normalisation import Normalised
from bridge.expressions.repetition import RepeatedLayers
from bridge.expressions.row_cotangents import divisor
from bridge.expressions.running import GraphRun
from bridge.lowering.formula import ArrayFunction
from bridge.readings.arrays import unit_vector
from symbolic.gradients.row_terms import AsColumn, Coordinates, EachRow, Joined, RootMeanSquare, RowFunction
from symbolic.gradients.terms import (
    ClassVector,
    Divided,
    DotProduct,
    EntryProduct,
    FunctionOf,
    Lettered,
    LinearCombination,
    MatrixTimes,
    NumberTimes,
    OnesVector,
    OuterProduct,
    RowsTimes,
    Term,
    Transposed,
    UnitVector,
)

# Letters of formulas, the same each time: the lowering of a formula is kept by it.
PLACES, SQUARE = tuple(sp.symbols("z_:16", cls=sp.Dummy)), sp.Dummy("square", nonnegative=True)
FIRST, REST = slice(len(PLACES)), slice(len(PLACES), None)
ROW_FUNCTIONS = {
    "softmax": lambda x: torch.softmax(x, -1),
    "logsoftmax": lambda x: torch.log_softmax(x, -1),
    "hardmax": unit_vector,
    "centred": lambda x: x - x.mean(-1, keepdim=True),
}


class RecordedRun(GraphRun):
    """A run that keeps those of its layers, by the identity of their arguments."""

    def __init__(self, known: Mapping[str, Any], **more: Any) -> None:
        super().__init__(known, **more)
        self.layers: dict[int, list[RecordedRun]] = {}

    def inside(self, layer: int, argument: Expression, value: Any) -> "RecordedRun":
        found = RecordedRun(self.known, approximate=self.approximate, seen=self.seen, above=self, layer=layer)
        found._values[id(argument)] = value
        self.layers.setdefault(id(argument), []).append(found)
        return found


class FormulasAtPrompt:
    """Formulas in the scope of one run, where `bar` is the cotangent of the node that passes it on."""

    def __init__(self, run: GraphRun, bar: Any = None) -> None:
        self.run, self.bar = run, bar

    @singledispatchmethod
    def array(self, term: Term) -> Any:
        """The value of a formula."""
        raise NotImplementedError(f"no value of {type(term).__name__}")

    @array.register
    def _(self, term: Lettered) -> Any:
        if term.kind == "cotangent":
            return self.bar
        if isinstance(term.of, Matrix):
            return term.of.array(self.run)
        if term.kind == "divisor" and isinstance(term.of, Normalised):
            return self.array(divisor(term.of))
        assert isinstance(term.of, Expression)  # of a value
        return self.run.value(term.of)

    @array.register
    def _(self, term: LinearCombination) -> Any:
        if len(term.terms) > len(PLACES):
            first, rest = (LinearCombination(term.terms[part]) for part in (FIRST, REST))
            return self.array(first) + self.array(rest)
        places = PLACES[: len(term.terms)]
        total = sp.Add(*(factor * place for (factor, _), place in zip(term.terms, places, strict=True)))
        return self._at(total, places, [self.array(each) for _, each in term.terms])

    def _at(self, expr: sp.Expr, places: Sequence[sp.Symbol], values: list[Any]) -> Any:
        """An expression in these places and in parameters."""
        letters = sorted(expr.free_symbols - set(places), key=str)
        return ArrayFunction(expr, *places, *letters)(*values, *self.run.letters(letters, values[0]))

    @array.register
    def _(self, term: FunctionOf) -> Any:
        x = self.array(term.argument)
        found = self._at(term.expr, [term.letter], [x])
        return found if term.expr.has(term.letter) else found + 0 * x

    @array.register
    def _(self, term: RowFunction) -> Any:
        return ROW_FUNCTIONS[term.name](self.array(term.argument))

    @array.register
    def _(self, term: RootMeanSquare) -> Any:
        x = self.array(term.argument)
        return self._at(sp.sqrt(SQUARE / term.dim + term.shift), [SQUARE], [(x * x).sum(-1, keepdim=x.ndim == 1)])

    @array.register
    def _(self, term: OnesVector) -> Any:
        x = self.array(term.like)
        return torch.ones_like(x[:, 0] if term.axis == 0 else x if x.ndim == 1 else x[0])

    @array.register
    def _(self, term: AsColumn) -> Any:
        return self.array(term.of).unsqueeze(-1)

    @array.register
    def _(self, term: ClassVector) -> Any:
        x = self.array(term.like)
        return torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)[term.index]

    @array.register
    def _(self, term: UnitVector) -> Any:
        x = self.array(term.like)
        return torch.eye(len(x), dtype=x.dtype, device=x.device)[self.run.layer]

    @array.register
    def _(self, term: Transposed) -> Any:
        return self.array(term.of).mT

    @array.register
    def _(self, term: MatrixTimes) -> Any:
        return self.array(term.left) @ self.array(term.right)

    @array.register
    def _(self, term: OuterProduct) -> Any:
        return self.array(term.left).unsqueeze(-1) * self.array(term.right).unsqueeze(-2)

    @array.register
    def _(self, term: DotProduct) -> Any:
        return (self.array(term.left) * self.array(term.right)).sum(-1, keepdim=True)

    @array.register
    def _(self, term: EntryProduct | NumberTimes) -> Any:
        return self.array(term.left) * self.array(term.right)

    @array.register
    def _(self, term: RowsTimes) -> Any:
        return self.array(term.left).unsqueeze(-1) * self.array(term.right)

    @array.register
    def _(self, term: Divided) -> Any:
        r = self.array(term.right)
        return self.array(term.left) / (r if term.axes == 1 else r.unsqueeze(-1))

    @array.register
    def _(self, term: EachRow) -> Any:
        return self.array(term.of)

    @array.register
    def _(self, term: Joined) -> Any:
        return torch.cat([self.array(each) for each in term.of], -1)

    @array.register
    def _(self, term: Coordinates) -> Any:
        first = sum(self.array(value).shape[-1] for value, _ in term.before)
        return self.array(term.of)[..., first : first + self.array(term.own[0]).shape[-1]]


class Cotangents:
    """Those of one scope; what belongs to a scope around it is added there."""

    def __init__(self, flows: Flows, scope: Scope, above: "Cotangents | None" = None) -> None:
        self.flows, self.scope, self.above = flows, scope, above
        self.known: dict[tuple[int, int | None], Any] = {}

    def add(self, to: Expression | Matrix, value: Any, layer: int) -> None:
        """`layer` counts for a matrix that each layer has its own of."""
        own = layer if isinstance(to, Matrix) and to.layers is not None else None
        side = self._home(to)
        known = side.known.get((id(to), own))
        side.known[id(to), own] = value if known is None else known + value

    def _home(self, to: Expression | Matrix) -> "Cotangents":
        scope = None if self.flows.is_sought(to) else self.flows.scope(to)  # type: ignore[arg-type]
        return self if self.scope is scope or self.above is None else self.above._home(to)

    def of(self, node: Expression | Matrix, layer: int | None = None) -> Any:
        return self.known.get((id(node), layer))


def backward(flows: Flows, known: Mapping[str, Any]) -> list[Any]:
    """The gradients of the loss by its parameters, from arrays and parameters by name."""
    run = RecordedRun(known, approximate=flows.approximate)
    found = Cotangents(flows, None)
    found.add(flows.loss, torch.ones_like(run.value(flows.loss)), 0)
    _sweep(flows, None, run, found)
    return [_of_parameter(each, found, known) for each in flows.by]


def _sweep(flows: Flows, scope: Scope, run: RecordedRun, found: Cotangents) -> None:
    """Through the nodes of a scope, the last one first."""
    for node in reversed(flows.within(scope)):
        bar = found.of(node)
        if bar is None or id(node) not in flows.active:
            continue
        if isinstance(node, RepeatedLayers):
            _sweep_layers(flows, node, run, found, bar)
        for to, term in flows.passed.get(id(node), ()):
            found.add(to, FormulasAtPrompt(run, bar).array(term), run.layer)


def _sweep_layers(flows: Flows, loop: RepeatedLayers, run: RecordedRun, found: Cotangents, bar: Any) -> None:
    run.value(loop)  # for its layers to be known
    for inner in reversed(run.layers.get(id(loop.argument), [])):
        below = Cotangents(flows, loop, found)
        if flows.takes(loop.body):
            below.add(loop.body, bar, inner.layer)
        _sweep(flows, loop, inner, below)
        bar = below.of(loop.argument)
        if bar is None:
            return
    if flows.takes(loop.start):
        found.add(loop.start, bar, run.layer)


def _of_parameter(each: Parameter, found: Cotangents, known: Mapping[str, Any]) -> Any:
    """0 where nothing is passed to it."""
    array = known[each.name]
    if isinstance(each, Matrix) and each.layers is not None:
        layers = [found.of(each, layer) for layer in range(len(array))]
        return torch.stack([torch.zeros_like(array[place]) if x is None else x for place, x in enumerate(layers)])
    own = found.of(each)
    return torch.zeros_like(array) if own is None else own
