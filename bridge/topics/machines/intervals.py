"""Enclosures in words: the two ends of an interval, rounded outward."""

import math

from bridge.theorems.numbers import DIGITS, shown

MOST_DIGITS = 12


def interval_words(lower: float, upper: float) -> str:
    """[lower, upper] of positive ends, rounded outward to as many digits as they agree on, DIGITS at least."""
    width = (upper - lower) / abs(upper) if math.isfinite(upper) and upper != 0 else 1.0
    agreed = MOST_DIGITS if width == 0 else min(MOST_DIGITS, max(DIGITS, math.ceil(-math.log10(width))))
    return f"[{_end(lower, 'lower', agreed)}, {_end(upper, 'upper', agreed)}]"


def _end(value: float, kind: str, digits: int) -> str:
    return f"{shown(value, 'derived', kind, digits):.{digits}g}"
