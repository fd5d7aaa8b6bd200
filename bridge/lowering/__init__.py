"""Lowering: SymPy expressions as functions on numpy, torch, mpmath and Arb.

`lower(expr, backend)` rewrites the expression into forms that neither overflow nor cancel (`exponentials`,
`geometric`, `stable`), masks untaken branches for gradients (`guards`), shares common parts (`sharing`), prints it for
`sympy.lambdify` (`printer` and one file a backend) and wraps the function (`common`).
"""

from .common import Lowered, LoweringError
from .loops import Terms, TooManyTermsError, at_most_terms, spend
from .lowering import lower

__all__ = ["lower", "Lowered", "LoweringError", "Terms", "TooManyTermsError", "at_most_terms", "spend"]
