"""Confidence intervals of the centre of a few independent values: by Student's t, and by signs.

Shapes: n values, k columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, stdtrit

T, SIGN = "t", "sign"
SAME = 2.0**-40  # relative: values of a normal law differ by more


@dataclass(frozen=True)
class ConfidenceInterval:
    """The centre of the values, and the ends: each is on the wrong side of it with at most half of the level."""

    centre: float
    low: float
    high: float


def mean_below(values: Sequence[float] | np.ndarray, share: float) -> float:
    """A number that the mean of a normal law is below with probability at most `share`, from independent values.

    -inf for one value, and for values that do not differ: a normal law gives none such.
    """
    x = np.asarray(values, dtype=float)
    if len(x) < 2 or np.ptp(x) <= SAME * np.abs(x).max():
        return -math.inf
    return float(x.mean() - stdtrit(len(x) - 1, 1 - share) * x.std(ddof=1) / math.sqrt(len(x)))


# Let m be a median. The k-th smallest of n values is above m only if at most k - 1 of them are <= m; each is so with a
# probability of at least 1/2, so that this has at most the probability P(Bin(n, 1/2) <= k - 1).
def median_below(values: Sequence[float] | np.ndarray, share: float) -> float:
    """A number that every median of a law is below with probability at most `share`, from independent values.

    It is one of the values, or -inf where they are too few: 2^-n > share.
    """
    x = np.sort(np.asarray(values, dtype=float))
    within = np.flatnonzero(bdtr(np.arange(len(x), dtype=float), len(x), 0.5) <= share)
    return float(x[within[-1]]) if len(within) else -math.inf


BELOW = {T: mean_below, SIGN: median_below}


# theta = max_j theta_j. A low end above theta is above each theta_j: one of k events of probability level/(2 k). A high
# end below theta is below theta_j for the j where theta is: one event of probability level/2, whatever k is.
def largest_centre(columns: np.ndarray, level: float, method: str = T) -> ConfidenceInterval:
    """An interval of confidence 1 - level of the largest of the centres (means, medians) of k columns (n, k).

    The rows are independent, the columns need not be.
    """
    below, k = BELOW[method], columns.shape[1]
    low = max(below(each, level / (2 * k)) for each in columns.T)
    high = max(-below(-each, level / 2) for each in columns.T)
    centres = np.median(columns, axis=0) if method == SIGN else columns.mean(0)
    return ConfidenceInterval(float(centres.max()), low, high)
