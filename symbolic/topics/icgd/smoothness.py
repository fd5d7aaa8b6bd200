"""How smooth the empirical risk is: the Lipschitz constant L_f of w -> grad L_n(w) on the domain W, 2-norms (wu2024).

Two points w, w_hat of W; V_j moves by Delta_j and sum_j ||Delta_j||^2 = ||w_hat - w||^2. Every error below is per unit
of ||w_hat - w||, so that the norm of the blocks' errors is 2 L_f. The perturbation is shared out over the layers by
Cauchy-Schwarz wherever two errors come from different layers. The rules are applied to one layer; what they give is run
as recursions over the layers, with what is known of each (`layer_norms`).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    Norm,
    add,
    bilinear,
    given,
    linear_map,
    perturbed_function,
    perturbed_map,
    pooled_sum,
)
from symbolic.calculus.layers import recursion_from
from symbolic.calculus.numbers import evaluate, root
from symbolic.derivations.derivation import Approximated
from symbolic.topics.icgd.symbols import K, L_l, P, b_r1, nu, rho

b_r2 = sp.Symbol("b_r2", nonnegative=True)  # sup of |r''| over [-R, R], a Lipschitz constant of r' there

# Of one layer: the errors of p(j-1) and of s(j+1), and the size of the latter.
_MOVED, _CHANGED = sp.Dummy("c", nonnegative=True), sp.Dummy("f", nonnegative=True)
_S = sp.Symbol("S", nonnegative=True)
_BELOW = given("p[j-1]", dim=K, norm=Norm.TWO, size=P, error=_MOVED)
_ABOVE = given("s[j+1]", dim=K, norm=Norm.TWO, size=_S, error=_CHANGED)


def _moved(x: Approximated, name: str, norm: sp.Expr, **how: Any) -> Approximated:
    """V x where V moves by at most 1, its norm being at most `norm` before and after."""
    return perturbed_map(x, name, operator_norm=norm, perturbed_norm=norm, perturbation=1, dim=K, **how)


# p_hat(j) - p(j) = r(V_hat p_hat(j-1)) - r(V p(j-1)), and p(j-1) does not depend on V_j: the two errors are pooled.
def _forward_layer() -> Approximated:
    z = _moved(_BELOW, "z[j]", rho, pooled=True, reason="`z[j] = V[j] p[j-1]`: `V` moves, and so does `p`")
    return perturbed_function(z, "p[j]", lipschitz=b_r1, size=P, reason="`|r'| <= b_r1` on `[-R, R]`")


@cache
def _forward() -> LinearRecursion:
    """The errors of p(1), p(2), ..."""
    return recursion_from(_BELOW, _forward_layer(), pooled=True)


# r' is compared in the sup norm, where the rows of V_j count: |z_hat - z| <= nu ||p_hat - p|| + ||Delta_j|| ||p||.
def _slopes() -> Approximated:
    """r'(z(j)) in the sup norm."""
    z = _moved(_BELOW, "z[j], rows", nu, target=Norm.INF, pooled=True)
    return perturbed_function(z, "r'[j]", lipschitz=b_r2, size=b_r1, reason="`|r''| <= b_r2` on `[-R, R]`")


# s_hat(j) - s(j) = r'(z_hat) * V_hat^T (s_hat(j+1) - s(j+1)) + r'(z_hat) * Delta^T s(j+1) + (r'(z_hat) - r'(z)) * q,
# q = V_{j+1}^T s(j+1). The second comes from Delta_{j+1} alone, the third from Delta_1 .. Delta_j: they are pooled.
@cache
def _backward() -> LinearRecursion:
    """The errors of s(N), s(N-1), ...; rho is the norm of V_{j+1}, and other norms are those of layer j."""
    exact = given("s[j+1], exact", dim=K, norm=Norm.TWO, size=_S)
    moved = _moved(exact, "Delta^T s[j+1]", rho, reason="`Delta_(j+1)^T s(j+1)`")
    moved = linear_map(moved, "r' Delta^T s[j+1]", operator_norm=b_r1, dim=K, reason="`|r'| <= b_r1`")
    carried = linear_map(_ABOVE, "V^T s[j+1]", operator_norm=rho, dim=K)
    carried = linear_map(carried, "r' V^T s[j+1]", operator_norm=b_r1, dim=K, reason="`|r'| <= b_r1`")
    q = given("q[j], exact", dim=K, norm=Norm.TWO, size=rho * _S)
    turned = bilinear(q, _slopes(), "dr' q[j]", reason="`||dr' * q|| <= ||dr'||_inf ||q||`")
    return recursion_from(_ABOVE, add(carried, pooled_sum(moved, turned, name="here[j]"), name="s[j]"))


