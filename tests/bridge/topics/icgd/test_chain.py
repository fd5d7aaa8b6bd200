"""The instance bounds against emulations whose approximants are wrong in every way that the knowledge allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from bridge.readings import AtHand, Operands, Smooth, enclose
from numeric.balls import BallArray
from symbolic.topics.icgd.chain import derive_layers
from tests.numeric.topics.icgd.by_definition import emulated, exact_taps

EPS, EPS1, EPS_U = 1e-3, 2e-3, 5e-4
DEPTHS = [1, 2, 3, 5]


def tanh_derivatives() -> list:
    def second(t):
        return -2 * torch.tanh(t) * (1 - torch.tanh(t) ** 2)

    def third(t):
        T = torch.tanh(t)
        return (1 - T**2) * (6 * T**2 - 2)

    return [torch.tanh, lambda t: 1 - torch.tanh(t) ** 2, second, third]


DERIVATIVES = tanh_derivatives()
SUPREMA = {2: 0.7699, 3: 2.0, 4: 4.09}  # of the derivatives of tanh, rounded up


def loss_gradient(t, y):  # of log cosh
    return torch.tanh(t - y)


def loss_slope(t, y):
    return 1 - torch.tanh(t - y) ** 2


@dataclass(frozen=True)
class Knowledge:
    """What is known of an approximant: its supremum, or its deviation and a Lipschitz constant of that."""

    error: float
    deviation: Callable[..., Tensor] | None = None
    slope_error: float | None = None

    def of(self, exact: Any, derivatives: Any, suprema: dict[int, float], number: Callable[[float], Any]) -> Smooth:
        return Smooth(
            exact,
            derivatives=derivatives,
            suprema={order: number(sup) for order, sup in suprema.items()},
            error=number(self.error),
            slope_error=self.slope_error,
            deviation=self.deviation,
        )


def drawn(N: int, K: int, d: int, n: int, seed: int, batch: int = 6, size: float = 0.7) -> tuple[list, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sizes = [(K, d)] + [(K, K)] * (N - 2) + [(d + 1, K)] if N > 1 else [(d + 1, d)]
    V = [size * torch.randn(batch, m, k, generator=generator, dtype=torch.float64) / math.sqrt(k) for m, k in sizes]
    x = torch.randn(batch, n, d, generator=generator, dtype=torch.float64)
    y = torch.randn(batch, n, d + 1, generator=generator, dtype=torch.float64)
    return V, x, y


def exact(V: list, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    return exact_taps(V, x, y, *DERIVATIVES[:2], loss_gradient)


def errors(found: dict[str, Tensor], truth: dict[str, Tensor]) -> dict[str, Tensor]:
    distances = {}
    for name, value in found.items():
        difference = value - truth[name]
        if name == "gradient":
            distances[name] = difference.norm(dim=-1)
            continue
        largest = difference.abs().flatten(1).amax(-1)
        distances[name] = largest if name.startswith("r'") else difference.norm(dim=-1).amax(-1)
        distances[f"{name}.max"] = largest
    return distances


def operands(V: list, x: Any, y: Any, r: Knowledge, r1: Knowledge, u: Knowledge, bits: int | None = None) -> Operands:
    def number(value: float) -> Any:
        return value if bits is None else BallArray.exactly(value, bits)

    functions = {
        "r": r.of(DERIVATIVES[0], DERIVATIVES[1:], {2: SUPREMA[2], 3: SUPREMA[3]}, number),
        "r'": r1.of(DERIVATIVES[1], DERIVATIVES[2:], {2: SUPREMA[3], 3: SUPREMA[4]}, number),
        "u": u.of(loss_gradient, [loss_slope], {2: SUPREMA[2]}, number),
    }
    matrices = {f"V[{j}]": W for j, W in enumerate(V, start=1)}
    return Operands({"x": x, "y": y, **matrices, **functions}, bits=bits)


def bounds(V: list, x: Tensor, y: Tensor, r: Knowledge, r1: Knowledge, u: Knowledge) -> dict[str, Tensor]:
    """Of every step up to the gradient, at each prompt of the batch."""
    derivation = derive_layers(len(V))
    names = [step.name for step in derivation.steps if step.name.startswith(("p", "r'", "g", "s"))]

    def at_one(V: tuple[Tensor, ...], x: Tensor, y: Tensor) -> dict[str, Tensor]:
        reading = enclose(derivation, AtHand(operands(list(V), x, y, r, r1, u), by_rules=False), names)
        return {name: reading.bound(name) for name in names}

    return torch.func.vmap(at_one)(tuple(V), x, y)


def worst_signs(V: list, x: Tensor, y: Tensor, rounds: int = 12) -> dict[str, Tensor]:
    """The emulation whose approximants err by +-eps at every single argument so as to move the gradient most."""
    generator = torch.Generator().manual_seed(1)
    widths = [W.shape[1] for W in V]

    def signs(width: int) -> Tensor:
        return torch.sign(torch.randn(*x.shape[:2], width, generator=generator, dtype=torch.float64))

    noise = [EPS * signs(w) for w in widths] + [EPS1 * signs(w) for w in widths] + [EPS_U * signs(widths[-1])]
    sizes = [EPS] * len(V) + [EPS1] * len(V) + [EPS_U]
    truth, best, largest = exact(V, x, y), {}, torch.zeros(len(x), dtype=torch.float64)
    r, r1 = DERIVATIVES[:2]
    for _ in range(rounds):
        noise = [each.detach().requires_grad_() for each in noise]
        taps = emulated(
            V,
            x,
            y,
            lambda z, j, noise=noise: r(z) + noise[j - 1],
            lambda z, j, noise=noise: r1(z) + noise[len(V) + j - 1],
            lambda t, target, noise=noise: loss_gradient(t, target) + noise[-1],
        )
        error = errors(taps, truth)["gradient"]
        if not best or error.detach().sum() > largest.sum():
            best, largest = {name: tap.detach() for name, tap in taps.items()}, error.detach()
        gradients = torch.autograd.grad(error.sum(), noise)
        noise = [size * torch.sign(g) for size, g in zip(sizes, gradients, strict=True)]
    return best


@pytest.mark.parametrize("N", DEPTHS)
@pytest.mark.parametrize("n", [1, 7])
def test_the_worst_signs_stay_within_what_eps_alone_allows(N: int, n: int) -> None:
    V, x, y = drawn(N, 5, 3, n, seed=N)
    found = errors(worst_signs(V, x, y), exact(V, x, y))
    allowed = bounds(V, x, y, Knowledge(EPS), Knowledge(EPS1), Knowledge(EPS_U))
    for name in allowed.keys() & found.keys():
        assert (found[name] <= allowed[name] * (1 + 1e-12)).all(), name


@pytest.mark.parametrize(("N", "factor"), [(1, 1.5), (2, 2.0), (3, 3.0), (5, 8.0)])
def test_the_bound_is_near_what_the_worst_signs_reach(N: int, factor: float) -> None:
    # A mutant of the propagation that lost this factor somewhere would fall below the error that is there.
    V, x, y = drawn(N, 5, 3, 1, seed=N)
    error = errors(worst_signs(V, x, y), exact(V, x, y))["gradient"]
    allowed = bounds(V, x, y, Knowledge(EPS), Knowledge(EPS1), Knowledge(EPS_U))["gradient"]
    assert (allowed <= factor * error).all()


def rippled(phase: float) -> tuple[dict, dict]:
    """Approximants that ripple around the truth, and what is known of them cell by cell."""
    rate = 40.0

    def ripple(z: Tensor, size: float) -> Tensor:
        return size * torch.sin(rate * z + phase)

    r, r1 = DERIVATIVES[:2]
    functions = {
        "r": lambda z, j: r(z) + ripple(z, EPS),
        "r1": lambda z, j: r1(z) + ripple(z, EPS1),
        "u": lambda t, y: loss_gradient(t, y) + ripple(t - y, EPS_U),
    }
    knowledge = {
        "r": Knowledge(EPS, lambda z: ripple(z, EPS), EPS * rate),
        "r1": Knowledge(EPS1, lambda z: ripple(z, EPS1), EPS1 * rate),
        "u": Knowledge(EPS_U, lambda t, y: ripple(t - y, EPS_U), EPS_U * rate),
    }
    return functions, knowledge


@pytest.mark.parametrize("N", DEPTHS)
@pytest.mark.parametrize("phase", [0.0, 1.0, 2.5])
def test_local_bounds_hold_and_are_sharper(N: int, phase: float) -> None:
    functions, knowledge = rippled(phase)
    V, x, y = drawn(N, 5, 3, 4, seed=10 + N)
    found = errors(emulated(V, x, y, **functions), exact(V, x, y))
    local = bounds(V, x, y, **knowledge)
    blind = bounds(V, x, y, Knowledge(EPS), Knowledge(EPS1), Knowledge(EPS_U))
    for name in local.keys() & found.keys():
        assert (found[name] <= local[name] * (1 + 1e-12)).all(), name
    assert (local["gradient"] < blind["gradient"]).all()
    assert (local["gradient"] <= 2 * found["gradient"]).all()


def test_no_error_without_errors() -> None:
    V, x, y = drawn(3, 4, 2, 3, seed=0)
    allowed = bounds(V, x, y, Knowledge(0.0), Knowledge(0.0), Knowledge(0.0))
    assert all(float(allowed[name].abs().max()) == 0.0 for name in ("p[3]", "r'[2]", "g", "s[1]"))
    assert float(allowed["gradient"].max()) == 0.0


def test_gradients_of_the_bound_are_finite() -> None:
    V, x, y = drawn(3, 4, 2, 2, seed=3)
    V[1] = torch.zeros_like(V[1])  # singular values that coincide
    leaves = [each.requires_grad_() for each in (*V, x, y)]
    found = bounds(V, x, y, Knowledge(EPS), Knowledge(EPS1), Knowledge(EPS_U))["gradient"].sum()
    assert all(bool(g.isfinite().all()) for g in torch.autograd.grad(found, leaves))


@pytest.mark.parametrize("N", [1, 3])
def test_balls_enclose_what_the_tensors_give(N: int) -> None:
    V, x, y = drawn(N, 4, 2, 3, seed=5, batch=1)
    known = Knowledge(EPS), Knowledge(EPS1), Knowledge(EPS_U)
    floats = bounds(V, x, y, *known)
    exactly = [BallArray.exactly(each[0], 128) for each in (*V, x, y)]
    at = AtHand(operands(exactly[:-2], *exactly[-2:], *known, bits=128), by_rules=False)
    rigorous = enclose(derive_layers(N), at, ["gradient"])
    for name in ["gradient", "g", *(f"{kind}[{j}]" for kind in ("p", "r'", "s") for j in range(1, N + 1))]:
        ball = rigorous.bound(name).balls[0]
        assert abs(float(ball) - float(floats[name][0])) <= 1e-12 * float(ball)
        assert float(ball.rad()) <= 1e-12 * float(ball)
