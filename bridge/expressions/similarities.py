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
from bridge.expressions.similarity_functions import OF_KERNELS, U, V, certified, function_of, whole_number
from bridge.lowering.ball_values import exact_ball
from bridge.lowering.formula import ArrayFunction
from bridge.lowering.grids import CertifiedKernel, KernelGrid, cheapest_grid, kernel_grid
from bridge.readings import Smooth
from numeric.balls import float_above
from symbolic import calculus
from symbolic.calculus.bilinear_interpolation import centred_error
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Approximated, Norm
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

EXTENSIONS: dict[str, Callable[..., "Similarity"]] = {}  # what methods do, of files that import this one


@dataclass(frozen=True)
class Similarity:
    """g(u, v) on [-radius, radius]^2, added up over the coordinates of a query and a key; beyond, of the nearest point.

    `multiplied` is the product over the coordinates, in the place of the sum. Without a `function` the parameter
    `given` is it. With `cells`, the network has a grid of hat functions in its place, of that `rank` (the whole one
    without).
    """

    name: str
    radius: float
    function: sp.Expr | None
    given: str = ""
    cells: sp.Expr | None = None
    rank: sp.Expr | None = None
    multiplied: bool = False

    __repr__ = brief

    def approximated(self, *, cells: Any = None, rank: Any = None, error: Any = None) -> "Similarity":
        """The same by two layers of `cells` + 1 ReLUs, one for queries and one for keys, and a product of `rank`.

        The ReLUs give the hat functions of a grid of cells of one width; the product is the best one of that rank for
        the values of g at the knots (without a rank: all of these values), and a constant. The error has two certified
        parts: what bends and kinks of g add in a cell, and what the rank leaves at the knots. In the place of cells and
        rank, an `error` (a number, of one coordinate) chooses the cheapest ones.

        A product over m coordinates has (rank + 1)^m features, each a product of m numbers.
        """
        if (cells is None) == (error is None):
            raise UsageError(f"{self.name}: give the number of cells, and a rank if you like, or an error")
        if error is not None:
            if self.function is None or rank is not None:
                raise UsageError(f"{self.name}: an error chooses cells and rank of a known function alone; give cells")
            cells, rank = cheapest_grid(certified(self.function, self.radius), float(as_number("error", error)))
        known = None if rank is None else as_number("rank", rank)
        return replace(self, cells=as_number("number of cells", cells), rank=known)

    def by_features(self, count: Any, *, delta: Any, cells: Any = None, terms: int = 8) -> "Similarity":
        """The same by a mean of `count` cosines of random frequencies: a network with one hidden layer.

        For a product over coordinates of an even function of u - v. Of one coordinate it is near `terms` cosines and a
        constant, with a certified error; their coefficients are the law of the frequencies, which are drawn once for a
        network. The bound holds with a probability of at least 1 - `delta` over the draw, for all queries and keys at
        once; it falls like `count`^(-1/2) and grows with the dimension m like sqrt(m log m) (where the coefficients
        add up to 1 in absolute value). With `cells` each cosine and sine is that of `cells` + 1 ReLUs. Raises
        UsageError for another g.
        """
        return EXTENSIONS["features"](self, count, delta=delta, cells=cells, terms=terms)

    @property
    def of_cosines(self) -> "Similarity":
        """Of random features: the drawn cosines themselves as the exact similarity, which the ReLUs alone miss.

        Its bounds hold surely. Raises UsageError without features, and without cells.
        """
        raise UsageError(f"{self.name}: it has no random features; give by_features(count, delta=, cells=)")

    def __call__(self, query: Any, keys: Any) -> "SimilarityScores":
        self._require_expressions(query, keys)
        return SimilarityScores(self, query, keys)

    def _require_expressions(self, *given: Any) -> None:
        for each in given:
            if not isinstance(each, Expression):
                raise UsageError(f"{self.name}: expected an expression of queries and one of keys, got {each!r:.40}")

    # In letters.

    def number(self, what: str) -> sp.Expr:
        """What is known of g: certified, or a letter."""
        letter = sp.Symbol(f"{OF_KERNELS[what][0]}_{self.given}", nonnegative=True)
        return letter if self.function is None else getattr(certified(self.function, self.radius), what)

    @property
    def residual(self) -> sp.Symbol:
        """The letter of what the rank leaves."""
        return sp.Symbol(f"rho_{self.name}", nonnegative=True)

    @property
    def eps(self) -> sp.Expr:
        """The error of one coordinate."""
        if self.cells is None:
            return sp.S.Zero
        width = 2 * sp.Rational(self.radius) / self.cells
        return centred_error(width, self.number("bends"), self.number("kinks")) + self.residual

    # |prod_i b_i - prod_i a_i| with |a_i| <= S and |b_i - a_i| <= e is at most (S + e)^m - S^m: expand the product of
    # all a_i + e_i. Equality: all a_i = S and b_i = S + e. A change of one coordinate by h moves the product by at most
    # S^(m-1) L h.
    def size_of(self, many: sp.Expr) -> sp.Expr:
        """At least the largest absolute value of a score of so many coordinates."""
        size = self.number("size")
        return size**many if self.multiplied else many * size

    def eps_of(self, many: sp.Expr) -> sp.Expr:
        """The error of a score of so many coordinates."""
        return self.power_error(many, self.eps) if self.multiplied and self.eps != 0 else many * self.eps

    def power_error(self, many: sp.Expr, eps: sp.Expr) -> sp.Expr:
        """That of a product whose factors err by eps."""
        return (self.number("size") + eps) ** many - self.number("size") ** many

    def slope_of(self, what: str, many: sp.Expr) -> sp.Expr:
        """The largest absolute slope of a score in one coordinate of the query or of the key."""
        return self.number(what) * (self.number("size") ** (many - 1) if self.multiplied else 1)

    @property
    def letters(self) -> dict[sp.Symbol, tuple[str, Program]]:
        """Each letter in words, and as a program of parameters."""
        own = OF_KERNELS.items() if self.function is None else ()
        found = {self.number(what): (words.format(g=self.given), self._number(what)) for what, (_, words) in own}
        if self.cells is not None:
            of = self.given or self.name
            words = f"of what the grid of `{self.name}` differs by from `{of}` at them"
            words = f"half the length of the range, over all pairs of knots, {words}"
            found[self.residual] = words, Program(self.takes, lambda known: self.grid(known).residual)
        return found

    def _number(self, what: str) -> Program:
        return Program([self.given], lambda known: float_above(exact_ball(getattr(self.kernel(known), what))))

    # At parameters.

    @property
    def takes(self) -> tuple[str, ...]:
        """The parameters that its programs take, by name."""
        return (*names_in(*self.knobs), *([self.given] if self.given else []))

    @property
    def knobs(self) -> tuple[sp.Expr, ...]:
        return tuple(each for each in (self.cells, self.rank) if each is not None)

    def kernel(self, known: Mapping[str, Any]) -> CertifiedKernel:
        function = function_of(known[self.given]) if self.function is None else self.function
        return certified(function, self.radius)

    def exact(self, query: Any, keys: Any, known: Mapping[str, Any]) -> Any:
        """(..., m) and (n, m) to (..., n)."""
        function = ArrayFunction(self.kernel(known).function, U, V)
        query, keys = (torch.clamp(each, -self.radius, self.radius) for each in (query, keys))
        each = function(query.unsqueeze(-2), keys)
        return torch.prod(each, -1) if self.multiplied else each.sum(-1)

    def grid(self, known: Mapping[str, Any]) -> KernelGrid:
        """At the numbers of its knobs."""
        cells, rank = (
            None if each is None else whole_number(self.name, each, known) for each in (self.cells, self.rank)
        )
        assert cells is not None  # asked of approximate ones
        found = kernel_grid(self.kernel(known), cells, rank)
        return replace(found, grid=replace(found.grid, multiplied=self.multiplied))

    def operand(self, known: Mapping[str, Any]) -> Smooth:
        """As readings of a derivation take it."""
        exact = lambda query, keys: self.exact(query, keys, known)  # noqa: E731
        return Smooth(exact, None if self.cells is None else self.grid(known).grid)


