"""A rule at one instance: how it is applied, where it is attained, and what it promises of explicit vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from symbolic.calculus import Approximated, Norm, given
from tests.symbolic.fuzzing.realised import Measured, Realised
from tests.symbolic.fuzzing.vectors import ORDER

Half = sp.Rational(1, 2)


@dataclass(frozen=True)
class RuleCase:
    """`error_loose` and `size_loose` say why the error or the size is not attained; `size` is a case where it is."""

    name: str
    rule: str
    sharp: Callable[[], Realised]
    random: Callable[[np.random.Generator], Realised] | None = None
    size: Callable[[], Realised] | None = None
    error_loose: str = ""
    size_loose: str = ""
    trials: int = 300

    def attaining(self, quantity: str) -> Realised:
        return self.size() if quantity == "size" and self.size else self.sharp()

    def check(self, quantity: str) -> None:
        """All that is promised holds where the quantity is attained, and a thousandth less would not."""
        result = self.attaining(quantity)
        check_kept(result)
        loose = {"error": self.error_loose, "size": self.size_loose, "radius": result.value.radius is None}[quantity]
        if not loose:
            check_attained(promised(result, quantity))
        elif quantity != "radius":
            assert promised(result, quantity).bound == 0

    def check_at_random(self, trials: int) -> None:
        assert self.random is not None
        rng = np.random.default_rng(7)
        for _ in range(trials):
            check_kept(self.random(rng))


QUANTITIES = ("error", "size", "radius")
MUTANT = 0.999


def promised(result: Realised, quantity: str) -> Measured:
    (found,) = (promise for promise in result.promises() if promise.quantity == quantity)
    return found


def check_attained(promise: Measured) -> None:
    assert not promise.violated
    assert Measured(promise.quantity, MUTANT * np.asarray(promise.bound), promise.truth, promise.scale).violated


def check_kept(result: Realised) -> None:
    """Error, size, radius, dimension, norm, probabilities: all that the conclusion says of the vectors."""
    broken = [promise.quantity for promise in result.promises() if np.any(promise.violated)]
    assert not broken, ", ".join(broken)


def norm(vector: np.ndarray, which: Norm) -> float:
    return float(np.linalg.norm(np.atleast_1d(vector), ORDER[which]))


def shown(result: Approximated, exact: object, near: object, which: Norm = Norm.INF, centre: object = None) -> Realised:
    """The conclusion beside its vectors: a number, a vector, or rows of tokens."""
    tokens, near_tokens = (np.atleast_2d(np.asarray(v, float)) for v in (exact, near))
    middle = None if centre is None else np.atleast_1d(np.asarray(centre, float))
    return Realised(result, tokens, near_tokens, middle, which)


def value(name: str, exact: np.ndarray, near: np.ndarray, which: Norm = Norm.INF, **more: bool) -> Approximated:
    """The Approximated that describes two explicit vectors, exactly."""
    exact, near = np.atleast_1d(exact), np.atleast_1d(near)
    return given(name, dim=exact.size, norm=which, size=norm(exact, which), error=norm(near - exact, which), **more)


def draw(rng: np.random.Generator, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    exact = rng.uniform(-1, 1, size)
    return exact, exact + rng.uniform(-0.3, 0.3, size)


def number(error: object, name: str = "e0") -> Approximated:
    """1, known up to `error`."""
    return given(name, dim=1, size=1, error=error)
