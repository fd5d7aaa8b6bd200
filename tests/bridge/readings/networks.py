"""A random program as a network: sizes of its givens, norms of its matrices at one point, bounds of its functions."""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np

from bridge.readings.network import Bounded, MatrixNorms, NormsAtHand, OnRange
from numeric.balls import float_above
from symbolic.calculus.linear import Linear
from symbolic.derivations.derivation import Norm
from tests.symbolic.fuzzing.functions import Function
from tests.symbolic.fuzzing.program import Program


def bounds_of(program: Program, point: int, bits: int) -> NormsAtHand:
    found: dict[str, Any] = {}
    for name, (first, *_) in ((name, each) for name, each in program.operands.items() if each):
        if isinstance(first, Function):
            found[name] = on_ranges(first)
        elif isinstance(first, np.ndarray) and first.ndim == 3:
            found[name] = all_norms(MatrixNorms.of(first[point], bits))
    for step in program.checked:
        value, dim = step.result.value, step.result.exact.shape[-1]
        last = value.derivation.step(value.name)
        if last.rule == "given":
            size, error = (flint.arb(program.number_of(value.name, each)) for each in ("size", "error"))
            found[value.name] = Bounded(value.norm, dim, size, size + error, error, size, size + error)
        if isinstance(last.operation, Linear) and program.operands[last.operation.matrix][0].ndim == 1:
            size = flint.arb(abs(float(program.operands[last.operation.matrix][0][point])))
            found[last.operation.matrix] = MatrixNorms(dim, dim, {(each, each): size for each in Norm})
        if isinstance(last.operation, Linear) and program.operands[last.operation.matrix][0].ndim == 2:
            row = MatrixNorms.of(program.operands[last.operation.matrix][0][point][None], bits)
            norms = {(source, to): size for (source, to), size in row.norms.items() if to is Norm.INF}
            found[last.operation.matrix] = MatrixNorms(dim, row.columns, norms)
    return NormsAtHand(found, program.at)


def all_norms(known: MatrixNorms) -> MatrixNorms:
    """With those to the 1-norm and the 2-norm that follow from the one to the sup norm."""
    factors = {Norm.INF: flint.arb(1), Norm.ONE: flint.arb(known.rows), Norm.TWO: flint.arb(known.rows).sqrt()}
    norms = {(source, to): factor * known.norm(source, Norm.INF) for source in Norm for to, factor in factors.items()}
    return MatrixNorms(known.rows, known.columns, {**norms, **known.norms})


def on_ranges(function: Function) -> Callable[[Any], OnRange]:
    """Of f on [-R, R]; the slope of the form grows with R."""

    def on(radius: Any) -> OnRange:
        reach = float_above(radius)
        eps = reach**3 / 6 if function.identity else function.eps
        slope = function.scale * function.form.slope(reach)  # f(0) = 0
        return OnRange(*(flint.arb(float(np.nextafter(each, np.inf))) for each in (slope * reach, slope, eps)))

    return on
