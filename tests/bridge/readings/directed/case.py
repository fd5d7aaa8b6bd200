"""A derivation at operands chosen by hand, and the ways in which they may be emulated."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch

from bridge.readings import AtHand, Emulated, Operands, Reading, Smooth, enclose, read
from bridge.readings.arrays import NORMS, one_norm, two_norm
from bridge.readings.reading import read_errors
from numeric.balls import BallArray, BallsError, working_precision
from symbolic.calculus import Approximated
from symbolic.derivations.derivation import Derivation, Step

BITS = 128
CLOSE = 1e-12  # floats, in units of the largest number of a step
PARTS = ("radius", "one", "two", "bound")
Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Wide:
    """An operand of which the enclosures know a ball around `middle`, and whose value is `exact`."""

    exact: Any
    middle: Any
    radius: float


@dataclass(frozen=True)
class Directed:
    """Each emulated value lies within what is known of it, in floats and in balls, and reaches the edges named.

    The enclosures know of a moved operand its exact side alone. Pairs (`Emulated`) they know as such. `attained`: for a
    part of what is known of the last step (PARTS), how many times larger it is than the largest that the moves reach.
    `emulated`: what the last step has to give for each move. `by_rules`: the bounds of the rules count as well.
    `beyond`: the steps at which a function leaves its range; `stopped`: what is said of the steps without an enclosure;
    `refused`: words of the refusal of operands that decide nothing.
    """

    name: str
    value: Approximated
    operands: Arrays
    moves: tuple[Arrays, ...] = ({},)
    letters: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    attained: Mapping[str, float] = field(default_factory=dict)
    emulated: tuple[Any, ...] = ()
    by_rules: bool = False
    beyond: tuple[str, ...] = ()
    stopped: str = ""
    refused: str = ""
    local: tuple[bool, ...] = (True, False)
    bits: tuple[int | None, ...] = (None, BITS)

    @property
    def derivation(self) -> Derivation:
        return self.value.derivation

    def check(self) -> None:
        for bits in self.bits:
            with working_precision(bits or BITS):
                for local in self.local:
                    if self.refused:
                        self._check_refused(bits, local)
                    else:
                        self._check(bits, local)

    def _check_refused(self, bits: int | None, local: bool) -> None:
        try:
            self._read(bits, local)
        except BallsError as error:
            words = str(error)
        else:
            words = "nothing is refused"
        assert re.search(self.refused, words), (self.name, words)

    def _check(self, bits: int | None, local: bool) -> None:
        known = self._read(bits, local)
        assert tuple(known.beyond) == self.beyond, (self.name, known.beyond)
        assert known.stopped == self.stopped or self.beyond, (self.name, known.stopped)
        last, reached = known.bound(self.value.name), dict.fromkeys(PARTS, 0.0)
        if self.stopped or (self.beyond and bits):
            assert last is None, self.name
        elif self.beyond:
            assert numbers(last) == [np.inf], self.name
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
        if bits is None and not (self.beyond or self.stopped):
            self._check_gradients(local)
            self._check_scope(known, local)

    def _read(self, bits: int | None, local: Any) -> Reading:
        operands = self._known(bits)
        if self.by_rules and isinstance(local, bool):
            return read_errors(self.derivation, operands, local=local)
        return enclose(self.derivation, AtHand(operands, local=local, by_rules=self.by_rules))

    def _known(self, bits: int | None, move: Arrays | None = None) -> Operands:
        def arrays(found: Any) -> Any:
            if isinstance(found, Emulated):
                return Emulated(arrays(found.exact), arrays(found.emulated))
            if isinstance(found, Wide):
                return array(found.exact, bits) if move is not None else around(found.middle, found.radius, bits)
            if isinstance(found, tuple):
                return tuple(map(arrays, found))
            return found if isinstance(found, Smooth) else array(found, bits)

        bound = {name: arrays(each) for name, each in self.operands.items()}
        moved = {name: Emulated(bound[name], arrays(near)) for name, near in (move or {}).items()}
        return Operands({**bound, **moved}, self.letters, bits)

    def _ratios(self, step: Step, known: Reading, here: Emulated) -> dict[str, float]:
        found, bound = known.steps[step.name], known.bound(step.name)
        error = here.emulated - here.exact
        rest = error - found.error.centre
        scale = 0.0 if isinstance(rest, BallArray) else CLOSE * float(torch.maximum(abs(here.exact), abs(error)).max())
        sides = {
            "radius": (abs(rest), found.error.radius),
            "one": (one_norm(rest), found.error.one),
            "two": (two_norm(rest), found.error.two),
            **({} if bound is None else {"bound": (torch.amax(NORMS[step.norm](error).reshape(-1), 0), bound)}),
        }
        ratios = {part: self._ratio(step, part, less, more, scale) for part, (less, more) in sides.items()}
        return {**dict.fromkeys(PARTS, 1.0), **ratios}

    def _ratio(self, step: Step, part: str, less: Any, more: Any, scale: float) -> float:
        for small, large in entries(less, more):
            assert not small > large + scale, (self.name, step.name, part, float(small), float(large))
        pairs = list(zip(numbers(less), numbers(more + 0 * less), strict=True))
        return max((small / large for small, large in pairs if large > scale), default=1.0)

    def _close(self, found: Any, expected: Any) -> None:
        assert np.allclose(numbers(found), np.ravel(np.asarray(expected)), rtol=1e-12, atol=1e-12), (self.name, found)

    # An attack climbs the bound: its slopes are finite, also where it is 0.
    def _check_gradients(self, local: bool) -> None:
        leaves = []

        def leaf(found: Any) -> Any:
            if isinstance(found, Emulated):
                return Emulated(found.exact, leaf(found.emulated))
            if isinstance(found, torch.Tensor):
                leaves.append(found.clone().requires_grad_())
                return leaves[-1]
            return tuple(map(leaf, found)) if isinstance(found, tuple) else found

        known = self._known(None)
        operands = Operands({name: leaf(each) for name, each in known.bound.items()}, known.letters)
        reading = enclose(self.derivation, AtHand(operands, local=local, by_rules=self.by_rules))
        bound = reading.bound(self.value.name)
        if bound is not None and bound.requires_grad:
            slopes = torch.autograd.grad(bound, leaves, allow_unused=True)
            assert all(bool(each.isfinite().all()) for each in slopes if each is not None), (self.name, slopes)

    def _check_scope(self, known: Reading, local: bool) -> None:
        """Prompts of a batch may be read each in a scope of its own."""
        if self.by_rules:
            return
        mixed = self._read(None, torch.tensor(local))
        for name, step in known.steps.items():
            for part in ("centre", "radius", "one", "two"):
                here, there = (numbers(getattr(each.error, part)) for each in (step, mixed.steps[name]))
                assert np.allclose(here, there, rtol=1e-12, atol=0), (self.name, name, part)


def array(found: Any, bits: int | None) -> Any:
    tensor = torch.as_tensor(found, dtype=torch.float64)
    return tensor if bits is None else BallArray.exactly(tensor, bits)


def around(middle: Any, radius: float, bits: int | None) -> Any:
    """Balls of that radius; bits is not None where operands are wide."""
    assert bits is not None
    found = array(middle, bits)
    return BallArray([flint.arb(each.mid(), radius) for each in found.balls], tuple(found.shape), bits)


def entries(less: Any, more: Any) -> Iterator[tuple[Any, Any]]:
    """Balls as they are, so that only what is certain counts, or floats."""
    if not isinstance(less, BallArray):
        yield from zip(numbers(less), numbers(more + 0 * less), strict=True)
        return
    left, right = np.broadcast_arrays(less.entries, more.entries)
    yield from zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)


def numbers(found: Any) -> list[float]:
    return np.ravel(found.midpoint() if isinstance(found, BallArray) else found.detach().numpy()).tolist()


def tensor(found: Any) -> torch.Tensor:
    """Float64, whatever the default is while the cases are made."""
    return torch.tensor(found, dtype=torch.float64)


def full(shape: tuple[int, ...], number: float) -> torch.Tensor:
    return torch.full(shape, number, dtype=torch.float64)
