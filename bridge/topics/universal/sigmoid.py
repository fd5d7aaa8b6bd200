"""Lemma 5 (li2025) as a theorem: ridge cosines beside their integrals of clipped ramps.

Inputs are K ridges with frequencies, phases, directions (K, d) and weights of 1-norm `mass`, and one x in the ball.
"""

import math
from collections.abc import Mapping
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Ball, Box, Rows, Sphere
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.numbers import plain
from bridge.theorems.parts import InputSearch
from bridge.theorems.theorem import Theorem
from numeric.balls.digits import apart
from numeric.topics.universal import ramps
from symbolic.topics.universal import sigmoid as theory
from symbolic.words.errors import UsageError

LEAST_FREQUENCY = sp.Rational(1, 1024)
MANTISSA = 53  # bits of float64
ACCURACY = 1e-12  # of the quadrature
POINTS = 8  # at which the exact error stands beside the quadrature, and the ends of [-1, 1]
SPAN = 256  # of frequency: as much as the nodes integrate


def nodes(tau: float, omega_max: float) -> Tensor:
    """The quadrature. Raises UsageError for a window below the resolution of float64, and for too high a frequency."""
    bits = ramps.bits_of_window(tau)
    if bits > MANTISSA:
        raise UsageError(
            f"universal.sigmoid: tau = {plain(tau)}: ramps of width 1/tau next to 1 need {bits} bits, "
            f"float64 has {MANTISSA}; take tau <= {plain(2.0 ** (MANTISSA - 35))}"
        )
    if omega_max > SPAN:
        given, most = apart(float(omega_max), float(SPAN))
        raise UsageError(f"universal.sigmoid: omega_max = {given} exceeds {most}, what is integrated exactly")
    return ramps.gauss_nodes(ramps.NODES + math.ceil(omega_max))


def network(tau: Any, omega: Any, theta: Any, weights: Any, directions: Any, x: Any, nodes: Any) -> dict[str, Any]:
    each = ramps.ramp_integral(tau, omega, theta, directions @ x, nodes)
    return {"ridge": each, "function": (weights * each).sum()}


def reference(omega: Any, theta: Any, weights: Any, directions: Any, x: Any) -> dict[str, Any]:
    each = ramps.ridge(omega, theta, directions @ x)
    return {"ridge": each, "function": (weights * each).sum()}


def starts(
    count: int, generator: torch.Generator, omega_max: float, ridges: int, d: int, mass: float
) -> dict[str, Tensor]:
    """Frequencies of every size, and x opposite to a direction: at z = -1, where gamma jumps."""

    def shares(*shape: int) -> Tensor:
        return torch.rand(count, *shape, generator=generator, dtype=torch.float64, device="cpu")

    least, normal = (
        float(LEAST_FREQUENCY),
        torch.randn(count, ridges, d, generator=generator, dtype=torch.float64, device="cpu"),
    )
    directions = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
    signs = 2 * (shares(ridges) >= 0.5).double() - 1
    return {
        "omega": least * (omega_max / least) ** shares(ridges),
        "theta": 2 * math.pi * shares(ridges),
        "weights": mass / ridges * signs,
        "directions": directions,
        "x": -directions[:, 0],
    }


def points(tau: float, omega_max: float) -> dict[str, Tensor]:
    """Random ridges, at random z, at both ends and at half a window from each."""
    generator = torch.Generator().manual_seed(0)
    shares = torch.rand(3, POINTS, generator=generator, dtype=torch.float64, device="cpu")
    at = 2 * shares[2] - 1
    at[:4] = torch.tensor([-1, -1 + 1 / (4 * tau), 1, 1 - 1 / (4 * tau)], dtype=torch.float64, device="cpu")
    return {"omega": shares[0] * (omega_max - 0.1) + 0.1, "theta": 2 * math.pi * shares[1], "z": at}


def exact(tau: float, omega: Tensor, theta: Tensor, z: Tensor, nodes: Tensor) -> Sides:
    """The largest difference of the formula and of the quadrature."""
    seen = ramps.ridge(omega, theta, z) - ramps.ramp_integral(tau, omega, theta, z, nodes)
    letters = (theory.omega, theory.theta, theory.z)
    rows = list(zip(omega.tolist(), theta.tolist(), z.tolist(), strict=True))
    formulas = [
        evaluate_ball(theory.exact_error(), {theory.tau: tau, **dict(zip(letters, row, strict=True))}) for row in rows
    ]
    worst = max(range(len(rows)), key=lambda k: abs(float(formulas[k]) - float(seen[k])))
    words = ", ".join(
        f"`{name} = {plain(value)}`" for name, value in zip(("omega", "theta", "z"), rows[worst], strict=True)
    )
    return Sides(
        within(float(seen[worst]), ACCURACY), measured=float(seen[worst]),
        derived=formulas[worst], computed=("derived",),
        remark=f"the point of {len(rows)} where formula and quadrature differ most: {words}",
    )  # fmt: skip


def delta(tau: float) -> Sides:
    """(69) itself, over a grid that has both kinks."""
    at = torch.cat(
        [
            torch.linspace(0, 0.5, 513, dtype=torch.float64, device="cpu")[1:],
            torch.tensor([0.5 / tau], dtype=torch.float64, device="cpu"),
        ]
    )
    found = float((2 * at + (ramps.ramp(tau * at) - 1).abs()).min())
    return Sides(within(found, ACCURACY), measured=found, proved=("derived",))


def printed_sign(omega: Tensor, theta: Tensor, tau: float) -> Sides:
    at = {theory.tau: tau, theory.omega: omega.item(), theory.theta: theta.item()}
    return Sides(evaluate_ball(theory.error_with_printed_sign(), at), remark="at z = -1 or z = 1")


def linear(mass: float) -> Sides:
    return Sides(mass, remark="`f^approx = 0`")


CHECKS: Mapping[str, tuple[Any, Any]] = {
    "delta": (delta, {}),
    "ridge.exact": (exact, points),
    "ridge.printed_sign": (printed_sign, {"omega": [1 / 8], "theta": [math.pi / 2]}),
    "function.linear": (linear, {}),
}
SIGMOID = Theorem(
    theory.SIGMOID,
    main="ridge",
    inputs={
        "omega": Box(theory.ridges, low=LEAST_FREQUENCY, high=theory.omega_max),
        "theta": Box(theory.ridges, low=0, high=2 * sp.pi),
        "weights": Ball(theory.ridges, norm=1, radius=theory.mass),
        "directions": Rows(theory.ridges, Sphere(theory.d)),
        "x": Ball(theory.d),
    },
    network=network,
    reference=reference,
    built={"nodes": nodes},
    search=InputSearch(starts=starts),
    checks=tuple(Check(theory.SIGMOID.quantity(name), sides, inputs) for name, (sides, inputs) in CHECKS.items()),
)
