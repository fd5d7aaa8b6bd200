"""Normalisation: a vector over its root mean square, and over its standard deviation; gains and biases."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bridge.domains import Rows, Shell, Sphere
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
    same,
)
from bridge.expressions.grids import Quantised
from bridge.expressions.inputs import Input
from bridge.lowering.formula import ArrayFunction
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class Normalised(Expression):
    """x / sqrt(||x||_2^2 / d + shift), token by token; if `less_mean`, of x less the mean of its coordinates."""

    less_mean = False

    def __init__(self, x: Expression, shift: sp.Expr, least: sp.Expr, exact_least: sp.Expr | None) -> None:
        self.parts, self.dim, self.count = (x,), x.dim, x.count
        self.shift, self.least = shift, least
        self.shortest = None if self.less_mean else _shortest(x)
        self.exact_least = self.shortest if exact_least is None and least != 0 else exact_least
        name = "layer_norm" if self.less_mean else "rms_norm"
        self.label = composed(f"{name}({x.label})", name)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            known = None if self.exact_least is None else asking.at(self.exact_least)
            numbers = {"shift": asking.at(self.shift), "least": asking.at(self.least), "exact_least": known}
            value = calculus.rms_normalise(x.value, name, centred=self.less_mean, **numbers)
            return InNorm(value, sp.sqrt(x.value.dim))

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
        argument = f"the argument of ``{self.label}``" + (", less the mean of its coordinates," * self.less_mean)
        return f"{argument} has a 2-norm of at least `{sp.sstr(self.exact_least)}`"

    def run(self, running: Running) -> Any:
        x, square = running.value(self.parts[0]), sp.Dummy("square", nonnegative=True)
        x = x - x.mean(-1, keepdim=True) if self.less_mean else x
        letters = sorted(self.shift.free_symbols, key=str)
        root = ArrayFunction(sp.sqrt(square / sp.Integer(x.shape[-1]) + self.shift), square, *letters)
        return x / root((x * x).sum(-1), *running.letters(letters, x)).unsqueeze(-1)


class RmsNorm(Normalised):
    """Of x itself."""


class LayerNorm(Normalised):
    """Of x less the mean of its coordinates."""

    less_mean = True


def _shortest(x: Expression) -> sp.Expr | None:
    """The least 2-norm of an exact token, as the domain of an input says; None where it says nothing."""
    if isinstance(x, Quantised):  # the grid is in the network alone
        return _shortest(x.parts[0])
    if not isinstance(x, Input):
        return None
    domain = x.domain.row if isinstance(x.domain, Rows) else x.domain
    return domain.low if isinstance(domain, Shell) else domain.radius if isinstance(domain, Sphere) else None


class OfEachToken(Expression):
    """One vector for each of `count` tokens."""

    def __init__(self, vector: Expression, count: sp.Expr) -> None:
        self.parts, self.dim, self.count, self.label = (vector,), vector.dim, count, vector.label

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), lambda name, vector: vector)

    def run(self, running: Running) -> Any:
        return running.value(self.parts[0])


def beside(call: str, what: str, vector: Any, x: Expression) -> Expression:
    """A vector of the dimension of x, for each token of x. Raises UsageError for another shape."""
    if not isinstance(vector, Expression):
        raise UsageError(f"{call}: expected a vector as {what}, got {type(vector).__name__}; give bs.vector(...)")
    fits = vector.count is None and same(vector.dim, x.dim)
    require_shape(f"{call}: {what} has to be one vector of as many coordinates", fits, vector, x)
    return vector if x.count is None else OfEachToken(vector, x.count)


def rms_norm(x: Any, *, shift: Any = 0, least: Any = 0, exact_least: Any = None, gain: Any = None) -> Expression:
    """x / sqrt(||x||_2^2 / d + shift), token by token, times a `gain`: a vector, coordinate by coordinate.

    Errors in the 2-norm count 1 / sqrt(least^2 / d + shift) times. Without `shift` > 0, give a `least` length of exact
    and approximate arguments and `exact_least`, one of exact ones: least + error <= exact_least is owed. Bounds are
    then about prompts at which the exact argument is that long. Of an input in a `bs.domains.Shell` or on a sphere, and
    of one on a grid, that is known: all prompts are.
    """
    return _normalised("rms_norm", x, shift, (least, exact_least), gain, None)


def layer_norm(
    x: Any,
    *,
    shift: Any = 0,
    least: Any = 0,
    exact_least: Any = None,
    gain: Any = None,
    bias: Any = None,
) -> Expression:
    """(x - mean) / sqrt(variance + shift) over the coordinates of each token, times a `gain`, plus a `bias`: vectors.

    Errors in the 2-norm count 1 / sqrt(least^2 / d + shift) times, those of the gain by its largest entry. `shift`,
    `least` and `exact_least` as in `rms_norm`, of the 2-norm of x less its mean: sqrt(d) times the standard deviation.
    """
    return _normalised("layer_norm", x, shift, (least, exact_least), gain, bias)


def _normalised(call: str, x: Any, shift: Any, lengths: tuple[Any, Any], gain: Any, bias: Any) -> Expression:
    if not isinstance(x, Expression):
        raise UsageError(f"{call}: expected an expression, got {type(x).__name__}")
    least, known = as_number("least length", lengths[0]), lengths[1]
    exact_least = None if known is None else as_number("least length", known)
    node = (LayerNorm if call == "layer_norm" else RmsNorm)(x, as_number("shift", shift), least, exact_least)
    scaled = node if gain is None else beside(call, "the gain", gain, x) * node
    return scaled if bias is None else scaled + beside(call, "the bias", bias, x)
