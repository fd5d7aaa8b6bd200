"""A function applied to each coordinate, and an approximant in its place."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.readings.arrays import Array, rounding, two_norm
from bridge.readings.enclosed import LEFT, AtHand, Enclosed, beyond, enclosed, gain
from bridge.readings.errors import Error
from bridge.readings.functions import Smooth
from bridge.readings.network import Bounded, NormsAtHand, bounded
from bridge.readings.numbers import Number, is_known, largest_entry, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import is_emulated, value
from symbolic.calculus.functions import Apply
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm, Step
from symbolic.words.errors import UsageError


@value.register
def _value(operation: Apply, x: list[Array], operands: Operands, emulated: bool) -> Array:
    function = operands.function(operation.function)
    return (function.emulated if emulated else function.exact)(x[0], *map(operands.array, operation.beside))


# With a remainder: f_hat(z + E) - f(z) = deviation + f'(z) (c + u) + rest, where the deviation is that of f_hat from f
# at the argument z + E. Without one: |f_hat(z + E) - f(z)| <= eps + c_1 |E| + c_2 |E|^2 + ..., in each coordinate and,
# as || |E|^i ||_2 <= ||E||_2^i, in the 2-norm.
@enclosed.register
def _enclosed(operation: Apply, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    function, error, change = at.operands.function(operation.function), before.error, before.error.absolute
    arguments = (before.exact, *map(at.operands.array, operation.beside))
    sup, holds = _supremum(operation, function, at), function.reaches(before.exact, change)
    centre, spread = function.spread(change, sup, at.local, *arguments)
    call = at.operands.call
    exact = call(function.exact, *arguments)
    if error.is_none:
        return Enclosed(exact, Error(centre, spread), holds=holds)
    expansion = function.expansion(change, *arguments, call=call)
    if expansion is None:
        moves = [[at.operands.number(c) for c in each] for each in operation.moves]
        two = lambda: two_norm(spread) + _moved(moves, error.norm(Norm.TWO))  # noqa: E731
        return Enclosed(exact, Error(centre, spread + _moved(moves, change), two=two), holds=holds)
    slope, rest = expansion
    radius = spread + abs(slope) * error.radius + rest
    two = lambda: two_norm(spread) + gain(slope, before) + two_norm(rest)  # noqa: E731
    moved = centre if error.is_centred else centre + slope * error.centre
    return Enclosed(exact, Error(moved, radius, two=two), holds=holds)


def _supremum(operation: Apply, function: Smooth, at: AtHand) -> Any:
    """At least sup |f_hat - f|: what is known of the functions, or what the rule says of it, if that is less."""
    missing = sorted(map(str, operation.eps.free_symbols - set(at.operands.letters)))
    says_none = operation.eps == 0 and function.approximate is not None  # the rule takes f alone
    if function.error is None and (missing or says_none):
        letters = f", or the letter {', '.join(missing)}" if missing else ""
        raise UsageError(
            f"step '{at.operands.step}': nothing bounds the error of the approximant '{operation.function}'; give "
            f"Smooth(..., error=){letters}"
        )
    if missing or says_none:
        return function.error
    of_rule = at.operands.number(operation.eps)
    return of_rule if function.error is None else at.operands.least(of_rule, function.error)


def _moved(moves: Sequence[Sequence[Any]], change: Array) -> Array:
    """The least of c_1 d + c_2 d^2 + ... over the c."""
    found = [sum((c * change**k for k, c in enumerate(each, start=1)), start=0 * change) for each in moves]
    return reduce(torch.minimum, found)


@bounded.register
def _bounded(operation: Apply, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    (before,) = x
    function = known.operand(step, operation.function, Callable, "bounds_of(f, t, eps=...), or a function of R")
    exact, both = function(before.reach), function(before.reach.max(before.emulated_reach))
    ones = evaluate_ball(norm_of_ones(step.norm, sp.Integer(before.dim)), {})
    emulated = both.size + both.eps
    error = ones * both.eps + both.lipschitz * before.error
    return Bounded(step.norm, before.dim, ones * exact.size, ones * emulated, error, exact.size, emulated)


@numbers.register
def _numbers(operation: Apply, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    function, beside = at.function(operation.function), [at.array(name) for name in operation.beside]
    one = len(operation.moves) == 1 and len(operation.moves[0]) == 1
    lipschitz = operation.moves[0][0]
    for argument in (x[0].exact, x[0].emulated):
        if function.derivatives and one and is_known(lipschitz, at):
            slope = function.derivatives[0](argument, *beside) + torch.zeros_like(argument)
            yield Number(f"a slope of '{operation.function}'", at.number(lipschitz), largest_entry(slope))
    if function.approximate is not None and operation.eps != 0 and is_known(operation.eps, at):
        here = x[0].emulated  # the rule takes it there alone
        deviation, size = function.deviates(here, *beside), abs(function.exact(here, *beside))
        computed = largest_entry(rounding(size + abs(deviation)))
        what = f"the deviation of '{operation.function}'"
        yield Number(what, at.number(operation.eps), largest_entry(deviation), computed=computed)


@beyond.register
def _beyond(operation: Apply) -> str:
    return LEFT


@is_emulated.register
def _is_emulated(operation: Apply, step: Step, operands: Operands) -> bool:
    return bool(operands.function(operation.function).approximate is not None or operation.eps == 0)
