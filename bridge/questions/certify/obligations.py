"""Obligations of derivations discharged by proof: over ranges of the parameters, or at the parameters of a theorem."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import as_exact
from bridge.lowering.conditions import claims_of
from bridge.questions.certify.deadline import checked_seconds
from bridge.questions.certify.proving import Outcome, Status, prove
from numeric.balls import working_precision
from symbolic.derivations.derivation import Derivation, Obligation
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

BITS = 96
OBLIGATION = "obligation: "  # in front of the meaning of its inequality


@dataclass(frozen=True)
class Discharged:
    """One open obligation and the outcome of its proof attempt; `reason` if none was possible."""

    obligation: Obligation
    step: str
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"<Discharged {self.step}: {self.obligation.statement}: {self.verdict}{why}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *map(str, self.outcomes)])

    @property
    def verdict(self) -> Status:
        statuses = {outcome.status for outcome in self.outcomes}
        if Status.REFUTED in statuses:
            return Status.REFUTED
        return Status.PROVED if statuses == {Status.PROVED} else Status.UNDECIDED


def discharge(of: Derivation | Quantity, ranges: Mapping[sp.Symbol, Any], *, seconds: float = 10.0) -> list[Discharged]:
    """A proof attempt for each open obligation, for all parameters in `ranges` at once.

    A range is a number (floats as the binary rationals that they are), a ball, or a pair (low, high). A quantity's
    worst-case symbols are bound first. An obligation that cannot be tried is also listed, with the reason.
    """
    checked_seconds("discharge", seconds)
    return [_discharge(step, obligation, ranges, seconds) for step, obligation in open_obligations(of)]


def open_obligations(of: Derivation | Quantity) -> list[tuple[str, Obligation]]:
    """The obligations that nothing has discharged yet, with the step that needs them, each once."""
    derivation, worst = (of, {}) if isinstance(of, Derivation) else (of.derivation, of.at_worst)
    if derivation is None:
        return []
    if isinstance(of, Quantity):
        derivation = derivation.upto(of.concluded_by)
    found = {
        (step.name, Obligation(o.statement, sp.sympify(o.condition, strict=True).subs(worst)))
        for step in derivation.steps
        for o in step.obligations
        if o.open
    }
    order = [(step.name, o.statement) for step in derivation.steps for o in step.obligations]
    return sorted(found, key=lambda pair: order.index((pair[0], pair[1].statement)))


def _discharge(step: str, obligation: Obligation, ranges: Mapping[sp.Symbol, Any], seconds: float) -> Discharged:
    try:
        inequalities = obligation_inequalities(step, obligation, ranges)
    except UsageError as error:
        return Discharged(obligation, step, reason=str(error))
    return Discharged(obligation, step, tuple(prove(each, seconds=seconds) for each in inequalities))


def obligation_inequalities(name: str, obligation: Obligation, ranges: Mapping[sp.Symbol, Any]) -> list[Inequality]:
    """The inequalities to prove on the box. Raises UsageError for another kind of condition or a missing range."""
    claims = claims_of(obligation.condition)
    missing = sorted(str(s) for expression, _ in claims for s in expression.free_symbols - set(ranges))
    if missing:
        raise UsageError(f"'{obligation.statement}': no range is given for {', '.join(dict.fromkeys(missing))}")
    meaning = f"{OBLIGATION}{obligation.statement}"
    return [
        Inequality(
            f"{name}: {obligation.statement}", expression, _box(expression, ranges), strict=strict, meaning=meaning
        )
        for expression, strict in claims
    ]


def _box(expression: sp.Expr, ranges: Mapping[sp.Symbol, Any]) -> dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]:
    return {symbol: _ends(symbol, ranges[symbol]) for symbol in sorted(expression.free_symbols, key=str)}


def _ends(symbol: sp.Symbol, value: Any) -> tuple[sp.Rational, sp.Rational]:
    low, high = value if isinstance(value, tuple) else (value, value)
    return _end(symbol, low, upper=False), _end(symbol, high, upper=True)


def _end(symbol: sp.Symbol, value: Any, *, upper: bool) -> sp.Rational:
    """An exact end; of a ball the outer one."""
    if isinstance(value, flint.arb):
        if not value.is_finite():
            raise UsageError(f"the range of {symbol} is not finite")
        with working_precision(BITS):  # an exact ball has no outer ends: rounding to a precision would make some
            end = value if value.is_exact() else value.upper() if upper else value.lower()
        mantissa, exponent = end.man_exp()
        return sp.Rational(int(mantissa)) * sp.Integer(2) ** int(exponent)
    exact = as_exact(value)
    if not isinstance(exact, int | Fraction):
        raise UsageError(f"the range of {symbol}, {value}, is not a rational number")
    return sp.Rational(exact)


def stated_obligations(source: Any, params: Mapping[str, Any]) -> tuple[list[Inequality], list[str]]:
    """The open obligations of a theorem at these parameters, and why others cannot be tried.

    The symbols have the values of the point, worst-case symbols included.
    """
    from bridge.instances.instance import Instance
    from bridge.instances.point import require_affordable
    from bridge.theorems.registry import find_theorem

    theorem = find_theorem(source)
    if not any(open_obligations(quantity) for quantity in theorem.statement.quantities):
        return [], []
    require_affordable(theorem, params, "certify")
    instance = Instance.of(theorem, dict(params))
    found: dict[str, list[Inequality]] = {}
    refused: list[str] = []
    for quantity in instance.point.stated.quantities:
        for step, obligation in open_obligations(quantity):
            name = quantity.name if step == quantity.name else f"{quantity.name}, {step}"
            try:
                found[f"{name}: {obligation.statement}"] = obligation_inequalities(
                    name, obligation, instance.letters.numbers
                )
            except UsageError as error:
                refused.append(f"{name}: {error}")
    return [each for several in found.values() for each in several], refused
