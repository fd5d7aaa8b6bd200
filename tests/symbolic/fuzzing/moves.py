"""The moves of the fuzzer: each draws the arguments of one rule, applies it, and runs what the rule is about.

The concrete side never reads the rule's conclusion: it is computed from vectors alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import Norm
from tests.symbolic.fuzzing import maps
from tests.symbolic.fuzzing.evaluation import evaluate
from tests.symbolic.fuzzing.maps import About, Map
from tests.symbolic.fuzzing.program import NAME, Program
from tests.symbolic.fuzzing.realised import Measured, Realised
from tests.symbolic.fuzzing.vectors import lengths, softmax_weights, units


@dataclass(frozen=True)
class Move:
    """One way to use `rule`; rarer, by its weight, where SymPy takes long.

    `error_loose` and `size_loose` say why this use attains the rule's error or size only nearly; else it has to.
    """

    name: str
    rule: str
    run: Callable[[Program], Any]
    error_loose: str = ""
    size_loose: str = ""
    weight: float = 1.0


MOVES: dict[str, Move] = {}


Run = Callable[[Program], Any]


def move(name: str, rule: str, **more: Any) -> Callable[[Run], Run]:
    def registered(run: Run) -> Run:
        MOVES[name] = Move(name, rule, run, **more)
        return run

    return registered


# --- one premise -----------------------------------------------------------------------------------------------------


def about(program: Program, x: Realised, layer: bool = False) -> About:
    return About(x.value.norm, x.exact.shape[-1], program.size(x), program.bound(x), layer)


def mapped(program: Program, x: Realised, made: Map, **options: Any) -> Realised:
    value = program.apply(made.rule, x, *_positional(made), NAME, **_named(made))
    limit = made.limit(x.exact, x.near) if made.limit else None
    exact, near = made.run(x.exact, x.near)
    centre = made.centre(x.centre) if made.centre and x.centre is not None else None
    return program.conclude(value, exact, near, norm=made.norm, centre=centre, limit=limit, **options)


def _positional(made: Map) -> list[Any]:
    return [made.arguments["target"]] if made.rule == "change_norm" else []


def _named(made: Map) -> dict[str, Any]:
    return {} if made.rule == "change_norm" else dict(made.arguments)


def _one_premise(name: str, make: Callable[[Program, About], Map], norm: Norm | None = None, **more: str) -> None:
    def run(program: Program) -> None:
        x = program.pick(norm)
        mapped(program, x, make(program, about(program, x)))

    move(name, name.split(",")[0], **more)(run)


@move("given", "given")
def given(program: Program) -> None:
    program.given()


_one_premise("apply_function", maps.apply_function)
_one_premise("apply_function, Taylor", maps.taylor, error_loose="the sine is not linear", size_loose="the same")
_one_premise("linear_map", maps.linear_map)
_one_premise("mean", maps.mean)
_one_premise("change_norm", maps.change_norm)
_one_premise("project, ball", maps.project_ball, Norm.TWO)
_one_premise("project, box", maps.project_box)
_one_premise("soft_threshold", maps.soft_threshold)
_one_premise("perturbed_map", maps.perturbed_map)
_one_premise("perturbed_map, known", maps.perturbed_map_known)
_one_premise("perturbed_map, pooled", maps.perturbed_map_pooled, size_loose="A is at its limit where it is not moved")
_one_premise("perturbed_function", maps.perturbed_function)
_one_premise("exclude", maps.exclude)
_one_premise("correct", maps.correct)


@move("correct, rounding", "correct")
def rounding(program: Program) -> None:
    """Whole numbers, rounded: errors below 1/2 are undone."""
    dim, size, error = program.whole(1, 3), program.whole(1, 4), 0.4999
    exact = program.rng.integers(-size, size, (program.points, program.tokens, dim), endpoint=True).astype(float)
    exact[:, 0] = float(size) * program.signs(dim)
    near = exact + error * program.signs(program.points, program.tokens, dim)
    x = program.start({"dim": dim, "size": float(size), "error": error}, exact, near)
    value = program.apply("correct", x, NAME, sigma=sp.Rational(1, 2))
    program.conclude(value, exact, np.round(near), norm=Norm.INF, limit=np.full(program.points, 2 * error))


# --- several premises ------------------------------------------------------------------------------------------------


@move("add", "add")
def add(program: Program) -> None:
    first = program.pick()
    others = [program.pick(first.value.norm, first.exact.shape[-1]) for _ in range(program.whole(0, 2))]
    terms = (first, *others)
    coefficients = tuple(float(c) for c in program.rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], len(terms)))
    plain = program.chance(0.3)
    if plain:
        coefficients = (1.0,) * len(terms)
    value = program.apply("add", *terms, name=NAME, **({} if plain else {"coefficients": coefficients}))
    exact = sum(c * x.exact for c, x in zip(coefficients, terms, strict=True))
    near = sum(c * x.near for c, x in zip(coefficients, terms, strict=True))
    program.conclude(value, exact, near, norm=first.value.norm)


@move("concatenate", "concatenate")
def concatenate(program: Program) -> None:
    first = program.pick()
    parts = (first, *(program.pick(first.value.norm) for _ in range(program.whole(0, 1))))
    value = program.apply("concatenate", *parts, name=NAME)
    exact, near = (np.concatenate(each, -1) for each in ([x.exact for x in parts], [x.near for x in parts]))
    program.conclude(value, exact, near, norm=first.value.norm, keep=exact.shape[-1] <= 6)


# Values that are moved by parameters of their own: their shares of the perturbation are as their errors.
@move("pooled_sum", "pooled_sum")
def pooled_sum(program: Program) -> None:
    norm, dim = program.any_norm(), program.whole(1, 3)
    terms = [program.given(norm, dim) for _ in range(program.whole(1, 3))]
    value = program.apply("pooled_sum", *terms, name=NAME)
    errors = np.stack([x.error for x in terms])
    whole = np.sqrt(np.square(errors).sum(0))
    shares = errors / np.where(whole > 0, whole, 1.0)
    exact = sum(x.exact for x in terms)
    near = exact + sum(t[:, None, None] * x.moved for t, x in zip(shares, terms, strict=True))
    program.conclude(value, exact, near, norm=norm)


# An error c_1 t + c_2 u in two groups of parameters, carried through a linear map, then pooled: t : u = c_1 : c_2.
@move("pool", "pool", weight=0.5)
def pool(program: Program) -> None:
    t, u = (program.symbol(name, nonnegative=True) for name in ("t", "u"))
    first, second, total = program.number(0.1), program.number(0.1), program.number(0.1)
    spread, size = program.number(0.3, 2.0), program.number()
    norm, dim = program.any_norm(), program.whole(1, 3)
    angle = program.rng.uniform(0, np.pi / 2, program.points)
    angle = np.where(program.straight, np.arctan2(second, first), angle)
    at = {t: total * np.cos(angle), u: total * np.sin(angle)}
    exact, _ = program.spread_tokens(norm, dim, size, None)
    near = exact + (first * at[t] + second * at[u])[:, None, None] * program.directions(dim, norm)
    x = program.apply("given", NAME, dim=dim, norm=norm, size=size, error=first * t + second * u)
    x = program.conclude(x, exact, near, norm=norm, at=at, keep=False)
    operator = maps.extreme_operator(program, (exact, near), norm, norm, dim, spread)
    y = program.apply("linear_map", x, NAME, operator_norm=spread, dim=dim)
    y = program.conclude(y, operator(exact), operator(near), norm=norm, at=at, keep=False)
    value = program.apply("pool", y, NAME, groups=(t, u), total=total)
    program.conclude(value, y.exact, y.near, norm=norm)


@move("bilinear", "bilinear")
def bilinear(program: Program) -> None:
    """c phi(u) psi(v) y, of norm exactly c."""
    x, y = program.pick(), program.pick()
    c, norm, dim = program.number(0.2, 1.5), program.any_norm(), program.whole(1, 3)
    value = program.apply("bilinear", x, y, NAME, constant=c, norm=norm, dim=dim)
    phi, psi = (program.functional(z.exact, z.near, z.value.norm) for z in (x, y))

    def product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        numbers = np.einsum("ptd,pd->pt", u, phi) * np.einsum("ptd,pd->pt", v, psi)
        return c * numbers[..., None] * program.compass(dim, norm)[:, None, :]

    program.conclude(value, product(x.exact, y.exact), product(x.near, y.near), norm=norm)


@move("bilinear, entry-wise", "bilinear")
def entry_wise(program: Program) -> None:
    x = program.pick()
    y = program.pick(Norm.INF, x.exact.shape[-1])
    value = program.apply("bilinear", x, y, NAME)
    program.conclude(value, x.exact * y.exact, x.near * y.near, norm=x.value.norm)


@move("bilinear, inner product", "bilinear")
def inner_product(program: Program) -> None:
    norms = (Norm.TWO, Norm.TWO) if program.chance(0.5) else (Norm.ONE, Norm.INF)
    x = program.pick(norms[0])
    y = program.pick(norms[1], x.exact.shape[-1])
    value = program.apply("bilinear", x, y, NAME, dim=1)
    exact, near = ((a * b).sum(-1, keepdims=True) for a, b in ((x.exact, y.exact), (x.near, y.near)))
    program.conclude(value, exact, near, norm=norms[0])


# x_hat is x shrunk, so that ||x_hat|| <= X - e is known; dx and dy then have one sign where dy points away from y.
@move("bilinear, known size", "bilinear")
def known_size(program: Program) -> None:
    norm, dim, size = program.any_norm(), program.whole(1, 3), program.number(0.5)
    error = size * program.rng.uniform()
    exact, _ = program.spread_tokens(norm, dim, size, None)
    near = exact * (1 - error / size)
    x = program.start({"dim": dim, "norm": norm, "size": size, "error": error}, exact, near)
    y = program.pick()
    value = program.apply("bilinear", x, y, NAME, dim=1, approximate_size=(size - error) * (1 + 1e-12))
    phi, psi = (program.functional(z.exact, z.near, z.value.norm) for z in (x, y))

    def product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (np.einsum("ptd,pd->pt", u, phi) * np.einsum("ptd,pd->pt", v, psi))[..., None]

    program.conclude(value, product(exact, y.exact), product(near, y.near), norm=norm)


# The first and the last block come from the pool, the family has an error that depends on its index.
@move("stack", "stack", weight=0.5)
def stack(program: Program) -> None:
    first, last = program.pick(Norm.TWO), program.pick(Norm.TWO)
    count, dim, size, scale = program.whole(1, 5), program.whole(1, 2), program.number(), program.number(0.05, 0.5)
    index = program.symbol("k", integer=True, positive=True)
    family = program.apply("given", NAME, dim=dim, norm=Norm.TWO, size=size / index, error=scale * index)
    blocks = [(first.exact, first.near)] if count > 1 else []
    for k in range(2, count):
        exact, _ = program.spread_tokens(Norm.TWO, dim, size / k, None)
        blocks.append((exact, exact + scale * k * program.directions(dim, Norm.TWO)))
    blocks.append((last.exact, last.near))
    exact, near = (np.concatenate(each, -1) for each in zip(*blocks, strict=True))
    value = program.apply("stack", first, family, index, last, count=count, name=NAME, dim=exact.shape[-1])
    program.conclude(value, exact, near, norm=Norm.TWO, keep=exact.shape[-1] <= 6)


# A count decides which of the two it is.
@move("either", "either")
def either(program: Program) -> None:
    first = program.pick()
    second = program.pick(first.value.norm)
    count = program.symbol("n", integer=True, positive=True)
    at = {count: program.whole(1, 3)}
    value = program.apply("either", first, sp.Eq(count, 1), second, name=NAME)
    chosen = first if at[count] == 1 else second
    program.conclude(value, chosen.exact, chosen.near, norm=first.value.norm, at=at, keep=False)


# --- softmax and hard max --------------------------------------------------------------------------------------------


# The odds of the growing keys are e^(-e) before and e^e after: where tanh(e/2) is attained.
def critical_scores(program: Program) -> Realised:
    keys, error = program.tokens, program.number(0.05, 3.0)
    growing = program.whole(1, keys - 1)
    ahead = np.where(np.arange(keys) < growing, 1.0, 0.0)
    order = program.rng.permutation(keys)
    exact = ahead * (np.log((keys - growing) / growing) - error)
    moved = error * (2 * ahead - 1)
    exact, moved = (np.broadcast_to(v[order], (program.points, keys, keys)) for v in (exact, moved))
    arguments = {"dim": keys, "size": float(np.abs(exact).max()), "error": error}
    return program.start(arguments, exact, exact + moved)


@move("softmax", "softmax")
def softmax(program: Program) -> Realised:
    scores = critical_scores(program) if program.chance(0.5) else program.pick(Norm.INF)
    value = program.apply("softmax", scores, NAME)
    return program.conclude(value, softmax_weights(scores.exact), softmax_weights(scores.near), norm=Norm.ONE)


@move("concentrate", "concentrate")
def concentrate(program: Program) -> Realised:
    """The gaps exactly as stated at most points, larger at the others."""
    count = program.tokens if program.chance(0.5) else program.whole(1, 6)
    kind, step = program.whole(0, 2), program.number(0.1, 2.0)
    k = np.arange(1, count)
    gaps = (step * k, np.full(count - 1, step), step * k**2)[kind]
    stated = ({"slope": step}, {"gap": step}, {"gaps": Square(step)})[kind]
    value = program.apply("concentrate", NAME, count=count, **stated)
    larger = np.where(program.straight[:, None, None], 0.0, program.rng.uniform(0, 1, (program.points, 1, count - 1)))
    scores = np.concatenate([np.zeros((program.points, 1, 1)), -(gaps + larger)], -1)
    near = np.broadcast_to(softmax_weights(scores), (program.points, program.tokens, count))
    exact = np.broadcast_to(np.eye(count)[0], near.shape)
    return program.conclude(value, exact, near, norm=Norm.ONE)


@dataclass(frozen=True)
class Square:
    """The gaps of `concentrate` as step k^2; prints itself as code."""

    step: float

    def __call__(self, k: Any) -> Any:
        return self.step * k**2

    def __repr__(self) -> str:
        return f"lambda k: {self.step!r} * k**2"


# The winner leads all others by exactly the margin; it moves down while they move up.
def led_scores(program: Program, tight: bool) -> tuple[Realised, float, np.ndarray]:
    keys, margin = program.tokens, program.number(0.2, 2.0)
    error = margin / 2 * (1 - 1e-9 if tight else program.rng.uniform(0, 0.95))
    winner = program.rng.permutation(keys)
    gap = np.where(program.straight[:, None, None], margin, margin * program.rng.uniform(1, 2, (program.points, 1, 1)))
    first = np.eye(keys)[winner]
    exact = np.broadcast_to(margin / 2 + gap * (first - 1), (program.points, keys, keys))
    near = exact + error * np.where(program.straight[:, None, None], 1 - 2 * first, program.signs(program.points, 1, 1))
    size = float(np.abs(exact).max())
    return program.start({"dim": keys, "size": size, "error": error}, exact, near), margin, first


@move("softmax_to_hard_max", "softmax_to_hard_max", weight=0.6)
def softmax_to_hard_max(program: Program) -> Realised:
    scores, margin, first = led_scores(program, tight=program.chance(0.1))
    beta = program.number(0.5, 6.0)
    value = program.apply("softmax_to_hard_max", scores, NAME, margin=margin, inverse_temperature=beta)
    exact = np.broadcast_to(first, scores.exact.shape)
    return program.conclude(value, exact, softmax_weights(beta * scores.near), norm=Norm.ONE)


@move("hard_max", "hard_max")
def hard_max(program: Program) -> Realised:
    scores, margin, first = led_scores(program, tight=program.chance(0.7))
    value = program.apply("hard_max", scores, NAME, margin=margin)
    exact = np.broadcast_to(first, scores.exact.shape)
    near = np.eye(program.tokens)[scores.near.argmax(-1)]
    return program.conclude(value, exact, near, norm=Norm.ONE, limit=2 * scores.error / margin)


# The mass e/2 moves from one key to another, the rest stays where it is.
@move("given, probabilities", "given")
def given_weights(program: Program) -> Realised:
    keys, error = program.tokens, program.rng.uniform(0, 2)
    rest = (1 - error / 2) * program.rng.dirichlet(np.ones(keys), (program.points, keys))
    source, sink = np.eye(keys)[program.rng.permutation(keys)[:2]]
    swap = program.rng.random((program.points, keys, 1)) < 0.5
    exact = rest + error / 2 * np.where(swap, source, sink)
    near = rest + error / 2 * np.where(swap, sink, source)
    arguments = {"dim": keys, "norm": Norm.ONE, "size": 1.0, "error": float(error), "probabilities": True}
    return program.start(arguments, exact, near)


def any_weights(program: Program) -> Realised:
    found = [x for x in program.pool if x.value.probabilities and x.exact.shape[-1] == program.tokens]
    if found and program.chance(0.6):
        return found[program.whole(0, len(found) - 1)]
    return given_weights(program)


@move("attend", "attend")
def attend(program: Program) -> None:
    weights, values = any_weights(program), program.pick()
    value = program.apply("attend", weights, values, NAME)
    centre = values.centre if values.value.radius is not None else np.zeros_like(values.exact[:, 0])
    exact, near = weights.exact @ values.exact, weights.near @ values.near
    program.conclude(value, exact, near, norm=values.value.norm, centre=centre)


# --- iterations ------------------------------------------------------------------------------------------------------


def _layers(program: Program, x: Realised, factors: list[float], offsets: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Layer by layer: an operator of norm exactly the factor, then a perturbation of length exactly the offset."""
    exact, near, norm = x.exact, x.near, x.value.norm
    for factor, offset in zip(factors, offsets, strict=True):
        operator = maps.extreme_operator(program, (exact, near), norm, norm, exact.shape[-1], factor)
        exact, near = operator(exact), operator(near)
        near = near + offset * units(near - exact, norm)
    return exact, near


