"""Layers, iterations, flows and descent: cases of equality in each pair of norms."""

from functools import partial

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    MonotoneRecursion,
    Norm,
    accumulate,
    apply_function,
    bounded_iterates,
    confine,
    contract,
    converge,
    descend,
    evolve,
    finite_depth,
    given,
    gradient_descent,
    proximal_gradient,
    recur,
)
from symbolic.calculus.layers import iterate
from symbolic.calculus.repetition import repeat
from tests.symbolic.cases.case import shown, value
from tests.symbolic.cases.descents import NORM
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.sharpness.attaining import DIM, Attaining, along, direction, shown_along

START, STEPS, FACTOR, OFFSET = 0.5, 4, 0.75, 0.25
EACH_STEP = "each step an equality, errors along one direction"


def linear_error(steps: int = STEPS, factor: float = FACTOR) -> float:
    error = START
    for _ in range(steps):
        error = factor * error + OFFSET
    return error


def recurred(which: Norm) -> Realised:
    size = FACTOR**STEPS
    result = recur(along(which, 1, START), "y", factor=FACTOR, offset=OFFSET, depth=STEPS, size=size)
    return shown_along(result, size, size + linear_error())


def iterated(which: Norm) -> Realised:
    layers = LinearRecursion(sp.Integer(0), sp.Float(FACTOR), sp.Float(OFFSET))
    result = iterate(along(which, 1, START), "y", layers, STEPS, size=FACTOR**STEPS)
    return shown_along(result, FACTOR**STEPS, FACTOR**STEPS + linear_error())


def repeated(which: Norm) -> Realised:
    """z -> z, off by 1/4 in one coordinate."""
    x = along(which, 1, START, dim=1)
    layer = partial(apply_function, name="f", eps=OFFSET, lipschitz=1, size=1)
    return shown(repeat(x, "y", lambda z: layer(z), STEPS), 1.0, 1 + linear_error(factor=1.0), which)


def accumulated(which: Norm) -> Realised:
    result = accumulate(along(which, 1, START), "y", factor=2, offset=OFFSET, depth=STEPS, size=1)
    return shown_along(result, 1, 1 + linear_error(factor=2.0))


def contracted(which: Norm) -> Realised:
    result = contract(along(which, 1, START), "y", factor=FACTOR, offset=OFFSET, depth=STEPS, size=1)
    return shown_along(result, 1, 1 + linear_error())


def squared(which: Norm, offset: float) -> Realised:
    """Without an offset after 3 steps; with one in the limit."""
    error = START
    for _ in range(200 if offset else 3):
        error = error**2 + offset
    depth = sp.oo if offset else 3
    result = converge(along(which, 1, START), "y", quadratic=1, offset=offset, depth=depth, size=1)
    return shown_along(result, 1, 1 + error)


def flowed(which: Norm) -> Realised:
    """x' = x against x_hat' = x_hat + 1/4, along the error of 1, for a time of 1."""
    result = evolve(along(which, 1, 1), "y", rate=1, offset=OFFSET, time=1, size=sp.E)
    grown = float(sp.E)
    return shown_along(result, grown, 2 * grown + OFFSET * (grown - 1))


def confined(which: Norm) -> Realised:
    """2 z, off by 1/4, on the interval that two layers z -> z/2 + 1 from 4 keep."""
    z, R = sp.symbols("z R", positive=True)
    kept = finite_depth(MonotoneRecursion(sp.Integer(4), z / 2 + 1, z), 2)
    x = along(which, 3, 1, dim=1)
    f = apply_function(x, "f", eps=OFFSET, lipschitz=2, size=6, radius=R)
    found = shown(confine(f, kept, "f"), 6.0, 8 + OFFSET, which)
    return Realised(found.value, found.exact, found.near, None, which, {R: 4.0})


def descended(which: Norm) -> Realised:
    """Three steps that each lose 2 g - 1/2 with g = 1, down to the infimum."""
    gap = given("gap", dim=1, norm=which, size=0, error=4.5)
    return shown(descend(gap, "g", decrease=2, offset=0.5, steps=3), 0.0, 1.0)


def gradient_steps(which: Norm) -> Realised:
    """f = w^2 from 1, 3 steps of 1/2, which reach 0 at once: |f'|^2 is 4, 0, 0."""
    gap = given("gap", dim=1, norm=which, size=0, error=1)
    return shown(gradient_descent(gap, "g", step=0.5, smoothness=2, steps=3), 0.0, 4 / 3)


def bounded(which: Norm) -> Realised:
    """F(w) = 2 ||w||, steps of length almost 0, errors away from 0."""
    update = given("update", dim=DIM, norm=which, size=0, error=START)
    numbers = {"start": 6, "penalty": 2, "lipschitz": 2, "smoothness": 0, "step": sp.Rational(1, 10**30)}
    result = bounded_iterates(update, "w", radius=NORM, steps=STEPS, **numbers)
    return shown_along(result, 0, 6 / 2 + STEPS * START)


def one_proximal_step(start: Norm, which: Norm) -> Realised:
    """F(w) = 3 ||w - u||, from u by one step that errs by 1/4."""
    first = value("start", direction(start), direction(start), start)
    update, iterates = (given(each, dim=DIM, norm=which, size=0, error=e) for each, e in (("p", 0.25), ("w", 9)))
    numbers = {"lipschitz": 3, "smoothness": 0, "step": 0.5, "steps": 1}
    gap = proximal_gradient(first, "gap", update=update, iterates=iterates, radius=NORM, **numbers)
    return shown(gap, 0.0, 3 * 0.25)


ATTAINING = (
    Attaining("recur", EACH_STEP, recurred),
    Attaining("iterate", EACH_STEP, iterated),
    Attaining("repeat", "z -> z, off by eps in each layer", repeated),
    Attaining("accumulate", EACH_STEP, accumulated),
    Attaining("contract", EACH_STEP, contracted),
    Attaining("converge", "each step an equality, no offset", partial(squared, offset=0)),
    Attaining("converge", "each step an equality", partial(squared, offset=sp.Rational(1, 8)), variant="limit"),
    Attaining("evolve", "x' = x, pushed along the error", flowed),
    Attaining("confine", "that of the rule of which it discharges the range", confined),
    Attaining("descend", "each step an equality, down to the infimum", descended),
    Attaining("gradient_descent", "a quadratic, steps of 1/smoothness", gradient_steps),
    Attaining("bounded_iterates", "F a norm, short steps, errors away from 0", bounded),
    Attaining("proximal_gradient", "F a norm around u, one step from u that errs", one_proximal_step, premises=2),
)
