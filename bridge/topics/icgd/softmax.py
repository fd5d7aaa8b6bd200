"""Lemmas 16 to 18 of wu2024 as a theorem of checks: bits of ids, the head and the quantiser of the proof, the block."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import flint
import numpy as np
import torch
from torch import Tensor

from bridge.limits.run import INFO, Format
from bridge.lowering.formula import evaluate
from bridge.theorems.check import Sides, as_ball, checks_of
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from bridge.topics.tools.equivariant import EquivariantMap, read_equivariant
from numeric.balls import BallArray, ball_maximum, float_above, rational, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.tools.sum_sets import LARGEST, MOST_IDS, Ids, next_prime_power
from numeric.topics.icgd import softmax_block as networks
from numeric.topics.icgd.softmax_block import SoftmaxBlock
from symbolic.topics.icgd import softmax as theory
from symbolic.words.errors import UsageError

ID = theory.SOFTMAX.id
MOST_PROMPTS, FRACTIONS = 1 << 21, 129
UNITS = 1 << 6  # in the last place of B_x, that a ramp has at least
BELOW = 1 - 2.0**-20  # what "just below" is
BITS = 128


def block(map: EquivariantMap, d: int, n: int, D: int, B_x: float, ramp: float) -> SoftmaxBlock:
    """Raises UsageError for d = 1 and a grid with too many ids; for d > 1 the bits of ids are what is left."""
    found = SoftmaxBlock(map.first, n, d, D, Fraction(B_x), Fraction(ramp))
    if d == 1 and (why := too_many(found)):
        raise UsageError(f"{ID}: {why}: give a smaller D or n, or d = 2 for bits")
    return found


def too_many(block: SoftmaxBlock) -> str:
    """Why its ids are too many, or ""."""
    ids = block.ids
    try:
        if ids.count <= MOST_IDS and ids.range <= LARGEST:
            return ""
        below = f" below {ids.range}" if ids.count <= MOST_IDS or block.d == 1 else ""
    except StreamError as error:
        return str(error).rstrip(".")
    return f"D = {block.D} takes {ids.count} ids{below}; the block holds {MOST_IDS}, below 2^53"


# Prompts: where the block errs most. Of places on a coordinate all choices for d n of them, or the same for all tokens.


def choices(places: int, n: int, d: int) -> np.ndarray:
    """Indices, (P, n, d)."""
    same = places ** (n * d) > MOST_PROMPTS
    axes = np.meshgrid(*[np.arange(places)] * (d if same else n * d), indexing="ij")
    chosen = np.stack(axes, -1).reshape(-1, 1 if same else n, d)
    return np.repeat(chosen, n, 1) if same else chosen


def off_ramps(block: SoftmaxBlock, map: EquivariantMap) -> Tensor:
    """The prompt at ends of cells, off the ramps, with the largest error."""
    ends = [_inside(*block.ends(step)) for step in range(block.D)]
    many = (2 * block.D) ** (block.n * block.d) > MOST_PROMPTS
    places = np.array([ends[0], ends[-1]] if many else ends).ravel()
    return _worst(block, map, places[choices(len(places), block.n, block.d)])


def _inside(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The floats next to both, within."""
    below, above = float(low), float(high)
    return (
        below if Fraction(below) >= low else math.nextafter(below, math.inf),
        above if Fraction(above) <= high else math.nextafter(above, 0),
    )


@lru_cache(maxsize=16)
def on_ramps(block: SoftmaxBlock, map: EquivariantMap) -> Tensor:
    """The prompt with the largest error among those with one token on a ramp and all others at one end of a cell."""
    steps = range(block.D) if FRACTIONS * 2 * block.D**2 <= MOST_PROMPTS else (0, block.D - 1)
    starts = np.array([float(c * block.step) for c in steps if c])
    ramps = (starts[:, None] + np.linspace(0, 1, FRACTIONS)[1:-1] * float(block.delta * block.B)).ravel()
    others = np.array([_inside(*block.ends(step)) for step in steps]).ravel()
    pairs = np.stack(np.meshgrid(ramps, others, indexing="ij"), -1).reshape(-1, 2)
    return _worst(block, map, np.concatenate([pairs[:, :1], np.repeat(pairs[:, 1:], block.n - 1, 1)], 1)[..., None])


def _worst(block: SoftmaxBlock, map: EquivariantMap, prompts: np.ndarray) -> Tensor:
    if too_many(block):
        return _tensor(prompts[0])
    off = block.run(prompts) - map.floats(prompts)
    return _tensor(prompts[np.linalg.norm(off, axis=(-2, -1)).argmax()])


def outside_cube(block: SoftmaxBlock) -> Tensor:
    """Prompts with one coordinate outside, just beyond a ramp or far away, and all others in the middle of a cell."""
    beyond = float(2 * block.delta * block.B)
    prompts = np.full((4, block.n, block.d), float(block.step / 2))
    prompts[:, -1, -1] = [-beyond, -float(block.B), float(block.B) + beyond, 2 * float(block.B)]
    return _tensor(prompts)


