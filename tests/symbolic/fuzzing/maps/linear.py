"""Linear maps, exact and perturbed, and maps that are Lipschitz."""

from collections.abc import Callable

import numpy as np

from symbolic.calculus import Norm
from tests.symbolic.fuzzing.maps.map import About, Map, Pair
from tests.symbolic.fuzzing.maps.operators import along, extreme_operator, operator_norm, signed_permutation
from tests.symbolic.fuzzing.program import Program
from tests.symbolic.fuzzing.record import Pair as Operands
from tests.symbolic.fuzzing.vectors import lengths, units


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


def tokens_to_coordinates(program: Program, about: About) -> Map:
    """One vector a: the number a x of each token becomes a coordinate."""
    size, handle = program.number(0.2, about.most), program.handle(kind="A")
    rows: list[np.ndarray] = []

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        rows.append(size * program.functional(exact, near, about.norm))
        program.operands[handle].append(rows[-1])
        return _by_token(exact, rows[-1]), _by_token(near, rows[-1])

    arguments = {"operator_norm": size, "dim": program.tokens, "target": Norm.INF, "matrix": handle}
    centre = lambda c: (c * rows[-1]).sum(-1, keepdims=True)  # noqa: E731 - of all coordinates
    return Map("linear_map", arguments, run, Norm.INF, centre=centre, single=True)


def _by_token(x: np.ndarray, row: np.ndarray) -> np.ndarray:
    numbers = np.einsum("ptd,pd->pt", x, row)
    return np.repeat(numbers[:, None, :], x.shape[1], 1)


def turn(program: Program, about: About, target: Norm) -> Map:
    """A multiple of a permutation with signs, so that all errors attain its norm from the 2-norm to the 2-norm."""
    size = program.number(0.2, about.most)
    matrix = signed_permutation(program, about.dim, size)
    handle = program.handle(np.broadcast_to(matrix, (program.points, *matrix.shape)), "A")
    arguments = {"operator_norm": size, "dim": about.dim, "matrix": handle}
    arguments |= {"target": target} if target is not about.norm else {}
    linear = lambda v: v @ matrix.T  # noqa: E731 - of vectors and of their centre
    return Map("linear_map", arguments, lambda exact, near: (linear(exact), linear(near)), target, centre=linear)


def _kind_of_matrix(program: Program, about: About, target: Norm, dim: int) -> str:
    if program.chance(0.3):
        return "dense"
    if dim == about.dim and target is about.norm and program.chance(0.6):
        return "number" if program.chance(0.5) else "signed"
    return "extreme"


# Numbers along one functional and one direction: A x = (A_hat - p) x where A_hat is at its limit, or A is at its own.
def perturbed_map(program: Program, about: About, known: bool = False) -> Map:
    size, off = program.number(0.3, about.most), program.number(0.01, 0.6)
    target = about.norm if about.layer or program.chance(0.5) else program.any_norm()
    dim = about.dim if about.layer else program.whole(1, 4)
    near_size = abs(size - off) + 2 * min(size, off) * program.rng.uniform() if known else size + off
    handle = program.handle(kind="A")
    arguments = {"operator_norm": size, "perturbation": off, "dim": dim, "matrix": handle}
    arguments |= {"target": target} if target is not about.norm else {}
    arguments |= {"perturbed_norm": near_size} if known else {}

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        operator = extreme_operator(program, (exact, near), about.norm, target, dim, 1.0)
        first, second = operator(exact), operator(near)
        at_limit = (np.arange(len(exact)) % 2 == 0)[:, None, None]
        plain = np.where(at_limit, near_size - off, size)  # in [-size, size], and A_hat within off of it
        moved = np.where(at_limit, near_size, np.minimum(size + off, near_size))
        unit = operator.direction[:, :, None] * operator.functional[:, None, :]
        program.operands[handle].append(Operands(plain * unit, moved * unit))
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
