"""Random draws: tokens that are drawn independently, and the mean of what is computed from each of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp

from bridge.domains import Ball, Box, Domain, Rows, Signs, Simplex, Sphere
from bridge.expressions.expectations import Expected, RandomParts, expected
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    method,
    names_in,
    require_name,
    require_shape,
    same,
)
from bridge.expressions.inputs import Input, TokenOfLayer, Value, domain_of, sizes_of
from bridge.expressions.matrices import MatrixImage
from bridge.expressions.running import nodes_of
from bridge.limits.arguments import arguments_of, called_with
from bridge.lowering.formula import ArrayFunction
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.derivations.events import Event
from symbolic.words.errors import UsageError

Program = Callable[..., Any]
UNIFORM = (Box, Ball, Sphere, Signs, Simplex)  # domains whose samples are uniform


class Draws(Expression):
    """`count` independent draws in R^dim: uniform on a domain, or by a program that takes a seed.

    `sizes` bound every draw in norms, `radius` the distance of its coordinates from some centre. `mean` is the
    expectation of a draw, where it is known: a number for all coordinates, or a program.
    """

    def __init__(
        self,
        name: str,
        count: Any,
        dim: Any,
        sizes: Mapping[Norm, sp.Expr],
        source: Domain | Program,
        *,
        radius: sp.Expr | None,
        mean: sp.Expr | Program | None,
    ) -> None:
        self.label, self.name, self.is_named = require_name(name), name, True
        self.dim, self.number = as_number("dimension", dim), as_number("number of draws", count)
        self.count = self.number
        self.sizes, self.source, self.radius, self.mean = sizes, source, radius, mean

    @property
    def drawn(self) -> Domain | Program:
        """Where all draws come from."""
        return Rows(self.number, self.source) if isinstance(self.source, Domain) else self.source

    @property
    def randomness(self) -> str:
        """What a bound with probability is over, in words."""
        return f"the draws of `{self.name}`"

    @property
    def is_symmetric(self) -> bool:
        """Whether a draw is known to have the distribution of its opposite."""
        return _is_symmetric(self.source)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm, size in self.sizes.items():

            def rule(name: str, norm: Norm = norm, size: sp.Expr = size) -> InNorm:
                bound = asking.at(size)
                radius = None if self.radius is None else asking.at(self.radius)
                return InNorm(
                    calculus.given(name, dim=asking.at(self.dim), norm=norm, size=bound, radius=radius), bound
                )

            yield Candidate(norm, "given", (), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        mean = self.mean if isinstance(self.mean, sp.Expr) else None
        return (*self.sizes.values(), *(each for each in (self.radius, mean) if each is not None))

    @property
    def takes(self) -> tuple[str, ...]:
        if isinstance(self.mean, sp.Expr):
            return names_in(self.mean)
        return () if self.mean is None else arguments_of(self.mean)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """How they are drawn, in words."""
        listed = f"the draws `{self.name}_1, ..., {self.name}_{_subscript(self.number)}` are independent"
        if isinstance(self.source, Domain):
            return (f"{listed}, each uniform: `{self.source.words(f'{self.name}_i')}`",)
        sizes = [f"a {norm.words} of at most `{sp.sstr(size)}`" for norm, size in self.sizes.items()]
        if self.radius is not None:
            sizes.append(f"coordinates within `{sp.sstr(self.radius)}` of a centre")
        if self.mean is not None:
            of_program = "that its program gives" if not isinstance(self.mean, sp.Expr) else f"`{sp.sstr(self.mean)}`"
            sizes.append(f"the expectation {of_program}")
        return (f"{listed}, each with {' and '.join(sizes)}",)

    def run(self, running: Running) -> Any:
        return running.array(self.name)

    def at_expectation(self, running: Running) -> Any:
        """The expectation of a draw in the place of each of them."""
        nothing = 0 * running.array(self.name)
        if not isinstance(self.mean, sp.Expr):
            assert self.mean is not None  # asked where it is known
            return nothing + called_with(self.mean, {name: running.array(name) for name in self.takes})
        place, letters = sp.Dummy("z"), sorted(self.mean.free_symbols, key=str)
        return ArrayFunction(place + self.mean, place, *letters)(nothing, *running.letters(letters, nothing))


class SampleMean(Expression):
    """The mean over independent draws, in the place of its expectation.

    With `delta` its error has a bound with a probability of at least 1 - delta, without it one in expectation. Without
    a program for the expectation that is x at the expectation of each draw. `suffix` tells the nodes of one graph
    apart.
    """

    suffix = ""

    def __init__(self, x: Expression, draws: Draws, delta: sp.Expr | None, expectation: Program | None) -> None:
        self.parts, self.dim, self.label = (x,), x.dim, composed(f"mean({x.label})", "sample mean")
        self.draws, self.delta, self.expectation = draws, delta, expectation

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            count, over = asking.at(self.draws.number), self.draws.randomness
            if self.delta is None:
                value = calculus.expected_mean(x.value, name, count=count, over=over)
            else:
                event = Event(f"mean{self.suffix}", over=over, share=asking.at(self.delta))
                value = calculus.sample_mean(x.value, name, count=count, event=event)
            return InNorm(value, x.approximate_size)

        for norm in (Norm.INF, Norm.TWO) if self.delta is None else (Norm.INF,):
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return () if self.delta is None else (self.delta,)

    @property
    def takes(self) -> tuple[str, ...]:
        return () if self.expectation is None else arguments_of(self.expectation)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the author says of the expectation."""
        return (
            () if self.expectation is None else (f"the expectation of ``{self.parts[0].label}`` is computed exactly",)
        )

    def run(self, running: Running) -> Any:
        if running.approximate:
            return running.value(self.parts[0]).mean(-2)
        if self.expectation is not None:
            return called_with(self.expectation, {name: running.array(name) for name in self.takes})
        return running.apart(self.draws, self.draws.at_expectation(running)).value(self.parts[0]).mean(-2)


