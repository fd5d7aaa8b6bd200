"""The derivations of a theorem, read for every prompt of its network: norms in the place of arrays."""

from typing import TYPE_CHECKING

import flint

from bridge.balls import BASE_BITS, as_exact
from bridge.readings.network import Bounded, Bounds, bound_network
from bridge.theorem_readings import step_of
from numeric.balls import working_precision
from symbolic.statements import Quantity

if TYPE_CHECKING:
    import bridge.theorem_bounds


class NetworkReadings:
    """Of each derivation once, for all quantities that it derives."""

    def __init__(self, case: "bridge.theorem_bounds.TheoremBounds") -> None:
        self.case = case
        self._read: dict[int, dict[str, Bounded]] = {}

    def bound(self, quantity: Quantity) -> flint.arb | None:
        """On the error of the quantity; None where the norms do not give one."""
        if self.case.theorem.norms is None or quantity.derivation is None:
            return None
        found = self._of(quantity).get(step_of(quantity))
        return None if found is None else found.error

    def _of(self, quantity: Quantity) -> dict[str, Bounded]:
        key = id(quantity.derivation)
        if key not in self._read:
            case, derivation = self.case, quantity.derivation
            assert case.theorem.norms is not None  # asked by `bound` alone, as is the derivation
            assert derivation is not None
            same = [step_of(each) for each in case.result.quantities if each.derivation is derivation]
            letters = {symbol: as_exact(value) for symbol, value in case.values.items()}
            with working_precision(2 * BASE_BITS):
                operands = case.known.call(case.theorem.norms, {})
                self._read[key] = bound_network(derivation, Bounds(operands, letters), same)
        return self._read[key]
