"""Matrices: an exact one, and the approximate one in its place."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import sympy as sp
import torch

from bridge.domains import Box, Domain, Rows
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    name_of,
    require_name,
    require_shape,
    same,
)
from bridge.expressions.matrix_formulas import as_program, meaning_of
from bridge.expressions.matrix_norms import KINDS, Key, all_norms, domain_of, kind_of, norm_words
from bridge.limits.arguments import arguments_of
from bridge.lowering.formula import ArrayFunction
from symbolic.calculus import linear_map, perturbed_map
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError
from symbolic.words.prose import plain
from symbolic.words.shown import cut


@dataclass(frozen=True)
class Change:
    """How far the approximate matrix is from the exact one, by norms, and how it is made.

    `drawn` is the domain of the difference, where that is drawn; `made` gives the approximate matrix from the exact one
    (and the difference, if it is drawn) and parameters by name.
    """

    distances: Mapping[Key, sp.Expr]
    phrase: str  # with {0} for the matrix and {1} for the approximate one
    made: Callable[..., Any]
    letters: tuple[sp.Symbol, ...] = ()
    drawn: Domain | None = None

    def words(self, exact: str, near: str) -> str:
        """How the approximate matrix is made, by the texts of both."""
        return self.phrase.format(exact, near)


def _refusing(shown: str, instead: str) -> Callable[["Matrix", Any], NoReturn]:
    """What a matrix has no meaning for here, and what to write."""

    def refuse(matrix: "Matrix", other: Any) -> NoReturn:
        raise UsageError(f"{matrix.name}: {shown.format(matrix.name)}; write {instead.format(matrix.name)}")

    return refuse


class Matrix:
    """An m x n matrix, drawn once for a network, or, if it `varies`, with each prompt.

    It may be `given` as an array, or by a `program` from parameters and inputs.

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
        given: torch.Tensor | None = None,
        program: Callable[..., Any] | None = None,
        meaning: str = "",
        typed: Any = None,
    ) -> None:
        self.typed = typed
        self.varies, self.has_own_domain, self.given, self.program = varies, has_own_domain, given, program
        self.meaning = meaning
        self.name, self.rows, self.columns = (
            require_name(name),
            as_number("dimension", rows),
            as_number("dimension", columns),
        )
        self.norms, self.domain, self.change = dict(norms), domain, change
        self.layers = None if layers is None else as_number("number of layers", layers)

    def __repr__(self) -> str:
        known = {key: kind for kind, key in KINDS.items()}
        norms = [
            f"{known[key].replace('_', ' ')} at most {sp.sstr(x)}" for key, x in self.norms.items() if key in known
        ]
        words = "" if self.change is None else f"; {plain(self.change.words(self.name, self.approximate_name))}"
        layers = "" if self.layers is None else f", one for each of {self.layers} layers"
        return f"<{self.name}, {self.rows} x {self.columns} matrix{layers}: {cut(', '.join(norms))}{words}>"

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

    @property
    def changes(self) -> Domain | None:
        """The domain of the difference to the approximate one, of all layers; None where no domain is known."""
        within = None if self.change is None else self.change.distances.get(KINDS["entries"])
        if self.drawn_change is not None or within is None:
            return self.drawn_change
        return self._of_layers(Box(self.rows, self.columns, size=within))

    def _with(self, change: Change) -> "Matrix":
        if self.change is not None:
            raise UsageError(f"{self.name} is approximate already; take a matrix of another name")
        found = copy.copy(self)
        found.change = change
        return found

    def within(self, distance: Any, kind: str = "spectral") -> "Matrix":
        """Any matrix at most `distance` away in the norm of that kind: the difference is drawn, once for a network."""
        bound = as_number("distance", distance)
        drawn = domain_of(f"the change of {self.name}", self.rows, self.columns, {kind: bound})
        phrase = f"`{{1}}` is any matrix for which `{{1}} - {{0}}` has {norm_words(kind)} of at most `{sp.sstr(bound)}`"
        return self._with(Change({kind_of(kind): bound}, phrase, lambda exact, change: exact + change, drawn=drawn))

    # |W_hat - W| <= h in each entry, so that in each row it adds up to at most h n, in each column to h m, and the
    # Frobenius norm is at most h sqrt(m n). Equality: all entries h.
    def rounded(self, step: Any) -> "Matrix":
        """Each entry rounded to the nearest multiple of `step`."""
        grid = as_number("step of a grid", step)
        half, m, n, z = grid / 2, self.rows, self.columns, sp.Dummy("z", real=True)
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
            beside = [x.to(exact.dtype) if isinstance(x := known[s.name], torch.Tensor) else x for s in letters]
            return ArrayFunction(sp.floor(z / grid + sp.Rational(1, 2)) * grid, z, *letters)(exact, *beside)

        phrase = f"`{{1}}` is `{{0}}` with each entry rounded to the nearest multiple of `{sp.sstr(grid)}`"
        return self._with(Change(distances, phrase, made, letters))

    def __matmul__(self, x: Any) -> "MatrixImage":
        if not isinstance(x, Expression):
            raise UsageError(f"{self.name} @ {name_of(x)}: expected an expression, got {type(x).__name__}")
        return MatrixImage(self, x)

    __add__ = __radd__ = __sub__ = __rsub__ = _refusing("matrices are not added", "{0} @ x + B @ x")
    __mul__ = __rmul__ = __truediv__ = _refusing("a matrix is not scaled", "c * ({0} @ x)")
    __getitem__ = _refusing("a layer takes its own matrix by itself", "{0} @ x, and layers=N where it is made")

    def array(self, running: Running) -> Any:
        found = self.sides(running.array)[1] if running.approximate else self._exact(running.array)
        return found if self.layers is None else found[running.layer]

    def sides(self, array: Callable[[str], Any]) -> tuple[Any, Any]:
        """The exact and the approximate one, of arrays and parameters by name."""
        exact = self._exact(array)
        if self.change is None:
            return exact, exact
        return exact, self.approximate(array) if self.varies else array(self.approximate_name)

    def _exact(self, array: Callable[[str], Any]) -> Any:
        if self.program is None:
            return array(self.name)
        return self.program(**{name: array(name) for name in arguments_of(self.program)})

    def approximate(self, array: Callable[[str], Any]) -> Any:
        """The one in its place, made anew."""
        assert self.change is not None  # asked of approximate ones
        letters = {letter.name: array(letter.name) for letter in self.change.letters}
        drawn = [] if self.drawn_change is None else [array(self.change_name)]
        return self.change.made(self._exact(array), *drawn, **letters)

    @property
    def drawn(self) -> list[str]:
        """What is drawn: the matrix, and the difference of the one in its place."""
        return [self.name, *([] if self.drawn_change is None else [self.change_name])]


