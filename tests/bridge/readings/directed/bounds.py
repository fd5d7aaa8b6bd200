"""Which of several bounds counts: of the rule, of the enclosure, of neither; and what decides a winner in balls."""

import math

import sympy as sp
import torch

from bridge.readings import Emulated, Smooth
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    apply_function,
    attend,
    concatenate,
    concentrate,
    given,
    hard_max,
    linear_map,
    pooled_sum,
    project,
    soft_threshold,
    softmax,
)
from tests.bridge.readings.directed.case import BITS, Directed, Wide, around, full, tensor

e, eps, margin = sp.symbols("e eps m", positive=True)
HALF = sp.Rational(1, 2)
Pair = tuple[float, float]  # exact and emulated


def start(name: str = "x", dim: int = 2, error: object = e, norm: Norm = Norm.TWO) -> Approximated:
    return given(name, dim=dim, norm=norm, size=9, error=error)


# --- the rule and the enclosure --------------------------------------------------------------------------------------

NEAR = {"x": Emulated([1.0, -2.0], [1.25, -2.5])}
ANY_SET = "'P' ('projection' has no enclosure: its set is any convex one; a box has operands, box=True, low=, high=)"
UNNAMED = "'A x' ('linear map' has no enclosure: without matrix= it names no operands)"


def unnamed(x: Approximated) -> Approximated:
    return linear_map(x, "A x", operator_norm=2, dim=2)


# A pair that is declared with an error which floats round below it.
def declared() -> Directed:
    x = given("x", dim=1, size=2, error=sp.Float(1e-9))
    return Directed(
        "a pair above its declared error",
        x,
        {"x": Emulated([1.0], [1.0 + 1e-9])},
        by_rules=True,
        attained={"bound": 1.0},
    )


# Of declared errors of 2, two that are 1 here need not come from the whole perturbation: they add up.
def pooled(*, named: bool) -> Directed:
    parts = [given(name, dim=1, size=3, error=2) for name in "xy"]
    parts = parts if named else [linear_map(each, f"2 {each.name}", operator_norm=2, dim=1) for each in parts]
    pair = Emulated([1.0], [2.0])
    stopped = (
        ""
        if named
        else "; ".join(f"'2 {n}' ('linear map' has no enclosure: without matrix= it names no operands)" for n in "xy")
    )
    return Directed(
        f"errors of one perturbation, named {named}",
        pooled_sum(*parts, name="sum"),
        {"x": pair, "y": pair},
        by_rules=named,
        attained={"bound": 1.0} if named else {},
        stopped=stopped,
    )


# Nothing says how far the approximant is off but the function itself: the letter eps has no number.
def without_letter() -> Directed:
    f = Smooth(lambda z: z, lambda z: z + 0.25, error=0.25)
    value = apply_function(start(), "f(x)", eps=eps, lipschitz=1, size=9, function="f")
    return Directed("a letter without a number", value, {**NEAR, "f": f}, by_rules=True)


def exact_parts() -> Directed:
    """The root of 0 has no slope; the bound of exact values has the slope 0."""
    pair = Emulated([1.0, -2.0], [1.0, -2.0])
    return Directed(
        "a concatenation of exact values",
        concatenate(start("x"), start("y"), name="both"),
        {"x": pair, "y": pair},
        by_rules=True,
        letters={e: 1},
        attained={"bound": 1.0},
    )


RULES = [
    declared(),
    *(pooled(named=named) for named in (True, False)),
    without_letter(),
    exact_parts(),
    Directed("a map without a handle", unnamed(start()), NEAR, stopped=UNNAMED),
    Directed(
        "what follows one",
        linear_map(unnamed(start()), "B A x", operator_norm=1, dim=2, matrix="B"),
        {**NEAR, "B": 0.5},
        stopped=UNNAMED,
    ),
    Directed(
        "what follows one of unknown norm, by the rules",
        linear_map(linear_map(start(), "A x", operator_norm=eps, dim=2), "B A x", operator_norm=1, dim=2, matrix="B"),
        {**NEAR, "B": 0.5},
        letters={e: 1},
        by_rules=True,
        stopped=UNNAMED,
    ),
    Directed(
        "a ball to project onto",
        project(start(), "P", size=1),
        NEAR,
        stopped=ANY_SET,
    ),
]


# --- sums of two, of which one is beyond its range --------------------------------------------------------------------


def beside_one_beyond() -> Directed:
    f = Smooth(lambda z: z / 2, radius=1.0)
    value = apply_function(start(), "f(x)", eps=0, lipschitz=HALF, size=9, function="f")
    both = add(value, start("y"), name="f(x) + y")
    return Directed(
        "a sum with what is beyond its range",
        add(both, start("z"), name="s"),
        {"x": [2.0, 0.0], "y": [0.0, 0.0], "z": [0.0, 0.0], "f": f},
        ({},),
        {e: 0},
        beyond=("f(x)",),
    )


