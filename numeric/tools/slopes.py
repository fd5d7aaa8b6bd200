"""Slopes of straight lines through points, by least squares, with their confidence intervals."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from scipy import stats

FEWEST = 3  # points: two leave no deviation from a line
Points = Iterable[tuple[int | float, int | float]]


class SlopeError(ValueError):
    """The points determine no slope with an interval. The message gives them and says what is needed."""


@dataclass(frozen=True)
class Slope:
    """A slope with its confidence interval: of the t distribution, for deviations from the line that are normal."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def sign_is_known(self) -> bool:
        """Whether the interval does not hold 0."""
        return self.low > 0 or self.high < 0


def line_slope(points: Points, confidence: float = 0.95) -> Slope:
    """The slope of y in x over the points (x, y).

    Raises SlopeError for fewer than three different x, and for a confidence that is not between 0 and 1.
    """
    every = _checked("line_slope", points, math.isfinite, "finite values")
    confidence = _share("line_slope", confidence)
    fit = stats.linregress(*zip(*every, strict=True))
    spread = float(stats.t.ppf((1 + confidence) / 2, len(every) - 2) * fit.stderr)
    return Slope(float(fit.slope), float(fit.slope) - spread, float(fit.slope) + spread)


def log_slope(points: Points, confidence: float = 0.95) -> Slope:
    """The slope of log y in log x, the exponent of a power law. Raises SlopeError as line_slope, and for y, x <= 0."""
    every = _checked("log_slope", points, lambda each: 0 < each < math.inf, "positive finite values")
    confidence = _share("log_slope", confidence)
    return line_slope([(math.log(x), math.log(y)) for x, y in every], confidence)


def _checked(call: str, points: Points, fits: Callable[[float], bool], words: str) -> list[tuple[float, float]]:
    given = list(points) if isinstance(points, Iterable) else [points]
    try:
        every = [(_number(x), _number(y)) for x, y in given]
    except (TypeError, ValueError, OverflowError):  # of what is neither a pair nor a number, or is beyond floats
        raise SlopeError(f"{call} of {given!r:.200}: give pairs (x, y) of numbers.") from None
    if len({x for x, _ in every}) < FEWEST or not all(fits(each) for point in every for each in point):
        raise SlopeError(f"{call} of {every}: give three or more different x, and {words}.")
    return every


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


def _share(call: str, confidence: Any) -> float:
    try:
        share = _number(confidence)
    except (TypeError, ValueError, OverflowError):
        share = math.nan
    if not 0 < share < 1:
        raise SlopeError(f"{call}: confidence = {confidence!r:.80}; give a number between 0 and 1, such as 0.95.")
    return share
