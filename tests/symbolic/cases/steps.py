"""Recursions over layers, and iterations towards a fixed point."""

from functools import partial

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Approximated,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    accumulate,
    apply_function,
    confine,
    contract,
    converge,
    evolve,
    finite_depth,
    given,
    perturbed_map,
    recur,
)
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.calculus.repetition import repeat
from tests.symbolic.cases.case import Half, RuleCase, norm, number, shown
from tests.symbolic.fuzzing.realised import Realised

EVOLUTIONS = (-Half, sp.Integer(0), Half)


def recursion_sharp(factor: sp.Expr) -> Realised:
    """Seven layers z -> factor z of the number 1, off by 1/10, and by 1/5 more after each layer."""
    result = recur(number(sp.Rational(1, 10)), "e", factor=factor, offset=sp.Rational(1, 5), depth=7, size=factor**7)
    exact, near = 1.0, 1.1
    for _ in range(7):
        exact, near = float(factor) * exact, float(factor) * near + 0.2
    return shown(result, exact, near)


def layers_sharp(derived: bool) -> Realised:
    """Four layers z -> a_l z + b_l: read off one layer 2 z + 1/4, or with a_l = 1/(1 + l), b_l = l."""
    layer, error = sp.Symbol("l", integer=True, nonnegative=True), sp.Dummy("err", nonnegative=True)
    if derived:
        z = given("z", dim=1, size=16, error=error)
        f = apply_function(z, "f", eps=sp.Rational(1, 4), lipschitz=1, size=16)
        recursion, layers = recursion_from(z, f), [(1.0, 0.25)] * 4
    else:
        recursion = LinearRecursion(sp.Integer(0), 1 / (1 + layer), layer, layer)
        layers = [(1 / (1 + k), float(k)) for k in range(4)]
    exact, near = 16.0, 16.5
    for factor, offset in layers:
        exact, near = factor * exact, factor * near + offset
    start = given("start", dim=1, size=16, error=Half)
    return shown(iterate(start, "end", recursion, 4, size=exact), exact, near)


def repeated_sharp() -> Realised:
    """Four layers z -> z + 1/4."""
    start, quarter = given("start", dim=1, size=16, error=Half), sp.Rational(1, 4)
    end = repeat(start, "end", lambda z: apply_function(z, "f", eps=quarter, lipschitz=1, size=16), 4)
    return shown(end, 16.0, 17.5)


def _towards(result: Approximated, error: float) -> Realised:
    """Iterates towards the fixed point 1."""
    return shown(result, 1.0, 1.0 + error)


def contraction_sharp(depth: int | None) -> Realised:
    error = 2.0
    for _ in range(depth or 200):
        error = 0.5 * error + 0.25
    steps = sp.oo if depth is None else depth
    quarter = sp.Rational(1, 4)
    return _towards(contract(number(2), "e", factor=Half, offset=quarter, depth=steps, size=1), error)


def accumulated(ratio: sp.Rational, quadratic: float) -> Realised:
    """Newton's iteration for 1/s with an error of each step, whose factors are 1 + r^(2^l); 4 steps."""
    index, error = sp.Symbol("l", integer=True, nonnegative=True), 0.01
    for step in range(4):
        error = (1 + float(ratio) ** (2**step) + quadratic * error) * error + 0.02 / (1 + step)
    offset = sp.Rational(1, 50) / (1 + index)
    result = accumulate(
        number(sp.Rational(1, 100)), "e", factor=1 + ratio ** (2**index), offset=offset, quadratic=quadratic,
        index=index, depth=4, size=1,
    )  # fmt: skip
    return _towards(result, error)


def accumulated_random(rng: np.random.Generator) -> Realised:
    return accumulated(sp.Rational(rng.integers(1, 10), 10), rng.uniform(0, 0.04))


def evolution_sharp(rate: sp.Rational) -> Realised:
    """z' = rate z against the same with 1/4 more, for a time of 3, in small steps by Taylor's series."""
    a, exact, near = float(rate), 1.0, 1.5
    h = 3.0 / 10**4
    grown = np.exp(a * h)
    pushed = h * (1 + a * h / 2 + (a * h) ** 2 / 6 + (a * h) ** 3 / 24) / 4
    for _ in range(10**4):
        exact, near = grown * exact, grown * near + pushed
    start = given("start", dim=1, size=1, error=Half)
    value = evolve(start, "end", rate=rate, offset=sp.Rational(1, 4), time=3, size=sp.exp(3 * rate))
    return shown(value, exact, near)


