"""Every conclusion of an exported theorem, judged under the hypotheses that the export prints and under no others.

A reader of the LaTeX has no program beside it. Parameters are drawn at the corners of what the printed hypotheses
allow, inputs from the domains, and `compare` judges what the export concludes: a bound that is violated, one that is
outside of a hypothesis that the export does not print, a quantity that is not there, and an index that the statement
allows but its formula does not bound are no conclusions.

`python -m benchmarks.exported --points 20 --seed 0` judges all results and examples; exits with 1 if a sentence fails.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sympy as sp

from bridge.instances.instance import Instance
from bridge.instances.point import first_defaults
from bridge.judging.judged import settings_used
from bridge.limits.run import Run
from bridge.lowering.conditions import truth
from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.theorems.theorem import Theorem
from symbolic.latex.paper_text import Conclusion, concluded
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from symbolic.words.prose import plain
from tests.corners.drawing import corner_point
from tests.corners.points import SOURCES, theorem_of

BUDGET = {"samples": 8, "attack": 6, "restarts": 2}
MOST_INDICES = 64
HOLDS = (Verdict.PROVED, Verdict.KEPT, Verdict.CONSISTENT)


class Outcome(StrEnum):
    """What a run says of a conclusion at one point."""

    HELD = "held"
    BESIDE = "beside a printed condition"
    OPEN = "not decided"
    FAILED = "failed"


@dataclass(frozen=True)
class Judgement:
    """One conclusion at one point; `why` says what is not as the export says."""

    quantity: str
    outcome: Outcome
    why: str = ""


@dataclass
class Tally:
    """The outcomes of each conclusion of one result; of those that failed, the first reason and its parameters."""

    outcomes: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    points: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, judgements: Iterable[Judgement], params: Mapping[str, Any]) -> None:
        self.points += 1
        for each in judgements:
            self.outcomes[each.quantity, each.outcome] += 1
            if each.outcome is Outcome.FAILED:
                self.failed.setdefault(each.quantity, f"{each.why}, at {dict(params)}")

    def of(self, outcome: Outcome) -> int:
        return sum(count for (_, each), count in self.outcomes.items() if each is outcome)

    def never_held(self) -> list[str]:
        names = dict.fromkeys(name for name, _ in self.outcomes)
        return [name for name in names if not self.outcomes[name, Outcome.HELD]]


def judged(theorem: Theorem, params: Mapping[str, Any], seed: int = 0) -> list[Judgement]:
    """Every conclusion of the export at one point. Raises UsageError where the point is refused."""
    params = first_defaults(theorem) | dict(params)
    instance = Instance.of(theorem, params, Run(seed=seed))
    used = settings_used(instance)
    settings = {name: number for name, number in {**BUDGET, "seed": seed}.items() if name in used}
    conclusions = concluded(theorem.statement)
    rows = list(compare(theorem, **settings, **params))
    rows += _rate_rows(theorem, conclusions, params, rows, settings)
    return [each for said in conclusions for each in _of_conclusion(instance, said, rows)]


def _rate_rows(
    theorem: Theorem,
    said: Sequence[Conclusion],
    params: Mapping[str, Any],
    rows: Sequence[Row],
    settings: Mapping[str, int],
) -> list[Row]:
    """Those of rates that only a grid shows: four values of the parameter in which each is stated."""
    shown = {plain(row.quantity) for row in rows}
    grids = {each.quantity.rate_in for each in said if each.quantity.rate_in and plain(each.quantity.name) not in shown}
    found: list[Row] = []
    for name in grids:
        start = params.get(name, theorem.statement.parameter(name).default)
        found += compare(theorem, **settings, **{**params, name: tuple(start * 2**k for k in range(4))})
    return [row for row in found if plain(row.quantity) not in shown]


def _of_conclusion(instance: Instance, said: Conclusion, rows: Sequence[Row]) -> list[Judgement]:
    """One judgement for each member of an indexed family; beside its conditions where the export does not state it."""
    quantity, tier = said.quantity, "derived" if said.source is None else "printed"
    run_at = dict(quantity.printed.run_at) if said.source and quantity.printed else {}
    elsewhere = any(instance.shown.get(name) != value for name, value in run_at.items())
    conditions = (*quantity.indices, *quantity.where)
    if elsewhere or any(truth(each, instance.letters.numbers) is False for each in conditions):
        return [Judgement(quantity.name, Outcome.BESIDE)]
    letters = indices(instance, quantity)
    if not letters:
        return [_of_rows(instance, quantity, _at_values(instance, quantity.name), tier, rows)]
    (letter,) = letters
    allowed = allowed_values(instance, quantity, letter)
    if allowed is None:
        return [Judgement(quantity.name, Outcome.FAILED, f"no upper end of {letter} is stated")]
    return [_of_member(instance, quantity, {letter: value}, tier, rows) for value in allowed]


# Families: `p[j]` stands for p[1], p[2], ...; each member has rows of its own. `p[N]` is the one at the value of N.


def indices(instance: Instance, quantity: Quantity) -> list[sp.Symbol]:
    """The letters of the bound that are an index in the name of the quantity."""
    free = [*quantity.letters, *(letter for each in quantity.indices for letter in each.free_symbols)]
    return [x for x in dict.fromkeys(free) if x not in instance.letters.numbers and f"[{x.name}]" in quantity.name]


def _at_values(instance: Instance, name: str) -> str:
    """The name, where the index is a parameter."""
    whole = {
        f"[{letter.name}]": f"[{value}]" for letter, value in instance.letters.numbers.items() if isinstance(value, int)
    }
    for index, value in whole.items():
        name = name.replace(index, value)
    return name


def allowed_values(instance: Instance, quantity: Quantity, letter: sp.Symbol) -> list[int] | None:
    """The values that the statement allows; None if nothing ends them."""
    of_letter = [each for each in quantity.indices if letter in each.free_symbols]
    least = 1 if letter.is_positive else 0
    values = [
        value
        for value in range(least, MOST_INDICES + 1)
        if all(truth(each, {**instance.letters.numbers, letter: value}) for each in of_letter)
    ]
    return None if MOST_INDICES in values else values


def _of_member(
    instance: Instance, family: Quantity, at: Mapping[sp.Symbol, int], tier: str, rows: Sequence[Row]
) -> Judgement:
    """The member's own bound has to be that of the family, and its rows have to keep it."""
    ((letter, value),) = at.items()
    name = family.name.replace(f"[{letter.name}]", f"[{value}]")
    own = next((each for each in instance.point.stated.quantities if each.name == name), None)
    if own is None:
        return Judgement(family.name, Outcome.FAILED, f"there is no {name}")
    stated, proved = instance.bounds.with_letters(at).derived(family), instance.bounds.derived(own)
    if tier == "derived" and (stated is None or proved is None or not stated.ball.overlaps(proved.ball)):
        of_member, of_family = (None if each is None else float(each.ball) for each in (proved, stated))
        why = f"the bound of {name} is {of_member}, the statement says {of_family}"
        return Judgement(family.name, Outcome.FAILED, why)
    found = _of_rows(instance, own, name, tier, rows)
    return Judgement(family.name, found.outcome, found.why)


