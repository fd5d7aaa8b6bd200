"""Linear recursions in letters and in numbers beside plain loops: sums, closed forms, runs, largest values."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import (
    CoupledRecursion,
    LinearRecursion,
    geometric_sum,
    given,
)
from symbolic.calculus.geometric import mixed_geometric_sum
from symbolic.calculus.layers import iterate
from tests.symbolic.cases.loops import Half, Pair, Z, l, loop, n, number, p, q, r
from tests.symbolic.cases.numbers import NumberCase


def summed(ratio: sp.Expr, count: int, letters: bool) -> Pair:
    """A geometric sum, in letters or not."""
    found = geometric_sum(q, n).subs({q: ratio, n: count}) if letters else geometric_sum(ratio, count)
    return number(found) + 1, sum(float(ratio) ** k for k in range(count)) + 1


def mixed(first: sp.Expr, second: sp.Expr, count: int, letters: bool) -> Pair:
    found = (
        mixed_geometric_sum(p, q, count).subs({p: first, q: second})
        if letters
        else mixed_geometric_sum(first, second, count)
    )
    return number(found) + 1, sum(float(first) ** i * float(second) ** (count - 1 - i) for i in range(count)) + 1


def equal(ratio: sp.Expr, count: int) -> Pair:
    found = mixed_geometric_sum(q, q, n).subs(q, ratio).subs(n, count)
    return number(found) + 1, count * float(ratio) ** (count - 1) + 1 if count else 1.0


def exponential(count: int) -> Pair:
    """e^(-1) + ..., written as powers of one exponential."""
    return number(geometric_sum(sp.exp(-1), count)), sum(np.exp(-k) for k in range(count))


# Factors 1 + r^(2^l): in closed form, at r = 1 and below, with offsets and without; at a letter r.
def squares(ratio: sp.Expr, offset: sp.Expr, depth: int, letters: bool) -> Pair:
    base = r if letters else ratio
    found = LinearRecursion(Half, 1 + base ** (2**l), offset, l).closed(depth).subs(r, ratio)
    offsets = [number(sp.sympify(offset).subs(l, k)) for k in range(depth)]
    return number(found), loop(0.5, lambda k: 1 + float(ratio) ** (2**k), lambda k: offsets[k], depth)[-1]


# Offsets b + c a^l for the factor a, which recur in each summand.
def resonant(factor: sp.Expr, constant: sp.Expr, depth: int, scale: int = 1) -> Pair:
    found = LinearRecursion(Half, factor, constant + 3 * factor ** (scale * l), l).closed(depth)
    return number(found), loop(
        0.5, lambda k: float(factor), lambda k: float(constant) + 3 * float(factor) ** (scale * k), depth
    )[-1]


def varying(depth: int) -> Pair:
    found = LinearRecursion(Z(2), 1 + l, 1 / (1 + l), l).closed(n).subs(n, depth)
    return number(found), loop(2.0, lambda k: 1.0 + k, lambda k: 1 / (1 + k), depth)[-1]


def named(depth: int) -> Pair:
    """The caller's letter l in the start."""
    found = LinearRecursion(l, Z(2), Z(1)).closed(depth).subs(l, 5)
    return number(found), loop(5.0, lambda k: 2.0, lambda k: 1.0, depth)[-1]


def largest(start: float, factor: sp.Expr, offset: sp.Expr, depth: int, pooled: bool = False) -> Pair:
    recursion = LinearRecursion(*map(sp.sympify, (start, factor, offset)), pooled=pooled)
    errors = [float(start)]
    for _ in range(depth):
        e = errors[-1]
        errors.append(float(np.sqrt(float(factor * e * e + offset))) if pooled else float(factor) * e + float(offset))
    return number(recursion.largest(depth)), max(errors)


def ran(pooled: bool) -> Pair:
    """Each layer with its own coefficients."""
    errors = LinearRecursion(Z(0), Z(2), Z(3), pooled=pooled).run([2.0, 0.5, 3.0], [1.0, 2.0, 0.25], 4.0)
    e = 4.0
    for a, b in zip([2.0, 0.5, 3.0], [1.0, 2.0, 0.25], strict=True):
        e = float(np.sqrt(a * e * e + b)) if pooled else a * e + b
    return float(errors[-1]), e


