"""Numbers for the letters of wu2024: what the printed and the derived tier are evaluated at.

The Lipschitz constants and suprema are certified on the ranges that the derivation needs; the paper's B_r and B_{r'}
come from its own recursions (Lemmas 2 and 3), whose maximum is read to include j = 0.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import flint
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.enclosures import TIGHTNESS
from bridge.readings.network import Bounded, FunctionBounds, MatrixNorms, OnRange
from bridge.topics.icgd.emulation import Emulation, Ranges, ranges
from bridge.topics.icgd.setting import StepSetting
from numeric.balls import ball_maximum, float_above
from numeric.networks.families.norms import one_norm
from symbolic.calculus.activations import Piece
from symbolic.derivations.derivation import Norm
from symbolic.topics.icgd import chain, printed
from symbolic.topics.icgd import symbols as letters

RANGE_R1 = "range_r1"  # printed with the B_r' of Lemma 3 itself


def problem_values(setting: StepSetting, n: int) -> dict[sp.Symbol, Any]:
    """Sizes, radii and the step, as they were given."""
    shape = setting.shape
    return {
        letters.N: shape.N,
        letters.K: shape.K,
        letters.d_x: shape.d_x,
        letters.d_y: shape.d_y,
        letters.d: shape.d_y,
        letters.n: n,
        letters.B_v: setting.B_v,
        letters.B_x: setting.B_x,
        letters.B_y: setting.B_y,
        letters.eta: setting.eta,
    }


def suprema_values(setting: StepSetting, ranges: Ranges) -> dict[sp.Symbol, Any]:
    """Suprema and Lipschitz constants on the ranges of the derivation, and the paper's own B_r, B_{r'}, B_l."""
    radius, outputs = ranges.largest, ranges.outputs
    b_l = setting.loss_supremum(0, outputs)
    return {
        letters.b_r: setting.supremum(0, radius),
        letters.b_r1: setting.supremum(1, radius),
        letters.b_l: b_l,
        letters.L_r: setting.supremum(1, radius),
        letters.L_r1: setting.supremum(2, radius),
        letters.L_l: setting.loss_supremum(1, outputs),
        letters.B_r: _by_recursion(setting, 0),
        letters.B_r1: _by_recursion(setting, 1),
    }


def _by_recursion(setting: StepSetting, order: int) -> flint.arb:
    start, scale = flint.arb(setting.B_x), flint.arb(setting.B_v)

    def supremum(radius: flint.arb) -> flint.arb:
        return setting.supremum(order, float_above(radius))

    return ball_maximum(printed.largest_values(supremum, start, scale, setting.shape.N))


def emulation_values(emulation: Emulation) -> dict[sp.Symbol, Any]:
    """Certified accuracies, one-norms, counts and ranges of the sums of ReLUs; B_l bounds u and its sum of ReLUs."""
    r, r1, u = emulation.r, emulation.r1, emulation.u
    return {
        letters.B_l: emulation.setting.loss_supremum(0, emulation.ranges.outputs) + u.error,
        letters.eps_r: r.error,
        letters.eps_r1: r1.error,
        letters.eps_l: u.error,
        letters.C_1: one_norm(r.relu_sum.weights),
        letters.C_2: one_norm(r1.relu_sum.weights),
        letters.C_3: one_norm(u.loss_sum.weights),
        letters.M_1: r.relu_sum.relus,
        letters.M_2: r1.relu_sum.relus,
        letters.M_3: u.loss_sum.relus,
        letters.R: r.radius,
        letters.R_u: u.radius_t,
    }


def ranges_of(setting: StepSetting, plan: Any) -> Ranges:
    """Those that the sums of ReLUs cover, or would have to cover if they could be built."""
    return plan.ranges if isinstance(plan, Emulation) else ranges(setting, plan.accuracies.eps_r)


def derived_letters(setting: StepSetting, plan: Any) -> dict[sp.Symbol, Any]:
    """Letters of the derived tier, as far as they are known of sums of ReLUs that are built, or too many."""
    if isinstance(plan, Emulation):
        return {**emulation_values(plan), **suprema_values(setting, plan.ranges), letters.R_3: plan.mask_bound}
    wanted, known = plan.accuracies, ranges_of(setting, plan)
    accuracies = {letters.eps_r: wanted.eps_r, letters.eps_r1: wanted.eps_r1, letters.eps_l: wanted.eps_l}
    B_l = setting.loss_supremum(0, known.outputs) + flint.arb(wanted.eps_l)
    return {**accuracies, letters.B_l: B_l, **suprema_values(setting, known)}


def printed_letters(quantity: str, setting: StepSetting, plan: Any) -> dict[sp.Symbol, Any]:
    """Accuracies and Lipschitz constants on the ranges that the paper asks for."""
    found = _on_paper(setting, plan)
    return {letter: value for letter, value in found.items() if quantity != RANGE_R1 or letter is not letters.B_r1}


# B_r' of Lemma 6 is an upper bound of |r'|: where the recursion of Lemma 3 surely gives less, the supremum. The sums of
# ReLUs are built on the range R that suffices (or is asked for), which may be smaller than the paper's: the printed
# bounds take their errors on the larger of the two. Beyond R a sum of ReLUs continues its last line.
@lru_cache(maxsize=8)
def _on_paper(setting: StepSetting, plan: Any) -> Mapping[sp.Symbol, Any]:
    known = {**problem_values(setting, 1), **derived_letters(setting, plan)}
    ranges = (printed.RANGE_R, printed.RANGE_R1, printed.RANGE_U)
    R_1, R_2, R_3 = (float_above(evaluate_ball(each.bound, known)) for each in ranges)
    emulation = plan if isinstance(plan, Emulation) else None
    built, built_u = (emulation.r.radius, emulation.u.radius_t) if emulation else (0.0, 0.0)
    by_recursion, supremum = (flint.arb(known[letter]) for letter in (letters.B_r1, letters.b_r1))
    found = {
        letters.L_r: setting.supremum(1, max(R_1, built)),
        letters.L_r1: setting.supremum(2, max(R_2, built)),
        letters.L_l: setting.loss_supremum(1, max(R_3, built_u)),
        letters.B_r1: supremum if by_recursion * (1 + TIGHTNESS) < supremum else by_recursion,
    }
    if emulation is None:
        return found
    pieces = ((part, _cube(piece, R_3)) for piece, part in emulation.u.interpolants)
    return {
        **found,
        letters.eps_r: emulation.r.error_within(R_1),
        letters.eps_r1: emulation.r1.error_within(R_2),
        letters.eps_l: sum((part.error_within(reach) for part, reach in pieces), start=flint.arb(0)),
    }


def _cube(piece: Piece, side: float) -> float:
    """The largest absolute value of the piece's argument over |t|, |y| <= side."""
    return 2 * side if len(piece.argument.free_symbols) == 2 else side


