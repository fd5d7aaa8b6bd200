"""Diffusion by the Ornstein-Uhlenbeck process: scores of Gaussian mixtures, and how far samples are by Girsanov.

Forward, dX = -X dt + sqrt(2) dW: x_t = a x_0 + sqrt(1 - a^2) z, a = e^(-t), of density p_t and score s_t. The sampler
goes back from time T to T_0 > 0 in M steps of length h = (T - T_0)/M, at the times t_k = T - k h, from y_0 ~ N(0, I):

    y_{k+1} = e^h y_k + 2 sinh(h) f_k(y_k) + sqrt(e^(2h) - 1) z_k,      z_k ~ N(0, I) independent.

With the score for f_k that is Tweedie's mean of x at t_{k+1}, given x at t_k (ancestral sampling).
"""

from collections.abc import Sequence

import sympy as sp

t, T, T_0, s = (sp.Symbol(name, positive=True) for name in ("t", "T", "T_0", "s"))
d, M = (sp.Symbol(name, integer=True, positive=True) for name in ("d", "M"))
Delta, reach, spread, B = (sp.Symbol(name, nonnegative=True) for name in ("Delta", "reach", "spread", "B"))
start, score_error, discretisation = (sp.Symbol(name, nonnegative=True) for name in ("E_0", "E_s", "E_h"))
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
    """`spread` is the variance of the m_k, with the weights: E|m - E m|^2."""
    return d**2 / (d * v + a**2 * spread)


# (H.2) - (H.1), for every network f at once: E|f - g|^2 - E|f - s_t|^2 with g = -(x_t - a x_0)/(1 - a^2), whose mean
# given x_t is s_t. The mixed terms are equal, and E|g|^2 = d/(1 - a^2), E|s_t|^2 = I_t remain.
def losses_apart() -> sp.Expr:
    """At most (H.2) - (H.1) at time t, for covariances s^2 I."""
    return d / (1 - a**2) - largest_information()


# The start. KL(p || q) = E_p log(p/q) <= log E_p(p/q) (Jensen). For two components of p_T, N(m, v I) and N(m', v I),
# the integral of their product over N(0, I) is this one, by completing the square; it is finite for v < 2.
def overlap() -> sp.Expr:
    """The integral of N(x; m, v I) N(x; m', v I)/N(x; 0, I): `product` is m . m', `squares` is |m|^2 + |m'|^2."""
    exponent = (2 * product - (1 - v) * squares) / (2 * v * (2 - v))
    return (v * (2 - v)) ** (-d / 2) * sp.exp(exponent)


# Girsanov. Between t_k and t_{k+1} the sampler solves dy = (y + 2 e^(-r) f_k(y_k)) dr + sqrt(2) dB, r = t_k - u; the
# reversed process solves dx = (x + 2 s_u(x)) dr + sqrt(2) dB (Anderson; s_u is smooth, and Lipschitz for u >= T_0).
# With P its law on paths and Q that of the sampler, started at p_T and at N(0, I),
#
#     KL(P || Q) = KL(p_T || N(0, I)) + (1/2) E_P int |2 s_u(x_u) - 2 e^(-r) f_k(x_{t_k})|^2 / 2 dr.          (1)
#
# No condition of Novikov is asked for: stop both when the path leaves the ball of radius m. If each f_k is bounded on
# bounded sets, the difference of the drifts is bounded until then, so that (1) holds up to the stopping time. Neither
# process explodes (x has a Lipschitz drift, y is affine in B on each step), so that the stopping times pass T_0 under P
# and under Q. KL on growing sigma-algebras increases to KL on what they generate, and the integral by monotone
# convergence.
# Let u < t_k, and y = x_{t_k}, the sum of e^(-r) x_u and a Gaussian. Then s_{t_k}(y) = e^r E[s_u(x_u) | y]: in the
# gradient of p_{t_k}, pass that of the Gaussian to p_u by parts. In (1) therefore s_u(x_u) - e^(-r) s_{t_k}(y) is
# orthogonal to all functions of y, and its mean square is I_u - e^(-2r) I_{t_k}. Hence
#
#     KL(P || Q) = KL(p_T || N(0, I)) + E_s + E_h,     E_s = (1 - e^(-2h))/2 sum_k E|f_k(x_{t_k}) - s_{t_k}(x_{t_k})|^2,
#     E_h = sum_k int_0^h (I_{t_k - r} - e^(-2r) I_{t_k}) dr,
#
# and the KL of the samples, at the end of the paths, is at most that of the paths. p_{T_0} is what is sampled, not p_0.
def girsanov(start: sp.Expr, score_error: sp.Expr, discretisation: sp.Expr) -> sp.Expr:
    """At least KL(p_{T_0} || samples), from at least KL(p_T || N(0, I)), E_s and E_h.

    In continuous time (h to 0, the reversed equation itself with f) E_h is 0 and E_s the integral of E|f - s_t|^2.
    """
    return start + score_error + discretisation


# Pinsker, and Bretagnolle and Huber, whose bound is below 1 always and the smaller one for KL > 1.594.
def total_variation(divergence: sp.Expr) -> sp.Expr:
    """At least the total variation of two laws, from at least their KL."""
    return sp.Min(sp.sqrt(divergence / 2), sp.sqrt(1 - sp.exp(-divergence)))


# e^(-t) s_t(x_t) is a martingale in reversed time, so that e^(-2t) I_t falls with t. With u = t_k - r in step k,
# I_u - e^(-2r) I_{t_k} <= e^(2u) (e^(-2 t_{k+1}) I_{t_{k+1}} - e^(-2 t_k) I_{t_k}). Integrate over the step, and sum.
def discretisation_bound(first: sp.Expr, between: sp.Expr, last: sp.Expr) -> sp.Expr:
    """At least E_h, from `first` <= I_T, `between` >= the sum of I_{t_k} over 0 < k < M, and `last` >= I_{T_0}."""
    return (sp.exp(2 * h) - 1) / 2 * (last - sp.exp(-2 * h) * first + (1 - sp.exp(-2 * h)) * between)


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
