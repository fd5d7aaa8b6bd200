"""Rules with one premise: maps, projections, thresholds, corrections."""

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Norm,
    apply_function,
    centre,
    change_norm,
    correct,
    exclude,
    given,
    line_at_zero,
    linear_map,
    mean,
    project,
    rms_normalise,
    rotate,
    soft_threshold,
    taylor,
    token,
)
from tests.symbolic.cases.case import Half, RuleCase, draw, norm, shown, value
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import layer_normalised, onto_ball, over_root_mean_square, shrink
from tests.symbolic.fuzzing.vectors import turned as turned_by


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


def centre_sharp(which: Norm) -> Realised:
    """One token at one end of the ball around c, the others at the other end; so are the errors."""
    c, u = np.array([3.0, -1.0]), np.array([1.0, 0.0])
    signs = np.array([1.0, -1.0, -1.0, -1.0])[:, None]
    tokens, errors = c + 0.5 * signs * u, 0.25 * signs * u
    x = given("x", dim=2, norm=which, size=4, error=0.25, radius=Half)
    exact, near = (v - v.mean(0) for v in (tokens, tokens + errors))
    return shown(centre(x, "y", count=4), exact, near, which, centre=c - tokens.mean(0))


def centre_random(rng: np.random.Generator) -> Realised:
    count = int(rng.integers(1, 5))
    tokens = rng.uniform(-1, 1, (count, 3))
    near = tokens + rng.uniform(-0.1, 0.1, tokens.shape)
    middle = (tokens.max(0) + tokens.min(0)) / 2
    x = given("x", dim=3, size=1, error=0.1, radius=float(np.abs(tokens - middle).max()))
    exact, near = (v - v.mean(0) for v in (tokens, near))
    return shown(centre(x, "y", count=4), exact, near, centre=middle - tokens.mean(0))  # of at most 4 tokens


def token_sharp() -> Realised:
    tokens = np.array([[5.0, 4.0], [3.0, 4.0]])
    x = given("x", dim=2, size=5, error=0.25, radius=1)
    return shown(token(x, "y", place=0, count=2), tokens[0], tokens[0] + 0.25, centre=[4.0, 4.0])


def token_random(rng: np.random.Generator) -> Realised:
    tokens, place = rng.uniform(-1, 1, (4, 3)), int(rng.integers(-4, 4))
    near = tokens + rng.uniform(-0.1, 0.1, tokens.shape)
    x = given("x", dim=3, size=1, error=0.1)
    return shown(token(x, "y", place=place, count=4), tokens[place], near[place])


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


