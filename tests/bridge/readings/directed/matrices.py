"""Matrices of more rows and columns than floats decompose: their norms are bounded by squaring."""

import sympy as sp
import torch

from bridge.readings import Smooth
from bridge.readings.arrays import EXACT_SIDE, ROOT
from symbolic.calculus import Approximated, Norm, apply_function, bilinear, given, linear_map
from tests.bridge.readings.directed.case import BITS, Directed, Wide, full, tensor

e = sp.Symbol("e", positive=True)
SHAPES = [(9, 9), (12, 16), (16, 12), (3, 12), (12, 3)]  # rows, columns
KINDS = ("rank 1", "rotation", "random", "small rows", "small column", "spread", "zero")
LARGE = (9, 400)
PARTS = {"two": 1.0, "bound": 1.0}


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def matrix(kind: str, rows: int, columns: int) -> torch.Tensor:
    """Of norm 1; the negative entries are the larger ones."""
    if kind == "zero":
        return full(
            (
                rows,
                columns,
            ),
            0.0,
        )
    if kind == "rotation":
        found = torch.linalg.qr(random(max(rows, columns), max(rows, columns)))[0][:rows, :columns]
    elif kind == "spread":  # one entry, and rows of 1
        found = torch.ones(rows, columns, dtype=torch.float64) - 2 * torch.eye(rows, columns, dtype=torch.float64)
        found[0] = torch.eye(columns, dtype=torch.float64)[0]
    elif kind == "rank 1":
        found = -abs(random(rows)).outer(abs(random(columns, seed=1)))
    else:
        found = random(rows, columns)
    if kind == "small column":
        found[:, 0] *= 1e-200
    if kind == "small rows":
        found = found * torch.logspace(0, -40, rows, dtype=torch.float64).unsqueeze(-1)
    return found / torch.linalg.matrix_norm(found, 2)


def most(kind: str, rows: int, columns: int) -> float:
    """By how much the bound on the norm may exceed it, on tensors."""
    side = min(rows, columns)
    if side <= EXACT_SIDE:
        return 1.0
    several = 1.0 if kind == "rank 1" else side ** (ROOT / 2)
    return several * (1 + side**2 * 2.0**-22)


def along(found: torch.Tensor) -> torch.Tensor:
    """The vector that the matrix stretches most, a rounding shorter than 1."""
    return torch.linalg.svd(found)[2][0] * (1 - 2.0**-40)


def tokens(columns: int, size: object = 1) -> Approximated:
    return given("x", dim=columns, norm=Norm.TWO, size=size, error=e)


BITS_OF = {False: (None, BITS), True: (None,)}  # balls take long for large matrices, and bound all of them alike


# Scaled there and back, so that errors have the size 1 where they are compared.
def stretched(kind: str, rows: int, columns: int, scale: float) -> Directed:
    found = matrix(kind, rows, columns)
    there = linear_map(tokens(columns), "A x", operator_norm=scale, dim=rows, matrix="A")
    back = linear_map(there, "y", operator_norm=1 / scale, dim=rows, matrix="c")
    exact = torch.stack([along(found), random(columns) / 9])
    near = exact + torch.stack([along(found), -along(found)])
    parts = dict.fromkeys(("two", "bound"), most(kind, rows, columns))
    return Directed(
        f"{kind}, {rows} x {columns}, times {scale:g}",
        back,
        {"x": exact, "A": scale * found, "c": 1 / scale},
        ({"x": near},),
        {e: 1},
        parts,
        bits=BITS_OF[min(rows, columns) > EXACT_SIDE],
    )


# An affine function after a linear map, whose slopes differ from coordinate to coordinate: ||D A||_2.
def sloped(kind: str, rows: int, columns: int, scale: float) -> Directed:
    found, slopes = matrix(kind, rows, columns), -torch.logspace(-3, 0, rows, dtype=torch.float64).flip(0)
    scaled = slopes.unsqueeze(-1) * found
    there = linear_map(tokens(columns), "A x", operator_norm=scale, dim=rows, matrix="A")
    f = Smooth(lambda z, d: d * z, derivatives=(lambda z, d: d,), suprema={2: 0.0})
    bent = apply_function(there, "f", eps=0, lipschitz=1, size=scale, function="f", beside=("d",))
    back = linear_map(bent, "y", operator_norm=1 / scale, dim=rows, matrix="c")
    exact = along(scaled) if scale == 1 else torch.stack([along(scaled), random(columns) / 9])
    near = exact + along(scaled)
    parts = {"two": most(kind, rows, columns)}
    operands = {"x": exact, "A": scale * found, "f": f, "d": slopes, "c": 1 / scale}
    return Directed(
        f"slopes after {kind}, {rows} x {columns}, times {scale:g}",
        back,
        operands,
        ({"x": near},),
        {e: 1},
        parts,
        bits=BITS_OF[min(rows, columns) > EXACT_SIDE],
    )