def draws(
    name: str,
    count: Any,
    dim: Any,
    *,
    size: Any = None,
    norm: Any = None,
    sums: Any = None,
    radius: Any = None,
    domain: Domain | None = None,
    program: Program | None = None,
    mean: Any = None,
) -> Draws:
    """`count` independent random vectors in R^dim; `x.sample_mean(delta)` is the mean of tokens x computed from them.

    Every draw has entries of at most `size`, a 2-norm of at most `norm`, or a 1-norm of at most `sums`. It is uniform
    on the set of all such vectors; or on `domain`; or `program` draws all of them, (count, dim), from parameters by
    name and `seed`. `mean` is the expectation of one draw, a number for all coordinates or a program; that of a box, a
    ball, a sphere or signs is known. With `size`, `radius` bounds the distance of the coordinates from some centre
    (known for a box). Draws are weights: a network has them once, and a bound with probability is about all of them.

    Raises UsageError without a bound, and for a domain of another shape or kind.
    """
    sizes = sizes_of(name, size, norm, sums)
    if domain is not None and program is not None:
        raise UsageError(f"{name}: it has a domain and a program; give the one that it is drawn by")
    source = program or domain or domain_of(name, dim, sizes)
    if isinstance(source, Domain):
        fits = len(source.shape) == 1 and same(sp.sympify(source.shape[0]), as_number("dimension", dim))
        if not fits:
            raise UsageError(f"{name}: one draw is in R^{dim}, and its domain {source} has another shape")
        if not isinstance(source, UNIFORM):
            kinds = ", ".join(kind.__name__ for kind in UNIFORM)
            raise UsageError(f"{name}: draws are uniform on a {kinds}, and {source} is none; give program=")
    centre, of_entries = _mean_of(source), set(sizes) == {Norm.INF}
    if radius is not None and not of_entries:
        raise UsageError(f"{name}: a radius is about coordinates; give it beside size= alone")
    if mean is not None and centre is not None:
        raise UsageError(f"{name}: the mean of its domain is {sp.sstr(centre)}; leave mean= out")
    if mean is not None:
        centre = mean if callable(mean) else as_number("mean", mean)
    within = as_number("radius", radius) if radius is not None else _radius_of(source) if of_entries else None
    return Draws(name, count, dim, sizes, source, radius=within, mean=centre)


# A symmetric distribution has the expectation 0. Uniform on an interval, or on its integers: the middle.
def _mean_of(source: Domain | Program) -> sp.Expr | None:
    """The expectation of each coordinate; None where it is not known."""
    if isinstance(source, Box):
        return (source.low + source.high) / 2
    return sp.Integer(0) if _is_symmetric(source) else None


def _radius_of(source: Domain | Program) -> sp.Expr | None:
    """Of a box that is not symmetric; for others the size says as much."""
    return (source.high - source.low) / 2 if isinstance(source, Box) and not _is_symmetric(source) else None


def _is_symmetric(source: Domain | Program) -> bool:
    if isinstance(source, Box):
        return bool(source.low == -source.high)
    return isinstance(source, Ball | Sphere | Signs)


def _subscript(count: sp.Expr) -> str:
    return sp.sstr(count) if count.is_Atom else f"({sp.sstr(count)})"


# The rule needs draws that are independent, which what mixes tokens does not keep. It is about one prompt: a bound for
# all of them at once needs a cover.
@method("sample_mean")
def sample_mean(x: Expression, delta: Any, expectation: Any) -> SampleMean:
    """The mean over the draws of which x is made, against its expectation. Raises UsageError for other tokens."""
    require_shape("sample_mean: tokens are needed", x.count is not None, x)
    nodes = nodes_of([x])
    found = [node for node in nodes if isinstance(node, Draws)]
    if len(found) != 1:
        names = " and ".join(each.name for each in found) or "no draws"
        raise UsageError(f"{x.label}.sample_mean: it is made of {names}; make it of one bs.draws(...)")
    (drawn,) = found
    random = RandomParts(x, drawn)
    if mixed := random.mixing(x):
        raise UsageError(
            f"{x.label}.sample_mean: {mixed[0].label} mixes the draws, which are no longer independent; take the mean "
            f"of what is computed from each draw alone"
        )
    if varying := [name for node in nodes if (name := _varying(node))]:
        raise UsageError(
            f"{x.label}.sample_mean: {varying[0]} varies with the prompt, and the bound holds for each prompt alone; "
            f"make it a weight"
        )
    if expectation is None and (
        drawn.mean is None or expected(x, random, symmetric=drawn.is_symmetric) is Expected.UNKNOWN
    ):
        raise UsageError(
            f"{x.label}.sample_mean: its expectation is not known; give expectation=, a program of parameters and "
            f"weights{' or mean= to bs.draws' if drawn.mean is None else ''}"
        )
    if not (expectation is None or callable(expectation)):
        raise UsageError(f"{x.label}.sample_mean: expected a program as expectation, got {type(expectation).__name__}")
    return SampleMean(x, drawn, None if delta is None else as_number("probability of failure", delta), expectation)


def _varying(node: Expression) -> str:
    """What it takes of a prompt; "" for nothing."""
    if isinstance(node, Input):
        return "" if node.weight else node.name
    if isinstance(node, TokenOfLayer):
        return "" if node.of.weight else node.of.name
    if isinstance(node, Value):
        return node.name
    return node.matrix.name if isinstance(node, MatrixImage) and node.matrix.varies else ""
