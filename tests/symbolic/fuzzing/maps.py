"""Rules with one premise, each with a concrete map at the limit of what the rule supposes of it.

A map is chosen anew each time it runs, greedily: the operator, the direction of a perturbation and the like are those
that move the vectors at hand the farthest. That is what an adversary may do who knows the vectors, and it is how a
layer is run again and again in a recursion.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.functions import FORMS, Form, Function
from tests.symbolic.fuzzing.program import Pair as Operands
from tests.symbolic.fuzzing.program import Program
from tests.symbolic.fuzzing.vectors import lengths, onto_ball, shrink, units

Pair = tuple[np.ndarray, np.ndarray]  # exact, near


@dataclass(frozen=True)
class About:
    """What a map has to fit: the norm, dimension, size and (closed) error of its argument.

    `layer`: it is part of a layer that is run again and again, so that norm and dimension stay; a layer that `fits`
    keeps the size, and knows its functions everywhere. `single`: the argument has no tokens.
    """

    norm: Norm
    dim: int
    size: float
    error: float
    layer: bool = False
    fits: bool = True
    spare: float = 0.0
    single: bool = False

    @property
    def most(self) -> float:
        """The largest norm or slope of a map."""
        return 2.5 if not self.layer else 1.0 - 4 * self.spare if self.fits else 1.2

    def tokens(self, vectors: np.ndarray) -> np.ndarray:
        """(P, T, ...), or (P, ...) where there are no tokens."""
        return vectors[:, 0] if self.single else vectors


@dataclass(frozen=True)
class Map:
    """The call of a rule and what it does to the vectors; `norm` is the norm it should conclude in."""

    rule: str
    arguments: Mapping[str, Any]
    run: Callable[[np.ndarray, np.ndarray], Pair]
    norm: Norm
    centre: Callable[[np.ndarray], np.ndarray] | None = None
    limit: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    single: bool | None = None  # whether the conclusion has no tokens; None: as the premise


@dataclass
class Operator:
    """v -> norm phi(v) y at each point: the operator norm is exactly `norm` where phi and y are of (dual) norm 1."""

    functional: np.ndarray  # (P, D)
    direction: np.ndarray  # (P, D_out)
    norm: Any = 1.0

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        values = np.einsum("ptd,pd->pt", vectors, self.functional) * np.asarray(self.norm).reshape(-1, 1)
        return values[..., None] * self.direction[:, None, :]


def extreme_operator(program: Program, pair: Pair, norm: Norm, target: Norm, dim: int, size: Any) -> Operator:
    return Operator(program.functional(*pair, norm), program.compass(dim, target), size)


def operator_norm(matrix: np.ndarray, source: Norm, target: Norm) -> float:
    """Exactly: the unit balls of the 1-norm and the sup norm have finitely many corners."""
    rows, columns = matrix.shape
    if source is Norm.ONE:
        return float(lengths(matrix.T, target).max())
    if source is Norm.INF:
        return float(max(lengths(matrix @ corner, target) for corner in _corners(columns)))
    if target is Norm.TWO:
        return float(np.linalg.norm(matrix, 2))
    if target is Norm.INF:
        return float(lengths(matrix, Norm.TWO).max())
    return float(max(lengths(matrix.T @ corner, Norm.TWO) for corner in _corners(rows)))


def _corners(dim: int) -> list[np.ndarray]:
    return [np.array(corner) for corner in itertools.product((-1.0, 1.0), repeat=dim)]


def along(moved: np.ndarray, norm: Norm) -> np.ndarray:
    """Unit vectors along the errors: what a perturbation adds to an error to make it longest."""
    return units(moved, norm)


# --- the rules ---------------------------------------------------------------------------------------------------


# f_hat may be off by eps in either direction at each argument: the signs stand beside it.
def apply_function(program: Program, about: About) -> Map:
    form = FORMS[_WHEREVER[program.whole(0, len(_WHEREVER) - 1)]]
    return _applied(program, about, _function(program, about, form, np.inf))


# Where the argument lies in [-R, R] f may be steeper than that; it is wild outside the range that it is known on.
def apply_within(program: Program, about: About) -> Map:
    reach = (about.size + about.error) * (1.0 if about.fits else program.number(0.9, 2.5))
    names = tuple(FORMS) if reach > 0 and not about.layer else _WHEREVER
    made = _function(program, about, FORMS[names[program.whole(0, len(names) - 1)]], max(reach, 1e-3))
    return _applied(program, about, made)


_WHEREVER = ("line", "kink", "ramp", "tanh")


def _function(program: Program, about: About, form: Form, reach: float) -> Function:
    eps = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    derivatives = program.whole(0, len(form.derivatives))
    known = tuple(order for order in (2, 3) if program.chance(0.6)) if derivatives else ()
    return Function(
        form,
        program.number(0.2, about.most),
        eps,
        tilt=program.number(0.05, 1.0) if eps and program.chance(0.3) else 0.0,
        reach=reach * (1 + 1e-12),
        derivatives=derivatives,
        supremum=known,
        sup=program.chance(0.5),
        local=program.chance(0.7),
        difference=program.chance(0.5),
    )


def _applied(program: Program, about: About, function: Function, **arguments: float) -> Map:
    signs = program.handle(kind="s") if function.eps else ""
    slope, secant = (each(function.reach) for each in (function.form.slope, function.form.secant))
    arguments = {
        "eps": function.eps,
        "lipschitz": function.scale * slope,
        "size": function.scale * secant * about.size,
        **({"radius": function.reach} if np.isfinite(function.reach) else {}),
        **arguments,
    }

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        values = function.exact(np, exact)
        towards = np.where((function.exact(np, near) < values) == (function.deviation(near, 1.0) < 0), 1.0, -1.0)
        moved = function.emulated(np, near, towards)
        if signs:
            program.operands[signs].append(about.tokens(towards))
        if np.isfinite(function.reach):
            moved = np.where(np.abs(near) <= function.reach * (1 + 1e-9), moved, 1e9)
        return values, moved

    named = {"function": program.handle(function, "f"), "beside": (signs,) if signs else ()}
    return Map("apply_function", {**arguments, **named}, run, about.norm)


# f(z) = a z, a z + b z|z|/2 or a z + c z^3/6: odd and increasing, |f'| and |f''| grow with |z|. At |z| = size, moved
# outwards, the expansion of its order is exact.
def taylor(program: Program, about: About) -> Map:
    order, size = program.whole(1, 3), about.size
    a, b, c = (program.number(0.2, 1.0) if place in (1, order) else 0.0 for place in (1, 2, 3))
    reach = max(size + about.error, 1e-3) * (1 + 1e-12)
    above = {1: a + b * reach + c * reach**2 / 2, 2: b + c * reach, 3: c}
    form = Form(
        lambda xp, z: a * z + b * z * abs(z) / 2 + c * z * z * z / 6,
        (lambda xp, z: a + b * abs(z) + c * z * z / 2, *([lambda xp, z: c * z] if order == 3 else [])),
        lambda reach: above,
        lambda reach: above[1],
    )
    eps = 0.0 if program.chance(0.4) else program.number(0.01, 0.5)
    derivatives = program.whole(0, len(form.derivatives))
    function = Function(form, 1.0, eps, reach=reach, derivatives=derivatives, supremum=(2, 3)[: order - 1])
    made = _applied(program, about, function)
    named = {key: each for key, each in made.arguments.items() if key != "lipschitz"}
    named["suprema"] = {k: bound for k, bound in above.items() if k == order or (program.chance(0.5) and k < order)}
    named["derivatives"] = {1: a + b * size + c * size**2 / 2, 2: b + c * size}
    named["size"] = (a + b * size / 2 + c * size**2 / 6) * size
    return replace(made, rule="taylor", arguments=named)


# sin against its argument: eps depends on the range (Taylor's remainder).
def taylor_range(program: Program, about: About) -> Map:
    reach = max(about.size + about.error, 1e-3) * (1 + 1e-12)
    function = Function(FORMS["sine"], reach=reach, identity=True, derivatives=program.whole(0, 2), supremum=(2, 3))
    return _applied(program, about, function, eps=reach**3 / 6)


def linear_map(program: Program, about: About) -> Map:
    size = program.number(0.2, about.most)
    target = about.norm if about.layer or program.chance(0.4) else program.any_norm()
    dim = about.dim if about.layer else program.whole(1, 4)
    offset = 0.0 if about.layer or program.chance(0.5) else program.number(0.1, 2.0)
    kind = _kind_of_matrix(program, about, target, dim)
    dense = program.rng.normal(size=(dim, about.dim))
    dense *= size / operator_norm(dense, about.norm, target)
    signed = signed_permutation(program, about.dim, size)
    transposed, matrix_handle = program.chance(0.3) and kind != "number", program.handle(kind="A")
    bias_handle = program.handle(kind="b") if offset else ""
    images: dict[str, Callable[[np.ndarray], np.ndarray]] = {}

    def matrices(exact: np.ndarray, near: np.ndarray) -> np.ndarray:
        if kind == "extreme":
            operator = extreme_operator(program, (exact, near), about.norm, target, dim, size)
            return size * operator.direction[:, :, None] * operator.functional[:, None, :]
        fixed = {"number": size * np.eye(dim, about.dim), "signed": signed, "dense": dense}[kind]
        return np.broadcast_to(fixed, (len(exact), dim, about.dim))

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        matrix = matrices(exact, near)
        linear = lambda v: np.einsum("ptd,ped->pte", v, matrix)  # noqa: E731 - for this run
        first = linear(exact)
        bias = offset * units(first[:, :1], target)
        images["centre"] = lambda c: (linear(c[:, None]) + bias)[:, 0]
        operand = np.full(len(exact), size) if kind == "number" else matrix.swapaxes(-1, -2) if transposed else matrix
        program.operands[matrix_handle].append(operand)
        if bias_handle:
            program.operands[bias_handle].append(bias[:, 0])
        return first + bias, linear(near) + bias

    arguments = {"operator_norm": size, "dim": dim, "matrix": matrix_handle}
    arguments |= {"transposed": True} if transposed else {}
    arguments |= {"target": target} if target is not about.norm else {}
    arguments |= {"bias": offset, "bias_vector": bias_handle} if offset else {}
    return Map("linear_map", arguments, run, target, centre=lambda c: images["centre"](c))


def signed_permutation(program: Program, dim: int, size: float) -> np.ndarray:
    """A multiple of a permutation with signs: it multiplies all norms by its size."""
    return size * program.signs(dim)[:, None] * np.eye(dim)[program.rng.permutation(dim)]


def _kind_of_matrix(program: Program, about: About, target: Norm, dim: int) -> str:
    if program.chance(0.3):
        return "dense"
    if dim == about.dim and target is about.norm and program.chance(0.4):
        return "number" if program.chance(0.3) else "signed"
    return "extreme"


def mean(program: Program, about: About) -> Map:
    """All tokens with the same weight."""

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return exact.mean(1, keepdims=True) + 0 * exact, near.mean(1, keepdims=True) + 0 * near

    return Map("mean", {}, run, about.norm, centre=lambda c: c, single=True)


def convex(program: Program, about: About) -> Map:
    """Convex combinations of the tokens with exact weights: one of them, or any."""
    share = program.rng.dirichlet(np.ones(program.tokens), program.tokens)
    share = np.eye(program.tokens) if program.chance(0.5) else share

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return share @ exact, share @ near

    return Map("mean", {}, run, about.norm, centre=lambda c: c)


def change_norm(program: Program, about: About) -> Map:
    target = program.any_norm()
    return Map("change_norm", {"target": target}, lambda exact, near: (exact, near), target)


def project_ball(program: Program, about: About) -> Map:
    radius = about.size if about.layer or program.chance(0.5) else (about.size + about.error) * program.number(0.3, 2.0)
    radius = max(radius, 1e-3)

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return onto_ball(exact, radius), onto_ball(near, radius)

    return Map("project", {"size": radius}, run, about.norm)


def project_box(program: Program, about: About) -> Map:
    reach = about.size + about.error
    if about.layer or program.chance(0.5):
        low, high = -about.size, about.size
    else:
        low, high = sorted(float(end) for end in program.rng.uniform(-1.5 * reach, 1.5 * reach, 2))
    size = max(abs(low), abs(high)) * float(lengths(np.ones(about.dim), about.norm))
    if about.layer:  # the exact value lies in the box already, and keeps its size
        size = about.size

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        return np.clip(exact, low, high), np.clip(near, low, high)

    ends = {name: program.handle(np.full(program.points, end), "c") for name, end in (("low", low), ("high", high))}
    return Map("project", {"box": True, "size": size, **ends}, run, about.norm)


def soft_threshold(program: Program, about: About) -> Map:
    off = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    threshold = off + (0.0 if program.chance(0.5) else 0.3 * program.rng.uniform() * about.size / about.dim)
    exactly = program.chance(0.4)  # the threshold 0 keeps the size
    handle = program.handle(kind="t")

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        outwards = np.where((np.abs(near) >= np.abs(exact)) & (not exactly), -off, off)
        outwards = outwards[..., :1]  # one threshold for all coordinates
        held = np.full_like(outwards, 0.0 if exactly else threshold)
        program.operands[handle].append(Operands(about.tokens(held), about.tokens(held + outwards)))
        return shrink(exact, held), shrink(near, held + outwards)

    return Map("soft_threshold", {"threshold_error": off, "threshold": handle}, run, about.norm)


# Numbers along one functional and one direction: A x = (A_hat - p) x where A_hat is at its limit, or A is at its own.
def perturbed_map(program: Program, about: About, known: bool = False) -> Map:
    size, off = program.number(0.3, about.most), program.number(0.01, 0.6)
    target = about.norm if about.layer or program.chance(0.5) else program.any_norm()
    dim = about.dim if about.layer else program.whole(1, 4)
    near_size = abs(size - off) + 2 * min(size, off) * program.rng.uniform() if known else size + off
    arguments = {"operator_norm": size, "perturbation": off, "dim": dim}
    arguments |= {"target": target} if target is not about.norm else {}
    arguments |= {"perturbed_norm": near_size} if known else {}

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        operator = extreme_operator(program, (exact, near), about.norm, target, dim, 1.0)
        first, second = operator(exact), operator(near)
        at_limit = (np.arange(len(exact)) % 2 == 0)[:, None, None]
        plain = np.where(at_limit, near_size - off, size)  # in [-size, size], and A_hat within off of it
        moved = np.where(at_limit, near_size, np.minimum(size + off, near_size))
        return plain * first, moved * second

    return Map("perturbed_map", arguments, run, target)


def perturbed_map_known(program: Program, about: About) -> Map:
    return perturbed_map(program, about, known=True)


# x is moved by a share u of its error and A by a share t, t^2 + u^2 = 1, in the proportion that Cauchy-Schwarz asks.
def perturbed_map_pooled(program: Program, about: About) -> Map:
    off = program.number(0.05, 1.0)
    near_size = program.number(0.2, 2.0)
    size = max(near_size, abs(near_size - off))
    dim = program.whole(1, 4)
    arguments = {"operator_norm": size, "perturbation": off, "dim": dim, "perturbed_norm": near_size, "pooled": True}

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        operator = extreme_operator(program, (exact, near), about.norm, about.norm, dim, 1.0)
        through = near_size * lengths(near - exact, about.norm).max(-1)
        direct = np.full_like(through, off * about.size)
        whole = np.hypot(through, direct)
        u, t = (each / np.where(whole > 0, whole, 1.0) for each in (through, direct))
        u, t = u[:, None, None], t[:, None, None]
        return (near_size - off * t) * operator(exact), near_size * operator(exact + u * (near - exact))

    return Map("perturbed_map", arguments, run, about.norm)


def perturbed_function(program: Program, about: About) -> Map:
    slope = program.number(0.2, about.most)
    eps = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    target = about.norm if about.layer or program.chance(0.5) else program.any_norm()
    dim = about.dim if about.layer else program.whole(1, 4)
    kind = program.whole(0, 1)

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        direction = program.compass(dim, target)[:, None, :]
        linear = extreme_operator(program, (exact, near), about.norm, target, dim, slope)
        bent = lambda v: slope * lengths(v, about.norm)[..., None] * direction  # noqa: E731 - one of two functions
        f = (linear, bent)[kind]
        values, moved = f(exact), f(near)
        return values, moved + eps * along(moved - values, target)

    arguments = {"lipschitz": slope, "eps": eps, "size": slope * about.size, "dim": dim}
    arguments |= {"target": target} if target is not about.norm else {}
    return Map("perturbed_function", arguments, run, target)


# The foreign value lies in the direction in which the average is off already.
def exclude(program: Program, about: About) -> Map:
    count, lead, diameter = program.whole(1, 5), program.number(0.0, 3.0), program.number(0.1, 2.0)
    leak = 1 / (1 + count * np.exp(lead)) * (1.0 if program.chance(0.8) else program.rng.uniform())

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        foreign = near + diameter * along(near - exact, about.norm)
        return exact, (1 - leak) * near + leak * foreign

    return Map("exclude", {"count": count, "lead": lead, "diameter": diameter}, run, about.norm)


# C is equal to x on the closed ball around x, and goes astray outside.
def correct(program: Program, about: About) -> Map:
    sigma = about.error * (1.0 + 1e-12) + (0.0 if program.chance(0.6) else program.number(0.1, 1.0)) + 1e-9

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        inside = lengths(near - exact, about.norm)[..., None] <= sigma
        return exact, np.where(inside, exact, 1e9)

    def limit(exact: np.ndarray, near: np.ndarray) -> np.ndarray:
        return lengths(near - exact, about.norm).max(-1) / sigma

    return Map("correct", {"sigma": sigma}, run, about.norm, centre=lambda c: c, limit=limit)


# Each step takes the error d to A d + offset along A d.
def contracted(moved: np.ndarray, matrix: np.ndarray, offset: float, steps: int, norm: Norm) -> np.ndarray:
    for _ in range(steps):
        moved = moved @ matrix.T
        moved = moved + offset * units(moved, norm)
    return moved


def contract(program: Program, about: About) -> Map:
    """Steps towards the argument, which is their fixed point."""
    factor, steps = program.number(0.05, 0.9), program.whole(1, 3)
    offset = 0.0 if program.chance(0.5) else program.number(0.01, 0.5)
    matrix, handle = signed_permutation(program, about.dim, factor), program.handle(kind="A")

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        program.operands[handle].append(np.broadcast_to(matrix, (len(exact), *matrix.shape)))
        return exact, exact + contracted(near - exact, matrix, offset, steps, about.norm)

    arguments = {"factor": factor, "offset": offset, "depth": steps, "size": about.size, "matrix": handle}
    return Map("contract", arguments, run, about.norm)
