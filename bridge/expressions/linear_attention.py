"""Linear weights, (1 + s_i - mean s)/n, and softmax in their place."""

from collections.abc import Iterator
from typing import Any

import sympy as sp
import torch

from bridge.expressions.expression import Asking, Candidate, Expression, InNorm, Running, composed
from symbolic import calculus
from symbolic.derivations.derivation import Norm


class LinearWeightsBySoftmax(Expression):
    """Of the scores over the coordinates: exactly linear in them, and in the network softmax."""

    def __init__(self, scores: Expression) -> None:
        self.parts, self.dim, self.count = (scores,), scores.dim, scores.count
        self.label = composed(f"weights({scores.label})", "weights")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            return InNorm(calculus.softmax_as_linear(scores.value, name), sp.Integer(1))

        for source in Norm:
            yield Candidate(Norm.ONE, f"from {source}", ((self.parts[0], source),), rule)

    def run(self, running: Running) -> Any:
        scores = running.value(self.parts[0])
        if running.approximate:
            return torch.softmax(scores, -1)
        return (1 + scores - scores.mean(-1).unsqueeze(-1)) / scores.shape[-1]
