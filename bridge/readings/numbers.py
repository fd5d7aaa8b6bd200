"""Whether the numbers that rules were given are those of the operands: norms, Lipschitz constants, suprema, margins.

The rules are proved under these numbers; a prompt shows where one of them is too small (a margin: too large).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import sympy as sp
import torch

from bridge.readings.arrays import NORMS, Array, is_number
from bridge.readings.operands import Emulated, Operands
from bridge.readings.values import emulates, read
from numeric.balls import BallArray, BallsError, float_above, float_below, working_precision
from numeric.balls.budget import OperationLimit, spending
from numeric.balls.digits import apart
from numeric.balls.limits import OPERATIONS_PER_SCALAR, TooLargeForExact, TooManyBallOperations
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.operations import Operation
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
    return dict(wrong_in(derivation, operands, values, "", runs=True, surely=surely))


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


def wrong_in(
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
        ran = runs and emulates(derivation.leading_to(*step.premises), operands)
        yield from wrong_inside(step.operation, step, premises, here, runs=ran, surely=surely)
        for each in numbers(step.operation, step, premises, here):
            known = ran or not each.of_run
            if known and each.is_wrong(surely=surely):
                place = f"{where}step '{step.name}': "
                yield place + each.what, f"{place}{each} that rule '{step.rule}' was given"


@singledispatch
def wrong_inside(
    operation: Operation, step: Step, x: list[Emulated], operands: Operands, *, runs: bool, surely: bool
) -> Iterator[tuple[str, str]]:
    """The wrong numbers of what the operation is made of, as `wrong_in` gives them: of layers."""
    yield from ()


@singledispatch
def numbers(operation: Operation, step: Step, x: list[Emulated], at: Operands) -> Iterator[Number]:
    """The numbers of a step that this prompt shows."""
    yield from ()


def norm_number(
    what: str, given: sp.Expr, source: str, matrix: Array, step: Step, at: Operands, rounded: Any = 0.0
) -> Iterator[Number]:
    if is_known(given, at):
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


def is_known(expression: sp.Expr, at: Operands) -> bool:
    return not expression.free_symbols - set(at.letters)


def largest_entry(a: Array) -> Array:
    return torch.amax(abs(a).reshape(-1), 0)