# Rows.


def _of_rows(instance: Instance, quantity: Quantity, name: str, tier: str, rows: Sequence[Row]) -> Judgement:
    own = [row for row in rows if plain(row.quantity) == plain(name)]
    if not own and quantity.rate_in:
        return Judgement(name, Outcome.OPEN)  # too few errors of the grid are above 0
    if not own:
        return Judgement(name, Outcome.FAILED, "it is not there")
    stated = [row for row in own if tier in row.verdict] or [row for row in own if "instance" in row.verdict]
    found = [_of_verdict(instance, quantity, row, row.verdict.get(tier, row.verdict.get("instance"))) for row in stated]
    for outcome in (Outcome.FAILED, Outcome.BESIDE, Outcome.OPEN, Outcome.HELD):
        for each in found:
            if each.outcome is outcome:
                return each
    return Judgement(name, Outcome.OPEN)


def _of_verdict(instance: Instance, quantity: Quantity, row: Row, verdict: Verdict | None) -> Judgement:
    if verdict in HOLDS:
        return Judgement(quantity.name, Outcome.HELD)
    if verdict is Verdict.VIOLATED:
        numbers = {name: getattr(row, name) for name in ("printed", "derived", "instance", "measured", "attacked")}
        shown = ", ".join(f"{name} {number:.6g}" for name, number in numbers.items() if number is not None)
        return Judgement(quantity.name, Outcome.FAILED, f"violated ({shown})")
    if verdict is Verdict.OUTSIDE:
        if beside_condition(instance, quantity):
            return Judgement(quantity.name, Outcome.BESIDE)
        return Judgement(quantity.name, Outcome.FAILED, f"outside, by what the export does not say: {row.remark}")
    return Judgement(quantity.name, Outcome.OPEN)


def beside_condition(instance: Instance, quantity: Quantity) -> bool:
    """Whether an open obligation of the bound, which the export states as a condition, fails here."""
    bound = instance.bounds.derived(quantity)
    return bound is not None and any(each.holds is False for each in bound.checked)


# The program.


def tally_of(theorem: Theorem, points: int, seed: int) -> Tally:
    """The defaults, then parameters at corners of the hypotheses."""
    tally = Tally()
    for place in range(points):
        params = first_defaults(theorem) if place == 0 else corner_point(theorem, seed, place)
        try:
            tally.add(judged(theorem, params, seed=place), params)
        except UsageError as refusal:
            tally.refused[str(refusal)] += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exported", description=__doc__)
    parser.add_argument("--points", type=int, default=20, help="points for each result; the first are its defaults")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument(
        "--result", action="append", help="only this result or example; repeatable", choices=SOURCES, metavar="NAME"
    )
    options = parser.parse_args()
    if options.points < 1 or options.seed < 0:
        parser.error("--points must be at least 1 and --seed must not be negative")
    failed = 0
    for name in options.result or SOURCES:
        tally = tally_of(theorem_of(name), options.points, options.seed)
        failed += len(tally.failed)
        counts = ", ".join(f"{tally.of(each)} {each}" for each in Outcome)
        print(f"{name}: {tally.points} points, {counts}, {sum(tally.refused.values())} points refused", flush=True)
        for each, why in tally.failed.items():
            print(f"    {each} failed {tally.outcomes[each, Outcome.FAILED]} times: {why}")
        if tally.never_held():
            print(f"    never held: {', '.join(tally.never_held())}")
        for each, count in tally.refused.most_common(3):
            print(f"    refused ({count}): {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
