"""All fixed points of training stage II (wang2024, section 5.2), their stability, and why there are no others.

The paper calls (g, h, p, w) = (g*, h*, +oo, w*) the unique one. It is the only one with w > 0, and the flow from (12)
keeps w > 0. p = +oo is u = e^-p = 0, p = -oo is e^p = 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.provenance import Provenance
from symbolic.dynamics import FixedPoint, Flow, Inertia, Stability, require_increasing
from symbolic.statements.result import Formula, Kind, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.topics.induction.losses_derivation import AS_NEEDED, AS_PRINTED, UPPER_END, derive_gram, derive_head
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import (
    HEAD_FLOW,
    HEAD_FLOW_FULL,
    NOTATION,
    OPTIMA,
    L,
    M,
    g,
    g_star,
    h,
    h_star,
    p,
    phi,
    psi,
    u,
    v,
    v_star,
    w,
    w_K,
    w_Q,
)
from symbolic.words.citations import WANG2024, Citation

W_STAR = sp.sqrt(v_star)
SHARE = sp.Symbol("c", positive=True)  # w_Q along the curve w_Q w_K = v*
_ratio = sp.Symbol("r", positive=True)
_beyond = sp.Symbol("N", integer=True, nonnegative=True)
# v* in (0, 1/2), h* and g* in (0, 1), L >= 5, all of them and nothing else.
CHART = {
    v_star: 1 / (2 + _ratio),
    h_star: OPTIMA[h_star],
    g_star: OPTIMA[g_star],
    L: 5 + _beyond,
}

LENGTHS = {L, _beyond}  # either of them gives the length in a flow
HEAD = HEAD_FLOW.slowed(L - 2)  # in tau = t / (L-2)
HEAD_FULL = HEAD_FLOW_FULL.slowed(L - 2)


# The 4-gram head: coordinates in which p = +oo and p = -oo are points.


SUM = sp.Function("M")


def gram_loss_of_sum() -> sp.Expr:
    """(19) of any function in the place of M."""
    return g_star**2 / 2 + g**2 * SUM(2 * p) / (2 * SUM(p) ** 2) - g_star * g / SUM(p)


@cache
def gram_flow_at_end(upper: sp.Expr = AS_NEEDED) -> Flow:
    """The flow of the 4-gram head in (u, g), u = e^-p: it goes on to u = 0, which is p = +oo."""
    return _gram_flow(_in_powers(derive_gram(upper), -1))


@cache
def gram_flow_at_start() -> Flow:
    """The same in (e^p, g): there u stands for e^p, and u = 0 is p = -oo."""
    # M(-q) = e^{(n-1) q} M(q), n = L-2: the same sum from its other end.
    q, n = sp.Dummy("q", positive=True), L - 2
    _require_zero(M(-q) - sp.exp((n - 1) * q) * M(q), "M(-q)")
    mirrored = gram_loss_of_sum().subs(p, -q).replace(SUM, lambda x: sp.exp(-(n - 1) * x) * SUM(-x))
    return _gram_flow(_in_powers(mirrored.replace(SUM, M).subs(q, p), -1))


# du/dt = (du/dp) dp/dt = (-+u)(-dL/dp) and dL/dp = (-+u) dL/du.
def _gram_flow(loss: sp.Expr) -> Flow:
    return Flow((u, g), (-(u**2) * sp.diff(loss, u), -sp.diff(loss, g)))


def _in_powers(loss: sp.Expr, sign: int) -> sp.Expr:
    """The loss with u^(sign c) for e^(c p)."""
    return loss.replace(lambda e: isinstance(e, sp.exp), lambda e: u ** sp.expand(sign * e.args[0] / p))


# The points.


@dataclass(frozen=True)
class NamedFixedPoint:
    """A fixed point (or a curve of them), with `words` for where it is and `nearby` for what the linear part leaves."""

    name: str
    words: str
    point: FixedPoint
    nearby: str = ""
    slowed: bool = True  # its rates are per unit of tau = t / (L-2)

    @cached_property
    def inertia(self) -> Inertia:
        return self.point.inertia(CHART)

    @property
    def stability(self) -> Stability:
        return self.inertia.stability


@cache
def head_points() -> tuple[NamedFixedPoint, ...]:
    """Those of the induction head: three in (w, h), the first two on one curve each in (w_Q, w_K, h)."""
    saddle = {w: sp.Integer(0), h: h_star * psi(v_star)}
    curve = {w_Q: SHARE, w_K: v_star / SHARE, h: h_star}
    centre = {w_Q: sp.Integer(0), w_K: sp.Integer(0), h: h_star * psi(v_star)}
    along = "the direction of the zero eigenvalue is tangent to the curve of minimisers, along which the flow rests"
    return (
        NamedFixedPoint("minimiser", "`(w, h) = (w*, h*)`", FixedPoint(HEAD, {w: W_STAR, h: h_star})),
        NamedFixedPoint("mirror", "`(w, h) = (-w*, h*)`", FixedPoint(HEAD, {w: -W_STAR, h: h_star})),
        NamedFixedPoint("saddle", "`(w, h) = (0, h* psi(v*))`", FixedPoint(HEAD, saddle)),
        NamedFixedPoint(
            "curve", "`(w_Q, w_K, h) = (c, v*/c, h*)` for every `c` other than 0", FixedPoint(HEAD_FULL, curve), along
        ),
        NamedFixedPoint("full_saddle", "`(w_Q, w_K, h) = (0, 0, h* psi(v*))`", FixedPoint(HEAD_FULL, centre)),
    )


def positive_points() -> tuple[NamedFixedPoint, ...]:
    """Those of the induction head in (w, h) with w > 0."""
    return tuple(each for each in plane_points() if each.point.at[w].is_positive)


def plane_points() -> tuple[NamedFixedPoint, ...]:
    """Those of the induction head in (w, h)."""
    return tuple(each for each in head_points() if each.point.flow is HEAD)


@cache
def gram_points() -> tuple[NamedFixedPoint, ...]:
    """Those of the 4-gram head, both at the ends of p."""
    end, start = map(regular, _gram_flows())
    return (
        NamedFixedPoint(
            "gram_end", "`(e^-p, g) = (0, g*)`", FixedPoint(end, {u: sp.Integer(0), g: g_star}), _slowly(), False
        ),
        NamedFixedPoint(
            "gram_start",
            "`(e^p, g) = (0, 0)`",
            FixedPoint(start, {u: sp.Integer(0), g: sp.Integer(0)}),
            "repels along `g = g* M(p)/M(2p)`, where `dp/dt > 0` at every `p`",
            False,
        ),
    )


def _gram_flows() -> tuple[Flow, Flow]:
    return gram_flow_at_end(), gram_flow_at_start()


@cache
def regular(flow: Flow) -> Flow:
    """The same for L = 5 + N, N >= 0, with the powers of u collected, so that u = 0 can be put in."""
    return Flow(flow.state, tuple(sp.powsimp(rate.subs(L, 5 + _beyond)) for rate in flow.field))


# On the nullcline of g, g = g* M(p)/M(2p), which the centre manifold of (0, g*) follows to this order.
@cache
def slow_rate() -> sp.Expr:
    """The limit of (du/dt) / u^3 at u = 0 on the nullcline of g."""
    flow = regular(gram_flow_at_end())
    slaved = sp.solve(flow.rate(g), g)[0]
    return sp.simplify(sp.cancel(flow.rate(u).subs(g, slaved) / u**3).subs(u, 0))


def _slowly() -> str:
    return f"attracts along the centre manifold: `du/dt = {sp.sstr(slow_rate())} u^3 + ...` for `u = e^-p`"


# Why there are no others: each argument raises if one of its steps does not hold.


@cache
def head_is_complete() -> str:
    """The argument that `head_points` are all, for |w_Q w_K| < 1/2 (where the loss is finite)."""
    pull = h * h_star * phi(v + v_star) - h**2 * phi(2 * v)
    product = {v: w_Q * w_K}
    # dw_Q = w_K * pull, dw_K = w_Q * pull: either the pull is 0 or w_Q = w_K = 0.
    _require_zero(HEAD_FULL.rate(w_Q) - (w_K * pull).subs(product), "the rate of w_Q")
    _require_zero(HEAD_FULL.rate(w_K) - (w_Q * pull).subs(product), "the rate of w_K")
    # dh = 0 gives one h for each v, and it is positive.
    slaved = h_star * psi(v + v_star) / psi(2 * v)
    _require_zero(HEAD_FULL.rate(h).subs(h, slaved.subs(product)), "the rate of h")
    # There the pull is a positive factor times ratio(v + v*) - ratio(2 v), ratio = phi / psi, which increases: so
    # v + v* = 2 v, v = v*, h = h*. In (w, h) that is w = w* or w = -w*.
    x = sp.Symbol("x", real=True)
    ratio = sp.simplify(phi(x) / psi(x))
    factor = slaved * h_star * psi(v + v_star)
    _require_zero(pull.subs(h, slaved) - factor * (ratio.subs(x, v + v_star) - ratio.subs(x, 2 * v)), "the pull")
    require_increasing(ratio, x, {x: (_ratio - 1) / (_ratio + 1)})
    return (
        "`dw_Q/dt = w_K B`, `dw_K/dt = w_Q B`; `B = 0` and `dh/dt = 0` give `phi/psi(v + v*) = phi/psi(2v)`, and "
        f"`phi/psi = {sp.sstr(ratio)}` increases strictly on `(-1, 1)`, so `v = v*`, `h = h*`; otherwise `w_Q = w_K = "
        "0`, `h = h* psi(v*)`"
    )


@cache
def sign_is_kept() -> str:
    """The argument that w > 0 stays so: the flow is smooth, and the line w = 0 is invariant."""
    _require_zero(HEAD.rate(w).subs(w, 0), "the rate of w at w = 0")
    return "`dw/dt = 0` at `w = 0`, so that the flow from `w > 0` keeps `w > 0`"


@cache
def gram_is_complete() -> str:
    """The argument that `gram_points` are all, for every real p and L >= 4."""
    # dg/dt = (g* - g M(2p)/M(p)) / M(p) is 0 at one g > 0 for each p. Whatever the function M is, dp/dt is
    # -g^2 (d M(2p) / dp) / (2 M(p)^2) there, and M(2p), a sum of e^{-2pk}, falls strictly: no p has dp/dt = 0.
    loss, slaved = gram_loss_of_sum(), g_star * SUM(p) / SUM(2 * p)
    _require_zero(derive_gram() - loss.replace(SUM, M), "the loss")
    _require_zero(sp.diff(loss, g).subs(g, slaved), "the rate of g")
    claimed = -(g**2) * sp.diff(SUM(2 * p), p) / (2 * SUM(p) ** 2)
    _require_zero((-sp.diff(loss, p) - claimed).subs(g, slaved).doit(), "the rate of p")
    # What is left are the ends: at u = e^-p = 0, dg/dt = g* - g; at e^p = 0, dg/dt = -g.
    for flow, rate in zip(_gram_flows(), (g_star - g, -g), strict=True):
        _require_zero(regular(flow).rate(g).subs(u, 0) - rate, "the rate of g at an end")
    return (
        "`dg/dt = 0` gives `g = g* M(p)/M(2p)`, where `dp/dt = -g^2 (d M(2p)/dp) / (2 M(p)^2) > 0`, as `M` falls "
        "strictly; at `p = +oo` `dg/dt = g* - g`, at `p = -oo` `dg/dt = -g`"
    )


@cache
def minimiser_is_global() -> str:
    """The loss is half a mean of squares, so >= 0, and it is 0 at the stated point."""
    _require_zero(derive_head(AS_NEEDED).subs({v: v_star, h: h_star}), "the loss of the induction head")
    gram = _in_powers(derive_gram(), -1).subs(L, 5 + _beyond)
    _require_zero(gram.subs({u: 0, g: g_star}), "the loss of the 4-gram head")
    return "the losses are halves of mean squares, and both are 0 there"


@cache
def rate_as_printed() -> sp.Expr:
    """dg/dt at the stated point (u, g) = (0, g*) when the sums end at s = L-2, as (10) prints them."""
    return sp.simplify(regular(gram_flow_at_end(AS_PRINTED)).rate(g).subs({u: 0, g: g_star}))


def _require_zero(expression: sp.Expr, what: str) -> None:
    left = sp.simplify(expression)
    if left != 0:
        raise DerivationError(f"fixed points: {what} is off by {sp.sstr(left)}")


# What is claimed.

_SECTION = Citation(WANG2024, "Section 5.2", "after Lemma 5.4")
_FLOW, _FULL = "gradient flow of (19) + (22), `w_Q = w_K = w`", "gradient flow of (22) in `(w_Q, w_K, h)`"


_ZERO = Printed(sp.Integer(0), _SECTION)
_quantity = partial(Quantity, kind=Kind.EXACT, quantifier=Quantifier.FOR_ALL, scopes=(), obtained=Provenance.ALGEBRA)


def _eigenvalue(name: str, where: str, domain: str) -> Quantity:
    meaning = f"largest eigenvalue of the linear part at {where}, derived against that of a numeric Jacobian"
    return _quantity(f"eigenvalue.{name}", r"\max_i \lambda_i", meaning, "per unit of `t`", domain)


EIGENVALUES = {
    "minimiser": _eigenvalue("minimiser", "`(w, h) = (w*, h*)`", _FLOW),
    "mirror": _eigenvalue("mirror", "`(w, h) = (-w*, h*)`", _FLOW),
    "saddle": _eigenvalue("saddle", "`(w, h) = (0, h* psi(v*))`", _FLOW),
    "curve": _eigenvalue("curve", "`(w_Q, w_K, h) = (2 w*, w*/2, h*)`", _FULL),
    "full_saddle": _eigenvalue("full_saddle", "`(w_Q, w_K, h) = (0, 0, h* psi(v*))`", _FULL),
    "gram_end": _eigenvalue("gram_end", "`(e^-p, g) = (0, g*)`", "gradient flow of (19), `p` up to `+oo`"),
    "gram_start": _eigenvalue("gram_start", "`(e^p, g) = (0, 0)`", "gradient flow of (19), `p` down to `-oo`"),
}


def _spectrum(points: Callable[[], tuple[NamedFixedPoint, ...]], place: int, coordinates: str, where: str) -> Formula:
    def per_time() -> sp.Tuple:
        found = points()[place]
        unit = L - 2 if found.slowed else sp.Integer(1)
        return sp.Tuple(*(sp.simplify(each) / unit for each in found.point.eigenvalues))

    return Formula(rf"\lambda({coordinates})", per_time, f"eigenvalues at {where}, per unit of `t`")


FORMULAS = (
    Formula(
        r"(L-2)\,J(w^\star, h^\star)",
        lambda: head_points()[0].point.linear,
        "linear part at the minimiser `(w, h) = (w*, h*)`; both eigenvalues are negative",
    ),
    _spectrum(head_points, 2, r"0, h^\star \psi(v^\star)", "the saddle `(w, h) = (0, h* psi(v*))`"),
    _spectrum(gram_points, 0, r"e^{-p} = 0, g^\star", "the minimiser `(e^-p, g) = (0, g*)`"),
    _spectrum(gram_points, 1, r"e^{p} = 0, 0", "the other end `(e^p, g) = (0, 0)`"),
    Formula(r"\dot u", lambda: slow_rate() * u**3, "`u = e^-p` along the centre manifold of `(0, g*)`", Kind.RATE),
)

FIXED_POINT = Result(
    id="induction.fixed_point",
    title="The fixed points of training stage II",
    citation=_SECTION,
    claim=r"w_{V_1} = g^\star,\ w_{V_2} = h^\star,\ p = +\infty,\ w_{KQ} = w^\star \text{ is the unique fixed point}",
    parameters=tuple(PARAMETERS[name] for name in ("L", "alpha", "w_star")),
    hypotheses=tuple(each for each in HYPOTHESES if each.parameter != "sigma_init"),
    objects=objects.FIXED_POINT,
    quantities=(
        _quantity(
            "stated",
            r"|\dot\theta|",
            "speed of the flow at the stated point `(g*, h*, +oo, w*)`",
            "sup norm, in `(e^-p, g, w, h)`",
            _FLOW,
            printed=_ZERO,
        ),
        _quantity(
            "stated.as_printed",
            r"\dot g",
            "rate of `g` at the stated point when the sums of the network end at `s = L-2`, as (10) prints them",
            "per unit of `t`",
            "gradient flow of (11) for the network (10), at `y_s = x_{s-1}`",
            printed=_ZERO,
            erratum=UPPER_END,
            derive=lambda: rate_as_printed().subs(OPTIMA),
        ),
        _quantity(
            "unique",
            r"\#\{\theta : \dot\theta = 0,\ p = +\infty,\ 0 < w < 2^{-1/2}\}",
            "number of fixed points with `p = +oo` and `0 < w < 2^(-1/2)`",
            "a count",
            "gradient flow of (19) + (22), `w_Q = w_K = w > 0`, as from (12)",
            printed=Printed(sp.Integer(1), _SECTION),
        ),
        _quantity(
            "plane",
            r"\#\{\theta : \dot\theta = 0\}",
            "number of fixed points with `p = +oo` and `|w| < 2^(-1/2)`, whatever the sign of `w`",
            "a count",
            _FLOW,
            remark="beside it a saddle at `w = 0`, which attracts on `w = 0` only, and the mirror image at `w = -w*`",
        ),
        _quantity(
            "minimiser",
            r"\mathcal{L}(\theta) - \inf \mathcal{L}",
            "loss at the stated point above its infimum",
            "loss (19) + (22)",
            _FLOW,
            printed=_ZERO,
            obtained=Provenance.HAND,
        ),
        *EIGENVALUES.values(),
    ),
    notation=NOTATION,
    formulas=FORMULAS,
    remarks=(
        "In `(w_Q, w_K, h)` the minimisers are the curve `w_Q w_K = w*^2`, `h = h*`; Lemma 5.4 picks `w_Q = w_K`.",
        "At `p = +oo` the linear part has an eigenvalue 0: `e^-p` falls like `t^(-1/2)`, whatever `alpha*` is.",
    ),
)
