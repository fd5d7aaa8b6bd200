"""Whether the numbers that rules were given are those of the operands: norms, Lipschitz constants, suprema, margins.

The rules are proved under these numbers; a prompt shows where one of them is too small (a margin: too large).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
import sympy as sp
import torch

from bridge.readings.arrays import NORMS, Array, is_number, rounding, unit_vector
from bridge.readings.operands import Emulated, Operands
from bridge.readings.perturbed import foreign_weight
from bridge.readings.values import emulates, read
from bridge.readings.weight_errors import sum_of_others
from numeric.balls import BallArray, BallsError, float_above, float_below, working_precision
from numeric.balls.budget import OperationLimit, spending
from numeric.balls.digits import apart
from numeric.balls.limits import OPERATIONS_PER_SCALAR, TooLargeForExact, TooManyBallOperations
from symbolic.calculus.repetition import Repetition
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.words.errors import UsageError

SLACK = 1e-9  # relative: operands and letters are rounded to floats
BITS, LIMIT = 128, 10_000_000  # to decide on balls what floats show


@dataclass(frozen=True)
class Number:
    """What a step was given, and what it is at least (a margin: at most) at this prompt.

    `of_run`: it is of the emulated value itself, so that it is known where that is. In floats, `rounded` is how far off
    the rounding of the operands that it is a difference of may take it, and `computed` that of its own computation.
    """

    what: str
    given: Any
    found: Array
    at_least: bool = False
    of_run: bool = False
    rounded: Any = 0.0
    computed: Any = 0.0

    def is_wrong(self, *, surely: bool = True) -> bool:
        """Certainly, on balls; in floats as far as they show it, or by more than the computation may have rounded."""
        least, most = (self.found, self.given) if self.at_least else (self.given, self.found)
        rounded = _above(self.rounded) + (_above(self.computed) if surely else 0.0)
        return _below(most) > _above(least) + SLACK * abs(_above(least)) + rounded

    def __str__(self) -> str:
        order, side = ("below", _above) if self.at_least else ("above", _below)
        found, given = apart(side(self.found), (_below if self.at_least else _above)(self.given))
        return f"{self.what} is {found}, {order} the {given}"


def _below(number: Any) -> float:
    return float_below(number.balls[0]) if isinstance(number, BallArray) else float(number)


def _above(number: Any) -> float:
    return float_above(number.balls[0]) if isinstance(number, BallArray) else float(number)


def wrong_numbers(
    derivation: Derivation, operands: Operands, values: Mapping[str, Emulated], *, surely: bool = True
) -> dict[str, str]:
    """The numbers that steps were given and that are not those of the operands, with both in words, by what they are.

    On balls they are wrong; in floats by more than rounding, or (where `surely` is false) they seem to be.
    """
    return dict(_wrong(derivation, operands, values, "", runs=True, surely=surely))


# In floats what a prompt shows is rounded: where numbers cancel, as in f_hat - f, by more than it is apart from what
# was given. Balls enclose both sides: what they call wrong is wrong. Functions of the operands may not run on balls.
def surely_wrong(derivation: Derivation, operands: Operands, values: Mapping[str, Emulated]) -> dict[str, str]:
    """The same; what seems wrong in floats is decided on balls, if these can run."""
    seem = wrong_numbers(derivation, operands, values, surely=False)
    if not seem or operands.bits is not None:
        return seem
    budget = OperationLimit(LIMIT, OPERATIONS_PER_SCALAR, lambda spent: TooManyBallOperations("numbers", spent, LIMIT))
    try:
        with working_precision(BITS), spending(budget):
            exact = operands.on_balls(BITS)
            found = wrong_numbers(derivation, exact, read(derivation, exact))
            return {what: words for what, words in found.items() if what in seem}
    except (BallsError, TooLargeForExact, UsageError, TypeError, RuntimeError):
        return wrong_numbers(derivation, operands, values)


def _wrong(
    derivation: Derivation,
    operands: Operands,
    values: Mapping[str, Emulated],
    where: str,
    *,
    runs: bool,
    surely: bool,
) -> Iterator[tuple[str, str]]:
    """`runs`: whether the emulated values of the givens are known."""
    for step in derivation.steps:
        if step.name not in values or step.operation is None:
            continue
        premises, here = [values[name] for name in step.premises], operands.within(step)
        if isinstance(step.operation, Repetition):
            ran = runs and emulates(derivation.leading_to(*step.premises), operands)
            yield from _in_layers(step, step.operation, premises[0], here, runs=ran, surely=surely)
        for each in numbers(step.operation, step, premises, here):
            known = not each.of_run or (runs and emulates(derivation.leading_to(*step.premises), operands))
            if known and each.is_wrong(surely=surely):
                place = f"{where}step '{step.name}': "
                yield place + each.what, f"{place}{each} that rule '{step.rule}' was given"


def _in_layers(
    step: Step, operation: Repetition, start: Emulated, operands: Operands, *, runs: bool, surely: bool
) -> Iterator[tuple[str, str]]:
    value, layer = start, operation.layer
    inside = [each for each in layer.derivation.leading_to(layer.name) if each.name != operation.premise]
    for place in operands.layers(operation.depth):
        inner = operands.in_layer(place, operation.index)
        here = replace(inner, bound={**inner.bound, operation.premise: value})
        values = read(layer.derivation, here, [layer.name])
        yield from _wrong(
            layer.derivation, here, values, f"'{step.name}', layer {place + 1}, ", runs=runs,
            surely=surely,
        )  # fmt: skip
        value, runs = values[layer.name], runs and emulates(inside, here)


@singledispatch
def numbers(operation: op.Operation, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    """The numbers of a step that this prompt shows."""
    yield from ()


@numbers.register
def _linear(operation: op.Linear, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    matrix = at.matrix(operation)
    if is_number(matrix) or matrix.ndim == 2:
        yield from _norm(f"the norm of '{operation.matrix}'", operation.norm, operation.source, matrix, step, at)


@numbers.register
def _perturbed(operation: op.PerturbedLinear, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    name, found = operation.matrix, at.operand(operation.matrix)
    exact = found.exact if isinstance(found, Emulated) else found
    yield from _norm(f"the norm of '{name}'", operation.norm, operation.source, exact, step, at)
    if isinstance(found, Emulated):
        moved, what = found.emulated - found.exact, f"the norm of the perturbation of '{name}'"
        rounded = rounding(abs(found.emulated).sum() + abs(found.exact).sum())  # at least the rounding of the norm
        yield from _norm(what, operation.perturbation, operation.source, moved, step, at, rounded)


@numbers.register
def _iteration(operation: op.Iteration, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    matrix = at.array(operation.matrix)
    yield from _norm(f"the norm of '{operation.matrix}'", operation.factor, step.norm, matrix, step, at)


def _norm(
    what: str, given: sp.Expr, source: str, matrix: Array, step: Step, at: Operands, rounded: Any = 0.0
) -> Iterator[Number]:
    if _known(given, at):
        found = abs(matrix) if is_number(matrix) else norm_below(matrix, Norm(source), step.norm)
        norms = "" if source == step.norm else f" from the {source}-norm to the {step.norm}-norm"
        yield Number(what + (norms or f" in the {step.norm}-norm"), at.number(given), found, rounded=rounded)


# Each direction v shows ||A v|| / ||v||. Unit vectors attain the norm from the 1-norm, rows that to the sup norm from
# the 2-norm and their signs from the sup norm, and the first singular vector the spectral one. The best of them in
# floats is taken. Divided by a power of 2, entries below 1e-162 have squares too.
def norm_below(matrix: Array, source: Norm, target: Norm) -> Array:
    """At most the norm of the matrix from `source` to `target`; equal to it from 1, to inf, and from 2 to 2.

    0 for a matrix of which an entry is beyond what floats hold: nothing is known of it.
    """
    on_balls = isinstance(matrix, BallArray)
    middle = matrix.midpoint() if on_balls else matrix.detach().cpu().numpy()
    if not np.isfinite(middle).all():
        return BallArray.exactly(np.zeros(()), matrix.bits) if on_balls else matrix.new_zeros(())
    unit = 2.0 ** (np.frexp(np.abs(middle).max())[1] - 1)
    middle = middle / unit
    first = np.linalg.svd(middle, full_matrices=False)[2][:1]
    rows = np.concatenate([np.eye(middle.shape[1]), middle, np.sign(middle), first])
    rows = rows[np.abs(rows).max(-1) > 0]
    gains = np.linalg.norm(rows @ middle.T, ORDERS[target], -1) / np.linalg.norm(rows, ORDERS[source], -1)
    best = rows[gains.argmax()]
    direction = BallArray.exactly(best, matrix.bits) if on_balls else matrix.new_tensor(best)
    return unit * (NORMS[target](direction @ (matrix / unit).mT) / NORMS[source](direction))


ORDERS = {Norm.ONE: 1, Norm.TWO: 2, Norm.INF: np.inf}


@numbers.register
def _apply(operation: op.Apply, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    function, beside = at.function(operation.function), [at.array(name) for name in operation.beside]
    one = len(operation.moves) == 1 and len(operation.moves[0]) == 1
    lipschitz = operation.moves[0][0]
    for argument in (x[0].exact, x[0].emulated):
        if function.derivatives and one and _known(lipschitz, at):
            slope = function.derivatives[0](argument, *beside) + torch.zeros_like(argument)
            yield Number(f"a slope of '{operation.function}'", at.number(lipschitz), _largest(slope))
    if function.approximate is not None and operation.eps != 0 and _known(operation.eps, at):
        here = x[0].emulated  # the rule takes it there alone
        deviation, size = function.deviates(here, *beside), abs(function.exact(here, *beside))
        computed = _largest(rounding(size + abs(deviation)))
        what = f"the deviation of '{operation.function}'"
        yield Number(what, at.number(operation.eps), _largest(deviation), computed=computed)


@numbers.register
def _linear_softmax(operation: op.LinearSoftmax, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if _known(operation.half_range, at):
        scores = x[0].exact
        found = (torch.amax(scores, -1) - torch.amin(scores, -1)) / 2
        computed = _largest(rounding(abs(scores)))
        yield Number(
            "half the range of the scores", at.number(operation.half_range), _largest(found), computed=computed
        )


@numbers.register
def _hard_max(operation: op.HardMax, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if _known(operation.margin, at) and x[0].exact.shape[-1] > 1:
        scores = x[0].exact
        lead, lowest = torch.amax(scores, -1, keepdim=True), torch.amin(scores, -1, keepdim=True)
        behind = torch.where(unit_vector(scores) > 0.5, lowest, scores)
        margin, computed = lead.squeeze(-1) - torch.amax(behind, -1), _largest(rounding(abs(scores)))
        least = torch.amin(margin.reshape(-1), 0)
        yield Number("the margin of the scores", at.number(operation.margin), least, True, computed=computed)


@numbers.register
def _concentration(operation: op.Concentration, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if _known(operation.lost, at):
        weights = torch.softmax(at.array(operation.scores), -1)
        what = f"the weight beside the largest of '{operation.scores}'"
        beside = torch.amin(sum_of_others(weights), -1)  # 1 - max would cancel
        yield Number(what, at.number(operation.lost), _largest(beside))


@numbers.register
def _exclusion(operation: op.Exclusion, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    if _known(operation.leak, at):
        weight = foreign_weight(at.array(operation.leads))
        yield Number(f"the weight of '{operation.foreign}'", at.number(operation.leak), _largest(weight))
    if _known(operation.diameter, at):
        foreign, average, norm = at.array(operation.foreign), x[0].emulated, NORMS[step.norm]
        what = f"the distance of '{operation.foreign}' from the average of the other keys"
        rounded = _largest(rounding(norm(foreign)) + rounding(norm(average) + norm(x[0].exact)))
        apart = _largest(norm(foreign - average))
        yield Number(what, at.number(operation.diameter), apart, of_run=True, rounded=rounded)


# ||F_hat(x_hat) - F(x_hat)|| <= eps and ||F(x_hat) - F(x)|| <= L ||x_hat - x||.
@numbers.register
def _vector_map(operation: op.VectorMap, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    function, norm, (value,) = at.function(operation.function), NORMS[step.norm], x
    here, there = function.exact(value.exact), function.exact(value.emulated)
    size = rounding(norm(here)) + rounding(norm(there))
    if _known(operation.eps, at):
        deviation, name = _largest(norm(function.deviates(value.emulated))), operation.function
        yield Number(f"the deviation of '{name}'", at.number(operation.eps), deviation, rounded=_largest(size))
    if _known(operation.lipschitz, at):
        source, lipschitz = NORMS[Norm(operation.source)], at.number(operation.lipschitz)
        errors, moves = source(value.emulated - value.exact).reshape(-1), norm(there - here).reshape(-1)
        sizes = (size + lipschitz * rounding(source(value.exact) + source(value.emulated))).reshape(-1)
        for place in range(len(errors)):
            what = f"the distance of two values of '{operation.function}'"
            yield Number(what, lipschitz * errors[place], moves[place], rounded=sizes[place])


def _known(expression: sp.Expr, at: Operands) -> bool:
    return not expression.free_symbols - set(at.letters)


def _largest(a: Array) -> Array:
    return torch.amax(abs(a).reshape(-1), 0)
