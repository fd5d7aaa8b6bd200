"""The chain of Lemma 2.4 with its constants: each step against numbers, and that n does what it is asked for."""

import math
from collections.abc import Callable
from functools import cache

import pytest
import sympy as sp

from symbolic.topics.machines import sample_complexity as theory
from symbolic.topics.machines.sample_complexity import alpha, delta, eps, gamma, n, p


@cache
def lowered(expression: sp.Expr) -> Callable[..., float]:
    return sp.lambdify(sorted(expression.free_symbols, key=str), expression, "mpmath")


def at(expression: sp.Expr, **values: float) -> float:
    """The number of an expression where its letters have these values."""
    names = sorted(str(symbol) for symbol in expression.free_symbols)
    return float(lowered(expression)(*(values[name] for name in names)))


POINTS = [
    {"alpha": 10.0, "gamma": 0.5, "p": 1000, "eps": 0.1, "delta": 0.01},
    {"alpha": 1.0, "gamma": 1.0, "p": 1, "eps": 0.5, "delta": 0.3},
    {"alpha": 0.2, "gamma": 3.0, "p": 10**9, "eps": 0.01, "delta": 1e-6},
    {"alpha": 300.0, "gamma": 0.01, "p": 50, "eps": 0.9, "delta": 0.01},
]
SIZES = [2, 1000, 10**9, 10**14]


def by_levels(point: dict[str, float], count: int, levels: int) -> float:
    """The chain summed level by level, each a finite class by Massart: no closed form."""
    ratio = point["alpha"] / point["gamma"]
    first = math.ceil(4 * ratio**2)
    log_vertices = math.log(2 * point["p"])
    total = 0.5 * math.sqrt(2 * first * log_vertices / count)
    for j in range(1, levels + 1):
        radius = ratio / math.sqrt(first * 4 ** (j - 1))
        total += radius * math.sqrt(2 * first * 4**j * log_vertices / count)
    return total + ratio / math.sqrt(first * 4**levels)


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_the_chain_is_the_sum_of_its_levels(point: dict[str, float]) -> None:
    for count in SIZES:
        for levels in (1, 2, 9):
            closed = at(theory.chain(theory.J), **point, n=count, J=levels)
            summed = by_levels(point, count, levels)
            assert closed >= summed * (1 - 1e-12)
            assert closed - summed <= 0.5 * 2.0**-levels  # r_J <= 2^-J / 2 is all that differs


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_the_levels_are_nearly_the_best(point: dict[str, float]) -> None:
    for count in SIZES:
        chosen = at(theory.rademacher(), **point, n=count)
        best = min(at(theory.chain(theory.J), **point, n=count, J=levels) for levels in range(50))
        assert best * (1 - 1e-12) <= chosen <= 1.2 * best


@pytest.mark.parametrize("point", POINTS, ids=range(len(POINTS)))
def test_so_many_samples_are_enough_and_the_rademacher_bound_agrees(point: dict[str, float]) -> None:
    enough = at(theory.samples(), **point)
    levels = at(theory.enough_levels().value, **point)
    excess = theory.minimiser_error(sp.Integer(0), theory.chain(theory.J))
    assert at(excess, **point, n=enough, J=levels) <= point["eps"] * (1 + 1e-12)
    assert at(excess, **point, n=0.4 * enough, J=levels) > point["eps"]  # not many more than it takes
    assert at(theory.minimiser_error(sp.Integer(0), theory.rademacher()), **point, n=enough) <= 1.2 * point["eps"]


def test_the_derived_chain_is_never_above_the_printed_proposition() -> None:
    gap = theory.PRINTED_PROPOSITION - theory.minimiser_error(eps, eps)
    for point in POINTS:
        for count in SIZES:
            assert at(gap, **point, n=count) > 0
    # By hand: 5 - 3 = 2 times eps, and log(2/delta) / n twice against 2 log(1/delta) / n.
    by_hand = 2 * eps + (2 * sp.sqrt(sp.log(2 / delta)) - sp.sqrt(2 * sp.log(1 / delta))) / sp.sqrt(n)
    assert sp.simplify(sp.expand_power_base(gap - by_hand, force=True)) == 0


def test_samples_grow_as_the_lemma_says_up_to_logarithms() -> None:
    point = dict(POINTS[0])
    grown = [at(theory.samples(), **{**point, "alpha": a}) for a in (1e3, 1e4)]
    assert grown[1] / grown[0] == pytest.approx(100, rel=1e-3)
    for small in (1e-2, 1e-4, 1e-6):  # n eps^2 grows like log(1/eps)^2
        scaled = at(theory.samples(), **{**point, "eps": small}) * small**2 / math.log(1 / small) ** 2
        assert 0.2 < scaled / (8 * 16 * 400 * math.log(2000) / math.log(2) ** 2) < 2


def test_the_cover_counts_as_many_vertices_as_its_radius_takes() -> None:
    for ratio, vertices in ((1.0, 1), (1.1, 2), (2.0, 4), (3.5, 13)):
        at_ratio = {alpha: sp.Rational(str(ratio)), gamma: 1, eps: 1, p: 7}
        assert sp.simplify(theory.cover_count().subs(at_ratio) / sp.log(14)) == vertices


def test_parameters_are_counted() -> None:
    width, depth, symbols = 3, 4, 5
    layers = [(width, width)] * depth + [(1, width)]  # W_0 with m = w inputs, ..., W_d
    assert at(theory.FEEDFORWARD_PARAMETERS, w=width, d=depth) == sum(a * b + a for a, b in layers)
    attention = 3 * (width * width + width) + 2 * width
    layer = 2 * attention + 3 * (width * width + width)
    counted = at(theory.DECODER_PARAMETERS, w=width, d=depth, A=symbols)
    assert counted == depth * layer + width * symbols + 2 * width


def test_open_polynomials_stay_open_and_print() -> None:
    assert theory.PRINTED_CIRCUITS.has(theory.poly)
    assert theory.PRINTED_MACHINES.has(theory.poly)
    shown = theory.SAMPLE_COMPLEXITY.latex()
    assert "poly" in shown
    assert r"\mathcal{O}\left(" in shown