@move("recur", "recur")
def recur(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 5)
    factor = (0.0, 0.5, 1.0, 1.5, program.number(0.1, 1.4))[program.whole(0, 4)]
    offset = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    size = factor**depth * program.size(x)
    value = program.apply("recur", x, NAME, factor=factor, offset=offset, depth=depth, size=size)
    exact, near = _layers(program, x, [factor] * depth, [offset] * depth)
    program.conclude(value, exact, near, norm=x.value.norm)


# The coefficients of layer l are a + b/(1 + l) and c + d l.
@move("iterate, by layer", "iterate", weight=0.5)
def iterate_by_layer(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 4)
    a, b, c, d = (program.number(0.1, 0.9) if program.chance(0.8) else 0.0 for _ in range(4))
    layer = program.symbol("l", integer=True, nonnegative=True)
    recursion = program.apply("LinearRecursion", sp.Integer(0), a + b / (1 + layer), c + d * layer, layer)
    factors, offsets = [a + b / (1 + k) for k in range(depth)], [c + d * k for k in range(depth)]
    size = float(np.prod(factors)) * program.size(x)
    value = program.apply("iterate", x, NAME, recursion, depth, dim=x.exact.shape[-1], size=size)
    exact, near = _layers(program, x, factors, offsets)
    program.conclude(value, exact, near, norm=x.value.norm)


