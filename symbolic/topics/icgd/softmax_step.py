"""Gradient descent in context by softmax transformers (wu2024, Theorem 6): token by token, without memorising.

All tokens hold the same w, so that each computes the gradient of its own example by feed-forward layers, with products
and activations as sums of ReLUs, and one uniform softmax head averages. L_n = (1/2n) sum_i ||p_i(N) - y_i||^2, so that

    p(j) = r(z(j)),  z(j) = V_j p(j-1),  s(N) = r'(z(N)) * (p(N) - y),  s(j) = r'(z(j)) * (V_{j+1}^T s(j+1)),
    A(j) = s(j) p(j-1)^T,  gradient = mean of (A(j))_j.
"""

from functools import cache, partial
from typing import Any

import sympy as sp

from symbolic.calculus import add, apply_function, bilinear, concatenate, linear_map, project
from symbolic.derivations.derivation import Approximated, Derivation, Norm, given
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantity, Result
from symbolic.topics.icgd import objects
from symbolic.topics.icgd.softmax import CONTEXTS, D, row
from symbolic.topics.icgd.softmax import d as coordinates
from symbolic.topics.icgd.softmax import n as tokens
from symbolic.topics.icgd.symbols import B_v, B_x, B_y, K, L, L_r, L_r1, N, b_r, b_r1, d, eps, eps_r, eps_r1, eta, n
from symbolic.topics.icgd.trajectory import L_f, derive_path
from symbolic.words.citations import WU2024, Citation

cells = sp.Symbol("cells", integer=True, nonnegative=True)
e_z, e_s, e_b, e_A = (sp.Symbol(f"eps_{name}", nonnegative=True) for name in ("z", "s", "b", "A"))
accuracy = sp.Symbol("eps_g", nonnegative=True)  # of the gradient, at every w in W
BY_PRODUCTS = "products by sums of ReLUs"


def _off(x: Approximated, name: str, eps: sp.Expr) -> Approximated:
    """x whose coordinates err by at most eps more."""
    return apply_function(x, name, eps=eps, lipschitz=1, size=x.size, reason=BY_PRODUCTS)


def _times(x: Approximated, name: str, width: sp.Expr, norm: sp.Expr, *, target: Norm = Norm.TWO) -> Approximated:
    return linear_map(x, name, operator_norm=norm, dim=width, target=target)


def _slope_times(slope: Approximated, x: Approximated, j: int) -> Approximated:
    found = bilinear(slope, x, f"r' times [{j}]", dim=x.dim, norm=Norm.TWO, approximate_size=b_r1, product="entrywise")
    return _off(found, f"s[{j}]", e_s)


# Spectral norms are at most Frobenius norms, the root of the number of rows times B_v. A sum of ReLUs interpolates, and
# stays between the values of its function: |rbar| <= b_r and |r'bar| <= b_r1, whatever their errors.
@cache
def derive_gradient(depth: int) -> Approximated:
    """The gradient that one token computes, in a network of `depth` layers."""
    p, slopes, before = given("x", dim=d, norm=Norm.TWO, size=B_x, reason="the input, exact"), {}, {}
    for j in range(1, depth + 1):
        width, before[j] = (d if j == depth else K), p
        rows = _off(_times(p, f"rows of z[{j}]", width, B_v, target=Norm.INF), f"zbar[{j}].max", e_z)
        slopes[j] = apply_function(rows, f"r'[{j}]", eps=eps_r1, lipschitz=L_r1, size=b_r1)
        z = _off(_times(p, f"z[{j}]", width, sp.sqrt(width) * B_v), f"zbar[{j}]", e_z)
        p = apply_function(z, f"p[{j}]", eps=eps_r, lipschitz=L_r, size=sp.sqrt(width) * b_r)
    y = given("y", dim=d, norm=Norm.TWO, size=B_y, reason="the output, exact")
    s, blocks = _slope_times(slopes[depth], add(p, y, name="p - y", coefficients=(1, -1)), depth), []
    for j in range(depth, 0, -1):
        reach = sp.sqrt(before[j].dim) * b_r if j > 1 else B_x
        dim = s.dim * before[j].dim
        outer = bilinear(
            before[j],
            s,
            f"s p^T [{j}]",
            norm=Norm.TWO,
            dim=dim,
            approximate_size=reach,
            product="mean of outer products",
        )
        blocks.append(_off(outer, f"A[{j}]", e_A))
        if j > 1:
            back = _off(_times(s, f"V^T s[{j}]", K, sp.sqrt(s.dim) * B_v), f"back[{j - 1}]", e_b)
            s = _slope_times(slopes[j - 1], back, j - 1)
    return concatenate(*reversed(blocks), name="gradient")


