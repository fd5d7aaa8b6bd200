"""What the losses (19) and (22) of wang2024 really are: by quadrature, by enumeration of terms, by conditioning.

Nothing here knows a closed form of the paper. The exponential loss has an integrand whose samples have infinite
variance for w* >= 1/2, so it is conditioned on x_L = c, where every expectation is a product of one-dimensional
integrals, and c is integrated last. The true softmax is sampled, given each node of c, on contexts common to all.

A head is (slope, weight): weight times the sum over s = 2 .. upper of the attention e^(slope x_L x_{s-1}) x_s.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from numeric.topics.induction.training import BLOCK, LAST_KEYS, TwoLayer, gram_coefficients

Signature = tuple[tuple[float, int], ...]  # for each token that occurs: the tilt k and the power r of E[e^(k c X) X^r]
Array = Float64[np.ndarray, "..."]

REACH = 11.0  # standard deviations: the normal density beyond is below 1e-27 of its peak
NODE_SPACING = 0.25  # of the inner trapezoidal rule; its error for a normal density is below e^(-2 pi^2 / 0.25^2)


@dataclass(frozen=True)
class Estimate:
    """A number with what it may be off by: a quadrature's error, or one standard error of a mean."""

    value: float
    error: float


@dataclass(frozen=True)
class WeightedHead:
    """weight times the sum over s = 2 .. upper; `upper` is "L-1" or "L-2"."""

    slope: float
    weight: float
    upper: str = "L-1"

    def last_key(self, length: int) -> int:
        return length - LAST_KEYS[self.upper]


def gram_by_weights(network: TwoLayer, g_star: float) -> float:
    """L_G4 of the network itself: half the sum of squares of what its first coordinate gives each token.

    That coordinate is linear in X, and the x_tau are independent with mean 0 and variance 1.
    """
    coefficients = gram_coefficients(network).detach().double().cpu()
    coefficients[network.length - 3] -= g_star  # the target g* x_{L-2}
    return float((coefficients**2).sum() / 2)


def squares_by_softmax(length: int, p: float, upper: str = "L-1") -> float:
    """The sum over s = 2 .. upper of softmax^2(-p (L-1-s)), term by term (the left side of Lemma D.4)."""
    last = length - LAST_KEYS[upper]
    logits = torch.tensor([-p * (length - 1 - s) for s in range(2, last + 1)], dtype=torch.float64, device="cpu")
    return float((torch.softmax(logits, 0) ** 2).sum())


def tilted_moment(k: Array, power: int) -> tuple[Array, Array]:
    """E[e^(k X) X^power] of a normal X as (log scale, rest), each of k's shape, by the trapezoidal rule.

    The integrand peaks near X = k, where the nodes are centred; the scale keeps large k from overflowing.
    """
    x = k[..., None] + np.arange(-REACH, REACH + NODE_SPACING / 2, NODE_SPACING)
    log = k[..., None] * x - x**2 / 2
    scale = np.asarray(log.max(-1))
    rest = (np.exp(log - scale[..., None]) * x**power).sum(-1) * NODE_SPACING / math.sqrt(2 * math.pi)
    return scale, np.asarray(rest)


def pair_signature(s: int, other: int, a: float, b: float) -> Signature:
    """What the term e^(a c x_{s-1}) x_s times e^(b c x_{s'-1}) x_{s'} asks of each token in it."""
    tilts: dict[int, float] = {}
    powers: dict[int, int] = {}
    for place, slope in ((s, a), (other, b)):
        tilts[place - 1] = tilts.get(place - 1, 0.0) + slope
        powers[place] = powers.get(place, 0) + 1
    tokens = sorted({*tilts, *powers})
    return tuple(sorted((tilts.get(token, 0.0), powers.get(token, 0)) for token in tokens))


def pair_counts(first: int, second: int, a: float, b: float) -> Counter[Signature]:
    """How often each signature occurs among all pairs s = 2 .. first, s' = 2 .. second.

    The tokens of a pair are s-1, s, s'-1, s': their overlap depends on s' - s alone, and there is none from 2 on.
    """
    found: Counter[Signature] = Counter()
    for difference in (-1, 0, 1):
        start, stop = max(2, 2 - difference), min(first, second - difference)
        if stop >= start:
            found[pair_signature(start, start + difference, a, b)] += stop - start + 1
    apart = (first - 1) * (second - 1) - found.total()
    if apart:
        found[pair_signature(2, 4, a, b)] += apart
    return found


