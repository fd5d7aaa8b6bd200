"""Training dynamics: gradient flows in SymPy, what they conserve, how they decay, and their trajectories.

- flows: Flow, gradient_flow, conserved_quantities, Decay
- trajectories, computed: follow, Trajectory, JoinedTrajectory
"""

from bridge.topics.tools.flows import JoinedTrajectory, Trajectory, follow
from symbolic.dynamics import Flow, conserved_quantities, gradient_flow
from symbolic.dynamics.lyapunov import Decay

__all__ = ["Flow", "gradient_flow", "conserved_quantities", "Decay", "follow", "Trajectory", "JoinedTrajectory"]
