"""Rule 9 for two heads beside a sink: the c and C at which truncation, leak and rounding are least for a format.

Scores are c z_j, |z_j| <= X, against n keys, and C against the sink; what the two heads make of them, over c, are z_j
(`heads_as_linear`). Errors are of each of these: an output sum_j z_j v_j is off by that times sum_j |v_j|.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.heads import Second, heads_as_linear
from symbolic.derivations.derivation import DerivationError, Norm, as_expr, given

EXPONENTIAL = 4  # of an exponential, in units: the last place may be wrong by 2


@dataclass(frozen=True)
class BestPair:
    """The knobs, and the error with them."""

    c: sp.Expr
    C: sp.Expr
    error: sp.Expr


@dataclass(frozen=True)
class HeadPair:
    """Two heads beside a sink in place of z_j, a sum of `width` products, |z_j| <= `size`, for `keys` keys.

    Numbers are stored with the unit `unit` = 2^-bits and sums and exponentials computed with `inner`, which is that of
    float32 for the half formats of PyTorch, and else the same. c is a power of 2 and C a whole number: both are stored
    as they are. Raises DerivationError for a single head.
    """

    second: Second
    keys: sp.Expr
    size: sp.Expr
    width: sp.Expr
    unit: sp.Expr
    inner: sp.Expr

    def __post_init__(self) -> None:
        if self.second is Second.NONE:
            raise DerivationError("HeadPair: one head leaves its weights about 1; give 'constant' or 'opposite'")

    @classmethod
    def of(cls, second: Second | str, *, keys: Any, size: Any, width: Any, unit: Any, inner: Any = None) -> "HeadPair":
        inner = unit if inner is None else inner
        return cls(Second(second), *map(as_expr, (keys, size, width, unit, inner)))

    def truncation(self, c: Any, C: Any) -> sp.Expr:
        """With what the sink loses, n e^(-C)."""
        scores = given("scores", dim=self.keys, norm=Norm.INF, size=as_expr(c) * self.size)
        return heads_as_linear(scores, "weights", sink=C, second=self.second).error / as_expr(c)

    # Each operation gives its result times 1 + delta, |delta| <= u, which is taken to first order, and sums of m terms
    # are taken to be added as a tree of depth log2 m: a model of the arithmetic, not a bound for every order of
    # summation. In the units `inner`, a score costs its own size r = c X in each of 1 + log2 K operations; less the
    # largest, C, it is off by C + r, its exponential by EXPONENTIAL; an error of the scores moves the weights by itself
    # and, through the sum, by itself times n e^(r - C). Then follow that sum of n + 1 terms, a division, the product
    # with e^C v_j, and the sum over the keys. In the units `unit`: the score as stored, the weight, the head's output
    # and its addition to the token. e^C v_j / c is the same in both heads, so that its rounding only counts for z: two
    # units of e^C v_j, and four of the factors of a score, c and a share such as 1/N with their products.
    # Scores 0 are exact, and so is 0 - C.
    def rounding(self, c: Any, C: Any) -> sp.Expr:
        r = as_expr(c) * self.size
        own = sp.exp(r) * self._of_head(r, as_expr(C), self.keys * sp.exp(r - as_expr(C)))
        return (own + self._of_second(self.keys * sp.exp(-as_expr(C))) + 6 * self.unit * r) / as_expr(c)

    def error(self, c: Any, C: Any) -> sp.Expr:
        return self.truncation(c, C) + self.rounding(c, C)

    def _of_head(self, r: sp.Expr, C: sp.Expr, leak: sp.Expr) -> sp.Expr:
        scores = self.inner * (C + r + (1 + sp.log(self.width, 2)) * r + EXPONENTIAL) + self.unit * r
        return (1 + leak) * scores + self._of_sums

    def _of_second(self, leak: sp.Expr) -> sp.Expr:
        """Beside the first head; two opposite ones are halved."""
        return (1 + leak) * EXPONENTIAL * self.inner + self._of_sums if self.second is Second.CONSTANT else sp.S.Zero

    @property
    def _of_sums(self) -> sp.Expr:
        return self.inner * (2 * sp.log(self.keys + 1, 2) + 2) + 3 * self.unit

    # To leading order the error is k c^p + L e^(-C) + w (a + C) / c with L = 2 X n, w the unit of sums and w a the
    # rounding over 1/c at r = C = 0 without the leak. In c it is stationary where p k c^(p + 1) = w t, t = a + C, and
    # in C where c = w e^C / L. Together,
    #   t e^(-(p + 1) t) = p k w^p / L^(p + 1) e^(-(p + 1) a),  solved by the Lambert function.
    # The truncation of opposite heads has the larger of the first two terms, and their sum is above it.
    # With the best c for each C the slope in C is (w^p p k / t)^(1/(p + 1)) - L e^(-C). Its sign is that of
    # C - log(t) / (p + 1) + constant, which increases for t > 1/(p + 1), and the branch W_{-1} is the one with
    # t >= 1/(p + 1). As a > 1, this is the one minimum of all C >= 0.
    @property
    def best(self) -> BestPair:
        """To leading order in c, as real numbers."""
        p, k = self.leading
        w, at, leaks = self.inner, self.standing, 2 * self.size * self.keys
        argument = -(p + 1) * p * k * w**p / leaks ** (p + 1) * sp.exp(-(p + 1) * at)
        C = -sp.LambertW(argument, -1) / (p + 1) - at
        c = self.best_c(C)
        return BestPair(c, C, k * c**p + leaks * sp.exp(-C) + w * (at + C) / c)

    def best_c(self, C: Any) -> sp.Expr:
        """For this C, to leading order."""
        p, k = self.leading
        return (self.inner * (self.standing + as_expr(C)) / (p * k)) ** (1 / (p + 1))

    def least_c(self, C: Any) -> sp.Expr:
        """Below this c the rounding exceeds what the heads compute, to leading order."""
        return self.inner * (self.standing + as_expr(C)) / self.size

    @property
    def leading(self) -> tuple[sp.Integer, sp.Expr]:
        """p and k: the truncation is k c^p to leading order."""
        p = sp.Integer(1 if self.second is Second.CONSTANT else 2)
        return p, self.size ** (p + 1) / sp.factorial(p + 1)

    @property
    def standing(self) -> sp.Expr:
        """a of the rounding u (a + C) / c, to leading order."""
        none = sp.S.Zero
        return sp.expand((self._of_head(none, none, none) + self._of_second(none)) / self.inner)
