"""Projected gradient descent on an N-layer network, in context, by ReLU attention (Wu et al. 2024, Theorem 1)."""

from numeric.icgd.construction import IcgdConstruction, icgd_construction
from numeric.icgd.network import IcgdNetwork, run_exact_icgd
from numeric.icgd.reference import autograd_gradient, empirical_loss, predict
from numeric.icgd.sampling import prompts, starts
from numeric.icgd.shape import Shape

__all__ = [
    "Shape",
    "IcgdConstruction",
    "icgd_construction",
    "IcgdNetwork",
    "run_exact_icgd",
    "predict",
    "empirical_loss",
    "autograd_gradient",
    "prompts",
    "starts",
]
