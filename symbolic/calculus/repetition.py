"""Rule 7 for a network of equal layers: one layer is derived, and repeated to any symbolic depth."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivation import Approximated, given


# A layer is derived once, from a premise whose error is a symbol e; its bound is the step of a recursion in e, which
# `iterate` solves for the given depth. Nothing is proved here that these two rules do not prove.
def repeat(x: Approximated, name: str, layer: Callable[[Approximated], Approximated], depth: Any) -> Approximated:
    """The value after `depth` equal layers, starting from x. `layer` derives one of them from its argument.

    The layer has to keep the norm, the dimension and the size of x (tokens in [-1, 1] stay there, say): its argument
    is a given with these, and with an error of its own. Raises DerivationError for a layer that does not.
    """
    premise = given(f"a layer of {name}", dim=x.dim, norm=x.norm, size=x.size, error=sp.Dummy("e", nonnegative=True))
    one = layer(premise)
    return iterate(x, name, recursion_from(premise, one), depth, size=one.size)
