"""One table of all rules of the error calculus: how each is applied, an instance that attains it, and random ones.

Each case computes explicit vectors with numpy, independently of the rule, and puts them beside the rule's conclusion.
`sharp` is the case of equality, of the error, the size and the radius at once unless the case says otherwise; `random`
is any admissible one. Rules that conclude a number have a table of their own (`number_cases`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Approximated,
    Event,
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    accumulate,
    add,
    apply_function,
    attend,
    bilinear,
    bounded_iterates,
    change_norm,
    concatenate,
    concentrate,
    confine,
    contract,
    converge,
    correct,
    cover,
    descend,
    evolve,
    exclude,
    expected_mean,
    finite_depth,
    given,
    gradient_descent,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    line_at_zero,
    linear_map,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    project,
    proximal_gradient,
    recur,
    sample_mean,
    soft_threshold,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
    union_bound,
    within_budget,
)
from symbolic.calculus.layers import either, iterate, recursion_from, stack
from symbolic.calculus.repetition import repeat
from tests.symbolic.fuzzing.proximal import Problem
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.softmax_moves import linear_weights, scaled_weights
from tests.symbolic.fuzzing.vectors import ORDER, onto_ball, shrink, softmax_weights

Half = sp.Rational(1, 2)
EVOLUTIONS = (-Half, sp.Integer(0), Half)


@dataclass(frozen=True)
class RuleCase:
    """`error_loose` and `size_loose` say why the error or the size is not attained; `size` is a case where it is."""

    name: str
    rule: str
    sharp: Callable[[], Realised]
    random: Callable[[np.random.Generator], Realised] | None = None
    size: Callable[[], Realised] | None = None
    error_loose: str = ""
    size_loose: str = ""
    trials: int = 300

    def attaining(self, quantity: str) -> Realised:
        return self.size() if quantity == "size" and self.size else self.sharp()


def norm(vector: np.ndarray, which: Norm) -> float:
    return float(np.linalg.norm(np.atleast_1d(vector), ORDER[which]))


def shown(result: Approximated, exact: object, near: object, which: Norm = Norm.INF, centre: object = None) -> Realised:
    """The conclusion beside its vectors: a number, a vector, or rows of tokens."""
    tokens, near_tokens = (np.atleast_2d(np.asarray(v, float)) for v in (exact, near))
    middle = None if centre is None else np.atleast_1d(np.asarray(centre, float))
    return Realised(result, tokens, near_tokens, middle, which)


def value(name: str, exact: np.ndarray, near: np.ndarray, which: Norm = Norm.INF, **more: bool) -> Approximated:
    """The Approximated that describes two explicit vectors, exactly."""
    exact, near = np.atleast_1d(exact), np.atleast_1d(near)
    return given(name, dim=exact.size, norm=which, size=norm(exact, which), error=norm(near - exact, which), **more)


def draw(rng: np.random.Generator, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    exact = rng.uniform(-1, 1, size)
    return exact, exact + rng.uniform(-0.3, 0.3, size)


def number(error: object, name: str = "e0") -> Approximated:
    """1, known up to `error`."""
    return given(name, dim=1, size=1, error=error)


# --- one premise -----------------------------------------------------------------------------------------------------


def given_sharp() -> Realised:
    tokens = np.array([[3.0, 1.0], [1.0, 1.0]])
    x = given("x", dim=2, norm=Norm.ONE, size=4, error=Half, radius=1)
    return shown(x, tokens, tokens + 0.25, Norm.ONE, centre=[2.0, 1.0])


def given_weights() -> Realised:
    a, b = np.array([0.5, 0.5]), np.array([0.7, 0.3])
    return shown(value("a", a, b, Norm.ONE, probabilities=True), a, b, Norm.ONE)


def function_sharp(which: Norm) -> Realised:
    x, eps, slope = np.array([0.3, -0.2, 0.5]), 0.05, 2.0
    near = x + 0.1
    result = apply_function(value("x", x, near, which), "f", eps=eps, lipschitz=slope, size=slope * norm(x, which))
    return shown(result, slope * x, slope * near + eps, which)


def function_random(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    shift = rng.uniform(-0.05, 0.05, x.size)
    size = norm(np.tanh(x), Norm.TWO)
    result = apply_function(value("x", x, near, Norm.TWO), "f", eps=0.05, lipschitz=1, size=size, radius=3)
    return shown(result, np.tanh(x), np.tanh(near) + shift, Norm.TWO)


def taylor_sharp(order: int, which: Norm, dim: int) -> Realised:
    """3 + 2 d + 3 d^2/2 + 5 d^3/6 around x = 1/2, up to d^order, off by 1/20; the other orders have larger suprema."""
    slopes, e = {1: 2.0, 2: 3.0, 3: 5.0}, 0.25
    x = np.full(dim, 0.5)
    moved = sum(slopes[k] * e**k / np.prod(range(1, k + 1)) for k in range(1, order + 1))
    suprema = {k: slopes[k] if k == order else 100 for k in slopes}
    result = taylor(
        value("x", x, x + e, which),
        "f",
        suprema=suprema,
        derivatives={k: slopes[k] for k in (1, 2)},
        eps=0.05,
        size=norm(np.full(dim, 3.0), which),
    )
    return shown(result, np.full(dim, 3.0), np.full(dim, 3.0 + moved + 0.05), which)


def line_sharp(which: Norm, dim: int) -> Realised:
    """2 - 3 z - 5 z^3/6 against 2 - 3 z."""
    x, near = np.full(dim, 0.5), np.full(dim, 0.75)
    result = line_at_zero(value("x", x, near, which), "f", value=2, slope=-3, order=3, supremum=5)
    return shown(result, 2 - 3 * x, 2 - 3 * near - 5 * near**3 / 6, which)


def line_size() -> Realised:
    """2 + 3 z against itself."""
    x = np.full(2, 0.5)
    return shown(line_at_zero(value("x", x, x), "f", value=2, slope=3, order=2, supremum=0), 2 + 3 * x, 2 + 3 * x)


def line_of_the_sigmoid(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    which = list(Norm)[rng.integers(3)]
    eighth = sp.Rational(1, 8)
    result = line_at_zero(value("x", x, near, which), "f", value=Half, slope=Half / 2, order=3, supremum=eighth)
    return shown(result, 0.5 + x / 4, 1 / (1 + np.exp(-near)), which)


def taylor_random(rng: np.random.Generator) -> Realised:
    """sin on [-2, 2]; the derivatives at the exact point are known."""
    x, near = draw(rng)
    suprema = {k: 1 for k in range(1, 6) if rng.random() < 0.5} | {5: 1}
    here = {k: float(np.abs((np.cos, np.sin)[(k - 1) % 2](x)).max()) for k in range(1, 5)}
    which = list(Norm)[rng.integers(3)]
    result = taylor(
        value("x", x, near, which), "f", suprema=suprema, derivatives=here, size=norm(np.sin(x), which), radius=9
    )
    return shown(result, np.sin(x), np.sin(near), which)


def linear_sharp() -> Realised:
    A, signs = np.array([[1.0, -2.0], [0.5, 0.25]]), np.array([1.0, -1.0])  # the signs of the largest row
    tokens = np.array([0.2 * signs, 0.0 * signs])
    x = given("x", dim=2, size=0.2, error=0.1, radius=0.1)
    shift = np.array([0.5, 0.0])
    result = linear_map(x, "Ax + b", operator_norm=3, dim=2, bias=Half)
    near = (tokens + 0.1 * signs) @ A.T + shift
    return shown(result, tokens @ A.T + shift, near, centre=A @ (0.1 * signs) + shift)


def linear_random(rng: np.random.Generator) -> Realised:
    A, shift, (x, near) = rng.normal(size=(3, 4)), rng.normal(size=3), draw(rng)
    spread, offset = float(np.abs(A).sum()), norm(shift, Norm.ONE)
    result = linear_map(value("x", x, near), "Ax", operator_norm=spread, dim=3, target=Norm.ONE, bias=offset)
    return shown(result, A @ x + shift, A @ near + shift, Norm.ONE)


def mean_sharp() -> Realised:
    """Two means that each put all their weight on one token."""
    tokens = np.array([[5.0, 4.0], [3.0, 4.0]])
    each = given("x", dim=2, size=5, error=0.25, radius=1)
    return shown(mean(each, "mean"), np.eye(2) @ tokens, np.eye(2) @ (tokens + 0.25), centre=[4.0, 4.0])


def mean_random(rng: np.random.Generator) -> Realised:
    tokens, shares = rng.uniform(-1, 1, (4, 3)), rng.dirichlet(np.ones(4), 2)
    near = tokens + rng.uniform(-0.1, 0.1, tokens.shape)
    middle = (tokens.max(0) + tokens.min(0)) / 2
    each = given("x", dim=3, size=1, error=0.1, radius=float(np.abs(tokens - middle).max()))
    return shown(mean(each, "mean"), shares @ tokens, shares @ near, centre=middle)


def change_sharp(source: Norm, target: Norm, error: np.ndarray) -> Realised:
    x = 3 * error
    return shown(change_norm(value("x", x, x + error, source), target, "x'"), x, x + error, target)


def project_sharp(box: bool) -> Realised:
    x, near = np.array([0.1, 0.2]), np.array([0.4, -0.2])
    result = project(value("x", x, near, Norm.TWO), "Px", box=box, size=norm(x, Norm.TWO))
    return shown(result, x, near, Norm.TWO)


def ball_random(rng: np.random.Generator) -> Realised:
    x, near = (3 * v for v in draw(rng))
    result = project(value("x", x, near, Norm.TWO), "Px", size=1)
    return shown(result, onto_ball(x, 1.0), onto_ball(near, 1.0), Norm.TWO)


def box_random(rng: np.random.Generator) -> Realised:
    x, near = (3 * v for v in draw(rng))
    result = project(value("x", x, near, Norm.ONE), "Px", box=True, size=4)
    return shown(result, np.clip(x, -1, 0.5), np.clip(near, -1, 0.5), Norm.ONE)


def threshold_sharp() -> Realised:
    """u' > u > t > t'."""
    x = np.array([2.0, 3.0])
    near = x + 0.1
    result = soft_threshold(value("x", x, near, Norm.ONE), "Sx", threshold_error=0.05)
    return shown(result, shrink(x, np.float64(1.0)), shrink(near, np.float64(0.95)), Norm.ONE)


def threshold_size() -> Realised:
    """The threshold 0 keeps the size; the approximate one is 0.05."""
    x = np.array([2.0, 3.0])
    near = x - 0.1
    result = soft_threshold(value("x", x, near, Norm.ONE), "Sx", threshold_error=0.05)
    return shown(result, x, shrink(near, np.float64(0.05)), Norm.ONE)


def threshold_random(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    result = soft_threshold(value("x", x, near, Norm.TWO), "Sx", threshold_error=0.1)
    return shown(result, shrink(x, np.float64(0.4)), shrink(near, np.float64(0.5)), Norm.TWO)


def exclude_sharp() -> Realised:
    lead, count = 0.5, 3
    out, off, diameter = 1.0, 0.1, 1.5
    w = 1 / (1 + count * np.exp(lead))
    result = exclude(given("out", dim=1, size=1, error=off), "leaking", count=count, lead=Half, diameter=diameter)
    return shown(result, out, (1 - w) * (out + off) + w * (out + off + diameter))


def exclude_random(rng: np.random.Generator) -> Realised:
    """Softmax attention over four keys and a foreign one of score 0."""
    out, near = draw(rng, 2)
    scores, foreign = rng.uniform(0.5, 2, 4), rng.uniform(-1, 1, 2)
    w = 1 / (1 + np.exp(scores).sum())
    diameter = norm(foreign - near, Norm.INF)
    result = exclude(value("out", out, near), "leaking", count=4, lead=Half, diameter=diameter)
    return shown(result, out, (1 - w) * near + w * foreign)


def corrected_sharp() -> Realised:
    """Errors up to sigma are undone; the tokens stay where they were."""
    tokens = np.array([[3.0], [1.0]])
    x = given("x", dim=1, size=3, error=Half, radius=1)
    near = tokens + 0.5
    undone = np.where(np.abs(near - tokens) <= 0.5, tokens, 1e9)
    return shown(correct(x, "Cx", sigma=Half), tokens, undone, centre=[2.0])


def corrected_random(rng: np.random.Generator) -> Realised:
    """Rounding to whole numbers undoes errors below one half."""
    x = rng.integers(-5, 5, 4).astype(float)
    near = x + rng.uniform(-0.49, 0.49, 4)
    return shown(correct(value("x", x, near), "Cx", sigma=Half), x, np.round(near))


# --- several premises ------------------------------------------------------------------------------------------------


def product_sharp() -> Realised:
    x, y = np.array([2.0]), np.array([3.0])
    return shown(bilinear(value("x", x, x + 0.1), value("y", y, y + 0.2), "xy"), 6.0, 2.1 * 3.2)


def product_random(rng: np.random.Generator) -> Realised:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = bilinear(value("x", x, near_x, Norm.ONE), value("y", y, near_y), "x.y", dim=1)
    return shown(result, x @ y, near_x @ near_y, Norm.ONE)


def clipped_product_sharp() -> Realised:
    x, y = np.array([2.0]), np.array([3.0])
    known = bilinear(value("x", x, x - 0.1), value("y", y, y - 0.2), "xy", approximate_size=sp.Rational(19, 10))
    return shown(known, 6.0, 1.9 * 2.8)


def clipped_product_random(rng: np.random.Generator) -> Realised:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    clipped = norm(near_x, Norm.ONE)
    result = bilinear(value("x", x, near_x, Norm.ONE), value("y", y, near_y), "x.y", dim=1, approximate_size=clipped)
    return shown(result, x @ y, near_x @ near_y, Norm.ONE)


def sum_sharp() -> Realised:
    x, y = np.array([1.0, 2.0]), np.array([0.0, -1.0])
    near_x, near_y = x + 0.1, y - 0.2
    result = add(value("x", x, near_x), value("y", y, near_y), name="2x - y", coefficients=(2, -1))
    return shown(result, 2 * x - y, 2 * near_x - near_y)


def sum_random(rng: np.random.Generator) -> Realised:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = add(value("x", x, near_x, Norm.TWO), value("y", y, near_y, Norm.TWO), name="x + y")
    return shown(result, x + y, near_x + near_y, Norm.TWO)


def concatenate_sharp(which: Norm) -> Realised:
    x, y = np.array([1.0, 2.0]), np.array([3.0])
    near_x, near_y = x + np.array([0.3, 0.1]), y - 0.4
    result = concatenate(value("x", x, near_x, which), value("y", y, near_y, which), name="xy")
    return shown(result, np.concatenate([x, y]), np.concatenate([near_x, near_y]), which)


def stack_sharp(count: int) -> Realised:
    """Blocks of 1, then (k, k) off by 1/k for 2 <= k < count, then 3."""
    k = sp.Symbol("k", integer=True, positive=True)
    first = given("first", dim=1, norm=Norm.TWO, size=1, error=Half)
    family = given("f", dim=2, norm=Norm.TWO, size=sp.sqrt(2) * k, error=sp.sqrt(2) / k)
    last = given("last", dim=1, norm=Norm.TWO, size=3, error=Half)
    inner = np.repeat(np.arange(2.0, count), 2)
    exact = np.concatenate([[1.0] if count > 1 else [], inner, [3.0]])
    moved = np.concatenate([[0.5] if count > 1 else [], 1 / inner, [0.5]])
    result = stack(first, family, k, last, count=count, name="blocks")
    return shown(result, exact, exact + moved, Norm.TWO)


def either_sharp(count: int) -> Realised:
    """(1, 2) off by 1/2 for one layer, 3 off by 1/4 for several."""
    n = sp.Symbol("n", integer=True, positive=True)
    one = given("one", dim=2, norm=Norm.ONE, size=3, error=1)
    several = given("several", dim=1, norm=Norm.ONE, size=3, error=sp.Rational(1, 4))
    exact, near = ([[1.0, 2.0]], [[1.5, 2.5]]) if count == 1 else ([[3.0]], [[3.25]])
    result = either(one, sp.Eq(n, 1), several, name="x")
    return Realised(result, np.array(exact), np.array(near), None, Norm.ONE, {n: count})


def pooled_sum_sharp() -> Realised:
    parts = [given(f"x{k}", dim=1, norm=Norm.TWO, size=2, error=e) for k, e in enumerate((3, 4))]
    shares = np.array([3, 4]) / 5
    return shown(pooled_sum(*parts, name="sum"), 4.0, 4 + 3 * shares[0] + 4 * shares[1], Norm.TWO)


def pooled_sum_random(rng: np.random.Generator) -> Realised:
    """a + b, moved along a random direction of the two parameters."""
    x, slopes = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    moved = rng.normal(size=2)
    shares = moved / np.linalg.norm(moved)
    parts = [value(f"x{k}", x[k], x[k] + slopes[k], Norm.TWO) for k in range(2)]
    exact = x.sum(0)
    return shown(pooled_sum(*parts, name="sum"), exact, exact + shares @ slopes, Norm.TWO)


def pool_sharp() -> Realised:
    """3 t + 4 u at (t, u) = (3/5, 4/5) times the total 2."""
    t, u = sp.symbols("t u", nonnegative=True)
    tokens = np.array([[3.0], [1.0]])
    x = given("x", dim=1, norm=Norm.TWO, size=3, error=3 * t + 4 * u, radius=1)
    moved = 2 * (3 * 0.6 + 4 * 0.8)
    return shown(pool(x, "pooled", groups=(t, u), total=2), tokens, tokens + moved, Norm.TWO, centre=[2.0])


def pool_random(rng: np.random.Generator) -> Realised:
    t, u = sp.symbols("t u", nonnegative=True)
    c, moved = rng.uniform(0, 2, 2), np.abs(rng.normal(size=2))
    x = given("x", dim=1, norm=Norm.TWO, size=1, error=c[0] * t + c[1] * u)
    total = float(np.linalg.norm(moved))
    return shown(pool(x, "pooled", groups=(t, u), total=total), 1.0, 1.0 + rng.choice([-1, 1]) * c @ moved, Norm.TWO)


def perturbed_sharp(known: bool) -> Realised:
    x, a, moved = np.array([2.0]), 3.0, 0.25
    more = {"perturbed_norm": a + moved} if known else {}
    result = perturbed_map(value("x", x, x + 0.1), "Ax", operator_norm=a, perturbation=moved, dim=1, **more)
    return shown(result, a * 2.0, (a + moved) * 2.1)


def perturbed_random(rng: np.random.Generator) -> Realised:
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
    return shown(result, A @ x, near_A @ near, Norm.TWO)


def pooled_map(u: float, t: float) -> Realised:
    """a x with x = 1 moved by 0.1 u and a, at most 4 after it moved, by t."""
    x = given("x", dim=1, norm=Norm.TWO, size=1, error=sp.Rational(1, 10))
    result = perturbed_map(x, "ax", operator_norm=4, perturbed_norm=4, perturbation=1, dim=1, pooled=True)
    return shown(result, 4 - t, 4 * (1 + 0.1 * u), Norm.TWO)


def pooled_random(rng: np.random.Generator) -> Realised:
    """Two layers a (b y), both moved: the errors per unit of the perturbation of (a, b)."""
    (a, b), moved, y = rng.normal(size=2), rng.normal(size=2), 1.5
    x = given("by", dim=1, norm=Norm.TWO, size=abs(b) * y, error=y)
    near = abs(a + moved[0])
    result = perturbed_map(x, "aby", operator_norm=abs(a), perturbed_norm=near, perturbation=1, dim=1, pooled=True)
    change = ((a + moved[0]) * (b + moved[1]) - a * b) * y
    return shown(result, a * b * y, a * b * y + change / float(np.linalg.norm(moved)), Norm.TWO)


def lipschitz_sharp() -> Realised:
    x = np.array([0.3, -0.4])
    near = 1.1 * x
    result = perturbed_function(value("x", x, near, Norm.TWO), "F", lipschitz=2, eps=0.05, size=1)
    return shown(result, 2 * x, 2 * near + 0.1 * x, Norm.TWO)


def lipschitz_random(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    result = perturbed_function(value("x", x, near, Norm.TWO), "F", lipschitz=1, size=1)
    turned = [onto_ball(v, 1.0)[::-1] for v in (x, near)]
    return shown(result, *turned, Norm.TWO)


# --- softmax and hard max --------------------------------------------------------------------------------------------


def softmax_sharp() -> Realised:
    e = 0.7
    theta = np.array([-e / 2, e / 2])
    return shown(softmax(value("t", theta, -theta), "q"), softmax_weights(theta), softmax_weights(-theta), Norm.ONE)


def softmax_random(rng: np.random.Generator) -> Realised:
    x, near = (4 * v for v in draw(rng, 5))
    return shown(softmax(value("t", x, near), "q"), softmax_weights(x), softmax_weights(near), Norm.ONE)


def as_linear(scores: np.ndarray, near: np.ndarray) -> Realised:
    half_range = float(np.ptp(scores)) / 2
    result = softmax_as_linear(value("t", scores, near), "q", half_range=half_range)
    return shown(result, linear_weights(scores), softmax_weights(near), Norm.ONE)


def as_linear_constant() -> Realised:
    """Equal scores; one of three errs upwards by log 2, the others downwards."""
    scores = np.full(3, 5.0)
    return as_linear(scores, scores + np.log(2) * np.array([1.0, -1.0, -1.0]))


def as_linear_small() -> Realised:
    """Small exact scores; 4 of 19 are ahead, a share close to (3 - sqrt 3) / 6."""
    scores = np.where(np.arange(19) < 4, 1e-3, -1e-3)
    return as_linear(scores, scores)


def as_linear_size() -> Realised:
    """Two of three scores at 3/2, one at -3/2: linear weights 2/3, 2/3, -1/3."""
    scores = np.array([1.5, 1.5, -1.5])
    return as_linear(scores, scores)


def as_linear_random(rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 4) * v for v in draw(rng, 5))
    return as_linear(x, near)


def by_heads(exact: np.ndarray, near: np.ndarray, second: str, sink: float) -> Realised:
    result = heads_as_linear(value("t", exact, near), "q", sink=sink, second=second)
    return shown(result, exact + (second == "none"), scaled_weights(near, sink, second))


def heads_sharp(second: str) -> Realised:
    """Small scores at the end of their range, moved beyond it, beside a sink that leaves nothing to them."""
    scores = np.full(3, 0.02)
    return by_heads(scores, 1.1 * scores, second, 40.0)


def heads_random(second: str, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 2) * v for v in draw(rng, 4))
    return by_heads(x, near, second, rng.uniform(-1, 10))


def by_all_heads(exact: np.ndarray, near: np.ndarray, second: str, sink: float, more: np.ndarray) -> Realised:
    """`more` are the scores of keys beside those of the vector."""
    reach, widest = abs(near).max(), max(abs(near).max(), abs(more).max(initial=0))
    keys = near.size + more.size
    result = heads_as_matrix(
        value("t", exact, near, Norm.TWO), "q", sink=sink, reach=reach, keys=keys, widest=widest, second=second
    )
    weights = scaled_weights(np.concatenate([near, more]), sink, second)[: near.size]
    return shown(result, exact + (second == "none"), weights, Norm.TWO)


def all_heads_sharp(second: str) -> Realised:
    scores = np.full(3, 0.02)
    return by_all_heads(scores, 1.1 * scores, second, 40.0, np.zeros(0))


def all_heads_random(second: str, rng: np.random.Generator) -> Realised:
    x, near = (rng.uniform(0, 2) * v for v in draw(rng, 4))
    return by_all_heads(x, near, second, rng.uniform(-1, 10), rng.uniform(-3, 3, 2))


def against_the_winner(result: Approximated, scores: np.ndarray) -> Realised:
    return shown(result, np.eye(scores.size)[0], softmax_weights(scores), Norm.ONE)


def concentrate_random(rng: np.random.Generator) -> Realised:
    """Gaps that are larger than stated."""
    scores = -np.concatenate([[0.0], 0.5 * np.arange(1, 5) + rng.uniform(0, 1, 4)])
    return against_the_winner(concentrate("k", count=5, slope=Half), scores)


def to_hard_max_sharp() -> Realised:
    scores, moved = np.array([1.0, 0.0, 0.0]), np.array([0.9, 0.1, 0.1])
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=3)
    return against_the_winner(result, 3 * moved)


def to_hard_max_random(rng: np.random.Generator) -> Realised:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    moved = scores + rng.uniform(-0.3, 0.3, 4)
    result = softmax_to_hard_max(value("t", scores, moved), "q", margin=1, inverse_temperature=2)
    return against_the_winner(result, 2 * moved)


def hard_max_at(scores: np.ndarray, moved: np.ndarray) -> Realised:
    result = hard_max(value("t", scores, moved), "q", margin=1)
    units = np.eye(scores.size)
    return shown(result, units[scores.argmax()], units[moved.argmax()], Norm.ONE)


def hard_max_sharp() -> Realised:
    """Errors just below half the margin."""
    e = 0.5 - 1e-9
    return hard_max_at(np.array([1.0, 0.0, 0.0]), np.array([1 - e, e, e]))


def hard_max_random(rng: np.random.Generator) -> Realised:
    scores = np.concatenate([[1.0], rng.uniform(-1, 0, 3)])
    return hard_max_at(scores, scores + rng.uniform(-0.49, 0.49, 4))


def attend_sharp() -> Realised:
    """Two queries, each on its own key, whose weights leak to the other one."""
    a, b = np.eye(2), np.array([[0.8, 0.2], [0.2, 0.8]])
    tokens = np.array([[3.0], [1.0]])
    values = given("v", dim=1, size=3, radius=1, error=0.1)
    rows = given("a", dim=2, norm=Norm.ONE, size=1, error=0.4, probabilities=True)
    return shown(attend(rows, values, "out"), a @ tokens, b @ (tokens + 0.1), centre=[2.0])


def attend_without_radius() -> Realised:
    """Values of size 3 on both sides of 0."""
    a, b = np.eye(2), np.array([[0.8, 0.2], [0.2, 0.8]])
    tokens = np.array([[3.0], [-3.0]])
    rows = given("a", dim=2, norm=Norm.ONE, size=1, error=0.4, probabilities=True)
    result = attend(rows, given("v", dim=1, size=3, error=0.1), "out")
    return shown(result, a @ tokens, b @ (tokens + 0.1), centre=[0.0])


def attend_linear() -> Realised:
    """Exact weights 3/2 and -1/2, approximate ones 1 and 0; values of size 3 on both sides of 0."""
    a, b, tokens = np.array([1.5, -0.5]), np.array([1.0, 0.0]), np.array([[3.0], [-3.0]])
    result = attend(value("a", a, b, Norm.ONE, affine=True), given("v", dim=1, size=3, radius=3, error=0.1), "out")
    return shown(result, a @ tokens, b @ (tokens - 0.1), centre=[0.0])


def attend_random(rng: np.random.Generator) -> Realised:
    a, b, v = softmax_weights(rng.normal(size=4)), softmax_weights(rng.normal(size=4)), rng.uniform(-1, 1, (4, 3))
    near = v + rng.uniform(-0.1, 0.1, v.shape)
    middle = (v.max(0) + v.min(0)) / 2
    error = float(np.abs(near - v).max())
    values = given("v", dim=3, size=1, radius=float(np.abs(v - middle).max()), error=error)
    result = attend(value("a", a, b, Norm.ONE, probabilities=True), values, "out")
    return shown(result, a @ v, b @ near, centre=middle)


# --- recursions and iterations ---------------------------------------------------------------------------------------


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


def descent_sharp() -> Realised:
    """Three steps that each lose 2 g - 1/2 with g = 1, down to the infimum."""
    gap = given("gap", dim=1, size=0, error=3 * sp.Rational(3, 2))
    return shown(descend(gap, "g", decrease=2, offset=Half, steps=3), 0.0, 1.0)


def descent_random(rng: np.random.Generator) -> Realised:
    """Gradient descent with step 1/L on a random quadratic: f falls by |grad|^2/(2 L) at least."""
    root = rng.normal(size=(3, 3))
    hessian, w = root @ root.T, rng.normal(size=3)
    smooth = float(np.linalg.eigvalsh(hessian)[-1])
    gap, gradients = float(w @ hessian @ w) / 2, []
    for _ in range(5):
        gradients.append(float(np.sum((hessian @ w) ** 2)))
        w = w - hessian @ w / smooth
    start = given("gap", dim=1, size=0, error=gap)
    return shown(descend(start, "g", decrease=1 / (2 * smooth), steps=5), 0.0, float(np.mean(gradients)))


def gradient_descent_sharp(accuracy: float) -> Realised:
    """f = w^2/(2 eta) from w = 1, one step with eta = 1/2 and an error of eta eps: |G| = 2, f falls to (eta eps)^2."""
    gap = given("gap", dim=1, size=0, error=1 - (accuracy / 2) ** 2)
    return shown(gradient_descent(gap, "g", step=Half, smoothness=2, accuracy=accuracy, steps=1), 0.0, 4.0)


def short_descent_sharp() -> Realised:
    """f = w^2 from 1, three exact steps of 1/4: w halves, f falls by 1/4 |f'|^2 (1 - 1/4) at each."""
    w = 0.5 ** np.arange(4)
    gap = given("gap", dim=1, size=0, error=w[0] ** 2 - w[3] ** 2)
    mean_square = float(np.mean((2 * w[:3]) ** 2))
    return shown(gradient_descent(gap, "g", step=sp.Rational(1, 4), smoothness=2, steps=3), 0.0, mean_square)


