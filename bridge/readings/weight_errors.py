"""How far softmax weights and averages under them are from the exact ones.

Letters as in bridge/readings/enclosing.py; p are weights, V values, a and v the errors of both.
"""

import sympy as sp
import torch

from bridge.readings.arrays import Array, largest, two_norm, unit_vector
from bridge.readings.enclosed import Enclosed, Instance, enclosed, exactly
from bridge.readings.errors import Error
from bridge.readings.values import attended
from symbolic import operations as op
from symbolic.derivation import Step


# With weights p = softmax(s + c) and |u| <= r, the weight of key i moves to at most
#   p_i e^(r_i) / (p_i e^(r_i) + sum_(j != i) p_j e^(-r_j)),
# at least to the same with the signs of r exchanged; and by rule `softmax` the 1-norm moves by 2 tanh(max r / 2).
def _softmax_moves(scores: Array, radius: Array) -> tuple[Array, Error]:
    weights = torch.softmax(scores, -1)
    held = torch.clamp(radius, max=WIDEST)
    spread = torch.maximum(_led(weights, held) - weights, weights - _led(weights, -held))
    moderate = torch.amax(radius, -1, keepdim=True) <= WIDEST
    spread = torch.where(moderate, spread, torch.ones_like(spread))
    return weights, Error(torch.zeros_like(spread), torch.relu(spread), one=lambda: 2 * torch.tanh(largest(radius) / 2))


WIDEST = 300.0  # e^300 is a float64; scores that move by more may give a key any weight


def _led(weights: Array, lead: Array) -> Array:
    """The weight of each key when its score gains `lead` and every other loses its own: (..., n)."""
    gained, lost = weights * torch.exp(lead), weights * torch.exp(-lead)
    return gained / (gained + sum_of_others(lost))


def sum_of_others(numbers: Array) -> Array:
    """The sum over all other keys, added up from both ends: a difference from the whole sum would cancel."""
    none = torch.zeros_like(numbers[..., :1])
    before = torch.cat([none, torch.cumsum(numbers, -1)[..., :-1]], -1)
    after = torch.cat([none, torch.cumsum(numbers.flip(-1), -1)[..., :-1]], -1).flip(-1)
    return before + after


@enclosed.register
def _softmax(operation: op.Softmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return _weights(exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius)


@enclosed.register
def _linear_softmax(operation: op.LinearSoftmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return _weights(exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius)


def _weights(exact: Array, scores: Array, radius: Array) -> Enclosed:
    """softmax(scores + u), |u| <= radius, against the exact weights."""
    weights, moves = _softmax_moves(scores, radius)
    return Enclosed(exact, Error(weights - exact, moves.radius, one=lambda: moves.one))


# The winner stays if it leads by more than the two errors; else all that is known is that weights add up to 1.
@enclosed.register
def _hard_max(operation: op.HardMax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    exact, scores, radius = exactly(operation, x, at), x[0].exact + x[0].error.centre, x[0].error.radius
    if operation.inverse_temperature != sp.oo:
        beta = at.operands.number(operation.inverse_temperature)
        return _weights(exact, beta * scores, abs(beta) * radius)
    winner = exact > 0.5
    lead = ((scores - radius) * exact).sum(-1, keepdim=True)
    behind = torch.where(winner, lead - 1, scores + radius)
    lost = torch.where(lead > torch.amax(behind, -1, keepdim=True), torch.zeros_like(exact), torch.ones_like(exact))
    return Enclosed(exact, Error(torch.zeros_like(exact), lost, one=lambda: 2 * largest(lost)))


@enclosed.register
def _concentration(operation: op.Concentration, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    scores = at.operands.array(operation.scores)
    exact = unit_vector(scores)
    if not at.local and not step.local.free_symbols - set(at.operands.letters):
        return Enclosed(exact, Error.within(step.norm, at.operands.number(step.local), exact))
    difference = torch.softmax(scores, -1) - exact
    return Enclosed(exact, Error(difference, torch.zeros_like(difference)))


# With a = p + c_a + u_a and v = V + c_v + u_v,
#   sum a v - sum p V = (p + c_a) c_v + c_a V  +  sum u_a (V + c_v)  +  sum a u_v.
# The emulated weights a >= 0 add up to 1, and those of a known pair to S = sum(p + c_a), which rounding takes from 1:
# |sum u_a| <= |1 - S| and sum a <= max(1, S). So V + c_v counts with its distance from any point m, and m with |1 - S|.
@enclosed.register
def _attention(operation: op.Attention, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    weights, values = x
    a, v = weights.error, values.error
    moved = values.exact + v.centre  # (..., n, m)
    middle = (torch.amax(moved, -2, keepdim=True) + torch.amin(moved, -2, keepdim=True)) / 2
    off = moved - middle  # (..., n, m)
    leaning = weights.exact + a.centre  # (..., n)
    total = leaning.sum(-1)  # (...)
    off_one, whole = abs(1 - total), torch.maximum(total, torch.ones_like(total))
    centre = attended(leaning, v.centre) + attended(a.centre, values.exact)
    by_key = attended(a.radius, abs(off))
    reach = torch.minimum(by_key, a.one.unsqueeze(-1) * torch.amax(abs(off), -2))
    shared = abs(middle).squeeze(-2)  # (..., m)
    radius = reach + off_one.unsqueeze(-1) * shared + whole.unsqueeze(-1) * torch.amax(v.radius, -2)

    def two() -> Array:
        far = torch.minimum(attended_norms(a.radius, two_norm(off)), a.one * largest(two_norm(off)))
        return far + off_one * two_norm(shared) + whole * largest(v.two)

    return Enclosed(exactly(operation, x, at), Error(centre, radius, two=two))


def attended_norms(weights: Array, norms: Array) -> Array:
    """sum_i w_i n_i: (..., n) and (..., n) to (...)."""
    return (weights * norms).sum(-1)
