"""Lemma A.2 and Theorem 3.1 (algoformer) as a statement: errors after T loops, and the layers and heads needed."""

from functools import partial

import sympy as sp

from symbolic.calculus.heads import Second
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import (
    CONSTRUCTION,
    Formula,
    Hypothesis,
    Kind,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.looped import objects
from symbolic.topics.looped.gradient_descent_derivation import (
    B_x,
    B_y,
    C,
    E,
    F_p,
    F_r,
    H,
    L,
    N,
    R,
    S,
    T,
    a,
    bits,
    c,
    d,
    delta,
    derive_prediction,
    derive_residuals,
    eta,
    high,
    m,
    pair,
    q,
    rho,
    tau,
    worst,
)
from symbolic.topics.looped.transformer_counts import of_each_part
from symbolic.words.citations import ALGOFORMER, Citation

lamda = sp.Symbol("lamda", positive=True)
SYMBOLS = {
    R: "largest 2-norm of the labels of one output",
    H: "largest 2-norm of the labels' coefficients in the prediction, over the loops",
    S: "largest 2-norm of the network's state `(r, p)`",
    E: "largest 2-norm of its error",
    rho: "allowance for the rounding of a weight over `c`, in the format",
    delta: "truncation of a weight over `c`",
    a: "norm of `W - G` in the residuals",
    q: "largest norm of a row of `W - G` as later loops pass it to the prediction",
    F_r: "2-norm of what `W - G` makes of the exact states, in the residuals after `T` loops",
    F_p: "the same in the prediction",
}
_DOMAIN = (
    "`||Phi(x_i)||_2 <= B_x`, `||Phi(x_test)||_2 <= B_x`, `||y_i||_oo <= B_y`, eigenvalues of `Phi(X)^T Phi(X) / N` of "
    "at most `high`"
)
_ROUNDED = (
    "truncation, what the last token loses, and a rounding model of the format, `Phi` as it is computed; sizes of "
    "exact states by hand"
)
COUNTS = {"pre": (L + 1, 2), "loop": (1, 2), "post": (1, 1)}  # layers and heads as printed


_error = partial(
    Quantity,
    domain=_DOMAIN,
    kind=Kind.UPPER,
    quantifier=Quantifier.FOR_ALL,
    worst_case=worst(),
    obtained=Provenance.HAND,
    remark=_ROUNDED,
)
_one_layer = partial(Quantity, scopes=(), obtained=Provenance.HAND)
_SECTION = Citation(ALGOFORMER, "Section 2.2")
ONE_LAYER = (
    _one_layer(
        "one_layer",
        r"\|\hat p^{\text{one layer}}_{T+2} - \hat p_T\|_\infty",
        "output of one layer in `T + 2` loops against that of the three parts, with `L = 0`",
        "sup norm",
        _DOMAIN,
        Kind.EXACT,
        Quantifier.FOR_ALL,
        printed=Printed(sp.S.Zero, _SECTION),
        remark="feed-forward units let one part through, by a counter that they move on: the printed head that selects "
        "is not needed, and the loop has two heads in its place",
    ),
    *(
        _one_layer(
            f"one_layer.{what}",
            rf"\#\text{{{what}}}",
            f"number of {what} of that network",
            "count",
            CONSTRUCTION,
            Kind.UPPER,
            Quantifier.EXISTS,
            printed=Printed(sp.Integer(printed), _SECTION),
        )
        for what, printed in (("layers", 1), ("heads", 4))
    ),
)
QUANTITIES = (
    _error(
        "prediction",
        r"\|\hat p_T - A_T \Phi(x_{\mathrm{test}})\|_\infty",
        "prediction after `T` loops against `T` exact steps",
        norm="sup norm",
        derivation=derive_prediction().derivation,
    ),
    _error(
        "residuals",
        r"\|\hat r_T - r_T\|_2",
        "residuals of one output after `T` loops against `T` exact steps",
        norm="2-norm over the examples",
        derivation=derive_residuals().derivation,
    ),
    Quantity(
        "ridge",
        r"\|\hat p_T - A_T^{\text{ridge}} \Phi(x_{\mathrm{test}})\|_\infty",
        "prediction on `d` more examples `sqrt(N lamda) e_i`, their labels 0, against `T` exact steps of ridge "
        "regression",
        "sup norm",
        _DOMAIN,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        scopes=(),
        obtained=Provenance.HAND,
        remark="section 3.1: the penalty `lamda ||A||^2/2` is the loss of these examples, so that the bound is that of "
        "`prediction` at `N + d`, `eta (N + d)/N`, `N (high + lamda)/(N + d)` and `max(B_x, sqrt(N lamda))`; at "
        "features, with `L = 0`",
    ),
    *ONE_LAYER,
    *of_each_part(COUNTS, lambda part: Citation(ALGOFORMER, "Lemma A.2" if part == "loop" else "Theorem 3.1")),
)

HEADS = pair(Second.OPPOSITE)
GRADIENT_DESCENT = Result(
    id="looped.gradient_descent",
    title="Gradient descent in context",
    citation=Citation(ALGOFORMER, "Lemma A.2, Theorem 3.1"),
    claim=r"A_{k+1} = A_k - \frac{\eta}{N} \sum_{j=1}^N (A_k \Phi(x_j) - y_j) \Phi(x_j)^\top, \qquad "
    r"\mathrm{TF}(P) \approx A_T \Phi(x_{\mathrm{test}})",
    parameters=(
        Parameter("N", N, "number of examples", 8, integer=True),
        Parameter("d", d, "dimension of inputs and of `Phi(x)`", 2, integer=True),
        Parameter("m", m, "number of outputs", 2, integer=True),
        Parameter("T", T, "number of loops", (1, 4, 16), integer=True),
        Parameter("L", L, "number of layers of the MLP `Phi`, a seeded one; 0: the identity", 1, integer=True,
            in_words="number of layers of the MLP `Phi`"),
        Parameter("eta", eta, "step size", 1.0),
        Parameter("B_x", B_x, "bound on the 2-norm of inputs and of `Phi(x)`", 1.0),
        Parameter("B_y", B_y, "bound on the labels", 1.0),
        Parameter("high", high, "bound on the eigenvalues of `Phi(X)^T Phi(X) / N` (`B_x^2`, if it is not given)", 1.0,
            in_words="bound on the eigenvalues of `Phi(X)^T Phi(X) / N`"),
        Parameter("second", None, "the second head: constant, or opposite", "opposite"),
        Parameter("bits", bits, "bits of the format of the run", 53, integer=True,
            in_words="number of bits of a format, for whose rounding the bounds leave room by a model of it"),
        Parameter("c", c, "scale of the scores (from `N`, `d`, `B_x` and bits, if it is not given)", 2.0**-12,
            in_words="scale of the scores"),
        Parameter("C", C, "score of the last token (likewise)", 32.0, in_words="score of the last token"),
        Parameter("tau", tau, "inverse temperature of heads that read a neighbour", 24.0),
        Parameter("lamda", lamda, "weight of the penalty of ridge regression", 0.1),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 2, evaluate=False), "a line fits one example exactly"),
        Hypothesis("T", sp.Ge(T, 1, evaluate=False), "a loop"),
        Hypothesis("L", sp.Ge(L, 0, evaluate=False), "a number of layers"),
        *(Hypothesis(each.name, sp.Ge(each, 1, evaluate=False), "a dimension") for each in (d, m)),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive")
          for x in (eta, B_x, B_y, high, c, C, tau, lamda)),
        Hypothesis("eta", eta < 2 / high, "beyond `2 / lambda_max` gradient descent diverges"),
        Hypothesis("bits", sp.Ge(bits, 2, evaluate=False), "a format"),
    ),
    objects=objects.GRADIENT_DESCENT,
    quantities=QUANTITIES,
    notation={bits: "b", lamda: r"\lambda", rho: r"\varrho", high: r"\lambda_{\max}"},
    symbols=SYMBOLS,
    formulas=(
        Formula(r"\delta", lambda: HEADS.truncation(c, C), f"{SYMBOLS[delta]}, opposite heads", defines=delta),
        Formula(
            r"\varrho",
            lambda: HEADS.rounding(c, C),
            f"{SYMBOLS[rho]}, opposite heads, to first order in a model of its arithmetic",
            defines=rho,
        ),
    ),
    remarks=(
        "The keys `Phi(x_i)/N` are made by weights that know `N`: as printed, a ReLU network multiplies `Phi(x_i)` "
        "and `1/N`, which no finite one does exactly for all `N`.",
        "The token of `x_test` has the key 0 and the value `A_k Phi(x_test)`: what the second head leaves of its "
        "weight, of order `N e^(-C)`, is part of `W - G`.",
        "In the first display after the representation `A_(k+1) Phi(x_test)` stands for `A_0 Phi(x_test)`, and the "
        "last display of Lemma A.2 leaves out the row `x_i / N`, which the next loop needs.",
    ),
)  # fmt: skip
