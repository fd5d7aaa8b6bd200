"""Losses over classes: log-softmax, and the cross-entropy of a label."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp
import torch

from bridge.domains import Domain, Rows, Simplex
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    names_in,
    require_shape,
    same,
)
from bridge.expressions.inputs import Input
from bridge.expressions.running import Program
from symbolic import calculus
from symbolic.calculus.log_softmax import largest_surprise
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class LogSoftmaxOf(Expression):
    """log softmax of the scores, over the coordinates."""

    def __init__(self, scores: Expression) -> None:
        self.parts, self.dim, self.count = (scores,), scores.dim, scores.count
        self.label = composed(f"log_softmax({scores.label})", "log_softmax")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            return InNorm(calculus.log_softmax(scores.value, name), _largest(scores))

        for source in Norm:
            yield Candidate(Norm.INF, f"from {source}", ((self.parts[0], source),), rule)

    def run(self, running: Running) -> Any:
        return torch.log_softmax(running.value(self.parts[0]), -1)


def _largest(scores: InNorm) -> sp.Expr | None:
    """At least the approximate value, of its own scores."""
    size = scores.approximate_size
    return None if size is None else largest_surprise(size, scores.value.norm, scores.value.dim)


class CrossEntropyOf(Expression):
    """-log softmax of the scores at the label: the class of that number, or exact weights over the classes.

    `letter` stands for the largest weight of classes other than the label, at the exact scores.
    """

    sees_exact = True

    def __init__(self, scores: Expression, label: int | Input, others: sp.Expr) -> None:
        self.index = label if isinstance(label, int) else None
        self.parts = (scores,) if isinstance(label, int) else (scores, label)
        self.weights = "" if isinstance(label, int) else label.name
        self.dim, self.count, self.worst = sp.Integer(1), scores.count, others
        self.label = composed(f"cross_entropy({scores.label})", "cross_entropy")

    @property
    def letter(self) -> sp.Symbol:
        return sp.Symbol(f"nu{self.suffix}", nonnegative=True)

    @property
    def assumptions(self) -> tuple[str, ...]:
        if self.worst == 1:
            return ()
        return (f"the other classes of ``{self.label}`` have a weight of at most `{sp.sstr(self.worst)}`",)

    @property
    def handle(self) -> str:
        """The name of the weights over the classes."""
        return self.weights or f"label{self.suffix}"

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        return {} if self.index is None else {self.handle: _unit_vector(self.parts[0].dim, self.index)}

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.worst,)

    @property
    def takes(self) -> tuple[str, ...]:
        return ()

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            without_letter = asking.affine or scores.value.error.is_zero
            others = sp.S.One if without_letter else asking.at(self.letter)
            value = calculus.cross_entropy(scores.value, name, label=self.handle, others=others)
            return InNorm(value, _largest(scores))

        for source in Norm:
            yield Candidate(Norm.INF, f"from {source}", ((self.parts[0], source),), rule)

    def run(self, running: Running) -> Any:
        scores, label = running.value(self.parts[0]), running.array(self.handle)
        running.saw(self, (torch.softmax(scores, -1) * (1 - label)).sum(-1))
        return -(label * torch.log_softmax(scores, -1)).sum(-1, keepdim=True)


def _unit_vector(dim: sp.Expr, index: int) -> Program:
    def weights(known: Mapping[str, Any]) -> torch.Tensor:
        count = int(dim.xreplace({letter: sp.Integer(known[letter.name]) for letter in dim.free_symbols}))
        _require_class(index, count)
        return (torch.arange(count, dtype=torch.int64, device="cpu") == index).to(torch.float64)

    return Program(names_in(dim), weights)


def _require_class(index: int, count: sp.Expr | int) -> None:
    if index < 0 or (count - sp.Integer(index)).is_positive is False:
        raise UsageError(f"cross_entropy: the label is {index}, of {count} classes; give 0, ..., {count - 1}")


def log_softmax(scores: Any) -> LogSoftmaxOf:
    """log softmax over the coordinates of each token; errors in the sup norm count at most twice."""
    return LogSoftmaxOf(_checked("log_softmax", scores))


def cross_entropy(scores: Any, label: Any, *, others: Any = 1) -> CrossEntropyOf:
    """-log softmax(scores) at the label: one number, of each token.

    `label` is the number of a class, from 0 on, or weights over the classes: `bs.vector(..., sums=1,
    domain=bs.domains.Simplex(n))`, or `bs.tokens` of them. `others` bounds the weight that softmax of the exact scores
    gives to classes other than the label, at every prompt; a prompt knows its own.
    """
    _checked("cross_entropy", scores)
    if isinstance(label, int) and not isinstance(label, bool):
        _require_class(label, scores.dim)
    elif not isinstance(label, Input) or not _holds_weights(label.domain):
        given = f"{label.label} in {label.domain}" if isinstance(label, Input) else type(label).__name__
        raise UsageError(
            f"cross_entropy: expected the number of a class, or exact weights over the classes, got {given}; give "
            f"bs.vector(..., sums=1, domain=bs.domains.Simplex(n))"
        )
    else:
        fits = same(label.dim, scores.dim) and (label.count is None or same(label.count, scores.count))
        require_shape("cross_entropy: a weight for each class is needed", fits, label, scores)
    return CrossEntropyOf(scores, label, as_number("weight of the other classes", others))


def _holds_weights(domain: Domain) -> bool:
    return isinstance(domain.row if isinstance(domain, Rows) else domain, Simplex)


def _checked(call: str, given: Any) -> Expression:
    if not isinstance(given, Expression):
        raise UsageError(f"{call}: expected an expression, got {type(given).__name__}")
    return given
