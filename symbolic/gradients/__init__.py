"""Matrix calculus for layered networks of symbolic depth: p(0) = x, p(j) = r(V_j p(j-1)) for j = 1 .. N.

SymPy's own matrix calculus fails beyond two layers of symbolic size. Here one generic layer is differentiated, with
symbolic index and sizes; the gradient by recursion and the gradient as a product both follow from that one step, and
their equality is proved by induction over the layers. Nothing is unrolled: depth 50 costs what depth 3 costs.

terms.py and letters.py are the formulas of any backward pass and how they are written (bridge/expressions/gradients).
"""

from symbolic.gradients.evaluation import (
    Algebra,
    LayerState,
    evaluate,
    gradient_as_product,
    gradient_by_recursion,
)
from symbolic.gradients.layers import (
    GENERIC,
    Backward,
    ChainStep,
    Identity,
    NetworkLayer,
    generic_backward,
    product_equals_recursion,
    require_proved,
)
from symbolic.gradients.matrices import coefficient, differential, normal
from symbolic.gradients.network import LayeredNetwork
from symbolic.gradients.printing import matrix_latex

__all__ = [
    "LayeredNetwork",
    "NetworkLayer",
    "ChainStep",
    "Backward",
    "GENERIC",
    "generic_backward",
    "Identity",
    "product_equals_recursion",
    "require_proved",
    "Algebra",
    "LayerState",
    "evaluate",
    "gradient_by_recursion",
    "gradient_as_product",
    "differential",
    "coefficient",
    "normal",
    "matrix_latex",
]
