"""Moves over steps: iterations towards a fixed point, descent, invariants."""

from collections.abc import Callable

import numpy as np
import sympy as sp

from symbolic.calculus import Norm
from tests.symbolic.fuzzing import maps
from tests.symbolic.fuzzing.evaluation import evaluate
from tests.symbolic.fuzzing.move import move
from tests.symbolic.fuzzing.program import NAME, Program
from tests.symbolic.fuzzing.proximal import Problem
from tests.symbolic.fuzzing.realised import Measured, Realised
from tests.symbolic.fuzzing.vectors import lengths, units


# Iterates towards a fixed point x: each step takes the error d to A d + offset along A d, where A is a multiple of a
# permutation with signs, which keeps all norms.
def _contracted(
    program: Program, x: Realised, factor: float, offset: float, steps: int
) -> tuple[str, np.ndarray, np.ndarray]:
    """The handle of A, the exact and the approximate value."""
    number, dim, signed = program.chance(0.3), x.exact.shape[-1], factor * float(program.signs())
    matrix = signed * np.eye(dim) if number else maps.signed_permutation(program, dim, factor)
    operand = np.asarray(signed) if number else matrix
    handle = program.handle(np.broadcast_to(operand, (program.points, *operand.shape)), "A")
    return handle, x.exact, x.exact + maps.contracted(x.moved, matrix, offset, steps, x.value.norm)


# Each step takes the error d to f(||d||) along d.
def _iterated(x: Realised, step: Callable[[np.ndarray], np.ndarray], steps: int) -> tuple[np.ndarray, np.ndarray]:
    length = lengths(x.moved, x.value.norm)
    direction = units(x.moved, x.value.norm)
    for _ in range(steps):
        length = step(length)
    return x.exact, x.exact + length[..., None] * direction


@move("contract", "contract")
def contract(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 5)
    factor = 0.0 if program.chance(0.1) else program.number(0.05, 0.95)
    offset = 0.0 if program.chance(0.2) else program.number(0.01, 2.0)
    size = program.size(x)
    matrix, exact, near = _contracted(program, x, factor, offset, depth)
    value = program.apply("contract", x, NAME, factor=factor, offset=offset, depth=depth, size=size, matrix=matrix)
    program.conclude(value, exact, near, norm=x.value.norm)


@move("contract, limit", "contract")
def contract_limit(program: Program) -> None:
    x, factor, offset = program.pick(), program.number(0.05, 0.6), program.number(0.01, 0.5)
    matrix, exact, near = _contracted(program, x, factor, offset, 90)
    numbers = {"factor": factor, "offset": offset, "size": program.size(x)}
    value = program.apply("contract", x, NAME, depth=sp.oo, matrix=matrix, **numbers)
    program.conclude(value, exact, near, norm=x.value.norm)


@move("converge, limit", "converge")
def converge_limit(program: Program) -> None:
    x, share = program.pick(), program.rng.uniform(0, 0.9)
    quadratic = _inside(program, x, 0.9 * (1 + np.sqrt(1 - share)) / 2)
    offset = float(share / (4 * quadratic))
    value = program.apply("converge", x, NAME, quadratic=quadratic, offset=offset, depth=sp.oo, size=program.size(x))
    exact, near = _iterated(x, lambda e: quadratic * e**2 + offset, 120)
    program.conclude(value, exact, near, norm=x.value.norm)


def _inside(program: Program, x: Realised, most: float) -> float:
    """A coefficient whose product with the closed error is at most `most`, and often equal to it."""
    error = max(program.bound(x), 1e-2)
    return float(most / error * (1.0 if program.chance(0.6) else program.rng.uniform(0.2, 1.0)))


@move("converge, no offset", "converge")
def converge_exactly(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 3)
    quadratic = _inside(program, x, 0.95)
    value = program.apply("converge", x, NAME, quadratic=quadratic, offset=0, depth=depth, size=program.size(x))
    exact, near = _iterated(x, lambda e: quadratic * e**2, depth)
    program.conclude(value, exact, near, norm=x.value.norm)


@move("converge", "converge", weight=0.6)
def converge(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 3)
    quadratic = _inside(program, x, 0.499)
    offset = float((1e-7 if program.chance(0.3) else program.rng.uniform(0, 0.24)) / quadratic)
    value = program.apply("converge", x, NAME, quadratic=quadratic, offset=offset, depth=depth, size=program.size(x))
    exact, near = _iterated(x, lambda e: quadratic * e**2 + offset, depth)
    program.conclude(value, exact, near, norm=x.value.norm, known_ratio=2.0 ** (2**depth - 1))


