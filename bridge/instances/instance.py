"""A theorem at one point, composed: inputs, networks, runs, letters, readings, bounds. Nothing is inherited."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from bridge.instances.bounds import Bounds, Claims
from bridge.instances.inputs import Drawn, Inputs
from bridge.instances.known import Known
from bridge.instances.letters import Letters
from bridge.instances.networks import Networks
from bridge.instances.point import Point, require_covered
from bridge.instances.readings import Readings
from bridge.instances.runs import Runs
from bridge.instances.tensor_bounds import TensorBounds
from bridge.limits.run import ONE_INPUT, Format, Run
from bridge.theorems.randomness import require_randomness
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Quantity

Wrapped = Callable[[Drawn], Inputs]  # other inputs in the place of drawn ones


@dataclass(frozen=True, eq=False)
class Instance:
    """The parts of one point, each of which can be read and tested alone; what a part needs is made when asked for.

    `refusal`: why nothing runs here.
    """

    point: Point
    known: Known
    inputs: Inputs
    networks: Networks
    letters: Letters
    readings: Readings
    runs: Runs
    bounds: Bounds
    refusal: Refusal | None

    @classmethod
    def of(cls, theorem: Theorem, params: dict[str, Any], run: Run = ONE_INPUT) -> "Instance":
        """At these parameters; raises UsageError where they do not meet the hypotheses, or what is built refuses."""
        found = cls.at(Point.at(theorem, params, run), run.format)
        found.require()
        return found

    @classmethod
    def at(cls, point: Point, format: Format, real: Wrapped | None = None) -> "Instance":
        """Nothing is drawn or built yet but what says whether the point is refused."""
        theorem, numbers = point.theorem, point.numbers
        known = Known(point, format)
        drawn = Drawn(known, numbers)
        if theorem.at_point.quantities is not None:
            require_randomness(theorem, point.over_draws)
        called = {name: str(each) for name, each in theorem.inputs.items()}
        require_covered(theorem.id, point.bounded, drawn.domain.domains, called, numbers)
        refuse = theorem.at_point.refusal
        refusal = None if refuse is None else known.call(refuse, {"dtype": format.name})
        return cls._of(point, known, drawn if real is None else real(drawn), refusal)

    @classmethod
    def _of(cls, point: Point, known: Known, inputs: Inputs, refusal: Refusal | None) -> "Instance":
        outside = refusal is not None and refusal.verdict is Verdict.OUTSIDE
        letters = Letters(known, inputs, point.stated, point.numbers, built=not outside)
        readings = Readings(letters, inputs, point.bounded, readable=refusal is None)
        networks = Networks(known, inputs.domain)
        runs, bounds = Runs(networks, inputs, readings), Bounds(readings, inputs, refusal)
        return cls(point, known, inputs, networks, letters, readings, runs, bounds, refusal)

    def require(self) -> None:
        """Makes what is drawn and built, and all letters, so that what does not fit is refused before anything long."""
        built = [name for name, each in self.theorem.built.items() if not getattr(each, "when_run", False)]
        for name in (*self.known.weights, *built):
            self.known[name]
        _ = self.letters.numbers

    @cached_property
    def nearby(self) -> "Instance":
        """The same point, where on balls each float that Python computed stands for all numbers near it."""
        near = self._of(self.point, self.known.changed(near=True), self.inputs, self.refusal)
        return near.with_claims(self.bounds.claims)

    def with_claims(self, claims: Claims) -> "Instance":
        return replace(self, bounds=self.bounds.with_claims(claims)) if claims else self

    def with_arrays(self, arrays: Mapping[str, Tensor]) -> "Instance":
        """The same, with these in the place of what is built."""
        other = self._of(self.point, self.known.changed(arrays=arrays), self.inputs, self.refusal)
        return other.with_claims(self.bounds.claims)

    @property
    def theorem(self) -> Theorem:
        return self.point.theorem

    def quantity(self, name: str) -> Quantity:
        """The quantity of this point, with the scopes that it has here. Raises UsageError."""
        stated = self.point.stated.quantity(name)
        return self.bounds.quantities.get(stated.name, stated)

    @cached_property
    def on_tensors(self) -> TensorBounds:
        return TensorBounds(self.bounds, self.runs)

    @cached_property
    def idle(self) -> tuple[str, ...]:
        """Parameters and settings that nothing depends on here."""
        idle = self.theorem.at_point.idle
        return () if idle is None else tuple(self.known.call(idle))

    @cached_property
    def shown(self) -> dict[str, Any]:
        """The parameters as tables show them; None for one that nothing depends on here."""
        shown = self.point.shown
        return shown | {name: None for name in self.idle if name in shown}
