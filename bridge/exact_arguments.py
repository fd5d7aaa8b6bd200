"""What the functions of a theorem take on balls, beside inputs: parameters, weights, and what is built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from bridge.domains import Domain
from bridge.theorem import Theorem
from numeric.balls import working_precision
from numeric.balls.floats import floats_enclosed
from numeric.balls.running import as_argument


@dataclass(frozen=True)
class ExactArguments:
    """By name, at one point.

    A weight that a domain draws is an element of it, near the drawn one; one that the witness stores is what it is.
    With `enclose_floats`, what Python has computed from parameters (other weights, what is built) stands for all
    numbers near it.
    """

    theorem: Theorem
    params: Mapping[str, Any]
    weights: Mapping[str, Tensor]
    built: Mapping[str, Any]
    enclose_floats: bool = False
    _known: dict[int, dict[str, Any]] = field(default_factory=dict, init=False)

    def at(self, bits: int) -> dict[str, Any]:
        if bits not in self._known:
            with working_precision(bits):
                weights = {name: self._weight(name, bits) for name in self.weights}
                built = {name: self._computed(each) for name, each in self.built.items()}
            self._known[bits] = {**self.params, **weights, **built}
        return self._known[bits]

    def _weight(self, name: str, bits: int) -> Any:
        drawn_from, weight = self.theorem.weights[name], self.weights[name]
        if isinstance(drawn_from, Domain):
            letters = {p.symbol: self.params[p.name] for p in self.theorem.statement.parameters if p.symbol is not None}
            return drawn_from.at(letters).member(weight, bits)
        stored = name in self.theorem.recorded or name in self.params
        return weight if stored else self._computed(weight)

    def _computed(self, value: Any) -> Any:
        with floats_enclosed(self.enclose_floats):
            return as_argument(value)
