"""Softmax weights whose scores move: how far each of them may be, and all of them together.

Letters as in bridge/readings/enclosed.py; p are weights.
"""

import torch

from bridge.readings.arrays import Array, joint, largest
from bridge.readings.enclosed import Enclosed
from bridge.readings.errors import Error
from symbolic.derivations.derivation import Norm


# With weights p = softmax(s + c) and |u| <= r, the weight of key i moves to at most
#   p_i e^(r_i) / (p_i e^(r_i) + sum_(j != i) p_j e^(-r_j)),
# at least to the same with the signs of r exchanged. If two scores move against each other by at most w, it also stays
# between p_i e^w / (p_i e^w + sum_(j != i) p_j) and the same with -w: more, where ||u||_1 or ||u||_2 is known.
# By rule `softmax` the weights that grow gain at most tanh(w/4) together: twice that in the 1-norm, sqrt(2) times in
# the 2-norm.
def moves(weights: Array, error: Error) -> Error:
    radius, apart = error.radius, most_apart(error)
    held, others = torch.clamp(radius, max=WIDEST), sum_of_others(weights)
    gained, lost = weights * torch.exp(held), weights * torch.exp(-held)
    lost_by_others, gained_by_others = sum_of_others(torch.stack([lost, gained]))
    spread = _farthest(weights, (gained, lost_by_others), (lost, gained_by_others), torch.amax(radius, -1))
    if error.only is not Norm.INF:
        odds = torch.exp(torch.clamp(apart, max=WIDEST)).unsqueeze(-1)
        by_range = _farthest(weights, (weights * odds, others), (weights, others * odds), apart)
        spread = torch.minimum(spread, by_range)
    gain = torch.tanh(apart / 4)
    return Error(None, spread, one=lambda: 2 * gain, two=lambda: root_two_times(gain))


def most_apart(error: Error) -> Array:
    """The most by which two scores move against each other: 2 ||u||_inf, sqrt(2) ||u||_2 or ||u||_1 at most."""
    if error.only is Norm.ONE:
        return error.one
    if error.only is Norm.TWO:
        return root_two_times(error.two)
    apart = 2 * largest(error.radius)
    if error.only is Norm.INF:
        return apart
    apart = torch.minimum(apart, root_two_times(error.two))
    return torch.minimum(apart, error.one) if error.has_one else apart


def root_two_times(number: Array) -> Array:
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


def weights_within(exact: Array, scores: Array, error: Error) -> Enclosed:
    """softmax(scores + u), |u| <= the radius of the error, against the exact weights."""
    weights = torch.softmax(scores, -1)
    difference = Error.known(weights - exact)
    return Enclosed(exact, difference if error.is_known else difference.plus(moves(weights, error)))
