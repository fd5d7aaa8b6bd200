"""Where float64 loses digits: the conditions under which a watched node flags a point, on arrays of any kind.

Each is written with operators alone, so that numbers, numpy arrays and torch tensors share it. A value is good to
1e-12 where no condition holds: ten bits lost of 53 leave 1e-13, and a few such losses may follow one another.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf
from operator import add, mul
from typing import Any

from .common import Argument, Backend

LOST = 2.0**-10  # of the digits of an inexact argument
LOST_IN_EXPONENT = 2.0**-3  # an exponent is as large as 700, and its errors are absolute
NEAR = 2.0**-40  # how near to a jump an inexact argument is taken as undecided
SMALLEST = 2.0**-1022
SMALLEST_GOOD = 2.0**-960  # sums of smaller numbers may have lost terms
BACK = 2.0**52  # what a factor below the range has to be multiplied by to be back in it
MOST_EXPONENT = 1022  # beyond which no argument is far
LARGEST_POWER = 4096
LARGEST_BINOMIAL = 512

Value = Any
Check = Callable[..., Any]  # of the value and the arguments


class Watch:
    """The points that were flagged in one call."""

    def __init__(self) -> None:
        self.mask: Any = False

    def flag(self, mask: Any) -> None:
        self.mask = mask if self.mask is False else self.mask | mask

    def flag_ends(
        self, backend: Backend, arguments: Sequence[Argument], arrays: Sequence[Value], result: Value
    ) -> None:
        """Points with arguments that may leave the range on the way, or with a false inf or nan for a value."""
        if backend.farthest < MOST_EXPONENT:
            for argument, array in zip(arguments, arrays, strict=True):
                self._flag_one_of(far(array, backend.farthest), len(argument.shape))
        if backend.may_overflow:
            self._flag_one_of(~((result < inf) & (result > -inf)), len(backend.core_shape))

    def _flag_one_of(self, mask: Any, axes: int) -> None:
        """Of a number, or of the entries of a matrix."""
        self.flag(mask.any(tuple(range(-axes, 0))) if axes else mask)


def far(argument: Value, exponent: float) -> Any:
    """Where an argument is larger than 2^exponent, or smaller than its inverse and not 0."""
    size = abs(argument)
    return (size > 2.0**exponent) | ((size < 2.0**-exponent) & (argument != 0))


def watched(function: Callable[..., Value], check: Check) -> Callable[..., Value]:
    """The function with a watch as its first argument, which may be None."""

    def on_watch(watch: Watch | None, *args: Any) -> Value:
        value = function(*args)
        if watch is not None:
            watch.flag(check(value, *args))
        return value

    return on_watch


# what sums, products and powers are computed by


def total(*terms: Value) -> Value:
    return reduce(add, terms)


def product(plain: int, extreme: int, *factors: Value) -> Value:
    above, below = factors[: plain + extreme], factors[plain + extreme :]
    number = reduce(mul, above) if above else 1.0
    return number / reduce(mul, below) if below else number


def power(base: Value, exponent: Value) -> Value:
    return base**exponent


# conditions


def cancelled(value: Value, *terms: Value) -> Any:
    """The last term may be left out: where the sum is small, another one is as large."""
    return abs(value) < LOST * reduce(add, map(abs, terms[:-1]))


def cancelled_in_exponent(value: Value, *terms: Value) -> Any:
    return abs(value) < LOST_IN_EXPONENT * reduce(add, map(abs, terms[:-1]))


def out_of_range(value: Value, plain: int, extreme: int, *factors: Value) -> Any:
    """Whether one factor left the range and the others may bring the product back. A true 0 needs no other.

    What is smaller than the smallest normal number may be 0.
    """
    above, below = factors[: plain + extreme], factors[plain + extreme :]
    small = reduce(_or, [*(abs(each) < 1 for each in above), *(abs(each) > 1 for each in below)])
    tiny = reduce(_or, (abs(each) < SMALLEST for each in (value, *factors[plain : plain + extreme])))
    back = reduce(mul, [*(1 + abs(each) for each in above), *(1 + 1 / abs(each) for each in below)])
    lost = tiny & ((back > BACK) | (abs(value) >= SMALLEST))
    for each in factors[:plain]:
        lost = lost & (each != 0)
    return lost | ((value - value != 0) & small) | (value != value)


def _or(a: Any, b: Any) -> Any:
    return a | b


def large_power(value: Value, base: Value, exponent: Value) -> Any:
    return abs(exponent) > LARGEST_POWER


def near_one(value: Value, u: Value) -> Any:
    return abs(u - 1) < LOST


def near_minus_one(value: Value, u: Value) -> Any:
    return abs(u + 1) < LOST


def near_either_one(value: Value, u: Value) -> Any:
    return abs(abs(u) - 1) < LOST


def small_for_its_angle(value: Value, u: Value) -> Any:
    return abs(value) < LOST * abs(u)


def steep_for_its_angle(value: Value, u: Value) -> Any:
    return small_for_its_angle(value, u) | (abs(value) * abs(u) * LOST > 1)


def near_pole(value: Value, u: Value) -> Any:
    beyond = u % 1
    return (u < 0.5) & ((beyond < LOST) | (beyond > 1 - LOST))


def near_pole_of_factorial(value: Value, u: Value) -> Any:
    return near_pole(value, u + 1)


def near_zero_of_loggamma(value: Value, u: Value) -> Any:
    return (abs(u - 1) < LOST) | (abs(u - 2) < LOST)


def near_zero(value: Value, order: int, u: Value) -> Any:
    return (abs(value) < LOST) | (u < 0) if order == 0 else u < 0


def near_branch_point(value: Value, branch: int, u: Value) -> Any:
    return (abs(value + 1) < LOST) | (abs(u) < SMALLEST_GOOD)


def hard_binomial(value: Value, n: Value, k: Value) -> Any:
    """Beyond the whole numbers that doubles hold, or where a factorial of it is near a pole."""
    near = near_pole(value, n + 1) | near_pole(value, k + 1) | near_pole(value, n - k + 1)
    broken = (n % 1 != 0) | (k % 1 != 0)
    return (abs(n) > LARGEST_BINOMIAL) | (abs(k) > LARGEST_BINOMIAL) | (near & broken)


def small_for_its_exponents(value: Value, *exponents: Value) -> Any:
    return abs(value) < LOST * reduce(add, map(abs, exponents))


def near_jump(value: Value, u: Value) -> Any:
    away = abs(u - value)
    near = NEAR * (1 + abs(u))
    return (away <= near) | (1 - away <= near)


def beyond_range(value: Value, u: Value) -> Any:
    return (abs(u) < SMALLEST_GOOD) | (u - u != 0)


def near_equal(value: Value, left: Value, right: Value) -> Any:
    apart = left - right
    return (abs(apart) <= NEAR * (abs(left) + abs(right))) | (apart != apart)


def watched_functions(names: dict[str, Any]) -> dict[str, Any]:
    """The watched ones of a backend, by the names that generated code calls."""
    conditions: dict[str, Check] = {
        "log": near_one, "log1p": near_minus_one, "asin": near_either_one, "acos": near_either_one,
        "atanh": near_either_one, "acosh": near_either_one, "sin": small_for_its_angle, "cos": small_for_its_angle,
        "tan": steep_for_its_angle, "floor": near_jump, "ceiling": near_jump, "gamma": near_pole,
        "loggamma": near_zero_of_loggamma, "polygamma": near_zero, "binomial": hard_binomial,
        "factorial": near_pole_of_factorial,
        "logsumexp": small_for_its_exponents,
    }  # fmt: skip
    found = {f"watched_{name}": watched(names[name], check) for name, check in conditions.items()}
    of_branch = names["lambertw"]
    return found | {
        "watched_lambertw": watched(lambda branch, u: of_branch(u, branch), near_branch_point),
        "watched_sum": watched(total, cancelled),
        "watched_sum_in_exponent": watched(total, cancelled_in_exponent),
        "watched_product": watched(product, out_of_range),
        "watched_power": watched(power, large_power),
        "watched_range": watched(lambda u: u, beyond_range),
        "watched_against": watched(lambda left, right: left, near_equal),
        "watched_loop_sum": watched_sum(names["loop_sum"]),
        "watched_loop_product": watched_product(names["loop_product"]),
        "watched_loop_run": watched_run(names["loop_run"]),
    }


def watched_sum(loop: Callable[..., Value]) -> Callable[..., Value]:
    """A sum over an index, flagged where it is small for its terms."""

    def on_watch(watch: Watch | None, like: Any, body: Any, masked: Any, *limits: Value) -> Value:
        if watch is None:
            return loop(like, body, masked, *limits)
        size: Any = 0.0

        def seen(terms: Any) -> Any:
            def term(index: Value) -> Value:
                nonlocal size
                value = terms(index)
                size = size + abs(value)
                return value

            return terms and term

        value = loop(like, seen(body), seen(masked), *limits)
        watch.flag(abs(value) < LOST * size)
        return value

    return on_watch


def watched_product(loop: Callable[..., Value]) -> Callable[..., Value]:
    """A product over an index, flagged where it leaves the range on the way."""

    def on_watch(watch: Watch | None, like: Any, body: Any, masked: Any, *limits: Value) -> Value:
        if watch is None:
            return loop(like, body, masked, *limits)
        size: Any = 1.0
        left: Any = False
        zero: Any = False

        def seen(terms: Any) -> Any:
            def term(index: Value) -> Value:
                nonlocal size, left, zero
                value = terms(index)
                size, zero = size * abs(value), zero | (value == 0)
                left = left | (size < SMALLEST_GOOD) | (size > 1 / SMALLEST_GOOD)
                return value

            return terms and term

        value = loop(like, seen(body), seen(masked), *limits)
        watch.flag(left & (zero == 0))
        return value

    return on_watch


def watched_run(loop: Callable[..., Value]) -> Callable[..., Value]:
    """A recursion, flagged where it is small for the one of absolute values."""

    def on_watch(watch: Watch | None, like: Any, *parts: Any) -> Value:
        value = loop(like, *parts)
        if watch is not None:
            body, masked, first, last, *factors = parts
            sizes = [terms and _sizes(terms) for terms in (body, masked, *factors)]
            watch.flag(abs(value) < LOST * abs(loop(like, *sizes[:2], first, last, *sizes[2:])))
        return value

    return on_watch


def _sizes(terms: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda index: abs(terms(index))