def gradient_descent_random(rng: np.random.Generator) -> Realised:
    """Inexact projected steps on the ball of radius 1, on a quadratic that need not be convex."""
    root, w = rng.normal(size=(3, 3)), onto_ball(rng.normal(size=3), 1.0)
    hessian = root + root.T
    smooth = float(np.abs(np.linalg.eigvalsh(hessian)).max())
    accuracy = float(rng.choice([0.0, 0.1, 1.0]))
    step, values, squares = rng.uniform(0.1, 1.0 if accuracy else 1.9) / smooth, [], []
    for _ in range(6):
        values.append(float(w @ hessian @ w) / 2)
        descent = w - step * hessian @ w
        squares.append(float(np.sum(((w - onto_ball(descent, 1.0)) / step) ** 2)))
        push = rng.normal(size=3)
        w = onto_ball(descent + step * accuracy * push / np.linalg.norm(push), 1.0)
    fall = max(values[0] - values[-1], 0.0)
    steps = 5
    gap = given("gap", dim=1, size=0, error=fall)
    result = gradient_descent(gap, "g", step=step, smoothness=smooth, accuracy=accuracy, steps=steps)
    return shown(result, 0.0, float(np.mean(squares[:steps])) if fall else 0.0)


NORM = sp.Symbol("r", nonnegative=True)


