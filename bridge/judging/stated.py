"""Rows of the checks that a theorem states: two sides that its functions give, at inputs of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch

from bridge.instances.bound import Bound, float64_above
from bridge.instances.bounds import Bounds
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.judging.judge import Evidence, Judge, flags_of
from bridge.judging.rows import row_of, within_rounding, witness_of
from bridge.judging.seeds import with_seeds
from bridge.judging.usable import Tiers, usable
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.limits.run import SETTINGS, Run
from bridge.lowering.ball_values import SMALLEST_NORMAL
from bridge.theorems.check import PROVABLE, Check, Number, Sides, as_ball, enclosed
from bridge.theorems.numbers import plain
from bridge.theorems.record import Row, Verdict, Witness
from numeric.balls import float_above, float_below
from symbolic.statements.result import Kind, Quantity
from symbolic.words.errors import UsageError
from symbolic.words.prose import joined
from symbolic.words.prose import plain as plain_words


def checks_at(instance: Instance) -> list[Check]:
    """The checks of the theorem as this point states them: without those of which it states no quantity."""
    here = {quantity.name: quantity for quantity in instance.point.stated.quantities}
    own = (each for each in instance.theorem.checks if each.quantity.name in here or each.params is not None)
    return [replace(each, quantity=here.get(each.quantity.name, each.quantity)) for each in own]


def settings_of_check(check: Check) -> frozenset[str]:
    """The settings of a run that the check depends on."""
    functions = [check.sides, *([check.inputs] if callable(check.inputs) else [])]
    return SETTINGS & {name for function in functions for name in arguments_of(function)}


@dataclass(frozen=True)
class Stated:
    """One check at one instance: a row for each of its inputs."""

    instance: Instance
    check: Check

    @property
    def names(self) -> list[str]:
        return [str(plain_words(self.check.name))]

    @property
    def settings(self) -> frozenset[str]:
        return settings_of_check(self.check)

    def rows(self, run: Run) -> Iterator[Row]:
        yield from (self.row_at(inputs, run) for inputs in self.points(run))

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        """The row at the inputs of a witness, by the settings of its run.

        Raises UsageError for inputs of other names or shapes, and for parameters among them that do not meet the
        hypotheses.
        """
        expected = [_shapes(point) for point in self.points(replace(run, attack=0))]  # found without a search
        if _shapes(one) not in expected:
            known = " or ".join(dict.fromkeys(map(str, expected)))
            raise UsageError(f"{self._id}: '{self.check.name}' takes inputs of shapes {known}, got {_shapes(one)}")
        stated, automatic = self.instance.point.stated, self.instance.theorem.knobs.automatic
        stated.check({**self.instance.known.full, **self._replaced(one)}, automatic)
        return self.row_at(one, run)

    def points(self, run: Run) -> list[Batch]:
        """The inputs at which it is judged."""
        given = self.check.inputs
        found = self._called(given, run.settings) if callable(given) else given
        points = [found] if isinstance(found, Mapping) else found
        return [{name: torch.as_tensor(x, dtype=torch.float64) for name, x in point.items()} for point in points]

    @property
    def _id(self) -> str:
        return self.instance.theorem.id

    def _called(self, function: Function, more: Mapping[str, Any]) -> Any:
        known, role = self.instance.known, f"{self._id}: the check '{self.check.name}'"
        unknown = [name for name in arguments_of(function) if name not in more and name not in known]
        if unknown:
            raise UsageError(
                f"{role} takes {', '.join(unknown)}, which is not a parameter, weight, input of the check or setting; "
                f"it may take {', '.join(sorted({*known, *more}))}"
            )
        with called_for(role, function):
            return function(**{name: more[name] if name in more else known[name] for name in arguments_of(function)})

    def row_at(self, inputs: Batch, run: Run) -> Row:
        """The row at these inputs: what was found against each bound."""
        instance, check, replaced = self.instance, self.check, self._replaced(inputs)
        sides: Sides = self._called(check.sides, {**run.settings, "inputs": inputs, **inputs, **replaced})
        shown = instance.shown
        elsewhere = ", ".join(f"{name} = {_words(x)}" for name, x in replaced.items() if shown.get(name) != x)
        where = check.construction or elsewhere or check.quantity.construction
        own = check.quantity
        quantity = own if where == own.construction else replace(own, construction=where)
        letters = self._letters({**replaced, **sides.at}) | dict(sides.letters)
        found = _Found(quantity, sides, instance.bounds.with_letters(letters))
        verdict = found.judge.verdicts()
        rounded = found.within_rounding(verdict, instance, letters)
        verdict |= dict.fromkeys(rounded, Verdict.UNDECIDED)
        excuse = sides.excuse if Verdict.OUTSIDE in verdict.values() else ""
        complaints = [found.constant_words, *found.judge.complaints(), *within_rounding(rounded)]
        violated = Verdict.VIOLATED in verdict.values()
        row = row_of(
            instance,
            quantity,
            verdict,
            **found.numbers,
            params={} if elsewhere else {**(shown if check.params is None else check.params), **sides.at},
            remark=joined([quantity.remark, excuse, sides.outside_all, sides.remark, *complaints]),
            witness=self._witness(found, inputs, run) if violated else None,
            order=str(quantity.printed.order) if quantity.printed else "",
            seed=run.seed if "seed" in self.settings else 0,
            samples=sides.samples or 0,
            flags=found.flags,
        )
        if found.ball is not None and sides.rounding is not None:
            row.exact, row.rounding = float64_above(found.ball), sides.rounding
        return row if sides.over_seeds is None else with_seeds(row, sides.over_seeds)

    def _witness(self, found: "_Found", inputs: Batch, run: Run) -> Witness | None:
        error = found.error
        if error is None:
            return None
        used = {name: value for name, value in run.settings.items() if name in self.settings - {"dtype"}}
        bounds = {tier: found.numbers.get(tier) for tier in found.bounds}
        more = {"quantity": self.check.name, "settings": used or None}
        return witness_of(self.instance, self.check.quantity, inputs, error, bounds, **more)

    # Letters that inputs give: parameters first, then the others of the statement.

    @cached_property
    def _symbols(self) -> dict[str, sp.Symbol]:
        stated = self.instance.point.stated
        parameters = {each.name: each.symbol for each in stated.parameters if each.symbol is not None}
        return parameters | {each.name: each for each in stated.symbols if each.name not in parameters}

    def _replaced(self, inputs: Batch) -> dict[str, int | float]:
        """By name. Raises UsageError for what is not a number that a parameter takes."""
        params, stated, found = self.instance.point.params, self.instance.point.stated, {}
        for name, letter in self._symbols.items():
            if name in inputs and inputs[name].numel() == 1 and (name in params or inputs[name].ndim == 0):
                number = inputs[name].item()
                found[name] = stated.number(name, number) if name in params else _of_letter(letter, number)
        return found

    def _letters(self, numbers: Mapping[str, Number]) -> dict[sp.Symbol, Number]:
        return {self._symbols[name]: number for name, number in numbers.items() if name in self._symbols}


@dataclass(frozen=True)
class _Found:
    """What the sides of a check found, beside the bounds `at` the letters of its inputs."""

    quantity: Quantity
    sides: Sides
    at: Bounds

    @property
    def kind(self) -> Kind:
        return self.quantity.kind

    @cached_property
    def ball(self) -> flint.arb | None:
        return None if self.sides.found is None else as_ball(self.sides.found)

    @cached_property
    def bounds(self) -> Tiers:
        """Those that the check gives, else the quantity's own formulas at this point."""
        return usable(self.at, self.quantity, None, self._given)

    @property
    def _given(self) -> Tiers:
        quantity, sides = self.quantity, self.sides
        strict = quantity.printed is not None and quantity.printed.strict
        found = {
            "printed": _stated(sides.printed, strict=strict) or self._printed(),
            "claimed": self.at.claimed(quantity),
            "derived": _stated(sides.derived) or self.at.derived(quantity) or self._closed(),
            "instance": _stated(sides.instance),
        }
        outside = sides.outside_of
        return {
            tier: replace(bound, outside=outside[tier]) if outside.get(tier) else bound
            for tier, bound in found.items()
            if bound is not None
        }

    def _printed(self) -> Bound | None:
        printed = self.quantity.printed
        if printed is not None and not printed.unspecified:
            self._require_values(printed.bound)
        return self.at.printed(self.quantity)

    def _closed(self) -> Bound | None:
        if self.quantity.closed_form is None:
            return None
        self._require_values(self.quantity.closed_form)
        return Bound(self.at.letters.enclosed(self.quantity.closed_form))

    def _require_values(self, formula: sp.Expr) -> None:
        """Raises UsageError for a letter that has no value here."""
        free = sorted(str(letter) for letter in formula.free_symbols - set(self.at.letters.numbers))
        if free:
            name = self.quantity.name
            raise UsageError(
                f"{self.at.letters.known.theorem.id}: the check '{name}' gives {', '.join(free)} no value in `letters`"
            )

    @property
    def evidence(self) -> list[Evidence]:
        if self.ball is None:
            return []
        return [Evidence(float(self.ball.mid()), self.ball, self.sides.rounding)]

    @cached_property
    def judge(self) -> Judge:
        return Judge(self.quantity, self.bounds, self.evidence, self.kind, 0, self.sides)

    def within_rounding(
        self, verdict: Mapping[str, Verdict], instance: Instance, letters: Mapping[sp.Symbol, Any]
    ) -> list[str]:
        """The tiers whose violation goes once each float stands for all numbers that Python may have rounded to it."""
        violated = [tier for tier, each in verdict.items() if each is Verdict.VIOLATED]
        if not violated or self.sides.found is None or self.sides.limit is not None:
            return []
        given = {side: getattr(self.sides, side) for side in ("found", *PROVABLE)}
        near = {side: enclosed(number) for side, number in given.items() if number is not None}
        at = instance.nearby.bounds.with_letters(letters)
        judge = _Found(self.quantity, replace(self.sides, **near), at).near
        return [tier for tier in violated if judge.of_run(tier) is not Verdict.VIOLATED]

    @property
    def near(self) -> Judge:
        """Of bounds that are none too."""
        return Judge(self.quantity, self._given, self.evidence, self.kind, 0, self.sides)

    # Numbers.

    @cached_property
    def numbers(self) -> dict[str, float | None]:
        """Of a row; the ratio is that of our sharpest bound to what was found closest to it."""
        found = {tier: _number(self.kind, bound.ball) for tier, bound in self.bounds.items()}
        if self.sides.limit is not None and self.ball is None:
            found.pop("printed", None)
        seen = {"measured": self._shown, "attacked": self.sides.attacked}
        ratio = ratio_of(self.kind, [found.get("derived"), found.get("instance")], seen.values())
        return {
            **found,
            **seen,
            "ratio": ratio,
            "claimed_ratio": ratio_of(self.kind, [found.get("claimed")], seen.values()),
        }

    @property
    def _shown(self) -> float | None:
        """What is found above a lower bound is rounded up, as errors are."""
        if self.sides.measured is not None or self.sides.attacked is not None or self.ball is None:
            return self.sides.measured
        return _number(Kind.UPPER if self.kind is Kind.LOWER else self.kind, self.ball)

    @property
    def error(self) -> float | None:
        """What a witness shows: what was found, rounded to the bound's side; of an order, how far both sides differ."""
        if (seen := self.sides.over_seeds) is not None:
            return seen.high if self.kind is Kind.LOWER else seen.low
        if self.ball is not None:
            return float_above(self.ball) if self.kind is Kind.LOWER else float_below(self.ball)
        if {"printed", "derived"} <= self.bounds.keys():
            return float_below(abs(self.bounds["derived"].ball - self.bounds["printed"].ball))
        return None

    @property
    def flags(self) -> dict[str, list[str]]:
        trivial = self.quantity.trivial
        known = trivial is not None and trivial.free_symbols <= set(self.at.letters.numbers)
        size = self.at.trivial(self.quantity) if known else None
        runs = self.evidence if self.sides.rounding is not None else []
        flags = {tier: flags_of(bound, size, runs, 0) for tier, bound in self.bounds.items()}
        return {tier: words for tier, words in flags.items() if words}

    @property
    def constant_words(self) -> str:
        """The constant, and how much of it is used here."""
        printed = _number(self.kind, self.bounds["printed"].ball) if "printed" in self.bounds else None
        if self.sides.constant is None or self.quantity.printed is None or not printed:
            return ""
        here = "" if self._shown is None else f"; measured / printed = {plain(self._shown / printed)} here"
        return f"printed inside {self.quantity.printed.order}(.): {self.sides.constant.words}{here}"


def _stated(number: Number | None, *, strict: bool = False) -> Bound | None:
    return None if number is None else Bound(as_ball(number), strict=strict)


def _number(kind: Kind, ball: flint.arb) -> float | None:
    """A bound rounded to its safe side, a lower one down, any other up; an exact 0 that balls come close to is 0."""
    if kind is Kind.EXACT and ball.contains(0) and abs(ball) < SMALLEST_NORMAL:
        return 0.0
    return float_below(ball) if kind is Kind.LOWER else float64_above(ball)


def ratio_of(kind: Kind, ours: Sequence[float | None], found: Any) -> float | None:
    """The sharpest of our bounds over what was found closest to it; None where there is neither, and for a rate."""
    known, seen = [x for x in ours if x is not None], [x for x in found if x is not None]
    if not known or not seen or kind is Kind.RATE:
        return None
    sharpest, closest = (max(known), min(seen)) if kind is Kind.LOWER else (min(known), max(seen))
    return sharpest / closest if closest else None


def _of_letter(letter: sp.Symbol, number: float) -> int | float:
    return int(number) if letter.is_integer else number


def _shapes(inputs: Batch) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in inputs.items()}


def _words(number: int | float) -> str:
    return str(number) if isinstance(number, int) else plain(number)
