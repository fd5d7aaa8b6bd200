"""The signs of stage I (wang2024, Appendix B) as inequalities on boxes; letters as in `first_stage`."""

import sympy as sp

from symbolic.derivations.inequalities import Inequality
from symbolic.topics.induction import first_stage as theory
from symbolic.topics.induction.first_stage import gamma, r
from symbolic.topics.induction.training import u
from symbolic.words.errors import UsageError

LONGEST_SIGN, LONGEST_FLOOR = 8, 40  # certificates on boxes up to these L; the arguments of `first_stage` cover every L
LARGEST_START = sp.Rational(1, 2)  # r >= 1/2: p(0) <= log 2
UNIT = (sp.Integer(0), sp.Integer(1))
_BECAUSE = {u: "`u = e^-p~` is in (0, 1] for `p~ >= 0`", gamma: "`g_0` is in `(0, g*]`", r: "`p(0)` is in `[0, log 2]`"}


def sign_inequality(length: int) -> Inequality:
    """dp~/dt > 0 for all p~ >= 0 (p~ = oo too, after division by u) and g_0 in (0, g*], from the raw derivative."""
    return _sign(f"sign[L={length}]", theory.rate_share(length - 2), (u, gamma), "`dp~/dt` over `u g_0 g* / (L-2)`")


def start_inequality(length: int) -> Inequality:
    """dp~/dt > 0 with p(0) in [0, log 2] too: only for short inputs (`start.long` shows a long one where it fails)."""
    meaning = "`dp~/dt` over `u g_0 g* / Z_n(r)`, with `p(0) = -log r`"
    return _sign(f"start[L={length}]", theory.rate_share(length - 2, start=r), (u, gamma, r), meaning)


def _sign(name: str, share: sp.Expr, coordinates: tuple[sp.Symbol, ...], meaning: str) -> Inequality:
    ranges = {u: UNIT, gamma: UNIT, r: (LARGEST_START, sp.Integer(1))}
    return Inequality(
        name=name,
        expression=share,
        box={x: ranges[x] for x in coordinates},
        strict=True,
        meaning=meaning,
        because={x: _BECAUSE[x] for x in coordinates},
    )


def floor_inequality(length: int) -> Inequality:
    """F > 0: dp~/dt >= (n-1)/(2n) u g_0 g* / n."""
    return Inequality(
        name=f"floor[L={length}]",
        expression=sp.Poly(theory.excess_coefficients(length - 2)[::-1], u).as_expr(),
        box={u: UNIT},
        strict=True,
        meaning="the excess of the rate over its floor, by `(1-u) / (2n Z_n^2)`",
        because={u: _BECAUSE[u]},
    )


def stated_inequalities(L: int | float) -> list[Inequality]:
    """Stage I at this L, or at the longest that a box can carry: the arguments of `first_stage` cover every L."""
    length = int(L)
    if length < 5:
        raise UsageError(f"induction.first_stage: L = {length} came; the 4-gram target needs L >= 5")
    return [
        sign_inequality(min(length, LONGEST_SIGN)),
        start_inequality(min(length, LONGEST_SIGN)),
        floor_inequality(min(length, LONGEST_FLOOR)),
    ]