def turned(length: float, error: float, dim: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two vectors of one length, that far apart."""
    half = np.arcsin(error / length / 2)
    ends = [np.array([np.cos(angle), np.sin(angle), *[0.0] * (dim - 2)]) for angle in (-half, half)]
    return length * ends[0], length * ends[1]


def normalised_sharp(shift: float) -> Realised:
    """Both of the length `exact_least`, turned a little."""
    x, near = turned(0.5, 1e-4)
    given_x = given("x", dim=3, norm=Norm.TWO, size=0.5 * (1 + 1e-15), error=1e-4)
    least = 0.5 * (1 - 1e-15)
    result = rms_normalise(given_x, "g", shift=shift, least=least - 1.00001e-4, exact_least=least)
    return shown(result, *(over_root_mean_square(each, shift) for each in (x, near)), Norm.TWO)


def normalised_near_zero() -> Realised:
    x, near = np.array([0.01, 0.0]), np.array([-0.01, 0.0])
    result = rms_normalise(value("x", x, near, Norm.TWO), "g", shift=2)
    return shown(result, *(over_root_mean_square(each, 2.0) for each in (x, near)), Norm.TWO)


def normalised_size() -> Realised:
    """Of vectors that are so long that the shift is nothing beside them."""
    x, near = np.array([300.0, 400.0]), np.array([400.0, 300.0])
    result = rms_normalise(value("x", x, near, Norm.TWO), "g", shift=2)
    return shown(result, *(over_root_mean_square(each, 2.0) for each in (x, near)), Norm.TWO)


def normalised_random(rng: np.random.Generator) -> Realised:
    """All lengths from nearly `least` on; the exact argument is at least 1, the error below 1."""
    exact, near = draw(rng)
    moved, exact = near - exact, exact * rng.uniform(1, 3) / norm(exact, Norm.TWO)
    shift = rng.uniform(0, 1) if rng.random() < 0.5 else 0.0
    x = value("x", exact, exact + moved, Norm.TWO)
    least = (1 - norm(moved, Norm.TWO)) * (1 - 1e-12)
    result = rms_normalise(x, "g", shift=shift, least=least, exact_least=1)
    return shown(result, *(over_root_mean_square(each, shift) for each in (exact, exact + moved)), Norm.TWO)


def layer_norm_sharp() -> Realised:
    """Both of length 1/2 beside any mean, turned a little in the plane of the vectors that add up to 0."""
    plane = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    x, near = (2.0 + each @ plane for each in turned(0.5, 1e-4, 2))
    given_x = given("x", dim=3, norm=Norm.TWO, size=norm(x, Norm.TWO) * (1 + 1e-15), error=1.0000001e-4)
    least = 0.5 * (1 - 1e-12)
    result = rms_normalise(given_x, "g", shift=0.5, least=least - 1.00001e-4, exact_least=least, centred=True)
    return shown(result, *(layer_normalised(each, 0.5) for each in (x, near)), Norm.TWO)


def layer_norm_random(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    result = rms_normalise(value("x", x, near, Norm.TWO), "g", shift=0.1, centred=True)
    return shown(result, *(layer_normalised(each, 0.1) for each in (x, near)), Norm.TWO)


def layer_norm_size() -> Realised:
    x, near = np.array([300.0, 400.0]), np.array([400.0, 300.0])
    result = rms_normalise(value("x", x, near, Norm.TWO), "g", shift=1e-6, centred=True)
    return shown(result, *(layer_normalised(each, 1e-6) for each in (x, near)), Norm.TWO)


def normalised_random_by_shift(rng: np.random.Generator) -> Realised:
    x, near = draw(rng)
    result = rms_normalise(value("x", x, near, Norm.TWO), "g", shift=0.1)
    return shown(result, *(over_root_mean_square(each, 0.1) for each in (x, near)), Norm.TWO)


def rotated_sharp(which: Norm) -> Realised:
    """By pi/4: of (1, 1) in the sup norm, of (1, 0) in the others; another plane is 0."""
    unit = np.array([1.0, 1.0, 0.0, 0.0]) if which is Norm.INF else np.eye(4)[0]
    exact, near = 2.0 * unit, 2.25 * unit
    result = rotate(value("x", exact, near, which), "y")
    return shown(result, *(turned_by(each, np.array([np.pi / 4, 1.0])) for each in (exact, near)), which)


def rotated_random(rng: np.random.Generator) -> Realised:
    which = list(Norm)[rng.integers(3)]
    exact, near, angles = *draw(rng, 4), rng.uniform(-9, 9, 2)
    return shown(
        rotate(value("x", exact, near, which), "y"), *(turned_by(each, angles) for each in (exact, near)), which
    )


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


CASES = [
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
    RuleCase("mean", "mean", mean_sharp, mean_random),
    *(RuleCase(f"centre in norm {n}", "centre", lambda n=n: centre_sharp(n), centre_random) for n in Norm),
    RuleCase("token", "token", token_sharp, token_random),
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
    RuleCase("rms_normalise", "rms_normalise", lambda: normalised_sharp(0.0), normalised_random),
    RuleCase(
        "rms_normalise, away from 0 and shifted",
        "rms_normalise",
        lambda: normalised_sharp(0.5),
        size=normalised_size,
    ),
    RuleCase(
        "rms_normalise, shifted",
        "rms_normalise",
        normalised_near_zero,
        normalised_random_by_shift,
        size=normalised_size,
    ),
    RuleCase("rms_normalise, centred", "rms_normalise", layer_norm_sharp, layer_norm_random, size=layer_norm_size),
    *(RuleCase(f"rotate in norm {n}", "rotate", lambda n=n: rotated_sharp(n), rotated_random) for n in Norm),
    RuleCase("exclude", "exclude", exclude_sharp, exclude_random),
    RuleCase("correct", "correct", corrected_sharp, corrected_random, error_loose="0; sharp is sigma, see below"),
]
