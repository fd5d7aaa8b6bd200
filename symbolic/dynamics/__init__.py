"""Training dynamics: flows from a loss, fixed points, conserved quantities, comparison, Gaussian expectations."""

from symbolic.calculus.differential_inequalities import LinearComparison, Passage, decayed, held_back, past_saddle
from symbolic.dynamics.conserved import conserved_quantities, is_conserved
from symbolic.dynamics.fixed_points import FixedPoint, Inertia, Stability, proved_sign, require_increasing
from symbolic.dynamics.flows import Flow, gradient_flow
from symbolic.dynamics.gaussian import GaussianMean, gaussian_mean
from symbolic.dynamics.roots import sign_with_roots
from symbolic.dynamics.trapping import Strip

__all__ = [
    "FixedPoint",
    "Flow",
    "GaussianMean",
    "Inertia",
    "LinearComparison",
    "Passage",
    "Stability",
    "Strip",
    "conserved_quantities",
    "decayed",
    "gaussian_mean",
    "gradient_flow",
    "held_back",
    "is_conserved",
    "past_saddle",
    "proved_sign",
    "require_increasing",
    "sign_with_roots",
]
