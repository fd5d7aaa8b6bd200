"""The decay of G = (u^2 + v^2)/2 for the 4-gram head (wang2024, Appendix C.1 Part II).

Letters: u = e^-p, v = u g* + g* - g, n = L - 2. All lengths at once: s = u^(L-5) is a coordinate of its own, in
(0, 10^-4] by the paper's condition, and so is q = n s (1 - u). Then u^n = u^3 s, and nothing else depends on L.
"""

from functools import cache
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.inequalities import Form, Inequality, written_out
from symbolic.dynamics import Flow
from symbolic.dynamics.lyapunov import Decay
from symbolic.topics.induction.training import GRAM_FLOW, L, g, g_star, p, u
from symbolic.words.citations import WANG2024, Citation

gamma = sp.Symbol("gamma", positive=True)  # g / g*
s = sp.Symbol("s", nonnegative=True)  # u^(L-5)
q = sp.Symbol("q", nonnegative=True)  # (L-2) u^(L-5) (1-u)
xi = sp.symbols("xi_1:6", real=True)  # the xi_i of the paper
v = g_star * (1 + u) - g

PRINTED_CONSTANT = sp.Rational(1, 65)
CITATION = Citation(WANG2024, "Appendix C.1", "Part II")
SMALL = sp.Rational(1, 10_000)  # the paper's bound on u^(L-5) and on |xi_i|
RANGE_OF_S = (sp.Integer(0), SMALL)
# n (1-u) = 3 (1-u) + (1-u) log(s)/log(u) <= 3 + log(1/s), because 1 - u <= -log u; and s (3 + log(1/s)) grows up to
# s = e^2. At s = 10^-4 it is 10^-4 (3 + 4 log 10) < 0.001222 (log 10 < 2.3026).
RANGE_OF_Q = (sp.Integer(0), SMALL * (3 + 4 * sp.Rational(23026, 10_000)))
BECAUSE = {
    s: "`u^(L-5)`, at most `10^-4` by the condition of Appendix C.1",
    q: "`(L-2) u^(L-5) (1-u) <= s (3 + log(1/s))`, since `1 - u <= -log u`; it grows in `s`",
}


def gram_decay() -> Decay:
    """G = (u^2 + v^2)/2 along the gradient flow of (19), with the exact M and m; the scale is g*^2, the power 2."""
    flow = GRAM_FLOW.changed({u: sp.exp(-p), g: g}, {p: -sp.log(u), g: g})
    return Decay(flow, (u**2 + v**2) / 2, scale=g_star**2, power=2)


# With N_1 = 1 - n u^(n-1) + (n-1) u^n, N_2 the same of u^2, z = u^n:
#   m/M^2 = u N_1/(1-z)^2,  m(2p)/m(p) = u N_2/((1+u)^2 N_1),  1/M = (1-u)/(1-z),
#   g* - g M(2p)/M = (v - z g)/(1+u) = (v - u^3 s g)/(1+u).
# Hence du/dt = -k u^2 g E and dv/dt = g* du/dt - kappa (v - z g), where k = N_1/(1-z)^2,
#   E = v/(1+u) + u g sigma,  sigma = N_2/((1+u)^2 N_1) - u^2 s/(1+u),  kappa = (1-u)/((1-z)(1+u)).
# Everything is regular on 0 <= u <= 1, also where u -> 1.
_Z = u**3 * s
_N1 = 1 - q * u**2 - s * u**3
_N2 = 1 - s * q * (1 + u) * u**4 - s**2 * u**6
_K = _N1 / (1 - _Z) ** 2
_SIGMA = _N2 / ((1 + u) ** 2 * _N1) - u**2 * s / (1 + u)
_KAPPA = (1 - u) / ((1 - _Z) * (1 + u))


def _form(k: sp.Expr, sigma: sp.Expr, kappa: sp.Expr, constant: sp.Expr, g: sp.Expr, v: sp.Expr) -> Form:
    """-dG/dt - c g*^2 G^2 as a quadratic form in (u^2, v), for du/dt = -k u^2 g E and the rest as above.

    -dG/dt = k u^2 g E (u + g* v) + kappa v (v - u^3 s g), and G^2 = u^4/4 + (u^2/2 + v^2/4) v^2.
    """
    first = k * g**2 * sigma - constant * g_star**2 / 4
    mixed = u * (k * g / (1 + u) + k * g**2 * g_star * sigma - kappa * s * g)
    second = kappa + k * u**2 * g * g_star / (1 + u) - constant * g_star**2 * (u**2 / 2 + v**2 / 4)
    return (u**2, v), ((first, mixed / 2), (mixed / 2, second))


def in_tail_coordinates(expression: sp.Expr) -> sp.Expr:
    """An expression in u and L with u^(L-2) = u^3 s and L - 2 = q/(s (1-u)), as a rational function."""
    n = sp.Symbol("n", positive=True)
    powers = sp.simplify(expression.subs(L, n + 2))  # exp(n log u) becomes u^n
    found = powers.subs(u**n, u**3 * s).subs(n, q / (s * (1 - u)))
    if found.has(n) or not found.is_rational_function(u, g, g_star, s, q):
        raise DerivationError("lyapunov_gram: the flow depends on L otherwise than by u^(L-2) and L - 2")
    return sp.cancel(sp.together(found))


