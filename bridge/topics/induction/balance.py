"""Parameter balance: what is proved, beside runs of the flow from equal and from unequal starts."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.numbers import plain, plain_apart
from bridge.theorems.theorem import Theorem
from bridge.topics.tools.flows import follow
from symbolic.topics.induction import balance as theory
from symbolic.topics.induction import training as flows
from symbolic.words.errors import UsageError

ID = theory.BALANCE.id
RELATIVE, TIMES = 1e-10, 400  # of the run; its accuracy decides what drift means
DRIFT = 1e-6  # a larger drift is not due to rounding
UNEQUAL = 3.0  # w_Q(0) / w_K(0)
SHORT = 1e-3  # time of a run that measures a rate

States = np.ndarray  # (3, times): w_Q, w_K, h


# The flow of (22) in (w_Q, w_K, h), in the time tau = t / (L-2), run until the head is learnt.

STATE = flows.HEAD_FLOW_FULL.state
FLOW = flows.HEAD_FLOW_FULL.slowed(flows.L - 2).with_letters(flows.OPTIMA)


@lru_cache(maxsize=16)
def run(ratio: float, alpha: float, w_star: float, sigma_init: float) -> States:
    """From w_Q(0) = ratio * w_K(0), w_Q w_K = sigma_init^2, h = sigma_init, at TIMES times."""
    start = (sigma_init * math.sqrt(ratio), sigma_init / math.sqrt(ratio), sigma_init)
    end, accuracy = learnt_by(alpha, w_star, sigma_init), RELATIVE * min(start)
    at = {flows.alpha: alpha, flows.w_star: w_star}
    followed = follow(FLOW, dict(zip(STATE, start, strict=True)), end, at, relative=RELATIVE, absolute=accuracy)
    return followed.at(np.linspace(0.0, followed.end, TIMES), *STATE)


def learnt_by(alpha: float, w_star: float, sigma_init: float) -> float:
    """A time tau by which the head is learnt: w grows at least at the rate h*^2 v*, first from sigma_init."""
    slowest = w_star**2 / (1 + alpha) ** 2
    return (10.0 + math.log(1 / sigma_init)) / slowest + 10.0


# What is conserved.


def is_balanced() -> bool:
    return theory.balance_of_any_loss() and theory.BALANCE_OF in theory.found_balance()


def is_equal() -> bool:
    return is_balanced() and theory.diagonal_is_invariant()


EVERY_LOSS = (
    "proved for every loss in `w_Q w_K` and `h`, that of the true softmax too; found among all polynomials of degree "
    f"{theory.DEGREE} or less"
)
INVARIANT = "`w_Q = w_K` is invariant under the flow"


def conserved(
    name: str, is_proved: Callable[[], bool], why: str, ratio: float, size: Callable[[States, States], float]
) -> Check:
    """A quantity that is 0 by proof, and its size in a run from w_Q(0) = ratio * w_K(0)."""

    def sides(alpha: float, w_star: float, sigma_init: float) -> Sides:
        proved, remark = (("derived",), why) if is_proved() else ((), "")
        if 4 * sigma_init**4 >= 1:
            infinite = f"no run: the loss is infinite at the start: `4 sigma_init^4 = {plain(4 * sigma_init**4)}`"
            return Sides(derived=0, proved=proved, remark="; ".join(filter(None, [remark, infinite])))
        strays = float(size(*run(ratio, alpha, w_star, sigma_init)[:2]))
        return Sides(within(strays, DRIFT), measured=strays, derived=0, proved=proved, remark=remark)

    return Check(theory.BALANCE.quantity(name), sides)


def others() -> Sides:
    found = len(theory.found_balance()) - 1
    return Sides(derived=found, computed=("derived",), remark="by the rank of the rates at random points in 60 digits")


# The printed rate of w over the true one.


def rate_point(alpha: float, w_star: float) -> dict[str, list[float]]:
    return {"w": [w_star / 2], "h": [1 / (1 + alpha)]}


def rate(w: Tensor, h: Tensor, L: int, alpha: float, w_star: float) -> Sides:
    """Both rates at one exact point, enclosed; measured by a short run from there."""
    at = w.item(), h.item()
    if not (at[0] > 0 and 4 * at[0] ** 4 < 1 and at[1] > 0):
        raise UsageError(f"{ID}: 'rate' needs w > 0, 4 w^4 < 1 and h > 0, not w = {at[0]}, h = {at[1]}")
    values = dict(zip((flows.w, flows.h, flows.L, flows.alpha, flows.w_star), (*at, L, alpha, w_star), strict=True))
    true_rate = flows.HEAD_FLOW_FULL.rate(flows.w_Q).subs({flows.w_Q: flows.w, flows.w_K: flows.w})
    rates = (each.subs(flows.OPTIMA) for each in (flows.HEAD_FLOW_PRINTED.rate(flows.w), true_rate))
    printed, true = (evaluate_ball(each, values) for each in rates)
    seen = measured_rate(*at, alpha, w_star) / (L - 2)
    words = plain_apart(float(printed), float(true))
    return Sides(
        printed / true,
        measured=float(printed) / seen if seen else None,
        derived=theory.rate_ratio(),
        proved=("derived",),
        remark=f"at `w = {plain(at[0])}`, `h = {plain(at[1])}`: printed {words[0]}, by (12) {words[1]}, per unit "
        "of `t`",
    )


def measured_rate(w: float, h: float, alpha: float, w_star: float) -> float:
    """dw_Q/dtau from a run over a short time each way."""
    start, at = dict(zip(STATE, (w, w, h), strict=True)), {flows.alpha: alpha, flows.w_star: w_star}
    both = (follow(each, start, SHORT, at, relative=1e-12) for each in (FLOW, FLOW.slowed(-1)))
    (after,), (before,) = (each.last(flows.w_Q) for each in both)
    return (after - before) / (2 * SHORT)


BALANCE = Theorem(
    theory.BALANCE,
    main="balance",
    checks=(
        conserved("balance", is_balanced, EVERY_LOSS, 1.0, lambda q, k: abs(q**2 - k**2).max()),
        conserved("equal", is_equal, INVARIANT, 1.0, lambda q, k: abs(q - k).max()),
        conserved("drift", is_balanced, EVERY_LOSS, UNEQUAL, lambda q, k: np.ptp(q**2 - k**2)),
        Check(theory.BALANCE.quantity("others"), others),
        Check(theory.BALANCE.quantity("rate"), rate, rate_point),
    ),
)
