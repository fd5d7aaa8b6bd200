"""Vectors whose length lies between two numbers."""

from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains.domain import Call, Domain, as_dimension, as_size
from bridge.domains.notation import Element, Notation
from bridge.domains.rounding import written
from bridge.domains.spectra import SingularValues
from numeric.balls import BallArray
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


# The singular value of a matrix of one column is the 2-norm of that column, so that the set is the one of these.
@dataclass(frozen=True, init=False, repr=False)
class Shell(Domain):
    """Shell(dim, low=0, high=1): vectors of a 2-norm in [low, high], tolerances as for SingularValues(dim, 1, ...)."""

    low: sp.Expr
    high: sp.Expr

    def __init__(self, dim: Any, low: Any = 0, high: Any = 1) -> None:
        ends = as_size("lower end", low), as_size("upper end", high)
        if (ends[1] - ends[0]).is_negative:
            raise UsageError(f"Shell: low = {written(ends[0])} exceeds high = {written(ends[1])}")
        self._set(shape=(as_dimension(dim, least=1),), low=ends[0], high=ends[1])

    def _call(self) -> Call:
        return self.shape, {"low": self.low, "high": self.high}

    @property
    def columns(self) -> SingularValues:
        """The same vectors, as matrices of one column."""
        return SingularValues(self.shape[0], 1, low=self.low, high=self.high)

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Directions uniform on the sphere, lengths independent and uniform in [low, high]."""
        return self.columns.sample(count, generator).squeeze(-1)

    def corners(self, count: int, generator: torch.Generator) -> Tensor:
        """In turn: as long as may be, a signed coordinate vector and a sign vector; as short; either, at random."""
        return self.columns.corners(count, generator).squeeze(-1)

    def project(self, x: Tensor) -> Tensor:
        self.require_batch(x)
        return self.columns.project(x.unsqueeze(-1)).squeeze(-1)

    def member(self, x: Tensor, bits: int) -> BallArray:
        return self.columns.member(x.unsqueeze(-1), bits)[:, 0]

    def bound(self, norm: Norm) -> sp.Expr:
        return self.columns.bound(norm)

    def outside(self, x: Tensor) -> str | None:
        complaint = self.columns.outside(x.unsqueeze(-1))
        return None if complaint is None else complaint.replace("the singular value", "||x||_2 =", 1)

    def condition(self, x: Element, notation: Notation) -> str:
        low, high = map(notation.number, (self.low, self.high))
        norm = notation.norm(x, Norm.TWO, self.shape)
        length = f"{low} {notation.at_most} {norm} {notation.at_most} {high}"
        return notation.both(notation.entries(x, notation.reals, self.shape), length)
