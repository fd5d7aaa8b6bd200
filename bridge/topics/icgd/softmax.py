"""Lemmas 16 to 18 of wu2024 as a theorem of checks: the block off and on its ramps, beside steps of the proof."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from bridge.limits.run import INFO
from bridge.theorems.check import Check, Sides, checks_of
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from bridge.topics.icgd import softmax_proof as proof
from bridge.topics.tools.equivariant import EquivariantMap, read_equivariant
from bridge.topics.tools.rational import BITS, Both, choices, distance, floats_within, fractions, prompt, rooted
from numeric.balls import BallArray, float_above, rational, working_precision
from numeric.networks.stream import StreamError
from numeric.tools.sum_sets import LARGEST, MOST_IDS
from numeric.topics.icgd.softmax_block import SoftmaxBlock, separating_direction
from symbolic.topics.icgd import softmax as theory
from symbolic.words.errors import UsageError

ID = theory.SOFTMAX.id
MOST_PROMPTS, FRACTIONS = 1 << 21, 129
UNITS = 1 << 6  # in the last place of B_x, that a ramp has at least


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


# Prompts: where the block errs most.


def off_ramps(block: SoftmaxBlock, map: EquivariantMap) -> Tensor:
    """The prompt at ends of cells, off the ramps, with the largest error."""
    ends = [floats_within(*block.ends(step)) for step in range(block.D)]
    many = (2 * block.D) ** (block.n * block.d) > MOST_PROMPTS
    places = np.array([ends[0], ends[-1]] if many else ends).ravel()
    return _worst(block, map, places[choices(len(places), block.n, block.d, MOST_PROMPTS)])


@lru_cache(maxsize=16)
def on_ramps(block: SoftmaxBlock, map: EquivariantMap) -> Tensor:
    """The prompt with the largest error among those with one token on a ramp and all others at one end of a cell."""
    steps = range(block.D) if FRACTIONS * 2 * block.D**2 <= MOST_PROMPTS else (0, block.D - 1)
    starts = np.array([float(c * block.step) for c in steps if c])
    ramps = (starts[:, None] + np.linspace(0, 1, FRACTIONS)[1:-1] * float(block.delta * block.B)).ravel()
    others = np.array([floats_within(*block.ends(step)) for step in steps]).ravel()
    pairs = np.stack(np.meshgrid(ramps, others, indexing="ij"), -1).reshape(-1, 2)
    return _worst(block, map, np.concatenate([pairs[:, :1], np.repeat(pairs[:, 1:], block.n - 1, 1)], 1)[..., None])


def _worst(block: SoftmaxBlock, map: EquivariantMap, prompts: np.ndarray) -> Tensor:
    if too_many(block):
        return prompt(prompts[0])
    off = block.run(prompts) - map.floats(prompts)
    return prompt(prompts[np.linalg.norm(off, axis=(-2, -1)).argmax()])


def outside_cube(block: SoftmaxBlock) -> Tensor:
    """Prompts with one coordinate outside, just beyond a ramp or far away, and all others in the middle of a cell."""
    beyond, B = float(2 * block.delta * block.B), float(block.B)
    prompts = np.full((4, block.n, block.d), float(block.step / 2))
    prompts[:, -1, -1] = [-beyond, -B, B + beyond, 2 * B]
    return prompt(prompts)


# The sides.


def corners(block: SoftmaxBlock, map: EquivariantMap) -> Sides:
    """f at a vertex of a cell, the first or the last step of each coordinate, and at its upper corner."""
    places = [Fraction(0), block.step, block.B - block.step, block.B]
    below, floats = choices(4, block.n, block.d, MOST_PROMPTS), np.array(places, float)
    off = map.floats(floats[below]) - map.floats(floats[below | 1])
    worst = below[np.linalg.norm(off, axis=(-2, -1)).argmax()]
    ends = [map([[places[i] for i in token] for token in each.tolist()]) for each in (worst, worst | 1)]
    square = sum((x - y) ** 2 for a, b in zip(*ends, strict=True) for x, y in zip(a, b, strict=True))
    return replace(rooted(Fraction(square)), letters={theory.L: map.lipschitz(block.B)})


def ramps_and_steps(Z: Tensor, block: SoftmaxBlock) -> Sides:
    """Where a ramp begins the step is already at its end."""
    (z,) = fractions(Z)
    steps = [min(each // block.step, block.D - 1) for each in z]
    far = max(abs(block.code(each) - step) * block.step for each, step in zip(z, steps, strict=True))
    return Sides(far, measured=float(far), rounding=0.0)


@lru_cache(maxsize=4)
def layers_of(block: SoftmaxBlock) -> Both:
    return Both.of(block.construction)


def run_of(Z: Tensor, block: SoftmaxBlock, dtype: str) -> tuple[np.ndarray, BallArray]:
    """What the block gives in that format, and what it is."""
    if block.delta < UNITS * Fraction(INFO[dtype].eps):
        least = plain(UNITS * INFO[dtype].eps)
        raise UsageError(
            f"{ID}: ramp = {float(block.delta):g} is less than {UNITS} steps of {dtype}; give {least} or more"
        )
    return layers_of(block).run(Z, dtype)


def require_cube(Z: Tensor, block: SoftmaxBlock) -> None:
    if not all(0 <= each <= block.B for token in fractions(Z) for each in token):
        raise UsageError(f"{ID}: Z = {Z.tolist()} leaves the cube; give numbers in [0, {plain(float(block.B))}].")


def error(Z: Tensor, block: SoftmaxBlock, map: EquivariantMap, dtype: str) -> Sides:
    require_cube(Z, block)
    why = too_many(block)
    found = Sides(remark=why) if why else distance(*run_of(Z, block, dtype), map(fractions(Z)))
    return replace(found, letters={theory.L: map.lipschitz(block.B)})


def outside(Z: Tensor, block: SoftmaxBlock, dtype: str) -> Sides:
    if why := too_many(block):
        return Sides(remark=why)
    zero = [[Fraction(0)] * block.d] * block.n
    return max((distance(*run_of(each, block, dtype), zero) for each in Z), key=lambda sides: sides.attacked or 0.0)


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
    low = [block.code(z) * block.step for (z,) in fractions(Z)]
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


SIDES: dict[str, Callable[..., Sides]] = {
    "bits": proof.bits_of_ids,
    "bits.counting": proof.bits_by_counting,
    "F.4": corners,
    "F.9": ramps_and_steps,
    "F.10": proof.beyond_the_cube,
    "F.11": proof.penalties,
    "F.12": proof.at_first_token,
    "F.13": proof.penalised,
    "bits.head": proof.bits_of_head,
    "F.15": proof.head_adds_to_equal,
    "F.22": proof.head_adds,
    "block": error,
    "outside": outside,
    "F.24": outside_of_neighbours,
    "ramps": error_on_ramps,
    "share": share,
}
POINTS: dict[str, Callable[..., Any]] = {
    "F.9": lambda block: {"Z": prompt([[floats_within(block.step, block.B)[0]]])},
    "F.10": lambda block: {"Z": proof.beyond(block)},
    "F.11": lambda block: {"Z": proof.around_the_cube(block)},
    "F.12": lambda block: {"Z": proof.others_outside(block, 1)},
    "F.13": lambda block: {"Z": proof.others_outside(block, 0)},
    "F.15": lambda n, d, D: {"Z": prompt([separating_direction(d, D)] * n)},
    "F.22": lambda n, d, B_x: {"Z": prompt([[B_x] * d] * n)},
    "block": lambda block, map: {"Z": off_ramps(block, map)},
    "outside": lambda block: {"Z": outside_cube(block)},
    "F.24": lambda block, map: {"Z": on_ramps(block, map)},
    "ramps": lambda block, map: {"Z": on_ramps(block, map)},
}
SOFTMAX = Theorem(
    theory.SOFTMAX,
    main="block",
    built={"block": block},
    readers={"map": lambda map, n, d: read_equivariant(map, n, d, ID)},
    checks=(
        *checks_of(theory.SOFTMAX, SIDES, POINTS),
        Check(theory.SOFTMAX.quantity("block.least"), proof.least_error, params={"d": 1, "n": 2, "D": 8}),
    ),
)
