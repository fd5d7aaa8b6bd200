"""Tokens less their mean, tokens of two values one after the other, some tokens."""

from collections.abc import Iterator

import torch

from bridge.readings.arrays import Array, token_mean
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.numbers import Number, is_known, numbers
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import value
from symbolic.calculus.tokens import Centring, TokenAt, TokensAppended
from symbolic.derivations.derivation import Step


def _centred(x: Array) -> Array:
    """(..., n, m) less its mean over n; a value without tokens is its own mean."""
    return x - x if x.ndim == 1 else x - token_mean(x).unsqueeze(-2)


@value.register
def _value_of_centring(operation: Centring, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return _centred(x[0])


# u_i - mean u = (1 - 1/n) u_i - (1/n) sum over the others: at most r_i + mean r - (2/n) r_i, in any norm.
@enclosed.register
def _enclosed_of_centring(operation: Centring, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    if exact.ndim == 1:
        return Enclosed(exact, Error.none(exact))

    def spread(r: Array, tokens: int) -> Array:
        """Along that axis."""
        return r + r.mean(tokens).unsqueeze(tokens) - 2 * r / exact.shape[-2]

    of_each = Error(
        _centred(error.centre),
        spread(error.radius, -2),
        one=lambda: spread(error.one, -1),
        two=lambda: spread(error.two, -1),
    )
    return Enclosed(exact, of_each)


@numbers.register
def _numbers_of_centring(operation: Centring, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if is_known(operation.count, at):
        count = x[0].exact.shape[-2] if x[0].exact.ndim > 1 else 1
        yield Number("the number of tokens", at.number(operation.count), count)


@value.register
def _value_of_appended(operation: TokensAppended, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return torch.cat([torch.atleast_2d(each) for each in x], -2)


@enclosed.register
def _enclosed_of_appended(operation: TokensAppended, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    errors = [each.error for each in x]
    joined = Error(
        torch.cat([torch.atleast_2d(each.centre) for each in errors], -2),
        torch.cat([torch.atleast_2d(each.radius) for each in errors], -2),
        one=lambda: torch.cat([torch.atleast_1d(each.one) for each in errors], -1),
        two=lambda: torch.cat([torch.atleast_1d(each.two) for each in errors], -1),
    )
    return Enclosed(exactly(operation, x, at), joined)


def _places(operation: TokenAt) -> int | slice:
    return slice(*operation.place) if isinstance(operation.place, tuple) else operation.place


@value.register
def _value_of_token(operation: TokenAt, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return x[0][..., _places(operation), :]


@enclosed.register
def _enclosed_of_token(operation: TokenAt, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    error, place = x[0].error, _places(operation)
    of_one = Error(
        error.centre[..., place, :],
        error.radius[..., place, :],
        one=lambda: error.one[..., place],
        two=lambda: error.two[..., place],
    )
    return Enclosed(exactly(operation, x, at), of_one)
