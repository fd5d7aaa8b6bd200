"""From expressions to what a theorem takes: derivation, domains, programs, operands, and the letters of an instance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
import torch

from bridge.expressions.attention import CutSoftmaxOf, Quantised
from bridge.expressions.checking import require_sound
from bridge.expressions.definitions import definition
from bridge.expressions.deriving import LeastBounds, derived
from bridge.expressions.embeddings import RowsOfTable
from bridge.expressions.expression import Expression
from bridge.expressions.functions import Applied, Function, t
from bridge.expressions.inputs import LARGEST, TokenOfLayer, Value
from bridge.expressions.losses import CrossEntropyOf
from bridge.expressions.matrices import KINDS, NORMS, Key, Matrix
from bridge.expressions.objects import Objects
from bridge.expressions.positions import RotaryPositions
from bridge.expressions.running import GraphRun, Program, copied, nodes_of
from bridge.limits.arguments import arguments_of, called_with
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.lowering.enclosures import supremum
from bridge.lowering.formula import ArrayFunction
from bridge.readings import Emulated, Smooth
from numeric.balls import BallArray, float_above
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_norm
from symbolic.words.errors import UsageError

LEAST_RANGE = 4.0  # of the argument of a function, where its derivatives are certified
SPECTRAL = KINDS["spectral"]


@dataclass(frozen=True)
class Graph(Objects):
    """The derivation of the outputs of one theorem, their programs, and the letters that an instance knows."""

    norm: Norm | None = None

    @cached_property
    def conclusions(self) -> list[Approximated]:
        """In letters, the least at the last values of the grid."""
        return list(self._derived.conclusions)

    @cached_property
    def _derived(self) -> LeastBounds:
        return derived(self.outputs, {**self.at, **self._worst_numbers}, self.norm)

    @property
    def _worst_numbers(self) -> dict[sp.Symbol, Any]:
        return {letter: worst.xreplace(self.at) for letter, worst in self.worst.items()}

    @property
    def built(self) -> dict[str, Any]:
        """Approximate matrices, functions with what is certified of them, spectral norms."""
        found: dict[str, Any] = {}
        for name, matrix in self.approximate_matrices.items():
            assert matrix.change is not None  # one of these
            letters = [letter.name for letter in matrix.change.letters]
            found[name] = Program([*matrix.drawn, *letters], _approximate(matrix))
        for function in self.functions.values():
            found[f"f_{function.name}"] = self._smooth(function)
        found |= self.made
        for name in self._spectral_norms:
            matrix = self.matrices[name]
            found[f"norm_{name}"] = _of_array(name, NORMS[SPECTRAL])
        return found

    # Programs.

    @property
    def network(self) -> Program:
        return Program(self.names, lambda known: self._run(known, approximate=True))

    @property
    def reference(self) -> Program:
        return Program(self.names, lambda known: self._run(known, approximate=False))

    def _run(self, known: Mapping[str, Any], *, approximate: bool) -> dict[str, Any]:
        side = GraphRun(known, approximate=approximate)
        return {each.name: side.value(output) for each, output in zip(self.conclusions, self.outputs, strict=True)}

    @property
    def handles(self) -> Program:
        """What the steps of the derivations name, at one prompt."""
        return Program([*self.names, *(f"f_{name}" for name in self.functions)], self._operands)

    def _operands(self, known: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {name: known[f"f_{name}"] for name in self.functions}
        found |= {name: known[name] for name in self.inputs_of_graph}
        for node in self.nodes:
            if isinstance(node, TokenOfLayer):
                found[node.label] = tuple(known[node.of.name][place] for place in range(len(known[node.of.name])))
            if isinstance(node, Value):
                found[node.name] = called_with(node.program, known)
            if isinstance(node, Quantised):
                found[node.handle] = _grid(node, [known[letter.name] for letter in node.letters])
        for name, matrix in self.matrices.items():
            found[name] = _operand(matrix, known)
        found |= {
            node.handle: _transposed(found[node.matrix.name]) for node in self.nodes if isinstance(node, RowsOfTable)
        }
        found |= {name: known[name] for name in self.made}
        return {name: each for name, each in found.items() if name in self._handles}

    @cached_property
    def _handles(self) -> set[str]:
        """The handles of the steps, those of layers too."""
        steps = (step for each in self.conclusions for step in each.derivation.steps)
        return {handle for step in steps if step.operation is not None for handle in step.operation.handles}

    # Functions: where they are certified.

    def _smooth(self, function: Function) -> Program:
        letters = sorted(function.side(approximate=True).free_symbols - {t}, key=str)
        radius = self._range(function)

        def of(known: Mapping[str, Any]) -> Smooth:
            if function.approximate is None:
                return Smooth.of(function.exact, t, radius=radius)
            numbers = {letter: sp.Rational(known[letter.name]) for letter in letters}
            return Smooth.of(function.exact, t, approximate=function.approximate.xreplace(numbers), radius=radius)

        return Program([letter.name for letter in letters], of)

    def _range(self, function: Function) -> float:
        """Beyond it a bound at a prompt is conditional: twice what arguments reach in some random runs, or more."""
        seen: dict[int, list[Any]] = {}
        generator = torch.Generator().manual_seed(0)
        values = self.at
        drawn = {
            name: each.at(values).sample(1, generator)[0] for name, each in {**self.inputs, **self.weights}.items()
        }
        known = {**drawn, **{letter.name: _as_python(number) for letter, number in values.items()}}
        known |= {name: matrix.approximate(known.__getitem__) for name, matrix in self.approximate_matrices.items()}
        for approximate in (False, True):
            side = GraphRun(known, approximate=approximate, seen=seen)
            for output in self.outputs:
                side.value(output)
        largest = max((float(abs(each).max()) for each in seen.get(id(function), [])), default=LEAST_RANGE)
        return max(LEAST_RANGE, 2.0 ** (int(sp.ceiling(sp.log(max(largest, 1e-3), 2))) + 2))

    # Letters that an instance knows better.

    @property
    def _spectral_norms(self) -> list[str]:
        """The matrices whose spectral norm is a letter of its own."""
        own = {name: each for name, each in self.matrices.items() if not each.varies}
        return [name for name, matrix in own.items() if self._knows_better(matrix.norms.get(SPECTRAL))]

    def _knows_better(self, bound: sp.Expr | None) -> bool:
        """Whether the bound is a letter that stands for nothing but norms, which an instance measures."""
        return isinstance(bound, sp.Symbol) and bound in self._letters and bound not in self._of_others

    @cached_property
    def _of_others(self) -> set[sp.Symbol]:
        """The letters that stand for something else too: a dimension, a factor, a distance, a part of a bound."""
        formulas = [formula for node in self.nodes for formula in (*node.formulas, node.dim, node.count or sp.S.Zero)]
        sizes = [size for each in self.inputs_of_graph.values() for size in each.sizes.values()]
        for matrix in self.matrices.values():
            sizes += matrix.norms.values()
            formulas += [matrix.rows, matrix.columns, matrix.layers or sp.S.Zero]
            formulas += [] if matrix.change is None else [*matrix.change.distances.values(), *matrix.change.letters]
        formulas += [size for size in sizes if not isinstance(size, sp.Symbol)]
        return set(self.used).union(*(formula.free_symbols for formula in formulas))

    @cached_property
    def _letters(self) -> set[sp.Symbol]:
        return {letter for each in self.conclusions for letter in each.derivation.letters}

    @property
    def knows(self) -> dict[sp.Symbol, Any]:
        own: dict[sp.Symbol, list[Program | None]] = {}  # None: of an object whose norm is not measured
        for name, each in self.inputs_of_graph.items():
            for norm, bound in each.sizes.items():
                if self._knows_better(bound):
                    own.setdefault(bound, []).append(_of_array(name, LARGEST[norm]))
        for name, matrix in self.matrices.items():
            for key, bound in matrix.norms.items():
                if self._knows_better(bound):
                    own.setdefault(bound, []).append(self._norm_of(name, matrix, key))
        known: dict[sp.Symbol, Any] = {}
        for letter, programs in own.items():
            measured = [each for each in programs if each is not None]
            names = [name for each in measured for name in arguments_of(each)]
            prompts = [name in self.inputs for name in names]
            if len(measured) == len(programs) and (all(prompts) or not any(prompts)):
                known[letter] = _largest_of(names, measured)
        of_functions = [f for f in self.functions.values() if f.letter in self._letters]
        known |= {f.letter: (*self._at_network(f, known), self._at_prompt(f)) for f in of_functions}
        seen = {letter: node for letter, node in self.seeing.items() if letter in self._letters}
        return known | {letter: self._largest_seen(node) for letter, node in seen.items()}

    def _norm_of(self, name: str, matrix: Matrix, key: Key) -> Program | None:
        """The spectral norm of a matrix that varies with the prompt is not measured at each of them."""
        if key != SPECTRAL:
            return _of_array(name, NORMS[key])
        return None if matrix.varies else _of_array(f"norm_{name}", lambda number: number)

    def _at_network(self, function: Function, known: Mapping[sp.Symbol, Program]) -> list[Program]:
        """The largest |g| on the range of all approximate arguments, as sizes bound it; none where none bounds it."""
        nodes = [node for node in self.nodes if isinstance(node, Applied) and node.function is function]
        largest = sp.Max(*(self._derived.reached.get(id(node), sp.oo) for node in nodes))
        largest = largest.xreplace(self.worst)
        if largest == sp.oo or not largest.free_symbols <= set(self.parameters):
            return []
        better = {
            s: known[s]
            for s in largest.free_symbols
            if s in known and not set(arguments_of(known[s])) & set(self.inputs)
        }
        params = [s for s in sorted(largest.free_symbols, key=str) if s not in better]
        _, g = function.difference

        def at(given: Mapping[str, Any]) -> float:
            numbers = {s: _ball(called_with(program, given)) for s, program in better.items()}
            numbers |= {s: _ball(given[s.name]) for s in params}
            reach = float_above(evaluate_ball(largest, numbers))
            return float_above(supremum(g, t, -reach, reach))

        names = [name for program in better.values() for name in arguments_of(program)]
        return [Program([*names, *(s.name for s in params)], at)]

    def _at_prompt(self, function: Function) -> Program:
        """The largest |g| at the approximate arguments, where the rule takes f_hat - f."""
        _, g = function.difference
        return self._seen_of(function, lambda argument: abs(ArrayFunction(g, t)(argument)).amax())

    def _largest_seen(self, node: Expression) -> Program:
        return self._seen_of(node, lambda seen: seen.amax(), approximate=not node.sees_exact)

    def _seen_of(self, what: object, number: Callable[[Any], Any], *, approximate: bool = True) -> Program:
        """The largest of these numbers of all that a run, at one prompt, says of a node."""

        def at_prompt(known: Mapping[str, Any]) -> Any:
            seen: dict[int, list[Any]] = {}
            side = GraphRun(known, approximate=approximate, seen=seen)
            for output in self.outputs:
                side.value(output)
            found = seen.get(id(what), [])  # none, without layers
            return _largest([number(each) for each in found]) if found else 0

        return Program(self.names, at_prompt)

    @property
    def meanings(self) -> dict[str, tuple[str, str]]:
        """What each output is, as far as formulas say it."""
        taken = [each.name for each in self.parameters]
        taken += [*self.inputs, *self.weights, *self.values, "l"]
        found = {output.label: definition(output, taken) for output in self.outputs}
        return {name: each for name, each in found.items() if each is not None}

    def parts(self) -> dict[str, Any]:
        """The arguments of a theorem that follow from the graph."""
        require_sound(self)
        return {
            "inputs": self.inputs,
            "weights": self.weights,
            "built": self.built,
            "network": self.network,
            "reference": self.reference,
            "handles": self.handles,
            "worst": {letter: worst for letter, worst in self.worst.items() if letter in self._letters},
            "knows": self.knows,
            "meanings": self.meanings,
            "assumptions": self.assumptions,
        }


def _approximate(matrix: Matrix) -> Callable[[Mapping[str, Any]], Any]:
    return lambda known: matrix.approximate(known.__getitem__)


def _as_python(number: Any) -> int | float:
    return int(number) if number.is_Integer else float(number)


def _largest_of(names: Sequence[str], programs: Sequence[Program]) -> Program:
    return Program(names, lambda known: _largest([called_with(each, known) for each in programs]))


def _of_array(name: str, norm: Any) -> Program:
    return Program([name], lambda known: norm(known[name]))


def _largest(numbers: list[Any]) -> Any:
    if len(numbers) == 1 or not isinstance(numbers[0], torch.Tensor | BallArray):
        return max(numbers) if len(numbers) > 1 else numbers[0]
    return torch.stack(numbers).amax()


def _operand(matrix: Matrix, known: Mapping[str, Any]) -> Any:
    """A matrix, or the pair of it and the one in its place; a tuple for layers."""
    exact, near = matrix.sides(known.__getitem__)
    if matrix.layers is None:
        return exact if matrix.change is None else Emulated(exact, near)
    places = range(len(exact))
    return tuple(exact[place] if matrix.change is None else Emulated(exact[place], near[place]) for place in places)


def _transposed(operand: Any) -> Any:
    return Emulated(operand.exact.mT, operand.emulated.mT) if isinstance(operand, Emulated) else operand.mT


def _grid(node: Quantised, letters: list[Any]) -> Smooth:
    """The identity, and the grid in its place."""
    return Smooth(lambda x: x, lambda x: node.on_grid(x, letters))


def graph_of(id: str, outputs: Sequence[Expression], parameters: Mapping[sp.Symbol, Any], norm: Any) -> Graph:
    """Of these outputs; a single one without a name is the output."""
    outputs = copied(outputs)
    if len(outputs) == 1 and not outputs[0].is_named:
        outputs[0].named("output")
    for kind in (CutSoftmaxOf, RotaryPositions, CrossEntropyOf):
        alike = [node for node in nodes_of(outputs) if isinstance(node, kind)]
        for place, node in enumerate(alike if len(alike) > 1 else (), start=1):
            node.suffix = f"_{place}"
    try:
        known = None if norm is None else as_norm(norm)
    except DerivationError as error:
        raise UsageError(f"{id}: {error}") from None
    return Graph(id, tuple(outputs), parameters, known)


def _ball(number: Any) -> Any:
    """A number of a run as `evaluate_ball` takes it."""
    return number.balls[0] if isinstance(number, BallArray) else as_exact(number)
