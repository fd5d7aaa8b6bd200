"""Definition 4 and Lemma 7 of wu2024 as a theorem: an activation or its derivative as a certified sum of ReLUs.

Inputs are points t of shape (1,) in [-R, R].
"""

from collections.abc import Mapping
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Box
from bridge.lowering.activations import activation_formula
from bridge.lowering.enclosures import supremum
from bridge.lowering.formula import ArrayFunction
from bridge.lowering.relu_sums import Interpolant, interpolate
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain
from bridge.theorems.parts import InputSearch, Knobs
from bridge.theorems.theorem import Function, Theorem
from numeric.networks.families.norms import one_norm as weights_norm
from numeric.networks.relu_sums import points_at_kinks
from symbolic.calculus import approximation
from symbolic.calculus.approximation import M, sup_f, sup_f1, sup_f2
from symbolic.topics.icgd import relu_sum as theory
from symbolic.words.errors import UsageError

RATE_STEPS = (1.0, 8.0, 64.0)  # the exponent is fitted to the accuracies eps, eps/8, eps/64


def certified_sum(function: ArrayFunction, R: float, eps: float) -> Interpolant:
    (t,) = function.symbols
    return interpolate(function.expr, t, R, eps=eps)


BUILT: Mapping[str, Function] = {
    "function": lambda activation, order: activation_formula(activation, order),
    "interpolant": certified_sum,
    "function_slope": lambda activation, order: activation_formula(activation, order + 1),
}


def network(t: Any, interpolant: Interpolant) -> dict[str, Any]:
    return {"error": interpolant.relu_sum(t), "slope": interpolant.relu_sum.slope(t)}


def reference(t: Any, function: ArrayFunction, function_slope: ArrayFunction) -> dict[str, Any]:
    return {"error": function(t), "slope": function_slope(t)}


def largest(function: ArrayFunction, interpolant: Interpolant) -> flint.arb:
    """sup |function| on [-R, R]."""
    return supremum(function.expr, interpolant.symbol, -interpolant.radius, interpolant.radius)


KNOWS: Mapping[sp.Symbol, tuple[Function, ...]] = {
    M: (lambda interpolant: interpolant.relu_sum.cells,),
    theory.grid: (lambda interpolant: interpolant.grid,),
    theory.delta: (lambda interpolant: interpolant.rounding,),
    theory.delta_1: (lambda interpolant: interpolant.slope_rounding,),
    sup_f: (largest,),
    sup_f1: (lambda function_slope, interpolant: largest(function_slope, interpolant),),
    sup_f2: (lambda interpolant: interpolant.bend,),
}


def starts(count: int, generator: torch.Generator, interpolant: Interpolant) -> dict[str, Tensor]:
    return {"t": points_at_kinks(interpolant.relu_sum, count, generator).unsqueeze(-1)}


def count_of_relus(interpolant: Interpolant) -> Sides:
    return Sides(found=interpolant.relu_sum.relus, rounding=0.0)


def one_norm(interpolant: Interpolant) -> Sides:
    return Sides(found=weights_norm(interpolant.relu_sum.weights), rounding=0.0)


def rate(function: ArrayFunction, R: float, eps: float) -> Sides:
    """Minus the slope of log H over log eps, least squares."""
    accuracies = [eps / step for step in RATE_STEPS]
    try:
        counts = [certified_sum(function, R, each).relu_sum.relus for each in accuracies]
    except UsageError as error:
        return Sides(remark=str(error))
    fitted = float(np.polyfit(np.log(RATE_STEPS), np.log(counts), 1)[0])
    return Sides(found=fitted, remark=f"fitted at `eps in {{{', '.join(map(plain, accuracies))}}}`")


RELU_SUM = Theorem(
    statement=theory.RELU_SUM,
    main="error",
    inputs={"t": Box(1, size=approximation.R)},
    network=network,
    reference=reference,
    built=BUILT,
    knows=KNOWS,
    checks=tuple(
        Check(theory.RELU_SUM.quantity(name), sides)
        for name, sides in (("relus", count_of_relus), ("one_norm", one_norm), ("relus.rate", rate))
    ),
    search=InputSearch(starts=starts),
    knobs=Knobs(searched={"R": (None, 1 << 7), "eps": (1e-8, None)}),
)