def _tensor(array: Any) -> Tensor:
    return torch.tensor(np.asarray(array), dtype=torch.float64, device="cpu")


def _fractions(Z: Tensor) -> list[list[Fraction]]:
    return [[Fraction(each) for each in token] for token in Z.tolist()]


# The sides.


def bits_of_ids(d: int, n: int, D: int) -> Sides:
    tokens = D**d
    prime, power = next_prime_power(tokens)
    most = tokens * ((n - 1) * (tokens - 1 if n == 2 else prime ** (power * (n - 1)) - 2) + 1)
    known = Sides(derived=_bits(most), letters={theory.q: prime**power}, rounding=0.0)
    try:
        ids = Ids(tokens, n)
        return replace(known, found=_bits(ids.range), remark=f"whole numbers below {ids.range}")
    except StreamError as error:
        return replace(known, remark=str(error))


def bits_by_counting(d: int, n: int, D: int) -> Sides:
    return replace(bits_of_ids(d, n, D), derived=_bits(Ids(D**d, n).count), letters={}, remark="")


def _bits(numbers: int) -> int:
    """That tell 0, ..., numbers - 1 apart."""
    return (numbers - 1).bit_length()


def corners(block: SoftmaxBlock, map: EquivariantMap) -> Sides:
    """f at a vertex of a cell, the first or the last step of each coordinate, and at its upper corner."""
    places = [Fraction(0), block.step, block.B - block.step, block.B]
    below, floats = choices(4, block.n, block.d), np.array(places, float)
    off = map.floats(floats[below]) - map.floats(floats[below | 1])
    worst = below[np.linalg.norm(off, axis=(-2, -1)).argmax()]
    ends = [map([[places[i] for i in token] for token in each.tolist()]) for each in (worst, worst | 1)]
    squares = sum((x - y) ** 2 for a, b in zip(*ends, strict=True) for x, y in zip(a, b, strict=True))
    with working_precision(BITS):
        found = rational(Fraction(squares)).sqrt()
    letters = {theory.L: map.lipschitz(block.B)}
    return Sides(found, measured=float(found), rounding=float_above(abs(found - float(found))), letters=letters)


