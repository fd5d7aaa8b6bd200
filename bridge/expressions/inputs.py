"""Where a graph starts: vectors and tokens of a domain, and values of which the author vouches for the bounds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import sympy as sp
import torch

from bridge.domains import Ball, Box, Domain, Rows
from bridge.expressions.expression import Asking, Candidate, Expression, InNorm, Running, as_number, require_name
from bridge.expressions.matrix_formulas import as_program, meaning_of
from bridge.limits.arguments import arguments_of, called_with
from symbolic.calculus import given
from symbolic.derivations.derivation import Norm, as_norm
from symbolic.derivations.operations import Given
from symbolic.words.errors import UsageError

# The largest norm of a token, of an array (..., d).
LARGEST: Mapping[Norm, Callable[[Any], Any]] = {
    Norm.INF: lambda x: abs(x).amax(),
    Norm.ONE: lambda x: abs(x).sum(-1).amax(),
    Norm.TWO: lambda x: torch.sqrt((x * x).sum(-1)).amax(),
}


class Input(Expression):
    """A vector, or tokens, of a domain; `sizes` bound the norm of each token. A weight is drawn once for a network."""

    def __init__(
        self, name: str, dim: Any, count: Any, sizes: Mapping[Norm, sp.Expr], domain: Domain, *, weight: bool = False
    ) -> None:
        self.label, self.is_named = require_name(name), True
        self.name, self.sizes, self.domain, self.weight = name, sizes, domain, weight
        self.dim, self.count = as_number("dimension", dim), None if count is None else as_number("count", count)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm, size in self.sizes.items():

            def rule(name: str, norm: Norm = norm, size: sp.Expr = size) -> InNorm:
                bound = asking.at(size)
                value = given(name, dim=asking.at(self.dim), norm=norm, size=bound)
                return InNorm(value.with_conclusion(operation=Given(self.name)), bound)

            yield Candidate(norm, "given", (), rule)

    def run(self, running: Running) -> Any:
        return running.array(self.name)

    def __getitem__(self, place: Any) -> Expression:
        """One token: by a whole number, or in a repetition by that of the layer."""
        return (
            TokenOfLayer(self, place) if isinstance(place, LayerNumber) and self.count else super().__getitem__(place)
        )


class LayerNumber:
    """The number of the layer in a repetition: the index of a token in `lambda h, l: A @ h + B @ u[l]`.

    `argument` is that of the layer, which tells it from the numbers of other repetitions.
    """

    def __init__(self, argument: Expression) -> None:
        self.argument = argument


class TokenOfLayer(Expression):
    """The token with the number of the layer."""

    def __init__(self, of: Input, number: LayerNumber) -> None:
        self.of, self.dim, self.label, self.number = of, of.dim, f"{of.name}[l]", number

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for candidate in self.of.candidates(asking):

            def rule(name: str, candidate: Candidate = candidate) -> InNorm:
                found = candidate.rule(name)
                return replace(found, value=found.value.with_conclusion(operation=Given(self.label)))

            yield replace(candidate, rule=rule)

    def run(self, running: Running) -> Any:
        return running.array(self.of.name)[running.layer]


def vector(
    name: str,
    dim: Any,
    *,
    size: Any = None,
    norm: Any = None,
    sums: Any = None,
    domain: Domain | None = None,
    weight: bool = False,
) -> Input:
    """A vector in R^dim: its largest entry is at most `size`, its 2-norm at most `norm`, its 1-norm at most `sums`.

    One of the three is enough; with several, or for another set, give the `domain` too, of which they have to be true.
    A `weight` is drawn once for a network; other vectors vary with the prompt. Raises UsageError without a bound.
    """
    sizes = sizes_of(name, size, norm, sums)
    return Input(name, dim, None, sizes, domain or domain_of(name, dim, sizes), weight=weight)


def tokens(
    name: str,
    count: Any,
    dim: Any,
    *,
    size: Any = None,
    norm: Any = None,
    sums: Any = None,
    domain: Domain | None = None,
    weight: bool = False,
) -> Input:
    """`count` tokens in R^dim; bounds are those of each token, as for `vector`, and `domain` is that of one token."""
    sizes = sizes_of(name, size, norm, sums)
    return Input(name, dim, count, sizes, Rows(count, domain or domain_of(name, dim, sizes)), weight=weight)


def sizes_of(name: str, size: Any, norm: Any, sums: Any) -> dict[Norm, sp.Expr]:
    """The norms that are bounded. Raises UsageError where none is."""
    given = {Norm.INF: size, Norm.TWO: norm, Norm.ONE: sums}
    sizes = {each: as_number("size", bound) for each, bound in given.items() if bound is not None}
    if not sizes:
        raise UsageError(f"{name}: no norm is bounded; give size= (largest entry), norm= (2-norm) or sums= (1-norm)")
    return sizes


def domain_of(name: str, dim: Any, sizes: Mapping[Norm, sp.Expr]) -> Domain:
    """The set in which one norm is bounded."""
    if len(sizes) > 1:
        raise UsageError(f"{name}: {len(sizes)} norms are bounded; give domain=, a set in which all of them hold")
    ((norm, bound),) = sizes.items()
    return Box(dim, size=bound) if norm is Norm.INF else Ball(dim, radius=bound, norm=int(norm))


class Value(Expression):
    """What no expression says: a program, of which the author vouches for the bounds.

    It may err: by a bound, which the author vouches for too, and in the network by another program.
    """

    is_fixed = False  # whether parameters alone make it: once for a network

    def __init__(
        self,
        name: str,
        program: Callable[..., Any],
        approximate: Callable[..., Any] | None,
        dim: Any,
        count: Any,
        bounds: Mapping[str, Any],
        inputs: Mapping[str, Domain],
        meanings: tuple[str, str] = ("", ""),
    ) -> None:
        self.label, self.name, self.is_named = require_name(name), name, True
        self.program, self.approximate, self.inputs, self.meanings = program, approximate, dict(inputs), meanings
        self.dim, self.count = as_number("dimension", dim), None if count is None else as_number("count", count)
        self.norm, self.bounds = (
            as_norm(bounds["norm"]),
            {n: x for n, x in bounds.items() if n != "norm" and x is not None},
        )

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str) -> InNorm:
            bounds = {n: asking.at(each) for n, each in self.bounds.items()}
            value = given(name, dim=asking.at(self.dim), norm=self.norm, **bounds)
            size = bounds["size"] + bounds.get("error", sp.Integer(0))
            return InNorm(value.with_conclusion(operation=Given(self.name)), size)

        yield Candidate(self.norm, "given", (), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return tuple(as_number("bound", each) for name, each in self.bounds.items() if name == "radius")

    @property
    def error(self) -> sp.Expr:
        return as_number("error", self.bounds.get("error", 0))

    @property
    def runs(self) -> bool:
        """Whether it is known what the network has in its place."""
        return self.error == 0 or self.approximate is not None

    @property
    def programs(self) -> list[Callable[..., Any]]:
        return [self.program, *([] if self.approximate is None else [self.approximate])]

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        return dict(zip(self.arrays, self.programs, strict=True)) if self.is_fixed else {}

    @property
    def arrays(self) -> list[str]:
        """Of its arrays, exactly and in the network."""
        return [self.name, f"{self.name}_hat"][: len(self.programs)]

    @property
    def takes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for program in self.programs for name in arguments_of(program)))

    def sides(self, known: Mapping[str, Any]) -> list[Any]:
        """The exact array, and the one in the network if that is another."""
        if self.is_fixed:
            return [known[name] for name in self.arrays]
        return [called_with(program, known) for program in self.programs]

    def run(self, running: Running) -> Any:
        name, program = list(zip(self.arrays, self.programs, strict=True))[-1 if running.approximate else 0]
        if self.is_fixed:
            return running.array(name)
        return program(**{name: running.array(name) for name in arguments_of(program)})


def value(
    name: str,
    program: Any,
    *,
    size: Any,
    dim: Any = None,
    count: Any = None,
    norm: Any = Norm.INF,
    radius: Any = None,
    error: Any = None,
    approximate: Any = None,
    meaning: str | tuple[str, str] = "",
    inputs: Mapping[str, Domain] = MappingProxyType({}),
) -> Value:
    """An exact value that `program` computes from parameters and inputs, by name; at most `size` in the norm.

    The program is a function, or a SymPy formula over `MatrixSymbol`s, such as `(X.T * X).I * X.T * y`. A column is a
    vector (with a `count`, tokens in R^1), another shape tokens, one a row; the formula says the dimensions, and what
    is computed.

    `radius`, if known, bounds the distance of its tokens from some common centre. With an `error` the network has
    something else in its place: what the program `approximate` computes, or (without one) what a network of yours does.
    `meaning` tells a reader what is computed (a pair: exactly, and by the network). `inputs` are domains, which
    `bs.theorem(inputs=)` may give too. The bounds are yours: nothing here proves them, and a run that exceeds them
    makes the theorem `violated`. Raises UsageError for an approximate value without an error.
    """
    if approximate is not None and error is None:
        raise UsageError(
            f"{name}: another program stands in its place; give error=, at least how far the two are apart"
        )
    bounds = {"norm": norm, "size": size, "radius": radius, "error": error}
    if dim is None:
        dim, count = _dimensions(name, program, count)
    shape, vector = (dim, 1) if count is None else (count, dim), count is None
    exact = as_program(name, program, shape, vector=vector)
    near = None
    if approximate is not None:
        beside = program if isinstance(program, sp.MatrixExpr) else None
        near = as_program(f"{name} in the network", approximate, shape, vector=vector, beside=beside)
    words = (meaning, "") if isinstance(meaning, str) else meaning
    told = [said or meaning_of(name, each) for said, each in zip(words, (program, approximate), strict=True)]
    return Value(name, exact, near, dim, count, bounds, inputs, (told[0], told[1]))


def _dimensions(name: str, formula: Any, count: Any) -> tuple[Any, Any]:
    """Of a vector or of tokens, and how many tokens; a column of a `count` is tokens too.

    Raises UsageError for what is no formula.
    """
    if not isinstance(formula, sp.MatrixExpr):
        raise UsageError(f"{name}: no dimension is known; give dim=")
    rows, columns = formula.shape
    return (rows, None) if columns == 1 and count is None else (columns, rows if count is None else count)
