"""Sizes, iterations, dimensions and probabilities in letters and in numbers, beside plain loops."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Event,
    MonotoneRecursion,
    ProximalSteps,
    QuadraticRecursion,
    add,
    apply_function,
    best_shares,
    bounded_iterates,
    contraction_steps,
    expected_mean,
    finite_depth,
    given,
    heads_as_linear,
    heads_as_matrix,
    linear_map,
    proximal_gradient,
    sample_mean,
    within_budget,
)
from symbolic.calculus.families import stack
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.calculus.perturbations import largest_safe as largest_of
from symbolic.calculus.repetition import repeat
from tests.symbolic.cases.loops import Half, Pair, Z, l, loop, n, number, q, r
from tests.symbolic.cases.numbers import NumberCase


def largest_first(implicitly: bool) -> Pair:
    z = sp.Symbol("z", positive=True)
    halved = MonotoneRecursion(Z(8), z / 2 + 1, z)
    return number(halved.largest_implicitly(3).subs(z, 8) if implicitly else halved.largest(3)), 8.0


def kept_iterates(steps: int) -> Pair:
    """V grows by G(V/2 + e) e with G(r) = 3 + r; the iterates are within V/2 + e."""
    update = given("update", dim=2, norm=2, size=0, error=Half)
    numbers = {"start": 4, "penalty": 2, "smoothness": 0, "step": 1, "steps": steps}
    found = bounded_iterates(update, "w", radius=r, lipschitz=3 + r, **numbers)
    value = 4.0
    for _ in range(steps - 1):
        value += (3 + value / 2 + 0.5) * 0.5
    return number(found.error), value / 2 + 0.5


def proximal_gap(steps: int) -> Pair:
    start, update, kept = (given(name, dim=2, norm=2, size=3, error=e) for name, e in (("w", 5), ("p", Half), ("k", 7)))
    numbers = {"lipschitz": 2 + r, "step": Half, "smoothness": 1, "steps": steps}
    found = proximal_gradient(start, "gap", update=update, iterates=kept, radius=r, **numbers)
    total = 25.0 + sum((10 / 0.5 + k * 9) * 0.5 for k in range(1, steps))
    return number(found.error), total / steps + 9 * 0.5


def widths_by_layer(depth: int) -> Pair:
    """Layers of 5 + l coordinates, from 7."""
    width = sp.Symbol("w", integer=True, positive=True)
    before = given("before", dim=width, norm=2, size=1, error=sp.Dummy("e", nonnegative=True))
    layer = recursion_from(before, linear_map(before, "y", operator_norm=1, dim=5 + l), index=l)
    return number(
        iterate(given("x", dim=7, norm=2, size=1, error=1), "z", layer, depth, size=1).dim
    ), 4.0 + depth if depth else 7.0


def nested(depth: int) -> Pair:
    """Layers of two layers z -> z + 1/4 each, and 1/8 more."""
    x = given("x", dim=1, size=2, error=Half)

    def inner(z: Any) -> Any:
        return apply_function(z, "f", eps=Half / 2, lipschitz=2, size=2)

    def outer(z: Any) -> Any:
        return apply_function(repeat(z, "inner", inner, 2), "g", eps=Half / 4, lipschitz=1, size=2)

    found = repeat(x, "outer", outer, depth).error
    return number(found), loop(0.5, lambda k: 4.0, lambda k: 0.75 + 0.125, depth)[-1]


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


# --- softmax beside a sink -------------------------------------------------------------------------------------------


# What is left to the keys beside the sink decides where the sink is low: the larger one of two bounds by hand.
def leaked(second: str, keys: int, sink: float, e: float) -> Pair:
    s = given("s", dim=keys, size=1, error=e)
    found = heads_as_linear(s, "w", sink=sink, second=second).error
    reach, leak = 1 + e, keys * np.exp(-sink)
    grown = {
        "none": reach**2 * (2 + np.exp(reach)) / 6,
        "constant": reach**2 * (2 + np.exp(reach)) / 6 + (1 - np.exp(-2 * reach)) * leak,
        "opposite": reach**3 * (9 + np.cosh(reach)) / 60,
    }
    lost = {
        "none": leak * np.exp(reach),
        "constant": np.expm1(2 * reach) * leak,
        "opposite": leak * np.sinh(2 * reach),
    }
    return number(found), e + max(grown[second], lost[second])


def leaked_matrix(second: str, sink: float) -> Pair:
    s = given("s", dim=4, norm=2, size=1, error=Half)
    found = heads_as_matrix(s, "w", sink=sink, reach=2, keys=9, widest=3, second=second).error
    leak = 9 * np.exp(-sink)
    lost = {"none": np.exp(6) * leak, "constant": np.expm1(6) * leak, "opposite": np.sinh(6) * leak}[second]
    relative = 4 * (9 + np.cosh(2)) / 60 if second == "opposite" else 2 * (2 + np.exp(2)) / 6
    return number(found), 0.5 + 1.5 * relative + 2 * lost


def _runs() -> Iterator[tuple[str, str, Callable[[], Pair]]]:
    yield "sizes, run", "MonotoneRecursion", monotone_run
    yield from (
        (f"growth {s}, {c} from {b}, {d} layers", "finite_depth", partial(grown, d, b, s, c))
        for s, c, b in ((Z(1), Half, 1), (Half / 2, Z(1), 9))
        for d in (0, 1, 4)
    )
    yield from (
        (f"the first is the largest, {o}", "MonotoneRecursion", partial(largest_first, o)) for o in (False, True)
    )
    yield from ((f"iterates kept for {k} steps", "bounded_iterates", partial(kept_iterates, k)) for k in (1, 3))
    yield from ((f"proximal gap after {k} steps", "proximal_gradient", partial(proximal_gap, k)) for k in (1, 3))
    yield from ((f"widths by layer, {d}", "iterate", partial(widths_by_layer, d)) for d in (0, 1, 3))
    yield from ((f"layers within {d} layers", "repeat", partial(nested, d)) for d in (1, 2))
    yield "rounded up", "MonotoneRecursion", rounded_up
    yield "rounded up, small", "MonotoneRecursion", rounded_small
    yield from (
        (f"squared from {s}, {b}, {k} times", "QuadraticRecursion", partial(squared, s, Z(1), b, k))
        for s, b in ((sp.Rational(1, 8), sp.Rational(1, 100)), (sp.Rational(2, 5), sp.Rational(1, 1000)))
        for k in (1, 3)
    )
    yield "quadratic, run", "QuadraticRecursion", quadratic_run
    yield from ((which, "QuadraticRecursion", partial(fixed_point, which)) for which in ("floor", "basin"))
    yield from (
        (f"squarings from {s} to {e}, {b}", "QuadraticRecursion", partial(squarings, s, Z(1), b, e))
        for s, b, e in (
            (Half, Z(0), Half),
            (Half, Z(0), sp.Rational(1, 4)),
            (Half, Z(0), sp.Rational(1, 17)),
            (sp.Rational(2, 5), sp.Rational(1, 1000), sp.Rational(1, 100)),
            (sp.Rational(1, 8), sp.Rational(1, 100), sp.Rational(1, 50)),
        )
    )
    yield from (
        (
            f"contracted from {s} by {a}, {b} to {e}, letters {o}",
            "contraction_steps",
            partial(contracted, s, a, b, e, o),
        )
        for s, a, b, e in (
            (Z(1), Half, Z(0), Z(1)),
            (Z(1), Half, Z(0), Half),
            (Z(1), Half, Z(0), sp.Rational(49, 100)),
            (Z(9), Half, Half, Z(2)),
            (Z(9), Half, Half, sp.Rational(19999, 10000)),
            (Z(2), Z(0), sp.Rational(1, 10), Half),
        )
        for o in (False, True)
    )
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
    yield from (
        (f"expected mean of {d}, {m} members, norm {o}, deviation {v}", "expected_mean", partial(expected, d, m, o, v))
        for d, m, o, v in (
            (1, 1, None, False),
            (2, 1, None, False),
            (3, 9, None, False),
            (3, 9, None, True),
            (3, 1, 2, False),
            (3, 1, 2, True),
            (1, 5, None, False),
        )
    )
    yield from (
        (f"{kind} head beside a sink of {c}", "heads_as_linear", partial(leaked, kind, k, c, e))
        for kind in ("none", "constant", "opposite")
        for k, c, e in ((4, -1.0, 0.5), (4, 30.0, 0.5), (2, 4.0, 0.25), (1, 2.5, 0.0))
    )
    yield from (
        (f"{kind} heads, a sink of {c}", "heads_as_matrix", partial(leaked_matrix, kind, c))
        for kind in ("none", "constant", "opposite")
        for c in (0.0, 9.0)
    )


RUNS = [NumberCase(name, rule, pair) for name, rule, pair in _runs()]
