"""Moves of rule 6: softmax, hard max, and attention with their weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.move import move
from tests.symbolic.fuzzing.program import NAME, Program
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import lengths, softmax_weights, units


# The odds of the growing keys are e^(-e) before and e^e after: where tanh(e/2) is attained.
def critical_scores(program: Program) -> Realised:
    norm = program.any_norm()
    if norm is not Norm.INF:
        return critical_pair(program, norm)
    keys, error = program.tokens, program.number(0.05, 3.0)
    growing = program.whole(1, keys - 1)
    ahead = np.where(np.arange(keys) < growing, 1.0, 0.0)
    order = program.rng.permutation(keys)
    exact = ahead * (np.log((keys - growing) / growing) - error)
    moved = error * (2 * ahead - 1)
    exact, moved = (np.broadcast_to(v[order], (program.points, keys, keys)) for v in (exact, moved))
    arguments = {"dim": keys, "size": float(np.abs(exact).max()), "error": error}
    return program.start(arguments, exact, exact + moved, single=program.without_tokens())


FAR_BEHIND = 40.0  # e^-40 is below what floats see beside 1


# Two scores move against each other by w, their odds from e^(-w/2) to e^(w/2); a third key has next to no weight.
def critical_pair(program: Program, norm: Norm) -> Realised:
    keys, error = program.tokens, program.number(0.05, 3.0)
    order = program.rng.permutation(keys)
    apart = np.array([1.0, -1.0, 0.0][:keys])
    moved = error * units(apart, norm)
    exact = np.where(apart == 0, -FAR_BEHIND, -moved / 2)
    exact, moved = (np.broadcast_to(v[order], (program.points, keys, keys)) for v in (exact, moved))
    size = float(lengths(exact, norm).max())
    arguments = {"dim": keys, "norm": norm, "size": size, "error": error}
    return program.start(arguments, exact, exact + moved, single=program.without_tokens())


GRID = 2.0**50


# How far two scores move against each other, at most, for one of the norm.
APART = {Norm.INF: 2.0, Norm.TWO: 2.0**0.5, Norm.ONE: 1.0}


@move("softmax", "softmax")
def softmax(program: Program) -> Realised:
    scores, target = critical_scores(program) if program.chance(0.5) else program.pick(), program.any_norm()
    value = program.apply("softmax", scores, NAME, target=target)
    return program.conclude(value, softmax_weights(scores.exact), softmax_weights(scores.near), norm=target)


@move("softmax, affine", "softmax", error_loose="the bound is affine in the error")
def affine_softmax(program: Program) -> Realised:
    scores, target = critical_scores(program) if program.chance(0.5) else program.pick(), program.any_norm()
    value = program.apply("softmax", scores, NAME, target=target, affine=True)
    return program.conclude(value, softmax_weights(scores.exact), softmax_weights(scores.near), norm=target)


def cut_weights(scores: np.ndarray, kept: np.ndarray) -> np.ndarray:
    weights = softmax_weights(scores) * kept
    return weights / weights.sum(-1, keepdims=True)


def largest_of(scores: np.ndarray, count: int) -> np.ndarray:
    """1 at the largest scores."""
    return (np.argsort(np.argsort(-scores, -1, kind="stable"), -1) < count).astype(float)


@move("cut_softmax", "cut_softmax", error_loose="attained by exact scores, or with no key left out")
def cut_softmax(program: Program) -> Realised:
    """A window of some keys, one at least; at times exact scores, or all keys."""
    scores = program.pick()
    keys = scores.exact.shape[-1]
    kept = np.where(program.rng.permutation(keys) < program.whole(1, keys), 1.0, 0.0)
    mask = np.broadcast_to(kept, scores.exact.shape)
    lost = float((softmax_weights(scores.near) * (1 - mask)).sum(-1).max())
    operand = mask[:, 0] if scores.single else mask
    value = program.apply("cut_softmax", scores, NAME, lost=lost, kept=program.handle(operand))
    return program.conclude(value, softmax_weights(scores.exact), cut_weights(scores.near, mask), norm=Norm.ONE)


CLEAR = 1e-6  # scores that are closer are not told apart on balls


@move("cut_softmax, largest", "cut_softmax", error_loose="attained by equal scores")
def cut_to_the_largest(program: Program) -> Realised:
    scores = program.pick()
    keys = scores.exact.shape[-1]
    order = np.sort(scores.near, -1)
    told = [k for k in range(1, keys) if (order[..., keys - k] - order[..., keys - k - 1]).min() > CLEAR]
    most = told[program.whole(0, len(told) - 1)] if told else keys
    kept = largest_of(scores.near, most)
    value = program.apply("cut_softmax", scores, NAME, lost=1 - most / keys, most=most)
    return program.conclude(value, softmax_weights(scores.exact), cut_weights(scores.near, kept), norm=Norm.ONE)


# The last score is far below all others, and falls while they rise; in the 1- and 2-norm there are two of them.
def falling_label(program: Program) -> Realised:
    norm, error = program.any_norm(), program.number(0.05, 2.0)
    apart = units(np.where(np.arange(program.tokens if norm is Norm.INF else 2) > 0, 1.0, -1.0)[::-1], norm)
    size = 8.0 / abs(apart[0])
    shape = (program.points, program.tokens, len(apart))
    anywhere = program.anywhere(len(apart), norm)
    straight = program.straight[:, None, None]
    exact = size * np.where(straight, apart, anywhere * program.rng.uniform(size=(*shape[:2], 1)))
    near = exact + error * np.where(straight, apart, program.anywhere(len(apart), norm))
    arguments = {"dim": len(apart), "norm": norm, "size": size, "error": error}
    return program.start(arguments, exact, near, single=program.without_tokens())


def log_weights(scores: np.ndarray) -> np.ndarray:
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@move("log_softmax", "log_softmax")
def log_softmax(program: Program) -> Realised:
    scores = falling_label(program) if program.chance(0.7) else program.pick()
    value = program.apply("log_softmax", scores, NAME)
    return program.conclude(value, log_weights(scores.exact), log_weights(scores.near), norm=Norm.INF)


@move("cross_entropy", "cross_entropy")
def cross_entropy(program: Program) -> Realised:
    """Of one class, or of weights over all of them."""
    scores = falling_label(program) if program.chance(0.7) else program.pick()
    classes, certain = scores.exact.shape[-1], program.chance(0.7)
    label = np.eye(classes)[-1] if certain else program.rng.dirichlet(np.ones(classes))
    label = np.broadcast_to(label, scores.exact.shape)
    others = float((1 - (softmax_weights(scores.exact) * label).sum(-1)).max()) if program.chance(0.5) else 1.0
    operand = program.handle(label[:, 0] if scores.single else label)
    value = program.apply("cross_entropy", scores, NAME, others=max(others, 0.0), label=operand)
    exact, near = (-(label * log_weights(each)).sum(-1, keepdims=True) for each in (scores.exact, scores.near))
    return program.conclude(value, exact, near, norm=Norm.INF)


@move("concentrate", "concentrate")
def concentrate(program: Program) -> Realised:
    """The gaps exactly as stated at most points, larger at the others."""
    count = program.tokens if program.chance(0.5) else program.whole(1, 6)
    kind, step = program.whole(0, 2), program.number(0.1, 2.0)
    k = np.arange(1, count)
    gaps = (step * k, np.full(count - 1, step), step * k**2)[kind]
    stated = ({"slope": step}, {"gap": step}, {"gaps": Square(program.raised(step, "gap"))})[kind]
    larger = np.where(program.straight[:, None, None], 0.0, program.rng.uniform(0, 1, (program.points, 1, count - 1)))
    scores = np.concatenate([np.zeros((program.points, 1, 1)), -(gaps + larger)], -1)
    scores = np.broadcast_to(scores, (program.points, program.tokens, count))
    value = program.apply("concentrate", NAME, count=count, scores=program.handle(scores), **stated)
    near = softmax_weights(scores)
    exact = np.broadcast_to(np.eye(count)[0], near.shape)
    return program.conclude(value, exact, near, norm=Norm.ONE)


@dataclass(frozen=True)
class Square:
    """The gaps of `concentrate` as step k^2; prints itself as code."""

    step: float

    def __call__(self, k: Any) -> Any:
        return self.step * k**2

    def __repr__(self) -> str:
        return f"lambda k: {self.step!r} * k**2"


def linear_weights(scores: np.ndarray) -> np.ndarray:
    return (1 + scores - scores.mean(-1, keepdims=True)) / scores.shape[-1]


# Constant scores, whose errors leave a share of 1 / (1 + e^e) of the keys ahead.
def constant_scores(program: Program) -> Realised:
    keys = program.whole(3, 6)
    growing = program.whole(1, (keys - 1) // 2)
    error = float(np.log((keys - growing) / growing))
    exact = np.broadcast_to(program.signs(program.points, 1, 1), (program.points, program.tokens, keys))
    ahead = program.rng.permutation(np.arange(keys)) < growing
    return program.start({"dim": keys, "size": 1.0, "error": error}, exact, exact + error * np.where(ahead, 1, -1))


# A share (2r + 1) / (4r) of the keys at r, the others at -r: r = keys / (4 ahead - 2 keys).
def widest_scores(program: Program) -> Realised:
    ahead = program.whole(2, 4)
    keys = 2 * ahead - 1
    size, order = keys / 2, program.rng.permutation(keys)
    exact = np.broadcast_to(np.where(order < ahead, size, -size), (program.points, program.tokens, keys))
    return program.start(
        {"dim": keys, "size": size, "error": 0.1}, exact, exact + 0.1 * program.directions(keys, Norm.INF)
    )


@move("softmax_as_linear", "softmax_as_linear")
def softmax_as_linear(program: Program) -> Realised:
    """Constant scores, the ones of largest linear weights, or any: with their size or their half range."""
    scores = (constant_scores, widest_scores, lambda p: p.pick())[program.whole(0, 2)](program)
    half_range = float(np.ptp(scores.exact, axis=-1).max() / 2)
    known = {"half_range": half_range} if program.chance(0.8) else {}
    value = program.apply("softmax_as_linear", scores, NAME, **known)
    return program.conclude(value, linear_weights(scores.exact), softmax_weights(scores.near), norm=Norm.ONE)


# e^C softmax(s) of the keys beside a sink of score C, less that of the second head.
def scaled_weights(scores: np.ndarray, sink: float, second: str) -> np.ndarray:
    lost, n = np.exp(-sink), scores.shape[-1]
    total = 1 + lost * np.exp(scores).sum(-1, keepdims=True)
    if second == "none":
        return np.exp(scores) / total
    if second == "constant":
        less = lost * np.expm1(scores).sum(-1, keepdims=True) / (1 + n * lost)
        return (np.expm1(scores) - less) / total
    return (np.exp(scores) / total - np.exp(-scores) / (1 + lost * np.exp(-scores).sum(-1, keepdims=True))) / 2


# All scores at one end of their range, and moved beyond it.
def scores_at_an_end(program: Program, size: float) -> Realised:
    keys, error = program.whole(1, 5), float(size * program.rng.uniform(0, 1))
    exact = (size - error) * program.signs(program.points, program.tokens, 1) * np.ones(keys)
    arguments = {"dim": keys, "size": size - error, "error": error}
    return program.start(arguments, exact, exact + error * np.sign(exact))


LARGEST_SCORE = 3.0  # of larger ones the bound grows by e^(2r)


@move("heads_as_linear", "heads_as_linear")
def heads_as_linear(program: Program) -> Realised:
    """Small scores beside a high sink, where the bound is attained nearly, or any."""
    picked = program.pick(Norm.INF)
    small = program.chance(0.6) or float(abs(picked.near).max()) > LARGEST_SCORE
    scores = scores_at_an_end(program, program.number(0.01, 0.04)) if small else picked
    sink = program.number(25.0, 35.0) if small else program.number(-1.0, 12.0)
    kind = ("none", "constant", "opposite")[program.whole(0, 2)]
    value = program.apply("heads_as_linear", scores, NAME, sink=sink, second=kind)
    exact = scores.exact + (kind == "none")
    return program.conclude(value, exact, scaled_weights(scores.near, sink, kind), norm=Norm.INF)


# Beside the keys that count, others of scores up to `widest` take their share.
@move("heads_as_matrix", "heads_as_matrix")
def heads_as_matrix(program: Program) -> Realised:
    """Equal small scores beside a high sink, where the bound is attained nearly, or any."""
    picked = program.pick(Norm.TWO)
    small = program.chance(0.6) or float(abs(picked.near).max()) > LARGEST_SCORE
    scores = equal_scores(program, program.number(0.01, 0.04)) if small else picked
    sink, more = program.number(25.0, 35.0) if small else program.number(-1.0, 12.0), program.whole(0, 2)
    reach, dim = float(abs(scores.near).max()), scores.exact.shape[-1]
    widest = reach * program.number(1.0, 2.0)
    others = widest * program.rng.uniform(-1, 1, (*scores.near.shape[:-1], more))
    kind = ("none", "constant", "opposite")[program.whole(0, 2)]
    named = {"sink": sink, "reach": reach, "keys": dim + more, "widest": widest, "second": kind}
    value = program.apply("heads_as_matrix", scores, NAME, **named)
    near = scaled_weights(np.concatenate([scores.near, others], -1), sink, kind)[..., :dim]
    return program.conclude(value, scores.exact + (kind == "none"), near, norm=Norm.TWO)


def equal_scores(program: Program, size: float) -> Realised:
    """All scores of a query at one end, and moved beyond it: `size` is the 2-norm of those at hand."""
    keys, error = program.whole(1, 5), float(size * program.rng.uniform(0, 1))
    exact = (size - error) / np.sqrt(keys) * program.signs(program.points, program.tokens, 1) * np.ones(keys)
    arguments = {"dim": keys, "norm": Norm.TWO, "size": size - error, "error": error}
    return program.start(arguments, exact, exact + error / np.sqrt(keys) * np.sign(exact))


# The winner leads all others by exactly the margin; it moves down while they move up, or one of them in other norms.
def led_scores(program: Program, tight: bool) -> tuple[Realised, float, np.ndarray]:
    keys, margin = program.tokens, program.number(0.2, 2.0)
    norm = Norm.INF if program.chance(0.5) else program.any_norm()
    error = margin / APART[norm] * (1 - 1e-9 if tight else program.rng.uniform(0, 0.95))
    winner, single = program.rng.permutation(keys), program.without_tokens()
    winner = winner[[0] * keys] if single else winner
    gap = np.where(program.straight[:, None, None], margin, margin * program.rng.uniform(1, 2, (program.points, 1, 1)))
    first = np.eye(keys)[winner]
    exact = np.broadcast_to(margin / 2 + gap * (first - 1), (program.points, keys, keys))
    against = 1 - 2 * first if norm is Norm.INF else np.roll(first, 1, -1) - first
    moves = np.where(program.straight[:, None, None], against, program.signs(program.points, 1, 1) * np.ones(keys))
    near = exact + error * units(moves, norm)
    size = float(lengths(exact, norm).max())
    arguments = {"dim": keys, "norm": norm, "size": size, "error": error}
    return program.start(arguments, exact, near, single=single), margin, first


@move("softmax_to_hard_max", "softmax_to_hard_max", weight=0.6)
def softmax_to_hard_max(program: Program) -> Realised:
    scores, margin, first = led_scores(program, tight=program.chance(0.1))
    beta = program.number(0.5, 6.0)
    value = program.apply("softmax_to_hard_max", scores, NAME, margin=margin, inverse_temperature=beta)
    exact = np.broadcast_to(first, scores.exact.shape)
    return program.conclude(value, exact, softmax_weights(beta * scores.near), norm=Norm.ONE)


@move("hard_max", "hard_max")
def hard_max(program: Program) -> Realised:
    scores, margin, first = led_scores(program, tight=program.chance(0.7))
    value = program.apply("hard_max", scores, NAME, margin=margin)
    exact = np.broadcast_to(first, scores.exact.shape)
    near = np.eye(program.tokens)[scores.near.argmax(-1)]
    return program.conclude(value, exact, near, norm=Norm.ONE, limit=APART[scores.value.norm] * scores.error / margin)


def adding_up(weights: np.ndarray) -> np.ndarray:
    """The weights on a grid on which they add up to 1 exactly."""
    rounded = np.round(weights * GRID) / GRID
    rest = 1 - rounded.sum(-1, keepdims=True)
    return rounded + rest * (np.arange(weights.shape[-1]) == rounded.argmax(-1)[..., None])


# The mass e/2 moves from one key to another, the rest stays where it is.
@move("given, probabilities", "given")
def given_weights(program: Program) -> Realised:
    keys, error = program.tokens, program.rng.uniform(0.01, 2)
    rest = (1 - error / 2) * program.rng.dirichlet(np.ones(keys), (program.points, keys))
    source, sink = np.eye(keys)[program.rng.permutation(keys)[:2]]
    swap = program.rng.random((program.points, keys, 1)) < 0.5
    exact = rest + error / 2 * np.where(swap, source, sink)
    near = rest + error / 2 * np.where(swap, sink, source)
    arguments = {"dim": keys, "norm": Norm.ONE, "size": 1.0, "error": float(error), "probabilities": True}
    return program.start(arguments, adding_up(exact), adding_up(near), single=program.without_tokens())


@move("change_norm, weights", "change_norm")
def change_norm_of_weights(program: Program) -> None:
    weights, target = any_weights(program), program.any_norm()
    value = program.apply("change_norm", weights, target, NAME)
    program.conclude(value, weights.exact, weights.near, norm=target)


# The exact weight of one key lies beyond the simplex by e/2.
@move("given, affine", "given")
def given_affine(program: Program) -> Realised:
    keys, error = program.tokens, program.rng.uniform(0.01, 2)
    heavy, light = np.eye(keys)[program.rng.permutation(keys)[:2]]
    anywhere = program.rng.dirichlet(np.ones(keys), (program.points, keys))
    near = np.where(program.straight[:, None, None], heavy, anywhere)
    arguments = {"dim": keys, "norm": Norm.ONE, "size": 1.0 + float(error), "error": float(error), "affine": True}
    return program.start(arguments, adding_up(near + error / 2 * (heavy - light)), adding_up(near))


def any_weights(program: Program) -> Realised:
    held = [x for x in program.pool if x.value.holds_weights and x.value.norm is Norm.ONE]
    found = [x for x in held if x.exact.shape[-1] == program.tokens]
    if found and program.chance(0.6):
        return found[program.whole(0, len(found) - 1)]
    weights: Realised = (given_affine if program.chance(0.3) else given_weights).run(program)
    return weights


@move("attend", "attend")
def attend(program: Program) -> None:
    weights, values = any_weights(program), program.pick(single=False)
    value = program.apply("attend", weights, values, NAME)
    centre = values.centre if values.value.radius is not None else np.zeros_like(values.exact[:, 0])
    exact, near = weights.exact @ values.exact, weights.near @ values.near
    program.conclude(value, exact, near, norm=values.value.norm, centre=centre, single=weights.single)


MOVES = (
    softmax,
    affine_softmax,
    cut_softmax,
    cut_to_the_largest,
    log_softmax,
    cross_entropy,
    concentrate,
    softmax_to_hard_max,
    hard_max,
    softmax_as_linear,
    heads_as_linear,
    heads_as_matrix,
    given_weights,
    given_affine,
    change_norm_of_weights,
    attend,
)
