"""Scores of keys by a similarity g(u, v) typed in SymPy, and hat functions of low rank in its place."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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
    require_name,
    require_shape,
    same,
)
from bridge.expressions.running import Program
from bridge.lowering.formula import ArrayFunction
from bridge.lowering.grids import CertifiedKernel, KernelGrid, kernel_grid
from bridge.readings import Smooth
from symbolic import calculus
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

U, V = sp.symbols("u v", real=True)


@dataclass(frozen=True)
class Similarity:
    """g(u, v) on [-radius, radius]^2, added up over the coordinates of a query and a key; beyond, of the nearest point.

    With `cells`, the network has a grid of hat functions in its place, of that `rank` (the whole one without).
    """

    kernel: CertifiedKernel
    name: str
    cells: sp.Expr | None = None
    rank: sp.Expr | None = None

    def approximated(self, *, cells: Any, rank: Any = None) -> "Similarity":
        """The same by two layers of `cells` + 1 ReLUs, one for queries and one for keys, and a product of `rank`.

        The ReLUs give the hat functions of a grid of cells of one width; the product is the best one of that rank for
        the values of g at the knots (without a rank: all of these values). The error has three parts, all certified:
        what g_uu and g_vv, or kinks, add in a cell; what the rank leaves at the knots; their centre is no part of it.
        """
        known = None if rank is None else as_number("rank", rank)
        return replace(self, cells=as_number("number of cells", cells), rank=known)

    def __call__(self, query: Any, keys: Any) -> "SimilarityScores":
        for each in (query, keys):
            if not isinstance(each, Expression):
                raise UsageError(f"{self.name}: expected an expression of queries and one of keys, got {each!r:.40}")
        return SimilarityScores(self, query, keys)

    @property
    def letter(self) -> sp.Symbol | None:
        """It stands for what the rank leaves; None without a grid."""
        return None if self.cells is None else sp.Symbol(f"rho_{self.name}", nonnegative=True)

    @property
    def eps(self) -> sp.Expr:
        """The error of one coordinate, in letters."""
        return sp.S.Zero if self.letter is None else self.kernel.interpolation_error(self.cells) + self.letter

    @property
    def knobs(self) -> tuple[sp.Expr, ...]:
        return tuple(each for each in (self.cells, self.rank) if each is not None)

    def exact(self, query: Any, keys: Any) -> Any:
        """(..., m) and (n, m) to (..., n)."""
        radius, of = self.kernel.radius, ArrayFunction(self.kernel.function, *self.kernel.variables)
        query, keys = (torch.clamp(each, -radius, radius) for each in (query, keys))
        return of(query.unsqueeze(-2), keys).sum(-1)

    def grid(self, known: Mapping[str, Any]) -> KernelGrid:
        """At the numbers of its knobs."""
        cells, rank = (None if each is None else _whole(self.name, each, known) for each in (self.cells, self.rank))
        assert cells is not None  # asked of approximate ones
        return kernel_grid(self.kernel, cells, rank)

    def operand(self, known: Mapping[str, Any]) -> Smooth:
        """As readings of a derivation take it."""
        return Smooth(self.exact, None if self.cells is None else self.grid(known).grid)

    @property
    def residual(self) -> Program:
        """What the rank leaves, a function of the knobs."""
        return Program(names_in(*self.knobs), lambda known: self.grid(known).residual)


def _whole(name: str, knob: sp.Expr, known: Mapping[str, Any]) -> int:
    found = knob.xreplace({letter: sp.sympify(int(known[letter.name])) for letter in knob.free_symbols})
    if not found.is_Integer:
        raise UsageError(f"{name}: {sp.sstr(knob)} is {found} here; a number of cells and a rank are whole")
    return int(found)


class SimilarityScores(Expression):
    """For each query the similarities to all keys, which are tokens."""

    def __init__(self, similarity: Similarity, query: Expression, keys: Expression) -> None:
        self.similarity, self.parts = similarity, (query, keys)
        fits = keys.count is not None and same(keys.dim, query.dim)
        require_shape("a similarity of keys with queries: tokens and one dimension are needed", fits, keys, query)
        self.dim, self.count, self.coordinates = keys.count or sp.S.One, query.count, keys.dim
        self.label = composed(f"{similarity.name}({query.label}, {keys.label})", "scores")

    # g(x, y) = sum_i g(x_i, y_i) moves by at most L sum_i |dx_i|, which the norm of dx bounds by that of (1, ..., 1) in
    # the dual norm.
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        g, many = self.similarity, asking.at(self.coordinates)
        eps, size = many * asking.at(g.eps), many * g.kernel.size
        norms = [Norm.INF] if many == 1 else list(Norm)
        for of_query in norms:
            for of_keys in norms:

                def rule(name: str, query: InNorm, keys: InNorm) -> InNorm:
                    slopes = tuple(
                        slope * norm_of_ones(DUAL[each.value.norm], many)
                        for slope, each in zip(g.kernel.lipschitz, (query, keys), strict=True)
                    )
                    numbers = {"count": asking.at(self.dim), "slopes": slopes, "size": size, "eps": eps}
                    value = calculus.apply_to_pairs(
                        query.value, keys.value, name, radius=sp.Rational(g.kernel.radius), function=g.name, **numbers
                    )
                    return InNorm(value, size + eps)

                needs = ((self.parts[0], of_query), (self.parts[1], of_keys))
                yield Candidate(Norm.INF, f"{of_query} and {of_keys}", needs, rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return self.similarity.knobs

    @property
    def takes(self) -> tuple[str, ...]:
        return names_in(*self.similarity.knobs)

    def run(self, running: Running) -> Any:
        query, keys = (running.value(part) for part in self.parts)
        if not running.approximate or self.similarity.cells is None:
            return self.similarity.exact(query, keys)
        known = {name: running.array(name) for name in self.takes}
        return self.similarity.grid(known).grid(query, keys)


DUAL = {Norm.INF: Norm.ONE, Norm.TWO: Norm.TWO, Norm.ONE: Norm.INF}


def similarity(f: Any, *, radius: Any = 1, name: str = "g") -> Similarity:
    """A similarity of queries and keys: g(u, v) in SymPy, in the letters u and v or as a function of two symbols.

    Of vectors it is the sum over their coordinates, which lie in [-radius, radius]. `g(query, keys)` are the scores of
    tokens `keys`. Suprema of g and of its first and second derivatives, and its kinks, are certified there. Raises
    UsageError for other letters, and for a function that is not known to be finite and Lipschitz continuous.
    """
    require_name(name)
    within = as_number("radius", radius)
    if within.free_symbols or not (within > 0) == True or not within.is_finite:  # noqa: E712 - a relation of SymPy
        raise UsageError(f"similarity: radius={sp.sstr(within)}; give a positive number, within which coordinates lie")
    return Similarity(CertifiedKernel(_formula(f), (U, V), float(within)), name)


def _formula(f: Callable[..., Any] | Any) -> sp.Expr:
    found = f if isinstance(f, sp.Expr) or not callable(f) else f(U, V)
    if not isinstance(found, sp.Expr):
        raise UsageError(f"similarity: expected a function of u and v in SymPy, got {type(found).__name__}")
    own = {letter: {"u": U, "v": V}[letter.name] for letter in found.free_symbols if letter.name in ("u", "v")}
    if others := sorted(str(letter) for letter in found.free_symbols if letter not in own):
        raise UsageError(
            f"similarity: {sp.sstr(found)} has the letter {', '.join(others)}; give a function of u and v alone, or "
            f"lambda u, v: ..."
        )
    expression: sp.Expr = found.xreplace(own)
    return expression