def iterates_sharp(which: Norm, steps: int) -> Realised:
    """F(w) = 2 |w| in that norm, steps of length almost 0, errors 1/2 away from 0."""
    update = given("update", dim=2, norm=which, size=0, error=Half)
    start = 0 if steps == 1 else 6
    numbers = {"start": start, "penalty": 2, "lipschitz": 2, "smoothness": 0, "step": sp.Rational(1, 10**30)}
    near = [start / 2 + steps / 2, 0]
    return shown(bounded_iterates(update, "w", radius=NORM, steps=steps, **numbers), [0, 0], near, which)


def proximal_sharp(which: Norm) -> Realised:
    """F(w) = 3 |w - u| in that norm, from u by one step that errs by 1/4."""
    start = given("start", dim=2, norm=Norm.TWO, size=1)
    update, iterates = (given(each, dim=2, norm=which, size=0, error=e) for each, e in (("p", Half / 2), ("w", 9)))
    numbers = {"lipschitz": 3, "smoothness": 0, "step": Half, "steps": 1}
    gap = proximal_gradient(start, "gap", update=update, iterates=iterates, radius=NORM, **numbers)
    return shown(gap, 0.0, 0.75)


def proximal_random(rng: np.random.Generator, *, of_gap: bool) -> Realised:
    """Steps on a quadratic with any Hessian diagonal and the 1-norm; errors random, or against the objective."""
    which, dim, steps = Norm.ONE if rng.random() < 0.5 else Norm.TWO, 3, int(rng.integers(1, 8))
    weight, curvature, centre = rng.uniform(0.1, 1), rng.uniform(0, 1, dim), rng.normal(size=dim)
    problem, smooth, step = Problem(curvature, centre, weight), float(curvature.max()), 0.0
    step = float(rng.choice([1.0, 0.3])) * (1 - 1e-12) / smooth
    error, w, iterates = float(rng.choice([0.0, 0.01, 0.3])), rng.normal(size=dim), []
    u = np.where(rng.random(dim) < 0.5, 0, centre)
    start = value("start", u, w, Norm.TWO)
    first, iterates = problem.value(w), [w]
    for _ in range(steps):
        p = problem.prox(iterates[-1], step)
        push = problem.gradient(p) if rng.random() < 0.5 else rng.normal(size=dim)
        iterates.append(p + error * push / max(norm(push, which), 1e-9))
    update = given("p", dim=dim, norm=which, size=0, error=error)
    ones, dual = 1 if which is Norm.ONE else float(np.sqrt(dim)), Norm.INF if which is Norm.ONE else Norm.TWO
    lipschitz = smooth * NORM + norm(curvature * centre, dual) + weight * ones
    numbers = {"lipschitz": lipschitz, "radius": NORM, "step": step, "smoothness": smooth, "steps": steps}
    kept = bounded_iterates(update, "w", start=first, penalty=weight, **numbers)
    if not of_gap:
        return shown(kept, np.zeros((steps + 1, dim)), np.array(iterates), which)
    gap = proximal_gradient(start, "gap", update=update, iterates=kept, **numbers)
    return shown(gap, 0.0, max(problem.value(iterates[-1]) - problem.value(u), 0))


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


