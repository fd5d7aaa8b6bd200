"""Girsanov's theorem: how far the samples of a diffusion model are from the data, by the error of its score.

Forward, dX = -X dt + sqrt(2) dW takes data x_0 to x_t = a x_0 + sqrt(1 - a^2) z, a = e^(-t), of density p_t and score
s_t. The sampler goes back from time T to T_0 > 0 in M steps of length h = (T - T_0)/M, at the times t_k = T - k h, from
y_0 ~ N(0, I):

    y_{k+1} = e^h y_k + 2 sinh(h) f_k(y_k) + sqrt(e^(2h) - 1) z_k,      z_k ~ N(0, I) independent.

With the score for f_k that is Tweedie's mean of x at t_{k+1}, given x at t_k (ancestral sampling).
"""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import nonnegative, positive, whole
from symbolic.derivations.operations import Unread


# Between t_k and t_{k+1} the sampler solves dy = (y + 2 e^(-r) f_k(y_k)) dr + sqrt(2) dB, r = t_k - u; the reversed
# process solves dx = (x + 2 s_u(x)) dr + sqrt(2) dB (Anderson; s_u is smooth for u >= T_0). With P its law on paths and
# Q that of the sampler, started at p_T and at N(0, I),
#
#     KL(P || Q) = KL(p_T || N(0, I)) + (1/2) E_P int |2 s_u(x_u) - 2 e^(-r) f_k(x_{t_k})|^2 / 2 dr.          (1)
#
# No condition of Novikov is asked for: stop both when the path leaves the ball of radius m. If each f_k is bounded on
# bounded sets, the difference of the drifts is bounded until then, so that (1) holds up to the stopping time. Neither
# process explodes (x is an Ornstein-Uhlenbeck process in reversed time, y is affine in B on each step), so that the
# stopping times pass T_0 under P and under Q. KL on growing sigma-algebras increases to KL on what they generate, and
# the integral by monotone convergence.
# Let u < t_k, and y = x_{t_k}, the sum of e^(-r) x_u and a Gaussian. Then s_{t_k}(y) = e^r E[s_u(x_u) | y]: in the
# gradient of p_{t_k}, pass that of the Gaussian to p_u by parts. In (1) therefore s_u(x_u) - e^(-r) s_{t_k}(y) is
# orthogonal to all functions of y, and its mean square is I_u - e^(-2r) I_{t_k}, I_t = E|s_t(x_t)|^2. Hence
#
#     KL(P || Q) = KL(p_T || N(0, I)) + E_s + E_h,     E_s = (1 - e^(-2h))/2 sum_k E|f_k(x_{t_k}) - s_{t_k}(x_{t_k})|^2,
#     E_h = sum_k int_0^h (I_{t_k - r} - e^(-2r) I_{t_k}) dr,
#
# and the KL of the samples, at the end of the paths, is at most that of the paths. p_{T_0} is what is sampled, not p_0.
def path_divergence(start: sp.Expr, score_error: sp.Expr, discretisation: sp.Expr) -> sp.Expr:
    """At least KL(p_{T_0} || samples), from at least KL(p_T || N(0, I)), E_s and E_h.

    In continuous time (h to 0, the reversed equation itself with f) E_h is 0 and E_s the integral of E|f - s_t|^2.
    """
    return start + score_error + discretisation


def score_error(squares: sp.Expr, step: sp.Expr) -> sp.Expr:
    """E_s, from the sum over the steps of E|f_k - s_{t_k}|^2, and the length of a step."""
    return (1 - sp.exp(-2 * step)) / 2 * squares


# e^(-t) s_t(x_t) is a martingale in reversed time, so that e^(-2t) I_t falls with t. With u = t_k - r in step k,
# I_u - e^(-2r) I_{t_k} <= e^(2u) (e^(-2 t_{k+1}) I_{t_{k+1}} - e^(-2 t_k) I_{t_k}). Integrate over the step, and sum.
def discretisation_bound(first: sp.Expr, between: sp.Expr, last: sp.Expr, step: sp.Expr) -> sp.Expr:
    """At least E_h, from `first` <= I_T, `between` >= the sum of I_{t_k} over 0 < k < M, and `last` >= I_{T_0}."""
    return (sp.exp(2 * step) - 1) / 2 * (last - sp.exp(-2 * step) * first + (1 - sp.exp(-2 * step)) * between)


