"""Softmax in place of hard max: the inverse temperature at which the correction removes the weight of the other keys.

The scores of Claims C.4 to C.6 and of Lemma C.7 are whole numbers and exact (the layers before have rounded), the
largest leads by 1, and keys that tie for it carry one and the same value.
"""

from functools import cache

import sympy as sp

from symbolic.calculus.knobs import Knob, knob_for
from symbolic.calculus.softmax import attend, softmax_to_hard_max
from symbolic.derivations.derivation import Approximated, Derivation, given

MARGIN = sp.Integer(1)  # Claims C.4-C.6, Lemma C.7: largest score against the next, the null key among them
UNDONE = sp.Rational(1, 3)  # the largest error of a bit that the correction of Prop. 3.4 removes
SPREAD = sp.Integer(1)  # every coordinate of a value is a bit

w_pos = sp.Symbol("w_pos", integer=True, positive=True)
keys = sp.Symbol("n", integer=True, positive=True)
width = sp.Symbol("w", integer=True, positive=True)
inverse_temperature = sp.Symbol("beta", positive=True)
eps = sp.Symbol("eps", positive=True)


# k keys that tie for the largest score and carry one value act as one key whose weight is the sum of theirs: the others
# then weigh at most (n - k) e^(-beta) / (k + (n - k) e^(-beta)), and k = 1 is the worst case.
@cache
def leak() -> Approximated:
    """A coordinate of softmax attention over n keys against hard max, in the sup norm; before the rounding."""
    scores = given("scores", dim=keys, size=2 * w_pos)
    values = given("values", dim=width, size=SPREAD, radius=SPREAD / 2)
    weights = softmax_to_hard_max(scores, "weights", margin=MARGIN, inverse_temperature=inverse_temperature)
    return attend(weights, values, "leak")


def leak_derivation() -> Derivation:
    return leak().derivation


# W_1 moves each coordinate to one place, and the correction rounds: an error of at most 1/3 becomes 0. So eps <= 1/3 is
# all that is asked for, in every layer anew.
@cache
def sufficient() -> Knob:
    """The least inverse temperature at which `leak` is at most eps, in closed form; `bound`: what leaks at it."""
    others = sp.Symbol("r", positive=True)  # n - 1: positive, which n alone does not say
    bound = leak_derivation().bound("leak").subs(keys, others + 1)
    found = knob_for(bound, inverse_temperature, eps)
    value = sp.log(others * sp.together(sp.expand(sp.exp(found.value) / others)))
    reached = sp.simplify(found.bound)
    return Knob(found.symbol, value.subs(others, keys - 1), reached.subs(others, keys - 1), found.condition)
