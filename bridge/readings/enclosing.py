"""How far the emulated value of each step is from the exact one, at one prompt.

One function for each operation: from what is known of the premises (`Enclosed`) to what is known of the conclusion.
Those of perturbed maps, of products and of weights stand in files of their own.
`x` and `y` are exact values, e = (c, r) their errors: centre and radius. With E = c + u, |u| <= r, every rule below
expands op(x + E) - op(x) into the part that is known (the new centre) and bounds the rest.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import sympy as sp
import torch

from bridge.readings import perturbed, product_errors, sinks, weight_errors
from bridge.readings.arrays import (
    Array,
    is_number,
    joint,
    largest,
    one_norm,
    rounding,
    spectral,
    token_mean,
    two_norm,
)
from bridge.readings.enclosed import AtHand, Enclosed, Image, NoEnclosure, enclosed, exactly, gain
from bridge.readings.errors import Error
from bridge.readings.functions import Smooth
from bridge.readings.operands import Emulated
from bridge.readings.values import clipped, shrunk
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Norm, Step
from symbolic.words.errors import UsageError

RULES = perturbed, product_errors, sinks, weight_errors  # which register theirs
__all__ = ["Enclosed", "AtHand", "enclosed"]


@enclosed.register
def _given(operation: op.Given, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    found = at.operands.operand(operation.name)
    if isinstance(found, Emulated):
        return Enclosed(found.exact, Error.known(found.emulated - found.exact))
    if step.local == 0:
        return Enclosed(found, Error.none(found))
    return Enclosed(found, Error.within(step.norm, at.operands.number(step.local), found))


# A (c + u) = A c + A u, and |A u| is at most |A| r, ||A_i||_2 ||u||_2 and max_k |A_ik| ||u||_1 in row i.
@enclosed.register
def _linear(operation: op.Linear, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (before,) = x
    matrix, error = at.operands.matrix(operation), before.error
    exact = exactly(operation, x, at)
    if error.is_none:
        return Enclosed(exact, Error.none(exact))
    if is_number(matrix):
        return Enclosed(exact, error.scaled(matrix))
    if matrix.ndim == 1:  # the tokens become the coordinates
        of_tokens = error.mapped(matrix.unsqueeze(0))
        centre = None if error.is_centred else of_tokens.centre[..., 0]
        return Enclosed(exact, Error(centre, None if error.is_known else of_tokens.radius[..., 0], like=exact))
    return Enclosed(exact, error.mapped(matrix), Image(matrix, lambda: error.two))


# With a remainder: f_hat(z + E) - f(z) = deviation + f'(z) (c + u) + rest, where the deviation is that of f_hat from f
# at the argument z + E. Without one: |f_hat(z + E) - f(z)| <= eps + c_1 |E| + c_2 |E|^2 + ..., in each coordinate and,
# as || |E|^i ||_2 <= ||E||_2^i, in the 2-norm.
@enclosed.register
def _apply(operation: op.Apply, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
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


def _supremum(operation: op.Apply, function: Smooth, at: AtHand) -> Any:
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


@enclosed.register
def _combination(operation: op.Combination, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    factors = [at.operands.number(each) for each in operation.coefficients]
    scaled = [each.error.scaled(factor) for each, factor in zip(x, factors, strict=True)]
    return Enclosed(exactly(operation, x, at), reduce(Error.plus, scaled))


@enclosed.register
def _token_mean(operation: op.TokenMean, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    error = x[0].error
    mean = Error(
        token_mean(error.centre),
        token_mean(error.radius),
        one=lambda: torch.atleast_1d(error.one).mean(-1),
        two=lambda: torch.atleast_1d(error.two).mean(-1),
    )
    return Enclosed(exactly(operation, x, at), mean)


@enclosed.register
def _concatenation(operation: op.Concatenation, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    errors = [each.error for each in x]
    joined = Error(
        torch.cat([each.centre for each in errors], -1),
        torch.cat([each.radius for each in errors], -1),
        one=lambda: sum((each.one for each in errors[1:]), start=errors[0].one),
        two=lambda: joint([each.two for each in errors]),
    )
    return Enclosed(exactly(operation, x, at), joined)


@enclosed.register
def _restated(operation: op.Restated, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return x[0]


# clip and S_t do not decrease in any coordinate: the emulated value lies between those of x + c - r and x + c + r.
# They are 1-Lipschitz coordinate by coordinate, so that the radii in both norms stay.
@enclosed.register
def _clip(operation: op.Clip, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    low, high = (at.operands.array(name) for name in (operation.low, operation.high))
    return _monotone(x[0], lambda each: clipped(each, low, high))


def _monotone(x: Enclosed, function: Callable[[Array], Array]) -> Enclosed:
    exact, (at_centre, radius) = function(x.exact), _between(function, x.error.after(x.exact), x.error.radius)
    return Enclosed(exact, Error(at_centre - exact, radius, one=lambda: x.error.one, two=lambda: x.error.two))


def _between(function: Callable[[Array], Array], middle: Array, r: Array) -> tuple[Array, Array]:
    """A function that does not decrease: its value at the middle, and by how much it differs within r of it."""
    found = function(middle)
    return found, torch.maximum(function(middle + r) - found, found - function(middle - r))


# An approximate t < 0 makes S_t jump at 0, by 2 |t|. What rounding may take across 0 is enclosed on both sides; where
# larger numbers cancel, it is that of the operands.
@enclosed.register
def _soft_threshold(operation: op.SoftThreshold, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    threshold, found = (at.operands.side(operation.threshold, emulated) for emulated in (False, True))
    exact, error, moved = exactly(operation, x, at), x[0].error, x[0].error.after(x[0].exact)
    slack, zero = rounding(abs(x[0].exact) + abs(error.centre)), torch.zeros_like(exact)
    if found is not threshold and at.operands.bits is None:
        slack = slack + rounding(at.operands.scale)
    jump = torch.where(abs(moved) <= error.radius + slack, 2 * torch.relu(-found) + zero, zero)
    reach = error.radius + torch.where(jump > 0, slack, zero)
    at_centre, radius = _between(lambda each: shrunk(each, found), moved, reach)
    if found is threshold and operation.error != 0:  # S_t moves by the error of t at most
        jump = jump + at.operands.number(operation.error)
        radius = radius + jump
    one, two = lambda: error.one + one_norm(jump), lambda: error.two + two_norm(jump)
    return Enclosed(exact, Error(at_centre - exact, radius, one=one, two=two))


# e_(l+1) = A e_l + v, ||v|| <= offset: e_L = A^L e_0 + sum_l A^l v_l.
@enclosed.register
def _iteration(operation: op.Iteration, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    (start,) = x
    if operation.depth == sp.oo:
        raise NoEnclosure(f"'{step.rule}' has no enclosure: it is a limit; give a finite depth=")
    matrix, layers = at.operands.square(operation.matrix), at.operands.layers(operation.depth)
    if is_number(matrix):
        error, norm = start.error.scaled(matrix ** len(layers)), abs(matrix)
    else:
        error, norm = (
            start.error.mapped(torch.linalg.matrix_power(matrix, len(layers))),
            _OPERATOR_NORMS[step.norm](matrix),
        )
    if operation.offset != 0:
        total = norm * 0
        for _ in layers:
            total = norm * total + at.operands.number(operation.offset)
        error = error.plus(Error.within(step.norm, total, start.exact))
    return Enclosed(start.exact, error)


_OPERATOR_NORMS: dict[Norm, Callable[[Array], Array]] = {
    Norm.INF: lambda matrix: largest(one_norm(matrix)),
    Norm.ONE: lambda matrix: largest(one_norm(matrix.mT)),
    Norm.TWO: spectral,
}


@enclosed.register
def _cases(operation: op.Cases, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return x[0] if at.operands.holds(operation.when) else x[1]
