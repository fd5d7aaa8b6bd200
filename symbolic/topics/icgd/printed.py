"""What Wu et al. print of Lemmas 2-6 and Theorem 1: each formula typed once, exactly as it stands, with its place.

Maxima over the layers j in [N] are written by their value at an end, so that depth stays symbolic:
- the sum of c^l over l < j does not decrease in j, so its maximum over [N] is at j = N;
- q^(N-j) is monotone in j, so it is largest at j = N or at j = 1;
- A (1 + q + ... + q^(m-1)) + q^m X, with m = N - j, changes by q^m (A + (q - 1) X) from m to m + 1, whose sign does not
  depend on m: monotone again, so its maximum is at m = 0 or m = N - 1.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import sympy as sp

from symbolic.calculus import geometric_sum
from symbolic.statements.result import Printed
from symbolic.topics.icgd.symbols import (
    C_1,
    C_2,
    C_3,
    R_3,
    B_l,
    B_r,
    B_r1,
    B_v,
    B_y,
    K,
    L_l,
    L_r,
    L_r1,
    N,
    d,
    eps,
    eps_l,
    eps_r,
    eps_r1,
    eta,
)
from symbolic.words.citations import WU2024, Citation

_cite = partial(Citation, WU2024)

# Lemma 2, (3.9): (sum_{l < j} K^{l/2} L_r^l B_v^l) sqrt(K) eps_r, and sqrt(d) in place of sqrt(K) for j = N.
GROWTH = sp.sqrt(K) * L_r * B_v


def layer_error(layer: Any) -> Printed:
    """||pbar(j) - p(j)||_2 for 1 <= j <= N - 1."""
    return Printed(geometric_sum(GROWTH, layer) * sp.sqrt(K) * eps_r, _cite("Lemma 2", "eq. (3.9), `1 <= j <= N-1`"))


OUTPUT_ERROR = Printed(geometric_sum(GROWTH, N) * sp.sqrt(d) * eps_r, _cite("Lemma 2", "eq. (3.9), `j = N`"))

# (3.10): both entries of the set for j in [N], as printed.
E_r = geometric_sum(GROWTH, N) * sp.Max(sp.sqrt(K), sp.sqrt(d))

# Lemma 3 and Lemma 4, coordinate by coordinate.
DERIVATIVE_ERROR = Printed(eps_r1 + L_r1 * B_v * E_r * eps_r, _cite("Lemma 3", "eq. (3.13)"))
LOSS_GRADIENT_ERROR = Printed(eps_l + L_l * E_r * eps_r, _cite("Lemma 4", "eq. (3.15)"))

# Lemma 6, (3.22)-(3.24).
P = sp.Max(sp.sqrt(K), sp.sqrt(d))
RATIO = B_r1 * B_v * P
_LONGEST = RATIO ** (N - 1)
B_s = sp.Max(1, _LONGEST) * B_r1 * B_l


def _largest(inhomogeneous: sp.Expr, start: sp.Expr) -> sp.Expr:
    """max over m = 0 .. N - 1 of A (1 + ... + q^(m-1)) + q^m X: see the head of the file."""
    return sp.Max(start, inhomogeneous * geometric_sum(RATIO, N - 1) + _LONGEST * start, evaluate=False)


E_s_r = _largest(L_r1 * E_r * P * B_s * B_v**2, B_l * L_r1 * B_v * E_r + B_r1 * L_l * E_r)
E_s_r1 = _largest(P * B_s * B_v, B_l)
E_s_l = sp.Max(1, _LONGEST) * B_r1
_PROPAGATED = E_s_r * eps_r + E_s_r1 * eps_r1 + E_s_l * eps_l
BACKWARD_SIZE = Printed(B_s, _cite("Lemma 6", "eq. (3.23)"))
BACKWARD_ERROR = Printed(_PROPAGATED, _cite("Lemma 6", "eq. (3.22)-(3.24)"))

# Theorem 1, proof in D.7.
_D7 = "proof, Appendix D.7"
GRADIENT_ERROR = Printed(
    N / sp.Integer(2) * P * (_PROPAGATED * sp.sqrt(P) * B_r + B_s * E_r * eps_r), _cite("Theorem 1", _D7)
)
STEP_ERROR = Printed(eta * GRADIENT_ERROR.bound, _cite("Theorem 1", f"`||eps^(l-1)||_2 <= eta eps`, {_D7}"))
REQUESTED_STEP = Printed(eta * eps, _cite("Theorem 1"))

C_l = N * P ** sp.Rational(3, 2) * B_r * E_s_l
C_r = N * P ** sp.Rational(3, 2) * B_r * E_s_r + N * P * B_s * E_r
C_r1 = N * P ** sp.Rational(3, 2) * B_r * E_s_r1
KNOBS: dict[sp.Symbol, Printed] = {
    symbol: Printed(2 * eps / (3 * coefficient), _cite("Theorem 1", _D7))
    for symbol, coefficient in ((eps_r, C_r), (eps_r1, C_r1), (eps_l, C_l))
}

# Ranges on which the sums of ReLUs have to be accurate.
RANGE_R = Printed(sp.Max(B_v * B_r, 1), _cite("Lemma 2", "definition of `R_1`"))
RANGE_R1 = Printed(sp.Max(B_v * B_r1, 1), _cite("Lemma 3", "definition of `R_2`"))
RANGE_U = Printed(sp.Max(B_v * B_r, B_y, 1), _cite("Lemma 4", "definition of `R_3`"))

# Parameter norms (C.1), (3.18).
NORM_FORWARD = Printed(1 + K * C_1, _cite("Lemma 2"))
NORM_DERIVATIVE = Printed(1 + K * (N - 1) * C_2, _cite("Lemma 3"))
NORM_LOSS_GRADIENT = Printed(sp.Max(R_3 + 1, C_3), _cite("Lemma 4"))
NORM_BACKWARD = Printed(sp.Integer(1), _cite("Lemma 5"))
NORM_STEP = Printed(1 + 2 * eta * N * K, _cite("Theorem 1", _D7))


def largest_values(supremum: Callable[[Any], Any], start: Any, scale: Any, depth: int) -> list[Any]:
    """B^0, ..., B^depth of B_r (Lemma 2, f = r) and B_r' (Lemma 3, f = r'): B^0 = B_x = `start`, `scale` is B_v, and

        B^j = max of |f(t)| over |t| <= B_v B^(j-1),    which `supremum(R)` gives over [-R, R], on numbers of any kind.

    The paper leaves open whether its maximum over j includes j = 0; it is read favourably: included.
    """
    bounds = [start]
    for _ in range(depth):
        bounds.append(supremum(scale * bounds[-1]))
    return bounds


def with_outputs(printed: Printed, outputs: sp.Expr) -> Printed:
    """Theorem 5 repeats Theorem 1 for d_x != d_y without constants: d stands for the number of outputs there."""
    return replace(printed, bound=printed.bound.subs(d, outputs))