# KL is convex, and p_T is a mixture of the laws N(a x_0, (1 - a^2) I): it is at most the mean of their divergences,
# (|a x_0|^2 - d a^2 - d log(1 - a^2))/2. Equality: one point x_0.
def start_divergence(moment: sp.Expr, dim: sp.Expr, time: sp.Expr) -> sp.Expr:
    """At least KL(p_T || N(0, I)), from at least E|x_0|^2."""
    squared = sp.exp(-2 * time)
    return (squared * (moment - dim) - dim * sp.log(1 - squared)) / 2


# s_t is the mean of -(x_t - a x_0)/(1 - a^2) given x_t, whose mean square is d/(1 - a^2). Equality: one point x_0.
def largest_information(dim: sp.Expr, time: sp.Expr) -> sp.Expr:
    """At least I_t, for any data."""
    return dim / (1 - sp.exp(-2 * time))


# Pinsker, and Bretagnolle and Huber, whose bound is below 1 always and the smaller one for KL > 1.594.
def total_variation(divergence: sp.Expr) -> sp.Expr:
    """At least the total variation of two laws, from at least their KL."""
    return sp.Min(sp.sqrt(divergence / 2), sp.sqrt(1 - sp.exp(-divergence)))


# The above, with a sum of squares of at most M (e^2 + beyond). The total variation is the largest |Q(A) - P(A)| over
# all sets A. Equality, in the limit M, T -> oo and T_0, delta -> 0: data of the density (1 + delta sign(x)) phi(x), phi
# that of N(0, 1), and f = -x, the score of phi. The sampler keeps its symmetry, so that Q(x > 0) = 1/2, where the data
# have (1 + delta)/2. The squares are those of the score of p_t/phi, whose integral over t is KL(p_0 || phi), about
# delta^2/2 (de Bruijn); Pinsker's inequality is an equality for two values whose ratio tends to 1.
def girsanov(
    score: Approximated,
    name: str,
    *,
    start_time: Any,
    end_time: Any,
    steps: Any,
    beyond: Any,
    moment: Any = None,
    start: Any = None,
    information: Any = None,
    discretisation: Any = None,
    reason: str = "",
) -> Approximated:
    """The probability of an event, any one, under samples that a learnt score draws, against that under p_{T_0}.

    Data x_0 are noised to x_t = e^(-t) x_0 + sqrt(1 - e^(-2 t)) z, z ~ N(0, I), of law p_t and score s_t. The sampler
    goes from T = `start_time` to T_0 = `end_time` > 0 in M = `steps` steps of length h = (T - T_0)/M, at t_k = T - k h:

        y_0 ~ N(0, I),    y_{k+1} = e^h y_k + 2 sinh(h) f_k(y_k) + sqrt(e^(2 h) - 1) z_k.

    `score` is s_t in the 2-norm, with the learnt score for the approximate one; its size is not used. Its error e: the
    mean over the times t_k, at which a step begins, of E|f_k - s_{t_k}|^2 is at most e^2. So it is if e bounds
    |f_k - s_{t_k}| at every x. If e does so on a set alone, `beyond` is at least E[|f_k - s_{t_k}|^2; x outside of the
    set] at each t_k; `beyond` = 0 says that e holds at every x. Each f_k is measurable and bounded on bounded sets. An
    error that holds with probability is refused: its events are about one x, and these are all.

    `moment` >= E|x_0|^2 of the data, or `start` >= KL(p_T || N(0, I)) in its place. `information` >= E|s_t(x_t)|^2 at
    each time from T_0 on (by default dim/(1 - e^(-2 T_0)), which holds for all data); or `discretisation`, at least the
    sum over k of the integral over 0 <= r <= h of I_{t_k - r} - e^(-2 r) I_{t_k}, I_t = E|s_t(x_t)|^2.

    Network and reference of a theorem that ends in it give the probability of an event, by the samples and by p_{T_0}.
    """
    require_norm("girsanov", score, Norm.TWO)
    if score.events:
        raise DerivationError(
            f"girsanov: the error of '{score.name}' holds with probability, at one argument, and '{name}' takes it at "
            f"all of them and at every step; give an error that is known at all of them, for the weights at hand"
        )
    T, T_0, M, beyond = (as_expr(each) for each in (start_time, end_time, steps, beyond))
    h = (T - T_0) / M
    told = {"moment": moment, "start": start, "information": information, "discretisation": discretisation}
    known = {what: as_expr(number) for what, number in told.items() if number is not None}
    begun, rest = _start(name, known, score.dim, T), _discretisation(name, known, score.dim, T_0, M, h)
    owed = (
        *positive("girsanov", name, end_time=T_0, duration=T - T_0),
        *whole("girsanov", name, least=1, steps=M),
        *nonnegative("girsanov", name, beyond=beyond, **known),
    )
    squares = M * (score.error_symbol**2 + beyond)
    step = rule_step(
        name,
        Norm.INF,
        "Girsanov's theorem",
        total_variation(path_divergence(begun, score_error(squares, h), rest)),
        reason=reason or "by Girsanov's theorem",
        assumed=_premises(name, score, known, T, T_0, M, beyond),
        obligations=owed,
        operation=Unread("an event under random samples is no function of a score at one point"),
    )
    return score.follows(step, dim=sp.S.One, size=sp.S.One)


