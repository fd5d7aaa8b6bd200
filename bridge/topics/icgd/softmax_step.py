"""Theorem 6 of wu2024 as a theorem: gradient steps by sums of ReLUs in each token and one uniform softmax head.

Inputs are w (D_w), x (n, d), y (n, d), as in icgd.step; the attack moves prompts with one token.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

import flint
import sympy as sp
import torch

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import ArrayFunction
from bridge.lowering.relu_sums import interpolate, interpolate_covering
from bridge.theorems.check import Sides, checks_of
from bridge.theorems.parts import AtPoint, ExactRuns, InputSearch, Knobs
from bridge.theorems.theorem import Theorem
from bridge.topics.icgd.emulation import LARGEST_RANGE, Ranges
from bridge.topics.icgd.gradient import prompt_domains
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.smoothness import smoothness_on_W
from bridge.topics.icgd.step import one_token, random_prompts
from numeric.balls import BallArray, ball_maximum, float_above
from numeric.networks.hinges import ReluSumError
from numeric.networks.products import ProductSum, product_sum
from numeric.tools.layered import Shape
from numeric.topics.icgd import softmax_step as network_of
from numeric.topics.icgd.softmax_step import ReluLayers
from symbolic.calculus.activations import Activation, t
from symbolic.calculus.activations import activation as activation_named
from symbolic.calculus.activations import loss as loss_named
from symbolic.topics.icgd import softmax_step as theory
from symbolic.topics.icgd import symbols as letters
from symbolic.words.errors import UsageError

ID = theory.SOFTMAX_STEP.id
LINEAR = Activation("linear", t, t)
MODERATE = "give a smaller B_v, B_x, K or N, or more cells"
FIRST, MOST_CELLS = 16, 1 << 15
HEADROOM = 1 + 2.0**-40  # over products of floats that bound something


def read_activation(activation: str) -> Activation:
    return LINEAR if activation == "linear" else activation_named(activation)


@dataclass(frozen=True, eq=False)
class Plan:
    """The sums of ReLUs, on ranges that cover all their arguments, and what is known of them, as balls by letter."""

    setting: StepSetting
    cells: int
    layers: ReluLayers
    known: Mapping[sp.Symbol, Any]
    accuracy: flint.arb  # of the gradient
    smoothness: flint.arb

    @property
    def linear(self) -> bool:
        return not callable(self.layers.slope)


def setting(N: int, K: int, d: int, B_v: float, B_x: float, B_y: float, eta: float, activation: Any) -> StepSetting:
    return StepSetting(Shape(N, K, d, d), activation, loss_named("square"), B_v, B_x, B_y, eta)


# |z| <= B_v ||p|| + columns times the error of a product, |p| <= sup |r| + its error, |V_jk| <= B_v/sqrt(columns).
def forward(s: StepSetting, cells: int, error: float) -> tuple[list[ProductSum], list[float], list[float]]:
    """The products of V_j p(j-1), the radii of z(j), and those of the entries of p(0), ..., p(N)."""
    products, reaches, sizes, norm = [], [], [s.B_x], s.B_x
    for _, columns in s.shape.sizes:
        products.append(product_sum(_up(s.B_v / sqrt(columns)), sizes[-1], cells))
        reaches.append(_up(s.B_v * norm + columns * float_above(products[-1].error)))
        if reaches[-1] > LARGEST_RANGE:
            raise UsageError(f"{ID}: arguments grow beyond {LARGEST_RANGE:g} over the layers; {MODERATE}")
        sizes.append(_up(float_above(s.supremum(0, reaches[-1])) + error))
        norm = _up(sqrt(s.shape.K) * sizes[-1])
    return products, reaches, sizes


# |s(N)| <= sup |r'| (|p(N)| + B_y), and |V_j^T s(j)| <= rows times the largest entries of both.
def plan(setting: StepSetting, cells: int, eps: float) -> Plan:
    """With `cells` in each sum of ReLUs; 0: as many as the accuracy eps of the gradient takes. Raises UsageError."""
    if cells:
        return plan_with(setting, cells)
    found, tried = None, FIRST
    while found is None or not found.accuracy <= eps:  # errors are of the order cells^-2: a few rounds
        if found is not None:
            tried = 2 * ceil(tried / 2 * max(sqrt(float_above(found.accuracy) / eps), 1 + 1 / tried))
        if tried > MOST_CELLS:
            raise UsageError(f"{ID}: eps = {eps:g} takes more than {MOST_CELLS} cells; give a larger eps, or `cells`")
        try:
            found = plan_with(setting, tried)
        except UsageError:
            found, tried = None, 4 * tried
    while found.cells > 2 and (fewer := plan_with(setting, found.cells - 2)).accuracy <= eps:
        found = fewer
    return found


def plan_with(setting: StepSetting, cells: int) -> Plan:
    """Raises UsageError where the ranges grow without end, or a sum of ReLUs cannot be built."""
    s, r = setting, setting.activation
    linear = not r.derivative(1).has(r.t)
    try:
        of_r = (
            None if linear else interpolate_covering(r.expr, r.t, lambda e: max(forward(s, cells, e)[1]), cells=cells)
        )
        products, reaches, sizes = forward(s, cells, 0.0 if of_r is None else float_above(of_r.error))
        reach = max(reaches) if of_r is None else of_r.radius
        of_r1 = None if linear else interpolate(r.derivative(1), r.t, reach, cells=cells)
        steepest = _up(float_above(s.supremum(1, reach)) + (0.0 if of_r1 is None else float_above(of_r1.rounding)))
        slopes, back, outer, largest = [], [], [], _up(sizes[-1] + s.B_y)
        for (rows, columns), below in zip(s.shape.sizes[::-1], sizes[-2::-1], strict=True):
            slopes.append(product_sum(steepest, largest, cells))
            signal = _up(steepest * largest + (0.0 if linear else float_above(slopes[-1].error)))
            outer.append(product_sum(signal, below, cells))
            back.append(product_sum(_up(s.B_v / sqrt(columns)), signal, cells))
            largest = _up(rows * (s.B_v / sqrt(columns) * signal + float_above(back[-1].error)))
            if largest > LARGEST_RANGE:
                raise UsageError(f"{ID}: signals grow beyond {LARGEST_RANGE:g} over the layers; {MODERATE}")
    except ReluSumError as error:
        raise UsageError(f"{ID}: {error}") from error
    off = [columns * product.error for (_, columns), product in zip(s.shape.sizes, products, strict=True)]
    off_back = [rows * product.error for (rows, _), product in zip(s.shape.sizes[:0:-1], back[:-1], strict=True)]
    zero = flint.arb(0)
    known = {
        letters.N: s.shape.N,
        letters.K: s.shape.K,
        letters.d: s.shape.d_x,
        letters.eta: s.eta,
        letters.B_v: s.B_v,
        letters.B_x: s.B_x,
        letters.B_y: s.B_y,
        letters.b_r: flint.arb(max(sizes[1:])),
        letters.b_r1: flint.arb(steepest),
        letters.L_r: s.supremum(1, reach),
        letters.L_r1: zero if linear else s.supremum(2, reach),
        letters.eps_r: zero if of_r is None else of_r.error,
        letters.eps_r1: zero if of_r1 is None else of_r1.error,
        theory.e_z: ball_maximum(off),
        theory.e_b: ball_maximum([zero, *off_back]),
        theory.e_s: zero if linear else ball_maximum([each.error for each in slopes]),
        theory.e_A: ball_maximum([each.error for each in outer]),
    }
    layers = ReluLayers(
        *(s.shape, of_r.relu_sum if of_r else lambda z: z, of_r1.relu_sum if of_r1 else float(r.derivative(1))),
        *(products, slopes[::-1], back[::-1], outer[::-1]),
    )
    accuracy = evaluate_ball(theory.derive_gradient(s.shape.N).error, known)
    steep = smoothness_on_W(s, Ranges((reach,) * s.shape.N, max(sizes[1:])))
    return Plan(s, cells, layers, known, accuracy, steep)


def _up(number: float) -> float:
    return number * HEADROOM


# One step, and L of them, from one start.


def _box(setting: StepSetting, like: Any) -> Any:
    box = setting.shape.box(setting.B_v)
    if isinstance(like, BallArray):
        return BallArray.exactly(box, like.bits)
    return torch.as_tensor(box, dtype=like.dtype, device=like.device)


def _steps(step: Callable[[Any], Any], w: Any, L: int) -> dict[str, Any]:
    path = [w]
    for _ in range(L):
        path.append(step(path[-1]))
    return {"step": path[1], "path": path[-1]}


def network(w: Any, x: Any, y: Any, plan: Plan, eta: Any, L: int) -> dict[str, Any]:
    box = _box(plan.setting, w)
    return _steps(lambda at: plan.layers.step(at, x, y, eta, box), w, L)


def reference(w: Any, x: Any, y: Any, plan: Plan, eta: Any, L: int) -> dict[str, Any]:
    r, box = plan.setting.activation, _box(plan.setting, w)
    both = [ArrayFunction(r.derivative(order), r.t) for order in (0, 1)]
    return _steps(lambda at: network_of.exact_step(plan.setting.shape, at, x, y, eta, box, *both), w, L)


def layers_of_a_step(plan: Plan) -> Sides:
    """Products and activations of each layer forward, r' and V^T of each backward, s p^T, the head, the projection."""
    N, curved = plan.setting.shape.N, 0 if plan.linear else 1
    return Sides(N * (1 + curved) + N * curved + (N - 1) + 3, rounding=0.0)


SOFTMAX_STEP = Theorem(
    theory.SOFTMAX_STEP,
    main="step",
    inputs=prompt_domains(letters.d, letters.d, or_fewer=True),
    network=network,
    reference=reference,
    readers={"activation": read_activation},
    built={"setting": setting, "plan": plan},
    at_point=AtPoint(
        quantities=lambda N, activation, cells: theory.quantities_for(N, activation == "linear", not cells),
        letters=lambda plan: {**plan.known, theory.accuracy: plan.accuracy, theory.L_f: plan.smoothness},
    ),
    knobs=Knobs(automatic=("cells",), fixed=("N",), searched={"cells": (2, 1 << 14), "eps": (1e-6, None)}),
    exact=ExactRuns(bits=64),
    checks=checks_of(
        theory.SOFTMAX_STEP,
        {
            "cells": lambda plan: Sides(plan.cells, rounding=0.0),
            "layers": layers_of_a_step,
            "accuracy": lambda eta: Sides(1 / Fraction(eta), rounding=0.0),
            "memorising": lambda: Sides(proved=("derived",)),
        },
    ),
    search=InputSearch(samples=random_prompts, starts=one_token),
)