# --- weights ---------------------------------------------------------------------------------------------------------


# One score may move by 400, the other by 1: e^300 in the place of e^400 would be too little for a key far behind.
def far_moves() -> Directed:
    scores = linear_map(start("x", norm=Norm.INF, error=1), "s", operator_norm=400, dim=2, matrix="A")
    operands = {"x": [0.0, -1.75], "A": [[1.0, 0.0], [0.0, 400.0]]}
    return Directed(
        "scores that move far", softmax(scores, "w"), operands, ({"x": [-1.0, -0.75]}, {"x": [-1.0, -2.75]})
    )


# Values of one middle: only two of the three keys count, by their own weights.
def middle_key() -> Directed:
    average = attend(softmax(given("s", dim=3, size=9, error=e), "w"), given("v", dim=1, size=1), "a")
    moves = tuple({"s": [sign * 0.75, -sign * 0.75, 0.0]} for sign in (1.0, -1.0))
    return Directed(
        "a key in the middle",
        average,
        {"s": [0.0] * 3, "v": [[1.0], [-1.0], [0.0]]},
        moves,
        {e: 0.75},
        {"radius": 1.5632},
    )


# Each query attends to the values of its own prompt.
def prompts() -> Directed:
    w = softmax(given("s", dim=3, size=9, error=e), "w")
    values = torch.arange(24.0, dtype=torch.float64).reshape(2, 3, 4)
    near = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).cos()
    found = (torch.softmax(near, -1).unsqueeze(-2) @ values).squeeze(-2)
    return Directed(
        "prompts of a batch",
        attend(w, given("v", dim=4, size=99), "a"),
        {"s": full((2, 3), 0.0), "v": values},
        ({"s": near},),
        {e: 1},
        emulated=(found,),
        bits=(None,),
    )


# Two steps of one operation, each with the number of its own.
def two_gaps() -> Directed:
    gaps = (0.5, 1.0)
    parts = [concentrate(f"weights by {gap}", count=3, gap=gap, scores="s") for gap in gaps]
    lost = [2 * math.exp(-gap) / (1 + 2 * math.exp(-gap)) for gap in gaps]
    return Directed(
        "weights of one score in two steps",
        concatenate(*parts, name="both"),
        {"s": [0.0, -1.0 - 1e-9, -1.0 - 1e-9]},
        local=(False,),
        attained={"one": sum(lost) / (2 * lost[1]) * (1 + 1e-6)},
    )


# Far below 0 a winner leads as well.
def low_winner(shift: float) -> Directed:
    derived = hard_max(given("s", dim=3, size=99, error=e), "w", margin=margin)
    return Directed(
        f"a winner at {shift}",
        derived,
        {"s": [shift, shift + 1, shift - 3]},
        ({"s": [shift + 0.49, shift + 0.51, shift - 3]},),
        {e: 0.4900001},
        {"radius": 1.0, "one": 1.0},
    )


def decided(scores: list[tuple[float, float]], winner: int | None) -> Directed:
    """Balls that do not tell the largest score have no winner; those that do have the first of the largest."""
    middle, radius = [(low + high) / 2 for low, high in scores], max(high - low for low, high in scores) / 2
    weights = hard_max(start("s", len(scores), 0, Norm.INF), "w", margin=margin)
    operands = {"s": Wide(middle, middle, radius)}
    refused = "" if winner is not None else "the largest score"
    return Directed(f"the largest of {scores}", weights, operands, refused=refused, bits=(BITS,))


def touching(middles: list[int], winner: int | None) -> Directed:
    """Balls of radius 1, times a number: those that are 2 apart end where the next begins, and are equal at worst."""
    half = float(around([0.0], 0.5, BITS).entries[0].rad())  # the radius is rounded upwards
    weights = hard_max(start("s", len(middles), 0, Norm.INF), "w", margin=margin)
    scores = [half * middle for middle in middles]
    refused = "" if winner is not None else "the largest score"
    return Directed(
        f"touching balls around {middles}", weights, {"s": Wide(scores, scores, 0.5)}, refused=refused, bits=(BITS,)
    )


WEIGHTS = [
    far_moves(),
    middle_key(),
    prompts(),
    two_gaps(),
    *(low_winner(shift) for shift in (0.0, -10.0, 10.0)),
    decided([(0.75, 1.0), (0.0, 0.25)], 0),
    decided([(0.0, 0.5), (0.75, 1.25), (0.0, 0.5)], 1),
    decided([(0.0, 0.25), (0.0, 0.25), (0.75, 1.0)], 2),
    decided([(0.75, 1.25), (1.0, 1.5)], None),
    decided([(1.0, 1.5), (0.75, 1.25)], None),
    decided([(0.0, 1.0), (1.0, 2.0)], None),
    decided([(0.0, 0.5), (1.0, 1.5), (0.75, 1.25)], None),
    decided([(1.0, 2.0), (0.5, 1.5), (-1.0, 0.0)], None),
    decided([(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)], 1),
    touching([2, 0], 0),
    touching([-4, 2, 0], 1),
    touching([-1, 0, 2], None),
]


