"""Theorem 4.4 of wang2024: the generalised induction head GIH_2 of any similarity, as an expression.

    GIH_2(X) = sum_(s=2)^(L-1) softmax_s(g(x_L, x_(s-1))) x_s,   tokens in [-1, 1]^d.

The first layer gives y_s in the place of x_(s-1), its ReLUs the hat functions of x_s and of y_s, and the second layer a
product of rank K of these in the place of g. The paper takes the first K singular functions of g, each by a network for
a Barron function, and bounds the error in L^2, with powers of L and M. Here the error is bounded for every prompt and
every length; it falls like M^-2, or like M^-1 where g has kinks, up to what the rank leaves.

The three terms of (17) are those of the scores: Lv_g e_y, by the first layer; C_g h^2/16 + J_g h/8 with h = 2/M, by the
ReLUs; and rho_g, by the rank.
"""

from dataclasses import replace

import numpy as np
import sympy as sp

from bridge.expressions.attention import attend, softmax
from bridge.expressions.inputs import tokens
from bridge.expressions.recency import recent
from bridge.expressions.similarities import similarity
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import evaluate
from bridge.questions.certify.reading import read_claim
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.sources import Prediction, Textual
from bridge.theorems.sources.byte_signs import embedded_bytes, nearest_bytes
from bridge.theorems.texts import Text
from bridge.theorems.theorem import Theorem
from bridge.topics.induction.vanilla import repeated
from numeric.topics.induction.general import steepness
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.printed import Order
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import WANG2024, Citation

p = sp.Symbol("p", positive=True)
L, d, M, K = sp.symbols("L d M K", integer=True, positive=True)
u, v = sp.symbols("u v", real=True)
SIDE, ACCURACY = 4, 1e-3  # of [-2, 2], on which Definition A.7 stands; of slopes by quadrature
SIMILARITY = "similarity of one coordinate, a formula in `u` and `v`, such as ``exp(-abs(u-v))`` or ``(1+u*v)^3``"
LETTER = "the similarity, any Lipschitz continuous function on `[-1, 1]^2`"
REMARKS = (
    "Theorem 4.4 leaves `A` and `B` open, so that no printed number is judged. Its error is that of `L^2`, which the "
    "bounds here, for every prompt, bound as well; they do not grow with `L`.",
    "Under the hypotheses of Definition A.7 the factor `L^(1/(1 + 2 alpha))` of Theorem 4.4 is not needed: the part of "
    "`g` beyond rank `K` is at most the square of the bound on `phi_k` and `psi_k` times the sum of the `sigma_k` that "
    "are left, at every `u` and `v`, and softmax passes on the largest error of the scores alone.",
    "For `n >= 4` the step of A.3 from `X` to independent `u` and `v` takes patches for disjoint that overlap where "
    "`s >= L - n + 3`.",
    "For `n = 2` and `d = 1` every similarity with bounded second derivatives, or with kinks, has these bounds; the "
    "network clips what leaves `[-1, 1]`. Of more coordinates it is a similarity that adds up over them; "
    "``induction.patches`` has patches of `n - 1` tokens, and products over their coordinates.",
)

# Let phi_1, ..., phi_K be orthonormal in L^2 of an interval of length l, each with the Lipschitz constant C at most.
# The sum of their energies int phi_k'^2 is at most K l C^2, and at least that of the K least eigenvalues of the Neumann
# problem (Ky Fan), (pi j/l)^2 for j = 0, ..., K-1, which is pi^2 (K-1) K (2K-1)/(6 l^2).
STEEPEST = sp.pi * sp.sqrt((K - 1) * (2 * K - 1) / (6 * sp.Integer(SIDE) ** 3))
BASIS = Quantity(
    "basis",
    r"\text{steepness of the first } K \text{ singular functions}",
    "largest Lipschitz constant of the first `K` singular functions of `g` on `[-2, 2]`, of one coordinate",
    "Lipschitz constant",
    "functions `g` with at least `K` singular values that are not 0",
    Kind.LOWER,
    Quantifier.FOR_ALL,
    scopes=(),
    derive=lambda: STEEPEST,
)
ONE_CONSTANT = Quantity(
    "basis.one_constant",
    r"\text{least steepness of any } K \text{ orthonormal functions}",
    "least Lipschitz constant that `K` orthonormal functions on `[-2, 2]` may all have, from below",
    "Lipschitz constant",
    "as `K` grows",
    Kind.LOWER,
    Quantifier.FOR_ALL,
    scopes=(),
    printed=Printed(sp.S.One, Citation(WANG2024, "Definition A.7"), order=Order.O, relation=Kind.UPPER),
    erratum=Erratum(
        Weight.DEFINITION,
        Citation(WANG2024, "Definition A.7"),
        sentence="the `L^oo`, Barron and Lipschitz norms of all `phi_k` and `psi_k` are bounded by one constant",
        reading="no `g` with infinitely many singular values meets it: `K` orthonormal functions on an interval of "
        "length `l` need a Lipschitz constant of at least `pi sqrt((K-1)(2K-1)/(6 l^3))`; for `exp(-abs(u-v))` and "
        "`K = 24` that is 5.27, and the constant of its singular functions is 12.8 (in any dimension: functions "
        "with one bound and one Lipschitz constant are relatively compact, and orthonormal ones `sqrt(2)` apart); read "
        "for a `g` of finite rank, the decay of `sigma_k` says nothing",
        repair="constants that may grow with `k`, where the sum over `k` of `sigma_k` times the largest value times "
        "the sum of Barron norm and Lipschitz constant is finite, and that over `k > K` of `sigma_k` times the square "
        "of the largest value is `O(K^-alpha)`: the proof stands as it is; or, for `n = 2` and `d = 1`, hat functions "
        "in the place of singular functions: a bound for every `g` with bounded second derivatives or kinks, for every "
        "prompt and length",
        survives="yes: as printed Theorem 4.4 is about `g` of finite rank; for one coordinate such a network exists "
        "for every similarity with bounded second derivatives, with an error of the order of `M^-2` where the rank may "
        "grow with `M`",
    ),
)


