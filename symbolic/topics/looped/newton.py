"""Theorem 4.1 (algoformer) as a statement: the state of each loop, labels and prediction, with either second head."""

from functools import cache

import sympy as sp

from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Quantifier, Quantity, Result
from symbolic.topics.looped import newton_derivation as theory
from symbolic.topics.looped import objects
from symbolic.topics.looped.newton_derivation import (
    B,
    C,
    E,
    N,
    T,
    alpha,
    c,
    ceiling,
    d,
    first_loop,
    foreign,
    gram,
    kappa,
    longest,
    low,
    own,
    tau,
    widened,
)
from symbolic.topics.looped.newton_floor import floor, in_condition, unit
from symbolic.topics.looped.transformer_counts import of_each_part
from symbolic.words.citations import ALGOFORMER, Citation

COUNTS = {"pre": (1, 2), "loop": (1, 2), "post": (2, 2)}  # layers and heads as printed
SECONDS = (Second.CONSTANT, Second.OPPOSITE)
BY_HAND = "by rules, but by hand: how a loop moves errors row by row in the basis of the data, and sizes"
PROMPTS = "singular values of `X` in `[kappa^(-1/2), 1]`, `|y_i| <= B`, `||x||_2 <= 1`"
KNOWN = {
    low: 1 / kappa, longest: sp.S.One, gram: sp.sqrt(d), own: sp.S.One, foreign: sp.sqrt(kappa),
    theory.Y: sp.sqrt(N) * B, widened: sp.Max(1, alpha), first_loop: sp.Max(1, alpha / (2 - alpha)),
}  # fmt: skip


@cache
def largest_error(second: Second) -> sp.Expr:
    """E, for all prompts."""
    return ceiling(second).xreplace(KNOWN)


def _quantity(name: str, latex: str, meaning: str, value: Approximated, **more: object) -> Quantity:
    fields = {
        "norm": "Frobenius norm", "domain": PROMPTS, "kind": Kind.UPPER, "quantifier": Quantifier.FOR_ALL,
        "derivation": value.derivation, "worst_case": KNOWN,
        "obtained": Provenance.HAND, "remark": BY_HAND, **more,
    }  # fmt: skip
    return Quantity(name, latex, meaning, **fields)  # type: ignore[arg-type]  # typed above


def quantities_of(second: str, T: int) -> tuple[Quantity, ...]:
    """The states of the loops 1 .. T, labels and prediction."""
    return _quantities(Second(second), T)


@cache
def _quantities(kind: Second, loops: int) -> tuple[Quantity, ...]:
    whole = theory.derive_state(kind)
    size = sp.Min(sp.sqrt(kappa), (alpha * 2**theory.T) ** sp.Rational(1, 4)) * sp.sqrt(d)
    states = (
        _quantity(f"m[{k}]", rf"\|\hat V_{{{k}}} - M_{{{k}}} X^\top\|_F", f"state of all tokens after loop {k}",
                  theory.derive_state(kind, k), trivial=size.subs(theory.T, k))
        for k in range(1, loops)
    )  # fmt: skip
    return (
        *states,
        _quantity("m", r"\|\hat V_T - M_T X^\top\|_F", "state of all tokens after the last loop", whole,
                  trivial=size),
        _quantity("labels", r"|\hat y_i - y_i|", "labels copied to the tokens of their pairs", theory.derive_labels(),
                  norm="sup norm", worst_case={}, scopes=("network",), trivial=B, obtained=None, remark=""),
        _quantity("y_hat", r"|\hat y - x^\top M_T X^\top y|", "prediction after `T` loops against `T` exact steps",
                  theory.derive_prediction(kind), norm="absolute value", trivial=sp.sqrt(kappa * N) * B),
        *of_each_part(COUNTS, lambda part: Citation(ALGOFORMER, "Theorem 4.1")),
    )  # fmt: skip


def _floor(second: Second) -> Formula:
    word = rf"\text{{floor, {second}}}"
    return Formula(
        word, lambda: in_condition(floor(second), second),
        "relative error of the state after many loops, to first order and by a model of rounding in units `u`",
        Kind.RATE,
    )  # fmt: skip


