"""`solve`: the inverse of a bound: which value of a knob gives this error, and which error this budget gives."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bridge.instances.instance import Instance
from bridge.instances.point import require_affordable
from bridge.limits.accepted import checked_number
from bridge.limits.refusals import briefly_refused, explained
from bridge.lowering import Terms, at_most_terms
from bridge.questions.solving.closed_form import ClosedForm, closed_form
from bridge.questions.solving.dependence import may_depend, parameters_of
from bridge.questions.solving.probes import Curve, KnobProbe, State, conditions_at, formula, numbers_of
from bridge.questions.solving.search import RISING, NoAnswerError, Search, SolvedKnob, UnchangedError
from bridge.questions.solving.solution import Solution
from bridge.questions.solving.tiers import check_tier
from bridge.questions.solving.values import WHOLE, Interval, Number, grid_of, interval_of, lattice_of, ties_of
from bridge.theorems.refutable import sentences_on
from bridge.theorems.registry import TheoremLike, find_theorem
from bridge.theorems.theorem import Theorem
from numeric.balls import float_above
from symbolic.statements.result import Kind, Parameter, Quantity
from symbolic.words.errors import UsageError

SEARCH_TERMS = 3_000_000  # of all points of a search together: some ten seconds
SPENT = f"the search has run {SEARCH_TERMS:,} terms and layers, all that it may"
JUMP = 1e-3  # relative: a larger difference between neighbouring values is a jump of the bound
NOT_GUARANTEED = "a printed bound is the paper's; boundsmith does not prove it"
TRUSTED = (Kind.UPPER, Kind.EXACT)  # kinds of bound that limit an error from above


@briefly_refused
def solve(
    result: TheoremLike,
    *,
    for_: str,
    error: float | int | None = None,
    quantity: str | None = None,
    tier: str = "derived",
    **params: Any,
) -> Solution:
    """The value of the parameter `for_` at which the bound meets `error`; with for_="error", the bound itself.

    `result` is a `Theorem`, the id of a result, or a file with a theorem. The answer is the least value among those
    searched that meets the error; if the bound rises with the knob, it is the largest one. At the answer every
    hypothesis holds, every open obligation is decided by balls, and the bound, evaluated as `compare` evaluates it, is
    at most `error`. The other parameters take `params` and their defaults (the first of a default grid); one that an
    equality among the hypotheses ties to the knob follows it. Raises UsageError.
    """
    theorem = find_theorem(result)
    _check_call(theorem, for_, error, tier)
    point = _point(theorem, for_, params)
    require_affordable(theorem, point, "solve")
    with explained(f"solve {theorem.id}", [point, {"error": error}]):
        return _solved(theorem, for_, error, quantity or theorem.main, tier, point, params)


def _solved(
    theorem: Theorem,
    for_: str,
    error: float | int | None,
    name: str,
    tier: str,
    point: dict[str, Any],
    params: Mapping[str, Any],
) -> Solution:
    if for_ == "error":
        return _error_at(theorem, Curve(theorem, name, tier, point, most_terms=SEARCH_TERMS))
    requested = _positive_error(error)
    knob = theorem.statement.parameter(for_)
    if knob.symbol is None:
        raise UsageError(f"solve: {for_} is not a number, so it cannot be solved for")
    curve = Curve(theorem, name, tier, point, for_, tuple(ties_of(theorem.statement, knob.symbol, params)))
    target = _target_quantity(theorem, curve, knob)
    found = _searched(theorem, curve, knob, requested)
    probe = curve.at(found.value)  # once more, from scratch, at the value that is returned
    if not probe.meets(requested):
        raise AssertionError(f"solve: {for_} = {found.value} does not meet {requested}")
    form = closed_form(theorem, curve, target, knob, found, requested)
    return _solution(theorem, curve, target, probe, found, requested, form)


def _check_call(theorem: Theorem, for_: str, error: float | int | None, tier: str) -> None:
    """Raises UsageError for a question that no point of the theorem can answer."""
    result = theorem.statement
    check_tier(tier)
    if for_ in theorem.knobs.fixed:
        raise UsageError(f"solve: {for_} selects the network, so it cannot be solved for")
    if not any(each.derivation or (each.printed and each.scopes) for each in result.quantities):
        raise UsageError(
            f"solve: {result.id} has no error bound that a parameter can reduce; `boundsmith compare {result.id}` "
            f"shows its numbers and `boundsmith show {result.id}` its formulas"
        )
    if for_ == "error" and error is not None:
        raise UsageError(f"solve: for_='error' computes the error; omit error = {error}")


def _point(theorem: Theorem, for_: str, params: dict[str, Any]) -> dict[str, Any]:
    """One value for each parameter but the knob and those that others imply."""
    for name, value in params.items():
        theorem.statement.parameter(name)
        if isinstance(value, tuple):
            raise UsageError(f"solve: {name} has several values; give one")
    if for_ in params:
        raise UsageError(f"solve: {for_} is the parameter to solve for; do not set it")
    defaults = {p.name: _one(p) for p in theorem.statement.parameters}
    return {
        name: _number(theorem, name, params.get(name, value))
        for name, value in defaults.items()
        if name != for_ and (name in params or name not in theorem.knobs.implied)
    }


def _one(parameter: Parameter) -> Any:
    return parameter.default[0] if isinstance(parameter.default, tuple) else parameter.default


def _number(theorem: Theorem, name: str, value: Any) -> Any:
    return value if theorem.statement.parameter(name).symbol is None else checked_number(theorem.statement, name, value)


def _with_article(tier: str) -> str:
    return f"an {tier}" if tier == "instance" else f"a {tier}"


def _positive_error(error: float | int | None) -> float:
    if error is None:
        raise UsageError("solve: the error to be met is missing; give it (--error E)")
    if not 0 < error < float("inf"):
        raise UsageError(f"solve: error = {error} must be a positive number; give the error to be met")
    return float(error)


def _target_quantity(theorem: Theorem, curve: Curve, knob: Parameter) -> Quantity:
    """The quantity, as the result or a point has it. Raises UsageError if it has no bound that the knob can change."""
    target = _quantity(theorem, curve, None if knob.default is None else _one(knob))
    if target.kind not in TRUSTED:
        raise UsageError(
            f"solve: '{target.name}' is a {target.kind} bound, so no value of {knob.name} keeps an error below it"
        )
    if formula(target, curve.tier) is None and curve.tier != "instance":
        raise UsageError(f"solve: quantity '{target.name}' has no {curve.tier} bound")
    if curve.tier == "instance" and "network" not in target.scopes:
        raise UsageError(f"solve: quantity '{target.name}' has no instance bound")
    if not may_depend(theorem, target, curve.tier, knob):
        raise UsageError(f"solve: the {curve.tier} bound of '{target.name}' does not depend on {knob.name}")
    return target


def _quantity(theorem: Theorem, curve: Curve, at: Number | None) -> Quantity:
    """The quantity of the network (p[2], if the result has p[j]), else of the result."""
    try:
        return Instance.of(theorem, curve.params_at(at)).point.stated.quantity(curve.quantity)
    except UsageError:
        if curve.quantity not in {quantity.name for quantity in theorem.statement.quantities}:
            raise
        return theorem.statement.quantity(curve.quantity)


def _error_at(theorem: Theorem, curve: Curve) -> Solution:
    target = _quantity(theorem, curve, None)
    probe = curve.at(None)
    bound = _usable(curve, probe)
    if bound is None:
        raise UsageError(
            "solve: the bound is outside the range of float64; `boundsmith compare` shows how many bits it needs"
        )
    params = parameters_of(theorem, curve, target, probe)
    assert probe.bound is not None  # it is admissible
    conditions = conditions_at(theorem.statement, probe.bound, list(params))
    return Solution(
        "error", bound, bound, None, curve.quantity, curve.tier, "evaluated", None, params, conditions, (),
        _note(theorem, curve, target), bool(target.scopes), theorem.id, theorem.knobs.automatic,
    )  # fmt: skip


def _usable(curve: Curve, probe: KnobProbe) -> float | None:
    """The bound as a float64, rounded up; None if there is none. Raises UsageError if it is not guaranteed."""
    if probe.state is not State.ADMISSIBLE or probe.bound is None:
        raise UsageError(f"solve: the {curve.tier} bound of '{curve.quantity}' is not guaranteed: {probe.reason}")
    return probe.bound.number()


def _searched(theorem: Theorem, curve: Curve, knob: Parameter, error: float) -> SolvedKnob:
    interval, within = _interval(theorem, curve, knob), _affordable(theorem, knob)
    lattice = (
        WHOLE if knob.symbol is None or not knob.integer else lattice_of(knob.symbol, theorem.statement.hypotheses)
    )
    grid = grid_of(interval, within, _one(knob), integer=knob.integer, tied=bool(curve.ties), lattice=lattice)
    try:
        with at_most_terms(Terms(SEARCH_TERMS, SPENT)):
            return Search(curve.at, grid, error, integer=knob.integer, lattice=lattice).run()
    except UnchangedError:
        raise UsageError(
            f"solve: the {curve.tier} bound of '{curve.quantity}' does not depend on {knob.name}: it is the same at "
            f"every value that was searched"
        ) from None
    except NoAnswerError as why:
        raise UsageError(
            f"solve: no {knob.name} gives {_with_article(curve.tier)} bound of '{curve.quantity}' of at most "
            f"{error:g}: {why}"
        ) from None


def _interval(theorem: Theorem, curve: Curve, knob: Parameter) -> Interval:
    """The interval that the hypotheses allow."""
    assert knob.symbol is not None  # it is a number
    tied = {tie.condition for tie in curve.ties}
    hypotheses = [h for h in theorem.statement.hypotheses if h.condition not in tied]
    fixed = numbers_of(theorem.statement, curve.point)
    following = {tie.parameter.symbol for tie in curve.ties}
    values = {symbol: value for symbol, value in fixed.items() if symbol not in following}
    found = interval_of(knob.symbol, hypotheses, values, knob.integer)
    if knob.name in theorem.knobs.automatic:
        found = found.above(Fraction(1 if knob.integer else 0), is_open=not knob.integer)
    return found


def _affordable(theorem: Theorem, knob: Parameter) -> Interval:
    """The interval in which a point does not take seconds to build."""
    low, high = theorem.knobs.searched.get(knob.name, (None, None))
    found = Interval() if low is None else Interval().above(Fraction(low), is_open=False)
    return found if high is None else found.below(Fraction(high), is_open=False)


def _solution(
    theorem: Theorem,
    curve: Curve,
    target: Quantity,
    probe: KnobProbe,
    found: SolvedKnob,
    error: float,
    form: ClosedForm | None,
) -> Solution:
    assert probe.bound is not None  # it is admissible
    params = parameters_of(theorem, curve, target, probe)
    names = [curve.knob, *(tie.parameter.name for tie in curve.ties), *params]
    return Solution(
        name=curve.knob,
        value=found.value,
        bound=float_above(probe.bound.ball),
        requested=error,
        quantity=curve.quantity,
        tier=curve.tier,
        method=_method(curve, found, error),
        closed_form=form.text if form else None,
        params={
            **params,
            curve.knob: found.value,
            **{t.parameter.name: probe.params[t.parameter.name] for t in curve.ties},
        },
        conditions=conditions_at(theorem.statement, probe.bound, names),
        closed_form_conditions=form.conditions if form else (),
        note=_note(theorem, curve, target),
        of_error=bool(target.scopes),
        chance=target.chance if target.over else "",
        result=theorem.id,
        automatic=theorem.knobs.automatic,
    )


def _method(curve: Curve, found: SolvedKnob, error: float) -> str:
    """The searched range, the place of the answer in it, and the condition that ends it."""
    knob, (low, high) = curve.knob, found.searched
    extreme = "largest" if found.shape in RISING else "least"
    words = f"over {knob} from {low:.4g} to {high:.4g} the bound {found.shape}. "
    words += f"The answer is the {extreme} {knob} found at which the bound is at most {error}"
    followers = ", ".join(f"{tie.parameter.name} = {tie.value}" for tie in curve.ties)
    words += f", with {followers}" if followers else ""
    if found.beyond is None:
        return (
            f"{words}; it is the largest value of the search"
            if found.shape in RISING
            else f"{words}; it is the least value of the search"
        )
    value, probe = found.beyond
    side = "above" if value > found.value else "below"
    if probe.state is not State.ADMISSIBLE:
        return f"{words}; {side} it: {probe.reason}"
    return f"{words}{'' if isinstance(value, int) else _jump(found.probe, probe, side)}"


def _jump(answer: KnobProbe, beyond: KnobProbe, side: str) -> str:
    """Where the bound is not continuous at the answer: its values on both sides. "" for a small step."""
    if not answer.number or not beyond.number or beyond.number <= (1 + JUMP) * answer.number:
        return ""
    return (
        f". Just {side} it the bound jumps from {answer.number:.4g} to {beyond.number:.4g}, which happens where a "
        f"whole number in the network, such as a number of ReLUs, changes by one"
    )


def _note(theorem: Theorem, curve: Curve, target: Quantity) -> str:
    """What a printed bound does not guarantee, and its errata."""
    if curve.tier != "printed":
        return ""
    errata = "; ".join(sentences_on(theorem, target))
    return f"{NOT_GUARANTEED}{'; errata: ' if errata else ''}{errata}"
