"""The decay of G = ((v - v*)^2 + (h - h*)^2)/2 for the induction head (wang2024, Appendix C.2, Step II.2).

Letters: v = w^2, v* = w*^2; v = v* (1 - x) and h = h* (1 + y), so that the region v*/4 < v < v*, h* < h < 1.02 h* is
0 < x < 3/4, 0 < y < 1/50 for every v* and h*. Time is tau = t/(L-2), which takes L out of the flow.

Both flows: "printed" is the paper's, the gradient flow of (22) in (w, h); "true" is (12), in which w_Q = w_K = w
moves at half that rate.
"""

from collections.abc import Mapping
from functools import cache

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.inequalities import Form, Inequality, written_out
from symbolic.dynamics import Flow
from symbolic.dynamics.lyapunov import Decay, metric_matrix, modal_matrix
from symbolic.topics.induction.training import FLOWS, L, h, h_star, phi, psi, v, v_star, w
from symbolic.words.citations import WANG2024, Citation

x = sp.Symbol("x", nonnegative=True)  # 1 - v/v*
y = sp.Symbol("y", nonnegative=True)  # h/h* - 1

PRINTED_CONSTANT = sp.Rational(1, 4)
CITATION = Citation(WANG2024, "Appendix C.2", "Step II.2")
DIGITS = 20  # of the entries of a candidate: the two modes can be nearly the same
PRINTED_TOP = sp.Rational(1, 50)  # h < 1.02 h*, which the paper takes for v* <= 0.3
TOP = sp.Rational(7, 100)  # h < 1.07 h*: R(w*), the largest h/h*, is below it for v* <= 0.3
REGION = {
    x: (0, sp.Rational(3, 4)),
    y: (0, PRINTED_TOP),
    v_star: (0, sp.Rational(3, 10)),
    h_star: (0, 1),
}


def head_flow(which: str) -> Flow:
    """The flow in (v, h), in the time tau = t/(L-2)."""
    flow = FLOWS[which].flow.slowed(L - 2).changed({v: w**2, h: h}, {w: sp.sqrt(v), h: h})
    return Flow(flow.state, tuple(sp.expand(rate) for rate in flow.field))  # sqrt(v) sqrt(v) = v


def head_decay(which: str) -> Decay:
    """G along that flow; the scale is v* h*^2, the power 1."""
    return Decay(head_flow(which), ((v - v_star) ** 2 + (h - h_star) ** 2) / 2, scale=v_star * h_star**2)


# With a = v + v*, b = 2v, a - b = v* x, psi_a = psi(a), psi_b = psi(b), and phi(t) = t psi(t)^3:
#   psi_a - psi_b = (a - b) (a + b) psi_a^2 psi_b^2/(psi_a + psi_b),      a + b = v* (4 - 3x),
#   phi(a) - phi(b) = (a - b) (psi_a^3 + b (psi_a - psi_b)/(a - b) (psi_a^2 + psi_a psi_b + psi_b^2)).
# So d psi = v* D and d phi = F below are the divided differences, regular where v = v*.
_PSI: tuple[sp.Symbol, sp.Symbol] = sp.symbols("psi_a psi_b", positive=True)


