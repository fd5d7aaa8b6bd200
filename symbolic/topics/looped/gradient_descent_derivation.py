"""Gradient descent in context (algoformer, Lemma A.2): T loops of softmax attention against T exact steps.

The state s = (r_1, ..., r_N, p) holds the residuals r_i = A_k Phi(x_i) - y_i and the prediction p = A_k Phi(x_test) of
one output. A step maps s to B s, B = I - eta G with G_ij = Phi(x_i)^T Phi(x_j) / N and a last column 0. The attention
weights do not depend on s, so that each loop applies the same B_hat = I - eta W, and rounds.
"""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import Norm, add, given, linear_map, repeat
from symbolic.calculus.head_knobs import HeadPair
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated, Derivation
from symbolic.derivations.obligations import Obligation

N, d, m, T, bits = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "d", "m", "T", "bits"))
L = sp.Symbol("L", integer=True, nonnegative=True)
eta, high, B_x, B_y, c, C, tau = sp.symbols("eta high B_x B_y c C tau", positive=True)
R, H, S, rho, delta = sp.symbols("R H S rho delta", positive=True)
a, q, E, F_r, F_p = sp.symbols("a q E F_r F_p", nonnegative=True)

unit, inner = 2**-bits, 2 ** -sp.Max(bits, 24)  # PyTorch adds half formats up in float32
keys = 2 * N + 1  # all tokens but the last


def pair(second: Second) -> HeadPair:
    """The two heads of a loop, whose scores over c are Phi(x_i)^T Phi(x_j) / N."""
    return HeadPair.of(second, keys=keys, size=B_x**2 / N, width=d, unit=unit, inner=inner)


# With Phi / sqrt(N) = U Sigma V^T the row of B^j for the prediction is (-h_j^T, 1), h_j = U f(Sigma) V^T Phi(x_test) /
# sqrt(N), f(s) = (1 - (1 - eta s^2)^j) / s. For 0 <= eta s^2 <= 2 the numerator is at most min(j eta s^2, 2), and so at
# most sqrt(2 j eta) s. Not sharp: f(s) = eta s for j = 1, which is less by the factor sqrt(eta s^2 / 2).
INFLUENCE = B_x * sp.sqrt(2 * T * eta / N)  # ||h_j||_2, j <= T
EXACT_STATE = R * sp.sqrt(1 + H**2)  # ||s_l||_2: ||r_l|| <= ||y|| = R, and p = h_l^T y

# Before the loop each token of a pair has the weight 1 / (2 + v), v <= 2 N e^(-2 tau): positions of +-1 differ in one
# place at least. Twice the mean misses y_i by |y_i| v / (2 + v) + 2 v B_y / (2 + v) at most. Rounded in the softmax,
# the product, the sum and as a token.
COPIED = 3 * N * sp.exp(-2 * tau) + 4 * unit  # times the largest of what is copied

# s_hat_T - s_T = B^T (s_hat_0 - s_0) + sum_l B^(T-1-l) (eta (G - W) s_hat_l + rounding_l). With s_l + (s_hat_l - s_l)
# for s_hat_l the sum is one of exact states, its residuals F_r in size and its prediction F_p, and a rest. Of the rest,
# ||B^j|| <= 1 in the residuals, ||W - G|| <= a there and ||e_p^T B^j (W - G)|| <= q for the prediction. A loop rounds
# each coordinate of W s_hat by rho sum_j |s_hat_j| at most (`HeadPair.rounding`), and s_hat by 5 units of ||s_hat||:
# eta/c, the product with it, and the new token, for steps no longer than 2 ||s_hat||.
ROUNDED_R = eta * sp.sqrt(N * (N + 1)) * rho + 5 * unit  # by a loop, over ||s_hat||
ROUNDED_P = eta * sp.sqrt(N + 1) * (1 + sp.sqrt(N) * H) * rho + 5 * unit * (1 + H)

# E >= ||s_hat_l - s_l||_2 of all loops: the largest is at most the error of the start in both parts and T times what a
# loop adds in both, a multiple of ||s_hat_l||, at most that of s_l and E. For a multiple below 1 it can be solved for.
GROWTH = T * (eta * (a + q) + ROUNDED_R + ROUNDED_P)
LARGEST_ERROR = (GROWTH * EXACT_STATE + (1 + H) * sp.sqrt(N) * B_y * COPIED) / (1 - GROWTH)


# |(W - G)_ij| <= delta, what truncation leaves of a weight; a norm of a matrix is at most that of its entries.
def worst() -> dict[sp.Symbol, sp.Expr]:
    """The letters that a prompt knows better, from the hypotheses."""
    found: dict[sp.Symbol, sp.Expr] = {R: sp.sqrt(N) * B_y, H: INFLUENCE}
    later = (
        (a, sp.sqrt(N * (N + 1)) * delta),
        (q, sp.sqrt(N + 1) * (1 + sp.sqrt(N) * H) * delta),
        (F_r, T * eta * a * EXACT_STATE),
        (F_p, T * eta * q * EXACT_STATE),
        (E, LARGEST_ERROR),
        (S, EXACT_STATE + E),
    )
    for letter, formula in later:
        found[letter] = formula.xreplace(found)
    return found


@cache
def derive_residuals() -> Approximated:
    """r_1, ..., r_N after T loops, in the 2-norm."""
    start = linear_map(
        _labels(), "without a loop", operator_norm=1, dim=N, reason="eigenvalues of `I - eta G` in `[-1, 1]`"
    )
    first = _given("first order in the residuals", N, Norm.TWO, F_r)
    followed = add(start, first, name="residuals to first order")
    return _looped("residuals", followed, N, eta * a * E + ROUNDED_R * S)


@cache
def derive_prediction() -> Approximated:
    """p after T loops, read by the last token."""
    start = linear_map(_labels(), "through the labels", operator_norm=H, dim=1, target=Norm.INF, reason="`p = h_T^T y`")
    first = _given("first order in the prediction", sp.S.One, Norm.INF, F_p)
    followed = add(start, first, name="prediction to first order")
    looped = _looped("looped", followed, sp.S.One, eta * q * E + ROUNDED_P * S)
    return add(looped, _given("reading", sp.S.One, Norm.INF, COPIED * S), name="prediction")


def _labels() -> Approximated:
    return given(
        "y", dim=N, norm=Norm.TWO, size=R, error=sp.sqrt(N) * B_y * COPIED, reason="heads that read a neighbour"
    )


def _given(name: str, dim: sp.Expr, norm: Norm, error: sp.Expr) -> Approximated:
    """What the network adds, whose exact value is 0."""
    return given(name, dim=dim, norm=norm, size=0, error=error)


def _looped(name: str, start: Approximated, dim: sp.Expr, error: sp.Expr) -> Approximated:
    loop = _given("second order and rounding", dim, start.norm, error)
    (step,) = loop.derivation.steps
    owed = Obligation("`T` loops add less to the error than the size of the state", sp.Lt(GROWTH, 1))
    loop = replace(loop, derivation=Derivation((replace(step, obligations=(*step.obligations, owed)),)))
    return repeat(start, name, lambda x: add(x, loop, name=f"after a loop of {name}"), T)
