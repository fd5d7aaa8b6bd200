"""Expressions over arrays whose sizes are letters, each with its value by plain loops over mpmath's numbers."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

n, m, i, j, k, l = sp.symbols("n m i j k l", integer=True)  # noqa: E741
q = sp.Symbol("q", integer=True, nonnegative=True)
t = sp.Symbol("t", real=True)
a, b, M, W, T, p = (sp.IndexedBase(name) for name in ("a", "b", "M", "W", "T", "p"))
a_n = sp.IndexedBase("a", shape=(n,))
M_nm = sp.IndexedBase("M", shape=(n, m))
A, B, Q = sp.MatrixSymbol("A", n, m), sp.MatrixSymbol("B", n, m), sp.MatrixSymbol("Q", n, n)
C, R = sp.MatrixSymbol("C", m, n), sp.MatrixSymbol("R", n, n)
x, y, z = sp.MatrixSymbol("x", n, 1), sp.MatrixSymbol("y", n, 1), sp.MatrixSymbol("z", m, 1)
D = sp.MatrixSymbol("D", 2 * n, m + 1)
I = sp.Identity(n)  # noqa: E741

SMALL, LARGE = {"n": 3, "m": 2}, {"n": 40, "m": 3}  # large ones are computed by loops
Reference = Callable[..., Any]


@dataclass(frozen=True)
class SizedCase:
    """`arrays`: the sizes of each, in letters; `reference` takes lists of numbers by name; `most`: of n."""

    expr: Any
    arrays: dict[str, str]
    reference: Reference
    numbers: tuple[str, ...] = ()
    most: int = 40

    def __str__(self) -> str:
        return str(self.expr).replace(" ", "")[:60]

    def point(self, seed: int, sizes: dict[str, int]) -> dict[str, Any]:
        """Numbers from [-2, 2]; of an array of whole numbers, named p, a permutation."""
        rng = np.random.default_rng(seed)
        sizes = {**sizes, "n": min(sizes["n"], self.most)}
        found: dict[str, Any] = {}
        for name, shape in self.arrays.items():
            whole = tuple(int(sp.sympify(each, locals=sizes)) for each in shape.split(","))
            found[name] = rng.permutation(whole[0]).tolist() if name == "p" else rng.uniform(-2, 2, whole).tolist()
        return found | {name: float(rng.uniform(0.2, 2)) for name in self.numbers}

    def value(self, point: dict[str, Any], digits: int = 60) -> Any:
        """A number, or rows of them."""
        with mp.workdps(digits):
            return self.reference(**{name: exactly(value) for name, value in point.items()})


def exactly(value: Any) -> Any:
    return [exactly(each) for each in value] if isinstance(value, list) else mp.mpf(value)


# by loops


def mul(F: Any, *others: Any) -> Any:
    for G in others:
        F = [[mp.fsum(row[s] * G[s][c] for s in range(len(G))) for c in range(len(G[0]))] for row in F]
    return F


def tr(F: Any) -> Any:
    return [list(column) for column in zip(*F, strict=True)]


def plus(F: Any, G: Any, by: Any = 1) -> Any:
    return [[s + by * u for s, u in zip(row, other, strict=True)] for row, other in zip(F, G, strict=True)]


def times(F: Any, G: Any) -> Any:
    return [[s * u for s, u in zip(row, other, strict=True)] for row, other in zip(F, G, strict=True)]


def by(number: Any, F: Any) -> Any:
    return [[number * s for s in row] for row in F]


def trace(F: Any) -> Any:
    return mp.fsum(F[r][r] for r in range(len(F)))


def one(size: int) -> Any:
    return [[mp.mpf(r == c) for c in range(size)] for r in range(size)]


def det(F: Any) -> Any:
    """By Leibniz' formula."""
    total = mp.mpf(0)
    for places in itertools.permutations(range(len(F))):
        inversions = sum(places[r] > places[s] for r in range(len(F)) for s in range(r + 1, len(F)))
        total += (-1) ** inversions * mp.fprod(F[r][c] for r, c in enumerate(places))
    return total


