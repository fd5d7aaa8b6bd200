"""A bound at one value of a knob, decided as `compare` decides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import flint
import sympy as sp
from sympy.core.function import AppliedUndef

from bridge.instances.bound import Bound
from bridge.instances.instance import Instance
from bridge.instances.point import bytes_of_weights
from bridge.lowering import LoweringError, Terms, TooManyTermsError, at_most_terms
from bridge.lowering.ball_values import as_exact
from bridge.lowering.conditions import truth
from bridge.questions.solving.values import Number, Tie
from bridge.theorems.record import Verdict
from bridge.theorems.theorem import Theorem
from numeric.balls import float_above
from symbolic.derivations.derivation import DerivationError
from symbolic.statements.result import Hypothesis, Quantity, Result
from symbolic.words.errors import UsageError

MOST_TERMS = 100_000  # of the sums, products and layers of one point: about a second
MOST_OF_WEIGHTS = 2**26  # bytes: a number that no machine decides
TOO_LONG = "the bound takes more than {most:,} terms and layers, which `solve` does not run"


class State(StrEnum):
    """Whether a bound is guaranteed at a point."""

    ADMISSIBLE = "admissible"
    FORBIDDEN = "forbidden"
    UNDECIDED = "undecided"
    NOT_REPRESENTABLE = "not representable"


REFUSED = {Verdict.OUTSIDE: State.FORBIDDEN, Verdict.NOT_REPRESENTABLE: State.NOT_REPRESENTABLE}


class ConditionKind(StrEnum):
    """The origin of a condition."""

    HYPOTHESIS = "hypothesis"
    OBLIGATION = "obligation"


@dataclass(frozen=True)
class CheckedCondition:
    """A condition that was checked at the answer and holds there."""

    statement: str
    kind: ConditionKind


@dataclass(frozen=True)
class KnobProbe:
    """One point: its bound if it is guaranteed, else the reason why not.

    `params` has every parameter of the point.
    """

    state: State
    bound: Bound | None = None
    reason: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    def meets(self, error: float) -> bool:
        return self.state is State.ADMISSIBLE and self.bound is not None and bool(self.bound.ball <= flint.arb(error))

    @property
    def number(self) -> float | None:
        """The bound rounded up, if it is guaranteed."""
        return float_above(self.bound.ball) if self.state is State.ADMISSIBLE and self.bound is not None else None


@dataclass(frozen=True)
class Curve:
    """The bound of one quantity and tier along a knob; `at(None)` is the point itself.

    `ties` are the parameters that follow the knob, `most_terms` those that one point may take.
    """

    theorem: Theorem
    quantity: str
    tier: str
    point: Mapping[str, Any]
    knob: str = ""
    ties: Sequence[Tie] = ()
    most_terms: int = MOST_TERMS

    def at(self, value: Number | None) -> KnobProbe:
        try:
            with at_most_terms(Terms(self.most_terms, TOO_LONG.format(most=self.most_terms))):
                return probe(self.theorem, self.quantity, self.tier, self.params_at(value))
        except TooManyTermsError as error:
            return KnobProbe(State.NOT_REPRESENTABLE, reason=str(error))
        except (UsageError, DerivationError) as error:
            return KnobProbe(State.FORBIDDEN, reason=_clause(self.theorem.statement, error))
        except OverflowError:
            return KnobProbe(State.NOT_REPRESENTABLE, reason="a number of the network is beyond float64")

    def params_at(self, value: Number | None) -> dict[str, Any]:
        """The parameters of the point, those that follow the knob with it."""
        params = dict(self.point) if value is None else {**self.point, self.knob: value}
        for tie in self.ties:
            params[tie.parameter.name] = tie.at(numbers_of(self.theorem.statement, params))
        return params


def _clause(result: Result, error: Exception) -> str:
    """The message of a refusal, without the result's id and the final dot."""
    return str(error).removeprefix(f"{result.id}: ").rstrip(".")


def numbers_of(result: Result, params: Mapping[str, Any]) -> dict[sp.Symbol, Any]:
    """The parameters that are numbers, by symbol."""
    return {
        p.symbol: params[p.name]
        for p in result.parameters
        if p.symbol is not None and isinstance(params.get(p.name), int | float)
    }


