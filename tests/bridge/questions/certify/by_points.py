"""What a record of an inequality says at points, by exact fractions and mpmath: nothing here is of the prover's."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath

DIGITS, ROUNDING = 50, mpmath.mpf(10) ** -35
STEPS = 24  # of the grid in one coordinate; 6 in each of several
Point = dict[str, Fraction]


class UndefinedError(Exception):
    """The expression is not a real number there."""


def _log(a: Any) -> Any:
    return mpmath.log(_required(a > 0, a))


def _required(holds: bool, value: Any) -> Any:
    if not holds:
        raise UndefinedError
    return value


def _no_pole(a: Any) -> Any:
    return _required(not (a <= 0 and a == mpmath.floor(a)), a)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp,
    "log": _log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "atan": mpmath.atan,
    "asin": lambda a: mpmath.asin(_required(abs(a) <= 1, a)),
    "asinh": mpmath.asinh,
    "erf": mpmath.erf,
    "gamma": lambda a: mpmath.gamma(_no_pole(a)),
    "loggamma": lambda a: mpmath.loggamma(_required(a > 0, a)),
}


def value(record: Sequence[Any], at: Point) -> Any:
    """The node at the point: a Fraction as long as it is rational, then 50 digits. Raises UndefinedError."""
    head, parts = record[0], record[1:]
    if head == "Rational":
        return Fraction(int(parts[0]), int(parts[1]))
    if head == "Symbol":
        return at[parts[0]]
    if head == "Constant":
        return +mpmath.pi if parts[0] == "pi" else +mpmath.e
    given = [value(part, at) for part in parts]
    if head == "Pow":
        return _power(*given)
    if head in ("Max", "Min"):
        return (max if head == "Max" else min)(map(_real, given))
    if head == "Abs":
        return abs(given[0])
    if head in ("Add", "Mul"):
        exact = all(isinstance(each, Fraction) for each in given)
        numbers = given if exact else list(map(_real, given))
        start = numbers[0]
        for each in numbers[1:]:
            start = start + each if head == "Add" else start * each
        return start
    return FUNCTIONS[head](_real(given[0]))


def _real(number: Any) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else number


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        _required(exponent >= 0 or base != 0, base)
        if isinstance(base, Fraction) and abs(exponent) < 200:
            return base ** int(exponent)
        return _real(base) ** int(exponent)
    _required(base > 0 or (base == 0 and exponent > 0), base)
    return mpmath.power(_real(base), _real(exponent))


def points(record: dict[str, Any], special: Sequence[Fraction] = ()) -> Iterator[Point]:
    """A grid of the box with its ends, and its points with coordinates among the special ones and whole numbers."""
    axes = []
    for name, low, high in record["box"]:
        a, b = Fraction(low), Fraction(high)
        steps = STEPS if len(record["box"]) == 1 else 6
        at = [a + (b - a) * Fraction(k, steps) for k in range(steps + 1)]
        at += [each for each in (*special, *map(Fraction, range(-20, 21))) if a <= each <= b]
        axes.append([(name, each) for each in dict.fromkeys(at)])
    yield from map(dict, product(*axes))


def inside(record: dict[str, Any], at: Point) -> bool:
    try:
        return all(_real(value(condition, at)) >= 0 for condition in record["where"])
    except UndefinedError:
        return False


def fails(record: dict[str, Any], special: Sequence[Fraction] = ()) -> str:
    """A point of the region at which the inequality does not hold or is undefined, in words; "" if none is found."""
    with mpmath.workdps(DIGITS):
        for at in points(record, special):
            if not inside(record, at):
                continue
            where = ", ".join(f"{name} = {x}" for name, x in at.items())
            try:
                found = value(record["expression"], at)
            except UndefinedError:
                return f"undefined at {where}"
            if _real(found) < -ROUNDING or (record["strict"] and isinstance(found, Fraction) and found <= 0):
                return f"{mpmath.nstr(_real(found), 5)} at {where}"
        return _changing_denominator(record)


def _changing_denominator(record: dict[str, Any]) -> str:
    """A denominator that takes both signs on the box: it has a zero or a pole between."""
    if record["where"] or len(record["box"]) != 1:
        return ""
    for denominator in denominators(record["expression"]):
        values = []
        for at in sorted(points(record), key=lambda point: list(point.values())):
            try:
                values.append(_real(value(denominator, at)))
            except UndefinedError:
                return "undefined"
        if any(a * b < 0 for a, b in pairwise(values)):
            return f"a zero of {denominator}"
    return ""


def denominators(record: Sequence[Any]) -> Iterator[Any]:
    """What must not be 0 in it."""
    if not isinstance(record[0], str) or record[0] in ("Rational", "Symbol", "Constant"):
        return
    if record[0] == "Pow" and record[2][0] == "Rational" and int(record[2][1]) < 0:
        yield record[1]
    if record[0] == "tan":
        yield ["cos", record[1]]
    for part in record[1:]:
        yield from denominators(part)
