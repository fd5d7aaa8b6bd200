"""Rules on random draws: the largest error that the event allows, or the expected one, in units of the bound."""

import math
from functools import lru_cache

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Event,
    Norm,
    change_norm,
    cover,
    expected_mean,
    girsanov,
    given,
    sample_mean,
    union_bound,
    within_budget,
)
from tests.symbolic.cases.case import shown
from tests.symbolic.cases.chances import EARLY, LATE, MANY
from tests.symbolic.cases.diffusions import tilted
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.sharpness.attaining import DIM, Attaining, along, shown_along

SHARE = sp.Rational(1, 100)


# Z = +-t with probability p/2 each, else 0: E exp(s Z) = 1 - p + p cosh(s t) is at most exp(s^2 / 2) for all s.
@lru_cache
def farthest(p: float) -> float:
    """The largest t of such a Z that is sub-Gaussian with sigma = 1; it deviates by t with probability p."""
    s = np.linspace(1e-3, 3 * math.sqrt(2 * math.log(2 / p)) + 3, 4_000)

    def allowed(t: float) -> bool:
        moment = np.logaddexp(math.log(p / 2) + s * t, math.log(p / 2) - s * t)
        if p < 1:
            moment = np.logaddexp(moment, math.log1p(-p))
        return bool(np.all(moment <= s**2 / 2 + 1e-14))

    low, high = 0.0, math.sqrt(2 * math.log(2 / p))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def one_draw(which: Norm) -> Realised:
    """One sub-Gaussian draw that deviates as far as it can with the probability of the share."""
    x = given("x", dim=1, norm=which, size=1, error=0.5)
    result = sample_mean(x, "mean", count=1, event=Event("E", "draws", SHARE), sub_gaussian=1)
    return shown(result, 1.0, 1.5 + farthest(float(SHARE)), which)


def many_members(which: Norm) -> Realised:
    """100 members: one of them, drawn at random, deviates by t, all others by 0."""
    x = given("x", dim=1, norm=which, size=1, error=0.5)
    result = expected_mean(x, "mean", count=1, over="draws", members=100, sub_gaussian=1)
    return shown(result, 1.0, 1.5 + farthest(0.01), which)


def two_values(which: Norm) -> Realised:
    """One draw of +-1, in one direction."""
    dim = 1 if which is Norm.INF else DIM
    result = expected_mean(along(which, 1, 0.5, dim=dim), "mean", count=1, over="draws", deviation=1)
    return shown_along(result, 1, 2.5, dim)


def all_members(which: Norm) -> Realised:
    return shown_along(union_bound(along(which, 1, 0.5), "all", members=7), 1, 1.5)


def covered(which: Norm) -> Realised:
    """x_hat and x move apart, by 2/10 and 3/10."""
    result = cover(along(which, 1, 0.5), "class", members=7, radius=0.1, lipschitz=2, exact_lipschitz=3)
    return shown_along(result, 1 - 0.3, 1.5 + 0.2)


def of_one_budget(which: Norm) -> Realised:
    """One event, which takes it all."""
    x = given("x", dim=1, size=1, error=0.5)
    mean = sample_mean(x, "mean", count=1, event=Event("E", "draws"), sub_gaussian=1)
    result = within_budget(change_norm(mean, which, "in the norm"), "y", delta=SHARE)
    return shown(result, 1.0, 1.5 + farthest(float(SHARE)), which)


def drawn_by_a_score(which: Norm) -> Realised:
    """Data with a sign that is a little more likely, and the score of data without."""
    found, times = tilted(0.01, LATE, EARLY), {"start_time": LATE, "end_time": EARLY, "steps": MANY}
    score = given("score", dim=1, norm=which, size=1, error=found.off)
    return shown(girsanov(score, "event", **times, beyond=0, **found.told), found.exact, found.near)


ONE_DRAW = "one draw, 0 or +-t, as far as it may be with the share 1/100"
ATTAINING = (
    Attaining("sample_mean", ONE_DRAW, one_draw),
    Attaining("expected_mean", "one draw of +-sigma", two_values),
    Attaining("expected_mean", "one of 100 members deviates, drawn at random", many_members, variant="members"),
    Attaining("union_bound", "events that exclude each other", all_members),
    Attaining("cover", "x_hat and x move apart", covered),
    Attaining("within_budget", ONE_DRAW, of_one_budget),
    Attaining("girsanov", "one sign of the data is a little more likely, many short steps", drawn_by_a_score),
)