@move("accumulate", "accumulate")
def accumulate(program: Program) -> None:
    """Factors 1 + r^(2^l) or a constant one, offsets that vary or not; with a quadratic term, or an equality."""
    x, depth, share = program.pick(), program.whole(0, 4), program.rng.uniform(0, 1)
    index, squares = program.symbol("l", integer=True, nonnegative=True), program.chance(0.6)
    ratio, offset = program.number(0.1, 1.0), program.number(0.01, 0.5)
    shrinking = program.chance(0.4)
    factors = [1 + (ratio ** (2**place) if squares else ratio) for place in range(depth)]
    offsets = [offset / (1 + place) if shrinking else offset for place in range(depth)]
    largest = max(program.bound(x), 1e-2)
    for factor, each in zip(factors, offsets, strict=True):
        largest = factor * largest + each
    exactly = depth == 0 or program.chance(0.5)
    quadratic = 0.0 if exactly else float(0.99 * share * (2 ** (1 / depth) - 1) / (2 * largest))
    given_ratio, given_offset = (sp.sympify(program.raised(each)) for each in (ratio, offset))
    value = program.apply(
        "accumulate", x, NAME, depth=depth, size=program.size(x), index=index, quadratic=quadratic,
        factor=1 + (given_ratio ** (2**index) if squares else given_ratio),
        offset=given_offset / (1 + index) if shrinking else given_offset,
    )  # fmt: skip
    steps = iter(zip(factors, offsets, strict=True))

    def step(e: np.ndarray) -> np.ndarray:
        factor, each = next(steps)
        return (factor + quadratic * e) * e + each

    exact, near = _iterated(x, step, depth)
    program.conclude(value, exact, near, norm=x.value.norm, known_ratio=1.0 if exactly else 2.0)


# Gradient descent on f(w) = L w^2 / 2 from f(w) = gap: the step 1/L lowers f by g^2 / (2 L), down to the infimum at
# once. Or, with an offset d, steps with any g_l that lower f by exactly c g_l - d, down to the infimum.
@move("descend", "descend", size_loose="the exact value is 0, and so is its size")
def descend(program: Program) -> None:
    gap, steps, decrease = program.pick(Norm.INF, 1), program.whole(1, 5), program.number(0.2, 2.0)
    offset = 0.0 if program.chance(0.4) else program.number(0.01, 0.5)
    value = program.apply("descend", gap, NAME, decrease=decrease, offset=offset, steps=steps)
    start = np.abs(gap.moved[..., 0])
    if offset:
        shares = program.rng.dirichlet(np.ones(steps), start.shape)
        gradients = (start + steps * offset)[..., None] / decrease * shares
    else:
        L = 1 / (2 * decrease)
        w, gradients = np.sqrt(2 * start / L), np.zeros((*start.shape, steps))
        for step in range(steps):
            gradients[..., step] = (L * w) ** 2
            w = w - L * w / L
    near = gradients.mean(-1)[..., None]
    program.conclude(value, np.zeros_like(near), near, norm=Norm.INF)


# Projected gradient descent on f(w) = h w^2/2 over an interval [-r, r], whose infimum is 0. For h = 1/step one exact
# step ends there.
@move("gradient_descent", "gradient_descent", size_loose="the exact value is 0, and so is its size")
def gradient_descent(program: Program) -> None:
    gap, steps, step = program.pick(Norm.INF, 1), program.whole(1, 4), program.number(0.2, 2.0)
    accuracy = 0.0 if program.chance(0.4) else program.number(0.01, 0.5)
    short = 1.0 if program.chance(0.5) else program.rng.uniform(0.2, 1.0 if accuracy else 1.95)
    smooth = short * (1 - 1e-12) / step
    arguments = {"step": step, "smoothness": smooth, "accuracy": accuracy}
    if not accuracy:
        del arguments["accuracy"]
    lowest = np.abs(gap.moved[..., 0]).max(-1, keepdims=True)
    w = np.sqrt(2 * lowest / smooth)
    pushed = [step * accuracy * (1.0 if program.chance(0.5) else program.rng.uniform(-1, 1)) for _ in range(steps)]
    radius = np.inf if program.chance(0.5) else 1.01 * w.max()
    squares = []
    for push in pushed:
        inner = np.clip(w - step * smooth * w, -radius, radius)
        squares.append(np.square((w - inner) / step))
        w = np.clip(w - step * smooth * w + push, -radius, radius)
    value = program.apply("gradient_descent", gap, NAME, steps=steps, **arguments)
    near = np.broadcast_to(np.mean(squares, 0)[..., None], gap.exact.shape)
    program.conclude(value, np.zeros_like(near), near, norm=Norm.INF)