def matrix(
    name: str,
    rows: Any,
    columns: Any,
    /,
    *,
    domain: Domain | None = None,
    layers: Any = None,
    varies: bool = False,
    given: Any = None,
    meaning: str = "",
    typed: Any = None,
    **norms: Any,
) -> Matrix:
    """A matrix that is drawn once for a network (if it `varies`, with each prompt), with a bound on one norm or more:

        spectral    its largest singular value
        row_sums    the largest sum of absolute values in a row
        column_sums the same in a column
        row_norms   the largest 2-norm of a row
        entries     the largest absolute value of an entry
        total       the sum of all absolute values

    With several, or with `column_sums`, give the `domain` too, of which they have to be true. `layers=N`: one matrix
    for each layer of a repetition; without it a matrix is shared by all layers. `.rounded(step)` and
    `.within(distance)` give matrices that err.

    `given` is an array to be taken instead of a random one, (rows, columns) or (layers, rows, columns), such as a
    weight of a trained network; a program that makes one for each prompt, from parameters and inputs by name (`meaning`
    tells a reader what it makes); or a SymPy formula over `MatrixSymbol`s, which says that itself. A `typed` one is a
    parameter of its name with this default, such as 0.5 or "random:1": whoever runs the theorem types a number (of the
    identity), JSON or @FILE, and a square matrix gives the parameter that is its size. Its norms are letters of the
    matrix at hand. Raises UsageError for a matrix without a norm.
    """
    found = {kind: as_number(kind, bound) for kind, bound in norms.items()}
    sizes = {kind_of(kind): bound for kind, bound in found.items()}
    if not sizes:
        raise UsageError(f"{name}: no norm is bounded; give one of {', '.join(f'{each}=' for each in KINDS)}")
    if given is not None and (varies or domain is not None):
        raise UsageError(f"{name}: a given matrix is neither drawn from a domain nor varies; leave out the other one")
    if typed is not None:
        alone = not varies and all(each is None for each in (domain, layers, given))
        _require_typed(name, rows, columns, found, alone=alone)
    drawn = domain or (Box(rows, columns) if given is not None else domain_of(name, rows, columns, found))
    if callable(given) or isinstance(given, sp.MatrixExpr):
        program, words = as_program(name, given, (rows, columns)), meaning or meaning_of(name, given)
        return Matrix(name, rows, columns, sizes, drawn, layers, varies=True, program=program, meaning=words)
    array = None if given is None else _as_array(name, given, 2 if layers is None else 3)
    own = domain is not None
    return Matrix(
        name, rows, columns, sizes, drawn, layers,
        varies=varies, has_own_domain=own, given=array, meaning=meaning, typed=typed,
    )  # fmt: skip


def _require_typed(name: str, rows: Any, columns: Any, norms: Mapping[str, sp.Expr], *, alone: bool) -> None:
    if not alone or rows != columns or not isinstance(rows, sp.Symbol):
        raise UsageError(
            f"{name}: a typed matrix is square, of a size that is a letter, and one for all prompts and layers"
        )
    if others := [kind for kind, bound in norms.items() if not isinstance(bound, sp.Symbol)]:
        raise UsageError(f"{name}: {others[0]} is a norm of whatever is typed; give a letter of its own")


def _as_array(name: str, given: Any, axes: int) -> torch.Tensor:
    """In float64, detached. Raises UsageError for what is no array of real numbers with so many axes."""
    try:
        found = torch.as_tensor(given, dtype=torch.float64, device="cpu").detach().clone()
    except (TypeError, ValueError, RuntimeError):
        raise UsageError(f"{name}: given={given!r:.40}; give an array of numbers") from None
    if found.ndim != axes or not bool(found.isfinite().all()):
        raise UsageError(f"{name}: given has the shape {tuple(found.shape)}; give {axes} axes of finite numbers")
    return found


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
        matrix = self.matrix
        letters = matrix.change.letters if matrix.change is not None and matrix.varies else ()
        own = () if matrix.program is None else arguments_of(matrix.program)
        return (*own, *(letter.name for letter in letters))

    def run(self, running: Running) -> Any:
        x, found = running.value(self.parts[0]), self.matrix.array(running)
        return found @ x if self.count is None else x @ found.mT


def _times(factor: sp.Expr, size: sp.Expr | None) -> sp.Expr | None:
    return None if size is None else factor * size
