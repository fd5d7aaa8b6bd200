"""Proximal gradient steps with planted errors on the Lasso (li2025, (32), (38)).

ell(rho) = mean (y - Phi rho)^2 + lam ||rho||_1. Shapes: N examples, m = n + 1 coordinates, T steps; tensors or balls.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

Push = Callable[[Tensor, Tensor], Tensor]  # of the exact step and its gradient, (m) both: a direction, (m)


def soft(x: Any, threshold: Any) -> Any:
    """(39b)."""
    if isinstance(x, Tensor) and isinstance(threshold, float) and threshold >= 0:
        return torch.nn.functional.softshrink(x, threshold)  # the same in one operation
    return torch.sign(x) * torch.relu(torch.abs(x) - threshold)


def objective(phi: Any, y: Any, rho: Any, lam: Any) -> Any:
    return ((y - phi @ rho) ** 2).sum() / len(y) + lam * torch.abs(rho).sum()


def gradient(phi: Any, y: Any, rho: Any) -> Any:
    """Of the mean square, (m)."""
    return phi.T @ (phi @ rho - y) * 2 / len(y)


def inexact(phi: Any, y: Any, lam: Any, eta: Any, errors: Any, thresholds: Any) -> Any:
    """rho_T from rho_0 = 0, (m): `errors` (T, m) before the soft thresholds, which err by `thresholds` (T)."""
    rho = 0 * phi[0]
    for error, threshold in zip(errors, thresholds, strict=True):
        rho = soft(rho - eta * gradient(phi, y, rho) + error, eta * lam + threshold)
    return rho


def path(phi: Tensor, y: Tensor, lam: float, eta: float, error: float, steps: int, push: Push) -> Tensor:
    """rho_1, ..., rho_T (T, m), each off an exact step by `error` in the 1-norm, in the direction of `push`."""
    hessian, linear = phi.T @ phi * 2 / len(y), phi.T @ y * 2 / len(y)
    rho, found = torch.zeros_like(linear), []
    for _ in range(steps):
        exact = soft(rho - eta * (hessian @ rho - linear), eta * lam)
        away = push(exact, hessian @ exact - linear + lam * exact.sign())
        rho = exact + error * away / away.abs().sum()
        found.append(rho)
    return torch.stack(found)


def steepest(exact: Tensor, slope: Tensor) -> Tensor:
    """The direction of 1-norm 1 in which the objective grows fastest."""
    worst = int(slope.abs().argmax())
    found = torch.zeros_like(exact)
    found[worst] = 1.0 if slope[worst] >= 0 else -1.0
    return found


def at_random(generator: torch.Generator) -> Push:
    """One coordinate, and all of them, in turns of chance."""

    def push(exact: Tensor, slope: Tensor) -> Tensor:
        drawn = torch.randn(exact.shape, generator=generator, dtype=exact.dtype, device="cpu")
        one = bool(torch.rand((), generator=generator, dtype=torch.float64, device="cpu") < 0.5)
        return drawn * (drawn.abs() == drawn.abs().max()) if one else drawn

    return push


# All features 1: with the same entries w in all m coordinates, Phi rho is m w.


def constant_steps(n: int, lam: Fraction, steps: int) -> list[Fraction]:
    """The entries of rho_0, rho_1, ... by exact steps of 1/(2n) towards y = 1, all features 1."""
    m, entries = n + 1, [Fraction(0)]
    for _ in range(steps):
        moved = entries[-1] + (1 - m * entries[-1]) / n
        size = max(abs(moved) - lam / (2 * n), Fraction(0))
        entries.append(size if moved >= 0 else -size)
    return entries


def constant_objective(n: int, lam: Fraction, entry: Fraction) -> Fraction:
    return (1 - (n + 1) * entry) ** 2 + lam * (n + 1) * abs(entry)