LAYER_MAPS = (
    maps.apply_function,
    maps.linear_map,
    maps.soft_threshold,
    maps.perturbed_map,
    maps.perturbed_map_known,
    maps.perturbed_function,
    maps.exclude,
    maps.project_box,
)


# One layer is derived on a premise with an error symbol; then it runs `depth` times on the vectors. Its maps keep the
# size, so that the sizes that it was derived with hold at every layer.
@move("iterate, derived layer", "iterate")
def iterate_derived(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 4)
    if program.size(x) == 0.0:
        return
    there = about(program, x, layer=True)
    error = program.symbol("err", nonnegative=True)
    dim, norm = x.exact.shape[-1], x.value.norm
    premise = program.apply("given", NAME, dim=dim, norm=norm, size=program.size(x), error=error)
    layer, made = premise, []
    for _ in range(program.whole(1, 3)):
        here = About(there.norm, there.dim, float(evaluate(layer.size, program.at)), there.error, layer=True)
        made.append(LAYER_MAPS[program.whole(0, len(LAYER_MAPS) - 1)](program, here))
        layer = program.apply(made[-1].rule, layer, NAME, **made[-1].arguments)
    skip = (0.25, 0.75) if program.chance(0.4) else None
    if skip:
        layer = program.apply("add", premise, layer, name=NAME, coefficients=skip)
    recursion = program.apply("recursion_from", premise, layer)
    value = program.apply("iterate", x, NAME, recursion, depth, dim=dim, size=program.size(x))
    exact, near = x.exact, x.near
    for _ in range(depth):
        before = exact, near
        for each in made:
            exact, near = each.run(exact, near)
        if skip:
            exact, near = (skip[0] * b + skip[1] * a for b, a in zip(before, (exact, near), strict=True))
    program.conclude(value, exact, near, norm=norm)


