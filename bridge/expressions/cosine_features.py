"""Scores by a product over coordinates of an even function of u - v, and random cosine features in its place."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bridge.expressions.expression import Asking, Candidate, Running, as_number, names_in
from bridge.expressions.running import Program
from bridge.expressions.similarities import EXTENSIONS, Similarity, SimilarityScores
from bridge.expressions.similarity_functions import whole_number
from bridge.lowering.cosine_sums import MOST_TERMS, ROUNDED, CosineSum, cosine_sum
from bridge.lowering.grids import MOST_CELLS
from bridge.readings import Smooth
from numeric.networks.cosine_features import cosine_scores
from symbolic.calculus.random_features import deviation_of_cosines, error_of_lines
from symbolic.derivations.derivation import Approximated
from symbolic.words.errors import UsageError

TERMS = 8
MOST_NUMBERS = 1 << 22  # of all features


@dataclass(frozen=True)
class FeatureSimilarity(Similarity):
    """A similarity with `count` random cosine features in its place, each by `cells` + 1 ReLUs if these are given.

    Of one coordinate it is near a sum of `terms` cosines and a constant, whose frequencies are drawn. `drawn`: the
    exact similarity is that of the drawn cosines, so that the ReLUs alone err.
    """

    count: sp.Expr = sp.S.One
    delta: sp.Expr | None = None
    terms: int = TERMS
    drawn: bool = False

    def __call__(self, query: Any, keys: Any) -> "FeatureScores":
        self._require_expressions(query, keys)
        return FeatureScores(self, query, keys)

    @property
    def of_cosines(self) -> "FeatureSimilarity":
        """The same with the drawn cosines themselves as the exact similarity. Raises UsageError without cells."""
        if self.cells is None:
            raise UsageError(f"{self.name}: its features are cosines, which nothing stands in the place of; give cells")
        return replace(self, delta=None, drawn=True)

    # In letters.

    @property
    def mass(self) -> sp.Symbol:
        return sp.Symbol(f"A_{self.name}", nonnegative=True)

    @property
    def largest(self) -> sp.Symbol:
        return sp.Symbol(f"omega_{self.name}", positive=True)

    @property
    def residual(self) -> sp.Symbol:
        """The letter of what the cosines leave of one coordinate."""
        return sp.Symbol(f"rho_{self.name}", nonnegative=True)

    @property
    def knobs(self) -> tuple[sp.Expr, ...]:
        return tuple(each for each in (self.cells, self.count, self.delta) if each is not None)

    @property
    def takes(self) -> tuple[str, ...]:
        known = (each for each in (self.cells, self.count) if each is not None)
        return (*names_in(*known), *self.of_function)

    @property
    def letters(self) -> dict[sp.Symbol, tuple[str, Program]]:
        of = f"`{self.terms}` cosines and a constant in the place of `{self.given or self.name}`, of one coordinate"
        own: dict[sp.Symbol, tuple[str, Callable[[CosineSum], float]]] = {
            self.mass: (
                f"sum of the absolute values of the coefficients of the {of}",
                lambda x: x.law.mass * (1 + ROUNDED),
            ),
            self.largest: (f"largest frequency of the {of}", lambda x: x.law.largest),
            self.residual: (f"largest error of the {of}", lambda x: x.error),
        }
        found = {s: (words, Program(self.of_function, _number(self, number))) for s, (words, number) in own.items()}
        of_kernel = {s: each for s, each in super().letters.items() if s != self.residual}
        return {**of_kernel, **found}

    @property
    def of_function(self) -> tuple[str, ...]:
        return (self.given,) if self.given else ()

    def relu_error(self, many: sp.Expr) -> sp.Expr:
        """What the ReLUs add to the scores of so many coordinates."""
        if self.cells is None:
            return sp.S.Zero
        return self.mass**many * error_of_lines(many * self.radius_exact * self.largest, self.cells)

    @property
    def radius_exact(self) -> sp.Rational:
        return sp.Rational(self.radius)

    # At parameters.

    def cosines(self, known: Mapping[str, Any]) -> CosineSum:
        return cosine_sum(self.kernel(known), self.terms)

    def operand(self, known: Mapping[str, Any]) -> Smooth:
        features = known[self.features]
        near = self._scores(features, known, approximate=True)
        return Smooth(self._scores(features, known, approximate=False), near)

    @property
    def features(self) -> str:
        """The name of the array of the drawn features."""
        return f"features_{self.name}"

    @property
    def randomness(self) -> str:
        return f"the draw of the features of `{self.name}`"

    def _scores(self, features: Any, known: Mapping[str, Any], *, approximate: bool) -> Callable[[Any, Any], Any]:
        if not approximate and not self.drawn:
            return lambda query, keys: self.exact(query, keys, known)
        cells = self._cells(known) if approximate else None
        law = self.cosines(known).law
        return lambda query, keys: cosine_scores(query, keys, features, law, self.radius, cells)

    # The chords of the circle are shorter than the bound says by h^4/192, h the width of a cell: for as many cells that
    # is more than what rounding the values at the knots adds.
    def _cells(self, known: Mapping[str, Any]) -> int | None:
        if self.cells is None:
            return None
        cells = whole_number(self.name, self.cells, known)
        if not 1 <= cells <= MOST_CELLS:
            raise UsageError(f"{self.name}: {cells} cells; give 1 to {MOST_CELLS}")
        return cells

    def scores(self, query: Any, keys: Any, running: Running) -> Any:
        known = {name: running.array(name) for name in self.takes}
        return self._scores(running.array(self.features), known, approximate=running.approximate)(query, keys)


def _number(of: FeatureSimilarity, number: Callable[[CosineSum], float]) -> Callable[[Mapping[str, Any]], float]:
    return lambda known: number(of.cosines(known))


class FeatureScores(SimilarityScores):
    """For each query the similarities to all keys, with a probability over the draw of the features."""

    similarity: FeatureSimilarity

    @property
    def drawn(self) -> Mapping[str, Program]:
        """The features, which are drawn once for a network, from parameters and a seed."""
        g, dim = self.similarity, self.coordinates

        def features(known: Mapping[str, Any]) -> Any:
            count, many = (whole_number(g.name, each, known) for each in (g.count, dim))
            if not count * many <= MOST_NUMBERS:
                raise UsageError(
                    f"{g.name}: {count} features of {many} coordinates; give at most {MOST_NUMBERS} numbers in all"
                )
            return g.cosines(known).law.draw(count, many, int(known["seed"]))

        return {g.features: Program([*names_in(g.count, dim), *g.of_function, "seed"], features)}

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        g, many = self.similarity, asking.at(self.coordinates)
        largest, of_relus = asking.at(g.mass**many), asking.at(g.relu_error(many))
        if g.drawn:
            slope = largest * asking.at(g.largest)
            yield from self._by_slopes(asking, {"slope_u": slope, "slope_v": slope}, largest, of_relus, largest)
            return
        slopes = {what: asking.at(g.slope_of(what, many)) for what in ("slope_u", "slope_v")}
        of_cosines = asking.at(g.power_error(many, g.residual))

        def deviation(name: str) -> Approximated:
            assert g.delta is not None  # of features that are drawn
            known = {"mass": g.mass, "largest": g.largest, "radius": g.radius_exact, "over": g.randomness}
            count, delta = asking.at(g.count), asking.at(g.delta)
            return deviation_of_cosines(f"{name}, features", count=count, dim=many, delta=delta, **known)

        size = asking.at(g.size_of(many))
        yield from self._by_slopes(asking, slopes, size, of_cosines + of_relus, largest, deviation)

    @property
    def takes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.similarity.takes, *names_in(self.coordinates))))

    def run(self, running: Running) -> Any:
        query, keys = (running.value(part) for part in self.parts)
        return self.similarity.scores(query, keys, running)


def by_features(
    similarity: Similarity, count: Any, *, delta: Any, cells: Any = None, terms: int = TERMS
) -> FeatureSimilarity:
    """`count` cosine features in the place of the similarity; see `Similarity.by_features`."""
    known = as_number("number of features", count), as_number("probability of failure", delta)
    if not isinstance(terms, int) or isinstance(terms, bool) or not 1 <= terms <= MOST_TERMS:
        raise UsageError(f"{similarity.name}: terms={terms!r:.40}; give a whole number of cosines, 1 to {MOST_TERMS}")
    if not similarity.multiplied:
        raise UsageError(
            f"{similarity.name}: features are those of a product over coordinates; give similarity(..., "
            f"multiplied=True), or cells and a rank for a sum"
        )
    many = None if cells is None else as_number("number of cells", cells)
    found = FeatureSimilarity(
        similarity.name, similarity.radius, similarity.function, similarity.given, many, multiplied=True,
        count=known[0], delta=known[1], terms=terms,
    )  # fmt: skip
    if found.function is not None:
        found.cosines({})
    return found


EXTENSIONS["features"] = by_features