# s_hat(N) - s(N) = r'(z_hat) * (u_hat - u) + (r'(z_hat) - r'(z)) * u, and |u_hat - u| <= L_l |p_hat(N) - p(N)|.
@cache
def _top() -> sp.Expr:
    """The error of s(N), where j = N and S bounds ||u||_2."""
    u = perturbed_function(_forward_layer(), "g", lipschitz=L_l, size=_S, reason="`u` is `L_l`-Lipschitz in `t`")
    carried = linear_map(u, "r' g", operator_norm=b_r1, dim=K, reason="`|r'| <= b_r1`")
    exact = given("g, exact", dim=K, norm=Norm.TWO, size=_S)
    turned = bilinear(exact, _slopes(), "dr' g", reason="`||dr' * g|| <= ||dr'||_inf ||g||`")
    return add(carried, turned, name="s[N]").error


# A_hat(j) - A(j) = s_hat p_hat^T - s p^T = (s_hat - s) p_hat^T + s (p_hat - p)^T, and w_hat lies in W too.
@cache
def _block() -> sp.Expr:
    """The error of A(j), from those of p(j-1) and of s(j) in the place of s(j+1), of size S."""
    return bilinear(_BELOW, _ABOVE, "A[j]", dim=K**2, approximate_size=P, reason="`ds p_hat^T + s dp^T`").error


def layer_norms(spectral: Any, row: Any, argument: Any, slope: Any, curvature: Any) -> dict[sp.Symbol, Any]:
    """What is known of layer j: ||V_j||, its largest row norm, ||p(j-1)||, sup |r'| and sup |r''| on its arguments."""
    return {rho: spectral, nu: row, P: argument, b_r1: slope, b_r2: curvature}


def moved_by(layer: Mapping[sp.Symbol, Any], below: Any, *, sqrt: Any = root) -> Any:
    """The error of p(j) per unit of a perturbation, from that of p(j-1), as numbers of any kind."""
    return _forward().run_at([layer], below, sqrt=sqrt)[-1]


def run_smoothness(layers: Sequence[Mapping[sp.Symbol, Any]], loss: Any, loss_slope: Any, *, sqrt: Any = root) -> Any:
    """L_f of one network and all its points near by: numbers of any kind (floats, tensors, balls), with their root.

    `layers` are `layer_norms` that hold at both points that are compared; `loss` bounds ||u||_2, `loss_slope` is L_l.
    """
    moved = _forward().run_at(layers, 0 * loss, sqrt=sqrt)
    of = [{**values, _MOVED: below} for values, below in zip(layers, moved, strict=False)]
    top = evaluate(_top(), {**of[-1], _S: loss, L_l: loss_slope}, sqrt=sqrt)
    down = [{**here, rho: above[rho]} for here, above in zip(of[-2::-1], of[:0:-1], strict=True)]
    sizes = LinearRecursion(sp.Integer(0), b_r1 * rho, sp.Integer(0)).run_at(down, of[-1][b_r1] * loss)
    down = [{**values, _S: above} for values, above in zip(down, sizes, strict=False)]
    signals = _backward().run_at(down, top, sqrt=sqrt)
    blocks = (
        evaluate(_block(), {**values, _S: size, _CHANGED: change})
        for values, size, change in zip(of[::-1], sizes, signals, strict=True)
    )
    return sqrt(sum(each * each for each in blocks)) / 2