# What the bound takes, in words: no condition on letters says it.
FURTHER = {
    "moment": "the mean of `||x_0||_2^2` is at most `{}`",
    "start": "the Kullback-Leibler divergence of `x_t` at `t = {start}` from a standard normal vector is at most `{}`",
    "information": "the mean of `||s_t(x_t)||_2^2` is at most `{}` for every `t >= {end}`",
    "discretisation": "the integrals over `0 <= r <= h` of the mean of `||s_(t - r)(x_(t - r))||_2^2` less `e^(-2 r)` "
    "times that of `||s_t(x_t)||_2^2` add up to at most `{}` over the times `t` at which steps begin",
}
BEGINS = "at each time `t` at which a step begins"


def _premises(
    name: str, score: Approximated, known: Mapping[str, sp.Expr], start: sp.Expr, end: sp.Expr, steps: sp.Expr,
    beyond: sp.Expr,
) -> tuple[str, ...]:  # fmt: skip
    T, T_0, M = map(sp.sstr, (start, end, steps))
    alone = len(score.derivation.steps) == 1
    within = f"at most `{sp.sstr(score.error)}`" if alone else "within the bound of the derivation"
    everywhere = f"`||f(x, t) - s_t(x)||_2` is {within} for every `x`, {BEGINS}"
    apart = (
        f"`||f(x, t) - s_t(x)||_2` is {within} for every `x` of a set, and the mean of its square at `x = x_t`, "
        f"counted as 0 in the set, is at most `{sp.sstr(beyond)}`, {BEGINS}"
    )
    return (
        "`x_t = e^(-t) x_0 + sqrt(1 - e^(-2 t)) z` for data `x_0` and an independent standard normal vector `z`, and "
        "`s_t` is the gradient of the logarithm of the density of `x_t`",
        f"the samples begin with a standard normal vector at time `{T}` and end at time `{T_0}`, after `{M}` steps of "
        f"length `h = {sp.sstr((start - end) / steps)}`, of which the one from time `t` takes `y` to `e^h y + (e^h - "
        "e^(-h)) f(y, t) + sqrt(e^(2 h) - 1) z` for an independent standard normal vector `z`",
        f"``{name}`` is the probability of an event under the law of `x_t` at `t = {T_0}`, and ``{name}_hat`` is the "
        "one under the law of the samples",
        "the learnt score `f` is bounded on bounded sets, at each time",
        *(words.format(sp.sstr(known[what]), start=T, end=T_0) for what, words in FURTHER.items() if what in known),
        everywhere if beyond == 0 else apart,
    )


def _start(name: str, known: Mapping[str, sp.Expr], dim: sp.Expr, time: sp.Expr) -> sp.Expr:
    _one_of(name, known, "start", "moment")
    if "start" in known:
        return known["start"]
    if "moment" in known:
        return start_divergence(known["moment"], dim, time)
    raise DerivationError(
        f"girsanov: '{name}' has no bound on where the sampler starts; give moment, at least E|x_0|^2 of the data, or "
        f"start, at least KL(p_T || N(0, I))"
    )


def _discretisation(
    name: str, known: Mapping[str, sp.Expr], dim: sp.Expr, end: sp.Expr, steps: sp.Expr, step: sp.Expr
) -> sp.Expr:
    _one_of(name, known, "discretisation", "information")
    if "discretisation" in known:
        return known["discretisation"]
    most = known.get("information", largest_information(dim, end))
    return most * discretisation_bound(sp.S.Zero, steps - 1, sp.S.One, step)


def _one_of(name: str, known: Mapping[str, sp.Expr], one: str, other: str) -> None:
    if one in known and other in known:
        raise DerivationError(f"girsanov: '{name}' has both {one} and {other}; give one of them")
