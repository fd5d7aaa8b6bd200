"""Functions that rules are applied to, and their approximants, in formulas that numpy, tensors and balls share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Formula = Callable[[Any, Any], Any]  # of the module that has tanh, sin and cos, and of the argument


@dataclass(frozen=True)
class Form:
    """f with f(0) = 0 and its derivatives, as far as they are known, on [-reach, reach].

    `slope` is the least Lipschitz constant; where f is convex, the secant through 0 has at most the slope `secant`.
    """

    value: Formula
    derivatives: tuple[Formula, ...] = ()
    suprema: Callable[[float], Mapping[int, float]] = lambda reach: {}
    slope: Callable[[float], float] = lambda reach: 1.0
    secant: Callable[[float], float] = lambda reach: 1.0
    everywhere: bool = True


FORMS: Mapping[str, Form] = {
    "line": Form(lambda xp, z: z, (lambda xp, z: 1 + 0 * z, lambda xp, z: 0 * z), lambda reach: {2: 0.0, 3: 0.0}),
    "kink": Form(lambda xp, z: abs(z)),
    "ramp": Form(lambda xp, z: (abs(z + 0.5) - abs(z - 0.5)) / 2),
    "tanh": Form(
        lambda xp, z: xp.tanh(z),
        (lambda xp, z: 1 - xp.tanh(z) * xp.tanh(z), lambda xp, z: -2 * xp.tanh(z) * (1 - xp.tanh(z) * xp.tanh(z))),
        lambda reach: {2: 0.7699, 3: 2.0},  # 4 / (3 sqrt 3) < 0.7699
    ),
    "square": Form(
        lambda xp, z: z * z / 2,
        (lambda xp, z: z, lambda xp, z: 1 + 0 * z),
        lambda reach: {2: 1.0, 3: 0.0},
        lambda reach: reach,
        lambda reach: reach / 2,
        everywhere=False,
    ),
    "cube": Form(
        lambda xp, z: z * z * z / 6,
        (lambda xp, z: z * z / 2, lambda xp, z: z),
        lambda reach: {2: reach, 3: 1.0},
        lambda reach: reach**2 / 2,
        lambda reach: reach**2 / 6,
        everywhere=False,
    ),
    "sine": Form(
        lambda xp, z: xp.sin(z), (lambda xp, z: xp.cos(z), lambda xp, z: -xp.sin(z)), lambda reach: {2: 1.0, 3: 1.0}
    ),
}


@dataclass(frozen=True)
class Function:
    """scale f(z) and an approximant that deviates by s clip(tilt z, -eps, eps), or by s eps where tilt is 0.

    The signs s stand beside z. `identity`: the approximant is z itself. What a reading is told of the function: so many
    `derivatives`, the suprema of these orders, the supremum of the deviation (`sup`), its slope (`local`), and the
    deviation as a function of its own (`difference`).
    """

    form: Form
    scale: float = 1.0
    eps: float = 0.0
    tilt: float = 0.0
    reach: float = np.inf
    identity: bool = False
    derivatives: int = 0
    supremum: tuple[int, ...] = ()
    sup: bool = False
    local: bool = False
    difference: bool = False

    def exact(self, xp: Any, z: Any) -> Any:
        return self.scale * self.form.value(xp, z)

    def derivative(self, order: int, xp: Any, z: Any) -> Any:
        return self.scale * self.form.derivatives[order - 1](xp, z)

    def deviation(self, z: Any, signs: Any) -> Any:
        if not self.tilt:
            return self.eps * signs + 0 * z
        return signs * (abs(self.tilt * z + self.eps) - abs(self.tilt * z - self.eps)) / 2

    def emulated(self, xp: Any, z: Any, signs: Any) -> Any:
        return z if self.identity else self.exact(xp, z) + self.deviation(z, signs)
