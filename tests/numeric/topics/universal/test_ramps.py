"""Ridge cosines and integrals of ramps: against the plain formulas, and on balls."""

import math

import pytest
import torch
from scipy.integrate import quad

from numeric.balls import BallArray
from numeric.topics.universal.ramps import gauss_nodes, ramp, ramp_integral, ridge

OMEGA, THETA = torch.tensor([0.01, 3.0, 15.0], dtype=torch.float64), torch.tensor([1.5, 0.2, 5.0], dtype=torch.float64)


def test_the_ramp_is_the_difference_of_two_relus() -> None:
    x = torch.linspace(-2, 2, 41, dtype=torch.float64)
    assert torch.allclose(ramp(x), torch.relu(x + 0.5) - torch.relu(x - 0.5), atol=1e-15)


def test_a_ridge_is_the_difference_of_cosines_and_keeps_small_frequencies() -> None:
    z = torch.tensor([0.7, -1.0, 0.3], dtype=torch.float64)
    assert torch.allclose(ridge(OMEGA, THETA, z), (torch.cos(OMEGA * z + THETA) - torch.cos(THETA)) / OMEGA, atol=1e-12)
    tiny = ridge(
        torch.tensor(1e-12, dtype=torch.float64),
        torch.tensor(math.pi / 2, dtype=torch.float64),
        torch.tensor(0.5, dtype=torch.float64),
    )
    assert abs(float(tiny) + 0.5) < 1e-15


@pytest.mark.parametrize("z", [-1.0, -0.97, 0.1, 1.0])
def test_the_quadrature_is_the_integral(z: float) -> None:
    tau, at = 8.0, torch.full((3,), z, dtype=torch.float64)
    found = ramp_integral(tau, OMEGA, THETA, at, gauss_nodes())
    for place in range(3):
        omega, theta = float(OMEGA[place]), float(THETA[place])
        left = (math.cos(theta - omega) - math.cos(theta)) / omega

        def integrand(t: float, omega: float = omega, theta: float = theta, left: float = left) -> float:
            inside, outside = -math.sin(omega * t + theta), math.copysign(float(t >= -1 - abs(left)), left)
            return (inside if t >= -1 else outside) * min(max(tau * (z - t) + 0.5, 0.0), 1.0)

        kinks = [-1 - abs(left), -1, z - 0.5 / tau, z + 0.5 / tau]
        truth = quad(integrand, -2, 1, points=[each for each in kinks if -2 < each < 1], epsabs=1e-13, limit=200)[0]
        assert abs(float(found[place]) - truth) < 1e-11


def test_balls_enclose_the_tensors() -> None:
    z = torch.tensor([-1.0, 0.25, 1.0], dtype=torch.float64)
    balls = [BallArray.exactly(each, 96) for each in (OMEGA, THETA, z)]
    found, enclosed = ramp_integral(8.0, OMEGA, THETA, z, gauss_nodes()), ramp_integral(8.0, *balls, gauss_nodes())
    assert all(abs(float(ball) - float(x)) < 1e-14 for ball, x in zip(enclosed.balls, found, strict=True))
