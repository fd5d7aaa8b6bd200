"""The parameters on which a bound depends: directly, or through the network, tested by changing each one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
import sympy as sp

from bridge.limits.arguments import arguments_of
from bridge.questions.solving.probes import Curve, KnobProbe, formula
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Parameter, Quantity

UNCHANGED = flint.arb(2) ** -40  # relative: changes of a bound that rounding alone may cause


def letters_of(quantity: Quantity, tier: str) -> set[sp.Symbol]:
    """The symbols of the bound and of its open obligations."""
    expression = formula(quantity, tier)
    found = set() if expression is None else set(expression.free_symbols)
    if tier != "printed" and quantity.derivation is not None:
        worst = quantity.at_worst
        for obligation in quantity.derivation.upto(quantity.concluded_by).obligations:
            if obligation.open:
                found |= sp.sympify(obligation.condition, strict=True).subs(worst).free_symbols
    return found


def through_network(theorem: Theorem) -> tuple[str, ...]:
    """The parameters that change a bound by way of the network that is built, whether or not it has their letter.

    A parameter on which a weight or a letter depends does.
    """
    drawn = (each for name, each in theorem.weights.items() if name not in theorem.drawn_each_time)
    functions = [*(f for given in theorem.knows.values() for f in given), *(f for f in drawn if callable(f))]
    functions += [each for each in (theorem.at_point.letters, theorem.norms) if each is not None]
    taken = {name for function in functions for name in arguments_of(function)}
    for name, build in reversed(list(theorem.built.items())):
        taken |= set(arguments_of(build)) if name in taken else set()
    return tuple(p.name for p in theorem.statement.parameters if p.name in taken)


def may_depend(theorem: Theorem, quantity: Quantity, tier: str, knob: Parameter) -> bool:
    """Whether the bound contains the knob's symbol, or depends on the network that the knob shapes."""
    return knob.name in through_network(theorem) or knob.symbol in letters_of(quantity, tier)


def parameters_of(theorem: Theorem, curve: Curve, quantity: Quantity, probe: KnobProbe) -> dict[str, Any]:
    """The parameters on which the bound depends at this probe, with their values there.

    A parameter that shapes the network is left out if no admissible change of it changes the bound, or if its value 0
    means that the others determine it. A parameter that is not a number (a matrix, the name of a function) is left out
    if the bound has no symbol for what it shapes. A parameter whose symbol occurs in the bound is kept.
    """
    letters, shaping = letters_of(quantity, curve.tier), through_network(theorem)
    own = {p.symbol for p in theorem.statement.parameters if p.symbol is not None}
    shaped = curve.tier == "instance" or bool(letters - own)
    kept: dict[str, Any] = {}
    for parameter in theorem.statement.parameters:
        value = probe.params.get(parameter.name)
        named = parameter.symbol in letters or parameter.name in shaping
        set_by_others = parameter.name in theorem.knobs.automatic and value == 0
        if parameter.name == curve.knob or value is None or not named or set_by_others:
            continue
        if parameter.symbol is None or not isinstance(value, int | float):
            kept |= {parameter.name: value} if shaped else {}
        elif parameter.name not in shaping or _changes(curve, parameter, value, probe):
            kept[parameter.name] = value
    return kept


def _changes(curve: Curve, parameter: Parameter, value: float | int, probe: KnobProbe) -> bool:
    at = probe.params.get(curve.knob) if curve.knob else None
    for other in _others(value, parameter):
        moved = replace(curve, point={**_given(curve, probe), parameter.name: other}, ties=())
        if _differ(moved.at(at), probe):
            return True
    return False


def _given(curve: Curve, probe: KnobProbe) -> Mapping[str, Any]:
    """The point with the parameters that follow the knob where they are at the probe."""
    return {**curve.point, **{tie.parameter.name: probe.params[tie.parameter.name] for tie in curve.ties}}


def _others(value: float | int, parameter: Parameter) -> tuple[float | int, ...]:
    """Two neighbours, the one that is cheaper to build first."""
    if parameter.integer:
        return int(value) - 1, int(value) + 1
    return (value / 2, 2.0 * value) if value else (1.0, -1.0)


def _differ(moved: KnobProbe, probe: KnobProbe) -> bool:
    """Whether both have a bound, and not the same one."""
    if moved.bound is None or probe.bound is None:
        return False
    distance = abs(moved.bound.ball - probe.bound.ball)
    return not distance <= abs(probe.bound.ball) * UNCHANGED
