"""The flows of section 5 (wang2024) in the paper's own letters: M, m = -M', psi and phi = psi' stay what they are.

`training` has their closed forms, which the calculus needs.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import sympy as sp

from symbolic.dynamics import Flow, gradient_flow
from symbolic.topics.induction.fixed_point import SUM, gram_loss_of_sum
from symbolic.topics.induction.training import LOSS_HEAD, L, g, h, p, v, w, w_K, w_Q


class M(sp.Function):
    """M(p) = 1 + e^-p + ... + e^(-p (L-3)), of which -m is the derivative."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return -m(self.args[0])


class m(sp.Function):  # noqa: N801 - SymPy prints the class's name, the paper's letter
    """The sum of k e^-pk over k = 0 .. L-3."""


class psi(sp.Function):  # noqa: N801 - SymPy prints the class's name, the paper's letter
    """psi(x) = (1 - x^2)^(-1/2), of which phi is the derivative."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return phi(self.args[0])


class phi(sp.Function):  # noqa: N801 - SymPy prints the class's name, the paper's letter
    """phi(x) = x (1 - x^2)^(-3/2)."""


def _is_root(expression: sp.Basic) -> bool:
    return bool(expression.is_Pow and expression.exp == sp.Rational(-1, 2))


@cache
def head_loss() -> Any:
    """(L-2) times (22), its (1 - x^2)^(-1/2) written as psi(x)."""
    return sp.expand(LOSS_HEAD * (L - 2)).replace(_is_root, lambda root: psi(sp.sqrt(sp.factor(1 - root.base))))


@cache
def gram_loss() -> sp.Expr:
    """(19) in M."""
    return gram_loss_of_sum().replace(SUM, M)


@cache
def gram_flow() -> Flow:
    """(p, g): the gradient flow of (19)."""
    return _collected(gradient_flow(gram_loss(), (p, g)))


@cache
def head_flow_full() -> Flow:
    """(w_Q, w_K, h) in tau = t/(L-2): the gradient flow (12) of (22)."""
    return _collected(gradient_flow(head_loss().subs(v, w_Q * w_K), (w_Q, w_K, h)))


@cache
def head_flow(name: str) -> Flow:
    """(w, h) in tau: w = w_Q = w_K on the flow "true" (12), or one parameter on the "printed" one."""
    if name == "printed":
        return _collected(gradient_flow(head_loss().subs(v, w**2), (w, h)))
    return head_flow_full().restricted({w_K: w_Q}).changed({w: w_Q, h: h}, {w_Q: w, h: h})


@cache
def head_flow_squared(name: str) -> Flow:
    """The same in (v, h), v = w^2."""
    return _collected(head_flow(name).changed({v: w**2, h: h}, {w: sp.sqrt(v), h: h}))


def rate_of(flow: Callable[[], Flow], coordinate: sp.Symbol) -> Callable[[], sp.Expr]:
    """What gives that rate when it is asked for."""
    return lambda: flow().rate(coordinate)


def _collected(flow: Flow) -> Flow:
    return Flow(flow.state, tuple(sp.factor_terms(rate) for rate in flow.field))
