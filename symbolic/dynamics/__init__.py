"""Training dynamics: flows from a loss, their fixed points and conserved quantities, Gaussian expectations."""

from symbolic.dynamics.conserved import conserved_quantities, is_conserved
from symbolic.dynamics.fixed_points import FixedPoint, Inertia, Stability, proved_sign, require_increasing
from symbolic.dynamics.flows import Flow, gradient_flow
from symbolic.dynamics.gaussian import GaussianMean, gaussian_mean

__all__ = [
    "FixedPoint",
    "Flow",
    "GaussianMean",
    "Inertia",
    "Stability",
    "conserved_quantities",
    "gaussian_mean",
    "gradient_flow",
    "is_conserved",
    "proved_sign",
    "require_increasing",
]
