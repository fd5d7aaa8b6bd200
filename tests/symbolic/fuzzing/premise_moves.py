"""Moves with one premise or several: maps, sums, products, blocks.

The concrete side never reads the rule's conclusion: it is computed from vectors alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import Norm
from tests.symbolic.fuzzing import maps
from tests.symbolic.fuzzing.maps import About, Map
from tests.symbolic.fuzzing.move import Move, move
from tests.symbolic.fuzzing.program import NAME, Program
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import units

# --- one premise -----------------------------------------------------------------------------------------------------


def about(program: Program, x: Realised) -> About:
    size, error = program.size(x), program.bound(x)
    return About(x.value.norm, x.exact.shape[-1], size, error, spare=program.spare, single=x.single)


def mapped(program: Program, x: Realised, made: Map) -> Realised:
    value = program.apply(made.rule, x, *_positional(made), NAME, **_named(made))
    limit = made.limit(x.exact, x.near) if made.limit else None
    exact, near = made.run(x.exact, x.near)
    centre = made.centre(x.centre) if made.centre and x.centre is not None else None
    return program.conclude(value, exact, near, norm=made.norm, centre=centre, limit=limit, single=made.single)


def _positional(made: Map) -> list[Any]:
    return [made.arguments["target"]] if made.rule == "change_norm" else []


def _named(made: Map) -> dict[str, Any]:
    return {} if made.rule == "change_norm" else dict(made.arguments)


def _one_premise(name: str, make: Callable[[Program, About], Map], norm: Norm | None = None, **more: str) -> Move:
    def run(program: Program) -> None:
        x = program.given(norm) if make is maps.perturbed_map_pooled else program.pick(norm)  # per unit: a given is
        mapped(program, x, make(program, about(program, x)))

    return Move(name, name.split(",")[0], run, **more)


@move("given", "given")
def given(program: Program) -> None:
    program.given()


@move("linear_map, tokens to coordinates", "linear_map")
def tokens_to_coordinates(program: Program) -> None:
    x = program.pick(single=False)
    mapped(program, x, maps.tokens_to_coordinates(program, about(program, x)))


def turned(program: Program, target: Norm) -> Realised:
    """A value that a matrix made of a given, whose 2-norm is known: as a map is followed by what it does to a ball."""
    named, program.move = program.move, "linear_map"
    x = program.given(Norm.TWO, program.whole(2, 3))
    y = mapped(program, x, maps.turn(program, about(program, x), target))
    program.move = named
    return y


@move("apply_function, after a linear map", "apply_function")
def function_of_a_map(program: Program) -> None:
    y = turned(program, Norm.TWO)
    mapped(program, y, maps.straight(program, about(program, y)))


# Along a corner of the cube, so that all coordinates do the same: they change their signs, and an approximate t < 0
# jumps, or they go outwards. With a part of which more is known than its norm, the error has a centre.
@move("soft_threshold, along a corner", "soft_threshold", size_loose="the threshold is above 0")
def soft_threshold_along(program: Program) -> None:
    norm, dim, error = (Norm.ONE, Norm.TWO)[program.whole(0, 1)], 2, program.number(0.1)
    unit = units(program.signs(program.points, 1, dim) * np.ones((program.tokens, 1)), norm)
    across = program.chance(0.6)
    size = error * program.rng.uniform(0.1, 0.45) if across else program.number(2.0)
    x = _along(program, norm, unit, size, -error if across else error)
    if program.chance(0.5):
        far = error + program.number(0.1)
        x = mapped_sum(program, x, _along(program, norm, unit, far, -far if across else far))
    mapped(program, x, maps.soft_threshold_along(program, about(program, x), across))


def _along(program: Program, norm: Norm, unit: np.ndarray, size: float, error: float) -> Realised:
    arguments = {"dim": unit.shape[-1], "norm": norm, "size": size, "error": abs(error)}
    return program.start(arguments, size * unit, (size + error) * unit, single=program.without_tokens())


# The exact argument is on the sphere of its least length or outside; the approximate one is turned, which keeps the
# length, or anywhere within the error, as far as straight towards 0.
@move("rms_normalise, away from 0", "rms_normalise", weight=0.5)
def rms_normalise_away_from_zero(program: Program) -> None:
    dim, least, shape = program.whole(2, 4), program.number(), (program.points, program.tokens, 1)
    error = least * (1e-3 if program.chance(0.5) else program.rng.uniform(0.05, 0.9))
    size = least * (1.0 if program.chance(0.5) else program.number(1.0, 3.0))
    length = np.where(program.rng.random(shape) < 0.5, least, program.rng.uniform(least, size, shape))
    unit = program.anywhere(dim, Norm.TWO)
    off = program.anywhere(dim, Norm.TWO)
    across = units(off - (off * unit).sum(-1, keepdims=True) * unit, Norm.TWO)
    half = error / length / 2  # the sine of half the angle
    turned = length * ((1 - 2 * half**2) * unit + 2 * half * np.sqrt(1 - half**2) * across)
    towards = length * unit - error * np.where(program.rng.random(shape) < 0.5, unit, off)
    near = np.where(program.rng.random(shape) < 0.5, turned, towards)
    arguments = {"dim": dim, "norm": Norm.TWO, "size": size, "error": error}
    x = program.start(arguments, length * unit, near, single=program.without_tokens())
    shift = 0.0 if program.chance(0.6) else program.number(0.01, 1.0)
    known = {"least": (least - error) * (1 - 1e-6), "exact_least": least}
    mapped(program, x, maps.normalised(shift, **known))


# Of vectors that add up to 0, to the opposite; the others anywhere, and moved anywhere.
@move("rms_normalise, centred", "rms_normalise", weight=0.5)
def rms_normalise_centred(program: Program) -> None:
    dim, size, shape = program.whole(2, 4), program.number(), (program.points, program.tokens, 1)
    unit = program.anywhere(dim, Norm.TWO)
    flat = units(unit - unit.mean(-1, keepdims=True), Norm.TWO)
    level = program.rng.random(shape) < 0.5
    exact = size * np.where(level, flat, unit)
    near = np.where(level, -exact, exact + 2 * size * program.anywhere(dim, Norm.TWO))
    arguments = {"dim": dim, "norm": Norm.TWO, "size": size, "error": 2 * size}
    x = program.start(arguments, exact, near, single=program.without_tokens())
    shift = size**2 / dim * (1e3 if program.chance(0.5) else 1e-3)
    mapped(program, x, maps.centred(shift))


@move("rotate", "rotate")
def rotate(program: Program) -> None:
    x = program.pick(dim=2 * program.whole(1, 2))
    mapped(program, x, maps.rotate(program, about(program, x)))


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


@move("line_at_zero", "line_at_zero")
def line_at_zero(program: Program) -> None:
    """v + s z + c z |z| / 2, or v + s z + c z^3 / 6, in place of v + s z."""
    x, order = program.pick(Norm.INF), program.whole(2, 3)
    named = {"value": program.number(), "slope": program.number(0.2, 2.0), "supremum": program.number(0.1, 1.0)}
    value = program.apply("line_at_zero", x, NAME, order=order, **named)
    near_line, exact = (named["value"] + named["slope"] * each for each in (x.near, x.exact))
    bent = named["supremum"] * np.sign(x.near) * np.abs(x.near) ** order / (2 if order == 2 else 6)
    program.conclude(value, exact, near_line + bent, norm=Norm.INF)


# --- several premises ------------------------------------------------------------------------------------------------


@move("add", "add")
def add(program: Program) -> None:
    first = program.pick()
    others = [program.pick(first.value.norm, first.exact.shape[-1]) for _ in range(program.whole(0, 2))]
    terms = (first, *others)
    coefficients = tuple(float(c) for c in program.rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], len(terms)))
    mapped_sum(program, *terms, coefficients=() if program.chance(0.3) else coefficients)


def mapped_sum(program: Program, *terms: Realised, coefficients: tuple[float, ...] = ()) -> Realised:
    """Without coefficients, the sum itself."""
    value = program.apply("add", *terms, name=NAME, **({"coefficients": coefficients} if coefficients else {}))
    factors = coefficients or (1.0,) * len(terms)
    exact = sum(c * x.exact for c, x in zip(factors, terms, strict=True))
    near = sum(c * x.near for c, x in zip(factors, terms, strict=True))
    return program.conclude(value, exact, near, norm=terms[0].value.norm)


@move("concatenate", "concatenate")
def concatenate(program: Program) -> None:
    first = program.pick()
    parts = (first, *(program.pick(first.value.norm, single=first.single) for _ in range(program.whole(0, 1))))
    value = program.apply("concatenate", *parts, name=NAME)
    exact, near = (np.concatenate(each, -1) for each in ([x.exact for x in parts], [x.near for x in parts]))
    program.conclude(value, exact, near, norm=first.value.norm, keep=exact.shape[-1] <= 6)


def centred(program: Program, x: Realised) -> Realised:
    """A radius that is not known is the size, around 0."""
    value = program.apply("centre", x, NAME, count=1 if x.single else program.tokens)
    mean, near_mean = (v.mean(1, keepdims=True) for v in (x.exact, x.near))
    middle = (0 if x.centre is None else x.centre) - mean[:, 0]
    return program.conclude(value, x.exact - mean, x.near - near_mean, norm=x.value.norm, centre=middle)


@move("centre", "centre", error_loose="errors of tokens need not be opposite", size_loose="nor need tokens be")
def centre(program: Program) -> None:
    centred(program, program.pick())


# The first token at one end of the ball, all others at the other end; so are the errors.
@move("centre, opposite tokens", "centre")
def centre_opposite(program: Program) -> None:
    norm, dim, size, error = program.any_norm(), program.whole(1, 3), program.number(), program.number(0.01, 1.5)
    radius = size * program.rng.uniform()
    along = program.signs(program.points, 1) * program.compass(dim, norm)
    ends = np.where(np.arange(program.tokens) == 0, 1.0, -1.0)[:, None] * along[:, None, :]
    middle = (size - radius) * along
    exact = middle[:, None, :] + radius * ends
    near = exact + error * program.signs(program.points, 1)[..., None] * ends
    given = {"dim": dim, "norm": norm, "size": size, "error": error, "radius": radius}
    centred(program, program.start(given, exact, near, middle))


def appended(program: Program, first: Realised, second: Realised) -> None:
    value = program.apply("append", first, second, NAME)
    sides = [[v[:, :1] if one.single else v for v in (one.exact, one.near)] for one in (first, second)]
    exact, near = (np.concatenate(each, 1) for each in zip(*sides, strict=True))
    middle = first.centre if first.exact.any() else second.centre
    program.conclude(value, exact, near, norm=first.value.norm, centre=middle, single=False, keep=False)


@move("append, zeros and centred tokens", "append", size_loose="centred tokens need not be opposite")
def append_zeros(program: Program) -> None:
    x = program.pick()
    zeros = program.given(x.value.norm, x.exact.shape[-1], size=0.0, radius=None)
    several = [centred(program, x), zeros]
    appended(program, *(several if program.chance(0.5) else reversed(several)))


@move("append", "append")
def append(program: Program) -> None:
    if program.chance(0.1):  # a radius is known
        append_zeros.run(program)
        return
    first = program.pick()
    appended(program, first, program.pick(first.value.norm, first.exact.shape[-1]))


@move("token", "token", size_loose="another token may be larger")
def token(program: Program) -> None:
    x, place = program.pick(single=False), program.whole(0, program.tokens - 1)
    place -= program.tokens if program.chance(0.5) else 0
    value = program.apply("token", x, NAME, place=place, count=program.tokens)
    exact, near = (np.repeat(v[:, place][:, None], program.tokens, 1) for v in (x.exact, x.near))
    program.conclude(value, exact, near, norm=x.value.norm, centre=x.centre, single=True)


@move("token, several", "token", size_loose="another token may be larger", error_loose="the same")
def several_tokens(program: Program) -> None:
    x, first = program.pick(single=False), program.whole(0, program.tokens - 1)
    stop = None if program.chance(0.5) else program.whole(first + 1, program.tokens)
    value = program.apply("token", x, NAME, place=(first, stop), count=program.tokens)
    exact, near = (v[:, first:stop] for v in (x.exact, x.near))
    program.conclude(value, exact, near, norm=x.value.norm, centre=x.centre, single=False, keep=False)


# Values without tokens, as many as a value of this program has.
@move("as_tokens", "as_tokens")
def as_tokens(program: Program) -> None:
    first = program.pick(single=True)
    norm, dim = first.value.norm, first.exact.shape[-1]
    parts = (first, *(program.pick(norm, dim, single=True) for _ in range(program.tokens - 1)))
    value = program.apply("as_tokens", *parts, name=NAME)
    exact, near = (np.stack(each, 1) for each in ([x.exact[:, 0] for x in parts], [x.near[:, 0] for x in parts]))
    program.conclude(value, exact, near, norm=norm, single=False)


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
    value = program.apply("bilinear", x, y, NAME, product="entrywise")
    program.conclude(value, x.exact * y.exact, x.near * y.near, norm=x.value.norm)


@move("bilinear, entry-wise, after a linear map", "bilinear", size_loose="coordinates of the other factor differ")
def entry_wise_of_a_map(program: Program) -> None:
    """All coordinates of the exact factor have one absolute value."""
    y, size = turned(program, Norm.INF), program.number()
    dim = y.exact.shape[-1]
    signs = size * program.signs(program.points, program.tokens, dim)
    x = program.start(
        {"dim": dim, "norm": Norm.TWO, "size": size * dim**0.5 * (1 + 1e-15), "error": 0.0},
        signs,
        signs,
        single=y.single,
    )
    value = program.apply("bilinear", x, y, NAME, product="entrywise")
    program.conclude(value, x.exact * y.exact, x.near * y.near, norm=Norm.TWO)


@move("bilinear, inner product", "bilinear")
def inner_product(program: Program) -> None:
    norms = (Norm.TWO, Norm.TWO) if program.chance(0.5) else (Norm.ONE, Norm.INF)
    x = program.pick(norms[0])
    y = program.pick(norms[1], x.exact.shape[-1])
    value = program.apply("bilinear", x, y, NAME, dim=1, product="inner")
    exact, near = ((a * b).sum(-1, keepdims=True) for a, b in ((x.exact, y.exact), (x.near, y.near)))
    program.conclude(value, exact, near, norm=norms[0])


@move("bilinear, all pairs", "bilinear", size_loose="no pair of tokens need be aligned")
def all_pairs(program: Program) -> None:
    norms = (Norm.TWO, Norm.TWO) if program.chance(0.5) else (Norm.ONE, Norm.INF)
    x = program.pick(norms[0])
    y = program.pick(norms[1], x.exact.shape[-1], single=False)
    kind = "inner products of all pairs"
    value = program.apply("bilinear", x, y, NAME, norm=Norm.INF, dim=program.tokens, product=kind)
    exact, near = (np.einsum("ptk,psk->pts", a, b) for a, b in ((x.exact, y.exact), (x.near, y.near)))
    program.conclude(value, exact, near, norm=Norm.INF, single=x.single)


# f(x, y) = a phi(x) + b psi(y) moves by a and b times the errors where these go along phi and psi. Beyond the box, in
# which the exact arguments lie, the approximate ones are clipped.
@move("apply_to_pairs", "apply_to_pairs", size_loose="no pair of tokens need be aligned")
def pairs_of_tokens(program: Program) -> None:
    x, y = program.pick(), program.pick(single=False)
    slopes = program.number(0.2, 1.5), program.number(0.2, 1.5)
    eps = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    within = {"radius": max(program.size(x), program.size(y), 1e-3)} if program.chance(0.5) else {}
    size = slopes[0] * program.size(x) + slopes[1] * program.size(y)
    named = {"slopes": slopes, "size": size, "eps": eps, **within}
    value = program.apply("apply_to_pairs", x, y, NAME, count=program.tokens, **named)
    phi, psi = (program.functional(z.exact, z.near, z.value.norm) for z in (x, y))
    most = within.get("radius", np.inf)

    def pairs(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        of_u, of_v = (np.einsum("ptd,pd->pt", each.clip(-most, most), f) for each, f in ((u, phi), (v, psi)))
        return slopes[0] * of_u[:, :, None] + slopes[1] * of_v[:, None, :]

    exact, near = pairs(x.exact, y.exact), pairs(x.near, y.near)
    off = eps * np.where(near >= exact, 1.0, -1.0)
    program.conclude(value, exact, near + off, norm=Norm.INF, single=x.single)


# Weights of any sign, whose sum need not be 1.
@move("bilinear, weighted sums", "bilinear")
def weighted_sums(program: Program) -> None:
    x = program.pick(Norm.ONE, program.tokens)
    y = program.pick(single=False)
    norm, dim, kind = y.value.norm, y.exact.shape[-1], "weighted sums of tokens"
    value = program.apply("bilinear", x, y, NAME, norm=norm, dim=dim, product=kind)
    exact, near = (np.einsum("pts,psk->ptk", a, b) for a, b in ((x.exact, y.exact), (x.near, y.near)))
    program.conclude(value, exact, near, norm=norm, single=x.single)


# The sum of all |y_i x_k|^p is the product of the two sums.
@move("bilinear, mean of outer products", "bilinear")
def mean_of_outer_products(program: Program) -> None:
    x = program.pick()
    y = program.pick(x.value.norm, single=x.single)
    dim = x.exact.shape[-1] * y.exact.shape[-1]
    value = program.apply("bilinear", x, y, NAME, dim=dim, product="mean of outer products")

    def product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        outer = np.einsum("pti,ptk->pik", v, u).reshape(len(u), 1, dim) / program.tokens
        return np.repeat(outer, program.tokens, 1)

    exact, near = product(x.exact, y.exact), product(x.near, y.near)
    program.conclude(value, exact, near, norm=x.value.norm, single=True, keep=dim <= 6)


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


# x_hat is x shrunk, as above: neither leaves [-X, X], beyond which the function has three times the slope.
@move("apply_function, known size", "apply_function", weight=0.5)
def function_of_a_known_size(program: Program) -> None:
    norm, dim, size = program.any_norm(), program.whole(1, 3), program.number(0.5)
    error = size * program.rng.uniform()
    exact, _ = program.spread_tokens(norm, dim, size, None)
    near = exact * (1 - error / size)
    x = program.start({"dim": dim, "norm": norm, "size": size, "error": error}, exact, near)
    known = {"eps": 0, "lipschitz": 1, "size": size, "radius": size, "approximate_size": size - error}
    value = program.apply("apply_function", x, NAME, **known)
    reached, approximate = (np.maximum(abs(each), 3 * abs(each) - 2 * size) for each in (exact, near))
    program.conclude(value, reached, approximate, norm=norm)


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
    value = program.apply("stack", first, family, index, last, count=count, name=NAME)
    program.conclude(value, exact, near, norm=Norm.TWO, keep=exact.shape[-1] <= 6)


# A count decides which of the two it is.
@move("either", "either")
def either(program: Program) -> None:
    first = program.pick()
    second = program.pick(first.value.norm)
    count = program.symbol(f"n{len(program.lines)}", integer=True, positive=True)
    program.at[count] = program.whole(1, 3)
    value = program.apply("either", first, sp.Eq(count, 1), second, name=NAME)
    chosen = first if program.at[count] == 1 else second
    norm, single = first.value.norm, chosen.single
    program.conclude(value, chosen.exact, chosen.near, norm=norm, single=single, keep=False)


ONE_PREMISE = (
    _one_premise("apply_function", maps.apply_function),
    _one_premise(
        "apply_function, Taylor", maps.taylor_range, error_loose="the sine is not linear", size_loose="the same"
    ),
    _one_premise("taylor", maps.taylor),
    _one_premise("linear_map", maps.linear_map),
    _one_premise("apply_function, within", maps.apply_within),
    _one_premise("mean", maps.mean),
    _one_premise("mean, convex", maps.convex),
    _one_premise("change_norm", maps.change_norm),
    _one_premise("project, ball", maps.project_ball, Norm.TWO),
    _one_premise("project, box", maps.project_box),
    _one_premise("soft_threshold", maps.soft_threshold),
    _one_premise("rms_normalise", maps.rms_normalise, Norm.TWO),
    _one_premise("perturbed_map", maps.perturbed_map),
    _one_premise("perturbed_map, known", maps.perturbed_map_known),
    _one_premise(
        "perturbed_map, pooled", maps.perturbed_map_pooled, size_loose="||A|| is attained where A is not moved"
    ),
    _one_premise("perturbed_function", maps.perturbed_function),
    _one_premise("exclude", maps.exclude),
    _one_premise("correct", maps.correct),
)
MOVES = (
    *ONE_PREMISE,
    given,
    tokens_to_coordinates,
    function_of_a_map,
    soft_threshold_along,
    rms_normalise_away_from_zero,
    rms_normalise_centred,
    rotate,
    line_at_zero,
    rounding,
    add,
    as_tokens,
    concatenate,
    pooled_sum,
    pool,
    bilinear,
    entry_wise,
    entry_wise_of_a_map,
    inner_product,
    all_pairs,
    pairs_of_tokens,
    weighted_sums,
    mean_of_outer_products,
    known_size,
    function_of_a_known_size,
    stack,
    either,
    centre,
    centre_opposite,
    append,
    append_zeros,
    token,
    several_tokens,
)
