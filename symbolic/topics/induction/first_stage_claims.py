"""What Appendix B prints of stage I and exact rationals decide, at L = 5."""

from collections.abc import Callable
from functools import partial
from typing import Any

import sympy as sp

from symbolic.statements.exact_claims import ExactClaim, Point, numbers, one
from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction.training import L, g_star

SHORT = 5
_FIVE = f"`L = {SHORT}`"
_U = numbers("1/2", "1/4", "3/4", "7/8", "15/16")
_WHOLE = numbers(*range(1, 6))
_STATE = {"u": _U, "g_0": numbers("1/4", "1/64"), "g_star": numbers("1/2")}


def _in_range(point: Point) -> list[str]:
    wrong = [] if 0 < one(point, "u") < 1 else ["u = e^-p~ has to be in (0, 1)"]
    if "g_0" in point and not 0 < one(point, "g_0") <= one(point, "g_star"):
        wrong.append("g_0 has to be in (0, g*]")
    return wrong


def exactly(expression: sp.Expr, point: Point) -> sp.Rational:
    """The expression at L = 5 and at a rational u, where every exponential is a power of u."""
    letters = {"g_0": theory.g_0, "g_star": g_star, "s": theory.s, "tau": theory.tau}
    known = expression.xreplace({theory.SLOPE: _slope(point)})
    chosen = {symbol: one(point, name) for name, symbol in letters.items() if name in point}
    chosen = {**chosen, L: sp.Integer(SHORT), theory.p_tilde: -sp.log(one(point, "u"))}
    return sp.Rational(_unrolled(known.xreplace(chosen)))


def _unrolled(expression: sp.Basic) -> sp.Basic:
    """Sums written out, the outermost first (SymPy's own way looks for closed forms of the inner ones)."""
    if isinstance(expression, sp.Sum):
        ((index, first, last),) = expression.limits
        terms = (expression.function.xreplace({index: sp.Integer(i)}) for i in range(int(first), int(last) + 1))
        return sp.Add(*map(_unrolled, terms))
    return expression.func(*map(_unrolled, expression.args)) if expression.args else expression


def _slope(point: Point) -> sp.Rational:
    """q' at L = 5: the derivative in u of the sum of c_tau^2, times du/dp~ = -u."""
    u = one(point, "u")
    c, dc = theory.mixtures(SHORT - 2, u)
    return -2 * u * sum(a * b for a, b in zip(c, dc, strict=True))


def _rate(point: Point) -> sp.Rational:
    """dp~/dt at L = 5."""
    u, g_0, optimum = (one(point, name) for name in ("u", "g_0", "g_star"))
    return theory.rate_share(SHORT - 2, u, g_0 / optimum) * u * g_0 * optimum / (SHORT - 2)


def _printed_is(name: str, ours: Callable[[Point], sp.Rational], printed: sp.Expr, grid: dict[str, Any]) -> ExactClaim:
    return ExactClaim(name, "=", lambda point: (ours(point), exactly(printed, point)), _in_range, grid, _FIVE)


def _fall_of(loss: sp.Expr, point: Point) -> sp.Rational:
    """The loss at u = 1/8 less that at u: the printed loss has a constant C of its own."""
    return exactly(loss, {**point, "u": (sp.Rational(1, 8),)}) - exactly(loss, point)


def _s_is_whole(point: Point) -> list[str]:
    s = one(point, "s")
    fits = s.is_integer and 3 <= s <= SHORT
    return [*_in_range(point), *([] if fits else [f"s has to be a whole number in 3 .. {SHORT}"])]


def _s_above_tau(point: Point) -> list[str]:
    s, tau = one(point, "s"), one(point, "tau")
    fits = s.is_integer and tau.is_integer and 1 <= tau < s
    return [*_in_range(point), *([] if fits else ["s and tau have to be whole numbers with 1 <= tau < s"])]


def _weights(point: Point) -> tuple[sp.Rational, sp.Rational]:
    """The sum of the printed weights over tau = 1 .. s-1, and 1."""
    whole = sp.Sum(theory.SOFTMAX_PRINTED, (theory.tau, 1, theory.s - 1))
    return exactly(whole, point), sp.Integer(1)


def _factor(name: str, factor: sp.Expr) -> ExactClaim:
    """factor <= 0 for each s and tau."""
    grid = {"s": _WHOLE, "tau": _WHOLE, "u": _U}
    return ExactClaim(name, "<=", lambda point: (exactly(factor, point), sp.Integer(0)), _s_above_tau, grid)


PRINTED_FACTOR = _factor("q.factor", theory.LAST_FACTOR_PRINTED)
RIGHT_FACTOR = _factor("q.factor of the right q'", theory.LAST_FACTOR)  # no one prints this

CLAIMS = {
    claim.name: claim
    for claim in (
        ExactClaim(
            "loss",
            "=",
            lambda point: (_fall_of(theory.LOSS, point), _fall_of(theory.LOSS_PRINTED, point)),
            _in_range,
            _STATE,
            f"{_FIVE}, the loss at `u = 1/8` less that at `u`",
        ),
        ExactClaim("softmax", "=", _weights, _s_is_whole, {"s": numbers(3, 4, 5), "u": _U}, _FIVE),
        _printed_is("q", partial(exactly, theory.Q), theory.Q_PRINTED, {"u": _U}),
        _printed_is("q.slope", _slope, theory.SLOPE_PRINTED, {"u": _U}),
        _printed_is("rate", _rate, theory.RATE_PRINTED, _STATE),
    )
}
