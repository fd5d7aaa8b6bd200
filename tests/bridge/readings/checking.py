"""What the readings of one program have to satisfy: in balls at one point, in floats at all of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import flint
import numpy as np
import torch

from bridge.readings import AtHand, Emulated, Operands, Reading, enclose, read
from bridge.readings.arrays import largest, one_norm, two_norm
from bridge.readings.enclosed import LEFT, Enclosed
from bridge.readings.errors import Error
from bridge.readings.network import bound_network
from bridge.readings.numbers import wrong_numbers
from bridge.readings.rules.correction import ABOVE
from numeric.balls import BallArray, working_precision
from symbolic.calculus.iterations import Iteration
from symbolic.calculus.nonexpansive import SoftThreshold
from symbolic.calculus.repetition import Repetition
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.operations import Operation
from symbolic.words.names import error_symbol
from tests.bridge.readings import instances
from tests.bridge.readings.networks import bounds_of
from tests.symbolic.fuzzing.program import Program

BITS = 128
CLOSE = 1e-9  # floats against balls and against the vectors of the generator, in units of the largest number at hand
NORMS = {Norm.INF: lambda a: largest(abs(a)), Norm.ONE: one_norm, Norm.TWO: two_norm}


@dataclass(eq=False)
class Breach(Exception):  # noqa: N818 - what the field calls it
    """What is wrong at which step: two numbers in the wrong order, as a rule."""

    what: str
    step: Step

    def __str__(self) -> str:
        return f"{self.step.rule} '{self.step.name}': {self.what}"


def exceeds(what: str, step: Step, less: float, more: float) -> Breach:
    return Breach(f"{what}: {less!r} > {more!r}", step)


@dataclass
class Seen:
    """What the readings of one program were like: by rule the steps, which bound was the least, largest ratios."""

    rules: dict[str, int] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    stops: dict[str, int] = field(default_factory=dict)
    networks: dict[str, int] = field(default_factory=dict)
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)

    def count(self, where: dict[str, int], name: str) -> None:
        where[name] = where.get(name, 0) + 1

    def raise_to(self, rule: str, quantity: str, ratio: float) -> None:
        self.ratios[rule, quantity] = max(self.ratios.get((rule, quantity), 0.0), ratio)


@dataclass(frozen=True)
class Derived:
    """What all points of a program share. `change` is what a wrong rule does to its steps."""

    program: Program
    change: Callable[[Step], Step] = lambda step: step

    @cached_property
    def derivation(self) -> Derivation:
        return Derivation(tuple(map(self.change, instances.derivation_of(self.program).steps)))

    @cached_property
    def closed(self) -> Mapping[str, BallArray]:
        """The bounds of the steps, each from those of its premises."""
        known, found = Operands({}, self.program.at, BITS), dict[Any, BallArray]()
        with working_precision(BITS):
            for step in self.derivation.steps:
                symbols = {error_symbol(name): found[name] for name in step.premises}
                found[step.name] = known.within(step).scalar(step.local, symbols)
        return found


@dataclass
class Balls:
    """The readings of a program at one point. Of the `hidden` givens the enclosures know the errors' norms alone."""

    derived: Derived
    point: int
    hidden: frozenset[str]
    seen: Seen = field(default_factory=Seen)

    @property
    def program(self) -> Program:
        return self.derived.program

    @property
    def derivation(self) -> Derivation:
        return self.derived.derivation

    @cached_property
    def values(self) -> dict[str, Emulated]:
        return read(self.derivation, instances.on_balls(self.program, self.point, BITS, frozenset()))

    @cached_property
    def known(self) -> Operands:
        return instances.on_balls(self.program, self.point, BITS, self.hidden)

    @cached_property
    def prompt(self) -> Reading:
        return enclose(self.derivation, AtHand(self.known, local=False))

    @cached_property
    def local(self) -> Reading:
        return enclose(self.derivation, AtHand(self.known), coarser=self.prompt)

    def check(self) -> None:
        """Raises Breach for a bound that is certainly below what it bounds, and for a right number called wrong."""
        with working_precision(BITS):
            for words in wrong_numbers(self.derivation, self.known, self.values).values():
                raise Breach(words, self.derivation.steps[-1])
            for step in self.derivation.steps:
                self.seen.count(self.seen.rules, step.rule)
                self._check(step, self.derived.closed[step.name])

    # SymPy's arithmetic of floats rounds, so that the expression may differ from the steps by as much.
    def check_substituted(self) -> None:
        """Raises Breach where the closed bound of the last step, as one expression, is below a bound here."""
        last = self.derivation.steps[-1]
        with working_precision(BITS):
            found = self.known.scalar(self.derivation.bound(last.name), {}) * (1 + CLOSE)
            self._bounded("prompt bound over closed bound, substituted", last, self.prompt.bound(last.name), found)

    def _check(self, step: Step, closed: BallArray) -> None:
        local, prompt = (reading.bound(step.name) for reading in (self.local, self.prompt))
        self._bounded("prompt bound over closed bound", step, prompt, closed)
        self._bounded("local bound over prompt bound", step, local, prompt)
        self._count_least(step, local, prompt, closed)
        if step.name in self.values:
            here = self.values[step.name]
            error = here.emulated - here.exact
            size = torch.amax(NORMS[step.norm](error).reshape(-1), 0)
            self._bounded("error over local bound", step, size, local, "bound")
            for reading, name in ((self.local, "local"), (self.prompt, "prompt")):
                self._check_enclosure(step, reading, here, error, name)
        self._check_stops(step)

    def _check_enclosure(self, step: Step, reading: Reading, here: Emulated, error: BallArray, name: str) -> None:
        if step.name not in reading.steps:
            return
        found = reading.steps[step.name]
        if not found.exact.overlaps(here.exact).all():
            raise Breach(f"another exact value in the {name} enclosure", step)
        rest = error - found.error.centre
        for norm, radius in (("radius", found.error.radius), ("1-norm", found.error.one), ("2-norm", found.error.two)):
            size = {"radius": abs, "1-norm": one_norm, "2-norm": two_norm}[norm](rest)
            self._bounded(f"error less centre over {norm}, {name}", step, size, radius, norm)

    def check_network(self) -> None:
        """Raises Breach for a bound of the network reading that is below what it bounds, or above the closed bound."""
        with working_precision(BITS):
            found = bound_network(self.derivation, bounds_of(self.program, self.point, BITS))
            for name, known in found.items():
                step, here = self.derivation.step(name), self.values[name]
                sides = {"error": here.emulated - here.exact, "size": here.exact, "emulated": here.emulated}
                for part, value in sides.items():
                    size = torch.amax(NORMS[step.norm](value).reshape(-1), 0)
                    self._bounded(f"{part} over the network's", step, size, _array(getattr(known, part)))
                for part, value in (("reach", here.exact), ("emulated_reach", here.emulated)):
                    size = torch.amax(abs(value).reshape(-1), 0)
                    self._bounded(f"{part} of the network", step, size, _array(getattr(known, part)))
                self.seen.count(self.seen.networks, step.rule)

    def _check_stops(self, step: Step) -> None:
        if step.name not in self.local.steps:
            self.seen.count(self.seen.stops, step.rule)
            why = self.local.stops[step.name]
            if step.name in self.values and why not in (LEFT, ABOVE) and not why.startswith("after "):
                raise Breach("no enclosure, though it has a value", step)

    def _count_least(self, step: Step, local: BallArray, prompt: BallArray, closed: BallArray) -> None:
        """The coarsest reading that has the least bound, and by which of the two ways it does."""
        sizes = {"closed": closed, "prompt": prompt, "local": local}
        numbers = {name: float(each.midpoint()) for name, each in sizes.items()}
        least = min(numbers.values()) * (1 + 1e-12) + 1e-30  # a bound of 0 is a ball around 0
        name = next(name for name, each in numbers.items() if each <= least)
        if name != "closed":
            enclosed = (self.prompt if name == "prompt" else self.local).by_enclosure(step)
            by_enclosure = enclosed is not None and float(enclosed.midpoint()) <= least
            name = f"{name}, enclosed" if by_enclosure else f"{name}, by rule"
        self.seen.count(self.seen.least, name)
        if numbers["local"] * (1 + 1e-12) < numbers["prompt"]:
            return
        ways = (way(step) for way in (self.local.by_enclosure, self.local.by_rule))
        most = numbers["prompt"] * (1 + 1e-12) + 1e-30
        if all(float(each.midpoint()) > most for each in ways if each is not None):
            self.seen.count(self.seen.least, "(prompt, where local alone is above it)")

    def _bounded(self, what: str, step: Step, less: Any, more: Any, quantity: str = "") -> None:
        pairs = list(_pairs(less, more))
        for small, large in pairs:
            if not small.is_finite() or not large.is_finite() or small.lower() > large.upper():
                raise exceeds(what, step, float(small.mid()), float(large.mid()))
        if quantity:
            ratios = (float(small.mid() / large.mid()) for small, large in pairs if large.mid() > 1e-9)
            self.seen.raise_to(step.rule, quantity, max(ratios, default=0.0))


