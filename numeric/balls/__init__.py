"""Arrays of Arb balls: each ball contains the exact real number that it stands for.

Every float64 enters exactly. The precision in bits affects the width of the balls, never their correctness.
"""

from numeric.balls.arbs import Arb, ball_maximum, exact_softmax, float_above, float_below, rational, working_precision
from numeric.balls.array import BallArray, Truth
from numeric.balls.dispatch import FUNCTIONS
from numeric.balls.ends import Ends
from numeric.balls.errors import BallsError, ShapesDiffer
from numeric.balls.float_ends import FloatEnds

__all__ = [
    "Arb",
    "BallArray",
    "BallsError",
    "Ends",
    "FUNCTIONS",
    "FloatEnds",
    "ShapesDiffer",
    "Truth",
    "ball_maximum",
    "exact_softmax",
    "float_above",
    "float_below",
    "rational",
    "working_precision",
]
