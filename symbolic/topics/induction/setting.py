"""The setting of section 5 (wang2024): the parameters that its results share, and what is assumed of them."""

import sympy as sp

from symbolic.statements.result import Hypothesis, Parameter
from symbolic.topics.induction.training import L, alpha, sigma_init, w_star

PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("L", L, "number of tokens", 1000, integer=True),
        Parameter("alpha", alpha, "weight of the 4-gram part against the induction head, `alpha*`", 1.0),
        Parameter(
            "w_star",
            w_star,
            "the target's `w*`: its head attends with `softmax(w*^2 x_L x_{s-1})`",
            0.49,
            in_words="weight of the target's induction head, which attends with softmax of `w*^2` times the product of "
            "the last token and the one before a token",
        ),
        Parameter("sigma_init", sigma_init, "start of every trainable parameter (12)", 0.01),
    )
}

HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis("L", sp.Ge(L, 5, evaluate=False), "the 4-gram target and the sums need five tokens"),
    Hypothesis("alpha", sp.Gt(alpha, 0, evaluate=False), "the target has a 4-gram part (8)"),
    Hypothesis("w_star", sp.Gt(w_star, 0, evaluate=False), "the target attends to `x_{s-1}`"),
    Hypothesis(
        "w_star",
        sp.Lt(4 * w_star**4, 1, evaluate=False),
        "the loss (22) is infinite otherwise: Lemma D.3 at `a = 2 w*^2` needs `|a| < 1`",
    ),
    Hypothesis("sigma_init", sp.Gt(sigma_init, 0, evaluate=False), "0 is a fixed point of the flow (12)"),
    Hypothesis("sigma_init", sp.Lt(sigma_init, 1, evaluate=False), "the start is small (12)"),
)
