"""Along tokens: all of them less their mean, those of two expressions one after the other, some of them."""

from collections.abc import Iterator
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    composed,
    method,
    require_shape,
    same,
)
from symbolic import calculus
from symbolic.calculus.tokens import centring_factor, tokens_between
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError
from symbolic.words.names import is_mathematical


@method("centred")
class Centred(Expression):
    """Each token less the mean of all."""

    def __init__(self, x: Expression) -> None:
        require_shape("centred: tokens are needed", x.count is not None, x)
        self.parts, self.dim, self.count, self.tokens = (x,), x.dim, x.count, x.count or sp.S.One
        self.label = composed(f"{x.label}.centred", "centred")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        count = asking.at(self.tokens)

        def rule(name: str, x: InNorm) -> InNorm:
            size = x.approximate_size
            return InNorm(
                calculus.centre(x.value, name, count=count), None if size is None else centring_factor(count) * size
            )

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    def run(self, running: Running) -> Any:
        x = running.value(self.parts[0])
        return x - x.mean(-2).unsqueeze(-2)


class Appended(Expression):
    """The tokens of x, then those of y; a vector is one token."""

    def __init__(self, x: Expression, y: Expression) -> None:
        require_shape("append: one dimension is needed", same(x.dim, y.dim), x, y)
        self.parts, self.dim = (x, y), x.dim
        self.count = (sp.S.One if x.count is None else x.count) + (sp.S.One if y.count is None else y.count)
        self.label = composed(f"({x.label}; {y.label})", "tokens")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm, y: InNorm) -> InNorm:
            sizes = (x.approximate_size, y.approximate_size)
            known = None if sizes[0] is None or sizes[1] is None else sp.Max(*sizes)
            return InNorm(calculus.append(x.value, y.value, name), known)

        for norm in Norm:
            yield Candidate(norm, str(norm), tuple((part, norm) for part in self.parts), rule)

    def run(self, running: Running) -> Any:
        return torch.cat([torch.atleast_2d(running.value(part)) for part in self.parts], -2)


class TokenAtPlace(Expression):
    """One token, from the end on where the place is negative, or those from one place up to another."""

    def __init__(self, x: Expression, place: int | tuple[int, int | None]) -> None:
        self.parts, self.dim, self.place, self.tokens = (x,), x.dim, place, x.count or sp.S.One
        places, several = ":".join(self.places), "s" if isinstance(place, tuple) else ""
        letter = f"{x.label}_{places}" if places.isalnum() else f"{x.label}_{{{places}}}"
        is_letter = is_mathematical(letter) and "_" not in x.label and "*" not in places
        label = letter if is_letter else f"token{several} {places} of {x.label}"
        self.label = composed(label, f"token{several}")
        if isinstance(place, tuple):
            self.count = tokens_between(place, self.tokens)

    @property
    def places(self) -> list[str]:
        """That of the token, or of the first and the last one, from 1 on."""
        ends = [self.place] if isinstance(self.place, int) else [self.place[0], (self.place[1] or 0) - 1]
        return [sp.sstr(end + 1 if end >= 0 else self.tokens + end + 1).replace(" ", "") for end in ends]

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            value = calculus.token(x.value, name, place=self.place, count=asking.at(self.tokens))
            return InNorm(value, x.approximate_size)

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    def run(self, running: Running) -> Any:
        place = slice(*self.place) if isinstance(self.place, tuple) else self.place
        return running.value(self.parts[0])[..., place, :]


def shown_place(place: int | tuple[int, int | None]) -> str:
    """As Python writes it."""
    if not isinstance(place, tuple):
        return str(place)
    first, stop = place
    return f"{first or ''}:{'' if stop is None else stop}"


@method("append")
def append(x: Expression, y: Any) -> Appended:
    """The tokens of x, then those of y, or a token of zeros. Raises UsageError for what is neither."""
    if isinstance(y, int | float | sp.Expr) and y == 0:
        y = 0 * (x if x.count is None else x[0])
    if not isinstance(y, Expression):
        raise UsageError(f"{x.label}.append: expected an expression, or 0, got {type(y).__name__}")
    return Appended(x, y)


@method("token")
def token_at(x: Expression, place: Any) -> TokenAtPlace:
    """One token, or several for a slice. Raises UsageError for a vector, and for places that no token has."""
    if x.count is not None and isinstance(place, slice):
        return _tokens_at(x, place)
    whole = isinstance(place, int) and not isinstance(place, bool)
    if x.count is None or not whole:
        raise UsageError(
            f"{x.label}[{place!r:.40}]: {x.label} is in {x.shape}; a token has a whole number, such as 0 or -1, or in "
            f"bs.repeat that of a layer; several have a slice, such as 1:-1"
        )
    if x.count.is_number and not -x.count <= place < x.count:
        raise UsageError(f"{x.label}[{place}]: there are {x.count} tokens")
    return TokenAtPlace(x, place)


def _tokens_at(x: Expression, place: slice) -> TokenAtPlace:
    first, stop = 0 if place.start is None else place.start, place.stop
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in (first, 0 if stop is None else stop))
    if not whole or place.step not in (None, 1):
        raise UsageError(f"{x.label}[{place}]: a slice of tokens goes from one whole number to another, step by step")
    found = TokenAtPlace(x, (first, stop))
    if found.count is not None and found.count.is_nonpositive:
        raise UsageError(f"{x.label}[{shown_place((first, stop))}]: {x.label} is in {x.shape}; no token is left")
    return found
