"""Softmax, hard max, and averages under their weights."""

from functools import partial

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Approximated,
    Norm,
    attend,
    change_norm,
    concentrate,
    cross_entropy,
    cut_softmax,
    given,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    log_softmax,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
)
from tests.symbolic.cases.case import Half, RuleCase, draw, shown, value
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.softmax_moves import cut_weights, largest_of, linear_weights, log_weights, scaled_weights
from tests.symbolic.fuzzing.vectors import softmax_weights


def softmax_at(scores: np.ndarray, near: np.ndarray, source: Norm, target: Norm, affine: bool = False) -> Realised:
    result = softmax(value("t", scores, near, source), "q", target=target, affine=affine)
    return shown(result, softmax_weights(scores), softmax_weights(near), target)


def softmax_sharp(source: Norm, target: Norm) -> Realised:
    """Two keys that exchange their odds, e^0.7."""
    theta = np.array([-0.35, 0.35])
    return softmax_at(theta, -theta, source, target)


def softmax_of_many(target: Norm) -> Realised:
    """One of five keys grows from 1 / (1 + e^0.7), all others fall."""
    ahead = np.eye(5)[0]
    scores = ahead * (np.log(4) - 0.7)
    return softmax_at(scores, scores + 0.7 * (2 * ahead - 1), Norm.INF, target)


def softmax_size(source: Norm, target: Norm) -> Realised:
    """All the weight on one of two keys."""
    return softmax_at(np.array([0.0, -40.0]), np.array([1.0, -40.0]), source, target)


def softmax_affine(source: Norm, target: Norm) -> Realised:
    """Of small errors the bound that is affine in them is attained nearly."""
    theta = np.array([-5e-4, 5e-4])
    return softmax_at(theta, -theta, source, target, affine=True)


def softmax_random(source: Norm, target: Norm, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 8) * v for v in draw(rng, int(rng.integers(1, 6))))
    return softmax_at(x, near, source, target)


def log_softmax_sharp(source: Norm) -> Realised:
    """Of two scores far apart the less likely one falls; in the sup norm of three."""
    apart = np.array([1.0, 1.0, -1.0] if source is Norm.INF else [1.0, -1.0])
    exact, near = 9 * apart, 9.5 * apart
    return shown(log_softmax(value("t", exact, near, source), "l"), log_weights(exact), log_weights(near))


def log_softmax_random(rng: np.random.Generator) -> Realised:
    source = list(Norm)[rng.integers(3)]
    x, near = (rng.uniform(0, 8) * v for v in draw(rng, int(rng.integers(1, 6))))
    return shown(log_softmax(value("t", x, near, source), "l"), log_weights(x), log_weights(near))


def cross_entropy_at(scores: np.ndarray, near: np.ndarray, label: np.ndarray, source: Norm) -> Realised:
    others = 1 - float(softmax_weights(scores) @ label)
    result = cross_entropy(value("t", scores, near, source), "h", others=others)
    return shown(result, *(-(label @ log_weights(each))[None] for each in (scores, near)))


def cross_entropy_sharp(source: Norm) -> Realised:
    """The label's score falls, by as much as the others rise."""
    apart = np.array([1.0, 1.0, -1.0] if source is Norm.INF else [1.0, -1.0])
    return cross_entropy_at(0.5 * apart, 1.25 * apart, np.eye(len(apart))[-1], source)


def cross_entropy_random(rng: np.random.Generator) -> Realised:
    source, classes = list(Norm)[rng.integers(3)], int(rng.integers(1, 6))
    x, near = (rng.uniform(0, 8) * v for v in draw(rng, classes))
    label = rng.dirichlet(np.ones(classes)) if rng.random() < 0.5 else np.eye(classes)[0]
    return cross_entropy_at(x, near, label, source)


def as_linear(scores: np.ndarray, near: np.ndarray, source: Norm = Norm.INF) -> Realised:
    half_range = float(np.ptp(scores)) / 2
    result = softmax_as_linear(value("t", scores, near, source), "q", half_range=half_range)
    return shown(result, linear_weights(scores), softmax_weights(near), Norm.ONE)


def as_linear_constant() -> Realised:
    """Equal scores; one of three errs upwards by log 2, the others downwards."""
    scores = np.full(3, 5.0)
    return as_linear(scores, scores + np.log(2) * np.array([1.0, -1.0, -1.0]))


