"""Rotary positions: each token turned by angles in proportion to its place."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    names_in,
    require_shape,
    scaled,
)
from bridge.expressions.running import Program
from bridge.limits.arguments import arguments_of
from bridge.lowering.formula import evaluate
from bridge.readings.arrays import turned
from symbolic import calculus
from symbolic.calculus.rotations import STRETCH
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class RotaryPositions(Expression):
    """Coordinates 2 k and 2 k + 1 of token j turned by the angle (j, k), which `program` gives from parameters."""

    def __init__(self, x: Expression, program: Callable[..., Any], base: sp.Expr | None) -> None:
        self.parts, self.dim, self.count, self.program, self.base = (x,), x.dim, x.count, program, base
        self.label = composed(f"rotary({x.label})", "rotary")

    @property
    def angles(self) -> str:
        """Their name."""
        return f"angles{self.suffix}"

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        return {self.angles: self.program}

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            value = calculus.rotate(x.value, name, angles=self.angles)
            return InNorm(value, scaled([STRETCH[value.norm]], [x.approximate_size]))

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return () if self.base is None else (self.base,)

    @property
    def takes(self) -> tuple[str, ...]:
        return arguments_of(self.program)

    def run(self, running: Running) -> Any:
        return turned(running.value(self.parts[0]), running.array(self.angles))


def _by_place(count: sp.Expr, dim: sp.Expr, base: sp.Expr) -> Program:
    """j base^(-2 k / d) for token j = 0, 1, ... and k = 0, ..., d/2 - 1."""

    def angles(known: Mapping[str, Any]) -> torch.Tensor:
        tokens, d, start = (
            float(evaluate(each, {letter: known[letter.name] for letter in each.free_symbols}))
            for each in (count, dim, base)
        )
        places, planes = (
            torch.arange(end, dtype=torch.float64, device="cpu") for end in (round(tokens), round(d) // 2)
        )
        return places.unsqueeze(-1) * start ** (-2 * planes / d)

    return Program(names_in(count, dim, base), angles)


def rotary(x: Any, *, base: Any = 10000, angles: Callable[..., Any] | None = None) -> RotaryPositions:
    """Each token in R^d turned by its place: coordinates 2 k and 2 k + 1 of token j by j base^(-2 k / d), from 0 on.

    An isometry of the 2-norm; errors in the sup norm and the 1-norm count at most sqrt(2) times. `angles` are others: a
    function of parameters, by name, that gives an array (tokens, d/2). d has to be even.
    """
    if not isinstance(x, Expression):
        raise UsageError(f"rotary: expected an expression, got {type(x).__name__}")
    require_shape("rotary: tokens are needed, which have places", x.count is not None, x)
    if x.dim.is_even is False:
        raise UsageError(f"rotary: {x.label} is in R^{x.dim}; an even dimension is needed")
    if angles is not None:
        return RotaryPositions(x, angles, None)
    start = as_number("base", base)
    assert x.count is not None  # tokens
    return RotaryPositions(x, _by_place(x.count, x.dim, start), start)
