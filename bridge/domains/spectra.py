"""Matrices given by their singular values.

Shapes: B matrices of m rows and n columns; k = min(m, n) singular values each; l = max(m, n).
"""

import math
from dataclasses import dataclass
from typing import Any

import flint
import sympy as sp
import torch
from jaxtyping import Float64
from torch import Tensor

from bridge.domains.domain import Call, Domain, as_dimension, as_size, per_element
from bridge.domains.notation import Element, Notation
from bridge.domains.rounding import (
    ball_of,
    dtype_name,
    exact_entries,
    largest_below,
    require_held,
    shown,
    smallest_above,
    written,
)
from bridge.domains.vectors import FLOAT64, flattened, gaussians, normalised, signs, smallest_step
from numeric.balls import BallArray, working_precision
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

ENCLOSURE_BITS = 256
CORNER_KINDS = 4  # divides CORNER_CYCLE


@dataclass(frozen=True, init=False, repr=False)
class SingularValues(Domain):
    """SingularValues(rows, columns, low=0, high=1): every singular value is in [low, high].

    A matrix is inside only if enclosures of its singular values in ball arithmetic prove it. An interval that is not
    wider than 4 r has the tolerance r = 2 sqrt(k) high (eps + (m n + 8) 2^-52), eps of the tensor's dtype, plus two
    spacings of the numbers next to 0 times sqrt(m n). The projection lands r inside and leaves what is r/2 inside.

    `bound` in the 1-norm is attained where l is a multiple of a power of two that is at least k. Elsewhere it need not
    be: the entries of a 3 x 3 matrix add up to at most 5 high, the bound is sqrt(27) high.
    """

    low: sp.Expr
    high: sp.Expr

    def __init__(self, rows: Any, columns: Any, low: Any = 0, high: Any = 1) -> None:
        shape = (as_dimension(rows, least=1), as_dimension(columns, least=1))
        ends = as_size("lower end", low), as_size("upper end", high)
        if (ends[1] - ends[0]).is_negative:
            raise UsageError(f"SingularValues: low = {written(ends[0])} exceeds high = {written(ends[1])}")
        self._set(shape=shape, low=ends[0], high=ends[1])

    def _call(self) -> Call:
        return self.shape, {"low": self.low, "high": self.high}

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Singular vectors uniform (Haar), singular values independent and uniform in [low, high]."""
        left, right = self._random_vectors(count, generator)
        share = torch.rand(count, self._least, generator=generator, dtype=torch.float64, device="cpu")  # (B, k)
        return self.project(_assembled(left, self._between(share), right))

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """In turn: all values high, in coordinate directions; all high, entries equal up to sign; all low; mixed.

        The first two have the largest inf-, 2- and 1-norms. The last two have random singular vectors.
        """
        left, right = self._random_vectors(count, generator)
        chosen = torch.randint(
            0, 2, (count, self._least), generator=generator, dtype=torch.int64, device="cpu"
        ).double()  # (B, k)
        kind = torch.arange(count, dtype=torch.int64, device="cpu") % CORNER_KINDS
        rough = _assembled(left, self._between(torch.where(kind[:, None] == 2, 0.0, chosen)), right)
        flips = signs(count, self.entries, generator).view(count, *self.dims)
        aligned = self._polar(flips[:, :, :1] * _diagonal(*self.dims))
        flat = self._polar(flips[:, :, :1] * flips[:, :1] * _equal_entries(*self.dims))
        kind = kind.view(per_element(count, rough))
        return self.project(torch.where(kind == 0, aligned, torch.where(kind == 1, flat, rough)))

    def project(self, x: Tensor) -> Tensor:
        """Singular values clamped: up to r the nearest element, by the theorem of Mirsky; one of them if not unique."""
        self.require_batch(x)
        require_held(self.high, x.dtype)
        points = flattened(x, self.entries)  # (B, m n)
        undefined = points.isnan().any(1)  # (B)
        largest, units = normalised(torch.where(undefined[:, None], 0.0, points))
        left, values, right = torch.linalg.svd(units.view(x.shape), full_matrices=False)
        values = values * largest[:, None]  # (B, k)
        low, high = self._ends(x.dtype, inward=0.5)
        kept = undefined | ((values >= low) & (values <= high)).all(1)  # (B)
        landed = _assembled(left, values.clamp(*self._ends(x.dtype, inward=1.0)), right).to(x.dtype)
        return torch.where(kept.view(per_element(len(x), x)), x.detach(), landed)

    # With U, S, V of the float decomposition of x, P(U) clamp(S) P(V)^T has the singular values clamp(S) exactly, where
    # P(U) is the nearest matrix with orthonormal columns. It differs from x by the error of the decomposition and by
    # what the singular values exceed their interval.
    def member(self, x: Tensor, bits: int) -> BallArray:
        if not self.slack(x.dtype):
            return super().member(x, bits)
        factors = torch.linalg.svd(x.detach().cpu().double(), full_matrices=False)
        with working_precision(bits):
            low, high = ball_of(self.low, bits), ball_of(self.high, bits)
            values = [flint.arb(each).max(low).min(high) for each in factors.S.tolist()]
            left, right = (_with_orthonormal_columns(_on_balls(each)) for each in (factors.U, factors.Vh.mT))
            return BallArray.of_matrix(_stretched(left, values) * right.transpose(), bits)

    # The largest entry is at most the largest singular value; the squared 2-norm is the sum of the squared singular
    # values; the 1-norm is at most sqrt(m n) times the 2-norm. Equality: diagonal; all high; that with equal entries.
    def bound(self, norm: Norm) -> sp.Expr:
        rows, columns = self.shape
        least = sp.Min(rows, columns)
        factors = {Norm.INF: sp.Integer(1), Norm.TWO: sp.sqrt(least), Norm.ONE: sp.sqrt(rows * columns * least)}
        return factors[norm] * self.high

    def condition(self, x: Element, notation: Notation) -> str:
        low, high = map(notation.number, (self.low, self.high))
        largest, each = (
            f"{s}({notation.element(x)})" for s in (notation.largest_singular_value, notation.singular_value)
        )
        values = f"{low} {notation.at_most} {each} {notation.at_most} {high}{notation.of_every}k"
        values = f"{largest} {notation.at_most} {high}" if self.low == 0 else values
        return notation.both(notation.entries(x, notation.reals, self.shape), values)

    def outside(self, x: Tensor) -> str | None:
        low, high = self._ends(x.dtype, inward=0.0)
        with working_precision(ENCLOSURE_BITS):
            wrong = [each for each in singular_values(x) if not low <= each <= high]
        if not wrong:
            return None
        slack = self.slack(x.dtype)
        within = f" within {shown(slack)} in {dtype_name(x.dtype)}" if slack else ""
        more = f" ({len(wrong) - 1} more of {self._least} outside)" if len(wrong) > 1 else ""
        value = float(wrong[0].mid())
        return f"the singular value {value} is outside [{written(self.low)}, {written(self.high)}]{within}{more}"

    def slack(self, dtype: torch.dtype) -> float:
        """How far outside a singular value may be: 0, or r for an interval that is not wider than 4 r."""
        rounding = self.rounding(dtype)
        return 0.0 if largest_below(self.high - self.low) > 4 * rounding else rounding

    # Rounding moves a singular value by at most the 2-norm of the rounding of all entries, whose own 2-norm is at most
    # sqrt(k) high.
    def rounding(self, dtype: torch.dtype) -> float:
        """r, about twice what it costs to form an element in this dtype."""
        relative = 2 * math.sqrt(self._least) * (torch.finfo(dtype).eps + (self.entries + 8) * FLOAT64.eps)
        return relative * largest_below(self.high) + 2 * math.sqrt(self.entries) * smallest_step(dtype)

    def _ends(self, dtype: torch.dtype, inward: float) -> tuple[float, float]:
        """The ends for a singular value, so many r inward; none is below 0."""
        moved = inward * self.rounding(dtype) - self.slack(dtype)
        low = -math.inf if self.low == 0 else smallest_above(self.low) + moved
        return low, largest_below(self.high) - moved

    @property
    def _least(self) -> int:
        """k"""
        return min(self.dims)

    def _between(self, share: Tensor) -> Tensor:
        low, high = largest_below(self.low), largest_below(self.high)
        return low * (1 - share) + high * share

    def _random_vectors(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        left, right = (_orthonormal(count, each, self._least, generator) for each in self.dims)
        return left, right.mT

    def _polar(self, x: Tensor) -> Tensor:
        """The nearest matrices with all singular values high."""
        left, values, right = torch.linalg.svd(x, full_matrices=False)
        return _assembled(left, torch.full_like(values, largest_below(self.high)), right)


# Let U, S, V be any approximation of the singular value decomposition, with r = ||X - U S V^T||_F and d the larger of
# ||U^T U - I||_F, ||V^T V - I||_F. By Weyl the i-th singular value of X is within r of that of U S V^T. By Ostrowski
# that lies between 1 - d and 1 + d times s_i, since the squared singular values of U and of V lie in [1 - d, 1 + d].
def singular_values(x: Tensor) -> list[flint.arb]:
    """Enclosures at the working precision, of a matrix of finite entries."""
    _, exponent = torch.frexp(x.double().abs().max())
    scale = flint.arb(2) ** int(exponent)
    factors = torch.linalg.svd(torch.ldexp(x.double(), -exponent), full_matrices=False)
    matrix, left, right = (_on_balls(each) for each in (x, factors.U, factors.Vh.mT))
    values = [flint.arb(each) * scale for each in factors.S.tolist()]
    residual = _frobenius(matrix - _stretched(left, values) * right.transpose())
    defect = flint.arb.max(*map(_defect, (left, right)))
    return [value + flint.arb(0, (value * defect + residual).abs_upper()) for value in values]


# Newton's iteration Y <- Y (3 I - Y^T Y) / 2 about squares the defect d = ||Y^T Y - I||_F, until rounding stops it. For
# every Y, ||Y - P(Y)||_F^2 = sum (s_i - 1)^2 <= sum (s_i^2 - 1)^2 = d^2, since |s - 1| <= |s^2 - 1| for s >= 0.
def _with_orthonormal_columns(near: flint.arb_mat) -> flint.arb_mat:
    """Encloses a matrix with orthonormal columns, next to one that has them up to rounding."""
    three, defect = _identity(near.ncols()) * 3, _defect(near)
    while True:
        nearer = (near * (three - near.transpose() * near) / 2).mid()
        left = _defect(nearer)
        if not left < defect:
            break
        near, defect = nearer, left
    enclosed = [each + flint.arb(0, defect.abs_upper()) for each in near.entries()]
    return flint.arb_mat(near.nrows(), near.ncols(), enclosed)


def _stretched(matrix: flint.arb_mat, factors: list[flint.arb]) -> flint.arb_mat:
    """Each column times its factor."""
    columns = (u * s for row in matrix.table() for u, s in zip(row, factors, strict=True))
    return flint.arb_mat(matrix.nrows(), len(factors), list(columns))


def _defect(matrix: flint.arb_mat) -> flint.arb:
    """An upper bound of ||Y^T Y - I||_F."""
    return _frobenius(matrix.transpose() * matrix - _identity(matrix.ncols()))


def _on_balls(x: Tensor) -> flint.arb_mat:
    return flint.arb_mat(*x.shape, [flint.arb(each) for each in exact_entries(x)])


def _identity(size: int) -> flint.arb_mat:
    return flint.arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def _frobenius(matrix: flint.arb_mat) -> flint.arb:
    """An upper bound: the square of a ball around 0 would contain negative numbers."""
    sizes = (each.abs_upper() for each in matrix.entries())
    return sum((size * size for size in sizes), start=flint.arb(0)).sqrt()


def _assembled(
    left: Float64[Tensor, "B m k"], values: Float64[Tensor, "B k"], right: Float64[Tensor, "B k n"]
) -> Float64[Tensor, "B m n"]:
    return (left * values[:, None]) @ right


def _orthonormal(count: int, dim: int, columns: int, generator: torch.Generator) -> Float64[Tensor, "B dim columns"]:
    """Columns uniform among the orthonormal ones: Gram-Schmidt of Gaussians, with the signs made independent."""
    drawn = gaussians(count, dim * columns, generator).view(count, dim, columns)
    return torch.linalg.qr(drawn).Q * signs(count, columns, generator)[:, None]


def _diagonal(rows: int, columns: int) -> Float64[Tensor, "m n"]:
    return torch.eye(rows, columns, dtype=torch.float64, device="cpu")


def _equal_entries(rows: int, columns: int) -> Float64[Tensor, "m n"]:
    """Signs: columns of a Hadamard matrix, repeated; orthogonal where l is a multiple of its size."""
    if rows < columns:
        return _equal_entries(columns, rows).T
    hadamard = torch.ones(1, 1, dtype=torch.float64, device="cpu")
    while len(hadamard) < columns:
        hadamard = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64, device="cpu"), hadamard)
    return hadamard.repeat(-(-rows // len(hadamard)), 1)[:rows, :columns]
