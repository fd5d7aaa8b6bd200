"""Lemmas 16 to 18 of wu2024 as a theorem of checks: bits of ids, and the block of three layers off and on its ramps."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.limits.run import INFO, Format
from bridge.theorems.check import Sides, as_ball, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.theorem import Theorem
from numeric.balls import BallArray, float_above, rational, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.layers import Head, SoftmaxAttention
from numeric.networks.maps import BlockMap
from numeric.networks.network import Network
from numeric.networks.stream import Block, Stream, StreamError
from numeric.tools.sum_sets import next_prime_power
from numeric.topics.icgd.softmax_block import LARGEST, MOST_IDS, Ids, SoftmaxBlock
from symbolic.topics.icgd import softmax as theory
from symbolic.words.errors import UsageError

ID = theory.SOFTMAX.id
MOST_PROMPTS, FRACTIONS, DRAWS = 1 << 21, 129, 1 << 17
UNITS = 1 << 6  # in the last place of B_x, that a ramp has at least
BELOW = 1 - 2.0**-20  # what "just below" is
BITS = 128
Matrix = tuple[tuple[Fraction, ...], ...]


# The map.


def read_map(map: str, n: int) -> Matrix:
    """The matrix A of f(Z) = A Z. Raises UsageError for one that is not (n, n), or that permutations do not leave."""
    if map == "others":
        return tuple(tuple(Fraction(int(i != j), n - 1) for j in range(n)) for i in range(n))
    try:
        A = tuple(tuple(Fraction(entry) for entry in row.split()) for row in map.split(";"))
    except (ValueError, ZeroDivisionError):
        A = ()
    if [len(row) for row in A] != [n] * n:
        raise UsageError(f"{ID}: map = {map!r} is not 'others', nor {n} rows of {n} numbers such as '0 1; 1 0'.")
    for i, j in permutations(range(n), 2):
        swap = [j if k == i else i if k == j else k for k in range(n)]
        for k in range(n):
            unit = [int(each == k) for each in range(n)]
            swapped, image = [unit[each] for each in swap], _image(A, unit)
            wanted, found = [image[each] for each in swap], _image(A, swapped)
            if found != wanted:
                raise UsageError(
                    f"{ID}: map = {map!r} is not permutation equivariant: f{_words(unit)} = {_words(image)}, so that "
                    f"f{_words(swapped)} has to be {_words(wanted)}, and it is {_words(found)}. Give A = a I + b J."
                )
    return A


def _image(A: Matrix, z: Any) -> list[Fraction]:
    return [sum((a * x for a, x in zip(row, z, strict=True)), start=Fraction(0)) for row in A]


def _words(z: Any) -> str:
    return f"({', '.join(map(str, z))})"


def lipschitz(A: Matrix) -> Fraction:
    """The spectral norm of A = a I + b J, whose eigenvalues are a and a + n b."""
    b = A[0][1]
    a = A[0][0] - b
    return max(abs(a), abs(a + len(A) * b))


def block(map: Matrix, d: int, D: int, B_x: float, ramp: float) -> SoftmaxBlock | None:
    """None for d > 1. Raises UsageError for a grid with too many ids."""
    if d > 1:
        return None
    found = SoftmaxBlock(map, D, Fraction(B_x), Fraction(ramp))
    if found.ids.count > MOST_IDS or found.ids.range > LARGEST:
        got = f"D = {D} takes {found.ids.count} ids below {found.ids.range}"
        raise UsageError(
            f"{ID}: {got}; the block holds {MOST_IDS}, below 2^53: give a smaller D or n, or d = 2 for bits"
        )
    return found


# Prompts: where the block errs most.


def off_ramps(block: SoftmaxBlock) -> Tensor:
    """The prompt at ends of cells, off the ramps, with the largest error."""
    ends = [_inside(*block.ends(cell)) for cell in range(block.D)]
    places = np.array(ends if (2 * block.D) ** block.n <= MOST_PROMPTS else [ends[0], ends[-1]]).ravel()
    return _worst(block, np.stack(np.meshgrid(*[places] * block.n, indexing="ij"), -1).reshape(-1, block.n))


def _inside(low: Fraction, high: Fraction) -> tuple[float, float]:
    """The floats next to both, within."""
    below, above = float(low), float(high)
    return (
        below if Fraction(below) >= low else math.nextafter(below, math.inf),
        above if Fraction(above) <= high else math.nextafter(above, 0),
    )


@lru_cache(maxsize=16)
def on_ramps(block: SoftmaxBlock) -> Tensor:
    """The prompt with the largest error among those with one token on a ramp and all others at one end of a cell."""
    cells = range(block.D) if FRACTIONS * 2 * block.D**2 <= MOST_PROMPTS else (0, block.D - 1)
    starts = np.array([float(c * block.cell) for c in cells if c])
    ramps = (starts[:, None] + np.linspace(0, 1, FRACTIONS)[1:-1] * float(block.delta * block.B)).ravel()
    others = np.array([_inside(*block.ends(cell)) for cell in cells]).ravel()
    pairs = np.stack(np.meshgrid(ramps, others, indexing="ij"), -1).reshape(-1, 2)
    return _worst(block, np.concatenate([pairs[:, :1], np.repeat(pairs[:, 1:], block.n - 1, 1)], 1))


def _worst(block: SoftmaxBlock, prompts: np.ndarray) -> Tensor:
    found = block.run(prompts) - prompts @ np.array(block.A, dtype=float).T
    return torch.tensor(prompts[np.linalg.norm(found, axis=-1).argmax()], dtype=torch.float64, device="cpu")


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


def corners(block: SoftmaxBlock, map: Matrix) -> Sides:
    """f at a point of the first cell and at its upper corner; f is linear, so that the largest is at a vertex."""
    largest = max(
        sum(each**2 for each in _image(map, vertex)) for vertex in product((Fraction(0), block.cell), repeat=block.n)
    )
    with working_precision(BITS):
        found = rational(largest).sqrt()
    rounding = float_above(abs(found - float(found)))
    return Sides(found, measured=float(found), rounding=rounding, letters={theory.L: lipschitz(map)})


def ramps_and_steps(Z: Tensor, block: SoftmaxBlock) -> Sides:
    """Where a ramp begins the step is already at its end."""
    z = [Fraction(each) for each in Z.tolist()]
    steps = [min(each // block.cell, block.D - 1) for each in z]
    far = max(abs(block.code(each) - step) * block.cell for each, step in zip(z, steps, strict=True))
    return Sides(far, measured=float(far), rounding=0.0)


def head_adds(d: int, D: int, size: float) -> Sides:
    """What the head adds to tokens that are all (size, ..., size)."""
    stream = Stream([Block("z", d)])
    norm = BELOW / (4 * math.sqrt(d) * D)
    maps = [BlockMap(stream, stream, {("z", "z"): action}) for action in (1.0, np.full((d, d), norm / d))]
    head = Head("rank 1", maps[0], maps[0], maps[1])
    network = Network(Construction.of("head", stream, SoftmaxAttention((head,), residual=False)))
    added = float(torch.linalg.vector_norm(network(torch.full((1, 2, d), size, dtype=torch.float64, device="cpu"))))
    return Sides(within(added, 1e-12 * added), measured=added)


def run_of(Z: Tensor, block: SoftmaxBlock, dtype: str) -> tuple[Tensor, BallArray, list[Fraction]]:
    """What the block gives in that format, what it is, and f(Z)."""
    z = [Fraction(each) for each in Z.tolist()]
    if not all(0 <= each <= block.B for each in z):
        raise UsageError(f"{ID}: Z = {Z.tolist()} leaves the cube; give numbers in [0, {plain(float(block.B))}].")
    if block.delta < UNITS * Fraction(INFO[dtype].eps):
        least = plain(UNITS * INFO[dtype].eps)
        raise UsageError(
            f"{ID}: ramp = {float(block.delta):g} is less than {UNITS} steps of {dtype}; give {least} or more"
        )
    format = Format.named(dtype)
    network = Network(block.construction(), format.dtype)
    floats = network(format.tensor(Z)[None, :, None])[0, :, 0]
    exact = run_exact(block.construction(rational), Z.numpy()[:, None], BITS)["output"]
    return floats.double(), exact, _image(block.A, z)


def error_on_ramps(Z: Tensor, block: SoftmaxBlock, map: Matrix, dtype: str) -> Sides:
    return replace(error(Z, block, map, dtype), excuse=_not_shown(block, theory.ABOVE_KAPPA))


# (z_1, z_2) -> (z_2, z_1), up to a sign, for which the erratum is proved of every block of the proof.
def _not_shown(block: SoftmaxBlock, least: int) -> str:
    shown = block.n == 2 and block.A[0][0] == 0 and least <= block.D
    return "" if shown else f"that every block of the proof fails is shown for `n = 2`, the exchange, `D >= {least}`"


def error(Z: Tensor, block: SoftmaxBlock, map: Matrix, dtype: str) -> Sides:
    floats, exact, truth = run_of(Z, block, dtype)
    with working_precision(BITS):
        off = [found - rational(wanted) for found, wanted in zip(exact.balls, truth, strict=True)]
        found = sum((each * each for each in off), start=as_ball(0)).sqrt()
    measured = float(np.linalg.norm(floats.cpu().numpy() - [float(each) for each in truth]))
    rounding = float_above(abs(found - measured))
    return Sides(found, attacked=measured, rounding=rounding, letters={theory.L: lipschitz(map)})


def outside_of_neighbours(Z: Tensor, block: SoftmaxBlock, dtype: str) -> Sides:
    """The distance of the first value from those of f within B/(2D) of what the last layer receives, grid or not."""
    floats, exact, _ = run_of(Z, block, dtype)
    received = [(block.code(Fraction(each)) + Fraction(1, 2)) * block.cell for each in Z.tolist()]
    half = sum(abs(each) for each in block.A[0]) * block.cell / 2
    centre = _image(block.A, received)[0]
    found = (abs(exact.balls[0] - rational(centre)) - rational(half)).max(0)
    measured = max(abs(float(floats[0]) - float(centre)) - float(half), 0.0)
    excuse = _not_shown(block, theory.ABOVE_INTERVAL)
    return Sides(found, attacked=measured, rounding=float_above(abs(found - measured)), excuse=excuse)


def share(n: int, D: int, ramp: float, B_x: float, block: SoftmaxBlock, seed: int) -> Sides:
    generator = torch.Generator().manual_seed(seed)
    draws = torch.rand(DRAWS, n, generator=generator, dtype=torch.float64, device="cpu").numpy() * B_x
    codes = block.codes(draws)
    found = float((codes != codes.round()).any(-1).mean())
    truth = 1 - (1 - (D - 1) * ramp) ** n
    accuracy = 7 * math.sqrt(truth * (1 - truth) / DRAWS) + 1 / DRAWS
    return Sides(within(found, accuracy), measured=found, proved=("derived",), remark=f"{DRAWS} random prompts")


SOFTMAX = Theorem(
    theory.SOFTMAX,
    main="block",
    built={"block": block},
    readers={"map": read_map},
    checks=checks_of(
        theory.SOFTMAX,
        {
            "bits": bits_of_ids,
            "bits.counting": bits_by_counting,
            "F.4": corners,
            "F.9": ramps_and_steps,
            "F.15": lambda d, D: head_adds(d, D, 1 / math.sqrt(d)),
            "F.22": lambda d, D, B_x: head_adds(d, D, B_x),
            "block": error,
            "F.24": outside_of_neighbours,
            "ramps": error_on_ramps,
            "share": share,
        },
        {
            "F.9": lambda block: {
                "Z": torch.tensor([_inside(block.cell, block.B)[0]], dtype=torch.float64, device="cpu")
            },
            "block": lambda block: {"Z": off_ramps(block)},
            "F.24": lambda block: {"Z": on_ramps(block)},
            "ramps": lambda block: {"Z": on_ramps(block)},
        },
    ),
)