# A mean over tokens errs by at most the largest error of one; the projection does not expand.
@cache
def derive_step(depth: int) -> Derivation:
    """One step from w."""
    gradient = derive_gradient(depth)
    w = given("w", dim=gradient.dim, norm=Norm.TWO, size=sp.sqrt((depth - 1) * K + d) * B_v, reason="exact")
    moved = add(w, gradient, name="w - eta gradient", coefficients=(1, -eta))
    return project(moved, "step", box=True, size=w.size, low="-W", high="W").derivation


_cite = partial(Citation, WU2024)
THEOREM = _cite("Theorem 6")
TOO_LARGE = Erratum(
    Weight.PROOF,
    _cite("Appendix F.3", "the choice `kappa = eps/sqrt(D_w)`"),
    "with `kappa = eps/sqrt(D_w)` the block errs by at most `eps` in `w`, which is what the theorem asks for",
    "the theorem asks for `||eps^(l-1)||_2 <= eta eps`; the proof ends at `eps`, which is more where `eta < 1`",
    "`kappa = eta eps`, since the 2-norm of the part `w` is at most that of the whole",
    "yes: Lemma 16 is stated for every `kappa`",
    at=(("N", 2),),  # Definition 1 has N >= 2
)
_DOMAIN = "`w` in the box `W`, `||x_i|| <= B_x`, `||y_i|| <= B_y`"


def quantities_for(depth: int | None, linear: bool = False, asked: bool = True) -> tuple[Quantity, ...]:
    """Those of a network of so many layers; without a depth, as they are stated, without a derivation.

    Theorem 6 says nothing of a network for which no accuracy was `asked`.
    """
    step: dict[str, Any] = (
        {"obtained": Provenance.RULES} if depth is None else {"derivation": derive_step(depth), "worst_case": {}}
    )
    step |= {"printed": Printed(eta * eps, THEOREM)} if asked else {}
    along: dict[str, Any] = {
        "derivation": derive_path(L).derivation,
        "step": "path",
        "worst_case": {L_f: L_f, eps: accuracy},
    }
    network: dict[str, Any] = {"scopes": ("network",), "construction": "token by token"}
    path = "distance after `L` steps from one start"
    allowed = ("accuracy", r"\epsilon / (\eta \epsilon)", "what the proof leaves, over what the theorem allows")
    bits = ("memorising", r"\log_2 |\mathrm{ids}|", "bits of the ids that memorising takes for one step")
    return (
        row("step", r"\|\hat{w}^{+} - w^{+}\|_2", "error of one step", "2-norm", _DOMAIN, **step, **network),
        row("path", r"\|\hat{w}^{(L)} - w_{\mathrm{GD}}^{(L)}\|_2", path, "2-norm", _DOMAIN, **along, **network),
        row("cells", "M", "cells of each sum of ReLUs", "count", "the construction", kind=Kind.EXACT),
        row(
            *("layers", r"\ell", "layers of one step", "count", "the construction"),
            2 * N + 2 if linear else 4 * N + 2,
            kind=Kind.EXACT,
            remark="`2N + 2` where `r` is linear; Theorem 6 has 4 a step, whose widths count ids",
        ),
        row(
            *(*allowed, "ratio", "one step", 1 / eta),
            printed=Printed(sp.Integer(1), _cite("Appendix F.3")),
            erratum=TOO_LARGE,
            indices=(sp.Ge(N, 2, evaluate=False),),
        ),
        row(
            *(*bits, "bits", "Lemma 16 with the bound `eta eps`, of a map with Lipschitz constant 1", MEMORISING),
            kind=Kind.LOWER,
            remark="with the sharper `L sqrt(d n) B/(2D)` for the bound of Lemma 16",
        ),
    )


