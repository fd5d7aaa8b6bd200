"""One table of domains that every law is checked on, with what the laws need to know of each."""

from itertools import product

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import (
    Ball,
    Box,
    Concatenated,
    Domain,
    Integers,
    Rows,
    Shell,
    Signs,
    Simplex,
    SingularValues,
    Sphere,
)
from bridge.domains.rounding import ball_of
from numeric.balls import BallArray, working_precision
from symbolic.derivations.derivation import Norm

n, d = sp.symbols("n d", integer=True, positive=True)
B = sp.Symbol("B", positive=True)

CONVEX = [
    Box(),
    Box(4),
    Box(2, 3, size=0.1),
    Box(3, low=-0.3, high=0.1),
    Box(2, low=sp.sqrt(2), high=100),
    Box(n, d, size=B / 3).at({n: 2, d: 2, B: 1}),
    Ball(),
    Ball(1, radius=0.1),
    Ball(3, radius=5),
    Ball(2, 2, radius=sp.sqrt(d) * B).at({d: 2, B: 0.1}),
    Ball(40, radius=1e-3),
    Ball(3, radius=0),
    Ball(3, norm=1),
    Ball(17, radius=0.7, norm=1),
    Ball(2, 2, radius=1e4, norm=Norm.ONE),
    Ball(3, radius=0.1, norm="inf"),
    Simplex(1),
    Simplex(2),
    Simplex(30),
    SingularValues(2, 2),
    SingularValues(8, 3, high=0.1),
    SingularValues(3, 3, high=sp.sqrt(2) * 100),
]
OTHERS = [
    Sphere(1),
    Sphere(3),
    Sphere(25, radius=0.3),
    Sphere(2, radius=sp.sqrt(3) * 100),
    Shell(1, low=0.5, high=2),
    Shell(3),
    Shell(5, low=1e-3, high=1e3),
    Shell(n, low=B, high=sp.sqrt(n)).at({n: 8, B: 0.3}),
    Signs(3),
    Signs(2, 2, size=0.1),
    Integers(3, low=-3, high=5),
    Integers(2, low=1, high=1001),
    SingularValues(1, 1, low=0.5, high=2),
    SingularValues(5, 1, low=1, high=3),
    SingularValues(2, 4, low=1, high=1),
    SingularValues(4, 3, low=1e-3, high=1e3),
    SingularValues(3, 5, low=0.1, high=0.7),
    SingularValues(n, d, low=sp.sqrt(n * B), high=sp.sqrt(n)).at({n: 8, d: 4, B: 0.3}),
]
NESTED = [
    Rows(n, Ball(d, radius=B)).at({n: 3, d: 2, B: 0.1}),
    Rows(0, Ball(2)),
    Rows(2, Rows(3, Simplex(4))),
    Rows(3, Box(2, low=-2, high=1)),
    Rows(4, Sphere(3)),
    Rows(3, Shell(2, low=1, high=2)),
    Rows(2, SingularValues(2, 2, low=1, high=2)),
    Concatenated(Box(2, 3, size=0.1), Ball(n, radius=B), Box(0, 4)).at({n: 2, B: 0.3}),
    Concatenated(Box(n, size=sp.sqrt(2)), Rows(2, Simplex(3)), Box()).at({n: 0}),
]
TOLERANT = [
    Simplex(1),
    Simplex(30),
    Sphere(1),
    Sphere(25, radius=0.3),
    Sphere(2, radius=sp.sqrt(3) * 100),
    Sphere(3, radius=0),
    Signs(2, 2, size=sp.Rational(1, 3)),
    SingularValues(2, 4, low=1, high=1),
    SingularValues(4, 3, low=sp.sqrt(2), high=sp.sqrt(2)),
    SingularValues(1, 1, low=1, high=1),
    Shell(3, low=sp.sqrt(2), high=sp.sqrt(2)),
]
ALL = CONVEX + OTHERS + NESTED
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def slack(domain: Domain, dtype: torch.dtype) -> float:
    """By how much a kind that floating point cannot meet exactly may be missed; 0 for the others."""
    while isinstance(domain, Rows):
        domain = domain.row
    if isinstance(domain, SingularValues | Shell):
        return 2 * (domain.columns if isinstance(domain, Shell) else domain).rounding(dtype)
    return domain.slack(dtype) if isinstance(domain, Sphere | Simplex) else 0.0


def attained(domain: Domain, norm: Norm) -> bool:
    """Whether some element has the norm `bound`."""
    orthogonal_signs = not isinstance(domain, SingularValues) or domain.dims not in {(3, 3), (3, 5)}
    return norm is not Norm.ONE or orthogonal_signs


def defects(domain: Domain, member: BallArray) -> list[flint.arb]:
    """What is 0 at the elements, and only there, of a domain that floating point meets up to a tolerance."""
    with working_precision(member.bits):
        if isinstance(domain, Sphere):
            return [(member * member).sum().balls[0] - ball_of(domain.radius, member.bits) ** 2]
        if isinstance(domain, Shell):
            return [(member * member).sum().balls[0] - ball_of(domain.high, member.bits) ** 2]
        if isinstance(domain, Simplex):
            return [member.sum().balls[0] - 1]
        if isinstance(domain, Signs):
            return [abs(ball) - ball_of(domain.size, member.bits) for ball in member.balls]
        assert isinstance(domain, SingularValues)
        gram = member @ member.mT if domain.dims[0] < domain.dims[1] else member.mT @ member
        square = ball_of(domain.high, member.bits) ** 2
        return list(
            (gram - square * BallArray.exactly(torch.eye(gram.shape[0], dtype=torch.float64), member.bits)).balls
        )


def support(domain: Domain, g: Tensor) -> Tensor:
    """sup of <g, z> over z in the domain, for a batch g of shape (B, N), from the textbook formulas."""
    if isinstance(domain, Box):
        return torch.maximum(g * float(domain.low), g * float(domain.high)).sum(1)
    if isinstance(domain, Simplex):
        return g.amax(1)
    if isinstance(domain, SingularValues):
        return float(domain.high) * torch.linalg.matrix_norm(g.view(-1, *domain.dims), "nuc")
    assert isinstance(domain, Ball)
    dual = {Norm.ONE: float("inf"), Norm.TWO: 2.0, Norm.INF: 1.0}[domain.norm]
    return float(domain.radius) * torch.linalg.vector_norm(g, dual, dim=1)


def elements(domain: Domain) -> Tensor:
    """All elements of a finite domain, and of a circle a fine grid: (count, N)."""
    if isinstance(domain, Sphere):
        angles = torch.linspace(0, 2 * torch.pi, 20_001, dtype=torch.float64)
        return float(domain.radius) * torch.stack([angles.cos(), angles.sin()], 1)
    if isinstance(domain, Signs):
        values = [-float(domain.size), float(domain.size)]
    else:
        assert isinstance(domain, Integers)
        values = [float(each) for each in range(int(domain.low), int(domain.high) + 1)]
    return torch.tensor(list(product(values, repeat=domain.entries)), dtype=torch.float64)
