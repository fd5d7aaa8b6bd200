"""The terms of Girsanov's bound in numbers, for the samples that a learnt score of a mixture draws.

In one dimension the means of squares are enclosed at every time; beyond, they have a confidence interval. Formulas and
proofs are those of symbolic/dynamics/diffusions.py.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from numeric.balls import float_above
from numeric.tools.ancestral import ancestral, times
from numeric.tools.mean_squares import MeanSquare, MixtureOnLine, empirical_bernstein, enclosed_on_line, normal_tail
from numeric.tools.mixtures import Mixture, isotropic
from symbolic.dynamics import diffusions as theory
from symbolic.words.errors import UsageError

REST = 1e-3  # of the norm of an error: what the cells of the line add to it
MOST_KNOTS = 1 << 12
BEYOND = 4.0  # of the ball: how far knots go
DRAWS, FAILURE = 1 << 19, 1e-6
FAR = 6.0  # deviations of a component, beyond which a tail is computed
FLOAT = 2.0**-51
ROUNDED = 2.0**-36  # more than what floats are off by in means and their products
SAMPLES, TRUTH = 4000, 1 << 17


@dataclass(frozen=True, eq=False)
class LearntScore:
    """A score of points (m, d) at a time: within `off` of a function that depends on the nearest point of a ball alone.

    `radius` is that of the ball, `largest` at least the norm of the score, anywhere; `bend` is at least the function's
    second derivative in the ball, for d = 1.
    """

    at: Callable[[Tensor, Any], Tensor]
    radius: float
    largest: float
    off: float
    bend: float


@dataclass(frozen=True, eq=False)
class SampledScore:
    """Samples from T to T_0 in M steps by the `learnt` score of the mixture `clean`, whose covariances are s^2 I."""

    learnt: LearntScore
    clean: Mixture
    s: float
    T_0: float
    T: float
    M: int

    @property
    def d(self) -> int:
        return self.clean.means.shape[-1]

    @cached_property
    def along(self) -> list[float]:
        return times(self.T, self.T_0, self.M)

    @cached_property
    def letters(self) -> dict[sp.Symbol, float]:
        """Of the mixture: the largest distance of two means and the largest norm of one, rounded up."""
        means = self.clean.means
        apart = float(torch.linalg.vector_norm(means[:, None] - means, dim=-1).max()) * (1 + 2.0**-40)
        reach = float(torch.linalg.vector_norm(means, dim=-1).max()) * (1 + 2.0**-40)
        weights = self.clean.weights[:, None]
        spread = float((weights * (means - (weights * means).sum(0)) ** 2).sum()) * (1 + 2.0**-40)
        known = {theory.Delta: apart, theory.reach: reach, theory.spread: spread, theory.B: self.learnt.radius}
        return {**known, theory.s: self.s, theory.d: self.d, theory.T: self.T, theory.T_0: self.T_0, theory.M: self.M}

    def number(self, formula: sp.Expr, **at: float | Fraction) -> flint.arb:
        return evaluate_ball(formula, {**self.letters, **{getattr(theory, name): x for name, x in at.items()}})

    @property
    def line_of_means(self) -> tuple[Mixture, Tensor]:
        """The two most distant means at weights 1/2, at T_0, and points (m, d) on the line through them."""
        means = self.clean.means
        i, j = divmod(int(torch.cdist(means, means).argmax()), len(means))
        half = torch.full((2,), 0.5, dtype=torch.float64, device="cpu")
        places = torch.linspace(-2, 3, 2001, dtype=torch.float64, device="cpu")[:, None]
        line = math.exp(-self.T_0) * (means[i] + places * (means[j] - means[i]))
        return isotropic(half, means[[i, j]], self.s).at(self.T_0), line

    # Start.

    @cached_property
    def start(self) -> float:
        """At least KL(p_T || N(0, I))."""
        means = [[Fraction(x) for x in mean] for mean in self.clean.means.tolist()]
        weights, total = [flint.arb(w) for w in self.clean.weights.tolist()], flint.arb(0)
        for w, m in zip(weights, means, strict=True):
            for other, k in zip(weights, means, strict=True):
                dot, squares = sum(x * y for x, y in zip(m, k, strict=True)), sum(x * x for x in (*m, *k))
                total += w * other * self.number(theory.overlap(), t=self.T, product=dot, squares=squares)
        return max(0.0, float_above((total * (1 + 4 * flint.arb(ROUNDED))).log()))

    # Means of squares.

    def tails(self, t: float, v: float, learnt: bool) -> tuple[float, float]:
        """(slope, offset): |s_t(x)|, or the error of the learnt score, is at most slope |x| + offset."""
        offset = math.exp(-t) * self.letters[theory.reach] / v + (self.learnt.largest if learnt else 0.0)
        return 1.0001 / v, 1.0001 * offset

    def field(self, x: Tensor, t: float, p: Mixture, learnt: bool) -> Tensor:
        """The score at points (m, d), or what the learnt score is off by."""
        return p.score(x) - self.learnt.at(x, t) if learnt else p.score(x)

    # A time in floats is off by 2^-51 t, and a = e^(-t) by as much, relatively. v moves by 2 a^2 (1 - s^2) as much, at
    # most 2^-51 v, since a^2 t <= (1 - a^2)/2.
    def at(self, t: float) -> Mixture:
        """p_t in floats that are off by a relative (2 + t) 2^-51 at most."""
        a, v = (float(self.number(each, t=t).mid()) for each in (theory.a, theory.v))
        return isotropic(self.clean.weights, a * self.clean.means, math.sqrt(v))

    def on_line(self, t: float) -> tuple[MeanSquare, MeanSquare]:
        """E|s_t|^2, and that of the error of the learnt score, for d = 1. Knots at both ends of the ball."""
        radius, own = self.learnt.radius, float_above(self.number(theory.score_bend(), t=t))
        bend = own + self.learnt.bend
        cells = min(MOST_KNOTS, 1 + math.floor(2 * radius * math.sqrt(bend / (8 * REST))))
        width = 2 * radius / cells
        inside = torch.linspace(-radius, radius, cells + 1, dtype=torch.float64, device="cpu")
        more = width * torch.arange(1, math.ceil(BEYOND / width) + 1, dtype=torch.float64, device="cpu")
        line = MixtureOnLine(self.at(t), torch.cat([-radius - more.flip(0), inside, radius + more]), (2 + t) * FLOAT)
        variance = float(line.mixture.covariances[0, 0, 0])
        (values, off), ends = line.score, (self.tails(t, variance, learnt) for learnt in (False, True))
        apart = values - self.learnt.at(line.points[:, None], t)[:, 0]
        fields = ((values, own, off), (apart, bend, off + 2 * self.learnt.off))
        score, error = (
            enclosed_on_line(line, field, bend=most, off=rounding, slope=slope, offset=offset)
            for (field, most, rounding), (slope, offset) in zip(fields, ends, strict=True)
        )
        return score, error

    @cached_property
    def on_lines(self) -> list[tuple[MeanSquare, MeanSquare]]:
        """The same at all times."""
        return [self.on_line(t) for t in self.along]

    # A time t_k and a point x = a m + sqrt(v) z are drawn together. The error is at most alpha + beta |z|; what exceeds
    # its value at |z| = FAR is cut, and its mean is at most that of (alpha + beta |z|)^2 beyond FAR. Times are drawn in
    # proportion to these caps, and squares divided by them: the mean of the quotients, times the mean cap, is the mean.
    def by_draws(self, along: list[float], *, learnt: bool) -> MeanSquare:
        """The mean over these times, with probability 1 - FAILURE."""
        generator = torch.Generator().manual_seed(1)
        envelopes = [self._envelope(t, learnt) for t in along]
        caps = torch.tensor([(alpha + beta * FAR) ** 2 for alpha, beta in envelopes], dtype=torch.float64, device="cpu")
        counts = torch.bincount(torch.multinomial(caps, DRAWS, True, generator=generator), minlength=len(along))
        found = []
        for t, cap, count in zip(along, caps, counts.tolist(), strict=True):
            p = self.clean.at(t)
            x = _drawn(p, count, generator)
            found.append(((self.field(x, t, p, learnt) ** 2).sum(-1) / cap).clamp(max=1.0))
        inside = empirical_bernstein(torch.cat(found), 1.0, FAILURE)
        moments, most = [normal_tail(self.d, order, FAR) for order in range(3)], float(caps.mean())
        tail = max(a**2 * moments[0] + 2 * a * b * moments[1] + b**2 * moments[2] for a, b in envelopes)
        return MeanSquare(inside.low * most, inside.high * most + tail)

    def _envelope(self, t: float, learnt: bool) -> tuple[float, float]:
        """alpha and beta."""
        a, v = math.exp(-t), float(self.number(theory.v, t=t))
        slope, offset = self.tails(t, v, learnt)
        return offset + slope * a * self.letters[theory.reach], slope * math.sqrt(v)

    @cached_property
    def information(self) -> MeanSquare:
        """That of p_{T_0}."""
        return self.on_line(self.T_0)[0] if self.d == 1 else self.by_draws([self.T_0], learnt=False)

    # The other terms.

    @cached_property
    def score_error(self) -> float:
        """At least E_s."""
        before = self.along[:-1]
        if self.d == 1:
            total = math.fsum(error.high for _, error in self.on_lines[:-1])
        else:
            total = self.M * self.by_draws(before, learnt=True).high
        return float_above(self.number(theory.error_of_steps(), squares=total * (1 + ROUNDED)))

    @cached_property
    def discretisation(self) -> float:
        """At least E_h: by the Fisher information at every time for d = 1, else in closed form."""
        if self.d > 1:
            return float_above(self.number(theory.closed_discretisation()))
        first, *between, last = (score for score, _ in self.on_lines)
        inside, ends = sp.symbols("inside", nonnegative=True), sp.symbols("first last", nonnegative=True)
        known = {
            inside: math.fsum(each.high for each in between) * (1 + ROUNDED),
            ends[0]: first.low,
            ends[1]: last.high,
        }
        formula = theory.discretisation_bound(ends[0], inside, ends[1])
        return float_above(evaluate_ball(formula, {**self.letters, **known}))

    # Samples.

    def samples(self, seed: int) -> Tensor:
        """(SAMPLES, d), by the learnt score."""
        generator = torch.Generator().manual_seed(seed)
        start = torch.randn(SAMPLES, self.d, generator=generator, dtype=torch.float64, device="cpu")
        return ancestral(self.learnt.at, start, self.along, generator)

    def truth(self, seed: int) -> Tensor:
        """(TRUTH, d), of p_{T_0}."""
        generator = torch.Generator().manual_seed(seed)
        return _drawn(self.clean.at(self.T_0), TRUTH, generator)


def _drawn(p: Mixture, count: int, generator: torch.Generator) -> Tensor:
    uniform = torch.rand(count, generator=generator, dtype=torch.float64, device="cpu")
    return p.drawn(
        uniform, torch.randn(count, p.means.shape[-1], generator=generator, dtype=torch.float64, device="cpu")
    )


# Of scores, without a network.


def steepest(p: Mixture, points: Tensor) -> float:
    """The largest norm of the derivative of the score at points (m, d)."""
    at = points.clone().requires_grad_()
    scores = p.score(at).sum(0)  # (d); each point's own score depends on that point alone
    rows = [torch.autograd.grad(each, at, retain_graph=True)[0] for each in scores]
    return float(torch.linalg.matrix_norm(torch.stack(rows, 1), 2).max())


def off_autograd(p: Mixture, points: Tensor) -> float:
    """The largest relative distance of the score from the gradient of the log density at points (m, d)."""
    at = points.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(p.log_density(at).sum(), at)
    norm = torch.linalg.vector_norm
    return float((norm(p.score(points) - gradient, dim=-1) / (1 + norm(gradient, dim=-1))).max())


def losses_apart(predicted: Tensor, given: Tensor, exact: Tensor) -> Tensor:
    """(H.2) - (H.1) of wu2024 point by point, (m): against the scores given x_0, and against the exact ones."""
    return ((predicted - given) ** 2).sum(-1) - ((predicted - exact) ** 2).sum(-1)


def weights_of(call: str, text: str) -> Tensor:
    """The weights (c) of a mixture from numbers such as 1/2, 3/10, 1/5. Raises UsageError."""
    try:
        found = [Fraction(each.strip()) for each in text.split(",")]
    except (ValueError, ZeroDivisionError):
        found = []
    if not found or min(found) <= 0 or sum(found) != 1:
        added = f", which add up to {sum(found)}" if found else ""
        words = "give numbers above 0 that add up to 1: 1/2, 3/10, 1/5"
        raise UsageError(f"{call}: weights = '{text:.80}'{added}; {words}")
    return torch.tensor([float(each) for each in found], dtype=torch.float64, device="cpu")