def _array(ball: flint.arb) -> BallArray:
    return BallArray([ball], (), BITS)


def _pairs(less: BallArray, more: BallArray) -> Iterator[tuple[flint.arb, flint.arb]]:
    left, right = (each.entries for each in (less, more))
    if left.shape != right.shape:
        left, right = np.broadcast_arrays(left, right)
    return zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)


# --- floats ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Floats:
    """The same at all points at once, by vmap: name of the step and of the quantity to a tensor (P, ...)."""

    program: Program
    hidden: frozenset[str]

    def quantities(self, arrays: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """At one point."""
        derivation = instances.derivation_of(self.program)
        values = read(derivation, instances.on_tensors(self.program, arrays, frozenset()))
        reading = enclose(derivation, AtHand(instances.on_tensors(self.program, arrays, self.hidden)))
        found = {}
        for step in derivation.steps:
            if (bound := reading.bound(step.name)) is not None:
                found[f"{step.name} bound"] = bound
            if step.name in values:
                here = values[step.name]
                found |= {f"{step.name} exact": here.exact, f"{step.name} emulated": here.emulated}
            if step.name in reading.steps:
                error = reading.steps[step.name].error
                found |= {f"{step.name} {part}": getattr(error, part) for part in ("centre", "radius", "one", "two")}
        return found

    @cached_property
    def arrays(self) -> dict[str, torch.Tensor]:
        return instances.arrays_of(self.program)

    @cached_property
    def batched(self) -> dict[str, torch.Tensor]:
        return torch.func.vmap(self.quantities)(self.arrays)

    def check(self) -> None:
        """Raises Breach where the vectors of the generator are not what is read, or are not enclosed."""
        moved = _moved_unseen(self.program)
        for each in self.program.checked:
            step = each.result.value.derivation.step(each.result.value.name)
            name, exact, near = step.name, each.result.tokens(each.result.exact), each.result.tokens(each.result.near)
            if f"{name} exact" not in self.batched:
                continue
            scale = each.result.scale
            self._equal("exact value", step, self.batched[f"{name} exact"].numpy(), exact, scale)
            if name not in moved:
                self._equal("emulated value", step, self.batched[f"{name} emulated"].numpy(), near, scale)
            centre, radius = (self.batched[f"{name} {part}"].numpy() for part in ("centre", "radius"))
            self._below("error less centre over radius", step, abs(near - exact - centre), radius, scale)
            bound = self.batched[f"{name} bound"].numpy()
            self._below("error over bound", step, each.result.error, bound, scale)

    def check_against(self, balls: Balls) -> set[str]:
        """The steps at and after a jump that floats, which do not know its side, enclose on both.

        Raises Breach where a number of the other enclosures differs from that in balls by more than rounding.
        """
        beside: set[str] = set()
        for name, found in balls.local.steps.items():
            step = balls.derivation.step(name)
            if beside & set(step.premises):
                beside.add(name)
                continue
            try:
                self._check_equal(step, found, balls.point)
            except Breach:
                if not (
                    _jumps(step.operation, self.program, balls.point) and self._contains(name, found.error, balls.point)
                ):
                    raise
                beside.add(name)
        return beside

    def _check_equal(self, step: Step, found: Enclosed, point: int) -> None:
        for part in ("centre", "radius", "one", "two"):
            exact = getattr(found.error, part).midpoint()
            here = self.batched[f"{step.name} {part}"][point].numpy()
            scale = max(float(np.max(np.abs(each))) for each in (found.exact.midpoint(), exact))
            self._equal(f"{part} in floats", step, here, exact, 1 + scale)

    def _contains(self, name: str, error: Error, point: int) -> bool:
        """Whether each coordinate's interval contains the one in balls, as far as these are known."""
        centre, radius = (self.batched[f"{name} {part}"][point].numpy() for part in ("centre", "radius"))
        unknown = error.centre.radius() + error.radius.radius()
        outside = error.radius.midpoint() + abs(centre - error.centre.midpoint()) - unknown
        return bool((outside <= radius + CLOSE * (1 + radius)).all())

    def check_one_by_one(self, point: int, beside: set[str]) -> None:
        """Raises Breach where vmap gives something else than one point alone, or a gradient is not finite."""
        leaves = {key: each[point].clone().requires_grad_() for key, each in self.arrays.items()}
        alone = self.quantities(leaves)
        for key, each in alone.items():
            if key.split()[0] in beside:
                continue
            step = instances.derivation_of(self.program).step(key.split()[0])
            here, there = self.batched[key][point].numpy(), each.detach().numpy()
            self._equal(f"{key}, one by one", step, here, there, 1 + float(np.max(np.abs(there))))
        bounds = [each for key, each in alone.items() if key.endswith("bound") and each.requires_grad]
        if bounds:
            gradients = torch.autograd.grad(sum(bounds), list(leaves.values()), allow_unused=True)
            if not all(bool(torch.isfinite(each).all()) for each in gradients if each is not None):
                raise Breach("a gradient is not finite", instances.derivation_of(self.program).steps[-1])

    def _equal(self, what: str, step: Step, here: np.ndarray, there: np.ndarray, scale: float) -> None:
        self._below(what, step, abs(here - there), np.zeros(()), scale)

    def _below(self, what: str, step: Step, less: np.ndarray, more: np.ndarray, scale: float) -> None:
        less, more = np.broadcast_arrays(less, more)
        exceeding = ~(less <= more * (1 + CLOSE) + CLOSE * scale)
        if exceeding.any():
            at = tuple(np.argwhere(exceeding)[0])
            raise exceeds(f"{what} at {at}", step, float(less[at]), float(more[at]))


def _moved_unseen(program: Program) -> set[str]:
    """The steps after an iteration that adds an offset, which its value does not know."""
    moved: set[str] = set()
    for step in instances.derivation_of(program).steps:
        if _adds(step.operation) or moved & set(step.premises):
            moved.add(step.name)
    return moved


def _jumps(operation: Operation | None, program: Program, point: int) -> bool:
    """Whether it is a soft threshold by a negative number, or has one in a layer."""
    if isinstance(operation, Repetition):
        return any(_jumps(step.operation, program, point) for step in operation.layer.derivation.steps)
    thresholds = program.operands[operation.threshold] if isinstance(operation, SoftThreshold) else ()
    return any((each.near[point] < 0).any() for each in thresholds)


def _adds(operation: Operation | None) -> bool:
    if isinstance(operation, Repetition):
        return any(_adds(step.operation) for step in operation.layer.derivation.steps)
    return isinstance(operation, Iteration) and operation.offset != 0
