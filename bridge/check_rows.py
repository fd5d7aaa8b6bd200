"""The rows of a check: its sides judged by the kind of its quantity, with a witness where a bound fails."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
import sympy as sp
import torch

from bridge.arguments import Function, arguments_of, called_for
from bridge.balls import SMALLEST_NORMAL
from bridge.check import PROVABLE, Check, Number, Sides, as_ball, enclosed
from bridge.check_verdicts import Bounds, Judged
from bridge.export.numbers import plain
from bridge.limits.run import ONE_INPUT, Run
from bridge.record import Row, Verdict, Witness
from bridge.rounded import within_rounding
from bridge.rows import direct_row
from bridge.study import SETTINGS, Case, Inputs
from bridge.usable_bounds import usable
from bridge.verdicts import Bound, Evidence, flags_of, float64_above
from numeric.balls import float_above, float_below
from symbolic.prose import joined
from symbolic.statements import Kind, Quantity, UsageError


def check_rows(case: Case, check: Check, run: Run) -> list[Row]:
    """One row for each point at which the check is judged."""
    return [_row(case, check, inputs, run) for inputs in _points(case, check, run)]


def replayed_check(case: Case, check: Check, inputs: Inputs) -> Row:
    """The row at the inputs and settings of a witness.

    Raises UsageError for inputs of other names or shapes, for parameters among them that do not meet the hypotheses,
    and for a setting that the check does not depend on.
    """
    run = replace(ONE_INPUT, format=case.format, **case.settings)
    expected = [_shapes(point) for point in _points(case, check, replace(run, attack=0))]  # found without a search
    if _shapes(inputs) not in expected:
        known = " or ".join(dict.fromkeys(map(str, expected)))
        raise UsageError(f"{case.result.id}: '{check.name}' takes inputs of shapes {known}, got {_shapes(inputs)}")
    unknown = sorted(set(case.settings) - settings_of(check))
    if unknown:
        raise UsageError(f"{case.result.id}: '{check.name}' does not depend on {', '.join(unknown)}")
    case.result.check({**case.full_params, **_replaced(case, inputs)})
    return _row(case, check, inputs, run)


def _shapes(inputs: Inputs) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in inputs.items()}


def settings_of(check: Check) -> frozenset[str]:
    """The settings of a run that the check depends on."""
    functions = [check.sides, *([check.inputs] if callable(check.inputs) else [])]
    return SETTINGS & {name for function in functions for name in arguments_of(function)}


def _points(case: Case, check: Check, run: Run) -> list[Inputs]:
    given = _called(case, check, check.inputs, run.settings) if callable(check.inputs) else check.inputs
    points = [given] if isinstance(given, Mapping) else given
    return [{name: torch.as_tensor(x, dtype=torch.float64) for name, x in point.items()} for point in points]


def _called(case: Case, check: Check, function: Function, more: Mapping[str, Any]) -> Any:
    known = {**case.known, **more}
    unknown = [name for name in arguments_of(function) if name not in known]
    if unknown:
        raise UsageError(
            f"{case.result.id}: the check '{check.name}' takes {', '.join(unknown)}, which is not a parameter, weight, "
            f"input of the check or setting; it may take {', '.join(sorted(known))}"
        )
    with called_for(f"{case.result.id}: the check '{check.name}'", function):
        return function(**{name: known[name] for name in arguments_of(function)})


def _row(case: Case, check: Check, inputs: Inputs, run: Run) -> Row:
    """The row at these inputs: what was found against each bound."""
    replaced = _replaced(case, inputs)
    sides: Sides = _called(case, check, check.sides, {**run.settings, "inputs": inputs, **inputs, **replaced})
    elsewhere = ", ".join(f"{name} = {_words(x)}" for name, x in replaced.items() if case.params.get(name) != x)
    where = check.construction or elsewhere or check.quantity.construction
    quantity = check.quantity if where == check.quantity.construction else replace(check.quantity, construction=where)
    letters = _letters(case, {**replaced, **sides.at}) | dict(sides.letters)
    here = case.with_letters(letters)
    bounds = usable(here, quantity, None, _bounds(here, quantity, sides))
    found = None if sides.found is None else as_ball(sides.found)
    judged = Judged(quantity, bounds, found, sides)
    verdict = judged.verdicts()
    rounded = _within_rounding(case, quantity, sides, letters, verdict)
    verdict |= dict.fromkeys(rounded, Verdict.UNDECIDED)
    excuse = sides.excuse if Verdict.OUTSIDE in verdict.values() else ""
    complaints = [*judged.complaints(), *within_rounding(rounded)]
    complaints.insert(0, _constant_words(quantity, bounds, found, sides))
    numbers = {tier: _number(quantity.kind, bound.ball) for tier, bound in bounds.items()}
    if sides.limit is not None and found is None:
        numbers.pop("printed", None)
    row = direct_row(
        case,
        quantity,
        verdict,
        **numbers,
        measured=_shown(quantity.kind, found, sides),
        attacked=sides.attacked,
        remark=joined([excuse, sides.outside_all, sides.remark, *complaints]),
        witness=_witness(case, check, inputs, run, _error(quantity, bounds, found), numbers)
        if Verdict.VIOLATED in verdict.values()
        else None,
        params={} if elsewhere else {**(case.params if check.params is None else check.params), **sides.at},
    )
    row.samples, row.seed = sides.samples or row.samples, run.seed if "seed" in settings_of(check) else row.seed
    runs = []
    if found is not None and sides.rounding is not None:
        runs.append(Evidence(float(found.mid()), found, sides.rounding))
        row.exact, row.rounding = float64_above(found), sides.rounding
    known = quantity.trivial is not None and quantity.trivial.free_symbols <= set(here.values)
    trivial = here.trivial(quantity) if known else None
    row.flags = {tier: flags for tier, bound in bounds.items() if (flags := flags_of(bound, trivial, runs))}
    return row


def _numbers(case: Case) -> dict[str, sp.Symbol]:
    """The letters that an input may give: parameters first, then the others of the statement."""
    parameters = {each.name: each.symbol for each in case.result.parameters if each.symbol is not None}
    return parameters | {each.name: each for each in case.result.symbols if each.name not in parameters}


def _replaced(case: Case, inputs: Inputs) -> dict[str, int | float]:
    """The letters that inputs give, by name. Raises UsageError for what is not a number that a parameter takes."""
    numbers = _numbers(case)
    given = {
        name: inputs[name].item()
        for name in numbers
        if name in inputs and inputs[name].numel() == 1 and (name in case.params or inputs[name].ndim == 0)
    }
    return {name: _number_of(case, numbers[name], each) for name, each in given.items()}


def _number_of(case: Case, letter: sp.Symbol, given: float) -> int | float:
    if letter.name in case.params:
        return case.result.number(letter.name, given)
    return int(given) if letter.is_integer else given


def _letters(case: Case, numbers: Mapping[str, Number]) -> dict[sp.Symbol, Number]:
    """By the symbols of these letters, as far as they have any."""
    symbols = _numbers(case)
    return {symbols[name]: number for name, number in numbers.items() if name in symbols}


def _words(number: int | float) -> str:
    return str(number) if isinstance(number, int) else plain(number)


# Bounds.


def _bounds(case: Case, quantity: Quantity, sides: Sides) -> Bounds:
    """Those that the check gives, else the quantity's own formulas at this point."""
    strict = quantity.printed is not None and quantity.printed.strict
    found = {
        "printed": _given(sides.printed, strict=strict) or _printed(case, quantity),
        "claimed": case.claimed(quantity),
        "derived": _given(sides.derived) or case.derived(quantity) or _closed(case, quantity),
        "instance": _given(sides.instance),
    }
    outside = sides.outside_of
    return {
        tier: replace(bound, outside=outside[tier]) if outside.get(tier) else bound
        for tier, bound in found.items()
        if bound is not None
    }


