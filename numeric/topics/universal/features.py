"""Random ramp features and the coefficients by which they represent each function of a class (li2025, (29), (80)).

Shapes: n features, d coordinates, K functions, P points. Features are rows (n, 3 + d): t, |omega|, part, omega/|omega|.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numeric.search.attack import attack_groups
from numeric.topics.universal.ramps import ramp, ridge
from numeric.topics.universal.sampling import FeatureDraw, Part, draw

RANGE = 3  # the length of [-2, 1]


@dataclass(frozen=True)
class ClassMember:
    """A function f of a class: `value` of points (..., d), and of a draw `share`, |F_f|/F^sup, and `phase`, both (n).

    `kind` names its class in tables.
    """

    kind: str
    value: Callable[[Any], Any]
    share: Callable[[FeatureDraw], Any]
    phase: Callable[[FeatureDraw], Any]


@dataclass(frozen=True)
class Family:
    """A class: the parts of |omega| F^sup, some of its functions, and sup |f(0)|."""

    d: int
    parts: tuple[Part, ...]
    members: tuple[ClassMember, ...]
    at_zero: float

    @property
    def mass(self) -> float:
        """int |omega| F^sup."""
        return sum(part.mass for part in self.parts)

    @property
    def constant(self) -> float:
        """C_F."""
        return self.at_zero + self.mass


def draw_features(family: Family, n: int, seed: int) -> Tensor:
    """n features from Lambda, (n, 3 + d)."""
    found = draw(family.parts, family.d, n, torch.Generator().manual_seed(seed))
    return torch.cat([torch.stack([found.t, found.radius, found.part.double()], 1), found.direction], 1)


def gamma(omega: Any, theta: Any, t: Any) -> Any:
    """(82) for the ridge cosine, (n), of tensors or arrays of balls."""
    left = ridge(omega, theta, -torch.ones_like(omega))
    outside = torch.where(t >= -1 - left.abs(), left.sign(), torch.zeros_like(left))
    return torch.where(t >= -1, -torch.sin(omega * t + theta), outside)


def coefficients(family: Family, features: Any) -> Any:
    """rho_f of (80), 3 mass gamma |F_f|/F^sup, (K, n), of a tensor or an array of balls."""
    found = FeatureDraw(features[:, 0], features[:, 1], features[:, 3:], features[:, 2])
    rows = [member.share(found) * gamma(found.radius, member.phase(found), found.t) for member in family.members]
    return RANGE * family.mass * torch.stack(rows)


def approximations(x: Any, features: Any, rho: Any, tau: Any) -> Any:
    """(1/n) sum_i rho_i phi(tau (u_i^T x - t_i)) at each point x (P, d), (P, K)."""
    return ramp(tau * (x @ features[:, 3:].T - features[:, 0])) @ rho.T / len(features)


def increments(x: Any, members: Sequence[ClassMember]) -> Any:
    """f(x) - f(0) at each point x (P, d), (P, K)."""
    return torch.stack([member.value(x) - member.value(0 * x) for member in members], 1)


def errors(family: Family, features: Tensor, x: Tensor, tau: float) -> Tensor:
    """|f(x) - f(0) - its approximation|, (P, K)."""
    rho = coefficients(family, features)
    return (approximations(x, features, rho, tau) - increments(x, family.members)).abs()


def attacked_errors(family: Family, features: Tensor, starts: Tensor, tau: float, steps: int) -> Tensor:
    """The largest error of each function over the ball that an attack from `starts` (P, d) finds, (K)."""
    rho, count = coefficients(family, features), len(family.members)
    own = (
        torch.arange(count, dtype=torch.int64, device="cpu").repeat_interleave(len(starts)).unsqueeze(1)
    )  # each start's function, (K P, 1)

    def objective(x: Tensor) -> Tensor:
        found = approximations(x, features, rho, tau) - increments(x, family.members)  # (K P, K)
        return found.gather(1, own).abs().squeeze(1)

    def project(x: Tensor) -> Tensor:
        return x.detach() / torch.linalg.vector_norm(x.detach(), dim=1, keepdim=True).clamp_min(1)

    return torch.tensor(
        [each.value for each in attack_groups(objective, starts.repeat(count, 1), project, count, steps=steps, seed=0)],
        dtype=torch.float64,
        device="cpu",
    )
