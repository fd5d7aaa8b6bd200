"""Functions of known classes as members of a family: values, and the magnitude and the phase of their spectra."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import sympy as sp
import torch

from bridge.lowering.formula import ArrayFunction
from bridge.topics.universal.classes import parts_of
from numeric.topics.universal.covering import in_ball
from numeric.topics.universal.features import ClassMember, Family
from numeric.topics.universal.sampling import FeatureDraw
from symbolic.topics.universal import barron_derivation as barron
from symbolic.topics.universal.barron_derivation import BarronClass, r
from symbolic.words.errors import UsageError

FAMILIES = ("bumps", "union")
LINEAR = 0.5  # the largest coefficient of the linear functions


# Exponentials of exact rationals meet before they are computed: far out both densities are 0 in floats. No `simplify`,
# which takes them for powers of a root of e, of a degree as large as the rational's numerator.
def ratio_of(density: sp.Expr, largest: sp.Expr) -> sp.Expr:
    """density / largest, where the largest may be a maximum of densities: 1 over the largest of their ratios to it."""
    if isinstance(largest, sp.Max):
        return 1 / sp.Max(*(sp.powsimp(each / density, combine="exp") for each in largest.args))
    return sp.powsimp(density / largest, combine="exp")


def share(part: int, density: sp.Expr, largest: sp.Expr) -> Callable[[FeatureDraw], Any]:
    """A member's density over the largest one, on the part of the spectrum where it lies; 0 on the others."""
    ratio = ArrayFunction(ratio_of(density, largest), r)
    return lambda found: torch.where(found.part == part, ratio(found.radius), 0.0)


# The phase of exp(-i omega^T centre).
def bump(centre: Sequence[float], width: float, spectrum: BarronClass) -> ClassMember:
    """exp(-|x - centre|^2/(2 width^2)), in the radial part of the spectrum; beside ridges on R, in their line."""
    at = torch.tensor(centre, dtype=torch.float64, device="cpu")
    density = barron.bump(len(at), sp.Rational(width)).radial
    radial = spectrum.radial != 0
    on_part = share(0, density, spectrum.radial) if radial else share(1, r * density, spectrum.lines[0][1])
    return ClassMember(
        "bumps",
        lambda x: torch.exp(-((x - at.to(x.device)) ** 2).sum(-1) / (2 * width**2)),
        on_part,
        lambda found: -found.radius * (found.direction @ at.to(found.direction)),
    )


# F_h = F_h'/(i omega): the phase is -pi/2 along the line, pi/2 against it; so for the limits.
def ridge(line: int, slope: float, spectrum: BarronClass) -> ClassMember:
    """The logistic neuron on that line of the spectrum."""
    along, largest = spectrum.lines[line]
    direction = torch.tensor([float(each) for each in along], dtype=torch.float64, device="cpu")
    ((_, density),) = barron.logistic(along, sp.Rational(slope)).lines
    return ClassMember(
        "ridges",
        lambda x: torch.sigmoid(slope * (x * direction.to(x.device)).sum(-1)),
        share(1 + line, density, largest),
        lambda found: -torch.pi / 2 * torch.sign(found.direction @ direction.to(found.direction)),
    )


def linear(slopes: Sequence[float], spectrum: BarronClass) -> ClassMember:
    """sum_i a_i u_i^T x over the directions of the limits."""
    at = torch.tensor(slopes, dtype=torch.float64, device="cpu")
    directions = torch.tensor(
        [[float(each) for each in u] for u, _ in spectrum.limits], dtype=torch.float64, device="cpu"
    )
    sizes = torch.tensor([float(size) for _, size in spectrum.limits], dtype=torch.float64, device="cpu")
    places = 1 + len(spectrum.lines) + torch.arange(len(at), dtype=torch.int64, device="cpu")

    def along(found: FeatureDraw) -> Any:
        """The slope in the direction that was drawn, over the largest one; 0 for draws of other parts (n)."""
        towards = found.direction @ directions.to(found.direction).mT  # 1 or -1 in its own column (n, limits)
        own = found.part.unsqueeze(1) == places.to(found.part.device)
        return torch.where(own, towards * (at / sizes).to(towards), 0.0).sum(1)

    return ClassMember(
        "linear",
        lambda x: x @ (at @ directions).to(x.device),
        lambda found: along(found).abs(),
        lambda found: -torch.pi / 2 * torch.sign(along(found)),
    )


def family_of(spectrum: BarronClass, members: Sequence[ClassMember]) -> Family:
    return Family(int(spectrum.d), tuple(parts_of(spectrum)), tuple(members), float(spectrum.at_zero))


@lru_cache(maxsize=16)
def known_family(family: str, d: int, bumps: int, width: float, slope: float) -> Family:
    """Bumps with centres in the ball; of the union, ridges in two directions and linear functions too."""
    if family not in FAMILIES:
        raise UsageError(f"universal.features: no family {family!r}; choose {' or '.join(FAMILIES)}")
    centres = in_ball(bumps, d, torch.Generator().manual_seed(0)).tolist()
    spectrum = barron.bump(d, sp.Rational(width))
    if family == "bumps":
        return family_of(spectrum, [bump(centre, width, spectrum) for centre in centres])
    axes = [tuple(int(place == axis) for place in range(d)) for axis in range(d)]
    lines = [axes[0], tuple(1 / sp.sqrt(d) for _ in range(d))] if d > 1 else axes[:1]
    parts = [spectrum, *(barron.logistic(line, sp.Rational(slope)) for line in lines)]
    spectrum = barron.union([*parts, barron.linear(axes, [LINEAR] * d)])
    slopes = [[LINEAR] * d, [-LINEAR, *([0.0] * (d - 1))]]
    members = [bump(centre, width, spectrum) for centre in centres]
    members += [ridge(line, slope, spectrum) for line in range(len(lines))]
    return family_of(spectrum, members + [linear(each, spectrum) for each in slopes])
