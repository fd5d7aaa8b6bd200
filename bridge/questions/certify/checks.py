"""Checks of inequalities on regions: a tier is proved by branch and bound, or refuted at a point, which is the witness.

A witness stores each coordinate of its point as numerator and denominator, so that a second run has the same rational
numbers; replayed, the quantity is evaluated there by balls.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import sympy as sp
from torch import Tensor

from bridge.lowering.ball_values import evaluate_ball
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.search import smallest
from bridge.questions.certify.shipped import shipped_proof
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain
from bridge.theorems.record import Verdict
from numeric.balls import float_above
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError

Stated = tuple[list[Inequality], list[Inequality]]  # as printed, and with our constant

BITS = 192
LARGEST = 2**40  # of a witness's denominators: JSON's numbers hold them exactly
MOST_BOXES = 4000  # for one proof. A count, so that every machine gives the same verdict
OFF_THE_ENDS = (Fraction(1, 100), Fraction(1, 10_000))  # shares of a range
VERDICTS = {Status.PROVED: Verdict.PROVED, Status.REFUTED: Verdict.VIOLATED, Status.UNDECIDED: Verdict.UNDECIDED}


@dataclass(frozen=True)
class Conjunction:
    """The outcomes of inequalities that a statement needs all of."""

    outcomes: tuple[Outcome, ...]

    @property
    def status(self) -> Status:
        worst = [status for status in (Status.REFUTED, Status.UNDECIDED) if self._first(status)]
        return worst[0] if worst else Status.PROVED

    @property
    def refuted(self) -> Outcome | None:
        return self._first(Status.REFUTED)

    @property
    def words(self) -> str:
        """How the verdict was reached."""
        worst = self._first(self.status)
        if worst is None or self.status is Status.PROVED:
            return f"{sum(each.boxes for each in self.outcomes)} boxes"
        if self.status is Status.REFUTED:
            point = ", ".join(f"{symbol} = {plain(float(x))}" for symbol, x in worst.point.items())
            return f"fails at {point}, by {plain(-(worst.value or 0.0))}"
        return f"open in {worst.open_count} boxes; {worst.share:.1%} of the region settled"

    def _first(self, status: Status) -> Outcome | None:
        return next((each for each in self.outcomes if each.status is status), None)


def proved_together(inequalities: Iterable[Inequality], shipped: Path | None = None) -> Conjunction:
    """The outcome of each; by the boxes of a `shipped` certificate where that has a proof."""
    return Conjunction(tuple(moved_inside(_outcome(each, shipped)) for each in inequalities))


def _outcome(inequality: Inequality, shipped: Path | None) -> Outcome:
    known = None if shipped is None else shipped_proof(inequality, shipped)
    return known or prove(inequality, seconds=math.inf, most_boxes=MOST_BOXES)


def moved_inside(outcome: Outcome) -> Outcome:
    """A refutation with its point off the ends of the coordinates' ranges, which an open region leaves out.

    Unchanged where the inequality is not refuted, and where none of these points refutes it.
    """
    if outcome.status is not Status.REFUTED:
        return outcome
    enclosures = Enclosures(outcome.inequality, BITS)
    for share in OFF_THE_ENDS:
        inner = [
            min(max(x, low + share * (high - low)), high - share * (high - low))
            for x, (low, high) in zip(outcome.point.values(), enclosures.root, strict=True)
        ]
        value = enclosures.value_at(inner)
        if value < 0 and enclosures.inside(inner):
            return replace(outcome, point=dict(zip(outcome.point, inner, strict=True)), value=float_above(value))
    return outcome


def difference_of(inequality: Inequality) -> sp.Expr:
    """The difference of its sides."""
    assert isinstance(inequality.expression, sp.Expr)  # no other is accepted
    return inequality.expression


def certified(
    quantity: Quantity,
    stated: Callable[[], Stated],
    value: Callable[[Inequality], sp.Expr] = difference_of,
    shipped: Path | None = None,
) -> Check:
    """A lower bound on `value` on a region: printed by the first inequalities together, derived by the others.

    `value` is what the bound is about, at a point of the region: the difference of the sides, or the largest constant
    there. The row measures the least of it that sampling and local search find for the first inequality. `shipped` is
    a certificate whose boxes are proved again; what it does not prove is searched for.
    """

    @cache
    def conjunctions() -> tuple[Conjunction, Conjunction]:
        printed, ours = (proved_together(each, shipped) for each in stated())
        return printed, ours

    @cache
    def least() -> float:
        first = stated()[0][0]
        return smallest(value(first), first)

    def inputs() -> dict[str, list[float]]:
        refuted = conjunctions()[0].refuted
        return {} if refuted is None else _numbers(refuted)

    def sides(inputs: Mapping[str, Tensor]) -> Sides:
        printed, ours = conjunctions()
        refuted = printed.refuted
        words = [f"printed {VERDICTS[printed.status]}: {printed.words}"]
        words += [f"c = {quantity.closed_form} {VERDICTS[ours.status]}: {ours.words}"] if ours.outcomes else []
        proofs = {"printed": printed, "derived": ours}
        return Sides(
            None if refuted is None else evaluate_ball(value(refuted.inequality), _where(refuted, inputs)),
            measured=least(),
            proved=tuple(tier for tier, each in proofs.items() if each.outcomes and each.status is Status.PROVED),
            remark="; ".join(words),
        )

    return Check(quantity, sides, inputs)


def _numbers(refuted: Outcome) -> dict[str, list[float]]:
    """Each coordinate of the point as numerator and denominator; nothing where no point of short numbers refutes."""
    short = [x.limit_denominator(LARGEST) for x in refuted.point.values()]
    enclosures = Enclosures(refuted.inequality, BITS)
    if not (enclosures.value_at(short) < 0 and enclosures.inside(short)) or any(
        abs(x.numerator) >= 2**53 for x in short
    ):
        return {}
    return {str(s): [float(x.numerator), float(x.denominator)] for s, x in zip(refuted.point, short, strict=True)}


def _where(refuted: Outcome, inputs: Mapping[str, Tensor]) -> Mapping[sp.Symbol, Fraction]:
    """The point that inputs store; the proof's own where no short numbers refute, which a replay finds once more."""
    return _point(refuted.inequality, inputs) if inputs else refuted.point


def _point(inequality: Inequality, inputs: Mapping[str, Tensor]) -> dict[sp.Symbol, Fraction]:
    """Raises UsageError for a point that is not in the region."""
    point = {symbol: _coordinate(symbol.name, inputs[symbol.name]) for symbol in inequality.box}
    if not Enclosures(inequality, BITS).inside(list(point.values())):
        letters = ", ".join(map(str, point))
        raise UsageError(f"{inequality.name}: takes a point ({letters}) of its region; the given point is not one")
    return point


def _coordinate(letter: str, pair: Tensor) -> Fraction:
    whole = [int(x) for x in pair.tolist() if x == x and abs(x) < 2.0**63 and x == int(x)]
    if len(whole) != 2 or whole[1] == 0:
        raise UsageError(f"{letter} must be two whole numbers, numerator and denominator (not 0)")
    return Fraction(*whole)
