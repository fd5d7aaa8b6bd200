"""Averages of values under weights."""

import torch

from bridge.readings.arrays import Array, attended, attended_norms, largest, two_norm
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, exactly
from bridge.readings.errors import Error, total
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.calculus.softmax import Attention
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: Attention, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return attended(*x)


# With a = p + c_a + u_a and v = V + c_v + u_v,
#   sum a v - sum p V = (p + c_a) c_v + c_a V  +  sum u_a (V + c_v)  +  sum a u_v.
# The emulated weights a >= 0 add up to 1, and those of a known pair to S = sum(p + c_a), which rounding takes from 1:
# |sum u_a| <= |1 - S| and sum a <= max(1, S). So V + c_v counts with its distance from any point m, and m with |1 - S|.
@enclosed.register
def _enclosed(operation: Attention, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
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
