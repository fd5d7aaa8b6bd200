"""A reader of the lines that a gradient prints, who knows what is declared and runs them from top to bottom."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import sympy as sp
import torch

from bridge.expressions.backward import FormulasAtPrompt
from bridge.expressions.gradient_lines import FormulaLine
from bridge.expressions.inputs import Value
from bridge.expressions.running import GraphRun
from bridge.limits.arguments import called_with
from symbolic.gradients.letters import LayerIndex, Letter
from symbolic.gradients.row_terms import Coordinates
from symbolic.gradients.terms import ClassVector, LayerSum, Lettered, OnesVector, Term, UnitVector, Unity
from tests.bridge.expressions.gradient_cases import NUMBERS


class Reader:
    """Runs lines. A letter with its numbers of layers is known once a line has defined it."""

    def __init__(self, gradient: Any, arrays: Mapping[str, torch.Tensor]) -> None:
        self.lines, self.arrays = gradient.pages.lines, arrays
        self.letters, self.known = self.lines.naming.letters, dict[tuple[Any, ...], torch.Tensor]()
        self.at: dict[sp.Symbol, int] = {}
        self.prompt = FormulasAtPrompt(GraphRun({**NUMBERS, **arrays}, approximate=False))

    def key(self, letter: Letter) -> tuple[Any, ...]:
        return letter.name, letter.accent, *(self.number(index) for index in letter.indices)

    def number(self, expr: sp.Expr) -> int:
        return int(expr.subs(self.at).subs({s: NUMBERS[s.name] for s in expr.free_symbols if s.name in NUMBERS}))

    def value(self, term: Term) -> torch.Tensor:
        """By the same operations on arrays, all letters looked up here."""
        reader = self

        class Looked(FormulasAtPrompt):
            def array(self, term: Term) -> Any:
                return reader.looked(term, super().array)

        return Looked(self.prompt.run).array(term)

    def looked(self, term: Term, otherwise: Callable[[Term], Any]) -> Any:
        if isinstance(term, Lettered):
            return self.lettered(term)
        if isinstance(term, Unity):
            return torch.ones(1, dtype=torch.float64, device="cpu")
        if isinstance(term, ClassVector):
            size = self.number(term.like.of.dim)
            return torch.tensor([float(k == term.index) for k in range(size)], dtype=torch.float64, device="cpu")
        if isinstance(term, OnesVector):
            size = term.like.of.dim if term.axis == -1 else term.like.of.count
            return torch.ones(self.number(size), dtype=torch.float64, device="cpu")
        if isinstance(term, UnitVector):
            rows = self.arrays[self.letters[term.like].name]
            return torch.eye(len(rows), dtype=rows.dtype, device=rows.device)[self.at[self.loop(term.loop).index] - 1]
        if isinstance(term, Coordinates):
            first = self.number(sp.Add(*(size for _, size in term.before)))
            return self.value(term.of)[..., first : first + self.number(term.own[1])]
        if isinstance(term, LayerSum):
            return sum(self.each_layer(self.loop(term.loop), lambda: self.value(term.of)))
        return otherwise(term)

    def loop(self, of: Any) -> LayerIndex:
        return self.lines.naming.loops[of]

    def each_layer(self, loop: LayerIndex, run: Callable[[], Any], *, backward: bool = False) -> list[Any]:
        found, layers = [], range(1, self.number(loop.depth) + 1)
        for layer in reversed(layers) if backward else layers:
            self.at[loop.index] = layer
            found.append(run())
        del self.at[loop.index]
        return found

    def lettered(self, of: Lettered) -> torch.Tensor:
        letter = self.letters[of]
        if isinstance(of.of, Value):
            return called_with(of.of.program, NUMBERS)
        if letter.name in self.arrays and not letter.accent:  # declared, not defined
            array = self.arrays[letter.name]
            return array[self.number(letter.indices[-1]) - 1] if letter.indices else array
        return self.known[self.key(letter)]

    def run(self, lines: Sequence[FormulaLine], depth: int = 0, *, backward: bool = False) -> None:
        for inner, group in groupby(lines, key=lambda line: line.loops[depth] if len(line.loops) > depth else None):
            own = list(group)
            if inner is None:
                for line in own:
                    self.known[self.key(self.letters[line.left])] = self.value(line.right)
            else:
                self.each_layer(inner, lambda own=own: self.run(own, depth + 1, backward=backward), backward=backward)

    def gradients(self) -> Iterator[tuple[str, torch.Tensor]]:
        self.run(self.lines.forward)
        self.run(self.lines.backward, backward=True)
        for line in self.lines.gradients:
            name = self.letters[line.left].name
            if line.loops:
                yield name, torch.stack(self.each_layer(*line.loops, lambda line=line: self.value(line.right)))
            else:
                yield name, self.value(line.right)
