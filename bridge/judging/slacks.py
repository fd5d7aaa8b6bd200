"""How loose each step of a derivation is at one input."""

from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.lowering.ball_values import BASE_BITS, MOST_BITS, bits_for, decimal_of
from numeric.balls.limits import TooLargeForExact
from symbolic.derivations.evaluation import decimal
from symbolic.statements.result import Quantity


def slacks_at(instance: Instance, quantity: Quantity, one: Batch) -> dict[str, float]:
    """From the exact errors of the steps there; none for a quantity that no step concludes."""
    derivation = quantity.derivation
    known = instance.bounds.quantities
    names = {q.name for q in instance.point.stated.quantities if q.scopes and q.name in known}
    if derivation is None or quantity.name not in {step.name for step in derivation.steps}:
        return {}
    steps = [step.name for step in derivation.steps if step.name in names]
    bound = instance.bounds.derived(quantity)
    bits = bits_for(bound.ball) if bound else BASE_BITS
    if bits > MOST_BITS:
        return {}
    try:
        exact = instance.runs.exact(one, steps, bits)
    except TooLargeForExact:
        return {}
    measured = {name: float(error) for name, (error, _) in exact.items()}
    used = {
        s for bound in (*quantity.at_worst.values(), *(t.local for t in derivation.steps)) for s in bound.free_symbols
    }
    values = {letter: decimal_of(value) for letter, value in instance.letters.numbers.items() if letter in used}
    worst = {letter: decimal(bound, values) for letter, bound in quantity.at_worst.items()}
    return derivation.slacks(measured, {**values, **worst})