WITNESS = {"K": 24, "M": 64, "g": "exp(-abs(u-v))"}


def one_constant(K: int) -> Sides:
    count = sp.Symbol("K", integer=True, positive=True)
    return Sides(found=evaluate_ball(STEEPEST, {count: K}), limit=sp.limit(STEEPEST, count, sp.oo))


def basis(g: sp.Expr, K: int) -> Sides:
    letters = {letter: {"u": u, "v": v}[letter.name] for letter in g.free_symbols}
    _, slopes = steepness(lambda x, y: evaluate(g.xreplace(letters), {u: x, v: y}) + 0 * x * y, -SIDE / 2, SIDE / 2, K)
    if np.isnan(slopes).any():
        return Sides(outside=f"`g` has `{K}` singular values that floats tell from 0")
    return Sides(found=within(float(slopes.max()), ACCURACY * float(slopes.max())), remark="by quadrature, in floats")


def read(g: str) -> sp.Expr:
    """A formula in u and v, parsed and never evaluated."""
    return read_claim(g.replace("^", "**"))[0]


TEXT = Textual(
    "L",
    lambda windows, d: {"x": embedded_bytes(windows, d)},
    scored=repeated,
    where="windows whose last byte occurred before",
    defaults={"p": (2, 4, 8, 16), "L": (256,), "M": 64, "g": "-2*(u-v)^2", "K": 3},
    suggested=lambda given: {"d": 32},
    predictions=(
        Prediction("network", "network: next byte right after a repeated context",
                   lambda network, d: nearest_bytes(network["output"], d)),
        Prediction("exact", "exact GIH_2: next byte right after a repeated context",
                   lambda reference, d: nearest_bytes(reference["output"], d)),
    ),
)  # fmt: skip


def _stated() -> Theorem:
    x = tokens("x", L, d, size=1)
    y = recent(x[:-2], slope=p).named("previous")
    scores = similarity(given="g").approximated(cells=M, rank=K)(x[-1], y).named("scores")
    by_layer = similarity(given="g", name="g_1")(x[-1], y).named("scores.layer1")
    by_relus = similarity(given="g", name="g_M").approximated(cells=M)(x[-1], x[:-2]).named("scores.relus")
    weights = softmax(scores).named("attention")
    output = attend(weights, x[1:-1]).named("output")
    found = theorem(
        "induction.general",
        y,
        by_layer,
        by_relus,
        scores,
        weights,
        output,
        parameters={p: 20.0, L: (8, 64), d: 1, M: 256, K: 8},
        texts=[Text("g", read, takes="FORMULA", default="exp(-(u-v)^2/2)", meaning=SIMILARITY)],
        hypotheses=[L >= 3],
        meanings={
            p: "slope of the relative position bias of layer 1",
            L: "number of tokens",
            d: "coordinates of a token, over which `g` is added up",
            M: "cells of the grid on `[-1, 1]`: queries and keys take `M + 1` ReLUs each, for each coordinate",
            K: "rank of the product in the place of `g`, for each coordinate",
        },
        checks=[
            Check(BASIS, basis),
            Check(ONE_CONSTANT, one_constant, params=WITNESS),
        ],
        sources=[TEXT],
        title="Generalised induction heads of any similarity, by two layers with ReLUs between them",
        claim=r"\|\widehat{\mathrm{output}} - \mathrm{output}\|_\infty \le "
        r"d \left(\frac{C_g}{4 M^2} + \frac{J_g}{4 M} + \rho_g + 2 \mathrm{Lv}_g e^{-p}\right)",
        cites=Citation(WANG2024, "Theorem 4.4", "Theorem A.8"),
        remarks=REMARKS,
    )
    objects = {"x_{i}": "token `i` of the prompt", "g": LETTER, **found.statement.objects}
    return replace(found, statement=replace(found.statement, objects=objects))


GENERAL = _stated()
