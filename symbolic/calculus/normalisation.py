"""Rule 5 for maps that are Lipschitz away from 0: a vector over its root mean square, centred before or not."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, require_norm, rule_step
from symbolic.derivations.obligations import Obligation, at_most, nonnegative, positive
from symbolic.derivations.operations import Operation


@dataclass(frozen=True)
class RmsNormalisation(Operation):
    """x / sqrt(||x||_2^2 / d + `shift`), token by token; if `centred`, of x less the mean of its coordinates.

    No such x, exact or approximate, is shorter than `least` in the 2-norm, and no exact one than `exact_least`.
    """

    shift: sp.Expr
    least: sp.Expr = field(compare=False)
    exact_least: sp.Expr = field(compare=False)
    centred: bool = False


# With h(r) = r / sqrt(r^2/d + c), g(r u) = h(r) u for unit vectors u. For x = r u and y = s v with r, s >= m,
#   ||x - y||^2 = (r - s)^2 + r s ||u - v||^2,  ||g(x) - g(y)||^2 = (h(r) - h(s))^2 + h(r) h(s) ||u - v||^2.
# From m on h(r) / r = (r^2/d + c)^(-1/2) and h'(r) = c (r^2/d + c)^(-3/2), which is no larger, are at most
# L = (m^2/d + c)^(-1/2), so that ||g(x) - g(y)|| <= L ||x - y||. Both arguments have to be that long: a y near 0 is
# moved by more. ||x_hat|| >= ||x|| - e, so that ||x|| >= m + e will do: the obligation. Without a least length, m = 0.
# Equality: both of length m, in any two directions (as ||x|| >= m + e: turned a little, e -> 0); for m = 0, both
# near 0. The size: h(r) < sqrt(d) for c > 0, and h(r) = sqrt(d) for c = 0, of the approximate value too.
# Centred (layer norm): x - (1, ..., 1) mean(x) is the orthogonal projection onto the vectors that add up to 0, which
# lengthens no error; its length is sqrt(d) times the standard deviation. Equality: x and x_hat as above that add up to
# 0, d > 1 (d > 2 to be turned).
def rms_normalise(
    x: Approximated,
    name: str,
    *,
    shift: Any = 0,
    least: Any = 0,
    exact_least: Any = None,
    centred: bool = False,
    reason: str = "",
) -> Approximated:
    """x / sqrt(||x||_2^2 / d + shift), in the 2-norm; exact and approximate values are at most sqrt(d).

    `least` is a lower bound of both ||x|| and ||x_hat||, `exact_least` one of ||x||, which it takes to show the former.
    Without them `shift` has to be positive. If `centred`, x less the mean of its coordinates stands for x in all of
    this: layer norm. Obligation: least + error <= exact_least.
    """
    require_norm("rms_normalise", x, Norm.TWO)
    numbers = {"shift": as_expr(shift), "least": as_expr(least)}
    known = sp.S.Zero if exact_least is None else as_expr(exact_least)
    owed = nonnegative("rms_normalise", name, **numbers, exact_least=known)
    shift, least = numbers.values()
    floor = least**2 / x.dim + shift
    if floor.is_zero:
        raise DerivationError(
            f"rms_normalise: '{name}' moves by any multiple of its argument's error near 0; give shift > 0, or least "
            f"> 0 and exact_least"
        )
    if not least.is_zero:
        owed += (_stays_away(x, name, least, exact_least),)
    step = rule_step(
        name,
        Norm.TWO,
        "rms normalisation",
        x.error_symbol / sp.sqrt(floor),
        obligations=(*owed, *positive("rms_normalise", name, floor=floor)),
        reason=reason or _by_the_least(centred),
        operation=RmsNormalisation(shift, least, known, centred),
    )
    return x.follows(step, dim=x.dim, size=sp.sqrt(x.dim))


def _by_the_least(centred: bool) -> str:
    before = "centring is an orthogonal projection, and " if centred else ""
    return f"since {before}division by a root mean square stretches by the inverse of its least value at most"


def _stays_away(x: Approximated, name: str, least: sp.Expr, exact_least: Any) -> Obligation:
    """Raises DerivationError for a least length of both arguments without one of the exact one."""
    if exact_least is None:
        raise DerivationError(
            f"rms_normalise: '{name}' has least = {sp.sstr(least)}, which the approximate argument has to keep too; "
            f"give exact_least, a lower bound of the 2-norm of '{x.name}'"
        )
    return at_most(
        f"neither argument of '{name}' is shorter than its least length", least + x.error, as_expr(exact_least)
    )