# --- random draws, on the events -------------------------------------------------------------------------------------

SHARE = sp.Rational(1, 10)


def sample_mean_sharp(sigma: float | None) -> Realised:
    """Nine draws: the mean is as far from its expectation as the event allows."""
    exact = np.array([2.0, -1.0])
    near, more = exact + 0.25, {} if sigma is None else {"sub_gaussian": sigma}
    result = sample_mean(value("x", exact, near), "mean", count=9, event=Event("E", "draws", SHARE), **more)
    far = (2.0 if sigma is None else sigma) * np.sqrt(2 * np.log(2 * 2 / 0.1) / 9)
    return shown(result, exact, near + far)


def union_sharp() -> Realised:
    x = np.array([0.5, -1.0])
    return shown(union_bound(value("x", x, x + 0.25), "largest", members=7), x, x + 0.25)


def cover_sharp() -> Realised:
    """x_hat moves by 2/10 and x by 3/10, apart."""
    x, near = np.array([1.0, -0.5]), np.array([0.75, -0.75])
    result = cover(value("x", x, near), "class", members=7, radius=Half / 5, lipschitz=2, exact_lipschitz=3)
    return shown(result, x + 0.3, near - 0.2)


def budget_sharp() -> Realised:
    """Two events share 1/5; one of them is counted four times."""
    one = sample_mean(number(0, "x"), "one", count=4, event=Event("one", "draws"))
    two = sample_mean(number(0, "y"), "two", count=9, event=Event("two", "draws"), sub_gaussian=3)
    both = add(union_bound(one, "all", members=4), two, name="both")
    far = np.sqrt(2 * np.log(2 * 4 / 0.1) / 4) + 3 * np.sqrt(2 * np.log(2 / 0.1) / 9)
    return shown(within_budget(both, "error", delta=SHARE * 2), 2.0, 2.0 + far)


