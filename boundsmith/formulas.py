"""SymPy expressions as functions of numbers, arrays and balls; sums of ReLUs with certified errors.

- lowering: lower, LoweringError, evaluate, ArrayFunction, ArrayAlgebra, evaluate_ball
- certified least values: least_of, least_value
- activations and losses: activation_formula, activation_supremum, loss_formula, loss_supremum
- sums of ReLUs: interpolate, interpolate_covering, ReluTarget, most_relus, relu_costs, accuracies_within
- sums of exponentials: ExponentialSums, best_rates
"""

from bridge.lowering import LoweringError, lower
from bridge.lowering.accuracies import accuracies_within
from bridge.lowering.activations import activation_formula, activation_supremum, loss_formula, loss_supremum
from bridge.lowering.array_algebra import ArrayAlgebra
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.exponential_sums import ExponentialSums, best_rates
from bridge.lowering.formula import ArrayFunction, evaluate
from bridge.lowering.least_value import least_of, least_value
from bridge.lowering.relu_accuracies import ReluTarget, most_relus, relu_costs
from bridge.lowering.relu_sums import interpolate, interpolate_covering

__all__ = [
    "lower",
    "LoweringError",
    "evaluate",
    "ArrayFunction",
    "ArrayAlgebra",
    "evaluate_ball",
    "least_of",
    "least_value",
    "activation_formula",
    "activation_supremum",
    "loss_formula",
    "loss_supremum",
    "interpolate",
    "interpolate_covering",
    "ReluTarget",
    "most_relus",
    "relu_costs",
    "accuracies_within",
    "ExponentialSums",
    "best_rates",
]
