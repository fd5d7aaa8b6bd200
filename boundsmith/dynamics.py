"""Training dynamics: gradient flows in SymPy, what they conserve, how they decay, and their trajectories.

- flows: Flow, gradient_flow, conserved_quantities
- Lyapunov functions: Decay, decay
- trajectories, computed: follow, Trajectory, JoinedTrajectory
"""

from bridge.questions.constants import decay
from bridge.topics.tools.flows import JoinedTrajectory, Trajectory, follow
from symbolic.dynamics import Flow, conserved_quantities, gradient_flow
from symbolic.dynamics.lyapunov import Decay

__all__ = [
    "Flow",
    "gradient_flow",
    "conserved_quantities",
    "Decay",
    "decay",
    "follow",
    "Trajectory",
    "JoinedTrajectory",
]
