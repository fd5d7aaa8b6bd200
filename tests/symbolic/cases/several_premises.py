"""Rules with several premises: products, sums, blocks, pools, perturbed maps."""

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Norm,
    add,
    append,
    apply_to_pairs,
    as_tokens,
    bilinear,
    centre,
    concatenate,
    given,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from tests.symbolic.cases.case import Half, RuleCase, draw, norm, shown, value
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import onto_ball


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


def pairs_sharp() -> Realised:
    """f(x, y) = 2 x + 3 y, off by 1/4; the keys 1 and -1."""
    x, y = np.array([1.0]), np.array([1.0])
    values = value("x", x, x + 0.1), value("y", y, y + 0.2)
    result = apply_to_pairs(*values, "s", count=2, slopes=(2, 3), size=5, eps=Half / 2, radius=2)
    keys = np.array([1.0, -1.0])
    return shown(result, 2 * x + 3 * keys, 2 * (x + 0.1) + 3 * (keys + 0.2) + 0.25)


def pairs_random(rng: np.random.Generator) -> Realised:
    """max |x_k - y_k| of two vectors, clipped to the box of the exact ones."""
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = apply_to_pairs(
        value("x", x, near_x), value("y", y, near_y, Norm.TWO), "s", count=1, slopes=(1, 1), size=2, eps=0.05, radius=2
    )
    near = abs(near_x.clip(-2, 2) - near_y.clip(-2, 2)).max() + rng.uniform(-0.05, 0.05)
    return shown(result, abs(x - y).max(), near)


def append_sharp(which: Norm) -> Realised:
    """Centred tokens at both ends of a ball around 1, then a 0."""
    tokens, u = np.array([[1.5], [-0.5]]) - 0.5, np.array([0.25])
    x = centre(given("x", dim=1, norm=which, size=2, error=Half / 4, radius=1), "c", count=2)
    result = append(x, given("y", dim=1, norm=which, size=0, error=0.25), "cy")
    near = np.concatenate([tokens, [u]])
    return shown(result, np.concatenate([tokens, [0 * u]]), near, which, centre=[0.0])


def append_random(rng: np.random.Generator) -> Realised:
    (x, near_x), (y, near_y) = draw(rng), draw(rng)
    result = append(value("x", x, near_x, Norm.TWO), value("y", y, near_y, Norm.TWO), "xy")
    return shown(result, np.stack([x, y]), np.stack([near_x, near_y]), Norm.TWO)


def tokens_sharp(which: Norm) -> Realised:
    """The first has the larger error, the second the larger size."""
    x, y = np.array([[1.0, 2.0], [3.0, 1.0]])
    near_x, near_y = x + np.array([0.4, 0.3]), y - 0.1
    result = as_tokens(value("x", x, near_x, which), value("y", y, near_y, which), name="xy")
    return shown(result, np.stack([x, y]), np.stack([near_x, near_y]), which)


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


CASES = [
    RuleCase("bilinear", "bilinear", product_sharp, product_random),
    RuleCase("bilinear with a known size", "bilinear", clipped_product_sharp, clipped_product_random),
    RuleCase("add", "add", sum_sharp, sum_random),
    *(RuleCase(f"as_tokens in norm {n}", "as_tokens", lambda n=n: tokens_sharp(n)) for n in Norm),
    *(RuleCase(f"concatenate in norm {n}", "concatenate", lambda n=n: concatenate_sharp(n)) for n in Norm),
    *(RuleCase(f"append in norm {n}", "append", lambda n=n: append_sharp(n), append_random) for n in Norm),
    *(RuleCase(f"stack of {count}", "stack", lambda count=count: stack_sharp(count)) for count in (1, 2, 5)),
    *(RuleCase(f"either, at {count}", "either", lambda count=count: either_sharp(count)) for count in (1, 2)),
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
    RuleCase("apply_to_pairs", "apply_to_pairs", pairs_sharp, pairs_random),
    RuleCase("perturbed_function", "perturbed_function", lipschitz_sharp, lipschitz_random),
]