def ran_at(cap: bool) -> Pair:
    """Letters with their numbers in each layer, some of which depend on the error before it."""
    a, b = sp.symbols("a b", positive=True)
    recursion = LinearRecursion(Z(0), a + l, b / 2)
    layers = [{a: 1.0, b: 4.0}, lambda e: {a: e, b: 2.0}, {a: 2.0, b: 8.0}]
    found = recursion.run_at(layers, 1.0, cap=(lambda e: min(e, 5.0)) if cap else None)
    most = 5.0 if cap else np.inf
    first = min(1 * 1.0 + 2, most)
    second = min((first + 1) * first + 1, most)
    return float(found[-1]), float(min((2 + 2) * second + 4, most))


def substituted() -> Pair:
    a, b = sp.symbols("a b", positive=True)
    recursion = LinearRecursion(a, b, a + b).subs({a: b, b: a}).subs({a: 2, b: 3})
    return number(recursion.closed(3)), loop(3.0, lambda k: 2.0, lambda k: 5.0, 3)[-1]


COUPLED = (((0.5, 0.25), (0.125, 2.0)), ((1.0, 3.0), (0.5, 0.75)))
OFFSETS = ((1.0, 2.0), (0.25, 0.5))


def coupled_run(place: int) -> Pair:
    recursion = CoupledRecursion((Z(1), Z(1)), ((Z(1), Z(1)), (Z(1), Z(1))), (Z(1), Z(1)))
    found = recursion.run(COUPLED, OFFSETS, (3.0, 5.0))[-1]
    e = np.array([3.0, 5.0])
    for matrix, offset in zip(COUPLED, OFFSETS, strict=True):
        e = np.array(matrix) @ e + np.array(offset)
    return float(found[place]), float(e[place])


def coupled(matrix: Any, offset: tuple[int, int], depth: int, place: int) -> Pair:
    recursion = CoupledRecursion((Z(1), Z(2)), tuple(tuple(map(Z, row)) for row in matrix), tuple(map(Z, offset)))  # type: ignore[arg-type]
    e = np.array([1.0, 2.0])
    for _ in range(depth):
        e = np.array(matrix) @ e + np.array(offset)
    return number(recursion.closed(depth)[place]) + 1, float(e[place]) + 1


def mixed_letters(first: sp.Expr, second: sp.Expr, count: int) -> Pair:
    """Of letters that are positive, and may be equal."""
    a, b = sp.symbols("a b", positive=True)
    found = mixed_geometric_sum(a, b, count).subs({a: first, b: second})
    return number(found), sum(float(first) ** i * float(second) ** (count - 1 - i) for i in range(count))


def positive_squares(ratio: sp.Expr) -> Pair:
    a = sp.Symbol("a", positive=True)
    found = LinearRecursion(Half, 1 + a ** (2**l), Z(1), l).closed(3).subs(a, ratio)
    return number(found), loop(0.5, lambda k: 1 + float(ratio) ** (2**k), lambda k: 1.0, 3)[-1]


def coupled_letters(first: sp.Expr, second: sp.Expr, depth: int) -> Pair:
    a, b = sp.symbols("a b", positive=True)
    recursion = CoupledRecursion((Z(1), Z(2)), ((a, Z(1)), (Z(0), b)), (Z(1), Z(3)))
    e = np.array([1.0, 2.0])
    for _ in range(depth):
        e = np.array([[float(first), 1], [0, float(second)]]) @ e + np.array([1.0, 3.0])
    return number(recursion.closed(depth)[0].subs({a: first, b: second})), float(e[0])


def rising() -> Pair:
    """Errors 1, 2, 5, 16."""
    return number(LinearRecursion(Z(1), 1 + l, Z(1)).largest(3)), 16.0


def offsets_by_layer(ratio: sp.Expr, depth: int) -> Pair:
    """A constant factor, and offsets 1 + q + ... + q^l, at a depth in letters."""
    x = given("x", dim=1, size=1, error=Half)
    value = iterate(x, "y", LinearRecursion(Z(0), Z(3), geometric_sum(q, l + 1)), n, size=1)
    offsets = [sum(float(ratio) ** k for k in range(layer + 1)) for layer in range(depth)]
    return number(value.error.subs({q: ratio, n: depth})), loop(0.5, lambda k: 3.0, lambda k: offsets[k], depth)[-1]


