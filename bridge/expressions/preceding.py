"""The tokens before each token, beside it: exactly, and as heads that see positions alone write them there."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    names_in,
    require_name,
)
from bridge.expressions.inputs import Input
from bridge.expressions.running import Program
from bridge.lowering.exponential_sums import ExponentialSums, best_rates
from bridge.readings import Emulated
from numeric.balls import float_above
from symbolic.calculus import exponential_sums as theory
from symbolic.calculus import given
from symbolic.derivations.derivation import Norm
from symbolic.derivations.operations import Given
from symbolic.statements.parameters import Hypothesis
from symbolic.words.errors import UsageError

MOST_HEADS = 32
UNIT = 2.0**-53  # rates are those of the least error in float64


class PrecedingTokens(Expression):
    """(x_(s-1), ..., x_(s-lags)) for the tokens s = first, ..., L; with `own` (x_s, ..., x_(s-lags+1)).

    In the network each lag is a sum of exponentials of `heads` heads; x_s itself is exact.
    """

    def __init__(
        self, x: Input, lags: sp.Expr, heads: sp.Expr | None, name: str, *, own: bool, first: sp.Expr | None
    ) -> None:
        assert x.count is not None  # tokens
        self.x, self.parts, self.lags, self.heads, self.own, self.name = x, (x,), lags, heads, own, name
        self.label, self.is_named, self.least = require_name(name), True, lags if own else lags + 1
        self.first = self.least if first is None else first
        self.dim, self.count = lags * x.dim, x.count - self.first + 1
        if heads is not None and sp.Ge(heads, lags) == sp.false:
            raise few_heads(heads, lags)

    @property
    def eta(self) -> sp.Symbol:
        return sp.Symbol(f"eta_{self.name}", nonnegative=True)

    @property
    def letters(self) -> dict[sp.Symbol, tuple[str, Program]]:
        """The letter of the error, in words and as a program of parameters."""
        if self.heads is None:
            return {}
        words = f"largest 1-norm, over the lags of `{self.name}`, of the weights of the heads less the indicator"
        return {self.eta: (words, Program(names_in(self.lags, self.heads), self._largest))}

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        if self.heads is None or (enough := sp.Ge(self.heads, self.lags)) == sp.true:
            return ()
        return (Hypothesis(min(names_in(self.heads) or names_in(self.lags)), enough, theory.FEW_HEADS),)

    # With weights phi(t) on the tokens at the lags t = 1, 2, ... the error is sum_t (phi(t) - [t = lag]) x_(s-t), which
    # is at most the 1-norm of phi - [t = lag] times the size of the tokens (Hoelder; equality: tokens that are all the
    # same). That norm is known at every s > lag (symbolic/calculus/exponential_sums.py).
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            size, error = x.value.size, sp.S.Zero if self.heads is None else asking.at(self.eta) * x.value.size
            reason = "the tokens at the lags, which weights of that distance from their indicators average"
            dim = asking.at(self.dim)
            value = given(name, dim=dim, norm=Norm.INF, size=size, error=error, reason=reason if error != 0 else "")
            return InNorm(value.with_conclusion(operation=Given(self.name)), size + error)

        yield Candidate(Norm.INF, "lags", ((self.x, Norm.INF),), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.lags, self.first, *([] if self.heads is None else [self.heads]))

    # At parameters.

    def _known(self, known: Mapping[str, Any]) -> tuple[ExponentialSums | None, list[int]]:
        """What the heads compute, and the lags that they write."""
        many = self._whole(self.lags, known)
        lags = list(range(1, many + (0 if self.own else 1)))
        sums = None if self.heads is None else rates_of(self._whole(self.heads, known), many)
        return (sums if lags else None), lags

    def _largest(self, known: Mapping[str, Any]) -> float:
        sums, lags = self._known(known)
        return 0.0 if sums is None else max(float_above(sums.distance(lag)) for lag in lags)

    def _whole(self, formula: sp.Expr, known: Mapping[str, Any]) -> int:
        found = formula.xreplace({letter: sp.sympify(int(known[letter.name])) for letter in formula.free_symbols})
        if not found.is_Integer or not found >= 1:
            raise UsageError(f"{self.name}: {sp.sstr(formula)} is {found} here; lags, heads and places are 1 or more")
        return int(found)

    def sides(self, known: Mapping[str, Any]) -> tuple[Any, Any]:
        """The exact tokens and those of the network, of the tokens and parameters by name."""
        x, (sums, lags), first = known[self.x.name], self._known(known), self._whole(self.first, known)
        if not self._whole(self.least, known) <= first <= len(x):
            raise UsageError(
                f"{self.name}: the first token is {first} of {len(x)}; {sp.sstr(self.least)} or a later one has all "
                f"lags"
            )
        own = [x[first - 1 :]] if self.own else []
        exact = [x[first - 1 - lag : len(x) - lag] for lag in lags]
        near = exact if sums is None else [sums.written(x, len(lags), first)]
        return torch.cat([*own, *exact], -1), torch.cat([*own, *near], -1)

    def run(self, running: Running) -> Any:
        names = (self.x.name, *self.takes)
        return self.sides({name: running.array(name) for name in names})[1 if running.approximate else 0]

    def operand(self, known: Mapping[str, Any]) -> Any:
        """As readings of a derivation take it."""
        exact, near = self.sides(known)
        return exact if self.heads is None else Emulated(exact, near)


@lru_cache(maxsize=64)
def rates_of(heads: int, lags: int) -> ExponentialSums:
    """Of as many heads, the best ones for float64 at that lag. Raises UsageError for fewer heads than lags."""
    if heads > MOST_HEADS:
        raise UsageError(f"preceding: {heads} heads; give at most {MOST_HEADS}")
    if heads < lags:
        raise few_heads(heads, lags)
    return best_rates(heads, lags, unit=UNIT)


def few_heads(heads: Any, lags: Any) -> UsageError:
    return UsageError(f"preceding: {heads} heads at {lags} lags; a lag takes as many heads, give {lags} or more")


def preceding(
    x: Any, lags: Any, *, heads: Any = None, name: str = "preceding", own: bool = False, first: Any = None
) -> PrecedingTokens:
    """For the tokens s = first, ..., L of x the `lags` tokens before it, one beside the other, the nearest first.

    With `own` it begins with x_s itself, and ends one token earlier. In the network `heads` heads of attention, which
    see earlier tokens by their distance alone, write them: their errors fall quickly with `heads`, and need as many as
    there are lags, which is a hypothesis of the theorem. Without `heads` they are exact. x are tokens of the prompt,
    `bs.tokens`; `first` is the first token that has all lags, if none is given. Raises UsageError for other
    expressions, and for fewer heads than lags.
    """
    if not isinstance(x, Input) or x.count is None:
        got = x.label if isinstance(x, Expression) else type(x).__name__
        raise UsageError(f"preceding: expected tokens of the prompt, bs.tokens(...), got {got}")
    place = None if first is None else as_number("place", first)
    many = None if heads is None else as_number("number of heads", heads)
    return PrecedingTokens(x, as_number("number of lags", lags), many, name, own=own, first=place)
