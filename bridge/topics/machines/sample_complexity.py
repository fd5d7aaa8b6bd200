"""Sample complexity: explicit bounds beside small classes that are known exactly."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from numeric.balls import float_below
from numeric.topics.machines import complexities as exact
from symbolic.topics.machines import sample_complexity as theory
from symbolic.words.errors import UsageError
from symbolic.words.prose import prose

STATED = theory.SAMPLE_COMPLEXITY
NO_LOGARITHM = prose("printed: `log p = 0` at `p = 1`, and the order is read for `p >= 2`")
NO_FLOOR = "printed: the floor is 0 here, and the order is read where it is at least 1"
SMALL_BALLS = ((2, 0.25), (3, 0.4))  # dimension and radius: packings in the unit ball
AVERAGES = ((2, 1), (2, 4), (3, 4))  # dimension and vertices averaged; the first is sharp
FINE = 12  # parts of a unit on the grid of the small balls
SMALL = 3  # dimensions of which there is a grid
COUNTED = 2**40  # samples up to which float64 counts the small classes well enough to judge by
NOT_COUNTED = prose("the class is counted up to `n = 2^40`")
ACCURACY = 1e-9  # relative: rounding of the number of a class
TWO_TARGETS = (
    "measured: with at most this many samples, any rule exceeds that error with probability `delta` or more for one of "
    "two targets, which differ at one input"
)


def radii(alpha: float, gamma: float) -> float:
    """alpha / gamma. Raises UsageError beyond float64."""
    if not math.isfinite(alpha / gamma):
        raise UsageError(f"{STATED.id}: alpha / gamma = {alpha:g} / {gamma:g} is beyond float64")
    return alpha / gamma


def measured(number: float, remark: str, **more: Any) -> Sides:
    return Sides(within(number, ACCURACY * number), measured=number, remark=f"measured: {remark}", **more)


# An order is outside its range where its logarithm or its floor is 0.


def in_range(p: int) -> Mapping[str, str]:
    return {} if p > 1 else {"printed": NO_LOGARITHM}


def in_range_of_cover(alpha: float, p: int, gamma: float, eps: float) -> Mapping[str, str]:
    at = {theory.alpha: alpha, theory.p: p, theory.gamma: gamma, theory.eps: eps}
    printed = evaluate_ball(theory.PRINTED_COVER, at)
    return in_range(p) or ({"printed": NO_FLOOR} if printed == 0 else {})


# The classes.


def two_functions(eps: float, n: int, delta: float) -> Sides:
    """Two functions: one of constant surrogate loss eps, one wrong with a probability that a sample underrates."""
    error = exact.missed_error(eps, n, delta) if n <= COUNTED else None
    if error is None:
        return Sides(remark=NOT_COUNTED if n > COUNTED else "float64 does not hold the two functions")
    if exact.pair_complexity_above(eps, error, n) > eps:
        return Sides(remark="not measured: Rad of two functions exceeds `eps`")
    return measured(error, f"two functions whose minimiser has this error with probability {plain(delta)}, exactly")


def farthest_average(p: int, k: int) -> Sides:
    seen = exact.farthest(exact.l1_grid(p, FINE), exact.vertex_averages(p, k))
    return Sides(seen, remark=f"measured: on a grid of step `1/{FINE}`, over all averages")


def cover(alpha: float, p: int, gamma: float, eps: float) -> Sides:
    outside = in_range_of_cover(alpha, p, gamma, eps)
    radius = gamma * eps / alpha
    if p <= SMALL:
        seen = math.log(exact.packing(exact.l1_grid(p, FINE), radius))
        return measured(seen, "a packing, a lower bound of every cover", outside=outside)
    if radius >= 1 / math.sqrt(2):
        return Sides(outside=outside)
    apart = "the vertices `+-alpha e_j` are more than `2 gamma eps` apart, so that each needs a ball of its own"
    return measured(math.log(2 * p), apart, outside=outside)


def cube(ratio: float, p: int, n: int) -> Sides:
    outside = in_range(p)
    if n > COUNTED:
        return Sides(remark=NOT_COUNTED, outside=outside)
    q = max(1, min(p, math.floor(ratio)))
    seen = exact.cube_complexity(q, n, min(1.0, ratio))
    inputs = f"the class whose margins at {q} equally likely inputs are coordinates of `theta`, by formula"
    return measured(seen, inputs, outside=outside)


def two_targets(ratio: float, eps: float, n: int, delta: float) -> Sides:
    """Two targets that differ at an input of mass eta, which n samples miss with probability 2 delta."""
    if ratio < 1 or 2 * delta >= 1:
        why = "`alpha < gamma`: no two targets in the ball" if ratio < 1 else "no row for `delta >= 1/2`"
        return Sides(remark=why)
    eta = min(-math.expm1(math.log(2 * delta) / n), 1 - eps)
    remark = (
        f"for one of two targets that differ at an input of mass `eta = {plain(eta)}`, the error of any rule is "
        "`eps + eta` with probability `delta` or more"
    )
    return measured(eps + eta, remark)


def samples(ratio: float, p: int, eps: float, delta: float) -> Sides:
    outside = in_range(p)
    return Sides(outside=outside) if 2 * eps >= 1 else too_few(ratio, eps, delta, outside=outside)


def too_few(ratio: float, eps: float, delta: float, outside: Mapping[str, str]) -> Sides:
    """Too few samples for any rule: two targets that differ at one input of mass a little above eps."""
    if 2 * delta >= 1 or ratio < 1:
        return Sides(outside=outside)
    fewest = float_below(evaluate_ball(theory.FEWEST, {theory.eps: eps, theory.delta: delta}))
    return Sides(math.floor(fewest), remark=TWO_TARGETS, outside=outside)


def of_networks(ratio: float, eps: float, delta: float) -> Sides:
    return too_few(ratio, eps, delta, outside={})


def missed_input(ratio: float, p: int, gamma: float, n: int, delta: float) -> Sides:
    """theta is right, with margin gamma, but for one input, which n samples miss with probability delta."""
    more: dict[str, Any] = {"outside": in_range(p), "letters": {theory.rho_mean: gamma}}
    if ratio < 1:
        return Sides(**more)
    missed = -math.expm1(math.log(delta) / n)
    return measured(missed, "one input that the sample misses with probability `delta`", **more)


SIDES: Mapping[str, Callable[..., Sides]] = {
    "proposition": two_functions,
    "vertices": farthest_average,
    "cover": cover,
    "rademacher": cube,
    "minimiser": two_targets,
    "samples": samples,
    "circuits": of_networks,
    "turing": of_networks,
    "margins": missed_input,
}
POINTS = {
    "vertices": [{"alpha": 1.0, "p": p, "k": k} for p, k in AVERAGES],
    "cover": [{}, *({"alpha": 1.0, "p": p, "gamma": 1.0, "eps": radius} for p, radius in SMALL_BALLS)],
}
SAMPLE_COMPLEXITY = Theorem(
    STATED,
    main="samples",
    built={"ratio": radii},
    checks=checks_of(STATED, SIDES, POINTS),
)
