"""Random ramp features and the coefficients by which they represent each function of a class (li2025, (29), (80)).

Shapes: n features, d coordinates, K functions, P points. Features are rows (n, 3 + d): t, |omega|, part, omega/|omega|.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numeric.universal.ramps import ramp, ridge
from numeric.universal.sampling import Draw, Part, draw

RANGE = 3  # the length of [-2, 1]


@dataclass(frozen=True)
class Member:
    """A function f of a class: `value` of points (..., d), and of a draw `share`, |F_f|/F^sup, and `phase`, both (n).

    `kind` names its class in tables.
    """

    kind: str
    value: Callable[[Any], Any]
    share: Callable[[Draw], Tensor]
    phase: Callable[[Draw], Tensor]


@dataclass(frozen=True)
class Family:
    """A class: the parts of |omega| F^sup, some of its functions, and sup |f(0)|."""

    d: int
    parts: tuple[Part, ...]
    members: tuple[Member, ...]
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


def gamma(omega: Tensor, theta: Tensor, t: Tensor) -> Tensor:
    """(82) for the ridge cosine, (n)."""
    left = ridge(omega, theta, -torch.ones_like(omega))
    outside = torch.where(t >= -1 - left.abs(), left.sign(), torch.zeros_like(left))
    return torch.where(t >= -1, -torch.sin(omega * t + theta), outside)


def coefficients(family: Family, features: Tensor) -> Tensor:
    """rho_f of (80), 3 mass gamma |F_f|/F^sup, (K, n)."""
    found = Draw(features[:, 0], features[:, 1], features[:, 3:], features[:, 2].long())
    rows = [member.share(found) * gamma(found.radius, member.phase(found), found.t) for member in family.members]
    return RANGE * family.mass * torch.stack(rows)


def approximations(x: Any, features: Any, rho: Any, tau: Any) -> Any:
    """(1/n) sum_i rho_i phi(tau (u_i^T x - t_i)) at one x (d), (K)."""
    return rho @ ramp(tau * (features[:, 3:] @ x - features[:, 0])) / len(features)


def deviations(x: Any, members: Sequence[Member]) -> Any:
    """f(x) - f(0) at one x (d), (K)."""
    return torch.stack([member.value(x) - member.value(0 * x) for member in members])


def sup_errors(family: Family, features: Tensor, x: Tensor, tau: float) -> Tensor:
    """The largest error of each function over the points x (P, d), (K)."""
    rho = coefficients(family, features)
    found = ramp(tau * (x @ features[:, 3:].T - features[:, 0])) @ rho.T / len(features)  # (P, K)
    truth = torch.stack([member.value(x) - member.value(0 * x[:1]) for member in family.members], 1)
    return (found - truth).abs().amax(0)
