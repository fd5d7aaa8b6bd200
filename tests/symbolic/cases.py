"""One table of all rules of the error calculus: how each is applied, an instance that attains it, and random ones.

Each case computes the *true* error with numpy from explicit vectors, independently of the rule; `sharp` is the case of
equality, `random` any admissible one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Approximated,
    CoupledRecursion,
    MonotoneRecursion,
    Norm,
    add,
    apply_function,
    attend,
    bilinear,
    change_norm,
    concatenate,
    concentrate,
    contract,
    converge,
    correct,
    descend,
    exclude,
    given,
    hard_max,
    linear_map,
    mean,
    perturbed_function,
    perturbed_map,
    project,
    recur,
    soft_threshold,
    softmax,
    softmax_to_hard_max,
)

Instance = tuple[float, float]  # (bound, true error)
ORDER = {Norm.INF: np.inf, Norm.ONE: 1, Norm.TWO: 2}


@dataclass(frozen=True)
class RuleCase:
    name: str
    sharp: Callable[[], Instance]
    random: Callable[[np.random.Generator], Instance] | None = None
    draws: int = 300


def norm(vector: np.ndarray, which: Norm) -> float:
    return float(np.linalg.norm(np.atleast_1d(vector), ORDER[which]))


def value(name: str, exact: np.ndarray, near: np.ndarray, which: Norm = Norm.INF, **more: bool) -> Approximated:
    """The Approximated that describes two explicit vectors, exactly."""
    exact, near = np.atleast_1d(exact), np.atleast_1d(near)
    return given(name, dim=exact.size, norm=which, size=norm(exact, which), error=norm(near - exact, which), **more)


def bound(result: Approximated) -> float:
    return float(sp.N(result.error, 30))


def soft(u: np.ndarray, t: float) -> np.ndarray:
    return np.sign(u) * np.maximum(np.abs(u) - t, 0)


def weights(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max())
    return e / e.sum()


def draw(rng: np.random.Generator, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    exact = rng.uniform(-1, 1, size)
    return exact, exact + rng.uniform(-0.3, 0.3, size)


def function_sharp(which: Norm) -> Instance:
    x, eps, slope = np.array([0.3, -0.2, 0.5]), 0.05, 2.0
    near = x + 0.1
    result = apply_function(value("x", x, near, which), "f", eps=eps, lipschitz=slope, size=2)
    return bound(result), norm(slope * near + eps - slope * x, which)


def function_random(rng: np.random.Generator) -> Instance:
    x, near = draw(rng)
    shift = rng.uniform(-0.05, 0.05, x.size)
    result = apply_function(value("x", x, near, Norm.TWO), "f", eps=0.05, lipschitz=1, size=2)
    return bound(result), norm(np.tanh(near) + shift - np.tanh(x), Norm.TWO)


def linear_sharp() -> Instance:
    A, x = np.array([[1.0, -2.0], [0.5, 0.25]]), np.array([0.2, 0.1])
    near = x + 0.1 * np.array([1.0, -1.0])  # the signs of the largest row
    result = linear_map(value("x", x, near), "Ax", operator_norm=3, dim=2)
    return bound(result), norm(A @ near - A @ x, Norm.INF)


def linear_random(rng: np.random.Generator) -> Instance:
    A, (x, near) = rng.normal(size=(3, 4)), draw(rng)
    result = linear_map(value("x", x, near), "Ax", operator_norm=float(np.abs(A).sum()), dim=3, target=Norm.ONE, bias=1)
    return bound(result), norm(A @ near - A @ x, Norm.ONE)


def product_sharp() -> Instance:
    x, y = np.array([2.0]), np.array([3.0])
    return bound(bilinear(value("x", x, x + 0.1), value("y", y, y + 0.2), "xy")), 2.1 * 3.2 - 6.0


def product_random(rng: np.random.Generator) -> Instance:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = bilinear(value("x", x, near_x, Norm.ONE), value("y", y, near_y), "x.y", dim=1)
    return bound(result), abs(float(near_x @ near_y - x @ y))


def sum_sharp() -> Instance:
    x, y = np.array([1.0, 2.0]), np.array([0.0, 1.0])
    near_x, near_y = x + 0.1, y - 0.2
    result = add(value("x", x, near_x), value("y", y, near_y), name="2x - y", coefficients=(2, -1))
    return bound(result), norm((2 * near_x - near_y) - (2 * x - y), Norm.INF)


def sum_random(rng: np.random.Generator) -> Instance:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = add(value("x", x, near_x, Norm.TWO), value("y", y, near_y, Norm.TWO), name="x + y")
    return bound(result), norm(near_x + near_y - x - y, Norm.TWO)


def mean_sharp() -> Instance:
    tokens = np.arange(6.0).reshape(3, 2)
    near = tokens + 0.25
    each = given("x", dim=2, size=5, error=0.25)
    return bound(mean(each, "mean")), norm(near.mean(0) - tokens.mean(0), Norm.INF)


def concatenate_sharp(which: Norm) -> Instance:
    x, y = np.array([1.0, 2.0]), np.array([3.0])
    near_x, near_y = x + np.array([0.3, 0.1]), y - 0.4
    result = concatenate(value("x", x, near_x, which), value("y", y, near_y, which), name="xy")
    return bound(result), norm(np.concatenate([near_x - x, near_y - y]), which)


def change_sharp(source: Norm, target: Norm, error: np.ndarray) -> Instance:
    x = np.ones(error.size)
    return bound(change_norm(value("x", x, x + error, source), target, "x'")), norm(error, target)


def project_sharp() -> Instance:
    x, near = np.array([0.1, 0.2]), np.array([0.4, -0.2])
    return bound(project(value("x", x, near, Norm.TWO), "Px")), norm(near - x, Norm.TWO)


def project_random(rng: np.random.Generator) -> Instance:
    x, near = (3 * v for v in draw(rng))

    def ball(v: np.ndarray) -> np.ndarray:
        return v / max(1.0, float(np.linalg.norm(v)))

    return bound(project(value("x", x, near, Norm.TWO), "Px", size=1)), norm(ball(near) - ball(x), Norm.TWO)


def threshold_sharp() -> Instance:
    x = np.array([2.0, 3.0])
    near = x + 0.1
    result = soft_threshold(value("x", x, near, Norm.ONE), "Sx", threshold_error=0.05)
    return bound(result), norm(soft(near, 0.95) - soft(x, 1.0), Norm.ONE)


def threshold_random(rng: np.random.Generator) -> Instance:
    x, near = draw(rng)
    result = soft_threshold(value("x", x, near, Norm.TWO), "Sx", threshold_error=0.1)
    return bound(result), norm(soft(near, 0.5) - soft(x, 0.4), Norm.TWO)


def softmax_sharp() -> Instance:
    e = 0.7
    theta = np.array([-e / 2, e / 2])
    return bound(softmax(value("t", theta, -theta), "q")), norm(weights(-theta) - weights(theta), Norm.ONE)


def softmax_random(rng: np.random.Generator) -> Instance:
    x, near = (4 * v for v in draw(rng, 5))
    return bound(softmax(value("t", x, near), "q")), norm(weights(near) - weights(x), Norm.ONE)


def unit_distance(scores: np.ndarray, winner: int) -> float:
    unit = np.zeros(scores.size)
    unit[winner] = 1
    return norm(weights(scores) - unit, Norm.ONE)


def concentrate_slope() -> Instance:
    return bound(concentrate("k", count=6, slope=sp.Rational(1, 3))), unit_distance(-np.arange(6) / 3, 0)


def concentrate_gap() -> Instance:
    return bound(concentrate("k", count=5, gap=2)), unit_distance(np.array([0.0, -2, -2, -2, -2]), 0)


def concentrate_gaps() -> Instance:
    exact = concentrate("k", count=4, gaps=lambda k: k**2)
    return bound(exact), unit_distance(-(np.arange(4.0) ** 2), 0)


def hard_max_sharp() -> Instance:
    scores, moved = np.array([1.0, 0.0, 0.0]), np.array([0.9, 0.1, 0.1])
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=3)
    return bound(result), unit_distance(3 * moved, 0)


def hard_max_random(rng: np.random.Generator) -> Instance:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    moved = scores + rng.uniform(-0.3, 0.3, 4)
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=2)
    return bound(result), unit_distance(2 * moved, 0)


def hard_max_exact(rng: np.random.Generator) -> Instance:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    moved = scores + rng.uniform(-0.49, 0.49, 4)
    result = hard_max(value("t", scores, moved), "q", margin=1)
    return bound(result), float(np.argmax(moved) != 0)


def attend_sharp() -> Instance:
    a, b = np.array([0.5, 0.5]), np.array([0.7, 0.3])
    v = np.array([[3.0], [1.0]])  # centre 2, radius 1
    near = v + 0.1
    values = given("v", dim=1, size=3, radius=1, error=0.1)
    return bound(attend(value("a", a, b, Norm.ONE, probabilities=True), values, "out")), norm(
        b @ near - a @ v, Norm.INF
    )


def attend_random(rng: np.random.Generator) -> Instance:
    a, b, v = weights(rng.normal(size=4)), weights(rng.normal(size=4)), rng.uniform(-1, 1, (4, 3))
    near = v + rng.uniform(-0.1, 0.1, v.shape)
    radius = float(np.ptp(v, axis=0).max() / 2)
    values = given("v", dim=3, size=1, radius=radius, error=float(np.abs(near - v).max()))
    return bound(attend(value("a", a, b, Norm.ONE, probabilities=True), values, "out")), norm(
        b @ near - a @ v, Norm.INF
    )


def exclude_sharp() -> Instance:
    lead, count = 0.5, 3
    out, off, foreign = 0.0, 0.1, 0.1 + 1.5
    w = 1 / (1 + count * np.exp(lead))
    base = given("out", dim=1, size=1, error=off)
    result = exclude(base, "leaking", count=count, lead=sp.Rational(1, 2), diameter=1.5)
    return bound(result), (1 - w) * (out + off) + w * foreign - out


def recursion_sharp(factor: sp.Expr) -> Instance:
    start = given("e0", dim=1, size=1, error=sp.Rational(1, 10))
    result = recur(start, "e", factor=factor, offset=sp.Rational(1, 5), depth=7, size=1)
    error = 0.1
    for _ in range(7):
        error = float(factor) * error + 0.2
    return bound(result), error


def coupled_sharp(matrix: tuple[tuple[int, int], tuple[int, int]]) -> Instance:
    rational = tuple(tuple(sp.Rational(entry, 4) for entry in row) for row in matrix)
    recursion = CoupledRecursion((sp.Rational(1), sp.Rational(2)), rational, (sp.Rational(1, 3), sp.Rational(1, 5)))
    closed = recursion.closed(5)
    error = np.array([1.0, 2.0])
    for _ in range(5):
        error = np.array(matrix) / 4 @ error + np.array([1 / 3, 1 / 5])
    return float(sp.N(closed[0].doit() + 10 * closed[1].doit(), 30)), float(error[0] + 10 * error[1])


def clipped_product_sharp() -> Instance:
    x, y = np.array([2.0]), np.array([3.0])
    known = bilinear(value("x", x, x - 0.1), value("y", y, y - 0.2), "xy", approximate_size=sp.Rational(19, 10))
    return bound(known), abs(1.9 * 2.8 - 6.0)


def clipped_product_random(rng: np.random.Generator) -> Instance:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = bilinear(
        value("x", x, near_x, Norm.ONE),
        value("y", y, near_y),
        "x.y",
        dim=1,
        approximate_size=norm(near_x, Norm.ONE),
    )
    return bound(result), abs(float(near_x @ near_y - x @ y))


def perturbed_sharp(known: bool) -> Instance:
    x, a, moved = np.array([2.0]), 3.0, 0.25
    more = {"perturbed_norm": a + moved} if known else {}
    result = perturbed_map(value("x", x, x + 0.1), "Ax", operator_norm=a, perturbation=moved, dim=1, **more)
    return bound(result), (a + moved) * 2.1 - a * 2.0


def perturbed_random(rng: np.random.Generator) -> Instance:
    A, (x, near) = rng.normal(size=(3, 4)), draw(rng)
    near_A = A + 0.1 * rng.normal(size=A.shape)
    result = perturbed_map(
        value("x", x, near, Norm.TWO),
        "Ax",
        operator_norm=float(np.linalg.norm(A, 2)),
        perturbed_norm=float(np.linalg.norm(near_A, 2)),
        perturbation=float(np.linalg.norm(near_A - A, 2)),
        dim=3,
    )
    return bound(result), norm(near_A @ near - A @ x, Norm.TWO)


def pooled_sharp() -> Instance:
    """a x with x = 1 moved by 0.1 u and a, at most 4 after it moved, by t: u^2 + t^2 = 1, u : t = 4 * 0.1 : 1."""
    u, t = np.array([0.4, 1.0]) / np.hypot(0.4, 1.0)
    x = given("x", dim=1, norm=Norm.TWO, size=1, error=sp.Rational(1, 10))
    result = perturbed_map(x, "ax", operator_norm=4, perturbed_norm=4, perturbation=1, dim=1, pooled=True)
    return bound(result), 4 * (1 + 0.1 * u) - (4 - t) * 1


def pooled_random(rng: np.random.Generator) -> Instance:
    """Two layers a (b y), both moved: the errors per unit of the perturbation of (a, b)."""
    (a, b), moved, y = rng.normal(size=2), rng.normal(size=2), 1.5
    x = given("by", dim=1, norm=Norm.TWO, size=abs(b) * y, error=y)
    near = abs(a + moved[0])
    result = perturbed_map(x, "aby", operator_norm=abs(a), perturbed_norm=near, perturbation=1, dim=1, pooled=True)
    change = abs((a + moved[0]) * (b + moved[1]) * y - a * b * y)
    return bound(result), change / float(np.linalg.norm(moved))


def lipschitz_sharp() -> Instance:
    x = np.array([0.3, -0.4])
    near = 1.1 * x
    result = perturbed_function(value("x", x, near, Norm.TWO), "F", lipschitz=2, eps=0.05, size=2)
    return bound(result), norm(2 * near + 0.1 * x - 2 * x, Norm.TWO)


def lipschitz_random(rng: np.random.Generator) -> Instance:
    x, near = draw(rng)
    result = perturbed_function(value("x", x, near, Norm.TWO), "F", lipschitz=1, size=1)
    rotated = [v[::-1] / max(1.0, float(np.linalg.norm(v))) for v in (x, near)]
    return bound(result), norm(rotated[1] - rotated[0], Norm.TWO)


def corrected_random(rng: np.random.Generator) -> Instance:
    """Rounding to whole numbers undoes errors below one half."""
    x = rng.integers(-5, 5, 4).astype(float)
    near = x + rng.uniform(-0.49, 0.49, 4)
    return bound(correct(value("x", x, near), "Cx", sigma=sp.Rational(1, 2))), norm(np.round(near) - x, Norm.INF)


def invariant_sharp() -> Instance:
    """z -> 2 sqrt(z) + 1/10 from 1, five layers."""
    z = sp.Symbol("z", positive=True)
    size = 1.0
    for _ in range(5):
        size = 2 * np.sqrt(size) + 0.1
    return float(MonotoneRecursion(sp.Integer(1), 2 * sp.sqrt(z) + sp.Rational(1, 10), z).largest(5)), size


def contraction_sharp(depth: int | None) -> Instance:
    start = given("e0", dim=1, size=1, error=2)
    error = 2.0
    for _ in range(depth or 200):
        error = 0.5 * error + 0.25
    steps = sp.oo if depth is None else depth
    return bound(contract(start, "e", factor=sp.Rational(1, 2), offset=sp.Rational(1, 4), depth=steps)), error


def quadratic_floor(start: sp.Rational) -> Instance:
    error = float(start)
    for _ in range(300):
        error = 0.5 * error**2 + 0.4
    result = converge(
        given("e0", dim=1, size=1, error=start), "e", quadratic=sp.Rational(1, 2), offset=sp.Rational(2, 5)
    )
    return bound(result), error


def quadratic_exact() -> Instance:
    start = given("e0", dim=1, size=1, error=sp.Rational(2, 5))
    error = 0.4
    for _ in range(4):
        error = 2 * error**2
    return bound(converge(start, "e", quadratic=2, offset=0, depth=4)), error


def quadratic_random(rng: np.random.Generator) -> Instance:
    a = rng.uniform(0.1, 3)
    b, start = rng.uniform(0, 0.25) / a, rng.uniform(0, 0.5) / a
    depth = int(rng.integers(1, 8))
    error = start
    for _ in range(depth):
        error = a * error**2 + b
    return bound(converge(given("e0", dim=1, size=1, error=start), "e", quadratic=a, offset=b, depth=depth)), error


def descent_sharp() -> Instance:
    """Three steps that each lose 2 g - 1/2 with g = 1, down to the infimum."""
    gap = given("gap", dim=1, size=0, error=3 * sp.Rational(3, 2))
    return bound(descend(gap, "g", decrease=2, offset=sp.Rational(1, 2), steps=3)), 1.0


def descent_random(rng: np.random.Generator) -> Instance:
    """Gradient descent with step 1/L on a random quadratic: f falls by |grad|^2/(2 L) at least."""
    root = rng.normal(size=(3, 3))
    hessian, w = root @ root.T, rng.normal(size=3)
    smooth = float(np.linalg.eigvalsh(hessian)[-1])
    gap, gradients = float(w @ hessian @ w) / 2, []
    for _ in range(5):
        gradients.append(float(np.sum((hessian @ w) ** 2)))
        w = w - hessian @ w / smooth
    start = given("gap", dim=1, size=0, error=gap)
    return bound(descend(start, "g", decrease=1 / (2 * smooth), steps=5)), float(np.mean(gradients))


CASES = [
    *(RuleCase(f"apply_function in norm {n}", lambda n=n: function_sharp(n), function_random) for n in Norm),
    RuleCase("linear_map", linear_sharp, linear_random),
    RuleCase("bilinear", product_sharp, product_random),
    RuleCase("add", sum_sharp, sum_random),
    RuleCase("mean", mean_sharp),
    *(RuleCase(f"concatenate in norm {n}", lambda n=n: concatenate_sharp(n)) for n in Norm),
    RuleCase("change_norm inf to 2", lambda: change_sharp(Norm.INF, Norm.TWO, np.full(4, 0.1))),
    RuleCase("change_norm inf to 1", lambda: change_sharp(Norm.INF, Norm.ONE, np.full(4, 0.1))),
    RuleCase("change_norm 2 to 1", lambda: change_sharp(Norm.TWO, Norm.ONE, np.full(4, 0.1))),
    RuleCase("change_norm 1 to inf", lambda: change_sharp(Norm.ONE, Norm.INF, np.array([0.0, 0.1]))),
    RuleCase("change_norm 2 to inf", lambda: change_sharp(Norm.TWO, Norm.INF, np.array([0.0, 0.1]))),
    RuleCase("change_norm 1 to 2", lambda: change_sharp(Norm.ONE, Norm.TWO, np.array([0.0, 0.1]))),
    RuleCase("project", project_sharp, project_random),
    RuleCase("soft_threshold", threshold_sharp, threshold_random),
    RuleCase("softmax", softmax_sharp, softmax_random),
    RuleCase("concentrate by slope", concentrate_slope),
    RuleCase("concentrate by gap", concentrate_gap),
    RuleCase("concentrate by gaps", concentrate_gaps),
    RuleCase("softmax_to_hard_max", hard_max_sharp, hard_max_random),
    RuleCase("attend", attend_sharp, attend_random),
    RuleCase("exclude", exclude_sharp),
    RuleCase("recur below 1", lambda: recursion_sharp(sp.Rational(1, 2))),
    RuleCase("recur at ratio 1", lambda: recursion_sharp(sp.Integer(1))),
    RuleCase("recur above 1", lambda: recursion_sharp(sp.Rational(3, 2))),
    RuleCase("coupled, full", lambda: coupled_sharp(((2, 1), (3, 1)))),
    RuleCase("coupled, triangular", lambda: coupled_sharp(((2, 0), (3, 1)))),
    RuleCase("coupled, equal ratios", lambda: coupled_sharp(((2, 0), (3, 2)))),
    RuleCase("coupled, eigenvalue 1", lambda: coupled_sharp(((4, 0), (3, 2)))),
    RuleCase("coupled, singular", lambda: coupled_sharp(((2, 2), (2, 2)))),
    RuleCase("bilinear with a known approximate size", clipped_product_sharp, clipped_product_random),
    RuleCase("perturbed_map", lambda: perturbed_sharp(False)),
    RuleCase("perturbed_map, both bounded", lambda: perturbed_sharp(True), perturbed_random),
    RuleCase("perturbed_map, pooled", pooled_sharp, pooled_random),
    RuleCase("perturbed_function", lipschitz_sharp, lipschitz_random),
    RuleCase("monotone recursion", invariant_sharp),
    RuleCase("contract", lambda: contraction_sharp(7)),
    RuleCase("contract in the limit", lambda: contraction_sharp(None)),
    RuleCase("converge from below", lambda: quadratic_floor(sp.Integer(0))),
    RuleCase("converge from above", lambda: quadratic_floor(sp.Rational(7, 5))),
    RuleCase("converge without offset", quadratic_exact, quadratic_random, draws=50),
    RuleCase("descend", descent_sharp, descent_random),
]