def expected_sharp() -> Realised:
    """One draw, 0 or 2, each as likely: its distance to 1 is always 1."""
    x = given("x", dim=1, size=1)
    return shown(expected_mean(x, "mean", count=1, over="the sample", deviation=1), 1.0, 2.0)


CASES = [
    RuleCase("sample_mean", "sample_mean", lambda: sample_mean_sharp(None)),
    RuleCase("sample_mean of noise", "sample_mean", lambda: sample_mean_sharp(3.0)),
    RuleCase("union_bound", "union_bound", union_sharp),
    RuleCase("cover", "cover", cover_sharp),
    RuleCase("within_budget", "within_budget", budget_sharp),
    RuleCase("expected_mean", "expected_mean", expected_sharp),
    RuleCase("given", "given", given_sharp),
    RuleCase("given, probabilities", "given", given_weights),
    *(RuleCase(f"apply_function in norm {n}", "apply_function", lambda n=n: function_sharp(n)) for n in Norm),
    RuleCase("apply_function on a range", "apply_function", lambda: function_sharp(Norm.TWO), function_random),
    *(
        RuleCase(f"taylor of order {k} in norm {n}", "taylor", lambda k=k, n=n, dim=dim: taylor_sharp(k, n, dim))
        for k in (1, 2, 3)
        for n, dim in ((Norm.INF, 3), (Norm.ONE, 1), (Norm.TWO, 1))
    ),
    RuleCase("line_at_zero", "line_at_zero", lambda: line_sharp(Norm.INF, 2), line_of_the_sigmoid, size=line_size),
    RuleCase("line_at_zero in the 2-norm", "line_at_zero", lambda: line_sharp(Norm.TWO, 1), size=line_size),
    RuleCase("taylor", "taylor", lambda: taylor_sharp(2, Norm.INF, 2), taylor_random),
    RuleCase("linear_map", "linear_map", linear_sharp, linear_random),
    RuleCase("bilinear", "bilinear", product_sharp, product_random),
    RuleCase("bilinear with a known size", "bilinear", clipped_product_sharp, clipped_product_random),
    RuleCase("add", "add", sum_sharp, sum_random),
    RuleCase("mean", "mean", mean_sharp, mean_random),
    *(RuleCase(f"concatenate in norm {n}", "concatenate", lambda n=n: concatenate_sharp(n)) for n in Norm),
    *(RuleCase(f"stack of {count}", "stack", lambda count=count: stack_sharp(count)) for count in (1, 2, 5)),
    *(RuleCase(f"either, at {count}", "either", lambda count=count: either_sharp(count)) for count in (1, 2)),
    *(
        RuleCase(f"change_norm {s} to {t}", "change_norm", lambda s=s, t=t, v=v: change_sharp(s, t, np.array(v)))
        for v, pairs in (
            ([0.1, -0.1, 0.1, 0.1], [(Norm.INF, Norm.TWO), (Norm.INF, Norm.ONE), (Norm.TWO, Norm.ONE)]),
            ([0.0, 0.1], [(Norm.ONE, Norm.INF), (Norm.TWO, Norm.INF), (Norm.ONE, Norm.TWO), (Norm.TWO, Norm.TWO)]),
        )
        for s, t in pairs
    ),
    RuleCase("project onto a ball", "project", lambda: project_sharp(False), ball_random),
    RuleCase("project onto a box", "project", lambda: project_sharp(True), box_random),
    RuleCase("soft_threshold", "soft_threshold", threshold_sharp, threshold_random, size=threshold_size),
    RuleCase("softmax", "softmax", softmax_sharp, softmax_random),
    RuleCase("softmax_as_linear", "softmax_as_linear", as_linear_constant, as_linear_random, size=as_linear_size),
    RuleCase("softmax_as_linear, small", "softmax_as_linear", as_linear_small),
    *(
        RuleCase(
            f"heads_as_linear, {kind}",
            "heads_as_linear",
            partial(heads_sharp, kind),
            partial(heads_random, kind),
            trials=60,
        )
        for kind in ("none", "constant", "opposite")
    ),
    *(
        RuleCase(
            f"heads_as_matrix, {kind}",
            "heads_as_matrix",
            partial(all_heads_sharp, kind),
            partial(all_heads_random, kind),
        )
        for kind in ("none", "constant", "opposite")
    ),
    RuleCase(
        "concentrate by slope",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=6, slope=sp.Rational(1, 3)), -np.arange(6) / 3),
        concentrate_random,
    ),
    RuleCase(
        "concentrate by gap",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=5, gap=2), np.array([0.0, -2, -2, -2, -2])),
    ),
    RuleCase(
        "concentrate by gaps",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=4, gaps=lambda k: k**2), -(np.arange(4.0) ** 2)),
    ),
    RuleCase(
        "concentrate on one key",
        "concentrate",
        lambda: against_the_winner(concentrate("k", count=1, gap=2), np.zeros(1)),
        error_loose="the bound is 0",
    ),
    RuleCase("softmax_to_hard_max", "softmax_to_hard_max", to_hard_max_sharp, to_hard_max_random),
    RuleCase("hard_max", "hard_max", hard_max_sharp, hard_max_random, error_loose="0; sharp is the margin, see below"),
    RuleCase("attend", "attend", attend_sharp, attend_random),
    RuleCase("attend without a radius", "attend", attend_without_radius),
    RuleCase("attend with linear weights", "attend", attend_linear),
    RuleCase("exclude", "exclude", exclude_sharp, exclude_random),
    RuleCase("recur below 1", "recur", lambda: recursion_sharp(Half)),
    RuleCase("recur at ratio 1", "recur", lambda: recursion_sharp(sp.Integer(1))),
    RuleCase("recur above 1", "recur", lambda: recursion_sharp(sp.Rational(3, 2))),
    RuleCase("iterate a derived layer", "iterate", lambda: layers_sharp(True)),
    RuleCase("repeat", "repeat", repeated_sharp),
    RuleCase("iterate by layer", "iterate", lambda: layers_sharp(False)),
    RuleCase("iterate, pooled", "iterate", pooled_layers_sharp),
    RuleCase("perturbed_map", "perturbed_map", lambda: perturbed_sharp(False)),
    RuleCase("perturbed_map, both bounded", "perturbed_map", lambda: perturbed_sharp(True), perturbed_random),
    RuleCase(
        "perturbed_map, pooled",
        "perturbed_map",
        lambda: pooled_map(*(np.array([0.4, 1.0]) / np.hypot(0.4, 1.0))),
        pooled_random,
        size=lambda: pooled_map(1.0, 0.0),
    ),
    RuleCase("pooled_sum", "pooled_sum", pooled_sum_sharp, pooled_sum_random),
    RuleCase("pool", "pool", pool_sharp, pool_random),
    RuleCase("perturbed_function", "perturbed_function", lipschitz_sharp, lipschitz_random),
    RuleCase("correct", "correct", corrected_sharp, corrected_random, error_loose="0; sharp is sigma, see below"),
    RuleCase("accumulate", "accumulate", lambda: accumulated(sp.Rational(3, 4), 0.0), accumulated_random, trials=40),
    RuleCase("accumulate at ratio 1", "accumulate", lambda: accumulated(sp.Integer(1), 0.0)),
    RuleCase("contract", "contract", lambda: contraction_sharp(7)),
    RuleCase("contract in the limit", "contract", lambda: contraction_sharp(None)),
    *(RuleCase(f"evolve at rate {a}", "evolve", partial(evolution_sharp, a), evolution_random) for a in EVOLUTIONS),
    RuleCase("converge from below", "converge", lambda: quadratic_floor(sp.Integer(0))),
    RuleCase("converge from above", "converge", lambda: quadratic_floor(sp.Rational(7, 5))),
    RuleCase("converge without offset", "converge", quadratic_exact, quadratic_random, trials=40),
    RuleCase("descend", "descend", descent_sharp, descent_random, size_loose="the exact value is 0, of size 0"),
    *(
        RuleCase(
            f"gradient_descent, accuracy {accuracy}",
            "gradient_descent",
            lambda accuracy=accuracy: gradient_descent_sharp(accuracy),
            gradient_descent_random,
            size_loose="the exact value is 0, of size 0",
        )
        for accuracy in (0.0, 0.25)
    ),
    RuleCase(
        "gradient_descent, short steps",
        "gradient_descent",
        short_descent_sharp,
        size_loose="the exact value is 0, of size 0",
    ),
    *(
        RuleCase(
            f"bounded_iterates, {steps} steps, {which}-norm",
            "bounded_iterates",
            partial(iterates_sharp, which, steps),
            partial(proximal_random, of_gap=False) if which is Norm.ONE else None,
            size_loose="the exact value is 0, of size 0",
            trials=40,
        )
        for which, steps in ((Norm.ONE, 1), (Norm.TWO, 4))
    ),
    *(
        RuleCase(
            f"proximal_gradient, {which}-norm",
            "proximal_gradient",
            partial(proximal_sharp, which),
            partial(proximal_random, of_gap=True) if which is Norm.ONE else None,
            size_loose="the exact value is 0, of size 0",
            trials=60,
        )
        for which in (Norm.ONE, Norm.TWO)
    ),
    RuleCase("confine", "confine", confined_sharp),
]
