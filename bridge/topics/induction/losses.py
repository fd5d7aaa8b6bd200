"""induction.losses: (19) and (22) of wang2024, and Lemmas D.3 and D.4, against the definitions they are computed from.

Closed forms are compared with one another symbolically, and with the definitions by quadrature or term by term (to
its error), by sampling the true softmax (to five standard errors). Where (10) ends its sums early, or the softmax is
not the exponential, the difference is a row of its own with its order in 1/L.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import sympy as sp
import torch

from bridge.judging.orders import order_sides
from bridge.limits.cost import PRODUCT, Cost, Work
from bridge.limits.run import Format
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from numeric.topics.induction import losses as exact
from numeric.topics.induction.losses import Estimate, Sampling, WeightedHead
from numeric.topics.induction.training import TwoLayer
from symbolic.topics.induction import losses as theory
from symbolic.topics.induction import losses_derivation as derived
from symbolic.topics.induction import training as letters

SIGMAS = 5  # two numbers agree if this many standard errors apart at most; a false alarm in 1.7 million
ORDER_SIZES = (8, 16, 32)  # n = L - 2 at which orders in 1/n are read off
SAMPLES = 30_000  # contexts for the true softmax, fewer where they are long
NUMBERS = 1_000_000  # contexts times tokens at each node of x_L
MOMENTS = (-0.9, 0.9)  # a of Lemma D.3
BEYOND = -1.25  # an a outside of |a| < 1, at which the mean of Lemma D.3 is infinite
REACH = 8.0
TINY = 1e-14  # a loss below this is due to rounding
DERIVED = ("derived",)


def beside_definition(name: str, value: Estimate, **more: Any) -> Sides:
    """The closed forms of a quantity beside its definition; the printed one is proved where it is the derived one."""
    proved = ("printed", *DERIVED) if theory.is_derived(name) else DERIVED
    return Sides(within(value.value, value.error), measured=value.value, proved=proved, **more)


# Each loss from its definition, with the network's sums to `upper`.


def gram_of(name: str, upper: str) -> Callable[..., Sides]:
    def sides(L: int, alpha: float, p: float, g: float, dtype: str, device: str) -> Sides:
        at, run = {"p_first": math.inf, "p": p, "g": g, "w_Q": 0.0, "w_K": 0.0, "h": 0.0}, Format.named(dtype, device)
        network = TwoLayer(L, at, upper=upper, dtype=run.dtype, device=run.device)
        g_star = alpha / (1 + alpha)
        value = exact.gram_by_weights(network, g_star)
        return beside_definition(name, Estimate(value, rounding(L, (g + g_star + 1) ** 2, run.dtype)))

    return sides


def rounding(length: int, size: float, dtype: torch.dtype) -> float:
    """Of the sum of L squares of weights that are each off by a few units of their last place, and sum to 1."""
    return float(4 * (length + 4) * torch.finfo(dtype).eps * size)


def heads(alpha: float, w_star: float, w: float, h: float, upper: str = "L-1") -> tuple[WeightedHead, WeightedHead]:
    """The target's and the trained one."""
    return WeightedHead(w_star**2, 1 / (1 + alpha)), WeightedHead(w**2, h, upper)


def head_of(name: str, upper: str) -> Callable[..., Sides]:
    def sides(L: int, alpha: float, w_star: float, w: float, h: float) -> Sides:
        return beside_definition(name, exact.head_exponential(*heads(alpha, w_star, w, h, upper), L))

    return sides


def squares(L: int, p: float) -> Sides:
    return beside_definition("squares", Estimate(exact.squares_by_softmax(L, p), rounding(L, 1.0, torch.float64)))


def moment(a: float) -> Sides:
    """Lemma D.3 at one a."""
    return beside_definition("gaussian", exact.gaussian_moment(a), letters={derived.a: a})


def beyond(a: float) -> Sides:
    measured = exact.gaussian_moment(a, REACH).value
    return Sides(
        measured=measured,
        outside=f"hypothesis `|a| < 1` is not met: `a = {plain(a)}`",
        remark=f"measured: the mean over `|Y| <= {REACH:g}`",
    )


# The true softmax.


@dataclass(frozen=True)
class SoftmaxLoss:
    """The loss of the true softmax by sampling, beside the first order in 1/L ("derived") and (22) ("printed")."""

    alpha: float
    w_star: float
    w: float
    h: float
    seed: int

    def true(self, length: int) -> Estimate:
        return _sampled(self, length)

    def form(self, which: str, length: int) -> float:
        softmax, head = theory.LOSSES.quantity("head.softmax"), theory.LOSSES.quantity("head").printed
        assert head is not None
        return self._at(softmax.closed_form if which == "derived" else head.bound, length)

    def _at(self, form: sp.Expr, length: int) -> float:
        values = {letters.alpha: self.alpha, letters.w_star: self.w_star, letters.w: self.w, letters.h: self.h}
        return float(evaluate_ball(form, {letters.L: length, **values}))

    def gaps(self, which: str) -> dict[int, float]:
        return {n: self.form(which, n + 2) - self.true(n + 2).value for n in ORDER_SIZES}

    def second_order(self, length: int) -> float:
        """The allowance of a first order at this L: twice the 1/n^2 term of the true loss, with its own error.

        n loss = A + B/n + ...: B comes from two sizes of the true softmax, whatever formula there is for A.
        """
        small, large = ORDER_SIZES[0], ORDER_SIZES[-1]
        scaled = {n: n * self.true(n + 2).value for n in (small, large)}
        error = math.hypot(*(n * self.true(n + 2).error for n in (small, large)))
        slope = (abs(scaled[small] - scaled[large]) * 2 + SIGMAS * error) / (1 / small - 1 / large)
        return slope / (length - 2) ** 2


