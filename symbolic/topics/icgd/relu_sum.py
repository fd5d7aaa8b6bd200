"""Smooth functions as sums of ReLUs (wu2024, Definition 4 and Lemma 7): what is printed, and what interpolation gives.

The function g on [-R, R] is an activation r (order 0) or its derivative r' (order 1). The sum is the interpolant with M
cells of one width; M comes from the accuracy.
"""

from typing import Any

import sympy as sp

from symbolic.calculus.approximation import (
    M,
    R,
    cell_width,
    eps,
    hinge_count,
    hinge_norm_bound,
    secant_cells,
    secant_error,
    secant_slope_error,
    sup_f,
    sup_f1,
    sup_f2,
)
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.icgd import objects
from symbolic.words.citations import WU2024, Citation
from symbolic.words.names import error_symbol

order = sp.Symbol("order", integer=True, nonnegative=True)
grid = sp.Symbol("grid", integer=True, positive=True)  # cells come in multiples of it, so that 0 and kinks are knots
delta = sp.Symbol("delta", nonnegative=True)  # what the rounding of the coefficients adds, to values and to slopes
delta_1 = sp.Symbol("delta_1", nonnegative=True)
C_k = sp.Symbol("C_k", positive=True)  # the "constant that depends only on k" of Lemma 7

NOTATION = {
    grid: "q",
    eps: r"\epsilon_{\mathrm{approx}}",
    sup_f: r"\sup|g|",
    sup_f1: r"\sup|g'|",
    sup_f2: r"\sup|g''|",
    delta: r"\delta",
    delta_1: r"\delta_1",
    C_k: "C(k)",
}
SYMBOLS = {
    M: "number of cells of one length into which the interpolant divides `[-R, R]`",
    sup_f: "supremum of `|g|` on `[-R, R]`",
    sup_f1: "supremum of `|g'|` on `[-R, R]`, without 0 where `g` has a kink",
    sup_f2: "supremum of `|g''|` on `[-R, R]`, without 0 where `g` has a kink",
    grid: "an even whole number, at least 2, of which the number of cells is a multiple, so that 0 is a knot",
    delta: "bound on what the rounding of the coefficients to float64 adds to the error",
    delta_1: "the same for the slope",
    C_k: "unspecified in the paper: a constant that depends only on the number `k` of variables",
}

# The least multiple of `grid` that secant_cells allows. An instance knows M.
CELLS = grid * sp.ceiling(secant_cells() / grid)
WORST_CASE = {M: CELLS}

LEMMA_7 = Citation(WU2024, "Lemma 7")
DEFINITION_4 = Citation(WU2024, "Definition 4")

# Lemma 7 with k = 1: s = ceil((k - 1)/2) + 1 = 1, so that C_l = max(L_0, L_1 R).
C_l = sp.Max(sup_f, R * sup_f1)
PRINTED_RELUS = C_k * C_l**2 * sp.log(1 + C_l / eps) / eps**2
PRINTED_ONE_NORM = C_k * C_l
PRINTED_EXPONENT = sp.Integer(2)


def derive_error() -> Derivation:
    """Secants through exact values, then the rounding of the coefficients."""
    return _rounded("error", "secant", secant_error(cell_width(), sup_f2), "`h^2/8 sup|g''|`, `h = 2R/M`", delta)


def derive_slope() -> Derivation:
    """The same for the slopes of the cells."""
    error = secant_slope_error(cell_width(), sup_f2)
    return _rounded("slope", "secant slope", error, "`h/2 sup|g''|`, `h = 2R/M`", delta_1)


def _rounded(name: str, secant: str, error: sp.Expr, reason: str, rounding: sp.Symbol) -> Derivation:
    exact = Step(secant, Norm.INF, "secant interpolation", error, reason=reason)
    local = error_symbol(secant) + rounding
    certified = "certified for the float64 coefficients"
    return Derivation((exact, Step(name, Norm.INF, "rounded coefficients", local, (secant,), certified)))


def _count(name: str, latex: str, amount: sp.Expr, reason: str) -> Derivation:
    return Derivation((Step(name, Norm.INF, "count of the construction", amount, reason=reason, latex=latex),))


_UNSPECIFIED = "printed with the constant `C(k)`, which the paper does not specify"


def _on_range(name: str, latex: str, meaning: str, derivation: Derivation, **more: Any) -> Quantity:
    """An error of the sum, for all t."""
    stated = (meaning, "sup norm", "`t in [-R, R]`", Kind.UPPER, Quantifier.FOR_ALL, derivation)
    return Quantity(
        name, latex, *stated, worst_case=WORST_CASE, construction="interpolant", scopes=("network",), **more
    )