# --- a jump that rounding hides ---------------------------------------------------------------------------------------


# 0.3 + (1e-20 - 0.3) is 0 in floats: S_-1 of it is 0, and of 1e-20 it is 1. In balls the side is known.
def hidden(exact: float, near: float) -> Directed:
    shrunk = soft_threshold(start("x", 1, 1, Norm.INF), "s", threshold_error=1, threshold="t")
    moved = near + math.copysign(1, near) if near else 0.0
    operands = {"x": Emulated([exact], [near]), "t": Emulated([0.0], [-1.0])}
    return Directed(f"a jump between {exact} and {near}", shrunk, operands, emulated=([moved],))


# A sum is 0 up to rounding, on one side in floats and on the other in truth; of any size. Beside it is a larger number.
def summed(scale: float, *pairs: Pair) -> Directed:
    terms = [f"x{i}" for i in range(1, len(pairs) + 1)]
    total = add(*(start(each) for each in terms), name="sum")
    known = {
        name: Emulated(*(scale * tensor([each, 0.5]) for each in pair)) for name, pair in zip(terms, pairs, strict=True)
    }
    return Directed(
        f"a jump beside a sum, {scale:g} times {' + '.join(map(str, pairs))}",
        soft_threshold(total, "s", threshold_error=scale, threshold="t"),
        {**known, "t": Emulated([0.0], [-scale])},
        bits=(None,),
    )


# The same far above all operands: A x is of the size of 2^40.
def amplified(sign: int, x: Pair, y: Pair) -> Directed:
    scale = 2.0**20
    mapped = linear_map(start(), "A x", operator_norm=2 * scale, dim=1, matrix="A")
    pairs = Emulated(scale * tensor([x[0], y[0]]), scale * tensor([x[1], y[1]]))
    return Directed(
        f"a jump beside {sign} times {scale:g} times {x} + {y}",
        soft_threshold(mapped, "s", threshold_error=scale, threshold="t"),
        {"x": pairs, "A": [[sign * scale, sign * scale]], "t": Emulated([0.0], [-scale])},
        bits=(None,),
    )


# Clear of 0 by more than rounding nothing jumps, whatever the size is.
def clear(scale: float) -> Directed:
    shrunk = soft_threshold(start("x", 1), "s", threshold_error=scale, threshold="t")
    pair = Emulated(scale * tensor([0.5]), scale * tensor([0.25]))
    return Directed(
        f"a jump that is clear, {scale:g}", shrunk, {"x": pair, "t": Emulated([0.0], [-scale])}, attained={"bound": 1.0}
    )


def sums_that_round() -> list[tuple[Pair, Pair]]:
    """Exact and emulated x and y, where the emulated sum is 0 and what floats make of it by the centres is not."""
    found, generator = [], torch.Generator().manual_seed(0)
    while len(found) < 4:
        a, b, c = torch.rand(3, generator=generator, dtype=torch.float64).tolist()
        moved = (a + b) + ((c - a) + (-c - b))
        if moved != 0 and (not found or (moved > 0) != (found[-1][0] > 0)):
            found.append((moved, (a, c), (b, -c)))
    return [(x, y) for _, x, y in found]


def sums_that_cancel() -> list[tuple[Pair, ...]]:
    """Exact and emulated 3 v, -v, -2 v, whose sums are what rounding leaves of them, on different sides of 0."""
    found, generator = [], torch.Generator().manual_seed(0)
    while len(found) < 4:
        v, w = torch.rand(2, generator=generator, dtype=torch.float64).tolist()
        pairs = [(c * v, c * w) for c in (3, -1, -2)]
        moved, emulated = sum(a for a, _ in pairs) + sum(b - a for a, b in pairs), sum(b for _, b in pairs)
        if moved * emulated < 0 and (not found or (moved > 0) != (found[-1][0] > 0)):
            found.append((moved, pairs))
    return [tuple(pairs) for _, pairs in found]


JUMPS = [
    *(hidden(exact, near) for exact in (0.3, -0.3) for near in (0.0, 1e-20, -1e-20, 0.2)),
    *(summed(scale, x, y) for scale in (1.0, 2.0**60, 2.0**-60) for x, y in sums_that_round()),
    *(summed(scale, *pairs) for scale in (1.0, 2.0**60, 2.0**-60) for pairs in sums_that_cancel()),
    *(amplified(sign, x, y) for sign in (1, -1) for x, y in sums_that_round()),
    *(clear(scale) for scale in (1.0, 2.0**60, 2.0**-60)),
]
CASES = [*RULES, beside_one_beyond(), *WEIGHTS, *JUMPS]
