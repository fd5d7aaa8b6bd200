"""Entrywise functions of arrays of balls, with torch's broadcasting."""

import operator
from collections.abc import Callable
from typing import Any

import flint
import numpy as np

from numeric.balls.arbs import Arb
from numeric.balls.array import BallArray, Truth, entries_of, truths_of
from numeric.balls.budget import charge_scalars
from numeric.balls.conversion import boxed
from numeric.balls.decisions import Decision, at_most, both, either, equal, less, negation
from numeric.balls.errors import BallsError, ShapesDiffer
from numeric.balls.functions import ONE_ARGUMENT, BallFunction, int_power, monotone, power


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


def unary(function: BallFunction) -> Callable[[Any], BallArray]:
    lifted_function = entrywise(function)
    return lambda x: lifted_function(x)


def logarithm(ball: Arb) -> Arb:
    """log, with -inf at 0."""
    return flint.arb.neg_inf() if ball.is_zero() else ball.log()


def _gelu_by_erfc(ball: Arb) -> Arb:
    """x Phi(x) for the normal distribution Phi."""
    return ball * monotone(lambda end: (-end / flint.arb(2).sqrt()).erfc() / 2)(ball)


def _gelu_by_tanh(ball: Arb) -> Arb:
    inner = (2 / flint.arb.pi()).sqrt() * (ball + flint.arb("0.044715") * ball * ball * ball)
    return ball / 2 * (1 + ONE_ARGUMENT["tanh"](inner))


_GELU: dict[str, BallFunction] = {"none": _gelu_by_erfc, "tanh": _gelu_by_tanh}


def gelu(x: Any, approximate: str = "none") -> BallArray:
    """x Phi(x), or its tanh formula."""
    if approximate not in _GELU:
        raise BallsError("torch.nn.functional.gelu", f"approximate={approximate!r}", "Give 'none' or 'tanh'.")
    return entrywise(_GELU[approximate])(x)


_sum, _difference = entrywise(operator.add), entrywise(operator.sub)
_product, _quotient = entrywise(operator.mul), entrywise(operator.truediv)
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


_softplus = entrywise(ONE_ARGUMENT["softplus"])


def hull_of_chosen(condition: Decision, chosen: Arb, other: Arb) -> Arb:
    if condition is None:
        return chosen.union(other)
    return chosen if condition else other


def where(condition: Any, input: Any, other: Any) -> BallArray:
    """Entries of one or the other; where the condition is undecided, the hull of both."""
    return BallArray.of_entries(lifted(hull_of_chosen, truths_of(condition), entries_of(input), entries_of(other)))


def masked_fill(x: Any, mask: Any, value: Any) -> BallArray:
    return where(mask, value, x)


def compared(decide: Callable[[Arb, Arb], Decision]) -> Callable[..., Truth]:
    return lambda x, other: Truth.of_entries(lifted(decide, entries_of(x), entries_of(other)))


def logical(function: Callable[..., Decision]) -> Callable[..., Truth]:
    return lambda *operands: Truth.of_entries(lifted(function, *map(truths_of, operands)))


def isfinite(x: Any) -> Truth:
    """True for a finite ball, False for an infinity, undecided for a ball that says nothing."""
    return Truth.of_entries(lifted(_finite, entries_of(x)))


def _finite(ball: Arb) -> Decision:
    return True if ball.is_finite() else False if ball.is_exact() and not ball.is_nan() else None


_SHARED = (
    *("sqrt", "exp", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
    *("sigmoid", "erf", "erfc", "sign"),
)

UNARY: dict[str, BallFunction] = {
    **{name: ONE_ARGUMENT[name] for name in _SHARED},
    "neg": operator.neg,
    "abs": ONE_ARGUMENT["absolute"],
    "square": lambda ball: int_power(ball, 2),
    "rsqrt": lambda ball: 1 / ONE_ARGUMENT["sqrt"](ball),
    "reciprocal": lambda ball: 1 / ball,
    "exp2": monotone(lambda ball: flint.arb(2) ** ball),
    "log": logarithm,
    "log2": lambda ball: logarithm(ball) / flint.arb.const_log2(),
    "log10": lambda ball: logarithm(ball) / flint.arb.const_log10(),
    "logsigmoid": lambda ball: -ONE_ARGUMENT["softplus"](-ball),
    "silu": lambda ball: ball * ONE_ARGUMENT["sigmoid"](ball),
    "relu": lambda ball: ball.max(flint.arb(0)),
}

_ORDERS: dict[str, Callable[[Arb, Arb], Decision]] = {
    "lt": less,
    "le": at_most,
    "gt": lambda left, right: less(right, left),
    "ge": lambda left, right: at_most(right, left),
    "eq": equal,
    "ne": lambda left, right: negation(equal(left, right)),
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: unary(function) for name, function in UNARY.items()},
    **{name: compared(decide) for name, decide in _ORDERS.items()},
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
    "logical_and": logical(both),
    "logical_or": logical(either),
    "logical_not": logical(negation),
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