@cache
def exact_flow() -> Flow:
    """The flow in (u, g), with u^(L-5) and L - 2 replaced: derived, and checked against the regular form above."""
    derived = gram_decay().flow
    field = tuple(in_tail_coordinates(rate) for rate in derived.field)
    E = v / (1 + u) + u * g * _SIGMA
    regular = (-_K * u**2 * g * E, _KAPPA * (v - _Z * g))
    if any(sp.cancel(sp.together(a - b)) != 0 for a, b in zip(field, regular, strict=True)):
        raise DerivationError("lyapunov_gram: the regular form is not the derived flow")
    return Flow(derived.state, regular)


# The paper's flow in u and v (Part II), its error functions xi_i as free numbers. In it 1/M is (1 + xi_3)/(1-u), where
# the sum gives (1-u)/(1-u^n): the last term of dv/dt is too large by (1-u)^-2.
def perturbed_form(constant: sp.Expr, factor: sp.Expr) -> Form:
    """-dG/dt - c g*^2 G^2 for the paper's flow, times `factor`."""
    k = (1 + xi[0]) / (1 + xi[1])
    sigma = (1 + xi[3]) / ((1 + u) ** 2 * (1 + xi[4])) - u**2 * s / (1 + u)
    kappa = sp.cancel((1 + xi[2]) * factor / (1 - u**2))
    return _form(k * factor, sigma, kappa, constant * factor, gamma * g_star, _V)


_V = g_star * (1 + u - gamma)
REGION = {u: (0, 1), gamma: (1, 2), g_star: (sp.Rational(1, 2), 1), s: RANGE_OF_S, q: RANGE_OF_Q}

# Before g reaches g*, d p/d t = (m g/M^2)(B + g m(2p)/m) and dg/dt = B/M with the same bracket B > 0, so that
# dp/dg >= g m/M = g (1 - eta) / (e^p - 1), eta = n (1-u) u^(n-1)/(1-u^n) <= 0.00123 by the ranges above. Integrated,
# e^p - 1 - p at T_1^g is at least (1 - eta)(g*^2 - sigma_init^2)/2, which is >= 0.98 g*^2/2 for sigma_init <= g*/8.
# p only grows afterwards (the paper's argument), so that the flow stays where
REACHED = 1 / u - 1 + sp.log(u) - sp.Rational(49, 100) * g_star**2
REACHED_U = {u: (0, sp.Rational(7, 10))}  # at u = 7/10 it is negative for every g* >= 1/2


def decay_inequality(constant: sp.Expr) -> Inequality:
    """dG/dt <= -c g*^2 G^2 for the exact flow, for all L at once, on all of 0 < u < 1."""
    return _inequality("decay", constant, _exact_form(constant), REGION)


def reached_inequality(constant: sp.Expr) -> Inequality:
    """The same where the flow gets."""
    return _inequality("decay.reached", constant, _exact_form(constant), {**REGION, **REACHED_U}, (REACHED,))


def _exact_form(constant: sp.Expr) -> Form:
    exact_flow()  # raises unless the form's ingredients are the derived flow's
    return _form(_K, _SIGMA, _KAPPA, sp.Rational(constant), gamma * g_star, _V)


def perturbed_inequality(constant: sp.Expr) -> Inequality:
    """The same for the paper's flow with |xi_i| <= 10^-4, where the flow gets; times 1 - u^2."""
    box = {key: REGION[key] for key in (u, gamma, g_star, s)} | dict.fromkeys(xi, (-SMALL, SMALL))
    form = perturbed_form(sp.Rational(constant), 1 - u**2)
    return _inequality("decay.perturbed", constant, form, {**box, **REACHED_U}, (REACHED,))


def _inequality(
    name: str, constant: sp.Expr, form: Form, box: dict[sp.Symbol, tuple[Any, Any]], where: tuple[sp.Expr, ...] = ()
) -> Inequality:
    return Inequality(
        f"{name} (c = {sp.Rational(constant)})",
        written_out(form),
        box,
        where=where,
        form=form,
        meaning="`-dG/dt - c g*^2 G^2 >= 0` for `G = (u^2 + v^2)/2`",
        because={symbol: reason for symbol, reason in BECAUSE.items() if symbol in box},
    )


def largest_constant(inequality: Inequality, constant: sp.Expr) -> sp.Expr:
    """-dG/dt / (g*^2 G^2), from the inequality of that constant: its infimum is the largest constant there is."""
    candidate = (u**2 + _V**2) / 2
    factor = 1 - u**2 if inequality.name.startswith("decay.perturbed") else sp.Integer(1)
    return inequality.expression / (factor * g_star**2 * candidate**2) + constant
