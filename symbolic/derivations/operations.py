"""What the steps of a derivation compute: a derivation is a program, and its readings run it (bridge/readings).

An operation names its operands by *handles*, which an instance binds to matrices, functions and numbers; premises are
those of the step, in their order. The last axis of a value holds the `dim` coordinates of the calculus; axes before it
are tokens. Numbers that the rule was given of the operands (a norm, a margin) are kept beside them, to be compared with
those of an instance; two operations compute the same whatever these are. A step without an operation is known by its
bound alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any

import sympy as sp

Handle = Annotated[str, "bound at an instance"]
Handles = Annotated[tuple[str, ...], "bound at an instance"]


@dataclass(frozen=True)
class Operation:
    """The operands of a step that are not its premises."""

    @property
    def handles(self) -> tuple[str, ...]:
        """The names that an instance has to bind."""
        one = (getattr(self, each.name) for each in fields(self) if each.type is Handle)
        several = (name for each in fields(self) if each.type is Handles for name in getattr(self, each.name))
        return tuple(name for name in (*one, *several) if name)


@dataclass(frozen=True)
class Unread(Operation):
    """A step of which no operand says what it computes; `why` says what is missing, in words."""

    why: str


def unnamed(*arguments: str) -> Unread:
    """Of a step whose rule got no handle by these arguments."""
    return Unread(f"without {' and '.join(f'{each}=' for each in arguments)} it names no operands")


@dataclass(frozen=True)
class Given(Operation):
    """A value that the instance binds: an array, or a pair (exact, approximate)."""

    name: Handle


@dataclass(frozen=True)
class Linear(Operation):
    """A x + b, or A^T x + b. A number in the place of A scales. Its norm from `source` to the step's is at most `norm`.

    A vector in the place of A gives its inner product with each token, as one vector over the tokens.
    """

    matrix: Handle
    norm: sp.Expr = field(compare=False)
    source: str = field(compare=False)
    transposed: bool = False
    bias: Handle = ""


@dataclass(frozen=True)
class PerturbedLinear(Operation):
    """A_hat x_hat against A x: A is a matrix, or a pair (exact, perturbed).

    In the norms from `source` to the step's, ||A|| <= `norm`, and the perturbed matrix is within `perturbation` of A.
    """

    matrix: Handle
    norm: sp.Expr
    perturbation: sp.Expr
    source: str


@dataclass(frozen=True)
class VectorMap(Operation):
    """F_hat(x_hat) against F(x), token by token; F is a function of vectors.

    ||F_hat - F|| <= `eps`, and F is Lipschitz with the constant `lipschitz` from the norm `source` to the step's.
    """

    function: Handle
    eps: sp.Expr
    lipschitz: sp.Expr
    source: str


@dataclass(frozen=True)
class Correction(Operation):
    """The exact value, as long as the error is at most `sigma`."""

    sigma: sp.Expr


@dataclass(frozen=True)
class Apply(Operation):
    """f(x, ...) coordinate by coordinate; `beside` are exact arrays of the shape of x.

    f_hat errs by at most `eps` on the domain of the rule, where f moves by at most c_1 |d| + c_2 |d|^2 + ... if its
    argument moves by d, for each c of `moves`: of one number, a Lipschitz constant.
    """

    function: Handle
    beside: Handles
    eps: sp.Expr
    moves: tuple[tuple[sp.Expr, ...], ...]


class ProductKind(StrEnum):
    """Which bilinear map: of two vectors, or the mean over the tokens of their outer products."""

    ENTRYWISE = "entrywise"
    INNER = "inner"
    MEAN_OUTER = "mean of outer products"


@dataclass(frozen=True)
class Product(Operation):
    """B(x, y). An outer product is flattened row by row: entry (i, k) is y_i x_k."""

    kind: ProductKind


@dataclass(frozen=True)
class Combination(Operation):
    """sum_i c_i x_i; the coefficients are evaluated at the letters of the instance."""

    coefficients: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class TokenMean(Operation):
    """The mean over the tokens."""


@dataclass(frozen=True)
class Concatenation(Operation):
    """(x_1, x_2, ...) along the coordinates."""


@dataclass(frozen=True)
class Restated(Operation):
    """The same value in another norm."""


@dataclass(frozen=True)
class Clip(Operation):
    """The projection onto the box [low, high], whose ends are numbers or arrays."""

    low: Handle
    high: Handle


@dataclass(frozen=True)
class SoftThreshold(Operation):
    """sign(x) max(|x| - t, 0); t is a number, or a pair (exact, approximate).

    Of a number that is bound alone, the approximate one is within `error`.
    """

    threshold: Handle
    error: sp.Expr


@dataclass(frozen=True)
class Softmax(Operation):
    """softmax of the scores."""


@dataclass(frozen=True)
class LinearSoftmax(Operation):
    """The linear weights (1 + s_i - mean s) / n, which softmax approximates; `half_range` of the scores s."""

    half_range: sp.Expr = field(compare=False)


class Second(StrEnum):
    """The head that is subtracted: none, one with scores 0, or one with the opposite scores (then both count half)."""

    NONE = "none"
    CONSTANT = "constant"
    OPPOSITE = "opposite"


@dataclass(frozen=True)
class SinkSoftmax(Operation):
    """e^C softmax(s) of the keys beside a sink of score C, less the `second` head; it approximates s, or 1 + s."""

    sink: sp.Expr
    second: Second


@dataclass(frozen=True)
class HardMax(Operation):
    """The unit vector of the largest score, which leads by at least `margin`.

    `inverse_temperature` is that of the softmax that approximates it, oo for none.
    """

    inverse_temperature: sp.Expr
    margin: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class Concentration(Operation):
    """The unit vector of the largest score, which softmax of the scores approximates; the scores are exact.

    Softmax gives the other keys at most the weight `lost`.
    """

    scores: Handle
    lost: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class Attention(Operation):
    """The averages of the values under the weights: weights (..., n), values (..., n, m)."""


@dataclass(frozen=True)
class Exclusion(Operation):
    """x, against (1 - w) x_hat + w v with one key too many: its value v (..., m), and w = 1 / (1 + sum_i e^(l_i)).

    l (..., n) are the leads of the n proper scores over that key's; w <= `leak`, ||v - x_hat|| <= `diameter`.
    """

    foreign: Handle
    leads: Handle
    leak: sp.Expr = field(compare=False)
    diameter: sp.Expr = field(compare=False)


@dataclass(frozen=True)
class Iteration(Operation):
    """`depth` steps that each multiply the error by the matrix A and add at most `offset`; the exact value stays.

    The norm of A is at most `factor`.
    """

    matrix: Handle
    factor: sp.Expr
    depth: sp.Expr
    offset: sp.Expr


@dataclass(frozen=True)
class Cases(Operation):
    """The first premise where `when` holds at the letters of the instance, the second elsewhere."""

    when: Any


def letters_in(thing: Any) -> set[sp.Symbol]:
    """The symbols in expressions, steps and operations, and in the derivations inside of these."""
    if isinstance(thing, sp.Basic):
        return set(thing.free_symbols)
    if isinstance(thing, Mapping | str) or not (is_dataclass(thing) or isinstance(thing, Iterable)):
        return set()
    parts = [getattr(thing, each.name) for each in fields(thing)] if is_dataclass(thing) else thing
    return set().union(*map(letters_in, parts))
