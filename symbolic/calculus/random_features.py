"""Cosines of random frequencies: how far their mean is from its expectation, at all arguments at once; and by lines.

A feature is A^m s cos(w^T z), s a sign and w a frequency in R^m, drawn together; its expectation is the similarity of
vectors whose difference is z.
"""

from typing import Any

import sympy as sp

from symbolic.calculus.concentration import cover, sample_mean
from symbolic.calculus.shares import within_budget
from symbolic.derivations.derivation import Approximated, as_expr, given
from symbolic.derivations.events import Event


# A feature lies in [-A^m, A^m], which is 2 A^m long: it deviates by an A^m-sub-Gaussian number (Hoeffding's lemma). Its
# slope in each coordinate of z is at most A^m omega, and so is that of the expectation: in the sup norm the mean less
# the expectation moves by at most 2 A^m m omega r within r. All z lie in [-2R, 2R]^m, and 1 + 2R/r intervals of the
# length 2r cover each side of it. With r = 1/(2 m omega sqrt(K)) the cover adds A^m/sqrt(K):
#   A^m/sqrt(K) (1 + sqrt(2 log(2/delta) + 2 m log(1 + 4 R m omega sqrt(K)))).
def deviation_of_cosines(
    name: str, *, count: Any, dim: Any, radius: Any, mass: Any, largest: Any, delta: Any, over: str
) -> Approximated:
    """What the mean of `count` features deviates by from its expectation, at all u and v in [-radius, radius]^dim.

    A = `mass` and all frequencies have coordinates of at most `largest`. Holds with a probability of 1 - `delta` over
    the draw, which `over` names; the exact value is 0.
    """
    count, dim, radius, omega = (as_expr(each) for each in (count, dim, radius, largest))
    size = as_expr(mass) ** dim
    one = given(f"{name} at a pair", dim=1, size=0, reason="the mean of the features less its expectation")
    at_one = sample_mean(
        one,
        f"{name}, mean at a pair",
        count=count,
        event=Event("features", over=over),
        sub_gaussian=size,
        reason=f"by Hoeffding's inequality for `{sp.sstr(count)}` independent features",
    )
    near = 1 / (2 * dim * omega * sp.sqrt(count))
    everywhere = cover(
        at_one,
        f"{name}, mean at all pairs",
        members=(1 + 2 * radius / near) ** dim,
        radius=near,
        lipschitz=2 * size * dim * omega,
        exact_lipschitz=0,
        reason="by a union bound over a cover of the differences of two arguments",
    )
    return within_budget(everywhere, name, delta=delta)


# The curve (cos t, sin t) has a second derivative of norm 1: on a cell of width h the straight line between two of its
# points is within h^2/8 of it at each t, and does not leave the unit disc. So the inner product of two such points
# moves by h^2/8 for each of them, and h = 2 reach/cells.
def error_of_lines(reach: Any, cells: Any) -> sp.Expr:
    """At least |c(s) c(t) + s(s) s(t) - cos(s - t)|, c and s straight lines between `cells` + 1 knots on +-reach."""
    return (as_expr(reach) / as_expr(cells)) ** 2