def conditional_product(heads: tuple[WeightedHead, WeightedHead], length: int, c: Array) -> tuple[Array, Array]:
    """E[A B | x_L = c] of the two sums A and B (their weights left out), as (log scale, rest)."""
    one, two = heads
    counts = pair_counts(one.last_key(length), two.last_key(length), one.slope, two.slope)
    scales, rests = [], []
    for signature, count in counts.items():
        moments = [tilted_moment(tilt * c, power) for tilt, power in signature]
        scales.append(np.sum([scale for scale, _ in moments], axis=0))
        rests.append(count * np.prod([rest for _, rest in moments], axis=0))
    top = np.max(scales, axis=0)
    return top, np.sum([rest * np.exp(scale - top) for scale, rest in zip(scales, rests, strict=True)], axis=0)


def expected_product(heads: tuple[WeightedHead, WeightedHead], length: int) -> Estimate:
    """E[A B] over all tokens, x_L last. Raises ValueError where the expectation is infinite: |a + b| >= 1."""
    rate = abs(heads[0].slope + heads[1].slope)
    if rate >= 1:
        raise ValueError(f"expected_product: slopes of sum {rate:g} have an infinite expectation; wanted less than 1")
    reach = REACH / math.sqrt(1 - rate**2)  # e^(rate^2 c^2 / 2) against e^(-c^2 / 2)

    def integral(steps: int) -> float:
        c = np.linspace(-reach, reach, steps + 1)
        scale, rest = conditional_product(heads, length, c)
        return float((np.exp(scale - c**2 / 2) * rest).sum() * (2 * reach / steps) / math.sqrt(2 * math.pi))

    return halved(integral, 64, exponent_error(reach))


# Exponents up to reach^2 / 2 nearly cancel, each rounded; so does 1 - rate^2, of which the value is a power.
def exponent_error(reach: float) -> float:
    """The relative rounding of an integral of exponentials in which c^2/2 is subtracted, |c| <= reach."""
    return 4 * float(np.finfo(np.float64).eps) * reach**2


def halved(integral: Callable[[int], float], steps: int, rounding: float = 0.0) -> Estimate:
    """The trapezoidal rule, twice as fine until it changes no more; the last change, and rounding, are its error."""
    before = integral(steps)
    while True:
        steps *= 2
        now = integral(steps)
        if abs(now - before) <= 1e-12 * abs(now) or steps > 1 << 14:
            return Estimate(now, abs(now - before) + (1e-13 + rounding) * abs(now))
        before = now


def head_exponential(target: WeightedHead, trained: WeightedHead, length: int) -> Estimate:
    """L_IH2 with softmax replaced by exp over L - 2 (Appendix C.2), from its definition, with each head's own sum."""
    parts = [
        (target.weight**2, expected_product((target, target), length)),
        (trained.weight**2, expected_product((trained, trained), length)),
        (-2 * target.weight * trained.weight, expected_product((target, trained), length)),
    ]
    scale = 2 * (length - 2) ** 2
    value = sum(weight * part.value for weight, part in parts) / scale
    return Estimate(value, sum(abs(weight) * part.error for weight, part in parts) / scale)


def gaussian_moment(a: float, reach: float | None = None) -> Estimate:
    """E[exp(a X Y) Z^2] (Lemma D.3), conditioned on Y and integrated over |Y| <= reach; all Y without a reach.

    Raises ValueError for |a| >= 1 without a reach, where the integral is infinite.
    """
    if reach is None:
        if abs(a) >= 1:
            raise ValueError(f"gaussian_moment: infinite for |a| >= 1, got a = {a:g}; give a reach")
        reach = REACH / math.sqrt(1 - a**2)
    width = reach

    def integral(steps: int) -> float:
        c = np.linspace(-width, width, steps + 1)
        scale, rest = tilted_moment(a * c, 0)
        values = np.exp(scale - c**2 / 2) * rest * tilted_moment(np.zeros(()), 2)[1]
        ends = (values[0] + values[-1]) / 2  # the trapezoidal rule's, which matter where the integrand is cut off
        return float((values.sum() - ends) * (2 * width / steps) / math.sqrt(2 * math.pi))

    return halved(integral, 64, exponent_error(width))


# The true softmax.


@dataclass(frozen=True)
class Sampling:
    """Contexts for each node of x_L, and nodes of the Gauss-Hermite rule over x_L."""

    contexts: int = 20_000
    nodes: int = 24
    seed: int = 0