NEWTON = Result(
    id="looped.newton",
    title="Newton's iteration for the inverse in a loop",
    citation=Citation(ALGOFORMER, "Lemma A.4, Theorem 4.1", "eq. (4), (8)"),
    claim=r"M_{k+1} x_i = 2 M_k x_i - M_k S M_k x_i, \quad M_0 = \alpha S, \qquad \hat y = x^\top M_T X^\top y",
    parameters=(
        Parameter("N", N, "number of examples", 8, integer=True),
        Parameter("d", d, "dimension of `x`", 3, integer=True),
        Parameter("T", T, "number of loops", 6, integer=True),
        Parameter("kappa", kappa, "bound on the condition of `S = X^T X`", 4.0),
        Parameter("alpha", alpha, "start of the iteration, `M_0 = alpha S` with `||S||_2 <= 1`", 1.0),
        Parameter("B", B, "bound on the labels", 1.0),
        Parameter("second", None, "the second head: constant (scores 0), or opposite", "constant"),
        Parameter("c", c, "factor of the scores (for the format, if it is not given)", 1e-6,
            in_words="factor of the scores"),
        Parameter("C", C, "score of the sink (likewise)", 40.0, in_words="score of the sink"),
        Parameter("tau", tau, "inverse temperature of the positions", 32.0),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 2, evaluate=False), "a prompt of one example has no regression"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        Hypothesis("N", d <= N, "with fewer examples than coordinates `S` is singular: its least eigenvalue is 0"),
        Hypothesis("T", sp.Ge(T, 1, evaluate=False), "no loop leaves `M_0`"),
        Hypothesis("kappa", kappa >= 1, "a condition"),
        Hypothesis("alpha", sp.Gt(alpha, 0, evaluate=False), "`M_0` is a multiple of `S`"),
        Hypothesis("alpha", alpha < 2, "at `alpha = 2/||S S^T||_2`, which (4) admits, `M_k` maps the eigenvector to 0"),
        *(Hypothesis(str(x), sp.Gt(x, 0, evaluate=False), "it is positive") for x in (B, c, C, tau)),
    ),
    objects=objects.NEWTON,
    quantities=_quantities(Second.CONSTANT, 1),
    formulas=tuple(map(_floor, SECONDS)),
    notation={
        alpha: r"\alpha", kappa: r"\kappa", tau: r"\tau", low: r"\lambda_{\min}", own: "h", foreign: r"\sqrt{h_x}",
        longest: r"\max_i \|x_i\|^2", gram: r"\|S\|_F", widened: r"\bar\alpha", first_loop: r"\gamma",
        theory.Y: r"\|y\|", E: r"\bar e", unit: "u",
    },
    symbols={
        low: "least eigenvalue of `S`", longest: "largest `||x_i||^2`", gram: "`||S||_F`",
        own: "largest leverage `x_i^T S^(-1) x_i`", foreign: "root of `x^T S^(-1) x`",
        theory.Y: "2-norm of the labels", widened: "`max(1, alpha)`", first_loop: "`max(1, alpha/(2 - alpha))`",
        E: "ceiling of the error in the basis of the data: any number above 0 that meets the condition on it",
        unit: "unit of the format",
    },
    remarks=(
        "(4) admits `alpha = 2/||S S^T||_2`. There `M_0` maps the leading eigenvector `v` to `2 v/lambda`, and `M_1` "
        "and all that follow map it to 0: they do not converge to `S^(-1)`. The paper asks for mild conditions, so "
        "that this is not an erratum.",
        "`W_Q P` and `W_V P` of `TF_pre` are 0 at `x`, which no linear map of the `x` block is. Here tokens of "
        "examples hold `x_i` in the block of `M_k x_i` too, and `TF_pre` replaces it.",
        "`M_(k+1) x_i` needs `M_k x_i` twice, and so a block of its own for what the heads add up, which the printed "
        "prompt lacks. The sum enters with `-1/c`.",
        "With the residual of (1), tokens `(0, y_i)` would hold `2 y_i` after the first layer of `TF_post`, where "
        "`y_i` is printed. Here the head writes to another row. Keys are 0 there, so that the second head takes them "
        "away.",
        "An error of `M_k x` at the sink would count `e^C` times: the indicator of the feed-forward layers keeps it "
        "at 0.",
    ),
)  # fmt: skip