class SimilarityScores(Expression):
    """For each query the similarities to all keys, which are tokens."""

    def __init__(self, similarity: Similarity, query: Expression, keys: Expression) -> None:
        self.similarity, self.parts = similarity, (query, keys)
        fits = keys.count is not None and same(keys.dim, query.dim)
        require_shape("a similarity of keys with queries: tokens and one dimension are needed", fits, keys, query)
        self.dim, self.count, self.coordinates = keys.count or sp.S.One, query.count, keys.dim
        self.label = composed(f"{similarity.name}({query.label}, {keys.label})", "scores")

    # g(x, y), a sum or a product over i of g(x_i, y_i), moves by at most L sum_i |dx_i|, which the norm of dx bounds by
    # that of (1, ..., 1) in the dual norm.
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        g, many = self.similarity, asking.at(self.coordinates)
        slopes = {what: asking.at(g.slope_of(what, many)) for what in ("slope_u", "slope_v")}
        eps, size = asking.at(g.eps_of(many)), asking.at(g.size_of(many))
        yield from self._by_slopes(asking, slopes, size, eps, size + eps)

    def _by_slopes(
        self,
        asking: Asking,
        slopes: Mapping[str, sp.Expr],
        size: sp.Expr,
        eps: sp.Expr,
        largest: sp.Expr,
        deviation: Callable[[str], Approximated] | None = None,
    ) -> Iterator[Candidate]:
        """`largest` bounds what the network has in its place; a `deviation` is made anew for each name of a step."""
        g, many = self.similarity, asking.at(self.coordinates)
        norms = [Norm.INF] if many == 1 else list(Norm)
        for of_query in norms:
            for of_keys in norms:

                def rule(name: str, query: InNorm, keys: InNorm) -> InNorm:
                    u, v = (
                        slope * norm_of_ones(DUAL[each.value.norm], many)
                        for slope, each in zip(slopes.values(), (query, keys), strict=True)
                    )
                    value = calculus.apply_to_pairs(
                        query.value, keys.value, name, count=asking.at(self.dim), slopes=(u, v), size=size, eps=eps,
                        radius=sp.Rational(g.radius), function=g.name,
                        deviation=None if deviation is None else deviation(name),
                    )  # fmt: skip
                    return InNorm(value, largest)

                needs = ((self.parts[0], of_query), (self.parts[1], of_keys))
                yield Candidate(Norm.INF, f"{of_query} and {of_keys}", needs, rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return self.similarity.knobs

    @property
    def takes(self) -> tuple[str, ...]:
        return self.similarity.takes

    def run(self, running: Running) -> Any:
        query, keys = (running.value(part) for part in self.parts)
        known = {name: running.array(name) for name in self.takes}
        if not running.approximate or self.similarity.cells is None:
            return self.similarity.exact(query, keys, known)
        return self.similarity.grid(known).grid(query, keys)


DUAL = {Norm.INF: Norm.ONE, Norm.TWO: Norm.TWO, Norm.ONE: Norm.INF}


def similarity(
    f: Any = None, *, given: str = "", radius: Any = 1, name: str = "g", multiplied: bool = False
) -> Similarity:
    """A similarity of queries and keys: g(u, v) in SymPy, in the letters u and v or as a function of two symbols.

    Of vectors it is the sum over their coordinates, which lie in [-radius, radius], or (`multiplied`) the product:
    exp(-(u-v)^2/2) is then a Gaussian of vectors, exp(u v) the exponential of their inner product. `g(query, keys)` are
    the scores of tokens `keys`. Suprema of g and of its first and second derivatives, and its kinks, are certified
    there. In the place of f, `given` names a parameter that is text (`bs.Text`), which is read as such an f; several
    approximations of one take names. Raises UsageError for other letters, and for a function that is not known to be
    finite and Lipschitz continuous.
    """
    name = given if given and name == "g" else name
    require_name(name)
    within = as_number("radius", radius)
    if within.free_symbols or not (within > 0) == True or not within.is_finite:  # noqa: E712 - a relation of SymPy
        raise UsageError(f"similarity: radius={sp.sstr(within)}; give a positive number, within which coordinates lie")
    if (f is None) != bool(given):
        raise UsageError("similarity: give a function of u and v, or given=, the name of a parameter that is one")
    if f is not None:
        certified(function_of(f), float(within))
    return Similarity(name, float(within), None if f is None else function_of(f), given, multiplied=multiplied)