# Iterates towards a fixed point x: each step takes the error d to f(||d||) along d.
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
    offset = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    size = program.size(x)
    value = program.apply("contract", x, NAME, factor=factor, offset=offset, depth=depth, size=size)
    exact, near = _iterated(x, lambda e: factor * e + offset, depth)
    program.conclude(value, exact, near, norm=x.value.norm)


@move("contract, limit", "contract")
def contract_limit(program: Program) -> None:
    x, factor, offset = program.pick(), program.number(0.05, 0.6), program.number(0.01, 0.5)
    value = program.apply("contract", x, NAME, factor=factor, offset=offset, depth=sp.oo, size=program.size(x))
    exact, near = _iterated(x, lambda e: factor * e + offset, 90)
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


@move("converge", "converge", weight=0.3)
def converge(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 3)
    quadratic = _inside(program, x, 0.499)
    offset = float((1e-7 if program.chance(0.3) else program.rng.uniform(0, 0.24)) / quadratic)
    value = program.apply("converge", x, NAME, quadratic=quadratic, offset=offset, depth=depth, size=program.size(x))
    exact, near = _iterated(x, lambda e: quadratic * e**2 + offset, depth)
    program.conclude(value, exact, near, norm=x.value.norm, known_ratio=2.0 ** (2**depth - 1))


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


# --- invariants ------------------------------------------------------------------------------------------------------


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
