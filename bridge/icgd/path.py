"""Lemma 14 along one path: how far the network's iterates are from gradient descent, knowing the prompt and the path.

    e_{l+1} <= (1 + eta L_l) e_l + eta g_l,      e_0 = 0        (symbolic.icgd.trajectory.step_recursion),

g_l bounds the error of the network's gradient at wbar^l, and L_l is an L_f of the ball of radius e_l around wbar^l,
which holds w_GD^l. Both paths stay in W, whose own L_f and diameter cap L_l and e_l.

Shapes: ... batch, D_w weights, n tokens.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bridge.icgd.arithmetic import Arithmetic, Array
from bridge.icgd.propagation import Knowledge, LossGradient, Smooth, propagate
from bridge.icgd.smoothness import smoothness_near
from numeric.icgd.shape import Shape
from symbolic.calculus.numbers import evaluate
from symbolic.icgd.symbols import eps, eta
from symbolic.icgd.trajectory import L_f, one_descent, step_recursion


@dataclass(frozen=True)
class Problem:
    """What is known beside the prompt, in the numbers of one arithmetic.

    Of W: `caps` are sup |r'| and sup |du/dt|, `smoothest` an L_f, `diameter` the largest distance of two points.
    """

    shape: Shape
    activation: Smooth
    loss: LossGradient
    knowledge: tuple[Knowledge, Knowledge, Knowledge]
    caps: tuple[Any, Any]
    smoothest: Any
    diameter: Any
    eta: Any

    def matrices(self, w: Array) -> list[Array]:
        """V_1, ..., V_N of w (..., D_w)."""
        pieces = zip(self.shape.slices, self.shape.sizes, strict=True)
        return [w[..., where].reshape(*w.shape[:-1], *size) for where, size in pieces]

    def smoothness(self, ops: Arithmetic, w: Array, x: Array, y: Array, radius: Array) -> Array:
        """L_f within `radius` of w, and never above that of W."""
        near = smoothness_near(ops, self.matrices(w), x, y, self.activation, self.loss, self.caps, radius)
        return ops.minimum(near, 0 * near + self.smoothest)


def gradient_errors(ops: Arithmetic, points: Sequence[Array], x: Array, y: Array, problem: Problem) -> list[Array]:
    """g_0, ..., g_{L-1}, each (...), for `points` wbar^0, ..., wbar^L (..., D_w)."""
    known = problem.activation, problem.loss, *problem.knowledge
    return [propagate(ops, problem.matrices(w), x, y, *known).gradient for w in points[:-1]]


def distances(ops: Arithmetic, points: Sequence[Array], x: Array, y: Array, problem: Problem) -> list[Array]:
    """e_1, ..., e_L, each (...)."""
    gradients, step = gradient_errors(ops, points, x, y, problem), step_recursion()

    def capped(distance: Array) -> Array:
        return ops.minimum(distance, 0 * distance + problem.diameter)

    def at(w: Array, gradient: Array) -> Callable[[Array], Mapping[sp.Symbol, Array]]:
        return lambda e: {eta: problem.eta, eps: gradient, L_f: problem.smoothness(ops, w, x, y, e)}

    first = capped(evaluate(step.offset, {eta: problem.eta, eps: gradients[0]}))  # both paths start at the same point
    return step.run_at(list(map(at, points[1:-1], gradients[1:])), first, cap=capped)


def mean_of_descents(gradients: Sequence[Array], fall: Array, step: Any) -> Array:
    """The mean of ||G||^2 over steps with these errors of the gradient, in which f falls by `fall`."""
    lemma = one_descent()
    offsets = [evaluate(lemma.offset, {eta: step, eps: gradient}) for gradient in gradients]
    return lemma.run([evaluate(lemma.decrease, {eta: step})] * len(gradients), offsets, fall)


def smoothness_along(ops: Arithmetic, points: Sequence[Array], x: Array, y: Array, problem: Problem) -> list[Array]:
    """An L_f of each segment from wbar^l to wbar^{l+1}: what the descent lemma asks to be at most 1/eta."""
    segments = itertools.pairwise(points)
    return [problem.smoothness(ops, w, x, y, ops.norm(after - w)) for w, after in segments]
