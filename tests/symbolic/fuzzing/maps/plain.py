"""Means, changes of norm, projections, soft thresholds, root mean squares, foreign keys, corrections, contractions."""

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.maps.map import About, Map, Pair
from tests.symbolic.fuzzing.maps.operators import along, contracted, signed_permutation
from tests.symbolic.fuzzing.program import Program
from tests.symbolic.fuzzing.record import Pair as Operands
from tests.symbolic.fuzzing.vectors import layer_normalised, lengths, onto_ball, over_root_mean_square, shrink, turned


def mean(program: Program, about: About) -> Map:
    """All tokens with the same weight."""

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return exact.mean(1, keepdims=True) + 0 * exact, near.mean(1, keepdims=True) + 0 * near

    return Map("mean", {}, run, about.norm, centre=lambda c: c, single=True)


def convex(program: Program, about: About) -> Map:
    """Convex combinations of the tokens with exact weights: one of them, or any."""
    share = program.rng.dirichlet(np.ones(program.tokens), program.tokens)
    share = np.eye(program.tokens) if program.chance(0.5) else share

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return share @ exact, share @ near

    return Map("mean", {}, run, about.norm, centre=lambda c: c)


def change_norm(program: Program, about: About) -> Map:
    target = program.any_norm()
    return Map("change_norm", {"target": target}, lambda exact, near: (exact, near), target)


def project_ball(program: Program, about: About) -> Map:
    radius = about.size if about.layer or program.chance(0.5) else (about.size + about.error) * program.number(0.3, 2.0)
    radius = max(radius, 1e-3)

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return onto_ball(exact, radius), onto_ball(near, radius)

    return Map("project", {"size": radius}, run, about.norm)


def project_box(program: Program, about: About) -> Map:
    reach = about.size + about.error
    if about.layer or program.chance(0.5):
        low, high = -about.size, about.size
    else:
        low, high = sorted(float(end) for end in program.rng.uniform(-1.5 * reach, 1.5 * reach, 2))
    size = max(abs(low), abs(high)) * float(lengths(np.ones(about.dim), about.norm))
    if about.layer:  # the exact value lies in the box already, and keeps its size
        size = about.size

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return np.clip(exact, low, high), np.clip(near, low, high)

    ends = {name: program.handle(np.full(program.points, end), "c") for name, end in (("low", low), ("high", high))}
    return Map("project", {"box": True, "size": size, **ends}, run, about.norm)


def soft_threshold(program: Program, about: About) -> Map:
    off = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    threshold = off + (0.0 if program.chance(0.5) else 0.3 * program.rng.uniform() * about.size / about.dim)
    if program.chance(0.2):  # the approximate one is negative then
        threshold = off * program.rng.uniform()
    return _soft_threshold(program, about, off, threshold, program.chance(0.4))  # the threshold 0 keeps the size


def soft_threshold_along(program: Program, about: About, across: bool) -> Map:
    """Where the argument goes across 0 an approximate t < 0 jumps; where it goes outwards t is below the argument."""
    off = program.number(0.1, 0.5)
    return _soft_threshold(program, about, off, off * (program.rng.uniform() if across else 1.0), False)


def _soft_threshold(program: Program, about: About, off: float, threshold: float, exactly: bool) -> Map:
    handle = program.handle(kind="t")

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        outwards = np.where((np.abs(near) >= np.abs(exact)) & (not exactly), -off, off)
        outwards = outwards[..., :1]  # one threshold for all coordinates
        held = np.full_like(outwards, 0.0 if exactly else threshold)
        program.operands[handle].append(Operands(about.tokens(held), about.tokens(held + outwards)))
        return shrink(exact, held), shrink(near, held + outwards)

    return Map("soft_threshold", {"threshold_error": off, "threshold": handle}, run, about.norm)


# Beside a large shift both arguments are near 0, beside a small one they are long.
def rms_normalise(program: Program, about: About) -> Map:
    longest = max(about.size + about.error, 1e-3) ** 2 / about.dim
    shift = (1e3 * longest, 1e-3 * longest, program.number())[program.whole(0, 2)]
    return normalised(shift)


def normalised(shift: float, **lengths: float) -> Map:
    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return over_root_mean_square(exact, shift), over_root_mean_square(near, shift)

    return Map("rms_normalise", {"shift": shift, **lengths}, run, Norm.TWO)


def centred(shift: float) -> Map:
    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return layer_normalised(exact, shift), layer_normalised(near, shift)

    return Map("rms_normalise", {"shift": shift, "centred": True}, run, Norm.TWO)


# The error, or the exact value, goes where it is longest in the norm: onto an axis, or between two.
def rotate(program: Program, about: About) -> Map:
    handle, towards = program.handle(kind="t"), np.pi / 4 if about.norm is Norm.ONE else 0.0

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        of = np.where(np.arange(len(exact))[:, None, None] % 2 == 0, near - exact, exact)
        angles = towards - np.arctan2(of[..., 1::2], of[..., 0::2])
        program.operands[handle].append(about.tokens(angles))
        return turned(exact, angles), turned(near, angles)

    return Map("rotate", {"angles": handle}, run, about.norm)


# The foreign value lies in the direction in which the average is off already.
def exclude(program: Program, about: About) -> Map:
    count, lead, diameter = program.whole(1, 5), program.number(0.0, 3.0), program.number(0.1, 2.0)
    leak = 1 / (1 + count * np.exp(lead)) * (1.0 if program.chance(0.8) else program.rng.uniform())

    named = {"foreign": program.handle(kind="k"), "leads": program.handle(kind="l")}

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        foreign = near + diameter * along(near - exact, about.norm)
        leads = np.full((*exact.shape[:-1], count), np.log((1 / leak - 1) / count))
        program.operands[named["foreign"]].append(about.tokens(foreign))
        program.operands[named["leads"]].append(about.tokens(leads))
        return exact, (1 - leak) * near + leak * foreign

    return Map("exclude", {"count": count, "lead": lead, "diameter": diameter, **named}, run, about.norm)


# C is equal to x on the closed ball around x, and goes astray outside.
def correct(program: Program, about: About) -> Map:
    sigma = about.error * (1.0 + 1e-12) + (0.0 if program.chance(0.6) else program.number(0.1, 1.0)) + 1e-9

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        inside = lengths(near - exact, about.norm)[..., None] <= sigma
        return exact, np.where(inside, exact, 1e9)

    def limit(exact: np.ndarray, near: np.ndarray) -> np.ndarray:
        return lengths(near - exact, about.norm).max(-1) / sigma

    return Map("correct", {"sigma": sigma}, run, about.norm, centre=lambda c: c, limit=limit)


def contract(program: Program, about: About) -> Map:
    """Steps towards the argument, which is their fixed point."""
    factor, steps = program.number(0.05, 0.9), program.whole(1, 3)
    offset = 0.0 if program.chance(0.5) else program.number(0.01, 0.5)
    matrix, handle = signed_permutation(program, about.dim, factor), program.handle(kind="A")

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        program.operands[handle].append(np.broadcast_to(matrix, (len(exact), *matrix.shape)))
        return exact, exact + contracted(near - exact, matrix, offset, steps, about.norm)

    arguments = {"factor": factor, "offset": offset, "depth": steps, "size": about.size, "matrix": handle}
    return Map("contract", arguments, run, about.norm)