def as_linear_apart(source: Norm) -> Realised:
    """Two keys of equal scores that err apart, by little."""
    scores = np.full(2, 5.0)
    return as_linear(scores, scores + 1e-3 * np.array([1.0, -1.0]), source)


def as_linear_small() -> Realised:
    """Small exact scores; 4 of 19 are ahead, a share close to (3 - sqrt 3) / 6."""
    scores = np.where(np.arange(19) < 4, 1e-3, -1e-3)
    return as_linear(scores, scores)


def as_linear_size() -> Realised:
    """Two of three scores at 3/2, one at -3/2: linear weights 2/3, 2/3, -1/3."""
    scores = np.array([1.5, 1.5, -1.5])
    return as_linear(scores, scores)


def as_linear_random(source: Norm, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 4) * v for v in draw(rng, 5))
    return as_linear(x, near, source)


def as_linear_by_size(source: Norm, rng: np.random.Generator) -> Realised:
    """Without a half range, the size of the scores gives one."""
    x, near = (rng.uniform(0, 4) * v for v in draw(rng, 3))
    result = softmax_as_linear(value("t", x, near, source), "q")
    return shown(result, linear_weights(x), softmax_weights(near), Norm.ONE)


def cut_at(scores: np.ndarray, near: np.ndarray, kept: np.ndarray, source: Norm = Norm.INF) -> Realised:
    lost = float((softmax_weights(near) * (1 - kept)).sum())
    result = cut_softmax(value("t", scores, near, source), "q", lost=lost, kept="kept")
    return shown(result, softmax_weights(scores), cut_weights(near, kept), Norm.ONE)


def cut_sharp(source: Norm) -> Realised:
    """Exact scores, of which one is left out."""
    scores = np.array([0.3, -1.0, 2.0])
    return cut_at(scores, scores, np.array([1.0, 1.0, 0.0]), source)


def cut_of_equal() -> Realised:
    """The two largest of five equal scores."""
    scores = np.full(5, 0.7)
    result = cut_softmax(value("t", scores, scores), "q", lost=sp.Rational(3, 5), most=2)
    return shown(result, softmax_weights(scores), cut_weights(scores, largest_of(scores, 2)), Norm.ONE)


def cut_random(source: Norm, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 4) * v for v in draw(rng, int(rng.integers(2, 6))))
    kept = np.where(rng.permutation(x.size) < rng.integers(1, x.size + 1), 1.0, 0.0)
    return cut_at(x, near, kept, source)


def by_heads(exact: np.ndarray, near: np.ndarray, second: str, sink: float) -> Realised:
    result = heads_as_linear(value("t", exact, near), "q", sink=sink, second=second)
    return shown(result, exact + (second == "none"), scaled_weights(near, sink, second))


def heads_sharp(second: str) -> Realised:
    """Small scores at the end of their range, moved beyond it, beside a sink that leaves nothing to them."""
    scores = np.full(3, 0.02)
    return by_heads(scores, 1.1 * scores, second, 40.0)


def heads_random(second: str, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 2) * v for v in draw(rng, 4))
    return by_heads(x, near, second, rng.uniform(-1, 10))


def by_all_heads(exact: np.ndarray, near: np.ndarray, second: str, sink: float, more: np.ndarray) -> Realised:
    """`more` are the scores of keys beside those of the vector."""
    reach, widest = abs(near).max(), max(abs(near).max(), abs(more).max(initial=0))
    keys = near.size + more.size
    result = heads_as_matrix(
        value("t", exact, near, Norm.TWO), "q", sink=sink, reach=reach, keys=keys, widest=widest, second=second
    )
    weights = scaled_weights(np.concatenate([near, more]), sink, second)[: near.size]
    return shown(result, exact + (second == "none"), weights, Norm.TWO)


def all_heads_sharp(second: str) -> Realised:
    scores = np.full(3, 0.02)
    return by_all_heads(scores, 1.1 * scores, second, 40.0, np.zeros(0))


def all_heads_random(second: str, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 2) * v for v in draw(rng, 4))
    return by_all_heads(x, near, second, rng.uniform(-1, 10), rng.uniform(-3, 3, 2))


def against_the_winner(result: Approximated, scores: np.ndarray) -> Realised:
    return shown(result, np.eye(scores.size)[0], softmax_weights(scores), Norm.ONE)


def concentrate_random(rng: np.random.Generator) -> Realised:
    """Gaps that are larger than stated."""
    scores = -np.concatenate([[0.0], 0.5 * np.arange(1, 5) + rng.uniform(0, 1, 4)])
    return against_the_winner(concentrate("k", count=5, slope=Half), scores)


