"""The knob as a formula in the error, with the conditions under which it is an answer."""

import math
from dataclasses import dataclass

import sympy as sp

from bridge.instances.instance import Instance
from bridge.lowering import LoweringError
from bridge.lowering.ball_values import as_exact, evaluate_ball
from bridge.lowering.conditions import bound_to
from bridge.questions.solving.probes import Curve, formula
from bridge.questions.solving.search import SolvedKnob
from bridge.theorems.theorem import Theorem
from symbolic.calculus import DerivationError, knob_for
from symbolic.statements.result import Parameter, Quantity

OPERATIONS = 20  # largest expression that is passed to SymPy's solver
AGREES = 1e-6  # relative, with the answer of the search
ERROR = sp.Symbol("error", positive=True)


@dataclass(frozen=True)
class ClosedForm:
    """A formula for the knob, valid where all conditions hold."""

    text: str
    conditions: tuple[str, ...]


def closed_form(
    theorem: Theorem, curve: Curve, quantity: Quantity, knob: Parameter, found: SolvedKnob, error: float
) -> ClosedForm | None:
    """None if SymPy finds none, or if it differs from the answer because another condition is active."""
    expression = formula(quantity, curve.tier)
    if curve.tier == "instance" or expression is None or knob.symbol is None:
        return None
    if curve.ties or not expression.has(knob.symbol) or expression.count_ops() > OPERATIONS:
        return None
    if any(knob.symbol in each.free_symbols for each in expression.atoms(sp.Sum, sp.Product)):
        return None  # SymPy's solver would expand them, or not end
    try:
        chosen = knob_for(expression, knob.symbol, ERROR)
    except DerivationError:
        return None
    values = Instance.of(theorem, curve.params_at(found.value)).letters.numbers
    if not _agrees(chosen.value, {**values, ERROR: error}, found.value):
        return None
    conditions = [*_stated(chosen.condition), *_on_the_knob(theorem, quantity, curve.tier, knob.symbol)]
    return ClosedForm(sp.sstr(chosen.value), tuple(dict.fromkeys(conditions)))


def _agrees(value: sp.Expr, values: dict[sp.Symbol, object], answer: float | int) -> bool:
    if not value.free_symbols <= set(values):
        return False
    try:
        number = float(evaluate_ball(value, {s: as_exact(values[s]) for s in value.free_symbols}).mid())
    except (LoweringError, OverflowError):
        return False
    return math.isfinite(number) and abs(number - answer) <= AGREES * abs(answer)


def _stated(condition: object) -> list[str]:
    return [] if condition == sp.true else [sp.sstr(condition)]


def _on_the_knob(theorem: Theorem, quantity: Quantity, tier: str, knob: sp.Symbol) -> list[str]:
    """The hypotheses and open obligations that contain the knob."""
    stated = [sp.sstr(h.condition) for h in theorem.statement.hypotheses if knob in h.condition.free_symbols]
    if tier == "printed" or quantity.derivation is None:
        return stated
    worst = frozenset(quantity.at_worst.items())
    steps = quantity.derivation.upto(quantity.concluded_by)
    for obligation in steps.obligations:
        condition = bound_to(obligation.condition, worst)
        if obligation.open and knob in condition.free_symbols:
            stated.append(sp.sstr(condition))
    return stated
