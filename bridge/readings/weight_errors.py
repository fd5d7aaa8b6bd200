"""How far softmax weights and averages under them are from the exact ones.

Letters as in bridge/readings/enclosing.py; p are weights, V values, a and v the errors of both.
"""

import sympy as sp
import torch

from bridge.readings.arrays import Array, largest, two_norm, unit_vector
from bridge.readings.enclosed import Enclosed, Instance, enclosed, exactly
from bridge.readings.errors import Error, total
from bridge.readings.values import attended
from symbolic import operations as op
from symbolic.derivation import Norm, Step


# With weights p = softmax(s + c) and |u| <= r, the weight of key i moves to at most
#   p_i e^(r_i) / (p_i e^(r_i) + sum_(j != i) p_j e^(-r_j)),
# at least to the same with the signs of r exchanged; and by rule `softmax` the 1-norm moves by 2 tanh(max r / 2).
def _moves(weights: Array, radius: Array) -> Error:
    held = torch.clamp(radius, max=WIDEST)
    gained, lost = weights * torch.exp(held), weights * torch.exp(-held)
    lost_by_others, gained_by_others = sum_of_others(torch.stack([lost, gained]))
    above, below = gained / (gained + lost_by_others), lost / (lost + gained_by_others)
    spread = torch.relu(torch.maximum(above - weights, weights - below))
    moderate = torch.amax(radius, -1, keepdim=True) <= WIDEST
    spread = torch.where(moderate, spread, torch.ones_like(spread))
    return Error(None, spread, one=lambda: 2 * torch.tanh(largest(radius) / 2))


WIDEST = 300.0  # e^300 is a float64; scores that move by more may give a key any weight


def sum_of_others(numbers: Array) -> Array:
    """The sum over all other keys, added up from both ends: a difference from the whole sum would cancel."""
    none = torch.zeros_like(numbers[..., :1])
    before = torch.cat([none, torch.cumsum(numbers, -1)[..., :-1]], -1)
    after = torch.cat([none, torch.cumsum(numbers.flip(-1), -1)[..., :-1]], -1).flip(-1)
    return before + after


@enclosed.register
def _softmax(operation: op.Softmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    if error.is_centred and not error.is_known:
        return Enclosed(exact, _moves(exact, error.radius))
    return _weights(exact, error.after(x[0].exact), error)


@enclosed.register
def _linear_softmax(operation: op.LinearSoftmax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    return _weights(exactly(operation, x, at), x[0].error.after(x[0].exact), x[0].error)


def _weights(exact: Array, scores: Array, error: Error) -> Enclosed:
    """softmax(scores + u), |u| <= the radius of the error, against the exact weights."""
    weights = torch.softmax(scores, -1)
    difference = Error.known(weights - exact)
    return Enclosed(exact, difference if error.is_known else difference.plus(_moves(weights, error.radius)))


# The winner stays if it leads by more than the two errors; else all that is known is that weights add up to 1.
@enclosed.register
def _hard_max(operation: op.HardMax, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    scores = error.after(x[0].exact)
    if operation.inverse_temperature != sp.oo:
        beta = at.operands.number(operation.inverse_temperature)
        return _weights(exact, beta * scores, error.scaled(beta))
    radius = error.radius
    winner = exact > 0.5
    lead = ((scores - radius) * exact).sum(-1, keepdim=True)
    behind = torch.where(winner, lead - 1, scores + radius)
    lost = torch.where(lead > torch.amax(behind, -1, keepdim=True), torch.zeros_like(exact), torch.ones_like(exact))
    return Enclosed(exact, Error(None, lost, one=lambda: 2 * largest(lost)))


@enclosed.register
def _concentration(operation: op.Concentration, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    scores = at.operands.array(operation.scores)
    exact = unit_vector(scores)
    known = Error.known(torch.softmax(scores, -1) - exact)
    if at.local is True or step.local.free_symbols - set(at.operands.letters):
        return Enclosed(exact, known)
    within = Error.within(step.norm, at.operands.number(step.local), exact)
    return Enclosed(exact, within if at.local is False else Error.where(at.local, known, within))


# With a = p + c_a + u_a and v = V + c_v + u_v,
#   sum a v - sum p V = (p + c_a) c_v + c_a V  +  sum u_a (V + c_v)  +  sum a u_v.
# The emulated weights a >= 0 add up to 1, and those of a known pair to S = sum(p + c_a), which rounding takes from 1:
# |sum u_a| <= |1 - S| and sum a <= max(1, S). So V + c_v counts with its distance from any point m, and m with |1 - S|.
@enclosed.register
def _attention(operation: op.Attention, step: Step, x: list[Enclosed], at: Instance) -> Enclosed:
    weights, values = x
    exact, a, v = exactly(operation, x, at), weights.error, values.error
    leaning = a.after(weights.exact)  # (..., n)
    of_values = [] if v.is_centred else [attended(leaning, v.centre)]
    of_weights = [] if a.is_centred else [attended(a.centre, values.exact)]
    centre, whole = total(*of_values, *of_weights), leaning.sum(-1)
    at_most = torch.maximum(whole, torch.ones_like(whole))
    spread = [] if v.is_known else [at_most.unsqueeze(-1) * torch.amax(v.radius, -2)]
    if a.is_known:
        return Enclosed(exact, Error(centre, total(*spread), two=lambda: at_most * largest(v.two), like=exact))
    moved = v.after(values.exact)  # (..., n, m)
    high, low = torch.amax(moved, -2), torch.amin(moved, -2)
    middle = (high + low) / 2  # (..., m)
    off, off_one, shared = moved - middle.unsqueeze(-2), abs(1 - whole), abs(middle)
    reach = a.one.unsqueeze(-1) * ((high - low) / 2)
    if a.only is not Norm.ONE:
        reach = torch.minimum(reach, attended(a.radius, abs(off)))

    def two() -> Array:
        lengths = two_norm(off)
        far = a.one * largest(lengths)
        far = far if a.only is Norm.ONE else torch.minimum(far, attended_norms(a.radius, lengths))
        far = far + off_one * two_norm(shared)
        return far if v.is_known else far + at_most * largest(v.two)

    return Enclosed(exact, Error(centre, total(reach, off_one.unsqueeze(-1) * shared, *spread), two=two, like=exact))


def attended_norms(weights: Array, norms: Array) -> Array:
    """sum_i w_i n_i: (..., n) and (..., n) to (...)."""
    return (weights * norms).sum(-1)
