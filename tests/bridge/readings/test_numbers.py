"""Numbers that rules were given are compared with those of the operands: which step, and both numbers."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch

from bridge.readings import Emulated, Smooth, at
from bridge.readings.numbers import norm_below
from numeric.balls import BallArray
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    apply_function,
    apply_to_pairs,
    centre,
    concentrate,
    contract,
    cross_entropy,
    exclude,
    given,
    hard_max,
    linear_map,
    perturbed_function,
    perturbed_map,
    repeat,
    rms_normalise,
    soft_threshold,
    softmax_as_linear,
    softmax_to_hard_max,
)
from symbolic.words.errors import UsageError

every_arithmetic = pytest.mark.parametrize("bits", [None, 96])
TENTH, HALF = sp.Rational(1, 10), sp.Rational(1, 2)
PAIR = Emulated([0.5, -1.0], [0.5, -0.9])
MATRIX = torch.tensor([[2.0, 0.0], [0.0, 0.5]], dtype=torch.float64)
TANH = Smooth(torch.tanh, lambda z: 0.9 * torch.tanh(z), [lambda z: 1 - torch.tanh(z) ** 2])


def x(norm: Norm = Norm.INF) -> Approximated:
    return given("x", dim=2, norm=norm, size=2, error=TENTH)


def twice(rate: Any) -> Approximated:
    return repeat(x(), "deep", lambda z: linear_map(z, "A z", operator_norm=rate, dim=2, matrix="A"), 2)


def foreign(lead: Any = 1, diameter: Any = 2, start: Approximated | None = None) -> Approximated:
    return exclude(start or x(), "y", count=2, lead=lead, diameter=diameter, foreign="v", leads="l")


def turned(eps: Any = 1, lipschitz: Any = 1) -> Approximated:
    return perturbed_function(x(), "F(x)", lipschitz=lipschitz, eps=eps, size=1, function="F")


def normalised(least: Any, exact_least: Any = 1, after: Approximated | None = None) -> Approximated:
    return rms_normalise(after or x(Norm.TWO), "g", least=least, exact_least=exact_least)


def compared(*, slope: Any = 1, eps: Any = TENTH) -> Approximated:
    """|x_1 - y_1|, off by 0.05, at x = 0.5 and 0.5 and at the keys 0 and 1, of which the network has 0 and 1.25."""
    query, keys = (given(name, dim=1, size=2, error=HALF) for name in ("x", "k"))
    return apply_to_pairs(query, keys, "s", count=2, slopes=(1, slope), size=2, eps=eps, radius=2, function="f")


def distance(q: Any, k: Any) -> Any:
    return abs(q - k[..., 0])


PAIRS = {
    "x": torch.tensor([0.5], dtype=torch.float64),
    "k": Emulated([[0.0], [1.0]], [[0.0], [1.25]]),
    "f": Smooth(distance, lambda q, k: distance(q, k) + 0.05),
}


TURN = Smooth(lambda z: z.flip(-1), lambda z: z.flip(-1) + 0.25)  # of both coordinates


# A derivation whose number is that of the operands, or (`wrong`) is not, and what is said then.
CASES: dict[str, tuple[Callable[[bool], Approximated], dict[str, Any], str]] = {
    "norm": (
        lambda wrong: linear_map(x(), "A x", operator_norm=HALF if wrong else 2, dim=2, matrix="A"),
        {"A": MATRIX},
        "step 'A x': the norm of 'A' in the inf-norm is 2, above the 0.5 that rule 'linear map' was given",
    ),
    "norm between norms": (
        lambda wrong: linear_map(
            x(Norm.TWO), "A x", operator_norm=1 if wrong else 2, dim=2, matrix="A", target=Norm.INF
        ),
        {"A": MATRIX},
        "the norm of 'A' from the 2-norm to the inf-norm is 2, above the 1 that",
    ),
    "number": (
        lambda wrong: linear_map(x(), "A x", operator_norm=1 if wrong else 2, dim=2, matrix="A"),
        {"A": -2.0},
        "the norm of 'A' in the inf-norm is 2, above the 1 that",
    ),
    "layer": (
        lambda wrong: twice(1 if wrong else 2),
        {"A": (MATRIX / 2, MATRIX)},
        "'deep', layer 2, step 'A z': the norm of 'A' in the inf-norm is 2, above the 1 that rule",
    ),
    "perturbation": (
        lambda wrong: perturbed_map(x(), "A x", operator_norm=2, perturbation=TENTH if wrong else 1, dim=2, matrix="A"),
        {"A": Emulated(MATRIX, MATRIX - torch.eye(2, dtype=torch.float64))},
        "the norm of the perturbation of 'A' in the inf-norm is 1, above the 0.1 that",
    ),
    "factor": (
        lambda wrong: contract(
            x(), "y", factor=HALF if wrong else sp.Rational(9, 10), offset=0, size=2, depth=2, matrix="A"
        ),
        {"A": MATRIX * 0.4},
        "the norm of 'A' in the inf-norm is 0.8, above the 0.5 that rule 'contraction' was given",
    ),
    "slope": (
        lambda wrong: apply_function(x(), "f(x)", eps=1, lipschitz=HALF if wrong else 1, size=1, function="f"),
        {"f": TANH},
        "a slope of 'f' is 0.786448, above the 0.5 that rule 'apply a function' was given",
    ),
    "deviation": (
        lambda wrong: apply_function(
            x(), "f(x)", eps=sp.Rational(1, 20) if wrong else 1, lipschitz=1, size=1, function="f"
        ),
        {"f": TANH},
        "the deviation of 'f' is 0.0716298, above the 0.05 that",
    ),
    "number of tokens": (
        lambda wrong: centre(given("x", dim=1, size=2), "y", count=2 if wrong else 3),
        {"x": torch.tensor([[1.0], [2.0], [0.0]], dtype=torch.float64)},
        "step 'y': the number of tokens is 3, above the 2 that rule 'centring' was given",
    ),
    "margin": (
        lambda wrong: hard_max(x(), "w", margin=2 if wrong else 1),
        {},
        "the margin of the scores is 1.5, below the 2 that rule 'hard max' was given",
    ),
    "margin of a softmax": (
        lambda wrong: softmax_to_hard_max(x(), "w", margin=2 if wrong else 1, inverse_temperature=3),
        {},
        "the margin of the scores is 1.5, below the 2 that",
    ),
    "weight beside the winner's": (
        lambda wrong: concentrate("w", count=3, gap=2 if wrong else 1, scores="x"),
        {"x": torch.tensor([3.0, 1.5, 1.0], dtype=torch.float64)},
        "step 'w': the weight beside the largest of 'x' is 0.263875, above the 0.213014 that rule 'softmax conc",
    ),
    "weight of a foreign key": (
        lambda wrong: foreign(lead=3 if wrong else 1),
        {"v": torch.tensor([1.0, 0.0], dtype=torch.float64), "l": torch.tensor([1.0, 2.0], dtype=torch.float64)},
        "the weight of 'v' is 0.0900306, above the 0.024",
    ),
    "diameter": (
        lambda wrong: foreign(diameter=HALF if wrong else 2),
        {"v": torch.tensor([1.0, 0.0], dtype=torch.float64), "l": torch.tensor([1.0, 2.0], dtype=torch.float64)},
        "the distance of 'v' from the average of the other keys is ",
    ),
    "deviation of a map of vectors": (
        lambda wrong: turned(eps=TENTH if wrong else 1),
        {"F": TURN},
        "the deviation of 'F' is 0.25, above the 0.1 that rule 'Lipschitz map' was given",
    ),
    "Lipschitz constant of a map of vectors": (
        lambda wrong: turned(lipschitz=HALF if wrong else 1),
        {"F": TURN},
        "the distance of two values of 'F' is ",
    ),
    "length of an exact argument": (
        lambda wrong: normalised(HALF, 2 if wrong else 1),
        {},
        "step 'g': the 2-norm of the exact argument is 1.11803, below the 2 that rule 'rms normalisation' was given",
    ),
    "length of an exact argument, in a letter": (
        lambda wrong: normalised(2 if wrong else 1, sp.Symbol("mu", positive=True)),
        {},
        "the 2-norm of the exact argument is 1.11803, below the 2 that",
    ),
    "slope of a function of pairs": (
        lambda wrong: compared(slope=HALF if wrong else 1),
        PAIRS,
        "step 's': what 'f' moves by beyond its slopes is 0.125, above the 0 that rule 'function of pairs' was given",
    ),
    "deviation of a function of pairs": (
        lambda wrong: compared(eps=sp.Rational(1, 25) if wrong else TENTH),
        PAIRS,
        "step 's': the deviation of 'f' is 0.05, above the 0.04 that rule 'function of pairs' was given",
    ),
    "weight of other classes": (
        lambda wrong: cross_entropy(x(), "h", label="L", others=TENTH if wrong else HALF),
        {"L": torch.tensor([1.0, 0.0], dtype=torch.float64)},
        "step 'h': the weight of classes other than the label is 0.182426, above the 0.1 that rule 'cross-entropy' was",
    ),
    "half range": (
        lambda wrong: softmax_as_linear(x(), "w", half_range=HALF if wrong else 1),
        {},
        "half the range of the scores is 0.75, above the 0.5 that",
    ),
}


@every_arithmetic
@pytest.mark.parametrize("name", sorted(CASES))
def test_a_number_that_is_not_that_of_the_operands_is_named(name: str, bits: int | None) -> None:
    derived, operands, words = CASES[name]
    assert at(derived(False), {"x": PAIR, **operands}, bits=bits).rows[-1].bound is not None
    with pytest.raises(UsageError, match=re.escape(words)):
        at(derived(True), {"x": PAIR, **operands}, bits=bits)


@every_arithmetic
def test_an_error_above_the_bound_of_its_rule_is_refused(bits: int | None) -> None:
    """The threshold is not within the error that the rule was given."""
    shrunk = soft_threshold(x(), "S(x)", threshold="t")
    exact = {"x": Emulated([1.0, -1.0], [1.0, -1.0]), "t": Emulated([0.0], [0.5])}
    with pytest.raises(UsageError, match=r"step 'S\(x\)' errs by 0\.5 at this prompt, above its bound 0: the numbers"):
        at(shrunk, exact, bits=bits)


# Of two normalisations the second sees a vector of length 0.002: the first one's least length says nothing of it.
@every_arithmetic
def test_each_of_two_normalisations_sees_the_length_of_its_own_argument(bits: int | None) -> None:
    def twice_normalised(number: float) -> tuple[Approximated, dict[str, Any]]:
        once = rms_normalise(start, "once", least=HALF, exact_least=sp.Rational(3, 5))
        shrunk = linear_map(once, "A once", operator_norm=1, dim=2, matrix="A")
        again = rms_normalise(shrunk, "again", least=HALF, exact_least=sp.Rational(9, 10))
        return again, {"x": Emulated([0.61, 0.0], [0.61, 0.05]), "A": torch.tensor(number, dtype=torch.float64)}

    start = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Rational(1, 20))
    right, operands = twice_normalised(0.7)
    assert at(right, operands, bits=bits).rows[-1].bound is not None
    wrong, operands = twice_normalised(0.002)
    with pytest.raises(
        UsageError, match=r"step 'again': the 2-norm of the exact argument is 0\.00282843, below the 0\.9"
    ):
        at(wrong, operands, bits=bits)


# The exact argument is long enough. The approximate one is not: of an error that is a letter no obligation tells.
@every_arithmetic
def test_an_approximate_argument_that_is_too_short_is_named(bits: int | None) -> None:
    short = given("x", dim=2, norm=Norm.TWO, size=1, error=sp.Symbol("e", nonnegative=True))
    derived = normalised(HALF, sp.Rational(3, 5), short)
    long_enough, too_short = (Emulated([0.61, 0.0], [near, 0.0]) for near in (0.55, 0.002))
    assert at(derived, {"x": long_enough}, bits=bits).rows[-1].bound is not None
    with pytest.raises(UsageError, match=r"the 2-norm of the approximate argument is 0\.002, below the 0\.5 that rule"):
        at(derived, {"x": too_short}, bits=bits)


# Where the approximate argument is not known, the error that it may have decides.
@every_arithmetic
@pytest.mark.parametrize(("error", "kept"), [(0.1, True), (0.11, False)])
def test_an_error_that_may_leave_too_little_of_an_argument_is_refused(
    error: float, kept: bool, bits: int | None
) -> None:
    letter = sp.Symbol("e", nonnegative=True)
    start = given("x", dim=2, norm=Norm.TWO, size=1, error=letter)
    derived, known = normalised(HALF, sp.Rational(3, 5), start), {letter: sp.Rational(str(error))}
    if kept:
        assert at(derived, {"x": [0.61, 0.0]}, known, bits=bits).rows[-1].bound is not None
        return
    with pytest.raises(UsageError, match="of step 'g' is not met here: neither argument of 'g' is shorter than"):
        at(derived, {"x": [0.61, 0.0]}, known, bits=bits)


@every_arithmetic
@pytest.mark.parametrize(("source", "target"), [(p, q) for p in Norm for q in Norm], ids=str)
def test_no_norm_is_overestimated(source: Norm, target: Norm, bits: int | None) -> None:
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    orders = {Norm.ONE: 1.0, Norm.TWO: 2.0, Norm.INF: torch.inf}
    found = norm_below(matrix if bits is None else BallArray.exactly(matrix, bits), source, target)
    below = float(found if bits is None else found.balls[0])
    v = torch.randn(20_000, 4, generator=generator, dtype=torch.float64)
    corners = torch.cat([v, v.sign(), torch.eye(4, dtype=torch.float64)])
    gains = (corners @ matrix.mT).norm(orders[target], dim=-1) / corners.norm(orders[source], dim=-1)
    known = source is Norm.ONE or target is Norm.INF or source is target is Norm.TWO
    assert below >= gains.max() * (0.999 if known else 0.7)
    if source is Norm.ONE or (source is Norm.INF):  # attained at a corner
        assert below <= gains.max() * (1 + 1e-12)


@every_arithmetic
@pytest.mark.parametrize(("source", "target"), [(p, q) for p in Norm for q in Norm], ids=str)
@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-540, 2.0**1000])
def test_norms_of_small_and_large_matrices_scale(source: Norm, target: Norm, scale: float, bits: int | None) -> None:
    matrix = torch.tensor([[1.0, -0.5], [0.25, 0.75]], dtype=torch.float64)
    found, scaled = (
        norm_below(each if bits is None else BallArray.exactly(each, bits), source, target)
        for each in (matrix, scale * matrix)
    )
    ratio = scaled / scale / found
    assert float(ratio if bits is None else ratio.balls[0]) == pytest.approx(1, rel=1e-12)


@every_arithmetic
def test_the_average_of_other_keys_is_not_known_after_an_unknown_error(bits: int | None) -> None:
    """Within `offset` the iterate may be off in any direction: 'v' may be near enough."""

    def excluded(offset: Any) -> Approximated:
        moved = contract(x(), "z", factor=HALF, offset=offset, size=2, depth=1, matrix="A")
        return foreign(diameter=HALF, start=moved)

    near = {
        "x": PAIR,
        "A": MATRIX / 4,
        "v": torch.tensor([1.25, -1.0], dtype=torch.float64),
        "l": torch.tensor([1.0, 2.0], dtype=torch.float64),
    }
    assert at(excluded(1), near, bits=bits).rows[-1].bound is not None
    with pytest.raises(UsageError, match=r"the distance of 'v' from the average of the other keys is 0\.75, above the"):
        at(excluded(0), near, bits=bits)


@every_arithmetic
@pytest.mark.parametrize("keys", [2, 3, 9])
def test_small_weights_beside_the_largest_are_told_apart(keys: int, bits: int | None) -> None:
    """Where 1 less the largest weight has no digit left."""
    for gap in (10, 17, 20, 39, 60):
        scores = torch.cat(
            [torch.zeros(1, dtype=torch.float64), torch.full((keys - 1,), -float(gap), dtype=torch.float64)]
        )
        right, wrong = (concentrate("w", count=keys, gap=gap + more, scores="s") for more in (0, sp.Rational(1, 1000)))
        assert at(right, {"s": scores}, bits=bits).rows[-1].bound is not None
        with pytest.raises(UsageError, match="the weight beside the largest of 's' is"):
            at(wrong, {"s": scores}, bits=bits)


def turned_by(angle: float) -> Smooth:
    c, s = math.cos(angle), math.sin(angle)
    return Smooth(lambda z: z @ torch.tensor([[c, s], [-s, c]], dtype=torch.float64))


# Differences of floats that nearly cancel, with the numbers that are right in exact arithmetic.
ROUNDED: dict[str, Callable[[float], tuple[Approximated, dict[str, Any]]]] = {
    "rotation": lambda small: (
        perturbed_function(
            given("x", dim=2, norm=Norm.TWO, size=2, error=1), "F(x)", lipschitz=1 + 1e-12, size=3, function="F"
        ),
        {"x": Emulated([0.5, -1.0], [0.5 + small, -1.0]), "F": turned_by(0.7)},
    ),
    "shift": lambda small: (
        perturbed_function(x(), "F(x)", lipschitz=1, size=200, function="F"),
        {"x": Emulated([0.5, -1.0], [0.5 + small, -1.0]), "F": Smooth(lambda z: z + 100)},
    ),
    "deviation": lambda small: (
        perturbed_function(x(), "F(x)", lipschitz=4, size=9, eps=0, function="F"),
        {"x": PAIR, "F": Smooth(lambda z: (z + 1 + small) * (z - 1), lambda z: z**2 + small * z - (1 + small))},
    ),
    "foreign value": lambda small: (
        foreign(diameter=small * (1 + 1e-11), start=add(x(), given("c", dim=2, size=1000), name="x + c")),
        {
            "x": Emulated([0.0, 0.0], [0.0, 0.0]),
            "c": torch.full((2,), 1000 / 3, dtype=torch.float64),
            "v": torch.full((2,), 1000 / 3, dtype=torch.float64) + small,
            "l": torch.tensor([1.0, 2.0], dtype=torch.float64),
        },
    ),
    "perturbation": lambda small: (
        perturbed_map(x(), "A x", operator_norm=101, perturbation=small, dim=2, matrix="A"),
        {
            "x": PAIR,
            "A": Emulated(
                100 * torch.eye(2, dtype=torch.float64).double() / 3,
                (100 * torch.eye(2, dtype=torch.float64).double() / 3) + small / 2,
            ),
        },
    ),
}


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_the_rounding_of_differences_makes_no_number_wrong(name: str) -> None:
    for power in range(20, 44):
        derived, operands = ROUNDED[name](2.0**-power / 3)
        assert at(derived, operands).rows[-1].bound is not None
