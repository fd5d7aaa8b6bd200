"""Spectra of functions by quadrature, from the functions alone: what closed forms stand beside.

The transform is (17a), with 1/(2 pi) for each coordinate. Shapes: W frequencies, X points of a line.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.integrate import quad
from torch import Tensor

Profile = Callable[[Tensor], Tensor]

POINTS = 1024  # on a line
NODES = 160  # on a ray
REACH = 38.0  # of profiles that decay like exp(-|x|), to 10^-16
LEAST = 1e-13  # of |omega| times a scale: below it a line has no mass that counts
SPECTRAL_REACH = 12.0  # of their spectra, which decay like exp(-pi |omega|) or faster


# The trapezoidal rule, for a profile that is analytic on a strip and decays: its error decays exponentially in 1/step.
def line_transform(profile: Profile, omega: Tensor, scale: float) -> Tensor:
    """|F(omega)| of a function on the line, (W); it decays within REACH * scale."""
    x = torch.linspace(-REACH * scale, REACH * scale, POINTS + 1, dtype=torch.float64, device="cpu")  # (X)
    step = x[1] - x[0]
    phases = torch.outer(omega, x)
    values = profile(x)
    found: Tensor = torch.hypot(torch.cos(phases) @ values, torch.sin(phases) @ values) * step / (2 * torch.pi)
    return found


def ridge_mass(slope_of: Profile, scale: float) -> float:
    """int |F_h'|: C_F - |f(0)| of h(u^T x), from h' alone, which decays within REACH * scale."""
    reach = SPECTRAL_REACH / scale
    omega = torch.linspace(-reach, reach, POINTS // 4 + 1, dtype=torch.float64, device="cpu")
    return float(line_transform(slope_of, omega, scale).sum() * (omega[1] - omega[0]))


def largest_ridge_mass(slopes: Sequence[tuple[Profile, float]]) -> float:
    """int max_i |F_{h_i'}| of functions on one line: of each, h' and its scale, as in `ridge_mass`."""

    def largest(log_omega: float) -> float:
        omega = torch.tensor([math.exp(log_omega)], dtype=torch.float64, device="cpu")
        inside = [
            (slope, scale) for slope, scale in slopes if omega * scale <= SPECTRAL_REACH
        ]  # else its spectrum is 0
        return float(omega) * max((float(line_transform(slope, omega, scale)) for slope, scale in inside), default=0.0)

    scales = [scale for _, scale in slopes]
    low, high = math.log(LEAST / max(scales)), math.log(SPECTRAL_REACH / min(scales))
    found = quad(largest, low, high, epsabs=1e-12, epsrel=1e-12, limit=1000)
    return 2 * float(found[0])


def product_mass(profile: Profile, d: int, scale: float) -> float:
    """int |omega| |F| of the function with value prod_i profile(x_i), if it depends on |x| alone."""
    nodes, weights = map(torch.tensor, np.polynomial.legendre.leggauss(NODES))
    r = (nodes + 1) * SPECTRAL_REACH / (2 * scale)
    one, at_zero = (
        line_transform(profile, r, scale),
        line_transform(profile, torch.zeros(1, dtype=torch.float64, device="cpu"), scale),
    )
    return float((weights * r**d * one).sum() * SPECTRAL_REACH / (2 * scale) * at_zero ** (d - 1)) * _sphere_area(d)


def radial_mass(density: Callable[[float], float], d: int, scale: float, points: list[float] | None = None) -> float:
    """int |omega| F(|omega|) of a density that decays within SPECTRAL_REACH / scale, with kinks near `points`."""
    end = SPECTRAL_REACH / scale
    found = quad(lambda r: r**d * density(r), 0, end, points=points, epsabs=1e-13, epsrel=1e-13, limit=400)
    return float(found[0]) * _sphere_area(d)


def _sphere_area(d: int) -> float:
    half = torch.tensor(d / 2, dtype=torch.float64, device="cpu")
    return float(2 * torch.pi**half / torch.exp(torch.lgamma(half)))