# The same by the exact factor of a product.
def multiplied(kind: str, rows: int, columns: int, *, turned: bool) -> Directed:
    found, factors = matrix(kind, rows, columns), torch.linspace(-1.0, 0.5, rows, dtype=torch.float64)
    scaled = factors.unsqueeze(-1) * found
    y = linear_map(tokens(columns), "A x", operator_norm=1, dim=rows, target=Norm.TWO, matrix="A")
    z = given("z", dim=rows, norm=Norm.INF, size=1)
    pair = (y, z)
    product = bilinear(*(pair[::-1] if turned else pair), "y z", norm=Norm.TWO, product="entrywise")
    exact, near = random(2, columns) / 9, random(2, columns) / 9 + along(scaled)
    parts = {"two": most(kind, rows, columns)}
    return Directed(
        f"product after {kind}, {rows} x {columns}, turned {turned}",
        product,
        {"x": exact, "A": found, "z": factors.expand(2, rows)},
        ({"x": near},),
        {e: 1},
        parts,
    )


# Balls that are not points: each matrix in them counts, up to [[1.5, 1], [1, 1.5]] of norm 2.5.
def widely_known() -> Directed:
    y = linear_map(tokens(2), "A x", operator_norm=3, dim=2, matrix="A")
    wide = Wide([[1.5, 1.0], [1.0, 1.5]], [[1.0, 0.0], [0.0, 1.0]], 1.0)
    moves = ({"x": [2.0**-0.5 * (1 - 2.0**-40)] * 2},)
    return Directed("a matrix known in balls alone", y, {"x": [0.0, 0.0], "A": wide}, moves, {e: 1}, bits=(BITS,))


# One vector for all tokens: without a matrix the largest slope counts.
def largest_slope() -> Directed:
    slopes = tensor([-2.0, 1.0, 0.5])
    f = Smooth(lambda z, d: d * z, derivatives=(lambda z, d: d,), suprema={2: 0.0})
    bent = apply_function(tokens(3), "f", eps=0, lipschitz=2, size=2, function="f", beside=("d",))
    near = [[1.5, 0.0, 0.0], [-0.5, 0.0, 0.0]]
    return Directed(
        "the largest slope",
        bent,
        {"x": [[0.5, 0.0, 0.0]] * 2, "f": f, "d": slopes},
        ({"x": near},),
        {e: 1},
        {"two": 1.0},
    )


# Each error of the 1-norm goes to one coordinate: the longest column counts.
def by_columns(target: Norm) -> Directed:
    found = tensor([[3.0, 1.0, 0.0], [4.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
    x = given("x", dim=3, norm=Norm.ONE, size=1, error=e)
    y = linear_map(x, "y", operator_norm=7, dim=3, target=target, matrix="A")
    moves = tuple({"x": [sign, 0.0, 0.0]} for sign in (1.0, -1.0))
    return Directed(
        f"the longest column, to {target}",
        y,
        {"x": [0.0] * 3, "A": found},
        moves,
        {e: 1},
        {"one": 1.0, "two": 1.0, "bound": 1.0, "radius": 1.0},
    )


CASES = [
    *(made(kind, *shape, 1.0) for made in (stretched, sloped) for kind in KINDS for shape in SHAPES),
    *(made("spread", *LARGE, 1.0) for made in (stretched, sloped)),
    *(
        made(kind, *shape, scale)
        for made in (stretched, sloped)
        for kind, shape in (("random", (9, 9)), ("rank 1", (12, 16)), ("rank 1", (16, 12)))
        for scale in (1e-150, 1e-30, 1e30, 1e150)
    ),
    *(multiplied(kind, 9, 12, turned=turned) for kind in ("rank 1", "random") for turned in (False, True)),
    largest_slope(),
    *(by_columns(target) for target in Norm),
    widely_known(),
]
