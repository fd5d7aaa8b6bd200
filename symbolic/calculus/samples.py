"""Rule 13: what n independent samples tell of a class of losses in [0, 1]: covers, chains, risk minimisers.

The Rademacher complexity of a class is the mean over samples and signs of sup over the class of (1/n) sum sign_i
loss(x_i). Bounds that hold with probability have the share `failure` of all samples to fail.
"""

from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr


# Maurey: a point of the hull is a mean of the vectors v, drawn at random with its weights; the average of k draws is
# the point in expectation, with E ||average - point||^2 = (E ||v||^2 - ||point||^2) / k <= radius^2 / k, so that some
# average is that near. Equality: the point 0, k = 1, vectors of one norm.
def hull_distance(radius: Any, count: Any) -> sp.Expr:
    """2-norm distance within which each point of a convex hull has an average of `count` of its vectors.

    The vectors have norms of at most `radius`.
    """
    return as_expr(radius) / sp.sqrt(as_expr(count))


# There are vectors^count sequences of draws. Equality: count = 1, vectors that are all different.
def log_averages(vectors: Any, count: Any) -> sp.Expr:
    """The logarithm of the number of averages of `count` of so many vectors, an upper bound."""
    return as_expr(count) * sp.log(as_expr(vectors))


# Massart: for N functions with values in an interval of length 2c, centred, which changes no complexity, and s > 0,
# Jensen and Hoeffding's lemma give
#   exp(s E sup) <= E sum over f of exp(s (1/n) sum sign_i f(x_i)) <= N exp(s^2 c^2 / (2n)),
# and s = sqrt(2 n log N) / c is best. Not sharp for a finite N: for all sign patterns of n points the ratio to the
# complexity is sqrt(2 log 2) = 1.18, whatever n is; it tends to 1 for N independent functions as n, N -> oo.
def massart(log_size: Any, half_width: Any, samples: Any) -> sp.Expr:
    """The Rademacher complexity of a finite class, by the logarithm of its size."""
    return as_expr(half_width) * sp.sqrt(2 * as_expr(log_size) / as_expr(samples))


# Chain: f = f_0 + sum over j of (f_j - f_(j-1)) + (f - f_J), where f_J is the nearest to f in the cover of level J,
# and f_(j-1) that of level j - 1 nearest to f_j; the covers consist of members. f_j - f_(j-1) is one of as many
# functions as level j has, with values within +-radius(j - 1); the complexity of a sum is at most the sum of those of
# its parts. Equality: as in `massart`, for levels that are independent.
def level_cost(radius: sp.Expr, log_size: sp.Expr, level: sp.Symbol, samples: Any) -> sp.Expr:
    """The complexity that `level` >= 1 of a chain adds.

    Every member of the class is within radius(level), in the sup norm, of one of the exp(log_size(level)) members of
    that level's cover.
    """
    return sp.simplify(massart(log_size, radius.subs(level, level - 1), samples))


def chained(coarse: Any, cost: sp.Expr, level: sp.Symbol, levels: Any, rest: Any) -> sp.Expr:
    """The complexity by a chain: `coarse` for level 0, `cost` for each of the others, `rest` bounds the last radius."""
    levels = as_expr(levels)
    total = sp.Sum(cost, (level, 1, levels)) if level in cost.free_symbols else levels * cost
    return as_expr(coarse) + total + as_expr(rest)


# With L the risk and L^ that of the sample, L(F^) - L(F*) <= sup_F [(L - L^)(F) - (L - L^)(F*)], as L^(F^) <= L^(F*).
# F* is fixed, so that (L - L^)(F*) has mean 0 and the mean of the sup is at most 2 Rad (symmetrisation; one side is
# enough). One sample moves the sup by at most 2/n: McDiarmid adds sqrt(2 log(1/failure) / n).
# Equality in 2 Rad: all losses that are 0 or 1, at so many points that no two samples are the same; F^ is the one that
# is 1 at all others. The ratio of the last term tends to 1 for two losses that differ by +-1, many samples, and then
# failure -> 0.
def minimiser_risk(best: Any, complexity: Any, *, samples: Any, failure: Any) -> sp.Expr:
    """The risk of the empirical risk minimiser F^, with probability 1 - failure; `best` is the risk of the best F*."""
    spread = sp.sqrt(2 * sp.log(1 / as_expr(failure)) / as_expr(samples))
    return as_expr(best) + 2 * as_expr(complexity) + spread


# L - L^ for all of the class at once: one sample moves the sup by at most 1/n. Equality in 2 Rad:
# as above. The ratio of the other term is 1.11 for one loss that is 1 with the probability q = 0.72, and 0 in all n
# samples with the probability (1 - q)^n of failure; it tends to 1 for many samples of a fair coin, then failure -> 0.
def uniform_deviation(complexity: Any, *, samples: Any, failure: Any) -> sp.Expr:
    """Risk less empirical risk, for every member of the class at once, with probability 1 - failure."""
    return 2 * as_expr(complexity) + sp.sqrt(sp.log(1 / as_expr(failure)) / (2 * as_expr(samples)))


# Equality: it is that probability.
def never_drawn(mass: Any, samples: Any) -> sp.Expr:
    """The probability that no sample is in a set of that mass."""
    return (1 - as_expr(mass)) ** as_expr(samples)


# (1 - mass)^n is share at n = log(share) / log(1 - mass), and decreases in n.
def samples_that_miss(mass: Any, share: Any) -> sp.Expr:
    """Fewer samples than this are never in a set of that mass with a probability above `share`."""
    mass = as_expr(mass)
    if mass.is_nonpositive or (mass - 1).is_nonnegative:
        raise DerivationError(f"samples_that_miss: the mass is {sp.sstr(mass)}; give one in (0, 1)")
    return sp.log(as_expr(share)) / sp.log(1 - mass)