def _of_sum(name: str, latex: str, meaning: str, norm: str, kind: Kind = Kind.UPPER, **more: Any) -> Quantity:
    """A number of the sum itself."""
    stated = (meaning, norm, "the construction", kind, Quantifier.EXISTS)
    return Quantity(name, latex, *stated, construction="interpolant", scopes=(), **more)


def _quantities() -> tuple[Quantity, ...]:
    middle = "the slopes at the middle, and the total variation of the others"
    of_relus = _count("relus", "H", hinge_count(), "a hinge for each cell, and the constant")
    of_norm = _count("one_norm", r"\sum_h |c_h|", hinge_norm_bound(), middle)
    return (
        _on_range(
            "error",
            r"\sup_{|t| \le R} |\bar g(t) - g(t)|",
            "largest error of the sum of ReLUs",
            derive_error(),
            printed=Printed(eps, DEFINITION_4),
            trivial=sup_f,
        ),
        _on_range(
            "slope",
            r"\sup_{|t| \le R} |\bar g'(t) - g'(t)|",
            "largest error of the slope of the sum of ReLUs, between its knots",
            derive_slope(),
            trivial=sup_f1,
            remark="not in the paper; attacks by gradients follow this slope",
        ),
        _of_sum(
            *("relus", "H", "number of ReLUs", "count"),
            derivation=of_relus,
            worst_case=WORST_CASE,
            printed=Printed(PRINTED_RELUS, LEMMA_7, unspecified=(C_k,)),
            remark=_UNSPECIFIED,
        ),
        _of_sum(
            "one_norm",
            r"\sum_h |c_h|",
            "1-norm of the weights of the ReLUs, whose directions have 1-norm at most 1",
            "1-norm",
            derivation=of_norm,
            worst_case={},
            printed=Printed(PRINTED_ONE_NORM, LEMMA_7, unspecified=(C_k,)),
            remark=_UNSPECIFIED,
        ),
        _of_sum(
            "relus.rate",
            "a",
            "exponent `a` of the number of ReLUs, of order `eps^-a` up to a logarithm",
            "exponent",
            Kind.RATE,
            printed=Printed(PRINTED_EXPONENT, LEMMA_7, relation=Kind.UPPER),
            rate_in="eps",
            remark=(
                "printed as an upper bound, `H` of order `eps^-2` up to a logarithm; interpolation needs `eps^(-1/2)`"
            ),
        ),
    )


RELU_SUM = Result(
    id="icgd.relu_sum",
    title="Smooth functions as sums of ReLUs",
    citation=Citation(WU2024, "Def. 4, Lemma 7"),
    claim=r"\sup_{z \in [-R, R]^k} \Big|g(z) - \sum_{h=1}^H c_h \sigma(a_h^\top [z; 1])\Big| \le \epsilon,\quad "
    r"H \le C(k) C_l^2 \log(1 + C_l/\epsilon)/\epsilon^2,\quad \sum_h |c_h| \le C(k) C_l,\quad \|a_h\|_1 \le 1",
    parameters=(
        Parameter("activation", None, "the activation `r`: tanh, sigmoid, gelu, softplus, sin or relu", "tanh"),
        Parameter("order", order, "order of the derivative of `r` that is approximated: 0 or 1", 0, integer=True),
        Parameter("R", R, "half the length of the range", 4.0),
        Parameter("eps", eps, "target accuracy", (1e-2, 1e-4)),
    ),
    hypotheses=(
        Hypothesis("order", sp.Ge(order, 0, evaluate=False), "the order of a derivative is not negative"),
        Hypothesis("order", sp.Le(order, 1, evaluate=False), "the networks need `r` and `r'` only"),
        Hypothesis("R", sp.Gt(R, 0, evaluate=False), "the range is `[-R, R]`; Lemma 7 asks for `R >= 1`"),
        Hypothesis("eps", sp.Gt(eps, 0, evaluate=False), "no sum of ReLUs is exact for a curved function"),
    ),
    objects=objects.RELU_SUM,
    quantities=_quantities(),
    notation=NOTATION,
    symbols=SYMBOLS,
    formulas=(Formula("M", lambda: CELLS, "number of cells", defines=M),),
    remarks=(
        "In one variable Lemma 7 asks for one continuous derivative, interpolation for two; what it gives in return is "
        "every constant, and of order `eps^(-1/2)` ReLUs in place of `eps^-2`.",
        "Kinks of `r` (Max, Min, `|.|`) are taken where they fall on knots: piecewise-linear functions are exact.",
    ),
)
