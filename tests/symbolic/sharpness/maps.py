"""Maps, products, sums, blocks, perturbations: cases of equality in each pair of norms."""

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
    change_norm,
    concatenate,
    correct,
    exclude,
    given,
    linear_map,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    project,
    rms_normalise,
    rotate,
    soft_threshold,
    token,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from tests.symbolic.cases.case import shown, value
from tests.symbolic.cases.one_premise import function_sharp, line_sharp, taylor_sharp, turned
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import layer_normalised, over_root_mean_square, shrink
from tests.symbolic.fuzzing.vectors import turned as turned_by
from tests.symbolic.sharpness.attaining import DIM, Attaining, Limit, along, direction, functional, shown_along

SIZE, ERROR = 2.0, 0.25
ALONG = "vectors and errors of one direction"
OF_RANK_ONE = "a map of rank one, errors along its largest direction"


def moved(which: Norm, x: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    exact = SIZE * direction(which) if x is None else x
    return exact, exact + ERROR * direction(which)


def given_value(which: Norm) -> Realised:
    return shown_along(along(which, SIZE, ERROR), SIZE, SIZE + ERROR)


def linear(source: Norm, target: Norm) -> Realised:
    """3 z phi^T, where phi has the dual norm 1 and z the norm 1."""
    matrix = 3 * np.outer(direction(target, 2), functional(source))
    exact, near = moved(source)
    result = linear_map(along(source, SIZE, ERROR), "y", operator_norm=3, dim=2, target=target)
    return shown(result, matrix @ exact, matrix @ near, target)


def product(first: Norm, second: Norm, target: Norm) -> Realised:
    """B(x, y) = phi(x) psi(y) z."""
    (x, near_x), (y, near_y) = moved(first), moved(second)
    phi, psi, z = functional(first), functional(second), direction(target)
    result = bilinear(along(first, SIZE, ERROR), along(second, SIZE, ERROR, "y"), "xy", norm=target, dim=DIM)
    return shown(result, (phi @ x) * (psi @ y) * z, (phi @ near_x) * (psi @ near_y) * z, target)


def perturbed(source: Norm, target: Norm) -> Realised:
    """The map of rank one, enlarged."""
    matrix, (exact, near) = np.outer(direction(target, 2), functional(source)), moved(source)
    x = along(source, SIZE, ERROR)
    result = perturbed_map(x, "y", operator_norm=3, perturbation=0.5, dim=2, target=target)
    return shown(result, 3 * matrix @ exact, 3.5 * matrix @ near, target)


def lipschitz(source: Norm, target: Norm) -> Realised:
    phi, z, (exact, near) = functional(source), direction(target), moved(source)
    result = perturbed_function(along(source, SIZE, ERROR), "F", lipschitz=2, eps=0.5, size=4, dim=DIM, target=target)
    return shown(result, 2 * (phi @ exact) * z, (2 * (phi @ near) + 0.5) * z, target)


def of_pairs(first: Norm, second: Norm) -> Realised:
    """f(x, y) = 2 phi(x) + 3 psi(y)."""
    (x, near_x), (y, near_y) = moved(first), moved(second)
    phi, psi = functional(first), functional(second)
    values = along(first, SIZE, ERROR), along(second, SIZE, ERROR, "y")
    result = apply_to_pairs(*values, "s", count=1, slopes=(2, 3), size=10, eps=0.5)
    return shown(result, 2 * (phi @ x) + 3 * (psi @ y), 2 * (phi @ near_x) + 3 * (psi @ near_y) + 0.5)


# Towards the larger exponents one coordinate, towards the smaller ones all alike.
def change(source: Norm, target: Norm) -> Realised:
    exponents = {Norm.ONE: 1.0, Norm.TWO: 0.5, Norm.INF: 0.0}
    unit = np.ones(DIM) if exponents[target] > exponents[source] else np.eye(DIM)[0]
    exact, near = SIZE * unit, (SIZE + ERROR) * unit
    return shown(change_norm(value("x", exact, near, source), target, "y"), exact, near, target)


def sum_of_two(which: Norm) -> Realised:
    x, y = along(which, SIZE, ERROR), along(which, 1, ERROR, "y")
    result = add(x, y, name="s", coefficients=(2, 3))
    return shown_along(result, 2 * SIZE + 3, 2 * (SIZE + ERROR) + 3 * (1 + ERROR))


def mean_of_many(which: Norm) -> Realised:
    return shown_along(mean(along(which, SIZE, ERROR), "m"), SIZE, SIZE + ERROR)


# Two tokens at both ends of a ball, and so are their errors.
def centred(which: Norm) -> Realised:
    exact, near = moved(which)
    x = given("x", dim=DIM, norm=which, size=SIZE, error=ERROR)
    return shown(centre(x, "y", count=2), np.stack([exact, -exact]), np.stack([near, -near]), which, centre=0 * exact)


def both_sequences(which: Norm) -> Realised:
    x, y = along(which, SIZE, ERROR), along(which, SIZE, ERROR / 2, "y")
    return shown_along(append(x, y, "xy"), SIZE, SIZE + ERROR)


def one_token(which: Norm) -> Realised:
    return shown_along(token(along(which, SIZE, ERROR), "y", place=0, count=2), SIZE, SIZE + ERROR)


def blocks(which: Norm) -> Realised:
    (x, near), y = moved(which), np.array([1.0])
    result = concatenate(value("x", x, near, which), value("y", y, y + ERROR, which), name="xy")
    return shown(result, np.concatenate([x, y]), np.concatenate([near, y + ERROR]), which)


def tokens(which: Norm) -> Realised:
    (x, near), small = moved(which), ERROR / 2 * direction(which)
    result = as_tokens(value("x", x, near, which), value("y", x, x + small, which), name="xy")
    return shown(result, np.stack([x, x]), np.stack([near, x + small]), which)


def stacked(which: Norm) -> Realised:
    j = sp.Symbol("j", integer=True, positive=True)
    first, family, last = (given(name, dim=1, norm=which, size=1, error=ERROR) for name in ("a", "f", "z"))
    return shown(stack(first, family, j, last, count=4, name="s"), np.ones(4), np.full(4, 1 + ERROR), which)


def one_of_two(which: Norm) -> Realised:
    n = sp.Symbol("n", integer=True, positive=True)
    result = either(along(which, SIZE, ERROR), sp.Eq(n, 1), along(which, 1, 1, "y"), name="z")
    found = shown_along(result, SIZE, SIZE + ERROR)
    return Realised(result, found.exact, found.near, None, which, {n: 1})


def projected(which: Norm) -> Realised:
    return shown_along(project(along(which, SIZE, ERROR), "P", size=SIZE), SIZE, SIZE + ERROR)


def clipped(which: Norm) -> Realised:
    return shown_along(project(along(which, SIZE, ERROR), "P", size=SIZE, box=True), SIZE, SIZE + ERROR)


def threshold(which: Norm) -> Realised:
    """u' > u > t > t' in each coordinate."""
    exact = np.full(DIM, 3.0)
    near = exact + 0.1
    result = soft_threshold(value("x", exact, near, which), "S", threshold_error=0.05)
    return shown(result, shrink(exact, np.float64(1.0)), shrink(near, np.float64(0.95)), which)


def normalised(which: Norm) -> Realised:
    """Both as long as stated, up to an error of 1e-4."""
    x, near = turned(1 + 2e-4, 1e-4)
    result = rms_normalise(value("x", x, near, which), "g", shift=0.5, least=1, exact_least=1 + 1.5e-4)
    return shown(result, *(over_root_mean_square(each, 0.5) for each in (x, near)), Norm.TWO)


def normalised_by_shift(which: Norm) -> Realised:
    x = 1e-3 * direction(which)
    result = rms_normalise(value("x", x, -x, which), "g", shift=0.5)
    return shown(result, *(over_root_mean_square(each, 0.5) for each in (x, -x)), Norm.TWO)


def layer_norm(which: Norm) -> Realised:
    x = 1e-3 * np.array([2.0, -1.0, -1.0])
    result = rms_normalise(value("x", x, -x, which), "g", shift=0.5, centred=True)
    return shown(result, *(layer_normalised(each, 0.5) for each in (x, -x)), Norm.TWO)


def rotated(which: Norm) -> Realised:
    """By pi/4: a corner onto an axis, in the 1-norm an axis away from all axes."""
    unit = np.array([1.0, 0.0] if which is Norm.ONE else [1.0, 1.0]) / (np.sqrt(2) if which is Norm.TWO else 1)
    exact, near = SIZE * unit, (SIZE + ERROR) * unit
    result = rotate(value("x", exact, near, which), "y")
    return shown(result, *(turned_by(each, np.array([np.pi / 4])) for each in (exact, near)), which)


def with_foreign_key(which: Norm) -> Realised:
    weight = 1 / (1 + 3 * np.exp(0.5))
    result = exclude(along(which, SIZE, ERROR), "y", count=3, lead=0.5, diameter=1.5)
    return shown_along(result, SIZE, SIZE + ERROR + 1.5 * weight)


def corrected(which: Norm) -> Limit:
    """Errors of sigma are undone."""
    return Limit(shown_along(correct(along(which, SIZE, ERROR), "C", sigma=ERROR), SIZE, SIZE), 1.0)


def pooled(which: Norm) -> Realised:
    t, u = sp.symbols("t u", nonnegative=True)
    x = given("x", dim=DIM, norm=which, size=SIZE, error=3 * t + 4 * u)
    return shown_along(pool(x, "y", groups=(t, u), total=2), SIZE, SIZE + 2 * (3 * 0.6 + 4 * 0.8))


def pooled_parts(which: Norm) -> Realised:
    parts = [along(which, SIZE, error, f"x{error}") for error in (3, 4)]
    return shown_along(pooled_sum(*parts, name="s"), 2 * SIZE, 2 * SIZE + 3 * 0.6 + 4 * 0.8)


# A polynomial of one coordinate; in the sup norm of three.
def series(which: Norm) -> Realised:
    return taylor_sharp(2, which, DIM if which is Norm.INF else 1)


def line(which: Norm) -> Realised:
    return line_sharp(which, DIM if which is Norm.INF else 1)


ATTAINING = (
    Attaining("given", ALONG, given_value),
    Attaining("apply_function", "f(x) = 2 x, off by eps in each coordinate", function_sharp),
    Attaining("taylor", "a polynomial of degree 2; one coordinate in the 1- and 2-norm", series),
    Attaining("line_at_zero", "a polynomial of degree 3; one coordinate in the 1- and 2-norm", line),
    Attaining("linear_map", OF_RANK_ONE, linear, target=True),
    Attaining("bilinear", "a product of two functionals, errors along both", product, 2, target=True),
    Attaining("perturbed_map", "a map of rank one, enlarged, errors along its largest direction", perturbed, 1, True),
    Attaining("perturbed_function", "a map of rank one, eps and errors along one direction", lipschitz, 1, True),
    Attaining("apply_to_pairs", "a sum of two functionals, off by eps, errors along both", of_pairs, 2),
    Attaining("change_norm", "one coordinate, or all alike", change, target=True),
    Attaining("add", ALONG, sum_of_two),
    Attaining("mean", "all errors the same", mean_of_many),
    Attaining("centre", "two tokens, and two errors, that are opposite", centred),
    Attaining("append", "any", both_sequences),
    Attaining("token", "the token with the largest error", one_token),
    Attaining("concatenate", "any", blocks),
    Attaining("as_tokens", "any", tokens),
    Attaining("stack", "any", stacked),
    Attaining("either", "any, in its own case", one_of_two),
    Attaining("project", "both points inside the set", projected, variant="a convex set"),
    Attaining("project", "both points inside the box", clipped, variant="a box"),
    Attaining("soft_threshold", "u' > u > t > t' in each coordinate", threshold),
    Attaining("rms_normalise", "both as long as stated, turned a little", normalised, variant="away from 0"),
    Attaining("rms_normalise", "both near 0", normalised_by_shift, variant="shifted"),
    Attaining("rms_normalise", "both near 0, adding up to 0", layer_norm, variant="centred"),
    Attaining("rotate", "a corner turned onto an axis, in the 1-norm an axis off all axes", rotated),
    Attaining("exclude", "the foreign value as far away as stated, all leads as stated", with_foreign_key),
    Attaining("correct", "an error of sigma, which is undone: the bound is 0", corrected),
    Attaining("pool", "moves in proportion to the slopes", pooled),
    Attaining("pooled_sum", "moves in proportion to the errors", pooled_parts),
)