def probe(theorem: Theorem, quantity: str, tier: str, params: Mapping[str, Any]) -> KnobProbe:
    """The hypotheses, then the point, then its bound. Raises UsageError for a point that the theorem refuses."""
    stated = theorem.statement
    asked = stated.hypotheses_at(params, theorem.knobs.automatic)
    violated = _violated_hypothesis(asked, numbers_of(stated, params))
    if violated:
        return violated
    if bytes_of_weights(theorem, numbers_of(stated, params)) > MOST_OF_WEIGHTS:
        return KnobProbe(State.NOT_REPRESENTABLE, reason=f"the weights take more than {MOST_OF_WEIGHTS >> 20} MiB")
    instance = Instance.of(theorem, dict(params))
    named, refusal = instance.point.stated.quantity(quantity), instance.refusal
    if refusal is not None and not refusal.of_run:
        return KnobProbe(REFUSED[refusal.verdict], reason=refusal.reason)
    return replace(_judged(bound_of(instance, named, tier)), params={**params, **_numeric_params(instance)})


def _violated_hypothesis(hypotheses: Sequence[Hypothesis], numbers: Mapping[sp.Symbol, Any]) -> KnobProbe | None:
    """The first hypothesis that does not hold, or that cannot be decided; None where all of them hold."""
    exact = {symbol: as_exact(value) for symbol, value in numbers.items()}
    for hypothesis in hypotheses:
        if not hypothesis.condition.free_symbols <= set(exact):
            continue  # about a parameter that the others imply: the point checks it
        holds = truth(hypothesis.condition, exact)
        words = f"the hypothesis {sp.sstr(hypothesis.condition)} ({hypothesis.reason})"
        if holds is False:
            return KnobProbe(State.FORBIDDEN, reason=f"{words} is violated")
        if holds is None:
            return KnobProbe(State.UNDECIDED, reason=f"{words} cannot be decided")
    return None


def _numeric_params(instance: Instance) -> dict[str, Any]:
    return {name: value for name, value in instance.shown.items() if isinstance(value, int | float)}


def bound_of(instance: Instance, quantity: Quantity, tier: str) -> Bound:
    """The bound of that tier. Raises UsageError if there is none, or if a symbol of it has no value."""
    try:
        bound = instance.bounds.at(quantity, tier)
    except KeyError as missing:
        if not isinstance(missing.args[0], sp.Symbol):
            raise
        raise UsageError(
            f"the {tier} bound of '{quantity.name}' contains {missing.args[0]}, which has no value at a "
            f"point of {instance.theorem.id}"
        ) from None
    except LoweringError:
        left = sorted(str(f.func) for f in (formula(quantity, tier) or sp.S.Zero).atoms(AppliedUndef))
        what = f"leaves {', '.join(left)} unspecified" if left else "cannot be evaluated in balls"
        raise UsageError(f"the {tier} bound of '{quantity.name}' {what}") from None
    if bound is None and tier == "printed" and quantity.printed is not None:
        unspecified = ", ".join(str(each) for each in quantity.printed.unspecified)
        raise UsageError(f"the printed bound of '{quantity.name}' leaves {unspecified} unspecified")
    if bound is None:
        raise UsageError(f"quantity '{quantity.name}' has no {tier} bound")
    return bound


def formula(quantity: Quantity, tier: str) -> sp.Expr | None:
    """The bound in symbols; for an instance the formula that it evaluates."""
    if tier == "printed":
        return None if quantity.printed is None else quantity.printed.bound
    return quantity.derived()


def _judged(bound: Bound) -> KnobProbe:
    open_ones = [each.statement for each in bound.checked if each.holds is None]
    if bound.outside:
        return KnobProbe(State.FORBIDDEN, reason=bound.outside)
    if bound.conditional:
        reason = "; ".join(open_ones) or "an obligation of the derivation"
        return KnobProbe(State.UNDECIDED, reason=f"not decided: {reason}")
    if not bound.ball.is_finite():
        return KnobProbe(State.UNDECIDED, reason="the bound is not a finite number")
    if bound.impossible:
        return KnobProbe(State.FORBIDDEN, reason=f"{bound.impossible}, and bounds no size")
    if bound.ball < 0:
        return KnobProbe(State.FORBIDDEN, reason=f"the bound is negative ({bound.ball.str(4, radius=False)})")
    if not bound.ball >= 0:
        return KnobProbe(State.UNDECIDED, reason="the sign of the bound is not decided")
    return KnobProbe(State.ADMISSIBLE, bound)


def conditions_at(result: Result, bound: Bound, names: Sequence[str]) -> tuple[CheckedCondition, ...]:
    """The hypotheses on these parameters and the obligations of the bound; all hold at the probed point."""
    symbols = {p.symbol for p in result.parameters if p.name in names}
    assumed = [sp.sstr(h.condition) for h in result.hypotheses if h.condition.free_symbols & symbols]
    decided = [each.statement for each in bound.checked]
    hypotheses = [CheckedCondition(words, ConditionKind.HYPOTHESIS) for words in assumed]
    return (*hypotheses, *(CheckedCondition(words, ConditionKind.OBLIGATION) for words in decided))
