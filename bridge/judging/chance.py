"""Rows of bounds that hold with probability, or in expectation: judged by many draws of the named randomness.

A draw fails if its error exceeds the bound. Failures are judged by an exact binomial test at the stated probability, a
mean by a confidence limit. Rounding is not a failure: where its estimate could decide, exact runs do, or nothing does.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.instances.bound import Bound
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.judging.binomial import LEVEL, least_mean, p_value
from bridge.judging.draws import Draw, OverDraws
from bridge.judging.judge import flags_of
from bridge.judging.rows import row_of, witness_of
from bridge.judging.stated import ratio_of
from bridge.judging.usable import Tiers, usable
from bridge.limits.run import SETTINGS, Run
from bridge.theorems.numbers import plain
from bridge.theorems.record import Flag, Row, Verdict, Witness
from numeric.balls import float_above
from symbolic.statements.result import Quantifier
from symbolic.words.errors import UsageError
from symbolic.words.prose import joined

SEEDS = "seeds"  # what a witness stores


@dataclass(frozen=True)
class Chance:
    """Of the quantities of one instance that hold with probability, or in expectation: a row each."""

    instance: Instance

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.instance.point.over_draws]

    @property
    def settings(self) -> frozenset[str]:
        return SETTINGS

    def rows(self, run: Run) -> Iterator[Row]:
        seeds = range(run.seed, run.seed + run.samples)
        yield from (_row(OverDraws(self.instance, each), seeds, run) for each in self.instance.point.over_draws)

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        """The row again from the seeds of a witness: all other draws of that run count as kept.

        Raises UsageError for a witness without seeds.
        """
        id, name = self.instance.theorem.id, witness.quantity
        if set(one) != {SEEDS} or not {"samples", "seed", "attack", "restarts"} <= set(witness.settings or {}):
            raise UsageError(f"{id}: the witness of '{name}' has to give the seeds, and the settings of the run")
        seeds = sorted({int(each) for each in one[SEEDS].flatten().tolist()})
        if not set(seeds) <= set(range(run.seed, run.seed + run.samples)):
            raise UsageError(f"{id}: the seeds of the witness of '{name}' are not those of its run")
        return _row(OverDraws(self.instance, self.instance.point.stated.quantity(name)), seeds, run)


def _row(over: OverDraws, seeds: Sequence[int], run: Run) -> Row:
    draws = list(over.draws(seeds, run))
    judged = _by_failures if over.quantity.quantifier is Quantifier.PROBABILITY else _by_mean
    bounds = _bounds(over)
    judgements = {
        tier: _without_number(bound) if bound.ball.is_nan() else judged(over, draws, bound, run.samples)
        for tier, bound in bounds.items()
    }
    verdict = {tier: each.verdict for tier, each in judgements.items()}
    errors = [draw.error for draw in draws]
    attacked = [draw.attacked for draw in draws if draw.attacked is not None]
    main = judgements.get("derived") or next(iter(judgements.values()), Judgement(Verdict.UNDECIDED))
    violated = [each for each in judgements.values() if each.verdict is Verdict.VIOLATED]
    numbers: dict[str, Any] = {tier: bound.number() for tier, bound in bounds.items()}
    quantity = replace(over.quantity, finding=violated[0].words if violated else over.quantity.finding)
    seen = {
        "measured": statistics.fmean(errors) if main.failures is None else max(draw.random for draw in draws),
        "attacked": None if main.failures is None else max(attacked, default=None),
    }
    row = row_of(
        over.instance,
        quantity,
        verdict,
        **numbers,
        **seen,
        ratio=ratio_of(quantity.kind, [numbers.get("derived"), numbers.get("instance")], seen.values()),
        claimed_ratio=ratio_of(quantity.kind, [numbers.get("claimed")], seen.values()),
        order=str(quantity.printed.order) if quantity.printed else "",
        remark=joined([quantity.remark, *_remarks(judgements, main, bounds), *_overflows(over, draws)]),
        witness=_witness(over, violated[0], draws, numbers, run) if violated else None,
    )
    row.rounding = max(
        (draw.rounding for draw in draws if draw.rounding is not None and not draw.unknown), default=None
    )
    row.attack_steps, row.restarts = (run.attack, run.restarts) if attacked else (0, 0)
    row.seeds, row.failures, row.p_value = run.samples, main.failures, main.p_value
    row.mean_at_least = main.mean_at_least
    whole = len(errors) == run.samples  # not a replay
    row.median = statistics.median(errors) if whole and all(draw.finite for draw in draws) else None
    return _described(row, over, bounds, run)


def _described(row: Row, over: OverDraws, bounds: Mapping[str, Bound], run: Run) -> Row:
    """The row with what it rests on."""
    free = over.theorem.inputs
    row.quantifier = over.quantity.chance + (f", for all {', '.join(free)} at once" if free else "")
    row.seed, row.samples = run.seed, run.samples
    row.drawn = [name for name in over.instance.theorem.recorded if name not in over.names] or None
    row.premises = list(dict.fromkeys(each for bound in bounds.values() for each in bound.premises)) or None
    row.flags = {tier: flags for tier, bound in bounds.items() if (flags := _flags(over, bound))}
    return row


def _flags(over: OverDraws, bound: Bound) -> list[str]:
    """A bound that may always fail says nothing, whatever it is."""
    flags = flags_of(bound, over.instance.bounds.trivial(over.quantity), [])
    always = over.quantity.quantifier is Quantifier.PROBABILITY and over.share >= 1
    return list(dict.fromkeys([*flags, *([Flag.VACUOUS.value] if always else [])]))


def _bounds(over: OverDraws) -> Tiers:
    found = over.instance.bounds.stated(over.quantity)
    present = {tier: bound for tier, bound in found.items() if bound is not None}
    return usable(over.instance.bounds, over.quantity, None, present)


@dataclass(frozen=True)
class Judgement:
    """The verdict on one bound, the seeds that support a violation, and the finding in words."""

    verdict: Verdict
    seeds: tuple[int, ...] = ()
    failures: int | None = None
    p_value: float | None = None
    mean_at_least: float | None = None
    words: str = ""
    rounded: int = 0  # draws above the bound by no more than their rounding


def _without_number(bound: Bound) -> Judgement:
    return Judgement(Verdict.OUTSIDE if bound.outside else Verdict.UNDECIDED)


# Draws within their rounding may be failures, or not: a verdict that they would turn is undecided.
def _by_failures(over: OverDraws, draws: Sequence[Draw], bound: Bound, count: int) -> Judgement:
    failed = tuple(draw.seed for draw in draws if over.exceeds(draw, bound))
    rounded = sum(over.within_rounding(draw, bound) for draw in draws)
    found, at_least = (p_value(failures, count, over.share) for failures in (len(failed), len(failed) + rounded))
    verdict = Verdict.VIOLATED if found < LEVEL else Verdict.UNDECIDED if at_least < LEVEL else Verdict.KEPT
    verdict = Verdict.OUTSIDE if bound.outside else verdict
    value = float_above(found)
    words = (
        f"{len(failed)} of {count} draws exceed {{printed}}, the largest is {{found}}; at a stated probability of "
        f"{plain(float_above(over.share))} so many have the p-value {plain(value)}"
    )
    return Judgement(verdict, failed, len(failed), value, words=words, rounded=rounded)


def _by_mean(over: OverDraws, draws: Sequence[Draw], bound: Bound, count: int) -> Judgement:
    low = least_mean([draw.error for draw in draws], float_above(bound.ball))
    if not bound.outside and bound.ball < low:
        own = all(draw.rounding is not None for draw in draws)
        surely = [draw.surely if own else max(0.0, draw.error - over.rounding) for draw in draws]
        low = least_mean(surely, float_above(bound.ball))
    verdict = Verdict.OUTSIDE if bound.outside else Verdict.VIOLATED if bound.ball < low else Verdict.KEPT
    words = (
        f"the mean over {count} draws is at least {plain(low)} at a confidence of 1 - {LEVEL:g}; stated: {{printed}}"
    )
    return Judgement(verdict, tuple(draw.seed for draw in draws), mean_at_least=low, words=words)


def _remarks(judgements: Mapping[str, Judgement], main: Judgement, bounds: Mapping[str, Bound]) -> Iterator[str]:
    yield from (words for bound in bounds.values() for words in (bound.outside, bound.remark) if words)
    for tier, each in judgements.items():
        if each.failures not in (None, main.failures):
            yield f"{tier}: {each.failures} failures, p-value {plain(each.p_value)}"
        if each.rounded:
            yield f"{tier}: {each.rounded} draws decide nothing: their rounding exceeds the excess, or is unknown"


def _overflows(over: OverDraws, draws: Sequence[Draw]) -> Iterator[str]:
    lost = sum(not draw.finite for draw in draws)
    if lost:
        dtype = over.instance.known.format.name
        yield f"{lost} of {len(draws)} draws have no finite error in {dtype}: each is judged by an exact run, if any"


def _witness(
    over: OverDraws, violated: Judgement, draws: Sequence[Draw], numbers: Mapping[str, Any], run: Run
) -> Witness:
    settings = {key: getattr(run, key) for key in ("samples", "attack", "restarts", "seed")}
    error = max(draw.surely for draw in draws)
    inputs = {SEEDS: list(violated.seeds)}
    return witness_of(over.instance, over.quantity, inputs, error, numbers, settings=settings)