def _given(number: Number | None, *, strict: bool = False) -> Bound | None:
    return None if number is None else Bound(as_ball(number), strict=strict)


def _printed(case: Case, quantity: Quantity) -> Bound | None:
    if quantity.printed is not None and not quantity.printed.unspecified:
        _require_values(case, quantity, quantity.printed.bound)
    return case.printed(quantity)


def _closed(case: Case, quantity: Quantity) -> Bound | None:
    if quantity.closed_form is None:
        return None
    _require_values(case, quantity, quantity.closed_form)
    return Bound(case.enclosed(quantity.closed_form))


def _require_values(case: Case, quantity: Quantity, formula: sp.Expr) -> None:
    """Raises UsageError for a letter that has no value here."""
    free = sorted(str(letter) for letter in formula.free_symbols - set(case.values))
    if free:
        raise UsageError(f"{case.result.id}: the check '{quantity.name}' gives {', '.join(free)} no value in `letters`")


def _within_rounding(
    case: Case, quantity: Quantity, sides: Sides, letters: Mapping[sp.Symbol, Number], verdict: dict[str, Verdict]
) -> list[str]:
    """The tiers whose violation goes once each float stands for all numbers that Python may have rounded to it."""
    violated = [tier for tier, each in verdict.items() if each is Verdict.VIOLATED]
    if not violated or sides.found is None or sides.limit is not None:
        return []
    given = {side: getattr(sides, side) for side in ("found", *PROVABLE)}
    near = replace(sides, **{side: enclosed(number) for side, number in given.items() if number is not None})
    bounds = _bounds((case.floats_enclosed or case).with_letters(letters), quantity, near)
    judged = Judged(quantity, bounds, near.found, near)
    return [tier for tier in violated if judged.of_run(tier) is not Verdict.VIOLATED]


