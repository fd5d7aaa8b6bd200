"""Softmax, hard max, and averages under their weights: cases of equality in each pair of norms."""

from functools import partial

import numpy as np

from symbolic.calculus import Norm, attend, change_norm, concentrate, given, heads_as_linear, heads_as_matrix
from tests.symbolic.cases import weights as cases
from tests.symbolic.cases.case import norm, shown, value
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.softmax_moves import APART, scaled_weights
from tests.symbolic.sharpness.attaining import DIM, Attaining, Limit, direction

TWO_KEYS = "two keys that exchange their odds"
KINDS = ("none", "constant", "opposite")


def as_linear(source: Norm) -> Realised:
    """In the sup norm one of three equal scores errs upwards by log 2."""
    return cases.as_linear_constant() if source is Norm.INF else cases.as_linear_apart(source)


def winner(source: Norm) -> Limit:
    """The error of a winner that stays, in units of the one at which there is a tie."""
    scores, moved = np.array([1.0, 0.0]), np.array([0.5 + 1e-9, 0.5 - 1e-9])
    return Limit(cases.hard_max_at(scores, moved, source), APART[source] * norm(moved - scores, source))


def to_the_winner(source: Norm) -> Realised:
    return cases.to_hard_max_sharp() if source is Norm.INF else cases.to_hard_max_of_two(source)


def concentrated() -> Realised:
    return cases.against_the_winner(concentrate("k", count=4, slope=0.5), -np.arange(4.0) / 2)


def attended(weights: Norm, values: Norm) -> Realised:
    """Two values at opposite ends of a ball, whose errors point from one to the other."""
    a, b, unit = np.array([1.0, 0.0]), np.array([0.8, 0.2]), direction(values)
    rows = given("a", dim=2, norm=weights, size=1, error=0.4, probabilities=True)
    tokens = np.array([[-2.0], [2.0]]) * unit
    result = attend(rows, given("v", dim=DIM, norm=values, size=2, radius=2, error=0.1), "out")
    return shown(result, a @ tokens, b @ (tokens + 0.1 * unit), values)


def changed(source: Norm, target: Norm) -> Realised:
    exact, near = np.array([1.0, 0.0, 0.0]), np.array([0.8, 0.2, 0.0])
    result = change_norm(value("a", exact, near, source, probabilities=True), target, "a'")
    return shown(result, exact, near, target)


# Rules that conclude in the 1-norm alone, whose weights are then stated in another.
def restated(found: Realised, target: Norm) -> Realised:
    return shown(change_norm(found.value, target, "restated"), found.exact, found.near, target)


def softmax_restated(source: Norm, target: Norm) -> Realised:
    return restated(cases.softmax_sharp(source, Norm.ONE), target)


def as_linear_restated(source: Norm, target: Norm) -> Realised:
    return restated(cases.as_linear_apart(source) if target is Norm.TWO else as_linear(source), target)


def to_the_winner_restated(source: Norm, target: Norm) -> Realised:
    return restated(cases.to_hard_max_of_two(source), target)


def concentrated_restated(target: Norm) -> Realised:
    gap = np.array([0.0, -0.5])
    return restated(cases.against_the_winner(concentrate("k", count=2, gap=0.5), gap), target)


SMALL, MOVED = np.full(3, 0.02), np.full(3, 0.022)


def beside_a_sink(second: str, source: Norm) -> Realised:
    result = heads_as_linear(value("t", SMALL, MOVED, source), "q", sink=40.0, second=second)
    return shown(result, SMALL + (second == "none"), scaled_weights(MOVED, 40.0, second), source)


def of_all_queries(second: str, source: Norm) -> Realised:
    scores = value("t", SMALL, MOVED, source)
    result = heads_as_matrix(scores, "q", sink=40.0, reach=MOVED[0], keys=3, second=second)
    return shown(result, SMALL + (second == "none"), scaled_weights(MOVED, 40.0, second), source)


RESTATED = "then change_norm"
AT_ONE_END = "equal small scores, all moved to the end of their range"
ATTAINING = (
    Attaining("softmax", TWO_KEYS, cases.softmax_sharp, target=True),
    Attaining("softmax", f"{TWO_KEYS}, by 1e-3", cases.softmax_affine, target=True, variant="affine"),
    Attaining("cut_softmax", "exact scores, of which one is left out", cases.cut_sharp),
    Attaining("log_softmax", "two scores far apart, of which the less likely one falls", cases.log_softmax_sharp),
    Attaining("cross_entropy", "two scores, of which that of the label falls", cases.cross_entropy_sharp),
    Attaining("softmax_as_linear", "equal scores that err apart (two keys, by little, but in the sup norm)", as_linear),
    Attaining("hard_max", "errors just below those of a tie; the bound is 0", winner),
    Attaining("softmax_to_hard_max", "all others at the margin, moved against the winner", to_the_winner),
    Attaining("concentrate", "gaps as stated", concentrated, premises=0),
    Attaining("softmax", TWO_KEYS, softmax_restated, target=True, variant=RESTATED),
    Attaining("softmax_as_linear", "as in the 1-norm, two keys for the 2-norm", as_linear_restated, 1, True, RESTATED),
    Attaining("softmax_to_hard_max", "two keys at the margin", to_the_winner_restated, 1, True, RESTATED),
    Attaining("concentrate", "two keys, gaps as stated", concentrated_restated, 0, True, RESTATED),
    Attaining("attend", "two values at opposite ends of a ball", attended, premises=2),
    Attaining("change_norm", "what one weight gains another one loses", changed, target=True, variant="weights"),
    *(Attaining("heads_as_linear", AT_ONE_END, partial(beside_a_sink, kind), variant=kind) for kind in KINDS),
    *(Attaining("heads_as_matrix", AT_ONE_END, partial(of_all_queries, kind), variant=kind) for kind in KINDS),
)
