"""Repeated layers: run one after another, for values, errors and the numbers that the rules inside were given."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from bridge.readings.arrays import Array
from bridge.readings.enclosed import AtHand, Enclosed, NoEnclosure, enclosed, is_of_the_step
from bridge.readings.numbers import wrong_in, wrong_inside
from bridge.readings.operands import Emulated, Operands
from bridge.readings.reading import enclose
from bridge.readings.values import both, computes, emulates, has_value, is_emulated, read, value
from symbolic.calculus.repetition import Repetition
from symbolic.derivations.derivation import Step
from symbolic.derivations.operations import Operation

Values = TypeVar("Values")


def inside(operation: Repetition) -> list[Step]:
    """The steps of one layer, but for the value that it starts from."""
    layer = operation.layer
    return [step for step in layer.derivation.leading_to(layer.name) if step.name != operation.premise]


@computes.register
def _computes(operation: Repetition) -> bool:
    return all(has_value(step.operation) for step in inside(operation))


@is_emulated.register
def _is_emulated(operation: Repetition, step: Step, operands: Operands) -> bool:
    layers = operands.layers(operation.depth)
    return all(emulates(inside(operation), operands.in_layer(place, operation.index)) for place in layers)


@both.register
def _both(operation: Repetition, premises: list[Emulated], operands: Operands) -> Emulated:
    return _through_layers(operation, premises[0], operands, both)


@value.register
def _value(operation: Repetition, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return _through_layers(operation, x[0], operands, lambda each, x, here: value(each, x, here, emulated))


# Within a layer only the given's operand differs from that of the derivation: the value after the layers before.
def _through_layers(
    operation: Repetition,
    start: Values,
    operands: Operands,
    run: Callable[[Operation, list[Values], Operands], Values],
) -> Values:
    found, layer = start, operation.layer
    for place in operands.layers(operation.depth):
        known, inner = {operation.premise: found}, operands.in_layer(place, operation.index)
        for step in layer.derivation.leading_to(layer.name):
            if step.name not in known:
                assert step.operation is not None  # `has_value`
                known[step.name] = run(step.operation, [known[name] for name in step.premises], inner.within(step))
        found = known[layer.name]
    return found


@enclosed.register
def _enclosed(operation: Repetition, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    current, layer = x[0], operation.layer
    for place in at.operands.layers(operation.depth):
        inner = enclose(
            layer.derivation, at.in_layer(place, operation.index), [layer.name], known={operation.premise: current}
        )
        if layer.name not in inner.steps:
            raise NoEnclosure(f"in layer {place + 1} {inner.stopped}")
        current = inner.steps[layer.name]
    return current


@wrong_inside.register
def _wrong_inside(
    operation: Repetition, step: Step, x: list[Emulated], operands: Operands, *, runs: bool, surely: bool
) -> Iterator[tuple[str, str]]:
    value, layer = x[0], operation.layer
    for place in operands.layers(operation.depth):
        inner = operands.in_layer(place, operation.index)
        here = replace(inner, bound={**inner.bound, operation.premise: value})
        values = read(layer.derivation, here, [layer.name])
        where = f"'{step.name}', layer {place + 1}, "
        yield from wrong_in(layer.derivation, here, values, where, runs=runs, surely=surely)
        value, runs = values[layer.name], runs and emulates(inside(operation), here)


@is_of_the_step.register
def _is_of_the_step(operation: Repetition) -> bool:
    return True
