"""Gradients of networks p(j) = r(V_j p(j-1)) of any depth: by recursion, and by automatic differentiation.

`bs.gradient` differentiates any expression. `bs.formulas.ArrayAlgebra` runs the recursion on tensors and on balls.

- by recursion: LayeredNetwork, gradient_by_recursion
- by automatic differentiation: Shape, autograd_gradient
"""

from numeric.tools.layered import Shape, autograd_gradient
from symbolic.gradients import LayeredNetwork, gradient_by_recursion

__all__ = ["LayeredNetwork", "gradient_by_recursion", "Shape", "autograd_gradient"]
