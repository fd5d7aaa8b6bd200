"""A derivation at operands chosen by hand, and the ways in which they may be emulated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp
import torch

from bridge.readings import Emulated, Instance, Operands, Reading, Smooth, enclose, read
from bridge.readings.arrays import NORMS, one_norm, two_norm
from numeric.balls import BallArray, working_precision
from symbolic.calculus import Approximated
from symbolic.derivation import Derivation, Step

BITS = 128
CLOSE = 1e-12  # floats, in units of the largest number of a step
PARTS = ("radius", "one", "two", "bound")
Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Directed:
    """Each emulated value lies within what is known of it, in floats and in balls, and reaches the edges named.

    The enclosures know of a moved operand its exact side alone. Pairs (`Emulated`) they know as such. `attained`: for a
    part of what is known of the last step (PARTS), how many times larger it is than the largest that the moves reach.
    `emulated`: what the last step has to give for each move. `beyond`: the step after which nothing is known, if any.
    """

    name: str
    value: Approximated
    operands: Arrays
    moves: tuple[Arrays, ...] = ({},)
    letters: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    attained: Mapping[str, float] = field(default_factory=dict)
    emulated: tuple[Any, ...] = ()
    beyond: str = ""
    local: tuple[bool, ...] = (True, False)
    bits: tuple[int | None, ...] = (None, BITS)

    @property
    def derivation(self) -> Derivation:
        return self.value.derivation

    def check(self) -> None:
        for bits in self.bits:
            with working_precision(bits or BITS):
                for local in self.local:
                    self._check(bits, local)

    def _check(self, bits: int | None, local: bool) -> None:
        known = enclose(self.derivation, Instance(self._known(bits), local=local, by_rules=False))
        assert known.beyond == ([self.beyond] if self.beyond else []), (self.name, known.beyond)
        reached = dict.fromkeys(PARTS, 0.0)
        for place, move in enumerate(self.moves):
            values = read(self.derivation, self._known(bits, move))
            if self.emulated:
                self._close(values[self.value.name].emulated, self.emulated[place])
            for step in self.derivation.steps:
                if step.name in known.steps and bool(known.steps[step.name].holds):
                    ratios = self._ratios(step, known, values[step.name])
                    if step.name == self.value.name:
                        reached = {part: max(reached[part], ratios[part]) for part in PARTS}
        if local is self.local[0] and not self.beyond:
            for part, most in self.attained.items():
                assert reached[part] * most >= 1 - 1e-9, (self.name, bits, part, reached[part])

    def _known(self, bits: int | None, move: Arrays | None = None) -> Operands:
        def arrays(found: Any) -> Any:
            if isinstance(found, Emulated):
                return Emulated(arrays(found.exact), arrays(found.emulated))
            if isinstance(found, tuple):
                return tuple(map(arrays, found))
            return found if isinstance(found, Smooth) else array(found, bits)

        bound = {name: arrays(each) for name, each in self.operands.items()}
        moved = {name: Emulated(bound[name], arrays(near)) for name, near in (move or {}).items()}
        return Operands({**bound, **moved}, self.letters, bits)

    def _ratios(self, step: Step, known: Reading, here: Emulated) -> dict[str, float]:
        found, bound = known.steps[step.name], known.bound(step.name)
        assert bound is not None
        error = here.emulated - here.exact
        rest = error - found.error.centre
        scale = (
            1e-30 if isinstance(rest, BallArray) else CLOSE * float(torch.maximum(abs(here.exact), abs(error)).max())
        )
        sides = {
            "radius": (abs(rest), found.error.radius),
            "one": (one_norm(rest), found.error.one),
            "two": (two_norm(rest), found.error.two),
            "bound": (torch.amax(NORMS[step.norm](error).reshape(-1), 0), bound),
        }
        return {part: self._ratio(step, part, less, more, scale) for part, (less, more) in sides.items()}

    def _ratio(self, step: Step, part: str, less: Any, more: Any, scale: float) -> float:
        pairs = list(zip(numbers(less), numbers(more + 0 * less), strict=True))
        for small, large in pairs:
            assert small <= large + scale, (self.name, step.name, part, small, large)
        return max((small / large for small, large in pairs if large > scale), default=1.0)

    def _close(self, found: Any, expected: Any) -> None:
        assert np.allclose(numbers(found), np.ravel(np.asarray(expected)), rtol=1e-12, atol=1e-12), (self.name, found)


def array(found: Any, bits: int | None) -> Any:
    tensor = torch.as_tensor(found, dtype=torch.float64)
    return tensor if bits is None else BallArray.exactly(tensor, bits)


def numbers(found: Any) -> list[float]:
    return np.ravel(found.midpoint() if isinstance(found, BallArray) else found.detach().numpy()).tolist()


def tensor(found: Any) -> torch.Tensor:
    """Float64, whatever the default is while the cases are made."""
    return torch.tensor(found, dtype=torch.float64)


def full(shape: tuple[int, ...], number: float) -> torch.Tensor:
    return torch.full(shape, number, dtype=torch.float64)
