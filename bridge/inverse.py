"""`solve`: the inverse of a bound: which value of a knob gives this error, and which error this budget gives."""

from dataclasses import dataclass
from typing import Any

import flint
import sympy as sp

from bridge.registry import find_study
from bridge.study import Study
from bridge.verdicts import Bound
from numeric.balls import float_above
from symbolic.calculus import DerivationError, knob_for
from symbolic.statements import Quantity, UsageError

TIERS = ("derived", "printed", "instance")
CLOSED_FORM_OPERATIONS = 20  # SymPy's solver is asked for expressions up to this size; beyond, bisection
DOUBLINGS = 200


@dataclass(frozen=True)
class Solution:
    """The value of a knob, and the bound that it was checked to give (rounded up)."""

    name: str
    value: float | int
    bound: float
    requested: float | None
    quantity: str
    tier: str
    method: str
    closed_form: str | None
    params: dict[str, Any]


def solve(
    result_id: str,
    *,
    for_: str,
    error: float | int | None = None,
    quantity: str | None = None,
    tier: str = "derived",
    **params: Any,
) -> Solution:
    """The value of the parameter `for_` at which the bound meets `error`; with for_="error", the bound itself.

    For a bound that falls as the knob grows this is the least sufficient value, for one that rises the largest
    admissible one. The answer is checked in exact arithmetic: the bound there is at most `error`. The other
    parameters take `params` and their defaults (the first of a default grid). Raises UsageError.
    """
    study = find_study(result_id)
    if tier not in TIERS:
        raise UsageError(f"solve: tier '{tier}' is not one of {', '.join(TIERS)}")
    if for_ in study.fixed:
        raise UsageError(f"solve: {for_} says which network it is; it is not solved for")
    if not any(each.derivation or (each.printed and each.scopes) for each in study.result.quantities):
        raise UsageError(
            f"solve: {result_id} bounds no error that a parameter could bring down; `boundsmith compare {result_id}` "
            f"and `boundsmith show {result_id}` have its numbers and formulas"
        )
    point = _point(study, for_, params)
    wanted = _wanted(study, quantity or study.main_quantity, point)
    if for_ == "error":
        if error is not None:
            raise UsageError(f"solve: the error is what is asked for; leave out error = {error}")
        bound = _bound(study, wanted, tier, point).number()
        if bound is None:
            raise UsageError(
                "solve: the bound is outside the range of float64; `boundsmith compare` says how many bits it needs"
            )
        return Solution("error", bound, bound, None, wanted.name, tier, "evaluated", None, point)
    requested = _positive_error(error)
    knob = study.result.parameter(for_)
    if knob.symbol is None:
        raise UsageError(f"solve: {for_} is not a number, so it cannot be solved for")
    if for_ not in study.through_network and not _mentions(wanted, tier, knob.symbol):
        raise UsageError(f"solve: the {tier} bound of '{wanted.name}' does not speak of {for_}")
    curve = _Curve(study, wanted, tier, point, for_, integer=knob.integer)
    value, method = curve.solve(requested)
    bound = float_above(curve.at(value).ball)
    form = _closed_form(study, wanted, tier, knob.symbol)
    return Solution(for_, value, bound, requested, wanted.name, tier, method, form, {**point, for_: value})


def _wanted(study: Study, name: str, point: dict[str, Any]) -> Quantity:
    """The quantity of that name: of the result, or of the network at hand (p[2], where the result has p[j])."""
    if name in {quantity.name for quantity in study.result.quantities}:
        return study.result.quantity(name)
    return study.case(point, seed=0, dtype="float64", device="cpu").result.quantity(name)


def _point(study: Study, for_: str, params: dict[str, Any]) -> dict[str, Any]:
    """One value for each parameter but the one that is solved for."""
    for name, value in params.items():
        study.result.parameter(name)
        if isinstance(value, tuple):
            raise UsageError(f"solve: {name} has several values; give one")
    if for_ in params:
        raise UsageError(f"solve: {for_} is what is solved for; do not set it")
    defaults = {
        parameter.name: parameter.default[0] if isinstance(parameter.default, tuple) else parameter.default
        for parameter in study.result.parameters
    }
    implied = "d" if "W_star" in params else ""
    return {name: params.get(name, value) for name, value in defaults.items() if name in params or name != implied}


