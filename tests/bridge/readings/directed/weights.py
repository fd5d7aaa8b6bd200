"""Weights and averages under them: winners that may change, sums beside 1, averages that attain their bounds."""

import math

import sympy as sp
import torch

from bridge.readings import Emulated
from symbolic.calculus import (
    Approximated,
    Norm,
    attend,
    change_norm,
    concentrate,
    given,
    hard_max,
    softmax,
    softmax_to_hard_max,
)
from tests.bridge.readings.directed.case import Directed, tensor

margin, e = sp.symbols("m e", positive=True)
SCORES = [0.0, 1.0, -3.0]


def scores(dim: int = 3) -> Approximated:
    return given("s", dim=dim, size=99, error=e)


def values(dim: int = 1, size: float = 3, error: float = 0) -> Approximated:
    return given("v", dim=dim, norm=Norm.TWO, size=size, error=error)


def winner(name: str, near: list[float], error: float, **attained: float) -> Directed:
    """The hard max of SCORES, which move that far; the margin is left open."""
    derived = hard_max(scores(), "w", margin=margin)
    return Directed(f"hard max, {name}", derived, {"s": SCORES}, ({"s": near},), {e: error}, attained)


def known_winner(near: list[float], *, lost: bool) -> Directed:
    """Of a pair: the winner is looked for where the scores are moved to."""
    pair = {"s": Emulated(tensor(SCORES), tensor(near))}
    parts = {"radius": 1.0, "one": 1.0} if lost else {"radius": 1.0}
    return Directed(f"hard max of {near}", hard_max(scores(), "w", margin=margin), pair, ({},), {}, parts)


HARD = [
    winner("the winner leads by more than twice the error", [0.4999, 0.5001, -3.0], 0.4999, radius=1.0, one=1.0),
    winner("the winner leads upwards", [0.4999, 1.4999, -3.0], 0.4999, radius=1.0, one=1.0),
    winner("the winner may change", [0.51, 0.49, -3.0], 0.51, radius=1.0, one=1.0, two=1.0),
    winner("a tie", [0.5, 0.5, -3.0], 0.5, radius=1.0, one=1.0),
    winner("far", [10.0, -9.0, -3.0], 10.0, radius=1.0, one=1.0),
    *(
        known_winner(near, lost=lost)
        for near, lost in (
            ([0.0, -1.0, -3.0], True),
            ([1.5, 1.0, -3.0], True),
            ([0.5, 1.0, -3.0], False),
            ([0.0, 0.5, 0.0], False),
        )
    ),
]


# Equal scores that move apart: each weight by tanh(e)/2, so that values of +-1 attain the sum of the radii.
def equal_scores(error: float) -> Directed:
    average = attend(softmax(scores(2), "w"), values(2), "a")
    off = [[1.0, 1.0], [-1.0, -1.0]]
    moves = tuple({"s": [sign * error, -sign * error]} for sign in (1, -1))
    return Directed(
        "softmax of equal scores",
        average,
        {"s": [0.0, 0.0], "v": off},
        moves,
        {e: error},
        dict.fromkeys(("radius", "one", "two", "bound"), 1.0),
    )


# The odds of the growing keys go from e^(-e) to e^e, where the 1-norm is attained; the values are +-1 by these keys.
def critical_scores(error: float) -> Directed:
    ahead = tensor([1.0, 0.0, 0.0])
    exact = ahead * (math.log(2) - error)
    near = exact + error * (2 * ahead - 1)
    off = (2 * ahead - 1).unsqueeze(-1) * tensor([[1.0, -1.0]])
    average = attend(softmax(scores(3), "w"), values(2), "a")
    return Directed(
        f"softmax of critical scores, {error}",
        average,
        {"s": exact, "v": off},
        ({"s": near},),
        {e: error},
        dict.fromkeys(("radius", "one", "two", "bound"), 1.0),
    )


# The odds of two keys go from e^(-w/2) to e^(w/2), where scores move by w against each other: w = APART e.
def critical_pair(source: Norm, target: Norm, error: float) -> Directed:
    apart = {Norm.INF: 2, Norm.TWO: math.sqrt(2), Norm.ONE: 1}[source] * error
    exact = tensor([-apart / 4, apart / 4])
    pair = given("s", dim=2, norm=source, size=99, error=e)
    return Directed(
        f"two critical scores, {source} to {target}",
        softmax(pair, "w", target=target),
        {"s": exact},
        ({"s": -exact},),
        {e: error * (1 + 1e-15)},
        dict.fromkeys(("radius", "one", "two", "bound"), 1.0),
    )


# One of three keys grows, two fall alike: the 2-norm of the weights moves by sqrt(3/2) tanh(e/2), at most by sqrt(2)
# times that tanh.
def one_of_three(error: float) -> Directed:
    ahead = tensor([1.0, 0.0, 0.0])
    exact = ahead * (math.log(2) - error)
    near = exact + error * (2 * ahead - 1)
    rounds = {"one": 1.0, "two": math.sqrt(4 / 3), "bound": math.sqrt(4 / 3)}
    weights = softmax(scores(3), "w", target=Norm.TWO)
    return Directed("one of three critical scores", weights, {"s": exact}, ({"s": near},), {e: error}, rounds)


