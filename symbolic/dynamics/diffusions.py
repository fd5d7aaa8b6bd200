"""Diffusion by the Ornstein-Uhlenbeck process: scores of Gaussian mixtures, and how far samples are by Girsanov.

The process, its sampler and their letters are those of symbolic/calculus/girsanov.py.
"""

from collections.abc import Sequence

import sympy as sp

from symbolic.calculus.girsanov import discretisation_bound as of_steps
from symbolic.calculus.girsanov import girsanov
from symbolic.calculus.girsanov import score_error as errors_of_score
from symbolic.derivations.derivation import Approximated, Norm, given

t, T, T_0, s = (sp.Symbol(name, positive=True) for name in ("t", "T", "T_0", "s"))
d, M = (sp.Symbol(name, integer=True, positive=True) for name in ("d", "M"))
Delta, reach, spread, B = (sp.Symbol(name, nonnegative=True) for name in ("Delta", "reach", "spread", "B"))
start, score_error, discretisation = (sp.Symbol(name, nonnegative=True) for name in ("E_0", "E_s", "E_h"))
mean_error = sp.Symbol("epsilon_s", nonnegative=True)
product, squares = sp.Symbol("product", real=True), sp.Symbol("squares", nonnegative=True)

a = sp.exp(-t)
v = a**2 * s**2 + 1 - a**2  # of x_t around a component, in each coordinate
h = (T - T_0) / M


# The score of a mixture. Covariances C_k become a^2 C_k + (1 - a^2) I, means a m_k.


def diffused(mean: sp.Matrix, covariance: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
    """Mean and covariance of x_t where x_0 has these."""
    return a * mean, a**2 * covariance + (1 - a**2) * sp.eye(len(mean))


def mixture_score(
    weights: Sequence[sp.Expr], means: Sequence[sp.Matrix], covariances: Sequence[sp.Matrix], x: sp.Matrix
) -> sp.Matrix:
    """grad log p at x for p = sum_k w_k N(m_k, C_k): the mean of -C_k^(-1) (x - m_k) over the shares of the terms."""
    terms, pulls = [], []
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        pulls.append(covariance.inv() * (x - mean))
        square = ((x - mean).T * pulls[-1])[0]
        terms.append(weight * sp.exp(-square / 2) / sp.sqrt((2 * sp.pi) ** len(x) * covariance.det()))
    pulled = sum((term * pull for term, pull in zip(terms, pulls, strict=True)), start=sp.zeros(len(x), 1))
    return -pulled / sum(terms)


# Covariances s^2 I: s_t(x) = -(x - a m(x))/v with m the mean of the m_k over the shares at x, whose derivative is a/v
# times their covariance. So the derivative of the score is (a^2 C/v - I)/v, symmetric, C >= 0. A variance of points at
# most Delta apart is at most Delta^2/4 (Popoviciu): the eigenvalues lie between -1/v and a^2 Delta^2/(4 v^2) - 1/v.
# Attained where C = 0 along a direction (or far out), and between the two most distant means where they alone have
# shares, 1/2 each. For s <= 1 both fall with t as long as they are the maximum: v grows, and a falls.
def score_lipschitz() -> sp.Expr:
    """The Lipschitz constant of s_t, for means at most Delta apart."""
    return sp.Max(1 / v, a**2 * Delta**2 / (4 * v**2) - 1 / v)


# |x - a m(x)| <= |x| + a max |m_k|. Equality: one component, and x opposite to its mean.
def score_size() -> sp.Expr:
    """sup |s_t(x)| over |x| <= B, for means of norm at most `reach`."""
    return (B + a * reach) / v


# The Fisher information I_t = E|s_t(x_t)|^2. s_t is a conditional mean of the scores of Gaussians of variance v, of
# squared norm d/v: I_t <= d/v (one component attains it). Cramer and Rao: I_t >= d^2/E|x_t - E x_t|^2.
def largest_information() -> sp.Expr:
    return d / v


def least_information() -> sp.Expr:
    """`spread` is E|m - E m|^2 of the m_k, with the weights."""
    return d**2 / (d * v + a**2 * spread)


# (H.2) - (H.1), for every network f at once: E|f - g|^2 - E|f - s_t|^2 with g = -(x_t - a x_0)/(1 - a^2), whose mean
# given x_t is s_t. The mixed terms are equal, and E|g|^2 = d/(1 - a^2), E|s_t|^2 = I_t remain.
def losses_apart() -> sp.Expr:
    """At most (H.2) - (H.1) at time t, for covariances s^2 I."""
    return d / (1 - a**2) - largest_information()


# The start. KL(p || q) = E_p log(p/q) <= log E_p(p/q) (Jensen). For two components, N(a m, v I) and N(a m', v I),
# the integral of their product over N(0, I) is this one, by completing the square; it is finite for v < 2.
def overlap() -> sp.Expr:
    """The integral of N(x; a m, v I) N(x; a m', v I)/N(x; 0, I): `product` is m . m', `squares` |m|^2 + |m'|^2."""
    exponent = a**2 * (2 * product - (1 - v) * squares) / (2 * v * (2 - v))
    return (v * (2 - v)) ** (-d / 2) * sp.exp(exponent)


# Girsanov: the letters of a run, and the steps of the sampler.
def discretisation_bound(first: sp.Expr, between: sp.Expr, last: sp.Expr) -> sp.Expr:
    """At least E_h, from `first` <= I_T, `between` >= the sum of I_{t_k} over 0 < k < M, and `last` >= I_{T_0}."""
    return of_steps(first, between, last, h)


def error_of_steps() -> sp.Expr:
    """E_s, from the sum over the steps of the mean squares of the error of the score."""
    return errors_of_score(squares, h)


# E|s_t(x_t)|^2 <= d/v, and v >= s^2 for s <= 1.
def samples_apart() -> Approximated:
    """The probability of any event under the samples, by E_0, E_h and the error of the score in mean square."""
    score = given("the learnt score", dim=d, norm=Norm.TWO, size=sp.sqrt(d) / s, error=mean_error)
    times = {"start_time": T, "end_time": T_0, "steps": M}
    return girsanov(score, "samples", **times, beyond=0, start=start, discretisation=discretisation)


# E_s is the sum of the mean squares over the steps, with its factor.
def mean_error_of_steps() -> sp.Expr:
    """The root of the mean of these squares, from E_s."""
    return sp.sqrt(score_error / errors_of_score(M, h))


# 0 <= I_T, each other I at most d/v, and v least at T_0 for s <= 1.
def closed_discretisation() -> sp.Expr:
    """At least E_h, for components of variance s^2 <= 1."""
    most = largest_information().subs(t, T_0)
    return discretisation_bound(sp.S.Zero, (M - 1) * most, most)


# d = 1: the second derivative of s_t is a^3/v^3 times the third central moment of the m_k over the shares at x, and
# |E (m - E m)^3| <= Delta E (m - E m)^2 <= Delta^3/4.
def score_bend() -> sp.Expr:
    """At least |s_t''|, for d = 1 and means at most Delta apart."""
    return a**3 * Delta**3 / (4 * v**3)
