"""Statements about random draws, judged by independent draws of them: a probability of failure, and an expectation."""

from collections.abc import Sequence

import flint
import numpy as np

LEVEL = 1e-6  # a bound that holds is called violated with at most this probability, in each row
CAP = 4.0  # times the bound: larger errors count as this in a lower limit of their mean


# With F ~ Bin(draws, q), q <= share: P(F >= failures) <= P(Bin(draws, share) >= failures), a regularised incomplete
# beta function at the share.
def p_value(failures: int, draws: int, share: flint.arb) -> flint.arb:
    """The largest probability of at least so many failures among so many independent draws, each failing by a
    probability of at most `share`."""
    if failures == 0 or share >= 1:
        return flint.arb(1)
    if share <= 0:  # a statement that promises more than certainty
        return flint.arb(0)
    return share.upper().beta_lower(failures, draws - failures + 1, regularized=True)


# Maurer and Pontil 2009, Theorem 4, for T - min(X, T) in [0, T]: with a probability of at least 1 - level,
#   E min(X, T) >= mean - sqrt(2 V log(2/level) / n) - 7 T log(2/level) / (3 (n - 1)),
# V the sample variance; and E X >= E min(X, T) for X >= 0, whatever the tail of X is.
def least_mean(errors: Sequence[float] | np.ndarray, bound: float, level: float = LEVEL) -> float:
    """A number that the expectation of errors >= 0 is above, with a confidence of 1 - level."""
    cap = CAP * bound
    capped = np.minimum(np.asarray(errors, dtype=float), cap)
    draws = len(capped)
    if draws < 2 or not np.isfinite(cap):
        return 0.0
    width = np.log(2 / level)
    spare = np.sqrt(2 * capped.var(ddof=1) * width / draws) + 7 * cap * width / (3 * (draws - 1))
    return max(0.0, float(capped.mean() - spare))
