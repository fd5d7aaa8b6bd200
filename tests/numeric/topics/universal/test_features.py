"""Coefficients and features: the mean over all t and omega is f, by quadrature and by draws."""

import math

import torch

from numeric.topics.universal.features import (
    ClassMember,
    Family,
    approximations,
    attacked_errors,
    coefficients,
    draw_features,
    errors,
    gamma,
    increments,
)
from numeric.topics.universal.ramps import gauss_nodes, ramp_integral
from numeric.topics.universal.sampling import LIMIT, Part

MASS = math.sqrt(2 / math.pi)  # of exp(-x^2/2) on the line


def family() -> Family:
    """exp(-(x - 0.3)^2/2) and 0.7 x, on the line."""
    parts = (Part(MASS, lambda r: r * torch.exp(-(r**2) / 2)), Part(0.7, None, torch.ones(1, dtype=torch.float64)))
    bump = ClassMember(
        "bump",
        lambda x: torch.exp(-((x[..., 0] - 0.3) ** 2) / 2),
        lambda draw: (draw.part == 0).double(),
        lambda draw: -draw.radius * draw.direction[:, 0] * 0.3,
    )
    line = ClassMember(
        "line",
        lambda x: 0.7 * x[..., 0],
        lambda draw: (draw.part == 1).double(),
        lambda draw: -torch.pi / 2 * draw.direction[:, 0],
    )
    return Family(1, parts, (bump, line), 1.0)


def test_gamma_against_ramps_is_the_ridge_integral() -> None:
    t = torch.linspace(-2, 1, 300_001, dtype=torch.float64)
    for omega, theta, z in ((3.0, 1.0, 0.4), (0.5, 4.0, -0.9), (LIMIT, 2.0, 0.2)):
        weight = gamma(torch.full_like(t, omega), torch.full_like(t, theta), t)
        ramps = ((8 * (z - t)) + 0.5).clamp(0, 1)
        letters = (torch.tensor([each], dtype=torch.float64) for each in (omega, theta, z))
        exact = float(ramp_integral(8.0, *letters, gauss_nodes()))
        assert abs(float(torch.trapezoid(weight * ramps, t)) - exact) < 2e-5
        assert weight.abs().max() <= 1


def test_the_mean_of_the_draws_is_the_function_and_weights_are_bounded() -> None:
    own, n = family(), 400_000
    features = draw_features(own, n, 0)
    rho = coefficients(own, features)
    assert own.constant == 1 + MASS + 0.7
    assert rho.abs().max() <= 3 * own.mass * (1 + 1e-12)
    x = torch.tensor([[-1.0], [-0.4], [0.0], [0.7], [1.0]], dtype=torch.float64)
    found = approximations(x, features, rho, 64.0)
    noise = 5 * 3 * own.mass / math.sqrt(n)
    assert (found - increments(x, own.members)).abs().max() < own.mass / 256 + noise
    assert (found - 1.1 * increments(x, own.members)).abs().max() > own.mass / 256 + noise


def test_an_attack_finds_at_least_what_its_starts_show_and_stays_in_the_ball() -> None:
    own, features = family(), draw_features(family(), 64, 3)
    x, ball = (torch.linspace(-1, 1, count, dtype=torch.float64).unsqueeze(1) for count in (9, 20_001))
    least, most = (errors(own, features, each, 16.0).amax(0) for each in (x, ball))
    found = attacked_errors(own, features, x, 16.0, 10)
    assert ((least - 1e-12 <= found) & (found <= most + 1e-3)).all()
