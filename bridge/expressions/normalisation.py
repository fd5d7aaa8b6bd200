"""Normalisation: a vector over its root mean square."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bridge.domains import Rows, Shell, Sphere
from bridge.expressions.attention import Quantised
from bridge.expressions.expression import Asking, Candidate, Expression, InNorm, Running, as_number, composed, names_in
from bridge.expressions.inputs import Input
from bridge.lowering.formula import ArrayFunction
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class RmsNorm(Expression):
    """x / sqrt(||x||_2^2 / d + shift), token by token."""

    def __init__(self, x: Expression, shift: sp.Expr, least: sp.Expr, exact_least: sp.Expr | None) -> None:
        self.parts, self.dim, self.count = (x,), x.dim, x.count
        self.shift, self.least = shift, least
        self.shortest = _shortest(x)
        self.exact_least = self.shortest if exact_least is None and least != 0 else exact_least
        self.label = composed(f"rms_norm({x.label})", "rms_norm")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            known = None if self.exact_least is None else asking.at(self.exact_least)
            numbers = {"shift": asking.at(self.shift), "least": asking.at(self.least), "exact_least": known}
            return InNorm(calculus.rms_normalise(x.value, name, **numbers), sp.sqrt(x.value.dim))

        yield Candidate(Norm.TWO, "2", ((self.parts[0], Norm.TWO),), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return tuple(each for each in (self.shift, self.least, self.exact_least) if each is not None)

    @property
    def takes(self) -> tuple[str, ...]:
        return names_in(self.shift)

    @property
    def premise(self) -> str:
        if self.exact_least is None or self.exact_least == self.shortest:
            return ""
        return f"the argument of ``{self.label}`` has a 2-norm of at least `{sp.sstr(self.exact_least)}`"

    def run(self, running: Running) -> Any:
        x, square = running.value(self.parts[0]), sp.Dummy("square", nonnegative=True)
        letters = sorted(self.shift.free_symbols, key=str)
        root = ArrayFunction(sp.sqrt(square / sp.Integer(x.shape[-1]) + self.shift), square, *letters)
        return x / root((x * x).sum(-1), *running.letters(letters, x)).unsqueeze(-1)


def _shortest(x: Expression) -> sp.Expr | None:
    """The least 2-norm of an exact token, as the domain of an input says; None where it says nothing."""
    if isinstance(x, Quantised):  # the grid is in the network alone
        return _shortest(x.parts[0])
    if not isinstance(x, Input):
        return None
    domain = x.domain.row if isinstance(x.domain, Rows) else x.domain
    return domain.low if isinstance(domain, Shell) else domain.radius if isinstance(domain, Sphere) else None


def rms_norm(x: Expression, *, shift: Any = 0, least: Any = 0, exact_least: Any = None) -> RmsNorm:
    """x / sqrt(||x||_2^2 / d + shift), token by token.

    Errors in the 2-norm count 1 / sqrt(least^2 / d + shift) times. Without `shift` > 0, give a `least` length of exact
    and approximate arguments and `exact_least`, one of exact ones: least + error <= exact_least is owed. Bounds are
    then about prompts at which the exact argument is that long. Of an input in a `bs.domains.Shell` or on a sphere, and
    of one on a grid, that is known: all prompts are.
    """
    if not isinstance(x, Expression):
        raise UsageError(f"rms_norm: expected an expression, got {type(x).__name__}")
    known = None if exact_least is None else as_number("least length", exact_least)
    return RmsNorm(x, as_number("shift", shift), as_number("least length", least), known)