def to_hard_max_sharp() -> Realised:
    scores, moved = np.array([1.0, 0.0, 0.0]), np.array([0.9, 0.1, 0.1])
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=3)
    return against_the_winner(result, 3 * moved)


def to_hard_max_of_two(source: Norm) -> Realised:
    scores, moved = np.array([1.0, 0.0]), np.array([0.9, 0.1])
    result = softmax_to_hard_max(value("t", scores, moved, source), "q", margin=1, inverse_temperature=3)
    return against_the_winner(result, 3 * moved)


def to_hard_max_random(rng: np.random.Generator) -> Realised:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    moved = scores + rng.uniform(-0.3, 0.3, 4)
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=2)
    return against_the_winner(result, 2 * moved)


def hard_max_at(scores: np.ndarray, moved: np.ndarray, source: Norm = Norm.INF) -> Realised:
    result = hard_max(value("t", scores, moved, source), "q", margin=1)
    units = np.eye(scores.size)
    return shown(result, units[scores.argmax()], units[moved.argmax()], Norm.ONE)


def hard_max_sharp() -> Realised:
    """Errors just below half the margin."""
    e = 0.5 - 1e-9
    return hard_max_at(np.array([1.0, 0.0, 0.0]), np.array([1 - e, e, e]))


def hard_max_of_two(source: Norm) -> Realised:
    e = 0.5 - 1e-9
    return hard_max_at(np.array([1.0, 0.0]), np.array([1 - e, e]), source)


def hard_max_random(rng: np.random.Generator) -> Realised:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    return hard_max_at(scores, scores + rng.uniform(-0.49, 0.49, 4))


def change_of_weights(exact: np.ndarray, near: np.ndarray, target: Norm) -> Realised:
    result = change_norm(value("a", exact, near, Norm.ONE, probabilities=True), target, "a'")
    return shown(result, exact, near, target)


def change_of_random_weights(target: Norm, rng: np.random.Generator) -> Realised:
    return change_of_weights(*rng.dirichlet(np.ones(4), 2), target)


def attend_sharp() -> Realised:
    """Two queries, each on its own key, whose weights leak to the other one."""
    a, b = np.eye(2), np.array([[0.8, 0.2], [0.2, 0.8]])
    tokens = np.array([[3.0], [1.0]])
    values = given("v", dim=1, size=3, radius=1, error=0.1)
    rows = given("a", dim=2, norm=Norm.ONE, size=1, error=0.4, probabilities=True)
    return shown(attend(rows, values, "out"), a @ tokens, b @ (tokens + 0.1), centre=[2.0])


def attend_without_radius() -> Realised:
    """Values of size 3 on both sides of 0."""
    a, b = np.eye(2), np.array([[0.8, 0.2], [0.2, 0.8]])
    tokens = np.array([[3.0], [-3.0]])
    rows = given("a", dim=2, norm=Norm.ONE, size=1, error=0.4, probabilities=True)
    result = attend(rows, given("v", dim=1, size=3, error=0.1), "out")
    return shown(result, a @ tokens, b @ (tokens + 0.1), centre=[0.0])


def attend_linear() -> Realised:
    """Exact weights 3/2 and -1/2, approximate ones 1 and 0; values of size 3 on both sides of 0."""
    a, b, tokens = np.array([1.5, -0.5]), np.array([1.0, 0.0]), np.array([[3.0], [-3.0]])
    result = attend(value("a", a, b, Norm.ONE, affine=True), given("v", dim=1, size=3, radius=3, error=0.1), "out")
    return shown(result, a @ tokens, b @ (tokens - 0.1), centre=[0.0])


def attend_random(rng: np.random.Generator) -> Realised:
    a, b, v = softmax_weights(rng.normal(size=4)), softmax_weights(rng.normal(size=4)), rng.uniform(-1, 1, (4, 3))
    near = v + rng.uniform(-0.1, 0.1, v.shape)
    middle = (v.max(0) + v.min(0)) / 2
    error = float(np.abs(near - v).max())
    values = given("v", dim=3, size=1, radius=float(np.abs(v - middle).max()), error=error)
    result = attend(value("a", a, b, Norm.ONE, probabilities=True), values, "out")
    return shown(result, a @ v, b @ near, centre=middle)


