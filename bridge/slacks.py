"""How loose each step of a derivation is at one input."""

from typing import TYPE_CHECKING

from torch import Tensor

from bridge.balls import BASE_BITS, MOST_BITS, bits_for, decimal_of
from numeric.exact_cost import TooLargeForExact
from symbolic.evaluation import decimal
from symbolic.statements import Quantity

if TYPE_CHECKING:
    import bridge.study


def slacks_at(case: "bridge.study.Case", quantity: Quantity, inputs: dict[str, Tensor]) -> dict[str, float]:
    """From the exact errors of the steps there; none for a quantity that no step concludes."""
    derivation = quantity.derivation
    names = {q.name for q in case.result.quantities if q.scopes}
    if derivation is None or quantity.name not in {step.name for step in derivation.steps}:
        return {}
    steps = [step.name for step in derivation.steps if step.name in names]
    bound = case.derived(quantity)
    bits = bits_for(bound.ball) if bound else BASE_BITS
    if bits > MOST_BITS:
        return {}
    try:
        exact = case.exact(inputs, steps, bits)
    except TooLargeForExact:
        return {}
    measured = {name: float(error) for name, (error, _) in exact.items()}
    used = {
        s for bound in (*quantity.at_worst.values(), *(t.local for t in derivation.steps)) for s in bound.free_symbols
    }
    values = {letter: decimal_of(value) for letter, value in case.values.items() if letter in used}
    worst = {letter: decimal(bound, values) for letter, bound in quantity.at_worst.items()}
    return derivation.slacks(measured, {**values, **worst})