def evolution_random(rng: np.random.Generator) -> Realised:
    """The gradient flow of a random quadratic, pushed by a constant, through the eigenvectors of its matrix."""
    root, x, push = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    error, time = rng.normal(size=3) / 5, float(rng.uniform(0, 2))
    curvatures, basis = np.linalg.eigh(root @ root.T - float(rng.uniform(0, 2)) * np.eye(3))
    decay = np.exp(-curvatures * time)
    exact = basis @ (decay * (basis.T @ x))
    pushed = basis @ ((1 - decay) / curvatures * (basis.T @ push))
    near = basis @ (decay * (basis.T @ (x + error))) + pushed
    size = norm(exact, Norm.TWO)
    start = given("start", dim=3, norm=Norm.TWO, size=norm(x, Norm.TWO), error=norm(error, Norm.TWO))
    rate, offset = -float(curvatures[0]), norm(push, Norm.TWO)
    return shown(evolve(start, "end", rate=rate, offset=offset, time=time, size=size), exact, near, Norm.TWO)


def quadratic_floor(start: sp.Rational) -> Realised:
    error = float(start)
    for _ in range(300):
        error = 0.5 * error**2 + 0.4
    offset = sp.Rational(2, 5)
    return _towards(converge(number(start), "e", quadratic=Half, offset=offset, depth=sp.oo, size=1), error)


def quadratic_exact() -> Realised:
    error = 0.4
    for _ in range(4):
        error = 2 * error**2
    return _towards(converge(number(sp.Rational(2, 5)), "e", quadratic=2, offset=0, depth=4, size=1), error)


def quadratic_random(rng: np.random.Generator) -> Realised:
    a = rng.uniform(0.1, 3)
    b, start = rng.uniform(0, 0.25) / a, rng.uniform(0, 0.5) / a
    depth = int(rng.integers(1, 8))
    error = start
    for _ in range(depth):
        error = a * error**2 + b
    return _towards(converge(number(start), "e", quadratic=a, offset=b, depth=depth, size=1), error)


def pooled_layers_sharp(scale: float = 1e-7) -> Realised:
    """A number 2, off by 3, through four weights 1 of which each is moved: errors per unit of a small perturbation."""
    e, X, depth = 3.0, 2.0, 4
    x = given("x", dim=1, norm=Norm.TWO, size=X, error=e)
    before = given("before", dim=1, norm=Norm.TWO, size=X, error=sp.Dummy("e", nonnegative=True))
    layer = perturbed_map(before, "ax", operator_norm=1, perturbed_norm=1, perturbation=1, dim=1, pooled=True)
    result = iterate(x, "end", recursion_from(before, layer, pooled=True), depth, size=X)
    shares = np.array([e] + [X] * depth) / np.sqrt(e**2 + depth * X**2)
    near = X + scale * shares[0] * e
    exact = X * float(np.prod(1 - scale * shares[1:]))
    return shown(result, exact, exact + (near - exact) / scale, Norm.TWO)


def confined_sharp() -> Realised:
    """2 z, off by 1/4, on the interval [-R, R] that two layers z -> z/2 + 1 from 4 keep."""
    z, R = sp.symbols("z R", positive=True)
    kept = finite_depth(MonotoneRecursion(sp.Integer(4), z / 2 + 1, z), 2)
    x = given("x", dim=1, size=3, error=1)
    f = apply_function(x, "f", eps=sp.Rational(1, 4), lipschitz=2, size=6, radius=R)
    confined = confine(f, kept, "f")
    return Realised(confined, np.array([[6.0]]), np.array([[8.25]]), None, Norm.INF, {R: 4.0})


CASES = [
    RuleCase("recur below 1", "recur", lambda: recursion_sharp(Half)),
    RuleCase("recur at ratio 1", "recur", lambda: recursion_sharp(sp.Integer(1))),
    RuleCase("recur above 1", "recur", lambda: recursion_sharp(sp.Rational(3, 2))),
    RuleCase("iterate a derived layer", "iterate", lambda: layers_sharp(True)),
    RuleCase("repeat", "repeat", repeated_sharp),
    RuleCase("iterate by layer", "iterate", lambda: layers_sharp(False)),
    RuleCase("iterate, pooled", "iterate", pooled_layers_sharp),
    RuleCase("accumulate", "accumulate", lambda: accumulated(sp.Rational(3, 4), 0.0), accumulated_random, trials=40),
    RuleCase("accumulate at ratio 1", "accumulate", lambda: accumulated(sp.Integer(1), 0.0)),
    RuleCase("contract", "contract", lambda: contraction_sharp(7)),
    RuleCase("contract in the limit", "contract", lambda: contraction_sharp(None)),
    *(RuleCase(f"evolve at rate {a}", "evolve", partial(evolution_sharp, a), evolution_random) for a in EVOLUTIONS),
    RuleCase("converge from below", "converge", lambda: quadratic_floor(sp.Integer(0))),
    RuleCase("converge from above", "converge", lambda: quadratic_floor(sp.Rational(7, 5))),
    RuleCase("converge without offset", "converge", quadratic_exact, quadratic_random, trials=40),
    RuleCase("confine", "confine", confined_sharp),
]
