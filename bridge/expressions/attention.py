"""Attention: softmax, the hard max that it approximates, averages under weights; means and concatenations."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import sympy as sp
import torch

from bridge.expressions.expression import (
    METHODS,
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
from bridge.expressions.linear_attention import LinearWeightsBySoftmax
from bridge.expressions.products import product
from bridge.expressions.running import Program
from bridge.limits.arguments import arguments_of, called_with
from bridge.lowering.formula import ArrayFunction
from bridge.readings.arrays import attended, cut_weights, largest_places, unit_vector
from symbolic import calculus
from symbolic.calculus.products import ProductKind
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError

UNIT = sp.Integer(1)


class SoftmaxOf(Expression):
    """softmax of the scores, over the coordinates."""

    def __init__(self, scores: Expression) -> None:
        self.parts, self.dim, self.count = (scores,), scores.dim, scores.count
        self.label = composed(f"softmax({scores.label})", "softmax")

    def largest(self, most: Any) -> "CutSoftmaxOf":
        """The network sees the keys of the `most` largest scores alone."""
        return CutSoftmaxOf(self.parts[0], most=as_number("number of keys", most))

    def keeping(self, mask: Callable[..., Any], *, lost: Any = 1, meaning: str = "") -> "CutSoftmaxOf":
        """The network sees some keys alone: `mask` gives 1 for each of them and 0 for others, from parameters by name.

        `lost` bounds the weight of the others at every prompt, which is yours to know; a prompt knows its own.
        `meaning` tells a reader which keys are kept.
        """
        return CutSoftmaxOf(self.parts[0], mask=mask, lost=as_number("lost weight", lost), meaning=meaning)

    def with_sink(self, value: Any = 0, *, lead: Any = 0) -> NoReturn:
        """A sink has a value, so that the average takes one. Raises UsageError, which says so."""
        raise UsageError(
            f"{self.label}.with_sink: a sink has a value too; write bs.attend(weights, values).with_sink(...)"
        )

    def in_place_of_linear(self) -> LinearWeightsBySoftmax:
        """In the place of linear weights, (1 + s_i - mean s)/n of n scores s."""
        return LinearWeightsBySoftmax(self.parts[0])

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            return InNorm(calculus.softmax(scores.value, name, affine=asking.affine), UNIT)

        for source in Norm:
            yield Candidate(Norm.ONE, f"from {source}", ((self.parts[0], source),), rule)

    def run(self, running: Running) -> Any:
        return torch.softmax(running.value(self.parts[0]), -1)


class CutSoftmaxOf(Expression):
    """softmax of the scores, and in the network that of some keys: those of a mask, or of the largest scores.

    `letter` stands for the largest weight of the keys left out.
    """

    def __init__(
        self,
        scores: Expression,
        *,
        most: sp.Expr | None = None,
        mask: Callable[..., Any] | None = None,
        lost: sp.Expr | None = None,
        meaning: str = "",
    ) -> None:
        self.parts, self.dim, self.count = (scores,), scores.dim, scores.count
        self.most, self.mask = most, mask
        self.worst, self.meaning = lost if most is None or lost is not None else 1 - most / self.dim, meaning
        self.label = composed(f"cut softmax({scores.label})", "cut softmax")

    @property
    def letter(self) -> sp.Symbol:
        return sp.Symbol(f"mu{self.suffix}", nonnegative=True)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return tuple(each for each in (self.most, self.worst) if each is not None)

    @property
    def assumptions(self) -> tuple[str, ...]:
        if self.mask is None or self.worst == 1:
            return ()
        return (f"the keys that ``{self.label}`` leaves out have a weight of at most `{sp.sstr(self.worst)}`",)

    @property
    def kept(self) -> str:
        """The name of the mask; "" without one."""
        return "" if self.mask is None else f"kept{self.suffix}"

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        mask = self.mask
        if mask is None:
            return {}
        return {self.kept: Program(arguments_of(mask), lambda known: as_numbers(called_with(mask, known)))}

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            cut = {"kept": self.kept} if self.most is None else {"most": asking.at(self.most)}
            lost = asking.at(self.letter)
            return InNorm(calculus.cut_softmax(scores.value, name, lost=lost, affine=asking.affine, **cut), UNIT)

        for source in Norm:
            yield Candidate(Norm.ONE, f"from {source}", ((self.parts[0], source),), rule)

    @property
    def takes(self) -> tuple[str, ...]:
        if self.mask is not None:
            return arguments_of(self.mask)
        return () if self.most is None else names_in(self.most)

    def run(self, running: Running) -> Any:
        scores = running.value(self.parts[0])
        weights = torch.softmax(scores, -1)
        if not running.approximate:
            return weights
        kept = largest_places(scores, running.count(self.most)) if self.most is not None else running.array(self.kept)
        running.saw(self, (weights * (1 - kept)).sum(-1))
        return cut_weights(weights, kept)


class HardMaxOf(Expression):
    """The unit vector of the largest score, which leads by at least `margin`. `beta`: of a softmax in its place."""

    def __init__(self, scores: Expression, margin: sp.Expr, beta: sp.Expr | None = None) -> None:
        self.parts, self.dim, self.count = (scores,), scores.dim, scores.count
        self.margin, self.beta = margin, beta
        self.label = composed(f"hard_max({scores.label})", "hard max")

    def by_softmax(self, beta: Any) -> "HardMaxOf":
        """Approximated by softmax of `beta` times the scores."""
        return HardMaxOf(self.parts[0], self.margin, as_number("inverse temperature", beta))

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, scores: InNorm) -> InNorm:
            margin = asking.at(self.margin)
            if self.beta is None:
                return InNorm(calculus.hard_max(scores.value, name, margin=margin), UNIT)
            beta = asking.at(self.beta)
            value = calculus.softmax_to_hard_max(scores.value, name, margin=margin, inverse_temperature=beta)
            return InNorm(value, UNIT)

        for source in Norm:
            yield Candidate(Norm.ONE, f"from {source}", ((self.parts[0], source),), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.margin,) if self.beta is None else (self.margin, self.beta)

    @property
    def premise(self) -> str:
        return f"the largest score leads every other one by at least `{sp.sstr(self.margin)}`"

    @property
    def takes(self) -> tuple[str, ...]:
        return () if self.beta is None else names_in(self.beta)

    def run(self, running: Running) -> Any:
        scores = running.value(self.parts[0])
        if self.beta is None or not running.approximate:
            return unit_vector(scores)
        letters, z = sorted(self.beta.free_symbols, key=str), sp.Dummy("z")
        return torch.softmax(ArrayFunction(self.beta * z, z, *letters)(scores, *running.letters(letters, scores)), -1)


class Attend(Expression):
    """The average of the values under the weights; their sum with these weights, where they need not add up to 1."""

    def __init__(self, weights: Expression, values: Expression) -> None:
        self.parts, self.dim, self.count = (weights, values), values.dim, weights.count
        fits = values.count is not None and same(weights.dim, values.count)
        require_shape("attend: one weight for each token is needed", fits, weights, values)
        self.label = composed(f"attend({weights.label}, {values.label})", "attention")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, weights: InNorm, values: InNorm) -> InNorm:
            if weights.value.holds_weights:
                return InNorm(calculus.attend(weights.value, values.value, name), values.approximate_size)
            norm, dim = values.value.norm, values.value.dim
            return product(name, weights, values, norm=norm, dim=dim, kind=ProductKind.WEIGHTED)

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], Norm.ONE), (self.parts[1], norm)), rule)

    def run(self, running: Running) -> Any:
        return attended(*(running.value(part) for part in self.parts))

    def with_sink(self, value: Any = 0, *, lead: Any = 0) -> Expression:
        """The network's softmax sees one more key, an attention sink: of this `value`, and of the score -`lead`.

        `value` is a vector, the same for all queries; 0 is one of zeros. Other scores are at least minus their size.
        """
        return METHODS["with_sink"](self, value, lead)


class Mean(Expression):
    """The mean over the tokens."""

    def __init__(self, x: Expression) -> None:
        require_shape("mean: tokens are needed", x.count is not None, x)
        self.parts, self.dim, self.label = (x,), x.dim, composed(f"mean({x.label})", "mean")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, x: InNorm) -> InNorm:
            return InNorm(calculus.mean(x.value, name), x.approximate_size)

        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), rule)

    def run(self, running: Running) -> Any:
        return running.value(self.parts[0]).mean(-2)


class ConcatenatedParts(Expression):
    """(x_1, x_2, ...) along the coordinates."""

    def __init__(self, parts: tuple[Expression, ...]) -> None:
        fits = all(same(each.count, parts[0].count) for each in parts)
        require_shape("concatenate: as many tokens in each are needed", fits, *parts)
        self.parts, self.dim, self.count = parts, sp.Add(*(each.dim for each in parts)), parts[0].count
        self.label = composed(f"({', '.join(each.label for each in parts)})", "concatenation")

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        def rule(name: str, *known: InNorm) -> InNorm:
            value = calculus.concatenate(*(each.value for each in known), name=name)
            sizes = [each.approximate_size for each in known if each.approximate_size is not None]
            return InNorm(value, _joined(value.norm, sizes) if len(sizes) == len(known) else None)

        for norm in Norm:
            yield Candidate(norm, str(norm), tuple((part, norm) for part in self.parts), rule)

    def run(self, running: Running) -> Any:
        return torch.cat([running.value(part) for part in self.parts], -1)


def _joined(norm: Norm, sizes: list[sp.Expr]) -> sp.Expr:
    if norm is Norm.INF:
        return sp.Max(*sizes)
    return sp.Add(*sizes) if norm is Norm.ONE else sp.sqrt(sp.Add(*(size**2 for size in sizes)))


def as_numbers(mask: Any) -> Any:
    """1 and 0 for a mask of truth values."""
    return mask.to(torch.float64) if isinstance(mask, torch.Tensor) and mask.dtype == torch.bool else mask


def softmax(scores: Expression) -> SoftmaxOf:
    """softmax over the coordinates of each token."""
    return SoftmaxOf(checked("softmax", scores))


def hard_max(scores: Expression, *, margin: Any) -> HardMaxOf:
    """The unit vector of the largest score, which leads every other one by at least `margin`.

    `.by_softmax(beta)` approximates it by softmax at that inverse temperature.
    """
    return HardMaxOf(checked("hard_max", scores), as_number("margin", margin))


def attend(weights: Expression, values: Expression) -> Attend:
    """The sums of the tokens `values` with the `weights` of each query: averages under those of a softmax or hard max.

    Weights of any sign (a value, an input) count with their 1-norm.
    """
    return Attend(checked("attend", weights), checked("attend", values))


def mean(x: Expression) -> Mean:
    """The mean over the tokens."""
    return Mean(checked("mean", x))


def concatenate(*parts: Expression) -> ConcatenatedParts:
    """The coordinates of all parts, one after the other."""
    if not parts:
        raise UsageError("concatenate: nothing came; give expressions")
    return ConcatenatedParts(tuple(checked("concatenate", part) for part in parts))


def checked(call: str, given: Any) -> Expression:
    if not isinstance(given, Expression):
        raise UsageError(f"{call}: expected an expression, got {type(given).__name__}")
    return given
