"""Claims of experiments: a statistic over independent seeds, judged by a confidence interval at a level of its own."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.theorems.check import Check, OverSeeds, Sides
from bridge.theorems.numbers import plain
from bridge.theorems.record import Row
from numeric.tools.confidence import SIGN, ConfidenceInterval, T, largest_centre
from symbolic.derivations.exact_numbers import as_count, as_float, as_formula
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError
from symbolic.words.prose import joined

VALUE, DIFFERENCE, RATIO, LARGEST_STEP, SMALLEST_STEP = "value", "difference", "ratio", "largest step", "smallest step"
STATISTICS = {  # what a measurement returns
    VALUE: "a number",
    DIFFERENCE: "a pair of numbers",
    RATIO: "a pair of numbers above 0, with a ratio between 1e-304 and 1e304",
    LARGEST_STEP: "two or more numbers along a path, as many for each seed",
    SMALLEST_STEP: "two or more numbers along a path, as many for each seed",
}
MEANINGS = {
    VALUE: "the measurement",
    DIFFERENCE: "the first measurement less the second",
    RATIO: "the first measurement over the second",
    LARGEST_STEP: "the largest of the differences between neighbours along the path",
    SMALLEST_STEP: "the smallest of the differences between neighbours along the path",
}
LAWS = {VALUE: "a value", DIFFERENCE: "a difference", RATIO: "the logarithm of a ratio"}
INTERVALS = (T, SIGN)
MOST_SEEDS = 10_000
LARGEST_LOG = 700.0  # of a ratio
LAST_SEED = 2**53  # witnesses hold seeds as floats
CALL = "claim_over_seeds"


def claim_over_seeds(
    claim: str | Quantity,
    measure: Callable[..., Any],
    *,
    statistic: str = VALUE,
    at_most: Any = None,
    at_least: Any = None,
    seeds: int = 3,
    level: float = 0.05,
    interval: str = T,
    meaning: str = "",
) -> Check:
    """A `Check` of a claim on an experiment: of its mean over independent seeds, by a confidence interval.

    `measure` takes `seed`, and parameters and weights by name. It returns what the `statistic` is about:

    - "value": a number;
    - "difference", "ratio": a pair, such as the losses of two models, and one - other, or one / other (both above 0);
    - "largest step", "smallest step": numbers along a path, and the largest or smallest of the mean differences between
      neighbours.

    The claim is that its centre is `at_most` or `at_least` a number, or a formula in parameters. So "one is below the
    other" is a difference of at most 0, "at least triples" a ratio of at least 3, "declines along the path" a largest
    step of at most 0. `claim` is the name of the quantity, or a Quantity with a `printed` bound, or one of its own, in
    place of `at_most` and `at_least`.

    The seeds are `seed`, `seed + 1`, ... of the run. Each end of the interval is on the wrong side of the centre with
    probability at most level / 2. By "t" the centre is a mean (of a ratio the geometric mean), and that holds if the
    statistic (the logarithm of a ratio) is normal; by "sign" it is a median, and that holds for every law, from 6 seeds
    on at a level of 0.05: fewer give no interval. `consistent`: the interval is within the claim; `violated`: within
    its opposite; else `undecided`. A true claim is so violated with probability at most level / 2, and a false one
    consistent. Choose the number of seeds before the run: to add some until a claim is decided undoes the level.

    Raises UsageError for arguments that are none of these, and, when it is run, for measurements that are not finite
    numbers of that form.
    """
    settings = _Settings.checked(statistic, seeds, level, interval)
    quantity = _quantity(claim, statistic, at_most, at_least, meaning, settings)
    if not callable(measure) or "seed" not in arguments_of(measure):
        raise UsageError(f"{CALL} '{quantity.name}': measure = {measure!r:.80}; give a function that takes `seed`")

    def sides(**known: Any) -> Sides:
        at, first = [int(each) for each in known.pop("seeds").tolist()], known.pop("seed")
        if at != list(range(first, first + settings.seeds)):
            raise UsageError(f"{CALL} '{quantity.name}': the seeds of the witness are not those of its run")
        return _sides(settings, [_measured(quantity.name, measure, each, known) for each in at], at)

    def points(seed: int) -> dict[str, Any]:
        if seed + settings.seeds > LAST_SEED:
            raise UsageError(f"{CALL} '{quantity.name}': seed = {seed}; give one below 2^53 - {settings.seeds}")
        return {"seeds": np.arange(seed, seed + settings.seeds, dtype=float)}

    taken = ("seeds", *arguments_of(measure))
    names = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in taken]
    sides.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    return Check(quantity, sides, points)


@dataclass(frozen=True)
class _Settings:
    statistic: str
    seeds: int
    level: float
    interval: str

    @classmethod
    def checked(cls, statistic: Any, seeds: Any, level: Any, interval: Any) -> "_Settings":
        for name, value, known in (("statistic", statistic, STATISTICS), ("interval", interval, INTERVALS)):
            if value not in tuple(known):
                raise UsageError(f"{CALL}: {name} = {value!r:.80}; give one of {', '.join(known)}")
        share, count = as_float(CALL, "level", level), as_count(CALL, "seeds", seeds, 2)
        if not 0 < share < 1:
            raise UsageError(f"{CALL}: level = {level!r:.80}; give a number between 0 and 1, such as 0.05")
        if count > MOST_SEEDS:
            raise UsageError(f"{CALL}: seeds = {seeds!r:.80}; give at most {MOST_SEEDS}")
        return cls(statistic, count, share, interval)

    @property
    def centre(self) -> str:
        """What of the statistic the claim is about."""
        mean = "median" if self.interval == SIGN else "geometric mean" if self.statistic == RATIO else "mean"
        return f"{mean} over {self.seeds} seeds"

    @property
    def assumption(self) -> str:
        law = LAWS.get(self.statistic, "each step")
        return "whatever the law is" if self.interval == SIGN else f"if the law of {law} is normal"


def _quantity(claim: Any, statistic: str, at_most: Any, at_least: Any, meaning: str, settings: _Settings) -> Quantity:
    bounds = [each for each in (at_most, at_least) if each is not None]
    if isinstance(claim, Quantity):
        if bounds or claim.kind not in (Kind.UPPER, Kind.LOWER):
            raise UsageError(
                f"{CALL} '{claim.name}': a Quantity has its own bound, an upper or a lower one; give neither at_most "
                f"nor at_least beside it"
            )
        return claim if claim.finding else replace(claim, finding=_finding(claim.kind, settings))
    if not isinstance(claim, str) or not claim:
        raise UsageError(f"{CALL}: claim = {claim!r:.80}; give a name, or a Quantity")
    if len(bounds) != 1:
        raise UsageError(
            f"{CALL} '{claim}': at_most = {at_most!r:.80}, at_least = {at_least!r:.80}; give one of the two"
        )
    kind = Kind.UPPER if at_least is None else Kind.LOWER
    bound = as_formula(f"{CALL} '{claim}'", "at_least" if at_most is None else "at_most", bounds[0])
    median = settings.interval == SIGN  # the bound holds with a probability of at least 1/2
    return Quantity(
        claim,
        rf"\text{{{claim}}}",
        meaning or MEANINGS[statistic],
        "",
        "",
        kind,
        Quantifier.PROBABILITY if median else Quantifier.EXPECTATION,
        printed=Printed(bound, Citation(None, "the claim")),
        scopes=(),
        randomness="the seeds",
        finding=_finding(kind, settings),
        failure=sp.Rational(1, 2) if median else None,
    )


def _finding(kind: Kind, settings: _Settings) -> str:
    side, claimed = ("at most", "at least") if kind is Kind.LOWER else ("at least", "at most")
    confidence = f"at a confidence of 1 - {settings.level:g}"
    return f"the {settings.centre} is {side} {{found}} {confidence}, claimed: {claimed} {{printed}}"


def _measured(name: str, measure: Function, seed: int, known: Mapping[str, Any]) -> Any:
    with called_for(f"{CALL} '{name}': the measurement", measure):
        return measure(seed=seed, **known)


def _sides(settings: _Settings, measured: list[Any], seeds: list[int]) -> Sides:
    found = [_as_numbers(settings.statistic, each, seed) for each, seed in zip(measured, seeds, strict=True)]
    if len({len(each) for each in found}) > 1:
        raise UsageError(f"{CALL}: paths of {[len(each) for each in found]} numbers; give as many for each seed")
    columns = _columns(settings.statistic, np.array(found))
    sign = -1.0 if settings.statistic == SMALLEST_STEP else 1.0
    over = largest_centre(sign * columns, settings.level, settings.interval)
    ends = (over.low, over.high) if sign > 0 else (-over.high, -over.low)
    values, interval = sign * (sign * columns).max(1), ConfidenceInterval(sign * over.centre, *ends)
    if settings.statistic == RATIO:
        values, interval = (
            np.exp(values),
            ConfidenceInterval(*map(_exp, (interval.centre, interval.low, interval.high))),
        )
    seen = OverSeeds(
        tuple(map(float, values)), interval.low, interval.high, settings.level, settings.centre, settings.assumption
    )
    return Sides(interval.centre, over_seeds=seen)


def _as_numbers(statistic: str, value: Any, seed: int) -> list[float]:
    """What was measured at one seed. Raises UsageError for what has another form, and for what is not finite."""
    words = f"{CALL}: the measurement at seed {seed} is {value!r:.80}"
    try:
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(None, dtype=object)
    fits = {VALUE: array.size == 1, DIFFERENCE: array.shape == (2,), RATIO: array.shape == (2,)}
    if array.dtype == object or not fits.get(statistic, array.ndim == 1 and array.size > 1):
        raise UsageError(f"{words}; a {statistic} takes {STATISTICS[statistic]}")
    numbers = [float(each) for each in array.ravel()]
    if not all(map(math.isfinite, numbers)):
        raise UsageError(
            f"{words}, which is not finite; of a run that diverges give a large number, and interval='{SIGN}', which "
            f"takes its order alone"
        )
    if statistic == RATIO and (min(numbers) <= 0 or abs(math.log(numbers[0]) - math.log(numbers[1])) > LARGEST_LOG):
        raise UsageError(f"{words}; a {statistic} takes {STATISTICS[statistic]}")
    return numbers


def _columns(statistic: str, found: np.ndarray) -> np.ndarray:
    """What has a centre of its own, (n, k)."""
    if statistic == RATIO:
        return np.log(found[:, :1]) - np.log(found[:, 1:])
    if statistic == DIFFERENCE:
        return found[:, :1] - found[:, 1:]
    return found if statistic == VALUE else np.diff(found, axis=1)


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


def with_seeds(row: Row, seen: OverSeeds) -> Row:
    """The row with its values over seeds and their interval, and how many of them are on the claim's side."""
    bound = next((each for each in (row.printed, row.claimed, row.derived, row.instance) if each is not None), None)
    words = f"{seen.centre}; the interval has a confidence of 1 - {seen.level:g} {seen.assumption}"
    if not (math.isfinite(seen.low) or math.isfinite(seen.high)):
        words += ". These values give none: they are too few, or all the same"
    if bound is not None:
        within = sum(each >= bound if row.kind == Kind.LOWER else each <= bound for each in seen.values)
        words += f". {within} of {len(seen.values)} seeds keep the bound {plain(bound)}"
    row.values, row.seeds, row.level = list(seen.values), len(seen.values), seen.level
    row.at_least, row.at_most = (end if math.isfinite(end) else None for end in (seen.low, seen.high))
    row.quantifier, row.remark = seen.centre, joined([words, row.remark])
    return row
