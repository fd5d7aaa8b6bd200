"""Averages whose softmax, in the network, sees one key too many: an attention sink."""

from collections.abc import Iterable, Iterator
from typing import Any

import sympy as sp
import torch

from bridge.expressions.attention import Attend, SoftmaxOf
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    method,
    require_shape,
    same,
)
from bridge.lowering.formula import ArrayFunction
from bridge.readings.arrays import attended
from symbolic import calculus
from symbolic.derivations.derivation import Norm
from symbolic.words.errors import UsageError


class AttendBesideSink(Expression):
    """An average under softmax of scores; the network's softmax also sees a key of the score -`lead` with a value."""

    def __init__(self, average: Attend, value: Expression, scores: Expression, lead: sp.Expr) -> None:
        self.parts, self.lead = (average, value, scores), lead
        self.dim, self.count, self.label = average.dim, average.count, "attention beside a sink"

    @property
    def handles(self) -> tuple[str, str]:
        """Of the value of the sink, and of the leads of the other scores over its own."""
        return f"sink{self.suffix}", f"leads{self.suffix}"

    # Each score of the network is at least -r for r the most that any of them is in absolute value, so that it leads by
    # `lead` - r; an average is no larger than the largest value.
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        foreign, leads = self.handles

        def rule(name: str, average: InNorm, value: InNorm, scores: InNorm) -> InNorm:
            found = calculus.exclude(
                average.value, name, count=asking.at(self.parts[2].dim), lead=asking.at(self.lead) - scores.reach,
                diameter=average.reach + value.reach, foreign=foreign, leads=leads,
            )  # fmt: skip
            return InNorm(found, sp.Max(average.reach, value.reach))

        for norm in Norm:
            needs = ((self.parts[0], norm), (self.parts[1], norm), (self.parts[2], Norm.INF))
            yield Candidate(norm, str(norm), needs, rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return (self.lead,)

    def run(self, running: Running) -> Any:
        average, value, scores = self.parts
        if not running.approximate:
            return running.value(average)
        found, letters, z = running.value(scores), sorted(self.lead.free_symbols, key=str), sp.Dummy("z")
        leads = ArrayFunction(z + self.lead, z, *letters)(found, *running.letters(letters, found))
        foreign = running.value(value)
        running.saw(self, (foreign, leads))
        weights = torch.softmax(torch.cat([leads, torch.zeros_like(leads[..., :1])], -1), -1)
        others, own = weights[..., :-1], weights[..., -1:]
        return attended(others, running.value(average.parts[1])) + own * foreign


@method("with_sink")
def with_sink(average: Attend, value: Any, lead: Any) -> AttendBesideSink:
    """See `Attend.with_sink`. Raises UsageError for weights that are no softmax, and for a value of another shape."""
    weights, values = average.parts
    if not isinstance(weights, SoftmaxOf):
        raise UsageError(
            f"{average.label}.with_sink: {weights.label} is no softmax; attend(bs.softmax(scores), values) has a sink"
        )
    foreign = 0 * values[0] if isinstance(value, int | float | sp.Expr) and value == 0 else value
    if not isinstance(foreign, Expression):
        raise UsageError(f"{average.label}.with_sink: expected an expression, or 0, got {type(value).__name__}")
    fits = foreign.count is None and same(foreign.dim, average.dim)
    require_shape(f"{average.label}.with_sink: its value is a vector like the others", fits, foreign, values)
    return AttendBesideSink(average, foreign, weights.parts[0], as_number("lead", lead))


def layers_around(outputs: Iterable[Expression]) -> dict[int, set[tuple[int, ...]]]:
    """Of each average beside a sink the repetitions around it, the outermost first; several where it is used twice."""
    found: dict[int, set[tuple[int, ...]]] = {}

    def visit(node: Expression, around: tuple[int, ...]) -> None:
        if isinstance(node, AttendBesideSink):
            found.setdefault(id(node), set()).add(around)
        for part in node.parts:
            visit(part, around)
        for body in node.inner:
            visit(body, (*around, id(node)))

    for output in outputs:
        visit(output, ())
    return found
