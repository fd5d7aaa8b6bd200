"""Barron constants (li2025, Section 2.3): closed forms beside quadrature of the functions themselves."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
import torch
from scipy.integrate import quad

from bridge.lowering import lower
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.theorem import Theorem
from numeric.topics.universal import spectra
from symbolic.topics.universal import barron as theory
from symbolic.topics.universal import barron_derivation as barron

ACCURACY = 1e-10  # of the quadrature, relative to numbers of size 1
FARTHEST = 9.0  # standard deviations of the neurons' weights


def found(number: float, **more: Any) -> Sides:
    return Sides(within(number, ACCURACY * max(1.0, number)), measured=number, proved=("derived",), **more)


# Of a function on a line: its derivative, and a scale on which that decays.
Slope = tuple[spectra.Profile, float]


def neuron_slope(slope: float) -> Slope:
    return lambda x: slope * torch.sigmoid(slope * x) * torch.sigmoid(-slope * x), 1 / slope


def tanh_slope(slope: float) -> Slope:
    return lambda x: slope / torch.cosh(slope * x) ** 2, 1 / (2 * slope)


def bump_slope(width: float) -> Slope:
    return lambda x: -x / width**2 * torch.exp(-(x**2) / (2 * width**2)), width


def neuron_mass(slope: float) -> float:
    return spectra.ridge_mass(*neuron_slope(slope))


def tanh_mass(slope: float) -> float:
    return spectra.ridge_mass(*tanh_slope(slope))


def bump_mass(d: int, width: float) -> float:
    return spectra.product_mass(lambda x: torch.exp(-(x**2) / (2 * width**2)), d, width)


def bump_at_zero(width: float, centre: float) -> float:
    return math.exp(-(centre**2) / (2 * width**2))


# The gradient a under a Gaussian window of any width has mass |a|: its transform is a density that tends to a delta.
def linear(C_a: float, C_b: float) -> Sides:
    return found(C_b + spectra.ridge_mass(lambda x: C_a * torch.exp(-(x**2) / 2), 1.0))


def logistic(slope: float) -> Sides:
    return found(0.5 + neuron_mass(slope))


def tanh(slope: float) -> Sides:
    return found(tanh_mass(slope))


def bump(d: int, width: float, centre: float) -> Sides:
    return found(bump_at_zero(width, centre) + bump_mass(d, width))


def neural(d: int, slope: float) -> Sides:
    """The neurons' constants, by quadrature, averaged over |a|^2 / slope^2 of the chi-squared law with d degrees."""

    def weighted(norm: float) -> float:
        log_density = (d - 1) * math.log(norm) - norm**2 / 2 - (d / 2 - 1) * math.log(2) - math.lgamma(d / 2)
        return (0.5 + neuron_mass(slope * norm)) * math.exp(log_density)

    return found(quad(weighted, 0, FARTHEST + math.sqrt(d), epsabs=1e-12, epsrel=1e-12)[0])


# In R^d, d >= 2, the spectra of bump, neuron and tanh are singular to each other: their masses add up. On a line all
# three have densities, of which the largest counts; where two of them meet has no closed form.
def on_a_line(numeric: float, closed: barron.BarronClass) -> Sides:
    derived = evaluate_ball(closed.constant, {})
    remark = "on a line all spectra have densities, of which the largest counts"
    enclosed = within(numeric, ACCURACY * max(1.0, numeric))
    return Sides(enclosed, numeric, derived=derived, computed=("derived",), remark=remark)


def union(d: int, width: float, centre: float, slope: float) -> Sides:
    at_zero = max(0.5, bump_at_zero(width, centre))
    return found(at_zero + bump_mass(d, width) + neuron_mass(slope) + tanh_mass(slope))


def union_on_a_line(width: float, centre: float, slope: float) -> Sides:
    mass = spectra.largest_ridge_mass([bump_slope(width), neuron_slope(slope), tanh_slope(slope)])
    ridges = (barron.logistic((1,), sp.Rational(slope)), barron.tanh((1,), sp.Rational(slope)))
    closed = barron.union([barron.bump(1, sp.Rational(width), sp.Rational(centre)), *ridges])
    return on_a_line(max(0.5, bump_at_zero(width, centre)) + mass, closed)


def bumps_of(d: int, width: float) -> barron.BarronClass:
    return barron.bump(d, sp.Rational(width)) | barron.bump(d, sp.Rational(width) / 3)


def two_bumps_mass(d: int, width: float) -> float:
    """Of the larger of two densities, which meet once."""
    density = lower(bumps_of(d, width).radial, "numpy", args=(barron.r,), watch=False)
    return spectra.radial_mass(density, d, width / 3)


def two_bumps(d: int, width: float) -> Sides:
    return found(1 + two_bumps_mass(d, width), derived=evaluate_ball(bumps_of(d, width).constant, {}))


def combined(d: int, width: float, slope: float, C_a: float, C_b: float) -> Sides:
    neuron = barron.logistic((1, *[0] * (d - 1)), sp.Rational(slope))
    closed = barron.combination([bumps_of(d, width), neuron], sp.Rational(C_a), sp.Rational(C_b))
    if d == 1:
        mass = spectra.largest_ridge_mass([bump_slope(width), bump_slope(width / 3), neuron_slope(slope)])
        return on_a_line(C_b + C_a * (1 + mass), closed)
    numeric = C_b + C_a * (1 + two_bumps_mass(d, width) + neuron_mass(slope))
    return found(numeric, derived=evaluate_ball(closed.constant, {}))


def combination(d: int, C_a: float, C_b: float, M: int, ratio: float) -> Sides:
    at = {theory.C_a: C_a, theory.C_b: C_b, theory.ratio: ratio}
    least, most = (theory.spread_constant(d, least).subs(theory.M, M).doit() for least in (True, False))
    return Sides(
        evaluate_ball(least, at), derived=evaluate_ball(most, at), proved=("derived",), letters={theory.largest: 1},
        remark="measured: a lower bound of `C_F`",
    )  # fmt: skip


SIDES: Mapping[str, Callable[..., Sides]] = {
    "linear": linear,
    "logistic": logistic,
    "neural": neural,
    "tanh": tanh,
    "bump": bump,
    "two_bumps": two_bumps,
    "combined": combined,
    "union": union,
    "union.line": union_on_a_line,
    "combination": combination,
}
BARRON = Theorem(
    theory.BARRON,
    main="bump",
    checks=checks_of(theory.BARRON, SIDES),
)
