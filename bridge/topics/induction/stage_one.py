"""Stage I of training at one point: its formulas as numbers, its share of the rate, its run.

n = L - 2 is the number of terms. Nothing but the printed double sums takes more than O(n log n).
"""

import math
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp

from bridge.lowering import lower
from bridge.lowering.ball_values import as_exact
from bridge.theorems.check import as_ball
from numeric.balls import working_precision
from numeric.tools.flows import integrate
from numeric.topics.induction import first_stage as direct
from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction.training import L as LENGTH
from symbolic.topics.induction.training import g_star

END = 1e8  # of the run
GRID = 200  # values of p~ at which signs are measured
BITS = 128
AGREE = 1e-6  # relative, of a derived number and the same by the definition
LONGEST_PRINTED = 1000  # n up to which the printed double sums, n^2 terms, are evaluated
MANY_TERMS = 20_000_000  # n times values of p~ at which signs are measured, at most
_SUMS = sp.symbols("q slope_of_q")
_PRINTED_SUMS = sp.symbols("slope_as_printed q_as_printed")


@lru_cache(maxsize=1)
def _lowered_sums() -> Any:
    return lower(
        sp.Matrix([theory.SLOPE_PRINTED, theory.Q_PRINTED]), "numpy", args=(LENGTH, theory.p_tilde), watch=False
    )


class StageOne:
    """Stage I at one point: p~ starts at sigma_init, g(0) is sigma_init, p(0) = 0 but in the rows `start`."""

    def __init__(self, L: int, alpha: float, sigma_init: float) -> None:
        self.terms, self.alpha, self.sigma = L - 2, alpha, sigma_init
        self.optimum = alpha / (1 + alpha)

    @property
    def letters(self) -> dict[sp.Symbol, Any]:
        """p~, g_0 and g* at the start, as formulas have them."""
        alpha = as_exact(self.alpha)
        return {theory.p_tilde: self.sigma, theory.g_0: self.sigma, g_star: alpha / (1 + alpha)}

    @property
    def too_long(self) -> bool:
        return self.terms > LONGEST_PRINTED

    @cached_property
    def _sums(self) -> dict[sp.Symbol, float]:
        decay = math.exp(-self.sigma)
        c, dc = (np.array(each) for each in theory.mixtures(self.terms, decay, 1.0))
        return dict(zip(_SUMS, (float(c @ c), float(-2 * decay * (c @ dc))), strict=True))  # q and q' = -u dq/du

    @cached_property
    def _printed_sums(self) -> dict[sp.Symbol, float]:
        if self.too_long:
            return dict.fromkeys(_PRINTED_SUMS, math.nan)
        with np.errstate(over="ignore", invalid="ignore"):  # e^(+p~(s-1-tau)) is beyond floats for long inputs
            printed = _lowered_sums()(self.terms + 2, self.sigma).ravel().tolist()
        return dict(zip(_PRINTED_SUMS, map(float, printed), strict=True))

    def number(self, formula: sp.Expr) -> float:
        """A formula of Appendix B at p~ = g_0 = sigma_init; its sums over tau are done once."""
        known = {theory.Q: _SUMS[0], theory.SLOPE: _SUMS[1]}
        as_printed = {theory.SLOPE_PRINTED: _PRINTED_SUMS[0], theory.Q_PRINTED: _PRINTED_SUMS[1]}
        summed = formula.xreplace({**known, **as_printed})
        sums = {**self._sums, **(self._printed_sums if summed.has(*_PRINTED_SUMS) else {})}
        at = {theory.p_tilde: self.sigma, theory.g_0: self.sigma, g_star: self.optimum, LENGTH: self.terms + 2}
        return float(summed.evalf(subs={**sums, **at}))

    @cached_property
    def by_definition(self) -> dict[str, tuple[float, float]]:
        """Each summed directly, and its accuracy: q' comes by a Fourier transform, which rounds relative to q."""
        loss, rate = direct.direct_rate(self.sigma, self.sigma, self.optimum, self.terms)
        squares, slope = direct.direct_squares(self.sigma, self.terms)
        rounding = np.finfo(float).eps * self.terms * squares
        found = {"loss": (loss, 0.0), "q": (squares, 0.0), "q.slope": (slope, rounding), "rate": (rate, 0.0)}
        return {name: (number, AGREE * abs(number) + more) for name, (number, more) in found.items()}

    def least_share(self, start: float, lowest: float) -> tuple[float, float]:
        """Where dp~/dt over u g_0 g*/Z_n(r) is least on a grid of p~ from `lowest` up, and its value there."""
        count = max(20, min(GRID, MANY_TERMS // self.terms))
        p = np.concatenate([[lowest], lowest + np.geomspace(1e-3 / self.terms, 20.0, count)])
        ratio = self.sigma / self.optimum
        shares = np.array([direct.rate_share(self.terms, math.exp(-x), ratio, math.exp(-start)) for x in p])
        return float(p[shares.argmin()]), float(shares.min())

    def share_ball(self, p: float, start: float) -> flint.arb:
        """The share at p~ = p, g_0 = sigma_init and p(0) = start, enclosed."""
        with working_precision(BITS):
            sigma, alpha, begin = map(as_ball, (self.sigma, self.alpha, start))
            decay = (-flint.arb(p)).exp()
            return flint.arb(theory.rate_share(self.terms, decay, sigma * (1 + alpha) / alpha, (-begin).exp()))

    def run(self, end: float = END) -> float:
        """p~ at time `end` from p~ = sigma_init, p(0) = 0, by a stiff solver."""
        scale, ratio = self.sigma * self.optimum / self.terms, self.sigma / self.optimum

        # e^p~ grows at scale times the share, which tends to 1: a tame field, where that of p~ itself is stiff.
        def field(y: np.ndarray) -> np.ndarray:
            return np.array([scale * direct.rate_share(self.terms, 1 / float(y[0]), ratio, 1.0)])

        path = integrate(field, [math.exp(self.sigma)], end, relative=1e-9, absolute=1e-9)
        return math.log(float(path.steps[0, -1]))
