"""Training dynamics: flows from a loss, their fixed points and conserved quantities, Gaussian expectations."""

from symbolic.dynamics.flows import Flow, gradient_flow

__all__ = ["Flow", "gradient_flow"]