def ramps_and_steps(Z: Tensor, block: SoftmaxBlock) -> Sides:
    """Where a ramp begins the step is already at its end."""
    (z,) = _fractions(Z)
    steps = [min(each // block.step, block.D - 1) for each in z]
    far = max(abs(block.code(each) - step) * block.step for each, step in zip(z, steps, strict=True))
    return Sides(far, measured=float(far), rounding=0.0)


def both(construction: Callable[[Any], Construction]) -> tuple[Construction, Construction]:
    """Of floats and of balls."""
    with working_precision(BITS):
        return construction(float), construction(rational)


def both_runs(networks: tuple[Construction, Construction], Z: Tensor, dtype: str = "float64") -> tuple[Any, BallArray]:
    """What the one gives in that format, and what the other is."""
    format = Format.named(dtype)
    floats = Network(networks[0], format.dtype)(format.tensor(Z)[None])[0].cpu().double().numpy()
    return floats, run_exact(networks[1], Z.numpy(), BITS)["output"]


# The first layer of the proof: q in the first d coordinates, (F.10), and penalties p in the others, (F.11).


def _compared(Z: Tensor, wanted: Any, block: SoftmaxBlock, part: slice, scale: Fraction = Fraction(1)) -> Sides:
    """The largest distance from `wanted` of that part at the first tokens, times `scale`."""
    arguments = (block.d, block.D, block.B, block.delta)
    floats, exact = both_runs(both(lambda number: networks.printed_quantiser(*arguments, number)), Z)
    with working_precision(BITS):
        entries = [rational(each) for token in wanted for each in token]
        given = exact[: len(wanted), part].balls
        found = ball_maximum([abs(a - b) for a, b in zip(given, entries, strict=True)]) * rational(scale)
    off = abs(floats[: len(wanted), part] - np.array(wanted, float)).max() * float(scale)
    return Sides(found, attacked=float(off), rounding=float_above(abs(found - float(off))))


def beyond_the_cube(Z: Tensor, block: SoftmaxBlock) -> Sides:
    return _compared(Z, [[Fraction(0)] * block.d] * len(Z), block, slice(0, block.d))


def penalties(Z: Tensor, block: SoftmaxBlock) -> Sides:
    off = [sum((-block.B for z in token if not 0 < z <= block.B), start=Fraction(0)) for token in _fractions(Z)]
    return _compared(Z, [[each] * block.d for each in off], block, slice(block.d, 2 * block.d))


def at_first_token(Z: Tensor, block: SoftmaxBlock) -> Sides:
    """Half of the distance of (F.12) from what the layer gives for a token in the cube, the others all outside."""
    wanted = networks.quantised(_fractions(Z), block.D, block.B)
    return replace(_compared(Z, wanted[:1], block, slice(0, block.d), Fraction(1, 2)), proved=("derived",))


def penalised(Z: Tensor, block: SoftmaxBlock) -> Sides:
    tokens = networks.quantised(_fractions(Z), block.D, block.B)
    with working_precision(BITS):
        found = rational(Fraction(max(sum(z**2 for z in token) for token in tokens))).sqrt()
    return Sides(found, attacked=float(found), rounding=float_above(abs(found - float(found))))


def beyond(block: SoftmaxBlock) -> Tensor:
    return _tensor([[z] * block.d for z in (-float(block.B), 2 * float(block.B) + 1)])


def around_the_cube(block: SoftmaxBlock) -> Tensor:
    B, delta = float(block.B), float(block.delta)
    places = (-2 * delta - B, -2 * delta, math.ulp(0), B / 2, B, B + 2 * delta, 2 * B + 1)
    return _tensor([[z] * block.d for z in places])


def others_outside(block: SoftmaxBlock, first: int) -> Tensor:
    """The first tokens in the cube's first cell, off its ramps, which (F.7) has there too; all others outside."""
    inside, outside = float((block.delta * block.B + block.step) / 2), -float(block.B) - 1
    return _tensor([[inside if k < first else outside] * block.d for k in range(block.n)])


# The head of Lemma 17.


def _head(d: int, n: int, D: int, *, residual: bool) -> Construction:
    at = {theory.d: d, theory.n: n, theory.D: D, theory.B_x: 1}
    size = BELOW / (4 * math.sqrt(d) * D)
    return networks.rank_one_head(d, D, float(evaluate(theory.CONTEXTUAL, at)), size, residual=residual)


def head_adds(Z: Tensor, d: int, n: int, D: int, *, relative: bool) -> Sides:
    """What the head adds to the first token, over the largest norm of a token where `relative`."""
    floats, exact = both_runs(both(lambda _: _head(d, n, D, residual=False)), Z)
    largest = float(torch.linalg.vector_norm(Z, dim=-1).max()) if relative else 1.0
    with working_precision(BITS):
        found = sum((each * each for each in exact[0].balls), start=as_ball(0)).sqrt()
        found = found / sum((as_ball(z) ** 2 for z in Z[0].tolist()), start=as_ball(0)).sqrt() if relative else found
    added = float(np.linalg.norm(floats[0])) / largest
    return Sides(found, measured=added, rounding=float_above(abs(found - added)))


def bits_of_head(d: int, n: int, D: int) -> Sides:
    """Of its ids on the grid of side 1, in enough bits to tell them apart."""
    printed = float(evaluate(theory.PRINTED_BITS, {theory.d: d, theory.n: n, theory.D: D, theory.B_x: 1}))
    network, ids = _head(d, n, D, residual=True), {}
    bits = BITS + math.ceil(printed)
    with working_precision(bits):
        for prompt in networks.distinct_prompts(d, n, D):
            found = run_exact(network, prompt / D, bits)["output"]
            for k, token in enumerate(prompt.tolist()):
                others = frozenset(map(tuple, np.delete(prompt, k, 0).tolist()))
                ids[tuple(token), others] = found[k].balls
        apart = [_norm([a - b for a, b in zip(*pair, strict=True)]) for pair in combinations(ids.values(), 2)]
        largest, least = ball_maximum([_norm(id) for id in ids.values()]), apart[0]
        for each in apart:
            least = least.min(each)
        return Sides((largest / least).log() / flint.arb(2).log())


def _norm(balls: Any) -> flint.arb:
    return sum((each * each for each in balls), start=as_ball(0)).sqrt()


# The block.


@lru_cache(maxsize=4)
def layers_of(block: SoftmaxBlock) -> tuple[Construction, Construction]:
    return both(block.construction)


def run_of(Z: Tensor, block: SoftmaxBlock, dtype: str) -> tuple[Any, BallArray]:
    """What the block gives in that format, and what it is."""
    if block.delta < UNITS * Fraction(INFO[dtype].eps):
        least = plain(UNITS * INFO[dtype].eps)
        raise UsageError(
            f"{ID}: ramp = {float(block.delta):g} is less than {UNITS} steps of {dtype}; give {least} or more"
        )
    return both_runs(layers_of(block), Z, dtype)


def require_cube(Z: Tensor, block: SoftmaxBlock) -> None:
    if not all(0 <= each <= block.B for token in _fractions(Z) for each in token):
        raise UsageError(f"{ID}: Z = {Z.tolist()} leaves the cube; give numbers in [0, {plain(float(block.B))}].")


def error(Z: Tensor, block: SoftmaxBlock, map: EquivariantMap, dtype: str) -> Sides:
    require_cube(Z, block)
    truth, letters = map(_fractions(Z)), {theory.L: map.lipschitz(block.B)}
    if why := too_many(block):
        return Sides(letters=letters, remark=why)
    return replace(_distance(*run_of(Z, block, dtype), truth), letters=letters)


def outside(Z: Tensor, block: SoftmaxBlock, dtype: str) -> Sides:
    if why := too_many(block):
        return Sides(remark=why)
    zero = [[Fraction(0)] * block.d] * block.n
    return max((_distance(*run_of(each, block, dtype), zero) for each in Z), key=lambda sides: sides.attacked or 0.0)


def _distance(floats: Any, exact: BallArray, truth: list[list[Fraction]]) -> Sides:
    with working_precision(BITS):
        entries = [rational(each) for token in truth for each in token]
        found = _norm([a - b for a, b in zip(exact.balls, entries, strict=True)])
    measured = float(np.linalg.norm(floats - np.array(truth, float)))
    return Sides(found, attacked=measured, rounding=float_above(abs(found - measured)))


def error_on_ramps(Z: Tensor, block: SoftmaxBlock, map: EquivariantMap, dtype: str) -> Sides:
    return replace(error(Z, block, map, dtype), excuse=_not_shown(block, map, theory.ABOVE_KAPPA))


# (z_1, z_2) -> (z_2, z_1), up to a factor, for which the erratum is proved of every block of the proof.
def _not_shown(block: SoftmaxBlock, map: EquivariantMap, least: int) -> str:
    exchange = block.n == 2 and [powers for powers, _ in map.tokens[0][0]] == [(0, 1)]
    shown = exchange and least <= block.D
    return "" if shown else f"that every block of the proof fails is shown for `n = 2`, the exchange, `D >= {least}`"


def outside_of_neighbours(Z: Tensor, block: SoftmaxBlock, map: EquivariantMap, dtype: str) -> Sides:
    """The distance of the first value from those of f within B/(2D) of what the last layer receives, grid or not."""
    require_cube(Z, block)
    floats, exact = run_of(Z, block, dtype)
    low = [block.code(z) * block.step for (z,) in _fractions(Z)]
    below, above = map.first_range(low, [each + block.step for each in low])
    with working_precision(BITS):
        found = (exact.balls[0] - rational(above)).max(rational(below) - exact.balls[0]).max(0)
    measured = max(float(floats[0, 0]) - float(above), float(below) - float(floats[0, 0]), 0.0)
    excuse = _not_shown(block, map, theory.ABOVE_INTERVAL)
    return Sides(found, attacked=measured, rounding=float_above(abs(found - measured)), excuse=excuse)


def share(block: SoftmaxBlock) -> Sides:
    """By the lengths of all steps off their ramps."""
    off = sum(high - low for low, high in map(block.ends, range(block.D))) / block.B
    return Sides(1 - off ** (block.n * block.d), rounding=0.0)


SOFTMAX = Theorem(
    theory.SOFTMAX,
    main="block",
    built={"block": block},
    readers={"map": lambda map, n, d: read_equivariant(map, n, d, ID)},
    checks=checks_of(
        theory.SOFTMAX,
        {
            "bits": bits_of_ids,
            "bits.counting": bits_by_counting,
            "F.4": corners,
            "F.9": ramps_and_steps,
            "F.10": beyond_the_cube,
            "F.11": penalties,
            "F.12": at_first_token,
            "F.13": penalised,
            "bits.head": bits_of_head,
            "F.15": lambda Z, d, n, D: head_adds(Z, d, n, D, relative=True),
            "F.22": lambda Z, d, n, D: head_adds(Z, d, n, D, relative=False),
            "block": error,
            "outside": outside,
            "F.24": outside_of_neighbours,
            "ramps": error_on_ramps,
            "share": share,
        },
        {
            "F.9": lambda block: {"Z": _tensor([[_inside(block.step, block.B)[0]]])},
            "F.10": lambda block: {"Z": beyond(block)},
            "F.11": lambda block: {"Z": around_the_cube(block)},
            "F.12": lambda block: {"Z": others_outside(block, 1)},
            "F.13": lambda block: {"Z": others_outside(block, 0)},
            "F.15": lambda n, d, D: {"Z": _tensor([networks.separating_direction(d, D)] * n)},
            "F.22": lambda n, d, B_x: {"Z": _tensor([[B_x] * d] * n)},
            "block": lambda block, map: {"Z": off_ramps(block, map)},
            "outside": lambda block: {"Z": outside_cube(block)},
            "F.24": lambda block, map: {"Z": on_ramps(block, map)},
            "ramps": lambda block, map: {"Z": on_ramps(block, map)},
        },
    ),
)
