"""Rules with one premise, each with a concrete map at the limit of what the rule supposes of it.

A map is chosen anew each time it runs, greedily: the operator, the direction of a perturbation and the like are those
that move the vectors at hand the farthest. That is what an adversary may do who knows the vectors, and it is how a
layer is run again and again in a recursion.
"""

from tests.symbolic.fuzzing.maps.functional import apply_function, apply_within, straight, taylor, taylor_range
from tests.symbolic.fuzzing.maps.linear import (
    linear_map,
    perturbed_function,
    perturbed_map,
    perturbed_map_known,
    perturbed_map_pooled,
    tokens_to_coordinates,
    turn,
)
from tests.symbolic.fuzzing.maps.map import About, Map, Pair
from tests.symbolic.fuzzing.maps.operators import (
    Operator,
    along,
    contracted,
    extreme_operator,
    operator_norm,
    signed_permutation,
)
from tests.symbolic.fuzzing.maps.plain import (
    centred,
    change_norm,
    contract,
    convex,
    correct,
    exclude,
    mean,
    normalised,
    project_ball,
    project_box,
    rms_normalise,
    rotate,
    soft_threshold,
    soft_threshold_along,
)

__all__ = [
    "About",
    "Map",
    "Operator",
    "Pair",
    "along",
    "apply_function",
    "apply_within",
    "centred",
    "change_norm",
    "contract",
    "contracted",
    "convex",
    "correct",
    "exclude",
    "extreme_operator",
    "linear_map",
    "mean",
    "normalised",
    "operator_norm",
    "perturbed_function",
    "perturbed_map",
    "perturbed_map_known",
    "perturbed_map_pooled",
    "project_ball",
    "project_box",
    "rms_normalise",
    "rotate",
    "signed_permutation",
    "soft_threshold",
    "soft_threshold_along",
    "straight",
    "taylor",
    "taylor_range",
    "tokens_to_coordinates",
    "turn",
]
