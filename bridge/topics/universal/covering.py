"""Covers (li2025, (23)): bounds on their sizes beside separated sets, which no cover of half the radius is below."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from bridge.theorems.check import Check, Sides, checks_of, within
from bridge.theorems.theorem import Theorem
from numeric.topics.universal import covering as sets
from symbolic.topics.universal import covering as theory

POINTS = 3000
SPREAD = 1 / 12  # width of the narrow bumps over the distance between them: 0 and other centres are 6 widths away
WITNESS = {"eps": 2.0**-11, "places": 13}
ACCURACY = 1e-12
PROVED = ("derived",)
GREEDY = "a greedy separated set: a cover in itself, of the points drawn"


def drawn(seed: int, d: int, count: int = POINTS) -> Tensor:
    return sets.in_ball(count, d, torch.Generator().manual_seed(seed))


def ball(eps: float, d: int, seed: int) -> Sides:
    return Sides(sets.separated(drawn(seed, d), eps), rounding=0.0, proved=PROVED, remark=GREEDY)


def bump_values(centres: Tensor, x: Tensor, width: float) -> Tensor:
    """f_c(x) - f_c(0), (P, X)."""

    def values(at: Tensor) -> Tensor:
        return torch.exp(-(torch.cdist(centres, at) ** 2) / (2 * width**2))

    return values(x) - values(x.new_zeros(1, x.shape[1]))


def separated_bumps(eps: float, d: int, width: float, R: float, seed: int) -> int:
    values = bump_values(R * drawn(seed, d), drawn(seed + 1, d, 200), width)
    mass = float(theory.bump_mass().subs({theory.d: d, theory.width: width}))
    return sets.separated_functions(values, mass * eps / 2)


def bumps(eps: float, d: int, width: float, R: float, seed: int) -> Sides:
    return Sides(separated_bumps(eps, d, width, R, seed), rounding=0.0, proved=PROVED, remark=GREEDY)


def product(eps: float, d: int, width: float, R: float, functions: int, seed: int) -> Sides:
    """Both parts at once."""
    members = functions + separated_bumps(eps, d, width, R, seed)
    found = members * sets.separated(drawn(seed, d), eps / 2)
    return Sides(found, rounding=0.0, proved=PROVED, remark=GREEDY)


def one_function(places: int, eps: float) -> Sides:
    """The sum of the first of `places` bumps against 0 and the sum of all, at the centres and between."""
    spread = SPREAD / places
    centres = (torch.arange(places, dtype=torch.float64, device="cpu") + 0.5) / places
    x = torch.cat([centres, torch.linspace(-1, 1, 257, dtype=torch.float64, device="cpu")])
    each = bump_values(centres.unsqueeze(1), x.unsqueeze(1), spread)  # (places, X)
    first, others = each[0], (torch.zeros_like(x), each.sum(0))
    nearest = min(float((first - other).abs().max()) for other in others)
    at_each_point = float(torch.minimum(*((first - other).abs() for other in others)).max())
    return Sides(
        within(nearest, ACCURACY), measured=nearest, letters={theory.spread: spread},
        remark=f"at each `x` one of both is within {at_each_point:.2g}",
    )  # fmt: skip


SIDES: Mapping[str, Callable[..., Sides]] = {"ball": ball, "bumps": bumps, "product": product}
COVERING = Theorem(
    theory.COVERING,
    main="product",
    checks=(
        *checks_of(theory.COVERING, SIDES),
        Check(theory.COVERING.quantity("one_function"), one_function, params=WITNESS),
    ),
)
