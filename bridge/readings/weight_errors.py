"""How far softmax weights and averages under them are from the exact ones.

Letters as in bridge/readings/enclosing.py; p are weights, V values, a and v the errors of both.
"""

import sympy as sp
import torch

from bridge.readings.arrays import Array, joint, largest, two_norm, unit_vector
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error, total
from bridge.readings.values import attended
from symbolic.derivations import operations as op
from symbolic.derivations.derivation import Norm, Step


# With weights p = softmax(s + c) and |u| <= r, the weight of key i moves to at most
#   p_i e^(r_i) / (p_i e^(r_i) + sum_(j != i) p_j e^(-r_j)),
# at least to the same with the signs of r exchanged. If two scores move against each other by at most w, it also stays
# between p_i e^w / (p_i e^w + sum_(j != i) p_j) and the same with -w: more, where ||u||_1 or ||u||_2 is known.
# By rule `softmax` the weights that grow gain at most tanh(w/4) together: twice that in the 1-norm, sqrt(2) times in
# the 2-norm.
def _moves(weights: Array, error: Error) -> Error:
    radius, apart = error.radius, _apart(error)
    held, others = torch.clamp(radius, max=WIDEST), sum_of_others(weights)
    gained, lost = weights * torch.exp(held), weights * torch.exp(-held)
    lost_by_others, gained_by_others = sum_of_others(torch.stack([lost, gained]))
    spread = _farthest(weights, (gained, lost_by_others), (lost, gained_by_others), torch.amax(radius, -1))
    if error.only is not Norm.INF:
        odds = torch.exp(torch.clamp(apart, max=WIDEST)).unsqueeze(-1)
        by_range = _farthest(weights, (weights * odds, others), (weights, others * odds), apart)
        spread = torch.minimum(spread, by_range)
    gain = torch.tanh(apart / 4)
    return Error(None, spread, one=lambda: 2 * gain, two=lambda: _root_two_times(gain))


def _apart(error: Error) -> Array:
    """The most by which two scores move against each other: 2 ||u||_inf, sqrt(2) ||u||_2 or ||u||_1 at most."""
    if error.only is Norm.ONE:
        return error.one
    if error.only is Norm.TWO:
        return _root_two_times(error.two)
    apart = 2 * largest(error.radius)
    if error.only is Norm.INF:
        return apart
    apart = torch.minimum(apart, _root_two_times(error.two))
    return torch.minimum(apart, error.one) if error.has_one else apart


def _root_two_times(number: Array) -> Array:
    return joint([number, number])


def _farthest(weights: Array, most: tuple[Array, Array], least: tuple[Array, Array], moved: Array) -> Array:
    """How far a weight is from gained / (gained + others) at most and at least; anything if scores move too far."""
    above, below = (own / (own + others) for own, others in (most, least))
    farthest = torch.relu(torch.maximum(above - weights, weights - below))
    return torch.where(moved.unsqueeze(-1) <= WIDEST, farthest, torch.ones_like(farthest))


WIDEST = 300.0  # e^300 is a float64; scores that move by more may give a key any weight


def sum_of_others(numbers: Array) -> Array:
    """The sum over all other keys, added up from both ends: a difference from the whole sum would cancel."""
    none = torch.zeros_like(numbers[..., :1])
    before = torch.cat([none, torch.cumsum(numbers, -1)[..., :-1]], -1)
    after = torch.cat([none, torch.cumsum(numbers.flip(-1), -1)[..., :-1]], -1).flip(-1)
    return before + after


@enclosed.register
def _softmax(operation: op.Softmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    exact, error = exactly(operation, x, at), x[0].error
    if error.is_centred and not error.is_known:
        return Enclosed(exact, _moves(exact, error))
    return _weights(exact, error.after(x[0].exact), error)


@enclosed.register
def _linear_softmax(operation: op.LinearSoftmax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    return _weights(exactly(operation, x, at), x[0].error.after(x[0].exact), x[0].error)


def _weights(exact: Array, scores: Array, error: Error) -> Enclosed:
    """softmax(scores + u), |u| <= the radius of the error, against the exact weights."""
    weights = torch.softmax(scores, -1)
    difference = Error.known(weights - exact)
    return Enclosed(exact, difference if error.is_known else difference.plus(_moves(weights, error)))


# The winner stays if it leads by more than the two errors; else one unit vector may take the place of another.
@enclosed.register
def _hard_max(operation: op.HardMax, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
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
    one, two = lambda: 2 * largest(lost), lambda: _root_two_times(largest(lost))
    return Enclosed(exact, Error(None, lost, one=one, two=two))


@enclosed.register
def _concentration(operation: op.Concentration, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    scores = at.operands.array(operation.scores)
    exact = unit_vector(scores)
    known = Error.known(torch.softmax(scores, -1) - exact)
    if at.local is True or step.local.free_symbols - set(at.operands.letters):
        return Enclosed(exact, known)
    within = _of_lost_weight(at.operands.number(operation.lost), exact)
    return Enclosed(exact, within if at.local is False else Error.where(at.local, known, within))


# What the winner loses, at most `lost`, the others gain: twice that in the 1-norm, sqrt(2) times in the 2-norm.
def _of_lost_weight(lost: Array, like: Array) -> Error:
    radius = torch.zeros_like(like) + lost
    return Error(None, radius, one=lambda: 2 * radius[..., 0], two=lambda: _root_two_times(radius[..., 0]))


# With a = p + c_a + u_a and v = V + c_v + u_v,
#   sum a v - sum p V = (p + c_a) c_v + c_a V  +  sum u_a (V + c_v)  +  sum a u_v.
# The emulated weights a >= 0 add up to 1, and those of a known pair to S = sum(p + c_a), which rounding takes from 1:
# |sum u_a| <= |1 - S| and sum a <= max(1, S). So V + c_v counts with its distance from any point m, and m with |1 - S|.
@enclosed.register
def _attention(operation: op.Attention, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
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