# Weights of which a bound in the 1-norm is known: half of it counts in the sup norm, by the rule.
def of_known_norm(target: Norm) -> Directed:
    w = given("w", dim=2, norm=Norm.ONE, size=1, error=e, probabilities=True)
    exact, near = tensor([0.75, 0.25]), tensor([0.5, 0.5])
    return Directed(
        f"weights from norm 1 to {target}",
        change_norm(w, target, "w'"),
        {"w": exact},
        ({"w": near},),
        {e: 0.5},
        {"bound": 1.0},
        by_rules=True,
    )


# Floats that miss 1 as a sum by 2^-54 count with 64 beside a value of 2^60: 10 times 0.1 is above, 3 times 1/3 below.
LARGE = 2.0**60


def summed(keys: int, near: list[float], sign: float) -> Directed:
    """Exact weights that floats make of 1/keys, against weights that add up to 1; all values are alike."""
    exact = [1 / keys] * keys
    w = given("w", dim=keys, norm=Norm.ONE, size=2, error=e, probabilities=True)
    moved = sum(abs(b - a) for a, b in zip(exact, near, strict=True))
    return Directed(
        f"{keys} weights beside 1, values {sign:+g}",
        attend(w, values(2, 2 * LARGE), "a"),
        {"w": exact, "v": [[sign * LARGE] * 2] * keys},
        ({"w": near},),
        {e: 2 * moved},
        dict.fromkeys(("radius", "two"), 1.0),
        bits=(128,),
    )


def pushed(keys: int) -> Directed:
    """A pair of such weights, which add up to more than 1 or to less, beside values that all err by 2^60."""
    exact = [1 / keys] * keys
    w = given("w", dim=keys, norm=Norm.ONE, size=2, error=1, probabilities=True)
    pair = Emulated(tensor(exact), tensor(exact))
    near = [[LARGE] * 2] * keys
    average = attend(w, given("v", dim=2, size=1, error=LARGE), "a")
    return Directed(
        f"{keys} weights beside 1 that push",
        average,
        {"w": pair, "v": [[0.0] * 2] * keys},
        ({"v": near},),
        {},
        {"radius": 1.0},
        bits=(128,),
    )


def pushed_below() -> Directed:
    """Exact weights below 1, emulated ones that add up to 1."""
    w = given("w", dim=3, norm=Norm.ONE, size=2, error=e, probabilities=True)
    near = [1 / 3 + 2.0**-54, 1 / 3, 1 / 3]
    average = attend(w, given("v", dim=2, norm=Norm.TWO, size=1, error=LARGE), "a")
    moved = [[LARGE / 2**0.5] * 2] * 3
    return Directed(
        "weights below 1 that push",
        average,
        {"w": [1 / 3] * 3, "v": [[0.0] * 2] * 3},
        ({"w": near, "v": moved},),
        {e: 2.0**-53},
        {"two": 1 + 1e-9},
        bits=(128,),
    )


SUMMED = [
    *(summed(10, [0.1 - 2.0**-54, *[0.1] * 9], sign) for sign in (1.0, -1.0)),
    *(summed(3, [1 / 3 + 2.0**-54, 1 / 3, 1 / 3], sign) for sign in (1.0, -1.0)),
    pushed(10),
    pushed_below(),
]


# softmax(b s) against the winner, without errors: all of the difference is known.
def against_the_winner() -> list[Directed]:
    by_beta = softmax_to_hard_max(given("s", dim=3, size=3), "w", margin=1, inverse_temperature=2)
    weights = torch.softmax(2 * tensor(SCORES), 0)
    gap = concentrate("k", count=3, gap=margin, scores="s")
    plain = torch.softmax(tensor([0.0, -0.75, -0.75]), 0)
    tokens = tensor([[0.0, -0.75, -0.75], [-0.75, 0.0, -0.75]])
    return [
        Directed(
            "softmax in the place of a hard max", by_beta, {"s": SCORES}, emulated=(weights,), attained={"bound": 1.0}
        ),
        *(
            Directed(
                f"concentrated weights of shape {tuple(s.shape)}, {letters}, local {local}",
                gap,
                {"s": s},
                ({},),
                letters,
                {"bound": 1.0, "radius": 1.0, **({} if exactly else {"one": 1.0, "two": math.sqrt(4 / 3)})},
                (torch.softmax(s, -1),),
                local=(local,),
            )
            for s in (plain.log(), tokens)
            for letters, local, exactly in (
                ({margin: 0.75}, True, True),
                ({margin: 0.75}, False, False),
                ({}, False, True),
            )
        ),
    ]


CASES = [
    *HARD,
    equal_scores(0.75),
    critical_scores(2.0),
    critical_scores(0.3),
    *(critical_pair(source, target, 0.8) for source in Norm for target in Norm),
    one_of_three(1.5),
    *(of_known_norm(target) for target in Norm),
    *SUMMED,
    *against_the_winner(),
]