def _positive_error(error: float | int | None) -> float:
    if error is None or not 0 < error < float("inf"):
        raise UsageError(f"solve: error = {error} has to be a positive number; give the error to be met")
    return float(error)


def _bound(study: Study, quantity: Quantity, tier: str, point: dict[str, Any]) -> Bound:
    case = study.case(point, seed=0, dtype="float64", device="cpu")
    bound = {
        "derived": case.derived,
        "printed": case.printed,
        "instance": lambda q: case.instance(q, "network"),
    }[tier](case.result.quantity(quantity.name))
    if bound is None:
        raise UsageError(f"solve: quantity '{quantity.name}' has no {tier} bound")
    return bound


class _Curve:
    """The bound along one knob."""

    def __init__(
        self, study: Study, quantity: Quantity, tier: str, point: dict[str, Any], name: str, *, integer: bool
    ) -> None:
        self.study, self.quantity, self.tier, self.point, self.name = study, quantity, tier, point, name
        self.integer = integer
        self.start: float | int = self._admissible_start()

    def at(self, value: float | int) -> Bound:
        return _bound(self.study, self.quantity, self.tier, {**self.point, self.name: value})

    def meets(self, value: float | int, error: float) -> bool:
        return bool(self.at(value).ball <= flint.arb(error))

    def _admissible_start(self) -> float | int:
        """1, or the least whole number from there on that meets the hypotheses."""
        for value in range(1, 100):
            try:
                self.at(value)
            except UsageError as error:
                if value == 99:
                    raise error
            else:
                return value if self.integer else float(value)
        raise AssertionError("unreachable")  # pragma: no cover

    def solve(self, error: float) -> tuple[float | int, str]:
        falls = self._falls()
        inside, outside = self._bracket(error, falls)
        if outside is None:
            return inside, f"every value tried, this being the {'smallest' if falls else 'largest'}, meets it"
        while self._apart(inside, outside):
            middle = self._between(inside, outside)
            inside, outside = (middle, outside) if self.meets(middle, error) else (inside, middle)
        return inside, "bisection, checked with Arb balls"

    def _falls(self) -> bool:
        first, later = self.at(self.start).ball, self.at(self.start * 2 + (3 if self.integer else 0)).ball
        return bool(later < first)

    def _bracket(self, error: float, falls: bool) -> tuple[float | int, float | int | None]:
        """A value that meets the error and a neighbour that does not (None if all of them meet it)."""
        value, met = self.start, self.meets(self.start, error)
        grow = falls != met  # towards the other answer
        for _ in range(DOUBLINGS):
            following = value * 2 if grow else value / 2
            if self.integer:
                following = value * 2 if grow else value - 1
            try:
                now = self.meets(following, error)
            except UsageError:
                break  # left the hypotheses
            if now != met:
                return (following, value) if now else (value, following)
            value = following
        if met:
            return value, None
        best = self.at(value).number()
        raise UsageError(
            f"solve: no {self.name} gives {error:g}; at {self.name} = {value:g} the {self.tier} bound of "
            f"'{self.quantity.name}' is {'outside the range of float64' if best is None else format(best, '.4g')}"
        )

    def _apart(self, inside: float | int, outside: float | int) -> bool:
        return abs(outside - inside) > (1 if self.integer else 1e-12 * max(abs(inside), abs(outside)))

    def _between(self, inside: float | int, outside: float | int) -> float | int:
        return (int(inside) + int(outside)) // 2 if self.integer else (inside + outside) / 2


def _mentions(quantity: Quantity, tier: str, knob: sp.Symbol) -> bool:
    """Whether the knob stands in the formula; what only shapes a matrix (d, say) cannot be solved for."""
    expression = quantity.printed.bound if tier == "printed" and quantity.printed else quantity.derived()
    return expression is None or expression.has(knob)


def _closed_form(study: Study, quantity: Quantity, tier: str, knob: sp.Symbol) -> str | None:
    """The knob as a formula in the error, where SymPy finds one."""
    expression = quantity.derived() if tier == "derived" else quantity.printed.bound if quantity.printed else None
    if tier == "instance" or expression is None or expression.count_ops() > CLOSED_FORM_OPERATIONS:
        return None
    try:
        return sp.sstr(knob_for(expression, knob, sp.Symbol("error", positive=True)).value)
    except DerivationError:
        return None