def _differences(psi_a: sp.Expr, psi_b: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(psi_a - psi_b)/((a - b) v*) and (phi(a) - phi(b))/(a - b)."""
    D = (4 - 3 * x) * psi_a**2 * psi_b**2 / (psi_a + psi_b)
    F = psi_a**3 + 2 * v_star**2 * (1 - x) * D * (psi_a**2 + psi_a * psi_b + psi_b**2)
    return D, F


# dv/dtau = f 4 v h (h* phi(a) - h phi(b)) and dh/dtau = h* psi(a) - h psi(b), f the share of the rate of w, are linear
# in (x, y) but for regular coefficients, by these differences:
#   dv/dtau = f 4 v* (1-x)(1+y) h*^2 (F v* x - phi(b) y),   dh/dtau = h* (D v*^2 x - psi(b) y).
def _rates(psi_a: sp.Expr, psi_b: sp.Expr, share: sp.Expr) -> sp.Matrix:
    """The matrix R of (dv/dtau, dh/dtau) = R (x, y)."""
    D, F = _differences(psi_a, psi_b)
    speed = 4 * share * v_star * (1 - x) * (1 + y) * h_star**2
    phi_b = 2 * v_star * (1 - x) * psi_b**3
    return sp.Matrix([[speed * F * v_star, -speed * phi_b], [h_star * D * v_star**2, -h_star * psi_b]])


def _rates_of(which: str) -> sp.Matrix:
    """The same with psi written out, shown to be the flow's rates."""
    check_derivation(which)
    return _rates(psi(v_star * (2 - x)), psi(2 * v_star * (1 - x)), _share(which))


def _share(which: str) -> sp.Expr:
    """The rate of w over that of the gradient flow in (w, h)."""
    return sp.Rational(FLOWS[which].speed, FLOWS["printed"].speed)


# -dG/dtau = (v* x, -h* y) . R (x, y). Less c v* h*^2 G = c v* h*^2 (v*^2 x^2 + h*^2 y^2)/2 and divided by h*^2, that is
# v*^3 A x^2 - v*^2 B x y + C y^2 with the A, B, C below: positive semidefinite if A >= 0, C >= 0, 4 A C >= v* B^2, in
# which nothing vanishes any more.
def _coefficients(R: sp.Matrix, constant: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    A = R[0, 0] / (v_star**2 * h_star**2) - constant / 2
    B = R[1, 0] / (v_star**2 * h_star) - R[0, 1] / (v_star * h_star**2)
    C = -R[1, 1] / h_star - constant * v_star * h_star**2 / 2
    return A, B, C


def _gap_in_letters(share: sp.Expr, constant: sp.Expr) -> sp.Expr:
    """v*^3 A x^2 - v*^2 B x y + C y^2 with psi_a, psi_b as letters."""
    A, B, C = _coefficients(_rates(*_PSI, share), constant)
    return v_star**3 * A * x**2 - v_star**2 * B * x * y + C * y**2


@cache
def check_derivation(which: str) -> None:
    """Raises DerivationError unless the coefficients above are the decay's own gap, for any constant.

    psi(a), psi(b) are algebraic: modulo psi_a^2 (1 - a^2) = 1 and psi_b^2 (1 - b^2) = 1 the sides are one polynomial.
    """
    constant = sp.Symbol("c", positive=True)
    a, b = v_star * (2 - x), 2 * v_star * (1 - x)
    psi_a, psi_b = _PSI
    gap = head_decay(which).gap(constant)
    coordinates = {v: v_star * (1 - x), h: h_star * (1 + y)}
    letters = {1 - a**2: psi_a**-2, 1 - b**2: psi_b**-2}
    scaled = _in_letters(gap.subs(coordinates, simultaneous=True) / h_star**2, letters)
    difference = sp.numer(sp.together(scaled - _gap_in_letters(_share(which), constant)))
    relations = [psi_a**2 * (1 - a**2) - 1, psi_b**2 * (1 - b**2) - 1]
    _, rest = sp.reduced(sp.expand(difference), [sp.expand(r) for r in relations], psi_a, psi_b)
    if sp.expand(rest) != 0:
        raise DerivationError(f"lyapunov_head: the quadratic form is not the decay along the {which} flow")


def _in_letters(expression: sp.Expr, letters: dict[sp.Expr, sp.Expr]) -> sp.Expr:
    """Powers of 1 - a^2 and 1 - b^2 by the letters psi_a, psi_b."""

    def power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        for known, letter in letters.items():
            if sp.expand(base - known) == 0:
                return sp.powdenest(letter**exponent, force=True)
        raise DerivationError(f"lyapunov_head: {sp.sstr(base)} is neither 1 - a^2 nor 1 - b^2")

    return expression.replace(
        lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer, lambda e: power(e.base, e.exp)
    )


def decay_inequalities(which: str, constant: sp.Expr, top: sp.Expr = PRINTED_TOP) -> list[Inequality]:
    """(L-2) dG/dt <= -c v* h*^2 G for all v* <= 0.3, h* <= 1 and h < (1 + top) h*.

    The matrix of the quadratic form is positive semidefinite there.
    """
    A, B, C = _coefficients(_rates_of(which), sp.Rational(constant))
    name = f"decay.{which}_flow (c = {sp.Rational(constant)})"
    parts = {
        "x": (A, "`A >= 0`: the coefficient of `v*^3 x^2`"),
        "y": (C, "`C >= 0`: the coefficient of `y^2`"),
        "xy": (4 * A * C - v_star * B**2, "4 A `C >= v* B^2`: the form is positive semidefinite"),
    }
    region = {**REGION, y: (0, top)}
    return [Inequality(f"{name}: {part}", expr, region, meaning=meaning) for part, (expr, meaning) in parts.items()]


def loss_and_candidate(which: str) -> tuple[sp.Expr, sp.Expr]:
    """-(L-2) dG/dt and v* h*^2 G, both over h*^2, in (x, y): the largest constant is the infimum of their ratio."""
    A, B, C = _coefficients(_rates_of(which), sp.Integer(0))
    loss = v_star**3 * A * x**2 - v_star**2 * B * x * y + C * y**2
    return loss, v_star * (v_star**2 * x**2 + h_star**2 * y**2) / 2


# The estimates that the proof puts in between (Appendix C.2, the four lines after (30) and the one that joins them).
def printed_estimates() -> list[Inequality]:
    """Each is claimed for v*/4 < v < v* <= 0.3 and h* < h < 1.02 h*."""
    a, b = v_star * (2 - x), 2 * v_star * (1 - x)
    delta = v_star * x
    D, F = _differences(psi(a), psi(b))
    box = {key: REGION[key] for key in (x, v_star)}
    thousandth = sp.Rational(1, 100)
    joined = (
        -4 / (1 + 2 * thousandth) * v_star * delta**2
        - y**2
        + sp.Rational(408, 100) * v_star * delta * y
        + sp.Rational(13, 10) * (1 + 2 * thousandth) * v_star * delta * y
    )  # over h*^2; (v - v*)(h* - h) = (v* - v)(h - h*) = delta h* y, and h* enters as it does in the cross terms
    loss, _ = loss_and_candidate("printed")
    return [
        Inequality(
            "estimate.phi_difference",
            F - 1,
            box,
            vanishing=(v_star,),
            meaning="`phi(v + v*) - phi(2v) >= v* - v`",
        ),
        Inequality("estimate.phi", 1 - phi(a), box, meaning="`phi(v + v*) <= 1` (printed: `<= phi(2 v*) <= 1`)"),
        Inequality("estimate.psi", psi(a) - 1, box, vanishing=(v_star,), meaning="`psi(v + v*) >= 1`"),
        Inequality(
            "estimate.psi_difference",
            sp.Rational(13, 10) - D,
            box,
            meaning="`psi(v + v*) - psi(2v) <= 1.3 v* (v* - v)`",
        ),
        Inequality(
            "estimate.joined",
            loss + joined,
            {key: REGION[key] for key in (x, y, v_star)},
            meaning="the line that joins the four estimates",
        ),
    ]


def linear_part(which: str) -> sp.Matrix:
    """The linearisation at (v*, h*), in tau."""
    return head_flow(which).linearised({v: v_star, h: h_star})


Numbers = Mapping[sp.Symbol, sp.Rational]


def candidates(which: str, at: Numbers) -> tuple[dict[str, sp.Matrix], sp.Expr]:
    """P of V = (v - v*, h - h*) P (v - v*, h - h*)^T / 2 by name, at numbers v*, h*; and the rate 2 mu at (v*, h*).

    "plain" is the paper's G; "modal" and "metric" come from the linearisation and both decay at 2 mu to first order.
    Their entries are rounded to rationals: any positive definite P is a candidate, and what is certified is certified
    for this one.
    """
    A = linear_part(which).subs(at)
    modal, rate = modal_matrix(A)
    found = {"plain": sp.eye(2), "modal": _rounded(modal), "metric": _rounded(metric_matrix(A))}
    return {name: P for name, P in found.items() if P[0, 0] > 0 and P.det() > 0}, rate


def _rounded(P: sp.Matrix) -> sp.Matrix:
    """Over its last entry, each entry to a rational of so many digits."""
    return P.applyfunc(lambda entry: sp.Rational(str(sp.N(entry / P[1, 1], DIGITS))))


def quadratic_decay(which: str, P: sp.Matrix, at: Numbers) -> tuple[Form, sp.Expr]:
    """-dV/dtau as a quadratic form in (x, y), and V, for V = y^T P y / 2 at numbers v*, h*."""
    S = sp.diag(-v_star, h_star)  # (v - v*, h - h*) = S (x, y)
    loss = -(S * P * _rates_of(which)).subs(at)
    H = (loss + loss.T) / 2
    V = sp.expand((sp.Matrix([[x, y]]) * (S * P * S).subs(at) * sp.Matrix([x, y]))[0, 0]) / 2
    return ((x, y), tuple(tuple(H.row(i)) for i in range(2))), V


def quadratic_inequality(which: str, P: sp.Matrix, at: Numbers, constant: sp.Expr, name: str) -> Inequality:
    """dV/dtau <= -c V on the paper's region, at numbers v*, h*: c is a rate, not a multiple of v* h*^2."""
    (z, rows), _ = quadratic_decay(which, P, at)
    S = sp.diag(-v_star, h_star)
    H = sp.Matrix(rows) - sp.Rational(constant) * (S * P * S).subs(at) / 2
    form = z, tuple(tuple(H.row(i)) for i in range(2))
    return Inequality(
        name,
        written_out(form),
        {key: REGION[key] for key in (x, y)},
        form=form,
        meaning=f"`-dV/dtau - {sp.sstr(constant)} V >= 0` for `V = (v - v*, h - h*) P (v - v*, h - h*)^T / 2`",
    )