CASES = [
    *(
        RuleCase(
            f"softmax from norm {s} to {t}",
            "softmax",
            partial(softmax_sharp, s, t),
            partial(softmax_random, s, t),
            size=partial(softmax_size, s, t),
        )
        for s in Norm
        for t in Norm
    ),
    *(
        RuleCase(
            f"softmax of many to norm {t}",
            "softmax",
            partial(softmax_of_many, t),
            size=partial(softmax_size, Norm.INF, t),
        )
        for t in (Norm.INF, Norm.ONE)
    ),
    *(
        RuleCase(
            f"softmax, affine, from norm {s} to {t}",
            "softmax",
            partial(softmax_affine, s, t),
            size=partial(softmax_size, s, t),
        )
        for s in Norm
        for t in Norm
    ),
    RuleCase(
        "concentrate by small gaps",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=4, gaps=lambda k: k / 3), -np.arange(4.0) / 3),
    ),
    RuleCase(
        "softmax_as_linear",
        "softmax_as_linear",
        as_linear_constant,
        partial(as_linear_random, Norm.INF),
        size=as_linear_size,
    ),
    *(
        RuleCase(
            f"softmax_as_linear in norm {s}, {words}",
            "softmax_as_linear",
            partial(as_linear_apart, s),
            partial(random, s),
            size=as_linear_size,
        )
        for s in (Norm.ONE, Norm.TWO)
        for words, random in (("half range", as_linear_random), ("size", as_linear_by_size))
    ),
    *(
        RuleCase(f"log_softmax from norm {n}", "log_softmax", lambda n=n: log_softmax_sharp(n), log_softmax_random)
        for n in Norm
    ),
    *(
        RuleCase(
            f"cross_entropy from norm {n}", "cross_entropy", lambda n=n: cross_entropy_sharp(n), cross_entropy_random
        )
        for n in Norm
    ),
    RuleCase("softmax_as_linear, small", "softmax_as_linear", as_linear_small),
    *(
        RuleCase(
            f"heads_as_linear, {kind}",
            "heads_as_linear",
            partial(heads_sharp, kind),
            partial(heads_random, kind),
            trials=60,
        )
        for kind in ("none", "constant", "opposite")
    ),
    *(
        RuleCase(
            f"heads_as_matrix, {kind}",
            "heads_as_matrix",
            partial(all_heads_sharp, kind),
            partial(all_heads_random, kind),
        )
        for kind in ("none", "constant", "opposite")
    ),
    RuleCase(
        "concentrate by slope",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=6, slope=sp.Rational(1, 3)), -np.arange(6) / 3),
        concentrate_random,
    ),
    RuleCase(
        "concentrate by gap",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=5, gap=2), np.array([0.0, -2, -2, -2, -2])),
    ),
    RuleCase(
        "concentrate by gaps",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=4, gaps=lambda k: k**2), -(np.arange(4.0) ** 2)),
    ),
    RuleCase(
        "concentrate on one key",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=1, gap=2), np.zeros(1)),
        error_loose="the bound is 0",
    ),
    *(RuleCase(f"cut_softmax from {s}", "cut_softmax", partial(cut_sharp, s), partial(cut_random, s)) for s in Norm),
    RuleCase("cut_softmax of equal scores", "cut_softmax", cut_of_equal),
    RuleCase("softmax_to_hard_max", "softmax_to_hard_max", to_hard_max_sharp, to_hard_max_random),
    RuleCase("hard_max", "hard_max", hard_max_sharp, hard_max_random, error_loose="0; sharp is the margin, see below"),
    *(
        RuleCase(f"softmax_to_hard_max in norm {s}", "softmax_to_hard_max", partial(to_hard_max_of_two, s))
        for s in (Norm.ONE, Norm.TWO)
    ),
    *(
        RuleCase(f"hard_max in norm {s}", "hard_max", partial(hard_max_of_two, s), error_loose="0; sharp is the margin")
        for s in (Norm.ONE, Norm.TWO)
    ),
    *(
        RuleCase(
            f"change_norm of weights to {t}",
            "change_norm",
            lambda t=t: change_of_weights(np.eye(3)[0], np.array([0.8, 0.2, 0.0]), t),
            partial(change_of_random_weights, t),
        )
        for t in Norm
    ),
    RuleCase("attend", "attend", attend_sharp, attend_random),
    RuleCase("attend without a radius", "attend", attend_without_radius),
    RuleCase("attend with linear weights", "attend", attend_linear),
]