def inv(F: Any) -> Any:
    """By Cramer's rule."""
    size = len(F)

    def minor(r: int, c: int) -> Any:
        return [[F[s][u] for u in range(size) if u != c] for s in range(size) if s != r]

    whole = det(F)
    return [[(-1) ** (r + c) * det(minor(c, r)) / whole for c in range(size)] for r in range(size)]


def S(values: Any) -> Any:
    return mp.fsum(values)


def over(F: Any) -> range:
    return range(len(F))


def pairs(F: Any) -> Any:
    return itertools.product(range(len(F)), range(len(F[0])))


VECTORS, MATRIX, SQUARE = {"a": "n", "b": "n"}, {"M": "n,m"}, {"M": "n,n"}
VECTOR = {"a": "n"}
to_n, to_m = (i, 0, n - 1), (j, 0, m - 1)

INDEXED = [
    SizedCase(sp.Sum(a[i], to_n), VECTOR, lambda a: S(a)),
    SizedCase(sp.Sum(a[i] * b[i], to_n), VECTORS, lambda a, b: S(a[s] * b[s] for s in over(a))),
    SizedCase(sp.Sum(a[i] ** 2, to_n) / n, VECTOR, lambda a: S(s * s for s in a) / len(a)),
    SizedCase(sp.sqrt(sp.Sum(a[i] ** 2, to_n)), VECTOR, lambda a: mp.sqrt(S(s * s for s in a))),
    SizedCase(sp.Sum(sp.Abs(a[i] - b[i]), to_n), VECTORS, lambda a, b: S(abs(a[s] - b[s]) for s in over(a))),
    SizedCase(sp.Product(1 + a[i] ** 2, to_n), VECTOR, lambda a: mp.fprod(1 + s * s for s in a)),
    SizedCase(sp.log(sp.Sum(sp.exp(a[i]), to_n)), VECTOR, lambda a: mp.log(S(mp.exp(s) for s in a))),
    SizedCase(sp.exp(a_n[0]) / sp.Sum(sp.exp(a_n[i]), to_n), VECTOR, lambda a: mp.exp(a[0]) / S(mp.exp(s) for s in a)),
    SizedCase(sp.Sum((a[i] - sp.Sum(a[j], (j, 0, n - 1)) / n) ** 2, to_n) / n, VECTOR,
              lambda a: S((s - S(a) / len(a)) ** 2 for s in a) / len(a)),
    SizedCase(sp.Sum(a[i + 1] - a[i], (i, 0, n - 2)), VECTOR, lambda a: a[-1] - a[0]),
    SizedCase(sp.Sum((a[i + 1] - a[i]) ** 2, (i, 0, n - 2)), VECTOR,
              lambda a: S((a[s + 1] - a[s]) ** 2 for s in range(len(a) - 1))),
    SizedCase(sp.Sum(i * a[i], to_n), VECTOR, lambda a: S(s * a[s] for s in over(a))),
    SizedCase(sp.Sum(a_n[n - 1 - i] * t**i, to_n), VECTOR, lambda a, t: S(s * t**e for e, s in enumerate(a[::-1])),
              numbers=("t",)),
    SizedCase(a_n[n - 1] - a_n[0], VECTOR, lambda a: a[-1] - a[0]),
    SizedCase(sp.Sum(a_n[2 * i], (i, 0, sp.floor((n - 1) / 2))), VECTOR, lambda a: S(a[::2])),
    SizedCase(sp.Sum(a_n[sp.floor(i / 2)] * a_n[i], to_n), VECTOR, lambda a: S(a[s // 2] * a[s] for s in over(a))),
    SizedCase(sp.Sum(a_n[sp.Mod(i + 1, n)] * a_n[i], to_n), VECTOR,
              lambda a: S(a[(s + 1) % len(a)] * a[s] for s in over(a))),
    SizedCase(sp.Sum(a_n[sp.Max(i - 1, 0)] * a_n[i], to_n), VECTOR,
              lambda a: S(a[max(s - 1, 0)] * a[s] for s in over(a))),
    SizedCase(sp.Sum(sp.Piecewise((a_n[i - 1], i > 0), (0, True)) * a_n[i], to_n), VECTOR,
              lambda a: S(a[s - 1] * a[s] for s in range(1, len(a)))),
    SizedCase(sp.Sum(sp.Piecewise((a_n[i] / a_n[i + 1], i < n - 1), (1, True)), to_n), VECTOR,
              lambda a: 1 + S(a[s] / a[s + 1] for s in range(len(a) - 1))),
    SizedCase(sp.Sum(sp.KroneckerDelta(i, 1) * a[i], to_n), VECTOR, lambda a: a[1]),
    SizedCase(sp.Sum(a[i] * b[j], to_n, (j, 0, n - 1)), VECTORS, lambda a, b: S(a) * S(b)),
    SizedCase(sp.Sum(a_n[i] * a_n[j] * (i - j), (j, 0, i), to_n), VECTOR,
              lambda a: S(a[s] * a[u] * (s - u) for s in over(a) for u in range(s + 1))),
    SizedCase(sp.Sum(sp.Product(a_n[j], (j, 0, i)), to_n), VECTOR,
              lambda a: S(mp.fprod(a[: s + 1]) for s in over(a)), most=9),
    SizedCase(sp.Sum(a[i] * sp.Product(b[j], (j, i + 1, n - 1)), to_n), VECTORS,
              lambda a, b: S(a[s] * mp.fprod(b[s + 1 :]) for s in over(a)), most=34),
    SizedCase(sp.Sum(a[p[i]] * b[i], to_n), {**VECTORS, "p": "n"},
              lambda a, b, p: S(a[int(p[s])] * b[s] for s in over(a))),
    SizedCase(sp.Sum(sp.Max(a[i], 0), to_n), VECTOR, lambda a: S(max(s, 0) for s in a)),
    SizedCase(sp.tanh(t * sp.Sum(a[i] * b[i], to_n) / sp.sqrt(n)), VECTORS,
              lambda a, b, t: mp.tanh(t * S(a[s] * b[s] for s in over(a)) / mp.sqrt(len(a))), numbers=("t",)),
    SizedCase(sp.Sum(M[i, j], to_m, to_n), MATRIX, lambda M: S(map(S, M))),
    SizedCase(sp.Sum(M[i, j] * b[j] * a[i], to_m, to_n), {**MATRIX, "a": "n", "b": "m"},
              lambda M, a, b: S(M[r][c] * a[r] * b[c] for r, c in pairs(M))),
    SizedCase(sp.Sum(sp.Sum(M[i, j] * b[j], to_m) ** 2, to_n), {**MATRIX, "b": "m"},
              lambda M, b: S(S(M[r][c] * b[c] for c in over(b)) ** 2 for r in over(M))),
    SizedCase(sp.Sum(M[0, j] * b[j], to_m), {**MATRIX, "b": "m"}, lambda M, b: S(M[0][c] * b[c] for c in over(b))),
    SizedCase(sp.Sum(M[i, i], to_n), SQUARE, lambda M: trace(M)),
    SizedCase(sp.Sum(M[i, j] * M[j, i], to_n, (j, 0, n - 1)), SQUARE,
              lambda M: S(M[r][c] * M[c][r] for r, c in pairs(M)), most=12),
    SizedCase(sp.sqrt(sp.Sum(M_nm[i, j] ** 2, to_m, to_n)) / (n * m), MATRIX,
              lambda M: mp.sqrt(S(s * s for row in M for s in row)) / (len(M) * len(M[0]))),
    SizedCase(sp.Sum(M[i, k] * W[k, j] * a[i] * b[j], to_n, to_m, (k, 0, l - 1)),
              {"M": "n,2", "W": "2,m", "a": "n", "b": "m"},
              lambda M, W, a, b: S(M[r][h] * W[h][c] * a[r] * b[c] for r in over(a) for h in over(W) for c in over(b))),
    SizedCase(sp.Sum(T[i, j, k] * a[i], to_n, to_m, (k, 0, 1)), {"T": "n,m,2", "a": "n"},
              lambda T, a: S(T[r][c][h] * a[r] for r in over(a) for c in over(T[0]) for h in range(2))),
    SizedCase(sp.Sum(T[i, j, i] * t, to_n, to_m), {"T": "n,m,n"},
              lambda T, t: t * S(T[r][c][r] for r in over(T) for c in over(T[0])), numbers=("t",)),
    SizedCase(sp.Sum(T[0, i, j, 1], to_n, to_m), {"T": "1,n,m,2"},
              lambda T: S(T[0][r][c][1] for r in over(T[0]) for c in over(T[0][0]))),
    SizedCase(sp.Matrix([[sp.Sum(a[i], to_n), n], [t, a[0]]]), VECTOR, lambda a, t: [[S(a), len(a)], [t, a[0]]],
              numbers=("t",)),
    SizedCase(sp.Piecewise((sp.Sum(a[i], to_n), t > 1), (sp.Sum(a[i] ** 2, to_n), True)), VECTOR,
              lambda a, t: S(a) if t > 1 else S(s * s for s in a), numbers=("t",)),
    SizedCase(sp.Sum(a[i], to_n) > 0, VECTOR, lambda a: S(a) > 0),
]  # fmt: skip

COLUMN, COLUMNS, RECTANGLE = {"x": "n,1"}, {"x": "n,1", "y": "n,1"}, {"A": "n,m"}
FEW = 4  # rows of matrices that are inverted

MATRICES = [
    SizedCase(A * z, {"A": "n,m", "z": "m,1"}, lambda A, z: mul(A, z)),
    SizedCase(A.T * A, RECTANGLE, lambda A: mul(tr(A), A)),
    SizedCase(A * A.T / m, RECTANGLE, lambda A: by(mp.mpf(1) / len(A[0]), mul(A, tr(A)))),
    SizedCase(x.T * x / n, COLUMN, lambda x: by(mp.mpf(1) / len(x), mul(tr(x), x))),
    SizedCase((x.T * y)[0, 0], COLUMNS, lambda x, y: mul(tr(x), y)[0][0]),
    SizedCase(sp.sqrt((x.T * x)[0, 0]) / n, COLUMN, lambda x: mp.sqrt(mul(tr(x), x)[0][0]) / len(x)),
    SizedCase(x * y.T - y * x.T, COLUMNS, lambda x, y: plus(mul(x, tr(y)), mul(y, tr(x)), -1)),
    SizedCase(A + 2 * B, {"A": "n,m", "B": "n,m"}, lambda A, B: plus(A, B, 2)),
    SizedCase(A * C * x, {"A": "n,m", "C": "m,n", "x": "n,1"}, lambda A, C, x: mul(A, C, x)),
    SizedCase(sp.Trace(A * C), {"A": "n,m", "C": "m,n"}, lambda A, C: trace(mul(A, C))),
    SizedCase(sp.sqrt(sp.Trace(A.T * A)), RECTANGLE, lambda A: mp.sqrt(S(s * s for row in A for s in row))),
    SizedCase(sp.Trace(Q) / n, {"Q": "n,n"}, lambda Q: trace(Q) / len(Q)),
    SizedCase(sp.Determinant(Q), {"Q": "n,n"}, lambda Q: det(Q), most=5),
    SizedCase(sp.Determinant(Q * Q.T + I), {"Q": "n,n"}, lambda Q: det(plus(mul(Q, tr(Q)), one(len(Q)))), most=5),
    SizedCase(sp.log(sp.Determinant(A * A.T + I)) / n, RECTANGLE,
              lambda A: mp.log(det(plus(mul(A, tr(A)), one(len(A))))) / len(A), most=5),
    SizedCase((Q * Q.T + I).I, {"Q": "n,n"}, lambda Q: inv(plus(mul(Q, tr(Q)), one(len(Q)))), most=FEW),
    SizedCase((Q * Q.T + I).I * x, {"Q": "n,n", "x": "n,1"},
              lambda Q, x: mul(inv(plus(mul(Q, tr(Q)), one(len(Q)))), x), most=FEW),
    SizedCase(x.T * (Q * Q.T + n * I).I * x, {"Q": "n,n", "x": "n,1"},
              lambda Q, x: mul(tr(x), inv(plus(mul(Q, tr(Q)), one(len(Q)), len(Q))), x), most=FEW),
    SizedCase((A.T * A + t * sp.Identity(m)).I * A.T * x, {"A": "n,m", "x": "n,1"},
              lambda A, x, t: mul(inv(plus(mul(tr(A), A), one(len(A[0])), t)), tr(A), x), numbers=("t",)),
    SizedCase(sp.HadamardProduct(A, B), {"A": "n,m", "B": "n,m"}, lambda A, B: times(A, B)),
    SizedCase(sp.HadamardPower(A, 2), RECTANGLE, lambda A: times(A, A)),
    SizedCase(sp.Trace(sp.HadamardProduct(Q, R).T * Q), {"Q": "n,n", "R": "n,n"},
              lambda Q, R: trace(mul(tr(times(Q, R)), Q)), most=9),
    SizedCase(Q**3, {"Q": "n,n"}, lambda Q: mul(Q, Q, Q)),
    SizedCase(sp.KroneckerProduct(A, z), {"A": "n,m", "z": "m,1"},
              lambda A, z: [[s * u[0] for s in row] for row in A for u in z]),
    SizedCase(A - sp.OneMatrix(n, n) * A / n, RECTANGLE,
              lambda A: [[A[r][c] - S(row[c] for row in A) / len(A) for c in over(A[0])] for r in over(A)]),
    SizedCase(A, RECTANGLE, lambda A: A),
    SizedCase(D * D.T * t, {"D": "2*n,m+1"}, lambda D, t: by(t, mul(D, tr(D))), numbers=("t",)),
    SizedCase(sp.Trace(D.T * D) / (n + m), {"D": "2*n,m+1"},
              lambda D: S(s * s for row in D for s in row) / (len(D) // 2 + len(D[0]) - 1)),
    SizedCase(sp.Sum(A[i, j] * z[j, 0] * x[i, 0], to_m, to_n), {"A": "n,m", "z": "m,1", "x": "n,1"},
              lambda A, z, x: S(A[r][c] * z[c][0] * x[r][0] for r, c in pairs(A))),
    SizedCase(sp.Sum(sp.Abs(A[i, j]), to_m, to_n), RECTANGLE, lambda A: S(abs(s) for row in A for s in row)),
    SizedCase(sp.Sum((A * z)[i, 0] ** 2, to_n) / n, {"A": "n,m", "z": "m,1"},
              lambda A, z: S(s[0] ** 2 for s in mul(A, z)) / len(A), most=9),
    SizedCase(A[n - 1, m - 1] - A[0, 0], RECTANGLE, lambda A: A[-1][-1] - A[0][0]),
    SizedCase(sp.exp(-sp.Trace(A.T * A)) * sp.Sum(a[i] * x[i, 0], to_n), {"A": "n,m", "a": "n", "x": "n,1"},
              lambda A, a, x: mp.exp(-S(s * s for row in A for s in row)) * S(a[r] * x[r][0] for r in over(a))),
    SizedCase(sp.Trace((Q + Q.T) ** 2) / 2 - sp.Trace(Q * Q), {"Q": "n,n"},
              lambda Q: S(s * s for row in Q for s in row), most=12),
]  # fmt: skip

CASES = [*INDEXED, *MATRICES]
