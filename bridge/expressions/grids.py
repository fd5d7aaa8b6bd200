"""Activations on a grid: in the network each coordinate is a multiple of a step."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bridge.expressions.attention import checked
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    names_in,
)
from bridge.expressions.functions import t
from bridge.lowering.formula import ArrayFunction
from symbolic import calculus
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm


class Quantised(Expression):
    """Each coordinate on the grid of multiples of `step`: the nearest, or the next one below."""

    def __init__(self, x: Expression, step: sp.Expr, *, down: bool, error: sp.Expr | None) -> None:
        self.parts, self.dim, self.count = (x,), x.dim, x.count
        self.step, self.down, self.given_error = step, down, error
        self.eps = error if error is not None else step if down else step / 2
        self.label = composed(f"grid({x.label})", "grid")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        eps = asking.at(self.eps)

        def rule(name: str, x: InNorm) -> InNorm:
            value = calculus.apply_function(
                x.value, name, eps=eps, lipschitz=1, size=x.value.size_symbol, function=self.handle
            )
            size = (
                None if x.approximate_size is None else x.approximate_size + eps * norm_of_ones(value.norm, value.dim)
            )
            return InNorm(value, size)

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    @property
    def assumptions(self) -> tuple[str, ...]:
        if self.given_error is None:
            return ()
        return (f"``{self.label}`` moves no coordinate by more than `{sp.sstr(self.given_error)}`",)

    @property
    def handle(self) -> str:
        return f"{self.label}{self.suffix}"

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.step, as_number("error", self.eps))

    @property
    def takes(self) -> tuple[str, ...]:
        return names_in(self.step)

    def run(self, running: Running) -> Any:
        x = running.value(self.parts[0])
        return self.on_grid(x, running.letters(self.letters, x)) if running.approximate else x

    @property
    def letters(self) -> list[sp.Symbol]:
        return sorted(self.step.free_symbols, key=str)

    @property
    def rounding(self) -> sp.Expr:
        """The formula of the grid in t."""
        return self.step * sp.floor(t / self.step + (0 if self.down else sp.Rational(1, 2)))

    def on_grid(self, x: Any, letters: list[Any]) -> Any:
        return ArrayFunction(self.rounding, t, *self.letters)(x, *letters)


def quantised(x: Expression, step: Any, *, down: bool = False, error: Any = None) -> Quantised:
    """Each coordinate of x rounded to the nearest multiple of `step`, or (`down`) to the next one below.

    `error` is a bound of your own on what that changes; it is judged like every other one.
    """
    bound = None if error is None else as_number("error", error)
    return Quantised(checked("quantised", x), as_number("step of a grid", step), down=down, error=bound)
