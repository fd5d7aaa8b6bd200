"""Mixtures of experts: the values of several subnetworks under the weights of a gate."""

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp
import torch

from bridge.expressions.attention import Attend
from bridge.expressions.expression import Asking, Candidate, Expression, InNorm, Running, require_shape, same
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class ExpertsOf(Expression):
    """The values of the experts, as tokens: at each token of theirs, if they have some."""

    def __init__(self, experts: tuple[Expression, ...]) -> None:
        self.parts, self.dim, self.count, self.label = experts, experts[0].dim, sp.Integer(len(experts)), "experts"

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, *known: InNorm) -> InNorm:
            sizes = [each.approximate_size for each in known if each.approximate_size is not None]
            value = calculus.as_tokens(*(each.value for each in known), name=name)
            return InNorm(value, sp.Max(*sizes) if len(sizes) == len(known) else None)

        for norm in Norm:
            yield Candidate(norm, str(norm), tuple((part, norm) for part in self.parts), rule)

    def run(self, running: Running) -> Any:
        return torch.stack([running.value(part) for part in self.parts], -2)


def mixture(weights: Any, experts: Sequence[Any]) -> Attend:
    """sum_i w_i x_i: the values of the experts under the weights of a gate, at each token.

    The weights come from a softmax, or from `bs.hard_max(scores, margin=)` for the winner alone (top-1 gating): while
    the margin survives the error is that of an expert. With `bs.softmax(scores).largest(k)` the network asks the best
    k alone.
    """
    for each in (weights, *experts):
        if not isinstance(each, Expression):
            raise UsageError(f"mixture: expected expressions, got {type(each).__name__}")
    if not experts:
        raise UsageError("mixture: no experts came; give a list of expressions")
    first = experts[0]
    fits = all(same(each.dim, first.dim) and same(each.count, weights.count) for each in experts)
    require_shape(
        "mixture: values of one shape, and as many tokens as the weights, are needed", fits, weights, *experts
    )
    fits = same(weights.dim, sp.Integer(len(experts)))
    require_shape(f"mixture: one weight for each of the {len(experts)} experts is needed", fits, weights)
    return Attend(weights, ExpertsOf(tuple(experts)))
