"""Theorem 4.3 of wang2024 on random, attacked and real prompts: induction heads over n-grams, H heads in layer 1."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import flint
import numpy as np
import torch

from bridge.domains import Box
from bridge.domains.matrices import LARGEST_NORM, read_square
from bridge.limits.cost import EXPONENTIAL, NUMBER, PRODUCT, Cost, Count, Work
from bridge.limits.run import FORMATS
from bridge.lowering.exponential_sums import BITS, ExponentialSums, best_rates, elementary_symmetric
from bridge.readings import Emulated
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.parts import ExactRuns, InputSearch, Knobs
from bridge.theorems.sources import Prediction, Textual
from bridge.theorems.sources.one_hot import coordinates, likeliest, unit_vectors
from bridge.theorems.sources.textual import Windows
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from numeric.balls import Arb, BallArray, ball_maximum, float_above, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exponential_heads import unseen
from numeric.networks.network import Network
from numeric.networks.norms import infinity_to_one_norm, least_singular_value
from numeric.topics.induction import ngram as networks
from symbolic.topics.induction import ngram as theory
from symbolic.words.errors import UsageError

WIDEST_SEARCHED, MOST_HEADS, MOST_BITS = 64, 32, 256
QUIET, MOST_TOKENS, ROUNDING = 37, 1 << 17, 1e-9  # of prompts that heads do not tell apart; log of what zeros leave
N, D, W_STAR = (theory.NGRAM.parameter(name).default for name in ("n", "d", "W_star"))


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """d, from W* where that is a matrix, and the bits of the format, where they are not given."""
    found = {"n": N, "W_star": W_STAR, "bits": FORMATS[dtype], **params}
    n = int(theory.NGRAM.number("n", found["n"]))
    if n < 2:
        raise UsageError(f"{theory.NGRAM.id}: n = {n} does not meet n >= 2 (a key has a token)")
    d = int(theory.NGRAM.number("d", found["d"])) if "d" in found else None
    size = len(read_square("W_star", found["W_star"], None if d is None else (n - 1) * d, default=(n - 1) * D,
                           seed=seed, size_name="(n-1) d"))  # fmt: skip
    if size % (n - 1):
        raise UsageError(f"W_star is {size} x {size}; for n = {n} it has to be (n-1) d x (n-1) d, n - 1 = {n - 1}")
    found["d"] = size // (n - 1)
    if (heads := theory.NGRAM.number("H", found["H"])) > MOST_HEADS:
        raise UsageError(f"{theory.NGRAM.id}: H = {heads}; give at most {MOST_HEADS} heads")
    return found


def similarity(W_star: Any, n: int, d: int, seed: int) -> Any:
    size = (int(n) - 1) * int(d)
    return read_square("W_star", W_star, size, default=size, seed=seed, size_name="(n-1) d")


# Layer 1.


@lru_cache(maxsize=256)
def family(n: int, H: int, rho: float, bits: int) -> ExponentialSums:
    sums = ExponentialSums.spread(H, rho) if rho else best_rates(H, n - 1, unit=2.0**-bits)
    if not sums.size(n - 1) * max(factors(sums), key=float) < LARGEST_NORM:
        beyond = f"its coefficients are beyond {LARGEST_NORM:g}, where float64 products overflow"
        raise UsageError(f"{theory.NGRAM.id}: rho = {rho:g}: {beyond}; raise rho")
    return sums


def build(sums: ExponentialSums, n: Any, W_star: Any) -> Construction:
    return _network(sums, [sums.combined(lag) for lag in range(1, int(n))], W_star)


def build_printed(sums: ExponentialSums, n: Any, W_star: Any) -> Construction:
    """With the value weights of A.2."""
    with working_precision(BITS):
        pairs = [zip(sums.combined(lag), factors(sums), strict=True) for lag in range(1, int(n))]
        return _network(sums, [[c * factor for c, factor in each] for each in pairs], W_star)


def _network(sums: ExponentialSums, weights: Sequence[Sequence[Arb]], W_star: Any) -> Construction:
    """With balls for a run on balls, and the nearest floats otherwise."""
    found = np.array([list(row) for row in weights], dtype=object)
    if isinstance(W_star, BallArray):
        return networks.ngram([flint.arb(slope) for slope in sums.slopes], found, W_star)
    return networks.ngram(sums.slopes, found.astype(float), W_star)


def factors(sums: ExponentialSums) -> tuple[Arb, ...]:
    """The printed value weight of each head over the one that the proof needs, sum_{j=0}^H r^(j-1) (1 - r)."""
    with working_precision(BITS):
        return tuple((1 - rate ** (sums.heads + 1)) / rate for rate in sums.rates)


def of_normaliser(sums: ExponentialSums, lags: int) -> float:
    """What the printed value weights add to the distance of a lag, at most."""
    with working_precision(BITS):
        added = [sum((abs(c * (f - 1)) for c, f in zip(sums.combined(lag), factors(sums), strict=True)), flint.arb(0))
                 for lag in range(1, lags + 1)]  # fmt: skip
    return max(map(float_above, added))


def operands(sums: ExponentialSums, n: Any, W_star: Any, x: Any) -> dict[str, Any]:
    n, d = int(n), x.shape[1]
    y = sums.written(x, n - 1, n)
    return {
        "keys": Emulated(networks.patches(x, n), y[:-1]),
        "query": Emulated(networks.last_patch(x, n), torch.cat([x[-1], y[-1, : (n - 2) * d]], dim=-1)),
        "similarity": W_star.mT,
        "values": x[n - 1 : -1],
    }


# Rows of their own.


# Four prompts, a and b signs: the patch a v at the tokens 1 .. n-1, b u at the last n - 1 ones (L >= 2n - 1), and 0
# between; A v = 0, A the weights of n - 2 heads at the lags of the key n, and u = sign(W* v). Layer 1 makes the same of
# this key in all four, and of the token L what is affine in a and b: so is their score, for every bilinear form of
# layer 2, and its mean with the signs a b is 0. That of IH_n is a b u^T W* v: one of the four is missed by at least
# u^T W* v = ||W* v||_1 >= ||W* v||_2 >= sigma ||v||_2 >= sigma ||v||_inf, sigma the least singular value. After n more
# tokens 0 the difference to the score of a key that sees these alone has that mean 0 as well: whatever constant is
# taken from all scores, one of them is missed by half. For d > 1, v stands in one coordinate. The weights of a head are
# multiples of r_h^(t-1), whatever it divides by: so they hide the same.
def lower_bound(sums: ExponentialSums, n: int, d: int, W_star: Any) -> Sides:
    """The error of a score with n - 2 of the heads, at the prompt that they hide."""
    W = np.asarray(W_star)
    with working_precision(BITS):
        e = elementary_symmetric(sums.rates[2 - n :])  # prod_h (x - r_h) vanishes at the rates
        patch = [(-1) ** lag * each / ball_maximum(e) for lag, each in enumerate(reversed(e))]
        images = (flint.arb_mat(W[:, place::d].tolist()) * flint.arb_mat([[v] for v in patch]) for place in range(d))
        found = max((sum(map(abs, image.entries()), start=flint.arb(0)) for image in images), key=float)
        return Sides(found, derived=least_singular_value(W), proved=("derived",))


# Output. Two prompts, of whole patches: zeros, N times K, V, -K, -V, zeros, K, and the same with -V for V. K has n - 1
# entries on the first coordinate, the largest of absolute value 1, V on the second, and after them heads of n - 2 rates
# below 1 are as before (numeric/networks/exponential_heads.py; of fewer, add others). So what layer 1 and a function of
# one token make of a token depends on its patch and its place in it: the same multiset in both prompts, up to what a
# head divides by, (1 - r^(s-1))/(1 - r), and up to heads of rate 1, whose means tend to 0, or above 1, which see the
# first zeros. A head of layer 2 without slope averages the multiset, another one sees the zeros at one end. So with
# more zeros, and more patches still, the two outputs have one limit. Those of IH_n differ by 2 tau: its scores see K
# alone, w A with A = |K|^2 >= 1 where V begins and the second coordinate of x_s is +-1; at the next n - 2 tokens that
# is 0, and later the scores are 0, and V and -V cancel. With rho_k the product of K and K moved by k, |rho_k| < A,
#   tau = sinh(w A)/(cosh(w A) + 2 sum_{k=1}^{n-2} cosh(w rho_k) + m - n + 2), V of m = 1 + (n - 1)(2^(n-2) - 1)
# entries, and tau >= tanh(w)/((n - 1) 2^(n-2) + 1). One of the two outputs is off by tau in the limit.
def output_lower_bound(sums: ExponentialSums, n: int, d: int, W_star: Any) -> Sides:
    """The error of the network with n - 2 of the heads, which writes nothing for lag n - 1, at these two prompts."""
    W, w = W_star.numpy(), float(W_star[0, 0])
    if (w * np.eye(len(W)) != W).any():
        return Sides(outside="`W*` is a multiple of the identity")
    few = ExponentialSums(sums.slopes[2 - n :])
    rates, quiet = [float(rate) for rate in few.rates], n + math.ceil(QUIET / min(few.slopes))
    patch, length = unseen(rates), 1 + (n - 1) * (2 ** (n - 2) - 1)
    blocks = enough_blocks(abs(w), patch, length, quiet)
    if 2 * quiet + 2 * blocks * (n - 1 + length) > MOST_TOKENS:
        return Sides(proved=("derived",), remark=f"prompts that show it have more than {MOST_TOKENS:,} tokens")
    x = networks.indistinct_prompts(patch, unseen(rates, n - 2), d, quiet=quiet, blocks=blocks)
    weights = [*(few.combined(lag) for lag in range(1, n - 1)), [flint.arb(0)] * few.heads]
    found = Network(_network(few, weights, W)).run(x, ())["output"]
    exact = torch.stack([networks.ngram_head(each, W_star, n)["output"] for each in x])
    return Sides(within(float((found - exact).abs().max()), ROUNDING), proved=("derived",))


def enough_blocks(w: float, patch: np.ndarray, pulse: int, quiet: int) -> int:
    """So many that the zeros and the ends take at most half of what tau has beyond its lower bound."""
    products = np.correlate(patch, patch, "full")
    A, n = products.max(), len(patch) + 1
    of_block = np.exp(w * (abs(products) - A)) + np.exp(-w * (abs(products) + A))  # 2 cosh(w rho) e^(-w A)
    share = of_block.sum() + 2 * (pulse - n + 2) * math.exp(-w * A)
    spare = -math.expm1(-2 * w * A) / share / (math.tanh(w) / ((n - 1) * 2 ** (n - 2) + 1)) - 1 if w else 0.0
    return math.ceil(2 * (2 * quiet + 3 * n) / (share * spare)) if spare > 0 else MOST_TOKENS


def of_ones(sums: ExponentialSums, lag: int, unit: Arb) -> Arb:
    """The error of layer 1 at tokens that are all 1, with each average off by `unit` in the direction that counts."""
    with working_precision(BITS):
        weights = sums.combined(lag)
        return abs(sum(weights, start=flint.arb(-1))) + sum(map(abs, weights)) * unit


def grams(sums: ExponentialSums) -> Sides:
    return Sides(of_ones(sums, 1, flint.arb(0)), derived=sums.distance(1), proved=("derived",))


def precision(sums: ExponentialSums, n: int, bits: int) -> Sides:
    return Sides(of_ones(sums, n - 1, flint.arb(2) ** -bits), proved=("derived",))


def in_format(sums: ExponentialSums, n: int, d: int, L: int, samples: int, seed: int, dtype: str, device: str) -> Sides:
    """The largest error of layer 1 as it runs, at random signs and at tokens that are all the same."""
    generator = torch.Generator().manual_seed(seed)
    x = 2.0 * torch.randint(0, 2, (samples, L, d), generator=generator, dtype=torch.float64, device="cpu") - 1.0
    x[0] = 1.0
    network = Network(build(sums, n, np.zeros(((n - 1) * d,) * 2)), getattr(torch, dtype), device)
    found = network.run(x.to(network.embedding.bias), ("keys",))["keys"][:, n - 1 : -1].to(x)
    exact = torch.stack([networks.patches(each, n) for each in x])
    unit, last = 2.0 ** -FORMATS[dtype], float_above(sums.loss(n - 1))
    largest, derived = float((found - exact).abs().max()), sums.largest_distance(n - 1) + unit * last
    if not math.isfinite(largest):
        return Sides(
            derived=derived, outside=f"the weights of layer 1 are within the range of {dtype}", samples=samples
        )
    return Sides(largest, derived=derived, samples=samples)


def lost_bits(n: int, H: int, rho: float, bits: int) -> int:
    """Those that sums of averages lose, and the scores of the printed network, products of two such sums."""
    sums = family(n, H, rho, bits)
    return sums.bits(n - 1, 1.0) + 2 * math.ceil(math.log2(max(map(float, factors(sums)))))


def work(L: Count, d: Count, n: Count, H: Count) -> Work:
    held = NUMBER * (6 * ((n - 1) * d) ** 2 + 3 * (n - 1) * L**2)
    norms = Cost(held, 100 * PRODUCT * ((n - 1) * d) ** 3)
    return Work(numbers=10 * L * (n * d + H), products=H * L * n * d * EXPONENTIAL, exact=H * L * d * n, before=norms)


def by_vanilla(x: torch.Tensor, W_star: torch.Tensor, d: int, data: Windows) -> np.ndarray:
    """What IH_2 predicts, which compares the last token alone."""
    similarity = W_star[:d, :d].to(x)
    return likeliest(torch.stack([networks.ngram_head(each, similarity, 2)["output"] for each in x]), data)


TEXT = Textual(
    "L",
    lambda windows, data: {"x": unit_vectors(windows, data)},
    implied=coordinates,
    defaults={"n": (2, 3, 4, 5), "H": 8, "L": 256, "W_star": 4.0},
    predictions=(
        Prediction("network", "network: byte of the largest coordinate", lambda network, data: likeliest(
            network["output"], data)),
        Prediction("exact", "exact IH_n: byte of the largest coordinate", lambda reference, data: likeliest(
            reference["output"], data)),
        Prediction("vanilla", "exact IH_2: byte of the largest coordinate", by_vanilla),
    ),
)  # fmt: skip
NGRAM = Theorem(
    theory.NGRAM,
    main="output",
    inputs={"x": Box(theory.L, theory.d)},
    weights={"W_star": similarity},
    built={"sums": family},
    network={"": Transformer(build, read=networks.READ), "output.printed": Transformer(build_printed)},
    reference=networks.ngram_head,
    knows={
        theory.eta: (lambda sums, n: sums.largest_distance(int(n) - 1),),
        theory.nu: (lambda sums, n: sums.largest_distance(int(n) - 1) + of_normaliser(sums, int(n) - 1),),
        theory.eta_q: (lambda sums, n: sums.largest_distance(int(n) - 2),),
        theory.W_norm: (lambda W_star: W_star.abs().sum(),),
        # The norm of W*^T from sup to 1-norm, enclosed, is never above ||W*||_{1,1}.
        theory.omega: (lambda W_star: infinity_to_one_norm(W_star.midpoint()).upper,),
        theory.radius: (lambda x, n: (x[n - 1 : -1].amax(0) - x[n - 1 : -1].amin(0)).amax() / 2,),
    },
    handles=operands,
    checks=checks_of(
        theory.NGRAM,
        {
            "lower_bound": lower_bound,
            "output.lower_bound": output_lower_bound,
            "grams": grams,
            "precision": precision,
            "format": in_format,
        },
    ),
    search=InputSearch(starts=networks.prompt_starts),
    exact=ExactRuns(bits=lost_bits),
    knobs=Knobs(
        resolve=resolve,
        implied=("d", "bits"),
        automatic=("rho",),
        searched={"d": (1, WIDEST_SEARCHED), "H": (1, MOST_HEADS), "bits": (2, MOST_BITS)},
    ),
    work=work,
    sources=(TEXT,),
)
