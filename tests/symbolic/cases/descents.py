"""Descent: gradient steps and proximal steps."""

from functools import partial

import numpy as np
import sympy as sp

from symbolic.calculus import Norm, bounded_iterates, descend, given, gradient_descent, proximal_gradient
from tests.symbolic.cases.case import Half, RuleCase, norm, shown, value
from tests.symbolic.fuzzing.proximal import Problem
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import onto_ball


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


CASES = [
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
]