# Tokens (x, y, w) in a cube of the side 2B; f keeps x and y, so that its Lipschitz constant is at least 1. The block
# errs by sqrt(coordinates tokens) 2B/(2 grid) off the ramps.
_WIDTH = 2 * d + sp.Piecewise((d**2, sp.Eq(N, 1)), (2 * d * K + (N - 2) * K**2, True))
GRID = sp.ceiling(sp.sqrt(_WIDTH * (n + 1)) * sp.Max(B_x, B_y, B_v, 1) / (eta * eps))
MEMORISING = sp.log(CONTEXTS.xreplace({D: GRID, coordinates: _WIDTH, tokens: n + 1}), 2)

_LETTERS = {"N": N, "K": K, "d": d, "n": n, "L": L}
_WHOLE = (
    ("N", "number of layers", 1),
    ("K", "width of the hidden layers", 8),
    ("d", "coordinates of an input and of an output", 1),
    ("n", "number of examples", 5),
    ("L", "number of steps", 4),
)
SOFTMAX_STEP = Result(
    id="icgd.softmax_step",
    title="Gradient descent in context by softmax transformers",
    citation=_cite("Theorem 6", "Theorem 3"),
    claim=r"\bar{w}^{(l)} = \mathrm{Proj}_{\mathcal{W}}(\bar{w}^{(l-1)} - \eta \nabla L_n(\bar{w}^{(l-1)})"
    r" + \epsilon^{(l-1)}), \quad \|\epsilon^{(l-1)}\|_2 \le \eta \epsilon",
    parameters=(
        *(Parameter(name, _LETTERS[name], meaning, default, integer=True) for name, meaning, default in _WHOLE),
        Parameter(
            *("cells", cells, "cells of each sum of ReLUs, of a square or an activation; 0: computed from `eps`", 0),
            integer=True,
            setting=True,
        ),
        Parameter("eps", eps, "accuracy of the gradient that is asked for", (1e-1, 1e-3)),
        Parameter("eta", eta, "step size", 0.5),
        Parameter("B_v", B_v, "bound on the 2-norm of each row of a layer's matrix", 1.0),
        Parameter("B_x", B_x, "bound on the 2-norm of an input", 1.0),
        Parameter("B_y", B_y, "bound on the 2-norm of an output", 1.0),
        Parameter("activation", None, "`r`: linear, tanh, sigmoid, gelu, softplus or sin", "linear", takes="NAME"),
    ),
    hypotheses=(
        *(Hypothesis(name, sp.Ge(symbol, 1, evaluate=False), "a number") for name, symbol in _LETTERS.items()),
        Hypothesis("cells", sp.Ge(cells, 1, evaluate=False), "a number of cells; 0: computed from `eps`"),
        Hypothesis("cells", sp.Eq(sp.Mod(cells, 2), 0, evaluate=False), "0 is a knot"),
        *(
            Hypothesis(str(symbol), sp.Gt(symbol, 0, evaluate=False), "it bounds a size")
            for symbol in (eps, eta, B_v, B_x, B_y)
        ),
    ),
    objects=objects.SOFTMAX_STEP,
    quantities=quantities_for(None),
    notation={accuracy: r"\epsilon_g", L_f: "L_f", eps: r"\epsilon", eta: r"\eta"},
    symbols={
        accuracy: "bound on the error of the gradient",
        L_f: "Lipschitz constant of the gradient of `L_n` on `W`",
    },
    remarks=(
        "The construction is for the risk of an `N`-layer network with the square loss; Theorem 6 is about any loss "
        "with a Lipschitz gradient.",
        "The proof needs `f` to be Lipschitz in `x` and `y` too, while the theorem asks for it in `w` alone; and (F.6) "
        "has the domain `[0, B]` where the inputs are signed.",
    ),
)
