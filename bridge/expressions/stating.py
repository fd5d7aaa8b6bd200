"""From expressions to what a theorem takes: derivation, domains, programs, operands, and the letters of an instance."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp
import torch

from bridge.domains import Domain
from bridge.expressions.checking import require_sound
from bridge.expressions.definitions import definition, largest_difference, seen_weight
from bridge.expressions.deriving import LeastBounds, derived
from bridge.expressions.draws import SampleMean
from bridge.expressions.embeddings import RowsOfTable
from bridge.expressions.expression import Expression
from bridge.expressions.formula_texts import object_text
from bridge.expressions.functions import Function, t
from bridge.expressions.grids import Quantised
from bridge.expressions.inputs import TokenOfLayer, Value
from bridge.expressions.knowing import SPECTRAL, KnownLetters, of_array
from bridge.expressions.matrices import Matrix
from bridge.expressions.matrix_norms import KINDS, NORMS
from bridge.expressions.objects import Objects
from bridge.expressions.running import GraphRun, Program, copied
from bridge.expressions.sinks import layers_around
from bridge.expressions.typed import parameter_of
from bridge.limits.arguments import called_with
from bridge.readings import Emulated, Smooth
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_norm
from symbolic.words.errors import UsageError

LEAST_RANGE = 4.0  # of the argument of a function, where its derivatives are certified


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
        for name in self._known.spectral_norms:
            matrix = self.matrices[name]
            found[f"norm_{name}"] = of_array(name, NORMS[SPECTRAL])
        return found

    @property
    def _near(self) -> dict[str, tuple[str, Domain]]:
        found = {name: (each.name, each.changes) for name, each in self.approximate_matrices.items()}
        return {name: (of, domain) for name, (of, domain) in found.items() if domain is not None}

    # Programs.

    @property
    def network(self) -> Program | None:
        """None where only a network of the author's knows what stands in the place of a value."""
        return None if self.without_program else Program(self.names, lambda known: self._run(known, approximate=True))

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
        found |= {name: each.operand(known) for name, each in self.similarities.items()}
        found |= {name: each.operand(known) for name, each in self.preceding.items()}
        found |= {name: known[name] for name in self.inputs_of_graph}
        for node in self.nodes:
            if isinstance(node, TokenOfLayer):
                found[node.label] = tuple(known[node.of.name][place] for place in range(len(known[node.of.name])))
            if isinstance(node, Value):
                sides = node.sides(known)
                found[node.name] = sides[0] if len(sides) == 1 else Emulated(*sides)
            if isinstance(node, Quantised):
                found[node.handle] = _grid(node, [known[letter.name] for letter in node.letters])
        for name, matrix in self.matrices.items():
            found[name] = _operand(matrix, known)
        if self.sinks:
            found |= self._beside_sinks(known)
        found |= {
            node.handle: _transposed(found[node.matrix.name]) for node in self.nodes if isinstance(node, RowsOfTable)
        }
        found = {name: known[name] for name in self.made} | found
        return {name: each for name, each in found.items() if name in self._handles}

    def _beside_sinks(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Their values, and by how much other scores lead them, as the network has them; in layers, those of each."""
        seen: dict[int, list[Any]] = {}
        side, found = GraphRun(known, approximate=True, seen=seen), dict[str, Any]()
        for output in self.outputs:
            side.value(output)
        in_layers = {place for place, (around, *_) in layers_around(self.outputs).items() if around}
        for node in self.sinks:
            by_layer = zip(node.handles, zip(*seen.get(id(node), []), strict=True), strict=False)
            found |= {name: each if id(node) in in_layers else each[0] for name, each in by_layer}
        return found

    @cached_property
    def _handles(self) -> set[str]:
        """The handles of the steps, those of layers too."""
        read = (each for each in self.conclusions if not (each.events or each.mean_over))  # others are judged by draws
        steps = (step for each in read for step in each.derivation.steps)
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
        """Beyond it a bound at a prompt is conditional: its own, or twice what arguments reach in some random runs."""
        if function.radius is not None:
            return float(function.radius)
        if self.texts:
            raise UsageError(
                f"{self.id}: {', '.join(self.texts)} is known in runs alone; give bs.function(radius=), within which "
                f"the arguments of {function.name} lie"
            )
        seen: dict[int, list[Any]] = {}
        generator, domains = torch.Generator().manual_seed(0), {**self.inputs, **self.weights}
        known = {name: self._some(each, generator) for name, each in domains.items()} | self.numbers
        known |= {name: called_with(program, known) for name, program in self.made.items()}
        known |= {name: matrix.approximate(known.__getitem__) for name, matrix in self.approximate_matrices.items()}
        for approximate in (False,) if self.without_program else (False, True):
            side = GraphRun(known, approximate=approximate, seen=seen)
            for output in self.outputs:
                side.value(output)
        largest = max((float(abs(each).max()) for each in seen.get(id(function), [])), default=LEAST_RANGE)
        return max(LEAST_RANGE, 2.0 ** (int(sp.ceiling(sp.log(max(largest, 1e-3), 2))) + 2))

    def _some(self, domain: Any, generator: torch.Generator) -> Any:
        """A random member, or what a function gives: one that draws, or an array that is given."""
        drawn = isinstance(domain, Domain)
        return domain.at(self.at).sample(1, generator)[0] if drawn else called_with(domain, {**self.numbers, "seed": 0})

    # Letters that an instance knows better.

    @cached_property
    def _known(self) -> "KnownLetters":
        return KnownLetters(self, self.conclusions, self._derived.reached)

    @property
    def knows(self) -> dict[sp.Symbol, Any]:
        return self._known.all

    @property
    def meanings(self) -> dict[Any, Any]:
        """What each output is, as far as formulas say it, and each letter that nobody but the graph gave."""
        taken = [each.name for each in self.parameters]
        taken += [*self.inputs, *self.weights, *self.values]
        found: dict[Any, Any] = {output.label: definition(output, taken) for output in self.outputs}
        found |= {f.letter: largest_difference(f) for f in self.functions.values() if f.letter in self._known.letters}
        sizes = ((each, each.bounds["size"]) for each in self.values.values())
        beside = {s: value for value, s in sizes if s in self._known.letters and s not in self.parameters}
        found |= {s: f"bound on the {each.norm.words} of `{object_text(each.name)}`" for s, each in beside.items()}
        own = {letter: words for letter, (words, _) in self.letters_known.items()}
        found |= {letter: words for letter, words in own.items() if letter in self._known.bounding}
        found |= {s: seen_weight(node) for s, node in self.seeing.items() if s in self._known.letters}
        return {name: each for name, each in found.items() if each is not None}

    @property
    def random(self) -> dict[str, str]:
        """What bounds with probability are over, in words, and the array that is drawn."""
        found = {node.draws.randomness: node.draws.name for node in self.nodes if isinstance(node, SampleMean)}
        own = (node.similarity for node in self.featured)
        return found | {g.randomness: g.features for g in own if not g.drawn}

    def parts(self) -> dict[str, Any]:
        """The arguments of a theorem that follow from the graph."""
        require_sound(self)
        steps = [step.name for each in self.conclusions for step in each.derivation.steps]
        if taken := sorted({f"e_{name}" for name in steps} & {letter.name for letter in self.parameters}):
            raise UsageError(f"{self.id}: '{taken[0]}' is the error of a step in the proof; rename the parameter")
        return {
            "inputs": self.inputs,
            "weights": self.weights,
            "built": self.built,
            "network": self.network,
            "reference": self.reference,
            "near": self._near,
            "handles": self.handles if self.inputs and self._handles else None,
            "random": self.random,
            "worst": {letter: worst for letter, worst in self.worst.items() if letter in self._known.letters},
            "knows": self.knows,
            "meanings": self.meanings,
            "hypotheses": self.hypotheses,
            "assumptions": self.assumptions,
            "texts": [parameter_of(matrix) for matrix in self.typed],
        }


def _approximate(matrix: Matrix) -> Callable[[Mapping[str, Any]], Any]:
    return lambda known: matrix.approximate(known.__getitem__)


def _operand(matrix: Matrix, known: Mapping[str, Any]) -> Any:
    """A matrix, or the pair of it and the one in its place; a tuple for layers."""
    exact, near = matrix.sides(known.__getitem__)
    if matrix.change is None:
        return exact if matrix.layers is None else tuple(exact[place] for place in range(len(exact)))
    within = matrix.change.distances.get(KINDS["entries"], sp.oo)
    if matrix.layers is None:
        return Emulated(exact, near, within)
    return tuple(Emulated(exact[place], near[place], within) for place in range(len(exact)))


def _transposed(operand: Any) -> Any:
    return (
        replace(operand, exact=operand.exact.mT, emulated=operand.emulated.mT)
        if isinstance(operand, Emulated)
        else operand.mT
    )


def _grid(node: Quantised, letters: list[Any]) -> Smooth:
    """The identity, and the grid in its place."""
    return Smooth(lambda x: x, lambda x: node.on_grid(x, letters))


def graph_of(
    id: str,
    outputs: Sequence[Expression],
    parameters: Mapping[sp.Symbol, Any],
    norm: Any,
    inputs: Mapping[str, Domain] | None = None,
    made: Collection[str] = (),
) -> Graph:
    """Of these outputs; a single one without a name is the output. `made` names what the theorem makes beside them."""
    outputs = copied(outputs)
    if len(outputs) == 1 and not outputs[0].is_named:
        outputs[0].named("output")
    Objects(id, outputs, parameters).number_letters()
    try:
        known = None if norm is None else as_norm(norm)
    except DerivationError as error:
        raise UsageError(f"{id}: {error}") from None
    return Graph(id, tuple(outputs), parameters, known, more_inputs=dict(inputs or {}), made_beside=tuple(made))
