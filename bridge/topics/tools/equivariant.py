"""Permutation-equivariant polynomial maps of n tokens of d coordinates, exactly: their values, ranges and slopes.

Letters as in wu2024: Z1_2 is Z_{1,2}, the coordinate 1 of the token 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from jaxtyping import Float64

from bridge.questions.certify.reading import read_claim
from symbolic.words.errors import UsageError

Powers = tuple[int, ...]  # of all coordinates, token by token
Polynomial = tuple[tuple[Powers, Fraction], ...]
Token = Sequence[Fraction]


@dataclass(frozen=True)
class EquivariantMap:
    """The polynomials of each token and coordinate; those of the first token give all others."""

    n: int
    d: int
    tokens: tuple[tuple[Polynomial, ...], ...]

    def __call__(self, Z: Sequence[Token]) -> list[list[Fraction]]:
        z = [each for token in Z for each in token]
        return [[_value(each, z) for each in token] for token in self.tokens]

    def first(self, Z: Sequence[Token]) -> list[Fraction]:
        """The value of the first token."""
        z = [each for token in Z for each in token]
        return [_value(each, z) for each in self.tokens[0]]

    def floats(self, Z: Float64[np.ndarray, "*B n d"]) -> Float64[np.ndarray, "*B n d"]:
        z = Z.reshape(*Z.shape[:-2], self.n * self.d)
        found = np.zeros_like(z)
        for place, polynomial in enumerate(f for token in self.tokens for f in token):
            for powers, c in polynomial:
                used = np.flatnonzero(powers)
                found[..., place] += float(c) * (z[..., used] ** np.array(powers)[used]).prod(-1)
        return found.reshape(Z.shape)

    def first_range(self, low: Token, high: Token) -> tuple[Fraction, Fraction]:
        """An enclosure of the first coordinate of the first token on a box of numbers >= 0; exact for a linear map."""
        return _range(self.tokens[0][0], low, high)

    # J = I x (A_1 - A_2) + (1 1^T) x A_2 for a map of degree 1, where A_1 and A_2 are the blocks of the derivatives of
    # the first token by itself and by another; it acts as A_1 - A_2 where tokens add up to 0, and as A_1 + (n - 1) A_2
    # where they are equal. Of any degree, bounds U_1, U_2 of the entries of both blocks on the cube hold for all
    # tokens, and ||J|| <= || |J| ||. A norm is at most the root of the largest sum of a row times that of a column.
    def lipschitz(self, B: Fraction) -> sp.Expr:
        """Bound on the Lipschitz constant in the 2-norm on [0, B]^(d n); attained for d = 1 and degree 1."""
        cube = ([Fraction(0)] * (self.n * self.d), [B] * (self.n * self.d))
        own, other = (
            [[_range(_derivative(f, token * self.d + j), *cube) for j in range(self.d)] for f in self.tokens[0]]
            for token in (0, 1)
        )
        if all(low == high for row in (*own, *other) for low, high in row):
            A_1, A_2 = (np.array([[low for low, _ in row] for row in each]) for each in (own, other))
            matrices = [A_1 - A_2, A_1 + (self.n - 1) * A_2]
        else:
            U_1, U_2 = (np.array([[max(-low, high) for low, high in row] for row in each]) for each in (own, other))
            matrices = [U_1 + (self.n - 1) * U_2]
        return sp.sqrt(sp.Rational(max(abs(A).sum(0).max() * abs(A).sum(1).max() for A in matrices)))


def read_equivariant(text: str, n: int, d: int, call: str) -> EquivariantMap:
    """`others` (the mean of the others), the rows of a matrix over tokens, or polynomials. Raises UsageError."""
    tokens = _of_matrix(text, n, d) or _of_polynomials(text, n, d)
    if [len(token) for token in tokens] != [d] * n:
        unit = "; ".join(" ".join(str(int(i == n - 1 - j)) for j in range(n)) for i in range(n))
        raise UsageError(
            f"{call}: map = {text!r} is not 'others', nor {n} rows of {n} numbers such as {unit!r}, nor {n} rows of "
            f"{d} polynomials in Z1_1 to Z{d}_{n} (coordinate, token); rows end with ';', polynomials with ','."
        )
    found = EquivariantMap(n, d, tuple(tokens))
    for i, j in combinations(range(n), 2):
        if pair := _refuting_pair(found, i, j):
            Z, image, swapped, wanted, value = (_words(each) for each in pair)
            raise UsageError(
                f"{call}: map = {text!r} is not permutation equivariant: f{Z} = {image}, so that f{swapped} has to be "
                f"{wanted}, and it is {value}. Give row {j + 1} as row {i + 1} with these tokens exchanged; of "
                "matrices, A = a I + b J."
            )
    return found


def _of_matrix(text: str, n: int, d: int) -> list[tuple[Polynomial, ...]]:
    if text == "others":
        A = [[Fraction(int(i != j), n - 1) for j in range(n)] for i in range(n)]
    else:
        try:
            A = [[Fraction(entry) for entry in row.split()] for row in text.split(";")]
        except (ValueError, ZeroDivisionError):
            return []
        if [len(row) for row in A] != [n] * n:
            return []
    units = np.eye(n * d, dtype=int).reshape(n, d, n * d)
    linear = [[[(tuple(units[k, j].tolist()), a) for k, a in enumerate(row) if a] for j in range(d)] for row in A]
    return [tuple(tuple(f) for f in token) for token in linear]


def _of_polynomials(text: str, n: int, d: int) -> list[tuple[Polynomial, ...]]:
    letters = [sp.Symbol(f"Z{j}_{k}", real=True) for k in range(1, n + 1) for j in range(1, d + 1)]

    def read(formula: str) -> Polynomial:
        terms = sp.Poly(read_claim(formula.replace("^", "**"))[0], *letters, domain=sp.QQ).terms()
        return tuple((powers, Fraction(int(c.p), int(c.q))) for powers, c in terms if c)

    try:
        return [tuple(read(formula) for formula in row.split(",")) for row in text.split(";")]
    except (UsageError, sp.PolynomialError, sp.CoercionFailed):
        return []


# A polynomial that is not 0 does not vanish on a grid with more points along each letter than its degree there.
def _refuting_pair(f: EquivariantMap, i: int, j: int) -> tuple[Any, ...] | None:
    """Z, f(Z), Z with the tokens i and j exchanged, what f has to be there, and what it is; None if all is well."""

    def exchanged(tokens: Any) -> list[Any]:
        order = [j if k == i else i if k == j else k for k in range(f.n)]
        return [tokens[k] for k in order]

    letters = np.arange(f.n * f.d).reshape(f.n, f.d).tolist()
    order = [place for token in exchanged(letters) for place in token]
    moved = [[{tuple(e[place] for place in order): c for e, c in g} for g in token] for token in exchanged(f.tokens)]
    if moved == [[dict(g) for g in token] for token in f.tokens]:
        return None
    degree = max(max(e) for token in f.tokens for g in token for e, _ in g)
    for z in product(range(degree + 1), repeat=f.n * f.d):
        Z = [[Fraction(z[-1 - place]) for place in token] for token in letters]
        if f(exchanged(Z)) != exchanged(f(Z)):
            return Z, f(Z), exchanged(Z), exchanged(f(Z)), f(exchanged(Z))
    raise AssertionError("a polynomial that is not 0 vanishes on the grid")


def _words(Z: Sequence[Token]) -> str:
    if len(Z[0]) == 1:
        return f"({', '.join(str(z) for (z,) in Z)})"
    return f"({', '.join(_words([[z] for z in token]) for token in Z)})"


def _value(f: Polynomial, z: Token) -> Fraction:
    return sum((c * prod(x**e for x, e in zip(z, powers, strict=True) if e) for powers, c in f), start=Fraction(0))


def _derivative(f: Polynomial, place: int) -> Polynomial:
    return tuple(
        ((*powers[:place], powers[place] - 1, *powers[place + 1 :]), powers[place] * c)
        for powers, c in f
        if powers[place]
    )


# A product of powers grows with each letter, on numbers >= 0.
def _range(f: Polynomial, low: Token, high: Token) -> tuple[Fraction, Fraction]:
    """An enclosure on a box of numbers >= 0, term by term."""
    ends = [sorted(_value((term,), end) for end in (low, high)) for term in f]
    return sum((each[0] for each in ends), start=Fraction(0)), sum((each[1] for each in ends), start=Fraction(0))
