"""Matrices: an exact one, and the approximate one in its place."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import sympy as sp
import torch

from bridge.domains import Ball, Box, Domain, Rows, SingularValues
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    require_name,
    require_shape,
    same,
)
from bridge.lowering.formula import evaluate
from numeric.networks.norms import spectral_norm_upper
from symbolic.calculus import linear_map, perturbed_map
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

Key = tuple[Norm, Norm]  # from, to
ORDER = {Norm.ONE: 1, Norm.TWO: 2, Norm.INF: 3}
KINDS: Mapping[str, Key] = {
    "spectral": (Norm.TWO, Norm.TWO),
    "row_sums": (Norm.INF, Norm.INF),
    "column_sums": (Norm.ONE, Norm.ONE),
    "row_norms": (Norm.TWO, Norm.INF),
    "entries": (Norm.ONE, Norm.INF),
}


def _spectral(matrix: Any) -> float:
    """The largest of all layers, rounded up."""
    return max(spectral_norm_upper(each.cpu().numpy()) for each in matrix.reshape(-1, *matrix.shape[-2:]))


# Of a matrix, or of one for each layer (N, m, n); the spectral norm is computed once for a network (`is_built`).
NORMS: Mapping[Key, Callable[[Any], Any]] = {
    KINDS["spectral"]: _spectral,
    KINDS["row_sums"]: lambda matrix: abs(matrix).sum(-1).amax(),
    KINDS["column_sums"]: lambda matrix: abs(matrix).sum(-2).amax(),
    KINDS["row_norms"]: lambda matrix: torch.sqrt((matrix * matrix).sum(-1)).amax(),
    KINDS["entries"]: lambda matrix: abs(matrix).amax(),
}


@dataclass(frozen=True)
class Change:
    """How far the approximate matrix is from the exact one, by norms, and how it is made.

    `drawn` is the domain of the difference, where that is drawn; `made` gives the approximate matrix from the exact one
    (and the difference, if it is drawn) and parameters by name.
    """

    distances: Mapping[Key, sp.Expr]
    phrase: str  # with {0} for the name of the matrix
    made: Callable[..., Any]
    letters: tuple[sp.Symbol, ...] = ()
    drawn: Domain | None = None


def _refusing(shown: str, instead: str) -> Callable[["Matrix", Any], NoReturn]:
    """What a matrix has no meaning for here, and what to write."""

    def refuse(matrix: "Matrix", other: Any) -> NoReturn:
        raise UsageError(f"{matrix.name}: {shown.format(matrix.name)}; write {instead.format(matrix.name)}")

    return refuse


class Matrix:
    """An m x n matrix, drawn once for a network, or, if it `varies`, with each prompt.

    `layers` are as many of them, one for each layer of a repetition. `norms` bound it from one norm to another. With a
    `change` the network runs another one in its place.
    """

    def __init__(
        self,
        name: str,
        rows: Any,
        columns: Any,
        norms: Mapping[Key, sp.Expr],
        domain: Domain,
        layers: Any = None,
        change: Change | None = None,
        *,
        varies: bool = False,
        has_own_domain: bool = False,
    ) -> None:
        self.varies, self.has_own_domain = varies, has_own_domain
        self.name, self.rows, self.columns = (
            require_name(name),
            as_number("dimension", rows),
            as_number("dimension", columns),
        )
        self.norms, self.domain, self.change = dict(norms), domain, change
        self.layers = None if layers is None else as_number("number of layers", layers)

    def __repr__(self) -> str:
        return self.name

    @property
    def of_layers(self) -> Domain:
        """The domain of all layers."""
        return self._of_layers(self.domain)

    def _of_layers(self, one: Domain) -> Domain:
        return one if self.layers is None else Rows(self.layers, one)

    @property
    def approximate_name(self) -> str:
        return f"{self.name}_hat"

    @property
    def change_name(self) -> str:
        return f"d{self.name}"

    @property
    def drawn_change(self) -> Domain | None:
        return None if self.change is None or self.change.drawn is None else self._of_layers(self.change.drawn)

    def _with(self, change: Change) -> "Matrix":
        if self.change is not None:
            raise UsageError(f"{self.name} is approximate already; take a matrix of another name")
        found = copy.copy(self)
        found.change = change
        return found

    def within(self, distance: Any, kind: str = "spectral") -> "Matrix":
        """Any matrix at most `distance` away in the norm of that kind: the difference is drawn, once for a network."""
        bound = as_number("distance", distance)
        drawn = _domain(f"the change of {self.name}", self.rows, self.columns, {kind: bound})
        norm = f"{kind.replace('_', ' ')} norm of `{{0}}_hat - {{0}}`"
        phrase = f"`{{0}}_hat` is any matrix with a {norm} of at most `{sp.sstr(bound)}`"
        return self._with(Change({_kind(kind): bound}, phrase, lambda exact, change: exact + change, drawn=drawn))

    # |W_hat - W| <= h in each entry, so that in each row it adds up to at most h n, in each column to h m, and the
    # Frobenius norm is at most h sqrt(m n). Equality: all entries h.
    def rounded(self, step: Any) -> "Matrix":
        """Each entry rounded to the nearest multiple of `step`."""
        grid = as_number("step of a grid", step)
        half, m, n = grid / 2, self.rows, self.columns
        one, two, inf = Norm.ONE, Norm.TWO, Norm.INF
        distances = {
            (inf, inf): half * n,
            (one, one): half * m,
            (two, two): half * sp.sqrt(m * n),
            (one, inf): half,
            (two, inf): half * sp.sqrt(n),
            (one, two): half * sp.sqrt(m),
            (inf, two): half * n * sp.sqrt(m),
            (two, one): half * m * sp.sqrt(n),
            (inf, one): half * m * n,
        }
        letters = tuple(sorted(grid.free_symbols, key=str))

        def made(exact: Any, **known: Any) -> Any:
            multiple = float(evaluate(grid, {letter: known[letter.name] for letter in letters}))
            return torch.round(exact / multiple) * multiple

        phrase = f"`{{0}}_hat` is `{{0}}` with each entry rounded to the nearest multiple of `{sp.sstr(grid)}`"
        return self._with(Change(distances, phrase, made, letters))

    def __matmul__(self, x: Any) -> "MatrixImage":
        if not isinstance(x, Expression):
            raise UsageError(f"{self.name} @ {x!r:.40}: expected an expression, got {type(x).__name__}")
        return MatrixImage(self, x)

    __add__ = __radd__ = __sub__ = __rsub__ = _refusing("matrices are not added", "{0} @ x + B @ x")
    __mul__ = __rmul__ = __truediv__ = _refusing("a matrix is not scaled", "c * ({0} @ x)")
    __getitem__ = _refusing("a layer takes its own matrix by itself", "{0} @ x, and layers=N where it is made")

    def array(self, running: Running) -> Any:
        found = self.sides(running.array)[running.approximate]
        return found if self.layers is None else found[running.layer]

    def sides(self, array: Callable[[str], Any]) -> tuple[Any, Any]:
        """The exact and the approximate one, of arrays and parameters by name."""
        exact = array(self.name)
        if self.change is None:
            return exact, exact
        return exact, self.approximate(array) if self.varies else array(self.approximate_name)

    def approximate(self, array: Callable[[str], Any]) -> Any:
        """The one in its place, made anew."""
        assert self.change is not None  # asked of approximate ones
        letters = {letter.name: array(letter.name) for letter in self.change.letters}
        return self.change.made(*(array(name) for name in self.drawn), **letters)

    @property
    def drawn(self) -> list[str]:
        """What is drawn: the matrix, and the difference of the one in its place."""
        return [self.name, *([] if self.drawn_change is None else [self.change_name])]


# ||A||_(p', q') <= ||A||_(p, q) for p' <= p and q' >= q: the unit ball of the smaller norm holds less, and the larger
# exponent measures less.
def all_norms(known: Mapping[Key, sp.Expr]) -> dict[Key, sp.Expr]:
    """Every operator norm that these say something of."""
    found = dict(known)
    for (p, q), bound in known.items():
        for source in (each for each in Norm if ORDER[each] <= ORDER[p]):
            for target in (each for each in Norm if ORDER[each] >= ORDER[q]):
                found.setdefault((source, target), bound)
    return found


def matrix(
    name: str,
    rows: Any,
    columns: Any,
    /,
    *,
    domain: Domain | None = None,
    layers: Any = None,
    varies: bool = False,
    **norms: Any,
) -> Matrix:
    """A matrix that is drawn once for a network (if it `varies`, with each prompt), with a bound on one norm or more:

        spectral    its largest singular value
        row_sums    the largest sum of absolute values in a row
        column_sums the same in a column
        row_norms   the largest 2-norm of a row
        entries     the largest absolute value of an entry

    With several, or with `column_sums`, give the `domain` too, of which they have to be true. `layers=N`: one matrix
    for each layer of a repetition; without it a matrix is shared by all layers. `.rounded(step)` and
    `.within(distance)` give matrices that err. Raises UsageError for a matrix without a norm.
    """
    found = {kind: as_number(kind, bound) for kind, bound in norms.items()}
    sizes = {_kind(kind): bound for kind, bound in found.items()}
    if not sizes:
        raise UsageError(f"{name}: no norm is bounded; give one of {', '.join(f'{each}=' for each in KINDS)}")
    drawn = domain or _domain(name, rows, columns, found)
    return Matrix(name, rows, columns, sizes, drawn, layers, varies=varies, has_own_domain=domain is not None)


def _kind(kind: str) -> Key:
    if kind not in KINDS:
        raise UsageError(f"a matrix has no norm '{kind}'; it has: {', '.join(KINDS)}")
    return KINDS[kind]


def _domain(name: str, rows: Any, columns: Any, norms: Mapping[str, sp.Expr]) -> Domain:
    domains: Mapping[str, Callable[[Any], Domain]] = {
        "spectral": lambda bound: SingularValues(rows, columns, high=bound),
        "row_sums": lambda bound: Rows(rows, Ball(columns, norm=1, radius=bound)),
        "row_norms": lambda bound: Rows(rows, Ball(columns, radius=bound)),
        "entries": lambda bound: Box(rows, columns, size=bound),
    }
    if len(norms) > 1 or not set(norms) <= set(domains):
        raise UsageError(f"{name}: give domain=, a set of matrices in which {' and '.join(norms)} hold")
    ((kind, bound),) = norms.items()
    return domains[kind](bound)


class MatrixImage(Expression):
    """A x, token by token."""

    def __init__(self, matrix: Matrix, x: Expression) -> None:
        self.matrix, self.parts, self.dim, self.count = matrix, (x,), matrix.rows, x.count
        fits = same(matrix.columns, x.dim)
        require_shape(f"{matrix.name} has {matrix.columns} columns", fits, x)
        self.label = composed(f"{matrix.name} {x.label}", f"image by {matrix.name}")

    @property
    def handle(self) -> str:
        return self.matrix.name

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        norms, change = all_norms(self.matrix.norms), self.matrix.change
        near = {} if change is None else all_norms(change.distances)
        for key, bound in norms.items():
            if change is None or key in near:
                yield self._candidate(asking, key, bound, near.get(key))

    def _candidate(self, asking: Asking, key: Key, bound: sp.Expr, distance: sp.Expr | None) -> Candidate:
        source, target = key

        def rule(name: str, x: InNorm) -> InNorm:
            norm, dim = asking.at(bound), asking.at(self.dim)
            shared = {"operator_norm": norm, "dim": dim, "target": target, "matrix": self.handle}
            if distance is None:
                return InNorm(linear_map(x.value, name, **shared), _times(norm, x.approximate_size))
            change = asking.at(distance)
            value = perturbed_map(x.value, name, perturbation=change, **shared)
            return InNorm(value, _times(norm + change, x.approximate_size))

        return Candidate(target, f"from {source} to {target}", ((self.parts[0], source),), rule)

    @property
    def takes(self) -> tuple[str, ...]:
        change = self.matrix.change
        return () if change is None or not self.matrix.varies else tuple(letter.name for letter in change.letters)

    def run(self, running: Running) -> Any:
        x, found = running.value(self.parts[0]), self.matrix.array(running)
        return found @ x if self.count is None else x @ found.mT


def _times(factor: sp.Expr, size: sp.Expr | None) -> sp.Expr | None:
    return None if size is None else factor * size
