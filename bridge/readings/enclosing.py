"""How far the emulated value of each step is from the exact one, at one prompt.

One function for each operation: from what is known of the premises (`Enclosed`) to what is known of the conclusion.
`x` and `y` are exact values, e = (c, r) their errors: centre and radius. With E = c + u, |u| <= r, every rule below
expands op(x + E) - op(x) into the part that is known (the new centre) and bounds the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from typing import Any

import sympy as sp
import torch

from bridge.readings.arrays import (
    Array,
    applied,
    is_number,
    joint,
    largest,
    one_norm,
    spectral,
    token_mean,
    two_norm,
    unit_vector,
)
from bridge.readings.errors import Error
from bridge.readings.functions import Smooth
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import PRODUCTS, attended, clipped, shrunk, value
from symbolic import operations as op
from symbolic.derivation import Norm, Step
from symbolic.statements import UsageError


@dataclass(frozen=True)
class Image:
    """The error minus its centre is A u with ||u||_2 <= two, for each token."""

    matrix: Array  # (..., m, k)
    two: Callable[[], Array]


@dataclass(frozen=True)
class Enclosed:
    """The exact value of a step, and what is known of the error of the emulated one.

    `holds`: whether all arguments lie where the functions are known; a tensor of one truth value in a batch.
    """

    exact: Array
    error: Error
    image: Image | None = None
    holds: Any = True


@dataclass(frozen=True)
class Instance:
    """The operands, and what of them is used.

    `local`: approximants at each argument, beside their supremum. `by_rules`: the bounds of the rules too, where the
    letters in them are known.
    """

    operands: Operands
    local: bool = True
    by_rules: bool = True

    def within(self, step: Step) -> "Instance":
        return replace(self, operands=self.operands.within(step))

    def in_layer(self, place: int, number: sp.Symbol) -> "Instance":
        return replace(self, operands=self.operands.in_layer(place, number))


@singledispatch
def enclosed(operation: op.Operation, step: Step, x: list[Enclosed], at: Instance) -> Enclosed | None:
    """What is known after the operation; None if nothing is proved for it here."""
    return None


def _exactly(operation: op.Operation, x: list[Enclosed], at: Instance) -> Array:
    return value(operation, [each.exact for each in x], at.operands, False)


@enclosed.register
def _given(operation: op.Given, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    found = at.operands.operand(operation.name)
    if isinstance(found, Emulated):
        difference = found.emulated - found.exact
        return Enclosed(found.exact, Error(difference, torch.zeros_like(difference)))
    if step.local == 0:
        return Enclosed(found, Error.none(found))
    return Enclosed(found, Error.within(step.norm, at.operands.number(step.local), found))


# A (c + u) = A c + A u, and |A u| is at most |A| r, ||A_i||_2 ||u||_2 and max_k |A_ik| ||u||_1 in row i.
@enclosed.register
def _linear(operation: op.Linear, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    (before,) = x
    matrix, error = at.operands.matrix(operation), before.error
    exact = _exactly(operation, x, at)
    if is_number(matrix):
        return Enclosed(exact, _scaled(error, matrix))
    if matrix.ndim == 1:  # the tokens become the coordinates
        of_tokens = _mapped(error, matrix.unsqueeze(0))
        return Enclosed(exact, Error(of_tokens.centre[..., 0], of_tokens.radius[..., 0]))
    return Enclosed(exact, _mapped(error, matrix), Image(matrix, lambda: error.two))


def _mapped(error: Error, matrix: Array) -> Error:
    size = abs(matrix)
    radius = torch.minimum(applied(size, error.radius), error.two.unsqueeze(-1) * two_norm(matrix))
    if error.has_one:
        radius = torch.minimum(radius, error.one.unsqueeze(-1) * largest(size))

    def two() -> Array:
        found = spectral(matrix) * error.two
        return torch.minimum(found, error.one * largest(two_norm(matrix.mT))) if error.has_one else found

    return Error(
        applied(matrix, error.centre),
        radius,
        one=(lambda: error.one * largest(one_norm(matrix.mT))) if error.has_one else None,
        two=two,
    )


def _scaled(error: Error, factor: Any) -> Error:
    size = abs(factor)
    return Error(factor * error.centre, size * error.radius, one=lambda: size * error.one, two=lambda: size * error.two)


# With a remainder: f_hat(z + E) - f(z) = deviation + f'(z) (c + u) + rest, where the deviation is that of f_hat from f
# at the argument z + E. Without one: |f_hat(z + E) - f(z)| <= eps + c_1 |E| + c_2 |E|^2 + ..., in each coordinate and,
# as || |E|^i ||_2 <= ||E||_2^i, in the 2-norm.
@enclosed.register
def _apply(operation: op.Apply, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    (before,) = x
    function, error, change = at.operands.function(operation.function), before.error, before.error.absolute
    arguments = (before.exact, *map(at.operands.array, operation.beside))
    sup, holds = _supremum(operation, function, at), function.reaches(before.exact, change)
    centre, spread = function.spread(change, sup, at.local, *arguments)
    call = at.operands.call
    exact, expansion = call(function.exact, *arguments), function.expansion(change, *arguments, call=call)
    if expansion is None:
        moves = [[at.operands.number(c) for c in each] for each in operation.moves]
        two = lambda: two_norm(spread) + _moved(moves, error.norm(Norm.TWO))  # noqa: E731
        return Enclosed(exact, Error(centre, spread + _moved(moves, change), two=two), holds=holds)
    slope, rest = expansion
    radius = spread + abs(slope) * error.radius + rest
    two = lambda: two_norm(spread) + _gain(slope, before) + two_norm(rest)  # noqa: E731
    return Enclosed(exact, Error(centre + slope * error.centre, radius, two=two), holds=holds)


def _supremum(operation: op.Apply, function: Smooth, at: Instance) -> Any:
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


def _gain(slope: Array, before: Enclosed) -> Array:
    """At least ||slope * u||_2 for the radius u of an error: ||D A||_2 ||v||_2 where u = A v."""
    image = before.image
    if image is None:
        return largest(abs(slope)) * before.error.two
    return spectral(slope.unsqueeze(-1) * image.matrix) * image.two()


@enclosed.register
def _product(operation: op.Product, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    first, second = x
    exact = PRODUCTS[operation.kind](first.exact, second.exact)
    return Enclosed(exact, _PRODUCT_ERRORS[operation.kind](first, second))


# (x + a)(y + b) - x y = x c_b + c_a (y + c_b) + (x + c_a) u_b + u_a (y + c_b) + u_a u_b, coordinate by coordinate.
def _entrywise(x: Enclosed, y: Enclosed) -> Error:
    if x.image is not None and y.image is None:
        x, y = y, x
    count = max(x.exact.shape[-1], y.exact.shape[-1])
    x, y = _repeated(x, count), _repeated(y, count)
    a, b = x.error, y.error
    shifted, moved = x.exact + a.centre, y.exact + b.centre
    radius = abs(shifted) * b.radius + a.radius * abs(moved) + a.radius * b.radius
    centre = x.exact * b.centre + a.centre * moved

    def two() -> Array:
        first = largest(abs(shifted)) * b.two
        if y.image is not None:
            first = torch.minimum(first, _gain(abs(shifted), y))
        both = torch.minimum(largest(a.radius) * b.two, two_norm(a.radius * b.radius))
        return first + two_norm(a.radius * abs(moved)) + both

    return Error(centre, radius, two=two)


def _repeated(x: Enclosed, count: int) -> Enclosed:
    """A number in the place of a vector, as the vector of `count` equal entries that it stands for."""
    if x.exact.shape[-1] == count:
        return x
    shape = (*x.exact.shape[:-1], count)
    return Enclosed(x.exact.expand(shape), Error(x.error.centre.expand(shape), x.error.radius.expand(shape)))


# The same summed over the coordinates, where ||.||_2 ||.||_2 and ||.||_1 ||.||_inf bound each inner product.
def _inner(x: Enclosed, y: Enclosed) -> Error:
    a, b = x.error, y.error
    shifted, moved = x.exact + a.centre, y.exact + b.centre
    centre = (x.exact * b.centre + a.centre * moved).sum(-1, keepdim=True)
    by_entry = (abs(shifted) * b.radius + a.radius * abs(moved) + a.radius * b.radius).sum(-1)
    by_two = two_norm(shifted) * b.two + a.two * two_norm(moved) + a.two * b.two
    by_one = (
        largest(abs(shifted)) * b.one
        + a.one * largest(abs(moved))
        + torch.minimum(a.one * largest(b.radius), largest(a.radius) * b.one)
    )
    return Error(centre, torch.minimum(torch.minimum(by_entry, by_two), by_one).unsqueeze(-1))


# The rest of sum_i (y_i + b_i)(x_i + a_i)^T is sum_i [u_b (x + c_a)^T + (y + c_b) u_a^T + u_b u_a^T]:
# (1) as matrices, ||sum_i u_i x_i^T||_F <= ||U||_F ||X||_2; (2) token by token; (3) entry by entry.
def _mean_of_outer(x: Enclosed, y: Enclosed) -> Error:
    (x_exact, c_a, r_a), (y_exact, c_b, r_b) = (_as_tokens(each) for each in (x, y))
    e, f = torch.atleast_1d(x.error.two), torch.atleast_1d(y.error.two)  # (n,)
    count = x_exact.shape[-2]
    moved, shifted = x_exact + c_a, y_exact + c_b
    # (y + b)(x + a)^T - y x^T for the centres a, b, without cancellation
    centre = c_b.mT @ moved + y_exact.mT @ c_a
    radius = r_b.mT @ (abs(moved) + r_a) + abs(shifted).mT @ r_a

    def two() -> Array:
        as_matrices = two_norm(f) * spectral(moved) + spectral(shifted) * two_norm(e) + (f * e).sum(-1)
        by_token = (f * two_norm(moved) + two_norm(shifted) * e + f * e).sum(-1)
        return torch.minimum(as_matrices, by_token) / count

    return Error((centre / count).flatten(-2), (radius / count).flatten(-2), two=two)


def _as_tokens(known: Enclosed) -> tuple[Array, ...]:
    """Exact value, centre and radius, (n, m) each."""
    return tuple(torch.atleast_2d(each) for each in (known.exact, known.error.centre, known.error.radius))


_PRODUCT_ERRORS = {
    op.ProductKind.ENTRYWISE: _entrywise,
    op.ProductKind.INNER: _inner,
    op.ProductKind.MEAN_OUTER: _mean_of_outer,
}


@enclosed.register
def _combination(operation: op.Combination, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    factors = [at.operands.number(each) for each in operation.coefficients]
    first, *others = (_scaled(each.error, factor) for each, factor in zip(x, factors, strict=True))
    for other in others:
        first = _added(first, other)
    return Enclosed(_exactly(operation, x, at), first)


def _added(a: Error, b: Error) -> Error:
    return Error(a.centre + b.centre, a.radius + b.radius, one=lambda: a.one + b.one, two=lambda: a.two + b.two)


@enclosed.register
def _token_mean(operation: op.TokenMean, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    error = x[0].error
    mean = Error(
        token_mean(error.centre),
        token_mean(error.radius),
        one=lambda: torch.atleast_1d(error.one).mean(-1),
        two=lambda: torch.atleast_1d(error.two).mean(-1),
    )
    return Enclosed(_exactly(operation, x, at), mean)


@enclosed.register
def _concatenation(operation: op.Concatenation, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    errors = [each.error for each in x]
    joined = Error(
        torch.cat([each.centre for each in errors], -1),
        torch.cat([each.radius for each in errors], -1),
        one=lambda: sum((each.one for each in errors[1:]), start=errors[0].one),
        two=lambda: joint([each.two for each in errors]),
    )
    return Enclosed(_exactly(operation, x, at), joined)


@enclosed.register
def _restated(operation: op.Restated, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return x[0]


# clip and S_t do not decrease in any coordinate: the emulated value lies between those of x + c - r and x + c + r.
# They are 1-Lipschitz coordinate by coordinate, so that the radii in both norms stay.
@enclosed.register
def _clip(operation: op.Clip, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    low, high = (at.operands.array(name) for name in (operation.low, operation.high))
    return _monotone(x[0], lambda each: clipped(each, low, high))


def _monotone(x: Enclosed, function: Callable[[Array], Array]) -> Enclosed:
    exact, moved, r = function(x.exact), x.exact + x.error.centre, x.error.radius
    at_centre = function(moved)
    radius = torch.maximum(function(moved + r) - at_centre, at_centre - function(moved - r))
    return Enclosed(exact, Error(at_centre - exact, radius, one=lambda: x.error.one, two=lambda: x.error.two))


@enclosed.register
def _soft_threshold(operation: op.SoftThreshold, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    threshold, found = (at.operands.side(operation.threshold, emulated) for emulated in (False, True))
    around = _monotone(x[0], lambda each: shrunk(each, found))
    difference = shrunk(x[0].exact, found) - shrunk(x[0].exact, threshold)
    error, moved, zero = around.error, x[0].exact + x[0].error.centre, torch.zeros_like(x[0].exact)
    # an approximate t < 0 makes S_t jump at 0, by 2 |t|
    jump = torch.where(abs(moved) <= x[0].error.radius, zero + 2 * torch.relu(-found), zero)
    if found is threshold and operation.error != 0:  # S_t moves by the error of t at most
        jump = jump + at.operands.number(operation.error)
        error = Error(error.centre, error.radius + jump, one=lambda: around.error.one, two=lambda: around.error.two)
    one, two = lambda: around.error.one + one_norm(jump), lambda: around.error.two + two_norm(jump)
    shifted = Error(error.centre + difference, error.radius, one=one, two=two)
    return Enclosed(around.exact - difference, shifted)


# With weights p = softmax(s + c) and |u| <= r, the weight of key i moves to at most
#   p_i e^(r_i) / (p_i e^(r_i) + sum_(j != i) p_j e^(-r_j)),
# at least to the same with the signs of r exchanged; and by rule `softmax` the 1-norm moves by 2 tanh(max r / 2).
def _softmax_moves(scores: Array, radius: Array) -> tuple[Array, Error]:
    weights = torch.softmax(scores, -1)
    held = torch.clamp(radius, max=WIDEST)
    spread = torch.maximum(_led(weights, held) - weights, weights - _led(weights, -held))
    moderate = torch.amax(radius, -1, keepdim=True) <= WIDEST
    spread = torch.where(moderate, spread, torch.ones_like(spread))
    return weights, Error(torch.zeros_like(spread), torch.relu(spread), one=lambda: 2 * torch.tanh(largest(radius) / 2))


WIDEST = 300.0  # e^300 is a float64; scores that move by more may give a key any weight


def _led(weights: Array, lead: Array) -> Array:
    """The weight of each key when its score gains `lead` and every other loses its own: (..., n)."""
    gained, lost = weights * torch.exp(lead), weights * torch.exp(-lead)
    return gained / (gained + _sum_of_others(lost))


def _sum_of_others(numbers: Array) -> Array:
    """The sum over all other keys, added up from both ends: a difference from the whole sum would cancel."""
    none = torch.zeros_like(numbers[..., :1])
    before = torch.cat([none, torch.cumsum(numbers, -1)[..., :-1]], -1)
    after = torch.cat([none, torch.cumsum(numbers.flip(-1), -1)[..., :-1]], -1).flip(-1)
    return before + after


@enclosed.register
def _softmax(operation: op.Softmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return _weights(_exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius)


@enclosed.register
def _linear_softmax(operation: op.LinearSoftmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return _weights(_exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius)


def _weights(exact: Array, scores: Array, radius: Array) -> Enclosed:
    """softmax(scores + u), |u| <= radius, against the exact weights."""
    weights, moves = _softmax_moves(scores, radius)
    return Enclosed(exact, Error(weights - exact, moves.radius, one=lambda: moves.one))


# The winner stays if it leads by more than the two errors; else all that is known is that weights add up to 1.
@enclosed.register
def _hard_max(operation: op.HardMax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    exact, scores, radius = _exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius
    if operation.inverse_temperature != sp.oo:
        beta = at.operands.number(operation.inverse_temperature)
        return _weights(exact, beta * scores, abs(beta) * radius)
    winner = exact > 0.5
    lead = ((scores - radius) * exact).sum(-1, keepdim=True)
    behind = torch.where(winner, lead - 1, scores + radius)
    lost = torch.where(lead > torch.amax(behind, -1, keepdim=True), torch.zeros_like(exact), torch.ones_like(exact))
    return Enclosed(exact, Error(torch.zeros_like(exact), lost, one=lambda: 2 * largest(lost)))


@enclosed.register
def _concentration(operation: op.Concentration, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    scores = at.operands.array(operation.scores)
    exact = unit_vector(scores)
    if not at.local and not step.local.free_symbols - set(at.operands.letters):
        return Enclosed(exact, Error.within(step.norm, at.operands.number(step.local), exact))
    difference = torch.softmax(scores, -1) - exact
    return Enclosed(exact, Error(difference, torch.zeros_like(difference)))


# With a = p + c_a + u_a and v = V + c_v + u_v, both weight vectors with the sum 1 (so that sum(c_a + u_a) = 0):
#   sum a v - sum p V = (p + c_a) c_v + c_a V  +  sum u_a (V + c_v)  +  sum a u_v,
# where the emulated weights a >= 0 add up to 1. The centres take any point off V + c_v, since sum(u_a) is the
# same for every centre only if the sum of c_a is 0 exactly: it is, as both are sums of weights.
@enclosed.register
def _attention(operation: op.Attention, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    weights, values = x
    a, v = weights.error, values.error
    moved = values.exact + v.centre  # (..., n, m)
    middle = (torch.amax(moved, -2, keepdim=True) + torch.amin(moved, -2, keepdim=True)) / 2
    off = moved - middle  # (..., n, m)
    leaning = weights.exact + a.centre  # (..., n)
    centre = attended(leaning, v.centre) + attended(a.centre, values.exact)
    by_key = attended(a.radius, abs(off))
    reach = torch.minimum(by_key, a.one.unsqueeze(-1) * torch.amax(abs(off), -2))
    radius = reach + torch.amax(v.radius, -2)

    def two() -> Array:
        far = torch.minimum(attended_norms(a.radius, two_norm(off)), a.one * largest(two_norm(off)))
        return far + largest(v.two)

    return Enclosed(_exactly(operation, x, at), Error(centre, radius, two=two))


def attended_norms(weights: Array, norms: Array) -> Array:
    """sum_i w_i n_i: (..., n) and (..., n) to (...)."""
    return (weights * norms).sum(-1)


# e_(l+1) = A e_l + v, ||v|| <= offset: e_L = A^L e_0 + sum_l A^l v_l.
@enclosed.register
def _iteration(operation: op.Iteration, step: Step, x: list[Enclosed], at: Instance) -> Enclosed | None:
    (start,) = x
    if operation.depth == sp.oo:
        return None
    matrix, depth = at.operands.array(operation.matrix), at.operands.count(operation.depth)
    if is_number(matrix):
        error, norm = _scaled(start.error, matrix**depth), abs(matrix)
    else:
        error, norm = _mapped(start.error, torch.linalg.matrix_power(matrix, depth)), _OPERATOR_NORMS[step.norm](matrix)
    if operation.offset != 0:
        added = norm * 0
        for _ in range(depth):
            added = norm * added + at.operands.number(operation.offset)
        error = _added(error, Error.within(step.norm, added, start.exact))
    return Enclosed(start.exact, error)


_OPERATOR_NORMS: dict[Norm, Callable[[Array], Array]] = {
    Norm.INF: lambda matrix: largest(one_norm(matrix)),
    Norm.ONE: lambda matrix: largest(one_norm(matrix.mT)),
    Norm.TWO: spectral,
}


@enclosed.register
def _cases(operation: op.Cases, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return x[0] if at.operands.holds(operation.when) else x[1]
