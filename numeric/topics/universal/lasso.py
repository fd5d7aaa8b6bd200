"""The Lasso (li2025, (32)): accelerated proximal gradient, its duality gap, and examples drawn from a finite pool.

Shapes: S points of the pool, N examples, m = n + 1 coordinates, K vectors rho.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numeric.topics.universal.proximal import objective, soft

STEPS = 4000  # at most
EVERY = 25  # steps between two duality gaps
ACCURACY = 1e-9


@dataclass(frozen=True)
class Pool:
    """The law of x, uniform on S points: `phi` (S, m), `f` (S), rho* (m), r (S), sup |r|, ||rho*||_1, sup |f|."""

    phi: Tensor
    f: Tensor
    rho: Tensor
    residual: Tensor
    eps_dis: float
    norm: float
    largest: float

    @classmethod
    def of(cls, phi: Tensor, f: Tensor, rho: Tensor) -> "Pool":
        residual = f - phi @ rho
        sizes = residual.abs().max(), rho.abs().sum(), f.abs().max()
        return cls(phi, f, rho, residual, *map(float, sizes))

    def risk(self, rho: Any) -> Any:
        return ((self.phi @ rho - self.f) ** 2).mean()


def rivals(of: Pool, weights: Iterable[float], accuracy: float = ACCURACY) -> list[Pool]:
    """The pool with its rho*, and with what the Lasso makes of all of it at each of the weights of the 1-norm."""
    others = (solve(of.phi, of.f, weight, accuracy) for weight in weights)
    return [of, *(Pool.of(of.phi, of.f, rho) for rho in others)]


def solve(phi: Tensor, y: Tensor, lam: float, accuracy: float = ACCURACY, steps: int = STEPS) -> Tensor:
    """A rho (m) whose duality gap is at most `accuracy`, or the one after that many steps."""
    hessian, linear = phi.T @ phi * 2 / len(y), phi.T @ y * 2 / len(y)
    eta = 1 / float(torch.linalg.eigvalsh(hessian)[-1])
    rho, ahead, momentum = torch.zeros_like(linear), torch.zeros_like(linear), 1.0
    for step in range(steps):
        following = soft(ahead - eta * (hessian @ ahead - linear), eta * lam)
        if step % EVERY == 0 and duality_gap(phi, y, following, lam) <= accuracy:
            return following
        backwards = float((ahead - following) @ (following - rho)) > 0  # restart (O'Donoghue and Candes 2015)
        later = 1.0 if backwards else (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = following if backwards else following + (momentum - 1) / later * (following - rho)
        rho, momentum = following, later
    return rho


# s times the residual is feasible for the dual, max mean y^2 - mean (y - v)^2 over ||2/N Phi^T v||_inf <= lam.
def duality_gap(phi: Tensor, y: Tensor, rho: Tensor, lam: float) -> float:
    """ell(rho) - min ell, at most."""
    left = y - phi @ rho
    scale = min(1.0, lam / max(float((phi.T @ left).abs().max()) * 2 / len(y), 1e-300))
    dual = (y**2).mean() - ((y - scale * left) ** 2).mean()
    return float(objective(phi, y, rho, lam) - dual)


def directions(m: int, count: int = 64) -> Tensor:
    """Vectors of 1-norm 1, (K, m): both signs of each coordinate, and random ones."""
    axes = torch.eye(m, dtype=torch.float64, device="cpu")
    drawn = torch.randn(count, m, generator=torch.Generator().manual_seed(2), dtype=torch.float64, device="cpu")
    return torch.cat([axes, -axes, drawn / drawn.abs().sum(1, keepdim=True)])


def noise(phi: Any, z: Any) -> Any:
    """(2/N) sum z_i phi_i, (m)."""
    return phi.T @ z * 2 / len(z)


def mean_squares(phi: Any, residual: Any, z: Any, moves: Any) -> Any:
    """mean [(y - phi^T rho)^2 - z^2] for each rho = rho* + move, (K); residual (N), moves (K, m)."""
    left = residual[:, None] - phi @ moves.T
    return (left**2 + 2 * z[:, None] * left).sum(0) / len(z)
