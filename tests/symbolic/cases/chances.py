"""Random draws: means on their events, and samples of a learnt score."""

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Event,
    Norm,
    add,
    cover,
    expected_mean,
    girsanov,
    given,
    sample_mean,
    union_bound,
    within_budget,
)
from tests.symbolic.cases.case import Half, RuleCase, number, shown, value
from tests.symbolic.cases.diffusions import Sampled, shifted, tilted
from tests.symbolic.fuzzing.realised import Realised

SHARE = sp.Rational(1, 10)


def sample_mean_sharp(sigma: float | None) -> Realised:
    """Nine draws: the mean is as far from its expectation as the event allows."""
    exact = np.array([2.0, -1.0])
    near, more = exact + 0.25, {} if sigma is None else {"sub_gaussian": sigma}
    result = sample_mean(value("x", exact, near), "mean", count=9, event=Event("E", "draws", SHARE), **more)
    far = (2.0 if sigma is None else sigma) * np.sqrt(2 * np.log(2 * 2 / 0.1) / 9)
    return shown(result, exact, near + far)


def union_sharp() -> Realised:
    x = np.array([0.5, -1.0])
    return shown(union_bound(value("x", x, x + 0.25), "largest", members=7), x, x + 0.25)


def cover_sharp() -> Realised:
    """x_hat moves by 2/10 and x by 3/10, apart."""
    x, near = np.array([1.0, -0.5]), np.array([0.75, -0.75])
    result = cover(value("x", x, near), "class", members=7, radius=Half / 5, lipschitz=2, exact_lipschitz=3)
    return shown(result, x + 0.3, near - 0.2)


def budget_sharp() -> Realised:
    """Two events share 1/5; one of them is counted four times."""
    one = sample_mean(number(0, "x"), "one", count=4, event=Event("one", "draws"))
    two = sample_mean(number(0, "y"), "two", count=9, event=Event("two", "draws"), sub_gaussian=3)
    both = add(union_bound(one, "all", members=4), two, name="both")
    far = np.sqrt(2 * np.log(2 * 4 / 0.1) / 4) + 3 * np.sqrt(2 * np.log(2 / 0.1) / 9)
    return shown(within_budget(both, "error", delta=SHARE * 2), 2.0, 2.0 + far)


def expected_sharp() -> Realised:
    """One draw, 0 or 2, each as likely: its distance to 1 is always 1."""
    x = given("x", dim=1, size=1)
    return shown(expected_mean(x, "mean", count=1, over="the sample", deviation=1), 1.0, 2.0)


MANY, LATE, EARLY = 10**11, 10.0, 1e-9  # steps, and times, in the limit in which the bound is attained


def sampled(found: Sampled, T: float, T_0: float, steps: int, dim: int = 1) -> Realised:
    score = given("score", dim=dim, norm=Norm.TWO, size=1, error=float(found.off))
    result = girsanov(score, "event", start_time=T, end_time=T_0, steps=steps, beyond=0, **found.told)
    return shown(result, found.exact, found.near)


def samples_sharp() -> Realised:
    return sampled(tilted(0.01, LATE, EARLY), LATE, EARLY, MANY)


def samples_certain() -> Realised:
    """The event that always happens."""
    return sampled(Sampled(1.0, 1.0, 0.0, {"moment": 1.0}), 1.0, 0.5, 2)


def samples_random(rng: np.random.Generator) -> Realised:
    steps, dim = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    T_0 = rng.uniform(0.02, 1)
    T = T_0 + rng.uniform(0.1, 3)
    if rng.random() < 0.5:
        return sampled(tilted(rng.uniform(0.05, 0.95), T, T_0), T, T_0, steps)
    mean, off, place = rng.uniform(0, 3), rng.uniform(-2, 2), rng.uniform(-2, 2)
    found = shifted(mean, off, place, T, T_0, steps, dim)
    if rng.random() < 0.5:  # the divergence of two Gaussians for the moment, and any data for these
        found = Sampled(found.exact, found.near, found.off, {"start": np.exp(-2 * T) * mean**2 / 2})
    return sampled(found, T, T_0, steps, dim)


CASES = [
    RuleCase("sample_mean", "sample_mean", lambda: sample_mean_sharp(None)),
    RuleCase("sample_mean of noise", "sample_mean", lambda: sample_mean_sharp(3.0)),
    RuleCase("union_bound", "union_bound", union_sharp),
    RuleCase("cover", "cover", cover_sharp),
    RuleCase("within_budget", "within_budget", budget_sharp),
    RuleCase("expected_mean", "expected_mean", expected_sharp),
    RuleCase("girsanov", "girsanov", samples_sharp, samples_random, samples_certain, trials=30),
]