# z_(l+1) = A f(z_l), |f(z)| <= s |z|; f_hat is known on [-R, R] only and wild outside, where R is what the induction
# says. The range obligations speak of a letter R; `confine` discharges them.
@move("confine", "confine", weight=0.3)
def confine(program: Program) -> None:
    x, depth = program.given(Norm.INF, size=program.number()), program.whole(1, 3)
    spread, slope, eps = program.number(0.3, 1.5), program.number(0.3, 1.5), program.number(0.01, 0.5)
    dim, start = x.exact.shape[-1], program.size(x) + program.bound(x)
    radius, free = (program.symbol(name, positive=True) for name in ("z", "R"))
    recursion = program.apply("MonotoneRecursion", sp.sympify(start), spread * (slope * radius + eps), radius)
    invariant = program.apply("finite_depth", recursion, depth)
    reach = float(evaluate(invariant.bound, program.at))
    layer, at, largest, size = x, {free: reach}, np.zeros(program.points), program.size(x)
    for _ in range(depth):
        exact, near = layer.exact, layer.near
        largest = np.maximum(largest, np.maximum(np.abs(exact), np.abs(near)).max((-1, -2)))
        size = slope * spread * size if layer is not x else slope * size
        value = program.apply("apply_function", layer, NAME, eps=eps, lipschitz=slope, size=size, radius=free)
        values, moved = slope * exact, slope * near
        moved = np.where(np.abs(near) <= reach * (1 + 1e-9), moved + eps * np.where(moved < values, -1, 1), 1e9)
        layer = program.conclude(value, values, moved, norm=Norm.INF, at=at, keep=False)
        operator = maps.extreme_operator(program, (values, moved), Norm.INF, Norm.INF, dim, spread)
        value = program.apply("linear_map", layer, NAME, operator_norm=spread, dim=dim)
        layer = program.conclude(value, operator(values), operator(moved), norm=Norm.INF, at=at, keep=False)
    value = program.apply("confine", layer, invariant)
    stays = Measured("invariant", reach, largest)
    program.conclude(value, layer.exact, layer.near, norm=Norm.INF, at=at, also=(stays,), keep=False)


NO_SIZE = "the exact value is 0, and so is its size"
TINY = 2.0**-70  # a step that moves nothing in float64


# F = weight ||w|| in the norm of the errors: steps of length almost 0 keep w, and errors away from 0 add up.
@move("bounded_iterates", "bounded_iterates", size_loose=NO_SIZE)
def bounded_iterates(program: Program) -> None:
    x, steps, weight = (
        program.pick(Norm.ONE if program.chance(0.5) else Norm.TWO),
        program.whole(1, 4),
        program.number(),
    )
    length = 0.0 if program.chance(0.3) else program.number()
    near = (length + steps * lengths(x.moved, x.value.norm))[..., None] * units(x.moved, x.value.norm)
    numbers = {"start": weight * length, "penalty": weight, "lipschitz": weight, "smoothness": 0}
    radius = program.symbol("r", nonnegative=True)
    value = program.apply("bounded_iterates", x, NAME, radius=radius, step=TINY, steps=steps, **numbers)
    program.conclude(value, np.zeros_like(near), near, norm=x.value.norm)


# From the minimiser u of weight ||w - u||, one step with any error; or several on a quadratic and the 1-norm.
@move("proximal_gradient", "proximal_gradient", size_loose=NO_SIZE)
def proximal_gradient(program: Program) -> None:
    norm, at_once = Norm.ONE if program.chance(0.5) else Norm.TWO, program.chance(0.5)
    x = program.given(Norm.TWO, error=0.0, single=False) if at_once else program.pick(Norm.TWO, single=False)
    dim, weight, step = x.exact.shape[-1], program.number(), program.number(0.1, 2.0)
    y = program.given(norm, dim, single=False)
    if at_once:
        curvature, iterates = 0.0, x.exact + y.moved[None]
        gap, steepest = weight * lengths(y.moved, norm), weight
    else:
        curvature = program.rng.uniform(0.1, 1) / step
        problem = Problem(np.asarray(curvature), program.rng.normal(size=dim), weight)
        errors = y.moved * program.rng.choice([-1.0, 1.0, 0.3], (program.whole(1, 4), 1, 1, 1))
        iterates = problem.run(x.near, errors, step)
        gap = np.maximum(problem.value(iterates[-1]) - problem.value(x.exact), 0)
        steepest = problem.steepest(iterates, norm)
    sizes = lengths(iterates, norm)
    longest = np.take_along_axis(iterates, sizes.argmax(0)[None, ..., None], 0)[0]
    arguments = {"dim": dim, "norm": norm, "size": 0.0, "error": float(sizes.max())}
    kept = program.start(arguments, np.zeros_like(longest), longest)
    radius = program.symbol("r", nonnegative=True)
    value = program.apply(
        "proximal_gradient", x, NAME, update=y, iterates=kept, radius=radius, lipschitz=steepest, step=step,
        smoothness=curvature * (1 - 1e-12), steps=len(iterates),
    )  # fmt: skip
    program.conclude(value, np.zeros_like(gap)[..., None], gap[..., None], norm=Norm.INF)


MOVES = (
    *(accumulate, contract, contract_limit, converge_limit, converge_exactly, converge),
    *(descend, gradient_descent, bounded_iterates, proximal_gradient, confine),
)
