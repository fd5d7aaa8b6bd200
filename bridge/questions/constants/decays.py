"""How fast a function of the state decays along a flow: the largest c with dV/dt <= -c s V^k on a region."""

from fractions import Fraction
from typing import Any

import sympy as sp

from bridge.limits.refusals import briefly_refused
from bridge.questions.constants.best import WITHIN, BestConstant, best
from bridge.questions.constants.free import FreeConstant, Region, as_region, require_real, require_region
from bridge.questions.constants.largest import unused
from symbolic.derivations.derivation import as_expr
from symbolic.derivations.inequalities import Inequality
from symbolic.dynamics.flows import Flow
from symbolic.dynamics.lyapunov import Decay as LyapunovDecay
from symbolic.latex.displays import environment, equations, gathered
from symbolic.latex.page import Page
from symbolic.latex.typesetting import latex
from symbolic.words.errors import UsageError

FASTEST = 10**6  # the largest rate that is sought


@briefly_refused
def decay(
    flow: Any,
    V: Any,
    region: Any,
    *,
    where: tuple[sp.Expr, ...] = (),
    scale: Any = 1,
    power: int = 1,
    seconds: int | float = 60.0,
    within: Any = WITHIN,
) -> BestConstant:
    """The largest c with dV/dt <= -c s V^k along the flow, at each state of a region: proved, and refuted by a point.

        a, b = sp.symbols("a b", real=True)
        flow = bs.dynamics.gradient_flow((a * b - 1) ** 2 / 2, (a, b))
        print(bs.dynamics.decay(flow, (a * b - 1) ** 2 / 2, {a: ("1/2", 2), b: ("1/2", 2)}))

    `scale` is s, free of the state, and `power` is k; for k = 1, V(t) <= V(0) e^(-c s t) as long as the flow is in the
    region. `region` gives each coordinate and parameter its range, where all of `where` are >= 0. The witness is a
    point at which dV/dt + c s V^k itself is > 0. A square that divides dV/dt and V^k is taken off before a proof, and
    an equilibrium at which V is 0 is made the origin. Raises UsageError for a letter without a range and a region that
    is a point.
    """
    call, ranges = "decay", as_region("decay", region)
    if not isinstance(flow, Flow):
        raise UsageError(f"decay: got {flow!r:.80}; give a flow, such as bs.dynamics.gradient_flow(loss, (a, b))")
    described = LyapunovDecay(flow, as_expr(V), as_expr(scale), power)
    loss, candidate = -described.derivative, described.scale * described.candidate**described.power
    require_real(call, (loss, candidate, *where), ranges)
    require_region(call, ranges)
    if candidate == 0:
        raise UsageError("decay: V is 0 everywhere; give a function that decays")
    letter, conditions = unused("c", loss, candidate), tuple(where)
    common, left, right = without_common_square(loss, candidate, flow.state)
    still = equilibrium(described, right, ranges)

    def gap(value: sp.Rational) -> tuple[Inequality, ...]:
        return (Inequality(f"decay (c = {value})", described.gap(value), ranges, conditions),)

    def proof(value: sp.Rational) -> tuple[Inequality, ...]:
        return (around(still, left - value * right, ranges, conditions, f"decay (c = {value})", common),)

    rates = ", ".join(f"d{x}/dt = {sp.sstr(rate)}" for x, rate in zip(flow.state, flow.field, strict=True))
    words = f"d({sp.sstr(V)})/dt <= -{letter}*({sp.sstr(candidate)}) along {rates}"

    def formula(value: sp.Expr) -> str:
        rate = rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}}t}} \left({latex(as_expr(V))}\right)"
        claim = rf"{rate} \le {'-' if value == 1 else f'-{latex(value)} '}{_factor(candidate)} \quad \text{{along}}"
        page = Page()
        moves = [gathered(equations((rf"\dot{{{latex(x)}}}", "=", flow.rate(x)), page)) for x in flow.state]
        return environment("gathered", [claim, *moves])

    limit = sp.cancel(left / right) if left.is_rational_function() and right.is_rational_function() else left / right
    limits = ((limit, Inequality("decay", sp.S.Zero, ranges, (*conditions, candidate))),)
    ends = Fraction(0), Fraction(FASTEST)
    free = FreeConstant("largest rate", words, formula, letter, True, gap, proof, ranges, conditions, limits, ends)
    return best(call, free, seconds=seconds, within=within)


def _factor(expression: sp.Expr) -> str:
    return rf"\left({latex(expression)}\right)" if expression.is_Add else latex(expression)


# h = q^2 a with q^2 >= 0 is >= 0 wherever a is.
def without_common_square(
    loss: sp.Expr, candidate: sp.Expr, state: tuple[sp.Symbol, ...]
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """A square q^2 that divides both, and what is left of them; 1 for what is no polynomial."""
    letters = sorted(loss.free_symbols | candidate.free_symbols, key=str)
    if not (letters and loss.is_polynomial(*letters) and candidate.is_polynomial(*letters)):
        return sp.S.One, loss, candidate
    _, factors = sp.factor_list(sp.gcd(sp.expand(loss), sp.expand(candidate)))
    square = sp.Mul(*(base ** (2 * (power // 2)) for base, power in factors if base.free_symbols & set(state)))
    if square == 1:
        return sp.S.One, loss, candidate
    return square, sp.factor(sp.cancel(loss / square)), sp.factor(sp.cancel(candidate / square))


def equilibrium(described: LyapunovDecay, candidate: sp.Expr, ranges: Region) -> dict[sp.Symbol, sp.Rational]:
    """The state of the region at which the flow rests and the candidate has its zero; {} if there is none to be found.

    It is looked for at 0, and where the gradient of a quadratic candidate is 0.
    """
    state = tuple(x for x in described.flow.state if x in ranges)
    found = [dict.fromkeys(state, sp.S.Zero)]
    if candidate.is_polynomial(*state) and sp.Poly(candidate, *state).total_degree() == 2:
        found += sp.solve([candidate.diff(x) for x in state], state, dict=True)
    for point in found:
        inside = all(x in point and point[x].is_Rational and ranges[x][0] <= point[x] <= ranges[x][1] for x in state)
        if inside and all(sp.simplify(each.subs(point)) == 0 for each in (candidate, *described.flow.field)):
            return point
    return {}


def around(
    still: dict[sp.Symbol, sp.Rational],
    expression: sp.Expr,
    ranges: Region,
    where: tuple[sp.Expr, ...],
    name: str,
    common: sp.Expr,
) -> Inequality:
    """The inequality in the distances from the equilibrium, at which it is 0 with its gradient."""
    moved = {x: unused(f"Delta_{x}", expression) if at else x for x, at in still.items()}
    put = {x: moved[x] + at for x, at in still.items() if at}
    box = {moved.get(x, x): (low - still.get(x, 0), high - still.get(x, 0)) for x, (low, high) in ranges.items()}
    shifts = [f"`{new} = {x} - {still[x]}`" for x, new in moved.items() if new != x]
    meaning = "; ".join(filter(None, [f"times `{sp.sstr(common)}`" if common != 1 else "", ", ".join(shifts)]))
    return Inequality(
        name,
        expression.subs(put, simultaneous=True),
        box,
        tuple(each.subs(put, simultaneous=True) for each in where),
        vanishing=tuple(moved.values()),
        meaning=f"`-dV/dt - c s V^k >= 0`{': ' if meaning else ''}{meaning}",
    )