def norms(emulation: Emulation) -> dict[str, Any]:
    """What is known of the operands of the chain for every prompt: each layer with its own range of arguments."""
    setting, shape = emulation.setting, emulation.setting.shape
    errors = [found.error for found in (emulation.r, emulation.r1, emulation.u)]
    B_v, B_x = flint.arb(setting.B_v), flint.arb(setting.B_x)
    weights = Bounded.exact(Norm.TWO, shape.parameters, B_v * flint.arb(sum(rows for rows, _ in shape.sizes)).sqrt())
    operands: dict[str, Any] = {
        "x": Bounded.exact(Norm.TWO, shape.d_x, B_x),
        **dict.fromkeys(("v", "W", "-W"), weights),
        "r": _on_ranges(emulation, 0, errors[0]),
        "r'": _on_ranges(emulation, 1, errors[1]),
        "u": _loss_on_ranges(emulation, errors[2]),
    }
    for j, (rows, columns) in enumerate(shape.sizes, start=1):
        known = {(Norm.TWO, Norm.TWO): B_v * flint.arb(rows).sqrt(), (Norm.TWO, Norm.INF): B_v}
        operands[chain.label("V", j)] = MatrixNorms(rows, columns, known)
    return operands


# Suprema are certified up to a small slack: never take more than the whole range has.
def _on_ranges(emulation: Emulation, order: int, error: flint.arb) -> FunctionBounds:
    setting, whole = emulation.setting, emulation.ranges.largest

    def supremum(order: int, radius: float) -> flint.arb:
        return setting.supremum(order, min(radius, whole)).min(setting.supremum(order, whole))

    def on_range(reach: flint.arb) -> OnRange:
        radius = float_above(reach)
        return OnRange(supremum(order, radius), supremum(order + 1, radius), error)

    return on_range


def _loss_on_ranges(emulation: Emulation, error: flint.arb) -> FunctionBounds:
    setting, outputs = emulation.setting, emulation.ranges.outputs
    known = OnRange(setting.loss_supremum(0, outputs), setting.loss_supremum(1, outputs), error)
    return lambda reach: known