def head_softmax(target: WeightedHead, trained: WeightedHead, length: int, sampling: Sampling) -> Estimate:
    """L_IH2 with the softmax of (10), given x_L at the nodes of a Gauss-Hermite rule: mean and its standard error."""
    nodes, weights = half_gauss(sampling.nodes)
    steepest = max(abs(head.slope) for head in (target, trained))
    # The linearised loss, whose mean is known, takes the noise away while its own is small: its square has the
    # variance e^(4 a^2 c^2) / n, relative to that of the true one.
    helps = 4 * (steepest * nodes) ** 2 <= math.log(length - 2)
    known = float((weights * helps * _linear_given(target, trained, length, nodes)).sum())
    generator = torch.Generator().manual_seed(sampling.seed)
    pieces = []
    size = max(1, BLOCK // 4 // length)
    for done in range(0, sampling.contexts, size):
        x = torch.randn(
            min(size, sampling.contexts - done), length - 1, generator=generator, dtype=torch.float64, device="cpu"
        )
        pieces.append(_sampled_part(target, trained, x, zip(nodes.tolist(), weights.tolist(), helps, strict=True)))
    values = torch.cat(pieces)
    return Estimate(known + float(values.mean()), float(values.std() / math.sqrt(len(values))))


def half_gauss(count: int) -> tuple[Array, Array]:
    """The Gauss-Hermite rule for even functions, on its nodes c >= 0: X and -X are alike, so that c and -c are."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    kept = nodes >= 0
    doubled = np.where(nodes > 0, 2 * weights, weights)[kept]
    return nodes[kept], doubled / doubled.sum()


def linear_loss(target: WeightedHead, trained: WeightedHead, length: int) -> Estimate:
    """The loss with each softmax's denominator replaced by its mean given x_L, from its definition."""

    steepest = max(abs(head.slope) for head in (target, trained))
    if 2 * steepest**2 >= 1:
        raise ValueError(f"linear_loss: infinite for slopes of 2 slope^2 >= 1, got slope {steepest:g}")
    # Given c, products of two weights e^(a c x) / E[e^(a c x)] have a mean of at most e^(a^2 c^2).
    reach = REACH / math.sqrt(1 - 2 * steepest**2)

    def integral(steps: int) -> float:
        c = np.linspace(-reach, reach, steps + 1)
        density = np.exp(-(c**2) / 2) / math.sqrt(2 * math.pi)
        return float((_linear_given(target, trained, length, c) * density).sum() * 2 * reach / steps)

    return halved(integral, 64)


def _linear_given(target: WeightedHead, trained: WeightedHead, length: int, c: Array) -> Array:
    """Half of E[(A - B)^2 | x_L = c] of the linearised heads."""
    total = np.zeros_like(c)
    for one, two, weight in (
        (target, target, target.weight**2),
        (trained, trained, trained.weight**2),
        (target, trained, -2 * target.weight * trained.weight),
    ):
        scale, rest = conditional_product((one, two), length, c)
        terms = (one.last_key(length) - 1) * (two.last_key(length) - 1)
        for head in (one, two):
            log, mean = tilted_moment(head.slope * c, 0)
            scale, rest = scale - log, rest / mean
        total += weight * np.exp(scale) * rest / terms
    return total / 2


def _sampled_part(
    target: WeightedHead, trained: WeightedHead, x: torch.Tensor, rule: Iterable[tuple[float, float, bool]]
) -> torch.Tensor:
    """For each context, averaged over x_L: half the true squared error, less the linearised one where that helps. (N,)

    `rule` gives the nodes of x_L with their weights.
    """
    total = x.new_zeros(len(x))
    for c, weight, helps in rule:
        true, linear = (
            target.weight * output(target, x, c) - trained.weight * output(trained, x, c) if wanted else 0.0
            for output, wanted in ((_softmax_head, True), (_linear_head, helps))
        )
        total += weight * (true**2 - linear**2) / 2
    return total


def _softmax_head(head: WeightedHead, x: torch.Tensor, c: float) -> torch.Tensor:
    last = head.last_key(x.shape[1] + 1)
    return (torch.softmax(head.slope * c * x[:, : last - 1], -1) * x[:, 1:last]).sum(-1)


def _linear_head(head: WeightedHead, x: torch.Tensor, c: float) -> torch.Tensor:
    """The mean of e^(a c x_{s-1}) x_s over E[e^(a c X)]."""
    last = head.last_key(x.shape[1] + 1)
    log, mean = tilted_moment(np.array(head.slope * c), 0)
    weights = torch.exp(head.slope * c * x[:, : last - 1] - float(log)) / float(mean)
    return (weights * x[:, 1:last]).sum(-1) / (last - 1)