def _constant_words(quantity: Quantity, bounds: Bounds, found: flint.arb | None, sides: Sides) -> str:
    """The constant, and how much of it is used here."""
    printed = _number(quantity.kind, bounds["printed"].ball) if "printed" in bounds else None
    if sides.constant is None or quantity.printed is None or not printed:
        return ""
    measured = _shown(quantity.kind, found, sides)
    here = "" if measured is None else f"; measured / printed = {plain(measured / printed)} here"
    return f"printed inside {quantity.printed.order}(.): {sides.constant.words}{here}"


# Numbers.


def _number(kind: Kind, ball: flint.arb) -> float | None:
    """A bound rounded to its safe side, a lower one down, any other up; an exact 0 that balls come close to is 0."""
    if kind is Kind.EXACT and ball.contains(0) and abs(ball) < SMALLEST_NORMAL:
        return 0.0
    return float_below(ball) if kind is Kind.LOWER else float64_above(ball)


def _shown(kind: Kind, found: flint.arb | None, sides: Sides) -> float | None:
    """What is found above a lower bound is rounded up, as errors are."""
    if sides.measured is not None or sides.attacked is not None or found is None:
        return sides.measured
    return _number(Kind.UPPER if kind is Kind.LOWER else kind, found)


def _error(quantity: Quantity, bounds: Bounds, found: flint.arb | None) -> float | None:
    """What a witness shows: what was found, rounded to the bound's side; of an order, how far the two sides differ."""
    if found is not None:
        return float_above(found) if quantity.kind is Kind.LOWER else float_below(found)
    if {"printed", "derived"} <= bounds.keys():
        return float_below(abs(bounds["derived"].ball - bounds["printed"].ball))
    return None


def _witness(
    case: Case,
    check: Check,
    inputs: Inputs,
    run: Run,
    error: float | None,
    numbers: dict[str, float | None],
) -> Witness | None:
    if error is None:
        return None
    settings = {name: value for name, value in run.settings.items() if name in settings_of(check) - {"dtype"}}
    return Witness(
        result=case.result.id,
        quantity=check.name,
        params=case.full_params,
        inputs={name: value.tolist() for name, value in inputs.items()},
        error_lower=error,
        bounds={tier: number for tier, number in numbers.items() if number is not None},
        sha256=case.sha256,
        claim=case.claims[check.quantity.name].text if check.quantity.name in case.claims else None,
        settings=settings or None,
    )
