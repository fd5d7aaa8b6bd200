"""How the two heads of section 5 are trained (wang2024): letters, losses (19) and (22), and their gradient flows.

The letters are those of Appendix C: the 4-gram head has p (relative position) and g (value), the induction head w_Q,
w_K (or w, where both are equal) and h (value). n = L - 2 is the number of terms of M(p); u = e^-p.
"""

from typing import Any, NamedTuple

import sympy as sp

from symbolic.dynamics import Flow, gradient_flow
from symbolic.words.errors import UsageError

L = sp.Symbol("L", integer=True, positive=True)
alpha = sp.Symbol("alpha", positive=True)  # alpha*, the weight of the 4-gram part
w_star = sp.Symbol("w_star", positive=True)
sigma_init = sp.Symbol("sigma_init", positive=True)
t = sp.Symbol("t", nonnegative=True)

p, g = sp.symbols("p g", positive=True)
w, h = sp.symbols("w h", positive=True)
w_Q, w_K = sp.symbols("w_Q w_K", positive=True)
u = sp.Symbol("u", positive=True)  # e^-p
v = sp.Symbol("v", positive=True)  # w^2
g_star, h_star, v_star = sp.symbols("g_star h_star v_star", positive=True)

LEARNT, KEPT = sp.Rational(1, 100), sp.Rational(99, 100)  # the shares of a loss in Theorem 5.5
OPTIMA = {g_star: alpha / (1 + alpha), h_star: 1 / (1 + alpha), v_star: w_star**2}
NOTATION = {
    alpha: r"\alpha^\star",
    w_star: r"w^\star",
    sigma_init: r"\sigma_{\rm init}",
    g_star: r"g^\star",
    h_star: r"h^\star",
    v_star: r"v^\star",
}


def M(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    """The sum of e^-pk over k = 0 .. n-1 (Appendix C.1), in closed form."""
    return (1 - sp.exp(-p * n)) / (1 - sp.exp(-p))


def m(p: sp.Expr, n: sp.Expr = L - 2) -> sp.Expr:
    """-M'(p), the sum of k e^-pk (Appendix C.1), as the calculus gives it."""
    x = sp.Dummy("x")
    return -sp.diff(M(x, n), x).subs(x, p)


def psi(x: sp.Expr) -> sp.Expr:
    """E[exp(x X Y) Z^2] of independent standard normal X, Y, Z, for |x| < 1 (Lemma D.3)."""
    return (1 - x**2) ** sp.Rational(-1, 2)


def phi(x: sp.Expr) -> sp.Expr:
    """psi'(x)."""
    y = sp.Dummy("y")
    return sp.diff(psi(y), y).subs(y, x)


# (19), with g* for alpha*/(1 + alpha*).
LOSS_GRAM = g_star**2 / 2 + g**2 * M(2 * p) / (2 * M(p) ** 2) - g_star * g / M(p)
# (22), with h* for 1/(1 + alpha*), v = w^2 and v* = w*^2.
LOSS_HEAD = (h_star**2 * psi(2 * v_star) / 2 + h**2 * psi(2 * v) / 2 - h_star * h * psi(v + v_star)) / (L - 2)

GRAM_FLOW = gradient_flow(LOSS_GRAM, (p, g))
# The paper's flow: the gradient flow of (22) in (w, h), as if w = w_Q = w_K were one parameter.
HEAD_FLOW_PRINTED = gradient_flow(LOSS_HEAD.subs(v, w**2), (w, h))
# The flow (12) of the parameters there are: (22) depends on w_Q w_K, so that on w_Q = w_K = w (Lemma 5.4) the rate of w
# is half of the above.
HEAD_FLOW_FULL = gradient_flow(LOSS_HEAD.subs(v, w_Q * w_K), (w_Q, w_K, h))
HEAD_FLOW = HEAD_FLOW_FULL.restricted({w_K: w_Q}).changed({w: w_Q, h: h}, {w_Q: w, h: h})


class HeadFlow(NamedTuple):
    """A flow of the induction head in (w, h); `speed` times the rate of w in (12) is its rate of w."""

    flow: Flow
    speed: int


FLOWS = {"true": HeadFlow(HEAD_FLOW, 1), "printed": HeadFlow(HEAD_FLOW_PRINTED, 2)}


def check_flow(name: Any, caller: str) -> None:
    """Raises UsageError unless there is a flow of that name."""
    if name not in tuple(FLOWS):
        raise UsageError(f"{caller}: flow = {name!r} is not known; choose one of {', '.join(FLOWS)}.")