@lru_cache(maxsize=64)
def _sampled(loss: SoftmaxLoss, length: int) -> Estimate:
    contexts = max(32, min(SAMPLES, NUMBERS // length))
    sampling = Sampling(contexts=contexts, seed=loss.seed)
    return exact.head_softmax(*heads(loss.alpha, loss.w_star, loss.w, loss.h), length, sampling)


# A first order that misses the sampled loss by more than the allowance contradicts it; an allowance that covers (22) as
# well supports nothing, unless both are equal.
def softmax_loss(L: int, alpha: float, w_star: float, w: float, h: float, seed: int) -> Sides:
    """The first order in 1/L against the network's own softmax, and how far (22) is off."""
    loss = SoftmaxLoss(alpha, w_star, w, h, seed)
    true, forms = loss.true(L), {which: loss.form(which, L) for which in ("printed", "derived")}
    off = {which: abs(number - true.value) for which, number in forms.items()}
    allowed, size = SIGMAS * true.error + loss.second_order(L), true.value or 1.0
    covers_both = forms["printed"] != forms["derived"] and off["printed"] <= allowed
    words = [
        f"softmax sampled given `x_L`, standard error {plain(true.error)}; (22) is off by {off['printed'] / size:.2%}, "
        f"the first order by {off['derived'] / size:.2%}, allowed {allowed / size:.2%} (the `1/L^2` term, from the "
        f"sampled values at `L = {ORDER_SIZES[0] + 2}` and {ORDER_SIZES[-1] + 2} alone)",
        "too few tokens to tell it from (22)" if covers_both else "",
    ]
    supported = DERIVED if off["derived"] <= allowed and not covers_both else ()
    return Sides(measured=true.value, computed=supported, remark="; ".join(filter(None, words)))


# Orders in 1/n, n = L - 2.


NO_ORDER = "no order: there is no difference, or no loss to relate it to (the trained head is the target)"
of_order = partial(order_sides, words=lambda n: f"`L = {n + 2}`", nothing=NO_ORDER)


def early_order(alpha: float, w_star: float, w: float, h: float) -> Sides:
    """The relative difference of the two sums, as L grows: of order 1/L, from definitions alone."""
    gaps = {}
    for n in ORDER_SIZES:
        both = (heads(alpha, w_star, w, h, upper) for upper in ("L-1", "L-2"))
        whole, short = (exact.head_exponential(*each, n + 2).value for each in both)
        gaps[n] = (short - whole) / whole if abs(whole) > TINY else 0.0  # 0: nothing to be relative to
    return of_order(1, gaps, proved=derived.early_gap_is_first_order())


def softmax_order(which: str, order: int) -> Callable[..., Sides]:
    """The error of the first order, as L grows (of order 1/L^2), and that of (22) (of order 1/L)."""

    def sides(alpha: float, w_star: float, w: float, h: float, seed: int) -> Sides:
        loss = SoftmaxLoss(alpha, w_star, w, h, seed)
        gaps = loss.gaps(which)
        seen = all(abs(gap) > SIGMAS * loss.true(n + 2).error for n, gap in gaps.items())
        return of_order(order, gaps, seen=seen)

    return sides


CHECKS: Mapping[str, tuple[Any, ...]] = {
    "gram": (gram_of("gram", "L-1"),),
    "gram.as_printed": (gram_of("gram.as_printed", "L-2"), lambda p, g: {"p": [p], "g": [g]}),
    "head": (head_of("head", "L-1"),),
    "head.as_printed": (head_of("head.as_printed", "L-2"), lambda w, h: {"w": [w], "h": [h]}),
    "head.optimum": (
        head_of("head.optimum", "L-2"),
        lambda w_star, alpha: {"w": [w_star], "h": [1 / (1 + alpha)]},
    ),
    "head.as_printed.order": (early_order,),
    "head.softmax": (softmax_loss,),
    "head.softmax.order": (softmax_order("derived", 2),),
    "head.softmax.order[(22)]": (softmax_order("printed", 1),),
    "gaussian": (moment, [{"a": a} for a in MOMENTS]),
    "gaussian.beyond": (beyond, {"a": BEYOND}),
    "squares": (squares,),
}
LOSSES = Theorem(
    theory.LOSSES,
    main="head",
    checks=tuple(Check(theory.LOSSES.quantity(name), *how) for name, how in CHECKS.items()),
    work=lambda L: Work(before=Cost(320 * L, 12e3 * PRODUCT * L)),  # a few dozen copies are held at once
)