def _linear() -> Iterator[tuple[str, str, Callable[[], Pair]]]:
    ratios = (Z(0), Half, Z(1), sp.Rational(3, 2))
    yield from (
        (f"sum of {c} powers of {x}, letters {s}", "geometric_sum", partial(summed, x, c, s))
        for x in ratios
        for c in (0, 1, 4)
        for s in (False, True)
    )
    yield from (
        (f"sum of {c} products of {x} and {y}, letters {s}", "geometric_sum", partial(mixed, x, y, c, s))
        for x in ratios
        for y in ratios
        for c in (0, 1, 4)
        for s in (False, True)
    )
    yield from ((f"equal ratios {x}, {c}", "geometric_sum", partial(equal, x, c)) for x in ratios for c in (0, 1, 4))
    yield "powers of e", "geometric_sum", partial(exponential, 4)
    yield from (
        (f"squares of {x}, {b}, {d} layers, letters {s}", "LinearRecursion", partial(squares, x, b, d, s))
        for x in (Half, Z(1))
        for b in (Z(0), Z(2), 1 / (1 + l))
        for d in (0, 1, 3)
        for s in (False, True)
    )
    yield from (
        (f"resonance at {a}, {b}, {d} layers", "LinearRecursion", partial(resonant, a, b, d))
        for a in (Half, Z(1), Z(3))
        for b in (Z(0), Z(2))
        for d in (1, 4)
    )
    yield from (
        (f"twice the resonance at {a}", "LinearRecursion", partial(resonant, a, Z(1), 3, 2)) for a in (Half, Z(3))
    )
    yield from ((f"factors that vary, {d} layers", "LinearRecursion", partial(varying, d)) for d in (1, 5))
    yield "a letter of the caller's", "LinearRecursion", partial(named, 3)
    yield from (
        (f"largest from {s} by {a}, {b}, pooled {o}", "LinearRecursion", partial(largest, s, a, b, 4, o))
        for s, a, b in ((8, Half, 1), (1, Half, 1), (1, 2, 1), (0, Half, 1), (3, 1, 1), (8, Half, 0))
        for o in (False, True)
    )
    yield from ((f"a run, pooled {o}", "LinearRecursion", partial(ran, o)) for o in (False, True))
    yield from ((f"a run at numbers, capped {o}", "LinearRecursion", partial(ran_at, o)) for o in (False, True))
    yield from (
        (f"products of letters at {x}, {y}", "geometric_sum", partial(mixed_letters, x, y, 4))
        for x, y in ((Half, Half), (Half, Z(2)))
    )
    yield from ((f"squares of a letter at {x}", "LinearRecursion", partial(positive_squares, x)) for x in (Half, Z(1)))
    yield from (
        (f"coupled letters at {x}, {y}, {d} layers", "CoupledRecursion", partial(coupled_letters, x, y, d))
        for x, y in ((Half, Half), (Half, Z(2)))
        for d in (1, 4)
    )
    yield "largest of rising errors", "LinearRecursion", rising
    yield from (
        (f"offsets by layer at {x}, {d} layers", "iterate", partial(offsets_by_layer, x, d))
        for x in (Half, Z(1))
        for d in (1, 4)
    )
    yield "letters exchanged", "LinearRecursion", substituted
    yield from ((f"a coupled run, {k}", "CoupledRecursion", partial(coupled_run, k)) for k in (0, 1))
    yield from (
        (f"coupled {m}, {o}, {d} layers, {k}", "CoupledRecursion", partial(coupled, m, o, d, k))
        for m in (
            ((1, 2), (3, 1)),
            ((2, 0), (3, 1)),
            ((2, 5), (0, 2)),
            ((1, 1), (1, 1)),
            ((0, 1), (0, 0)),
            ((0, 0), (1, 3)),
        )
        for o in ((0, 0), (1, 0), (0, 2))
        for d in (0, 1, 3)
        for k in (0, 1)
    )


RUNS = [NumberCase(name, rule, pair) for name, rule, pair in _linear()]
