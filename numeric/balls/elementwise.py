"""Entrywise functions of balls, with torch's broadcasting.

Where a ball is wide, a monotone function is enclosed by its values at the two ends.
"""

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import flint
import numpy as np

from numeric.balls.arbs import Arb, absolute, square_root
from numeric.balls.array import BallArray, Truth, entries_of, truths_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import boxed
from numeric.balls.errors import BallsError, ShapesDiffer

BallFunction: TypeAlias = Callable[[Arb], Arb]

_NARROW = 2.0**-20


def lifted(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """The function at each place of the arrays, broadcast against each other."""
    shape = arrays[0].shape
    if all(array.shape == shape for array in arrays):
        charge_scalars(arrays[0].size)
        return boxed(map(function, *[array.ravel().tolist() for array in arrays]), shape)
    try:
        size = np.broadcast(*arrays).size
    except ValueError:
        raise ShapesDiffer(*(array.shape for array in arrays)) from None
    charge_scalars(size)
    return boxed(np.frompyfunc(function, len(arrays), 1)(*arrays))


def entrywise(function: Callable[..., Arb]) -> Callable[..., BallArray]:
    """The function of balls as a function of arrays, tensors and numbers."""

    def on_arrays(*operands: Any) -> BallArray:
        return BallArray.of_entries(lifted(function, *map(entries_of, operands)))

    return on_arrays


def monotone(function: BallFunction) -> BallFunction:
    def enclosure(ball: Arb) -> Arb:
        if ball.is_nan():
            return flint.arb.nan()  # Arb's asin of a nan with radius 0 is finite
        direct = function(ball)
        if ball.is_exact() or (ball.rad() < _NARROW and direct.is_finite()):
            return direct
        ends = function(ball.lower()).union(function(ball.upper()))
        return ends if ends.is_finite() else direct

    return enclosure


def unary(function: BallFunction) -> Callable[[Any], BallArray]:
    lifted_function = entrywise(function)
    return lambda x: lifted_function(x)


def integer_power(ball: Arb, exponent: int) -> Arb:
    if exponent < 0:
        return 1 / integer_power(ball, -exponent)
    if exponent == 0:
        return flint.arb(1)
    if ball.rad() < _NARROW and not ball.contains(0):
        return ball**exponent
    if exponent % 2 == 0:
        ball = absolute(ball)
        low, high = ball.abs_lower(), ball.abs_upper()
    else:
        low, high = ball.lower(), ball.upper()
    return _point_power(low, exponent).union(_point_power(high, exponent))


def _point_power(point: Arb, exponent: int) -> Arb:
    return point if point.is_zero() else point**exponent


def power(base: Arb, exponent: Arb) -> Arb:
    """base^exponent; over the part of the base in [0, inf) where the exponent is not an integer."""
    whole = exponent.unique_fmpz() if exponent.is_exact() else None
    if whole is not None:
        return integer_power(base, int(whole))
    if base.lower() > 0 or base < 0:
        return monotone(lambda ball: ball**exponent)(base)
    if exponent > 0:
        upper = base.upper()
        return flint.arb(0) if upper.is_zero() else flint.arb(0).union(upper**exponent)
    return flint.arb.nan()


def square(ball: Arb) -> Arb:
    return integer_power(ball, 2)


def logarithm(ball: Arb) -> Arb:
    return flint.arb.neg_inf() if ball.is_zero() else ball.log()


def logistic(ball: Arb) -> Arb:
    if ball >= 0:
        return 1 / (1 + (-ball).exp())
    exponential = ball.exp()
    return exponential / (1 + exponential)


def error_function(ball: Arb) -> Arb:
    return ball.erf() if ball.is_finite() else ball.sgn()


def log_of_one_plus_exp(ball: Arb) -> Arb:
    return ball + (-ball).exp().log1p() if ball >= 0 else ball.exp().log1p()


def positive_part(ball: Arb) -> Arb:
    return ball.max(flint.arb(0))


def normal_distribution(ball: Arb) -> Arb:
    return (-ball / flint.arb(2).sqrt()).erfc() / 2


def gelu(x: Any, approximate: str = "none") -> BallArray:
    """x Phi(x), or its tanh formula."""
    if approximate == "none":
        return _gelu(x)
    if approximate == "tanh":
        return _gelu_tanh(x)
    raise BallsError("torch.nn.functional.gelu", f"approximate={approximate!r}", "Give 'none' or 'tanh'.")


def _tanh_gelu(ball: Arb) -> Arb:
    inner = (2 / flint.arb.pi()).sqrt() * (ball + flint.arb("0.044715") * ball * ball * ball)
    return ball / 2 * (1 + monotone(flint.arb.tanh)(inner))


_gelu, _gelu_tanh = (
    unary(lambda ball: ball * monotone(normal_distribution)(ball)),
    unary(_tanh_gelu),
)
_sum, _difference, _product, _quotient = (
    entrywise(operator.add),
    entrywise(operator.sub),
    entrywise(operator.mul),
    entrywise(operator.truediv),
)
_power = entrywise(power)
_maximum, _minimum = entrywise(flint.arb.max), entrywise(flint.arb.min)


def add(x: Any, other: Any, *, alpha: Any = 1) -> BallArray:
    return _sum(x, other if alpha == 1 else _product(other, alpha))


def sub(x: Any, other: Any, *, alpha: Any = 1) -> BallArray:
    return _difference(x, other if alpha == 1 else _product(other, alpha))


def div(x: Any, other: Any, *, rounding_mode: None = None) -> BallArray:
    if rounding_mode is not None:
        raise BallsError("torch.div", f"rounding_mode={rounding_mode!r}", "The function jumps: use torch.where.")
    return _quotient(x, other)


def clamp(x: Any, min: Any = None, max: Any = None) -> BallArray:
    result = x if min is None else _maximum(x, min)
    return result if max is None else _minimum(result, max)


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> BallArray:
    return _sum(_maximum(x, 0), _product(_minimum(x, 0), negative_slope))


def softplus(x: Any, beta: Any = 1, threshold: Any = 20) -> BallArray:
    """log(1 + exp(beta x)) / beta everywhere: torch's linear branch above the threshold is a shortcut within 3e-9."""
    return _quotient(_softplus(_product(x, beta)), beta)


_softplus = unary(monotone(log_of_one_plus_exp))


def hull(condition: bool | None, chosen: Arb, other: Arb) -> Arb:
    if condition is None:
        return chosen.union(other)
    return chosen if condition else other


def where(condition: Any, input: Any, other: Any) -> BallArray:
    """Entries of one or the other; where the condition is undecided, the hull of both."""
    return BallArray.of_entries(lifted(hull, truths_of(condition), entries_of(input), entries_of(other)))


def masked_fill(x: Any, mask: Any, value: Any) -> BallArray:
    return where(mask, value, x)


def compared(holds: Callable[[Arb, Arb], bool], fails: Callable[[Arb, Arb], bool]) -> Callable[..., Truth]:
    """A comparison from the two ways in which balls decide it."""

    def decide(left: Arb, right: Arb) -> bool | None:
        return True if holds(left, right) else False if fails(left, right) else None

    def on_arrays(x: Any, other: Any) -> Truth:
        return Truth.of_entries(lifted(decide, entries_of(x), entries_of(other)))

    return on_arrays


_ORDERS: dict[str, Callable[[Arb, Arb], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
_NEGATIONS = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _either(left: bool | None, right: bool | None) -> bool | None:
    return _negated(_both(_negated(left), _negated(right)))


def logical(function: Callable[..., bool | None]) -> Callable[..., Truth]:
    return lambda *operands: Truth.of_entries(lifted(function, *map(truths_of, operands)))


def isfinite(x: Any) -> Truth:
    """True for a finite ball, False for an infinity, undecided for a ball that says nothing."""
    return Truth.of_entries(lifted(_finite, entries_of(x)))


def _finite(ball: Arb) -> bool | None:
    return True if ball.is_finite() else False if ball.is_exact() and not ball.is_nan() else None


UNARY: dict[str, BallFunction] = {
    "neg": operator.neg,
    "abs": absolute,
    "square": square,
    "sqrt": monotone(square_root),
    "rsqrt": lambda ball: 1 / monotone(square_root)(ball),
    "reciprocal": lambda ball: 1 / ball,
    "exp": monotone(flint.arb.exp),
    "exp2": monotone(lambda ball: flint.arb(2) ** ball),
    "expm1": monotone(flint.arb.expm1),
    "log": monotone(logarithm),
    "log2": monotone(lambda ball: logarithm(ball) / flint.arb.const_log2()),
    "log10": monotone(lambda ball: logarithm(ball) / flint.arb.const_log10()),
    "log1p": monotone(flint.arb.log1p),
    "sin": flint.arb.sin,
    "cos": flint.arb.cos,
    "tan": flint.arb.tan,
    "asin": monotone(flint.arb.asin),
    "acos": monotone(flint.arb.acos),
    "atan": monotone(flint.arb.atan),
    "sinh": monotone(flint.arb.sinh),
    "cosh": lambda ball: monotone(flint.arb.cosh)(absolute(ball)),
    "tanh": monotone(flint.arb.tanh),
    "asinh": monotone(flint.arb.asinh),
    "sigmoid": monotone(logistic),
    "logsigmoid": lambda ball: -monotone(log_of_one_plus_exp)(-ball),
    "silu": lambda ball: ball * monotone(logistic)(ball),
    "erf": monotone(error_function),
    "erfc": lambda ball: 1 - monotone(error_function)(ball) if not ball.is_finite() else monotone(flint.arb.erfc)(ball),
    "relu": positive_part,
    "sign": flint.arb.sgn,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: unary(function) for name, function in UNARY.items()},
    **{name: compared(order, _ORDERS[_NEGATIONS[name]]) for name, order in _ORDERS.items()},
    "add": add,
    "sub": sub,
    "mul": lambda x, other: _product(x, other),
    "div": div,
    "pow": lambda x, exponent: _power(x, exponent),
    "maximum": lambda x, other: _maximum(x, other),
    "minimum": lambda x, other: _minimum(x, other),
    "clamp": clamp,
    "clamp_min": lambda x, min: _maximum(x, min),
    "clamp_max": lambda x, max: _minimum(x, max),
    "gelu": gelu,
    "leaky_relu": leaky_relu,
    "softplus": softplus,
    "where": where,
    "Tensor.where": lambda x, condition, other: where(condition, x, other),
    "masked_fill": masked_fill,
    "logical_and": logical(_both),
    "logical_or": logical(_either),
    "logical_not": logical(_negated),
    "isfinite": isfinite,
    "rsub": lambda x, other: sub(other, x),
    "__rsub__": lambda x, other: sub(other, x),
    "__rpow__": lambda x, other: _power(other, x),
    "__rdiv__": lambda x, other: div(other, x),
    "special_expm1": unary(UNARY["expm1"]),
    "special_log1p": unary(UNARY["log1p"]),
    "special_expit": unary(UNARY["sigmoid"]),
    "special_erf": unary(UNARY["erf"]),
    "special_erfc": unary(UNARY["erfc"]),
    "addcmul": lambda x, tensor1, tensor2, *, value=1: add(x, _product(tensor1, tensor2), alpha=value),
    "lerp": lambda x, end, weight: _sum(x, _product(weight, _difference(end, x))),
}
