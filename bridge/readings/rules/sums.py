"""Sums with coefficients, means over tokens, concatenations, and a value in another norm."""

from collections.abc import Iterable
from functools import reduce

import flint
import torch

from bridge.readings.arrays import Array, joint, token_mean
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.network import Ball, Bounded, NormsAtHand, bounded, joined_norm, require_equal_dims
from bridge.readings.operands import Operands
from bridge.readings.values import value
from numeric.balls import ball_maximum
from symbolic.calculus.sums import AsTokens, Combination, Concatenation, Restated, TokenMean
from symbolic.derivations.derivation import Step


@value.register
def _value_of_combination(operation: Combination, x: list[Array], operands: Operands, emulated: bool) -> Array:
    if len(lengths := sorted({each.shape[-1] for each in x})) > 1:
        raise ValueError(f"summands of {' and '.join(map(str, lengths))} coordinates")
    first, *others = (operands.number(c) * each for c, each in zip(operation.coefficients, x, strict=True))
    for other in others:
        first = first + other
    return first


@enclosed.register
def _enclosed_of_combination(operation: Combination, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    factors = [at.operands.number(each) for each in operation.coefficients]
    scaled = [each.error.scaled(factor) for each, factor in zip(x, factors, strict=True)]
    return Enclosed(exactly(operation, x, at), reduce(Error.plus, scaled))


@bounded.register
def _bounded_of_combination(operation: Combination, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    require_equal_dims(step, x)
    factors = [abs(known.number(step, each)) for each in operation.coefficients]

    def total(numbers: Iterable[Ball]) -> Ball:
        return sum((factor * each for factor, each in zip(factors, numbers, strict=True)), start=flint.arb(0))

    size, emulated = total(each.size for each in x), total(each.emulated for each in x)
    error = total(each.error for each in x)
    reach, emulated_reach = total(each.reach for each in x), total(each.emulated_reach for each in x)
    return Bounded(step.norm, x[0].dim, size, emulated, error, reach, emulated_reach)


@value.register
def _value_of_token_mean(operation: TokenMean, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return token_mean(x[0])


@enclosed.register
def _enclosed_of_token_mean(operation: TokenMean, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    error = x[0].error
    mean = Error(
        token_mean(error.centre),
        token_mean(error.radius),
        one=lambda: torch.atleast_1d(error.one).mean(-1),
        two=lambda: torch.atleast_1d(error.two).mean(-1),
    )
    return Enclosed(exactly(operation, x, at), mean)


@bounded.register
def _bounded_of_token_mean(operation: TokenMean, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    return x[0]


@value.register
def _value_of_concatenation(operation: Concatenation, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.cat(x, -1)


@enclosed.register
def _enclosed_of_concatenation(operation: Concatenation, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    errors = [each.error for each in x]
    joined = Error(
        torch.cat([each.centre for each in errors], -1),
        torch.cat([each.radius for each in errors], -1),
        one=lambda: sum((each.one for each in errors[1:]), start=errors[0].one),
        two=lambda: joint([each.two for each in errors]),
    )
    return Enclosed(exactly(operation, x, at), joined)


@bounded.register
def _bounded_of_concatenation(operation: Concatenation, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    parts = [[getattr(each, part) for each in x] for part in ("size", "emulated", "error")]
    size, emulated, error = (joined_norm(step.norm, each) for each in parts)
    reach, emulated_reach = (ball_maximum([getattr(each, part) for each in x]) for part in ("reach", "emulated_reach"))
    return Bounded(step.norm, sum(each.dim for each in x), size, emulated, error, reach, emulated_reach)


@value.register
def _value_of_tokens(operation: AsTokens, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.stack(x, -2)


@enclosed.register
def _enclosed_of_tokens(operation: AsTokens, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, errors = exactly(operation, x, at), [each.error for each in x]
    centre = None if all(each.is_centred for each in errors) else torch.stack([each.centre for each in errors], -2)
    if all(each.is_known for each in errors):
        return Enclosed(exact, Error(centre, None, like=exact))
    tokens = Error(
        centre,
        torch.stack([each.radius for each in errors], -2),
        one=lambda: torch.stack([each.one for each in errors], -1),
        two=lambda: torch.stack([each.two for each in errors], -1),
    )
    return Enclosed(exact, tokens)


@value.register
def _value_of_restated(operation: Restated, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0]


@enclosed.register
def _enclosed_of_restated(operation: Restated, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return x[0]


@bounded.register
def _bounded_of_restated(operation: Restated, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded:
    return x[0].in_norm(step.norm)
