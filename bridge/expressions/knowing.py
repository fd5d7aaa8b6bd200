"""The letters of a derivation that an instance knows better than the hypotheses: norms, and what runs show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import Expression
from bridge.expressions.functions import Applied, Function, t
from bridge.expressions.inputs import LARGEST, Value
from bridge.expressions.matrices import Matrix
from bridge.expressions.matrix_norms import KINDS, NORMS, Key
from bridge.expressions.objects import Objects
from bridge.expressions.running import GraphRun, Program
from bridge.limits.arguments import arguments_of, called_with
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.lowering.enclosures import supremum
from bridge.lowering.formula import ArrayFunction
from numeric.balls import BallArray, float_above
from symbolic.derivations.derivation import Approximated, as_expr

SPECTRAL = KINDS["spectral"]


@dataclass(frozen=True)
class KnownLetters:
    """Of the conclusions of one graph; `reached` says how large the approximate arguments of functions are."""

    graph: Objects
    conclusions: Sequence[Approximated]
    reached: Mapping[int, sp.Expr]

    @property
    def spectral_norms(self) -> list[str]:
        """The matrices whose spectral norm is a letter of its own."""
        own = {name: each for name, each in self.graph.matrices.items() if not each.varies}
        return [name for name, matrix in own.items() if self._knows_better(matrix.norms.get(SPECTRAL))]

    def _knows_better(self, bound: sp.Expr | None) -> bool:
        """Whether the bound is a letter that stands for nothing but norms, which an instance measures."""
        return isinstance(bound, sp.Symbol) and bound in self.letters and bound not in self._of_others

    @cached_property
    def _of_others(self) -> set[sp.Symbol]:
        """The letters that stand for something else too: a dimension, a factor, a distance, a part of a bound."""
        formulas = [
            formula for node in self.graph.nodes for formula in (*node.formulas, node.dim, node.count or sp.S.Zero)
        ]
        sizes = [size for each in self.graph.inputs_of_graph.values() for size in each.sizes.values()]
        for matrix in self.graph.matrices.values():
            sizes += matrix.norms.values()
            formulas += [matrix.rows, matrix.columns, matrix.layers or sp.S.Zero]
            formulas += [] if matrix.change is None else [*matrix.change.distances.values(), *matrix.change.letters]
        sizes += [as_expr(bound) for each in self.graph.values.values() for bound in (each.bounds["size"], each.error)]
        formulas += [size for size in sizes if not isinstance(size, sp.Symbol)]
        return set(self.graph.used).union(*(formula.free_symbols for formula in formulas))

    @cached_property
    def letters(self) -> set[sp.Symbol]:
        """Those of the derivations."""
        return {letter for each in self.conclusions for letter in each.derivation.letters}

    @cached_property
    def bounding(self) -> set[sp.Symbol]:
        """Those of the bounds; others belong to sizes alone."""
        return {letter for each in self.conclusions for letter in each.error.free_symbols}

    @property
    def all(self) -> dict[sp.Symbol, Any]:
        own: dict[sp.Symbol, list[Program | None]] = {}  # None: of an object whose norm is not measured
        for name, each in self.graph.inputs_of_graph.items():
            for norm, bound in each.sizes.items():
                if self._knows_better(bound):
                    own.setdefault(bound, []).append(of_array(name, LARGEST[norm]))
        for value in self.graph.values.values():
            for bound, program in ((as_expr(value.bounds["size"]), _size_of(value)), (value.error, _error_of(value))):
                if self._knows_better(bound):
                    own.setdefault(bound, []).append(program)
        for name, matrix in self.graph.matrices.items():
            for key, bound in matrix.norms.items():
                if self._knows_better(bound):
                    own.setdefault(bound, []).append(self._norm_of(name, matrix, key))
        known: dict[sp.Symbol, Any] = {}
        for letter, programs in own.items():
            measured = [each for each in programs if each is not None]
            names = [name for each in measured for name in arguments_of(each)]
            parameters = {each.name for each in self.graph.parameters}
            prompts = [name in self.graph.inputs for name in names if name not in parameters]
            if len(measured) == len(programs) and (all(prompts) or not any(prompts)):
                known[letter] = _largest_of(names, measured)
        of_functions = [f for f in self.graph.functions.values() if f.letter in self.letters]
        at_prompts = bool(self.graph.inputs) and not self.graph.without_program  # else it is about the draws at hand
        for f in of_functions:
            at = (*self._at_network(f, known), *([self._at_prompt(f)] if at_prompts else []))
            known |= {f.letter: at} if at else {}
        of_parts = {letter: program for letter, (_, program) in self.graph.letters_known.items()}
        known |= {letter: (program,) for letter, program in of_parts.items() if letter in self.bounding}
        seen = {s: node for s, node in self.graph.seeing.items() if s in self.letters and at_prompts}
        return known | {letter: self._largest_seen(node) for letter, node in seen.items()}

    def _norm_of(self, name: str, matrix: Matrix, key: Key) -> Program | None:
        """The spectral norm of a matrix that varies with the prompt is not measured at each of them."""
        if matrix.program is not None:
            return None
        if key != SPECTRAL:
            return of_array(name, NORMS[key])
        return None if matrix.varies else of_array(f"norm_{name}", lambda number: number)

    def _at_network(self, function: Function, known: Mapping[sp.Symbol, Program]) -> list[Program]:
        """The largest |g| on the range of all approximate arguments, as sizes bound it; none where none bounds it."""
        nodes = [node for node in self.graph.nodes if isinstance(node, Applied) and node.function is function]
        largest = sp.Max(*(self.reached.get(id(node), sp.oo) for node in nodes))
        largest = largest.xreplace(self.graph.worst)
        if largest == sp.oo or not largest.free_symbols <= set(self.graph.parameters):
            return []
        better = {
            s: known[s]
            for s in largest.free_symbols
            if s in known and not set(arguments_of(known[s])) & set(self.graph.inputs)
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
            for output in self.graph.outputs:
                side.value(output)
            found = seen.get(id(what), [])  # none, without layers
            return _largest([number(each) for each in found]) if found else 0

        return Program(self.graph.names, at_prompt)


def _largest_of(names: Sequence[str], programs: Sequence[Program]) -> Program:
    return Program(names, lambda known: _largest([called_with(each, known) for each in programs]))


def of_array(name: str, norm: Any) -> Program:
    return Program([name], lambda known: norm(known[name]))


def _size_of(value: Value) -> Program:
    """The norm of the exact value."""
    norm = LARGEST[value.norm]
    if value.is_fixed:
        return of_array(value.name, norm)
    return Program(arguments_of(value.program), lambda known: norm(called_with(value.program, known)))


def _error_of(value: Value) -> Program | None:
    """The distance of the two; None where the approximate one is not known."""
    if value.approximate is None:
        return None

    def distance(known: Mapping[str, Any]) -> Any:
        exact, near = value.sides(known)
        return LARGEST[value.norm](near - exact)

    return Program(value.arrays if value.is_fixed else value.takes, distance)


def _largest(numbers: list[Any]) -> Any:
    if len(numbers) == 1 or not isinstance(numbers[0], torch.Tensor | BallArray):
        return max(numbers) if len(numbers) > 1 else numbers[0]
    return torch.stack(numbers).amax()


def _ball(number: Any) -> Any:
    """A number of a run as `evaluate_ball` takes it."""
    return number.balls[0] if isinstance(number, BallArray) else as_exact(number)
