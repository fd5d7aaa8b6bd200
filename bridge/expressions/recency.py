"""Tokens by heads that see positions alone: each one itself, as an average of those up to it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.domains.matrices import LARGEST_NORM
from bridge.expressions.attention import Attend
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    names_in,
    require_shape,
)
from bridge.expressions.running import Program
from bridge.lowering.formula import evaluate
from bridge.readings.arrays import unit_vector
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class RecentWeights(Expression):
    """For token j of `count` the unit vector of j; in the network softmax of -slope (j - i) over the tokens i <= j."""

    def __init__(self, count: sp.Expr, slope: sp.Expr) -> None:
        self.dim, self.count, self.slope, self.label = count, count, slope, "recent weights"

    @property
    def lags(self) -> str:
        """The name of the scores."""
        return f"lags{self.suffix}"

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.slope,)

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        def scores(known: Mapping[str, Any]) -> torch.Tensor:
            count, slope = (
                float(evaluate(each, {letter: known[letter.name] for letter in each.free_symbols}))
                for each in (self.dim, self.slope)
            )
            if slope * count > LARGEST_NORM:
                raise UsageError(f"recent: slope={slope:g} is so large that the position bias overflows")
            places = torch.arange(round(count), dtype=torch.int64, device="cpu")
            distances = places[:, None] - places
            by_distance = -slope * places.double()
            return torch.where(distances >= 0, by_distance[distances.clamp(min=0)], -torch.inf)

        return {self.lags: Program(self.takes, scores)}

    @property
    def takes(self) -> tuple[str, ...]:
        return names_in(self.dim, self.slope)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        count, slope = asking.at(self.dim), asking.at(self.slope)

        def rule(name: str) -> InNorm:
            return InNorm(calculus.concentrate(name, count=count, slope=slope, scores=self.lags), sp.S.One)

        yield Candidate(Norm.ONE, "slope", (), rule)

    def run(self, running: Running) -> Any:
        scores = running.array(self.lags)
        return torch.softmax(scores, -1) if running.approximate else unit_vector(scores)


def recent(x: Any, *, slope: Any) -> Attend:
    """Each token; in the network the average of it and those before it, under softmax of -slope times the distance.

    The averages err by at most 2 r e^-slope, where all tokens are within r of some centre; the slope is positive.
    """
    if not isinstance(x, Expression):
        raise UsageError(f"recent: expected an expression, got {type(x).__name__}")
    require_shape("recent: tokens are needed, which have places", x.count is not None, x)
    assert x.count is not None  # tokens
    return Attend(RecentWeights(x.count, as_number("slope", slope)), x)
