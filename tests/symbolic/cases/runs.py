"""Recursions in letters and in numbers beside plain loops: closed forms, runs, largest values, numbers of steps."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import (
    CoupledRecursion,
    Event,
    LinearRecursion,
    MonotoneRecursion,
    ProximalSteps,
    QuadraticRecursion,
    add,
    apply_function,
    best_shares,
    contraction_steps,
    expected_mean,
    finite_depth,
    geometric_sum,
    given,
    heads_as_linear,
    heads_as_matrix,
    linear_map,
    sample_mean,
    within_budget,
)
from symbolic.calculus.layers import iterate, recursion_from, stack
from symbolic.calculus.perturbations import largest_safe as largest_of
from symbolic.calculus.recursions import mixed_geometric_sum
from symbolic.calculus.repetition import repeat
from tests.symbolic.cases.numbers import NumberCase

Half, Pair = sp.Rational(1, 2), tuple[float, float]
q, p, r = sp.symbols("q p r", nonnegative=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
l = LinearRecursion.index  # noqa: E741 - the layer
Z = sp.Integer


def number(found: Any) -> float:
    return float(sp.N(sp.sympify(found).doit(), 30))


def loop(start: float, factor: Callable[[int], float], offset: Callable[[int], float], depth: int) -> list[float]:
    errors = [start]
    for layer in range(depth):
        errors.append(factor(layer) * errors[-1] + offset(layer))
    return errors


# --- linear ----------------------------------------------------------------------------------------------------------


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


# --- others ----------------------------------------------------------------------------------------------------------


def monotone_run() -> Pair:
    z = sp.Symbol("z", positive=True)
    found = MonotoneRecursion(Z(1), z, z).run([lambda e: 2 * e, lambda e: e + 5], 3)
    return float(found[-1]), 11.0


def grown(depth: int, start: int, slope: sp.Expr, intercept: sp.Expr) -> Pair:
    """R -> 2 beta(R) + 1 with beta(R) <= c + s R, at a symbolic depth."""
    z = sp.Symbol("z", positive=True)
    beta = sp.Function("beta", nonnegative=True)
    kept = finite_depth(MonotoneRecursion(Z(start), 2 * beta(z) + 1, z), n, growth={beta: (intercept, slope)})
    errors = loop(float(start), lambda k: 2 * float(slope), lambda k: 2 * float(intercept) + 1, depth)
    return number(kept.bound.subs(n, depth)), max(errors)


def rounded_up() -> Pair:
    """Rationals of many digits, shortened: at least as large, by less than 1e-50."""
    z = sp.Symbol("z", positive=True)
    ninth = sp.Rational(10**9 + 7, 9 * 10**8)
    found = MonotoneRecursion(ninth, ninth * z / 2 + ninth, z).unrolled(9)[-1]
    exact = ninth
    for _ in range(9):
        exact = ninth * exact / 2 + ninth
    assert 0 <= found - exact < sp.Rational(1, 10**50)
    assert max(found.p, found.q) < 10**65
    return float(found), float(exact)


def rounded_small() -> Pair:
    z = sp.Symbol("z", positive=True)
    small = sp.Rational(1, 3**40)
    found = MonotoneRecursion(small, z * small, z).unrolled(4)[-1]
    exact = small**5
    assert 0 <= found / exact - 1 < sp.Rational(1, 10**50)
    return float(found / exact), 1.0


def squared(start: sp.Expr, a: sp.Expr, b: sp.Expr, steps: int) -> Pair:
    """The larger one of the doubled square and twice the offset."""
    found = QuadraticRecursion(start, a, b).after(steps)
    doubled = float(2 * a)
    return number(found), max((doubled * float(start)) ** (2**steps) / doubled, 2 * float(b))


def quadratic_run() -> Pair:
    found = QuadraticRecursion(Z(0), Z(1), Z(0)).run([(2.0, 1.0), (0.5, 3.0)], 3.0)[-1]
    return float(found), 0.5 * (2 * 9.0 + 1) ** 2 + 3


def fixed_point(which: str) -> Pair:
    """The roots of a e^2 - e + b: a = 2, b = 3/32."""
    recursion = QuadraticRecursion(Z(0), Z(2), sp.Rational(3, 32))
    return number(getattr(recursion, which)), {"floor": 0.125, "basin": 0.375}[which]


def squarings(start: sp.Expr, a: sp.Expr, b: sp.Expr, accuracy: sp.Expr) -> Pair:
    """How often the doubled square has to be taken until it is at most the accuracy."""
    scale = float(a if b == 0 else 2 * a)
    error, steps = scale * float(start), 0
    while error / scale > float(accuracy) and float(start) > float(accuracy):
        error, steps = error**2, steps + 1
    return number(QuadraticRecursion(start, a, b).steps_to(accuracy)) + 1, steps + 1.0


def contracted(start: sp.Expr, factor: sp.Expr, offset: sp.Expr, accuracy: sp.Expr, letters: bool = False) -> Pair:
    error, steps = start, 0
    while error > accuracy:
        error, steps = factor * error + offset, steps + 1
    found = contraction_steps(start, q if letters else factor, offset, accuracy).subs(q, factor)
    return number(found) + 1, steps + 1.0


def proximal(place: int) -> Pair:
    """sum_(k<T) (R_k/eta + k G_k) e_k, divided by T, and G_T e_T."""
    errors, reaches, slopes, eta, distance = [0.5, 0.25, 0.125], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 0.5, 2.0
    found = ProximalSteps(Half).run(distance, errors, reaches, slopes, eta)
    total = distance**2 / (2 * eta) + sum((reaches[k] / eta + (k + 1) * slopes[k]) * errors[k] for k in range(place))
    return found[place], total / (place + 1) + slopes[place] * errors[place]


def proximal_closed(steps: int) -> Pair:
    """The same with one error, reach and slope for all steps."""
    found = ProximalSteps(Half).closed(2, 0.25, 3, 5, steps)
    total = 4.0 + sum((3 / 0.5 + k * 5) * 0.25 for k in range(1, steps))
    return number(found), total / steps + 5 * 0.25


def safe(margin: sp.Expr, at: sp.Expr) -> Pair:
    """r/(1 + r) <= m, in a letter m: r = m/(1 - m)."""
    m = sp.Symbol("m", positive=True)
    return number(largest_of(r / (1 + r), r, m).value.subs(m, margin)), float(at)


def sizes_of_layers(depth: int) -> Pair:
    """z + (z/2 + 1), layer by layer: sizes s -> 3 s/2 + 1."""
    x = given("x", dim=1, size=2, error=Half)

    def layer(z: Any) -> Any:
        return add(z, linear_map(z, "half", operator_norm=Half, bias=1, dim=1), name="sum")

    return number(repeat(x, "deep", layer, depth).size), loop(2.0, lambda k: 1.5, lambda k: 1.0, depth)[-1]


def constant_sizes(start: int) -> Pair:
    """Layers of the size 3, whatever they start from."""
    x = given("x", dim=1, size=start, error=Half)
    return number(repeat(x, "deep", lambda z: apply_function(z, "f", eps=0, lipschitz=1, size=3), 2).size), float(
        max(start, 3)
    )


def repeated(depth: int) -> Pair:
    """z -> z + z/4, whose approximation is off by 1/8 |z| in each layer: errors grow with the sizes."""
    x = given("x", dim=1, size=2, error=Half)

    def layer(z: Any) -> Any:
        f = apply_function(z, "f", eps=z.size / 8, lipschitz=sp.Rational(1, 4), size=z.size / 4)
        return add(z, f, name="sum")

    error, size = 0.5, 2.0
    for _ in range(depth):
        error, size = error + error / 4 + size / 8, size * 1.25
    return number(repeat(x, "deep", layer, depth).error), error


def dimensions(count: int, dim: Callable[[sp.Symbol], Any]) -> Pair:
    """3 and 4 coordinates around members of so many."""
    j = sp.Symbol("j", integer=True, positive=True)
    first, last = (given(name, dim=d, norm=2, size=1) for name, d in (("first", 3), ("last", 4)))
    stacked = stack(first, given("m", dim=dim(j), norm=2, size=1), j, last, count=n + 1, name="all")
    expected = 4 if count == 1 else 7 + sum(int(sp.sympify(dim(j)).subs(j, k)) for k in range(2, count))
    return number(stacked.dim.subs(n, count - 1)), float(expected)


def width_after(depth: int) -> Pair:
    width = sp.Symbol("w", integer=True, positive=True)
    before = given("before", dim=width, norm=2, size=1, error=sp.Dummy("e", nonnegative=True))
    layer = recursion_from(before, linear_map(before, "y", operator_norm=1, dim=11))
    return number(
        iterate(given("x", dim=7, norm=2, size=1, error=1), "z", layer, depth, size=1).dim
    ), 11.0 if depth else 7.0


# --- probability -----------------------------------------------------------------------------------------------------


def mean(name: str, count: int, share: Any = None) -> Any:
    event = Event(name, f"draw of {name}", *(() if share is None else (share,)))
    return sample_mean(given(f"x of {name}", dim=1, size=1), name, count=count, event=event)


def shared(weights: dict[str, Any] | None) -> Pair:
    """A given share of 1/20 and two free ones of what is left of 1/4."""
    both = add(mean("a", 4), mean("b", 9), mean("c", 16, sp.Rational(1, 20)), name="all")
    found = within_budget(both, "error", delta=sp.Rational(1, 4), weights=weights)
    shares = {name: 0.2 * float((weights or {"a": 0.5, "b": 0.5})[name]) for name in "ab"} | {"c": 0.05}
    return number(found.error), sum(np.sqrt(2 * np.log(2 / shares[k]) / m) for k, m in (("a", 4), ("b", 9), ("c", 16)))


def best_of(letter: bool) -> Pair:
    """The least bound of two means beside one with a given share, over a scan."""
    count = sp.Symbol("m", positive=True)
    scaled = linear_map(mean("b", 9), "5 b", operator_norm=count if letter else 5, dim=1)
    both = add(mean("a", 4), scaled, mean("c", 16, sp.Rational(1, 20)), name="all")
    weights = best_shares(both, delta=sp.Rational(1, 4), at={count: 5} if letter else {})
    found = within_budget(both, "error", delta=sp.Rational(1, 4), weights=weights).error.subs(count, 5)
    a = np.linspace(1e-6, 0.2, 400_001)[:-1]
    rest = np.sqrt(2 * np.log(2 / 0.05) / 16)
    return number(found), float((np.sqrt(np.log(2 / a) / 2) + 5 * np.sqrt(2 * np.log(2 / (0.2 - a)) / 9)).min() + rest)


def expected(dim: int, members: int, norm: int | None, deviation: bool) -> Pair:
    x = given("x", dim=dim, size=3, **({} if norm is None else {"norm": norm}))
    found = expected_mean(x, "m", count=4, over="draws", members=members, **({"deviation": 3} if deviation else {}))
    several = members * (dim if norm is None else 1)
    logarithm = np.sqrt(2 * np.log(2 * several)) if several > 1 and not deviation else np.inf
    return number(found.error), 3 * min(np.sqrt(several), logarithm) / 2


# --- softmax beside a sink ---------------------------------------------------------------------------------------------


# What is left to the keys beside the sink decides where the sink is low: the larger one of two bounds by hand.
def leaked(second: str, keys: int, sink: float, e: float) -> Pair:
    s = given("s", dim=keys, size=1, error=e)
    found = heads_as_linear(s, "w", sink=sink, second=second).error
    reach, leak = 1 + e, keys * np.exp(-sink)
    grown = {"none": reach**2 * (2 + np.exp(reach)) / 6, "constant": reach**2 * (2 + np.exp(reach)) / 6 + 2 * reach * leak,
             "opposite": reach**3 * (9 + np.cosh(reach)) / 60}  # fmt: skip
    lost = {
        "none": leak * np.exp(reach),
        "constant": 2 * reach * np.exp(2 * reach) * leak,
        "opposite": leak * np.sinh(2 * reach),
    }
    return number(found), e + max(grown[second], lost[second])


def leaked_matrix(second: str, sink: float) -> Pair:
    s = given("s", dim=4, norm=2, size=1, error=Half)
    found = heads_as_matrix(s, "w", sink=sink, reach=2, keys=9, widest=3, second=second).error
    leak = 9 * np.exp(-sink)
    lost = {"none": np.exp(6) * leak, "constant": 6 * np.exp(6) * leak, "opposite": np.sinh(6) * leak}[second]
    relative = 4 * (9 + np.cosh(2)) / 60 if second == "opposite" else 2 * (2 + np.exp(2)) / 6
    return number(found), 0.5 + 1.5 * relative + 2 * lost


def _linear() -> Iterator[tuple[str, str, Callable[[], Pair]]]:
    ratios = (Z(0), Half, Z(1), sp.Rational(3, 2))
    yield from (
        (f"sum of {c} powers of {x}, letters {s}", "geometric_sum", partial(summed, x, c, s))
        for x in ratios
        for c in (0, 1, 4)
        for s in (False, True)
    )
    yield from ((f"sum of {c} products of {x} and {y}, letters {s}", "geometric_sum", partial(mixed, x, y, c, s))
                for x in ratios for y in ratios for c in (0, 1, 4) for s in (False, True))  # fmt: skip
    yield from ((f"equal ratios {x}, {c}", "geometric_sum", partial(equal, x, c)) for x in ratios for c in (0, 1, 4))
    yield "powers of e", "geometric_sum", partial(exponential, 4)
    yield from ((f"squares of {x}, {b}, {d} layers, letters {s}", "LinearRecursion", partial(squares, x, b, d, s))
                for x in (Half, Z(1)) for b in (Z(0), Z(2), 1 / (1 + l)) for d in (0, 1, 3) for s in (False, True))  # fmt: skip
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
    yield from ((f"largest from {s} by {a}, {b}, pooled {o}", "LinearRecursion", partial(largest, s, a, b, 4, o))
                for s, a, b in ((8, Half, 1), (1, Half, 1), (1, 2, 1), (0, Half, 1), (3, 1, 1), (8, Half, 0)) for o in (False, True))  # fmt: skip
    yield from ((f"a run, pooled {o}", "LinearRecursion", partial(ran, o)) for o in (False, True))
    yield from ((f"a run at numbers, capped {o}", "LinearRecursion", partial(ran_at, o)) for o in (False, True))
    yield "letters exchanged", "LinearRecursion", substituted
    yield from ((f"a coupled run, {k}", "CoupledRecursion", partial(coupled_run, k)) for k in (0, 1))
    yield from ((f"coupled {m}, {o}, {d} layers, {k}", "CoupledRecursion", partial(coupled, m, o, d, k))
                for m in (((1, 2), (3, 1)), ((2, 0), (3, 1)), ((2, 5), (0, 2)), ((1, 1), (1, 1)), ((0, 1), (0, 0)), ((0, 0), (1, 3)))
                for o in ((0, 0), (1, 0), (0, 2)) for d in (0, 1, 3) for k in (0, 1))  # fmt: skip


def _others() -> Iterator[tuple[str, str, Callable[[], Pair]]]:
    yield "sizes, run", "MonotoneRecursion", monotone_run
    yield from ((f"growth {s}, {c} from {b}, {d} layers", "finite_depth", partial(grown, d, b, s, c))
                for s, c, b in ((Z(1), Half, 1), (Half / 2, Z(1), 9)) for d in (0, 1, 4))  # fmt: skip
    yield "rounded up", "MonotoneRecursion", rounded_up
    yield "rounded up, small", "MonotoneRecursion", rounded_small
    yield from ((f"squared from {s}, {b}, {k} times", "QuadraticRecursion", partial(squared, s, Z(1), b, k))
                for s, b in ((sp.Rational(1, 8), sp.Rational(1, 100)), (sp.Rational(2, 5), sp.Rational(1, 1000))) for k in (1, 3))  # fmt: skip
    yield "quadratic, run", "QuadraticRecursion", quadratic_run
    yield from ((which, "QuadraticRecursion", partial(fixed_point, which)) for which in ("floor", "basin"))
    yield from ((f"squarings from {s} to {e}, {b}", "QuadraticRecursion", partial(squarings, s, Z(1), b, e))
                for s, b, e in ((Half, Z(0), Half), (Half, Z(0), sp.Rational(1, 4)), (Half, Z(0), sp.Rational(1, 17)), (sp.Rational(2, 5), sp.Rational(1, 1000), sp.Rational(1, 100)),
                                (sp.Rational(1, 8), sp.Rational(1, 100), sp.Rational(1, 50))))  # fmt: skip
    yield from ((f"contracted from {s} by {a}, {b} to {e}, letters {o}", "contraction_steps", partial(contracted, s, a, b, e, o))
                for s, a, b, e in ((Z(1), Half, Z(0), Z(1)), (Z(1), Half, Z(0), Half), (Z(1), Half, Z(0), sp.Rational(49, 100)), (Z(9), Half, Half, Z(2)), (Z(2), Z(0), sp.Rational(1, 10), Half))
                for o in (False, True))  # fmt: skip
    yield from ((f"proximal run, {k}", "ProximalSteps", partial(proximal, k)) for k in range(3))
    yield from ((f"proximal, {k} steps", "ProximalSteps", partial(proximal_closed, k)) for k in (1, 2, 5))
    yield from (
        (f"safe up to {m}", "largest_safe", partial(safe, m, at)) for m, at in ((Half, Z(1)), (sp.Rational(3, 4), Z(3)))
    )
    yield from ((f"sizes after {d} layers", "repeat", partial(sizes_of_layers, d)) for d in (1, 3))
    yield from ((f"sizes from {s}", "repeat", partial(constant_sizes, s)) for s in (2, 5))
    yield from ((f"errors that grow with the sizes, {d} layers", "repeat", partial(repeated, d)) for d in (1, 3))
    for name, dim in (
        ("alike", lambda j: 2),
        ("growing", lambda j: j + 1),
        ("wide", lambda j: sp.Piecewise((7, sp.Eq(j, 3)), (1, True))),
    ):
        yield from ((f"dimensions of {k}, {name}", "stack", partial(dimensions, k, dim)) for k in (1, 2, 3, 5))
    yield from ((f"width after {d} layers", "iterate", partial(width_after, d)) for d in (0, 1, 3))
    yield from ((f"a budget by {w}", "within_budget", partial(shared, w)) for w in (None, {"a": Half, "b": Half / 2}))
    yield from (
        (f"best shares beside a given one, letter {o}", "best_shares", partial(best_of, o)) for o in (False, True)
    )
    yield from ((f"expected mean of {d}, {m} members, norm {o}, deviation {v}", "expected_mean", partial(expected, d, m, o, v))
                for d, m, o, v in ((1, 1, None, False), (2, 1, None, False), (3, 9, None, False), (3, 9, None, True), (3, 1, 2, False), (3, 1, 2, True), (1, 5, None, False)))  # fmt: skip
    yield from ((f"{kind} head beside a sink of {c}", "heads_as_linear", partial(leaked, kind, k, c, e))
                for kind in ("none", "constant", "opposite") for k, c, e in ((4, -1.0, 0.5), (4, 30.0, 0.5), (2, 4.0, 0.25), (1, 2.5, 0.0)))  # fmt: skip
    yield from (
        (f"{kind} heads, a sink of {c}", "heads_as_matrix", partial(leaked_matrix, kind, c))
        for kind in ("none", "constant", "opposite")
        for c in (0.0, 9.0)
    )


RUNS = [NumberCase(name, rule, pair) for table in (_linear(), _others()) for name, rule, pair in table]
